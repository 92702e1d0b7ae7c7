"""GridSample: elements of an image at given places, `[N, C, H_out, W_out]`."""

from collections.abc import Callable

import numpy as np

from ir_tools.ops._interpolate import cubic_weights
from ir_tools.ops.definition import Array

__all__ = ["grid_sample"]

CUBIC = -0.75
"""The coefficient of the cubic curves."""


def grid_sample(data: Array, grid: Array, mode: str, padding: str, align: bool) -> Array:
    """Return `data` `[N, C, H, W]` at `grid` `[N, H_out, W_out, 2]`: x and y from -1 to 1.

    Args:
        data: the images.
        grid: the places.
        mode: `nearest`, `bilinear` or `bicubic`.
        padding: what lies outside: `zeros`, `border` or `reflection`.
        align: whether -1 and 1 are the middles of the outermost elements, not their edges.
    """
    x, y = (_places(grid[..., axis], size, align) for axis, size in ((0, data.shape[3]), (1, data.shape[2])))
    if mode == "nearest":
        return _taken(data, np.rint(y), np.rint(x), padding, align)
    top, left = np.floor(y), np.floor(x)
    taps, weigh = TAPS[mode]
    rows, columns = weigh(y - top), weigh(x - left)
    out = np.zeros((), data.dtype)
    for down, row in zip(taps, rows, strict=True):
        for across, column in zip(taps, columns, strict=True):
            out = out + _taken(data, top + down, left + across, padding, align) * (row * column)[:, None]
    return out.astype(data.dtype)


def _places(values: Array, size: int, align: bool) -> Array:
    out: Array = (values + 1) * (size - 1) / 2 if align else ((values + 1) * size - 1) / 2
    return out


def _taken(data: Array, y: Array, x: Array, padding: str, align: bool) -> Array:
    """Return elements at whole places, `[N, C, H_out, W_out]`."""
    height, width = data.shape[2:]
    if not height * width:
        return np.zeros((*data.shape[:2], *y.shape[1:]), data.dtype)
    rows, columns = y.astype(np.int64), x.astype(np.int64)
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    if padding == "reflection":
        rows, columns = _reflected(rows, height, align), _reflected(columns, width, align)
    rows, columns = np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)
    images = np.arange(len(data))[:, None, None]
    found = data[images, :, rows, columns].transpose(0, 3, 1, 2)
    return np.where(inside[:, None], found, 0) if padding == "zeros" else found


def _reflected(places: Array, size: int, align: bool) -> Array:
    """Return places beyond the edges mirrored: at the outermost elements, or at their edges."""
    if align:
        period = max(2 * (size - 1), 1)
        places = np.abs(places) % period
        return np.where(places >= size, period - places, places)
    places = places % (2 * size)
    return np.where(places >= size, 2 * size - 1 - places, places)


def _linear(part: Array) -> tuple[Array, ...]:
    return 1 - part, part


def _cubic(part: Array) -> tuple[Array, ...]:
    return tuple(cubic_weights(distance, CUBIC) for distance in (part + 1, part, 1 - part, 2 - part))


TAPS: dict[str, tuple[tuple[int, ...], Callable[[Array], tuple[Array, ...]]]] = {
    "bilinear": ((0, 1), _linear),
    "bicubic": ((-1, 0, 1, 2), _cubic),
}
