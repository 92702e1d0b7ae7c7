"""A model: its graph, its weights, and where it came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from ir_tools.display import brief, notebook_table, plural, shortened
from ir_tools.graph.graph import Graph
from ir_tools.graph.layer import Layer, Port, port_place
from ir_tools.source.grammar import LEGACY_VERSIONS
from ir_tools.types import precision_in_file
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

    def __repr__(self) -> str:
        """Return `Endpoint('data', Layer(...), Port(...))`."""
        return f"Endpoint({brief(self.name)}, {self.layer!r}, {self.port!r})"


class Located(NamedTuple):
    """A layer with the way to it: `Loop_3/body/Add_7`."""

    path: str
    layer: Layer
    graph: Graph

    def __repr__(self) -> str:
        """Return `Located('Loop_3/body/Add_7', Layer(...), Graph(...))`."""
        return f"Located({brief(self.path)}, {self.layer!r}, {self.graph!r})"


class Origin(Protocol):
    """The document that a model was read from: what the writer copies, and where diagnostics point."""

    def line_of(self, graph: Graph, layer_id: int) -> int | None:
        """Return the line on which the layer's tag starts, counted from 1; None if it is not in the document."""
        ...

    def reduce(self, model: Model) -> tuple[object, ...]:
        """Return a function and its arguments that make the model again, for pickling."""
        ...


class Model:
    """An IR model in memory. The graph and its layers may be changed; the files never are.

    A model is pickled as `write` would write it, with the path of its `.bin`: the process that reads it maps the same
    file, and refuses one that has changed since.

    Attributes:
        graph: the layers.
        name: of the model.
        version: of the IR: 10 or 11, or 2 to 7 of a legacy model.
        weights: the `.bin`, mapped.
        path: of the `.xml`; None if it was not read from a file.

    Example:
        >>> model = ir_tools.read("model.xml")
        >>> [(end.name, end.port.dims) for end in model.inputs], [end.name for end in model.outputs]
        ([('data', (1, 2, 8, 8))], ['pooled'])
        >>> [(path, layer.type) for path, layer, graph in model.walk()]
        [('data', 'Parameter'), ('pool', 'AvgPool'), ('result', 'Result')]
    """

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
        """Return a model of its own; what is not loaded yet stays in the file, which both share."""
        return Model(
            self.graph.clone(),
            name=self.name,
            version=self.version,
            weights=self.weights.copy(),
            origin=self.origin,
            path=self.path,
        )

    def __copy__(self) -> Model:
        """Return `copy()`."""
        return self.copy()

    def __deepcopy__(self, memo: dict[int, object]) -> Model:
        """Return `copy()`: neither weights nor the document that it was read from are ever changed."""
        return self.copy()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the model as it would be written, and its weights, which name their file."""
        if self.origin is not None:
            return self.origin.reduce(self)
        return _assembled, (self.graph, self.name, self.version, self.weights, self.path)

    def __repr__(self) -> str:
        """Return `Model('chain', IR v11, 303 layers, chain.xml)`."""
        place = f", {shortened(str(self.path), 200)}" if self.path else ""
        return f"Model({brief(self.name)}, IR v{self.version}, {plural(len(self.graph), 'layer')}{place})"

    def _repr_html_(self) -> str:
        """Return what `repr` says, and a table of inputs and outputs."""
        ends = [("input", end) for end in self.inputs] + [("output", end) for end in self.outputs]
        rows = ((side, end.name, _type_of(end.port), _shape_of(end.port)) for side, end in ends)
        return notebook_table(repr(self), ("side", "name", "type", "shape"), rows)

    def walk(self, wanted: Callable[[Layer], bool] | None = None) -> Iterator[Located]:
        """Yield all layers or those wanted, bodies included, each with its path, in the order of the file."""
        yield from walk(self.graph, wanted=wanted)

    def graphs(self) -> Iterator[Graph]:
        """Yield the main graph and every body, in the order of the file."""
        return graphs(self.graph)

    @property
    def inputs(self) -> list[Endpoint]:
        """The Parameters (in legacy IR the Inputs), in file order; `parameter` is one, too, as for the runtime."""
        found, kind = [], "input" if self.is_legacy else "parameter"
        for layer in self.graph.layers():
            if layer.type.lower() == kind and layer.outputs:
                port = layer.outputs[0]
                found.append(Endpoint(layer, port, tuple(dict.fromkeys((*port.names, layer.name)))))
        return found

    @property
    def outputs(self) -> list[Endpoint]:
        """The Results, in the order of the file. In legacy IR: the outputs that nothing reads."""
        if self.is_legacy:
            return [*self._unread_outputs()]
        found = []
        for layer in self.graph.layers():
            if layer.type != "Result" or not layer.inputs:
                continue
            names: list[str] = [name for name in layer.tag.get("output_names", "").split(",") if name]
            for source in self.graph.sources(layer.id).values():
                producer = self.graph.layer(source.layer)
                index = port_place(producer.outputs, source.port)
                assert index is not None, "edges lead to ports that are there"
                names += [
                    *producer.outputs[index].names,
                    producer.name if len(producer.outputs) == 1 else f"{producer.name}.{index}",
                ]
            found.append(Endpoint(layer, layer.inputs[0], tuple(dict.fromkeys((*names, layer.name)))))
        return found

    def _unread_outputs(self) -> Iterator[Endpoint]:
        for layer in self.graph.layers():
            read = {start for _, _, (start, _) in self.graph.out_edges(layer.id, keys=True)}
            for index, port in enumerate(layer.outputs):
                if port.id not in read:
                    name = layer.name if len(layer.outputs) == 1 else f"{layer.name}.{index}"
                    yield Endpoint(layer, port, (name,))

    @property
    def is_legacy(self) -> bool:
        """Whether this is an IR of version 2 to 7, with layer types in place of operations."""
        return self.version in LEGACY_VERSIONS

    @property
    def ports(self) -> dict[tuple[str, int], Port]:
        """Every port by path and port id."""
        return {(path, port.id): port for path, layer, _ in self.walk() for port in (*layer.inputs, *layer.outputs)}

    def line_of(self, graph: Graph, layer_id: int) -> int | None:
        """Return the line on which the layer starts in the file, if it is in one."""
        return self.origin.line_of(graph, layer_id) if self.origin else None


def _type_of(port: Port) -> str:
    known = precision_in_file(port.precision) if port.precision else None
    return known.name if known else port.precision or ""


def _shape_of(port: Port) -> str:
    return ",".join("?" if size < 0 else str(size) for size in port.dims)


def _assembled(graph: Graph, name: str, version: int, weights: Weights, path: Path | None) -> Model:
    return Model(graph, name=name, version=version, weights=weights, origin=None, path=path)


def walk(graph: Graph, prefix: str = "", *, wanted: Callable[[Layer], bool] | None = None) -> Iterator[Located]:
    """Yield the wanted layers of a graph and of the bodies in it; a name that occurs twice in one graph gets `#id`."""
    layers = [*graph.layers()]
    if wanted is not None:
        layers = [layer for layer in layers if layer.bodies or wanted(layer)]
    counts = Counter([layer.name for layer in graph.layers()]) if layers else Counter()
    for layer in layers:
        name = layer.name
        label = name if counts[name] == 1 else f"{name}#{layer.id}"
        if wanted is None or not layer.bodies or wanted(layer):
            yield Located(prefix + label, layer, graph)
        for body, inner in layer.bodies.items():
            yield from walk(inner, f"{prefix}{label}/{body}/", wanted=wanted)


def graphs(graph: Graph) -> Iterator[Graph]:
    """Yield a graph and the bodies in it."""
    yield graph
    for layer in graph.layers():
        for inner in layer.bodies.values():
            yield from graphs(inner)
