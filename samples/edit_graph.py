"""Insert a layer into a model: ids, ports, edges and tensor names stay right, untouched layers keep their bytes."""

import numpy as np
import openvino
from openvino import opset13

import ir_tools


def main() -> None:
    model = ir_tools.read(build())
    graph = model.graph
    pool = next(layer for layer in graph.layers() if layer.type == "AvgPool")
    ir_tools.Builder(model).insert(ir_tools.Source(pool.id, pool.outputs[0].id), "ReLU")

    data = np.linspace(-1, 1, 16, dtype=np.float32).reshape(1, 1, 4, 4)
    result = ir_tools.run(model, {"data": data})
    print("layers:", ", ".join(layer.name for layer in graph.ordered()))
    print("output 'pooled' of the edited model:", result["pooled"].ravel())
    print("the same on OpenVINO:", openvino.compile_model(ir_tools.to_openvino(model), "CPU")(data)["pooled"].ravel())


def build() -> openvino.Model:
    data = opset13.parameter([1, 1, 4, 4], np.float32, name="data")
    data.output(0).set_names({"data"})
    pool = opset13.avg_pool(data, [2, 2], [0, 0], [0, 0], [2, 2], exclude_pad=True, name="pool")
    pool.output(0).set_names({"pooled"})
    return openvino.Model([pool], [data], "edited")


if __name__ == "__main__":
    main()
