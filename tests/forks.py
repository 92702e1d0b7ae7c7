"""Workers of the runtime as forks of one process that has loaded openvino, which takes longer than most requests.

A fork is a process of its own like a worker that is started; nothing of one reaches another.
"""

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from multiprocessing.context import ForkServerProcess
from multiprocessing.reduction import DupFd
from typing import IO, Any

from ir_tools.runtime import _child, worker
from ir_tools.runtime.module import LIMIT

__all__ = ["START", "run", "spawn"]

START = _child._spawn
"""What `spawn` takes the place of."""

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests._forks_preload"])
OWNER = os.getpid()


class Passed:
    """A file descriptor of this process that goes to another, as one of its own."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> tuple[Callable[[Any], int], tuple[Any]]:
        return _detach, (DupFd(self.number),)


def _detach(passed: Any) -> int:
    number: int = passed.detach()
    return number


class Fork:
    """What `Child` asks of its process."""

    def __init__(self, process: ForkServerProcess) -> None:
        self._process = process
        self.pid = process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("worker", timeout or 0)
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()


def spawn(
    program: Sequence[str], pipes: tuple[int, ...], log: IO[bytes], memory: int
) -> Fork | subprocess.Popen[bytes]:
    """In place of `_child._spawn`; for another program, or in a process that a test forked, the same as that."""
    if program != _child.OWN or os.getpid() != OWNER:
        return START(program, pipes, log, memory)
    passed = [Passed(number) for number in (*pipes, log.fileno())]
    process = CONTEXT.Process(target=_work, args=(passed, memory, dict(os.environ), os.getcwd(), sys.path), daemon=True)
    process.start()
    return Fork(process)


def _work(passed: list[Any], memory: int, environment: dict[str, str], folder: str, path: list[str]) -> None:
    *pipes, log = passed
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:] = map(os.path.abspath, path)
    sys.argv[1:] = [*map(str, pipes), str(memory)]
    worker.main()


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """In place of `module._run`, which starts `python -m MODULE ARGUMENT...`."""
    _, _, name, *arguments = command
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        passed = [Passed(file.fileno()) for file in (out, err)]
        process = CONTEXT.Process(target=_run, args=(passed, name, arguments, os.getcwd(), sys.path))
        process.start()
        process.join(LIMIT)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(command, LIMIT)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(command, process.exitcode, out.read(), err.read())


def _run(passed: list[Any], name: str, arguments: list[str], folder: str, path: list[str]) -> None:
    for number, file in enumerate(passed, 1):
        os.dup2(file, number)
    os.chdir(folder)
    sys.path[:] = map(os.path.abspath, path)
    sys.argv[1:] = arguments
    runpy.run_module(name, run_name="__main__")
