"""Reductions along axes, cumulative sums, and maxima of segments: Reduce*, CumSum-3, SegmentMax-16.

Specification: `reduction/`, `arithmetic/`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any, Literal

import numpy as np

from ir_tools.ops._adaptive_pooling_rewrites import reduce_mean_to_adaptive
from ir_tools.ops._layers import F32, Layers, by_formula, composed
from ir_tools.ops._numbers import in_working_type, lowest, to_integer
from ir_tools.ops._requirements import check_axes, raise_first, require_type
from ir_tools.ops._segment_rewrites import cumulative_sum, segment_max_by_numbers
from ir_tools.ops.definition import (
    NUMBERS,
    UNBOUNDED,
    Array,
    Bounds,
    Elements,
    Fact,
    Input,
    NamedRewrite,
    Op,
    Ref,
    Refused,
    Step,
    Violation,
    ViolationKind,
)
from ir_tools.ops.fields import Attrs, Flag, OneOf
from ir_tools.ops.limits import too_large
from ir_tools.types import Dim, Shape, shape_text

__all__ = ["OPS"]

FEW_AXES = 5
"""Along axes of more that do not follow each other the CPU plugin has other code, which rounds integers. Measured."""

# --- reductions -------------------------------------------------------------------------------------------------
OF_NOTHING = frozenset({"ReduceSum", "ReduceProd", "ReduceL1"})
"""What the runtime knows of no elements, too: 0, 1, 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """A reduction.

    Attributes:
        type, version: the type and version of the operation.
        accepts: the element types that the runtime accepts.
        function: a function of an array and a tuple of axes, which it keeps with size 1.
        folds: how the runtime computes the result before running: bounds, exact values, or those of floats only.
        elements: how the outputs depend on the elements of the data.
        rewrites, migrate: as for `Op`.
    """

    type: str
    function: Callable[[Array, tuple[int, ...]], Array]
    version: int = 1
    accepts: str = "float integer"
    folds: Literal["bounds", "exact", "floats"] = "exact"
    rewrites: Mapping[str, NamedRewrite] = field(default_factory=dict)
    elements: Elements = Elements.COMPUTED
    migrate: Step | None = None
    substitute: Step | None = None

    def violations(self, attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
        """Check for axes that are not a list of integers, or that the data does not have."""
        data, axes = inputs
        yield from check_axes(data.shape, axes, ranks=(0, 1))
        if data.shape == () and attrs.keep_dims and axes.shape is not None and all(dim.lo for dim in axes.shape):
            yield Violation("axes", "has an axis, but the data is a scalar")

    def shape(self, attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
        """Return the data's shape without the axes, or with size 1 in their places."""
        data = inputs[0]
        require_type(data.dtype, self.accepts)
        raise_first(self.violations(attrs, inputs))
        return (Fact(data.dtype, reduced(data.shape, inputs[1], attrs.keep_dims), self.value(attrs, inputs)),)

    def value(self, attrs: Attrs, inputs: Sequence[Fact]) -> Bounds | None:
        """Return the bounds of the result, as the runtime computes them."""
        data, axes = inputs[0].value, inputs[1].integers()
        if (
            data is None
            or axes is None
            or (not data.lower.size and self.type not in OF_NOTHING)
            or (self.folds == "floats" and not inputs[0].dtype.is_float)
        ):
            return None
        if self.folds != "bounds" and data.exact is None:
            return None
        places = tuple(sorted({axis % max(data.lower.ndim, 1) for axis in axes}))
        with np.errstate(all="ignore"):
            lower, upper = (self._fold(bound, places, attrs.keep_dims) for bound in (data.lower, data.upper))
        return Bounds(lower, upper)

    def _fold(self, values: Array, axes: tuple[int, ...], keep: bool) -> Array:
        """Return the reduction of one bound; unbounded if an element that determines it is unbounded."""
        if not axes:
            return self.function(values, ())
        values = np.atleast_1d(values)
        out = self.function(values, axes)
        if self.type == "ReduceProd" and values.dtype.kind == "i":
            unbounded = (values == UNBOUNDED).any(axis=axes, keepdims=True)
            out = np.where(unbounded & (out != 0), UNBOUNDED, out)
        elif self.type == "ReduceProd":
            out = np.where((values == 0).any(axis=axes, keepdims=True), 0, out)
        kept: Array = out if keep else np.squeeze(out, axis=axes)
        return kept

    def kernel(self, attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """Return the reduction along the axes, each taken once; without axes, of every element by itself."""
        data, axes = arrays
        named = [int(axis) % max(data.ndim, 1) for axis in axes.ravel()]
        places = tuple(sorted(set(named)))
        scattered = data.ndim > FEW_AXES and any(after != axis + 1 for axis, after in pairwise(named))
        if scattered and data.dtype.kind in "iu":
            out = to_integer(np.rint(self.function(data.astype(np.float64), places)), data.dtype)
        else:
            out = in_working_type(lambda x: self.function(x, places), np.atleast_1d(data))
        sizes = enumerate(data.shape)
        if attrs.keep_dims:
            return (out.reshape([1 if axis in places else size for axis, size in sizes]),)
        return (out.reshape([size for axis, size in sizes if axis not in places]),)

    @property
    def op(self) -> Op:
        """The operation."""
        return Op(
            type=self.type,
            version=self.version,
            inputs=(Input("data", type=self.accepts, elements=self.elements), Input("axes", type="integer")),
            attrs={"keep_dims": Flag(default=False)},
            check=self.violations,
            shape=self.shape,
            kernel=self.kernel,
            rewrites=self.rewrites,
            migrate=self.migrate,
            substitute=self.substitute,
        )


def reduced(shape: Shape, axes: Fact, keep: bool) -> Shape:
    """Return a shape without the axes, or with size 1 in their places; for unknown axes only their number counts."""
    if shape is None:
        return None
    removed = axes.integers()
    if removed is None:
        if keep:
            return (Dim(),) * len(shape)
        one = axes.shape is not None and (not axes.shape or axes.shape[0] == Dim.of(1))
        return (Dim(),) * (len(shape) - 1) if one else None
    gone = {axis % max(len(shape), 1) for axis in removed}
    if keep:
        return tuple(Dim.of(1) if axis in gone else dim for axis, dim in enumerate(shape))
    return tuple(dim for axis, dim in enumerate(shape) if axis not in gone)


def whole(function: Callable[[Array, tuple[int, ...]], Array]) -> Callable[[Array, tuple[int, ...]], Array]:
    """Return a reduction of floats and of int64 for every integer type: exact, with saturation of 8-bit results.

    The CPU plugin adds integers in f32, which is exact below 2^24.
    """

    def wrapped(data: Array, axes: tuple[int, ...]) -> Array:
        if data.dtype.kind == "f":
            return function(data, axes)
        out = function(data.astype(np.int64), axes)
        if data.dtype.itemsize == 1:
            out = np.clip(out, np.iinfo(data.dtype).min, np.iinfo(data.dtype).max)
        narrow: Array = out.astype(data.dtype)
        return narrow

    return wrapped


@whole
def total(data: Array, axes: tuple[int, ...]) -> Array:
    """Return the sum."""
    out: Array = data.sum(axis=axes, keepdims=True, dtype=data.dtype)
    return out


@whole
def mean(data: Array, axes: tuple[int, ...]) -> Array:
    """Return the mean; truncated for integers; 0 if there are no elements."""
    count = max(prod(data.shape[axis] for axis in axes), 1)
    sums = data.sum(axis=axes, keepdims=True, dtype=data.dtype)
    if data.dtype.kind == "f":
        quotient: Array = sums / data.dtype.type(count)
        return quotient
    means: Array = np.sign(sums) * (np.abs(sums) // count)
    return means


@whole
def product(data: Array, axes: tuple[int, ...]) -> Array:
    """Return the product."""
    out: Array = data.prod(axis=axes, keepdims=True, dtype=data.dtype)
    return out


def largest(data: Array, axes: tuple[int, ...]) -> Array:
    """Return the maximum; without elements, or of infinities, the lowest number, with which the CPU plugin starts."""
    nothing = _of_nothing(data, axes)
    out: Array = np.max(data, axis=axes, keepdims=True, initial=_limits(data).min) if nothing is None else nothing
    return out


def smallest(data: Array, axes: tuple[int, ...]) -> Array:
    """Return the minimum; without elements, or of infinities, the largest number."""
    nothing = _of_nothing(data, axes)
    out: Array = np.min(data, axis=axes, keepdims=True, initial=_limits(data).max) if nothing is None else ~nothing
    return out


def _of_nothing(data: Array, axes: tuple[int, ...]) -> Array | None:
    """Return the maximum of integers along an axis without elements; None for other data."""
    if data.dtype.kind == "f" or all(data.shape[axis] for axis in axes):
        return None
    out: Array = np.full_like(data.sum(axis=axes, keepdims=True, dtype=data.dtype), first_least(data.dtype))
    return out


def _limits(data: Array) -> "np.finfo[Any] | np.iinfo[Any]":
    """Return the limits of f32 for every float type, since the CPU plugin computes f64 in f32, too."""
    return np.finfo(np.float32) if data.dtype.kind == "f" else np.iinfo(data.dtype)


def first_least(dtype: "np.dtype[Any]") -> Any:
    """Return the lowest integer, with which the CPU plugin starts: that of 8 bits, or the low bits of that of i32."""
    return dtype.type(np.iinfo(dtype).min) if dtype.itemsize == 1 else np.int64(-(2**31)).astype(dtype)


def every(data: Array, axes: tuple[int, ...]) -> Array:
    """Return whether all are true."""
    out: Array = np.logical_and.reduce(data, axis=axes, keepdims=True)
    return out


def some(data: Array, axes: tuple[int, ...]) -> Array:
    """Return whether one is true."""
    out: Array = np.logical_or.reduce(data, axis=axes, keepdims=True)
    return out


@whole
def sum_of_sizes(data: Array, axes: tuple[int, ...]) -> Array:
    """Return the sum of the absolute values."""
    out: Array = np.abs(data).sum(axis=axes, keepdims=True, dtype=data.dtype)
    return out


@whole
def length(data: Array, axes: tuple[int, ...]) -> Array:
    """Return the square root of the sum of squares; the nearest integer for integers, by OpenVINO's reference tests."""
    squares: Array = np.multiply(data, data).sum(axis=axes, keepdims=True, dtype=data.dtype)
    return np.sqrt(squares) if data.dtype.kind == "f" else np.rint(np.sqrt(squares))


def _floats_only(layers: Layers) -> Refused | None:
    if layers.fact(Ref(None)).dtype.is_float:
        return None
    return Refused(
        "sums of a composition of layers would truncate integers at every step; the operation truncates once"
    )


@composed(4, "the sum of the absolute values", wide=True)
def by_sizes(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite ReduceL1-4."""
    data, keep = layers.working(0), attrs.keep_dims
    return _floats_only(layers) or layers.call("ReduceSum", layers.call("Abs", data), Ref(None, 1), keep_dims=keep)


@composed(4, "the square root of the sum of the squares", wide=True)
def by_squares(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite ReduceL2-4."""
    data, keep = layers.working(0), attrs.keep_dims
    squares = layers.call("Multiply", data, data)
    return _floats_only(layers) or layers.call("Sqrt", layers.call("ReduceSum", squares, Ref(None, 1), keep_dims=keep))


def _all(layers: Layers, attrs: Attrs, booleans: Ref, answer: str) -> Ref:
    """Compare the least of booleans along the axes, as numbers, with 0."""
    least = layers.call("ReduceMin", layers.to_type(booleans, F32), Ref(None, 1), keep_dims=attrs.keep_dims)
    return layers.call(answer, least, 0)


@by_formula("the logical and of booleans is their minimum as numbers")
def all_as_numbers(layers: Layers, attrs: Attrs) -> Ref:
    """Convert to f32, which releases reduce along computed axes."""
    return _all(layers, attrs, Ref(None), "NotEqual")


@by_formula("the logical or of booleans is the negation of the minimum of their negations")
def any_as_numbers(layers: Layers, attrs: Attrs) -> Ref:
    """Check whether the lowest of the opposites is 0, which is never so without elements."""
    return _all(layers, attrs, layers.call("LogicalNot", Ref(None)), "Equal")


BLOCK = 16
"""Releases of 2022 reduce as many integers of the last axis at a time, and wrongly along one of fewer. Measured."""


def _apart(type: str, lengthened: Callable[[Layers], Ref | None] = lambda layers: None) -> Step:
    """Return a step that keeps a reduction apart from the layers around it, with which releases merge it wrongly.

    One in front is of the same type; those behind it scale it, or divide by its root what it is the mean square of.

    Args:
        type: of the reduction.
        lengthened: a function that returns what is reduced in place of integers; None for others.
    """

    @by_formula("the maximum of equal values is the value, and what is appended does not change the result")
    def apart(layers: Layers, attrs: Attrs) -> Ref:
        data = lengthened(layers) or layers.call("Maximum", Ref(None), Ref(None))
        found = layers.call(type, data, Ref(None, 1), keep_dims=attrs.keep_dims)
        return layers.call("Maximum", found, found)

    return apart


def _lengthened(layers: Layers, *, filling: int | None) -> Ref | None:
    """Return integers with more elements along a last axis that is reduced; None for others, or for few or long rows.

    Args:
        layers: the data and the axes.
        filling: what is appended; None: the last element once more.
    """
    data, axes = layers.fact(Ref(None)), layers.fact(Ref(None, 1)).integers()
    if not data.dtype.is_integer or not data.shape or axes is None:
        return None
    last, size = len(data.shape) - 1, data.shape[-1].lo
    rows = [dim.hi for dim in data.shape[:-1]]
    few = None not in rows and prod(filter(None, rows)) < BLOCK
    if last not in {axis % len(data.shape) for axis in axes} or few or size >= BLOCK:
        return None
    before, after = np.zeros(last + 1, np.int64), np.array([0] * last + [BLOCK], np.int64)
    if filling is not None:
        return layers.call("Pad", Ref(None), before, after, layers.number(filling, Ref(None)), pad_mode="constant")
    return layers.call("Pad", Ref(None), before, after, pad_mode="edge") if size else None


ROWS = (
    Reduction(type="ReduceSum", substitute=_apart("ReduceSum", partial(_lengthened, filling=0)), function=total),
    Reduction(
        type="ReduceMean",
        substitute=_apart("ReduceMean"),
        function=mean,
        rewrites={"reduce-mean-to-adaptive": reduce_mean_to_adaptive},
    ),
    Reduction(
        type="ReduceMax",
        elements=Elements.LIKE,
        substitute=_apart("ReduceMax", partial(_lengthened, filling=None)),
        function=largest,
        folds="bounds",
    ),
    Reduction(
        type="ReduceMin",
        elements=Elements.LIKE,
        substitute=_apart("ReduceMin", partial(_lengthened, filling=None)),
        function=smallest,
        folds="bounds",
    ),
    Reduction(
        type="ReduceProd",
        substitute=_apart("ReduceProd", partial(_lengthened, filling=1)),
        function=product,
        folds="bounds",
    ),
    Reduction(type="ReduceLogicalAnd", function=every, accepts="boolean", substitute=all_as_numbers),
    Reduction(type="ReduceLogicalOr", function=some, accepts="boolean", substitute=any_as_numbers),
    Reduction(
        type="ReduceL1",
        version=4,
        function=sum_of_sizes,
        migrate=by_sizes,
        substitute=_apart("ReduceL1", partial(_lengthened, filling=0)),
    ),
    Reduction(
        type="ReduceL2", version=4, function=length, folds="floats", migrate=by_squares, substitute=_apart("ReduceL2")
    ),
)

# --- running sums -----------------------------------------------------------------------------------------------


def cumsum_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for an axis that is not a single number, or that the data does not have."""
    data, axis = inputs[0], inputs[1] if len(inputs) > 1 else None
    if axis is None:
        yield Violation("axis", "is missing, but the runtime requires it", "connect a Const of 0")
        return
    yield from check_axes(data.shape, axis, ranks=(0,), name="axis")


def cumsum_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the data's shape."""
    if len(inputs) > 1:
        require_type(inputs[1].dtype, "integer")
    return (Fact(inputs[0].dtype, inputs[0].shape),)


# --- segments ---------------------------------------------------------------------------------------------------


def segment_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for segment numbers that are not one for each row, not in order, or none at all."""
    data, segments = inputs[0], inputs[1]
    for name, fact in zip(("segment_ids", "num_segments"), inputs[1:], strict=False):
        if fact.dtype.name not in {"i32", "i64", "dynamic"}:
            yield Violation(name, f"has element type {fact.dtype}; expected i32 or i64")
            return
    if data.shape == ():
        yield Violation("data", "is a scalar; expected data with rows")
        return
    if segments.shape is not None and len(segments.shape) != 1:
        yield Violation("segment_ids", f"is {shape_text(segments.shape)}; expected a list")
        return
    if data.shape is not None and segments.shape is not None and data.shape[0].meet(segments.shape[0]) is None:
        yield Violation("segment_ids", f"has {segments.shape[0]} numbers, but the data has {data.shape[0]} rows")
    numbers = segments.integers()
    if numbers is not None and numbers != sorted(numbers):
        yield Violation("segment_ids", "are not in ascending order")
    if len(inputs) > 2:
        if inputs[2].shape:
            text = f"is {shape_text(inputs[2].shape)}; expected a single number"
            yield Violation("num_segments", text)
        elif min(inputs[2].integers() or [0]) < 0:
            yield Violation("num_segments", "is negative")
    elif numbers == []:
        message = "is empty, so the number of segments is not defined, and the runtime crashes"
        yield Violation("segment_ids", message, kind=ViolationKind.FATAL)


def check_segments(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for the same, and an output that fits into memory."""
    broken = list(segment_violations(attrs, inputs))
    yield from broken or too_large("segment_ids", segment_shape(attrs, inputs)[0].shape)


def segment_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the data's shape with `num_segments` rows, or as many rows as the last segment number requires."""
    raise_first(segment_violations(attrs, inputs))
    data = inputs[0]
    if data.shape is None:
        return (Fact(data.dtype, None),)
    rows = Dim()
    if len(inputs) > 2:
        rows = Dim() if inputs[2].value is None else inputs[2].value.dims()[0]
    elif numbers := inputs[1].integers():
        rows = Dim.of(max(numbers[-1] + 1, 0))
    return (Fact(data.dtype, (rows, *data.shape[1:])),)


def running_sum(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the sums of all elements up to each one along the axis.

    With `exclusive` without the element itself, with `reverse` from the end.
    """
    data, axis = arrays[0], int(arrays[1].reshape(()))
    if data.ndim == 0:
        return (np.zeros_like(data) if attrs.exclusive else data,)

    def summed(values: Array) -> Array:
        out = np.empty_like(values)
        given, made = (np.moveaxis(array, axis, 0)[:: -1 if attrs.reverse else 1] for array in (values, out))
        if attrs.exclusive:
            made[:1] = 0
            given, made = given[:-1], made[1:]
        np.cumsum(given, axis=0, out=made)
        return out

    return (in_working_type(summed, data),)


def segment_max(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Map `[rows, ...]` to `[segments, ...]`: the maximum of each segment; 0 or the lowest number without rows."""
    data, segments = arrays[:2]
    count = int(arrays[2].reshape(())) if len(arrays) > 2 else int(segments[-1]) + 1
    empty = 0 if attrs.fill_mode == "zero" else lowest(data.dtype)
    out = np.full((count, *data.shape[1:]), empty, data.dtype)
    places, starts = np.unique(segments, return_index=True)
    if not len(places):
        return (out,)
    found = in_working_type(lambda values: np.maximum.reduceat(values, starts, axis=0), data)
    kept = (places >= 0) & (places < count)
    out[places[kept]] = found[kept]
    return (out,)


CUM_SUM = Op(
    type="CumSum",
    version=3,
    migrate=cumulative_sum,
    inputs=(Input("data", type=NUMBERS), Input("axis", optional=True, type="i32 i64")),
    attrs={"exclusive": Flag(default=False), "reverse": Flag(default=False)},
    check=cumsum_violations,
    shape=cumsum_shape,
    kernel=running_sum,
)
SEGMENT_MAX = Op(
    type="SegmentMax",
    version=16,
    migrate=segment_max_by_numbers,
    inputs=(
        Input("data", type=NUMBERS),
        Input("segment_ids", type="i32 i64"),
        Input("num_segments", optional=True, type="i32 i64"),
    ),
    attrs={"fill_mode": OneOf(words=("zero", "lowest"), runtime_default="zero")},
    check=check_segments,
    shape=segment_shape,
    kernel=segment_max,
)

OPS = (*(row.op for row in ROWS), CUM_SUM, SEGMENT_MAX)
