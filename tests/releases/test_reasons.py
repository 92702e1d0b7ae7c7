"""What is said of layers that a release does not run names what is wrong with them."""

import pytest

from ir_tools import Builder
from ir_tools.compatibility import compatibility
from ir_tools.known_differences.verdicts import Answer
from ir_tools.releases.table import FIRST_RELEASE, OPENVINO


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
