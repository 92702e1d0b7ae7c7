"""A model with three mistakes in it: what `validate` says of each, in words and as data."""

import numpy as np
import openvino
from openvino import opset13

import ir_tools


def main() -> None:
    model = ir_tools.read(build())
    print(f"as built: {len(ir_tools.validate(model))} findings")
    pool, bias = (next(layer for layer in model.graph.layers() if layer.name == name) for name in ("pool", "bias"))
    pool.raw["rounding-type"] = pool.raw.pop("rounding_type")
    pool.raw["strides"] = "2"
    bias.inputs[1].dims = (1, 5, 1, 1)
    for finding in ir_tools.validate(model):
        print(f"{finding.severity:8} {finding.code}  line {finding.line:3}  {finding.path}: {finding.message}")
        if finding.help:
            print(f"{'':8} {finding.help}")


def build() -> openvino.Model:
    data = opset13.parameter([1, 3, 8, 8], np.float32, name="data")
    pool = opset13.avg_pool(data, [2, 2], [0, 0], [0, 0], [2, 2], exclude_pad=True, name="pool")
    bias = opset13.add(pool, np.ones((1, 3, 1, 1), np.float32), name="bias")
    return openvino.Model([bias], [data], "faulty")


if __name__ == "__main__":
    main()
