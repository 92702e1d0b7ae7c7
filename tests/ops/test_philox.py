"""Random numbers against the published algorithm, written once more for single numbers."""

import itertools

import numpy as np
import pytest

from ir_tools.ops._philox import integers_between, torch_fractions, words
from ir_tools.types import element_type

MASK = 0xFFFFFFFF
PI = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)
PUBLISHED = {
    ((0, 0, 0, 0), (0, 0)): (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
    ((MASK,) * 4, (MASK,) * 2): (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    PI: (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
}
"""Philox 4x32 with 10 rounds by counter and key, in Random123's `kat_vectors`."""
Counter = tuple[int, ...]


def philox(counter: Counter, key: tuple[int, int]) -> Counter:
    for _ in range(10):
        left, right = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = (
            (right >> 32) ^ counter[1] ^ key[0],
            right & MASK,
            (left >> 32) ^ counter[3] ^ key[1],
            left & MASK,
        )
        key = (key[0] + 0x9E3779B9) & MASK, (key[1] + 0xBB67AE85) & MASK
    return counter


@pytest.mark.parametrize(("given", "wanted"), PUBLISHED.items())
def test_single_numbers_are_those_that_were_published(given: tuple[Counter, tuple[int, int]], wanted: Counter) -> None:
    assert philox(*given) == wanted


def test_words_of_large_keys_and_streams() -> None:
    large = 0xFEDCBA9876543210, 0x0123456789ABCDEF, 1 << 63, 1 << 32, 0
    for key, stream, count in itertools.product(large, large, (1, 4, 10)):
        groups = (philox((group, 0, stream & MASK, stream >> 32), (key & MASK, key >> 32)) for group in range(3))
        assert words(count, key, stream).tolist() == [*itertools.chain(*groups)][:count]


@pytest.mark.parametrize(("kind", "bits"), [("bf16", 8), ("f32", 24)])
def test_the_lowest_bits_of_a_word_are_a_fraction(kind: str, bits: int) -> None:
    found = np.array([*range(600), *((1 << bits) - 1 << shift for shift in (0, 3, 8)), MASK], np.uint64)
    dtype = element_type(kind).held_dtype
    assert dtype is not None
    made = torch_fractions(found, dtype)
    assert made.astype(np.float64).tolist() == [(int(word) % (1 << bits)) / (1 << bits) for word in found]


@pytest.mark.parametrize(("minimum", "maximum"), [(-3, 4), (0, 1), (-(2**31), 2**31 - 1), (5, 2**31)])
def test_integers_are_what_a_division_leaves(minimum: int, maximum: int) -> None:
    found = np.array([0, 1, 6, 7, 2**31, MASK], np.uint64)
    wanted = [int(word) % (maximum - minimum) + minimum for word in found]
    assert integers_between(found, minimum, maximum).tolist() == wanted
