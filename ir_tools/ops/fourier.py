"""Spectra: DFT-7, IDFT-7, RDFT-9, IRDFT-9, STFT-15, ISTFT-16.

The shape rules are those of OpenVINO's core (fft_common_validation.hpp, stft_shape_inference.hpp and others), measured.
"""

from collections.abc import Sequence

from ir_tools.ops._define import UNBOUNDED, Attrs, Fact, Flag, Input, Op
from ir_tools.ops._ranks import dim, require, require_rank, require_size
from ir_tools.ops._values import intervals, known, normal_axis, require_list, require_one, shifted, sizes_of, times
from ir_tools.types import Dim, Shape

__all__ = ["DFT", "IDFT", "IRDFT", "ISTFT", "OPS", "RDFT", "STFT"]

# --- transforms over axes ---------------------------------------------------------------------------------------


def _transformed_axes(inputs: Sequence[Fact], *, real: bool) -> list[int] | None:
    """The axes, counted from the front; None where they, or the rank of the data, are not known.

    Complex data have a last axis of 2, over which nothing is transformed.

    Raises:
        ShapeError: the data have too few axes, an axis is not there or named twice, or sizes are not as many.
    """
    data, axes = inputs[:2]
    require_list(axes, "axes")
    for sizes in inputs[2:3]:
        require_list(sizes, "signal_size")
        static = axes.shape is not None and sizes.shape is not None and axes.shape[0].static and sizes.shape[0].static
        require(not static or axes.shape == sizes.shape, "signal_size has not as many values as axes")
    if data.shape is None:
        return None
    rank = len(data.shape) - (not real)
    require(rank >= 1, f"the data have rank {len(data.shape)} where at least {1 if real else 2} is meant")
    if not real:
        require_size(data, -1, (2,), "the data")
    if axes.shape is not None and axes.shape[0].static:
        count = axes.shape[0].size
        require(count <= rank, f"axes has {count} values where {rank} axes can be transformed")
    values = known(axes)
    if values is None:
        return None
    found = [normal_axis(axis, rank, "axes") for axis in values]
    require(len(set(found)) == len(found), f"axes holds an axis twice: {', '.join(map(str, values))}")
    return found


def _with_sizes(shape: Sequence[Dim], axes: Sequence[int], sizes: Sequence[int]) -> list[Dim]:
    """The shape with the signal's sizes, where these are not -1; other negative ones count as 0."""
    out = list(shape)
    for axis, size in zip(axes, sizes, strict=False):
        if size != -1:
            out[axis] = Dim.of(max(size, 0))
    return out


def dft_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """The data's shape, with the sizes of the signal along the axes."""
    del attrs
    axes = _transformed_axes(inputs, real=False)
    data = inputs[0]
    if data.shape is None or len(inputs) < 3:
        return (Fact(data.dtype, data.shape),)
    if axes is None:
        return (Fact(data.dtype, (*[Dim()] * (len(data.shape) - 1), data.shape[-1])),)
    out = list(data.shape)
    bounds = intervals(inputs[2]) or [(0, UNBOUNDED)] * len(axes)
    for axis, (low, high) in zip(axes, bounds, strict=False):
        if (low, high) != (-1, -1):
            out[axis] = Dim(max(low, 0), None if high == UNBOUNDED else max(high, 0))
    return (Fact(data.dtype, tuple(out)),)


def rdft_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Half of the last transformed axis and 1, and a last axis of 2 for the complex numbers."""
    del attrs
    axes = _transformed_axes(inputs, real=True)
    data = inputs[0]
    if data.shape is None:
        return (Fact(data.dtype, None),)
    if axes is None:
        return (Fact(data.dtype, (*[Dim()] * len(data.shape), Dim.of(2))),)
    out = list(data.shape)
    values = known(inputs[2]) if len(inputs) > 2 else ()
    if values is None:
        out[axes[-1]] = Dim()
    elif axes:
        out = _with_sizes(out, axes, values)
        out[axes[-1]] = _half(out[axes[-1]])
    return (Fact(data.dtype, (*out, Dim.of(2))),)


def _half(size: Dim) -> Dim:
    """`size / 2 + 1`, and nothing of nothing."""
    lo, hi = (None if bound is None else bound // 2 + 1 if bound > 0 else bound for bound in (size.lo, size.hi))
    return Dim(lo or 0, hi)


def irdft_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Without the last axis; the last transformed one has the signal's size, or `2 * (size - 1)`."""
    del attrs
    axes = _transformed_axes(inputs, real=False)
    data = inputs[0]
    if data.shape is None:
        return (Fact(data.dtype, None),)
    if axes is None:
        return (Fact(data.dtype, (Dim(),) * (len(data.shape) - 1)),)
    out = list(data.shape[:-1])
    values = known(inputs[2]) if len(inputs) > 2 else [-1] * len(axes)
    if values is None:
        out[axes[-1]] = Dim()
    elif axes:
        doubled = times(Dim.of(2), shifted(out[axes[-1]], -1))
        out = _with_sizes(out, axes, values)
        if values[-1] == -1:
            out[axes[-1]] = doubled
    return (Fact(data.dtype, tuple(out)),)


# --- transforms of frames -----------------------------------------------------------------------------------------


def _frame(inputs: Sequence[Fact]) -> tuple[int | None, int | None]:
    """The size of a frame and the step between frames, where they are known.

    Raises:
        ShapeError: they are not positive single numbers, or the window is no list that fits into a frame.
    """
    window, size, step = inputs[1:4]
    require_rank(window, 1, "the window")
    found: list[int | None] = []
    for fact, name in ((size, "frame_size"), (step, "frame_step")):
        require_one(fact, name, only_scalar=True)
        value = known(fact)
        found.append(None if value is None else value[0])
        require(value is None or value[0] > 0, f"{name} is {value} where at least 1 is meant")
    return found[0], found[1]


def _require_window(window: Fact, size: int) -> None:
    length = dim(window, 0)
    if length.static:
        require(0 < length.size <= size, f"the window has {length.size} values where a frame has {size}")


def stft_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """`[(batch,) frames, frequencies, 2]`, the middle ones exchanged with `transpose_frames`."""
    signal = inputs[0]
    shape = signal.shape
    require(shape is None or len(shape) in {1, 2}, "the signal is neither a list nor a batch of lists")
    size, step = _frame(inputs)
    if shape is None:
        return (Fact(signal.dtype, None),)
    if size is None or step is None:
        return (Fact(signal.dtype, (*shape[:-1], Dim(), Dim(), Dim.of(2))),)
    length = shape[-1]
    require(length.hi is None or size <= length.hi, f"frame_size is {size} where the signal has {length} values")
    _require_window(inputs[1], size)
    rest = shifted(length, -size)
    frames = Dim(rest.lo // step + 1, None if rest.hi is None else rest.hi // step + 1)
    middle = (frames, Dim.of(size // 2 + 1))
    return (Fact(signal.dtype, (*shape[:-1], *(middle[::-1] if attrs.transpose_frames else middle), Dim.of(2))),)


def istft_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """`[(batch,) length]`: the length that is asked for, or that the frames make."""
    data = inputs[0]
    require(data.shape is None or len(data.shape) in {3, 4}, "the data have neither rank 3 nor 4")
    size, step = _frame(inputs)
    if size is not None:
        _require_window(inputs[1], size)
    if data.shape is None:
        return (Fact(data.dtype, None),)
    if size is not None and all(each.static for each in data.shape):
        wanted = size // 2 + 1
        require(data.shape[-3].size == wanted, f"the data have {data.shape[-3]} frequencies where {wanted} are meant")
    length: Shape = None
    if len(inputs) > 4:
        require_one(inputs[4], "signal_length")
        length = sizes_of(inputs[4], "signal_length")
    elif size is not None and step is not None:
        length = (times(shifted(data.shape[-2], -1), Dim.of(step)),)
        if not attrs.center:
            length = (shifted(length[0], size),)
    return (Fact(data.dtype, (*data.shape[:-3], length[0] if length else Dim())),)


# --- the operations ---------------------------------------------------------------------------------------------

TYPES = {"T": "float"}
OVER_AXES = (
    Input("data", type="f32 f16 bf16"),
    Input("axes", type="i32 i64"),
    Input("signal_size", optional=True, type="i32 i64"),
)
FRAMES = (
    Input("data", type="T"),
    Input("window", type="T"),
    Input("frame_size", type="i32 i64"),
    Input("frame_step", type="i32 i64"),
)

DFT = Op(type="DFT", version=7, inputs=OVER_AXES, shape=dft_shape)
IDFT = Op(type="IDFT", version=7, inputs=OVER_AXES, shape=dft_shape)
RDFT = Op(type="RDFT", version=9, inputs=OVER_AXES, shape=rdft_shape)
IRDFT = Op(type="IRDFT", version=9, inputs=OVER_AXES, shape=irdft_shape)
STFT = Op(
    type="STFT",
    version=15,
    inputs=FRAMES,
    attrs={"transpose_frames": Flag(missing=False)},
    types=TYPES,
    shape=stft_shape,
)
ISTFT = Op(
    type="ISTFT",
    version=16,
    inputs=(*FRAMES, Input("signal_length", optional=True, type="i32 i64")),
    attrs={"center": Flag(missing=False), "normalized": Flag(missing=False)},
    types=TYPES,
    shape=istft_shape,
)

OPS = (DFT, IDFT, RDFT, IRDFT, STFT, ISTFT)
