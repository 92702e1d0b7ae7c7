"""Random small networks whose every layer matters, and planted errors."""

from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset13 as op

import ir_tools
from ir_tools.graph import Model

ACTIVATIONS = (op.relu, op.sigmoid, op.tanh, op.hswish)


def random_network(rng: np.random.Generator, path: Path) -> Path:
    """A chain of convolutions, poolings, additions and activations, written as IR; names are `layer_N`."""
    data = op.parameter([1, 4, 12, 12], np.float32, name="data")
    node = data
    for number in range(int(rng.integers(4, 9))):
        node = random_layer(rng, node)
        node.set_friendly_name(f"layer_{number}")
    mean = op.reduce_mean(node, np.array([2, 3], np.int64), keep_dims=False)
    ov.serialize(ov.Model([mean.output(0)], [data]), path, path.with_suffix(".bin"))
    return path


def random_layer(rng: np.random.Generator, node: ov.Node) -> ov.Node:
    kind = rng.integers(0, 5)
    if kind == 0:
        weights = rng.normal(0, 0.3, (4, 4, 3, 3)).astype(np.float32)
        return op.convolution(node, weights, [1, 1], [1, 1], [1, 1], [1, 1])
    if kind == 1:
        return op.multiply(node, rng.uniform(0.5, 1.5, (1, 4, 1, 1)).astype(np.float32))
    if kind == 2:
        return op.add(node, rng.normal(0, 0.5, (1, 4, 1, 1)).astype(np.float32))
    if kind == 3:
        return op.avg_pool(node, [1, 1], [1, 1], [1, 1], [3, 3], True)
    return ACTIVATIONS[rng.integers(len(ACTIVATIONS))](node)


def plant(rng: np.random.Generator, path: Path) -> tuple[Path, str]:
    """A copy with one error in it: a weight, or an attribute; the name of the layer that computes something else."""
    model = ir_tools.read(path)
    choices = [
        layer
        for layer in model.graph.layers()
        if layer.name.startswith("layer_") and layer.type in {"Convolution", "Multiply", "Add", "AvgPool"}
    ]
    layer = choices[rng.integers(len(choices))]
    target = path.with_name(f"{path.stem}_planted.xml")
    if layer.type == "AvgPool":
        layer.raw["exclude-pad"] = "false"
        ir_tools.write(model, target)
        return target, layer.name
    ir_tools.write(model, target)
    change_a_weight(rng, model, layer.id, target.with_suffix(".bin"))
    return target, layer.name


def change_a_weight(rng: np.random.Generator, model: Model, layer_id: int, weights: Path) -> None:
    constants = [
        model.graph.layer(source.layer)
        for source in model.graph.sources(layer_id).values()
        if model.graph.layer(source.layer).type == "Const"
    ]
    raw = constants[0].raw
    data = np.fromfile(weights, np.uint8)
    start = int(raw["offset"])
    values = data[start : start + int(raw["size"])].view(np.float32)
    values[rng.integers(len(values))] += 0.5
    data.tofile(weights)
