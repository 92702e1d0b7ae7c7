"""A model: its graph, its weights, and where it came from."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from ir_tools.graph.graph import Graph
from ir_tools.graph.layer import Layer, Port
from ir_tools.weights import Weights

__all__ = ["Located", "Model", "Origin"]


class Located(NamedTuple):
    """A layer with the way to it: `Loop_3/body/Add_7`."""

    path: str
    layer: Layer
    graph: Graph


class Origin(Protocol):
    """The document that a model was read from: what the writer copies, and where diagnostics point."""

    def line_of(self, graph: Graph, layer_id: int) -> int | None:
        """The line on which the layer's tag starts, counted from 1; None for a layer that is not in the document."""
        ...


class Model:
    """An IR model in memory. The graph and its layers may be changed; the files never are."""

    def __init__(
        self, graph: Graph, *, name: str, version: int, weights: Weights, origin: Origin | None, path: Path | None
    ) -> None:
        """`version`: of the IR (10 or 11). `path`: of the `.xml`, None for one that came from bytes or memory."""
        self.graph = graph
        self.name = name
        self.version = version
        self.weights = weights
        self.origin = origin
        self.path = path

    def walk(self) -> Iterator[Located]:
        """Every layer, bodies included, each with its path, in the order of the file."""
        yield from walk(self.graph)

    @property
    def ports(self) -> dict[tuple[str, int], Port]:
        """Every port by path and port id."""
        return {(path, port.id): port for path, layer, _ in self.walk() for port in (*layer.inputs, *layer.outputs)}

    def line_of(self, graph: Graph, layer_id: int) -> int | None:
        """The line on which the layer starts in the file, where there is one."""
        return self.origin.line_of(graph, layer_id) if self.origin else None


def walk(graph: Graph, prefix: str = "") -> Iterator[Located]:
    """Every layer of a graph and of the bodies in it; a name that occurs twice in one graph gets `#id`."""
    names: dict[str, int] = {}
    for layer in graph.layers():
        names[layer.name] = names.get(layer.name, 0) + 1
    for layer in graph.layers():
        label = layer.name if names[layer.name] == 1 else f"{layer.name}#{layer.id}"
        yield Located(prefix + label, layer, graph)
        for body, inner in layer.bodies.items():
            yield from walk(inner, f"{prefix}{label}/{body}/")
