"""Normalizations: BatchNormInference-1/-5, MVN-1/-6, LRN-1, NormalizeL2-1, GRN-1, GroupNormalization-12.

Specification: `normalization/`, a section for each of them (`normalization/mvn-6`).
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import prod

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._broadcast import merge
from ir_tools.ops._by_blocks import along, elementwise
from ir_tools.ops._normalization_rewrites import (
    batch_norm_by_channels,
    by_length,
    global_response,
    group_normalization,
    migrate_batch_norm,
    migrate_mvn_1,
    migrate_mvn_6,
    of_floats,
)
from ir_tools.ops._numbers import in_working_type, through_floats, widened
from ir_tools.ops._requirements import check_axes, raise_first, require_type, same_shape_unless, same_type
from ir_tools.ops._values import same_shape
from ir_tools.ops.definition import NUMBERS, Array, Elements, Fact, Input, Op, Violation, ViolationKind
from ir_tools.ops.fields import EPSILON, LARGEST_F32, NOT_NEGATIVE, Attrs, Flag, Float, Int, Ints, OneOf, Usual, listed
from ir_tools.types import Dim, Shape, element_type, shape_text

__all__ = ["OPS"]


# --- BatchNormInference -----------------------------------------------------------------------------------------


def _batch_norm_parts(inputs: Sequence[Fact], data: int) -> tuple[Fact, list[Fact]]:
    """Return the data, and the four parameters, of which `data` is not one."""
    return inputs[data], [fact for index, fact in enumerate(inputs) if index != data]


def batch_norm_violations(inputs: Sequence[Fact], data: int) -> Iterator[Violation]:
    """Check for parameters that are not lists of as many values as the data has channels.

    Args:
        inputs: the five inputs.
        data: the number of the input with the data.
    """
    values, parameters = _batch_norm_parts(inputs, data)
    shape = values.shape
    if shape is not None and len(shape) < 2:
        yield Violation("data", f"is {shape_text(shape)}; expected at least rank 2")
        return
    names = ("gamma", "beta", "mean", "variance")
    common: Shape = (Dim(),)
    for name, fact in zip(names, parameters, strict=True):
        try:
            common = merge(common, fact.shape)
        except ShapeError:
            text = f"is {shape_text(fact.shape)}; expected gamma, beta, mean and variance of rank 1 and equal length"
            yield Violation(name, text)
            return
    assert common is not None
    channels = common[0].meet(shape[1] if shape else Dim())
    if channels is None:
        assert shape is not None
        yield Violation("gamma", f"has {common[0]} values, but the data has {shape[1]} channels")
    elif channels == Dim.of(0):
        yield Violation("data", "has no channels; expected rank 2 or more")


def batch_norm_shape(inputs: Sequence[Fact], data: int) -> tuple[Fact, ...]:
    """Return the shape of the data `[N, C, ...]` of floats, with C also from the parameters `[C]`.

    Args:
        inputs: the five inputs, of one element type (`normalization/batch-norm-inference-5`).
        data: the number of the input with the data.

    Raises:
        ShapeError: the element types differ or are not floats, or the sizes do not fit.
    """
    dtype = same_type(inputs)
    require_type(dtype, "float")
    raise_first(batch_norm_violations(inputs, data))
    values, parameters = _batch_norm_parts(inputs, data)
    if values.shape is None:
        return (Fact(dtype, None),)
    common: Shape = (values.shape[1],)
    for fact in parameters:
        common = merge(common, fact.shape)
    assert common is not None
    return (Fact(dtype, (values.shape[0], common[0], *values.shape[2:])),)


def _batch_norm(version: int, names: Sequence[str]) -> Op:
    """Return a version of BatchNormInference; `names`: its inputs in order."""
    data = list(names).index("data")
    return Op(
        type="BatchNormInference",
        version=version,
        inputs=tuple(Input(name, type="T", usual=NOT_NEGATIVE if name == "variance" else None) for name in names),
        types={"T": "float"},
        attrs={"epsilon": Float(minimum=0, maximum=LARGEST_F32, runtime_default=0.0, usual=EPSILON)},
        check=lambda attrs, inputs: batch_norm_violations(inputs, data),
        shape=lambda attrs, inputs: batch_norm_shape(inputs, data),
        kernel=partial(batch_norm, data=data),
        migrate=migrate_batch_norm(version),
        substitute=batch_norm_by_channels(data),
    )


# --- MVN --------------------------------------------------------------------------------------------------------


def mvn_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for axes that are not a list, are more than the dimensions of the data, or are out of range."""
    data, axes = inputs
    yield from check_axes(data.shape, axes, ranks=(1,))
    yield from too_many_axes(data.shape, axes)


def too_many_axes(data: Shape, axes: Fact) -> Iterator[Violation]:
    """Check for more axes than the data has dimensions."""
    if data is not None and axes.shape and axes.shape[0].lo > len(data):
        text = f"has {axes.shape[0]} values, but the data {shape_text(data)} has rank {len(data)}"
        yield Violation("axes", text)


def mvn_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the data (`normalization/mvn-6`).

    The runtime looks at the element type and the values of the axes only when it compiles.

    Raises:
        ShapeError: the axes are not a list, or more than the dimensions of the data.
    """
    axes = Fact(element_type("i64"), inputs[1].shape)
    raise_first(mvn_violations(attrs, [inputs[0], axes]))
    return same_shape(attrs, inputs)


# --- LRN --------------------------------------------------------------------------------------------------------


def lrn_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for axes that are not a list or are out of range; the runtime takes unknown axes for axis 1."""
    data, axes = inputs
    yield from check_axes(data.shape, axes, ranks=(1,), negative=False)
    yield from too_many_axes(data.shape, axes)
    if data.shape is not None and len(data.shape) < 2 and axes.integers() is None:
        yield Violation("data", f"is {shape_text(data.shape)}; expected at least rank 2")


def check_lrn(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for what `lrn_violations` finds, and for settings that the runtime accepts and does not compute as written.

    These are empty axes, on which it crashes, a `size` below 1, other axes than those that the CPU plugin supports, a
    `bias` with a fraction, and an even `size`.
    """
    yield from lrn_violations(attrs, inputs)
    if attrs.size < 1:
        yield Violation("size", f"is {attrs.size}; expected at least 1", kind=ViolationKind.RANGE)
    axes, shape = inputs[1].integers(), inputs[0].shape
    if axes == []:
        yield Violation("axes", "is empty, and the runtime crashes on it", kind=ViolationKind.FATAL)
    elif axes is not None and shape is not None and sorted(axes) not in ([1], [*range(2, len(shape))]):
        text = f"is {listed(axes)}, but the CPU plugin supports only axis 1 or all axes from 2 on"
        yield Violation("axes", text, kind=ViolationKind.SUSPECT)
    if not float(attrs.bias).is_integer():
        yield Violation(
            "bias", f"is {attrs.bias}, but the CPU plugin truncates it to an integer", kind=ViolationKind.SUSPECT
        )
    if attrs.size > 1 and attrs.size % 2 == 0:
        text = f"is {attrs.size}, which is even: the layer adds {attrs.size - 1} elements but divides by {attrs.size}"
        yield Violation("size", text, kind=ViolationKind.SUSPECT)


# --- NormalizeL2, GRN -------------------------------------------------------------------------------------------


def l2_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for axes that are neither a number nor a list, or are out of range; a scalar has none."""
    yield from check_axes(inputs[0].shape, inputs[1], ranks=(0, 1))
    if inputs[0].shape == () and inputs[1].integers():
        yield Violation("axes", "names an axis, but the data is a scalar")


def grn_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for data whose rank is not 2, 3 or 4."""
    shape = inputs[0].shape
    if shape is not None and len(shape) not in {2, 3, 4}:
        yield Violation("data", f"is {shape_text(shape)}; expected rank 2, 3 or 4")


# --- GroupNormalization -----------------------------------------------------------------------------------------


def group_norm_violations(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for parameters that are not lists of the channels, and channels that do not divide into groups."""
    shape = inputs[0].shape
    if shape is not None and len(shape) < 2:
        yield Violation("data", f"is {shape_text(shape)}; expected at least rank 2")
        return
    for name, fact in zip(("scale", "bias"), inputs[1:], strict=True):
        if fact.shape is not None and len(fact.shape) != 1:
            yield Violation(name, f"is {shape_text(fact.shape)}; expected a list")
            return
        if fact.shape and shape and fact.shape[0].meet(shape[1]) is None:
            yield Violation(name, f"has {fact.shape[0]} values, but the data has {shape[1]} channels")
            return
    scale, bias = inputs[1].shape, inputs[2].shape
    if scale and bias and scale[0].meet(bias[0]) is None:
        yield Violation("bias", f"has {bias[0]} values, but scale has {scale[0]}")
    groups = attrs.num_groups
    if shape and shape[1].static and (shape[1].size < groups or shape[1].size % groups):
        yield Violation("num_groups", f"is {groups}; the {shape[1]} channels of the data are not a multiple of it")


def group_norm_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the data `[N, C, ...]`; scale and bias are `[C]` (`normalization/group-normalization-12`).

    Raises:
        ShapeError: the sizes do not fit, or the channels do not divide into `num_groups`.
    """
    require_type(inputs[0].dtype, "float integer boolean")
    raise_first(group_norm_violations(attrs, inputs))
    return same_shape(attrs, inputs)


# --- kernels ----------------------------------------------------------------------------------------------------


def _along(function: Callable[[Array], Array], data: Array, axes: Collection[int]) -> Array:
    """Apply a function that combines elements along some axes only, block by block; integers and half floats in f32."""
    return along(partial(in_working_type, through_floats(function)), data, axes)


def per_channel(values: Array, rank: int) -> Array:
    """Return a list of one value per channel as `[C, 1, ...]`, which broadcasts along axis 1 of data of this rank."""
    return values.reshape(-1, *[1] * (rank - 2))


def batch_norm(attrs: Attrs, arrays: Sequence[Array], data: int) -> tuple[Array, ...]:
    """Return `gamma * (x - mean) / sqrt(variance + epsilon) + beta` for every channel of `[N, C, ...]`.

    Half floats are computed in f32. `data`: the number of the input with the data.
    """
    values, lists = arrays[data], [array for index, array in enumerate(arrays) if index != data]
    gamma, beta, mean, variance = map(widened, lists)
    factor = gamma / np.sqrt(variance + gamma.dtype.type(attrs.epsilon))
    lines = [per_channel(numbers, values.ndim) for numbers in (factor, beta - mean * factor)]

    def scaled(x: Array, scale: Array, shift: Array) -> Array:
        found: Array = x * scale
        found += shift
        return found

    return (elementwise(partial(in_working_type, scaled), values, *lines),)


def normalized(
    data: Array, axes: tuple[int, ...], eps: float, *, variance: bool = True, outside: bool = False
) -> Array:
    """Return floats less their mean over the axes, divided by their standard deviation over them.

    Args:
        data: floats of any shape.
        axes: over which mean and deviation are taken.
        eps: added to the variance, or with `outside` to its root.
        variance: whether to divide.
        outside: where `eps` is added.
    """
    if not data.size:
        return data
    centred: Array = data - data.mean(axis=axes, keepdims=True, dtype=data.dtype)
    if not variance:
        return centred
    spread = np.multiply(centred, centred).mean(axis=axes, keepdims=True, dtype=data.dtype)
    small = data.dtype.type(eps)
    centred /= np.sqrt(spread) + small if outside else np.sqrt(spread + small)
    return centred


def mvn_6(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the data less its mean over the axes, divided by its deviation, in the same shape (`normalization/mvn-6`).

    Half floats and integers are computed in f32.
    """
    data, axes = arrays
    places = tuple(sorted({int(axis) % data.ndim for axis in axes.ravel()}))
    outside = attrs.eps_mode == "outside_sqrt"

    def mixed(x: Array) -> Array:
        return normalized(x, places, attrs.eps, variance=attrs.normalize_variance, outside=outside)

    return (_along(mixed, data, places),)


def mvn_1(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the data less its mean over the spatial axes; with `across_channels` over all but the first.

    `reduction_axes` decides if it is not empty: axis 1 among them means across channels (measured).
    """
    (data,) = arrays
    across = 1 in attrs.reduction_axes if attrs.reduction_axes else attrs.across_channels
    places = tuple(range(1 if across else 2, data.ndim))

    def mixed(x: Array) -> Array:
        return normalized(x, places, attrs.eps, variance=attrs.normalize_variance)

    return (_along(mixed, data, places),)


def lrn(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return `x / (bias + alpha / size^n * s)^beta`, in the same shape (`normalization/lrn-1`).

    s is the sum of squares in a window of `size` elements along each of the n axes, around the element.
    """
    data, axes = arrays
    places = sorted({int(axis) for axis in axes.ravel()})

    def divided(x: Array) -> Array:
        squares = np.multiply(x, x)
        for axis in places:
            squares = window_sums(squares, axis, attrs.size)
        share = x.dtype.type(attrs.alpha / max(attrs.size, 1) ** len(places))
        found: Array = x / np.power(x.dtype.type(attrs.bias) + share * squares, x.dtype.type(attrs.beta))
        return found

    return (_along(divided, data, places),)


def window_sums(data: Array, axis: int, size: int) -> Array:
    """Return for each element the sum of those up to `(size - 1) // 2` before and behind it along an axis."""
    out = np.zeros_like(data)
    length = data.shape[axis]
    half = (size - 1) // 2
    for shift in range(-half, half + 1):
        if abs(shift) < length:
            source = slice(max(shift, 0), length + min(shift, 0))
            target = slice(max(-shift, 0), length - max(shift, 0))
            before = (slice(None),) * axis
            out[(*before, target)] += data[(*before, source)]
    return out


def normalize_l2(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the data divided by its norm over the axes, in the same shape (`normalization/normalize-l2-1`).

    The norm is the root of the sum of squares plus `eps`, or of the larger of both. Without axes each element is
    divided by itself, and 0 stays.
    """
    data, axes = arrays
    if not axes.size:
        return ((data != 0).astype(data.dtype),)
    places = tuple(sorted({int(axis) % max(data.ndim, 1) for axis in axes.ravel()}))

    def divided(x: Array) -> Array:
        squares = np.multiply(x, x).sum(axis=places, keepdims=True, dtype=x.dtype)
        eps = x.dtype.type(attrs.eps)
        found: Array = x / np.sqrt(squares + eps if attrs.eps_mode == "add" else np.maximum(squares, eps))
        return found

    return (_along(divided, np.atleast_1d(data), places).reshape(data.shape),)


def grn(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return `x / sqrt(bias + sum of x^2 over the channels)`, in the same shape (`normalization/grn-1`)."""

    def divided(x: Array) -> Array:
        squares = np.multiply(x, x).sum(axis=1, keepdims=True, dtype=x.dtype)
        found: Array = x / np.sqrt(squares + x.dtype.type(attrs.bias))
        return found

    return (_along(divided, arrays[0], (1,)),)


def group_norm(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return `[N, C, ...]` normalized by mean and variance of each of `num_groups` groups, then scaled and shifted.

    Scale and bias are `[C]` (`normalization/group-normalization-12`). Half floats are computed in f32.
    """
    data, scale, bias = arrays

    def mixed(x: Array, factors: Array, shifts: Array) -> Array:
        groups = x.reshape(x.shape[0], attrs.num_groups, prod(x.shape[1:]) // attrs.num_groups)
        found = along(lambda part: normalized(part, (2,), attrs.epsilon), groups, (2,)).reshape(x.shape)
        found *= per_channel(factors, x.ndim)
        found += per_channel(shifts, x.ndim)
        return found

    return (in_working_type(mixed, data, scale, bias),)


# --- the operations ---------------------------------------------------------------------------------------------

BIAS = Usual(
    minimum=0, below="with which the result may be NaN", maximum=1e6, above="which suppresses most of the data"
)
STRENGTH = Usual(over=0, below="with which the layer does not normalize")
DATA, AXES = Input("data", type=NUMBERS), Input("axes", type="integer")
MVN_DATA = replace(DATA, elements=Elements.LIKE)

OPS = (
    _batch_norm(1, ("gamma", "beta", "data", "mean", "variance")),
    _batch_norm(5, ("data", "gamma", "beta", "mean", "variance")),
    Op(
        type="MVN",
        version=1,
        inputs=(MVN_DATA,),
        attrs={
            "across_channels": Flag(default=False),
            "normalize_variance": Flag(default=False),
            "eps": Float(runtime_default=0.0, usual=EPSILON),
            "reduction_axes": Ints(default=()),
        },
        shape=same_shape,
        kernel=mvn_1,
        migrate=migrate_mvn_1,
    ),
    Op(
        type="MVN",
        version=6,
        inputs=(MVN_DATA, AXES),
        attrs={
            "normalize_variance": Flag(runtime_default=False),
            "eps": Float(runtime_default=0.0, usual=EPSILON),
            "eps_mode": OneOf(words=("inside_sqrt", "outside_sqrt"), runtime_default="inside_sqrt"),
        },
        check=mvn_violations,
        shape=mvn_shape,
        kernel=mvn_6,
        migrate=migrate_mvn_6,
        substitute=of_floats,
    ),
    Op(
        type="LRN",
        version=1,
        inputs=(DATA, AXES),
        attrs={
            "alpha": Float(runtime_default=0.0, usual=STRENGTH),
            "beta": Float(runtime_default=0.0, usual=STRENGTH),
            "bias": Float(runtime_default=0.0, usual=BIAS),
            "size": Int(runtime_default=0),
        },
        check=check_lrn,
        shape=same_shape_unless(lrn_violations),
        kernel=lrn,
    ),
    Op(
        type="NormalizeL2",
        version=1,
        inputs=(DATA, AXES),
        attrs={
            "eps": Float(runtime_default=0.0, usual=EPSILON),
            "eps_mode": OneOf(words=("add", "max"), runtime_default="add"),
        },
        check=l2_violations,
        shape=same_shape_unless(l2_violations),
        kernel=normalize_l2,
        substitute=by_length,
    ),
    Op(
        type="GRN",
        version=1,
        inputs=(DATA,),
        attrs={"bias": Float(runtime_default=1.0, usual=NOT_NEGATIVE)},
        check=grn_violations,
        shape=same_shape_unless(grn_violations),
        kernel=grn,
        substitute=global_response,
    ),
    Op(
        type="GroupNormalization",
        version=12,
        inputs=(Input("data", type="float"), Input("scale", type="float"), Input("bias", type="float")),
        attrs={"num_groups": Int(minimum=1), "epsilon": Float(runtime_default=0.0, usual=EPSILON)},
        check=group_norm_violations,
        shape=group_norm_shape,
        kernel=group_norm,
        migrate=group_normalization,
    ),
)
