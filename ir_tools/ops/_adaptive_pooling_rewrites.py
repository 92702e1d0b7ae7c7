"""Rewrite adaptive pooling to other layers, and other layers to adaptive pooling."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._equivalence import PoolingSpec, equal_plans
from ir_tools.ops._layers import F32, I64, Layers
from ir_tools.ops._pooling_rewrites import avg_pool_layer, max_pool_layer
from ir_tools.ops._windows import AxisWindows, Pooling, adaptive_plan, pooling_of
from ir_tools.ops.definition import Array, Fact, Ref, Refused, Rewrite
from ir_tools.ops.fields import Attrs
from ir_tools.types import Dim, element_type

__all__ = [
    "adaptive_to_avg_pool",
    "adaptive_to_reduce_mean",
    "avg_pool_to_adaptive",
    "migrate_adaptive_avg_pool",
    "migrate_adaptive_max_pool",
    "places_in_i32",
    "reduce_mean_to_adaptive",
]


# --- steps between versions -------------------------------------------------------------------------------------


def migrate_adaptive_avg_pool(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused | None:
    """Rewrite AdaptiveAvgPool for opsets before opset8: one layer that means the same, or a product per axis."""
    if target >= 8:
        return _as_it_is("AdaptiveAvgPool", inputs)
    found = adaptive_to_reduce_mean(attrs, inputs) or adaptive_to_avg_pool(attrs, inputs, target)
    if found is None and (inputs[0].shape is None or inputs[0].dtype.kind == "dynamic"):
        return Refused(f"opset{target} has no AdaptiveAvgPool, and the rank or element type of the input is not known")
    if found is None and not inputs[0].dtype.is_float:
        return Refused(
            f"opset{target} has no AdaptiveAvgPool, and only AvgPool rounds averages of integers in the same way"
        )
    return found or by_matrices(inputs, target)


def migrate_adaptive_max_pool(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused | None:
    """Rewrite AdaptiveMaxPool for opsets before opset8 as MaxPool or ReduceMax, if the windows agree."""
    if target >= 8:
        return _as_it_is("AdaptiveMaxPool", inputs, index_element_type=attrs.index_element_type)
    data = inputs[0]
    axes = _whole_axes(inputs)
    if axes is not None:
        layers = Layers(inputs, target)
        layers.call("ReduceMax", Ref(None), np.array(axes, np.int64), keep_dims=True)
        return layers.rewrite("a maximum over whole axes", "equal windows for every input size")
    pooling, sizes = _sliding(inputs), _sizes(data)
    if pooling is None:
        return Refused(f"opset{target} has no AdaptiveMaxPool, and the windows are not those of a MaxPool")
    layer = max_pool_layer(pooling, data, target, outputs=1)
    return Rewrite(layers=(layer,), strategy="windows of one size", proof=_equal_on(sizes))


def places_in_i32(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | None:
    """Rewrite AdaptiveMaxPool with i32 indices, and a Convert behind."""
    if attrs.index_element_type == "i32":
        return None
    layers = Layers(inputs, target)
    values, places = layers.outputs("AdaptiveMaxPool", Ref(None), Ref(None, 1), version=8, index_element_type="i32")
    found = layers.to_type(places, element_type(attrs.index_element_type))
    return layers.rewrite("indices in i32", "every index fits into i32", (values, found))


def _as_it_is(type: str, inputs: Sequence[Fact], **attributes: Any) -> Rewrite:
    layers = Layers(inputs, 8)
    layers.call(type, Ref(None), Ref(None, 1), **attributes)
    return layers.rewrite("same attributes", "the operation is the same from opset8 on")


# --- what the windows are ---------------------------------------------------------------------------------------


def _known(inputs: Sequence[Fact]) -> tuple[int, ...] | None:
    """Return the output sizes, if they are known."""
    sizes = inputs[1].integers()
    return None if sizes is None else tuple(sizes)


def _sizes(data: Fact) -> tuple[int, ...] | None:
    """Return the spatial sizes, if all are static and not empty."""
    if data.shape is None or not all(dim.static and dim.lo for dim in data.spatial):
        return None
    return tuple(dim.size for dim in data.spatial)


def _equal_on(sizes: Sequence[int] | None) -> str:
    return f"equal windows on {'x'.join(map(str, sizes or ()))}"


def _whole_axes(inputs: Sequence[Fact]) -> tuple[int, ...] | None:
    """Return the axes that become one value, if all others keep their size."""
    data, counts = inputs[0], _known(inputs)
    if data.shape is None or counts is None:
        return None
    pairs = list(enumerate(zip(counts, data.spatial, strict=True), 2))
    whole = tuple(axis for axis, (count, dim) in pairs if count == 1 and dim != Dim.of(1))
    kept = all(dim == Dim.of(count) for axis, (count, dim) in pairs if axis not in whole)
    return whole if whole and kept else None


def _sliding(inputs: Sequence[Fact]) -> Pooling | None:
    """Return windows of one size at one distance that are those of the adaptive pooling, on a static input."""
    sizes, counts = _sizes(inputs[0]), _known(inputs)
    if sizes is None or counts is None or min(counts, default=0) < 1:
        return None
    wanted = adaptive_plan(sizes, counts)
    guesses = [_guess(axis, size) for axis, size in zip(wanted.axes, sizes, strict=True)]
    kernel, strides, begins, ends = zip(*guesses, strict=True)
    if min(strides) < 1 or any(not 0 <= pad < reach for pad, reach in zip(begins + ends, kernel * 2, strict=True)):
        return None
    ones = (1,) * len(kernel)
    pooling = Pooling(kernel=kernel, strides=strides, pads_begin=begins, pads_end=ends, dilations=ones)
    try:
        return pooling if equal_plans(wanted, PoolingSpec(pooling).plan(sizes)) is None else None
    except ShapeError:
        return None


def _guess(axis: AxisWindows, size: int) -> tuple[int, int, int, int]:
    """Return kernel, stride and pads of the windows in the middle; whether all others agree is for the plan to say."""
    count = len(axis.first)
    kernel = int(axis.lengths.max())
    if count == 1:
        return kernel, 1, 0, 0
    middle = count // 2
    stride = int(axis.last[middle] - axis.last[middle - 1])
    begin = middle * stride - int(axis.first[middle])
    return kernel, stride, begin, max((count - 1) * stride + kernel - size - begin, 0)


# --- one layer for another --------------------------------------------------------------------------------------


def adaptive_to_avg_pool(attrs: Attrs, inputs: Sequence[Fact], target: int = 8) -> Rewrite | None:
    """Rewrite AdaptiveAvgPool-8 to AvgPool if all of its windows have one size and distance.

    Input and output sizes are static, and a sliding window (with pads that do not count) has an equal plan.
    """
    pooling, data = _sliding(inputs), inputs[0]
    if pooling is None:
        return None
    layer = avg_pool_layer(pooling, data, Ref(None), target)
    return Rewrite(layers=(layer,), strategy="windows of one size", proof=_equal_on(_sizes(data)))


def adaptive_to_reduce_mean(attrs: Attrs, inputs: Sequence[Fact]) -> Rewrite | None:
    """Rewrite AdaptiveAvgPool-8 to one value along some axes to ReduceMean over them.

    The output size is a constant, 1 on some axes and the input's own size on all others: the plans are equal, whatever
    size the reduced axes have. Of integers, all axes become one value: the runtime makes a ReduceMean of no others
    (measured), and rounds where that cuts off.
    """
    axes, counts = _whole_axes(inputs), _known(inputs)
    if axes is None or not (inputs[0].dtype.is_float or counts is None or set(counts) == {1}):
        return None
    layers = Layers(inputs, 1)
    layers.call("ReduceMean", Ref(None), np.array(axes, np.int64), keep_dims=True)
    return layers.rewrite("a mean over whole axes", "equal windows for every input size")


def avg_pool_to_adaptive(attrs: Attrs, inputs: Sequence[Fact]) -> Rewrite | None:
    """Rewrite AvgPool of any version on a static input to AdaptiveAvgPool-8 with the same number of windows.

    The plans are equal. Integers are left alone: AdaptiveAvgPool has none.
    """
    data = inputs[0]
    sizes = _sizes(data)
    if sizes is None or not data.dtype.is_float:
        return None
    wanted = PoolingSpec(pooling_of(attrs)).plan(sizes)
    if equal_plans(wanted, adaptive_plan(sizes, wanted.counts)) is not None:
        return None
    return _adaptive(inputs, wanted.counts).rewrite("windows of an adaptive pooling", _equal_on(sizes))


def reduce_mean_to_adaptive(attrs: Attrs, inputs: Sequence[Fact]) -> Rewrite | None:
    """Rewrite ReduceMean over spatial axes of `[N, C, spatial...]` to AdaptiveAvgPool-8 to one value along them.

    The axes are constant (negative ones count from the end); other spatial axes are static and keep their size.
    Without `keep_dims` a Squeeze follows. Integers are left alone.
    """
    if len(inputs) != 2:
        return None
    data, axes = inputs[0], _known(inputs)
    if data.shape is None or not 3 <= len(data.shape) <= 5 or not axes or not data.dtype.is_float:
        return None
    rank = len(data.shape)
    chosen = sorted({axis + rank if axis < 0 else axis for axis in axes})
    others = [data.shape[axis] for axis in range(2, rank) if axis not in chosen]
    if chosen[0] < 2 or chosen[-1] >= rank or not all(dim.static and dim.lo for dim in others):
        return None
    counts = [1 if axis in chosen else data.shape[axis].size for axis in range(2, rank)]
    layers = _adaptive(inputs, counts)
    if not attrs.keep_dims:
        layers.call("Squeeze", Ref(0), np.array(chosen, np.int64), version=1)
    return layers.rewrite("one value along whole axes", "equal windows for every input size")


def _adaptive(inputs: Sequence[Fact], counts: Sequence[int]) -> Layers:
    layers = Layers(inputs, 8)
    layers.call("AdaptiveAvgPool", Ref(None), np.array(counts, np.int64))
    return layers


# --- a product with a matrix per axis ---------------------------------------------------------------------------


def by_matrices(inputs: Sequence[Fact], target: int) -> Rewrite:
    """Rewrite AdaptiveAvgPool of any sizes: a mean where one value is left, otherwise a product with a matrix per axis.

    Row `i` of an axis' matrix holds `1 / n` at the `n` positions that window `i` reads, and 0 elsewhere; a NaN or an
    infinity in the input therefore spreads over its line. On dynamic sizes the matrix is computed in the graph.
    """
    layers = Layers(inputs, target)
    data, counts = inputs[0], _known(inputs)
    assert data.shape is not None
    work = data.dtype if data.dtype.name in {"f32", "f64"} else F32
    current = layers.to_type(Ref(None), work)
    means = [axis for axis in range(2, len(data.shape)) if counts is not None and counts[axis - 2] == 1]
    if means:
        current = layers.call("ReduceMean", current, np.array(means, np.int64), keep_dims=True)
    for axis in range(2, len(data.shape)):
        count = None if counts is None else counts[axis - 2]
        size = data.shape[axis]
        if axis in means or (count is not None and size == Dim.of(count)):
            continue
        if size.static and count is not None:
            matrix: Ref | Array = _matrix(size.size, count).astype(work.dtype)
        else:
            matrix = _computed_matrix(layers, current, axis, count)
        current = _along(layers, current, matrix, axis)
    current = layers.to_type(current, data.dtype)
    if not layers.made:
        layers.call("Convert", current, destination_type=data.dtype.name)
    return layers.rewrite("a product with a matrix per axis", "each row of a matrix is one window, by its definition")


def _matrix(size: int, count: int) -> Array:
    """Return the matrix, `[count, size]`."""
    (axis,) = adaptive_plan((size,), (count,)).axes
    places = np.arange(size)
    inside = (places >= axis.first[:, None]) & (places <= axis.last[:, None])
    return inside / np.maximum(axis.divisor, 1)[:, None]


def _computed_matrix(layers: Layers, data: Ref, axis: int, count: int | None) -> Ref:
    """Return the matrix, `[count, size]`, out of the sizes that the model sees when it runs.

    Window `i` reads from `floor(i * size / count)` up to `ceil((i + 1) * size / count)`, exclusive: position `p` is
    inside where `(p + 1) * count > i * size` and `p * count < (i + 1) * size`, which needs no division.
    """
    one = np.array(1, np.int64)
    size = layers.gather(layers.shape_of(data), axis)
    windows = _given_count(layers, axis) if count is None else np.array(count, np.int64)
    index = layers.reshape(layers.count_to(windows), np.array([-1, 1]))
    place = layers.count_to(size)
    after_first = layers.call(
        "Greater",
        layers.call("Multiply", layers.call("Add", place, one), windows),
        layers.call("Multiply", index, size),
    )
    before_last = layers.call(
        "Less",
        layers.call("Multiply", place, windows),
        layers.call("Multiply", layers.call("Add", index, one), size),
    )
    inside = layers.to_type(layers.call("LogicalAnd", after_first, before_last), layers.fact(data).dtype)
    number = layers.call("ReduceSum", inside, np.array([1], np.int64), keep_dims=True)
    return layers.call("Divide", inside, number)


def _given_count(layers: Layers, axis: int) -> Ref:
    """Add the output size of one axis, taken from the second input."""
    return layers.gather(layers.to_type(Ref(None, 1), I64), axis - 2)


def _along(layers: Layers, data: Ref, matrix: Ref | Array, axis: int) -> Ref:
    """Add the product along one axis of `[N, C, spatial...]`."""
    rank = layers.rank(data)
    if axis == rank - 1:
        return layers.call("MatMul", data, matrix, transpose_b=True)
    if axis == rank - 2:
        return layers.call("MatMul", matrix, data)
    flat = layers.reshape(data, np.array([0, 0, 0, -1], np.int64))
    mixed = layers.call("MatMul", matrix, flat)
    sizes = layers.gather(layers.shape_of(data), (3, 4))
    return layers.reshape(mixed, layers.call("Concat", np.array([0, 0, 0], np.int64), sizes, axis=0))
