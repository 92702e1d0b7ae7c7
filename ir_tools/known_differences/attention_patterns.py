"""Products of tensors around a SoftMax, which releases compile as one layer."""

from collections.abc import Iterator
from math import prod

from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.known_differences.follower_patterns import QUANTIZED_ON
from ir_tools.known_differences.neighbours import (
    FAR,
    VIEWS,
    consumers_of,
    integers,
    made_from,
    producer_of,
    readers_of,
    sources_of,
)
from ir_tools.known_differences.releases.seen import ELEMENTWISE, Pattern

__all__ = ["attentions", "has_mask_of_one_row", "is_widened", "overruns"]

BETWEEN = ELEMENTWISE | VIEWS
"""Types of layers before or behind the SoftMax that are compiled with it."""
FEW_KEYS, BLOCK = 32, 64
"""Up to how many keys, and from which size on, releases compute a quantized attention wrongly. Measured."""
MASK = 3
"""Which input of an attention the mask is."""


def attentions(model: Model, graph: Graph, softmax: Layer) -> Iterator[Pattern]:
    """Yield `MIXED_RANKS`, `OVERRUN`, `QUERIED_VALUES` and `WIDENED` as true of a SoftMax between two products."""
    first, behind = _before(graph, softmax), _behind(graph, softmax)
    if first is None or behind is None:
        return
    second, other = behind
    if is_widened(graph, second):
        yield Pattern.WIDENED
    if overruns(graph, first, second, other):
        yield Pattern.OVERRUN
    ranks = [len(port.dims) for port in (*first.common.inputs, second.common.inputs[other])]
    if {*ranks} == {3, 4} and (other == 1 or ranks[-1] == 4):
        yield Pattern.MIXED_RANKS
    *batch, rows = first.common.outputs[0].dims[:-1] or (1,)
    divided = any(rows % count == 0 for count in range(2, rows))
    queries, values = (_unviewed(graph, sources_of(graph, one)[place]) for one, place in ((first, 0), (second, 1)))
    if other == 0 or queries != values or prod(batch) != 1 or not divided:
        return
    if not (_is_scaled(graph, first) or _exchanges(model, graph, producer_of(graph, first))):
        yield Pattern.QUERIED_VALUES


def is_widened(graph: Graph, attention: Layer) -> bool:
    """Return whether elementwise layers alone combine several matrices with a tensor of more dimensions."""
    sizes = [port.dims for port in attention.common.outputs[:1]]
    if not sizes or prod(sizes[0][:-2]) == 1:
        return False
    layer = attention
    for _ in range(FAR):
        readers = consumers_of(graph, layer)
        layer = graph.layer(readers[0][0]) if len(readers) == 1 else attention
        if layer.type not in ELEMENTWISE or not layer.common.outputs:
            return False
        if len(layer.common.outputs[0].dims) > len(sizes[0]):
            return True
    return False


def overruns(graph: Graph, scoring: Layer, giving: Layer, place: int) -> bool:
    """Return whether queries, keys and output of an attention are quantized, and it has large vectors for few keys.

    Args:
        graph: that it is in.
        scoring: the layer that multiplies queries by keys.
        giving: the layer that gives the output; the attention itself is both.
        place: which input of that the values are.
    """
    ports = (*scoring.common.inputs[:2], *giving.common.inputs[place : place + 1])
    if len(ports) <= 2 or min((size for port in ports for size in port.dims), default=-1) < 0:
        return False
    keys, size = (1, *ports[-1].dims)[-2:]
    levels = [made_from(graph, producer_of(graph, scoring, number), QUANTIZED_ON) for number in range(2)]
    quantized = [one is not None and one.type == "FakeQuantize" for one in levels]
    again = [one.type for one in readers_of(graph, giving)] == ["FakeQuantize"]
    return keys <= FEW_KEYS and size > BLOCK and all(quantized) and again


def has_mask_of_one_row(graph: Graph, attention: Layer) -> bool:
    """Return whether a Reshape gives the mask, with more heads and an unknown number of rows, of a tensor of one row.

    The last axis stays, as where one row for all queries becomes that of each head.
    """
    mask = producer_of(graph, attention, MASK)
    if mask is None or mask.type != "Reshape" or not mask.common.inputs:
        return False
    before, behind = mask.common.inputs[0].dims, mask.common.outputs[0].dims
    return 1 < len(before) < len(behind) and before[-2:] == (1, *behind[-1:]) and behind[-2] < 0


def _before(graph: Graph, softmax: Layer) -> Layer | None:
    """Return the product that gives, alone or through elementwise layers, what a SoftMax alone reads."""
    waiting = [softmax]
    for _ in range(FAR):
        if not waiting:
            return None
        for source in sources_of(graph, waiting.pop()):
            if source is None or graph.reads(*source) != 1:
                continue
            layer = graph.layer(source.layer)
            if _is_product(layer):
                return layer
            if layer.type in BETWEEN:
                waiting.append(layer)
    return None


def _behind(graph: Graph, softmax: Layer) -> tuple[Layer, int] | None:
    """Return the product of what a SoftMax gives, alone or through elementwise layers, and which input the other is."""
    layer = softmax
    for _ in range(FAR):
        readers = consumers_of(graph, layer)
        if len(readers) != 1:
            return None
        reader = graph.layer(readers[0][0])
        if _is_product(reader):
            other = int(readers[0][1] == reader.common.inputs[0].id)
            return None if reader.common.raw.get("transpose_b") == "true" else (reader, other)
        if reader.type not in BETWEEN:
            return None
        layer = reader
    return None


def _is_product(layer: Layer) -> bool:
    """Return whether a layer multiplies two tensors of 3 or 4 dimensions, the first of which it does not transpose."""
    ports = layer.common.inputs
    return (
        layer.type == "MatMul"
        and layer.common.raw.get("transpose_a") != "true"
        and len(ports) == 2
        and all(len(port.dims) in {3, 4} and min(port.dims) > 0 for port in ports)
    )


def _is_scaled(graph: Graph, product: Layer) -> bool:
    """Return whether a number scales a product, or the sum that it is part of, which releases do to its input then."""
    layer = product
    for _ in range(2):
        layer = graph.layer(consumers_of(graph, layer)[0][0])
        numbers = [prod(port.dims) for port in layer.common.inputs[1:]]
        if layer.type in {"Multiply", "Divide"} and numbers == [1]:
            return True
        if layer.type != "Add":
            return False
    return False


def _exchanges(model: Model, graph: Graph, layer: Layer | None) -> bool:
    """Return whether a layer exchanges rows and columns, which products then read as they were."""
    order = integers(model, graph, layer, 1) if layer is not None and layer.type == "Transpose" else None
    return order is not None and order.size > 1 and int(order.flat[-1]) == order.size - 2


def _unviewed(graph: Graph, source: Source | None) -> Source | None:
    """Return the tensor whose elements a layer gives another shape, if it does."""
    while source is not None and graph.layer(source.layer).type in VIEWS:
        source = next(iter(sources_of(graph, graph.layer(source.layer))), None)
    return source
