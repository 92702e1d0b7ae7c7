"""The walk over the layers of a model that works out what is known of every tensor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from ir_tools.errors import GraphError, ShapeError
from ir_tools.graph import Graph, Layer, Located, Model, Port, Source
from ir_tools.infer._answers import SURPRISES, Answer, Answers, Checks, refusal
from ir_tools.infer._signatures import LayerSignature, LayerSignatures
from ir_tools.ops import Role, role_of
from ir_tools.ops.bodies import BodyFacts, BodyRule, Maps, port_maps
from ir_tools.ops.definition import UNKNOWN, Fact
from ir_tools.ops.interning import FactTable, InternedFact
from ir_tools.ops.records import recorded

__all__ = ["Engine", "Tensors", "Visit"]

MIN_REPEATED, REPEATED = 1 << 14, 1
"""Layers of bodies that are looked at again in all walks of a loop but the first: so many, and more of large models."""
Tensors = dict[tuple[int, int], InternedFact]
"""What is known in one graph, by layer and output port."""


class Visit(NamedTuple):
    """A layer with what is known of its inputs: of those that something feeds, or in a tolerant walk of all."""

    graph: Graph
    layer: Layer
    signature: LayerSignature
    inputs: Sequence[InternedFact]


class Step(NamedTuple):
    """A layer of a graph that facts go through, with what stays the same whatever they are.

    Attributes:
        layer: the layer.
        signature: what stands in it.
        offset: where the bytes of a constant start.
        sources: its input ports, each with what feeds it; in a tolerant walk also those that nothing feeds.
    """

    layer: Layer
    signature: LayerSignature
    offset: int | None
    sources: Sequence[tuple[Port, tuple[int, int] | None]]


class Way(NamedTuple):
    """A graph as it is walked, producers before consumers; `results` and `passed`: what feeds each Result."""

    steps: Sequence[Step]
    results: Mapping[int, Source]
    passed: Mapping[int, int]


class Engine:
    """Works out the facts of a model's tensors, bodies included; the model stays as it is.

    A subclass is a policy: it says what is believed of a layer's outputs, and what becomes of errors. The engine is
    asked for a whole graph (`walk`) or for what leads to one tensor (`fact`), and keeps what it knows until it is told
    which layers have changed (`forget`).

    Attributes:
        facts: by `id` of the graph.
    """

    def __init__(self, model: Model, checks: Checks) -> None:
        """Start with nothing worked out.

        Args:
            model: the model.
            checks: what is looked for. With `Checks.ALL` the walk is tolerant: it goes on as far as it can in a circle
                and behind bodies that cannot be followed, and an input that nothing feeds is what its port records.
        """
        self.model = model
        self.signatures = LayerSignatures()
        self.table = FactTable()
        self.answers = Answers(self.table, model.weights, checks)
        self.tolerant = checks is Checks.ALL
        self.unknown = self.table.interned(UNKNOWN)
        self.facts: dict[int, Tensors] = {}
        self._records: dict[tuple[tuple[int, ...], str | None], InternedFact] = {}
        self._ways: dict[int, Way] = {}
        self._maps: dict[int, Maps] = {}
        self._left: set[int] = set()
        self._repeated = 0

    # --- what a policy decides ---

    def believed(self, visit: Visit, answer: Answer) -> Sequence[InternedFact]:
        """Return the outputs of a layer, as far as anything is known; errors in the answer are dealt with.

        If nothing is to be said of any layer with this answer, they are put into `answer.settled`.
        """
        raise NotImplementedError

    def given(self, visit: Visit, answer: Answer, fact: Fact) -> Sequence[InternedFact]:
        """Return the output of a Parameter that gets a fact."""
        outputs = self.believed(visit, answer)
        return [self.replaced(outputs[0], fact)] if outputs else ()

    def followed(self, visit: Visit, maps: Maps, inputs: Mapping[int, Fact], walked: Mapping[str, Tensors]) -> None:
        """Look at a layer whose bodies were walked; `inputs`: by port."""

    # --- the walk ---

    def walk(self, graph: Graph, given: Mapping[int, Fact]) -> Tensors:
        """Work out all tensors of the main graph or of a body.

        `given`: facts of some Parameters by layer id. A dynamic type leaves the Parameter its own.

        Raises:
            GraphError: the layers feed each other in a circle, and the walk is not tolerant.
        """
        facts = self.facts[id(graph)] = {}
        for step in self._way(graph).steps:
            self._visit(graph, step, facts, given)
        return facts

    def _way(self, graph: Graph) -> Way:
        """Return how a graph is walked; of bodies, which may be walked often, it is kept."""
        way = self._ways.get(id(graph))
        if way is None:
            steps: list[Step] = []
            with suppress(*[GraphError] * self.tolerant):
                steps += (self._step(graph, layer) for layer in graph.ordered())
            way = Way(steps, {}, {})
            if graph is not self.model.graph:
                results = {
                    layer.id: source
                    for layer in graph.layers()
                    if role_of(layer) is Role.RESULT
                    for source in graph.sources(layer.id).values()
                }
                passed = {
                    result: source.layer
                    for result, source in results.items()
                    if role_of(graph.layer(source.layer)) is Role.PARAMETER
                }
                way = self._ways[id(graph)] = Way(steps, results, passed)
        return way

    def _step(self, graph: Graph, layer: Layer) -> Step:
        signature, offset = self.signatures.of(layer)
        producers = graph.producers(layer.id) if signature.inputs else {}
        if len(producers) == len(signature.inputs) == 1:
            ((producer, wires),) = producers.items()
            start, _ = next(iter(wires))
            return Step(layer, signature, offset, ((signature.inputs[0], (producer, start)),))
        sources = {to: (producer, start) for producer, wires in producers.items() for start, to in wires}
        fed = [(port, sources.get(port.id)) for port in signature.inputs if self.tolerant or port.id in sources]
        return Step(layer, signature, offset, fed)

    def _visit(self, graph: Graph, step: Step, facts: Tensors, given: Mapping[int, Fact]) -> None:
        layer, signature, offset, sources = step
        inputs = [self.record(port) if source is None else facts.get(source, self.unknown) for port, source in sources]
        answer = self.answers.of(signature, inputs)
        outputs = answer.settled
        if outputs is None or layer.id in given:
            visit = Visit(graph, layer, signature, inputs)
            if layer.bodies:
                answer = self._through_bodies(visit, answer)
            if layer.id in given and signature.outputs:
                outputs = self.given(visit, answer, given[layer.id])
            else:
                outputs = self.believed(visit, answer)
        constant = offset is not None and role_of(signature) is Role.CONSTANT
        if constant and outputs and (outputs == answer.outputs or signature.op is None):
            outputs = (self.answers.constant(signature, outputs[0], offset),)
        count, layer_id = len(outputs), layer.id
        for index, port in enumerate(signature.outputs):
            facts[layer_id, port.id] = outputs[index] if index < count else self.unknown

    def record(self, port: Port) -> InternedFact:
        """Return what a port of the file says."""
        key = port.dims, port.precision
        known = self._records.get(key)
        if known is None:
            known = self._records[key] = self.table.interned(recorded(port))
        return known

    def replaced(self, own: InternedFact, given: Fact) -> InternedFact:
        """Return what a Parameter gives that gets a fact in place of its own."""
        dtype = own.dtype if given.dtype.kind == "dynamic" else given.dtype
        return self.table.interned(Fact(dtype, given.shape, given.value))

    # --- bodies ---

    def _through_bodies(self, visit: Visit, answer: Answer) -> Answer:
        """Return the answer of a layer with bodies, with what these give."""
        op, layer = visit.signature.op, visit.layer
        if op is not None and op.bodies is not None and all(each.kind.mild for each in answer.violations):
            answer = self._answer_of_bodies(visit, answer, op.bodies.shape)
        for body in layer.bodies.values() if self.tolerant else ():
            if id(body) not in self.facts:
                self.walk(body, {})
        return answer

    def _answer_of_bodies(self, visit: Visit, answer: Answer, rule: BodyRule) -> Answer:
        _, layer, signature, known = visit
        fed = [port.id for port in signature.inputs]
        if len(fed) != len(known):
            sources = visit.graph.sources(layer.id)
            fed = [port for port in fed if port in sources]
        inputs = dict(zip(fed, known, strict=True))
        walked: dict[str, Tensors] = {}

        def run(body: str, parameters: Mapping[int, Fact]) -> BodyFacts:
            inner = layer.bodies[body]
            walked[body] = (
                self._walk_again(inner, parameters) if id(inner) in self.facts else self.walk(inner, parameters)
            )
            return self.results_of(inner, walked[body])

        try:
            maps = self._maps.get(id(layer))
            if maps is None:
                maps = self._maps[id(layer)] = port_maps(layer)
            outputs = rule(maps, inputs, run)
            self.followed(visit, maps, inputs, walked)
        except ShapeError as why:
            return Answer(None, [*answer.violations, refusal(why.message, why.attribute)])
        except SURPRISES as why:
            if self.tolerant:
                return Answer(None, answer.violations)
            if not isinstance(why, KeyError):
                raise
            return Answer(None, [refusal(f"its port map refers to port or layer {why}, which does not exist")])
        return Answer(
            [self.table.interned(outputs.get(port.id, UNKNOWN)) for port in signature.outputs], answer.violations
        )

    def results_of(self, body: Graph, facts: Tensors) -> BodyFacts:
        """Return what a body gives, once facts went through it."""
        _, results, passed = self._way(body)
        return BodyFacts({result: facts[source] for result, source in results.items()}, passed)

    def _walk_again(self, body: Graph, given: Mapping[int, Fact]) -> Tensors:
        """Walk through a body as `walk` does; after very many walks once more for whatever its inputs are.

        Without that, a state that goes from back edge to back edge, and loops in loops, would take time without end.
        """
        if id(body) in self._left:
            return self.facts[id(body)]
        self._repeated += len(body)
        if self._repeated > self._allowed:
            self._left.add(id(body))
            given = {} if self.tolerant else {number: replace(fact, shape=None) for number, fact in given.items()}
        return self.walk(body, given)

    # --- parts ---

    def fact(self, graph: Graph, source: Source) -> Fact:
        """Return what is known of one tensor; only what leads to it, or to the layer with it in a body, is looked at.

        Raises:
            GraphError: the layers feed each other in a circle.
        """
        if source not in self.facts.get(id(graph), ()):
            self._reach(graph, source.layer)
        return self.facts.get(id(graph), {}).get(source, self.unknown)

    def _reach(self, graph: Graph, layer_id: int) -> None:
        if graph is self.model.graph:
            facts = self.facts.setdefault(id(graph), {})
            feeds = ((source, start) for source, keys in graph.producers(layer_id).items() for start, _ in keys)
            alone = all(feed in facts for feed in feeds)
            for layer in [graph.layer(layer_id)] if alone else graph.leading_to(layer_id, facts):
                self._visit(graph, self._step(graph, layer), facts, {})
        elif id(graph) not in self.facts:
            self._reach(*self.owners[id(graph)])

    # --- changes ---

    def move(self, model: Model) -> None:
        """Go on with a copy of the model."""
        if model is self.model:
            return
        pairs = zip(self.model.graphs(), model.graphs(), strict=True)
        self.facts = {id(copy): self.facts[id(graph)] for graph, copy in pairs if id(graph) in self.facts}
        self.model, self.answers.weights = model, model.weights
        self._places_changed()

    def forget(self, layers: Iterable[tuple[Graph, int]]) -> None:
        """Drop what is known of layers that have changed, and of all that follow from them."""
        self._places_changed()
        main, changed = self.model.graph, set[int]()
        for graph, layer_id in layers:
            while graph is not main:
                self.facts.pop(id(graph), None)
                graph, layer_id = self.owners[id(graph)]
            changed.add(layer_id)
        facts, todo, seen = self.facts.get(id(main), {}), [*changed], {*changed}
        while todo and facts:
            current = todo.pop()
            for port in self.signatures.of(main.layer(current))[0].outputs:
                known = facts.pop((current, port.id), None)
                consumers = {consumer for consumer, _ in main.consumers(current, port.id)} - seen
                if known is not None or current in changed:
                    seen |= consumers
                    todo += consumers

    # --- where layers are ---

    @cached_property
    def places(self) -> Sequence[Located]:
        """All layers of the model."""
        return list(self.model.walk())

    @cached_property
    def paths(self) -> Mapping[tuple[int, int], str]:
        """The path of each layer, by `id` of its graph and its own id."""
        return {(id(graph), layer.id): path for path, layer, graph in self.places}

    @cached_property
    def _allowed(self) -> int:
        """How many layers of bodies are looked at again."""
        return MIN_REPEATED + REPEATED * sum(map(len, self.model.graphs()))

    @cached_property
    def owners(self) -> Mapping[int, tuple[Graph, int]]:
        """The graph and the id of the layer that has each body, by `id` of the body."""
        return {id(body): (graph, layer.id) for graph, layer in self.model.owners() for body in layer.bodies.values()}

    def _places_changed(self) -> None:
        self.signatures.forget()
        for kept in (self._left, self._ways, self._maps):
            kept.clear()
        for name in ("places", "paths", "owners"):
            self.__dict__.pop(name, None)
