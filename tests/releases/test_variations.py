"""The variations of operations that releases are asked about are valid, and differ in what their kind says."""

from dataclasses import replace

import numpy as np
import pytest

import ir_tools
from tests.releases.questions import Question
from tests.releases.variations import VARIATIONS, asked, layers


def questions(kind: str, op: str) -> dict[str, Question]:
    """The valid variations of an operation, by what is said of them."""
    found = (asked(layer, 11) for layer in layers(kind, {op}))
    return {question.about.partition(" ")[2]: question for question in found if question}


@pytest.mark.parametrize("kind", VARIATIONS)
def test_each_kind_varies_a_layer(kind: str) -> None:
    found = [question.xml for question in questions(kind, "MatMul").values()]
    assert len({*found}) > 1


def test_empty_and_single_sizes() -> None:
    assert questions("empty", "Concat")["axis 0 of [1] is 0"].fed["in1"].shape == (0, 3)
    assert questions("single", "ReLU")["2 is 1"].fed["in0"].shape == (1, 3)


def test_unknown_sizes() -> None:
    question = questions("unknown", "ReLU")["1..n0"]
    assert b'shape="1..20,1..30"' in question.xml


def test_constants_are_given_and_inputs_constant() -> None:
    found = questions("constants", "Pad")
    assert {*found["(1, 2, 3) given"].fed} == {"in0", "in1", "in2", "in3"}
    assert {*questions("constants", "Add")["(0,) constant"].fed} == {"in1"}


def test_element_types() -> None:
    found = questions("types", "MatMul")
    assert {name: [array.dtype.name for array in one.fed.values()] for name, one in found.items()} == {
        "f32 is f16": ["float16"] * 2,
        "f32 is bf16": ["bfloat16"] * 2,
        "f32 is f64": ["float64"] * 2,
        "f32 is i32": ["int32"] * 2,
    }


def test_several_changes_are_those_of_a_seed() -> None:
    first, again, other = ([layer.about for layer in layers("several", {"MatMul"}, seed)] for seed in (1, 1, 2))
    assert first == again != other
    assert {about.count("; ") for about in first} <= {0, 1, 2}


def test_values_that_are_given_are_valid_as_constants() -> None:
    found = {one.about: one for one in layers("settings", {"ReduceSum"})}
    beyond, along = (replace(found[f"in1 is [{axis}]"], given=frozenset({1})) for axis in (3, 0))
    assert asked(beyond, 11) is None
    assert asked(along, 11) is not None


def test_settings_reach_the_edges() -> None:
    found = questions("settings", "Reshape")
    assert {"special_zero=false", "in1 is [2, 3]"} <= {*found}


def test_layers_stand_before_and_behind() -> None:
    found = questions("neighbours", "MatMul")
    types = [layer.type for layer in ir_tools.read(found["before Multiply of channels"].xml).graph.layers()]
    assert types.index("Multiply") > types.index("MatMul")
    assert np.array_equal(found["behind ReLU"].fed["in0"], found["before ReLU"].fed["in0"])
