"""One axis of a slice: how many elements it has, before running and then.

The rules are those of OpenVINO's core (slice_shape_inference_utils.hpp), measured.
"""

import numpy as np

from ir_tools.ops._values import intervals
from ir_tools.ops.definition import UNBOUNDED, Fact
from ir_tools.types import Dim

__all__ = ["Pair", "exact_slice", "positions", "sliced"]

Pair = tuple[int, int]
"""Bounds of a number, both included; `UNBOUNDED` where there is no upper one."""


def positions(fact: Fact) -> list[Pair] | None:
    """Return bounds of starts or stops; the limits of i32 are as far away as those of i64."""
    pairs = intervals(fact)
    if pairs is None or fact.dtype.name != "i32":
        return pairs
    return [(_far(low), _far(high)) for low, high in pairs]


def _far(position: int) -> int:
    limits = np.iinfo(np.int32)
    return UNBOUNDED if position == limits.max else int(np.iinfo(np.int64).min) if position == limits.min else position


def sliced(dim: Dim, start: Pair, stop: Pair, step: int) -> Dim:
    """Return the size of a slice whose start and stop lie between bounds, of a dimension that is an interval itself.

    Bounds that cross, as those of `[-1:3]` of 3 to 6 elements do, give any size, as in the runtime.
    """
    first, last = _start_bounds(start, dim), _start_bounds(stop, dim)
    high = UNBOUNDED if dim.hi is None else dim.hi
    if step > 0:
        low, top = _count(dim.lo, first[1], last[0], step), _count(high, first[0], last[1], step)
    else:
        low, top = _count(dim.lo, first[0], last[1], step), _count(high, first[1], last[0], step)
    low = max(low, 0)
    if top < 0 or top >= UNBOUNDED:
        return Dim(low)
    return Dim(low, top) if low <= top else Dim()


def _start_bounds(pair: Pair, dim: Dim) -> Pair:
    """Return bounds of a position.

    One that may be negative or not lies at the beginning, or at the end, of the dimension.
    """
    low, high = pair
    if not low < 0 <= high:
        return pair
    if dim.hi is None:
        return 0, -1
    return (0 if low + dim.hi >= 0 else low), (-1 if high < dim.hi else high)


def _count(size: int, start: int, stop: int, step: int) -> int:
    """Return how many elements a slice has; -1 for any number. `size` may be unbounded."""
    back, unbounded, minimum = step < 0, size >= UNBOUNDED, np.iinfo(np.int64).min
    at_end = UNBOUNDED in (start, stop)
    if unbounded and ((start < 0) != (stop < 0) or at_end or start == minimum):
        low = 0
        if back:
            high = -1 if start < 0 or at_end else -1 - start
        elif start < 0 and start not in (UNBOUNDED, minimum):
            high = -start if stop == UNBOUNDED else stop
        else:
            high = -1
        if high == -1:
            return -1
    else:
        low = min(max(_from_front(start, size), 0), size - 1 if back else size)
        high = min(max(_from_front(stop, size), -1 if back else 0), size)
    count = min(0, high - low) if back else max(0, high - low)
    return len(range(0, count, step)) if count else 0


def _from_front(position: int, size: int) -> int:
    return position + size if position < 0 else position


def exact_slice(size: int, start: int | None, stop: int | None, step: int) -> slice:
    """Return a slice that starts inside the dimension wherever it is asked to start; None is the whole dimension."""
    back = step < 0
    first = (size if back else 0) if start is None else _from_front(start, size)
    last = (-1 if back else size) if stop is None else _from_front(stop, size)
    first = min(max(first, 0), size - 1 if back else size)
    last = min(max(last, -1 if back else 0), size)
    return slice(0, 0) if first < 0 else slice(first, None if last < 0 else last, step)
