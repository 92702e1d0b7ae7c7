"""A graph of layers: a `networkx.MultiDiGraph` whose edges carry ports.

Node: layer id, `data["layer"]` is the `Layer`. Edge key: `(from_port, to_port)`. Anything that networkx can do
works on it; the methods here are the edits that keep ids, names, tensor names and rt_info right.
"""

from collections.abc import Iterator
from typing import NamedTuple

import networkx as nx

from ir_tools.errors import GraphError
from ir_tools.graph.layer import Layer, Port

__all__ = ["Graph", "Source"]


class Source(NamedTuple):
    """Where an input comes from: a layer and the id of its output port."""

    layer: int
    port: int


class Graph(nx.MultiDiGraph):
    """The layers of a model or of one body."""

    def layer(self, layer_id: int) -> Layer:
        """The layer with this id.

        Raises:
            GraphError: there is none.
        """
        try:
            return self.nodes[layer_id]["layer"]
        except KeyError:
            raise GraphError(f"there is no layer {layer_id}") from None

    def layers(self) -> Iterator[Layer]:
        """All layers, in the order of the file."""
        for _, layer in self.nodes(data="layer"):
            yield layer

    def ordered(self) -> Iterator[Layer]:
        """All layers, producers before consumers.

        Raises:
            GraphError: the graph has a cycle.
        """
        try:
            for layer_id in nx.topological_sort(self):
                yield self.nodes[layer_id]["layer"]
        except nx.NetworkXUnfeasible:
            loop = " -> ".join(str(source) for source, *_ in nx.find_cycle(self))
            raise GraphError(f"the layers {loop} feed each other in a circle") from None

    def sources(self, layer_id: int) -> dict[int, Source]:
        """What feeds each input port: input port id -> `Source`."""
        return {to: Source(source, start) for source, _, (start, to) in self.in_edges(layer_id, keys=True)}

    def readers(self, layer_id: int, port_id: int) -> list[tuple[int, int]]:
        """Who reads an output port: `(layer id, input port id)`, in the order of the edges."""
        return [(reader, to) for _, reader, (start, to) in self.out_edges(layer_id, keys=True) if start == port_id]

    def new_id(self) -> int:
        """The smallest id above all in use."""
        return max(self.nodes, default=-1) + 1

    def new_name(self, base: str) -> str:
        """`base`, or `base/2`, `base/3`, ...: the first that no layer has."""
        taken = {layer.name for layer in self.layers()}
        name, count = base, 1
        while name in taken:
            count += 1
            name = f"{base}/{count}"
        return name

    def add(self, layer: Layer, inputs: dict[int, Source] | None = None) -> Layer:
        """Add a layer and connect its input ports (input port id -> source).

        Raises:
            GraphError: the id is taken, or a port does not exist.
        """
        if layer.id in self:
            raise GraphError(f"there is a layer {layer.id} already")
        self.add_node(layer.id, layer=layer)
        for port_id, source in (inputs or {}).items():
            self.connect(source, layer.id, port_id)
        return layer

    def connect(self, source: Source, layer_id: int, port_id: int) -> None:
        """Feed an input port, in place of whatever fed it before.

        Raises:
            GraphError: a layer or port does not exist.
        """
        self._require(source.layer, source.port, self.layer(source.layer).outputs, "output")
        self._require(layer_id, port_id, self.layer(layer_id).inputs, "input")
        self.disconnect(layer_id, port_id)
        self.add_edge(source.layer, layer_id, key=(source.port, port_id))

    def disconnect(self, layer_id: int, port_id: int) -> None:
        """Leave an input port without a source."""
        old = [edge for edge in self.in_edges(layer_id, keys=True) if edge[2][1] == port_id]
        self.remove_edges_from(old)

    def redirect(self, old: Source, new: Source, *, names: bool = True) -> None:
        """Let every reader of `old` read `new`; with `names`, the tensor names move along.

        Raises:
            GraphError: a layer or port does not exist.
        """
        self._require(new.layer, new.port, self.layer(new.layer).outputs, "output")
        for reader, port_id in self.readers(*old):
            if reader != new.layer:
                self.connect(new, reader, port_id)
        if names:
            source, target = self.layer(old.layer).port(old.port), self.layer(new.layer).port(new.port)
            target.names = (*target.names, *(name for name in source.names if name not in target.names))
            source.names = ()

    def remove(self, layer_id: int) -> None:
        """Remove a layer that nobody reads.

        Raises:
            GraphError: a layer reads it; redirect its readers first.
        """
        layer = self.layer(layer_id)
        for _, reader, (port, _) in self.out_edges(layer_id, keys=True):
            raise GraphError(f"'{self.layer(reader).name}' reads port {port} of '{layer.name}'; redirect it first")
        self.remove_node(layer_id)

    def _require(self, layer_id: int, port_id: int, ports: list[Port], side: str) -> None:
        if all(port.id != port_id for port in ports):
            raise GraphError(f"layer '{self.layer(layer_id).name}' has no {side} port {port_id}")
