"""Trials: what every tensor would be if inputs had certain shapes and values, and the first layer that refuses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.infer._answers import SURPRISES, Answer, Checks
from ir_tools.infer._engine import Visit
from ir_tools.infer._indices import IndexBounds
from ir_tools.infer._propagate import FactsBySource, Propagation
from ir_tools.ops.definition import Fact
from ir_tools.ops.interning import InternedFact

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


class _RefusedError(Exception):
    """The first error of a walk."""


class ShapeTrials(Propagation):
    """Trials of one model: each stops at the first layer that refuses; answers are kept from one to the next."""

    def __init__(self, model: Model) -> None:
        """Prepare; the model stays as it is."""
        super().__init__(model, checks=Checks.SETTINGS)

    def of(self, given: Mapping[int, Fact]) -> Trial:
        """Return what every tensor would be if Parameters of the main graph, by layer id, had certain facts.

        Raises:
            GraphError: the layers feed each other in a circle.
        """
        self.facts.clear()
        self._bounds = IndexBounds()
        self._position = 0
        refusal = None
        try:
            self.walk(self.model.graph, given)
        except _RefusedError as why:
            (refusal,) = why.args
        except SURPRISES:
            pass
        return Trial({key: FactsBySource(facts) for key, facts in self.facts.items()}, refusal)

    def believed(self, visit: Visit, answer: Answer) -> Sequence[InternedFact]:
        """Return what a rule gives; indices beyond their table are refused, too."""
        if visit.graph is self.model.graph:
            self._position += 1
        problem = None if answer.violations else self._bounds.problem(visit)
        if problem is not None:
            self.error(visit, problem)
        return self.outputs(visit, answer)[0]

    def error(self, visit: Visit, message: str, remedy: str | None = None, attribute: str | None = None) -> None:
        """Stop the trial."""
        graph, layer, position = visit.graph, visit.layer, self._position
        while graph is not self.model.graph:
            graph, owner = self.owners[id(graph)]
            layer, position = graph.layer(owner), self._position + 1
        path = self.paths[id(visit.graph), visit.layer.id]
        raise _RefusedError(Refusal(path, message, visit.graph, visit.layer, layer, position))
