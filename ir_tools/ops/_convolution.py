"""Average pooling as a convolution with ones and a division: for dilations where AvgPool has none.

Unlike a product with a matrix it reads the window's elements only, so that a NaN or an infinity stays in its windows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from ir_tools.ops._define import Array, Fact, Ref, Refused, Rewrite
from ir_tools.ops._equivalence import Form, Proof, equal_for_all, floored, plain
from ir_tools.ops._layers import F32, I64, Layers, ints, padded
from ir_tools.ops._windows import Pooling, axis_count, axis_dim, axis_pads
from ir_tools.types import Dim, Shape

__all__ = ["by_convolution"]

EXACT_TYPES = ("f32", "f64")
"""Averaged as they are; others are converted to f32, which holds their sums."""
ANY = np.iinfo(np.int32).max


def by_convolution(wanted: Form, data: Fact, target: int) -> Rewrite | Refused:
    """The wanted pooling as layers of opset1 and a few of the target, for any sizes, dilations and element type."""
    for form in _forms(wanted, data.spatial):
        proof = equal_for_all(wanted, form, data.spatial)
        if isinstance(proof, Proof):
            return _write(form, data, target, proof)
    return Refused(f"no pooling or convolution of opset{target} has the same windows for every input size")


def _forms(wanted: Form, sizes: Sequence[Dim]) -> Iterator[Form]:
    """Counted with floor, as a convolution does; where that leaves out empty windows, they are added afterwards."""
    pooling = plain(wanted.pooling)
    variants = [floored(pooling), pooling]
    if all(dim.static for dim in sizes):
        inner = [dim.size + sum(wanted.pads(axis)) for axis, dim in enumerate(sizes)]
        variants = [_resolved(pooling, inner)]
    for variant in variants:
        for divisor in ("kernel", "real"):
            yield Form(variant, wanted.before, wanted.after, divisor)


def _resolved(pooling: Pooling, sizes: Sequence[int]) -> Pooling:
    """The same windows on one input size, with explicit pads and counted with floor."""
    begins, ends = [], []
    for axis, size in enumerate(sizes):
        begin, _ = axis_pads(pooling, axis, size)
        covered = (axis_count(pooling, axis, size) - 1) * pooling.strides[axis] + pooling.reach(axis)
        begins.append(begin)
        ends.append(max(covered - size - begin, 0))
    return replace(pooling, rounding="floor", auto_pad="explicit", pads_begin=tuple(begins), pads_end=tuple(ends))


def _write(form: Form, data: Fact, target: int, proof: Proof) -> Rewrite:
    """Convert, pad, convolve, divide, add empty windows, round, convert: each only where it is needed."""
    layers = Layers([data], target)
    work = data.dtype if data.dtype.name in EXACT_TYPES else F32
    source = layers.to_type(Ref(None), work)
    if form.before:
        source = padded(layers, source, form.before, form.after)
    once = form.divisor == "kernel" and not data.dtype.is_integer
    averages = _sums(layers, form.pooling, source, 1 / prod(form.pooling.kernel) if once else 1.0)
    if not once:
        averages = layers.binary("Divide", averages, _divisors(layers, form, source))
    if form.pooling.rounding != "floor":
        averages = _with_empty_windows(layers, form.pooling, source, averages)
    averages = _channels_back(layers, source, averages)
    if data.dtype.is_integer:
        averages = layers.round_half_even(averages)
    layers.to_type(averages, data.dtype)
    return layers.rewrite("sums by convolution, divided", proof.text)


def _sums(layers: Layers, pooling: Pooling, source: Ref, weight: float) -> Ref:
    """Weighted sums, `[N, C, windows...]`, or `[N * C, 1, windows...]` where the number of channels is not known."""
    fact = layers.fact(source)
    assert fact.shape is not None
    dtype = fact.dtype.dtype
    if fact.shape[1].static:
        weights = np.full((fact.shape[1].size, 1, 1, *pooling.kernel), weight, dtype)
        return _convolution(layers, "GroupConvolution", pooling, source, weights)
    pattern = np.array([-1, 1] + [0] * pooling.rank, np.int64)
    single = layers.reshape(source, pattern, (Dim(), Dim.of(1), *fact.spatial))
    return _convolution(layers, "Convolution", pooling, single, np.full((1, 1, *pooling.kernel), weight, dtype))


def _convolution(layers: Layers, type: str, pooling: Pooling, source: Ref, weights: Array) -> Ref:
    fact = layers.fact(source)
    counted = replace(pooling, rounding="floor")
    spatial = [axis_dim(counted, axis, dim) for axis, dim in enumerate(fact.spatial)]
    return layers.add(
        type,
        [source, weights],
        fact.with_spatial(spatial),
        label="sum",
        strides=ints(pooling.strides),
        dilations=ints(pooling.dilations),
        pads_begin=ints(pooling.pads_begin),
        pads_end=ints(pooling.pads_end),
        auto_pad=pooling.auto_pad,
    )


def _divisors(layers: Layers, form: Form, source: Ref) -> Ref | Array:
    """What each sum is divided by, `[1, 1, windows...]` or a scalar; at least 1."""
    fact, pooling = layers.fact(source), form.pooling
    assert fact.shape is not None
    dtype = fact.dtype.dtype
    if form.divisor == "kernel":
        return np.array(prod(pooling.kernel), dtype)
    if all(dim.static for dim in fact.spatial):
        plan = Form(pooling, divisor="real").plan([dim.size for dim in fact.spatial])
        counts: Array = np.ones((1, 1), dtype)
        for axis in plan.axes:
            counts = counts[..., None] * axis.divisor.astype(dtype)
        return np.maximum(counts, 1).astype(dtype)
    ones = _ones(layers, source)
    sums = _convolution(layers, "Convolution", pooling, ones, np.ones((1, 1, *pooling.kernel), dtype))
    return layers.binary("Maximum", sums, np.array(1, dtype))


def _ones(layers: Layers, source: Ref) -> Ref:
    """Ones, `[1, 1, spatial...]`."""
    fact = layers.fact(source)
    limits = np.array([1, 1] + [ANY] * len(fact.spatial), np.int64)
    sizes = layers.binary("Minimum", layers.shape_of(source), limits)
    one = np.ones((), fact.dtype.dtype)
    shape: Shape = (Dim.of(1), Dim.of(1), *fact.spatial)
    if layers.target < 3:
        return layers.add("Broadcast", [one, sizes], Fact(fact.dtype, shape), mode="numpy")
    return layers.add("Broadcast", [one, sizes], Fact(fact.dtype, shape), opset=3, mode="numpy")


def _with_empty_windows(layers: Layers, pooling: Pooling, source: Ref, averages: Ref) -> Ref:
    """One window more at the end of each axis on which `ceil` with `same_*` counts one that reads nothing.

    `same_*` pads to `ceil(size / stride)` windows where the window reaches that far; a shorter window leaves
    `(size - 1) mod stride - (reach - 1)` elements over, and where that is positive, ceil counts another window.
    """
    shape = layers.fact(averages).shape
    assert shape is not None
    rank = pooling.rank
    reach = np.array([1, 1, *(pooling.reach(axis) for axis in range(rank))], np.int64)
    last = layers.binary("Subtract", layers.shape_of(source), np.ones(rank + 2, np.int64))
    left = layers.binary("FloorMod", last, np.array([1, 1, *pooling.strides], np.int64))
    more = layers.to_type(layers.binary("GreaterEqual", left, reach, compares=True), I64)
    return layers.pad(averages, np.zeros(rank + 2, np.int64), more, (*shape[:2], *(Dim(),) * rank))


def _channels_back(layers: Layers, source: Ref, averages: Ref) -> Ref:
    """`[N * C, 1, windows...]` as `[N, C, windows...]`; nothing to do where the number of channels is known."""
    fact, found = layers.fact(source), layers.fact(averages)
    assert fact.shape is not None
    batch, channels = fact.shape[:2]
    if channels.static:
        return averages
    zeros = np.zeros(len(fact.spatial), np.int64)
    shape = (batch, channels, *found.spatial)
    if batch.static and batch.size > 0:
        return layers.reshape(averages, np.array([batch.size, -1, *zeros], np.int64), shape)
    both = layers.gather(layers.shape_of(source), (0, 1))
    pattern = layers.add("Concat", [both, zeros], Fact(I64, (Dim.of(len(fact.spatial) + 2),)), axis="0")
    return layers.reshape(averages, pattern, shape)
