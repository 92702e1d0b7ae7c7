"""Elements smaller than a byte: how OpenVINO packs them, what values they have, and how arrays hold them.

Measured on OpenVINO 2026.4: u1 starts with the highest bit of a byte; u2, u4, i4, nf4 and f4e2m1 with the lowest; u3
and u6 fill groups of three bytes, of which two hold the low bits and the third the high bits, highest first. The values
of nf4 are those of the QLoRA paper (https://arxiv.org/abs/2305.14314, appendix E).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_tools.types.elements import ElementType, from_dtype

__all__ = ["PackedArray", "element_type_of", "fit", "in_element_type", "pack", "unpack"]

Bytes = npt.NDArray[np.uint8]

NF4: npt.NDArray[np.float32] = np.array(
    [
        -1.0,
        -0.6961928009986877,
        -0.5250730514526367,
        -0.39491748809814453,
        -0.28444138169288635,
        -0.18477343022823334,
        -0.09105003625154495,
        0.0,
        0.07958029955625534,
        0.16093020141124725,
        0.24611230194568634,
        0.33791524171829224,
        0.44070982933044434,
        0.5626170039176941,
        0.7229568362236023,
        1.0,
    ],
    np.float32,
)
F4: npt.NDArray[np.float32] = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)


class PackedArray(np.ndarray[Any, np.dtype[Any]]):
    """An array that knows which packed type its elements have. What is computed of it does not."""

    element_type: ElementType

    def __array_finalize__(self, source: object) -> None:
        """Give views and copies the type of their source."""
        if isinstance(source, PackedArray):
            self.element_type = source.element_type

    def __array_wrap__(self, result: Any, context: Any = None, return_scalar: bool = False, /) -> Any:
        """Return what is computed of it as a plain array."""
        return np.asarray(result)

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> npt.NDArray[Any]:
        """Return a plain array of another numpy type."""
        return np.asarray(self).astype(dtype, *args, **kwargs)


def unpack(data: Bytes, kind: ElementType, count: int) -> PackedArray:
    """Return the first `count` elements of packed bytes: u1-u6 in uint8, i4 in int8, nf4 and f4e2m1 in float32."""
    return _of_type(_UNPACKERS[kind.name](data)[:count], kind)


def pack(array: PackedArray) -> Bytes:
    """Return the bytes of packed elements: the inverse of `unpack`."""
    kind = array.element_type
    low = {3: 2, 6: 4}.get(kind.bits, kind.bits)
    each = (16 if low < kind.bits else 8) // low
    codes = _codes(np.asarray(array).reshape(-1), kind)
    codes = np.append(codes, np.zeros(-len(codes) % each, np.uint8))
    bits = np.unpackbits(codes.reshape(-1, each, 1), axis=2)[:, :, 8 - kind.bits :]
    if kind.bits in {2, 4}:
        bits = bits[:, ::-1]
    lower, upper = bits[:, :, kind.bits - low :], bits[:, :, : kind.bits - low]
    groups = [part.reshape(len(bits), part.shape[1] * part.shape[2]) for part in (lower, upper)]
    return np.packbits(np.concatenate(groups, axis=1))


def _codes(values: npt.NDArray[Any], kind: ElementType) -> Bytes:
    """Return the bits of each element as a number."""
    if not kind.is_float:
        return values.astype(np.uint8)
    every = np.asarray(unpack(np.arange(16, dtype=np.uint8), kind, 32))[::2]
    other_zero = np.signbit(values)[:, None] != np.signbit(every)
    nearest: npt.NDArray[np.intp] = (np.abs(values[:, None] - every) + other_zero * np.float32(1e-9)).argmin(axis=1)
    return nearest.astype(np.uint8)


def element_type_of(array: npt.NDArray[Any]) -> ElementType:
    """Return the element type of an array.

    Raises:
        UsageError: OpenVINO has no type for the elements.
    """
    return array.element_type if isinstance(array, PackedArray) else from_dtype(array.dtype)


def in_element_type(values: npt.NDArray[Any], kind: ElementType) -> npt.NDArray[Any]:
    """Return a result as an array of its element type: for packed types fitted to it, otherwise as it is."""
    plain = np.asarray(values)
    return _of_type(fit(plain, kind), kind) if kind.packed else plain


def _of_type(values: npt.NDArray[Any], kind: ElementType) -> PackedArray:
    out = np.asarray(values).view(PackedArray)
    out.element_type = kind
    return out


def fit(values: npt.NDArray[Any], kind: ElementType) -> npt.NDArray[Any]:
    """Return values as a packed type has them, in the numpy type that holds it.

    Integers keep their low bits, fractions are cut off first. Floats become the nearest value that the type has: of two
    as near nf4 takes the lower, f4e2m1 the one with an even code. NaN becomes -1 in nf4 and 6, with its sign, in
    f4e2m1.
    """
    if kind.name == "nf4":
        borders = (NF4[1:].astype(np.float64) + NF4[:-1]) / 2
        found = np.searchsorted(borders.astype(np.float32), np.nan_to_num(values.astype(np.float32), nan=-1))
        nearest: npt.NDArray[np.float32] = NF4[found]
        return nearest
    if kind.name == "f4e2m1":
        import ml_dtypes

        wide = values.astype(np.float32)
        known = np.where(np.isnan(wide), np.copysign(np.float32(6), wide), wide)
        return np.asarray(known.astype(ml_dtypes.float4_e2m1fn), np.float32)
    low = values.astype(np.int64) & (2**kind.bits - 1)
    signed = kind.kind == "signed"
    wrapped: npt.NDArray[np.int64] = np.where(signed & (low >= 2 ** (kind.bits - 1)), low - 2**kind.bits, low)
    return wrapped.astype(kind.held_dtype)


def _high_first(data: Bytes, bits: int) -> Bytes:
    """Return numbers of 1, 2 or 4 bits, from the highest bits of each byte on."""
    return _cut(data, np.arange(8 - bits, -1, -bits, dtype=np.uint8), bits)


def _low_first(data: Bytes, bits: int) -> Bytes:
    """Return numbers of 2 or 4 bits, from the lowest bits of each byte on."""
    return _cut(data, np.arange(0, 8, bits, dtype=np.uint8), bits)


def _cut(data: Bytes, shifts: Bytes, bits: int) -> Bytes:
    numbers: Bytes = (data[:, None] >> shifts) & np.uint8(2**bits - 1)
    return numbers.ravel()


def _grouped(data: Bytes, low: int, high: int) -> Bytes:
    """Return groups of three bytes: `low` bits of each number in the first two, `high` bits of each in the third."""
    groups = data.reshape(-1, 3)
    lower = _high_first(groups[:, :2].ravel(), low)
    upper = _high_first(groups[:, 2], high)
    joined: Bytes = (upper << np.uint8(low)) | lower
    return joined


def _signed(data: Bytes) -> npt.NDArray[np.int8]:
    nibbles = _low_first(data, 4).astype(np.int8)
    return np.where(nibbles > 7, nibbles - 16, nibbles).astype(np.int8)


def _small_floats(data: Bytes) -> npt.NDArray[np.float32]:
    codes = _low_first(data, 4)
    values: npt.NDArray[np.float32] = np.where(codes > 7, -F4[codes & 7], F4[codes & 7])
    return values


_UNPACKERS: dict[str, Callable[[Bytes], npt.NDArray[Any]]] = {
    "u1": lambda data: _high_first(data, 1),
    "u2": lambda data: _low_first(data, 2),
    "u3": lambda data: _grouped(data, 2, 1),
    "u4": lambda data: _low_first(data, 4),
    "u6": lambda data: _grouped(data, 4, 2),
    "i4": _signed,
    "nf4": lambda data: NF4[_low_first(data, 4)],
    "f4e2m1": _small_floats,
}
"""By the name of the element type."""
