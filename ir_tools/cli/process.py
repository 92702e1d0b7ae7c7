"""The process around a command: standard streams of any kind, and signals that end it."""

import atexit
import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

__all__ = ["drop_unwritten", "ended_by_signals", "lost_files_reported", "open_streams"]

SIGNALS = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL}
"""Signals that end the process like an error, with their usual handlers: temporary files and child processes go away.
"""


def open_streams() -> None:
    """Make sure that standard input, output and error exist and take all text.

    A file that is opened later must not get the number of one that is closed, and an attempt to write to that has to
    fail. Characters that an output does not have are written as escapes.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)
    sys.stdout = sys.stdout or io.TextIOWrapper(io.FileIO(1, "w", closefd=False))
    sys.stderr = sys.stderr or io.TextIOWrapper(io.FileIO(2, "w", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def drop_unwritten() -> None:
    """Forget what the standard streams could not write, which Python would complain about at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Turn signals that end the process into SystemExit, with the exit code that a shell gives them.

    Signals that are ignored (`nohup`) stay so; a second one ends the process at once. What a large model takes in
    memory is left to the system: Python would walk and free it for seconds.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: handler for number in SIGNALS if (handler := signal.getsignal(number)) is SIGNALS[number]}
    for number in before:
        signal.signal(number, _end)
    try:
        yield
    except _Ended as ended:
        atexit._run_exitfuncs()
        os._exit(ended.code)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def lost_files_reported() -> Iterator[None]:
    """End the process with one line when a file is cut off while it is mapped and its lost part is read.

    The system sends SIGBUS for that. A handler of Python would return to the same read without end; this one, which
    the C library calls, does not return.
    """
    import ctypes

    library = ctypes.CDLL(None)
    library.signal.restype = ctypes.c_void_p
    end = ctypes.CFUNCTYPE(None, ctypes.c_int)(_end_at_once)
    before = library.signal(signal.SIGBUS, end)
    try:
        yield
    finally:
        library.signal(signal.SIGBUS, ctypes.c_void_p(before))


def _end_at_once(number: int) -> None:
    os.write(2, b"ir-tools: a file was cut off by another program while it was read\n")
    os._exit(2)


class _Ended(SystemExit):
    """A signal ends the process."""

    code: int


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    gc.freeze()
    raise _Ended(128 + number)
