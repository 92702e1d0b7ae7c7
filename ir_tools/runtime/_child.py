"""The worker as a process: starting it, talking to it against the clock, and finding out why it died."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from typing import IO

from ir_tools.runtime._frames import PREFIX, Buffer

__all__ = ["Child"]

TAIL = 2000
"""Bytes of a dead child's last words that are read."""
GRACE = 10.0
"""Seconds that the system gets to tell how a child ended."""


class Child:
    """A running worker, limited to `memory` bytes (0: not limited).

    It runs in a session of its own, so that an interrupt from the terminal reaches only the client. Its standard
    error goes to a file without a name.
    """

    def __init__(self, memory: int) -> None:
        """Start it; it sees the modules that this process sees."""
        self.owner = os.getpid()
        self.fresh = True
        with contextlib.ExitStack() as stack:
            self._log: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "ir_tools.runtime.worker", str(memory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                bufsize=0,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
                start_new_session=True,
            )
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._sink, self._source = self._process.stdin.fileno(), self._process.stdout.fileno()
            os.set_blocking(self._sink, False)
            os.set_blocking(self._source, False)
            self._files = stack.pop_all()

    @property
    def alive(self) -> bool:
        """Whether it runs, and is this process's own (not that of the process that this one was forked from)."""
        return self.owner == os.getpid() and self._process.poll() is None

    def send(self, parts: Iterable[Buffer], deadline: float) -> None:
        """Write a frame.

        Raises:
            TimeoutError: it was not taken before `deadline` (of `time.monotonic`).
            OSError: the child is dead.
        """
        for part in parts:
            view = memoryview(part)
            while view:
                _wait(self._sink, select.POLLOUT, deadline)
                view = view[os.write(self._sink, view) :]

    def receive(self, deadline: float) -> tuple[bytearray, bytearray]:
        """Read a frame: the text of the header, and the blobs.

        Raises:
            TimeoutError: it was not there before `deadline`.
            EOFError: the child is dead.
        """
        head, body = PREFIX.unpack(self._read(PREFIX.size, deadline))
        return self._read(head, deadline), self._read(body, deadline)

    def stop(self) -> None:
        """End it now, and leave nothing behind."""
        if self.owner != os.getpid():
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._files.close()

    def death(self) -> tuple[int, str, str]:
        """How it ended: the exit code (negative: a signal), that in words, and the last line that it printed."""
        try:
            code = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return 0, "it closed its pipes", self._last_line()
        return code, signal.Signals(-code).name if code < 0 else f"exit code {code}", self._last_line()

    def _read(self, size: int, deadline: float) -> bytearray:
        buffer = bytearray(size)
        view = memoryview(buffer)
        while view:
            _wait(self._source, select.POLLIN, deadline)
            count = os.readv(self._source, [view])
            if not count:
                raise EOFError
            view = view[count:]
        return buffer

    def _last_line(self) -> str:
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - TAIL))
        text = self._log.read().decode("utf-8", "replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return lines[-1] if lines else ""


def _wait(descriptor: int, event: int, deadline: float) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    left = deadline - time.monotonic()
    if left <= 0 or not poll.poll(left * 1000):
        raise TimeoutError
