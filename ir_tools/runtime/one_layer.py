"""One layer of a model on the runtime, alone: Parameters, the layer, Results."""

from collections.abc import Mapping, Sequence

from ir_tools.builder import Builder
from ir_tools.format.write import render
from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.ops import Role, role_of
from ir_tools.rewrite.extraction import dtype_of, take_constants
from ir_tools.runtime.client import Array, RuntimeClient
from ir_tools.types import element_type

__all__ = ["LayerRunner"]

NAME = "layer"
"""Of the layer in its small model, whatever it is called in its own."""


class LayerRunner:
    """Run single layers in a child process; the `Fallback` of `ir_tools.execute`.

    The child keeps the small models that it compiled: a layer in a loop, or one like another, is compiled once.
    """

    def __init__(self, client: RuntimeClient, device: str = "CPU", config: Mapping[str, str] | None = None) -> None:
        """`client`: it stays the caller's to close. `config`: properties of the device; f32 unless it says more."""
        self._client = client
        self._device = device
        self._config = config

    def __call__(self, model: Model, graph: Graph, layer: Layer, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """Return the outputs of a layer of `graph`, in the order of its ports.

        Inputs that are constants in the model are constants here, since some layers take nothing else.

        Raises:
            RuntimeFailure: the runtime rejects the layer, crashes, or takes too long.
        """
        alone, given = _alone(model, graph, layer, inputs)
        weights = b"".join(alone.weights.tail())
        found = self._client.infer(render(alone), weights, given, device=self._device, config=self._config, keep=True)
        return tuple(found.outputs.values())


def _alone(model: Model, graph: Graph, layer: Layer, inputs: Sequence[Array]) -> tuple[Model, dict[str, Array]]:
    """Return a model of one layer, and what its Parameters are given."""
    builder, given, feeds = Builder(name=NAME), dict[str, Array](), dict[int, Source]()
    sources, cast = graph.sources(layer.id), dict[int, Array]()
    ports = [port.id for port in layer.inputs if port.id in sources]
    for number, (port, array) in enumerate(zip(ports, inputs, strict=True), 1):
        producer, name, kind = graph.layer(sources[port].layer), f"input{number}", dtype_of(array)
        if role_of(producer) is not Role.CONSTANT:
            given[name], feeds[port] = array, builder.parameter(name, array.shape, kind)
        elif kind.is_float and kind.name != producer.raw.get("element_type") and _is_float(producer):
            cast[port] = array
        else:
            feeds[port] = Source(builder.copy(producer, {}, name).id, producer.outputs[0].id)
    own = builder.copy(layer, feeds, NAME)
    take_constants(builder.model, model.weights)
    for port, array in cast.items():
        builder.graph.connect(builder.constant(array), own.id, port)
    for output in own.outputs:
        builder.result(Source(own.id, output.id))
    return builder.model, given


def _is_float(layer: Layer) -> bool:
    return element_type(layer.raw.get("element_type", "")).is_float
