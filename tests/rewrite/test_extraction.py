"""Parts of models against the whole: the runtime gives the same tensors, and the part holds no more than it needs."""

from io import BytesIO
from itertools import permutations
from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset13 as op
import pytest

import ir_tools
from ir_tools.builder import Builder
from ir_tools.errors import UsageError
from ir_tools.graph import Model
from ir_tools.inputs import complete_inputs
from ir_tools.ops import Array
from ir_tools.rewrite.extraction import cut, drop_unread, reads
from ir_tools.runtime.client import RuntimeClient, Tap
from ir_tools.weights import Weights, values


@pytest.fixture
def model(tmp_path: Path) -> Model:
    data = op.parameter([1, 3, 8, 8], np.float32, name="data")
    rng = np.random.default_rng(0)
    first = op.convolution(data, rng.normal(size=(4, 3, 3, 3)).astype(np.float32), [1, 1], [1, 1], [1, 1], [1, 1])
    bias = op.add(first, rng.normal(size=(1, 4, 1, 1)).astype(np.float32))
    halves = op.split(bias, np.int64(1), 2)
    out = op.multiply(op.relu(halves.output(0)), op.tanh(halves.output(1)))
    ov.serialize(ov.Model([out.output(0)], [data]), tmp_path / "model.xml", tmp_path / "model.bin")
    return ir_tools.read(tmp_path / "model.xml")


def by_type(model: Model, kind: str) -> int:
    return next(layer.id for layer in model.graph.layers() if layer.type == kind)


@pytest.mark.parametrize("kinds", [("Multiply",), ("Multiply", "Tanh"), ("Split", "Add", "Multiply", "ReLU", "Tanh")])
def test_a_part_computes_what_the_whole_does(model: Model, tmp_path: Path, kinds: tuple[str, ...]) -> None:
    fed = complete_inputs(model, seed=1)
    layers = {by_type(model, kind) for kind in kinds}
    target = by_type(model, "Multiply")
    with RuntimeClient() as client:
        wanted = reads(model, layers)
        graph = model.graph
        taps = [
            Tap(graph.layer(layer).name, [port.id for port in graph.layer(layer).outputs].index(port))
            for layer, port in wanted
        ]
        run = client.infer_model(model, fed, taps=(*taps, Tap(graph.layer(target).name)))
        arrays: list[Array] = [run.taps[tap] for tap in taps]
        part = cut(model, layers, dict(zip(wanted, arrays, strict=True)), target)
        ir_tools.write(part, tmp_path / "part.xml")
        again = ir_tools.read(tmp_path / "part.xml")
        inputs = {end.name: array for end, array in zip(again.inputs, arrays, strict=True)}
        (found,) = client.infer_model(again, inputs).outputs.values()
    np.testing.assert_allclose(found, run.taps[Tap(graph.layer(target).name)], rtol=1e-6)
    assert not [finding for finding in ir_tools.validate(tmp_path / "part.xml") if finding.severity == "error"]


def test_a_part_holds_only_its_own_weights(model: Model) -> None:
    layer = by_type(model, "Add")
    (source,) = reads(model, {layer})
    part = cut(model, {layer}, {source: np.zeros((1, 4, 8, 8), np.float32)}, layer)
    assert part.weights.size == 16
    assert part.name == f"{model.name}_part"


def test_the_model_is_not_changed(model: Model) -> None:
    before = [(layer.id, dict(layer.raw)) for layer in model.graph.layers()]
    layer = by_type(model, "Add")
    cut(model, {layer}, {reads(model, {layer})[0]: np.zeros((1, 4, 8, 8), np.float32)}, layer)
    assert [(layer.id, dict(layer.raw)) for layer in model.graph.layers()] == before


def test_what_is_missing_is_refused(model: Model) -> None:
    layer = by_type(model, "Add")
    with pytest.raises(UsageError, match="no array"):
        cut(model, {layer}, {}, layer)
    with pytest.raises(UsageError, match="not one of the layers to extract"):
        cut(model, set(), {}, layer)


def test_a_parameter_has_the_tensor_names_of_what_it_stands_for(model: Model) -> None:
    relu, split = (model.graph.layer(by_type(model, kind)) for kind in ("ReLU", "Split"))
    split.outputs[0].names = ("half", "left")
    (source,) = reads(model, {relu.id})
    part = cut(model, {relu.id}, {source: np.zeros((1, 2, 8, 8), np.float32)}, relu.id)
    assert [end.port.names for end in part.inputs] == [("half", "left")]


def test_weights_stay_as_they_are_if_all_bytes_are_read() -> None:
    """Of any constants of a file of twelve bytes, in any order: else those that are read are kept, and no others."""
    file = Weights.from_bytes(bytes(range(1, 13)))
    places = [(0, 4), (4, 8), (2, 4), (8, 4), (4, 2), (0, 12)]
    for chosen in [some for count in range(1, 4) for some in permutations(places, count)]:
        builder = Builder()
        for offset, size in chosen:
            made = builder.graph.layer(builder.constant(np.zeros(size, np.uint8)).layer)
            made.raw.update(offset=str(offset), size=str(size))
        builder.model.weights = file.copy()
        drop_unread(builder.model, file)
        held, found = BytesIO(), builder.model.weights
        found.save(held)
        read = {place for offset, size in chosen for place in range(offset, offset + size)}
        assert (held.getvalue() == bytes(range(1, 13))) == (len(read) == 12)
        assert {*held.getvalue()} - {0} == {place + 1 for place in read}
        for layer, (offset, size) in zip(builder.graph.layers(), chosen, strict=True):
            assert values(layer.raw, found).tolist() == [*range(offset + 1, offset + size + 1)]


@pytest.mark.parametrize("place", ["offset", "size"])
def test_weights_stay_as_they_are_if_the_place_of_a_constant_is_unknown(place: str) -> None:
    file = Weights.from_bytes(bytes(range(12)))
    builder = Builder()
    constants = [builder.graph.layer(builder.constant(np.zeros(4, np.uint8)).layer) for _ in range(2)]
    for made in constants:
        made.raw.update(offset="4", size="4")
    del constants[0].raw[place]
    builder.model.weights = file.copy()
    drop_unread(builder.model, file)
    assert builder.model.weights.size == 12
