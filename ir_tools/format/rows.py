"""Rows of port maps: their numbers, and into how many parts each cuts its tensor."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ir_tools.display import plural
from ir_tools.ops.bodies import part_count
from ir_tools.source import Element
from ir_tools.types import id_number

__all__ = ["PURPOSES", "SLICES", "Row", "Slice", "slice_problems"]

PURPOSES = {"execution_condition": "output", "current_iteration": "input"}
"""What a Loop may use a row for, and which rows."""

SLICES = ("axis", "start", "end", "stride", "part_size")
"""What a row says of how its tensor is sliced."""

ALIKE = (
    "slice all tensors into the same number of parts; check start and end, whose values of 0 or more the runtime's "
    "shape inference counts differently"
)
Problem = tuple[str, str]
"""What is wrong, and what to do."""


class Row(NamedTuple):
    """An `<input>` or `<output>` of a port map. `axis`: None where the tensor is not cut."""

    element: Element
    is_input: bool
    port: int
    layer: int
    purpose: str
    axis: int | None
    start: int
    end: int
    stride: int
    part_size: int

    @classmethod
    def read(cls, element: Element) -> "tuple[Row | None, list[Problem]]":
        """Return the row, and what cannot be read in it."""
        faults: list[Problem] = []
        is_input = element.tag == "input"

        def number(name: str, missing: int | None, signed: bool = True) -> int | None:
            text = element.get(name)
            if text is None and missing is not None:
                return missing
            value = _signed(text) if signed else id_number(text)
            if value is None:
                what = f"<{element.tag}> has no {name}" if text is None else f"<{element.tag}> has {name} '{text[:40]}'"
                faults.append((what, f"{name} is an integer"))
            return value

        port, layer = number("external_port_id", None), number("internal_layer_id", None, signed=False)
        axis = None if element.get("axis") is None else number("axis", None, signed=not is_input)
        start, end = number("start", 0), number("end", -1)
        stride, part_size = number("stride", 1), number("part_size", 1)
        if faults or port is None or layer is None or start is None or end is None:
            return None, faults
        if stride is None or part_size is None:
            return None, faults
        purpose = element.get("purpose") or ""
        return cls(element, is_input, port, layer, purpose, axis, start, end, stride, part_size), faults

    def range(self, size: int) -> tuple[int, int]:
        """Return the part of an axis of this size that is cut, from and to; negative numbers count from its end."""
        first = self.start + size + 1 if self.start < 0 else self.start
        last = self.end + size + 1 if self.end < 0 else self.end
        return (last, first) if self.stride < 0 else (first, last)

    def begins_inside(self, size: int) -> bool:
        """Return whether the first part of an axis of this size is not the one at its beginning, or end."""
        first, last = self.range(size)
        return last != size if self.stride < 0 else first != 0

    def parts(self, size: int) -> int:
        """Return how many parts the runtime counts for the shape."""
        return part_count(self.start, self.end, self.part_size, size)


class Slice(NamedTuple):
    """A row with an axis. `rank`: of the tensor, 0 where it is not known. `size`: of the axis, if that is known."""

    row: Row
    rank: int
    size: int | None


def slice_problems(slices: Sequence[Slice], *, exact: bool) -> Iterator[tuple[Row, str, str]]:
    """Yield what is wrong with the slices of one layer: row, message, remedy.

    Args:
        slices: inputs with the size of what is cut.
        exact: the number of parts decides how often the body runs (TensorIterator), so that all must be equal. A
            Loop reads neither start nor end.
    """
    count: int | None = None
    shaped: int | None = None
    for row, rank, known in sorted(slices, key=lambda one: not one.row.is_input):
        fault, parts = _plain_problem(row, rank), 0
        joined = not row.is_input
        size = known if not joined else None if shaped is None else shaped * row.part_size
        if fault is None and exact and size is not None:
            fault, parts = _cut(row, size)
            if fault is None and count is not None and parts != count:
                fault = (
                    f"the row slices its tensor into {plural(parts, 'part')}, but an earlier row into {count}",
                    ALIKE,
                )
        if fault:
            yield row, *fault
        elif parts and row.is_input and size is not None:
            count, shaped = parts, row.parts(size)


def _plain_problem(row: Row, rank: int) -> Problem | None:
    """Return what is wrong whatever the sizes are."""
    if row.stride == 0:
        return "stride is 0, with which the loop does not end", "write the distance between the starts of two parts"
    if row.part_size <= 0:
        return (
            f"part_size is {row.part_size}; expected at least 1",
            "write the number of elements that one iteration reads",
        )
    if abs(row.stride) != row.part_size:
        message = f"part_size is {row.part_size}, but stride is {row.stride}"
        return message, "set part_size to the absolute value of stride"
    away = row.start >= 0 > row.end if row.stride < 0 else row.start < 0 <= row.end
    if away:
        message = f"stride is {row.stride}, but end {row.end} is in the other direction from start {row.start}"
        return message, "a negative stride begins at -1, the end of the axis, and ends at 0"
    if rank and row.axis is not None and not -rank <= row.axis < rank:
        return f"axis is {row.axis}, but the tensor has {rank} dimensions", f"write an axis from 0 to {rank - 1}"
    return None


def _cut(row: Row, size: int) -> tuple[Problem | None, int]:
    """Return what is wrong with a slice of an axis of this size, and the number of parts."""
    first, last = row.range(size)
    step = abs(row.stride)
    if first < 0 or last > size or last - first < step:
        message = f"start {row.start}, end {row.end} and stride {row.stride} select none of {size} elements"
        return (message, "write start and end within the axis, and a stride that leads from start to end"), 0
    if (last - first) % step:
        return (
            f"{last - first} elements cannot be cut into parts of {step}",
            "write a part_size that divides the number of elements",
        ), 0
    return None, (last - first) // step


def _signed(text: str | None) -> int | None:
    word = (text or "").lstrip(" \t\r\n")
    if word.startswith("-"):
        number = id_number(word[1:]) if word[1:2].isdigit() else None
        return None if number is None else -number
    return id_number(word)
