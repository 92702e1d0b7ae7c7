"""Inputs for whole models: the runtime and the reference run them on what is made up."""

from pathlib import Path

import numpy as np
import openvino as ov
import pytest

import ir_tools
from ir_tools.graph import Model
from ir_tools.inputs import input_facts, plan_inputs
from ir_tools.ops import Array
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import format_shape
from tests.faults.base_models import base_names, bases
from tests.faults.markup import render
from tests.inputs.networks import FEW_PLACES, NETWORKS, PLACES, WORDS
from tests.outcomes import works


@pytest.fixture
def network(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "network.xml"
    ov.serialize(NETWORKS[request.param](), path)
    return path


@pytest.mark.parametrize("network", NETWORKS, indirect=True)
def test_sizes_and_values_suit_each_other(client: RuntimeClient, network: Path) -> None:
    model = ir_tools.read(network)
    plan = plan_inputs(model)
    fed = plan.arrays()
    wanted = client.infer_model(model, fed).outputs
    for name, array in ir_tools.run(model, fed).items():
        assert np.isfinite(array).all()
        np.testing.assert_allclose(array, wanted[name], rtol=1e-3, atol=1e-4)
    assert all(entry.sizes_chosen and entry.values_chosen for entry in plan.inputs)
    assert all(min(array.shape) > 0 and array.size > 1 for array in fed.values())


def planned(name: str) -> dict[str, tuple[tuple[int, ...], str]]:
    model = ir_tools.read(NETWORKS[name]())
    return {entry.name: (entry.shape, str(entry.values)) for entry in plan_inputs(model).inputs}


def test_indices_stay_inside_their_tables() -> None:
    found = planned("encoder")
    assert found["ids"] == ((1, 32), f"integers:0:{WORDS - 1}")
    assert found["kinds"] == ((1, 32), "integers:0:1")
    assert planned("short_table")["ids"][0] == (1, 11)
    found = planned("summed_few_positions")
    assert found["mask"] == ((1, FEW_PLACES - 3), "ones")
    assert found["ids"][0] == found["mask"][0]


def test_masks_hide_nothing() -> None:
    assert planned("encoder")["mask"] == ((1, 32), "ones")
    assert planned("chosen_mask")["left_out"] == ((1, 32), "zeros")
    assert planned("experts")["mask"][1] == "ones"
    assert (planned("summed_positions")["mask"][1], PLACES >= 32) == ("ones", True)


def test_sizes_follow_from_other_sizes() -> None:
    found = planned("crossed_decoder")
    assert found["mask"][0][1] == found["ids"][0][1] + found["key"][0][2]
    assert found["seen"][0][1] == found["states"][0][1]
    assert planned("picture_words_open")["picture"][0] == (1, 3, 112, 112)
    assert planned("picture_channels_last")["picture"][0] == (1, 112, 112, 3)
    found = planned("decoder_of_few_places")
    assert found["mask"][0][1] == found["ids"][0][1] + found["key"][0][2] <= 40
    assert planned("best_position")["scores"][0][1] <= 9
    found = planned("recurrent")
    assert found["cell"][0] == found["state"][0] == (2, found["ids"][0][0], 6)


# --- every small model of the suite -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", base_names())
@pytest.mark.parametrize("opened", [False, True], ids=["as-written", "open"])
def test_small_models_get_inputs_that_run(client: RuntimeClient, name: str, opened: bool) -> None:
    base = bases()[name]
    model = ir_tools.read(render(base.root, base.style).encode(), base.weights)
    written = plan_inputs(model).arrays()
    if not opened:
        client.infer_model(model, written)
        return
    for end in model.inputs:
        shape = input_facts(model)[end.name][1]
        end.layer.raw["shape"] = format_shape(None if shape is None else (ir_tools.Dim(),) * len(shape))
    if runs(client, model, written):
        client.infer_model(model, plan_inputs(model).arrays())


def runs(client: RuntimeClient, model: Model, fed: dict[str, Array]) -> bool:
    return works(client.infer_model, model, fed)
