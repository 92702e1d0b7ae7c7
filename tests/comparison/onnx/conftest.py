"""Small ONNX models on disk."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

onnx = pytest.importorskip("onnx")

Make = Callable[..., Path]


@pytest.fixture
def pooling(tmp_path: Path) -> Make:
    """Writes x -> AveragePool 'pool' -> y."""

    def make(shape: Sequence[int | str] | None, opset: int = 19, **attributes: Any) -> Path:
        helper, kind = onnx.helper, onnx.TensorProto.FLOAT
        node = helper.make_node("AveragePool", ["x"], ["y"], name="pool", **attributes)
        ends = [[helper.make_tensor_value_info(name, kind, dims)] for name, dims in (("x", shape), ("y", None))]
        graph = helper.make_graph([node], "pooling", *ends)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        path = tmp_path / "pooling.onnx"
        onnx.save(made, path)
        return path

    return make


OVERHANG = {"kernel_shape": [3], "strides": [2], "pads": [0, 1], "ceil_mode": 1, "count_include_pad": 1}


@pytest.fixture
def overhanging(pooling: Make) -> Path:
    """OpenVINO's importer divides its last window by the full kernel."""
    return pooling([1, 1, 3], **OVERHANG)


@pytest.fixture
def plain(pooling: Make) -> Path:
    """Everybody agrees on this one."""
    return pooling([1, 2, 8, 8], 11, kernel_shape=[2, 2], strides=[2, 2])
