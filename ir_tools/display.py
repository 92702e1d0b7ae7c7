"""Objects as people see them: reprs that fit on a screen, and tables in notebooks."""

import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, Field, fields
from decimal import ROUND_CEILING, Context
from html import escape
from itertools import islice
from typing import Any

__all__ = ["brief", "brief_fields", "either", "listing", "notebook_table", "number", "plural", "quoted"]
__all__ += ["quoted_names", "shortened", "some", "sufficient", "without_build"]

MAX_QUOTED = 80
"""Characters of a name that a message quotes."""
LINES = 10
"""Entries of a listing."""
WIDTH = 160
"""Characters of a line of it."""
ROWS = 32
"""Rows of a notebook's table: room for all releases."""
CELL = 300
"""Characters of one cell."""
TITLE = 2000
"""Characters of the line above a table."""

_UP = Context(prec=2, rounding=ROUND_CEILING)

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 120
_REPR.maxlevel = 3


def plural(count: int, noun: str) -> str:
    """Return `1 layer`, `2 layers`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def either(words: Iterable[object]) -> str:
    """Return `i32`, `i32 or i64`, `i8, i32 or i64`."""
    *rest, last = map(str, words)
    return f"{', '.join(rest)} or {last}" if rest else last


def number(value: float) -> str:
    """Return a number in few characters: `0`, `1.2e-07`, `0.1235`."""
    return f"{value:.4g}" if abs(value) >= 1e-3 or value == 0 else f"{value:.1e}"


def sufficient(tolerance: float) -> str:
    """Return a tolerance in two digits, rounded up, so that what passes with it passes with the text."""
    return number(float(_UP.create_decimal(str(float(tolerance)))))


def without_build(version: str) -> str:
    """Return `2026.4.1` of `2026.4.1-22982-e213a147257-releases/2026/4`."""
    return version.partition("-")[0]


def quoted(name: str) -> str:
    """Return the start of a name or of a type, as messages quote it."""
    return name[:MAX_QUOTED]


def quoted_names(names: Iterable[str]) -> str:
    """Return `'a', 'b'`, or `none`."""
    return ", ".join(f"'{quoted(name)}'" for name in names) or "none"


def some(words: Sequence[str], most: int) -> str:
    """Return the first words, `a, b and 3 more`."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def shortened(text: str, length: int) -> str:
    """Return a text on one line of at most `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


def brief(value: object) -> str:
    """Return the repr of a value, with the middle of what is long left out."""
    return _REPR.repr(value)


def brief_fields(instance: Any) -> str:
    """Return the repr of a dataclass without the fields that have their default value; for its `__repr__`."""
    pairs = ((entry, getattr(instance, entry.name)) for entry in fields(instance) if entry.repr)
    shown = (f"{entry.name}={brief(value)}" for entry, value in pairs if not _is_default(entry, value))
    return f"{type(instance).__name__}({', '.join(shown)})"


def _is_default(entry: Field[Any], value: object) -> bool:
    default = entry.default if entry.default_factory is MISSING else entry.default_factory()
    return value is default or (type(value) is type(default) and bool(value == default))


def listing(title: str, entries: Sequence[object]) -> str:
    """Return a title and a line for each of the first entries, for a `__repr__`."""
    lines = [title, *(shortened(str(entry), WIDTH) for entry in entries[:LINES])]
    return "\n".join([*lines, f"and {len(entries) - LINES} more"] if len(entries) > LINES else lines)


def notebook_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a title and a table as HTML that follows the colours of the page.

    Args:
        title: a line above the table.
        columns: the headings.
        rows: the cells, as many as `columns`; the first `ROWS` rows are shown.
    """
    rest = iter(rows)
    shown = [_row("td", row) for row in islice(rest, ROWS)]
    more = sum(1 for _ in rest)
    lines = [f"<p><b>{escape(shortened(title, TITLE))}</b></p>"]
    if shown:
        lines += ["<table><thead>", _row("th", columns), "</thead><tbody>", *shown, "</tbody></table>"]
    if more:
        lines.append(f"<p>and {more} more</p>")
    return "\n".join(lines)


def _row(tag: str, cells: Iterable[object]) -> str:
    return "".join(["<tr>", *(f"<{tag} style='text-align: left'>{_cell(cell)}</{tag}>" for cell in cells), "</tr>"])


def _cell(value: object) -> str:
    return escape("" if value is None else shortened(str(value), CELL))
