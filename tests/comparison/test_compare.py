"""Whole comparisons: planted errors are found where they were planted, the modes say what they compared."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import openvino.opset13 as ops
import pytest

import ir_tools
from ir_tools.comparison import LayerComparison, ReferenceMode, compare, weak_notes
from ir_tools.comparison._tensors import groups
from ir_tools.comparison.bisection import smallest_part
from ir_tools.errors import UsageError
from ir_tools.execute import LayerRun
from ir_tools.graph import Layer, Model
from ir_tools.runtime.client import Inference, RuntimeClient
from ir_tools.runtime.setting import Setting
from tests.comparison.networks import plant, random_network


def planted_networks(tmp_path: Path, count: int) -> list[tuple[Path, Path, str]]:
    found = []
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        path = random_network(rng, tmp_path / f"net{seed}.xml")
        kinds = {layer.type for layer in ir_tools.read(path).graph.layers() if layer.name.startswith("layer_")}
        if kinds & {"Convolution", "Multiply", "Add", "AvgPool"}:
            found.append((path, *plant(rng, path)))
        if len(found) == count:
            break
    return found


def check_planted(client: RuntimeClient, path: Path, planted: Path, name: str) -> None:
    found = compare(ir_tools.read(path), ir_tools.read(planted), client=client)
    assert found.mode == "model against model"
    assert isinstance(found.first_difference, LayerComparison)
    assert found.first_difference.path == name


def test_an_error_planted_in_a_model_is_named(client: RuntimeClient, tmp_path: Path) -> None:
    for path, planted, name in planted_networks(tmp_path, 6):
        check_planted(client, path, planted, name)


@pytest.mark.sweep
def test_a_hundred_planted_errors_are_named(client: RuntimeClient, tmp_path: Path) -> None:
    for path, planted, name in planted_networks(tmp_path, 100):
        check_planted(client, path, planted, name)


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return ir_tools.read(random_network(np.random.default_rng(5), tmp_path / "net.xml"))


@pytest.mark.parametrize("mode", ["isolated", "cumulative"])
def test_the_reference_agrees_with_the_runtime(client: RuntimeClient, model: Model, mode: ReferenceMode) -> None:
    found = compare(model, mode=mode, client=client)
    assert found.mode == mode
    assert found.ok
    computed = {layer.id for layer in model.graph.layers() if layer.type not in {"Parameter", "Const", "Result"}}
    assert {entry.layer_id for entry in found.layers} == computed
    assert [entry.index for entry in found.layers] == sorted(entry.index for entry in found.layers)


def break_reference(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Make the reference wrong in one layer."""
    from ir_tools import execute

    real = execute.run_layer

    def wrong(layer: Layer, *arguments: Any, **options: Any) -> LayerRun:
        done = real(layer, *arguments, **options)
        if layer.name != name:
            return done
        return LayerRun(tuple(array + np.float32(0.01) for array in done.outputs), done.undefined)

    monkeypatch.setattr(execute, "run_layer", wrong)


def test_isolated_only_the_wrong_layer_differs(
    client: RuntimeClient, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_reference(monkeypatch, "layer_1")
    found = compare(model, client=client)
    assert [entry.path for entry in found.layers if entry.status == "differs"] == ["layer_1"]


def test_cumulative_the_error_goes_on(client: RuntimeClient, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    break_reference(monkeypatch, "layer_1")
    found = compare(model, mode="cumulative", client=client)
    wrong = [entry.path for entry in found.layers if entry.status == "differs"]
    assert wrong[0] == "layer_1"
    assert len(wrong) > 1
    assert not all(entry.ok for entry in found.outputs)


def test_outputs_alone_are_those_of_the_reference(
    client: RuntimeClient, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the isolated mode they would be the runtime's own on both sides."""
    assert compare(model, layers=False, client=client).ok
    break_reference(monkeypatch, "layer_1")
    found = compare(model, layers=False, client=client)
    assert not found.ok
    assert (found.mode, found.output_sides, found.layers) == ("cumulative", ("reference", "CPU, f32"), ())


def test_the_smallest_part_is_the_wrong_layer(
    client: RuntimeClient, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_reference(monkeypatch, "layer_2")
    found = compare(model, mode="cumulative", client=client)
    part = smallest_part(
        model,
        found,
        lambda cut, fed: compare(cut, inputs=fed, layers=False, mode="cumulative", client=client),
        client,
        Setting("CPU", "f32"),
    )
    assert part.layers == 1
    assert "layer_2" in {layer.name for layer in part.model.graph.layers()}
    assert not part.comparison.ok


def test_nothing_to_cut_out_where_nothing_differs(client: RuntimeClient, model: Model) -> None:
    found = compare(model, client=client)
    with pytest.raises(UsageError, match="nothing differs"):
        smallest_part(model, found, lambda cut, fed: found, client, Setting("CPU", "f32"))


def test_one_device_against_itself(client: RuntimeClient, model: Model) -> None:
    found = compare(model, against=("CPU", "f32"), client=client)
    assert found.mode == "runtime against runtime"
    assert found.needed == 0.0


def test_another_precision_differs_or_is_not_to_be_had(client: RuntimeClient, model: Model) -> None:
    """Machines without bf16 compute f32 instead, and say so."""
    found = compare(model, against=("CPU", "bf16"), tolerance=1e-7, client=client)
    assert (found.second, found.layer_sides) == ("CPU, bf16", ("CPU, f32", "CPU, bf16"))
    assert {entry.engine for entry in found.layers} == {"runtime"}
    assert found.without_kernel == 0
    assert found.ok == (found.needed <= 1e-7)


@pytest.mark.parametrize("settings", [{"precision": "int8"}, {"against": "CPU:int8"}])
@pytest.mark.parametrize("weights", [None, ov.Type.i8, ov.Type.u4, ov.Type.f32, ov.Type.boolean])
def test_int8_of_a_model_without_anything_quantized_is_reported(
    client: RuntimeClient, settings: dict[str, Any], weights: ov.Type | None
) -> None:
    data = ops.parameter([2, 4], np.float32, name="x")
    if weights:
        constant = ops.constant(np.ones((2, 4)), dtype=weights, name="weights")
        node = ops.multiply(data, ops.convert(constant, "f32"))
    else:
        ends = (ops.constant(np.float32(value)) for value in (-1, 1, -1, 1))
        node = ops.fake_quantize(data, *ends, levels=255)
    model = ir_tools.read(ov.Model([node], [data]))
    notes = weak_notes(compare(model, client=client, **settings))
    noted = any(note.startswith("Nothing in the model is quantized") for note in notes)
    assert noted is (weights in {ov.Type.f32, ov.Type.boolean})
    assert not compare(model, client=client).unquantized


@pytest.mark.parametrize(
    ("settings", "lacking"),
    [
        ({"precision": "bf16"}, "CPU, bf16"),
        ({"against": "CPU:bf16"}, "CPU, bf16"),
        ({"precision": "bf16", "against": "CPU:f16"}, "CPU, bf16 (computed in f32) and CPU, f16"),
    ],
)
def test_a_precision_that_the_device_does_not_have_is_reported(
    client: RuntimeClient, model: Model, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], lacking: str
) -> None:
    run = RuntimeClient.infer_model

    def without(self: RuntimeClient, *given: Any, **more: Any) -> Inference:
        return replace(run(self, *given, **more), precision="f32")

    monkeypatch.setattr(RuntimeClient, "infer_model", without)
    found = compare(model, client=client, **settings)
    assert f"This device does not have the precision: {lacking} (computed in f32)." in weak_notes(found)
    assert not compare(model, against="CPU", client=client).instead


def test_the_tolerance_is_that_of_the_coarser_side(client: RuntimeClient, model: Model) -> None:
    for found in (
        compare(model, against="CPU:bf16", client=client),
        compare(model, precision="bf16", against="CPU", client=client),
        compare(model, precision="bf16", client=client),
    ):
        assert {entry.element_type for entry in found.layers} == {"f32"}
        differences = [entry.difference for entry in found.layers] + [entry.difference for entry in found.outputs]
        assert {entry.tolerance for entry in differences if entry} == {1.6e-2}


def test_the_outputs_decide_where_rounding_to_a_coarse_type_adds_up(client: RuntimeClient, model: Model) -> None:
    added = (
        compare(model, against="CPU:bf16", client=client),
        compare(model, precision="bf16", mode="cumulative", client=client),
    )
    assert [found.rounding for found in added] == ["bf16", "bf16"]
    alone = (compare(model, against="CPU", client=client), compare(model, precision="bf16", client=client))
    assert [found.rounding for found in alone] == ["", ""]


def test_a_layer_without_a_kernel_is_run_by_the_runtime(
    client: RuntimeClient, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ir_tools import execute

    real = execute.has_kernel
    monkeypatch.setattr(execute, "has_kernel", lambda layer: real(layer) and layer.name != "layer_0")
    for found in (compare(model, client=client), compare(model, mode="cumulative", client=client)):
        assert found.ok
        assert "layer_0" in [entry.path for entry in found.layers if entry.engine == "runtime"]


def test_no_other_model_beside_another_device(model: Model) -> None:
    with pytest.raises(UsageError, match="not both"):
        compare(model, model, against=("CPU", "f32"))


def test_types_that_no_layer_has_are_refused(client: RuntimeClient, model: Model) -> None:
    with pytest.raises(UsageError, match="no layer of type 'MaxPol'; it has "):
        compare(model, layers={"MaxPol"}, client=client)


def test_in_a_notebook_and_at_a_prompt(client: RuntimeClient, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    assert repr(compare(model, client=client)).startswith("Comparison(isolated against reference: ")
    break_reference(monkeypatch, "layer_1")
    found = compare(model, client=client)
    assert "first 'layer_1'" in repr(found)
    assert ">layer_1</td>" in found._repr_html_()


@pytest.mark.parametrize("with_inputs", [False, True])
@pytest.mark.parametrize("most", [1, 24, 47, 48, 1000])
def test_tensors_are_taken_out_in_runs_that_fit_into_memory(
    most: int, with_inputs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ir_tools.comparison._tensors.LARGEST", most)
    builder = ir_tools.Builder()
    end = builder.parameter("x", "2,3")
    for _ in range(5):
        end = builder.call("ReLU", end)
    builder.result(end)
    layers = [located for located in builder.model.walk() if located.layer.type == "ReLU"]
    found = [*groups(layers, {}, with_inputs=with_inputs)]
    fits = max(most // (48 if with_inputs else 24), 1)
    assert [len(group) for group in found] == [fits] * (5 // fits) + ([5 % fits] if 5 % fits else [])
    assert [located for group in found for located in group] == layers
