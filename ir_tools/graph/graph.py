"""A graph of layers: a `networkx.MultiDiGraph` whose edges carry ports.

Node: layer id, `data["layer"]` is the `Layer`. Edge key: `(from_port, to_port)`. Anything that networkx can do
works on it; the methods here are the edits that keep ids, names, tensor names and rt_info right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import networkx as nx

from ir_tools.collection import no_collection
from ir_tools.errors import GraphError
from ir_tools.graph.layer import Layer, Port

__all__ = ["Graph", "Source"]


class Source(NamedTuple):
    """Where an input comes from: a layer and the id of its output port."""

    layer: int
    port: int


if TYPE_CHECKING:
    _Base = nx.MultiDiGraph[int]
else:
    _Base = nx.MultiDiGraph


class Graph(_Base):
    """The layers of a model or of one body."""

    _pred: dict[int, dict[int, dict[tuple[int, int], dict[str, Any]]]]
    """As networkx keeps it: consumer -> producer -> `(from_port, to_port)`."""

    def __init__(
        self, incoming_graph_data: Any = None, multigraph_input: bool | None = None, **attributes: Any
    ) -> None:
        """As `networkx.MultiDiGraph`."""
        super().__init__(incoming_graph_data, multigraph_input, **attributes)
        self._next_id: int | None = None
        self._names: dict[str, int] | None = None

    def layer(self, layer_id: int) -> Layer:
        """The layer with this id.

        Raises:
            GraphError: there is none.
        """
        try:
            return cast(Layer, self.nodes[layer_id]["layer"])
        except KeyError:
            raise GraphError(f"there is no layer {layer_id}") from None

    def layers(self) -> Iterator[Layer]:
        """All layers, in the order of the file."""
        nodes: Iterable[tuple[int, Layer]] = cast(Any, self.nodes(data="layer"))
        for _, layer in nodes:
            yield layer

    def ordered(self) -> Iterator[Layer]:
        """All layers, producers before consumers.

        Raises:
            GraphError: the graph has a cycle.
        """
        if self._in_order():
            yield from self.layers()
            return
        try:
            for layer_id in nx.topological_sort(self):
                yield self.nodes[layer_id]["layer"]
        except nx.NetworkXUnfeasible:
            loop = " -> ".join(str(source) for source, *_ in nx.find_cycle(self))
            raise GraphError(f"the layers {loop} feed each other in a circle") from None

    def _in_order(self) -> bool:
        """Whether the file has every producer before its consumers."""
        seen: set[int] = set()
        for layer_id, feeders in self._pred.items():
            if not seen.issuperset(feeders):
                return False
            seen.add(layer_id)
        return True

    def feeders(self, layer_id: int) -> Mapping[int, Collection[tuple[int, int]]]:
        """Who feeds a layer: producer -> `(its output port, the input port)` of each edge."""
        return self._pred[layer_id]

    def sources(self, layer_id: int) -> dict[int, Source]:
        """What feeds each input port: input port id -> `Source`."""
        feeders = self._pred[layer_id].items()
        return {to: Source(source, start) for source, keys in feeders for start, to in keys}

    def readers(self, layer_id: int, port_id: int) -> list[tuple[int, int]]:
        """Who reads an output port: `(layer id, input port id)`, in the order of the edges."""
        return [(reader, to) for _, reader, (start, to) in self.out_edges(layer_id, keys=True) if start == port_id]

    def new_id(self) -> int:
        """An id above all that were in use when this was first asked, and of no layer now."""
        if self._next_id is None:
            self._next_id = max(self.nodes, default=-1) + 1
        while self._next_id in self:
            self._next_id += 1
        return self._next_id

    def new_name(self, base: str) -> str:
        """`base`, or `base/2`, `base/3`, ...: the first that no layer has.

        Give a layer its name before it is added, or rename it by `rename`: a name that was put into its tag later is
        not looked at.
        """
        if self._names is None:
            self._names = {layer.name: 1 for layer in self.layers()}
        if base not in self._names:
            return base
        count = self._names[base] + 1
        while f"{base}/{count}" in self._names:
            count += 1
        self._names[base] = count - 1
        return f"{base}/{count}"

    def rename(self, layer_id: int, name: str) -> None:
        """Give a layer another name.

        Raises:
            GraphError: there is no such layer.
        """
        self.layer(layer_id).tag["name"] = name
        if self._names is not None:
            self._names.setdefault(name, 1)

    def add(self, layer: Layer, inputs: Mapping[int, Source] | None = None) -> Layer:
        """Add a layer and connect its input ports (input port id -> source).

        Raises:
            GraphError: the id is taken, or a port does not exist.
        """
        if layer.id in self:
            raise GraphError(f"there is a layer {layer.id} already")
        self.add_node(layer.id, layer=layer)
        try:
            for port_id, source in (inputs or {}).items():
                self.connect(source, layer.id, port_id)
        except GraphError:
            self.remove_node(layer.id)
            raise
        if self._names is not None:
            self._names.setdefault(layer.name, 1)
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
        self._require(old.layer, old.port, self.layer(old.layer).outputs, "output")
        self._require(new.layer, new.port, self.layer(new.layer).outputs, "output")
        if old == new:
            return
        for reader, port_id in self.readers(*old):
            if reader != new.layer:
                self.connect(new, reader, port_id)
        if names:
            source, target = self.layer(old.layer).port(old.port), self.layer(new.layer).port(new.port)
            target.names = (*target.names, *(name for name in source.names if name not in target.names))
            source.names = ()

    def replace(self, layer_id: int, new: Layer, inputs: Mapping[int, Source] | None = None) -> Layer:
        """Put a layer in another's place: it takes over id, name, tensor names, rt_info, and its readers.

        Output i is read where output i was read before. `new` is at the old layer's place in the file; its own name
        goes, and its own tensor names and rt_info come after those that it takes over.

        Args:
            layer_id: of the layer that goes.
            new: a layer that is in no graph yet.
            inputs: what feeds the new input ports; without it, input i is fed by what fed input i before.

        Raises:
            GraphError: an output that is read, or an input, has no counterpart; the graph is as it was.
        """
        old = self.layer(layer_id)
        outputs = dict(zip((port.id for port in old.outputs), (port.id for port in new.outputs), strict=False))
        readers = [(reader, key) for _, reader, key in self.out_edges(layer_id, keys=True)]
        for _, (port, _) in readers:
            if port not in outputs:
                raise GraphError(f"port {port} of '{old.name}' is read, and its replacement has no such output")
        feeds = self._inherited(old, new) if inputs is None else dict(inputs)
        for port_id, source in feeds.items():
            if source.layer != layer_id:
                self._require(source.layer, source.port, self.layer(source.layer).outputs, "output")
            if all(port.id != port_id for port in new.inputs):
                raise GraphError(f"the replacement of '{old.name}' has no input port {port_id}")
        new.id = layer_id
        if "name" in old.tag:
            new.tag["name"] = old.name
        new.rt_info[:0] = [{**entry} for entry in old.rt_info if entry not in new.rt_info]
        for before, after in zip(old.outputs, new.outputs, strict=False):
            after.names = (*before.names, *(name for name in after.names if name not in before.names))
        self.remove_edges_from(list(self.in_edges(layer_id, keys=True)))
        self.remove_edges_from(list(self.out_edges(layer_id, keys=True)))
        self.nodes[layer_id]["layer"] = new
        for reader, (port, to) in readers:
            self.add_edge(layer_id, reader, key=(outputs[port], to))
        for port_id, source in feeds.items():
            self.connect(source, layer_id, port_id)
        return new

    def remove(self, layer_id: int) -> None:
        """Remove a layer that nobody reads.

        Raises:
            GraphError: a layer reads it; redirect its readers first.
        """
        layer = self.layer(layer_id)
        for _, reader, (port, _) in self.out_edges(layer_id, keys=True):
            raise GraphError(f"'{self.layer(reader).name}' reads port {port} of '{layer.name}'; redirect it first")
        self.remove_node(layer_id)

    def clone(self) -> Graph:
        """A graph of its own, with layers of its own; `copy` of networkx shares the layers."""
        twin = Graph(**self.graph)
        with no_collection():
            for node, data in self.nodes(data=True):
                twin.add_node(node, **{**data, "layer": data["layer"].copy()})
            for source, reader, key, data in self.edges(keys=True, data=True):
                twin.add_edge(source, reader, key, **data)
        return twin

    def _inherited(self, old: Layer, new: Layer) -> dict[int, Source]:
        """What feeds the inputs of `old`, by the input ports of `new` in the same order."""
        sources = self.sources(old.id)
        if len(old.inputs) > len(new.inputs):
            raise GraphError(f"'{old.name}' has {len(old.inputs)} inputs, and its replacement {len(new.inputs)}")
        pairs = zip(old.inputs, new.inputs, strict=False)
        return {after.id: sources[before.id] for before, after in pairs if before.id in sources}

    def _require(self, layer_id: int, port_id: int, ports: list[Port], side: str) -> None:
        if all(port.id != port_id for port in ports):
            raise GraphError(f"layer '{self.layer(layer_id).name}' has no {side} port {port_id}")
