"""Window plans: what every average pooling means, whatever version or format wrote it down.

A pooling is separable. Per spatial axis, window `i` reads the positions `first[i], first[i] + step, ..., last[i]`
of the input and divides by a number; the output is the sum over the product of the positions, divided by the product
of the numbers. Two poolings mean the same on an input size exactly when their plans agree there.

The rules of padding, counting and dividing are the runtime's, measured on its CPU plugin.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ir_tools.errors import ShapeError
from ir_tools.ops._define import Array, Attrs
from ir_tools.types import Dim

__all__ = [
    "AutoPad",
    "AxisWindows",
    "Pooling",
    "Rounding",
    "Run",
    "WindowPlan",
    "adaptive_plan",
    "argmaximum",
    "average",
    "axis_count",
    "axis_dim",
    "axis_pads",
    "axis_windows",
    "lowest",
    "maximum",
    "plan",
    "pooling_of",
    "runs",
]

Rounding = Literal["floor", "ceil", "ceil_torch"]
AutoPad = Literal["explicit", "valid", "same_upper", "same_lower"]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooling:
    """The settings of a sliding-window pooling; one entry per spatial axis in every tuple.

    `exclude_pad` says how an average divides; a maximum does not look at it.
    """

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads_begin: tuple[int, ...]
    pads_end: tuple[int, ...]
    dilations: tuple[int, ...]
    rounding: Rounding = "floor"
    auto_pad: AutoPad = "explicit"
    exclude_pad: bool = True

    @property
    def rank(self) -> int:
        """The number of spatial axes."""
        return len(self.kernel)

    def reach(self, axis: int) -> int:
        """How far a window extends: `(kernel - 1) * dilation + 1`."""
        return (self.kernel[axis] - 1) * self.dilations[axis] + 1


@dataclass(frozen=True, slots=True, eq=False)
class AxisWindows:
    """One spatial axis. An empty window has `last < first`.

    Attributes:
        first: first position inside the input, `[windows]`.
        last: last position inside the input, `[windows]`.
        step: distance of the positions.
        divisor: `[windows]`; 0 where the window is empty and the divisor counts real elements: an undefined value.
    """

    first: IntArray
    last: IntArray
    step: int
    divisor: IntArray

    @property
    def lengths(self) -> IntArray:
        """How many positions each window reads, `[windows]`."""
        lengths: IntArray = np.maximum((self.last - self.first) // self.step + 1, 0)
        return lengths


@dataclass(frozen=True, slots=True, eq=False)
class WindowPlan:
    """A pooling on one input size: an `AxisWindows` per spatial axis."""

    axes: tuple[AxisWindows, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """The output's spatial sizes."""
        return tuple(len(axis.first) for axis in self.axes)

    def undefined(self) -> npt.NDArray[np.bool_]:
        """Where the value is arbitrary: no element is read and the divisor would be 0. Shape: the counts."""
        mask = np.zeros(self.counts, dtype=bool)
        for index, axis in enumerate(self.axes):
            along = [1] * len(self.axes)
            along[index] = -1
            mask |= (axis.divisor == 0).reshape(along)
        return mask


def axis_pads(pooling: Pooling, axis: int, size: int) -> tuple[int, int]:
    """The padding before and after, as `auto_pad` resolves it for an input of `size`.

    Attribute pads are ignored unless `explicit`; `same_*` pads to `ceil(size / stride)` windows, the odd one at the
    end (upper) or the beginning (lower). Measured: FACTS, average pooling, 1.
    """
    if pooling.auto_pad == "explicit":
        return pooling.pads_begin[axis], pooling.pads_end[axis]
    if pooling.auto_pad == "valid":
        return 0, 0
    stride = pooling.strides[axis]
    total = max((-(-size // stride) - 1) * stride + pooling.reach(axis) - size, 0)
    small, large = total // 2, total - total // 2
    return (small, large) if pooling.auto_pad == "same_upper" else (large, small)


def axis_count(pooling: Pooling, axis: int, size: int) -> int:
    """The number of windows on an input of `size`. Measured: FACTS, average pooling, 2.

    Raises:
        ShapeError: the window does not fit into the padded input.
    """
    begin, end = axis_pads(pooling, axis, size)
    room, stride = size + begin + end - pooling.reach(axis), pooling.strides[axis]
    if room < 0:
        raise ShapeError(
            f"the kernel reaches over {pooling.reach(axis)} elements where axis {axis + 2} has {size + begin + end}"
            f" with its padding"
        )
    if pooling.rounding == "floor":
        return room // stride + 1
    count = -(-room // stride) + 1
    if pooling.rounding == "ceil_torch" and 0 < size + begin <= (count - 1) * stride:
        count -= 1
    return count


def plan(pooling: Pooling, sizes: Sequence[int]) -> WindowPlan:
    """The window plan on an input whose spatial sizes are `sizes`.

    With `exclude_pad`, or without any padding on any axis, windows divide by the elements that they read; otherwise
    by the whole kernel, even where it hangs over the padding. Measured: FACTS, average pooling, 3.

    Raises:
        ShapeError: the window does not fit into the padded input.
    """
    padded = any(sum(axis_pads(pooling, axis, size)) > 0 for axis, size in enumerate(sizes))
    whole = padded and not pooling.exclude_pad
    return WindowPlan(tuple(axis_windows(pooling, axis, size, whole) for axis, size in enumerate(sizes)))


def adaptive_plan(sizes: Sequence[int], counts: Sequence[int]) -> WindowPlan:
    """AdaptiveAvgPool-8: window `i` reads `floor(i * size / count)` up to `ceil((i + 1) * size / count)`, exclusive."""
    axes = []
    for size, count in zip(sizes, counts, strict=True):
        index = np.arange(count, dtype=np.int64)
        first, last = index * size // max(count, 1), -(-(index + 1) * size // max(count, 1)) - 1
        axes.append(AxisWindows(first, last, 1, np.maximum(last - first + 1, 0)))
    return WindowPlan(tuple(axes))


def axis_windows(pooling: Pooling, axis: int, size: int, whole: bool) -> AxisWindows:
    """The windows on one axis; `whole`: they divide by the kernel, not by the elements that they read.

    Raises:
        ShapeError: the window does not fit into the padded input.
    """
    begin, _ = axis_pads(pooling, axis, size)
    step, kernel = pooling.dilations[axis], pooling.kernel[axis]
    start = np.arange(axis_count(pooling, axis, size), dtype=np.int64) * pooling.strides[axis] - begin
    skipped = np.maximum(-(start // step), 0)
    first = start + skipped * step
    taken = np.minimum(kernel - 1, (size - 1 - start) // step)
    last = start + taken * step
    lengths = np.maximum(taken - skipped + 1, 0)
    return AxisWindows(first, last, step, np.full_like(lengths, kernel) if whole else lengths)


# --- settings and shapes ----------------------------------------------------------------------------------------


def pooling_of(attrs: Attrs) -> Pooling:
    """The settings of a layer; attributes that its version lacks, and empty lists, are the defaults."""
    rank = len(attrs.kernel)
    return Pooling(
        kernel=attrs.kernel,
        strides=attrs.strides,
        pads_begin=attrs.pads_begin or (0,) * rank,
        pads_end=attrs.pads_end or (0,) * rank,
        dilations=attrs.get("dilations") or (1,) * rank,
        rounding=attrs.rounding_type,
        auto_pad=attrs.auto_pad,
        exclude_pad=attrs.get("exclude_pad", True),
    )


def axis_dim(pooling: Pooling, axis: int, dim: Dim) -> Dim:
    """The number of windows on any input size of `dim`, exactly as the runtime bounds it.

    An interval whose lower end is too small for the kernel counts one window there, and `same_*` knows nothing of
    the result for an interval.

    Raises:
        ShapeError: the dimension is static and the window does not fit into the padded input.
    """
    if dim.static:
        return Dim.of(axis_count(pooling, axis, dim.size))
    if pooling.auto_pad in {"same_upper", "same_lower"}:
        return Dim()
    begin, end = axis_pads(pooling, axis, 0)
    smallest = max(pooling.reach(axis) - begin - end, 0)
    bounds = [None if size is None else axis_count(pooling, axis, max(size, smallest)) for size in (dim.lo, dim.hi)]
    return Dim(bounds[0] or 0, bounds[1])


# --- kernels ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring windows that read equally many positions and start at equal distances.

    Window `windows.start + i` reads `first + i * stride + t * step` for `t` below `taps`.
    """

    windows: slice
    first: int
    stride: int
    taps: int


def runs(axis: AxisWindows) -> list[Run]:
    """The windows of an axis in as few runs as they make; empty windows are left out."""
    found: list[Run] = []
    lengths = axis.lengths
    index = 0
    while index < len(lengths):
        end = index + 1
        stride = int(axis.first[end] - axis.first[index]) if end < len(lengths) else 1
        while (
            end < len(lengths)
            and lengths[end] == lengths[index]
            and stride > 0
            and axis.first[end] - axis.first[end - 1] == stride
        ):
            end += 1
        if lengths[index]:
            found.append(
                Run(slice(index, end), int(axis.first[index]), stride if end > index + 1 else 1, int(lengths[index]))
            )
        index = end
    return found


def _taps(data: Array, axis: int, run: Run, step: int) -> Iterator[Array]:
    """Views of the input: tap `t` of every window of the run."""
    count = run.windows.stop - run.windows.start
    where = [slice(None)] * data.ndim
    for tap in range(run.taps):
        first = run.first + tap * step
        where[axis] = slice(first, first + (count - 1) * run.stride + 1, run.stride)
        yield data[tuple(where)]


def _reduce_axis(ufunc: np.ufunc, data: Array, axis: int, windows: AxisWindows, empty: float | int) -> Array:
    """Reduce the windows along one axis; a window without a position holds `empty`."""
    shape = list(data.shape)
    shape[axis] = len(windows.first)
    out = np.full(shape, empty, data.dtype) if not windows.lengths.all() else np.empty(shape, data.dtype)
    where = [slice(None)] * data.ndim
    for run in runs(windows):
        where[axis] = run.windows
        target = out[tuple(where)]
        for tap, values in enumerate(_taps(data, axis, run, windows.step)):
            if tap:
                ufunc(target, values, out=target)
            else:
                target[...] = values
    return out


def average(plan: WindowPlan, data: Array) -> Array:
    """Average `[N, C, spatial...]` to `[N, C, windows...]` by the plan.

    16-bit floats are summed in f32 and rounded once, whole numbers exactly, then rounded half to even. An undefined
    value is 0.
    """
    total = data.astype(_sum_type(data.dtype), copy=False)
    for index in reversed(range(len(plan.axes))):
        total = _reduce_axis(np.add, total, index + 2, plan.axes[index], 0)
    scale = np.ones((), np.int64)
    for axis in plan.axes:
        scale = np.multiply.outer(scale, np.maximum(axis.divisor, 1))
    if data.dtype.kind in "iub":
        return np.rint(total / scale).astype(data.dtype)
    averages: Array = total / scale.astype(total.dtype)
    return averages.astype(data.dtype, copy=False)


def _sum_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind in "iub":
        return np.dtype(np.int64)
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def lowest(dtype: np.dtype[Any]) -> int | float:
    """The smallest finite value of a type: what the maximum of no element is."""
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).min)
    if dtype.kind == "b":
        return 0
    infinity = np.array(-np.inf, dtype)
    return float(np.nextafter(infinity, np.zeros_like(infinity)))


def maximum(plan: WindowPlan, data: Array) -> Array:
    """The largest element of every window, `[N, C, windows...]`; where there is none, the lowest of the type."""
    for index in reversed(range(len(plan.axes))):
        data = _reduce_axis(np.maximum, data, index + 2, plan.axes[index], lowest(data.dtype))
    return data


def argmaximum(plan: WindowPlan, data: Array) -> tuple[Array, IntArray]:
    """The largest element of every window and its position among the spatial elements of its channel.

    Of equal elements the first in row-major order; 0 where a window is empty.
    """
    sizes = data.shape[2:]
    positions: IntArray | None = None
    weight = 1
    for index in reversed(range(len(plan.axes))):
        data, positions = _argmax_axis(data, positions, index + 2, plan.axes[index], weight)
        weight *= sizes[index]
    assert positions is not None
    return data, np.maximum(positions, 0)


def _argmax_axis(
    data: Array, positions: IntArray | None, axis: int, windows: AxisWindows, weight: int
) -> tuple[Array, IntArray]:
    """One axis of `argmaximum`: `positions` so far, and how much a step along this axis adds to them."""
    shape = list(data.shape)
    shape[axis] = len(windows.first)
    along = [1] * data.ndim
    along[axis] = -1
    here = np.arange(data.shape[axis], dtype=np.int64).reshape(along) * weight
    old = np.broadcast_to(here, data.shape) if positions is None else np.where(positions < 0, -1, positions + here)
    best, where_best = np.full(shape, lowest(data.dtype), data.dtype), np.full(shape, -1, np.int64)
    where = [slice(None)] * data.ndim
    for run in runs(windows):
        where[axis] = run.windows
        target, places = best[tuple(where)], where_best[tuple(where)]
        step = windows.step
        for values, found in zip(_taps(data, axis, run, step), _taps(old, axis, run, step), strict=True):
            larger = values > target
            np.copyto(target, values, where=larger)
            np.copyto(places, found, where=larger)
    return best, where_best
