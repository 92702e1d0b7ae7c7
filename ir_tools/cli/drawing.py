"""What rich draws: styled lines, tables, progress bars. Loaded where there is a terminal or a table."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ir_tools.cli.screen import Column

__all__ = ["Drawing", "progress"]

FOLDED_WIDTH = 12
"""A column that folds is not made narrower, if there are others to leave out."""
PIPE_WIDTH = 100_000
"""Wide enough that nothing is wrapped or cut where the output is read by a program."""


class Drawing:
    """Standard output as rich draws on it. Texts hold nothing that steers a terminal.

    Attributes:
        terminal: whether it is one.
    """

    def __init__(self) -> None:
        """As wide as the terminal, or without an end in a pipe."""
        self.terminal = Console(highlight=False).is_terminal
        self._console = Console(highlight=False, markup=False, width=None if self.terminal else PIPE_WIDTH)

    def line(self, parts: Sequence[tuple[str, str]]) -> None:
        """One line of texts with their styles."""
        self._console.print(Text.assemble(*parts))

    def pairs(self, rows: Mapping[str, str]) -> None:
        """Names and values, aligned."""
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim", no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in rows.items():
            table.add_row(name, Text(value))
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
            box=box.SIMPLE_HEAD if self.terminal else None,
            header_style="bold",
            pad_edge=False,
            show_edge=False,
            padding=(0, 2 if not self.terminal else 1, 0, 0),
        )
        for column in columns:
            table.add_column(
                column.heading,
                justify="right" if column.right else "left",
                no_wrap=not column.fold,
                overflow="fold",
            )
        for index, row in enumerate(rows):
            table.add_row(*(Text(cell) for cell in row), style=styles[index] if styles else None)
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
def progress(what: str, total: int | None) -> Iterator[Callable[[], None]]:
    """A progress bar on standard error; nothing where that is no terminal."""
    console = Console(stderr=True, highlight=False, markup=False)
    if not console.is_terminal:
        yield lambda: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    parts = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*parts, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
