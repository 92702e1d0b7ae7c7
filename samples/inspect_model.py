"""Look at a model that was built with OpenVINO: its inputs and outputs, its layers, its graph."""

import networkx as nx
import numpy as np
import openvino
from openvino import opset13

import ir_tools


def main() -> None:
    model = ir_tools.read(build())

    for side, endpoints in (("input", model.inputs), ("output", model.outputs)):
        for endpoint in endpoints:
            print(f"{side:6}  {endpoint.name:8} {endpoint.port.precision} {list(endpoint.port.dims)}")
    for path, layer, _ in model.walk():
        print(f"layer   {path:10} {layer.type} {layer.version}")

    # The graph is a networkx.MultiDiGraph: everything that networkx can do works on it.
    first, last = model.inputs[0].layer.id, model.outputs[0].layer.id
    names = [model.graph.layer(layer_id).name for layer_id in nx.shortest_path(model.graph, first, last)]
    print("path   ", " -> ".join(names))


def build() -> openvino.Model:
    """Pooling and an addition: [1, 3, 8, 8] -> [1, 3, 4, 4]."""
    data = opset13.parameter([1, 3, 8, 8], np.float32, name="data")
    data.output(0).set_names({"data"})
    pooled = opset13.avg_pool(data, [2, 2], [0, 0], [0, 0], [2, 2], exclude_pad=False, name="pool")
    shifted = opset13.add(pooled, opset13.constant(np.float32(1)), name="shift")
    shifted.output(0).set_names({"shifted"})
    return openvino.Model([shifted], [data], "small")


if __name__ == "__main__":
    main()
