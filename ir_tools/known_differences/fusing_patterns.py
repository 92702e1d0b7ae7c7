"""Elementwise layers that are compiled with the layer whose output they compute with, and others that cannot be."""

from collections.abc import Collection, Iterator
from math import prod

from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.known_differences.neighbours import (
    FAR,
    computed_sources,
    number_of,
    producer_of,
    reads_of,
    sources_of,
    walked,
)
from ir_tools.known_differences.releases.seen import ANY_CONVOLUTION, COMBINING, CONVOLUTIONS, ELEMENTWISE, Pattern

__all__ = [
    "DECONVOLUTIONS",
    "FACTORS",
    "FUNCTIONS",
    "REDUCTIONS",
    "SUMS",
    "compiled_before",
    "convolution_of",
    "is_by_channel",
    "is_by_numbers",
    "reads_deconvolved",
    "shifted_channels",
]

DECONVOLUTIONS = frozenset({"ConvolutionBackpropData", "GroupConvolutionBackpropData"})
"""Types of layers that no function of one input is compiled with."""
SCALED = frozenset({"FakeQuantize"}) | DECONVOLUTIONS
"""Types of layers that products and sums by constants alone are compiled with. Measured."""
REDUCTIONS = frozenset(f"Reduce{one}" for one in ("L1", "L2", "Max", "Mean", "Min", "Prod", "Sum"))
FUSING = SCALED | CONVOLUTIONS | REDUCTIONS | {"Interpolate", "MVN", "MatMul", "NormalizeL2"}
"""Types of layers that elementwise layers behind them are compiled with: those by numbers and by constants for each
channel, or for each column of a product, functions of one input, and the sum with a tensor of the same sizes behind a
convolution. Measured."""
POOLING = frozenset({"AvgPool"})
"""Types of layers that elementwise layers are kept for, but not compiled with."""
COLUMNS = 3
"""Of how many axes at most a product is that constants for each column are compiled with on all releases. Measured."""
FUNCTIONS = (ELEMENTWISE | {"SoftPlus", "SoftSign"}) - COMBINING
SUMS = frozenset({"Add", "Subtract"})
FACTORS = SUMS | {"Divide", "Multiply"}
"""Types of layers that shift, and those that shift or scale, by constants or tensors."""
TAKING = frozenset(
    {
        *("Concat", "Convert", "Gather", "ShapeOf", "Slice", "Split", "Squeeze", "StridedSlice", "Unsqueeze"),
        "VariadicSplit",
    }
)
"""Types of layers that give sizes of a tensor as they are."""


def compiled_before(
    graph: Graph, layer: Layer, constants: Collection[int], known: dict[int, Layer | None]
) -> Iterator[str]:
    """Yield which of `FUSED`, `UNFUSED`, `OF_ROWS` and `OF_IMAGES` are true of a layer; others may read its input.

    Arguments as of `convolution_of`.
    """
    waiting, functions, axes = next(iter(sources_of(graph, layer)), None), False, set[int]()
    for passed in range(FAR):
        if waiting is None or (passed and graph.reads(*waiting) != 1):
            return
        before = graph.layer(waiting.layer)
        is_product, rank = before.type == "MatMul", len(_sizes(graph, waiting))
        place = -1 if is_product else 1 - rank
        if passed and is_product and axes:
            yield from [Pattern.OF_ROWS] * (not axes <= {place}) + [Pattern.OF_IMAGES] * (rank > COLUMNS)
        if passed and before.type in POOLING | (DECONVOLUTIONS if functions else set()):
            yield Pattern.UNFUSED
        elif passed and before.type in FUSING - (SCALED if functions else set()) and axes <= {place}:
            yield Pattern.FUSED
        if before.type not in FUNCTIONS | FACTORS:
            return
        functions |= before.type in FUNCTIONS
        computed = computed_sources(graph, before, constants)
        if len(computed) > 1:
            if before.type in SUMS and any(convolution_of(graph, one, constants, known) for one in computed):
                alike = len({_sizes(graph, one) for one in computed}) == 1
                yield Pattern.FUSED if alike else Pattern.UNFUSED
            return
        axes.update(*(_axes(graph, one) for one in sources_of(graph, before) if one and one.layer in constants))
        waiting = next(iter(computed), None)


def reads_deconvolved(model: Model, graph: Graph, convolution: Layer, constants: Collection[int]) -> bool:
    """Return whether a convolution reads a FakeQuantize, from a negative number on, of what a deconvolution gives."""
    quantized = producer_of(graph, convolution)
    if quantized is None or quantized.type != "FakeQuantize" or (number_of(model, graph, quantized, 1) or 0) >= 0:
        return False
    waiting, passed = next(iter(sources_of(graph, quantized)), None), 0
    while waiting is not None and passed < FAR:
        before, passed = graph.layer(waiting.layer), passed + 1
        computed = computed_sources(graph, before, constants)
        if before.type not in FUNCTIONS | FACTORS | {"PReLU"} or len(computed) != 1:
            return before.type == "ConvolutionBackpropData"
        waiting = computed[0]
    return False


def convolution_of(
    graph: Graph, source: Source, constants: Collection[int], known: dict[int, Layer | None]
) -> Layer | None:
    """Return the convolution that gives a tensor which, scaled or shifted by constants or not, is read once.

    Args:
        graph: that the tensor is in.
        source: which gives the tensor.
        constants: the layers of the graph that are computed of constants alone.
        known: the answers for layers of the graph. Without them a chain would be followed from each of its layers, in
            quadratic time.
    """
    passed, found = list[int](), None
    while graph.reads(*source) == 1 and source.layer not in known:
        layer = graph.layer(source.layer)
        passed.append(layer.id)
        found = layer if layer.type in CONVOLUTIONS else None
        others = computed_sources(graph, layer, constants)
        if layer.type not in FACTORS or len(others) != 1 or not is_by_channel(layer):
            break
        source = others[0]
    found = known.get(source.layer, found)
    known.update(dict.fromkeys(passed, found))
    return found


def shifted_channels(graph: Graph, levels: Layer, constants: Collection[int]) -> Iterator[Pattern]:
    """Yield which of `SHIFTED_AND_READ` and `SHIFTED_AND_SIZED` are true of a FakeQuantize."""
    source, passed, channels = next(iter(sources_of(graph, levels)), None), list[Source](), False
    while source is not None and graph.layer(source.layer).type in SUMS and len(passed) < FAR:
        total = graph.layer(source.layer)
        given = [one for one in sources_of(graph, total) if one is not None]
        computed = [one for one in given if one.layer not in constants]
        if len(computed) != 1 or (total.type == "Subtract" and computed != given[:1]):
            return
        by_channel = is_by_channel(total)
        if not by_channel and min(prod(port.dims) for port in total.common.inputs) != 1:
            return
        passed.append(source)
        source, channels = computed[0], channels or by_channel
    if source is None or not channels or graph.layer(source.layer).type not in ANY_CONVOLUTION:
        return
    if reads_of(graph, source) > 1 and all(reads_of(graph, one) == 1 for one in passed):
        yield Pattern.SHIFTED_AND_READ
    readers = [graph.layer(one).type for each in passed for one, _ in graph.consumers(*each)]
    given = [*passed, Source(levels.id, levels.common.outputs[0].id)]
    if len(readers) - readers.count("ShapeOf") == len(passed) and any(_are_combined(graph, one) for one in given):
        yield Pattern.SHIFTED_AND_SIZED


def _are_combined(graph: Graph, source: Source) -> bool:
    """Return whether an elementwise layer combines a size of a tensor with another number."""
    shapes = [one for one, _ in graph.consumers(*source, FAR) if graph.layer(one).type == "ShapeOf"]
    found = walked(shapes, lambda one: graph.successors(one) if graph.layer(one).type in TAKING else ())
    combined = (graph.layer(one) for one in found if graph.layer(one).type in COMBINING)
    return any(prod(port.dims) == 1 for layer in combined for port in layer.common.outputs)


def is_by_channel(layer: Layer) -> bool:
    """Return whether one input of an elementwise layer has the sizes of its output, and one an element per channel."""
    sizes = layer.common.outputs[0].dims
    channels = (1, *sizes[1:2], *(1 for _ in sizes[2:]))
    shapes = [(1,) * (len(sizes) - len(port.dims)) + tuple(port.dims) for port in layer.common.inputs]
    return sorted(shapes) == sorted([tuple(sizes), channels])


def is_by_numbers(graph: Graph, layer: Layer, constants: Collection[int]) -> bool:
    """Return whether all constants that a layer reads are numbers."""
    ports = zip(sources_of(graph, layer), layer.common.inputs, strict=True)
    return all(prod(port.dims) == 1 for source, port in ports if source is not None and source.layer in constants)


def _axes(graph: Graph, source: Source) -> set[int]:
    """Return along which axes, from the last one, a tensor is not of one element."""
    sizes = _sizes(graph, source)
    return {axis for axis, size in enumerate(sizes, -len(sizes)) if size != 1}


def _sizes(graph: Graph, source: Source) -> tuple[int, ...]:
    """Return the sizes of a tensor."""
    ports = graph.layer(source.layer).common.outputs
    return next((tuple(port.dims) for port in ports if port.id == source.port), ())
