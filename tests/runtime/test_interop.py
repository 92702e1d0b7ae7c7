"""Models to and from `openvino.Model`."""

import gc
import os
import tempfile
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset15 as op

from ir_tools.errors import RuntimeFailure
from ir_tools.format.read import read
from ir_tools.runtime.interop import from_openvino, to_openvino
from ir_tools.weights import constant
from tests.runtime.made import POOL, one_layer, parameter, save

X = np.array([[1, -2, 3]], np.float32)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def biased(folder: Path) -> Path:
    """x + [10, 20, 30]."""
    x = parameter([1, 3])
    return save(folder, [op.add(x, op.constant(np.array([[10, 20, 30]], np.float32)))], [x])


def result(model: ov.Model) -> list[list[float]]:
    values: list[list[float]] = ov.Core().compile_model(model, "CPU")(X)[0].tolist()
    return values


def test_unchanged_model_outlives_its_files(tmp_path: Path) -> None:
    path = biased(tmp_path)
    made = to_openvino(read(path))
    path.unlink()
    path.with_suffix(".bin").unlink()
    gc.collect()
    assert result(made) == [[11, 18, 33]]


def test_changed_model_is_converted(tmp_path: Path, temporary: Path) -> None:
    model = read(biased(tmp_path))
    offset, size = model.weights.append(np.array([[1, 1, 1]], np.float32))
    for layer in model.graph.layers():
        if layer.type == "Const":
            layer.raw.update(offset=str(offset), size=str(size))
    made = to_openvino(model)
    gc.collect()
    assert result(made) == [[2, -1, 4]]
    assert os.listdir(temporary) == []


def test_model_there_and_back(temporary: Path) -> None:
    x = parameter([-1, 3], np.float16, "data")
    big = np.arange(3, dtype=np.float16).reshape(1, 3)
    model = from_openvino(ov.Model([op.result(op.add(x, op.constant(big)))], [x], "sum"))
    assert (model.path, model.weights.path, model.version) == (None, None, 11)
    consts = [layer for layer in model.graph.layers() if layer.type == "Const"]
    np.testing.assert_array_equal(constant(consts[0].raw, model.weights), big)
    again = to_openvino(model)
    assert str(again.inputs[0].get_partial_shape()) == "[?,3]"
    assert os.listdir(temporary) == []


def test_rejection_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bad.xml"
    path.write_bytes(one_layer("AvgPool", "opset1", {**POOL, "kernel": "9,9"}))
    with pytest.raises(RuntimeFailure, match="AvgPool that reads 'x'") as caught:
        to_openvino(read(path))
    assert caught.value.kind == "rejected"
