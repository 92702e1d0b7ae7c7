"""What a run takes of memory: 1.5 times the largest set of live tensors and the weights, at most."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset14 as ops
import pytest

from ir_tools.execute import Execution, run
from ir_tools.format.read import read
from ir_tools.graph import Model
from ir_tools.inputs import complete_inputs
from ir_tools.ops import Array
from tests.importers.onnx.models import LIGHT, with_random_weights

MAX_RATIO = 1.5
SHAPE = [1, 24, 320, 320]
NORMAL = np.random.default_rng(0).standard_normal


def weights(*shape: int) -> Array:
    return NORMAL(shape).astype(np.float32)


def convolved(data: ov.Node, extent: int, stride: int) -> ov.Node:
    pads = [extent // 2] * 2
    return ops.convolution(data, weights(32, 24, extent, extent), [stride] * 2, pads, pads, [1, 1])


def depthwise(data: ov.Node) -> ov.Node:
    return ops.group_convolution(data, weights(24, 1, 1, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1])


def backward(data: ov.Node) -> ov.Node:
    return ops.convolution_backprop_data(
        data, weights(24, 16, 4, 4), strides=[2, 2], pads_begin=[1, 1], pads_end=[1, 1], dilations=[1, 1]
    )


def resized(data: ov.Node, mode: str) -> ov.Node:
    sizes = np.array([640, 640])
    return ops.interpolate(
        data, sizes, mode, "sizes", coordinate_transformation_mode="half_pixel", axes=np.array([2, 3])
    )


SPATIAL = np.array([2, 3])
CASES: dict[str, Callable[[ov.Node], ov.Node]] = {
    "1x1": lambda data: convolved(data, 1, 1),
    "3x3": lambda data: convolved(data, 3, 1),
    "7x7 in steps of 2": lambda data: convolved(data, 7, 2),
    "depthwise": depthwise,
    "backward": backward,
    "max pool": lambda data: ops.max_pool(data, [2, 2], [1, 1], [1, 1], [1, 1], [3, 3]).output(0),
    "average pool": lambda data: ops.avg_pool(data, [1, 1], [1, 1], [1, 1], [3, 3], False),
    "batch norm": lambda data: ops.batch_norm_inference(data, *[np.abs(weights(24))] * 4, 1e-5),
    "MVN": lambda data: ops.mvn(data, SPATIAL, True, 1e-5, "inside_sqrt"),
    "group norm": lambda data: ops.group_normalization(data, weights(24), weights(24), 8, 1e-5),
    "LRN": lambda data: ops.lrn(data, np.array([1]), 1e-4, 0.75, 1.0, 5),
    "NormalizeL2": lambda data: ops.normalize_l2(data, np.array([1]), 1e-6, "add"),
    "SoftMax": lambda data: ops.softmax(data, 1),
    "FakeQuantize": lambda data: ops.fake_quantize(data, *map(np.float32, (-1, 1, -1, 1)), 256),
    "GELU": lambda data: ops.gelu(data, "erf"),
    "HSwish": ops.hswish,
    "PReLU": lambda data: ops.prelu(data, weights(24)),
    "bias": lambda data: ops.add(data, weights(1, 24, 1, 1)),
    "maximum": lambda data: ops.maximum(data, np.float32(0.1)),
    "convert": lambda data: ops.convert(data, "i32"),
    "linear": lambda data: resized(data, "linear_onnx"),
    "cubic": lambda data: resized(data, "cubic"),
}


def largest_live_set(model: Model, fed: dict[str, Array]) -> int:
    """Bytes of all tensors that are made and will be read, and those that a layer makes, where they are most.

    Counted by brute force: for each layer, every tensor, constants left out.
    """
    order = [layer.id for layer in model.graph.ordered()]
    sizes = {(end.layer.id, end.port.id): fed[end.name].nbytes for end in model.inputs}
    for step in Execution(model).steps(fed):
        ports = step.layer.outputs
        sizes |= {(step.layer.id, port.id): array.nbytes for port, array in zip(ports, step.outputs, strict=False)}

    def alive(tensor: tuple[int, int], now: int) -> bool:
        readers = [order.index(reader) for reader, _ in model.graph.consumers(*tensor)]
        return order.index(tensor[0]) <= now <= max(readers, default=order.index(tensor[0]))

    return max(sum(size for tensor, size in sizes.items() if alive(tensor, now)) for now in range(len(order)))


def peak(model: Model, fed: dict[str, Array]) -> int:
    """Bytes that one run allocates at most; the inputs are there before."""
    run(model, fed)
    tracemalloc.start()
    try:
        run(model, fed)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def saved(network: ov.Model, folder: Path) -> Model:
    path = folder / "model.xml"
    ov.save_model(network, path, compress_to_fp16=False)
    return read(path)


@pytest.mark.parametrize("name", CASES)
def test_a_layer_on_a_large_tensor(name: str, tmp_path: Path) -> None:
    data = ops.parameter(SHAPE, np.float32)
    model = saved(ov.Model([ops.result(CASES[name](ops.relu(data)))], [data], name), tmp_path)
    fed = complete_inputs(model)
    assert peak(model, fed) <= MAX_RATIO * largest_live_set(model, fed) + model.weights.size


@pytest.mark.sweep
@pytest.mark.parametrize("name", sorted(path.stem for path in LIGHT.glob("*.onnx")))
def test_light_networks(name: str, tmp_path: Path) -> None:
    source = tmp_path / "model.onnx"
    source.write_bytes(with_random_weights(LIGHT / f"{name}.onnx", 0).SerializeToString())
    model = saved(ov.convert_model(source), tmp_path)
    fed = complete_inputs(model)
    assert peak(model, fed) <= MAX_RATIO * largest_live_set(model, fed) + model.weights.size
