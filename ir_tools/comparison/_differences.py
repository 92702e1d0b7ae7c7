"""How far two tensors are from each other, and how far they may be."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ir_tools.display import brief_fields
from ir_tools.ops import Array
from ir_tools.runtime.setting import RuntimePrecision
from ir_tools.types import from_dtype

__all__ = [
    "DECADES",
    "TOLERANCES",
    "Difference",
    "aligned",
    "allowed",
    "coarser",
    "difference",
    "error_of",
    "padded",
    "rounding_of",
    "type_name",
    "unlike",
]

TOLERANCES: Mapping[str, float] = {
    "f64": 1e-4,
    "f32": 1e-4,
    "f16": 2e-3,
    "bf16": 1.6e-2,
}
"""By element type: the largest difference allowed, relative to the tensor's largest magnitude.

f64 as f32, because the CPU plugin computes f64 in f32; f16 and bf16 allow two units in the last place. Every type
that is not here (integers, booleans, strings) has to be equal.
"""


COMPUTED: Mapping[str, float] = {"f16": TOLERANCES["f16"], "bf16": TOLERANCES["bf16"], "int8": 2 / 255}
"""By the precision that floats are computed in, if it is coarser than f32; int8: two steps of 255."""
MAX_ROWS = 4096
"""Of a set whose rows are matched one by one."""
SAME_ROW = 1e-3
"""How far rows of a set may be apart that are the same, relative to the largest magnitude of each column."""
DECADES = tuple(10.0**exponent for exponent in range(-9, 1))
"""Where the histogram of a difference is cut: errors relative to the tensor's largest magnitude."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How far a tensor is from the expected one. Coordinates index the tensor; None where nothing differs.

    Attributes:
        elements: how many were compared.
        undefined: how many were left out because no element of the input decides them.
        max_abs, max_abs_at: the largest absolute difference; inf where NaN or infinities do not match.
        max_rel, max_rel_at: the largest difference relative to the expected element.
        needed: the smallest tolerance, relative to the tensor's largest magnitude, that would pass.
        tolerance: the one that was asked for.
        expected, actual: the values at `max_abs_at`.
        mean_abs: the mean absolute difference over the elements that are finite in both.
        nan: how many elements are NaN in the expected and in the actual tensor.
        histogram: how many elements are equal, below the first of `DECADES`, between it and the next, ..., above all.
    """

    elements: int
    undefined: int
    max_abs: float
    max_abs_at: tuple[int, ...] | None
    max_rel: float
    max_rel_at: tuple[int, ...] | None
    needed: float
    tolerance: float
    expected: object
    actual: object
    mean_abs: float = 0.0
    nan: tuple[int, int] = (0, 0)
    histogram: tuple[int, ...] = ()

    __repr__ = brief_fields

    @property
    def ok(self) -> bool:
        """Whether the tensor is within the tolerance."""
        return self.needed <= self.tolerance


def allowed(kind: str, tolerance: float | None = None, precision: str = "f32") -> float:
    """Return how far a tensor of a type may be off, computed in a precision; `tolerance` replaces the tables."""
    if tolerance is not None:
        return tolerance
    table = TOLERANCES.get(kind, 0.0)
    return max(table, COMPUTED.get(precision, 0.0)) if table else 0.0


def error_of(precision: str) -> float:
    """Return the error of a precision to which floats are rounded, relative to a tensor's largest magnitude."""
    return COMPUTED.get(precision, 0.0)


def coarser(first: RuntimePrecision, second: RuntimePrecision) -> RuntimePrecision:
    """Return that of two precisions with the larger tolerance."""
    return max(first, second, key=lambda precision: COMPUTED.get(precision, 0.0))


def rounding_of(precision: str) -> str:
    """Return a precision if it is coarser than f32, else an empty text."""
    return precision if precision in COMPUTED else ""


def difference(
    expected: Array,
    actual: Array,
    *,
    tolerance: float | None = None,
    undefined: npt.NDArray[np.bool_] | None = None,
) -> Difference:
    """Return the difference of two arrays of the same shape; where `undefined` holds, nothing is compared.

    NaN equals NaN, and an infinity equals itself.
    """
    places = _places(expected, actual, undefined)
    wanted, found = expected.ravel()[places], actual.ravel()[places]
    gap = _gap(wanted, found)
    worst, worst_at = _largest(gap, places, expected.shape)
    worst_relative, worst_relative_at = _largest(_relative(gap, wanted), places, expected.shape)
    magnitude = _magnitude(expected, undefined)
    left_out = 0 if undefined is None else int(np.broadcast_to(undefined, expected.shape).sum())
    finite = gap[np.isfinite(gap)]
    return Difference(
        elements=int(expected.size - left_out),
        undefined=left_out,
        max_abs=worst,
        max_abs_at=worst_at,
        max_rel=worst_relative,
        max_rel_at=worst_relative_at,
        needed=0.0 if worst == 0.0 else worst / magnitude if magnitude else float("inf"),
        tolerance=allowed(type_name(expected), tolerance),
        expected=expected[worst_at] if worst_at is not None else None,
        actual=actual[worst_at] if worst_at is not None else None,
        mean_abs=float(finite.sum() / max(expected.size - gap.size + finite.size, 1)),
        nan=(_nan_count(expected), _nan_count(actual)),
        histogram=_histogram(gap, expected.size - left_out, magnitude),
    )


def unlike(tolerance: float) -> Difference:
    """Return the difference of two arrays of which no elements belong together."""
    return Difference(
        elements=0,
        undefined=0,
        max_abs=math.inf,
        max_abs_at=None,
        max_rel=math.inf,
        max_rel_at=None,
        needed=math.inf,
        tolerance=tolerance,
        expected=None,
        actual=None,
        histogram=(0,) * (len(DECADES) + 2),
    )


def padded(first: Array, second: Array) -> tuple[Array, Array]:
    """Return two arrays of one rank in the size that holds both, as floats; what one of them does not have is NaN."""
    sizes = np.maximum(first.shape, second.shape)
    both = []
    for array in (first, second):
        full = np.full(sizes, np.nan)
        full[tuple(map(slice, array.shape))] = array
        both.append(full)
    return both[0], both[1]


def _places(expected: Array, actual: Array, undefined: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.intp]:
    """Return where two arrays differ, as flat indices."""
    apart = np.asarray(expected != actual)
    if expected.dtype.kind in "fV" and apart.any():
        apart &= ~(np.isnan(expected) & np.isnan(actual))
    if undefined is not None:
        apart = apart & ~undefined
    return np.flatnonzero(apart)


def aligned(expected: Array, actual: Array) -> Array:
    """Return `actual` with its rows (along the last axis) in the order of those of `expected` that they belong to.

    For outputs whose rows are a set. Rows that are as good as equal are found first, so that one that is missing does
    not take the place of another; the rest take in turn the nearest that is left. Arrays of other shapes, and those of
    more than `MAX_ROWS` rows, stay as they are.
    """
    rows = actual.reshape(-1, actual.shape[-1]) if actual.ndim else actual.reshape(1, 1)
    if expected.shape != actual.shape or len(rows) > MAX_ROWS or rows.dtype.kind not in "fiubV":
        return actual
    with np.errstate(invalid="ignore"):
        wanted, found = (array.reshape(rows.shape).astype(np.float64) for array in (expected, actual))
    order = np.full(len(rows), -1, np.intp)
    free = np.ones(len(rows), bool)
    widths = np.abs(np.where(np.isfinite(wanted), wanted, 0.0)).max(axis=0, initial=0.0)
    for within, scale in ((SAME_ROW, np.where(widths > 0, widths, 1.0)), (math.inf, np.ones_like(widths))):
        for place in np.flatnonzero(order < 0):
            left = np.flatnonzero(free)
            apart = _apart(found[left] / scale, wanted[place] / scale)
            best = int(apart.argmin())
            if apart[best] <= within:
                order[place] = left[best]
                free[left[best]] = False
    ordered: Array = rows[order].reshape(actual.shape)
    return ordered


def _apart(rows: npt.NDArray[np.float64], row: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the largest difference of each of the rows from one; NaN is as far from a number as infinity."""
    with np.errstate(all="ignore"):
        distance = np.where((rows == row) | (np.isnan(rows) & np.isnan(row)), 0.0, np.abs(rows - row))
    out: npt.NDArray[np.float64] = np.nan_to_num(distance.max(axis=1, initial=0.0), nan=np.inf, posinf=np.inf)
    return out


def _histogram(gap: npt.NDArray[np.float64], elements: int, magnitude: float) -> tuple[int, ...]:
    places = np.searchsorted(np.array(DECADES) * (magnitude or 1.0), gap, side="right")
    counts = np.bincount(places, minlength=len(DECADES) + 1)
    return elements - gap.size, *map(int, counts)


def _nan_count(array: Array) -> int:
    return int(np.isnan(array).sum()) if array.dtype.kind in "fV" else 0


def _is_text(array: Array) -> bool:
    return array.dtype.kind in "OUST"


def _gap(expected: Array, actual: Array) -> npt.NDArray[np.float64]:
    """Return absolute differences of elements that differ; of texts 1, of integers at least 1."""
    if _is_text(expected):
        return np.ones(expected.shape)
    with np.errstate(all="ignore"):
        gap = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    if expected.dtype.kind in "iub":
        gap = np.maximum(gap, 1.0)
    return np.where(np.isnan(gap), np.inf, gap)


def _relative(gap: npt.NDArray[np.float64], expected: Array) -> npt.NDArray[np.float64]:
    if _is_text(expected):
        return gap
    with np.errstate(all="ignore"):
        relative = gap / np.abs(expected.astype(np.float64))
    return np.where(np.isnan(relative), np.inf, relative)


def _magnitude(expected: Array, undefined: npt.NDArray[np.bool_] | None) -> float:
    """Return the largest finite magnitude where `undefined` does not hold."""
    if _is_text(expected) or not expected.size:
        return 0.0
    with np.errstate(invalid="ignore"):
        if undefined is None and expected.dtype.kind == "f":
            largest = max(float(expected.max()), -float(expected.min()))
            if math.isfinite(largest):
                return largest
        values = np.abs(expected.astype(np.float64))
    known = np.isfinite(values) if undefined is None else np.isfinite(values) & ~undefined
    return float(np.max(values, initial=0.0, where=known))


def _largest(
    values: npt.NDArray[np.float64], places: npt.NDArray[np.intp], shape: tuple[int, ...]
) -> tuple[float, tuple[int, ...] | None]:
    """Return the largest of the values at some places of an array of a shape, and its coordinates."""
    if not values.size:
        return 0.0, None
    worst = int(values.argmax())
    return float(values[worst]), tuple(int(index) for index in np.unravel_index(places[worst], shape))


def type_name(array: Array) -> str:
    return "string" if _is_text(array) else from_dtype(array.dtype).name
