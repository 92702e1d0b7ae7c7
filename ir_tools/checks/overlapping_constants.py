"""Constants that share a part of their bytes."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.format.constants import Constant
from ir_tools.format.problems import ElementProblem, name_of
from ir_tools.rules.storage import OVERLAPPING_CONSTANTS

__all__ = ["CHECK"]


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each constant that begins or ends inside another."""
    constants = _by_extent(file.constants)
    gaps = _gaps(constants, file.weights.size)
    reported = set[tuple[int, int]]()
    for first, second in _overlapping(constants):
        offending, other = (first, second) if _is_first_offending(first, second, gaps) else (second, first)
        if (offending.offset, offending.end) in reported:
            continue
        reported.add((offending.offset, offending.end))
        begin, end = max(first.offset, second.offset), min(first.end, second.end)
        message = (
            f"the constant reads bytes {begin} to {end - 1}, which also belong to '{name_of(other.layer)}' "
            f"at offset {other.offset} with size {other.tensor.size}"
        )
        yield ElementProblem(
            OVERLAPPING_CONSTANTS, offending.data, message, "correct the offset or size of one of the two"
        )


def _by_extent(constants: Sequence[Constant]) -> list[Constant]:
    """Return one constant for each place in the file, in the order of the places; none without elements."""
    extents: dict[tuple[int, int], Constant] = {}
    for constant in constants:
        if constant.tensor.elements and constant.tensor.fault is None:
            extents.setdefault((constant.offset, constant.end), constant)
    return [extents[key] for key in sorted(extents)]


def _overlapping(constants: Sequence[Constant]) -> Iterator[tuple[Constant, Constant]]:
    """Yield each constant that begins before an earlier one ends, with the earlier one that ends last."""
    last: Constant | None = None
    for constant in constants:
        if last is not None and constant.offset < last.end:
            yield last, constant
        if last is None or constant.end > last.end:
            last = constant


class _Gaps(NamedTuple):
    """The bytes that no constant reads: where they begin, where they end, how many they are."""

    starts: set[int]
    ends: set[int]
    sizes: set[int]


def _gaps(constants: Sequence[Constant], size: int) -> _Gaps:
    gaps, reached = _Gaps(set(), set(), set()), 0
    for start, end in [*((constant.offset, constant.end) for constant in constants), (size, size)]:
        if start > reached:
            gaps.starts.add(reached)
            gaps.ends.add(start)
            gaps.sizes.add(start - reached)
        reached = max(reached, end)
    return gaps


def _is_first_offending(first: Constant, second: Constant, gaps: _Gaps) -> bool:
    """Return whether the first of two is at the wrong place: it fits a gap, left one, or reaches into the second."""
    fits_first, fits_second = (constant.tensor.size in gaps.sizes for constant in (first, second))
    if fits_first != fits_second:
        return fits_first
    if (first.offset in gaps.ends) != (second.end in gaps.starts):
        return first.offset in gaps.ends
    return second.end > first.end


CHECK = Check(find, (OVERLAPPING_CONSTANTS,))
