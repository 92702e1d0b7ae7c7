"""Hard-coded sizes that give way when a model gets new input shapes, as they do in the runtime.

A Reshape to `[1, 9216]` in front of a MatMul stands for "one row per picture": with three pictures the runtime makes
it `[-1, 9216]` (OpenVINO's SmartReshape, matmul_sr.cpp).
"""

import numpy as np

from ir_tools.graph import Graph, Layer, Port
from ir_tools.graph.graph import Source
from ir_tools.ops import Role, role_of

__all__ = ["relaxed_patterns"]

DEEPEST = 8
"""Layers between the weights of a MatMul and their constant."""


def relaxed_patterns(graph: Graph) -> dict[int, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return the new values of constants that are patterns of Reshape, by layer id."""
    found = {}
    for layer in graph.layers():
        if layer.type != "MatMul" or len(layer.inputs) != 2:
            continue
        for own, other in (layer.inputs, layer.inputs[::-1]):
            pattern = _pattern_before(graph, layer, own)
            size = _shared_size(graph, layer, own, other)
            if pattern is not None and size is not None:
                rows_last = _flag(layer, "transpose_a") if own is layer.inputs[0] else not _flag(layer, "transpose_b")
                found[pattern.id] = np.array([size, -1] if rows_last else [-1, size], np.int64)
    return found


def _pattern_before(graph: Graph, layer: Layer, port: Port) -> Layer | None:
    """Return the constant with the two sizes to which a Reshape before this input brings its data."""
    source = graph.sources(layer.id).get(port.id)
    if source is None or graph.layer(source.layer).type != "Reshape" or len(port.dims) != 2:
        return None
    inputs = list(graph.sources(source.layer).values())
    producer = graph.layer(inputs[1].layer) if len(inputs) == 2 else None
    sized = producer is not None and role_of(producer) is Role.CONSTANT and producer.raw.get("shape", "").strip() == "2"
    return producer if sized else None


def _shared_size(graph: Graph, layer: Layer, own: Port, other: Port) -> int | None:
    """Return the size over which the other input is multiplied, if that is made of constants alone."""
    source = graph.sources(layer.id).get(other.id)
    if source is None or len(other.dims) != 2 or graph.layer(source.layer).type == "Reshape":
        return None
    if not _constant(graph, source, DEEPEST):
        return None
    first = own is layer.inputs[0]
    last = _flag(layer, "transpose_b") if first else not _flag(layer, "transpose_a")
    size = other.dims[-1 if last else -2]
    return size if size > 0 else None


def _constant(graph: Graph, source: Source, depth: int) -> bool:
    producer = graph.layer(source.layer)
    if role_of(producer) is Role.CONSTANT:
        return True
    inputs = graph.sources(producer.id).values()
    return bool(inputs) and depth > 0 and all(_constant(graph, before, depth - 1) for before in inputs)


def _flag(layer: Layer, name: str) -> bool:
    return layer.raw.get(name, "false").lower() not in {"false", "0"}
