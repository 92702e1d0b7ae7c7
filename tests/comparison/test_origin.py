"""Where a difference starts, what in the files makes it, and the part of the model that shows it."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.comparison import Comparison, compare
from ir_tools.comparison._origin import Origin
from ir_tools.comparison._pairing import Pairs
from ir_tools.comparison.bisection import smallest_part
from ir_tools.graph import Model
from ir_tools.ops import Array
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.setting import Setting
from tests.comparison.test_compare import break_reference
from tests.comparison.test_decisions import CLIENT, chain, model_of, row_of

SETTING = Setting.of("CPU", "f32")


def scaled(by: Array) -> Model:
    builder = Builder()
    builder.result(builder.call("Multiply", builder.parameter("x", "2,3"), by, name="scaled"), "y")
    return builder.model


@pytest.mark.parametrize(
    ("here", "there", "told"),
    [
        ([1, 2, 3], [1, 2, 3], []),
        (
            [1, 2, 3],
            [1, 5, 4],
            ["differs in 2 of 3 elements, first at [1]: 2.0 in the first model and 5.0 in the other"],
        ),
        ([1], [[1]], ["is float32 [1] in the first model and float32 [1, 1] in the other"]),
    ],
)
def test_constants_are_said_to_be_those_of_their_models(here: list[float], there: list[float], told: list[str]) -> None:
    own, other = (scaled(np.array(numbers, np.float32)) for numbers in (here, there))
    layer = next(layer for layer in own.graph.layers() if layer.name == "scaled")
    origin = Origin(CLIENT, own, other, Pairs.identical(own.graph), {}, SETTING)
    assert [*origin._causes(row_of(2.0, "scaled", layer.id))] == [f"its constant input 1 {words}" for words in told]


def test_a_layer_of_a_body_is_none_of_the_main_graph_with_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """The layer 1 of the main graph did not move, though it errs alone."""
    graph = chain("Parameter", "ReLU", "ReLU", "Result")
    monkeypatch.setattr(Origin, "_error", lambda _, layer_id: {1: 0.3, 2: 0.0}.get(layer_id, math.inf))
    origin = Origin(CLIENT, model_of(graph), model_of(graph), Pairs.identical(graph), {}, SETTING)
    rows = [row_of(0.0, "layer_1", 1), replace(row_of(0.5, "loop/body/layer_1", 1), iteration=0), row_of(3.0, "y", 2)]
    assert origin._furthest_off(rows, rows[-1]) == 2
    assert origin._furthest_off([row_of(0.5, "layer_1", 1), *rows[1:]], rows[-1]) == 1


def test_a_part_is_given_what_the_runtime_has_at_each_of_its_inputs(
    client: RuntimeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the names of the layers that make it, whatever their order in the alphabet."""
    builder = Builder()
    data = builder.parameter("x", "2,3")
    sides = [builder.call(type, data, name=name) for type, name in (("Exp", "second"), ("Negative", "first"))]
    builder.result(builder.call("Divide", *sides, name="quotient"), "y")
    break_reference(monkeypatch, "quotient")
    given: list[Mapping[str, Array]] = []

    def judge(part: Model, fed: dict[str, Array]) -> Comparison:
        given.append(fed)
        return compare(part, inputs=fed, layers=False, mode="cumulative", client=client)

    found = compare(builder.model, mode="cumulative", client=client)
    part = smallest_part(builder.model, found, judge, client, SETTING)
    assert part.layers == 1
    data_fed = found.inputs["x"]
    np.testing.assert_allclose(given[0]["second"], np.exp(data_fed), rtol=1e-5)
    np.testing.assert_allclose(given[0]["first"], -data_fed, rtol=1e-5)
