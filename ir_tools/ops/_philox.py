"""Random numbers that seeds decide: Philox 4x32 with 10 rounds (Salmon et al., 2011), and PyTorch's generator."""

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ir_tools.ops.definition import Array

__all__ = ["fractions", "integers_between", "pairs", "torch_fractions", "torch_words", "words"]

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


def pairs(found: Words, upper: int) -> Words:
    """Return numbers of 64 bits made of two words each; `upper`: which of the two is the upper half, 0 or 1."""
    halves = found.reshape(-1, 2)
    out: Words = (halves[:, upper] << BITS) | halves[:, 1 - upper]
    return out


def fractions(found: Words, dtype: np.dtype[Any]) -> Array:
    """Return words as numbers from 0 to 1: their lowest bits are the fraction of a number from 1 to 2."""
    one = np.ones((), dtype)
    bits = np.dtype(f"u{dtype.itemsize}")
    lowest = (found & _lowest(_mantissa(dtype))).astype(bits)
    out: Array = (lowest | one.view(bits)).view(dtype) - one
    return out


def torch_fractions(found: Words, dtype: np.dtype[Any]) -> Array:
    """Return words as numbers from 0 to 1: as many of their lowest bits as the type holds exactly, divided."""
    digits = _mantissa(dtype) + 1
    out: Array = ((found & _lowest(digits)).astype(np.float64) * 2.0**-digits).astype(dtype)
    return out


def _mantissa(dtype: np.dtype[Any]) -> int:
    """Return how many bits of a float are its fraction."""
    limits: Any = ml_dtypes.finfo
    bits: int = limits(dtype).nmant
    return bits


def _lowest(bits: int) -> np.uint64:
    return np.uint64((1 << bits) - 1)


def integers_between(found: Words, minimum: int, maximum: int) -> Array:
    """Return words as integers: what a division by the number of values leaves."""
    out: Array = (found % np.uint64(maximum - minimum)).astype(np.int64) + minimum
    return out
