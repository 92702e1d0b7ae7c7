"""One layer of a model on the runtime, alone: Parameters, the layer, Results."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ir_tools.graph import Graph, Layer, LayerContent, Model, Port, Source
from ir_tools.runtime.client import Array, RuntimeClient
from ir_tools.types import ElementType, element_type, from_dtype

__all__ = ["LayerRunner"]

NAME = "layer"
"""Of the layer in its small model, whatever it is called in its own."""


class LayerRunner:
    """Runs single layers in a child process; the `Fallback` of `ir_tools.execute`."""

    def __init__(self, client: RuntimeClient, device: str = "CPU", config: Mapping[str, str] | None = None) -> None:
        """`client`: it stays the caller's to close. `config`: properties of the device; f32 unless it says more."""
        self._client = client
        self._device = device
        self._config = config

    def __call__(self, model: Model, graph: Graph, layer: Layer, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """The outputs of a layer of `graph`, in the order of its ports.

        Inputs that are constants in the model are constants here, since some layers take nothing else.

        Raises:
            RuntimeFailure: the runtime rejects the layer, crashes, or takes too long.
        """
        alone, given = _alone(model, graph, layer, inputs)
        found = self._client.infer_model(alone, given, device=self._device, config=self._config)
        return tuple(found.outputs[end.name] for end in alone.outputs)


def _alone(
    model: Model, graph: Graph, layer: Layer, inputs: Sequence[Array]
) -> tuple[Model, dict[str, npt.NDArray[np.generic]]]:
    """A model of the one layer, and what its Parameters are given."""
    small = Graph()
    twin = layer.copy(0)
    twin.tag["name"] = NAME
    for port in twin.outputs:
        port.names = ()
    small.add(twin)
    given = {}
    for number, (port, source, array) in enumerate(_fed(graph, layer, inputs), 1):
        maker = graph.layer(source.layer)
        if maker.type == "Const":
            feed = maker.copy(number)
            feed.tag["name"] = f"input{number}"
        else:
            feed = _parameter(number, array)
            given[feed.name] = array
        small.add(feed)
        small.connect(Source(number, feed.outputs[0].id), 0, port.id)
    for number, port in enumerate(twin.outputs, len(inputs) + 1):
        end = LayerContent({}, [Port(0, port.precision, port.dims)])
        result = Layer(number, {"name": f"output{number}", "type": "Result", "version": "opset1"}, end)
        small.add(result, {0: Source(0, port.id)})
    return Model(small, name=NAME, version=11, weights=model.weights, origin=None, path=None), given


def _fed(graph: Graph, layer: Layer, inputs: Sequence[Array]) -> Iterator[tuple[Port, Source, Array]]:
    sources = graph.sources(layer.id)
    ports = [port for port in layer.inputs if port.id in sources]
    for port, array in zip(ports, inputs, strict=True):
        yield port, sources[port.id], array


def _parameter(number: int, array: Array) -> Layer:
    kind = _kind(array)
    raw = {"shape": ",".join(map(str, array.shape)), "element_type": kind.name}
    content = LayerContent(raw, [], [Port(0, kind.precision, array.shape)])
    return Layer(number, {"name": f"input{number}", "type": "Parameter", "version": "opset1"}, content)


def _kind(array: Array) -> ElementType:
    return element_type("string") if array.dtype.kind in "OUST" else from_dtype(array.dtype)
