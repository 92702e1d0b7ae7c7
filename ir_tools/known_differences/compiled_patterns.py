"""Elementwise layers that releases compile as one: which tensors these mistake for others, or overwrite too early."""

from collections.abc import Collection, Iterator

from ir_tools.graph import Graph, Layer, Source
from ir_tools.known_differences.neighbours import FAR, computed_sources, sources_of, walked
from ir_tools.known_differences.releases.seen import ELEMENTWISE, Pattern
from ir_tools.ops import Role, role_of

__all__ = ["mistakes_parts", "overwritten_early"]

COMPILED = ELEMENTWISE.difference({"Cos", "HSigmoid", "Log", "Mish", "Sign", "Sin", "SoftPlus", "Tan"}) | {
    *("FakeQuantize", "PReLU", "Swish"),
}
"""Types of layers that 2022.3 and later compile as one. Measured."""
INVERTED = frozenset({"Divide", "Subtract"})
"""Types of layers that it turns into others, which combine with the inverse of the second input."""
MOST_AXES = 6


def mistakes_parts(graph: Graph, split: Layer, constants: Collection[int]) -> bool:
    """Return whether 2022.3 takes a part of a split for another one, in elementwise layers that it compiles as one.

    Such layers are joined one after the other, with a list of what they read. What a joined one reads that is in the
    list already is looked up by the name of the layer that gives it, which all parts of a split share.
    """
    ports = [(split.id, port.id) for port in split.common.outputs]
    if max((graph.reads(*port) for port in ports), default=0) < 2:
        return False
    readers = [one for port in ports for one, _ in graph.consumers(*port)]
    behind = {*walked(readers, lambda one: graph.successors(one) if _is_compiled(graph, one) else ())}
    lists = dict[int, list[Source]]()
    waiting = [one for one in behind if _is_compiled(graph, one)]
    while waiting:
        sources = computed_sources(graph, graph.layer(waiting[-1]), constants)
        before = [one.layer for one in sources if one.layer in behind and _is_compiled(graph, one.layer)]
        missing = [one for one in before if one not in lists]
        if missing:
            waiting += missing
            continue
        layer = graph.layer(waiting.pop())
        read = lists[layer.id] = list[Source]()
        for place, source in enumerate(sources):
            joined = lists.get(source.layer)
            if place and layer.type in INVERTED:
                joined = [*dict.fromkeys(joined or [source])]
            if joined is None:
                read.append(source)
            for one in joined or ():
                if one not in read:
                    read.append(one)
                elif one.layer == split.id and next(each for each in read if each.layer == split.id) != one:
                    return True
    return False


def overwritten_early(graph: Graph, layer: Layer, *, fused: bool) -> Iterator[Pattern]:
    """Yield which of `OVERWRITING_READ` and `OVERWRITING_JOINED` are true of a layer that overwrites what it reads.

    `fused`: what it reads is compiled with a convolution or another layer in front of that.
    """
    source = next(iter(sources_of(graph, layer)), None)
    if source is None or not _is_sized(layer):
        return
    others = [one for one, _ in graph.consumers(*source, FAR) if one != layer.id]
    joined, read = not fused and _is_sized(graph.layer(source.layer)), any(_is_compiled(graph, one) for one in others)
    if read or (joined and others):
        yield Pattern.OVERWRITING_READ
    if read and joined:
        yield Pattern.OVERWRITING_JOINED


def _is_compiled(graph: Graph, number: int) -> bool:
    """Return whether a layer is compiled with others; one that reads an input of the model is not."""
    layer = graph.layer(number)
    feeds = [graph.layer(source.layer) for source in sources_of(graph, layer) if source is not None]
    return _is_sized(layer) and all(role_of(one) is not Role.PARAMETER for one in feeds)


def _is_sized(layer: Layer) -> bool:
    """Return whether a layer is of a type, and gives floats of sizes, that are compiled with others."""
    return layer.type in COMPILED and all(
        port.precision in {"FP16", "FP32"} and len(port.dims) <= MOST_AXES and min(port.dims, default=1) >= 0
        for port in layer.common.outputs
    )
