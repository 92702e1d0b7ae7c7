"""Indices that reach beyond their table, as far as that is known before anything runs.

Shape rules carry the values of small tensors, such as positions that are counted up. Of the indices that a TopK gives,
it is known that they are below the size of its axis, whatever its data is.
"""

from __future__ import annotations

from ir_tools.graph import Source
from ir_tools.infer._engine import Visit
from ir_tools.ops.definition import Fact, Op

__all__ = ["IndexBounds"]


class IndexBounds:
    """The largest indices that tensors may hold, by graph and tensor; the layers come in order."""

    def __init__(self) -> None:
        self._largest: dict[tuple[int, Source], int] = {}

    def problem(self, visit: Visit) -> str | None:
        """Return what is wrong with the indices that a layer looks up; None if nothing is known to be."""
        graph, layer, signature, facts = visit
        op = signature.op
        if op is None or not _is_concerned(op) or not 0 < len(facts) == len(signature.inputs):
            return None
        sources = graph.sources(layer.id)
        largest = [self._largest.get((id(graph), sources[port.id])) for port in signature.inputs]
        attrs = op.read(signature.raw, [])
        if attrs is None:
            return None
        for number, port in enumerate(signature.outputs):
            output, bound = op.output(number), largest[0] if op.elements(0).copied else None
            if output is not None and output.indexes is not None:
                bound = (facts[0].size(output.indexes(attrs, facts)) or 0) - 1
            if bound is not None and bound >= 0:
                self._largest[id(graph), Source(layer.id, port.id)] = bound
        for slot, fact, bound in zip(op.inputs, facts, largest, strict=False):
            if slot.indexes is not None:
                return _beyond(fact, bound, facts[0].size(slot.indexes(attrs, facts)))
        return None


def _is_concerned(op: Op) -> bool:
    """Return whether the operation reads indices, or gives some or what it reads."""
    return op.elements(0).copied or any(one.indexes for side in (op.inputs, op.outputs) for one in side)


def _beyond(indices: Fact, largest: int | None, rows: int | None) -> str | None:
    values = indices.exact
    if values is not None and values.size:
        largest = int(values.max())
    if rows is None or largest is None or largest < rows:
        return None
    return f"the indices reach {largest}, but the table has {rows} rows"
