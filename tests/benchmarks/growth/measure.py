"""Processor time and memory that a command takes for a file of each kind, at several sizes."""

import math
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import ir_tools
from ir_tools.cli import main
from tests.benchmarks.growth.table import GROUPS, made

__all__ = ["COMMANDS", "MEGABYTE", "Line", "Point", "lines", "point_at"]

MEGABYTE = 1_000_000
STEPS = (16, 4, 1)
"""By what the largest size is divided."""
IDLE_RUNS = 5
SECONDS_ALLOWED, BYTES_ALLOWED = 100, 8 << 30
"""A process that takes more is ended by the system."""

COMMANDS: Mapping[str, Callable[[Path, Path], object]] = {
    "read": lambda model, folder: ir_tools.read(model),
    "inspect": lambda model, folder: main(["inspect", str(model)]),
    "validate": lambda model, folder: main(["validate", str(model)]),
    "shapes": lambda model, folder: main(["shapes", str(model), "-o", str(folder / "shapes.xml")]),
    "compat": lambda model, folder: main(["compat", str(model)]),
    "migrate": lambda model, folder: main(["migrate", str(model), "-o", str(folder / "migrated.xml")]),
    "migrate-for": lambda model, folder: main(
        ["migrate", str(model), "--for", "openvino-2021.4", "-o", str(folder / "fitted.xml")]
    ),
}


class Point(NamedTuple):
    """What one run took.

    Attributes:
        size: bytes of the model.
        seconds: of processor time, in user and system mode.
        memory: peak of resident bytes.
    """

    size: int
    seconds: float
    memory: int


class Line(NamedTuple):
    """The runs of a command on files of one kind that grow."""

    command: str
    group: str
    kind: str
    points: tuple[Point, ...]

    @property
    def last(self) -> Point:
        """The run on the largest file."""
        return self.points[-1]

    @property
    def exponent(self) -> float:
        """The power of the size with which the time grew over the last step: 1 is linear, 2 is quadratic.

        Files of which one thing alone is large do not grow in small steps: those count as twice as large.
        """
        before, last = self.points[-2:]
        return math.log(last.seconds / before.seconds) / math.log(max(last.size / before.size, 2))


def lines(commands: Sequence[str], largest: int, kinds: Collection[str]) -> Iterator[Line]:
    """Measure each command on files of these kinds, up to `largest` bytes of `.xml` and `.bin` together."""
    _load_modules(commands)
    for group, makers in GROUPS.items():
        for kind in filter(kinds.__contains__, makers):
            with tempfile.TemporaryDirectory() as folder:
                models = [_written(kind, largest // step, Path(folder)) for step in STEPS]
                for command in commands:
                    yield Line(command, group, kind, tuple([_point(command, model) for model in models]))


def point_at(line: Line, size: int) -> Point:
    """Measure the command of a line on a file of its kind of another size."""
    with tempfile.TemporaryDirectory() as folder:
        return _point(line.command, _written(line.kind, size, Path(folder)))


def _load_modules(commands: Sequence[str]) -> None:
    """Run the commands once, so that no copy of this process loads a module."""
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        model = _written("a chain", MEGABYTE // 100, Path(folder))
        for command in commands:
            with suppress(SystemExit), redirect_stdout(nowhere), redirect_stderr(nowhere):
                COMMANDS[command](model, Path(folder))


def _written(kind: str, size: int, folder: Path) -> Path:
    path = folder / f"{size}.xml"

    def write() -> None:
        sample = made(kind, size)
        path.write_bytes(sample.xml)
        if sample.weights:
            path.with_suffix(".bin").write_bytes(sample.weights)

    _in_child(write)
    return path


def _point(command: str, model: Path) -> Point:
    weights = model.with_suffix(".bin")
    size = model.stat().st_size + (weights.stat().st_size if weights.exists() else 0)
    with tempfile.TemporaryDirectory() as folder:
        used = _in_child(lambda: COMMANDS[command](model, Path(folder)))
    return Point(size, max(_seconds(used) - _idle_seconds(), 1e-3), 1024 * used.ru_maxrss)


@cache
def _idle_seconds() -> float:
    """What a copy of this process takes that does nothing."""
    return min(_seconds(_in_child(lambda: None)) for _ in range(IDLE_RUNS))


def _seconds(used: resource.struct_rusage) -> float:
    return used.ru_utime + used.ru_stime


def _in_child(work: Callable[[], object]) -> resource.struct_rusage:
    """Do the work in a copy of this process that has all modules loaded, and return what it took."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        with suppress(BaseException):
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (1, 2):
                os.dup2(nowhere, stream)
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_ALLOWED, SECONDS_ALLOWED))
            resource.setrlimit(resource.RLIMIT_AS, (BYTES_ALLOWED, BYTES_ALLOWED))
            work()
        os._exit(0)
    return os.wait4(child, 0)[2]
