"""Checks that several families share, and how a shape rule turns a violation into its error."""

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from ir_tools.errors import ShapeError
from ir_tools.ops.definition import Fact, Kind, Violation
from ir_tools.types import Shape, format_shape

__all__ = ["broken_axes", "immense", "known_axes", "listed", "oversized", "refuse"]

MAX_ELEMENTS = 1 << 33
"""Of one tensor: 32 GiB in f32."""
LARGE_KERNEL, TIMES = 64, 8
"""A kernel of so many elements is too large for an axis with a TIMES-th of them; real models have 51 over 7."""
LARGEST_KERNEL = 1 << 16
"""Over an axis of unknown size."""


def refuse(violations: Iterable[Violation]) -> None:
    """Raise the first of the violations.

    Raises:
        ShapeError: there is one.
    """
    for violation in violations:
        raise ShapeError(f"{violation.attribute} {violation.message}")


def listed(values: Iterable[object]) -> str:
    """`(1, 2)` -> `1,2`, as attributes are written."""
    return ",".join(map(str, values))


def immense(shape: Shape, attribute: str) -> Iterator[Violation]:
    """An output that no machine has room for, however small its unknown dimensions are; `attribute` makes it so."""
    elements = prod(dim.lo for dim in shape or ())
    if elements > MAX_ELEMENTS:
        text = format_shape(shape)
        message = f"makes an output of [{text}]: {elements} elements, which no machine has room for"
        yield Violation(attribute, message, kind=Kind.FATAL)


def oversized(name: str, kernel: Sequence[int], data: Shape) -> Iterator[Violation]:
    """Yield the first axis over which a kernel is many times as large as the data: most of it reads padding."""
    sizes = [dim.hi for dim in (data or ())[2:]] or [None] * len(kernel)
    for axis, (length, size) in enumerate(zip(kernel, sizes, strict=False)):
        if length > LARGEST_KERNEL if size is None else length >= LARGE_KERNEL and length > TIMES * size:
            there = "a size that is not known" if size is None else f"{size} element{'s' if size != 1 else ''}"
            message = f"has {length} elements over axis {axis + 2} of the data, which has {there}"
            yield Violation(name, message, "make it smaller, or check the shape of the data", Kind.SUSPECT)
            return


def known_axes(axes: Fact) -> list[int] | None:
    """The axes that an input names, where all of them are known."""
    exact = None if axes.value is None else axes.value.exact
    return None if exact is None else [int(axis) for axis in exact.ravel()]


def broken_axes(
    data: Shape, axes: Fact, ranks: Sequence[int], *, name: str = "axes", negative: bool = True
) -> Iterator[Violation]:
    """An input of axes that holds no integers, is of other `ranks`, or names one that the data does not have.

    A scalar counts as having one axis where a number or nothing can stand for a list.
    """
    if not (axes.dtype.is_integer or axes.dtype.kind == "dynamic"):
        yield Violation(name, f"has element type {axes.dtype}; expected integers")
        return
    if axes.shape is not None and len(axes.shape) not in ranks:
        meant = "a single number" if ranks == (0,) else "a list" if 0 not in ranks else "a number or a list"
        yield Violation(name, f"is [{format_shape(axes.shape)}]; expected {meant}")
        return
    if data is None:
        return
    rank = max(len(data), 1) if 0 in ranks else len(data)
    for axis in known_axes(axes) or ():
        if not (-rank if negative else 0) <= axis < rank:
            yield Violation(name, f"names axis {axis}, but the data [{format_shape(data)}] has rank {len(data)}")
