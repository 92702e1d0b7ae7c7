"""Models with `<statistics>`: convolutions in INT8 on Inference Engine 2020.1 against FakeQuantize."""

from pathlib import Path

import numpy as np
import pytest

import ir_tools
from ir_tools.ops.fields import listed
from ir_tools.processors import Processor
from ir_tools.runtime.legacy import LegacyClient
from tests.legacy.net import Net


def quantized_net(seed: int, *, signed: bool, marked: bool = True) -> Net:
    """Return a net of one convolution, with ranges that are a little wider than the values."""
    rng = np.random.default_rng(seed)
    net = Net(rng, 6)
    net.precision = "FP32"
    values = rng.normal(0, 1, (1, 8, 6, 6)).astype(np.float32)
    data = net.input(values if signed else np.abs(values))
    weights = {"weights": rng.normal(0, 1, (16, 8, 3, 3)), "biases": rng.normal(0, 1, 16)}
    attributes = {"kernel": "3,3", "strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0", "output": 16, "group": 1}
    marks = {"quantization_level": "I8"} if marked else {}
    blobs = {name: array.astype(np.float32) for name, array in weights.items()}
    net.layer("Convolution", [data], [(1, 16, 4, 4)], attributes | marks, blobs, name="conv")
    found = net.inputs["in0"]
    ends = {"in0": (found.min((0, 2, 3)) - 0.1 * signed, found.max((0, 2, 3)) + 0.1), "conv": ([-40.0], [40.0])}
    layers = "".join(
        f"<layer><name>{name}</name><min>{listed(low)}</min><max>{listed(high)}</max></layer>"
        for name, (low, high) in ends.items()
    )
    net.extra = f"<statistics>{layers}</statistics>"
    return net


SATURATES = pytest.mark.skipif(Processor.NO_VNNI.is_here, reason="products of 8 bits saturate without VNNI")


@SATURATES
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_levels_are_those_of_the_old_runtime(seed: int, signed: bool, legacy_python: Path) -> None:
    """The old runtime also rounds biases, to steps of the products: 1e-5 of the largest value here."""
    made = quantized_net(seed, signed=signed).case()
    model = made.model()
    with LegacyClient(legacy_python) as old:
        wanted = old.infer(made.xml.encode(), made.weights, made.inputs, config={})["conv"]
    in_floats, in_int8 = (
        ir_tools.run(ir_tools.migrate(model, int8=int8).model, made.inputs)["conv"] for int8 in (False, True)
    )
    largest = np.abs(wanted).max()
    assert np.abs(in_int8 - wanted).max() < 5e-5 * largest < 1e-3 * largest < np.abs(in_floats - wanted).max()


def test_a_layer_that_is_not_marked_stays_in_floats() -> None:
    made = quantized_net(0, signed=True, marked=False).case()
    found = ir_tools.migrate(made.model(), int8=True)
    assert "FakeQuantize" not in {layer.type for layer in found.model.graph.layers()}


def test_what_cannot_be_quantized_is_said() -> None:
    made = quantized_net(0, signed=True).case()
    without = ir_tools.read(made.xml.replace("statistics", "nothing").encode(), made.weights)
    with pytest.raises(ir_tools.MigrationError, match="has no <statistics>"):
        ir_tools.migrate(without, int8=True)
    with pytest.raises(ir_tools.UsageError, match="int8 is for models of IR v2 to v7; this one is IR v11"):
        ir_tools.migrate(ir_tools.migrate(without).model, int8=True)


@pytest.mark.parametrize("target", ["ir11", "opset6", "openvino-2022.1"])
def test_what_became_of_the_statistics_is_noted_for_any_target(target: str) -> None:
    made = quantized_net(0, signed=True).case()
    model = made.model()
    in_floats, in_int8 = (ir_tools.migrate(model, to=target, int8=int8).notes for int8 in (False, True))
    assert in_floats[0].startswith("because of <statistics>, Inference Engine computes 2 layers in INT8; the new model")
    assert in_int8[0] == "2 FakeQuantizes for inputs and weights, with the ranges of <statistics>"
