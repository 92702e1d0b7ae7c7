"""Transforms of real signals by those of complex numbers, for opsets without RDFT-9, IRDFT-9 or STFT-15."""

from collections.abc import Sequence

import numpy as np

from ir_tools.ops._layers import Layers, composed
from ir_tools.ops._values import known
from ir_tools.ops.definition import Array, Attrs, Ref, Refused

__all__ = ["inverse_real_transform", "real_transform", "short_time_transform"]

DATA = Ref(None)
NO_TRANSFORM = "opset7 is the first with a Fourier transform"


def _axes(layers: Layers, rank: int) -> list[int] | None:
    """Return the transformed axes of a signal of this rank, counted from the front, if they are known."""
    axes = known(layers.inputs[1])
    return None if not axes else [axis % rank for axis in axes]


def _size(layers: Layers, data: Ref, axis: int) -> int | None:
    """Return the size of an axis, if it is known."""
    shape = layers.fact(data).shape
    return shape[axis].size if shape and shape[axis].static else None


@composed(9, "the transform of the same numbers as complex ones, without the conjugate half")
def real_transform(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """RDFT-9."""
    del attrs
    axes = _axes(layers, layers.rank(DATA))
    if layers.target < 7:
        return Refused(NO_TRANSFORM)
    if axes is None:
        return Refused("the axes are not known")
    return _half_spectrum(layers, DATA, axes, *(Ref(None, number) for number in range(2, len(layers.inputs))))


def _half_spectrum(layers: Layers, data: Ref, axes: Sequence[int], *sizes: Ref) -> Ref:
    """Add RDFT, or what it is by DFT."""
    places = np.array(axes, np.int64)
    if layers.target >= 9:
        return layers.call("RDFT", data, places, *sizes)
    rank = layers.rank(data)
    column = layers.call("Unsqueeze", data, np.array([rank], np.int64))
    nothing, imaginary = np.zeros(rank + 1, np.int64), np.eye(rank + 1, dtype=np.int64)[-1]
    whole = layers.call("DFT", layers.pad(column, nothing, imaginary), places, *sizes)
    size = _size(layers, whole, axes[-1])
    half: Ref | Array
    if size is not None:
        half = np.arange(size // 2 + 1)
    else:
        two = np.array(2, np.int64)
        length = layers.gather(layers.shape_of(whole), axes[-1])
        half = layers.count_to(layers.call("Divide", layers.call("Add", length, two), two))
    return layers.call("Gather", whole, half, np.array(axes[-1], np.int64))


@composed(9, "the real part of the inverse transform of the half spectrum, twice what has a conjugate")
def inverse_real_transform(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """IRDFT-9: `x[t] = Re(X[0] + 2 * sum of X[k] * exp(2 i pi k t / n)) / n`, once if k is half of n."""
    del attrs
    rank = layers.rank(DATA)
    axes = _axes(layers, rank - 1)
    given = known(layers.inputs[2]) if len(layers.inputs) > 2 else [-1] * len(axes or ())
    if layers.target < 7:
        return Refused(NO_TRANSFORM)
    if axes is None or given is None:
        return Refused("the axes, or the sizes of the signal, are not known")
    last = axes[-1]
    stored = _size(layers, DATA, last)
    if stored is None or (size := 2 * (stored - 1) if given[-1] == -1 else given[-1]) < 1:
        return Refused("the size of the signal is not known")
    used = min(stored, size // 2 + 1)
    data = DATA if used == stored else layers.gather(DATA, range(used), last)
    places = np.arange(used)
    twice = np.where((places == 0) | (2 * places == size), 1.0, 2.0)
    factors = twice.reshape([-1 if axis == last else 1 for axis in range(last, rank)])
    weighted = layers.call("Multiply", data, factors.astype(layers.dtype(DATA)))
    sizes = np.array([*given[:-1], size], np.int64)
    signal = layers.call("IDFT", weighted, np.array(axes, np.int64), sizes)
    return layers.gather(signal, 0, rank - 1)


@composed(15, "the transform of every frame of the signal under the window")
def short_time_transform(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """STFT-15."""
    window = Ref(None, 1)
    rank, width = layers.rank(DATA), _size(layers, window, 0)
    sizes, steps = known(layers.inputs[2]), known(layers.inputs[3])
    if layers.target < 7:
        return Refused(NO_TRANSFORM)
    if layers.fact(DATA).dtype.name == "f64":
        return Refused("RDFT does not take f64")
    if sizes is None or steps is None or width is None:
        return Refused("frame_size, frame_step or the size of the window is not known")
    (size,), (step,) = sizes, steps
    left = (size - width) // 2
    if width < size:
        window = layers.pad(window, np.array([left], np.int64), np.array([size - width - left], np.int64))
    frames = layers.call("Gather", DATA, _places(layers, rank, size, step), np.array(rank - 1, np.int64))
    spectra = _half_spectrum(layers, layers.call("Multiply", frames, window), [rank])
    if not attrs.transpose_frames:
        return spectra
    order = [*range(rank - 1), rank, rank - 1, rank + 1]
    return layers.call("Transpose", spectra, np.array(order, np.int64))


def _places(layers: Layers, rank: int, size: int, step: int) -> Ref | Array:
    """Return where the elements of every frame are in the signal, `[frames, size]`."""
    inside = np.arange(size, dtype=np.int64)
    length = _size(layers, DATA, rank - 1)
    if length is not None:
        return np.arange((length - size) // step + 1)[:, None] * step + inside
    total = layers.gather(layers.shape_of(DATA), rank - 1)
    rest = layers.call("Subtract", total, np.array(size - step, np.int64))
    count = layers.call("Divide", rest, np.array(step, np.int64))
    starts = layers.call("Multiply", layers.count_to(count), np.array(step, np.int64))
    return layers.call("Add", layers.call("Unsqueeze", starts, np.array([1], np.int64)), inside)
