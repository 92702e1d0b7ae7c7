"""Indices that reach beyond their table, as far as that is known before anything runs.

Shape rules carry the values of small tensors, such as positions that are counted up. Of the indices that a TopK gives,
it is known that they are below the size of its axis, whatever its data is.
"""

from __future__ import annotations

from collections.abc import Sequence

from ir_tools.graph import Graph, Layer, Source
from ir_tools.ops.definition import Attrs, Fact

__all__ = ["IndexBounds"]

TABLES = [
    "Gather",
    "GatherElements",
    "EmbeddingBagOffsets",
    "EmbeddingBagOffsetsSum",
    "EmbeddingBagPacked",
    "EmbeddingBagPackedSum",
    "EmbeddingSegmentsSum",
]
"""Layers that look indices, their second input, up in a table, their first."""
MOVING = [
    "Convert",
    "Reshape",
    "Squeeze",
    "Unsqueeze",
    "Transpose",
    "Slice",
    "StridedSlice",
    "Gather",
    "Broadcast",
    "Tile",
    "Split",
    "VariadicSplit",
]
"""Layers that give elements of their first input."""


class IndexBounds:
    """The largest indices that tensors may hold, by graph and tensor."""

    def __init__(self) -> None:
        self._largest: dict[tuple[int, Source], int] = {}

    def follow(self, graph: Graph, layer: Layer, attrs: Attrs | None, inputs: Sequence[tuple[Source, Fact]]) -> None:
        """Remember what a layer makes of bounds.

        Args:
            graph: that holds the layer.
            layer: the layer.
            attrs: its attributes.
            inputs: what feeds it, in order.
        """
        outputs = [Source(layer.id, port.id) for port in layer.outputs]
        bound = None
        if layer.type == "TopK" and attrs is not None:
            bound, outputs = _size(inputs[0][1], attrs.axis), outputs[1:]
        elif layer.type in MOVING:
            largest = self._largest.get((id(graph), inputs[0][0]))
            bound = None if largest is None else largest + 1
        for output in outputs if bound else ():
            self._largest[id(graph), output] = (bound or 1) - 1

    def problem(
        self, graph: Graph, layer: Layer, attrs: Attrs | None, inputs: Sequence[tuple[Source, Fact]]
    ) -> str | None:
        """Return what is wrong with the indices that a layer looks up; None if nothing is known to be."""
        if layer.type not in TABLES or len(inputs) < 2 or attrs is None:
            return None
        facts = [fact for _, fact in inputs]
        rows, values = _size(facts[0], _axis(layer.type, attrs, facts)), facts[1].value
        largest = self._largest.get((id(graph), inputs[1][0]))
        if values is not None and values.exact is not None and values.exact.size:
            largest = int(values.exact.max())
        if rows is None or largest is None or largest < rows:
            return None
        return f"indices reach to {largest}; the table has {rows} rows"


def _axis(type: str, attrs: Attrs, facts: Sequence[Fact]) -> int:
    """Return the axis of the table that is indexed."""
    if type == "Gather" and len(facts) > 2:
        value = facts[2].value
        exact = None if value is None else value.exact
        return int(exact.ravel()[0]) if exact is not None and exact.size == 1 else 0
    return int(attrs.get("axis", 0))


def _size(fact: Fact, axis: int) -> int | None:
    if fact.shape is None or not -len(fact.shape) <= axis < len(fact.shape):
        return None
    return fact.shape[axis].size if fact.shape[axis].static else None
