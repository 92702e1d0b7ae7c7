"""Parts of a model: the first layers of its order, or a body, each as the text of a model of its own.

The text of a layer is copied as it is in the file, so that a part holds the very faults that the file holds.
"""

from collections.abc import Collection, Iterator
from functools import cached_property

from ir_tools.format.content import ElementSource
from ir_tools.graph import Graph, Layer, Source
from ir_tools.ops import Role, role_of
from ir_tools.source import Document, Element

__all__ = ["Parts", "element_of"]


class Parts:
    """What the runtime reads of a graph: the Parameters, and the layers that lead to Results or into variables.

    Attributes:
        layers: them, producers before consumers, each right behind what it alone needs; Parameters come first.
    """

    def __init__(self, document: Document, graph: Graph, version: int) -> None:
        """`graph`: of `document`, or a body in it, as read. `version`: of the IR."""
        self._document = document
        self._graph = graph
        self._version = version
        self.layers = list(_ordered(graph))

    def body(self, layer: Layer, name: str) -> "Parts":
        """Return a body of a layer, as a model of its own."""
        return Parts(self._document, layer.bodies[name], self._version)

    def first(self, count: int) -> bytes:
        """Return a model of the first layers; every output whose consumer is missing gets a Result.

        Raises:
            ReadError: a port without a usable id.
        """
        kept = {layer.id: layer for layer in self.layers[:count]}
        texts = [self._text(layer) for layer in kept.values()]
        edges = [
            _edge(producer, out, consumer, to)
            for producer, consumer, (out, to) in self._graph.edges(keys=True)
            if producer in kept and consumer in kept
        ]
        results = range(max(self._graph.nodes, default=0) + 1, 1 << 62)
        for number, source in zip(results, self._unread_outputs(kept.values()), strict=False):
            tag = f'<layer id="{number}" name="{number}" type="Result" version="opset1">'
            texts.append(tag + '<input><port id="0"/></input></layer>')
            edges.append(_edge(source.layer, source.port, number, 0))
        net = f'<net name="part" version="{self._version}">'
        return f"{net}<layers>{''.join(texts)}</layers><edges>{''.join(edges)}</edges></net>".encode()

    def _text(self, layer: Layer) -> str:
        span = self._document.span(element_of(layer))
        return self._document.text[span.start : span.end].decode()

    def _unread_outputs(self, kept: Collection[Layer]) -> Iterator[Source]:
        """Yield the outputs that a layer of the whole model reads, but none that is kept."""
        ids = {layer.id for layer in kept}
        for layer in kept:
            consumers: dict[int, bool] = {}
            for _, consumer, (out, _) in self._graph.out_edges(layer.id, keys=True):
                if consumer in self._read:
                    consumers[out] = consumers.get(out, False) or consumer in ids
            yield from (Source(layer.id, out) for out, read in consumers.items() if not read)

    @cached_property
    def _read(self) -> set[int]:
        return {layer.id for layer in self.layers}


def element_of(layer: Layer) -> Element:
    """Return the `<layer>` that a layer was read from."""
    assert isinstance(layer.source, ElementSource)
    return layer.source.element


def _ordered(graph: Graph) -> Iterator[Layer]:
    """Depth first from what the runtime starts with; ReadValues before the Assigns that belong to them."""
    starts = (Role.PARAMETER, Role.READ_VARIABLE, Role.RESULT, Role.ASSIGN_VARIABLE)
    roots = [layer.id for role in starts for layer in graph.layers() if role_of(layer) is role]
    seen: set[int] = set()
    for root in roots:
        stack = [(root, False)]
        while stack:
            layer_id, done = stack.pop()
            if done:
                yield graph.layer(layer_id)
            elif layer_id not in seen:
                seen.add(layer_id)
                stack.append((layer_id, True))
                stack += [(source.layer, False) for source in reversed(list(graph.sources(layer_id).values()))]


def _edge(producer: int, out: int, consumer: int, to: int) -> str:
    return f'<edge from-layer="{producer}" from-port="{out}" to-layer="{consumer}" to-port="{to}"/>'
