"""Express average pooling by a convolution with ones and a division, for dilations that AvgPool lacks.

Unlike a product with a matrix it reads the window's elements only, so that a NaN or an infinity stays in its windows.
"""

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from ir_tools.ops._equivalence import PoolingSpec, Proof, behind_pad, equal_for_all, floored, plain, resolved
from ir_tools.ops._layers import F32, I64, Layers, padded
from ir_tools.ops._windows import Pooling
from ir_tools.ops.definition import Array, Fact, Ref, Refused, Rewrite
from ir_tools.types import Dim

__all__ = ["by_convolution"]

EXACT_TYPES = ("f32", "f64")
"""Averaged as they are; others are converted to f32, which holds their sums."""
ANY = np.iinfo(np.int32).max


def by_convolution(wanted: PoolingSpec, data: Fact, target: int) -> Rewrite | Refused:
    """Return the wanted pooling as layers of opset1 and a few of the target.

    Sizes, dilations and element type may be any.
    """
    for form in _forms(wanted, data.spatial):
        proof = equal_for_all(wanted, form, data.spatial)
        if isinstance(proof, Proof):
            return _write(form, data, target, proof)
    return Refused(f"no pooling or convolution of opset{target} has the same windows for every input size")


def _forms(wanted: PoolingSpec, sizes: Sequence[Dim]) -> Iterator[PoolingSpec]:
    """Yield the pooling counted with floor, as a convolution does.

    Where that leaves out empty windows, they are added afterwards.
    """
    pooling = plain(wanted.pooling)
    variants = [floored(pooling), pooling]
    if all(dim.static for dim in sizes):
        inner = [dim.size + sum(wanted.pads(axis)) for axis, dim in enumerate(sizes)]
        variants = [resolved(pooling, inner)]
    for variant in variants:
        for divisor in ("kernel", "real"):
            yield PoolingSpec(variant, wanted.before, wanted.after, divisor)
        if wanted.divisor == "padded" and variant.auto_pad == "explicit":
            yield behind_pad(pooling, variant)


def _write(form: PoolingSpec, data: Fact, target: int, proof: Proof) -> Rewrite:
    """Convert, pad, convolve, divide, add empty windows, convert: each only where it is needed."""
    layers = Layers([data], target)
    work = data.dtype if data.dtype.name in EXACT_TYPES else F32
    source = layers.to_type(Ref(None), work)
    if form.before:
        source = padded(layers, source, form.before, form.after)
    channels = _channels(layers, source)
    if data.dtype.is_integer:
        averages = _rounded(layers, _sums(layers, form.pooling, channels, 2.0), _divisors(layers, form, channels))
    elif form.divisor == "kernel":
        averages = _sums(layers, form.pooling, channels, 1 / prod(form.pooling.kernel))
    else:
        sums = _sums(layers, form.pooling, channels, 1.0)
        averages = layers.call("Divide", sums, _divisors(layers, form, channels))
    averages = _channels_back(layers, source, averages)
    if form.pooling.rounding != "floor":
        averages = _with_empty_windows(layers, form.pooling, source, averages)
    layers.to_type(averages, data.dtype)
    return layers.rewrite("window sums by a convolution, then a division", proof.text)


def _rounded(layers: Layers, doubled: Ref, divisors: Ref | Array) -> Ref:
    """Return `doubled / 2 / divisors` as integers, halves to the even one, as the runtime averages integers.

    Exact though the runtime multiplies by the reciprocal of a constant divisor: with `t = (2 sum + n) / (2 n)`, a
    multiple of `1 / (2 n)`, the quotient is `floor(t)`, less 1 where `t` is an odd integer. The half that is added
    keeps the floor right as long as the sum is below 2^21; whether `t` is whole is then asked without a division.
    """
    twice = layers.call("Add", divisors, divisors) if isinstance(divisors, Ref) else divisors + divisors
    shifted = layers.call("Add", doubled, divisors)
    quotient = layers.call("Divide", layers.call("Add", shifted, np.array(0.5, np.float32)), twice)
    half_up = layers.call("Floor", quotient)
    whole = layers.call("Equal", layers.call("Multiply", half_up, twice), shifted)
    odd = layers.call("FloorMod", half_up, np.array(2, np.float32))
    return layers.call("Subtract", half_up, layers.call("Multiply", layers.to_type(whole, F32), odd))


def _channels(layers: Layers, source: Ref) -> Ref:
    """Return `source` with a known number of channels, at least two.

    An unknown number goes into the batch. A single channel is doubled, because the runtime (2026.4.1) miscomputes some
    convolutions from one channel to one: kernel 3x4, strides 1x2, padded, on 13x2.
    """
    fact = layers.fact(source)
    assert fact.shape is not None
    channels = fact.shape[1]
    if channels.static and channels.size > 1:
        return source
    if not channels.static:
        source = layers.reshape(source, np.array([-1, 1] + [0] * len(fact.spatial), np.int64))
    return layers.call("Concat", source, source, axis=1)


def _sums(layers: Layers, pooling: Pooling, source: Ref, weight: float) -> Ref:
    """Return weighted sums, `[N, C, windows...]`, of a known number of channels."""
    fact = layers.fact(source)
    assert fact.shape is not None
    weights = np.full((fact.shape[1].size, 1, 1, *pooling.kernel), weight, fact.dtype.dtype)
    return layers.call(
        "GroupConvolution",
        source,
        weights,
        label="sum",
        strides=pooling.strides,
        dilations=pooling.dilations,
        pads_begin=pooling.pads_begin,
        pads_end=pooling.pads_end,
        auto_pad=pooling.auto_pad,
    )


def _divisors(layers: Layers, form: PoolingSpec, source: Ref) -> Ref | Array:
    """Return what each sum is divided by, at least 1.

    A scalar, or something that broadcasts to `[N, C, windows...]`.
    """
    fact, pooling = layers.fact(source), form.pooling
    dtype = fact.dtype.dtype
    if form.divisor == "kernel":
        return np.array(prod(pooling.kernel), dtype)
    if all(dim.static for dim in fact.spatial):
        plan = PoolingSpec(pooling, divisor="real").plan([dim.size for dim in fact.spatial])
        counts: Array = np.ones((1, 1), dtype)
        for axis in plan.axes:
            counts = counts[..., None] * axis.divisor.astype(dtype)
        return np.maximum(counts, 1).astype(dtype)
    sums = _sums(layers, pooling, _ones(layers, source), 1.0)
    return layers.call("Maximum", sums, np.array(1, dtype))


def _ones(layers: Layers, source: Ref) -> Ref:
    """Return ones, `[1, C, spatial...]`."""
    fact = layers.fact(source)
    assert fact.shape is not None
    limits = np.array([1] + [ANY] * (len(fact.shape) - 1), np.int64)
    sizes = layers.call("Minimum", layers.shape_of(source), limits)
    return layers.call("Broadcast", layers.number(1, source), sizes)


def _with_empty_windows(layers: Layers, pooling: Pooling, source: Ref, averages: Ref) -> Ref:
    """Add one window more at the end of each axis on which `ceil` with `same_*` counts one that reads nothing.

    `same_*` pads to `ceil(size / stride)` windows where the window reaches that far; a shorter window leaves
    `(size - 1) mod stride - (reach - 1)` elements over, and where that is positive, ceil counts another window.
    """
    rank = pooling.rank
    reach = np.array([1, 1, *(pooling.reach(axis) for axis in range(rank))], np.int64)
    last = layers.call("Subtract", layers.shape_of(source), np.ones(rank + 2, np.int64))
    left = layers.call("FloorMod", last, np.array([1, 1, *pooling.strides], np.int64))
    more = layers.to_type(layers.call("GreaterEqual", left, reach), I64)
    return layers.pad(averages, np.zeros(rank + 2, np.int64), more)


def _channels_back(layers: Layers, source: Ref, averages: Ref) -> Ref:
    """Return the averages, `[N, C, windows...]`, with the channels of `source` again: the reverse of `_channels`."""
    fact = layers.fact(source)
    assert fact.shape is not None
    batch, channels = fact.shape[:2]
    if channels.static and channels.size > 1:
        return averages
    averages = layers.gather(averages, (0,), axis=1)
    if channels.static:
        return averages
    zeros = np.zeros(len(fact.spatial), np.int64)
    if batch.static and batch.size > 0:
        return layers.reshape(averages, np.array([batch.size, -1, *zeros], np.int64))
    both = layers.gather(layers.shape_of(source), (0, 1))
    return layers.reshape(averages, layers.call("Concat", both, zeros, axis=0))
