"""Pooling by window plans in numpy: one strided accumulation per axis and position in the window.

Every kernel takes `[N, C, spatial...]`. Windows are taken axis by axis, the outermost first, so that most of the work
runs over contiguous rows; channels are taken in blocks that stay in the cache between the axes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from ir_tools.ops._values import with_size
from ir_tools.ops._windows import AxisWindows, WindowPlan
from ir_tools.ops.definition import Array, IntArray

__all__ = ["average", "largest_of_parts", "maximum", "maximum_with_places"]

BLOCK = 1 << 18
"""Elements of the input that are pooled at once: with what is made of it, it stays in the cache."""
PAIRWISE = 4096
"""Elements in a row that may be summed one after the other in f32."""
LOWEST = float(np.finfo(np.float32).min)
"""What the runtime starts a maximum from: it pools floats as f32, and an infinity below that never shows."""


# --- averages ---------------------------------------------------------------------------------------------------


@np.errstate(all="ignore")
def average(plan: WindowPlan, data: Array) -> Array:
    """Return the averages, `[N, C, windows...]`; an undefined one is 0.

    16-bit floats are summed in f32 and rounded once; integers are summed exactly. (The CPU plugin sums integers in f32,
    or in
    i32 with one channel: above 2^24 its sums are not exact.)
    """
    whole = data.dtype.kind in "iub"
    working = np.dtype(np.int64 if whole else np.float64 if data.dtype == np.float64 else np.float32)
    inverse = (data.dtype.itemsize == 1 or data.shape[1] == 1) and _plain(plan)
    divisor = _divisor(plan)
    out = np.empty((*data.shape[:2], *plan.counts), data.dtype)
    for source, target in _blocks(data, out):
        total = _sums(plan, source.astype(working, copy=False))
        if whole:
            target[...] = _whole_average(total, divisor, inverse)
        elif target.dtype == working:
            np.divide(total, divisor.astype(working), out=target)
        else:
            target[...] = total / divisor.astype(working)
    return out


def _whole_average(total: IntArray, divisor: IntArray, inverse: bool) -> Array:
    """Return the quotient, rounded half to even; with `inverse`, the product with the inverse of the divisor in f32.

    The plugin multiplies by the inverse for 8 bits, and for one channel if its fast code runs the layer. The product of
    a half, for example 630 / 60, is slightly larger than the half: 11, not 10.
    """
    if inverse:
        return np.rint(total.astype(np.float32) * (np.float32(1) / divisor.astype(np.float32)))
    return np.rint(total / divisor)


def _plain(plan: WindowPlan) -> bool:
    """Return whether the plugin's fast code for integers runs the layer: no dilation, no empty window."""
    return all(axis.step == 1 and axis.lengths.all() for axis in plan.axes)


@lru_cache(maxsize=512)
def _divisor(plan: WindowPlan) -> IntArray:
    """Return the divisor of each window, `[windows...]`; a single number if all are equal."""
    divisor = np.ones((), np.int64)
    for axis in plan.axes:
        divisor = np.multiply.outer(divisor, np.maximum(axis.divisor, 1))
    same = divisor.size > 0 and (divisor == divisor.flat[0]).all()
    return divisor.ravel()[:1] if same else divisor


def _sums(plan: WindowPlan, data: Array) -> Array:
    """Return the sum of every window of `[channels, spatial...]`."""
    if plan.counts == (1,) * len(plan.axes) and all(axis.step == 1 for axis in plan.axes):
        seen = data[:, *(slice(int(axis.first[0]), int(axis.last[0]) + 1) for axis in plan.axes)]
        return _sum_rows(seen.reshape(len(data), prod(seen.shape[1:]))).reshape(len(data), *plan.counts)
    for index, axis in enumerate(plan.axes):
        data = _reduce_axis(np.add, data, index + 1, axis, 0)
    return data


def _sum_rows(rows: Array) -> Array:
    """Return the sum of every row.

    Einsum is the fastest for short rows; `sum` adds long rows pairwise, with smaller rounding errors.
    """
    total: Array = np.einsum("ij->i", rows) if rows.shape[1] <= PAIRWISE else rows.sum(axis=1)
    return total


def _blocks(data: Array, out: Array) -> Iterator[tuple[Array, Array]]:
    """Yield input and output as `[channels, spatial...]`, some channels at a time."""
    channels = prod(data.shape[:2])
    source, target = (array.reshape(channels, *array.shape[2:]) for array in (data, out))
    step = max(BLOCK // max(source[:1].size, 1), 1)
    for start in range(0, channels, step):
        yield source[start : start + step], target[start : start + step]


# --- maxima -----------------------------------------------------------------------------------------------------


@np.errstate(all="ignore")
def maximum(plan: WindowPlan, data: Array) -> Array:
    """Return the largest element of every window, `[N, C, windows...]`.

    As in the runtime, NaN is never the maximum; a window with only NaN, or without elements, gives the lowest value.
    """
    lowest = _lowest(data.dtype)
    out = np.empty((*data.shape[:2], *plan.counts), data.dtype)
    for source, target in _blocks(data, out):
        values = _widened(source)
        for index, axis in enumerate(plan.axes):
            values = _reduce_axis(np.fmax, values, index + 1, axis, lowest)
        if values.dtype.kind == "f" and values.size and not values.min() >= lowest:
            values = np.fmax(values, values.dtype.type(lowest))
        target[...] = values
    return out


@np.errstate(all="ignore")
def maximum_with_places(plan: WindowPlan, data: Array) -> tuple[Array, IntArray]:
    """Return the maxima and their positions among the elements of the channel, both `[N, C, windows...]`.

    Of equal elements, the first in row-major order is taken; the position is 0 if nothing is larger than the lowest
    value.
    """
    # The runtime holds these types in i32, where 0 is not the lowest value.
    values = data.astype(np.int64) if data.dtype.kind == "u" and data.dtype != np.uint8 else _widened(data)
    best, places = _search(plan, values, _lowest(values.dtype))
    return best.astype(data.dtype), np.maximum(places, 0)


@np.errstate(all="ignore")
def largest_of_parts(plan: WindowPlan, data: Array) -> tuple[Array, IntArray]:
    """Return the maximum of every window of AdaptiveMaxPool and its position in its channel, `[N, C, sizes...]`.

    The search starts with the first element of the window, so a NaN there is the maximum; a later NaN never is.
    """
    values = _widened(data)
    if values.dtype.kind != "f":
        return _search(plan, values, None)
    best, places = _search(plan, np.where(np.isnan(values), values.dtype.type(-np.inf), values), None)
    if all(data.shape[2:]):
        here = np.ravel_multi_index(np.ix_(*(axis.first for axis in plan.axes)), data.shape[2:])
        first = values.reshape(*data.shape[:2], prod(data.shape[2:]))[:, :, here]
        best, places = np.where(np.isnan(first), first, best), np.where(np.isnan(first), here, places)
    return best.astype(data.dtype), places


def _lowest(dtype: np.dtype[Any]) -> int | float:
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).min)
    return 0 if dtype.kind == "b" else LOWEST


def _widened(data: Array) -> Array:
    """Return 16-bit floats as f32, other arrays unchanged."""
    return data.astype(np.float32) if data.dtype.kind not in "iub" and data.dtype.itemsize < 4 else data


def _search(plan: WindowPlan, data: Array, lowest: float | None) -> tuple[Array, IntArray]:
    """Return the first element of each window that is larger than `lowest` and all others; position -1 if none is.

    Without `lowest` the search starts with the first element.
    """
    places: IntArray | None = None
    weight = 1
    for index in reversed(range(len(plan.axes))):
        size = data.shape[index + 2]
        data, places = _search_axis(data, places, index + 2, plan.axes[index], weight, lowest)
        weight *= size
    assert places is not None
    return data, places


def _search_axis(
    data: Array, places: IntArray | None, axis: int, windows: AxisWindows, weight: int, lowest: float | None
) -> tuple[Array, IntArray]:
    """Return one axis of the search: `places` so far, and how much a step along this axis adds to them."""
    shape = with_size(data.shape, axis, len(windows.first))
    along = with_size((1,) * data.ndim, axis, -1)
    here: IntArray = np.broadcast_to((np.arange(data.shape[axis]) * weight).reshape(along), data.shape)
    if places is not None:
        here = np.where(places < 0, -1, places + here)
    best, found = np.full(shape, lowest or 0, data.dtype), np.full(shape, -1, np.int64)
    for group in _groups(windows):
        where = _at(data.ndim, axis, group.windows)
        value, place = best[where], found[where]
        for tap in range(group.taps):
            taken = _at(data.ndim, axis, group.positions(tap, windows.step))
            larger = np.array(True) if tap == 0 and lowest is None else data[taken] > value
            value, place = np.where(larger, data[taken], value), np.where(larger, here[taken], place)
        best[where], found[where] = value, place
    return best, found


# --- one axis ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The windows of one axis with equally many positions, at least one: `first + tap * step` for `tap < taps`.

    `windows` and `first` are slices, or lists if their elements are not at equal distances.
    """

    windows: slice | IntArray
    first: slice | IntArray
    taps: int

    @property
    def count(self) -> int:
        """The number of windows."""
        return self.windows.stop - self.windows.start if isinstance(self.windows, slice) else len(self.windows)

    def is_all_of(self, size: int) -> bool:
        """Return whether window `i` is element `i` of an axis of this size."""
        return self.taps == 1 and isinstance(self.first, slice) and self.first == slice(0, size, 1)

    def positions(self, tap: int, step: int) -> slice | IntArray:
        """Return the position of element number `tap` in each window of the group."""
        shift = tap * step
        if isinstance(self.first, slice):
            return slice(self.first.start + shift, self.first.stop + shift, self.first.step)
        return self.first + shift


@lru_cache(maxsize=512)
def _groups(axis: AxisWindows) -> list[Group]:
    """Return the windows of an axis, the largest group first.

    Slices where that takes few, else a list for each length.
    """
    lengths, first = axis.lengths, axis.first
    strides = np.append(np.diff(first), 1 if len(first) < 2 else first[-1] - first[-2])
    breaks = np.flatnonzero(np.diff(lengths) | np.diff(strides)) + 1
    bounds = [0, *breaks.tolist(), len(first)] if len(first) else []
    longest = int(lengths.max(initial=0))
    if len(bounds) > 2 * longest + 4:
        lists = [np.flatnonzero(lengths == length) for length in range(1, longest + 1)]
        return [Group(chosen, first[chosen], int(lengths[chosen[0]])) for chosen in lists if chosen.size]
    found = []
    for start, stop in sorted(pairwise(bounds), key=lambda run: run[0] - run[1]):
        begin, taps = int(first[start]), int(lengths[start])
        stride = int(strides[start]) if stop > start + 1 else 1
        if stride > 0:
            reads: slice | IntArray = slice(begin, begin + (stop - start - 1) * stride + 1, stride)
        else:
            reads = first[start:stop]
        if taps:
            found.append(Group(slice(start, stop), reads, taps))
    return found


def _reduce_axis(ufunc: np.ufunc, data: Array, axis: int, windows: AxisWindows, empty: float) -> Array:
    """Reduce every window along one axis of `[channels, spatial...]`; one without an element holds `empty`."""
    count, groups = len(windows.first), _groups(windows)
    filled = sum(group.count for group in groups) == count
    if filled and len(groups) == 1 and groups[0].is_all_of(data.shape[axis]):
        return data
    shape = with_size(data.shape, axis, count)
    out = np.empty(shape, data.dtype) if filled else np.full(shape, empty, data.dtype)
    for group in groups:
        flat = _over_rows(data, out, axis, group) if filled else None
        if flat is not None:
            row = prod(data.shape[axis + 1 :])
            _reduce_group(ufunc, data.reshape(-1), out.reshape(-1), 0, flat, windows.step * row)
        elif group.count == 1 and group.taps > 4:
            _reduce_span(ufunc, data, out, axis, group, windows.step)
        else:
            _reduce_group(ufunc, data, out, axis, group, windows.step)
    return out


def _over_rows(data: Array, out: Array, axis: int, group: Group) -> Group | None:
    """Return the same group in the flattened arrays, where every window lies as far from its input there: else None.

    That is so where a row is as long as its windows' strides: the last axis, or any axis with strides of 1. One long
    operation then replaces a short one for each row. What it writes for windows of other groups, from elements of two
    rows, they overwrite: this is for a group that comes first, and only where no window is empty.
    """
    count, size, row = out.shape[axis], data.shape[axis], prod(data.shape[axis + 1 :])
    if not isinstance(group.first, slice) or not isinstance(group.windows, slice) or not data.flags.c_contiguous:
        return None
    stride = group.first.step
    if size != count * stride or 2 * group.count <= count or (row > 1 and stride > 1):
        return None
    skipped = prod(data.shape[:axis]) - 1
    windows = slice(group.windows.start * row, (group.windows.stop + skipped * count) * row)
    stop = group.first.start + (windows.stop // row - group.windows.start - 1) * stride + 1
    return Group(windows, slice(group.first.start * row, stop * row, stride), group.taps)


def _reduce_group(ufunc: np.ufunc, data: Array, out: Array, axis: int, group: Group, step: int) -> None:
    """Write one group of windows: `out[window] = data[first] + data[first + step] + ...`."""
    target = _at(data.ndim, axis, group.windows)
    taken = [_at(data.ndim, axis, group.positions(tap, step)) for tap in range(group.taps)]
    if group.taps == 1:
        out[target] = data[taken[0]]
        return
    total = ufunc(data[taken[0]], data[taken[1]], out=out[target] if isinstance(group.windows, slice) else None)
    for where in taken[2:]:
        ufunc(total, data[where], out=total)
    if not isinstance(group.windows, slice):
        out[target] = total


def _reduce_span(ufunc: np.ufunc, data: Array, out: Array, axis: int, group: Group, step: int) -> None:
    """Write one long window."""
    assert isinstance(group.first, slice)
    span = _at(data.ndim, axis, slice(group.first.start, group.first.stop + (group.taps - 1) * step, step))
    ufunc.reduce(data[span], axis=axis, keepdims=True, out=out[_at(data.ndim, axis, group.windows)])


def _at(rank: int, axis: int, where: slice | IntArray) -> tuple[slice | IntArray, ...]:
    return (*(slice(None),) * axis, where, *(slice(None),) * (rank - axis - 1))
