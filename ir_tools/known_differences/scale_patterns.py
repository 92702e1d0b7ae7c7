"""Scales of quantized data, which releases apply behind a reduction of them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from math import prod

from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.known_differences.fusing_patterns import FACTORS, SUMS
from ir_tools.known_differences.neighbours import FAR, integers, producer_of, sources_of, walked
from ir_tools.known_differences.releases.seen import NUMBER, Pattern

__all__ = ["CHANNEL", "REDUCED", "axis_left", "is_scaled_by_a_list", "scales_behind"]

REDUCED = frozenset({"ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"})
"""Types of reductions that scales move behind. Measured."""
PASSED = REDUCED | {
    *("Add", "Concat", "MVN", "MaxPool", "Negative", "PReLU", "Pad", "ReLU", "Reshape", "Split", "Squeeze"),
    *("StridedSlice", "Subtract", "Transpose", "Unsqueeze", "VariadicSplit"),
}
"""Types of other layers that they move behind. Measured."""
LEVELS = frozenset({"15", "16", "255", "256", "65536"})
"""Of a FakeQuantize that releases write as rounded data and a scale. Measured."""
CHANNEL = 1


def scales_behind(
    model: Model,
    graph: Graph,
    reduction: Layer,
    constants: Collection[int],
    patterns: Callable[[Layer], Iterable[str]],
) -> Iterator[int]:
    """Yield along which axes of its output what scales the data of a reduction scales this; `NUMBER` if it is a number.

    `patterns`: returns those of a product.
    """
    first = [source for source in sources_of(graph, reduction)[:1] if source is not None]
    for source in walked(first, partial(_before, graph, constants)):
        layer = graph.layer(source.layer)
        if layer.type == "FakeQuantize":
            scaled = _axes_of_limits(graph, layer, constants)
        elif layer.type == "MatMul":
            found = {*patterns(layer)}
            scaled = {NUMBER} if Pattern.BYTES_BY_NUMBER in found else set()
            scaled |= {len(layer.common.outputs[0].dims) - 1} if Pattern.BYTE_COLUMNS in found else set()
        else:
            continue
        yield from (left for axis in scaled for left in axis_left(model, graph, reduction, axis))


def is_scaled_by_a_list(graph: Graph, view: Layer, constants: Collection[int]) -> bool:
    """Return whether a list of constants scales, or shifts beside numbers that scale, what a layer reads.

    One that is the first factor does not count.
    """
    given: dict[bool, list[Sequence[int]]] = {True: [], False: []}
    layer = producer_of(graph, view)
    for _ in range(FAR):
        if layer is None or layer.type not in FACTORS:
            break
        held = [source is not None and source.layer in constants for source in sources_of(graph, layer)]
        if held != [False, True] and (held != [True, False] or layer.type != "Add"):
            break
        given[layer.type not in SUMS].append(layer.common.inputs[held.index(True)].dims)
        layer = producer_of(graph, layer, held.index(False))
    scales, shifts = given[True], given[False]
    lists = [len(sizes) == 1 != sizes[0] for sizes in (*scales, *shifts)]
    numbers = bool(scales) and all(prod(sizes) == 1 for sizes in scales)
    return any(lists if numbers else lists[: len(scales)])


def _before(graph: Graph, constants: Collection[int], source: Source) -> list[Source]:
    """Return what a layer reads if scales move behind it: with constants, if these are numbers, or for each column."""
    layer = graph.layer(source.layer)
    sources = [(one, port) for one, port in zip(sources_of(graph, layer), layer.common.inputs, strict=True) if one]
    computed = [one for one, _ in sources if one.layer not in constants]
    if layer.type in PASSED - SUMS:
        return computed
    held = [port for one, port in sources if one.layer in constants]
    numbers = all(prod(port.dims) == 1 for port in held)
    if layer.type in SUMS:
        return computed if numbers or any(graph.layer(one.layer).type == "MatMul" for one in computed) else []
    return computed if held and numbers and layer.type in FACTORS else []


def _axes_of_limits(graph: Graph, quantized: Layer, constants: Collection[int]) -> set[int]:
    """Return along which axes constant limits of a FakeQuantize differ: `NUMBER` if they do not, or the channels."""
    limits = [source is not None and source.layer in constants for source in sources_of(graph, quantized)[1:]]
    ports = quantized.common.inputs
    if not limits or not all(limits) or quantized.common.raw.get("levels") not in LEVELS:
        return set()
    rank = len(ports[0].dims)
    axes = {axis for port in ports[1:] for axis, size in enumerate(port.dims, rank - len(port.dims)) if size != 1}
    return axes & {CHANNEL} if axes else {NUMBER}


def axis_left(model: Model, graph: Graph, reduction: Layer, axis: int) -> Iterator[int]:
    """Yield the axis of the output of a reduction that one of its data becomes, if it is left.

    `NUMBER` is, which is none.
    """
    if axis == NUMBER:
        yield axis
        return
    axes, rank = integers(model, graph, reduction, 1), len(reduction.common.inputs[0].dims)
    if axes is None or not rank:
        return
    reduced = {int(one) % rank for one in axes.flat}
    kept = (reduction.common.raw.get("keep_dims") or "false").lower() == "true"
    if axis not in reduced:
        yield axis if kept else axis - sum(one < axis for one in reduced)
