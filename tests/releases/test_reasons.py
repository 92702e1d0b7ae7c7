"""What is said of layers that a release does not run names what is wrong with them."""

import numpy as np
import pytest

from ir_tools import Builder
from ir_tools.compatibility import compatibility
from ir_tools.format.read import read
from ir_tools.infer import propagate_shapes
from ir_tools.known_differences.verdicts import Answer
from ir_tools.releases.table import FIRST_RELEASE, OPENVINO, find_release
from tests.ops.test_control_flow import if_model


@pytest.mark.parametrize("kind", [kind for kind in FIRST_RELEASE if kind != "string"])
def test_the_element_type_that_a_release_does_not_support_is_named(kind: str) -> None:
    """Of the releases before the first that has it, and of no other."""
    builder = Builder()
    data = builder.call("Convert", builder.parameter("x", "2"), destination_type=kind)
    builder.result(builder.call("Convert", data, destination_type="f32"))
    builder.model.version = 10
    found = compatibility(builder.model)
    words = f"the release does not support the element type {kind}"
    for one, release in zip(found, OPENVINO, strict=True):
        lacking = release.number < FIRST_RELEASE[kind]
        assert (one.answer is Answer.STOPPED and {each.reason for each in one.obstacles} == {words}) is lacking


def test_equal_layers_of_equal_names_in_two_bodies_are_two_obstacles() -> None:
    text, weights = if_model(np.random.default_rng(3), static=True)
    text = text.replace(b"Abs", b"Exp").replace(b'type="Exp" version="opset1"', b'type="Exp" version="opset9"')
    model = read(text, weights)
    propagate_shapes(model, in_place=True)
    (found,) = compatibility(model, [find_release("openvino-2022.1")])
    assert [(one.path, one.reason) for one in found.obstacles] == [
        (f"If_3/{word}_body/Exp_1", "Exp-1 is not read with version opset9") for word in ("then", "else")
    ]
