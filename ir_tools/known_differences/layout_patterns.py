"""Tensors that a convolution or pooling orders in memory in its own way, and that are read as they lie there."""

from collections.abc import Collection, Iterator

from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.known_differences.follower_patterns import QUANTIZED_ON
from ir_tools.known_differences.fusing_patterns import DECONVOLUTIONS
from ir_tools.known_differences.neighbours import (
    COMPARISONS,
    FAR,
    VIEWS,
    computed_sources,
    integers,
    made_from,
    producer_of,
    readers_of,
    sources_of,
    walked,
)
from ir_tools.known_differences.releases.seen import COMBINING, CONVOLUTIONS, ELEMENTWISE

__all__ = ["has_channels_last", "is_transposed_before", "outlives_products"]

ORDERING = frozenset({"AvgPool", "Convolution", "ConvolutionBackpropData", "GroupConvolution", "MaxPool"})
"""Types of layers whose output lies in memory in another order. Measured, as the others."""
KEEPING = (
    ELEMENTWISE | VIEWS | {"Gather", "PReLU", "Pad", "Slice", "Split", "StridedSlice", "Swish", "Tile", "VariadicSplit"}
)
"""Types of layers that keep the order of what they read."""
JOINING = COMBINING | COMPARISONS | {"Concat"}
"""Types of layers that need their inputs in one order, that of the first."""
KEEPING_CHANNELS = ELEMENTWISE | {
    *("AvgPool", "Concat", "Convert", "FakeQuantize", "MVN", "MaxPool", "NormalizeL2", "PReLU", "Pad"),
    *("ReduceMax", "ShuffleChannels", "SpaceToDepth", "Split", "Squeeze", "StridedSlice", "Tile", "Transpose"),
    *("Unsqueeze", "VariadicSplit"),
}
"""Types of layers whose channels are last in memory if those of what they read are."""
AXES = 3
"""Of the tensors that are concerned."""


def is_transposed_before(model: Model, graph: Graph, layer: Layer, constants: Collection[int]) -> bool:
    """Return whether the channels that a layer reads are moved before, and only elementwise layers are between."""
    for _ in range(FAR):
        sources = computed_sources(graph, layer, constants)
        if len(sources) != 1 or graph.reads(*sources[0]) != 1:
            return False
        layer = graph.layer(sources[0].layer)
        if layer.type == "Transpose":
            order = integers(model, graph, layer, 1)
            return order is None or order.size < 2 or order.tolist()[1] != 1
        if layer.type not in ELEMENTWISE:
            return False
    return False


def outlives_products(graph: Graph, transpose: Layer, constants: Collection[int]) -> bool:
    """Return whether what a Transpose gives of a convolution is joined with what a product makes of it.

    Args:
        graph: that the Transpose is in.
        transpose: the layer.
        constants: the layers of the graph that are computed of constants alone.
    """
    sizes = transpose.common.inputs[0].dims if transpose.common.inputs else ()
    if len(sizes) != AXES or min(sizes) < 0 or 1 not in sizes[1:]:
        return False
    readers = readers_of(graph, transpose)
    products = {one.id for one in readers if one.type == "MatMul"}
    return (
        bool(products)
        and _is_ordered(graph, transpose, constants)
        and any(
            layer in products
            for reader in readers
            for others in _joined(graph, transpose, reader, constants)
            for layer in walked((other.layer for other in others), graph.producers)
        )
    )


def has_channels_last(graph: Graph, layer: Layer) -> bool:
    """Return whether the channels of what a layer reads may be last in memory.

    They are behind an Interpolate, unless a convolution is before it, and behind a quantized convolution.
    """
    return any(
        _is_quantized(graph, one)
        or (one.type == "Interpolate" and not any(map(_is_convolution, _arranged(graph, one))))
        for one in _arranged(graph, layer)
    )


def _arranged(graph: Graph, layer: Layer) -> Iterator[Layer]:
    """Return the layers before one that its data lie in memory like, through those that keep channels last."""
    first = producer_of(graph, layer)
    before = walked(
        [] if first is None else [first.id],
        lambda number: graph.producers(number) if graph.layer(number).type in KEEPING_CHANNELS else (),
    )
    return map(graph.layer, before)


def _is_convolution(layer: Layer) -> bool:
    return layer.type in CONVOLUTIONS | DECONVOLUTIONS


def _is_quantized(graph: Graph, layer: Layer) -> bool:
    """Return whether a layer is a convolution of quantized data."""
    data = made_from(graph, producer_of(graph, layer), QUANTIZED_ON) if _is_convolution(layer) else None
    return data is not None and data.type == "FakeQuantize"


def _is_first(graph: Graph, source: Layer, reader: Layer) -> bool:
    """Return whether a layer reads another one as its first input."""
    first = next(iter(sources_of(graph, reader)), None)
    return first is not None and first.layer == source.id


def _is_ordered(graph: Graph, transpose: Layer, constants: Collection[int]) -> bool:
    """Return whether a convolution or pooling of three axes decides how the data of a Transpose lie in memory."""
    found, waiting = 0, computed_sources(graph, transpose, constants)[:1]
    for _ in range(FAR):
        if not waiting:
            break
        layer = graph.layer(waiting.pop().layer)
        if layer.type in ORDERING:
            found += len(layer.common.outputs[0].dims) == AXES
        elif layer.type in KEEPING:
            waiting += computed_sources(graph, layer, constants)
    return found == 1


def _joined(graph: Graph, first: Layer, reader: Layer, constants: Collection[int]) -> Iterator[list[Source]]:
    """Yield what else is joined with a tensor that comes first, or with its combination with other tensors."""
    for _ in range(FAR):
        if reader.type not in JOINING or not _is_first(graph, first, reader):
            return
        yield computed_sources(graph, reader, constants)[1:]
        readers = readers_of(graph, reader)
        if len(readers) != 1:
            return
        first, reader = reader, readers[0]
