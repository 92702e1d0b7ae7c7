"""Spectra: DFT-7, IDFT-7, RDFT-9, IRDFT-9, STFT-15, ISTFT-16.

The shape rules are those of OpenVINO's core (fft_common_validation.hpp, stft_shape_inference.hpp and others), measured.

Specification: `signals/`.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ir_tools.display import plural
from ir_tools.ops import _fourier_rewrites as rewrites
from ir_tools.ops._numbers import is_half, widened
from ir_tools.ops._requirements import require, require_list, require_one, require_rank, require_size
from ir_tools.ops._values import dim, intervals, normal_axis, shifted, sizes_of, times
from ir_tools.ops.definition import UNBOUNDED, Array, Fact, Input, Op, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, Flag
from ir_tools.types import Dim, Shape, is_static, shape_text

__all__ = ["DFT", "IDFT", "IRDFT", "ISTFT", "OPS", "RDFT", "STFT"]

# --- transforms over axes ---------------------------------------------------------------------------------------


def _transformed_axes(inputs: Sequence[Fact], *, real: bool) -> list[int] | None:
    """Return the axes, counted from the front; None where they, or the rank of the data, are not known.

    Complex data have a last axis of 2, over which nothing is transformed.

    Raises:
        ShapeError: the data have too few axes, an axis is not there or named twice, or sizes are not as many.
    """
    data, axes = inputs[:2]
    require_list(axes, "axes")
    for sizes in inputs[2:3]:
        require_list(sizes, "signal_size")
        static = axes.shape is not None and sizes.shape is not None and axes.shape[0].static and sizes.shape[0].static
        require(
            not static or axes.shape == sizes.shape,
            f"is {shape_text(sizes.shape)}, but axes is {shape_text(axes.shape)}",
            attribute="signal_size",
        )
    if data.shape is None:
        return None
    rank = len(data.shape) - (not real)
    require(rank >= 1, f"has rank {len(data.shape)}; expected at least {1 if real else 2}", attribute="data")
    if not real:
        require_size(data, -1, (2,), "data")
    if axes.shape is not None and axes.shape[0].static:
        count = axes.shape[0].size
        require(
            count <= rank, f"has {plural(count, 'value')}, but data has only {rank} axes to transform", attribute="axes"
        )
    values = axes.integers()
    return None if values is None else _distinct(values, rank)


def _distinct(axes: Sequence[int], rank: int) -> list[int]:
    """Return axes, counted from the front.

    Raises:
        ShapeError: one is not there, or named twice.
    """
    found = [normal_axis(axis, rank, "axes") for axis in axes]
    require(len(set(found)) == len(found), f"has an axis twice: {', '.join(map(str, axes))}", attribute="axes")
    return found


def _with_sizes(shape: Sequence[Dim], axes: Sequence[int], sizes: Sequence[int]) -> list[Dim]:
    """Return the shape with the signal's sizes, where these are not -1; other negative ones count as 0."""
    out = list(shape)
    for axis, size in zip(axes, sizes, strict=False):
        if size != -1:
            out[axis] = Dim.of(max(size, 0))
    return out


def dft_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the data's shape, with the sizes of the signal along the axes."""
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
    """Return half of the last transformed axis and 1, and a last axis of 2 for the complex numbers."""
    axes = _transformed_axes(inputs, real=True)
    data = inputs[0]
    if data.shape is None:
        return (Fact(data.dtype, None),)
    if axes is None:
        return (Fact(data.dtype, (*[Dim()] * len(data.shape), Dim.of(2))),)
    out = list(data.shape)
    values = inputs[2].integers() if len(inputs) > 2 else ()
    if values is None:
        for axis in axes[-1:]:
            out[axis] = Dim()
    elif axes:
        out = _with_sizes(out, axes, values)
        out[axes[-1]] = _half(out[axes[-1]])
    return (Fact(data.dtype, (*out, Dim.of(2))),)


def _half(size: Dim) -> Dim:
    """Return `size / 2 + 1`, and nothing of nothing."""
    lo, hi = (None if bound is None else bound // 2 + 1 if bound > 0 else bound for bound in (size.lo, size.hi))
    return Dim(lo or 0, hi)


def irdft_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape without the last axis; the last transformed one has the signal's size, or `2 * (size - 1)`."""
    axes = _transformed_axes(inputs, real=False)
    data = inputs[0]
    if data.shape is None:
        return (Fact(data.dtype, None),)
    if axes is None:
        return (Fact(data.dtype, (Dim(),) * (len(data.shape) - 1)),)
    out = list(data.shape[:-1])
    values = inputs[2].integers() if len(inputs) > 2 else [-1] * len(axes)
    if values is None:
        for axis in axes[-1:]:
            out[axis] = Dim()
    elif axes:
        doubled = times(Dim.of(2), shifted(out[axes[-1]], -1))
        out = _with_sizes(out, axes, values)
        if values[-1] == -1:
            out[axes[-1]] = doubled
    return (Fact(data.dtype, tuple(out)),)


def computed_inputs(inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for axes or sizes that are not constants, for data of a known shape.

    The CPU plugin rejects the layer, or crashes.
    """
    data = inputs[0].shape
    if not is_static(data):
        return
    for name, fact in zip(("axes", "signal_size"), inputs[1:], strict=False):
        if fact.integers() is None:
            message = "is not a constant; the CPU plugin crashes or refuses the layer if the size of the data is known"
            yield Violation(name, message, "make it a constant", ViolationKind.SUSPECT)


def no_axes(axes: Fact) -> Iterator[Violation]:
    """Check for an empty list of axes, with which the runtime crashes while it reads the model."""
    if axes.integers() == []:
        yield Violation("axes", "is empty, and the runtime crashes without an axis", kind=ViolationKind.FATAL)


def check_sizes(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for sizes of a real signal with which the CPU plugin reads beyond the data, or does not run at all.

    Measured.
    """
    yield from no_axes(inputs[1])
    yield from computed_inputs(inputs)
    data, axes = inputs[0].shape, _transformed_axes(inputs, real=True)
    sizes = inputs[2].integers() if len(inputs) > 2 else None
    for axis, size in zip(axes or (), sizes or (), strict=False):
        if size == -1:
            yield Violation(
                "signal_size", "has -1, which the runtime does not support", "write the size", ViolationKind.FATAL
            )
        elif data is not None and data[axis].static and size > data[axis].size:
            message = f"has {size} for an axis of {data[axis]} elements; the runtime reads outside the data"
            yield Violation("signal_size", message, "pad the data with a Pad layer", ViolationKind.FATAL)


def check_inverse_sizes(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for sizes of a real signal with which the CPU plugin is wrong, or does not run at all. Measured."""
    yield from no_axes(inputs[1])
    yield from computed_inputs(inputs)
    data, axes = inputs[0].shape, _transformed_axes(inputs, real=False)
    sizes = inputs[2].integers() if len(inputs) > 2 else None
    for number, (axis, size) in enumerate(zip(axes or (), sizes or (), strict=False)):
        if size == -1:
            yield Violation(
                "signal_size", "has -1, which the runtime does not support", "write the size", ViolationKind.FATAL
            )
        elif data is not None and data[axis].static and len(data) > 2:
            last = number == len(axes or ()) - 1
            maximum = 2 * (data[axis].size - 1) if last else data[axis].size
            if size > maximum or (size < maximum and len(axes or ()) > 2):
                message = f"has {size} for an axis that has at most {maximum} values; the runtime computes wrong values"
                yield Violation("signal_size", message, "pad the data with a Pad layer", ViolationKind.SUSPECT)


# --- transforms of frames -----------------------------------------------------------------------------------------


def _frame(inputs: Sequence[Fact]) -> tuple[int | None, int | None]:
    """Return the size of a frame and the step between frames, where they are known.

    Raises:
        ShapeError: they are not positive single numbers, or the window is not a list that fits into a frame.
    """
    window, size, step = inputs[1:4]
    require_rank(window, 1, "window")
    found: list[int | None] = []
    for fact, name in ((size, "frame_size"), (step, "frame_step")):
        require_one(fact, name, only_scalar=True)
        value = fact.integers()
        found.append(None if value is None else value[0])
        require(value is None or value[0] > 0, f"is {value and value[0]}; expected at least 1", attribute=name)
    return found[0], found[1]


def _require_window(window: Fact, size: int) -> None:
    length = dim(window, 0)
    if length.static:
        require(
            0 < length.size <= size,
            f"has {plural(length.size, 'value')}; expected 1 to {size}, the size of a frame",
            attribute="window",
        )


def stft_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[(batch,) frames, frequencies, 2]`, the middle ones exchanged with `transpose_frames`."""
    signal = inputs[0]
    shape = signal.shape
    require(shape is None or len(shape) in {1, 2}, f"is {shape_text(shape)}; expected rank 1 or 2", attribute="data")
    size, step = _frame(inputs)
    if shape is None:
        return (Fact(signal.dtype, None),)
    if size is None or step is None:
        return (Fact(signal.dtype, (*shape[:-1], Dim(), Dim(), Dim.of(2))),)
    length = shape[-1]
    require(
        length.hi is None or size <= length.hi, f"is {size}, but the signal has {length} values", attribute="frame_size"
    )
    _require_window(inputs[1], size)
    rest = shifted(length, -size)
    frames = Dim(rest.lo // step + 1, None if rest.hi is None else rest.hi // step + 1)
    middle = (frames, Dim.of(size // 2 + 1))
    return (Fact(signal.dtype, (*shape[:-1], *(middle[::-1] if attrs.transpose_frames else middle), Dim.of(2))),)


def istft_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[(batch,) length]`: the length that is asked for, or that the frames make."""
    data = inputs[0]
    require(
        data.shape is None or len(data.shape) in {3, 4},
        f"is {shape_text(data.shape)}; expected rank 3 or 4",
        attribute="data",
    )
    size, step = _frame(inputs)
    if size is not None:
        _require_window(inputs[1], size)
    if data.shape is None:
        return (Fact(data.dtype, None),)
    if size is not None and all(each.static for each in data.shape):
        wanted = size // 2 + 1
        require(data.shape[-3].size == wanted, f"has {data.shape[-3]} frequencies; expected {wanted}", attribute="data")
    length: Shape = None
    if len(inputs) > 4:
        require_one(inputs[4], "signal_length")
        length = sizes_of(inputs[4], "signal_length")
    elif size is not None and step is not None:
        length = (shifted(times(shifted(data.shape[-2], -1), Dim.of(step)), size % 2 if attrs.center else size),)
    return (Fact(data.dtype, (*data.shape[:-3], length[0] if length else Dim())),)


# --- kernels ------------------------------------------------------------------------------------------------------


def _complex(data: Array) -> Array:
    """Return `[..., 2]` as complex numbers, of f32 at least."""
    wide = widened(data)
    out: Array = wide[..., 0] + 1j * wide[..., 1]
    return out


def _parts(values: Array, like: Array) -> Array:
    """Return complex numbers as `[..., 2]`, in the type of `like`."""
    return np.stack([values.real, values.imag], axis=-1).astype(like.dtype)


def _plan(arrays: Sequence[Array], rank: int) -> tuple[list[int], list[int] | None]:
    """Return the axes, counted from the front, and the sizes of the signal along them.

    None where all are the data's.
    """
    axes = _distinct(arrays[1].ravel().tolist(), rank)
    if len(arrays) < 3:
        return axes, None
    sizes = [arrays[0].shape[axis] if size == -1 else int(size) for axis, size in zip(axes, arrays[2], strict=True)]
    return axes, sizes


def _transformed(
    transform: Callable[..., Array], data: Array, sizes: Sequence[int] | None, axes: Sequence[int], last: int
) -> Array:
    """Return a transform of data whose last transformed axis gets `last` elements; sums of no elements are 0."""
    if data.size:
        return transform(data, sizes, axes)
    shape = [*data.shape]
    for axis, size in zip(axes, sizes or (), strict=False):
        shape[axis] = size
    shape[axes[-1]] = last
    return np.zeros(shape, data.dtype)


def dft(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the Fourier transform over the axes."""
    return (_of_complex(np.fft.fftn, arrays),)


def _of_complex(transform: Callable[..., Array], arrays: Sequence[Array]) -> Array:
    """Return a transform of complex numbers."""
    data = _complex(arrays[0])
    axes, sizes = _plan(arrays, data.ndim)
    if not axes:
        return arrays[0]
    last = data.shape[axes[-1]] if sizes is None else sizes[-1]
    return _parts(_transformed(transform, data, sizes, axes, last), arrays[0])


def idft(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the inverse Fourier transform over the axes."""
    return (_of_complex(np.fft.ifftn, arrays),)


def rdft(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the Fourier transform of real numbers, without the half that is conjugate to the other."""
    data = arrays[0].astype(np.float32) if is_half(arrays[0].dtype) else arrays[0]
    axes, sizes = _plan(arrays, data.ndim)
    last = data.shape[axes[-1]] if sizes is None else sizes[-1]
    return (_parts(_transformed(np.fft.rfftn, data, sizes, axes, _half(Dim.of(last)).size), arrays[0]),)


def irdft(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the real numbers of which this is the transform."""
    axes, sizes = _plan(arrays, arrays[0].ndim - 1)
    if sizes is not None and arrays[2][-1] == -1:
        sizes[-1] = 2 * (sizes[-1] - 1)
    data = _complex(arrays[0])
    last = max(2 * (data.shape[axes[-1]] - 1), 0) if sizes is None else sizes[-1]
    return (_transformed(np.fft.irfftn, data, sizes, axes, last).real.astype(arrays[0].dtype),)


def _centred(window: Array, size: int) -> Array:
    """Return the window in the middle of a frame, in f32 at least."""
    left = (size - window.size) // 2
    wide = widened(window)
    return np.pad(wide, (left, size - window.size - left))


def stft(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the spectra of frames of the signal, each under the window."""
    signal, window = arrays[:2]
    size, step = int(arrays[2]), int(arrays[3])
    frames = np.lib.stride_tricks.sliding_window_view(signal, size, axis=-1)[..., ::step, :]
    out = _parts(np.fft.rfft(frames * _centred(window, size)), signal)
    return (np.swapaxes(out, -2, -3) if attrs.transpose_frames else out,)


def istft(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the signal of which these are the spectra.

    Frames under the window, added up and divided by its squares.
    """
    data, window = arrays[:2]
    size, step = int(arrays[2]), int(arrays[3])
    frames = np.fft.irfft(np.swapaxes(_complex(data), -1, -2), size)
    if attrs.normalized:
        frames *= math.sqrt(size)
    weights = _centred(window, size)
    count = frames.shape[-2]
    places = np.arange(count)[:, None] * step + np.arange(size)
    squares = np.zeros((count - 1) * step + size, frames.dtype)
    total = np.zeros((squares.size, *frames.shape[:-2]), frames.dtype)
    np.add.at(squares, places, np.broadcast_to(weights * weights, places.shape))
    np.add.at(total, places, np.moveaxis(frames * weights, (-2, -1), (0, 1)))
    total = np.moveaxis(total, 0, -1)
    signal = np.divide(total, squares, out=np.zeros_like(total), where=squares > TINY)
    start = size // 2 if attrs.center else 0
    length = int(arrays[4].ravel()[0]) if len(arrays) > 4 else signal.shape[-1] - 2 * start
    signal = signal[..., start : start + length]
    rest = length - signal.shape[-1]
    return (np.pad(signal, [(0, 0)] * (signal.ndim - 1) + [(0, rest)]).astype(data.dtype),)


TINY = 1e-8
"""Where the squares of the windows add up to less, the signal is not known, and 0."""

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

DFT = Op(type="DFT", version=7, migrate=rewrites.complex_transform, inputs=OVER_AXES, shape=dft_shape, kernel=dft)
IDFT = Op(
    type="IDFT", version=7, migrate=rewrites.inverse_complex_transform, inputs=OVER_AXES, shape=dft_shape, kernel=idft
)
RDFT = Op(
    type="RDFT",
    version=9,
    inputs=OVER_AXES,
    check=check_sizes,
    shape=rdft_shape,
    kernel=rdft,
    migrate=rewrites.real_transform,
)
IRDFT = Op(
    type="IRDFT",
    version=9,
    inputs=OVER_AXES,
    check=check_inverse_sizes,
    shape=irdft_shape,
    kernel=irdft,
    migrate=rewrites.inverse_real_transform,
)
STFT = Op(
    type="STFT",
    version=15,
    inputs=FRAMES,
    attrs={"transpose_frames": Flag(runtime_default=False)},
    types=TYPES,
    shape=stft_shape,
    kernel=stft,
    migrate=rewrites.short_time_transform,
)
ISTFT = Op(
    type="ISTFT",
    version=16,
    migrate=rewrites.inverse_short_time_transform,
    inputs=(*FRAMES, Input("signal_length", optional=True, type="i32 i64")),
    attrs={"center": Flag(runtime_default=False), "normalized": Flag(runtime_default=False)},
    types=TYPES,
    shape=istft_shape,
    kernel=istft,
)

OPS = (DFT, IDFT, RDFT, IRDFT, STFT, ISTFT)
