"""The `.bin` has bytes that no constant reads.

Why: the `.bin` may belong to another model, offset or size of a constant may be wrong, or a constant was deleted. Up to
63 zeros between two constants or at the end count as padding.

Bad:
    <data element_type="f32" shape="16" offset="64" size="64" />

Good:
    <data element_type="f32" shape="32" offset="0" size="128" />
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile
from ir_tools.source import Element
from ir_tools.types import id_number

__all__ = ["RULE"]

PADDING = 64
"""Fewer zeros are padding; writers align constants to 64 bytes at most."""
REMEDY = "take the model's own .bin, or correct offset and size of the constant that belongs there"


class _Run(NamedTuple):
    """Bytes that nothing reads. `behind`: what reads the bytes after them; None at the end of the file."""

    start: int
    end: int
    behind: Element | None


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for the file, unless an extent cannot be read or lies beyond the end: that is reported already."""
    extents = _extents(file)
    size = 0 if file.weights.missing else file.weights.size
    if extents is None or any(end > size for _, end, _ in extents):
        return
    runs = [run for run in _runs(extents, size) if not _is_padding(file, run)]
    if not runs:
        return
    unread = sum(run.end - run.start for run in runs)
    place = file.place_of(file.document.root if runs[0].behind is None else runs[0].behind)
    message = f"no constant reads {unread} of the {size} bytes of the .bin, the first of them at {runs[0].start}"
    yield Finding(place, message, REMEDY)


def _extents(file: IrFile) -> list[tuple[int, int, Element]] | None:
    """Start and end of what each element reads, in rising order; None if one cannot be read."""
    found = []
    for element in cast(Sequence[Element], file.document.root.xpath("//*[@offset][@size]")):
        offset, size = id_number(element.get("offset")), id_number(element.get("size"))
        if offset is None or size is None:
            return None
        found.append((offset, offset + size, element))
    return sorted(found, key=lambda extent: extent[:2])


def _runs(extents: Sequence[tuple[int, int, Element]], size: int) -> Iterator[_Run]:
    """The bytes between the extents, and those after the last."""
    reached = 0
    for start, end, element in extents:
        if start > reached and end > start:
            yield _Run(reached, start, element)
        reached = max(reached, end)
    if size > reached:
        yield _Run(reached, size, None)


def _is_padding(file: IrFile, run: _Run) -> bool:
    length = run.end - run.start
    return length < PADDING and not file.weights.view(run.start, length).any()


RULE = Rule("IR019", "unread-weights", Severity.WARNING, __doc__, check)
