"""Cutting layers out of a model: what they read becomes Parameters, what leaves them becomes Results."""

from collections.abc import Collection, Iterable, Mapping

from ir_tools.builder import Builder
from ir_tools.errors import UsageError
from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.ops import Array, Role, role_of
from ir_tools.types import ElementType, element_type, from_dtype
from ir_tools.types.numbers import id_number
from ir_tools.weights import Weights

__all__ = ["cut", "drop_unread", "dtype_of", "reads", "take_constants"]


def reads(model: Model, layers: Collection[int]) -> list[Source]:
    """Return the tensors that layers read from others, constants left out, in the order of the file."""
    graph = model.graph
    found: dict[Source, None] = {}
    for layer_id in sorted(layers):
        for source in graph.sources(layer_id).values():
            if source.layer not in layers and role_of(graph.layer(source.layer)) is not Role.CONSTANT:
                found[source] = None
    return [*found]


def cut(model: Model, layers: Collection[int], tensors: Mapping[Source, Array], target: int) -> Model:
    """Return a model of its own that holds some layers of the main graph and the constants that they read.

    Args:
        model: it is not changed.
        layers: ids of layers that compute something.
        tensors: arrays for all that `reads` names, for the types and shapes of the new Parameters.
        target: the layer whose outputs become the outputs of the model.

    Raises:
        UsageError: an array is missing, or the target is not one of the layers.
    """
    if target not in layers:
        raise UsageError(f"layer {target} is not one of the layers to extract")
    graph, builder = model.graph, Builder(name=f"{model.name or 'model'}_part")
    small = builder.graph
    kept = set(layers) | {
        source.layer
        for layer_id in layers
        for source in graph.sources(layer_id).values()
        if role_of(graph.layer(source.layer)) is Role.CONSTANT
    }
    for layer in graph.layers():
        if layer.id in kept:
            small.add(layer.copy())
    parameters: dict[Source, Source] = {}
    for source in reads(model, layers):
        if source not in tensors:
            raise UsageError(f"the output of layer {source.layer} has no array")
        parameters[source] = _parameter(builder, graph, source, tensors[source])
    for layer_id in layers:
        for to, source in graph.sources(layer_id).items():
            small.connect(parameters.get(source, source), layer_id, to)
    for port in graph.layer(target).outputs:
        builder.result(Source(target, port.id))
    take_constants(builder.model, model.weights)
    return builder.model


def take_constants(part: Model, weights: Weights) -> None:
    """Add the bytes that the constants of a model point to in `weights` to its own, unless they are there already."""
    _take(_constants(part), part, weights)


def _constants(model: Model) -> list[Layer]:
    return [located.layer for located in model.walk(lambda layer: role_of(layer) is Role.CONSTANT)]


def _take(constants: Iterable[Layer], part: Model, weights: Weights) -> None:
    for layer in constants:
        start, raw = layer.offset, layer.common.raw
        start, length = int(raw["offset"]) if start is None else start, int(raw["size"])
        if start + length > part.weights.stored:
            offset, size = part.weights.take(weights, start, length)
            layer.raw.update(offset=str(offset), size=str(size))


def drop_unread(model: Model, file: Weights) -> None:
    """Drop the weights of a model that no constant reads, unless its constants read all bytes of the file.

    Nothing is dropped if the place of a constant is unknown.
    """
    constants = _constants(model)
    places = [(one.offset, id_number(one.common.raw.get("size"))) for one in constants]
    known = [(offset, size) for offset, size in places if offset is not None and size is not None]
    if file.missing or file.cut or len(known) < len(places):
        return
    read = 0
    for offset, size in sorted(known):
        if offset > read:
            break
        read = max(read, offset + size)
    weights, model.weights = model.weights, file.copy() if read >= file.stored else Weights.from_bytes(b"")
    _take(constants, model, weights)


def _parameter(builder: Builder, graph: Graph, source: Source, array: Array) -> Source:
    """Add a Parameter in place of an output port; it takes over the tensor names of the port."""
    producer = graph.layer(source.layer)
    name = producer.name if len(producer.outputs) == 1 else f"{producer.name}.{source.port}"
    made = builder.parameter(name, array.shape, dtype_of(array))
    builder.graph.layer(made.layer).outputs[0].names = producer.port(source.port).names
    return made


def dtype_of(array: Array) -> ElementType:
    """Return the element type of an array; texts are strings."""
    return element_type("string") if array.dtype.kind in "OUST" else from_dtype(array.dtype)
