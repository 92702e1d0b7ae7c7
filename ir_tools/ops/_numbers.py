"""In which numbers a kernel computes, and how its results get back into the type of the tensor."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_tools.errors import ShapeError
from ir_tools.ops.definition import Array
from ir_tools.types.packing import PackedArray

__all__ = [
    "half_away",
    "in_axis",
    "in_working_type",
    "in_working_types",
    "is_half",
    "largest_magnitude",
    "low_bits",
    "lowest",
    "near_steps",
    "sigmoid",
    "through_floats",
    "to_integer",
    "widened",
]


def is_half(dtype: np.dtype[Any]) -> bool:
    """Return whether the type has 16 bits or less and holds fractions: f16, bf16, f8; such are computed in f32."""
    return dtype.itemsize <= 2 and dtype.kind not in "iub"


def widened(array: Array) -> Array:
    """Return half floats in f32, and other arrays as they are."""
    return array.astype(np.float32) if is_half(array.dtype) else array


def in_working_type(function: Callable[..., Array], *arrays: Array, saturate: bool = False) -> Array:
    """Apply a function in the arrays' own type, half floats in f32, rounded once at the end.

    With `saturate`, 8-bit integers are computed in i32 and cut off at their limits, and packed ones are not cut off.
    """
    dtype = arrays[0].dtype
    if is_half(dtype):
        out = function(*(array.astype(np.float32) for array in arrays))
        return out.astype(dtype) if out.dtype == np.float32 else out
    if saturate and dtype.itemsize == 1 and dtype.kind in "iu":
        out = function(*(array.astype(np.int32) for array in arrays))
        if isinstance(arrays[0], PackedArray):
            return out
        limits = np.iinfo(dtype)
        return np.clip(out, limits.min, limits.max).astype(dtype) if out.dtype == np.int32 else out
    return function(*arrays)


def in_working_types(function: Callable[..., tuple[Array, ...]], *arrays: Array) -> tuple[Array, ...]:
    """Do the same for a function with several results, each of which gets the type of the first array.

    Only floats are converted: lengths and indices come as they are.
    """
    dtype = arrays[0].dtype
    if is_half(dtype):
        arrays = tuple(map(widened, arrays))
    return tuple(out.astype(dtype, copy=False) for out in function(*arrays))


def sigmoid(values: Array) -> Array:
    """Return `1 / (1 + e^-x)`, in the type of the values."""
    out: Array = 1 / (1 + np.exp(-values))
    return out


def half_away(values: Array) -> Array:
    """Round to the nearest integer, halves away from zero."""
    out: Array = np.trunc(values + np.copysign(values.dtype.type(0.5), values))
    return out


def through_floats(function: Callable[..., Array], round: Callable[[Array], Array] = np.rint) -> Callable[..., Array]:
    """Return a function of floats for integers and booleans too: in f32 and rounded, as the CPU plugin does."""

    def wrapped(*arrays: Array) -> Array:
        if arrays[0].dtype.kind == "f":
            return function(*arrays)
        out = function(*(array.astype(np.float32) for array in arrays))
        return to_integer(round(out), arrays[0].dtype)

    return wrapped


def to_integer(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return integral f32 values as integers or booleans, as the CPU plugin does.

    Anything but 0 is true. 8-bit types cut off at their limits and make 0 of NaN; for wider ones what is beyond i32, or
    NaN, becomes the least i32, of which they keep the low bits.
    """
    if dtype == np.bool_:
        true: Array = values != 0
        return true
    limits = np.iinfo(dtype)
    if limits.bits == 8:
        out: Array = np.nan_to_num(np.clip(values, limits.min, limits.max)).astype(dtype)
        return out
    return low_bits(values, dtype)


def in_axis(indices: Array, sizes: int | Sequence[int], *, negative: bool = True) -> Array:
    """Return indices as i64, counted from the front; those below 0 count from the end, or are none.

    `sizes`: of the axis, or one for each index in the last dimension.

    Raises:
        ShapeError: an axis has no such element.
    """
    maximum = np.asarray(sizes, np.int64)
    given = indices.astype(np.int64)
    out = np.where(given < 0, given + maximum, given) if negative else given
    wrong = given[(out < 0) | (out >= maximum)]
    if wrong.size:
        raise ShapeError(
            f"holds {wrong.flat[0]}, which is out of range for {maximum.tolist()} elements", attribute="indices"
        )
    return out


def low_bits(values: Array, dtype: npt.DTypeLike) -> Array:
    """Return floats cut off to i32 (NaN and what is beyond: its least value), of which the type keeps the low bits."""
    minimum = -(2**31)
    fits = np.isfinite(values) & (values >= minimum) & (values < 2**31)
    return np.where(fits, values, minimum).astype(np.int64).astype(dtype)


def largest_magnitude(data: Array) -> float:
    """Return the largest magnitude of the finite elements; 0 if there are none."""
    return float(np.max(np.abs(data), initial=0.0, where=np.isfinite(data)))


def near_steps(data: Array, error: float, border: float = 0.0) -> npt.NDArray[np.bool_] | None:
    """Return where floats lie nearer to a step of a rounding than an error that they may carry; None for nowhere.

    Args:
        data: any array; integers carry no errors.
        error: relative to the largest magnitude.
        border: the steps lie at integers plus this.
    """
    if data.dtype.kind not in "fV" or not data.size:
        return None
    exact = data.astype(np.float64)
    reach = error * largest_magnitude(exact)
    with np.errstate(all="ignore"):
        near: npt.NDArray[np.bool_] = np.abs(exact - border - np.rint(exact - border)) <= reach
    return near if near.any() else None


def lowest(dtype: np.dtype[Any]) -> Any:
    """Return the least number of a type."""
    if dtype.kind == "b":
        return False
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    if dtype.kind == "f":
        return np.finfo(dtype).min
    import ml_dtypes

    limits: Any = ml_dtypes.finfo
    return limits(dtype).min
