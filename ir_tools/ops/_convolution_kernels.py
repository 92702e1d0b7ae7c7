"""Convolution as matrix products: the windows of a block of the data become columns, which BLAS multiplies.

A block holds a megabyte or so of columns, so that they are still in the cache when they are multiplied. Groups are a
stack of matrices; a depthwise convolution is a stack of rows. A kernel of 1 with stride 1 needs no columns at all.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ir_tools.ops.definition import Array

__all__ = ["convolve", "deform", "low_bits_first", "overlap", "spread"]

BLOCK_BYTES = 1 << 20
"""Of columns that are multiplied at a time: what the cache of one core holds."""

STRIP_BYTES = 1 << 21
"""Of padded data at a time."""

MAX_KEPT = 1 << 23
"""Bytes that a thread keeps for columns."""

MIN_COLUMNS = 384
"""Fewer columns at a time would read the filters too often."""

Ints = Sequence[int]


def convolve(
    data: Array, filters: Array, strides: Ints, dilations: Ints, begin: Ints, end: Ints, *, fill: float = 0
) -> Array:
    """Return a convolution.

    Args:
        data: `[N, groups * channels, spatial...]`, of any float type.
        filters: `[groups, out, channels, kernel...]`, of a float type that BLAS knows; the sums are computed in it.
        strides: one for each spatial axis.
        dilations: likewise.
        begin: pads before the data, likewise.
        end: pads behind it.
        fill: what the pads hold.

    Returns:
        `[N, groups * out, windows...]`, of the data's type.
    """
    groups, out, channels = filters.shape[:3]
    kernel = filters.shape[3:]
    counts = windows_on(data.shape[2:], kernel, strides, dilations, begin, end)
    if data.size == 0 or filters.size == 0:
        return np.zeros((data.shape[0], groups * out, *counts), data.dtype)
    same = data.dtype == filters.dtype
    if same and prod(kernel) == 1 and set(strides) == {1} and not any((*begin, *end)):
        columns = data.reshape(data.shape[0], groups, channels, -1)
        found: Array = np.matmul(filters.reshape(groups, out, channels), columns)
        return found.reshape(data.shape[0], groups * out, *counts)
    weights = filters.reshape(groups, out, channels, -1)
    result = np.empty((data.shape[0], groups, out, prod(counts)), data.dtype)
    strips = _Strips(kernel, strides, dilations, begin, end, fill)
    for image, sheet in zip(data, result, strict=True):
        for rows, space in strips.of(image, counts, filters.dtype):
            some = (rows.stop - rows.start, *counts[1:])
            view = _windows(space.reshape(groups, channels, *space.shape[1:]), kernel, some, strides, dilations)
            part = sheet[..., rows.start * prod(counts[1:]) : rows.stop * prod(counts[1:])]
            _multiply(weights, view, part)
    return result.reshape(data.shape[0], groups * out, *counts)


def _multiply(weights: Array, view: Array, result: Array) -> None:
    """Return windows `[groups, channels, kernel..., windows...]` times `[groups, out, channels, kernel]`.

    The product is taken block by block.
    """
    same = weights.dtype == result.dtype
    axes = (view.ndim - 2) // 2
    for block in _blocks(view, axes):
        columns, place = _columns(view, block, axes)
        part = weights[block.groups, :, block.channels]
        target = result[block.groups, :, place]
        if block.channels.start == 0:
            total = target if same else np.empty(target.shape, weights.dtype)
            np.matmul(part.reshape(*part.shape[:2], -1), columns, out=total)
        else:
            total += np.matmul(part.reshape(*part.shape[:2], -1), columns)
        if not same and block.channels.stop >= weights.shape[2]:
            target[...] = total


@dataclass(frozen=True, slots=True)
class _Strips:
    """Cuts an image into strips with their padding, so that no large one is copied as a whole."""

    kernel: Ints
    strides: Ints
    dilations: Ints
    begin: Ints
    end: Ints
    fill: float

    def of(self, image: Array, counts: Ints, dtype: "np.dtype[Any]") -> Iterator[tuple[slice, Array]]:
        """Yield some rows of windows, and `[C, spatial...]` that they read, of a type."""
        if image.dtype == dtype and not any((*self.begin, *self.end)):
            yield slice(0, counts[0]), image
            return
        widths = [size + first + last for size, first, last in zip(image.shape[1:], self.begin, self.end, strict=True)]
        room = STRIP_BYTES // (dtype.itemsize * image.shape[0] * prod(widths[1:]))
        reach = (self.kernel[0] - 1) * self.dilations[0] + 1
        height = max((room - reach) // self.strides[0] + 1, 1)
        for row in range(0, counts[0], height):
            rows = slice(row, min(row + height, counts[0]))
            first = rows.start * self.strides[0] - self.begin[0]
            yield rows, self.padded(image, first, (rows.stop - rows.start - 1) * self.strides[0] + reach, dtype)

    def padded(self, image: Array, first: int, length: int, dtype: "np.dtype[Any]") -> Array:
        """Return `length` rows from row `first` on, which may lie in the padding, with pads on all other axes."""
        size = image.shape[1]
        inner = image[:, min(max(first, 0), size) : min(max(first + length, 0), size)]
        before = max(-first, 0)
        widths = [
            size + low + high for size, low, high in zip(image.shape[2:], self.begin[1:], self.end[1:], strict=True)
        ]
        space = np.full((image.shape[0], length, *widths), self.fill, dtype)
        places = (slice(low, low + size) for low, size in zip(self.begin[1:], image.shape[2:], strict=True))
        space[(slice(None), slice(before, before + inner.shape[1]), *places)] = inner
        return space


def windows_on(sizes: Ints, kernel: Ints, strides: Ints, dilations: Ints, begin: Ints, end: Ints) -> tuple[int, ...]:
    """Return the numbers of windows; none where the kernel does not fit."""
    rows = zip(sizes, kernel, strides, dilations, begin, end, strict=True)
    return tuple(
        max((size + first + last - (extent - 1) * step - 1) // stride + 1, 0)
        for size, extent, stride, step, first, last in rows
    )


def _windows(space: Array, kernel: Ints, counts: Ints, strides: Ints, dilations: Ints) -> Array:
    """Return a view `[groups, channels, kernel..., windows...]` of `[groups, channels, spatial...]`."""
    steps = space.strides[2:]
    inner = tuple(step * dilation for step, dilation in zip(steps, dilations, strict=True))
    outer = tuple(step * stride for step, stride in zip(steps, strides, strict=True))
    shape = (*space.shape[:2], *kernel, *counts)
    return as_strided(space, shape, (*space.strides[:2], *inner, *outer), writeable=False)


@dataclass(frozen=True, slots=True)
class _Block:
    """What is multiplied together: groups, channels of each, rows of windows."""

    groups: slice
    channels: slice
    rows: slice


def _blocks(view: Array, axes: int) -> Iterator[_Block]:
    """Yield several whole groups at a time where they are small.

    Of a larger group some rows, and some channels of those.
    """
    groups, channels, rows = view.shape[0], view.shape[1], view.shape[-axes]
    depth, width = prod(view.shape[2:-axes]), prod(view.shape[view.ndim - axes + 1 :])
    room = BLOCK_BYTES // view.itemsize
    if channels * depth * rows * width <= room:
        many = room // (channels * depth * rows * width)
        for first in range(0, groups, many):
            yield _Block(slice(first, first + many), slice(0, channels), slice(0, rows))
        return
    height = min(max(room // (channels * depth * width), -(-MIN_COLUMNS // width)), rows)
    deep = min(max(room // (height * width * depth), 1), channels)
    for group in range(groups):
        for first in range(0, rows, height):
            for channel in range(0, channels, deep):
                yield _Block(
                    slice(group, group + 1), slice(channel, channel + deep), slice(first, min(first + height, rows))
                )


def _columns(view: Array, block: _Block, axes: int) -> tuple[Array, slice]:
    """Return the windows of a block as a stack of matrices, copied until the next block is.

    And which windows these are.
    """
    rest = (slice(None),) * (view.ndim - axes - 2)
    chosen = view[(block.groups, block.channels, *rest, block.rows)]
    columns = _workspace(chosen.size, view.dtype).reshape(chosen.shape)
    np.copyto(columns, chosen)
    width = prod(view.shape[view.ndim - axes + 1 :])
    place = slice(block.rows.start * width, block.rows.stop * width)
    return columns.reshape(chosen.shape[0], prod(chosen.shape[1:-axes]), -1), place


_KEPT = threading.local()


def _workspace(size: int, dtype: "np.dtype[Any]") -> Array:
    """Return memory for columns that a thread keeps from one convolution to the next.

    Fresh pages cost more than the copy.
    """
    needed = size * dtype.itemsize
    held: Array | None = getattr(_KEPT, "memory", None)
    if held is None or held.nbytes < needed:
        held = np.empty(max(needed, BLOCK_BYTES), np.uint8)
        if needed <= MAX_KEPT:
            _KEPT.memory = held
    return held[:needed].view(dtype)


def spread(data: Array, filters: Array, strides: Ints, dilations: Ints, begin: Ints, sizes: Ints) -> Array:
    """Return the backward of a convolution: every element of the data adds its filter to the output.

    Args:
        data: `[N, groups * channels, spatial...]`, of a float type that BLAS knows.
        filters: `[groups, channels, out, kernel...]`.
        strides: of the convolution, one for each spatial axis.
        dilations: likewise.
        begin: how much is cut off before the first element of the output, for each axis.
        sizes: of the output; what lies beyond the reach of the filters is 0.

    Returns:
        `[N, groups * out, sizes...]`.
    """
    groups, channels, out = filters.shape[:3]
    kernel = filters.shape[3:]
    result = np.zeros((data.shape[0], groups, out, *sizes), data.dtype)
    weights = np.moveaxis(filters.reshape(groups, channels, out, prod(kernel)), 3, 1)
    weights = np.ascontiguousarray(weights.swapaxes(-1, -2))
    for image, sheet in zip(data.reshape(data.shape[0], groups, channels, prod(data.shape[2:])), result, strict=True):
        for number, place in enumerate(np.ndindex(*kernel)):
            starts = [at * step - first for at, step, first in zip(place, dilations, begin, strict=True)]
            places = overlap(data.shape[2:], starts, strides, sizes)
            if places is not None:
                added = np.matmul(weights[:, number], image).reshape(groups, out, *data.shape[2:])
                source, target = places
                sheet[(slice(None), slice(None), *target)] += added[(slice(None), slice(None), *source)]
    return result.reshape(data.shape[0], groups * out, *sizes)


def overlap(
    counts: Ints, starts: Ints, strides: Ints, sizes: Ints
) -> tuple[tuple[slice, ...], tuple[slice, ...]] | None:
    """Return which of `counts` elements at `start, start + stride, ...` fall into the output, and where; None: none."""
    source, target = [], []
    for count, start, stride, size in zip(counts, starts, strides, sizes, strict=True):
        low = max(-(start // stride), 0)
        high = min(count, -((start - size) // stride))
        if high <= low:
            return None
        source.append(slice(low, high))
        first = start + low * stride
        target.append(slice(first, start + (high - 1) * stride + 1, stride))
    return tuple(source), tuple(target)


def low_bits_first(bits: Array) -> Array:
    """Return single bits that were unpacked from the highest of each byte on, as read from the lowest on.

    OpenVINO stores u1 in the first way, and its CPU plugin reads the filters of a BinaryConvolution in the second.
    """
    flat = np.append(bits.reshape(-1), np.zeros(-bits.size % 8, bits.dtype))
    return flat.reshape(-1, 8)[:, ::-1].reshape(-1)[: bits.size].reshape(bits.shape)


# --- deformable -------------------------------------------------------------------------------------------------


def deform(
    data: Array, offsets: Array, mask: Array, kernel: Ints, strides: Ints, dilations: Ints, begin: Ints, *, beyond: bool
) -> Iterator[tuple[slice, Array]]:
    """Yield the windows of one image, each position moved by its offset and read between its four neighbours.

    Args:
        data: `[tables, channels, H, W]`: the channels that share a table of offsets are adjacent.
        offsets: `[tables, kernel positions, 2, windows...]`, rows first.
        mask: `[tables, kernel positions, windows...]` or something that broadcasts to it: a factor for each.
        kernel: its sizes, one for each of two axes.
        strides: likewise.
        dilations: likewise.
        begin: pads before the data, likewise.
        beyond: whether positions up to one outside of the image count, with zeros around it.

    Yields:
        Which windows, and their columns, `[channels, kernel positions, windows]`, in blocks.
    """
    places = [*np.ndindex(*kernel)]
    counts = offsets.shape[3:]
    windows = prod(counts)
    corners = np.indices(counts).reshape(2, windows)
    moved = offsets.reshape(*offsets.shape[:3], windows)
    factors = np.broadcast_to(mask, (*offsets.shape[:2], *counts)).reshape(*offsets.shape[:2], windows)
    at = np.array([[place[axis] * dilations[axis] - begin[axis] for place in places] for axis in range(2)])
    height = max(BLOCK_BYTES // (data.itemsize * data.shape[0] * data.shape[1] * len(places)), 64)
    for first in range(0, windows, height):
        part = slice(first, min(first + height, windows))
        starts = corners[:, part] * np.array(strides)[:, None]
        rows, columns = (moved[:, :, axis, part] + (starts[axis] + at[axis][:, None]) for axis in range(2))
        found = [
            _between(sheet, rows[table], columns[table], beyond) * factors[table, :, part]
            for table, sheet in enumerate(data)
        ]
        yield part, np.concatenate(found)


def _between(sheet: Array, rows: Array, columns: Array, beyond: bool) -> Array:
    """Return `[channels, H, W]` at fractional positions `[...]`, bilinear: `[channels, ...]`.

    0 outside; within the last half row or column the edge counts for what lies behind it, but with `beyond` zeros do.
    """
    height, width = sheet.shape[1:]
    inside = (rows < height) & (columns < width)
    inside &= (rows > -1) & (columns > -1) if beyond else (rows >= 0) & (columns >= 0)
    top, left = np.floor(np.where(inside, rows, 0)), np.floor(np.where(inside, columns, 0))
    flat = sheet.reshape(sheet.shape[0], -1)
    total = np.zeros((sheet.shape[0], *rows.shape), sheet.dtype)
    for row in (top, top + 1):
        for column in (left, left + 1):
            share = inside * (1 - np.abs(rows - row)) * (1 - np.abs(columns - column))
            if beyond:
                share = share * ((row >= 0) & (column >= 0) & (row < height) & (column < width))
            place = np.clip(row, 0, height - 1) * width + np.clip(column, 0, width - 1)
            total += np.take(flat, place.astype(np.intp), axis=1) * share.astype(sheet.dtype)
    return total
