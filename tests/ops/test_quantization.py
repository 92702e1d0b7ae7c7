"""Quantisation in floats against the installed runtime: faults and values."""

import numpy as np
import pytest

from ir_tools.errors import ShapeError
from ir_tools.ops import Op, quantization
from ir_tools.ops.checks import check_attributes
from ir_tools.ops.definition import Fact, Refused, ViolationKind
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import element_type, parse_shape
from tests.ops.layer_support import compare_values, faults_of
from tests.ops.single import Fed, Slot, attrs_of, computed

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
def test_odd_quantisations(
    limits: tuple[float, ...], data: list[float], raw: dict[str, str], client: RuntimeClient
) -> None:
    arrays = [np.array([data], np.float32), *(np.array(limit, np.float32) for limit in limits)]
    compare_values(client, [Fed(FAKE_QUANTIZE, raw, arrays, [1, 2, 3, 4])], 1e-4)


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
