"""Settings that random layers rarely have, against values worked out by hand or in another way."""

import numpy as np
import pytest

from ir_tools.ops import FAMILIES, Array, Attrs, Bounds, Fact
from ir_tools.ops._regions import deformed
from ir_tools.ops._values import carried
from ir_tools.ops.conversion import cast
from ir_tools.ops.limits import MAX_VALUES
from ir_tools.types import ELEMENT_TYPES, Dim, element_type
from tests.ops.around import ops_by_name

OPS = ops_by_name(*(family.OPS for family in FAMILIES))
F32 = element_type("f32")


def outputs(name: str, raw: dict[str, str], *arrays: Array) -> tuple[Array, ...]:
    op = OPS[name]
    attrs = op.read(raw, [])
    assert attrs is not None
    assert op.kernel is not None
    return op.kernel(attrs, arrays)


def test_a_prior_grid_of_fewer_cells_than_features_divides_the_image_by_its_own() -> None:
    zeros = [np.zeros(shape, np.float32) for shape in ((1, 4), (1, 1, 2, 4), (1, 3, 16, 24))]
    (found,) = outputs("ExperimentalDetectronPriorGridGenerator-6", {"flatten": "true", "h": "1", "w": "2"}, *zeros)
    assert found.tolist() == [[6, 8, 6, 8], [18, 8, 18, 8], *[[0] * 4] * 6]


@pytest.mark.parametrize(("threshold", "kept"), [("0.5", 2), ("0.75", 1)])
def test_a_threshold_of_overlap_falls_while_it_is_above_a_half(threshold: str, kept: int) -> None:
    """The overlap is 0.4, and the threshold is halved with each box that stays."""
    boxes = np.array([[[0, 0, 10, 10], [0, 0, 4, 10]]], np.float32)
    raw = {"iou_threshold": threshold, "nms_eta": "0.5", "nms_top_k": "-1", "keep_top_k": "-1"}
    _, _, counts = outputs("MulticlassNms-8", raw, boxes, np.array([[[0.9, 0.8]]], np.float32))
    assert counts.tolist() == [kept]


@pytest.mark.parametrize("target", ["i4", "u4", "u2", "u1"])
@pytest.mark.parametrize("source", ["f16", "bf16", "f64"])
def test_floats_of_every_type_become_the_same_packed_integers(source: str, target: str) -> None:
    numbers = np.array([0, 1.75, -2.5, 7, 9, -9, 300, -1], np.float32)
    given = numbers.astype(ELEMENT_TYPES[source].dtype)
    assert cast(given, ELEMENT_TYPES[target]).tolist() == cast(numbers, ELEMENT_TYPES[target]).tolist()


def test_a_known_condition_selects_between_bounds() -> None:
    shape = (Dim.of(2),)
    then, other = (Bounds(np.array([low, low]), np.array([high, high])) for low, high in ((1, 4), (10, 20)))
    facts = [
        Fact(element_type("boolean"), shape, Bounds.exactly(np.array([True, False]))),
        *(Fact(element_type("i64"), shape, value) for value in (then, other)),
    ]
    (found,) = OPS["Select-1"].outputs_of(Attrs({"auto_broadcast": "numpy"}), facts) or ()
    assert found.value is not None
    assert (found.value.lower.tolist(), found.value.upper.tolist()) == ([1, 10], [4, 20])


@pytest.mark.parametrize(("size", "known"), [(MAX_VALUES, True), (MAX_VALUES + 1, False)])
def test_values_are_carried_up_to_the_limit(size: int, known: bool) -> None:
    fact = Fact(F32, (Dim.of(size),), Bounds.exactly(np.zeros(size, np.float32)))
    (found,) = carried(lambda attrs, arrays: (-arrays[0],), Attrs({}), [fact], [Fact(F32, fact.shape)])
    assert (found.value is not None) == known


def test_outputs_of_a_class_stand_together_and_move_together() -> None:
    """Of four outputs in two classes, offsets of the second class move the last two."""
    data = np.random.default_rng(0).random((1, 4, 6, 6)).astype(np.float32)
    regions = np.array([[0, 1, 1, 4, 4]], np.float32)
    offsets = np.zeros((1, 4, 1, 1), np.float32)
    offsets[:, 2:] = 0.3
    still, moved = (deformed(data, regions, each, (4, 1), (2, 2), 1.0, 1.0, 1) for each in (None, offsets))
    assert (still == moved).ravel().tolist() == [True, True, False, False]
