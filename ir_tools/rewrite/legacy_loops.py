"""Migrate a TensorIterator of IR v4 to v7, whose body has no Inputs: its port map names ports of the layers in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ir_tools.builder import Builder
from ir_tools.errors import ShapeError
from ir_tools.graph import Graph, Layer, Source
from ir_tools.ops.definition import Fact, Refused
from ir_tools.ops.records import recorded

if TYPE_CHECKING:
    from ir_tools.rewrite.legacy import GraphUpgrade

__all__ = ["tensor_iterator"]

SLICING = ("axis", "start", "end", "stride", "part_size")
"""What a row of a port map says about how a tensor is cut or joined."""


def tensor_iterator(
    upgrade: GraphUpgrade, layer: Layer, inputs: Sequence[Source], declared: Sequence[Fact]
) -> tuple[Source, ...] | Refused:
    """Add a TensorIterator with the migrated body, and return its outputs.

    Every input of the body has a port of its own: the CPU plugin of 2026.4.1 feeds only the first one of several.

    Args:
        upgrade: of the graph around it.
        layer: the legacy layer.
        inputs: what its input ports read, in the new graph.
        declared: facts of its outputs.

    Raises:
        ShapeError: the port map cannot be read.
    """
    if "body" not in layer.bodies:
        raise ShapeError("it has no body")
    body, mapping = layer.bodies["body"], layer.content.mapping
    rows = mapping.get("port_map", [])
    entries, exits = ([row for kind, row in rows if kind == side] for side in ("input", "output"))
    taken = {int(row["external_port_id"]) for row in exits}
    untaken = next((port.id for port in layer.outputs if port.id not in taken), None)
    if untaken is not None:
        return Refused(f"its <port_map> has no row for output port {untaken}")
    back = [
        (_end(edge, "from-layer", "from-port"), _end(edge, "to-layer", "to-port"))
        for _, edge in mapping.get("back_edges", [])
    ]
    inside = Builder(upgrade.builder.model, graph=Graph(), opset=upgrade.builder.opset)
    given = dict(zip((port.id for port in layer.inputs), inputs, strict=True))
    sources = [given[int(row["external_port_id"])] for row in entries]
    fed: dict[Source, Source] = {}
    for row, source in zip(entries, sources, strict=True):
        end = _inner(row)
        shape = recorded(body.layer(end.layer).port(end.port)).shape
        fed[end] = inside.parameter(f"input{len(fed)}", shape or (), upgrade.builder.fact(source).dtype)
    inner, known = upgrade.within(layer, body, inside, fed), len(upgrade.refused)
    inner.replace_all()
    if len(inner.refused) > known:
        return Refused("its body cannot be migrated")
    results: dict[Source, int] = {}
    for end in (*map(_inner, exits), *(start for start, _ in back)):
        if end not in results:
            results[end] = inside.result(inner.tensors[end]).id
    inner.remove_unread()
    made, feeds = upgrade.builder.make(layer.name, "TensorIterator", 1, {}, sources, declared)
    ports = {old.id: new.id for old, new in zip(layer.outputs, made.outputs, strict=True)}
    made.bodies["body"] = inside.graph
    made.content.mapping = {
        "port_map": [
            *(("input", _row(row, number, fed[_inner(row)].layer)) for number, row in enumerate(entries)),
            *(("output", _row(row, ports[int(row["external_port_id"])], results[_inner(row)])) for row in exits),
        ],
        "back_edges": [
            ("edge", {"from-layer": str(results[start]), "to-layer": str(fed[end].layer)}) for start, end in back
        ],
    }
    upgrade.builder.graph.add(made, feeds)
    return tuple(Source(made.id, port.id) for port in made.outputs)


def _end(row: Mapping[str, str], layer: str, port: str) -> Source:
    """Return the port of a layer of the body that a row or a back edge names."""
    return Source(int(row[layer]), int(row[port]))


def _inner(row: Mapping[str, str]) -> Source:
    """Return the port of a layer of the body that a row names."""
    return _end(row, "internal_layer_id", "internal_port_id")


def _row(row: Mapping[str, str], port: int, layer: int) -> dict[str, str]:
    """Return the row of the new port map: each has a port of its own, and names a Parameter or a Result."""
    cut = {name: row[name] for name in SLICING if name in row} if int(row.get("axis") or -1) >= 0 else {}
    return {"external_port_id": str(port), **cut, "internal_layer_id": str(layer)}
