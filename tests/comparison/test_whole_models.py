"""Bodies, models without a common name, errors that grow, quantized models, and what used to end a comparison."""

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import openvino.opset13 as op
import pytest

import ir_tools
from ir_tools import execute
from ir_tools.comparison import Comparison, LayerComparison, ReferenceMode, allowed, compare, narrow_note
from ir_tools.comparison._differences import coarser
from ir_tools.comparison.bisection import smallest_part
from ir_tools.execute import LayerRun
from ir_tools.graph import Layer
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.setting import Setting
from tests.comparison.networks import change_a_weight, looping_network, plant, quantized_network, random_network

TRUE, FALSE = np.array(True), np.array(False)


@pytest.fixture
def looping(tmp_path: Path) -> Path:
    return looping_network(tmp_path / "looping.xml")


def first(found: Comparison) -> LayerComparison:
    assert isinstance(found.first_difference, LayerComparison)
    return found.first_difference


def make_wrong(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The reference rounds what the layers of a name give to f16."""
    real = execute.run_layer

    def wrong(layer: Layer, *arguments: Any, **options: Any) -> LayerRun:
        done = real(layer, *arguments, **options)
        if layer.name != name:
            return done
        return LayerRun(tuple(array.astype(np.float16).astype(array.dtype) for array in done.outputs), done.undefined)

    monkeypatch.setattr(execute, "run_layer", wrong)


def test_dimensions_of_unknown_size_do_not_count_as_large(
    client: RuntimeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The windows of a Swin transformer have six: each layer had a run of its own."""
    data = op.parameter([-1] * 6, np.float32, name="data")
    path = tmp_path / "windows.xml"
    ov.serialize(ov.Model([op.tanh(op.sin(op.cos(data))).output(0)], [data]), path, path.with_suffix(".bin"))
    real, taps = client.infer_model, []

    def counted(*arguments: Any, **options: Any) -> object:
        taps.append(options.get("taps", ()))
        return real(*arguments, **options)

    monkeypatch.setattr(client, "infer_model", counted)
    assert compare(ir_tools.read(path), inputs={"data": np.ones([2] * 6, np.float32)}, client=client).ok
    assert len(list(filter(None, taps))) == 1


# --- bodies -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["isolated", "cumulative"])
@pytest.mark.parametrize("name", ["Loop_1/body/plus", "Loop_1/body/bend", "If_1/then_body/left"])
def test_a_wrong_kernel_in_a_body_is_named_and_cut_out(
    client: RuntimeClient, looping: Path, monkeypatch: pytest.MonkeyPatch, name: str, mode: ReferenceMode
) -> None:
    model, fed = ir_tools.read(looping), {"flag": TRUE}
    assert compare(model, inputs=fed, mode=mode, client=client).ok
    make_wrong(monkeypatch, name.rpartition("/")[2])
    found = compare(model, inputs=fed, mode=mode, client=client)
    assert first(found).path == name
    assert first(found).iteration in range(3)

    def judge(part: ir_tools.graph.Model, given: dict[str, np.ndarray]) -> Comparison:
        return compare(part, inputs=given, layers=False, mode="cumulative", client=client)

    part = smallest_part(model, found, judge, client, Setting("CPU", "f32"))
    assert part.layers == 1
    assert name.rpartition("/")[2] in {layer.name for layer in part.model.graph.layers()}


def test_a_branch_that_does_not_run_is_told(client: RuntimeClient, looping: Path) -> None:
    found = compare(ir_tools.read(looping), inputs={"flag": FALSE}, client=client)
    assert [(entry.path, entry.status) for entry in found.layers if entry.path.startswith("If_1/")] == [
        ("If_1/else_body/right", "ok"),
        ("If_1/then_body/left", "skipped"),
    ]


def test_ids_in_bodies_are_not_taken_for_those_outside(client: RuntimeClient, looping: Path) -> None:
    """The id of `end` in the main graph is given to a layer in the body as well."""
    model, other = ir_tools.read(looping), ir_tools.read(looping)
    end = next(layer for layer in other.graph.layers() if layer.name == "end")
    end.tag["type"] = "Tanh"
    ir_tools.write(other, looping.with_name("other.xml"))
    body = next(entry.graph for entry in model.walk() if entry.layer.name == "plus")
    assert end.id in body
    found = compare(model, ir_tools.read(looping.with_name("other.xml")), {"flag": TRUE}, client=client)
    assert first(found).path == "end"


@pytest.mark.parametrize("name", ["times", "plus", "right"])
def test_a_weight_in_a_body_of_another_model(client: RuntimeClient, looping: Path, name: str) -> None:
    model, other = ir_tools.read(looping), looping.with_name("other.xml")
    ir_tools.write(model, other)
    located = next(entry for entry in model.walk() if entry.layer.name == name)
    constant = next(
        located.graph.layer(source.layer)
        for source in located.graph.sources(located.layer.id).values()
        if located.graph.layer(source.layer).type == "Const"
    )
    data = np.fromfile(other.with_suffix(".bin"), np.uint8)
    start = int(constant.raw["offset"])
    data[start : start + 4].view(np.float32)[:] += 0.25
    data.tofile(other.with_suffix(".bin"))
    found = compare(model, ir_tools.read(other), {"flag": FALSE}, client=client)
    assert first(found).path == located.path
    assert "constant input" in (first(found).reason or "")


# --- two models ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_models_without_a_common_name_are_matched_by_structure(
    client: RuntimeClient, tmp_path: Path, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    path = random_network(rng, tmp_path / "net.xml")
    planted, name = plant(rng, path)
    text = planted.read_text()
    renamed = re.sub(r'(<layer id="(\d+)" name=")[^"]*(" type="(?!Parameter))', r"\1other\2\3", text)
    assert renamed != text
    planted.write_text(renamed)
    found = compare(ir_tools.read(path), ir_tools.read(planted), client=client)
    assert first(found).path == name
    assert found.skipped == ()


def test_an_error_that_grows_is_named_where_it_starts(client: RuntimeClient, tmp_path: Path) -> None:
    def network(path: Path, factor: float) -> Path:
        data = op.parameter([1, 8], np.float32, name="data")
        node = op.multiply(data, np.array([[1.0] * 7 + [factor]], np.float32), name="scale")
        node = op.subtract(node, np.float32(0.1), name="shift")
        ov.serialize(ov.Model([op.exp(op.multiply(node, np.float32(12)), name="grow")], [data]), path)
        return path

    fed = {"data": np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0]], np.float32)}
    model, other = (ir_tools.read(network(tmp_path / f"{factor}.xml", factor)) for factor in (1.0, 1.00005))
    found = compare(model, other, fed, client=client)
    row = first(found)
    assert row.path == "scale"
    assert row.difference is not None
    assert row.difference.needed < row.difference.tolerance
    assert "starts here" in (row.reason or "")
    assert "1 of 8 elements" in (row.reason or "")


def test_an_attribute_that_differs_is_told(client: RuntimeClient, tmp_path: Path) -> None:
    for seed in range(100):
        rng = np.random.default_rng(seed)
        path = random_network(rng, tmp_path / f"{seed}.xml")
        if "AvgPool" in path.read_text():
            break
    model = ir_tools.read(path)
    pool = next(layer for layer in model.graph.layers() if layer.type == "AvgPool")
    pool.raw["exclude-pad"] = "false"
    ir_tools.write(model, tmp_path / "other.xml")
    found = compare(ir_tools.read(path), ir_tools.read(tmp_path / "other.xml"), client=client)
    assert first(found).reason == 'exclude-pad is "true" in the first model and "false" in the other'


# --- what used to end a comparison --------------------------------------------------------------------------------


def chain(path: Path) -> Path:
    data = op.parameter([1, 6], np.float32, name="data")
    node = op.tanh(op.sigmoid(op.relu(data, name="first"), name="second"), name="third")
    ov.serialize(ov.Model([node], [data]), path)
    return path


@pytest.mark.parametrize("mode", ["isolated", "cumulative"])
def test_two_layers_of_one_name(client: RuntimeClient, tmp_path: Path, mode: ReferenceMode) -> None:
    path = chain(tmp_path / "chain.xml")
    path.write_text(path.read_text().replace('"second"', '"first"'))
    found = compare(ir_tools.read(path), mode=mode, client=client)
    assert found.ok
    assert [entry.path for entry in found.layers] == ["first#1", "first#2", "third"]


def test_a_layer_that_leads_nowhere_is_told(client: RuntimeClient, tmp_path: Path) -> None:
    path = chain(tmp_path / "chain.xml")
    model = ir_tools.read(path)
    dead = next(layer for layer in model.graph.layers() if layer.name == "second").copy(99)
    dead.tag["name"] = "dead"
    first_layer = next(layer for layer in model.graph.layers() if layer.name == "first")
    model.graph.add(dead, {dead.inputs[0].id: ir_tools.graph.Source(first_layer.id, first_layer.outputs[0].id)})
    for found in (compare(model, client=client), compare(model, model, client=client)):
        assert found.ok
        assert [entry.path for entry in found.skipped] == ["dead"]


def test_a_model_with_a_state(client: RuntimeClient, tmp_path: Path) -> None:
    data = op.parameter([1, 4], np.float32, name="data")
    total = op.add(data, op.read_value(op.constant(np.zeros((1, 4), np.float32)), "sum"), name="total")
    model = ov.Model([op.result(op.relu(total))], [op.assign(total, "sum")], [data], "state")
    ov.serialize(model, tmp_path / "state.xml")
    assert compare(ir_tools.read(tmp_path / "state.xml"), client=client).ok
    assert compare(ir_tools.read(tmp_path / "state.xml"), mode="cumulative", client=client).ok


# --- quantized models ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["isolated", "cumulative"])
def test_a_quantized_model_is_compared_in_f32_and_told_so(
    client: RuntimeClient, tmp_path: Path, mode: ReferenceMode
) -> None:
    model = ir_tools.read(quantized_network(tmp_path / "quantized.xml"))
    found = compare(model, mode=mode, client=client)
    assert found.ok
    assert found.narrow > 0
    assert [entry.name for entry in found.in_use] == [entry.name for entry in found.outputs]
    assert f"{found.narrow} operations in int8" in (narrow_note(found) or "")
    in_int8 = compare(model, precision="int8", client=client)
    assert (in_int8.narrow, in_int8.precision) == (0, "int8")


def test_an_error_in_a_quantized_model_is_named(client: RuntimeClient, tmp_path: Path) -> None:
    path, other = quantized_network(tmp_path / "quantized.xml"), tmp_path / "other.xml"
    model = ir_tools.read(path)
    shutil.copy(path, other)
    shutil.copy(path.with_suffix(".bin"), other.with_suffix(".bin"))
    weights = next(layer for layer in model.graph.layers() if layer.name == "weights_2")
    change_a_weight(np.random.default_rng(0), model, weights.id, other.with_suffix(".bin"))
    assert first(compare(model, ir_tools.read(other), client=client)).path == "weights_2"


def test_the_tolerance_of_floats_is_that_of_the_coarser_of_type_and_precision() -> None:
    """The bounds are the units in the last place of each type: 2**-8 of bf16, 2**-11 of f16."""
    assert allowed("f32", None, "bf16") >= 2 * 2**-8
    assert (
        allowed("f16", None, "bf16") == allowed("f64", None, "bf16") == allowed("bf16") == allowed("f32", None, "bf16")
    )
    assert allowed("f32", None, "f16") == allowed("f16") >= 2 * 2**-11
    assert allowed("bf16", None, "f16") == allowed("bf16")
    assert allowed("i64", None, "bf16") == allowed("boolean", None, "f16") == 0.0
    assert coarser("f32", "bf16") == coarser("bf16", "f16") == "bf16"


def test_int8_has_a_tolerance_of_its_own() -> None:
    assert allowed("f32", None, "int8") == 2 / 255
    assert allowed("i32", None, "int8") == 0.0
    assert allowed("f32", 1e-6, "int8") == 1e-6


# --- outputs whose size the values decide -------------------------------------------------------------------------


def picking(path: Path, least: float) -> Path:
    """The elements of a list that are larger than a limit, and where they stand."""
    x = op.parameter([8], np.float32, name="x")
    where = op.squeeze(op.non_zero(op.greater(x, op.constant(np.float32(least))), output_type="i64"), op.constant([0]))
    picked = op.gather(x, where, op.constant(0))
    ov.save_model(ov.Model([op.result(picked, name="picked"), op.result(where, name="where")], [x]), path, False)
    return path


def test_outputs_of_other_sizes_differ(tmp_path: Path, client: RuntimeClient) -> None:
    one, other = picking(tmp_path / "one.xml", 2.5), picking(tmp_path / "other.xml", 3.5)
    fed = {"x": np.arange(8, dtype=np.float32)}
    assert compare(ir_tools.read(one), inputs=fed, client=client).ok
    found = compare(ir_tools.read(one), ir_tools.read(other), inputs=fed, client=client, layers=False)
    assert [output.reason for output in found.outputs] == [
        "expected f32 [5], found f32 [4]",
        "expected i64 [5], found i64 [4]",
    ]
    assert not any(output.ok for output in found.outputs)
    assert all(sum(output.difference.nan) == 1 for output in found.outputs)
