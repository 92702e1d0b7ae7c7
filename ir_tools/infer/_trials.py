"""Trials: what every tensor would be if inputs had certain shapes and values, and the first layer that refuses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ir_tools.errors import ShapeError
from ir_tools.graph import Graph, Layer, Model
from ir_tools.graph.graph import Source
from ir_tools.infer._answers import SURPRISES
from ir_tools.infer._facts import Known
from ir_tools.infer._indices import IndexBounds
from ir_tools.infer._propagate import FactsBySource, Origin, Propagation
from ir_tools.infer._signatures import LayerSignature
from ir_tools.ops.definition import Attrs, Fact, Op, Violation

__all__ = ["Refusal", "ShapeTrials", "Trial"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A layer that cannot take its inputs.

    Attributes:
        path: of the layer.
        message: why.
        graph: that holds the layer.
        layer: the layer.
        owner: the layer of the main graph that has it in a body, or the layer itself.
        position: how many layers of the main graph took theirs before.
    """

    path: str
    message: str
    graph: Graph
    layer: Layer
    owner: Layer
    position: int


@dataclass(frozen=True, slots=True)
class Trial:
    """What one trial found.

    Attributes:
        facts: of the output ports of each graph that was reached, by `id` of the graph.
        refusal: the first layer that refuses; None if none does.
    """

    facts: Mapping[int, Mapping[Source, Fact]]
    refusal: Refusal | None

    def inputs(self, graph: Graph, layer: Layer) -> list[Fact | None]:
        """Return the facts of a layer's input ports in order; None for one that is not fed or was not reached."""
        facts, sources = self.facts.get(id(graph), {}), graph.sources(layer.id)
        return [facts.get(sources[port.id]) if port.id in sources else None for port in layer.inputs]


class ShapeTrials:
    """Trials of one model; what operations answer is kept from one trial to the next."""

    def __init__(self, model: Model) -> None:
        """Prepare; the model stays as it is."""
        self._walk = _Walk(model)

    def of(self, given: Mapping[int, Fact]) -> Trial:
        """Return what every tensor would be if Parameters of the main graph, by layer id, had certain facts.

        Raises:
            GraphError: the layers feed each other in a circle.
        """
        return self._walk.trial(given)


class _Refused(Exception):
    """The first error of a walk."""


class _Walk(Propagation):
    """A propagation that stops at the first layer that refuses."""

    def __init__(self, model: Model) -> None:
        super().__init__(model, None, {})
        self._checked: dict[object, tuple[Attrs | None, str | None]] = {}
        self._bounds = IndexBounds()

    def trial(self, given: Mapping[int, Fact]) -> Trial:
        """Walk once."""
        self.states.clear()
        self._bounds = IndexBounds()
        self._position = 0
        refusal = None
        try:
            self.graph(self.model.graph, given)
        except _Refused as why:
            path, message, graph, layer = why.args
            refusal = Refusal(path, message, graph, layer, self._owner, self._position)
        except SURPRISES:
            pass
        return Trial({key: FactsBySource(state.facts) for key, state in self.states.items()}, refusal)

    def _answer(
        self, graph: Graph, layer: Layer, signature: LayerSignature, facts: Mapping[Source, Known]
    ) -> tuple[Sequence[Known], Origin]:
        if graph is self.model.graph:
            self._owner = layer
            self._position += 1
        sources = graph.sources(layer.id)
        inputs = [(sources[port.id], facts[sources[port.id]]) for port in signature.inputs if port.id in sources]
        if signature.op is not None and inputs and len(inputs) == len(signature.inputs):
            self._check(graph, layer, signature, signature.op, inputs)
        return super()._answer(graph, layer, signature, facts)

    def _check(
        self, graph: Graph, layer: Layer, signature: LayerSignature, op: Op, inputs: Sequence[tuple[Source, Known]]
    ) -> None:
        """Refuse what the operation objects to with the sizes that are tried, and indices beyond their table."""
        key = (signature.number, *[known.key for _, known in inputs])
        if key not in self._checked:
            attrs = op.read(signature.raw, [])
            found: list[Violation] = []
            with suppress(ShapeError, *SURPRISES):
                found += [] if attrs is None else op.check(attrs, [known.fact for _, known in inputs])
            message = next((f"{each.attribute} {each.message}" for each in found if not each.kind.mild), None)
            self._checked[key] = attrs, message
        attrs, message = self._checked[key]
        facts = [(source, known.fact) for source, known in inputs]
        self._bounds.follow(graph, layer, attrs, facts)
        message = message or self._bounds.problem(graph, layer, attrs, facts)
        if message is not None:
            self._error(graph, layer, message)

    def _error(self, graph: Graph, layer: Layer, message: str, remedy: str | None = None) -> None:
        raise _Refused(self.paths[id(graph), layer.id], message, graph, layer)
