"""Minimal models: a layer with what feeds it, written down as data, and the IR that it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_tools.errors import ShapeError
from ir_tools.graph import Graph, Layer, LayerContent, Model, Port, Source
from ir_tools.ops import Array, Attrs, Bounds, Fact, Op, ops_of
from ir_tools.types import Dim, element_type, from_dtype, parse_shape
from ir_tools.weights import Weights

__all__ = ["Call", "Fixed", "Given", "as_model", "counted", "floats", "number", "whole"]


@dataclass(frozen=True, slots=True)
class Fixed:
    """A constant. `kind`: its element type, where numpy has none for it; `array` then holds the packed bytes."""

    array: Array
    kind: str = ""
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """A Parameter of a partial shape (`1..3,?`), and what it is fed; a bare array is one of its own shape."""

    array: Array
    shape: str


@dataclass(frozen=True, slots=True)
class Call:
    """A layer: the operation (`Tile-1`), `<data>` as text, what feeds it, and which of its outputs have a Result.

    An input is an array (a Parameter of this shape), a constant, or another layer.
    """

    op: str
    inputs: tuple[Array | Given | Fixed | Call, ...]
    raw: Mapping[str, str] = field(default_factory=dict)
    results: tuple[int, ...] | None = None

    @property
    def operation(self) -> Op:
        """What the table of operations says of it."""
        type, _, version = self.op.rpartition("-")
        return next(op for op in ops_of(type) if op.version == int(version))

    @property
    def attrs(self) -> Attrs:
        """The typed attributes."""
        attrs = self.operation.read(self.raw, [])
        assert attrs is not None, self.op
        return attrs


def as_model(call: Call, name: str = "minimal") -> tuple[Model, dict[str, Array]]:
    """The call as a model of IR v11 with a Result for its outputs, and what its Parameters are fed."""
    made = _Made()
    layer, facts = made.call(call)
    numbers = range(len(facts)) if call.results is None else call.results
    for number in numbers:
        port = layer.outputs[number]
        end = LayerContent({}, [Port(0, port.precision, port.dims)])
        made.add(f"result{number}", "Result", 1, end, [Source(layer.id, port.id)])
    weights = Weights.from_bytes(bytes(made.data))
    return Model(made.graph, name=name, version=11, weights=weights, origin=None, path=None), made.fed


class _Made:
    """A model in the making."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.data = bytearray()
        self.fed: dict[str, Array] = {}

    def add(self, name: str, type: str, version: int, content: LayerContent, sources: list[Source]) -> Layer:
        tag = {"name": self.graph.new_name(name), "type": type, "version": f"opset{version}"}
        layer = Layer(len(list(self.graph.layers())), tag, content)
        return self.graph.add(layer, {port.id: source for port, source in zip(content.inputs, sources, strict=True)})

    def call(self, call: Call) -> tuple[Layer, tuple[Fact, ...]]:
        """The layers of a call; the last one, with what is known of its outputs."""
        op = call.operation
        slots = [*op.inputs, *[op.inputs[-1]] * len(call.inputs)] if op.inputs else []
        sources, facts = [], []
        for slot, feed in zip(slots, call.inputs, strict=False):
            layer, (fact, *_) = self.feed(slot.name, feed)
            sources.append(Source(layer.id, layer.outputs[0].id))
            facts.append(fact)
        try:
            found = op.outputs_of(call.attrs, facts)
        except ShapeError:
            found = None
        if found is None:
            found = (Fact(facts[0].dtype, None),) * len(op.outputs)
        count = len(facts)
        inputs = [_port(number, fact) for number, fact in enumerate(facts)]
        outputs = [_port(count + number, fact, f"output{number}") for number, fact in enumerate(found)]
        content = LayerContent(dict(call.raw), inputs, outputs)
        return self.add(op.type, op.type, op.version, content, sources), found

    def feed(self, name: str, feed: Array | Given | Fixed | Call) -> tuple[Layer, tuple[Fact, ...]]:
        """The layers that make one input."""
        if isinstance(feed, Call):
            layer, facts = self.call(feed)
            for port in layer.outputs:
                port.names = ()
            return layer, facts
        if isinstance(feed, Fixed):
            return self.constant(name, feed)
        given = feed if isinstance(feed, Given) else Given(feed, ",".join(map(str, feed.shape)))
        fact = Fact(from_dtype(given.array.dtype), parse_shape(given.shape))
        raw = {"element_type": fact.dtype.name, "shape": given.shape}
        layer = self.add(name, "Parameter", 1, LayerContent(raw, [], [_port(0, fact)]), [])
        self.fed[layer.name] = given.array
        return layer, (fact,)

    def constant(self, name: str, fixed: Fixed) -> tuple[Layer, tuple[Fact, ...]]:
        """A constant; its bytes go to the end of the data."""
        kind = element_type(fixed.kind) if fixed.kind else from_dtype(fixed.array.dtype)
        sizes = fixed.shape if fixed.kind else fixed.array.shape
        value = None if fixed.kind else Bounds.exactly(fixed.array)
        fact = Fact(kind, tuple(map(Dim.of, sizes)), value)
        data = np.ascontiguousarray(fixed.array).tobytes()
        raw = {"element_type": kind.name, "shape": ",".join(map(str, sizes))}
        raw |= {"offset": str(len(self.data)), "size": str(len(data))}
        self.data += data
        return self.add(name, "Const", 1, LayerContent(raw, [], [_port(0, fact)]), []), (fact,)


def _port(number: int, fact: Fact, name: str = "") -> Port:
    dims = tuple(dim.lo if dim.static else -1 for dim in fact.shape or ())
    return Port(number, fact.dtype.precision, dims, (name,) if name else ())


def whole(*values: int) -> npt.NDArray[np.int64]:
    """An i64 list."""
    return np.array(values, np.int64)


def floats(*values: Any) -> npt.NDArray[np.float32]:
    """An f32 list."""
    return np.array(values, np.float32)


def number(value: float, dtype: npt.DTypeLike = np.float32) -> Array:
    """A single number."""
    return np.array(value, dtype)


def counted(*sizes: int) -> npt.NDArray[np.float32]:
    """An f32 tensor of values that all differ."""
    return (np.arange(1, 1 + int(np.prod(sizes))) / 7).astype(np.float32).reshape(sizes)
