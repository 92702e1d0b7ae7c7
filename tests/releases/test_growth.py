"""What is asked about a layer does not grow with the number of the others."""

from collections.abc import Callable, Collection

import numpy as np
import pytest

import ir_tools
from ir_tools.compatibility import compatibility
from ir_tools.graph import Graph, Port
from tests.benchmarks.growth.ports import PORTS


def read_by_one(count: int) -> ir_tools.Model:
    builder = ir_tools.Builder(opset=8)
    data = builder.parameter("data", [1, 4], "f32")
    builder.result(builder.call("Concat", *(builder.call("ReLU", data) for _ in range(count)), axis=1))
    return builder.model


def cut_for_one(count: int) -> ir_tools.Model:
    builder = ir_tools.Builder(opset=8)
    data = builder.parameter("data", [1, 4], "f32")
    ends = [builder.constant(np.array(values)) for values in ([0, 0], [1, 2])]
    parts = (builder.call("StridedSlice", data, *ends, begin_mask=[0, 0], end_mask=[0, 0]) for _ in range(count))
    builder.result(builder.call("Concat", *parts, axis=1))
    return builder.model


def split_for_one(count: int) -> ir_tools.Model:
    builder = ir_tools.Builder(opset=8)
    data = builder.parameter("data", [1, count], "f32")
    builder.result(builder.call("Concat", *builder.outputs("Split", data, np.int64(1), num_splits=count), axis=1))
    return builder.model


def held_for_one(count: int) -> ir_tools.Model:
    builder = ir_tools.Builder(opset=8)
    parts = (builder.constant(np.ones([1, 4], np.int8)) for _ in range(count))
    builder.result(builder.call("Concat", builder.parameter("data", [1, 4], "i8"), *parts, axis=1))
    return builder.model


def convolved_for_one(count: int) -> ir_tools.Model:
    builder = ir_tools.Builder(opset=8)
    data, weights = builder.parameter("data", [1, 2, 4], "f32"), builder.constant(np.ones([2, 1, 1, 1], np.float32))
    made = (
        builder.call("GroupConvolution", data, weights, strides=1, pads_begin=0, pads_end=0, dilations=1)
        for _ in range(count)
    )
    builder.result(builder.call("Concat", *made, axis=1))
    return builder.model


def repeated_for_one(count: int) -> ir_tools.Model:
    builder = ir_tools.Builder(opset=8)
    data = builder.parameter("data", [1, 4], "f32")
    repeated = builder.call("Broadcast", builder.parameter("number", [1, 1], "f32"), np.array([1, 4]))
    for _ in range(count):
        builder.result(builder.call("Add", data, repeated))
    return builder.model


def joined_with_one(count: int) -> ir_tools.Model:
    builder = ir_tools.Builder(opset=8)
    data = builder.call("ReLU", builder.parameter("data", [1, 4], "f32"))
    for _ in range(count):
        joined = builder.call("Concat", data, builder.call("Abs", data), axis=1)
        builder.result(builder.call("SoftMax", joined, axis=1))
    return builder.model


def scaled_by_bytes(count: int) -> ir_tools.Model:
    builder = ir_tools.Builder(opset=8)
    end = builder.parameter("data", [1, 4], "f32")
    for _ in range(count):
        factor = builder.constant(np.ones([1, 4], np.int8))
        end = builder.call("Multiply", end, builder.call("Convert", factor, destination_type="f32"))
    builder.result(end)
    return builder.model


def chain(count: int) -> ir_tools.Model:
    builder = ir_tools.Builder(opset=8)
    end = builder.parameter("data", [1, 4], "f32")
    for _ in range(count):
        end = builder.call("ReLU", end)
    builder.result(end)
    return builder.model


@pytest.mark.parametrize(
    "made",
    [
        read_by_one,
        cut_for_one,
        split_for_one,
        held_for_one,
        convolved_for_one,
        repeated_for_one,
        joined_with_one,
        scaled_by_bytes,
        chain,
    ],
)
def test_edges_are_looked_at_a_few_times(
    made: Callable[[int], ir_tools.Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0

    def counting(method: Callable[..., Collection[object]]) -> Callable[..., Collection[object]]:
        def counted(*args: object) -> Collection[object]:
            nonlocal looked
            found = method(*args)
            looked += len(found)
            return found

        return counted

    models = made(150), made(300)
    monkeypatch.setattr(Graph, "sources", counting(Graph.sources))
    monkeypatch.setattr(Graph, "consumers", counting(Graph.consumers))
    compatibility(models[0])
    few = looked
    compatibility(models[1])
    assert looked - few < 2.2 * few


@pytest.mark.parametrize(
    ("version", "to"), [(10, "ir11"), (10, "openvino-2024.6"), (11, "ir10"), (11, "openvino-2021.4")]
)
@pytest.mark.parametrize("kind", ["outputs of one Split", "outputs of one Split with gaps between ids"])
def test_ports_are_looked_at_a_few_times(kind: str, version: int, to: str, monkeypatch: pytest.MonkeyPatch) -> None:
    models = []
    for count in (150, 300):
        sample = PORTS[kind](count)
        text = sample.xml.replace(b'version="11"', f'version="{version}"'.encode())
        models.append(ir_tools.read(text, sample.weights))
    looked, stored = 0, Port.__dict__["id"]

    def read(port: Port) -> int:
        nonlocal looked
        looked += 1
        found: int = stored.__get__(port)
        return found

    monkeypatch.setattr(Port, "id", property(read, stored.__set__))
    ir_tools.migrate(models[0], to)
    few = looked
    ir_tools.migrate(models[1], to)
    assert looked - few < 2.2 * few
