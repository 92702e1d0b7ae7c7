"""A model: its graph, its weights, and where it came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from ir_tools.graph.graph import Graph
from ir_tools.graph.layer import Layer, Port
from ir_tools.weights import Weights

__all__ = ["Endpoint", "Located", "Model", "Origin"]


class Endpoint(NamedTuple):
    """An input or output of the model.

    `names`: what it may be called, best first: tensor names, then the layer's name (for an output: that of the layer
    which makes the tensor, with `.port` where it has several outputs, and that of the Result). `port` is the one that
    holds its type and dims.
    """

    layer: Layer
    port: Port
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """The first of the names."""
        return self.names[0]


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

    def copy(self) -> Model:
        """A model of its own; what is not loaded yet stays in the file, which both share."""
        return Model(
            self.graph.clone(),
            name=self.name,
            version=self.version,
            weights=self.weights.copy(),
            origin=self.origin,
            path=self.path,
        )

    def __repr__(self) -> str:
        """`Model('chain', IR v11, 303 layers, chain.xml)`."""
        place = f", {self.path}" if self.path else ""
        return f"Model({self.name!r}, IR v{self.version}, {len(self.graph)} layers{place})"

    def walk(self) -> Iterator[Located]:
        """Every layer, bodies included, each with its path, in the order of the file."""
        yield from walk(self.graph)

    @property
    def inputs(self) -> list[Endpoint]:
        """The Parameters, in the order of the file."""
        found = []
        for layer in self.graph.layers():
            if layer.type == "Parameter" and layer.outputs:
                port = layer.outputs[0]
                found.append(Endpoint(layer, port, tuple(dict.fromkeys((*port.names, layer.name)))))
        return found

    @property
    def outputs(self) -> list[Endpoint]:
        """The Results, in the order of the file."""
        found = []
        for layer in self.graph.layers():
            if layer.type != "Result" or not layer.inputs:
                continue
            names: list[str] = [name for name in layer.tag.get("output_names", "").split(",") if name]
            for source in self.graph.sources(layer.id).values():
                maker = self.graph.layer(source.layer)
                index = next(i for i, port in enumerate(maker.outputs) if port.id == source.port)
                names += [
                    *maker.outputs[index].names,
                    maker.name if len(maker.outputs) == 1 else f"{maker.name}.{index}",
                ]
            found.append(Endpoint(layer, layer.inputs[0], tuple(dict.fromkeys((*names, layer.name)))))
        return found

    @property
    def ports(self) -> dict[tuple[str, int], Port]:
        """Every port by path and port id."""
        return {(path, port.id): port for path, layer, _ in self.walk() for port in (*layer.inputs, *layer.outputs)}

    def line_of(self, graph: Graph, layer_id: int) -> int | None:
        """The line on which the layer starts in the file, where it is in one."""
        return self.origin.line_of(graph, layer_id) if self.origin else None


def walk(graph: Graph, prefix: str = "") -> Iterator[Located]:
    """Every layer of a graph and of the bodies in it; a name that occurs twice in one graph gets `#id`."""
    layers = list(graph.layers())
    names = [layer.name for layer in layers]
    counts = Counter(names)
    for layer, name in zip(layers, names, strict=True):
        label = name if counts[name] == 1 else f"{name}#{layer.id}"
        yield Located(prefix + label, layer, graph)
        for body, inner in layer.bodies.items():
            yield from walk(inner, f"{prefix}{label}/{body}/")
