"""Output for people: tables and lines, drawn on a terminal, plain aligned text in a pipe or file; JSON values."""

import math
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import PurePath
from typing import TYPE_CHECKING, TextIO

from ir_tools.cli.plain_text import visible
from ir_tools.display import number, plural

if TYPE_CHECKING:
    from ir_tools.cli.drawing import Drawing

__all__ = ["Column", "Screen", "bytes_text", "number", "plain", "plural", "working"]

ASKING = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""With these in the environment rich draws as on a terminal although there is none, or not although there is one."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    On a terminal that is too narrow for the whole table columns are left out: those that are `spare`, then numbers,
    then the others, each time the last one first. Names stay, and go on in the next line if need be; no other value is
    ever cut.

    Attributes:
        heading: above it.
        right: whether it holds numbers, aligned to the right.
        fold: whether it holds names or sentences.
        spare: whether it is among the first to be left out.
        keep: whether it is among the last to be left out.
    """

    heading: str
    right: bool = False
    fold: bool = False
    spare: bool = False
    keep: bool = False


class Screen:
    """Standard output. Styles and rules appear on terminals only; NO_COLOR is respected by rich."""

    def __init__(self) -> None:
        """Make a screen as wide as the terminal, or of any width in a pipe."""
        self.width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        self._drawn = _may_draw(sys.stdout) and self._drawing.terminal

    @cached_property
    def _drawing(self) -> "Drawing":
        from ir_tools.cli.drawing import Drawing

        return Drawing()

    def line(self, text: str = "", style: str = "") -> None:
        """Print one line."""
        self.spans((text, style))

    def spans(self, *parts: tuple[str, str]) -> None:
        """Print one line of texts with their styles; a terminal wraps it where it ends."""
        self._write([(visible(text), style) for text, style in parts])

    def _write(self, parts: Sequence[tuple[str, str]]) -> None:
        """Write texts that are visible, line ends included."""
        if self._drawn:
            self._drawing.line(parts)
        else:
            sys.stdout.write("".join(text for text, _ in parts) + "\n")

    def heading(self, text: str) -> None:
        """Print a blank line and a heading."""
        self.line()
        self.line(text, style="bold")

    def verdict(self, text: str, good: bool) -> None:
        """Print a closing line, green or red."""
        self.line()
        self.line(text, style="bold green" if good else "bold red")

    def pairs(self, rows: Mapping[str, str]) -> None:
        """Names and values, aligned."""
        from ir_tools.cli.tables import layout

        cells = [[visible(name), visible(value)] for name, value in rows.items()]
        shown = layout([Column("", fold=True)] * 2, cells, self.width)
        for row in cells:
            for text in shown.lines(row):
                self.spans((text, ""))

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]], styles: Sequence[str] = ()) -> None:
        """Print a table; `styles`: one per row (`red`), or none."""
        from ir_tools.cli.tables import layout

        cells = [[*map(visible, row)] for row in rows]
        shown = layout(columns, cells, self.width)
        self._write([("\n".join(shown.lines([column.heading for column in columns])), "bold")])
        if self._drawn:
            self.line("\N{BOX DRAWINGS LIGHT HORIZONTAL}" * shown.width, style="dim")
        drawn = zip(cells, styles or [""] * len(cells), strict=True)
        for style, group in groupby(drawn, key=itemgetter(1)):
            self._write([("\n".join(text for row, _ in group for text in shown.lines(row)), style)])


@contextmanager
def working(what: str, total: int | None = None) -> Iterator[Callable[[], None]]:
    """Show a progress bar on standard error while the block runs; nothing if that is not a terminal.

    Gives a function that moves the bar one step further; without a `total` the bar only shows that work goes on.
    """
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from ir_tools.cli.drawing import progress

    with progress(what, total) as advance:
        yield advance


def _may_draw(stream: TextIO) -> bool:
    """Return whether it is worth to ask rich, which takes a while to load, if this is a terminal."""
    return stream.isatty() or any(name in os.environ for name in ASKING)


def plain(value: object) -> object:
    """Return `value` as JSON knows it: dataclasses and arrays become plain data, NaN and infinities text."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if hasattr(value, "tolist"):  # what numpy makes; most commands that show something else do not load it
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value) if not isinstance(value, PurePath) else value.as_posix()


def bytes_text(count: int) -> str:
    """Return `512 B`, `37.9 MB`."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError
