"""Resizing along axes, each on its own: which elements of the input make one of the output, and with which weights.

Coordinates are computed in f32, as the runtime does: where they fall between two elements decides which is nearest.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ir_tools.ops._by_blocks import blocks
from ir_tools.ops._numbers import half_away
from ir_tools.ops.definition import Array, IntArray

__all__ = ["Resizing", "cubic_weights", "resize", "scales_of"]

Floats = npt.NDArray[np.float32]
ONE, HALF = np.float32(1), np.float32(0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resizing:
    """How to resize.

    Attributes:
        mode: `nearest`, `linear`, `linear_onnx`, `cubic`, `bilinear_pillow`, `bicubic_pillow`.
        coordinates: `half_pixel`, `pytorch_half_pixel`, `asymmetric`, `tf_half_pixel_for_nn`, `align_corners`.
        nearest: `round_prefer_floor`, `round_prefer_ceil`, `floor`, `ceil`, `simple`.
        antialias: whether `linear` averages over more elements where it makes smaller; volumes only.
        coefficient: of the cubic curves.
        settle: what is done to the values after each axis: Pillow's modes round 8-bit integers in between.
    """

    mode: str
    coordinates: str
    nearest: str = "simple"
    antialias: bool = False
    coefficient: float = -0.75
    settle: Callable[[Array], Array] | None = None


@dataclass(frozen=True, slots=True)
class Taps:
    """`[output, taps]`: places in the input, and their weights."""

    places: IntArray
    weights: Array


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: sizes of input and output, and the factor between them."""

    before: int
    after: int
    scale: np.float32


def resize(how: Resizing, data: Array, sizes: Mapping[int, int], scales: Mapping[int, float]) -> Array:
    """Return the input with other sizes along the axes of `sizes`, by factors `scales`; floats in their own type."""
    axes = {axis: Axis(data.shape[axis], size, np.float32(scales[axis])) for axis, size in sizes.items()}
    # The CPU plugin has `linear` only for volumes: what is flat it takes for `linear_onnx`, which does not smooth.
    mode = "linear_onnx" if how.mode == "linear" and data.ndim < 5 else how.mode
    # The last axis first, as Pillow does.
    for number, axis in sorted(axes.items(), reverse=True):
        if axis.after == axis.before:
            continue
        if not axis.before or not axis.after:
            data = np.zeros((*data.shape[:number], axis.after, *data.shape[number + 1 :]), data.dtype)
            continue
        data = _along(number, data, TAPS[mode](how, axis))
        data = data if how.settle is None else how.settle(data)
    return data


def _along(number: int, data: Array, taps: Taps) -> Array:
    if taps.places.shape[1] == 1:
        return np.take(data, taps.places[:, 0], axis=number)
    out = np.empty((*data.shape[:number], len(taps.places), *data.shape[number + 1 :]), data.dtype)
    for place in blocks(out.shape, (number,)):
        out[place] = _weighted(number, data[place], taps)
    return out


def _weighted(number: int, data: Array, taps: Taps) -> Array:
    shape = [-1 if axis == number else 1 for axis in range(data.ndim)]
    parts = (
        np.take(data, taps.places[:, tap], axis=number) * taps.weights[:, tap].reshape(shape).astype(data.dtype)
        for tap in range(taps.places.shape[1])
    )
    out: Array = sum(parts, start=np.zeros((), data.dtype))
    return out


# --- coordinates ------------------------------------------------------------------------------------------------


def _coordinates(how: Resizing, axis: Axis) -> Floats:
    """Return where the elements of the output lie in the input."""
    after = np.arange(axis.after, dtype=np.float32)
    if axis.scale == 1 or axis.before == axis.after:
        return after
    return COORDINATES[how.coordinates](after, axis)


def _half_pixel(after: Floats, axis: Axis) -> Floats:
    return (after + HALF) / axis.scale - HALF


def _pytorch_half_pixel(after: Floats, axis: Axis) -> Floats:
    return _half_pixel(after, axis) if axis.after > 1 else np.zeros_like(after)


def _align_corners(after: Floats, axis: Axis) -> Floats:
    if axis.after == 1:
        return np.zeros_like(after)
    return after * np.float32(axis.before - 1) / np.float32(axis.after - 1)


COORDINATES: dict[str, Callable[[Floats, Axis], Floats]] = {
    "half_pixel": _half_pixel,
    "pytorch_half_pixel": _pytorch_half_pixel,
    "asymmetric": lambda after, axis: after / axis.scale,
    "tf_half_pixel_for_nn": lambda after, axis: (after + HALF) / axis.scale,
    "align_corners": _align_corners,
}

# --- nearest ----------------------------------------------------------------------------------------------------


def _round_prefer_floor(values: Floats) -> Floats:
    return np.where(values == np.trunc(values) + HALF, np.floor(values), half_away(values))


ROUNDINGS: dict[str, Callable[[Floats], Floats]] = {
    "round_prefer_floor": _round_prefer_floor,
    "round_prefer_ceil": half_away,
    "floor": np.floor,
    "ceil": np.ceil,
}


def _nearest(how: Resizing, axis: Axis) -> Taps:
    simple = np.ceil if axis.scale < 1 else np.trunc
    found = ROUNDINGS.get(how.nearest, simple)(_coordinates(how, axis))
    places = np.clip(found.astype(np.int64), 0, axis.before - 1)
    return Taps(places[:, None], np.ones((len(places), 1)))


# --- linear and cubic -------------------------------------------------------------------------------------------


def _linear_onnx(how: Resizing, axis: Axis) -> Taps:
    """Interpolate between the two elements on both sides."""
    last = axis.before - 1
    where = np.clip(_coordinates(how, axis), 0, np.float32(last))
    low = np.minimum(where.astype(np.int64), last)
    high = np.minimum(low + 1, last)
    part = where - low.astype(np.float32)
    return Taps(np.stack([low, high], 1), np.stack([ONE - part, part], 1))


def _linear(how: Resizing, axis: Axis) -> Taps:
    """Weigh all elements within reach by their distance; as much of the weights as lies in the input."""
    narrow = axis.scale if how.antialias else ONE
    reach = 2 if axis.scale > 1 else int(np.ceil(np.float32(2) / narrow))
    where = _coordinates(how, axis)
    places = half_away(where).astype(np.int64)[:, None] + np.arange(-reach, reach + 1)
    inside = (places >= 0) & (places < axis.before)
    weights = np.maximum(ONE - np.abs(narrow * (where[:, None] - places.astype(np.float32))), 0) * inside
    total = weights.sum(axis=1, keepdims=True)
    return Taps(np.clip(places, 0, axis.before - 1), weights / np.where(total > 0, total, 1))


def _cubic(how: Resizing, axis: Axis) -> Taps:
    """Return the cubic curve through four elements; beyond the edges the last one repeats."""
    where = _coordinates(how, axis)
    base = np.floor(where)
    part, a = (where - base)[:, None], np.float32(how.coefficient)
    distance = np.abs(part + np.array([1, 0, -1, -2], np.float32))
    places = base.astype(np.int64)[:, None] + np.arange(-1, 3)
    return Taps(np.clip(places, 0, axis.before - 1), cubic_weights(distance, a))


def cubic_weights(distance: Array, a: float | np.float32) -> Array:
    """Return the weights of elements at these distances, by cubic convolution with the coefficient `a`."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))


# --- as Pillow resizes ------------------------------------------------------------------------------------------


def _pillow(support: int) -> Callable[[Resizing, Axis], Taps]:
    """Weigh all elements that the curve reaches, which gets wider where the output is smaller."""

    def taps(how: Resizing, axis: Axis) -> Taps:
        centre = (np.arange(axis.after, dtype=np.float32) + HALF) / axis.scale
        wide = np.maximum(ONE / axis.scale, ONE)
        reach = np.float32(support) * wide
        first = np.maximum((centre - reach + HALF).astype(np.int64), 0)
        last = np.minimum((centre + reach + HALF).astype(np.int64), axis.before)
        places = first[:, None] + np.arange(int((last - first).max(initial=1)))
        distance = np.abs((places.astype(np.float32) - centre[:, None] + HALF) * (ONE / wide))
        curve = np.maximum(ONE - distance, 0) if support == 1 else cubic_weights(distance, np.float32(how.coefficient))
        weights = curve * (places < last[:, None])
        total = weights.sum(axis=1, keepdims=True)
        return Taps(np.clip(places, 0, axis.before - 1), weights / np.where(total == 0, 1, total))

    return taps


TAPS: dict[str, Callable[[Resizing, Axis], Taps]] = {
    "nearest": _nearest,
    "linear": _linear,
    "linear_onnx": _linear_onnx,
    "cubic": _cubic,
    "bilinear_pillow": _pillow(1),
    "bicubic_pillow": _pillow(2),
}


def scales_of(before: Sequence[int], after: Mapping[int, int]) -> dict[int, float]:
    """Return the factors that make sizes `after` of sizes `before`, in f32."""
    return {axis: float(np.float32(size) / np.float32(max(before[axis], 1))) for axis, size in after.items()}
