"""AvgPool-16 with dilations and ceil_torch for a runtime that has only AvgPool-1: for one size and for all sizes."""

import numpy as np
import openvino
from openvino import opset16

import ir_tools


def main() -> None:
    for shape in ([1, 4, 13, 9], [1, 4, -1, -1]):
        model = ir_tools.read(build(shape))
        migration = ir_tools.migrate(model, to="opset8")
        for step in migration.steps:
            print(f"{shape}: {step.before} -> {step.after}: {step.proof}")
        print(f"{shape}: the same values on OpenVINO: {ir_tools.compare(model, migration.model).ok}")


def build(shape: list[int]) -> openvino.Model:
    data = opset16.parameter(shape, np.float32, name="data")
    pool = opset16.avg_pool(
        data,
        [2, 1],
        [0, 1],
        [0, 1],
        [3, 2],
        exclude_pad=True,
        dilations=[2, 1],
        rounding_type="ceil_torch",
        name="pool",
    )
    return openvino.Model([pool], [data], "new_pooling")


if __name__ == "__main__":
    main()
