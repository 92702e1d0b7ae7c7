"""Asking the runtime for the output shapes of one layer, in a model that holds little more than that layer.

Tensors that decide shapes (a Reshape's pattern, the sizes of an Interpolate) reach the runtime with their values: the
layers that compute them, back to constants and ShapeOf, stand in the small model too, so that the runtime's answer is
the one that it would give for the whole model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_tools.errors import IrToolsError, RuntimeFailure
from ir_tools.format.markup import escape
from ir_tools.graph import Graph, Layer, Model
from ir_tools.graph.graph import Source
from ir_tools.ops.definition import UNBOUNDED, Bounds, Fact
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import ElementType, Shape, element_type, format_shape, parse_shape

__all__ = ["LayerOracle"]

SMALL = 4096
"""Tensors with more elements decide no shape: constants of that size are left out, their producers are not followed."""
MAX_LAYERS = 400
"""How many layers may compute the values of the inputs."""
ZEROS = 'offset="zeros"'
"""Where the bytes of a large constant stand, until it is known how many bytes come before."""
NO_VALUES = {"parameter", "readvalue", "assign", "tensoriterator", "loop", "if", "result"}
"""Layers whose outputs have no values that are known before anything runs."""


class LayerOracle:
    """The protocol `Ask` of shape propagation, answered by the runtime. Equal questions are asked once."""

    def __init__(self, client: RuntimeClient) -> None:
        """`client`: whom to ask; it stays the caller's to close."""
        self._client = client
        self._answers: dict[tuple[bytes, bytes, int], tuple[Fact, ...] | RuntimeFailure] = {}

    def __call__(self, model: Model, graph: Graph, layer: Layer, facts: Mapping[Source, Fact]) -> tuple[Fact, ...]:
        """The facts of the layer's outputs.

        Args:
            model: the model, for its weights.
            graph: the graph or body that holds the layer.
            layer: the layer.
            facts: of the output ports that feed the layer, and of as many before them as are known.

        Raises:
            RuntimeFailure: the runtime rejects the layer, does not know it, or broke over it.
        """
        if not layer.outputs:
            return ()
        if layer.type.lower() == "assign":
            # It passes its input on, and is valid only beside the ReadValue of its variable.
            return tuple(facts[source] for source in graph.sources(layer.id).values())
        question = _Question(model, graph, facts)
        text = question.about(layer)
        key = (text, bytes(question.bytes), question.zeros)
        if key not in self._answers:
            self._answers[key] = self._ask(*key, question.name)
        answer = self._answers[key]
        if isinstance(answer, RuntimeFailure):
            raise answer
        # A file may leave out ports at the end that nobody reads.
        return answer[: len(layer.outputs)]

    def _ask(self, text: bytes, weights: bytes, zeros: int, name: str) -> tuple[Fact, ...] | RuntimeFailure:
        try:
            return tuple(map(_fact, self._client.ask(text, weights, name, zeros=zeros)))
        except RuntimeFailure as failure:
            return failure


def _fact(row: tuple[str, str, tuple[list[float], list[float]] | None]) -> Fact:
    kind, shape = element_type(row[0]), parse_shape(row[1])
    return Fact(kind, shape, None if row[2] is None else _bounds(kind, shape, *row[2]))


def _bounds(kind: ElementType, shape: Shape, lower: Sequence[float], upper: Sequence[float]) -> Bounds:
    sizes = [dim.size for dim in shape or ()]
    dtype = kind.dtype if kind.is_float else np.int64
    low, high = (np.array(side, dtype).reshape(sizes) for side in (lower, upper))
    return Bounds(low, np.where(high == np.iinfo(np.int32).max, UNBOUNDED, high) if kind.name == "i32" else high)


class _End(NamedTuple):
    """An output port in the small model."""

    layer: int
    port: int


class _Question:
    """The text of a small model around one layer, and the bytes of its constants."""

    def __init__(self, model: Model, graph: Graph, facts: Mapping[Source, Fact]) -> None:
        self.bytes = bytearray()
        self.zeros = 0
        self.name = ""
        self._model = model
        self._graph = graph
        self._facts = facts
        self._layers: list[str] = []
        self._edges: list[str] = []
        self._ends: dict[Source, _End] = {}
        self._made: dict[int, int] = {}
        self._names: set[str] = set()
        self._known: dict[Source, bool] = {}

    def about(self, layer: Layer) -> bytes:
        """The small model's text; `name`, `bytes` and `zeros` belong to it."""
        self.name = self._new_name(layer.name or layer.type)
        number = self._copy(layer, self.name)
        for port in layer.outputs:
            self._result(_End(number, port.id))
        text = f"<layers>{''.join(self._layers)}</layers><edges>{''.join(self._edges)}</edges>"
        text = text.replace(ZEROS, f'offset="{len(self.bytes)}"')
        return f'<?xml version="1.0"?><net name="question" version="11">{text}</net>'.encode()

    # --- tensors ---

    def _end(self, source: Source) -> _End:
        """The port that stands for an output port of the model."""
        if source not in self._ends:
            self._ends[source] = self._build(source)
        return self._ends[source]

    def _build(self, source: Source) -> _End:
        maker = self._graph.layer(source.layer)
        if maker.type == "Const":
            data = self._small_constant(maker)
            if data is not None:
                return _End(self._copy(maker, self._new_name(maker.name)), source.port)
        elif self._has_values(source):
            if maker.id not in self._made:
                self._made[maker.id] = self._copy(maker, self._new_name(maker.name))
            return _End(self._made[maker.id], source.port)
        fact = self._facts[source]
        if fact.value is not None:
            end = self._encode(fact, fact.value)
            if end is not None:
                return end
        return self._parameter(maker.name, fact.dtype, fact.shape)

    def _has_values(self, source: Source, budget: list[int] | None = None) -> bool:
        """Whether the tensor is small and follows from constants and shapes alone."""
        budget = [MAX_LAYERS] if budget is None else budget
        if source not in self._known:
            budget[0] -= 1
            self._known[source] = budget[0] >= 0 and self._follows(source, budget)
        return self._known[source]

    def _follows(self, source: Source, budget: list[int]) -> bool:
        maker = self._graph.layer(source.layer)
        fact = self._facts.get(source)
        inputs = self._graph.sources(maker.id).values()
        if maker.type == "Const":
            return self._small_constant(maker) is not None
        if fact is None or not _is_small(fact.shape) or maker.type.lower() in NO_VALUES or not inputs:
            return False
        if maker.type.lower() == "shapeof":
            return all(before in self._facts for before in inputs)
        return all(self._has_values(before, budget) for before in inputs)

    def _encode(self, fact: Fact, value: Bounds) -> _End | None:
        """A tensor with these bounds: a constant, or the ShapeOf of a Parameter whose dimensions are the bounds."""
        exact = value.exact
        if exact is not None and fact.dtype.dtype is not None:
            return self._constant(fact.dtype, np.asarray(exact).astype(fact.dtype.dtype))
        if fact.dtype.name not in {"i32", "i64"} or (value.lower < 0).any():
            return None
        shape = self._parameter("sizes", element_type("f32"), value.dims())
        sizes = self._layer("ShapeOf", "opset3", {"output_type": fact.dtype.name}, [shape], fact.dtype)
        pattern = self._constant(element_type("i64"), np.array(value.lower.shape, np.int64))
        return self._layer("Reshape", "opset1", {"special_zero": "false"}, [sizes, pattern], fact.dtype)

    # --- layers ---

    def _copy(self, layer: Layer, name: str) -> int:
        """A layer of the model with everything that feeds it."""
        sources = self._graph.sources(layer.id)
        ends = [(port.id, self._end(sources[port.id])) for port in layer.inputs if port.id in sources]
        number = len(self._layers)
        self._layers.append(_layer_text(layer, number, name, self._stored))
        for port, end in ends:
            self._edge(end, number, port)
        return number

    def _parameter(self, name: str, kind: ElementType, shape: Shape) -> _End:
        raw = {"element_type": kind.name, "shape": "" if shape == () else format_shape(shape)}
        return self._layer("Parameter", "opset1", raw, [], kind, name)

    def _constant(self, kind: ElementType, values: npt.NDArray[Any]) -> _End:
        data = values.tobytes()
        raw = {
            "element_type": kind.name,
            "shape": ",".join(map(str, values.shape)),
            "offset": str(self._store(data)),
            "size": str(len(data)),
        }
        return self._layer("Const", "opset1", raw, [], kind)

    def _layer(
        self,
        type_: str,
        version: str,
        raw: Mapping[str, str],
        inputs: Sequence[_End],
        kind: ElementType,
        name: str = "",
    ) -> _End:
        number, port = len(self._layers), len(inputs)
        ports = "".join(f'<port id="{index}"/>' for index in range(port))
        self._layers.append(
            f"<layer{_attributes({'id': str(number), 'name': self._new_name(name or type_), 'type': type_})}"
            f' version="{version}"><data{_attributes(raw)}/><input>{ports}</input>'
            f'<output><port id="{port}" precision="{kind.precision}"/></output></layer>'
        )
        for index, end in enumerate(inputs):
            self._edge(end, number, index)
        return _End(number, port)

    def _result(self, end: _End) -> None:
        number = len(self._layers)
        self._layers.append(
            f'<layer id="{number}" name="{self._new_name("result")}" type="Result" version="opset1">'
            '<input><port id="0"/></input></layer>'
        )
        self._edge(end, number, 0)

    def _edge(self, end: _End, reader: int, port: int) -> None:
        self._edges.append(
            f'<edge from-layer="{end.layer}" from-port="{end.port}" to-layer="{reader}" to-port="{port}"/>'
        )

    def _new_name(self, base: str) -> str:
        name, count = base, 1
        while name in self._names:
            count += 1
            name = f"{base}#{count}"
        self._names.add(name)
        return name

    # --- bytes ---

    def _small_constant(self, layer: Layer) -> bytes | None:
        """The bytes of a constant, where it is small and they are to be had."""
        raw = layer.raw
        try:
            offset, size = int(raw["offset"]), int(raw["size"])
            return None if size > 8 * SMALL else self._model.weights.view(offset, size).tobytes()
        except (KeyError, ValueError, IrToolsError):
            return None

    def _store(self, data: bytes) -> int:
        offset = len(self.bytes)
        self.bytes += data + bytes(-len(data) % 8)
        return offset

    def _stored(self, layer: Layer) -> Mapping[str, str]:
        """The attributes of a layer; those of a constant lead to its bytes here, or to zeros for a large one."""
        if layer.type != "Const":
            return layer.raw
        data = self._small_constant(layer)
        if data is not None:
            return {**layer.raw, "offset": str(self._store(data))}
        self.zeros = max(self.zeros, int(layer.raw.get("size", "0")))
        return {**layer.raw, "offset": "zeros"}


def _is_small(shape: Shape) -> bool:
    return shape is not None and all(dim.static for dim in shape) and math.prod(dim.lo for dim in shape) <= SMALL


def _attributes(values: Mapping[str, str]) -> str:
    return "".join(f' {name}="{escape(value)}"' for name, value in values.items())


def _layer_text(layer: Layer, number: int, name: str, attributes: Callable[[Layer], Mapping[str, str]]) -> str:
    """A layer with its ports, maps and bodies, but without what has no say in shapes: dims, names, rt_info."""
    tag = {"id": str(number), "name": name, "type": layer.type, "version": layer.version}
    inputs = "".join(f'<port id="{port.id}"/>' for port in layer.inputs)
    outputs = "".join(f'<port id="{port.id}" precision="{port.precision or "FP32"}"/>' for port in layer.outputs)
    return (
        f"<layer{_attributes(tag)}><data{_attributes(attributes(layer))}/><input>{inputs}</input>"
        f"<output>{outputs}</output>{''.join(_rest(layer, attributes))}</layer>"
    )


def _rest(layer: Layer, attributes: Callable[[Layer], Mapping[str, str]]) -> Iterator[str]:
    for name, rows in layer.content.mapping.items():
        yield f"<{name}>{''.join(f'<{tag}{_attributes(row)}/>' for tag, row in rows)}</{name}>"
    for name, body in layer.bodies.items():
        layers = "".join(_layer_text(inner, inner.id, inner.name, attributes) for inner in body.layers())
        edges = "".join(
            f'<edge from-layer="{start}" from-port="{out}" to-layer="{end}" to-port="{to}"/>'
            for start, end, (out, to) in body.edges(keys=True)
        )
        yield f"<{name}><layers>{layers}</layers><edges>{edges}</edges></{name}>"
