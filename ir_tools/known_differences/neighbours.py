"""The layers next to a layer, and constants among them, as patterns ask about them."""

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Set
from math import inf
from typing import TypeVar

from ir_tools.errors import ReadError
from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.ops import Array, Role, role_of
from ir_tools.weights import values

__all__ = [
    "COMPARISONS",
    "FAR",
    "MOVED",
    "VIEWS",
    "all_behind",
    "all_used",
    "computed_sources",
    "consumers_of",
    "gives_known_sizes",
    "integers",
    "interpolates",
    "made_from",
    "number_of",
    "numbers_of",
    "producer_of",
    "readers_of",
    "reads_of",
    "sources_of",
    "uniform_of",
    "values_of",
    "walked",
]

T = TypeVar("T", bound=Hashable)

COMPARISONS = frozenset({"Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual"})
"""Types of layers that give booleans."""
FAR = 64
"""How many layers are looked at for what decides, in front of or behind a layer."""
MOVED = frozenset({"Convert", "Reshape", "Squeeze", "Unsqueeze", "Transpose"})
"""Types of layers that products are computed with across."""
DIGITS = 19
"""Of integers of 64 bits, as many as fit whatever the digits are."""
VIEWS = frozenset({"Reshape", "Squeeze", "Unsqueeze"})
"""Types of layers that give the elements of their first input another shape, in the same memory."""


def gives_known_sizes(layer: Layer) -> bool:
    """Return whether a layer gives sizes that the file has, which releases write in its place."""
    return (
        layer.type == "ShapeOf" and min((size for port in layer.common.inputs for size in port.dims), default=-1) >= 0
    )


def interpolates(layer: Layer) -> bool:
    """Return whether a layer computes elements from several others that are near."""
    return layer.type == "Interpolate" and layer.common.raw.get("mode") != "nearest"


def reads_of(graph: Graph, source: Source) -> int:
    """Return how many inputs read a tensor, but for those of layers that give its size, which is known."""
    sized = sum(gives_known_sizes(graph.layer(one)) for one, _ in graph.consumers(*source, FAR))
    return graph.reads(*source) - sized


def sources_of(graph: Graph, layer: Layer) -> list[Source | None]:
    """Return what feeds each input of a layer, in order."""
    sources = graph.sources(layer.id)
    return [sources.get(port.id) for port in layer.common.inputs]


def computed_sources(graph: Graph, layer: Layer, constants: Container[int]) -> list[Source]:
    """Return what feeds a layer, but for what is computed of constants alone."""
    return [source for source in sources_of(graph, layer) if source is not None and source.layer not in constants]


def producer_of(graph: Graph, layer: Layer, number: int = 0) -> Layer | None:
    """Return the layer that gives an input."""
    source = dict(enumerate(sources_of(graph, layer))).get(number)
    return None if source is None else graph.layer(source.layer)


def made_from(graph: Graph, layer: Layer | None, through: Container[str]) -> Layer | None:
    """Return a layer unless it is of a type to look through; then what its first input is made from."""
    for _ in range(FAR):
        if layer is None or layer.type not in through:
            break
        layer = producer_of(graph, layer)
    return layer


def consumers_of(graph: Graph, layer: Layer) -> list[tuple[int, int]]:
    """Return the layers and ports that read the first output of a layer."""
    return graph.consumers(layer.id, layer.common.outputs[0].id) if layer.common.outputs else []


def readers_of(graph: Graph, layer: Layer) -> list[Layer]:
    """Return the first layers of all that read the first output."""
    ports = layer.common.outputs[:1]
    return [graph.layer(one) for port in ports for one, _ in graph.consumers(layer.id, port.id, FAR)]


def number_of(model: Model, graph: Graph, layer: Layer, number: int) -> float | None:
    """Return the value of an input that is a constant number; None if it is not one, or if it is missing."""
    found = values_of(model, graph, layer, number)
    return float(found.flat[0]) if found is not None and found.size == 1 else None


def uniform_of(model: Model, graph: Graph, layer: Layer, number: int) -> float | None:
    """Return the value of all elements of an input that is a constant; None if they differ, or if it is not one."""
    found = values_of(model, graph, layer, number)
    equal = found is not None and found.size and (found == found.flat[0]).all()
    return float(found.flat[0]) if found is not None and equal else None


def numbers_of(layer: Layer, name: str) -> list[int]:
    """Return the integers that an attribute lists; empty if one of them is not an integer of 64 bits."""
    texts = [text.strip() for text in layer.common.raw.get(name, "").split(",")]
    if all(text.removeprefix("-").isdecimal() and len(text) < DIGITS for text in texts):
        return [*map(int, texts)]
    return []


def integers(model: Model, graph: Graph, layer: Layer, number: int) -> Array | None:
    """Return the values of an input that is a constant of integers; None if it is not one, or if they are missing."""
    found = values_of(model, graph, layer, number)
    return found if found is not None and found.dtype.kind in "iu" else None


def values_of(model: Model, graph: Graph, layer: Layer, number: int) -> Array | None:
    """Return the numbers of an input that is a constant, converted or not; None if it is not one, or lacks them."""
    feed = producer_of(graph, layer, number)
    if feed is not None and feed.type == "Convert":
        feed = producer_of(graph, feed)
    if feed is None or role_of(feed) is not Role.CONSTANT:
        return None
    try:
        found = values(feed.raw, model.weights)
    except ReadError:
        return None
    return found if found.dtype.kind in "fiu" else None


def all_behind(graph: Graph, layers: Iterable[int]) -> Set[int]:
    """Return layers, by id, and all behind them."""
    return {*walked(layers, graph.successors, inf)}


def all_used(graph: Graph, others: Container[int] = ()) -> Set[int]:
    """Return the layers that Results, variables and `others` are computed of, by id, these included."""
    ends = {Role.RESULT, Role.ASSIGN_VARIABLE}
    used = (layer.id for layer in graph.layers() if role_of(layer) in ends or layer.id in others)
    return {*walked(used, graph.producers, inf)}


def walked(start: Iterable[T], further: Callable[[T], Iterable[T]], most: float = FAR) -> Iterator[T]:
    """Yield each of some layers or tensors, and of those further on, once; no more than `most`."""
    waiting, passed = [*start], set[T]()
    while waiting and len(passed) < most:
        one = waiting.pop()
        if one not in passed:
            passed.add(one)
            yield one
            waiting += further(one)
