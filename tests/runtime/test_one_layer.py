"""One layer alone on the runtime, against the same layer inside its model."""

from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset15 as op

from ir_tools.format.read import read
from ir_tools.graph import Model
from ir_tools.inputs import complete_inputs
from ir_tools.ops import Array
from ir_tools.runtime.client import RuntimeClient, Tap
from ir_tools.runtime.one_layer import LayerRunner
from ir_tools.weights import values
from tests.runtime.made import one_layer, parameter, save


def check_every_layer(client: RuntimeClient, model: Model, inputs: dict[str, Array]) -> int:
    """Run each layer alone on what it gets in the model; how many were run."""
    layers = [layer for layer in model.graph.layers() if layer.type not in {"Const", "Result"}]
    taps = [Tap(layer.name, index) for layer in layers for index, _ in enumerate(layer.outputs)]
    inner = client.infer_model(model, inputs, taps=taps).taps
    runner, count = LayerRunner(client), 0
    for layer in layers:
        if layer.type == "Parameter":
            continue
        arrays = []
        for source in model.graph.sources(layer.id).values():
            maker = model.graph.layer(source.layer)
            index = [port.id for port in maker.outputs].index(source.port)
            const = maker.type == "Const"
            arrays.append(values(maker.raw, model.weights) if const else inner[Tap(maker.name, index)])
        for index, found in enumerate(runner(model, model.graph, layer, arrays)):
            expected = inner[Tap(layer.name, index)]
            assert found.dtype == expected.dtype, layer
            np.testing.assert_allclose(
                found.astype(np.float64),
                expected.astype(np.float64),
                rtol=1e-4,
                atol=1e-4 * float(np.abs(expected).max(initial=0)),
                err_msg=str(layer),
            )
        count += 1
    return count


@pytest.mark.parametrize("name", ["lenet-mnist.v10.fyh620", "landmarks-regression-retail-0009.FP32.v11.thutrang147"])
def test_layers_alone_give_what_they_give_in_the_model(client: RuntimeClient, corpus: Path, name: str) -> None:
    (path,) = corpus.rglob(f"{name}.xml")
    model = read(path)
    assert check_every_layer(client, model, complete_inputs(model)) > 5


def test_bodies_keep_their_constants(client: RuntimeClient, tmp_path: Path) -> None:
    x, inner = parameter([3]), parameter([3], name="inner")
    steps = np.array([1, 2, 3], np.float32)
    body = ov.Model([op.add(inner, op.constant(steps)), op.constant(np.array(True))], [inner], "body")
    loop = op.loop(op.constant(np.array(4)), op.constant(np.array(True)))
    loop.set_function(body)
    loop.set_special_body_ports([-1, 1])
    loop.set_merged_input(
        inner, op.add(x, op.constant(np.ones(3, np.float32))).output(0), body.get_results()[0].output(0)
    )
    model = read(save(tmp_path, [loop.get_iter_value(body.get_results()[0].output(0), -1)], [x]))
    (layer,) = (layer for layer in model.graph.layers() if layer.type == "Loop")
    (found,) = LayerRunner(client)(model, model.graph, layer, [np.array(4), np.array(True), np.zeros(3, np.float32)])
    np.testing.assert_array_equal(found, 4 * steps)


def test_constants_follow_the_floats_that_are_given(client: RuntimeClient, tmp_path: Path) -> None:
    x = parameter([3])
    model = read(save(tmp_path, [op.add(x, op.constant(np.array([1, 2, 3], np.float32)))], [x]))
    (add,) = (layer for layer in model.graph.layers() if layer.type == "Add")
    arrays = [np.array([0.5, 0.5, 0.5]), np.array([1.0, 2.0, 3.0])]
    (found,) = LayerRunner(client)(model, model.graph, add, arrays)
    assert found.dtype == np.float64
    assert found.tolist() == [1.5, 2.5, 3.5]


def test_strings_pass(client: RuntimeClient, tmp_path: Path) -> None:
    x = op.parameter([2], ov.Type.string, name="x")
    model = read(save(tmp_path, [op.reshape(x, op.constant(np.array([2, 1])), False)], [x]))
    (layer,) = (layer for layer in model.graph.layers() if layer.type == "Reshape")
    texts = np.array(["a", "grüße"], dtype=object)
    (found,) = LayerRunner(client)(model, model.graph, layer, [texts, np.array([2, 1])])
    assert found.tolist() == [["a"], ["grüße"]]


def test_kept_models_are_not_mixed_up(client: RuntimeClient, tmp_path: Path) -> None:
    """The same text with other constants, and other inputs for the same model."""
    runner = LayerRunner(client)
    models = []
    for number in range(3):
        x = parameter([2])
        (tmp_path / str(number)).mkdir()
        path = save(tmp_path / str(number), [op.multiply(x, op.constant(np.full(2, number, np.float32)))], [x])
        models.append(read(path))
    for factor in (1, 5):
        for number, model in enumerate(models):
            (layer,) = (layer for layer in model.graph.layers() if layer.type == "Multiply")
            arrays = [np.full(2, factor, np.float32), np.full(2, number, np.float32)]
            assert runner(model, model.graph, layer, arrays)[0].tolist() == [factor * number] * 2


def test_kept_model_of_a_file_goes_with_the_file(client: RuntimeClient, tmp_path: Path) -> None:
    path, values = tmp_path / "model.xml", {"x": np.array([-4.0], np.float32)}
    for kind, expected in (("ReLU", 0.0), ("Abs", 4.0)):
        path.write_bytes(one_layer(kind, "opset1", {}, "1"))
        for _ in range(2):
            assert client.infer(path, None, values, keep=True).outputs["layer"].tolist() == [expected]
