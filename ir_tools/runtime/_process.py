"""A worker of one kind, started when first needed, kept, and started again after a crash."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ir_tools.errors import IrToolsError, RuntimeFailure, UsageError
from ir_tools.runtime._child import Child
from ir_tools.runtime.frames import Blob, pack, unpack
from ir_tools.runtime.messages import breaks_child, is_memory, remedy_for

__all__ = ["Header", "WorkerProcess"]

Header = dict[str, Any]
NO_ANSWER = (ValueError, KeyError, TypeError, AttributeError, OverflowError, MemoryError)
"""What bytes raise that are not an answer, as those of a program that is not Python."""
STARTUP = 60.0
"""Seconds that a child may take to load its runtime."""


class WorkerProcess:
    """A child process that answers requests. A context manager; `close` ends it, and so does the end of the program."""

    def __init__(self, program: Sequence[str], hello: Header, *, name: str, timeout: float, memory: int | None) -> None:
        """Prepare a child.

        Args:
            program: what starts it; the numbers of its pipes follow.
            hello: its first request, which loads the runtime.
            name: of the runtime, in messages.
            timeout: seconds that one request may take.
            memory: bytes that the child may allocate; by default three quarters of what the machine, or its container,
                has.
        """
        self.timeout = timeout
        self.memory = _generous() if memory is None else memory
        self._program = program
        self._hello = hello
        self.name = name
        self._remedy = ""
        """What follows the reason why the child does not start."""
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._used = False
        self._kills = 0
        self._finalizer: weakref.finalize[[], WorkerProcess] | None = None

    def __enter__(self) -> Self:
        """Return the client itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the child."""
        self.close()

    def close(self) -> None:
        """End the child, if there is one; another request starts a new one."""
        if self._finalizer is not None:
            self._finalizer()
        self._child = self._finalizer = None
        self._used = False

    @property
    def used(self) -> bool:
        """Whether the child had models before: one that writes beyond its memory may kill it over a later one."""
        return self._used

    def _check_installed(self) -> None:
        """Raise `RuntimeFailure` if there is nothing to start."""

    def _exchange(self, header: Header, blobs: Sequence[Blob], timeout: float) -> tuple[Header, list[Blob]]:
        """Send a request and wait for its answer, in `timeout` seconds; a new child first gets time to start."""
        with self._lock:
            child = self._started()
            self._used = True
            return self._request(child, header, blobs, timeout)

    def _started(self) -> Child:
        """Return the child, a new one if there is none that lives."""
        if self._child is None or not self._child.alive:
            self.close()
            self._check_installed()
            try:
                self._kills = _out_of_memory_kills()
                self._child = Child(self._program, self.memory)
            except OSError as why:
                reason = f"{self._program[0]} does not start: {why.strerror}"
                raise RuntimeFailure(
                    f"{self.name} cannot start: {reason}{self._remedy}", kind="missing", reason=reason
                ) from why
            self._finalizer = weakref.finalize(self, self._child.stop)
            try:
                self._request(self._child, self._hello, [], STARTUP)
            except RuntimeFailure as failure:
                self.close()
                # No model was involved: it is not a crash over a layer.
                absent = failure.kind in {"missing", "crashed", "timeout"}
                kind, remedy = ("missing", self._remedy) if absent else (failure.kind, "")
                raise RuntimeFailure(
                    f"{failure}{remedy}", kind=kind, stage=failure.stage, reason=failure.reason
                ) from None
            except IrToolsError:
                self.close()
                raise
        return self._child

    def _request(
        self, child: Child, header: Header, blobs: Sequence[Blob], timeout: float
    ) -> tuple[Header, list[Blob]]:
        deadline, frame = time.monotonic() + timeout, pack({**header, "limit": timeout + 5.0}, blobs)
        try:
            child.send(frame, deadline)
            answer, results = unpack(*child.receive(deadline))
        except NO_ANSWER:
            self.close()
            raise self._failure("crashed", "", "", f"{self._program[0]} does not return valid answers") from None
        except TimeoutError:
            failure = self._failure("timeout", f"{timeout:g}", self._stage(child, header))
            self.close()
            raise failure from None
        except (OSError, EOFError):
            failure = self._post_mortem(child, header)
            self.close()
            raise failure from None
        except BaseException:
            self.close()
            raise
        if "error" not in answer:
            return answer, results
        if answer["error"] == "usage":
            raise UsageError(answer["message"])
        failure = self._failure(answer["error"], answer["message"], self._stage(child, header))
        if breaks_child(answer["message"]):
            self.close()
        raise failure

    def _stage(self, child: Child, header: Header) -> str:
        """Return what a child was last doing."""
        return child.stage() or (f"starting {self._program[0]}" if header["do"] == "hello" else "")

    def _post_mortem(self, child: Child, header: Header) -> RuntimeFailure:
        """Return why a child that no longer answers is dead."""
        code, words = child.death()
        if code == -signal.SIGPROF:
            return self._failure("timeout", f"{header['seconds']:g}", self._stage(child, header))
        if is_memory(words) or (code == -signal.SIGKILL and _out_of_memory_kills() != self._kills):
            words = "" if words == "MemoryError" else words or "the system killed it"
            return self._failure("memory", words, self._stage(child, header))
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return self._failure("crashed", words, self._stage(child, header), how)

    def _failure(self, kind: str, words: str, stage: str, how: str = "") -> RuntimeFailure:
        """Return what happened, in words. `words`: the runtime's own, or the seconds that it took."""
        during = f" while {stage}" if stage else ""
        limit = f" (its limit is {self.memory / 2**30:.3g} GiB)"
        phrases = {
            "rejected": (f"{self.name} rejects it", words),
            "crashed": (f"{self.name} crashed ({how}){during}", words),
            "memory": (f"{self.name} ran out of memory{during}{limit}", words),
            "timeout": (f"{self.name} took more than {words} s{during} and was stopped", ""),
            "missing": ("", words),
        }
        message = ": ".join(filter(None, phrases[kind]))
        remedy = remedy_for(words) if kind == "rejected" else None
        text = f"{message}; {remedy}" if remedy else message
        return RuntimeFailure(text, kind=kind, stage=stage, reason=how or words)


def _out_of_memory_kills() -> int:
    """Return how many processes the system has killed because memory ran out; 0 where it does not say."""
    with contextlib.suppress(OSError):
        found = re.search(r"^oom_kill (\d+)$", Path("/proc/vmstat").read_text(), re.MULTILINE)
        return int(found[1]) if found else 0
    return 0


def _generous() -> int:
    """Three quarters of the memory of the machine, or of the container where that is less."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with contextlib.suppress(OSError, ValueError):
        total = min(total, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return total * 3 // 4
