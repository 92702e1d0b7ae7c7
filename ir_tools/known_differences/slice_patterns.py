"""What is behind a Slice: shapes of its sizes, and layers that combine it with tensors whose sizes limit it."""

from collections.abc import Iterator, Mapping, Sequence, Set

import numpy as np

from ir_tools.graph import Graph, Layer, Model, port_place
from ir_tools.known_differences.neighbours import (
    FAR,
    MOVED,
    integers,
    made_from,
    numbers_of,
    producer_of,
    readers_of,
    sources_of,
    walked,
)
from ir_tools.known_differences.releases.seen import COMBINING, ELEMENTWISE, Pattern
from ir_tools.ops import Role, role_of

__all__ = ["slices"]

SIZED = {"Broadcast": 1, "Reshape": 1}
"""Types of layers that make a tensor of a shape, and which of their inputs that is."""
SLICED = ("data", "start", "stop", "step")
"""The inputs of a Slice that are always there."""
KEEPING = ELEMENTWISE | {"SoftMax", "Transpose"}
"""Types of layers whose sizes are those of their first input."""
PARTING = frozenset({"Concat", "Split", "VariadicSplit"})
"""Types of layers whose sizes are those of their inputs but along one axis."""
UNSIZED: Mapping[Pattern, Set[str]] = {
    Pattern.MATCHED: COMBINING | {"ShapeOf"},
    Pattern.MATCHED_LATER: frozenset({"Range"}),
    Pattern.MASKING: frozenset({"Range"}),
}
"""Types of layers of whose sizes releases do not know that they are those of what they read. Measured."""


def slices(model: Model, graph: Graph, cut: Layer) -> Iterator[Pattern]:
    """Yield the patterns of a Slice, as far as they are true of it."""
    if cut.common.outputs:
        yield from _shapes_of(graph, cut)
        yield from _gathered(model, graph, cut)
        yield from _matched(model, graph, cut)


def _shapes_of(graph: Graph, cut: Layer) -> Iterator[Pattern]:
    """Yield `SIZING` and `RESHAPED` as far as they are true of a Slice."""
    dims = cut.common.outputs[0].dims
    waiting, passed = [(cut.id, False)], set[tuple[int, bool]]()
    while waiting and len(passed) < FAR:
        here = waiting.pop()
        passed.add(here)
        number, listed = here
        for port in graph.layer(number).common.outputs:
            for reader, given in ((graph.layer(one), port) for one, port in graph.consumers(number, port.id, FAR)):
                if listed and port_place(reader.common.inputs, given) == SIZED.get(reader.type, -1):
                    yield Pattern.SIZING
                elif reader.type == "Reshape":
                    yield Pattern.RESHAPED
                elif listed or reader.type == "ShapeOf" or dims in [one.dims for one in reader.common.outputs]:
                    waiting += {(reader.id, listed or reader.type == "ShapeOf")} - passed


def _gathered(model: Model, graph: Graph, cut: Layer) -> Iterator[Pattern]:
    """Yield `GATHERED` if it is true of a Slice."""
    rank = len(cut.common.outputs[0].dims)
    axes = integers(model, graph, cut, 4) if len(cut.common.inputs) > len(SLICED) else None
    cut_along = {int(axis) % rank for axis in axes.flat} if axes is not None and rank else {*range(rank)}
    for reader in readers_of(graph, cut):
        along = {axis % rank for axis in numbers_of(reader, "axis")} if rank else set[int]()
        if reader.type == "GatherElements" and producer_of(graph, reader) is cut and cut_along - along:
            yield Pattern.GATHERED


def _matched(model: Model, graph: Graph, cut: Layer) -> Iterator[Pattern]:
    """Yield `MATCHED`, `MATCHED_LATER` and `MASKING` as far as they are true of a Slice."""
    axes = integers(model, graph, cut, 4) if len(cut.common.inputs) > len(SLICED) else None
    limiting = _sized_by(graph, producer_of(graph, cut, SLICED.index("stop")))
    rank = len(cut.common.outputs[0].dims)
    if limiting is None or axes is None or axes.size != 1 or not rank or _is_first(graph, cut, limiting):
        return
    waiting, passed = [(cut.id, int(axes.flat[0]) % rank - rank)], set[tuple[int, int]]()
    while waiting and len(passed) < FAR:
        here = waiting.pop()
        passed.add(here)
        number, axis = here
        ports = graph.layer(number).common.outputs
        for reader, given in (end for port in ports for end in graph.consumers(number, port.id, FAR)):
            layer = graph.layer(reader)
            place = port_place(layer.common.inputs, given)
            if place is not None:
                found = _matching(layer, place, axis)
                yield from (one for one in found if _reads_of(graph, layer, place, limiting, UNSIZED[one]))
                waiting += {(reader, one) for one in _axes_behind(model, graph, layer, place, axis)} - passed


def _axes_behind(model: Model, graph: Graph, layer: Layer, place: int, axis: int) -> list[int]:
    """Return which axes of its outputs, from the end, have the size that an axis of an input has."""
    if layer.type == "Transpose":
        order = integers(model, graph, layer, 1)
        return (
            [axis] if order is None else [int(one) for one in np.flatnonzero(order == axis + order.size) - order.size]
        )
    if layer.type not in PARTING:
        return [axis] * (layer.type in KEEPING)
    axes = numbers_of(layer, "axis") if layer.type == "Concat" else integers(model, graph, layer, 1)
    rank = len(layer.common.inputs[place].dims)
    changed = {int(one) % rank - rank for one in np.ravel(axes)} if axes is not None and rank else {axis}
    return [axis] * (axis not in changed)


def _is_first(graph: Graph, cut: Layer, limiting: Layer) -> bool:
    """Return whether what a Slice cuts is made of an input of the graph, and what limits it of a later one."""
    made = [made_from(graph, one, KEEPING | {"Slice"}) for one in (cut, limiting)]
    numbers = [None if one is None or role_of(one) is not Role.PARAMETER else one.id for one in made]
    first = next((one.id for one in graph.layers() if one.id in numbers), None)
    return None not in numbers and first == numbers[0] != numbers[1]


def _sized_by(graph: Graph, limit: Layer | None) -> Layer | None:
    """Return the layer that gives the tensor one of whose sizes is a limit."""
    for _ in range(FAR):
        if limit is None or limit.type not in MOVED | {"Gather", "ShapeOf"}:
            return None
        given = producer_of(graph, limit)
        if limit.type == "ShapeOf":
            return given
        limit = given
    return None


def _matching(layer: Layer, place: int, axis: int) -> Sequence[Pattern]:
    """Return the patterns of a Slice if a layer needs, along an axis from the end, as many elements in other inputs."""
    matched = False
    if layer.type == "MatMul":
        transposed = layer.common.raw.get(("transpose_a", "transpose_b")[place > 0]) == "true"
        matched = axis == (-2 if transposed is (place == 0) else -1)
    elif layer.type == "Concat":
        rank = len(layer.common.inputs[place].dims)
        joined = [one % rank - rank for one in numbers_of(layer, "axis") if rank]
        matched = bool(joined) and axis not in joined
    elif layer.type == "ScaledDotProductAttention" and (place, axis) == (3, -1):
        return [Pattern.MASKING]
    return [Pattern.MATCHED, Pattern.MATCHED_LATER] if matched else []


def _reads_of(graph: Graph, layer: Layer, place: int, limiting: Layer, unsized: Set[str]) -> bool:
    """Return whether another input is a tensor, or computed of it by layers of other types than the `unsized`.

    What a Slice cuts counts, but not where it cuts that.
    """

    def before(number: int) -> list[int]:
        behind = graph.layer(number)
        sources = sources_of(graph, behind)[: 1 if behind.type == "Slice" else None]
        return [source.layer for source in sources if source is not None and behind.type not in unsized]

    others = [source.layer for number, source in enumerate(sources_of(graph, layer)) if source and number != place]
    return limiting.id in walked(others, before)
