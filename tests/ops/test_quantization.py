"""Quantisation in floats against the installed runtime: partial shapes, faults, element types, values."""

from collections.abc import Sequence

import numpy as np
import pytest

from ir_tools.ops import Op, quantization
from tests.ops.math_support import Case, agreement, faults_of, random_shape, type_difference
from tests.ops.single import Slot

FAKE_QUANTIZE, FAKE_CONVERT = quantization.OPS


def part_of(rng: np.random.Generator, sizes: Sequence[int]) -> list[int]:
    """Sizes that mostly broadcast to `sizes`."""
    part = [size if rng.random() < 0.5 else 1 for size in sizes][rng.integers(0, len(sizes) + 1) :]
    if rng.random() < 0.05:
        part = [size + 1 for size in part]
    return [2, *part] if rng.random() < 0.05 else part


def f32(rng: np.random.Generator, sizes: Sequence[int], known: float) -> Slot:
    return "f32", random_shape(rng, sizes, known) if sizes else ""


def random_quantize(rng: np.random.Generator) -> Case:
    sizes = [2, 3, 1, 4][: rng.integers(1, 5)]
    known, mode = float(rng.choice([1, 0.5])), str(rng.choice(["numpy"] * 3 + ["none", "pdpd"]))
    limits = [
        f32(rng, {"numpy": part_of(rng, sizes), "none": sizes, "pdpd": sizes[: rng.integers(1, 5)]}[mode], known)
        for _ in range(4)
    ]
    return Case(FAKE_QUANTIZE, {"levels": "16", "auto_broadcast": mode}, [f32(rng, sizes, known), *limits])


def random_convert(rng: np.random.Generator) -> Case:
    sizes = [2, 3, 1, 4][: rng.integers(1, 5)]
    known, scale = float(rng.choice([1, 0.5])), part_of(rng, sizes)
    more = [f32(rng, scale, known) for _ in range(rng.integers(1, 3))]
    return Case(FAKE_CONVERT, {"destination_type": "f8e5m2"}, [f32(rng, sizes, known), *more])


@pytest.mark.parametrize("make", [random_quantize, random_convert])
def test_shapes(make: object) -> None:
    assert callable(make)
    assert agreement(make, 250) > 0.7


F32: Slot = ("f32", "1,4,8")
ONE: Slot = ("f32", "")


@pytest.mark.parametrize(
    ("op", "raw", "slots", "message"),
    [
        (FAKE_QUANTIZE, {"levels": "16"}, [F32, ONE, ("f32", "5,1"), ONE, ONE], "is [5,1], which does not broadcast"),
        (FAKE_QUANTIZE, {"levels": "1"}, [F32, ONE, ONE, ONE, ONE], "at least 2"),
        (FAKE_QUANTIZE, {}, [F32, ONE, ONE, ONE, ONE], "is missing"),
        (FAKE_CONVERT, {}, [F32, ("f32", "5,1")], "does not broadcast to the data [1,4,8]"),
        (FAKE_CONVERT, {}, [F32, ONE, ("f32", "4,1")], "is [4,1] where scale is [[]]"),
        (FAKE_CONVERT, {"destination_type": "f32"}, [F32, ONE], "f8e4m3, f8e5m2 is meant"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_faults(op: Op, raw: dict[str, str], slots: list[Slot], message: str) -> None:
    (fault,) = faults_of(Case(op, raw, slots))
    assert message in fault.message


@pytest.mark.parametrize("op", quantization.OPS, ids=str)
def test_element_types(op: Op) -> None:
    slots = [F32, ONE, ONE, ONE, ONE] if op is FAKE_QUANTIZE else [F32, ONE]
    assert type_difference(Case(op, {"levels": "16"} if op is FAKE_QUANTIZE else {}, slots)) is None
