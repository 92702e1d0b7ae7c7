"""Values that reach a layer through arithmetic: whatever is made up suits the layer, found by running the model."""

import numpy as np
import pytest

from ir_tools.builder import Builder
from ir_tools.execute import run
from ir_tools.graph import Source
from ir_tools.inputs import plan_inputs
from ir_tools.ops import Array

LINEAR = ("Add", "Subtract", "Multiply", "Divide", "Negative")
COMPARED = ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")
NUMBERS = np.array([-1, 0, 1, 2], np.int32)


def computed(b: Builder, rng: np.random.Generator, x: Source, type: str, values: Array) -> Source:
    """A layer that computes with a tensor and one of some numbers, in either order."""
    if type == "Negative":
        return b.call(type, x)
    constant = b.constant(np.asarray(rng.choice(values)))
    swapped = rng.random() < 0.5 and type != "Divide"
    return b.call(type, *((constant, x) if swapped else (x, constant)))


@pytest.mark.parametrize("type", ["Acosh", "Atanh", "Log", "Sqrt"])
def test_numbers_are_those_of_which_a_function_is_known(type: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(12):
        b = Builder()
        x = b.parameter("x", "50")
        for step in rng.choice(LINEAR, rng.integers(1, 4)):
            x = computed(b, rng, x, str(step), np.array([-3, -0.5, 0.5, 2], np.float32))
        b.result(b.call(type, x), "y")
        made = plan_inputs(b.model).arrays()
        assert np.isfinite(run(b.model, made)["y"]).all(), [layer.type for layer in b.model.graph.layers()]
        assert len(set(made["x"].tolist())) > 30


def test_masks_hide_nothing_if_zeros_or_ones_do_not() -> None:
    """Behind comparisons with numbers that 0 or 1 is less than, equal to, or greater than."""
    rng, decided = np.random.default_rng(6), 0
    for _ in range(150):
        b = Builder()
        data = b.parameter("data", "4,4")
        mask = b.parameter("mask", "4,4", "i32")
        if rng.random() < 0.5:
            mask = computed(b, rng, mask, str(rng.choice(["Add", "Subtract", "Multiply", "Negative"])), NUMBERS)
        mask = computed(b, rng, mask, str(rng.choice(COMPARED)), NUMBERS)
        if rng.random() < 0.5:
            mask = b.call("LogicalNot", mask)
        hidden = b.constant(np.array(-65504, np.float32))
        b.result(b.call("Select", mask, *((hidden, data) if rng.random() < 0.3 else (data, hidden))), "y")
        made = plan_inputs(b.model).arrays()

        def shows(value: int, b: Builder = b, made: dict[str, Array] = made) -> bool:
            given = {"data": made["data"], "mask": np.full((4, 4), value, np.int32)}
            return bool(np.array_equal(run(b.model, given)["y"], made["data"]))

        possible = shows(0), shows(1)
        if any(possible):
            decided += possible != (True, True)
            assert np.array_equal(run(b.model, made)["y"], made["data"]), [*b.model.graph.layers()]
    assert decided > 40
