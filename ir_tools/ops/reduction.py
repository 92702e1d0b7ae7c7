"""Reductions along axes, running sums, and largest values of segments: Reduce*, CumSum-3, SegmentMax-16."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._define import UNBOUNDED, Array, Attrs, Bounds, Fact, Flag, Input, OneOf, Op, Violation
from ir_tools.ops._faults import broken_axes, immense, known_axes, refuse
from ir_tools.ops._numbers import require
from ir_tools.types import Dim, Shape, format_shape

__all__ = ["OPS", "Reduction"]

ANY = "float integer boolean"

# --- reductions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """One reduction.

    Attributes:
        type, version: of the operation.
        accepts: kinds of element types that the runtime takes.
        function: on an array and a tuple of axes, which it keeps with size 1.
        folds: what the runtime knows of the result before running: bounds, exact values, or those of floats only.
    """

    type: str
    function: Callable[[Array, tuple[int, ...]], Array]
    version: int = 1
    accepts: str = "float integer"
    folds: Literal["bounds", "exact", "floats"] = "exact"

    def faults(self, attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
        """Axes that are no list of whole numbers, or that the data does not have."""
        data, axes = inputs
        yield from broken_axes(data.shape, axes, ranks=(0, 1))
        if data.shape == () and attrs.keep_dims and known_axes(axes):
            yield Violation("axes", "names an axis to keep where the data is a scalar")

    def shape(self, attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
        """The data's shape without the axes, or with 1 in their places."""
        data = inputs[0]
        require(data.dtype, self.accepts)
        refuse(self.faults(attrs, inputs))
        return (Fact(data.dtype, reduced(data.shape, inputs[1], attrs.keep_dims), self.value(attrs, inputs)),)

    def value(self, attrs: Attrs, inputs: Sequence[Fact]) -> Bounds | None:
        """The bounds of the result, as far as the runtime works them out."""
        data, axes = inputs[0].value, known_axes(inputs[1])
        if (
            data is None
            or axes is None
            or not data.lower.size
            or (self.folds == "floats" and not inputs[0].dtype.is_float)
        ):
            return None
        if self.folds != "bounds" and data.exact is None:
            return None
        places = tuple(sorted({axis % max(data.lower.ndim, 1) for axis in axes}))
        lower, upper = (self._fold(bound, places, attrs.keep_dims) for bound in (data.lower, data.upper))
        return Bounds(lower, upper)

    def _fold(self, values: Array, axes: tuple[int, ...], keep: bool) -> Array:
        """The reduction of one bound; unbounded where an element is that decides it."""
        out = self.function(values, axes)
        if self.type == "ReduceProd" and values.dtype.kind == "i":
            unbounded = (values == UNBOUNDED).any(axis=axes, keepdims=True)
            out = np.where(unbounded & (out != 0), UNBOUNDED, out)
        kept: Array = out if keep else np.squeeze(out, axis=axes)
        return kept

    @property
    def op(self) -> Op:
        """The operation."""
        return Op(
            type=self.type,
            version=self.version,
            inputs=(Input("data", type=self.accepts), Input("axes", type="integer")),
            attrs={"keep_dims": Flag(default=False)},
            check=self.faults,
            shape=self.shape,
        )


def reduced(shape: Shape, axes: Fact, keep: bool) -> Shape:
    """A shape without the axes, or with 1 in their places; of axes that are not known only the number counts."""
    if shape is None:
        return None
    known = known_axes(axes)
    if known is None:
        if keep:
            return (Dim(),) * len(shape)
        one = axes.shape is not None and (not axes.shape or axes.shape[0] == Dim.of(1))
        return (Dim(),) * (len(shape) - 1) if one else None
    gone = {axis % max(len(shape), 1) for axis in known}
    if keep:
        return tuple(Dim.of(1) if axis in gone else dim for axis, dim in enumerate(shape))
    return tuple(dim for axis, dim in enumerate(shape) if axis not in gone)


def total(data: Array, axes: tuple[int, ...]) -> Array:
    """The sum."""
    out: Array = data.sum(axis=axes, keepdims=True, dtype=data.dtype)
    return out


def mean(data: Array, axes: tuple[int, ...]) -> Array:
    """The mean; of integers without its fraction."""
    if data.dtype.kind == "f":
        out: Array = data.mean(axis=axes, keepdims=True, dtype=data.dtype)
        return out
    count = max(int(np.prod([data.shape[axis] for axis in axes])), 1)
    sums = data.sum(axis=axes, keepdims=True, dtype=np.int64)
    means: Array = np.sign(sums) * (np.abs(sums) // count)
    return means.astype(data.dtype)


def product(data: Array, axes: tuple[int, ...]) -> Array:
    """The product."""
    out: Array = data.prod(axis=axes, keepdims=True, dtype=data.dtype)
    return out


def largest(data: Array, axes: tuple[int, ...]) -> Array:
    """The largest element."""
    out: Array = data.max(axis=axes, keepdims=True)
    return out


def smallest(data: Array, axes: tuple[int, ...]) -> Array:
    """The smallest element."""
    out: Array = data.min(axis=axes, keepdims=True)
    return out


def every(data: Array, axes: tuple[int, ...]) -> Array:
    """Whether all are true."""
    out: Array = np.logical_and.reduce(data, axis=axes, keepdims=True)
    return out


def some(data: Array, axes: tuple[int, ...]) -> Array:
    """Whether one is true."""
    out: Array = np.logical_or.reduce(data, axis=axes, keepdims=True)
    return out


def sum_of_sizes(data: Array, axes: tuple[int, ...]) -> Array:
    """The sum of the absolute values."""
    return total(np.abs(data), axes)


def length(data: Array, axes: tuple[int, ...]) -> Array:
    """The square root of the sum of the squares."""
    return np.sqrt(total(np.multiply(data, data), axes))


ROWS = (
    Reduction(type="ReduceSum", function=total),
    Reduction(type="ReduceMean", function=mean),
    Reduction(type="ReduceMax", function=largest, folds="bounds"),
    Reduction(type="ReduceMin", function=smallest, folds="bounds"),
    Reduction(type="ReduceProd", function=product, folds="bounds"),
    Reduction(type="ReduceLogicalAnd", function=every, accepts="boolean"),
    Reduction(type="ReduceLogicalOr", function=some, accepts="boolean"),
    Reduction(type="ReduceL1", version=4, function=sum_of_sizes),
    Reduction(type="ReduceL2", version=4, function=length, folds="floats"),
)

# --- running sums -----------------------------------------------------------------------------------------------


def cumsum_faults(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """An axis that is no single number, or that the data does not have."""
    del attrs
    data, axis = inputs[0], inputs[1] if len(inputs) > 1 else None
    if axis is None:
        yield Violation("axis", "is missing, and the runtime needs it", "connect a constant 0")
        return
    yield from broken_axes(data.shape, axis, ranks=(0,), name="axis")


def cumsum_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """The data's shape."""
    del attrs
    if len(inputs) > 1:
        require(inputs[1].dtype, "integer")
    return (Fact(inputs[0].dtype, inputs[0].shape),)


# --- segments ---------------------------------------------------------------------------------------------------


def segment_faults(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Segment numbers that are not one for each row, not in order, or none at all."""
    del attrs
    data, segments = inputs[0], inputs[1]
    if data.shape == ():
        yield Violation("data", "is a scalar, which has no rows")
        return
    if segments.shape is not None and len(segments.shape) != 1:
        yield Violation("segment_ids", f"is [{format_shape(segments.shape)}] where a list is meant")
        return
    if data.shape is not None and segments.shape is not None and data.shape[0].meet(segments.shape[0]) is None:
        yield Violation("segment_ids", f"has {segments.shape[0]} numbers where the data has {data.shape[0]} rows")
    known = known_axes(segments)
    if known is not None and known != sorted(known):
        yield Violation("segment_ids", "are not in ascending order")
    if len(inputs) > 2:
        if inputs[2].shape:
            text = f"is [{format_shape(inputs[2].shape)}] where a single number is meant"
            yield Violation("num_segments", text)
        elif min(known_axes(inputs[2]) or [0]) < 0:
            yield Violation("num_segments", "is negative")
    elif known == []:
        yield Violation("segment_ids", "has no number, and nothing says how many segments there are")


def check_segments(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """The same, and an output that is not immense."""
    broken = list(segment_faults(attrs, inputs))
    yield from broken or immense(segment_shape(attrs, inputs)[0].shape, "segment_ids")


def segment_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """The data's shape, but as many rows as `num_segments` says, or as the last segment number needs."""
    refuse(segment_faults(attrs, inputs))
    data = inputs[0]
    for fact in inputs[1:]:
        if fact.dtype.name not in {"i32", "i64", "dynamic"}:
            raise ShapeError(f"segments have element type {fact.dtype} where i32 or i64 is meant")
    if data.shape is None:
        return (Fact(data.dtype, None),)
    rows = Dim()
    if len(inputs) > 2:
        rows = Dim() if inputs[2].value is None else inputs[2].value.dims()[0]
    elif known := known_axes(inputs[1]):
        rows = Dim.of(max(known[-1] + 1, 0))
    return (Fact(data.dtype, (rows, *data.shape[1:])),)


CUM_SUM = Op(
    type="CumSum",
    version=3,
    inputs=(Input("data", type=ANY), Input("axis", optional=True, type="i32 i64")),
    attrs={"exclusive": Flag(default=False), "reverse": Flag(default=False)},
    check=cumsum_faults,
    shape=cumsum_shape,
)
SEGMENT_MAX = Op(
    type="SegmentMax",
    version=16,
    inputs=(
        Input("data", type=ANY),
        Input("segment_ids", type="i32 i64"),
        Input("num_segments", optional=True, type="i32 i64"),
    ),
    attrs={"fill_mode": OneOf(words=("zero", "lowest"), missing="zero")},
    check=check_segments,
    shape=segment_shape,
)

OPS = (*(row.op for row in ROWS), CUM_SUM, SEGMENT_MAX)
