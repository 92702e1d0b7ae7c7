"""Tables as lines of text: which columns fit into a width, and where names go on in the next line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells

from ir_tools.cli.screen import Column

__all__ = ["Layout", "folded", "layout"]

GAP = "  "
"""Between columns."""
NARROW = 12
"""Names are not folded to fewer cells than this, if there are columns to leave out."""
NARROWEST = 2
"""The widest characters fit into it."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a table that fit.

    Attributes:
        columns: all of them.
        widths: in cells, of those that are shown, by their numbers.
    """

    columns: Sequence[Column]
    widths: dict[int, int]

    @property
    def width(self) -> int:
        """How wide the table is."""
        return _total(self.widths)

    def lines(self, cells: Sequence[str]) -> Iterator[str]:
        """Yield the lines of a row; `cells`: one text per column, the left out ones included."""
        pieces = {at: folded(cells[at], size) for at, size in self.widths.items()}
        for number in range(max(map(len, pieces.values()))):
            parts = []
            for at, size in self.widths.items():
                text = pieces[at][number] if number < len(pieces[at]) else ""
                blank = " " * (size - cell_len(text))
                parts.append(blank + text if self.columns[at].right else text + blank)
            yield GAP.join(parts).rstrip()


def layout(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None) -> Layout:
    """Choose the columns that are shown and their widths.

    Args:
        columns: of the table.
        rows: one text per column.
        width: in cells; None for any.
    """
    cells = [[column.heading, *(row[at] for row in rows)] for at, column in enumerate(columns)]
    natural = {at: max(map(cell_len, texts)) for at, texts in enumerate(cells)}
    if width is None:
        return Layout(columns, natural)
    names = [at for at, column in enumerate(columns) if column.fold] or [_first_name(columns)]
    minimum = {at: min(size, NARROW) if at in names else size for at, size in natural.items()}
    for at in sorted(minimum.keys() - names, key=lambda at: (_importance(columns[at]), -at)):
        if _total(minimum) <= width:
            break
        del minimum[at]
    return Layout(columns, _shared({at: natural[at] for at in minimum}, names, width))


def _total(widths: dict[int, int]) -> int:
    return sum(widths.values()) + len(GAP) * (len(widths) - 1)


def _first_name(columns: Sequence[Column]) -> int:
    return next((at for at, column in enumerate(columns) if not column.right), 0)


def _importance(column: Column) -> int:
    """Return the rank of a column among those that may be left out; the lowest goes first."""
    return 0 if column.spare else 3 if column.keep else 1 if column.right else 2


def _shared(widths: dict[int, int], names: Sequence[int], width: int) -> dict[int, int]:
    """Return the widths with names as narrow as need be, the widest first."""
    room = width - _total({at: 0 if at in names else size for at, size in widths.items()})
    left = len(names)
    found = dict(widths)
    for at in sorted(names, key=lambda name: widths[name]):
        found[at] = max(min(widths[at], room // left), NARROWEST)
        room, left = room - found[at], left - 1
    return found


def folded(text: str, width: int) -> list[str]:
    """Return the lines of a text: words as they fit; one that is too long is cut where the line ends."""
    if cell_len(text) <= width:
        return [text]
    found: list[str] = []
    for word in text.split(" "):
        line = f"{found[-1]} {word}" if found else word
        if cell_len(line) <= width:
            found[-1:] = [line]
        else:
            found += chop_cells(word, width)
    return found
