"""Whole networks: the light models of the `onnx` package and the ONNX files of the corpus."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest

import ir_tools
import ir_tools.onnx as from_onnx
from ir_tools.inputs import complete_inputs
from tests.conftest import corpus_cases, corpus_files
from tests.importers.onnx.models import compiled, differs, light, onnx, with_random_weights
from tests.importers.onnx.oracle import Values

NAMES = {"densenet121": 3, "inception_v1": 1, "inception_v2": 8, "resnet50": 1, "shufflenet": 4}
"""And how many AveragePool nodes each has."""


TEXT_LINE = np.random.default_rng(4).standard_normal((1, 3, 48, 192)).astype(np.float32)
"""An image of the size that text recognition takes; the runtime crashes on one too small for the last pooling."""


def by_size(*quick: str) -> list[Any]:
    """Every network, for `parametrize`; those that are not quick are long checks."""
    return [name if name in quick else pytest.param(name, marks=pytest.mark.sweep) for name in NAMES]


def frontend_outputs(path: Path, inputs: dict[str, Values]) -> dict[str, Values]:
    return compiled(ov.Core().read_model(path), 2)(inputs)


@pytest.mark.parametrize("name", by_size("shufflenet"))
def test_the_published_output(name: str) -> None:
    path = light(name)
    found = from_onnx.convert(path)
    assert len(found.nodes) == NAMES[name]
    ((source, shape),) = ((end.name, end.layer.raw["shape"]) for end in found.model.inputs)
    sizes = [int(size) for size in shape.split(",")]
    ramp = (np.arange(np.prod(sizes)).reshape(sizes) / np.prod(sizes)).astype(np.float32)
    (got,) = compiled(ir_tools.to_openvino(found.model))({source: ramp}).values()
    published = onnx.TensorProto()
    published.ParseFromString(path.with_name(f"{path.stem}_output_0.pb").read_bytes())
    assert not differs(onnx.numpy_helper.to_array(published).astype(np.float64), got, 1e-4)
    (own,) = frontend_outputs(path, {source: ramp}).values()
    assert not differs(own, got, 1e-4)


@pytest.mark.parametrize("name", by_size("shufflenet"))
def test_random_weights_give_what_the_frontend_gives(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.onnx"
    path.write_bytes(with_random_weights(light(name), 5).SerializeToString())
    model = from_onnx.read(path)
    inputs = complete_inputs(model, seed=1)
    (wanted,), (got,) = (
        frontend_outputs(path, inputs).values(),
        compiled(ir_tools.to_openvino(model), 2)(inputs).values(),
    )
    assert np.ptp(wanted) > 1e-3 * np.abs(wanted).max()
    assert not differs(wanted, got, 1e-4)


@pytest.mark.parametrize("path", corpus_cases(files=corpus_files(".onnx", re.compile(b""))))
def test_files_of_the_corpus(path: Path) -> None:
    model = from_onnx.read(path)
    given = {end.name: TEXT_LINE for end in model.inputs if end.layer.raw["shape"] == "?,3,?,?"}
    inputs = complete_inputs(model, given, seed=2)
    wanted, got = frontend_outputs(path, inputs), compiled(ir_tools.to_openvino(model), 2)(inputs)
    assert wanted.keys() == got.keys()
    assert [name for name in wanted if differs(wanted[name], got[name], 1e-4)] == []
