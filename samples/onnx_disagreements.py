"""Where ONNX, OpenVINO and onnxruntime disagree about AveragePool: minimal models, run on what is installed."""

import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper

from ir_tools.comparison.onnxruntime import run_onnxruntime
from ir_tools.errors import RuntimeFailure
from ir_tools.onnx import read
from ir_tools.ops import Array
from ir_tools.runtime.client import RuntimeClient


class Case(NamedTuple):
    """A pooling of the numbers 1, 2, 3, ... and what ONNX says that it gives, worked out by hand."""

    title: str
    opset: int
    size: int
    attributes: dict[str, Any]
    wanted: list[float]


CASES = (
    Case(
        "padding counts, the last window hangs over",
        19,
        3,
        {"kernel_shape": [3], "strides": [2], "pads": [0, 1], "ceil_mode": 1, "count_include_pad": 1},
        [2, 1.5],
    ),
    Case(
        "SAME_UPPER, dilated",
        19,
        5,
        {"kernel_shape": [2], "dilations": [3], "auto_pad": "SAME_UPPER"},
        [3, 2.5, 3.5, 3, 4],
    ),
    Case(
        "SAME_UPPER, kernel smaller than stride",
        11,
        5,
        {"kernel_shape": [1], "strides": [3], "auto_pad": "SAME_UPPER"},
        [1, 4],
    ),
    Case("opset 1, padding is never counted", 6, 3, {"kernel_shape": [2], "pads": [1, 0]}, [1, 1.5, 2.5]),
    Case(
        "VALID with ceil_mode: the page's formula gives one window",
        19,
        3,
        {"kernel_shape": [2], "strides": [2], "auto_pad": "VALID", "ceil_mode": 1},
        [1.5, 3],
    ),
    Case(
        "pads as long as the kernel, not the dilated one",
        19,
        4,
        {"kernel_shape": [2], "dilations": [3], "pads": [2, 2]},
        [2, 3, 2.5, 2, 3],
    ),
    Case(
        "the last window would start on the padding",
        19,
        2,
        {"kernel_shape": [2], "strides": [2], "pads": [0, 1], "ceil_mode": 1},
        [1.5],
    ),
)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, RuntimeClient() as client:
        print(f"openvino {version('openvino')}, onnxruntime {_installed('onnxruntime')}, onnx {version('onnx')}")
        print()
        print("| case | setting | ONNX | ir_tools | OpenVINO | onnxruntime | who deviates |")
        print("|---|---|---|---|---|---|---|")
        for case in CASES:
            path = build(case, Path(folder))
            answers = {
                "ir_tools": ours(client, path, case),
                "OpenVINO": importer(client, path, case),
                "onnxruntime": onnxruntime(path, case),
            }
            wrong = [name for name, answer in answers.items() if not agrees(answer, case)]
            cells = [case.title, setting(case), numbers(np.array(case.wanted)), *map(text, answers.values())]
            print(f"| {' | '.join([*cells, ', '.join(wrong) or 'nobody'])} |")


def build(case: Case, folder: Path) -> Path:
    node = helper.make_node("AveragePool", ["x"], ["y"], name="pool", **case.attributes)
    data = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, case.size])
    pooled = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "pooling", [data], [pooled])
    path = folder / "pooling.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=8), path)
    return path


def values(case: Case) -> Array:
    return np.arange(1, case.size + 1, dtype=np.float32).reshape(1, 1, -1)


def ours(client: RuntimeClient, path: Path, case: Case) -> Array | str:
    return client.infer_model(read(path), {"x": values(case)}).outputs["y"]


def importer(client: RuntimeClient, path: Path, case: Case) -> Array | str:
    try:
        return client.infer(path, None, {"x": values(case)}).outputs["y"]
    except RuntimeFailure:
        return "error"


def onnxruntime(path: Path, case: Case) -> Array | str:
    try:
        return run_onnxruntime(path, {"x": values(case)}).outputs["y"]
    except RuntimeFailure as why:
        return "not installed" if why.kind == "missing" else "error"


def agrees(answer: Array | str, case: Case) -> bool:
    if isinstance(answer, str):
        return answer == "not installed"
    return answer.size == len(case.wanted) and bool(np.allclose(answer.ravel(), case.wanted, rtol=1e-4))


def setting(case: Case) -> str:
    words = [f"d={case.size}", f"opset {case.opset}"]
    for name, value in case.attributes.items():
        words.append(f"{name}={','.join(map(str, value)) if isinstance(value, list) else value}")
    return " ".join(words)


def text(answer: Array | str) -> str:
    return answer if isinstance(answer, str) else numbers(answer)


def numbers(array: Array) -> str:
    return " ".join(f"{value:.4g}" for value in array.ravel())


def _installed(package: str) -> str:
    try:
        return version(package)
    except ModuleNotFoundError:
        return "not installed"


if __name__ == "__main__":
    main()
