"""The worker as a process: starting it, talking to it against the clock, and finding out why it died."""

import contextlib
import fcntl
import mmap
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from glob import escape, glob
from typing import IO

from ir_tools.runtime.frames import PREFIX, STAGE, Buffer

__all__ = ["OWN", "Child"]

OWN = (sys.executable, "-P", "-m", "ir_tools.runtime.worker")
"""The program that runs the OpenVINO of this interpreter."""
TAIL = 2000
"""Bytes of a dead child's last words that are read."""
GRACE = 10.0
"""Seconds that the system gets to report how a child ended."""


class Child:
    """A running worker, limited to `memory` bytes (0: not limited).

    It runs in a session of its own, so that an interrupt from the terminal reaches only the client. Its standard
    error goes to a file without a name.
    """

    def __init__(self, program: Sequence[str], memory: int) -> None:
        """Start `program` with the numbers of its pipes; `OWN` sees the modules that this process sees."""
        self.owner = os.getpid()
        with contextlib.ExitStack() as stack:
            self._log: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
            fcntl.fcntl(self._log, fcntl.F_SETFL, fcntl.fcntl(self._log, fcntl.F_GETFL) | os.O_APPEND)
            requests, self._sink = os.pipe()
            self._source, answers = os.pipe()
            stack.callback(os.close, self._sink)
            stack.callback(os.close, self._source)
            self._files_in, files = socket.socketpair()
            stack.callback(self._files_in.close)
            try:
                self._process = _spawn(program, (requests, answers, files.fileno()), self._log, memory)
            finally:
                os.close(requests)
                os.close(answers)
                files.close()
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

    def receive(self, deadline: float) -> tuple[Buffer, Buffer]:
        """Read a frame: the text of the header, and the blobs.

        Raises:
            TimeoutError: it was not there before `deadline`.
            EOFError: the child is dead.
        """
        head, body, shared = PREFIX.unpack(self._read(PREFIX.size, deadline))
        return self._read(head, deadline), self._map(body) if shared else self._read(body, deadline)

    def stop(self) -> None:
        """End it and the processes that it started now, and leave nothing behind."""
        if self.owner != os.getpid():
            return
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
        self._process.wait()
        self._files.close()

    def stage(self) -> str:
        """Return what it was last doing: `reading the model`; empty if it did not say."""
        return next((line.removeprefix(STAGE) for line in reversed(self._lines()) if line.startswith(STAGE)), "")

    def death(self) -> tuple[int, str]:
        """Return how it ended: the exit code (negative: a signal), and the last line that it printed."""
        try:
            code = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            code = 0
        return code, next((line for line in reversed(self._lines()) if not line.startswith(STAGE)), "")

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

    def _map(self, size: int) -> mmap.mmap:
        """Map the file that comes with an answer; to change it changes nothing elsewhere."""
        _, (file,), _, _ = socket.recv_fds(self._files_in, 1, 1)
        try:
            return mmap.mmap(file, size, access=mmap.ACCESS_COPY)
        finally:
            os.close(file)

    def _lines(self) -> list[str]:
        """Return the last lines of its standard error."""
        size = os.fstat(self._log.fileno()).st_size
        text = os.pread(self._log.fileno(), TAIL, max(0, size - TAIL)).decode("utf-8", "replace")
        return [line.strip() for line in text.splitlines() if line.strip()]


def _spawn(program: Sequence[str], pipes: tuple[int, ...], log: IO[bytes], memory: int) -> subprocess.Popen[bytes]:
    """Start the process. Frames have pipes of their own, so that whatever is printed cannot get between them."""
    return subprocess.Popen(
        [*program, *map(str, pipes), str(memory)],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        pass_fds=pipes,
        env=_variables(program),
        start_new_session=True,
    )


def _variables(program: Sequence[str]) -> dict[str, str]:
    """Return the environment variables; another release does not see the libraries of an OpenVINO that is set up."""
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    folders = found.pop("LD_LIBRARY_PATH", "")
    if tuple(program) != OWN:
        folders = os.pathsep.join(folder for folder in folders.split(os.pathsep) if not _holds_openvino(folder))
    return found | ({"LD_LIBRARY_PATH": folders} if folders else {})


def _holds_openvino(folder: str) -> bool:
    return any(glob(f"{escape(folder)}/{name}*") for name in ("libopenvino", "libinference_engine"))


def _wait(descriptor: int, event: int, deadline: float) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    left = deadline - time.monotonic()
    if left <= 0 or not poll.poll(left * 1000):
        raise TimeoutError
