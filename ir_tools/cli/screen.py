"""Output for people: tables and lines, drawn on a terminal, plain aligned text in a pipe or file; JSON values."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, TextIO

import numpy as np

from ir_tools.cli.plain_text import visible

if TYPE_CHECKING:
    from ir_tools.cli.drawing import Drawing

__all__ = ["Column", "Screen", "bytes_text", "number", "plain", "plural", "working"]

ASKING = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""With these in the environment rich draws as on a terminal although there is none, or not although there is one."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        heading: what stands above it.
        right: whether it is aligned to the right.
        fold: long values may break over lines where the terminal is narrow.
        spare: it is left out where the terminal is too narrow for the whole table, the last such column first.
    """

    heading: str
    right: bool = False
    fold: bool = False
    spare: bool = False


class Screen:
    """Standard output. Styles and rules appear on terminals only; NO_COLOR is respected by rich."""

    def __init__(self) -> None:
        """A screen as wide as the terminal, or without an end in a pipe."""
        self._drawn = _may_draw(sys.stdout) and self._drawing.terminal

    @cached_property
    def _drawing(self) -> "Drawing":
        from ir_tools.cli.drawing import Drawing

        return Drawing()

    def line(self, text: str = "", style: str = "") -> None:
        """One line."""
        self.spans((text, style))

    def spans(self, *parts: tuple[str, str]) -> None:
        """One line of texts with their styles."""
        shown = [(visible(text), style) for text, style in parts]
        if self._drawn:
            self._drawing.line(shown)
        else:
            sys.stdout.write("".join(text for text, _ in shown) + "\n")

    def heading(self, text: str) -> None:
        """A blank line and a heading."""
        self.line()
        self.line(text, style="bold")

    def verdict(self, text: str, good: bool) -> None:
        """A closing line, green or red."""
        self.line()
        self.line(text, style="bold green" if good else "bold red")

    def pairs(self, rows: Mapping[str, str]) -> None:
        """Names and values, aligned."""
        self._drawing.pairs({name: visible(value) for name, value in rows.items()})

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]], styles: Sequence[str] = ()) -> None:
        """A table; `styles`: one per row (`red`), or none at all."""
        self._drawing.table(columns, [[visible(cell) for cell in row] for row in rows], styles)


@contextmanager
def working(what: str, total: int | None = None) -> Iterator[Callable[[], None]]:
    """A progress bar on standard error while the block runs; nothing where that is no terminal.

    Gives a function that moves the bar one step further; without a `total` the bar only shows that work goes on.
    """
    if not _may_draw(sys.stderr):
        yield lambda: None
        return
    from ir_tools.cli.drawing import progress

    with progress(what, total) as advance:
        yield advance


def _may_draw(stream: TextIO) -> bool:
    """Whether it is worth to ask rich, which takes a while to load, if this is a terminal."""
    return stream.isatty() or any(name in os.environ for name in ASKING)


def plain(value: object) -> object:
    """`value` as JSON knows it: dataclasses and arrays become plain data, NaN and infinities text."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value) if not isinstance(value, PurePath) else value.as_posix()


def number(value: float) -> str:
    """A number in few characters: `0`, `1.2e-07`, `0.123457`."""
    return f"{value:.6g}" if abs(value) >= 1e-3 or value == 0 else f"{value:.1e}"


def plural(count: int, noun: str) -> str:
    """`1 layer`, `2 layers`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def bytes_text(count: int) -> str:
    """`512 B`, `37.9 MB`."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError
