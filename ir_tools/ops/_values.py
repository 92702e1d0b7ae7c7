"""Read the values of tensors that decide shapes, and propagate them through layers that only move elements.

The rules are those of OpenVINO's core (bound_evaluate.cpp): a layer passes bounds on where the runtime's own
`evaluate_lower` and `evaluate_upper` do, which mostly means that all inputs but the data are known exactly.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TypeVar

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops.definition import UNBOUNDED, Bounds, Fact, Kernel, LaterFact
from ir_tools.ops.fields import Attrs
from ir_tools.ops.limits import MAX_VALUES
from ir_tools.types import Dim, Shape, is_static, product

__all__ = [
    "carried",
    "ceil_div",
    "dim",
    "divided",
    "element_count",
    "floor_div",
    "intervals",
    "is_empty",
    "known_axes",
    "known_axis",
    "known_number",
    "minus",
    "normal_axis",
    "outside",
    "plus",
    "same_shape",
    "shifted",
    "sizes_of",
    "times",
    "with_size",
]

T = TypeVar("T")


# --- reading values ---------------------------------------------------------------------------------------------


def intervals(fact: Fact) -> list[tuple[int, int]] | None:
    """Return lower and upper bound of each value, flat; `UNBOUNDED` where there is no upper one."""
    if fact.value is None:
        return None
    pairs = zip(fact.value.lower.ravel(), fact.value.upper.ravel(), strict=True)
    return [(int(low), int(high)) for low, high in pairs]


def sizes_of(fact: Fact, name: str) -> tuple[Dim, ...] | None:
    """Return the values as dimensions, -1 for any size; None where nothing is known.

    Raises:
        ShapeError: a value is negative, and known not to be -1.
    """
    pairs = intervals(fact)
    if pairs is None:
        return None
    exact = fact.integers() is not None
    least = min(map(min, pairs), default=0)
    if least < (-1 if exact else 0):
        raise ShapeError(f"holds {least}; expected sizes of at least 0", attribute=name)
    return tuple(
        Dim() if low < 0 or high < low else Dim(low, None if high >= UNBOUNDED else high) for low, high in pairs
    )


def normal_axis(axis: int, rank: int, name: str = "axis") -> int:
    """Return an axis counted from the front.

    Raises:
        ShapeError: the input has no such axis.
    """
    if not -rank <= axis < rank:
        raise ShapeError(f"is {axis}, but the input has rank {rank}", attribute=name)
    return axis % rank if rank else 0


def with_size(shape: tuple[T, ...], axis: int, size: T) -> tuple[T, ...]:
    """Return a shape with another size of an axis, which counts from the front."""
    return (*shape[:axis], size, *shape[axis + 1 :])


def known_axis(fact: Fact, rank: int) -> int | None:
    """Return the only value of an input, as an axis counted from the front; None where it is not known.

    Raises:
        ShapeError: there are several values, or the input has no such axis.
    """
    values = fact.integers()
    if values is None:
        return None
    if len(values) != 1:
        raise ShapeError(f"has {len(values)} values; expected one", attribute="axis")
    return normal_axis(values[0], rank)


def known_axes(fact: Fact, rank: int, name: str = "axes") -> list[int] | None:
    """Return the values of an input as axes counted from the front; None where they are not known.

    Raises:
        ShapeError: the input has no such axis.
    """
    values = fact.integers()
    return None if values is None else [normal_axis(value, rank, name) for value in values]


def is_empty(fact: Fact) -> bool:
    """Return whether a tensor has no elements for certain: the CPU plugin leaves out a layer that reads it.

    Measured.
    """
    return any(dim.hi == 0 for dim in fact.shape or ())


def outside(fact: Fact, sizes: Sequence[Dim], *, negative: bool = True) -> int | None:
    """Return the first known index that some size does not have; None where there is none.

    Args:
        fact: the indices, their last dimension as long as `sizes`, or any for one size.
        sizes: what the indices go into; those of unknown size take any.
        negative: whether negative ones count from the end.
    """
    exact = fact.exact
    if exact is None or not exact.size:
        return None
    maximum = np.array([UNBOUNDED if dim.hi is None else dim.hi for dim in sizes])
    exact = np.atleast_1d(exact)
    bad = exact[(exact >= maximum) | (exact < (-maximum if negative else 0))]
    return int(bad[0]) if bad.size else None


def known_number(fact: Fact) -> float | None:
    """Return the first value of an input that is known before anything runs."""
    exact = fact.exact
    return None if exact is None or not exact.size else exact.ravel()[0].item()


# --- arithmetic of dimensions -----------------------------------------------------------------------------------


def plus(left: Dim, right: Dim) -> Dim:
    """Return every sum of a size of `left` and one of `right`."""
    return Dim(left.lo + right.lo, None if left.hi is None or right.hi is None else left.hi + right.hi)


def shifted(dim: Dim, by: int) -> Dim:
    """Return every size moved by `by`, which may be negative; none falls below 0."""
    return Dim(max(dim.lo + by, 0), None if dim.hi is None else max(dim.hi + by, 0))


def times(left: Dim, right: Dim) -> Dim:
    """Return every product of a size of `left` and one of `right`; nothing times any size is nothing."""
    if 0 in (left.hi, right.hi):
        return Dim.of(0)
    return Dim(left.lo * right.lo, None if left.hi is None or right.hi is None else left.hi * right.hi)


def minus(left: Dim, right: Dim) -> Dim:
    """Return every difference of a size of `left` and one of `right`; none falls below 0."""
    lo = 0 if right.hi is None else max(left.lo - right.hi, 0)
    return Dim(lo, None if left.hi is None else max(left.hi - right.lo, 0))


def floor_div(dim: Dim, by: int) -> Dim:
    """Return every size divided by `by` and rounded down."""
    return Dim(dim.lo // by, None if dim.hi is None else dim.hi // by)


def ceil_div(dim: Dim, by: int) -> Dim:
    """Return every size divided by `by` and rounded up."""
    return Dim(-(-dim.lo // by), None if dim.hi is None else -(-dim.hi // by))


def divided(dim: Dim, by: int) -> Dim | None:
    """Return the sizes of which `by` make a size of `dim`; None where there are none.

    Of a dimension with a lower bound alone the runtime divides its largest number too, as a double.
    """
    if by == 1 or dim == Dim():
        return dim
    lo, hi = -(-dim.lo // by), int(float(UNBOUNDED) / by) if dim.hi is None else dim.hi // by
    return None if hi < lo else Dim(lo, hi)


def element_count(shape: Shape) -> int | None:
    """Return the number of elements; None where it is not known."""
    return product(dim.lo for dim in shape) if is_static(shape) else None


def dim(fact: Fact, axis: int) -> Dim:
    """Return the dimension of an axis; any size where the rank is not known."""
    shape = fact.shape
    return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else Dim()


def same_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the element type and the shape of the first input: a shape rule."""
    return (Fact(inputs[0].dtype, inputs[0].shape),)


# --- carrying values --------------------------------------------------------------------------------------------


def carried(
    kernel: Kernel,
    attrs: Attrs,
    inputs: Sequence[Fact],
    outputs: Sequence[Fact],
    bounded: Collection[int] = (0,),
) -> tuple[Fact, ...]:
    """Return the outputs of a layer with values, as far as the runtime knows them before running.

    Args:
        kernel: of the operation.
        attrs: of the layer.
        inputs: facts.
        outputs: facts without values.
        bounded: numbers of the inputs of which bounds are enough; the others must be known exactly.
    """
    counts = [element_count(fact.shape) for fact in outputs]
    if any(count is None or count > MAX_VALUES for count in counts):
        return tuple(outputs)
    found = partial(_carried_values, kernel, attrs, inputs, len(outputs), bounded)
    if any(isinstance(fact, LaterFact) and not fact.looked_at for fact in inputs):
        once = cache(found)
        return tuple(
            LaterFact(fact.dtype, fact.shape, partial(lambda number: once()[number], number), fact.constant)
            for number, fact in enumerate(outputs)
        )
    pairs = zip(outputs, found(), strict=True)
    return tuple(fact if value is None else replace(fact, value=value) for fact, value in pairs)


def _carried_values(
    kernel: Kernel,
    attrs: Attrs,
    inputs: Sequence[Fact],
    count: int,
    bounded: Collection[int],
) -> Sequence[Bounds | None]:
    """Return the values of `count` outputs, None for those that are not known."""
    values = [fact.value for fact in inputs]
    bounds = [value for value in values if value is not None]
    if len(bounds) < len(values) or any(
        value.exact is None for index, value in enumerate(bounds) if index not in bounded
    ):
        return [None] * count
    exact = all(value.exact is not None for value in bounds)
    try:
        lower = kernel(attrs, [value.lower for value in bounds])
        upper = lower if exact else kernel(attrs, [value.upper for value in bounds])
    except (ShapeError, IndexError):
        return [None] * count
    return [Bounds(low, high) for low, high in zip(lower, upper, strict=True)]
