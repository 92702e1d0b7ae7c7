"""Asking the runtime for the output shapes of one layer, in a model that holds little more than that layer.

Tensors that decide shapes (a Reshape's pattern, the sizes of an Interpolate) reach the runtime with their values: the
layers that compute them, back to constants and ShapeOf, are in the small model too, so that the runtime's answer is
the one that it would give for the whole model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ir_tools.builder import Builder
from ir_tools.errors import IrToolsError, RuntimeFailure
from ir_tools.format.write import render
from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.graph.model import walk
from ir_tools.ops import Role, find_op, role_of
from ir_tools.ops.definition import UNBOUNDED, Bounds, Fact
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import ElementType, Shape, element_type, is_static, parse_shape

__all__ = ["LayerOracle"]

SMALL = 4096
"""Tensors with more elements decide no shape: constants of that size are left out, their producers are not followed."""
ALIGNMENT = 8
"""The zeros of large constants start at a multiple of it."""
MAX_LAYERS = 400
"""How many layers may compute the values of the inputs."""
MAX_REJECTED = 50
"""How many different questions the runtime may reject; a file with more is not a model."""


class LayerOracle:
    """Implement the protocol `Ask` of shape propagation, answered by the runtime. Equal questions are asked once."""

    def __init__(self, client: RuntimeClient) -> None:
        """`client`: whom to ask; it stays the caller's to close."""
        self._client = client
        self._answers: dict[tuple[bytes, bytes, int], tuple[Fact, ...] | RuntimeFailure] = {}
        self._rejected = 0

    def __call__(self, model: Model, graph: Graph, layer: Layer, facts: Mapping[Source, Fact]) -> tuple[Fact, ...]:
        """Return the facts of the layer's outputs.

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
        if role_of(layer) is Role.ASSIGN_VARIABLE:
            # It passes its input on, and is valid only beside the ReadValue of its variable.
            return tuple(facts[source] for source in graph.sources(layer.id).values())
        if self._rejected == MAX_REJECTED:
            message = f"the runtime rejected {MAX_REJECTED} other layers, so it was not used for this one"
            raise RuntimeFailure(message, kind="rejected")
        question = _question(model, graph, layer, facts)
        key = question.text, question.weights, question.zeros
        if key not in self._answers:
            self._answers[key] = self._ask(question)
        answer = self._answers[key]
        if isinstance(answer, RuntimeFailure):
            raise answer
        # A file may leave out ports at the end that nobody reads.
        return answer[: len(layer.outputs)]

    def _ask(self, question: _Question) -> tuple[Fact, ...] | RuntimeFailure:
        text, weights, zeros, name = question
        try:
            return tuple(map(_fact, self._client.ask(text, weights, name, zeros=zeros)))
        except RuntimeFailure as failure:
            self._rejected += failure.kind == "rejected"
            return failure


def _fact(row: tuple[str, str, tuple[list[float], list[float]] | None]) -> Fact:
    kind, shape = element_type(row[0]), parse_shape(row[1])
    return Fact(kind, shape, None if row[2] is None else _bounds(kind, shape, *row[2]))


def _bounds(kind: ElementType, shape: Shape, lower: Sequence[float], upper: Sequence[float]) -> Bounds:
    sizes = [dim.size for dim in shape or ()]
    dtype = kind.dtype if kind.is_float else np.int64
    low, high = (np.array(side, dtype).reshape(sizes) for side in (lower, upper))
    return Bounds(low, np.where(high == np.iinfo(np.int32).max, UNBOUNDED, high) if kind.name == "i32" else high)


class _Question(NamedTuple):
    """Hold a small model around one layer: text, bytes of constants, zeros behind them, the layer's name."""

    text: bytes
    weights: bytes
    zeros: int
    name: str


def _question(model: Model, graph: Graph, layer: Layer, facts: Mapping[Source, Fact]) -> _Question:
    """Ask for the outputs of a layer."""
    small = _Small(model, graph, facts)
    own = small.copy(layer)
    for port in own.outputs:
        small.builder.result(Source(own.id, port.id))
    weights = b"".join(small.builder.model.weights.tail())
    weights += bytes(-len(weights) % ALIGNMENT)
    for constant in small.large:
        constant.raw["offset"] = str(len(weights))
    zeros = max((int(constant.raw.get("size", "0")) for constant in small.large), default=0)
    return _Question(render(small.builder.model), weights, zeros, own.name)


class _Small:
    """Make a small model. `large`: its constants whose bytes are left out."""

    def __init__(self, model: Model, graph: Graph, facts: Mapping[Source, Fact]) -> None:
        self.builder = Builder(name="question")
        self.large: list[Layer] = []
        self._model = model
        self._graph = graph
        self._facts = facts
        self._ends: dict[Source, Source] = {}
        self._made: dict[int, int] = {}
        self._known: dict[Source, bool] = {}

    def copy(self, layer: Layer) -> Layer:
        """Add a layer of the model with everything that feeds it, without rt_info."""
        sources = self._graph.sources(layer.id)
        inputs = {port.id: self._end(sources[port.id]) for port in layer.inputs if port.id in sources}
        twin = self.builder.copy(layer, inputs, layer.name or layer.type)
        for inner in (twin, *(located.layer for body in twin.bodies.values() for located in walk(body))):
            inner.rt_info.clear()
            if role_of(inner) is Role.CONSTANT:
                self._store(inner)
        return twin

    def _end(self, source: Source) -> Source:
        """Return the port that stands for an output port of the model."""
        if source not in self._ends:
            self._ends[source] = self._build(source)
        return self._ends[source]

    def _build(self, source: Source) -> Source:
        producer = self._graph.layer(source.layer)
        if self._has_values(source):
            if producer.id not in self._made:
                self._made[producer.id] = self.copy(producer).id
            return Source(self._made[producer.id], source.port)
        fact = self._facts[source]
        known = None if fact.value is None else self._encode(fact, fact.value)
        return known or self.builder.parameter(producer.name, fact.shape, fact.dtype)

    def _has_values(self, source: Source, budget: list[int] | None = None) -> bool:
        """Return whether the tensor is small and follows from constants and shapes alone."""
        budget = [MAX_LAYERS] if budget is None else budget
        if source not in self._known:
            budget[0] -= 1
            self._known[source] = budget[0] >= 0 and self._follows(source, budget)
        return self._known[source]

    def _follows(self, source: Source, budget: list[int]) -> bool:
        producer = self._graph.layer(source.layer)
        fact = self._facts.get(source)
        inputs = self._graph.sources(producer.id).values()
        if role_of(producer) is Role.CONSTANT:
            return self._small_constant(producer) is not None
        if fact is None or not _is_small(fact.shape) or _runs_first(producer) or not inputs:
            return False
        if producer.type.lower() == "shapeof":
            return all(before in self._facts for before in inputs)
        return all(self._has_values(before, budget) for before in inputs)

    def _encode(self, fact: Fact, value: Bounds) -> Source | None:
        """Add a tensor with these bounds: a constant, or the ShapeOf of a Parameter whose dimensions are the bounds."""
        exact = value.exact
        if exact is not None and fact.dtype.dtype is not None:
            return self.builder.constant(exact, dtype=fact.dtype)
        if fact.dtype.name not in {"i32", "i64"} or (value.lower < 0).any():
            return None
        shape = self.builder.parameter("sizes", value.dims())
        sizes = self.builder.call("ShapeOf", shape, output_type=fact.dtype.name)
        return self.builder.call("Reshape", sizes, np.array(value.lower.shape, np.int64), special_zero=False)

    def _small_constant(self, layer: Layer) -> bytes | None:
        """Return the bytes of a constant if it is small and they are available."""
        raw = layer.raw
        try:
            offset, size = int(raw["offset"]), int(raw["size"])
            return None if size > 8 * SMALL else self._model.weights.view(offset, size).tobytes()
        except (KeyError, ValueError, IrToolsError):
            return None

    def _store(self, constant: Layer) -> None:
        """Put the bytes of a constant here, or note that they are left out."""
        data = self._small_constant(constant)
        if data is None:
            self.large.append(constant)
        else:
            offset, size = self.builder.model.weights.append(data)
            constant.raw.update(offset=str(offset), size=str(size))


def _is_small(shape: Shape) -> bool:
    return is_static(shape) and math.prod(dim.lo for dim in shape) <= SMALL


def _runs_first(layer: Layer) -> bool:
    """Return whether the values of its outputs are known only when the model runs."""
    op = find_op(layer.type, layer.version)
    has_bodies = bool(layer.bodies) or (op is not None and op.bodies is not None)
    return has_bodies or role_of(layer) not in {Role.COMPUTATION, Role.CONSTANT}
