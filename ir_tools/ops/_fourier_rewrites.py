"""Express Fourier transforms by those of complex numbers, and these by matrix products."""

import numpy as np

from ir_tools.ops._layers import DATA, Layers, composed
from ir_tools.ops.definition import Array, Ref, Refused
from ir_tools.ops.fields import Attrs
from ir_tools.ops.limits import MAX_MATRIX

__all__ = [
    "complex_transform",
    "inverse_complex_transform",
    "inverse_real_transform",
    "inverse_short_time_transform",
    "real_transform",
    "short_time_transform",
]


def _axes(layers: Layers, rank: int) -> list[int] | None:
    """Return the transformed axes of a signal of this rank, counted from the front, if they are known."""
    axes = layers.inputs[1].integers()
    return None if not axes else [axis % rank for axis in axes]


def _wanted_sizes(layers: Layers, axes: list[int] | None) -> list[int] | None:
    """Return the sizes of the signal, if they are known; -1 for those of the data."""
    return layers.inputs[2].integers() if len(layers.inputs) > 2 else [-1] * len(axes or ())


def _size(layers: Layers, data: Ref, axis: int) -> int | None:
    """Return the size of an axis, if it is known."""
    shape = layers.fact(data).shape
    return shape[axis].size if shape and shape[axis].static else None


@composed(7, "the product with the matrix of exp(-2 i pi k t / n) along every axis", wide=True)
def complex_transform(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite DFT-7."""
    return _products(layers, inverse=False)


@composed(7, "the product with the matrix of exp(2 i pi k t / n) / n along every axis", wide=True)
def inverse_complex_transform(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite IDFT-7."""
    return _products(layers, inverse=True)


def _products(layers: Layers, *, inverse: bool) -> Ref | Refused:
    data = layers.working(0)
    axes = _axes(layers, layers.rank(data) - 1)
    sizes = _wanted_sizes(layers, axes)
    if axes is None or sizes is None:
        return Refused("the axes or the sizes of the signal are not known")
    for axis, wanted in zip(axes, sizes, strict=True):
        size = _size(layers, data, axis)
        if size is None:
            return Refused(f"the size of axis {axis} is not known")
        count = size if wanted == -1 else wanted
        if 4 * size * count > MAX_MATRIX:
            return Refused(f"the {size} by {count} matrix for axis {axis} is too large for a constant")
        data = _along(layers, data, axis, _complex_matrix(size, count, inverse=inverse))
    return data


def _complex_matrix(size: int, count: int, *, inverse: bool) -> Array:
    """Return the matrix that maps `size` pairs of real and imaginary parts to `count` others, with no more or zeros."""
    angles = (2 if inverse else -2) * np.pi * (np.outer(np.arange(size), np.arange(count)) % count) / count
    turns = np.exp(1j * angles) / (count if inverse else 1)
    turns[count:] = 0
    parts = np.array([[turns.real, turns.imag], [-turns.imag, turns.real]])
    return np.moveaxis(parts, (0, 1), (1, 3)).reshape(2 * size, 2 * count)


def _along(layers: Layers, data: Ref, axis: int, matrix: Array) -> Ref:
    """Multiply the pairs of numbers along an axis by a matrix."""
    rank = layers.rank(data)
    order = [*(one for one in range(rank - 1) if one != axis), axis, rank - 1]
    moved = data if order == sorted(order) else layers.call("Transpose", data, np.array(order))
    kept = [0] * (rank - 2)
    row = layers.reshape(moved, np.array([*kept, -1]) if kept else np.array([1, -1]))
    product = layers.call("MatMul", row, matrix.astype(layers.dtype(data)))
    pairs = layers.reshape(product, np.array([*kept, matrix.shape[1] // 2, 2]))
    return pairs if moved == data else layers.call("Transpose", pairs, np.argsort(order))


@composed(9, "the complex transform with imaginary parts of 0, without the conjugate half")
def real_transform(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite RDFT-9."""
    rank = layers.rank(DATA)
    axes = _axes(layers, rank)
    if axes is None:
        return Refused("the axes are not known")
    column = layers.call("Unsqueeze", DATA, np.array([rank], np.int64))
    nothing, imaginary = np.zeros(rank + 1, np.int64), np.eye(rank + 1, dtype=np.int64)[-1]
    pairs = layers.pad(column, nothing, imaginary)
    whole = layers.call("DFT", pairs, np.array(axes, np.int64), *layers.given[2:])
    size = _size(layers, whole, axes[-1])
    half: Ref | Array
    if size is not None:
        half = np.arange(size // 2 + 1)
    else:
        two = np.array(2, np.int64)
        length = layers.gather(layers.shape_of(whole), axes[-1])
        half = layers.count_to(layers.call("Divide", layers.call("Add", length, two), two))
    return layers.call("Gather", whole, half, np.array(axes[-1], np.int64))


@composed(9, "the real part of the inverse transform of the half spectrum, in which terms with a conjugate count twice")
def inverse_real_transform(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite IRDFT-9: `x[t] = Re(X[0] + 2 * sum of X[k] * exp(2 i pi k t / n)) / n`, once if k is half of n."""
    rank = layers.rank(DATA)
    axes = _axes(layers, rank - 1)
    given = _wanted_sizes(layers, axes)
    if axes is None or given is None:
        return Refused("the axes or the sizes of the signal are not known")
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


@composed(15, "the transform of every frame of the signal, multiplied by the window")
def short_time_transform(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite STFT-15."""
    window = Ref(None, 1)
    rank, width = layers.rank(DATA), _size(layers, window, 0)
    sizes, steps = layers.inputs[2].integers(), layers.inputs[3].integers()
    if layers.fact(DATA).dtype.name == "f64":
        return Refused("RDFT does not take f64")
    if sizes is None or steps is None or width is None:
        return Refused("frame_size, frame_step or the size of the window is not known")
    (size,), (step,) = sizes, steps
    left = (size - width) // 2
    if width < size:
        window = layers.pad(window, np.array([left], np.int64), np.array([size - width - left], np.int64))
    frames = layers.call("Gather", DATA, _places(layers, rank, size, step), np.array(rank - 1, np.int64))
    spectra = layers.call("RDFT", layers.call("Multiply", frames, window), np.array([rank]))
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


@composed(
    16, "the sum of the inverse frames multiplied by the window, divided by the sum of the squared windows", wide=True
)
def inverse_short_time_transform(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite ISTFT-16: a transposed convolution whose filters are the waves of all frequencies under the window."""
    data, window = layers.working(0), layers.working(1)
    batched, width = layers.rank(data) == 4, _size(layers, window, 0)
    sizes, steps = layers.inputs[2].integers(), layers.inputs[3].integers()
    lengths = layers.inputs[4].integers() if len(layers.inputs) > 4 else [-1]
    if sizes is None or steps is None or width is None or lengths is None:
        return Refused("frame_size, frame_step, signal_length or the size of the window is not known")
    if _size(layers, data, layers.rank(data) - 1) not in {None, 2}:
        return Refused("the size of the last axis of data is not 2, so data does not hold complex numbers")
    (size,), (step,), (length,) = sizes, steps, lengths
    count = size // 2 + 1
    if 2 * count * size > MAX_MATRIX:
        return Refused(f"the transform matrix for frames of {size} elements is too large for a constant")
    spectra = data if batched else layers.call("Unsqueeze", data, np.array([0]))
    pairs = layers.call("Transpose", spectra, np.array([0, 1, 3, 2]))
    rows = layers.reshape(pairs, np.array([0, 2 * count, -1]))
    left = (size - width) // 2
    shape = layers.pad(window, np.array([left]), np.array([size - width - left])) if width < size else window
    waves = _waves(size, normalized=attrs.normalized).astype(layers.dtype(data))
    total = _added(layers, rows, layers.call("Multiply", waves, shape), step)
    ones = _ones(layers, layers.size(rows, 2), layers.number(1, rows))
    square = layers.reshape(layers.call("Multiply", shape, shape), np.array([1, 1, -1]))
    squares = _added(layers, ones, square, step)
    enough = layers.call("Greater", squares, TINY)
    divisor = layers.call("Select", enough, squares, 1)
    signal = layers.call("Select", enough, layers.call("Divide", total, divisor), 0)
    signal = _cut(layers, signal, size // 2 if attrs.center else 0, length)
    return signal if batched else layers.reshape(signal, np.array([-1]))


TINY = 1e-8
"""Where the squares of the windows add up to less, the signal is not known, and 0."""


def _waves(size: int, *, normalized: bool) -> Array:
    """Return what every frequency's real and imaginary part adds to a frame, `[2 * frequencies, 1, size]`."""
    count = size // 2 + 1
    pairs = np.eye(2 * count).reshape(2 * count, count, 2)
    waves: Array = np.fft.irfft(pairs[..., 0] + 1j * pairs[..., 1], size) * (np.sqrt(size) if normalized else 1)
    return waves[:, None]


def _ones(layers: Layers, size: Ref | Array, one: Array) -> Ref | Array:
    """Return as many ones as there are frames, `[1, 1, frames]`."""
    if not isinstance(size, Ref):
        return np.broadcast_to(one, (1, 1, int(size))).copy()
    column = layers.reshape(size, np.array([1]))
    return layers.call("Broadcast", one, layers.call("Concat", np.array([1, 1]), column, axis=0))


def _added(layers: Layers, rows: Ref | Array, filters: Ref, step: int) -> Ref:
    """Add up frames, `[N, filters, frames]`, one every `step` elements."""
    return layers.call(
        "ConvolutionBackpropData",
        rows,
        filters,
        strides=(step,),
        dilations=(1,),
        pads_begin=(0,),
        pads_end=(0,),
    )


def _cut(layers: Layers, signal: Ref, start: int, length: int) -> Ref:
    """Return a signal `[N, 1, elements]` as `[N, length]` from `start` on, with zeros behind it.

    `length`: -1 for all but as many elements at the end as at the start.
    """
    if length >= 0:
        signal = layers.pad(signal, np.zeros(3, np.int64), np.array([0, 0, length]))
    end = start + length if length >= 0 else -start
    flat = layers.call("Squeeze", signal, np.array([1]))
    bounds = np.array([0, start]), np.array([0, end]), np.array([1, 1])
    return layers.call("StridedSlice", flat, *bounds, begin_mask=(1, 0), end_mask=(1, int(end == 0)))
