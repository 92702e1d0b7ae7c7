"""A graph of layers: a `networkx.MultiDiGraph` whose edges carry ports.

Node: layer id, `data["layer"]` is the `Layer`. Edge key: `(from_port, to_port)`. All algorithms of networkx work on it;
the methods here are edits that keep ids, names, tensor names and rt_info consistent.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import networkx as nx

from ir_tools.collection import gc_paused
from ir_tools.display import plural
from ir_tools.errors import GraphError
from ir_tools.graph.layer import Layer, find_port

__all__ = ["Graph", "Source"]


class Source(NamedTuple):
    """An output port, as the source of an input port: the id of its layer and the id of the port.

    Example:
        >>> ir_tools.read("model.xml").graph.sources(1)
        {0: Source(layer=0, port=0)}
    """

    layer: int
    port: int


Edges = dict[int, dict[int, dict[tuple[int, int], dict[str, Any]]]]
"""As networkx keeps them: layer -> layer at the other end -> `(from_port, to_port)` -> data."""
PortEnds = dict[tuple[int, int], dict[tuple[int, int], None]]
"""`(layer id, port id)` -> the ports at the other ends of its edges, in the order of the edges."""

_NEW = tuple.__new__
"""Makes a `Source` in half of the time."""
FEW_EDGES = 8
"""Edges of a layer that are looked at one by one, instead of a table of all edges of the graph, which takes memory."""
MAX_SHOWN = 20
"""The maximum number of layers of a cycle that a message names."""

if TYPE_CHECKING:
    _Base = nx.MultiDiGraph[int]
else:
    _Base = nx.MultiDiGraph


class Graph(_Base):
    """The layers of a model or of one body: a `networkx.MultiDiGraph` whose edges carry ports.

    Each node is the id of a layer, and `data["layer"]` is the `Layer`. The key of an edge is `(from_port, to_port)`.

    Example:
        >>> graph = ir_tools.read("model.xml").graph
        >>> graph
        Graph(3 layers, 2 edges)
        >>> relu = ir_tools.Layer(
        ...     graph.new_id(),
        ...     {"name": graph.new_name("relu"), "type": "ReLU", "version": "opset1"},
        ...     ir_tools.LayerContent({}, [ir_tools.Port(0, "FP32")], [ir_tools.Port(1, "FP32")]),
        ... )
        >>> graph.add(relu, {0: ir_tools.Source(1, 1)})
        Layer(3, 'relu', ReLU opset1)
        >>> graph.redirect(ir_tools.Source(1, 1), ir_tools.Source(3, 1))
        >>> [layer.name for layer in graph.ordered()]
        ['data', 'pool', 'relu', 'result']
    """

    _node: dict[int, dict[str, Any]]
    _succ: Edges
    _pred: Edges

    def __init__(
        self, incoming_graph_data: Any = None, multigraph_input: bool | None = None, **attributes: Any
    ) -> None:
        """Make a graph, as `networkx.MultiDiGraph` does."""
        self._next_id: int | None = None
        self._names: dict[str, int] | None = None
        self._ends: tuple[PortEnds, PortEnds] | None = None
        self._last_joined: tuple[tuple[str, ...], set[str]] = (), set()
        super().__init__(incoming_graph_data, multigraph_input, **attributes)

    @classmethod
    def of(cls, layers: Iterable[Layer], edges: Iterable[tuple[int, int, int, int]]) -> Self:
        """Make a graph of layers and edges.

        The result equals that of `add_node` and `add_edge`, in a fraction of the time.

        Args:
            layers: the layers, in the order of the file.
            edges: `(producer id, output port id, consumer id, input port id)` of each edge.
        """
        graph = cls()
        for layer in layers:
            graph._node[layer.id] = {"layer": layer}
            graph._succ[layer.id], graph._pred[layer.id] = {}, {}
        for source, start, consumer, end in edges:
            keys = graph._succ[source].get(consumer)
            if keys is None:
                keys = graph._succ[source][consumer] = graph._pred[consumer][source] = {}
            keys[_key(start, end)] = {}
        return graph

    def layer(self, layer_id: int) -> Layer:
        """Return the layer with this id.

        Raises:
            GraphError: there is none.
        """
        try:
            found: Layer = self._node[layer_id]["layer"]
        except KeyError:
            raise GraphError(f"there is no layer {layer_id}") from None
        return found

    def layers(self) -> Iterator[Layer]:
        """Yield all layers, in the order of the file."""
        for data in self._node.values():
            yield data["layer"]

    def ordered(self) -> Iterator[Layer]:
        """Yield all layers, producers before consumers.

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
            raise self._circle() from None

    def leading_to(self, layer_id: int, known: Container[tuple[int, int]] = ()) -> Iterator[Layer]:
        """Yield a layer and all layers that it depends on, producers before consumers.

        Args:
            layer_id: the id of the layer.
            known: `(layer id, port id)` of output ports whose producers are left out.

        Raises:
            GraphError: the layers form a cycle.
        """
        entered, done, todo = set[int](), set[int](), [layer_id]
        while todo:
            current = todo[-1]
            waiting = [
                source
                for source, keys in self._pred[current].items()
                if source not in done and any((source, start) not in known for start, _ in keys)
            ]
            if waiting and current in entered:
                raise self._circle()
            entered.add(current)
            todo += waiting
            if not waiting:
                todo.pop()
                if current not in done:
                    done.add(current)
                    yield self.layer(current)

    def _circle(self) -> GraphError:
        loop = [str(source) for source, *_ in nx.find_cycle(self)]
        shown = loop if len(loop) <= MAX_SHOWN else [*loop[:MAX_SHOWN], "..."]
        return GraphError(f"the layers {' -> '.join(shown)} form a cycle")

    def _in_order(self) -> bool:
        """Return whether the file has every producer before its consumers."""
        seen: set[int] = set()
        for layer_id, producers in self._pred.items():
            if not seen.issuperset(producers):
                return False
            seen.add(layer_id)
        return True

    def producers(self, layer_id: int) -> Mapping[int, Collection[tuple[int, int]]]:
        """Return the producers of a layer: layer id -> `(output port id, input port id)` of each edge."""
        return self._pred[layer_id]

    def sources(self, layer_id: int) -> dict[int, Source]:
        """Return the source of each connected input port: input port id -> `Source`."""
        producers = self._pred[layer_id].items()
        return {to: _NEW(Source, (source, start)) for source, keys in producers for start, to in keys}

    def source(self, layer_id: int, port_id: int) -> Source | None:
        """Return the source of one input port; None if it is not connected."""
        edges = self._few_edges(self._pred, layer_id)
        found: Iterable[tuple[int, int]] = ()
        if edges is None:
            found = self._port_ends[0].get((layer_id, port_id), ())
        else:
            found = ((source, start) for source, keys in edges.items() for start, to in keys if to == port_id)
        return next((Source(*one) for one in found), None)

    def consumers(self, layer_id: int, port_id: int, at_most: int | None = None) -> list[tuple[int, int]]:
        """Return the consumers of an output port: `(layer id, input port id)`, in the order of the edges.

        Args:
            layer_id: the id of the layer.
            port_id: the id of the port.
            at_most: the number of consumers after which the others are left out, if there are more than a few.
        """
        edges = self._few_edges(self._succ, layer_id)
        if edges is None:
            return [*islice(self._port_ends[1].get((layer_id, port_id), ()), at_most)]
        return [(consumer, to) for consumer, keys in edges.items() for start, to in keys if start == port_id]

    def reads(self, layer_id: int, port_id: int) -> int:
        """Return the number of input ports that read an output port."""
        edges = self._few_edges(self._succ, layer_id)
        if edges is None:
            return len(self._port_ends[1].get((layer_id, port_id), ()))
        return sum(start == port_id for keys in edges.values() for start, _ in keys)

    def _few_edges(self, side: Edges, layer_id: int) -> Mapping[int, Collection[tuple[int, int]]] | None:
        """Return the edges on one side of a layer if there are so few that a look at each takes no time."""
        if self._ends is not None:
            return None
        edges = side.get(layer_id, {})
        return edges if len(edges) <= FEW_EDGES and sum(map(len, edges.values())) <= FEW_EDGES else None

    @property
    def _port_ends(self) -> tuple[PortEnds, PortEnds]:
        """Return the sources of each input port, and the consumers of each output port; edits keep both up to date."""
        if self._ends is not None:
            return self._ends
        ends: tuple[PortEnds, PortEnds] = {}, {}
        for source, consumers in self._succ.items():
            for consumer, keys in consumers.items():
                for start, to in keys:
                    ends[0].setdefault((consumer, to), {})[source, start] = None
                    ends[1].setdefault((source, start), {})[consumer, to] = None
        if not nx.is_frozen(self):
            self._ends = ends
        return ends

    def add_edge(  # type: ignore[override]  # as networkx does for graphs with keys, and its stubs for MultiDiGraph
        self, u_for_edge: int, v_for_edge: int, key: Any = None, **attr: Any
    ) -> Any:
        """Add an edge, as `networkx.MultiDiGraph.add_edge` does; prefer `connect`, which checks the ports."""
        made = super().add_edge(u_for_edge, v_for_edge, key, **attr)
        if key is None:
            self._ends = None
        elif self._ends is not None:
            start, to = key
            self._ends[0].setdefault((v_for_edge, to), {})[u_for_edge, start] = None
            self._ends[1].setdefault((u_for_edge, start), {})[v_for_edge, to] = None
        return made

    def remove_edge(self, u: int, v: int, key: Any = None) -> None:
        """Remove an edge, as `networkx.MultiDiGraph.remove_edge` does."""
        super().remove_edge(u, v, key)
        if key is None:
            self._ends = None
        elif self._ends is not None:
            del self._ends[0][v, key[1]][u, key[0]]
            del self._ends[1][u, key[0]][v, key[1]]

    def remove_node(self, n: int) -> None:
        """Remove a node and its edges, as `networkx.MultiDiGraph.remove_node` does."""
        if self._ends is not None and n in self:
            self.remove_edges_from([*self.in_edges(n, keys=True), *self.out_edges(n, keys=True)])
        super().remove_node(n)

    def remove_nodes_from(self, nodes: Iterable[int]) -> None:
        """Remove nodes and their edges, as `networkx.MultiDiGraph.remove_nodes_from` does."""
        self._ends = None
        super().remove_nodes_from(nodes)

    def clear(self) -> None:
        """Remove all nodes and edges, as `networkx.MultiDiGraph.clear` does."""
        self._ends = None
        super().clear()

    def clear_edges(self) -> None:
        """Remove all edges, as `networkx.MultiDiGraph.clear_edges` does."""
        self._ends = None
        super().clear_edges()

    def new_id(self) -> int:
        """Return an id that no layer has, above all ids at the first call."""
        if self._next_id is None:
            self._next_id = max(self.nodes, default=-1) + 1
        while self._next_id in self._node:
            self._next_id += 1
        return self._next_id

    def new_name(self, base: str) -> str:
        """Return the first of `base`, `base/2`, `base/3`, ... that no layer has.

        Names that were written into the tag of a layer after it was added are not seen; use `rename`.
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
        self.layer(layer_id).rename(name)
        if self._names is not None:
            self._names.setdefault(name, 1)

    def add(self, layer: Layer, inputs: Mapping[int, Source] | None = None) -> Layer:
        """Add a layer and connect its input ports.

        Args:
            layer: the layer; its id must not be in use.
            inputs: the source of each input port, by port id.

        Raises:
            GraphError: the id is in use, or a port does not exist; the graph is unchanged.
        """
        if layer.id in self._node:
            raise GraphError(f"there is already a layer {layer.id}")
        given = inputs or {}
        for port_id, source in given.items():
            if source.layer != layer.id:
                self._require_output(source)
            elif find_port(layer.common.outputs, source.port) is None:
                raise GraphError(f"layer '{layer.name}' has no output port {source.port}")
            self._require_input(layer, port_id)
        self.add_known(layer, given)
        return layer

    def add_known(self, layer: Layer, inputs: Mapping[int, Source]) -> None:
        """Add a layer as `add` does, without a check: its id has to be free, and all of the ports have to exist."""
        layer_id = layer.id
        if "frozen" in self.__dict__:
            self.add_node(layer_id, layer=layer)  # raises what networkx does
        self._node[layer_id] = {"layer": layer}
        self._succ[layer_id], self._pred[layer_id] = {}, {}
        for port_id, source in inputs.items():
            self._wire(source, layer_id, port_id)
        if self._names is not None:
            self._names.setdefault(layer.name, 1)

    def _wire(self, source: Source, layer_id: int, port_id: int) -> None:
        """Add an edge as `add_edge` does, in a fraction of the time: both layers are there, and nothing feeds the port.

        The data of the edge are its own; tuples that say the same are one object.
        """
        producer, start = source
        keys = self._pred[layer_id].get(producer)
        if keys is None:
            keys = self._pred[layer_id][producer] = self._succ[producer][layer_id] = {}
        keys[_key(start, port_id)] = {}
        if self._ends is not None:
            end = layer_id, port_id
            self._ends[0][end] = {source: None}
            readers = self._ends[1].get(source)
            if readers is None:
                self._ends[1][source] = {end: None}
            else:
                readers[end] = None

    def connect(self, source: Source, layer_id: int, port_id: int) -> None:
        """Connect an input port to a source, in place of the source that it had.

        Raises:
            GraphError: a layer or port does not exist.
        """
        self._require_output(source)
        self._require_input(self.layer(layer_id), port_id)
        self.disconnect(layer_id, port_id)
        if nx.is_frozen(self):
            self.add_edge(source.layer, layer_id, key=(source.port, port_id))  # raises what networkx does
        self._wire(source, layer_id, port_id)

    def disconnect(self, layer_id: int, port_id: int) -> None:
        """Remove the source of an input port, if it has one."""
        for source, start in [*self._port_ends[0].get((layer_id, port_id), ())]:
            self.remove_edge(source, layer_id, (start, port_id))

    def redirect(self, old: Source, new: Source, *, names: bool = True) -> None:
        """Connect every consumer of `old` to `new`; with `names`, the tensor names move to `new` as well.

        If the layer of `new` itself reads `old`, it keeps that edge.

        Raises:
            GraphError: a layer or port does not exist.
        """
        self._require_output(old)
        self._require_output(new)
        if old == new:
            return
        for consumer, port_id in self.consumers(*old):
            if consumer != new.layer:
                self.connect(new, consumer, port_id)
        if names:
            source, target = self.layer(old.layer).port(old.port), self.layer(new.layer).port(new.port)
            target.names = self._joined(target.names, source.names)
            source.names = ()

    def replace(self, layer_id: int, new: Layer, inputs: Mapping[int, Source] | None = None) -> Layer:
        """Replace a layer by a new one, which gets its id, name, tensor names, rt_info, consumers and file position.

        The consumers of output i of the old layer read output i of the new one. The tensor names and rt_info of `new`
        follow those of the old layer.

        Args:
            layer_id: the id of the layer to replace.
            new: a layer that is not in a graph yet.
            inputs: the source of each new input port, by port id; by default, new input i gets the source of old input
                i.

        Raises:
            GraphError: an output with consumers, or an input, has no counterpart; the graph is unchanged.
        """
        old = self.layer(layer_id)
        outputs = dict(zip((port.id for port in old.outputs), (port.id for port in new.common.outputs), strict=False))
        sources = [(source, key) for source, keys in self._pred[layer_id].items() for key in keys]
        consumers = [(consumer, key) for consumer, keys in self._succ[layer_id].items() for key in keys]
        for _, (port, _) in consumers:
            if port not in outputs:
                raise GraphError(f"port {port} of '{old.name}' has consumers, but its replacement has no such output")
        feeds = self._inherited(old, new) if inputs is None else dict(inputs)
        for port_id, source in feeds.items():
            if source.layer != layer_id:
                self._require_output(source)
            if find_port(new.common.inputs, port_id) is None:
                raise GraphError(f"the replacement of '{old.name}' has no input port {port_id}")
        new.id = layer_id
        if "name" in old.tag:
            new.rename(old.name)
        entries = [{**entry} for entry in old.rt_info if entry not in new.common.rt_info]
        if entries:
            new.rt_info[:0] = entries
        for before, after in zip(old.outputs, new.common.outputs, strict=False):
            new.set_tensor_names(after.id, self._joined(before.names, new.tensor_names(after.id)))
        for producer, key in sources:
            self.remove_edge(producer, layer_id, key)
        for consumer, key in consumers:
            if consumer != layer_id:
                self.remove_edge(layer_id, consumer, key)
        self._node[layer_id]["layer"] = new
        for consumer, (port, to) in consumers:
            self.add_edge(layer_id, consumer, key=(outputs[port], to))
        for port_id, source in feeds.items():
            self.add_edge(source.layer, layer_id, key=(source.port, port_id))
        return new

    def behind(self, layer_id: int) -> set[int]:
        """Return the ids of the layers that are computed of a layer, without it.

        Raises:
            GraphError: no such layer.
        """
        return nx.descendants(self, self.layer(layer_id).id)

    def remove(self, layer_id: int) -> None:
        """Remove a layer without consumers.

        Raises:
            GraphError: the layer has a consumer; redirect its consumers first.
        """
        layer = self.layer(layer_id)
        for _, consumer, (port, _) in self.out_edges(layer_id, keys=True):
            raise GraphError(
                f"'{self.layer(consumer).name}' reads port {port} of '{layer.name}'; redirect its edge first"
            )
        self.remove_node(layer_id)

    def __copy__(self) -> Graph:
        """Return `clone()`."""
        return self.clone()

    def __repr__(self) -> str:
        """Return `Graph(303 layers, 302 edges)`."""
        return f"Graph({len(self)} layers, {self.number_of_edges()} edges)"

    def clone(self) -> Graph:
        """Return a copy of the graph and its layers. `copy` of networkx shares the layers with the original."""
        twin = Graph(**self.graph)
        with gc_paused():
            for node, data in self._node.items():
                twin._node[node] = {**data, "layer": data["layer"].copy()}
                twin._succ[node], twin._pred[node] = {}, {}
            for consumer, producers in self._pred.items():
                for source, keys in producers.items():
                    twin._pred[consumer][source] = {key: {**data} for key, data in keys.items()}
            for source, consumers in self._succ.items():
                twin._succ[source] = {consumer: twin._pred[consumer][source] for consumer in consumers}
        return twin

    def _inherited(self, old: Layer, new: Layer) -> dict[int, Source]:
        """Return the sources of the inputs of `old`, by the input ports of `new` in the same order."""
        sources = self.sources(old.id)
        if len(old.inputs) > len(new.inputs):
            raise GraphError(
                f"'{old.name}' has {plural(len(old.inputs), 'input')}, but its replacement has {len(new.inputs)}"
            )
        pairs = zip(old.inputs, new.inputs, strict=False)
        return {after.id: sources[before.id] for before, after in pairs if before.id in sources}

    def _joined(self, names: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
        """Return `names`, then those of `more` that are not in `names`.

        What was joined last is not looked at again: the names of a chain that is removed come together at one port.
        """
        few, many = sorted((names, more), key=len)
        last, known = self._last_joined
        if many is not last:
            known = {*many}
        common = known.intersection(few)
        joined = names + (tuple([name for name in more if name not in common]) if common else more)
        known.update(few)
        self._last_joined = joined, known
        return joined

    def _require_output(self, source: Source) -> None:
        """Raise an error if the output port does not exist. The layer is not loaded."""
        layer = self.layer(source.layer)
        if find_port(layer.common.outputs, source.port) is None:
            raise GraphError(f"layer '{layer.name}' has no output port {source.port}")

    def _require_input(self, layer: Layer, port_id: int) -> None:
        """Raise an error if the layer has no such input port."""
        if find_port(layer.common.inputs, port_id) is None:
            raise GraphError(f"layer '{layer.name}' has no input port {port_id}")


@lru_cache(1 << 10)
def _key(start: int, to: int) -> tuple[int, int]:
    """Return the key of an edge; few are different."""
    return start, to
