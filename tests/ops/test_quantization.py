"""Quantisation in floats against the installed runtime: faults and values."""

from collections.abc import Callable

import numpy as np
import pytest

from ir_tools.errors import ShapeError
from ir_tools.known_differences import named
from ir_tools.ops import Array, Op, quantization
from ir_tools.ops.checks import check_attributes
from ir_tools.ops.definition import Fact, Refused, ViolationKind
from ir_tools.types import element_type, parse_shape
from tests.ops.layer_support import faults_of
from tests.ops.math_support import (
    AMOUNTS,
    Case,
    kinds,
    random_array,
    value_difference,
    values_agree,
)
from tests.ops.single import Slot, attrs_of, computed, slots_of

FAKE_QUANTIZE, FAKE_CONVERT = quantization.OPS


F32: Slot = ("f32", "1,4,8")
ONE: Slot = ("f32", "")


@pytest.mark.parametrize(
    ("op", "raw", "slots", "message"),
    [
        (FAKE_QUANTIZE, {"levels": "16"}, [F32, ONE, ("f32", "5,1"), ONE, ONE], "is [5,1], which cannot be broadcast"),
        (FAKE_QUANTIZE, {"levels": "1"}, [F32, ONE, ONE, ONE, ONE], "at least 2"),
        (FAKE_CONVERT, {}, [F32, ("f32", "5,1")], "cannot be broadcast to the data [1,4,8]"),
        (FAKE_CONVERT, {}, [F32, ONE, ("f32", "4,1")], "is [4,1], but scale is []"),
        (FAKE_CONVERT, {"destination_type": "f32"}, [F32, ONE], "f8e4m3, f8e5m2"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_faults(op: Op, raw: dict[str, str], slots: list[Slot], message: str) -> None:
    (fault,) = faults_of(op, raw, slots)
    assert message in fault.message


# --- values -----------------------------------------------------------------------------------------------------

LEFT_OUT = named(
    "FakeConvert-13 of bf16 with a shift",
    "FakeQuantize-1 of bf16 half-way between levels",
    "FakeQuantize-1 of f64",
    "FakeQuantize-1 with 65536 levels",
)
"""Layers that are not generated."""


def quantize_values(rng: np.random.Generator) -> tuple[Case, list[Array]]:
    """Limits for all or for each channel; numbers of one digit, half levels, and any."""
    levels, sizes = int(rng.choice([2, 3, 4, 16, 17, 255, 256, 256])), rng.integers(1, 9, rng.integers(2, 5))
    part = [] if rng.random() < 0.4 else [1, sizes[1], *[1] * (len(sizes) - 2)]
    low, high = np.sort(np.round(rng.normal(size=(2, *part)) * 3, 1), axis=0)
    high = np.where(high <= low, low + 1, high)
    outputs = (low, high) if rng.random() < 0.5 else np.round(rng.normal(size=(2, *part)), 1)
    data = rng.normal(size=sizes) * 4
    choice = rng.random()
    if choice < 0.4:
        data = np.round(data, 1)
    elif choice < 0.7:
        data = low + np.round((data - low) * 2 * (levels - 1) / (high - low)) / 2 * (high - low) / (levels - 1)
    dtype = element_type(kinds(rng, "f16")).dtype
    assert dtype is not None
    arrays = [np.asarray(array, np.float32).astype(dtype) for array in (data, low, high, *outputs)]
    return Case(FAKE_QUANTIZE, {"levels": str(levels)}, slots_of(arrays, [1, 2, 3, 4])), arrays


def convert_values(rng: np.random.Generator) -> tuple[Case, list[Array]]:
    kind, sizes = kinds(rng, "f16", "bf16"), rng.integers(1, 9, rng.integers(2, 5))
    part = [] if rng.random() < 0.4 else [1, sizes[1], *[1] * (len(sizes) - 2)]
    data = random_array(rng, kind, sizes)
    arrays = [(data * data.dtype.type(rng.choice([1, 100]))), np.abs(random_array(rng, kind, part))]
    arrays[1] = arrays[1] + data.dtype.type(0.25)
    if rng.random() < 0.5 and kind != "bf16":
        arrays.append(random_array(rng, kind, part))
    raw = {"destination_type": str(rng.choice(["f8e4m3", "f8e5m2"]))}
    return Case(FAKE_CONVERT, raw, slots_of(arrays, [1, 2] if rng.random() < 0.6 else [])), arrays


@pytest.mark.parametrize("count", AMOUNTS)
@pytest.mark.parametrize("make", [quantize_values, convert_values])
def test_values(make: Callable[[np.random.Generator], tuple[Case, list[Array]]], count: int) -> None:
    values_agree(make, count, least=1)


@pytest.mark.parametrize(
    ("limits", "data"),
    [
        ((0, 1, 3, 2), [-1, 0.25, 0.5, 2]),
        ((-1, 1, -1, 1), [np.nan, np.inf, -np.inf]),
        ((-1, 2, 10, 40), [-2, -1, 0.1, 0.77, 2, 3]),
    ],
    ids=["outputs turned around", "not finite", "other outputs"],
)
@pytest.mark.parametrize("raw", [{"levels": "9"}, {}], ids=["levels", "no levels"])
def test_odd_quantisations(limits: tuple[float, ...], data: list[float], raw: dict[str, str]) -> None:
    arrays = [np.array([data], np.float32), *(np.array(limit, np.float32) for limit in limits)]
    case = Case(FAKE_QUANTIZE, raw, slots_of(arrays, [1, 2, 3, 4]))
    assert value_difference(case, arrays) is None


def test_what_has_no_levels_is_a_warning_and_has_no_other_form() -> None:
    """The runtime takes 0, and divides integers as integers."""
    facts = [Fact(element_type("f32"), ())] * 5
    attrs, missing = check_attributes(FAKE_QUANTIZE, {})
    assert attrs is not None
    assert [fault.kind for fault in (*missing, *FAKE_QUANTIZE.check(attrs, facts))] == [
        ViolationKind.ASSUMED,
        ViolationKind.SUSPECT,
    ]
    limits = [Fact(element_type("f32"), (), None, constant=True)] * 4
    data = {shape: Fact(element_type("f32"), parse_shape(shape)) for shape in ("3", "3,4", "1,2,3,4,5,6")}
    kinds = [fault.kind for fact in data.values() for fault in FAKE_QUANTIZE.check(attrs, [fact, *limits])]
    assert kinds == [ViolationKind.SUSPECT, ViolationKind.RANGE, ViolationKind.SUSPECT]
    assert FAKE_QUANTIZE.substitute is not None
    assert isinstance(FAKE_QUANTIZE.substitute(attrs, facts, 8), Refused)
    with pytest.raises(ShapeError, match="levels is missing"):
        computed(FAKE_QUANTIZE, attrs, [np.ones(3, np.int32)] * 5)


def test_data_at_equal_limits_become_the_lower_output() -> None:
    """By the specification; the runtime divides by zero."""
    attrs = attrs_of(FAKE_QUANTIZE, {"levels": "9"})
    arrays = [np.array([0, 1, 2], np.float32), *(np.array(limit, np.float32) for limit in (1, 1, 2, 3))]
    assert computed(FAKE_QUANTIZE, attrs, arrays)[0].tolist() == [2, 2, 3]
