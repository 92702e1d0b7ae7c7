"""The smallest part of a model that still differs: grown back from the layer that differs, then shrunk again.

A layer on the runtime's own inputs differs by itself, or it does not: then the difference comes from what the runtime
makes of several layers together (a fusion), and the part grows towards the inputs until it shows again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ir_tools.comparison._bodies import BodyRunner, Given, alone, into_body
from ir_tools.comparison._results import Comparison, LayerComparison
from ir_tools.comparison._tensors import batches, labels_of, tap_of
from ir_tools.errors import UsageError
from ir_tools.graph import Layer, Located, Model, Source
from ir_tools.ops import Array, Role, role_of
from ir_tools.rewrite.extraction import cut, reads
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.setting import Setting

__all__ = ["Part", "smallest_part"]

MAX_TRIES = 60
"""Comparisons of parts, at most; a part that is not the smallest yet is a good one, too."""
COMPUTES_NOTHING = frozenset({Role.PARAMETER, Role.CONSTANT, Role.RESULT})

ComparePart = Callable[[Model, dict[str, Array]], Comparison]
"""Compares a part, on inputs by name: with the same two sides as the whole model was."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a model that differs by itself.

    Attributes:
        model: IR v11 with the weights of the whole; its inputs are what the runtime computed for the whole.
        inputs: by name.
        layers: how many layers of the whole it holds.
        comparison: of the part.
    """

    model: Model
    inputs: dict[str, Array]
    layers: int
    comparison: Comparison


def smallest_part(
    model: Model, found: Comparison, compare_part: ComparePart, client: RuntimeClient, setting: Setting
) -> Part:
    """Return the smallest part of `model` that `compare_part` still finds different.

    Args:
        model: the whole.
        found: its comparison.
        compare_part: compares a part.
        client: runs the whole once more for the tensors between the parts.
        setting: where.

    Raises:
        UsageError: nothing differs, or not even all layers up to the first difference differ as a part.
    """
    model, fed, target = _place(model, found, client, setting)
    search = _Search(model, target, compare_part, client, setting, fed)
    distance = _distances(model, target)
    layers = search.grown(distance)
    if layers is None:
        raise UsageError("the difference disappears when the model is cut, so there is no smaller part")
    return search.part(search.shrunk(layers, distance))


def _place(
    model: Model, found: Comparison, client: RuntimeClient, setting: Setting
) -> tuple[Model, Mapping[str, Array], int]:
    """Return the model that the first difference is in, its inputs, and the layer whose output differs first.

    For a difference in a body that is the body, as it was given its inputs in the iteration that is furthest off.
    """
    first = found.first_difference
    if first is None:
        raise UsageError("nothing differs, so there is no part to extract")
    if isinstance(first, LayerComparison):
        step = None if first.iteration is None else into_body(model.graph, first.path)
        if step is None:
            return model, found.inputs, first.layer_id
        layer, body, rest = step
        part, fed = _one_iteration(model, layer, body, first, found.inputs, BodyRunner(client, setting))
        deeper = into_body(part.graph, rest)
        return part, fed, first.layer_id if deeper is None else deeper[0].id
    end = next(end for end in model.outputs if end.name == first.name)
    return model, found.inputs, next(iter(model.graph.sources(end.layer.id).values())).layer


def _one_iteration(
    model: Model, layer: Layer, body: str, row: LayerComparison, inputs: Mapping[str, Array], runner: BodyRunner
) -> tuple[Model, Mapping[str, Array]]:
    """Return one iteration of a body of a layer as a model of its own, and its inputs."""
    labels = labels_of(model.graph)
    located = Located(labels[layer.id], layer, model.graph)
    batch = next(batches(runner.client, model, inputs, [located], runner.setting, with_inputs=True))
    iterations: list[tuple[str, Given]] = []
    runner.run(model, layer, batch.arrays(model, located), lambda name, _, given, __: iterations.append((name, given)))
    given = next(given for number, (name, given) in enumerate(iterations) if name == body and number == row.iteration)
    return alone(model, layer.bodies[body], given)


def _distances(model: Model, target: int) -> dict[int, int]:
    """Return how many steps before the target each layer stands that it depends on, in the order of that number."""
    graph = model.graph
    found = {target: 0}
    queue = [target]
    for layer_id in queue:
        for source in graph.sources(layer_id).values():
            if source.layer not in found and role_of(graph.layer(source.layer)) not in COMPUTES_NOTHING:
                found[source.layer] = found[layer_id] + 1
                queue.append(source.layer)
    return found


class _Search:
    """The parts that were tried."""

    def __init__(
        self,
        model: Model,
        target: int,
        compare_part: ComparePart,
        client: RuntimeClient,
        setting: Setting,
        fed: Mapping[str, Array],
    ) -> None:
        self.model = model
        self.target = target
        self.compare_part = compare_part
        self.client = client
        self.setting = setting
        self.fed = fed
        self.tensors: dict[Source, Array] = {}
        self.best: tuple[frozenset[int], Part] | None = None
        self.tries = 0
        self.labels = labels_of(model.graph)

    def grown(self, distance: dict[int, int]) -> frozenset[int] | None:
        """Return the layers nearest to the target, twice as far with every try, until they differ."""
        reach = 0
        while True:
            layers = frozenset(layer_id for layer_id, steps in distance.items() if steps <= reach)
            if self.differs(layers):
                return layers
            if len(layers) == len(distance):
                return None
            reach = 2 * reach + 1

    def shrunk(self, layers: frozenset[int], distance: dict[int, int]) -> frozenset[int]:
        """Without the layers that are not needed, tried in halves and quarters from the far end on."""
        size = len(layers) // 2
        while size and self.tries < MAX_TRIES:
            ordered = sorted(layers - {self.target}, key=lambda layer_id: -distance[layer_id])
            smaller = next(filter(self.differs, self._without(layers, ordered, size)), None)
            if smaller is None:
                size //= 2
            else:
                layers, size = smaller, min(size, len(smaller) // 2)
        return layers

    def _without(self, layers: frozenset[int], ordered: Sequence[int], size: int) -> Iterable[frozenset[int]]:
        for start in range(0, len(ordered), size):
            if self.tries < MAX_TRIES:
                yield self._connected(layers - frozenset(ordered[start : start + size]))

    def _connected(self, layers: frozenset[int]) -> frozenset[int]:
        """Return those of the layers that still lead to the target through each other."""
        graph, found, queue = self.model.graph, {self.target}, [self.target]
        for layer_id in queue:
            for source in graph.sources(layer_id).values():
                if source.layer in layers and source.layer not in found:
                    found.add(source.layer)
                    queue.append(source.layer)
        return frozenset(found)

    def differs(self, layers: frozenset[int]) -> bool:
        """Return whether a part differs; the last one that does is kept."""
        self.tries += 1
        inputs = self._inputs(layers)
        model = cut(self.model, layers, inputs, self.target)
        fed = {end.name: array for end, array in zip(model.inputs, inputs.values(), strict=True)}
        found = self.compare_part(model, fed)
        if not found.ok:
            self.best = layers, Part(model, fed, len(layers), found)
        return not found.ok

    def part(self, layers: frozenset[int]) -> Part:
        """Return the part of these layers, which differ."""
        assert self.best is not None
        assert self.best[0] == layers
        return self.best[1]

    def _inputs(self, layers: frozenset[int]) -> dict[Source, Array]:
        """Return what a part reads, as the runtime has it."""
        wanted = reads(self.model, layers)
        missing = {
            source: tap_of(self.model.graph, source, self.labels) for source in wanted if source not in self.tensors
        }
        if missing:
            run = self.client.infer_model(
                self.model,
                self.fed,
                taps=tuple(missing.values()),
                device=self.setting.device,
                config=self.setting.config,
            )
            self.tensors |= {source: run.taps[tap] for source, tap in missing.items()}
        return {source: self.tensors[source] for source in wanted}
