"""Sums of what convolutions in 8 bits give, between FakeQuantizes: releases compile all of it as one layer."""

from collections.abc import Callable, Collection, Container, Iterator

from ir_tools.graph import Graph, Layer, Source
from ir_tools.known_differences.follower_patterns import QUANTIZED_ON
from ir_tools.known_differences.fusing_patterns import FACTORS, is_by_channel, is_by_numbers
from ir_tools.known_differences.neighbours import (
    FAR,
    computed_sources,
    gives_known_sizes,
    made_from,
    numbers_of,
    producer_of,
    readers_of,
    reads_of,
    sources_of,
    walked,
)
from ir_tools.known_differences.releases.seen import CONVOLUTIONS, Pattern

__all__ = ["residual"]

COMPILED = FACTORS | {
    *("Abs", "Clamp", "Elu", "Gelu", "HSigmoid", "HSwish", "Mish", "Negative", "PReLU", "ReLU", "Round", "Sigmoid"),
    *("SoftPlus", "Sqrt", "Swish", "Tanh"),
}
"""Types of layers that are compiled with a convolution, if constants for each channel or numbers alone are combined
with what it gives. Measured."""
REMOVED = 65536
"""From how many levels on releases do not compute with a FakeQuantize in bytes, or remove it."""


def residual(
    graph: Graph, total: Layer, constants: Collection[int], is_in_bytes: Callable[[Layer], bool]
) -> Iterator[Pattern]:
    """Yield `RESIDUAL` or `RESIDUAL_BY_CHANNEL` if one is true of a sum of two tensors.

    `is_in_bytes`: whether a convolution is of quantized data and weights of 8 bits.
    """
    sources = computed_sources(graph, total, constants)
    alike = len({port.dims for port in total.common.inputs}) == 1
    if len(sources) != 2 or not alike or not _is_quantized_again(graph, total, constants):
        return
    for source, other in (sources, sources[::-1]):
        levels, passed = _before(graph, source, constants, COMPILED)
        if levels is None or not _has_levels(levels):
            continue
        convolution, _ = _before(graph, next(iter(sources_of(graph, levels)), None), constants, FACTORS)
        if convolution is None or convolution.type != "Convolution" or other in sources_of(graph, convolution):
            continue
        if not _is_left(graph, other, total, levels, constants) or not is_in_bytes(convolution):
            continue
        by_number = all(is_by_numbers(graph, one, constants) for one in (levels, *passed))
        yield Pattern.RESIDUAL if by_number else Pattern.RESIDUAL_BY_CHANNEL


def _is_quantized_again(graph: Graph, total: Layer, constants: Collection[int]) -> bool:
    """Return whether a FakeQuantize alone reads what a layer gives, as it is or through layers compiled with it."""
    layer = total
    for _ in range(FAR):
        readers = [one for one in readers_of(graph, layer) if not gives_known_sizes(one)]
        if len(readers) != 1:
            return False
        if _has_levels(readers[0]):
            return producer_of(graph, readers[0]) is layer
        layer = readers[0]
        if not _is_compiled(graph, layer, constants, COMPILED):
            return False
    return False


def _before(
    graph: Graph, source: Source | None, constants: Collection[int], types: Container[str]
) -> tuple[Layer | None, list[Layer]]:
    """Return the layer that gives a tensor, through layers of some types, and these; None if others read it."""
    passed = list[Layer]()
    while source is not None and reads_of(graph, source) == 1 and len(passed) < FAR:
        layer = graph.layer(source.layer)
        if not _is_compiled(graph, layer, constants, types):
            return layer, passed
        passed.append(layer)
        source = computed_sources(graph, layer, constants)[0]
    return None, passed


def _is_compiled(graph: Graph, layer: Layer, constants: Collection[int], types: Container[str]) -> bool:
    """Return whether a layer of one of these types combines one tensor with numbers or constants for each channel."""
    computed = computed_sources(graph, layer, constants)
    if layer.type not in types or len(computed) != 1:
        return False
    if layer.type not in FACTORS:
        return True
    divides = layer.type == "Divide" and computed != sources_of(graph, layer)[:1]
    return not divides and (is_by_channel(layer) or is_by_numbers(graph, layer, constants))


def _has_levels(layer: Layer) -> bool:
    """Return whether a layer is a FakeQuantize that releases keep."""
    return layer.type == "FakeQuantize" and max(numbers_of(layer, "levels"), default=REMOVED) < REMOVED


def _is_left(graph: Graph, other: Source, total: Layer, levels: Layer, constants: Collection[int]) -> bool:
    """Return whether a sum that is compiled with a convolution may write over the other tensor.

    Nothing reads it but the sum and what gives the levels of the convolution, or it is not of levels, and releases
    scale a copy of it. If a convolution alone gives it, the sum is compiled with that one.
    """
    origin = made_from(graph, graph.layer(other.layer), QUANTIZED_ON)
    if origin is None or origin.type != "FakeQuantize":
        given, _ = _before(graph, other, constants, FACTORS)
        return given is None or given.type not in CONVOLUTIONS

    def computed(layer: int) -> Iterator[int]:
        return (one for one in graph.producers(layer) if one not in constants and one != other.layer)

    before = {total.id, *walked([levels.id], computed)}
    readers = (graph.layer(one) for one, _ in graph.consumers(*other, FAR))
    return all(one.id in before or gives_known_sizes(one) for one in readers)
