"""Indices that reach beyond their table, as far as that is known before anything runs.

Shape rules carry the values of small tensors, such as positions that are counted up. Of the indices that a TopK gives,
it is known that they are below the size of its axis, whatever its data is.
"""

from __future__ import annotations

from collections.abc import Sequence

from ir_tools.graph import Source
from ir_tools.infer._engine import Visit
from ir_tools.ops.definition import Fact
from ir_tools.ops.fields import Attrs

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
CONCERNED = {"TopK", *TABLES, *MOVING}


class IndexBounds:
    """The largest indices that tensors may hold, by graph and tensor; the layers come in order."""

    def __init__(self) -> None:
        self._largest: dict[tuple[int, Source], int] = {}

    def problem(self, visit: Visit) -> str | None:
        """Return what is wrong with the indices that a layer looks up; None if nothing is known to be."""
        graph, layer, signature, facts = visit
        if layer.type not in CONCERNED or signature.op is None or not 0 < len(facts) == len(signature.inputs):
            return None
        sources = graph.sources(layer.id)
        largest = [self._largest.get((id(graph), sources[port.id])) for port in signature.inputs]
        attrs, outputs = signature.op.read(signature.raw, []), signature.outputs
        passed = largest[0] if layer.type in MOVING else None
        if layer.type == "TopK" and attrs is not None:
            size, outputs = _size(facts[0], attrs.axis), outputs[1:]
            passed = size - 1 if size else None
        for port in outputs if passed is not None else ():
            self._largest[id(graph), Source(layer.id, port.id)] = passed or 0
        if layer.type in TABLES and len(facts) > 1 and attrs is not None:
            return _beyond(facts[1], largest[1], _size(facts[0], _axis(layer.type, attrs, facts)))
        return None


def _beyond(indices: Fact, largest: int | None, rows: int | None) -> str | None:
    values = indices.exact
    if values is not None and values.size:
        largest = int(values.max())
    if rows is None or largest is None or largest < rows:
        return None
    return f"indices reach to {largest}; the table has {rows} rows"


def _axis(type: str, attrs: Attrs, facts: Sequence[Fact]) -> int:
    """Return the axis of the table that is indexed."""
    if type == "Gather" and len(facts) > 2:
        axes = facts[2].integers() or ()
        return axes[0] if len(axes) == 1 else 0
    return int(attrs.get("axis", 0))


def _size(fact: Fact, axis: int) -> int | None:
    if fact.shape is None or not -len(fact.shape) <= axis < len(fact.shape):
        return None
    return fact.shape[axis].size if fact.shape[axis].static else None
