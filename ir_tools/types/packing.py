"""Elements smaller than a byte: how OpenVINO packs them, and what values they have.

Measured on OpenVINO 2026.4: u1 starts with the highest bit of a byte; u2, u4, i4, nf4 and f4e2m1 with the lowest; u3
and u6 fill groups of three bytes, of which two hold the low bits and the third the high bits, highest first. The values
of nf4 are those of the QLoRA paper (https://arxiv.org/abs/2305.14314, appendix E).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_tools.types.elements import ElementType

__all__ = ["unpack"]

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


def unpack(data: Bytes, kind: ElementType, count: int) -> npt.NDArray[Any]:
    """The first `count` elements of packed bytes: u1-u6 as uint8, i4 as int8, nf4 and f4e2m1 as float32; `[count]`."""
    return _UNPACKERS[kind.name](data)[:count]


def _high_first(data: Bytes, bits: int) -> Bytes:
    """Numbers of 1, 2 or 4 bits, from the highest bits of each byte on."""
    return _cut(data, np.arange(8 - bits, -1, -bits, dtype=np.uint8), bits)


def _low_first(data: Bytes, bits: int) -> Bytes:
    """Numbers of 2 or 4 bits, from the lowest bits of each byte on."""
    return _cut(data, np.arange(0, 8, bits, dtype=np.uint8), bits)


def _cut(data: Bytes, shifts: Bytes, bits: int) -> Bytes:
    numbers: Bytes = (data[:, None] >> shifts) & np.uint8(2**bits - 1)
    return numbers.ravel()


def _grouped(data: Bytes, low: int, high: int) -> Bytes:
    """Groups of three bytes: `low` bits of each number in the first two, `high` bits of each in the third."""
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
