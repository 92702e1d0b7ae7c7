"""Random numbers against the published algorithm, written once more for single numbers."""

import itertools
import struct
from collections.abc import Callable

import numpy as np
import pytest

from ir_tools.ops import sampling
from ir_tools.ops._philox import integers_between, torch_fractions, torch_words, words
from ir_tools.types import element_type
from tests.ops.single import attrs_of, computed

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


@pytest.mark.parametrize(("kind", "bits"), [("bf16", 8), ("f16", 11), ("f32", 24), ("f64", 53)])
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


def joined(upper: int, lower: int) -> int:
    return upper << 32 | lower


def as_tensorflow(kind: str, first: int, second: int) -> float:
    """A number from 0 to 1: the lowest bits behind the exponent of 1, as the specification puts them together."""
    if kind == "f16":
        return float(struct.unpack("e", struct.pack("H", 15 << 10 | first & 0x3FF))[0]) - 1
    if kind == "f32":
        return float(struct.unpack("f", struct.pack("I", 127 << 23 | first & 0x7FFFFF))[0]) - 1
    return float(struct.unpack("d", struct.pack("Q", 1023 << 52 | joined(first & 0xFFFFF, second)))[0]) - 1


def as_pytorch(kind: str, first: int, second: int) -> float:
    digits = {"bf16": 8, "f16": 11, "f32": 24, "f64": 53}[kind]
    return ((joined(first, second) if kind == "f64" else first) & ((1 << digits) - 1)) / (1 << digits)


def uniform(kind: str, alignment: str, low: float, high: float, count: int = 8) -> tuple[list[float], list[int]]:
    """What the kernel gives, and the words that the seeds decide."""
    op = next(op for op in sampling.OPS if op.type == "RandomUniform")
    raw = {"output_type": kind, "global_seed": "77", "op_seed": "9", "alignment": alignment}
    dtype = element_type(kind).dtype
    limits = [np.array(limit).astype(dtype) for limit in (low, high)]
    drawn = torch_words(2 * count, 77) if alignment == "pytorch" else words(2 * count, 77, 9)
    return computed(op, attrs_of(op, raw), [np.array([count]), *limits])[0].tolist(), drawn.tolist()


@pytest.mark.parametrize(
    ("kind", "alignment", "made"),
    [
        *((kind, "tensorflow", as_tensorflow) for kind in ("f16", "f32", "f64")),
        *((kind, "pytorch", as_pytorch) for kind in ("bf16", "f16", "f32", "f64")),
    ],
)
def test_random_floats_hold_the_bits_that_their_type_has(
    kind: str, alignment: str, made: Callable[[str, int, int], float]
) -> None:
    """Against the formulas of the specification; two words make one f64. With these limits f32 rounds nothing."""
    low, high = (-2, 6) if kind == "f32" else (-100, 250)
    found, drawn = uniform(kind, alignment, low, high, count=40)
    each = 2 if kind == "f64" else 1
    wanted = [
        made(kind, *(drawn[each * number], drawn[each * number + 1])) * (high - low) + low
        for number in range(len(found))
    ]
    assert found == np.array(wanted).astype(element_type(kind).dtype).tolist()


@pytest.mark.parametrize(
    ("kind", "alignment", "maximum", "made"),
    [
        ("i32", "tensorflow", 900, lambda drawn, number: drawn[number]),
        ("i32", "pytorch", 900, lambda drawn, number: drawn[number]),
        ("i64", "tensorflow", 900, lambda drawn, number: joined(drawn[2 * number + 1], drawn[2 * number])),
        ("i64", "pytorch", 900, lambda drawn, number: drawn[number]),
        ("i64", "pytorch", MASK, lambda drawn, number: drawn[number]),
        ("i64", "pytorch", MASK + 1, lambda drawn, number: joined(drawn[2 * number], drawn[2 * number + 1])),
    ],
)
def test_random_integers_of_64_bits_are_made_of_two_words(
    kind: str, alignment: str, maximum: int, made: Callable[[list[int], int], int]
) -> None:
    """As TensorFlow and PyTorch make them; PyTorch takes one word where the limits are within u32."""
    found, drawn = uniform(kind, alignment, -100, maximum)
    assert found == [made(drawn, number) % (maximum + 100) - 100 for number in range(len(found))]
