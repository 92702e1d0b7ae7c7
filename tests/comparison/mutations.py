"""Copies of a model that mean the same or nearly so, with the layers that belong together."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ir_tools.graph import Graph, Layer, LayerContent, Model, Port, Source
from ir_tools.weights import Weights, constant

UNARY = {"ReLU", "Sigmoid", "Tanh", "Elu", "HSwish", "SoftPlus", "Clamp", "Dropout", "LRN", "Exp"}
COMMUTATIVE = {"Add", "Multiply", "Maximum", "Minimum"}


@dataclass
class Copy:
    """A copy, and its layer by the id of the original's (absent: it has none)."""

    model: Model
    twins: dict[int, int]


Mutation = Callable[[np.random.Generator, Copy], None]


def copied(model: Model) -> Copy:
    twin = model.copy()
    return Copy(twin, {layer.id: layer.id for layer in twin.graph.layers()})


def renumber(rng: np.random.Generator, copy: Copy) -> None:
    """Ids of layers and of their ports, and the order of the file."""
    graph, new = copy.model.graph, Graph()
    layers = list(graph.layers())
    ids = {layer.id: int(number) for layer, number in zip(layers, rng.permutation(len(layers)), strict=True)}
    further = {layer.id: int(rng.integers(4)) for layer in layers}
    for place in rng.permutation(len(layers)):
        added, more = new.add(layers[place].copy(ids[layers[place].id])), further[layers[place].id]
        for each in (*added.inputs, *added.outputs):
            each.id += more
        for row in (row for rows in added.content.mapping.values() for _, row in rows):
            if int(row.get("external_port_id", -1)) >= 0:
                row["external_port_id"] = str(int(row["external_port_id"]) + more)
    for layer in layers:
        for port, source in graph.sources(layer.id).items():
            start = Source(ids[source.layer], source.port + further[source.layer])
            new.connect(start, ids[layer.id], port + further[layer.id])
    copy.model.graph = new
    copy.twins = {own: ids[twin] for own, twin in copy.twins.items()}


def rename(rng: np.random.Generator, copy: Copy) -> None:
    """No name is left but those of inputs and outputs."""
    for number, layer in enumerate(inner(copy.model.graph)):
        layer.tag["name"] = f"layer{number}_{rng.integers(1000)}"
        for index, port in enumerate(layer.outputs):
            port.names = (f"tensor{number}.{index}",)


def shuffle_names(rng: np.random.Generator, copy: Copy) -> None:
    """Each layer gets the name of another one."""
    layers = list(inner(copy.model.graph))
    names = [(layer.name, [port.names for port in layer.outputs]) for layer in layers]
    for layer, place in zip(layers, rng.permutation(len(layers)), strict=True):
        layer.tag["name"] = names[place][0]
        for port, words in zip(layer.outputs, names[place][1], strict=False):
            port.names = words


def repeat_names(rng: np.random.Generator, copy: Copy) -> None:
    """All tensors have one of three names."""
    for layer in inner(copy.model.graph):
        for port in layer.outputs:
            port.names = (f"tensor{rng.integers(3)}",)


def add_noise(rng: np.random.Generator, copy: Copy) -> None:
    """All weights change a little, as by a conversion to f16 and back."""
    change_weights(copy.model, lambda flat: flat * (1 + rng.normal(0, 1e-3, flat.shape)))


def retrain(rng: np.random.Generator, copy: Copy) -> None:
    """All weights are others."""
    change_weights(copy.model, lambda flat: rng.normal(0, 1, flat.shape))


def change_weights(model: Model, change: Callable[[np.ndarray], np.ndarray]) -> None:
    data = bytearray()
    for layer in model.graph.layers():
        if layer.type == "Const":
            flat = constant(layer.raw, model.weights)
            new = np.array(flat)
            if flat.dtype.kind == "f":
                new = change(flat.reshape(-1).astype(np.float64)).astype(flat.dtype)
            data += bytes(-len(data) % 64)
            layer.raw.update(offset=str(len(data)), size=str(new.nbytes))
            data += new.tobytes()
    model.weights = Weights.from_bytes(bytes(data))


def insert(rng: np.random.Generator, copy: Copy) -> None:
    """Up to three ReLU or Sigmoid between layers."""
    insert_one_of(rng, copy, ["ReLU", "Sigmoid"])


def insert_other(rng: np.random.Generator, copy: Copy) -> None:
    """Up to three layers of a type that no others have."""
    insert_one_of(rng, copy, ["Atan"])


def insert_one_of(rng: np.random.Generator, copy: Copy, types: list[str]) -> None:
    graph = copy.model.graph
    edges = [
        (layer.id, port, source)
        for layer in graph.layers()
        for port, source in graph.sources(layer.id).items()
        if graph.layer(source.layer).port(source.port).precision in {"FP32", "FP16"} and depends(graph, source.layer)
    ]
    for place in rng.permutation(len(edges))[: rng.integers(1, 4)]:
        reader, port, source = edges[place]
        made = graph.layer(source.layer).port(source.port)
        ports = [Port(0, made.precision, made.dims)], [Port(1, made.precision, made.dims)]
        tag = {"name": graph.new_name("inserted"), "type": str(rng.choice(types)), "version": "opset1"}
        new = graph.add(Layer(graph.new_id(), tag, LayerContent({}, *ports)), {0: source})
        graph.connect(Source(new.id, 1), reader, port)


def remove(rng: np.random.Generator, copy: Copy) -> None:
    """Up to three activations."""
    graph = copy.model.graph
    found = [layer.id for layer in graph.layers() if layer.type in UNARY]
    for layer_id in rng.permutation(found)[: rng.integers(1, 4)]:
        layer = graph.layer(int(layer_id))
        (source,) = graph.sources(layer.id).values()
        graph.redirect(Source(layer.id, layer.outputs[0].id), source, names=False)
        graph.remove(layer.id)
        copy.twins = {own: twin for own, twin in copy.twins.items() if twin != layer.id}


def swap(rng: np.random.Generator, copy: Copy) -> None:
    """Inputs of sums and products."""
    graph = copy.model.graph
    for layer in list(graph.layers()):
        sources = graph.sources(layer.id)
        if layer.type in COMMUTATIVE and len(sources) == 2 and rng.random() < 0.7:
            (a, first), (b, second) = sources.items()
            one, two = (next(port for port in layer.inputs if port.id == number) for number in (a, b))
            one.dims, two.dims = two.dims, one.dims
            one.precision, two.precision = two.precision, one.precision
            graph.connect(second, layer.id, a)
            graph.connect(first, layer.id, b)


def inner(graph: Graph) -> Iterator[Layer]:
    return (layer for layer in graph.layers() if layer.type not in {"Parameter", "Result"})


def depends(graph: Graph, layer_id: int) -> bool:
    """Whether a layer depends on an input."""
    queue = [layer_id]
    for entry in queue:
        if graph.layer(entry).type == "Parameter":
            return True
        queue += {source.layer for source in graph.sources(entry).values()} - set(queue)
    return False
