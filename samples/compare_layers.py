"""A network in numpy against OpenVINO, layer by layer, in both modes; then a copy with one wrong weight."""

import tempfile
from pathlib import Path

import numpy as np
import openvino
from openvino import opset13

import ir_tools


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        right, wrong = Path(folder) / "right.xml", Path(folder) / "wrong.xml"
        openvino.save_model(build(0.0), right, compress_to_fp16=False)
        openvino.save_model(build(0.25), wrong, compress_to_fp16=False)
        for found in (ir_tools.compare(right), ir_tools.compare(right, mode="cumulative")):
            print(f"{found.mode}, against OpenVINO on {found.device}, {found.precision}")
            for row in found.layers:
                assert row.difference is not None
                print(f"  {row.path:8} {row.op:16} needs a tolerance of {row.difference.needed:.1e}: {row.status}")
        first = ir_tools.compare(right, wrong).first_difference
        assert isinstance(first, ir_tools.LayerComparison)
        print(f"the copy with a wrong weight differs first in '{first.path}' ({first.op})")


def build(error: float) -> openvino.Model:
    rng = np.random.default_rng(0)
    data = opset13.parameter([1, 3, 16, 16], np.float32, name="data")
    first, second = (rng.normal(0, 0.2, shape).astype(np.float32) for shape in ((8, 3, 3, 3), (8, 8, 3, 3)))
    second[4, 2, 1, 1] += error
    node = opset13.convolution(data, first, [1, 1], [1, 1], [1, 1], [1, 1], name="conv_1")
    node = opset13.relu(node, name="relu_1")
    node = opset13.avg_pool(node, [2, 2], [0, 0], [0, 0], [2, 2], exclude_pad=True, name="pool_1")
    node = opset13.convolution(node, second, [1, 1], [1, 1], [1, 1], [1, 1], name="conv_2")
    return openvino.Model([opset13.softmax(node, 1, name="scores")], [data], "small")


if __name__ == "__main__":
    main()
