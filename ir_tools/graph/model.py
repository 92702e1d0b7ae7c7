"""A model: its graph, its weights, and the document from which it was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from ir_tools.display import brief, notebook_table, plural, shortened
from ir_tools.graph.graph import Graph
from ir_tools.graph.layer import Layer, Port, output_name, port_place
from ir_tools.source.grammar import LEGACY_VERSIONS
from ir_tools.types import precision_in_file
from ir_tools.weights import Weights

__all__ = ["Endpoint", "Located", "Model", "Origin"]


class Endpoint(NamedTuple):
    """An input or output of the model.

    Attributes:
        layer: the Parameter or Result.
        side: of the layer, on which is the port that records its element type and sizes.
        place: of this port on that side.
        groups: the names in groups: all Results of a tensor share its names, which may be as many as there are Results.
    """

    layer: Layer
    side: Literal["inputs", "outputs"]
    place: int
    groups: tuple[tuple[str, ...], ...]

    @property
    def port(self) -> Port:
        """The port that records its element type and sizes."""
        ports: Sequence[Port] = getattr(self.layer, self.side)
        return ports[self.place]

    @property
    def record(self) -> Port:
        """A port that says the same but for its names; not to be changed. The layer is not loaded by it."""
        ports: Sequence[Port] = getattr(self.layer.common, self.side)
        return ports[self.place]

    @property
    def names(self) -> tuple[str, ...]:
        """All names that callers may use, the preferred one first: the tensor names, then the name of the layer.

        For an output, that is the name of the layer that computes the tensor (`NAME.0`, `NAME.1` if it has several
        outputs), then the name of the Result.
        """
        return tuple(dict.fromkeys(chain.from_iterable(self.groups)))

    @property
    def name(self) -> str:
        """The first of the names."""
        return next(chain.from_iterable(self.groups))

    def __repr__(self) -> str:
        """Return `Endpoint('data', Layer(...), Port(...))`."""
        return f"Endpoint({brief(self.name)}, {self.layer!r}, {self.port!r})"


class Located(NamedTuple):
    """A layer with its path through bodies (`Loop_3/body/Add_7`) and the graph that contains it."""

    path: str
    layer: Layer
    graph: Graph

    def __repr__(self) -> str:
        """Return `Located('Loop_3/body/Add_7', Layer(...), Graph(...))`."""
        return f"Located({brief(self.path)}, {self.layer!r}, {self.graph!r})"


class Origin(Protocol):
    """The document from which a model was read: the writer copies from it, and diagnostics give its lines."""

    def line_of(self, graph: Graph, layer_id: int) -> int | None:
        """Return the line on which the layer's tag starts, counted from 1; None if it is not in the document."""
        ...

    def reduce(self, model: Model) -> tuple[object, ...]:
        """Return a function that makes the model again, and its arguments, for pickling."""
        ...


class Model:
    """An IR model in memory. The graph and its layers may be changed; this never changes the files.

    A model is pickled as `write` would write it, with the path of its `.bin`. The process that unpickles it maps that
    file, and raises an error if the file has changed since.

    Attributes:
        graph: the graph of its layers.
        name: the name of the model.
        version: the IR version: 10 or 11, or 2 to 7 for a legacy model.
        weights: the `.bin`, mapped into memory.
        path: the path of the `.xml`; None if it was not read from a file.

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
        """Make a model; `read` reads one from a file, and `Builder` starts a new one.

        Args:
            graph: the graph of its layers.
            name: the name of the model.
            version: the IR version.
            weights: the bytes of its constants.
            origin: the document from which it was read; None for a new model.
            path: the path of the `.xml`; None if it was not read from a file.
        """
        self.graph = graph
        self.name = name
        self.version = version
        self.weights = weights
        self.origin = origin
        self.path = path

    def copy(self) -> Model:
        """Return a copy that can be changed without changing this model. Both share the mapped files."""
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
        """Return `copy()`. The weights of the file and the document never change, so the copy shares them."""
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
        """Return the text of `repr`, and a table of inputs and outputs."""
        ends = [("input", end) for end in self.inputs] + [("output", end) for end in self.outputs]
        rows = ((side, end.name, _type_of(end.record), _shape_of(end.record)) for side, end in ends)
        return notebook_table(repr(self), ("side", "name", "type", "shape"), rows)

    def walk(self, wanted: Callable[[Layer], bool] | None = None) -> Iterator[Located]:
        """Yield all layers, including those in bodies, each with its path, in the order of the file.

        Args:
            wanted: a filter; only layers for which it returns True are yielded.
        """
        return walk(self.graph, wanted=wanted)

    def graphs(self) -> Iterator[Graph]:
        """Yield the main graph and every body, in the order of the file."""
        return graphs(self.graph)

    def owners(self) -> Iterator[tuple[Graph, Layer]]:
        """Yield the layers that have bodies, each with its graph and before the layers in its bodies."""
        return owners(self.graph)

    @property
    def inputs(self) -> list[Endpoint]:
        """The Parameters (in IR v2 to v7 the Inputs) in file order; types match in any letter case, as in OpenVINO."""
        kind = "input" if self.is_legacy else "parameter"
        layers = [layer for layer in self.graph.layers() if layer.type.lower() == kind and layer.outputs]
        return [Endpoint(layer, "outputs", 0, (layer.outputs[0].names, (layer.name,))) for layer in layers]

    @property
    def outputs(self) -> list[Endpoint]:
        """The Results, in the order of the file; in IR v2 to v7, the output ports without consumers."""
        if self.is_legacy:
            return [*self._unread_outputs()]
        found = []
        for layer in self.graph.layers():
            if layer.type != "Result" or not layer.common.inputs:
                continue
            own = layer.attribute("output_names")
            groups = [tuple([name for name in own.split(",") if name])] if own else []
            for source in self.graph.sources(layer.id).values():
                producer = self.graph.layer(source.layer)
                index = port_place(producer.common.outputs, source.port)
                assert index is not None, "edges lead to ports that are there"
                groups += [producer.tensor_names(source.port), (output_name(producer, index),)]
            found.append(Endpoint(layer, "inputs", 0, (*groups, (layer.name,))))
        return found

    def _unread_outputs(self) -> Iterator[Endpoint]:
        for layer in self.graph.layers():
            for index, port in enumerate(layer.common.outputs):
                if not self.graph.reads(layer.id, port.id):
                    yield Endpoint(layer, "outputs", index, ((output_name(layer, index),),))

    @property
    def is_legacy(self) -> bool:
        """Whether the IR version is 2 to 7, whose files have layer types in place of operations."""
        return self.version in LEGACY_VERSIONS

    @property
    def ports(self) -> dict[tuple[str, int], Port]:
        """Every port by path and port id."""
        return {(path, port.id): port for path, layer, _ in self.walk() for port in (*layer.inputs, *layer.outputs)}

    def line_of(self, graph: Graph, layer_id: int) -> int | None:
        """Return the line on which the layer starts in the file; None if it was not read from a file."""
        return self.origin.line_of(graph, layer_id) if self.origin else None


def _type_of(port: Port) -> str:
    known = precision_in_file(port.precision) if port.precision else None
    return known.name if known else port.precision or ""


def _shape_of(port: Port) -> str:
    return ",".join("?" if size < 0 else str(size) for size in port.dims)


def _assembled(graph: Graph, name: str, version: int, weights: Weights, path: Path | None) -> Model:
    return Model(graph, name=name, version=version, weights=weights, origin=None, path=path)


def walk(graph: Graph, prefix: str = "", *, wanted: Callable[[Layer], bool] | None = None) -> Iterator[Located]:
    """Yield the layers of a graph and of its bodies that `wanted` selects.

    The path of a layer contains `#id` if another layer of its graph has the same name.
    """
    levels = [_level(graph, prefix, wanted)]
    while levels:
        for located in levels[-1]:
            path, layer, _ = located
            if wanted is None or not layer.bodies or wanted(layer):
                yield located
            if layer.bodies:
                levels += [_level(inner, f"{path}/{body}/", wanted) for body, inner in [*layer.bodies.items()][::-1]]
                break
        else:
            levels.pop()


def _level(graph: Graph, prefix: str, wanted: Callable[[Layer], bool] | None) -> Iterator[Located]:
    """Yield the layers of a graph that `wanted` selects, and those that have bodies."""
    layers = [*graph.layers()]
    chosen = layers if wanted is None else [layer for layer in layers if layer.bodies or wanted(layer)]
    names = [layer.name for layer in layers] if chosen else []
    repeated = {name for name, count in Counter(names).items() if count > 1} if len({*names}) < len(names) else ()
    for layer in chosen:
        name = layer.name
        yield Located(f"{prefix}{name}#{layer.id}" if name in repeated else prefix + name, layer, graph)


def graphs(graph: Graph) -> Iterator[Graph]:
    """Yield a graph and all bodies in it."""
    yield graph
    for layer in [layer for layer in graph.layers() if layer.bodies]:
        for inner in layer.bodies.values():
            yield from graphs(inner)


def owners(graph: Graph) -> Iterator[tuple[Graph, Layer]]:
    """Yield the layers of a graph and of its bodies that have bodies themselves, each with its graph."""
    for layer in [layer for layer in graph.layers() if layer.bodies]:
        yield graph, layer
        for inner in layer.bodies.values():
            yield from owners(inner)
