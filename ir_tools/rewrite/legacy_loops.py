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

    Args:
        upgrade: of the graph around it.
        layer: the legacy layer.
        inputs: what its input ports read, in the new graph.
        declared: facts of its outputs.

    Raises:
        ShapeError: the port map cannot be read.
    """
    rows, edges = _rows(layer)
    inside = Builder(upgrade.builder.model, graph=Graph(), opset=upgrade.builder.opset)
    given = dict(zip((port.id for port in layer.inputs), inputs, strict=True))
    body = layer.bodies["body"]
    fed: dict[Source, Source] = {}
    for kind, row in rows:
        if kind == "input":
            end = _end(row, "internal_layer_id", "internal_port_id")
            dtype = upgrade.builder.fact(given[int(row["external_port_id"])]).dtype
            shape = recorded(body.layer(end.layer).port(end.port)).shape
            fed[end] = inside.parameter(f"input{len(fed)}", shape or (), dtype)
    inner, known = upgrade.within(layer, body, inside, fed), len(upgrade.refused)
    inner.replace_all()
    if len(inner.refused) > known:
        return Refused("its body cannot be migrated")
    results: dict[Source, int] = {}
    back = [(_end(edge, "from-layer", "from-port"), _end(edge, "to-layer", "to-port")) for edge in edges]
    outer = [_end(row, "internal_layer_id", "internal_port_id") for kind, row in rows if kind == "output"]
    for end in (*outer, *(start for start, _ in back)):
        if end not in results:
            results[end] = inside.result(inner.tensors[end]).id
    inner.remove_unread()
    ports = {port.id: str(number) for number, port in enumerate((*layer.inputs, *layer.outputs))}
    made, sources = upgrade.builder.make(layer.name, "TensorIterator", 1, {}, inputs, declared)
    made.bodies["body"] = inside.graph
    made.content.mapping = {
        "port_map": [(kind, _row(kind, row, ports, fed, results)) for kind, row in rows],
        "back_edges": [
            ("edge", {"from-layer": str(results[start]), "to-layer": str(fed[end].layer)}) for start, end in back
        ],
    }
    upgrade.builder.graph.add(made, sources)
    return tuple(Source(made.id, port.id) for port in made.outputs)


def _rows(layer: Layer) -> tuple[list[tuple[str, dict[str, str]]], list[dict[str, str]]]:
    """Return the rows of the port map and the back edges."""
    mapping = layer.content.mapping
    if "body" not in layer.bodies:
        raise ShapeError("it has no body")
    return mapping.get("port_map", []), [edge for _, edge in mapping.get("back_edges", [])]


def _end(row: Mapping[str, str], layer: str, port: str) -> Source:
    """Return the port of a layer of the body that a row names."""
    return Source(int(row[layer]), int(row[port]))


def _row(
    kind: str,
    row: Mapping[str, str],
    ports: Mapping[int, str],
    fed: Mapping[Source, Source],
    results: Mapping[Source, int],
) -> dict[str, str]:
    """Return the row of the new port map, which names a Parameter or a Result."""
    end = _end(row, "internal_layer_id", "internal_port_id")
    inner = fed[end].layer if kind == "input" else results[end]
    cut = {name: row[name] for name in SLICING if name in row} if int(row.get("axis") or -1) >= 0 else {}
    return {"external_port_id": ports[int(row["external_port_id"])], **cut, "internal_layer_id": str(inner)}
