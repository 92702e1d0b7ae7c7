"""Random small networks whose every layer matters, and planted errors."""

from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import openvino.opset13 as op
import pytest

import ir_tools
from ir_tools import execute
from ir_tools.execute import LayerRun
from ir_tools.graph import Layer, Model

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


def looping_network(path: Path) -> Path:
    """A Loop of three rounds over `times`, `plus` and `bend`, and an If whose branches hold `left` and `right`."""
    rng = np.random.default_rng(3)
    data, flag = op.parameter([1, 4], np.float32, name="data"), op.parameter([], np.bool_, name="flag")
    inner = op.parameter([1, 4], np.float32, name="inner")
    node = op.matmul(inner, rng.normal(0, 0.6, (4, 4)).astype(np.float32), False, False, name="times")
    node = op.tanh(op.add(node, rng.normal(0, 0.5, (1, 4)).astype(np.float32), name="plus"), name="bend")
    loop = op.loop(op.constant(np.int64(3)), op.constant(np.array([True])))
    loop.set_function(ov.Model([node, op.constant(np.array([True]))], [inner], "body"))
    loop.set_special_body_ports([-1, 1])
    loop.set_merged_input(inner, data.output(0), node.output(0))
    branches = []
    for name, factor in (("left", 2.0), ("right", 3.0)):
        read = op.parameter([1, 4], np.float32, name=f"{name}_in")
        branches.append((read, ov.Model([op.multiply(read, np.float32(factor), name=name)], [read], name)))
    choice = op.if_op(flag)
    choice.set_then_body(branches[0][1])
    choice.set_else_body(branches[1][1])
    choice.set_input(loop.get_iter_value(node.output(0), -1), branches[0][0], branches[1][0])
    chosen = choice.set_output(branches[0][1].get_results()[0], branches[1][1].get_results()[0])
    loop.set_friendly_name("Loop_1")
    choice.set_friendly_name("If_1")
    ov.serialize(ov.Model([op.relu(chosen, name="end")], [data, flag], "looping"), path, path.with_suffix(".bin"))
    return path


def quantized_network(path: Path) -> Path:
    """Convolutions between FakeQuantize layers, which the CPU plugin computes in int8."""
    rng = np.random.default_rng(4)
    data = op.parameter([1, 8, 16, 16], np.float32, name="data")
    node = op.fake_quantize(data, *map(np.float32, (-4, 4, -4, 4)), 256, name="quantized_0")
    for number in range(1, 3):
        weights = op.constant(rng.normal(0, 0.2, (8, 8, 3, 3)).astype(np.float32))
        levels = op.fake_quantize(weights, *map(np.float32, (-1, 1, -1, 1)), 255, name=f"weights_{number}")
        node = op.convolution(node, levels, [1, 1], [1, 1], [1, 1], [1, 1], name=f"convolution_{number}")
        node = op.fake_quantize(node, *map(np.float32, (-6, 6, -6, 6)), 256, name=f"quantized_{number}")
    mean = op.reduce_mean(node, np.array([2, 3], np.int64), keep_dims=False, name="mean")
    ov.serialize(ov.Model([mean], [data], "quantized"), path, path.with_suffix(".bin"))
    return path


def break_reference_in_f32(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Make the reference wrong in one layer, but not in f64."""
    real = execute.run_layer

    def wrong(layer: Layer, *arguments: Any, **options: Any) -> LayerRun:
        done = real(layer, *arguments, **options)
        if layer.name != name or done.outputs[0].dtype == np.float64:
            return done
        return LayerRun(tuple(array + np.float32(0.01) for array in done.outputs), done.undefined)

    monkeypatch.setattr(execute, "run_layer", wrong)
