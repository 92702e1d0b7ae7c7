"""Window plans: one description of average pooling for all versions and formats.

A pooling is separable. Per spatial axis, window `i` reads the positions `first[i], first[i] + step, ..., last[i]` of
the input and divides by a number; an output is the sum of the elements at these positions on all axes, divided by the
product of the numbers. Two poolings are equal for an input size exactly when their plans for that size are equal.

The rules of padding, counting and dividing are those of the runtime, measured on its CPU plugin.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_tools.errors import ShapeError
from ir_tools.ops.definition import IntArray
from ir_tools.ops.fields import Attrs
from ir_tools.types import Dim

__all__ = [
    "AutoPad",
    "AxisWindows",
    "Pooling",
    "Rounding",
    "WindowPlan",
    "adaptive_plan",
    "axis_count",
    "axis_dim",
    "axis_pads",
    "axis_windows",
    "plan",
    "pooling_of",
    "surely_filled",
]

Rounding = Literal["floor", "ceil", "ceil_torch"]
AutoPad = Literal["explicit", "valid", "same_upper", "same_lower"]


class Pooling(NamedTuple):
    """The settings of a sliding-window pooling; every tuple has one entry per spatial axis.

    `exclude_pad` affects only the divisor of an average, not a maximum.
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
        """Return how far a window extends: `(kernel - 1) * dilation + 1`."""
        return (self.kernel[axis] - 1) * self.dilations[axis] + 1


@dataclass(frozen=True, slots=True, eq=False)
class AxisWindows:
    """The windows of one spatial axis. An empty window has `last < first`.

    Attributes:
        first: the first position inside the input, `[windows]`.
        last: the last position inside the input, `[windows]`.
        step: the distance of the positions.
        divisor: `[windows]`; 0 if the window is empty and the divisor is the number of elements: the value is
            undefined.
    """

    first: IntArray
    last: IntArray
    step: int
    divisor: IntArray

    @property
    def lengths(self) -> IntArray:
        """The number of positions that each window reads, `[windows]`."""
        lengths: IntArray = np.maximum((self.last - self.first) // self.step + 1, 0)
        return lengths


@dataclass(frozen=True, slots=True, eq=False)
class WindowPlan:
    """A pooling for one input size: an `AxisWindows` per spatial axis."""

    axes: tuple[AxisWindows, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """The output's spatial sizes."""
        return tuple(len(axis.first) for axis in self.axes)

    def undefined(self) -> npt.NDArray[np.bool_]:
        """Return the windows without an element whose divisor would be 0, `[windows...]`: their value is undefined."""
        mask = np.zeros(self.counts, dtype=bool)
        for index, axis in enumerate(self.axes):
            along = [1] * len(self.axes)
            along[index] = -1
            mask |= (axis.divisor == 0).reshape(along)
        return mask


def axis_pads(pooling: Pooling, axis: int, size: int) -> tuple[int, int]:
    """Return the padding before and after, as `auto_pad` resolves it for an input of `size`.

    Attribute pads are ignored unless `explicit`; `same_*` pads to `ceil(size / stride)` windows, the odd one at the
    end (upper) or the beginning (lower). Measured: rule 1 of docs/average-pooling.md.
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
    """Return the number of windows on an input of `size`. Measured: rule 2 of docs/average-pooling.md.

    Raises:
        ShapeError: the window does not fit into the padded input.
    """
    begin, end = axis_pads(pooling, axis, size)
    room, stride = size + begin + end - pooling.reach(axis), pooling.strides[axis]
    if room < 0:
        raise ShapeError(
            f"spans {pooling.reach(axis)} elements, but axis {axis + 2} has {size + begin + end} including padding",
            attribute="kernel",
        )
    if pooling.rounding == "floor":
        return room // stride + 1
    count = -(-room // stride) + 1
    if pooling.rounding == "ceil_torch" and 0 < size + begin <= (count - 1) * stride:
        count -= 1
    return count


def plan(pooling: Pooling, sizes: Sequence[int]) -> WindowPlan:
    """Return the window plan for an input with the spatial sizes `sizes`.

    With `exclude_pad`, or without padding on any axis, windows divide by the number of elements that they read;
    otherwise by the size of the kernel, even if it extends beyond the padding. Measured: rule 3 of
    docs/average-pooling.md.

    Raises:
        ShapeError: the window does not fit into the padded input.
    """
    padded = any(sum(axis_pads(pooling, axis, size)) > 0 for axis, size in enumerate(sizes))
    whole = padded and not pooling.exclude_pad
    return WindowPlan(tuple(axis_windows(pooling, axis, size, whole) for axis, size in enumerate(sizes)))


def adaptive_plan(sizes: Sequence[int], counts: Sequence[int]) -> WindowPlan:
    """Return the plan of AdaptiveAvgPool-8.

    Window `i` reads the positions from `floor(i * size / count)` to `ceil((i + 1) * size / count)`, exclusive.
    """
    axes = []
    for size, count in zip(sizes, counts, strict=True):
        index = np.arange(count, dtype=np.int64)
        first, last = index * size // max(count, 1), -(-(index + 1) * size // max(count, 1)) - 1
        axes.append(AxisWindows(first, last, 1, last - first + 1))
    return WindowPlan(tuple(axes))


def axis_windows(pooling: Pooling, axis: int, size: int, whole: bool) -> AxisWindows:
    """Return the windows of one axis; with `whole` they divide by the kernel size, not by the number of elements.

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


def surely_filled(pooling: Pooling, axis: int, size: int, count: int) -> bool:
    """Return whether all `count` windows of one axis read an element, as far as the outermost ones show it.

    Windows without gaps do if the first one reaches to the input and the last one begins in front of its end.
    """
    begin, kernel = axis_pads(pooling, axis, size)[0], pooling.kernel[axis]
    if kernel > 1 and pooling.dilations[axis] > 1:
        return False
    return size > 0 and begin < kernel and (count - 1) * pooling.strides[axis] - begin < size


# --- settings and shapes ----------------------------------------------------------------------------------------


def pooling_of(attrs: Attrs) -> Pooling:
    """Return the settings of a layer; attributes that its version lacks, and empty lists, are the defaults.

    They are read as items, which takes a third of the time of reading them as attributes.
    """
    kernel = attrs["kernel"]
    rank = len(kernel)
    return Pooling(
        kernel=kernel,
        strides=attrs["strides"],
        pads_begin=attrs["pads_begin"] or (0,) * rank,
        pads_end=attrs["pads_end"] or (0,) * rank,
        dilations=attrs.get("dilations") or (1,) * rank,
        rounding=attrs["rounding_type"],
        auto_pad=attrs["auto_pad"],
        exclude_pad=attrs.get("exclude_pad", True),
    )


def axis_dim(pooling: Pooling, axis: int, dim: Dim) -> Dim:
    """Return the number of windows for any input size of `dim`, with the bounds that the runtime computes.

    If the lower end of an interval is too small for the kernel, it counts as one window; for `same_*` and an interval
    the result is unknown. With `ceil_torch` and padding only at the end, the runtime counts more windows for size 0
    than for size 1, so that bounds from 0 on are too narrow, or unknown if they are reversed.

    Raises:
        ShapeError: the dimension is static and the window does not fit into the padded input.
    """
    if dim.static:
        return Dim.of(axis_count(pooling, axis, dim.size))
    if pooling.auto_pad in {"same_upper", "same_lower"}:
        return Dim()
    begin, end = axis_pads(pooling, axis, 0)
    smallest = max(pooling.reach(axis) - begin - end, 0)
    low = axis_count(pooling, axis, max(dim.lo, smallest))
    high = None if dim.hi is None else axis_count(pooling, axis, max(dim.hi, smallest))
    return Dim() if high is not None and high < low else Dim(low, high)
