"""What is asked about a layer does not grow with the number of the others."""

from collections.abc import Callable, Collection

import numpy as np
import pytest

import ir_tools
from ir_tools.compatibility import compatibility
from ir_tools.graph import Graph


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


def chain(count: int) -> ir_tools.Model:
    builder = ir_tools.Builder(opset=8)
    end = builder.parameter("data", [1, 4], "f32")
    for _ in range(count):
        end = builder.call("ReLU", end)
    builder.result(end)
    return builder.model


@pytest.mark.parametrize("made", [read_by_one, cut_for_one, chain])
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

    models = made(50), made(100)
    monkeypatch.setattr(Graph, "sources", counting(Graph.sources))
    monkeypatch.setattr(Graph, "consumers", counting(Graph.consumers))
    compatibility(models[0])
    few = looked
    compatibility(models[1])
    assert looked - few < 2.2 * few
