"""Shapes with unknown sizes and intervals through a whole model, and which port got what."""

import numpy as np
import openvino
from openvino import opset13

import ir_tools
from ir_tools.types import format_shape


def main() -> None:
    for new in ("2,3,32,32", "?,3,16..64,?"):
        model = ir_tools.read(build())
        report = ir_tools.propagate_shapes(model, {"data": new})
        print(f"data = {new}")
        for (path, port), shape in report.shapes.items():
            print(f"  {path:20} port {port}  {format_shape(shape):16} by {report.origins[path, port]}")


def build() -> openvino.Model:
    data = opset13.parameter([1, 3, 8, 8], np.float32, name="data")
    pooled = opset13.avg_pool(data, [2, 2], [0, 0], [0, 0], [3, 3], exclude_pad=True, rounding_type="ceil", name="pool")
    adaptive = opset13.adaptive_avg_pool(pooled, np.array([2, 2], dtype=np.int64), name="adaptive")
    return openvino.Model([adaptive], [data], "reshaped")


if __name__ == "__main__":
    main()
