"""Operations that no release has yet, against values worked out by hand from their specification."""

from collections.abc import Mapping, Sequence
from math import pi

import numpy as np
import pytest

from ir_tools.errors import ShapeError
from ir_tools.ops import FAMILIES, Array
from ir_tools.ops.definition import Oracle
from ir_tools.types import format_shape
from tests.ops.layer_support import fact_of
from tests.ops.single import Slot, attrs_of, computed

UNRELEASED = {str(op): op for family in FAMILIES for op in family.OPS if op.oracle is Oracle.SPECIFICATION}
F32 = np.float32
COLUMN, ROW = np.array([[0], [1]], F32), np.array([-1, 1], F32)

Example = tuple[Mapping[str, str], Sequence[Array], Array]
"""Attributes, inputs, the output."""
EXAMPLES: Mapping[str, Mapping[str, Example]] = {
    "Atan2-17": {
        "all-quadrants": (
            {"auto_broadcast": "none"},
            [np.array([1, 1, -1, -1], F32), np.array([1, -1, -1, 1], F32)],
            np.array([pi / 4, 3 * pi / 4, -3 * pi / 4, -pi / 4], F32),
        ),
        "axes": (
            {},
            [np.array([0, 2, 0, -2, 0], F32), np.array([3, 0, -3, 0, 0], F32)],
            np.array([0, pi / 2, pi, -pi / 2, 0], F32),
        ),
        "column-and-row": ({}, [COLUMN, ROW], np.array([[pi, 0], [3 * pi / 4, pi / 4]], F32)),
    },
    "Bincount-17": {
        "counts": ({}, [np.array([1, 3, 1, 0, 1], np.int32)], np.array([1, 3, 0, 1])),
        "minlength-larger-than-needed": ({"minlength": "5"}, [np.array([2, 2], np.uint8)], np.array([0, 0, 2, 0, 0])),
        "minlength-smaller-than-needed": ({"minlength": "1"}, [np.array([2])], np.array([0, 0, 1])),
        "no-data": ({"minlength": "2"}, [np.array([], np.int64)], np.array([0, 0])),
        "weights": ({}, [np.array([2, 0, 2]), np.array([0.5, 1, 0.25], F32)], np.array([1, 0, 0.75], F32)),
        "weights-of-no-data": ({}, [np.array([], np.int64), np.array([], F32)], np.array([], F32)),
        "weights-of-integers": ({}, [np.array([1, 1]), np.array([3, 4], np.int32)], np.array([0, 7], np.int32)),
    },
}


def test_every_unreleased_operation_has_examples() -> None:
    assert EXAMPLES.keys() == UNRELEASED.keys()


@pytest.mark.parametrize(
    ("name", "example"),
    [pytest.param(op, example, id=f"{op}-{name}") for op, found in EXAMPLES.items() for name, example in found.items()],
)
def test_shape_and_values(name: str, example: Example) -> None:
    op, (raw, inputs, expected) = UNRELEASED[name], example
    attrs = attrs_of(op, raw)
    assert op.shape is not None
    (found,) = computed(op, attrs, inputs)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    (fact,), wanted = op.shape(attrs, [fact_of(array) for array in inputs]), fact_of(expected)
    assert (fact.dtype, fact.shape) == (wanted.dtype, wanted.shape)


@pytest.mark.parametrize(
    ("name", "slots", "attribute"),
    [
        ("Bincount-17", [("i32", "4"), ("f32", "3")], "weights"),
        ("Bincount-17", [("i32", "2..4"), ("f32", "5..")], "weights"),
        ("Bincount-17", [("i32", "4,1")], "data"),
        ("Bincount-17", [np.array([1, -1])], "data"),
        ("Atan2-17", [("f32", "2"), ("f32", "3")], None),
    ],
)
def test_impossible_inputs(name: str, slots: list[Slot], attribute: str | None) -> None:
    op = UNRELEASED[name]
    assert op.shape is not None
    with pytest.raises(ShapeError) as caught:
        op.shape(attrs_of(op, {}), [*map(fact_of, slots)])
    assert caught.value.attribute == attribute


def test_counts_of_data_that_is_not_known() -> None:
    op = UNRELEASED["Bincount-17"]
    assert op.shape is not None
    for slots in ([("i32", "?")], [("i32", "4"), ("i64", "3..")]):
        (fact,) = op.shape(attrs_of(op, {"minlength": "3"}), [*map(fact_of, slots)])
        assert (str(fact.dtype), format_shape(fact.shape)) == ("i64", "3..")
