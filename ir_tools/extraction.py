"""Cutting layers out of a model: what they read becomes Parameters, what leaves them becomes Results."""

from collections.abc import Collection, Mapping

from ir_tools.errors import UsageError
from ir_tools.graph import Graph, Layer, LayerContent, Model, Port, Source
from ir_tools.ops import Array
from ir_tools.types import ElementType, element_type, from_dtype
from ir_tools.weights import Weights

__all__ = ["cut", "reads"]


def reads(model: Model, layers: Collection[int]) -> list[Source]:
    """The tensors that a set of layers reads from outside of it, constants left out, in the order of the file."""
    graph = model.graph
    found: dict[Source, None] = {}
    for layer_id in sorted(layers):
        for source in graph.sources(layer_id).values():
            if source.layer not in layers and graph.layer(source.layer).type != "Const":
                found[source] = None
    return [*found]


def cut(model: Model, layers: Collection[int], tensors: Mapping[Source, Array], target: int) -> Model:
    """A model of its own that holds some layers of the main graph and the constants that they read.

    Args:
        model: it is not changed.
        layers: ids of layers that compute something.
        tensors: arrays for all that `reads` names, for the types and shapes of the new Parameters.
        target: the layer whose outputs become the outputs of the model.

    Raises:
        UsageError: an array is missing, or the target is not one of the layers.
    """
    if target not in layers:
        raise UsageError(f"layer {target} is not among those that are to be cut out")
    graph, small = model.graph, Graph()
    kept = set(layers) | {
        source.layer
        for layer_id in layers
        for source in graph.sources(layer_id).values()
        if graph.layer(source.layer).type == "Const"
    }
    new_id = max(graph.nodes) + 1
    parameters: dict[Source, int] = {}
    for source in reads(model, layers):
        if source not in tensors:
            raise UsageError(f"there is no array for what layer {source.layer} gives")
        parameters[source] = new_id
        small.add(_parameter(new_id, graph, source, tensors[source]))
        new_id += 1
    for layer in graph.layers():
        if layer.id in kept:
            small.add(layer.copy())
    for layer_id in layers:
        for to, source in graph.sources(layer_id).items():
            small.connect(Source(parameters[source], 0) if source in parameters else source, layer_id, to)
    for port in graph.layer(target).outputs:
        end = LayerContent({}, [Port(0, port.precision, port.dims)])
        result = Layer(new_id, {"name": f"result_{port.id}", "type": "Result", "version": "opset1"}, end)
        small.add(result, {0: Source(target, port.id)})
        new_id += 1
    part = Model(
        small,
        name=f"{model.name or 'model'}_part",
        version=11,
        weights=Weights.from_bytes(b""),
        origin=None,
        path=None,
    )
    _take_constants(part, model.weights)
    return part


def _take_constants(part: Model, weights: Weights) -> None:
    """Give a model weights of its own, with the bytes that its constants point to and no others."""
    for _, layer, _ in part.walk():
        if layer.type == "Const":
            data = weights.view(int(layer.raw["offset"]), int(layer.raw["size"]))
            offset, size = part.weights.append(data)
            layer.raw.update(offset=str(offset), size=str(size))


def _parameter(number: int, graph: Graph, source: Source, array: Array) -> Layer:
    """A Parameter in place of an output port; it takes over the tensor names of the port."""
    maker = graph.layer(source.layer)
    kind = _kind(array)
    raw = {"shape": ",".join(map(str, array.shape)), "element_type": kind.name}
    name = maker.name if len(maker.outputs) == 1 else f"{maker.name}.{source.port}"
    port = Port(0, kind.precision, array.shape, maker.port(source.port).names)
    return Layer(number, {"name": name, "type": "Parameter", "version": "opset1"}, LayerContent(raw, [], [port]))


def _kind(array: Array) -> ElementType:
    return element_type("string") if array.dtype.kind in "OUST" else from_dtype(array.dtype)
