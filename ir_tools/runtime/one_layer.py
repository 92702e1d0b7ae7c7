"""One layer of a model on the runtime, alone: Parameters, the layer, Results."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ir_tools.format.write import render
from ir_tools.graph import Graph, Layer, LayerContent, Model, Port, Source
from ir_tools.graph.model import walk
from ir_tools.runtime.client import Array, RuntimeClient
from ir_tools.types import ElementType, element_type, from_dtype
from ir_tools.weights import Weights

__all__ = ["LayerRunner"]

NAME = "layer"
"""Of the layer in its small model, whatever it is called in its own."""
ALIGNMENT = 64
"""Constants start at multiples of it."""


class LayerRunner:
    """Runs single layers in a child process; the `Fallback` of `ir_tools.execute`.

    The child keeps the small models that it compiled: a layer in a loop, or one like another, is compiled once.
    """

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
        alone = _Alone(model.weights)
        text = alone.text(graph, layer, inputs)
        found = self._client.infer(
            text, bytes(alone.data), alone.given, device=self._device, config=self._config, keep=True
        )
        return tuple(found.outputs.values())


class _Alone:
    """A model of one layer: its text, its constants, and what its Parameters are given."""

    def __init__(self, weights: Weights) -> None:
        """`weights`: of the model that holds the layer."""
        self.data = bytearray()
        self.given: dict[str, Array] = {}
        self._weights = weights

    def text(self, graph: Graph, layer: Layer, inputs: Sequence[Array]) -> bytes:
        """The small model; `data` and `given` belong to it."""
        small = Graph()
        twin = layer.copy(0)
        twin.tag["name"] = NAME
        for port in twin.outputs:
            port.names = ()
        for body in twin.bodies.values():
            for _, inner, _ in walk(body):
                if inner.type == "Const":
                    self._store(inner, self._bytes(inner))
        small.add(twin)
        for number, (port, source, array) in enumerate(_fed(graph, layer, inputs), 1):
            feed = self._feed(graph.layer(source.layer), number, array)
            small.add(feed)
            small.connect(Source(number, feed.outputs[0].id), 0, port.id)
        for number, port in enumerate(twin.outputs, len(inputs) + 1):
            end = LayerContent({}, [Port(0, port.precision, port.dims)])
            result = Layer(number, {"name": f"output{number}", "type": "Result", "version": "opset1"}, end)
            small.add(result, {0: Source(0, port.id)})
        weights = Weights.from_bytes(b"")
        return render(Model(small, name=NAME, version=11, weights=weights, origin=None, path=None))

    def _feed(self, maker: Layer, number: int, array: Array) -> Layer:
        """What stands for an input: a Parameter, or the constant that it is."""
        if maker.type != "Const":
            feed = _parameter(number, array)
            self.given[feed.name] = array
            return feed
        feed = maker.copy(number)
        feed.tag["name"] = f"input{number}"
        kind = _kind(array)
        if kind.is_float and kind.name != feed.raw.get("element_type") and _is_float(feed):
            feed.raw["element_type"] = kind.name
            self._store(feed, np.ascontiguousarray(array).tobytes())
        else:
            self._store(feed, self._bytes(feed))
        return feed

    def _bytes(self, layer: Layer) -> bytes:
        return self._weights.view(int(layer.raw["offset"]), int(layer.raw["size"])).tobytes()

    def _store(self, layer: Layer, data: bytes) -> None:
        """Put the bytes of a constant here."""
        self.data += bytes(-len(self.data) % ALIGNMENT)
        layer.raw.update(offset=str(len(self.data)), size=str(len(data)))
        self.data += data


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


def _is_float(layer: Layer) -> bool:
    return element_type(layer.raw.get("element_type", "")).is_float
