"""Random numbers that seeds decide: Philox 4x32 with 10 rounds (Salmon et al., 2011), and PyTorch's generator."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ir_tools.ops.definition import Array
from ir_tools.types import element_type

__all__ = ["fractions", "integers_between", "torch_fractions", "torch_words", "words"]

Words = npt.NDArray[np.uint64]
LOW, BITS = np.uint64(0xFFFFFFFF), np.uint64(32)
MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
STEPS = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
ROUNDS = 10


def words(count: int, key: int, stream: int) -> Words:
    """Return the first `count` words of 32 bits, in groups of four, of a key and a stream (64 bits each)."""
    groups = np.arange(-(-count // 4), dtype=np.uint64)
    first, second = (np.full(len(groups), value, np.uint64) for value in _halves(stream))
    counter = [groups & LOW, groups >> BITS, first, second]
    keys = list(_halves(key))
    for _ in range(ROUNDS):
        left, right = MULTIPLIERS[0] * counter[0], MULTIPLIERS[1] * counter[2]
        counter = [
            (right >> BITS) ^ counter[1] ^ keys[0],
            right & LOW,
            (left >> BITS) ^ counter[3] ^ keys[1],
            left & LOW,
        ]
        keys = [(each + step) & LOW for each, step in zip(keys, STEPS, strict=True)]
    return np.stack(counter, axis=1).ravel()[:count]


def _halves(value: int) -> tuple[np.uint64, np.uint64]:
    return np.uint64(value & 0xFFFFFFFF), np.uint64((value >> 32) & 0xFFFFFFFF)


def torch_words(count: int, seed: int) -> Words:
    """Return the first `count` words of the Mersenne Twister, as PyTorch seeds it."""
    twister = np.random.RandomState(seed & 0xFFFFFFFF)
    return twister.randint(0, 1 << 32, count, np.uint32).astype(np.uint64)


def fractions(found: Words, dtype: np.dtype[Any]) -> Array:
    """Return words as numbers from 0 to 1.

    Their lowest bits are the fraction of a number from 1 to 2, in bf16 or f32.
    """
    if dtype == element_type("bf16").dtype:
        parts = ((found & np.uint64(0x7F)) | np.uint64(0x3F80)).astype(np.uint16).view(dtype)
    else:
        parts = ((found & np.uint64(0x7FFFFF)) | np.uint64(0x3F800000)).astype(np.uint32).view(np.float32)
    out: Array = parts - parts.dtype.type(1)
    return out


def torch_fractions(found: Words, dtype: np.dtype[Any]) -> Array:
    """Return words as numbers from 0 to 1: their lowest 8 bits in bf16, else 24 in f32, divided."""
    if dtype == element_type("bf16").dtype:
        return ((found & np.uint64(0xFF)).astype(np.float32) * np.float32(2**-8)).astype(dtype)
    out: Array = (found & np.uint64(0xFFFFFF)).astype(np.float32) * np.float32(2**-24)
    return out


def integers_between(found: Words, minimum: int, maximum: int) -> Array:
    """Return words as integers: what a division by the number of values leaves."""
    out: Array = (found % np.uint64(maximum - minimum)).astype(np.int64) + minimum
    return out
