"""Output for people: tables and lines through rich on a terminal, plain aligned text in a pipe or file; JSON values."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import PurePath

import numpy as np
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ir_tools.cli.plain_text import visible

__all__ = ["Column", "Screen", "bytes_text", "number", "plain", "plural", "working"]

FOLDED_WIDTH = 12
"""A column that folds is not made narrower, if there are others to leave out."""
PIPE_WIDTH = 100_000
"""Wide enough that nothing is wrapped or cut where the output is read by a program."""


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
        terminal = Console(highlight=False).is_terminal
        self._console = Console(highlight=False, markup=False, width=None if terminal else PIPE_WIDTH)
        self._terminal = terminal

    def line(self, text: str = "", style: str = "") -> None:
        """One line."""
        self._console.print(Text(visible(text), style=style), soft_wrap=not self._terminal)

    def spans(self, *parts: tuple[str, str]) -> None:
        """One line of texts with their styles."""
        shown = [(visible(text), style) for text, style in parts]
        self._console.print(Text.assemble(*shown), soft_wrap=not self._terminal)

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
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim", no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in rows.items():
            table.add_row(name, Text(visible(value)))
        self._print(table)

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]], styles: Sequence[str] = ()) -> None:
        """A table; `styles`: one per row (`red`), or none at all."""
        shown = list(range(len(columns)))
        widths = [_width(column, [row[index] for row in rows]) for index, column in enumerate(columns)]
        while sum(widths[index] + 2 for index in shown) - 2 > self._console.width:
            spare = [index for index in shown if columns[index].spare]
            if not spare:
                break
            shown.remove(spare[-1])
        self._print(self._table([columns[i] for i in shown], [[row[i] for i in shown] for row in rows], styles))

    def _table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]], styles: Sequence[str]) -> Table:
        table = Table(
            box=box.SIMPLE_HEAD if self._terminal else None,
            header_style="bold",
            pad_edge=False,
            show_edge=False,
            padding=(0, 2 if not self._terminal else 1, 0, 0),
        )
        for column in columns:
            table.add_column(
                column.heading,
                justify="right" if column.right else "left",
                no_wrap=not column.fold,
                overflow="fold",
            )
        for index, row in enumerate(rows):
            table.add_row(*(Text(visible(cell)) for cell in row), style=styles[index] if styles else None)
        return table

    def _print(self, table: Table) -> None:
        with self._console.capture() as capture:
            self._console.print(table)
        for line in capture.get().splitlines():
            sys.stdout.write(line.rstrip() + "\n")


def _width(column: Column, cells: Sequence[str]) -> int:
    """The least width in which a column can be read."""
    natural = max(map(cell_len, (column.heading, *cells)))
    return min(natural, FOLDED_WIDTH) if column.fold else natural


@contextmanager
def working(what: str, total: int | None = None) -> Iterator[Callable[[], None]]:
    """A progress bar on standard error while the block runs; nothing where that is no terminal.

    Gives a function that moves the bar one step further; without a `total` the bar only shows that work goes on.
    """
    console = Console(stderr=True, highlight=False, markup=False)
    if not console.is_terminal:
        yield lambda: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    parts = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*parts, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)


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
