"""Pooling of regions of feature maps: by maxima or interpolation, at sampled points, or position by position."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ir_tools.ops._numbers import half_away
from ir_tools.ops.definition import Array

__all__ = ["aligned", "bilinear_points", "deformed", "maxima", "position_averages", "position_points", "rotated"]

# --- ROIPooling -------------------------------------------------------------------------------------------------


def maxima(data: Array, rois: Array, size: tuple[int, int], scale: float) -> Array:
    """Return the maximum of each part of each region, `[boxes, C, *size]`; 0 where a part has no element.

    Args:
        data: `[N, C, H, W]`.
        rois: `[boxes, 5]`: image, left, top, right, bottom; boxes behind one of image -1 give 0.
        size: how many parts a region has.
        scale: of the corners to places in `data`.
    """
    out = np.zeros((len(rois), data.shape[1], *size), data.dtype)
    corners = half_away(rois[:, 1:] * np.float32(scale)).astype(np.int64)
    for number, (image, (left, top, right, bottom)) in enumerate(zip(rois[:, 0], corners, strict=True)):
        if image == -1:
            break
        rows = _parts(top, bottom, size[0], data.shape[2])
        columns = _parts(left, right, size[1], data.shape[3])
        if data.shape[2] and data.shape[3]:
            out[number] = _largest(_largest(data[int(image)], rows, 1), columns, 2)
    return out


def _parts(first: int, last: int, count: int, limit: int) -> tuple[Array, Array]:
    """Return where each of `count` parts of an axis begins and ends."""
    length = max(int(last) - int(first) + 1, 1)
    begins = np.arange(count) * length // count
    ends = -(-(np.arange(count) + 1) * length // count)
    return np.clip(begins + first, 0, limit), np.clip(ends + first, 0, limit)


def _largest(data: Array, parts: tuple[Array, Array], axis: int) -> Array:
    """Return the maxima of parts of an axis; 0 for a part without elements."""
    begins, ends = parts
    longest = max(int((ends - begins).max(initial=1)), 1)
    places = np.minimum(begins[:, None] + np.arange(longest), np.maximum(ends[:, None] - 1, begins[:, None]))
    taken = np.take(data, np.minimum(places, data.shape[axis] - 1), axis=axis).max(axis=axis + 1)
    shape = [-1 if number == axis else 1 for number in range(data.ndim)]
    return np.where((ends > begins).reshape(shape), taken, 0)


def bilinear_points(data: Array, rois: Array, size: tuple[int, int]) -> Array:
    """Return points evenly over each region, `[boxes, C, *size]`: corners are parts of the whole.

    0 outside of `data`.
    """
    out = np.zeros((len(rois), data.shape[1], *size), data.dtype)
    stop = np.flatnonzero(rois[:, 0] == -1)
    used = rois[: stop[0]] if stop.size else rois
    y = _spread(used[:, 2], used[:, 4], size[0], data.shape[2])[:, :, None]
    x = _spread(used[:, 1], used[:, 3], size[1], data.shape[3])[:, None, :]
    inside = (y >= 0) & (y <= data.shape[2] - 1) & (x >= 0) & (x <= data.shape[3] - 1)
    found = points(data, used[:, 0].astype(np.int64)[:, None, None], y, x)
    out[: len(used)] = np.where(inside[:, None], found.transpose(0, 3, 1, 2), 0)
    return out


def _spread(first: Array, last: Array, count: int, size: int) -> Array:
    """Return `[boxes, count]` points from edge to edge; the middle where there is one only."""
    if count == 1:
        middle: Array = (first + last) * 0.5 * (size - 1)
        return middle[:, None]
    step = (last - first) * (size - 1) / (count - 1)
    out: Array = np.arange(count) * step[:, None] + (first * (size - 1))[:, None]
    out[:, -1] = last * (size - 1)
    return out.astype(first.dtype)


def points(data: Array, images: Array, y: Array, x: Array) -> Array:
    """Return values between four neighbours, `[..., C]`.

    Images, y and x broadcast, and lie in `data` after cutting off.
    """
    height, width = data.shape[2:]
    y, x = np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    bottom, right = np.minimum(top + 1, height - 1), np.minimum(left + 1, width - 1)
    down, across = (y - top)[..., None], (x - left)[..., None]
    upper = data[images, :, top, left] * (1 - across) + data[images, :, top, right] * across
    lower = data[images, :, bottom, left] * (1 - across) + data[images, :, bottom, right] * across
    out: Array = upper * (1 - down) + lower * down
    return out


# --- ROIAlign ---------------------------------------------------------------------------------------------------


def aligned(
    data: Array, rois: Array, images: Array, size: tuple[int, int], ratio: int, scale: float, mode: str, align: str
) -> Array:
    """Return the mean or maximum of points sampled in each part of each region, `[boxes, C, *size]`.

    Args:
        data: `[N, C, H, W]`.
        rois: `[boxes, 4]`: left, top, right, bottom.
        images: of each box.
        size: how many parts a region has.
        ratio: points of a part along an axis; 0: as many as it has elements.
        scale: of the corners to places in `data`.
        mode: `avg` or `max`.
        align: `asymmetric`, `half_pixel_for_nn` or `half_pixel`.
    """
    out = np.zeros((len(rois), data.shape[1], *size), data.dtype)
    before, after = {"asymmetric": (0, 0), "half_pixel_for_nn": (0, -0.5), "half_pixel": (0.5, -0.5)}[align]
    corners = (rois + before) * scale + after
    sides = corners[:, 2:] - corners[:, :2]
    if align == "asymmetric":
        sides = np.maximum(sides, 1)
    if not data.size:
        return out
    finite = bool(np.isfinite(data).all())
    for number, ((left, top), (width, height)) in enumerate(zip(corners[:, :2], sides, strict=True)):
        y = _samples(top, height, size[0], ratio, data.shape[2])
        x = _samples(left, width, size[1], ratio, data.shape[3])
        pool = _weighed if finite else _gathered
        out[number] = pool(data[int(images[number])], y, x, mode)
    return out


class Samples(NamedTuple):
    """Points along an axis, `[parts, points]`: their places, and which of them lie inside."""

    where: Array
    inside: npt.NDArray[np.bool_]


def _samples(first: float, length: float, parts: int, ratio: int, size: int) -> Samples:
    """Return points in the type of the regions and in this order: rounding decides which points lie outside."""
    dtype = np.result_type(np.float32, first)
    each = length / parts
    count = ratio or max(int(np.ceil(each)), 0)
    part, point = np.arange(parts, dtype=dtype)[:, None], np.arange(count, dtype=dtype) + dtype.type(0.5)
    where = first + part * each + each / dtype.type(max(count, 1)) * point
    return Samples(where, (where >= -1) & (where <= size))


def _weighed(data: Array, y: Samples, x: Samples, mode: str) -> Array:
    """Return `[C, *size]` of one image and region: products with how much of each element is in each point."""
    rows, columns = (_weights(along, size) for along, size in zip((y, x), data.shape[1:], strict=True))
    if mode == "avg":
        count = max(rows.shape[1], 1) * max(columns.shape[1], 1)
        out: Array = rows.sum(axis=1) @ data @ columns.sum(axis=1).T / count
        return out
    flat = rows.reshape(-1, data.shape[1]) @ data @ columns.reshape(-1, data.shape[2]).T
    parts = flat.reshape(len(data), len(rows), rows.shape[1], len(columns), columns.shape[1])
    best: Array = parts.max(axis=(2, 4), initial=0)
    return best


def _weights(along: Samples, size: int) -> Array:
    """Return `[parts, points, size]`: how much of each element of an axis is in each point.

    Nothing for points outside.
    """
    distance = np.abs(np.clip(along.where, 0, size - 1)[..., None] - np.arange(size))
    weights: Array = np.maximum(1 - distance, 0) * along.inside[..., None]
    return weights.astype(along.where.dtype)


def _gathered(data: Array, y: Samples, x: Samples, mode: str) -> Array:
    """Do the same point by point, where NaN and infinities must stay with their neighbours; NaN is not a maximum."""
    found = points(data[None], np.zeros((), int), y.where[:, :, None, None], x.where[None, None])
    inside = y.inside[:, :, None, None] & x.inside
    found = np.where(inside[..., None], found, 0).transpose(4, 0, 1, 2, 3)
    if mode == "max":
        best: Array = np.fmax.reduce(found, axis=(2, 4), initial=0)
        return best
    out: Array = found.sum(axis=(2, 4)) / max(found.shape[2] * found.shape[4], 1)
    return out


def rotated(
    data: Array, rois: Array, images: Array, size: tuple[int, int], ratio: int, scale: float, clockwise: bool
) -> Array:
    """Return the mean of points sampled in each part of each rotated region, `[boxes, C, *size]`.

    `rois` are `[boxes, 5]`: centre, width, height, angle in radians.
    """
    out = np.zeros((len(rois), data.shape[1], *size), data.dtype)
    for number, (x, y, width, height, angle) in enumerate(rois.astype(np.float64) if data.size else ()):
        turn = -angle if clockwise else angle
        rows = _offsets(height * scale, size[0], ratio)[:, :, None, None]
        columns = _offsets(width * scale, size[1], ratio)[None, None]
        down = rows * np.cos(turn) - columns * np.sin(turn) + y * scale - 0.5
        across = rows * np.sin(turn) + columns * np.cos(turn) + x * scale - 0.5
        inside = (across >= -1) & (across <= data.shape[3]) & (down >= -1) & (down <= data.shape[2])
        found = points(data, np.full((), int(images[number])), down, across) * inside[..., None]
        if found.size:
            out[number] = found.mean(axis=(1, 3)).transpose(2, 0, 1)
    return out


def _offsets(length: float, parts: int, ratio: int) -> Array:
    """Return `[parts, points]` from the middle of a side."""
    each = length / parts
    count = ratio or max(int(np.ceil(each)), 0)
    return -length / 2 + np.arange(parts)[:, None] * each + (np.arange(count) + 0.5) * (each / max(count, 1))


# --- DeformablePSROIPooling -------------------------------------------------------------------------------------


def deformed(
    data: Array,
    rois: Array,
    offsets: Array | None,
    shape: tuple[int, int],
    bins: tuple[int, int],
    scale: float,
    reach: float,
    parts: int,
) -> Array:
    """Return the mean of points in each part of each region, moved by offsets, in channels of its own.

    Args:
        data: `[N, C, H, W]`.
        rois: `[boxes, 5]`; those of an image below 0 give 0.
        offsets: `[boxes, 2 * classes, parts, parts]`, as parts of the region.
        shape: number of outputs, and how many parts a region has along each axis.
        bins: points of a part along x and y.
        scale: of the corners to places in `data`.
        reach: what offsets are multiplied with.
        parts: offsets along each axis.
    """
    (outputs, size), (height, width) = shape, data.shape[2:]
    first = half_away(rois[:, 1:3]) * np.float32(scale) - 0.5
    sides = np.maximum((half_away(rois[:, 3:5]) + 1) * np.float32(scale) - 0.5 - first, 0.1)
    index = np.arange(size)
    move = np.zeros((len(rois), outputs, size, size, 2))
    if offsets is not None:
        classes = offsets.shape[1] // 2
        table = offsets.reshape(len(rois), classes, 2, *offsets.shape[2:]) * reach
        own, place = np.arange(outputs) // (outputs // classes), index * parts // size
        move = table[:, own][:, :, :, place][..., place].transpose(0, 1, 3, 4, 2)
    x = _sub_bins(first[:, 0], sides[:, 0], move[..., 0], index, size, bins[0])
    y = _sub_bins(first[:, 1], sides[:, 1], move[..., 1], index[:, None], size, bins[1])
    y, x = y[..., :, None], x[..., None, :]
    inside = (y >= -0.5) & (y <= height - 0.5) & (x >= -0.5) & (x <= width - 0.5)
    inside &= (rois[:, 0] >= 0).reshape(-1, 1, 1, 1, 1, 1)
    images = np.maximum(rois[:, 0], 0).astype(np.int64).reshape(-1, 1, 1, 1, 1, 1)
    channel = np.arange(outputs * size * size).reshape(outputs, size, size, 1, 1)
    found = _in_channels(data, images, channel, y, x) * inside
    count = inside.sum(axis=(-2, -1))
    out: Array = found.sum(axis=(-2, -1)) / np.maximum(count, 1)
    return out.astype(data.dtype)


def _sub_bins(first: Array, side: Array, move: Array, index: Array, size: int, bins: int) -> Array:
    """Return `[boxes, outputs, size, size, bins]` places along one axis."""
    shape = (-1, 1, 1, 1)
    each = (side / size).reshape(shape)
    begin: Array = first.reshape(shape) + index * each + move * side.reshape(shape)
    return begin[..., None] + np.arange(bins) * (each / bins)[..., None]


def _in_channels(data: Array, images: Array, channel: Array, y: Array, x: Array) -> Array:
    """Return values between four neighbours in given channels; all arguments broadcast."""
    height, width = data.shape[2:]
    y, x = np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    bottom, right = np.ceil(y).astype(np.int64), np.ceil(x).astype(np.int64)
    down, across = y - top, x - left
    upper = data[images, channel, top, left] * (1 - across) + data[images, channel, top, right] * across
    lower = data[images, channel, bottom, left] * (1 - across) + data[images, channel, bottom, right] * across
    out: Array = upper * (1 - down) + lower * down
    return out


# --- PSROIPooling -----------------------------------------------------------------------------------------------


def position_averages(data: Array, rois: Array, outputs: int, size: int, scale: float) -> Array:
    """Return the mean of each part of each region in channels of its own, `[boxes, outputs, size, size]`."""
    height, width = data.shape[2:]
    images = rois[:, 0].astype(np.int64)
    first = half_away(rois[:, 1:3]) * np.float32(scale)
    last = (half_away(rois[:, 3:5]) + 1) * np.float32(scale)
    each = (last - first) / np.float32(size)
    left, right = _cut(first[:, 0], each[:, 0], size, width)
    top, bottom = _cut(first[:, 1], each[:, 1], size, height)
    sums = np.pad(data.astype(np.float64), ((0, 0), (0, 0), (1, 0), (1, 0))).cumsum(axis=2).cumsum(axis=3)
    channel = np.arange(outputs * size * size).reshape(1, outputs, size, size)

    def until(rows: Array, columns: Array) -> Array:
        return sums[images[:, None, None, None], channel, rows[:, None, :, None], columns[:, None, None, :]]

    total = until(bottom, right) - until(top, right) - until(bottom, left) + until(top, left)
    area = ((bottom - top)[:, None, :, None] * (right - left)[:, None, None, :]).astype(np.float64)
    return np.where(area > 0, total / np.where(area > 0, area, 1), 0).astype(data.dtype)


def _cut(first: Array, each: Array, count: int, limit: int) -> tuple[Array, Array]:
    begins = np.floor(first[:, None] + np.arange(count, dtype=np.float32) * each[:, None]).astype(np.int64)
    ends = np.ceil(first[:, None] + np.arange(1, count + 1, dtype=np.float32) * each[:, None]).astype(np.int64)
    begins = np.clip(begins, 0, limit)
    return begins, np.clip(ends, begins, limit)


def position_points(data: Array, rois: Array, outputs: int, size: int, scale: float, bins: tuple[int, int]) -> Array:
    """Return the mean over bins, each with channels of its own, of points spread over each region."""
    height, width = data.shape[2:]
    corners = rois[:, 1:] * np.float32(scale)
    columns = _bin_points(corners[:, 0], corners[:, 2], bins[0], size, width)
    rows = _bin_points(corners[:, 1], corners[:, 3], bins[1], size, height)
    y, x = rows[:, :, None, :, None], columns[:, None, :, None, :]
    inside = (y < height) & (x < width)
    images = rois[:, 0].astype(np.int64).reshape(-1, 1, 1, 1, 1)
    found = points(data, images, y, x) * inside[..., None]
    by_bin = found.reshape(*found.shape[:-1], bins[0] * bins[1], outputs)
    number = np.arange(bins[0] * bins[1]).reshape(1, bins[1], bins[0], 1, 1)
    own = np.take_along_axis(by_bin, number[..., None, None], axis=5)[..., 0, :]
    out: Array = own.mean(axis=(1, 2)).transpose(0, 3, 1, 2)
    return out.astype(data.dtype)


def _bin_points(first: Array, last: Array, bins: int, count: int, size: int) -> Array:
    """Return `[boxes, bins, count]` points."""
    each = (last - first) / bins
    begins = first[:, None] + np.arange(bins) * each[:, None]
    if count == 1:
        return ((2 * begins + each[:, None]) * (size - 1) / 2)[:, :, None]
    step = each * (size - 1) / (count - 1)
    return (begins * (size - 1))[:, :, None] + np.arange(count) * step[:, None, None]
