"""Bytes of the `.bin` that no constant reads."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.format.problems import ElementProblem
from ir_tools.rules.storage import BAD_CONSTANT, BAD_STRING_CONSTANT, UNREAD_WEIGHTS, WRONG_CONSTANT_SIZE
from ir_tools.rules.structure import MISSING_BODY
from ir_tools.source import Element
from ir_tools.types import id_number

__all__ = ["CHECK"]

PADDING = 64
"""Fewer zeros are padding; writers align constants to 64 bytes at most."""
REPORTED = frozenset({BAD_CONSTANT, WRONG_CONSTANT_SIZE, BAD_STRING_CONSTANT, MISSING_BODY})
REMEDY = "use the .bin of this model, or correct the offset and size of the constant that these bytes belong to"


class _Run(NamedTuple):
    """Bytes that nothing reads. `behind`: what reads the bytes after them; None at the end of the file."""

    start: int
    end: int
    behind: Element | None


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for the file, unless something is reported from which unread bytes follow.

    That is an extent which cannot be read or lies beyond the end, a wrong size, or a body that is missing.
    """
    if any(problem.rule in REPORTED for problem in file.unread):
        return
    extents = _extents(file)
    size = 0 if file.weights.missing else file.weights.size
    if extents is None or any(end > size for _, end, _ in extents):
        return
    runs = [run for run in _runs(extents, size) if not _is_padding(file, run)]
    if not runs:
        return
    unread = sum(run.end - run.start for run in runs)
    element = file.document.root if runs[0].behind is None else runs[0].behind
    message = f"no constant reads {unread} of the {size} bytes of the .bin, starting at offset {runs[0].start}"
    yield ElementProblem(UNREAD_WEIGHTS, element, message, REMEDY)


def _extents(file: IrFile) -> list[tuple[int, int, Element]] | None:
    """Return start and end of what each element reads, in rising order; None if one cannot be read."""
    found = []
    for element in cast(Sequence[Element], file.document.root.xpath("//*[@offset][@size]")):
        offset, size = id_number(element.get("offset")), id_number(element.get("size"))
        if offset is None or size is None:
            return None
        found.append((offset, offset + size, element))
    return sorted(found, key=lambda extent: extent[:2])


def _runs(extents: Sequence[tuple[int, int, Element]], size: int) -> Iterator[_Run]:
    """Yield the bytes between the extents, and those after the last."""
    reached = 0
    for start, end, element in extents:
        if start > reached and end > start:
            yield _Run(reached, start, element)
        reached = max(reached, end)
    if size > reached:
        yield _Run(reached, size, None)


def _is_padding(file: IrFile, run: _Run) -> bool:
    """Return whether a run is a few zeros; those between constants that were appended are not stored."""
    stored = max(min(run.end, file.weights.stored) - run.start, 0)
    return run.end - run.start < PADDING and not (stored and file.weights.view(run.start, stored).any())


CHECK = Check(find, (UNREAD_WEIGHTS,))
