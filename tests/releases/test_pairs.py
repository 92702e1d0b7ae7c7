"""The models that releases are asked about have inputs that define all values."""

from contextlib import suppress

import numpy as np
import pytest

import ir_tools
from ir_tools.builder import Builder
from ir_tools.errors import UnsupportedError
from ir_tools.ops import Array
from tests.releases.pairs import are_defined, random_question


@pytest.mark.parametrize(("index", "defined"), [(-2, True), (1, True), (2, False)])
def test_indices_in_range(index: int, defined: bool) -> None:
    made = Builder()
    made.result(made.call("GatherND", made.parameter("data", "2,3"), made.parameter("indices", "1", "i64")))
    fed: dict[str, Array] = {"data": np.ones((2, 3), np.float32), "indices": np.array([index])}
    assert are_defined(made.model, fed) is defined


@pytest.mark.parametrize(("values", "defined"), [([1, 2, 3], True), ([2, 3, 3], False)])
def test_ties(values: list[int], defined: bool) -> None:
    """Which of two equal elements TopK takes is not defined."""
    made = Builder()
    for output in made.outputs("TopK", made.parameter("data", "3"), np.array(1), axis=0, mode="max", sort="value"):
        made.result(output)
    assert are_defined(made.model, {"data": np.array(values, np.float32)}) is defined


def test_random_questions() -> None:
    """The reference computes them all; without the rule it refuses three of these."""
    rng = np.random.default_rng(7)
    for question in (random_question(rng) for _ in range(40)):
        with suppress(UnsupportedError):
            ir_tools.run(ir_tools.read(question.xml, question.weights), question.fed, runtime=False)
