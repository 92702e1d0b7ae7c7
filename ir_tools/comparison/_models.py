"""Two models side by side: which inputs, tensors and outputs belong together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ir_tools.comparison._tensors import SILENT, Batch, labels_of, tap_of
from ir_tools.errors import UsageError
from ir_tools.graph import Endpoint, Graph, Layer, Model, Source
from ir_tools.ops import Array
from ir_tools.runtime.client import Tap
from ir_tools.weights import values

__all__ = ["Pairs", "Side", "constants_of", "matched_outputs", "paired", "partners", "renamed"]


class Side(NamedTuple):
    """A graph, the main one or a body, and the model that holds its constants."""

    model: Model
    graph: Graph


@dataclass(frozen=True, slots=True)
class Pairs:
    """What belongs together.

    Attributes:
        layers: the other model's layer by the id of this one's, where they do the same.
        taps: the other model's tensor by this one's, under whatever layers.
    """

    layers: dict[int, Layer] = field(default_factory=dict)
    taps: dict[Source, Tap] = field(default_factory=dict)


def renamed(model: Model, other: Model, fed: Mapping[str, Array]) -> dict[str, Array]:
    """The same arrays under the other model's names: by any shared name, else by position.

    Raises:
        UsageError: the models have different numbers of inputs.
    """
    own, theirs = model.inputs, other.inputs
    if len(own) != len(theirs):
        raise UsageError(f"the models have {len(own)} and {len(theirs)} inputs and cannot be fed alike")
    return {end.name: fed[entry.name] for entry, end in _ends(own, theirs)}


def _ends(own: list[Endpoint], theirs: list[Endpoint]) -> Iterator[tuple[Endpoint, Endpoint]]:
    """Inputs that belong together: by any shared name, else in their order."""
    left = list(theirs)
    later = []
    for entry in own:
        shared = next((end for end in left if set(end.names) & set(entry.names)), None)
        if shared is None:
            later.append(entry)
        else:
            left.remove(shared)
            yield entry, shared
    yield from zip(later, left, strict=False)


def matched_outputs(before: Mapping[str, Array], after: Mapping[str, Array]) -> dict[str, Array]:
    """The second run's outputs under the first one's names: by name, else in their order.

    Raises:
        UsageError: there are different numbers of them.
    """
    if len(before) != len(after):
        raise UsageError(f"the models have {len(before)} and {len(after)} outputs")
    left = iter([array for name, array in after.items() if name not in before])
    return {name: after[name] if name in after else next(left) for name in before}


def paired(own: Side, other: Side) -> Pairs:
    """Which layers and tensors of two graphs belong together.

    A tensor belongs to the one of the same tensor name. Where there is none, layers belong together that are of one
    type and read what belongs together, so that graphs whose names were all changed are matched by their structure;
    and last those of the same name.
    """
    return _Matching(own, other).pairs()


def partners(batch: Batch, pairs: Pairs) -> Iterator[Tap]:
    """The other model's tensors for those of a batch."""
    for located in () if batch.refused else batch.layers:
        for port in located.layer.outputs:
            tap = pairs.taps.get(Source(located.layer.id, port.id))
            if tap is not None:
                yield tap


class _Matching:
    def __init__(self, own: Side, other: Side) -> None:
        self.own, self.other = own, other
        self.labels = labels_of(other.graph)
        self.layers: dict[int, Layer] = {}
        self.sources: dict[Source, Source] = {}
        self.taken: set[int] = set()

    def pairs(self) -> Pairs:
        for entry, end in _ends(_inputs(self.own), _inputs(self.other)):
            self._match(entry.layer, end.layer)
        self._by_tensor_names()
        for layer in self.own.graph.ordered():
            if layer.id in self.layers or layer.type in SILENT:
                continue
            found = self._alike(layer)
            if found is not None:
                self._match_with_feeders(layer, found)
        self._by_layer_names()
        taps = {mine: tap_of(self.other.graph, theirs, self.labels) for mine, theirs in self.sources.items()}
        return Pairs(self.layers, taps)

    def _match(self, mine: Layer, theirs: Layer) -> None:
        """The layers belong together, and so do their outputs, where no names say otherwise."""
        self.layers[mine.id] = theirs
        self.taken.add(theirs.id)
        for a, b in zip(mine.outputs, theirs.outputs, strict=False):
            self.sources.setdefault(Source(mine.id, a.id), Source(theirs.id, b.id))

    def _by_tensor_names(self) -> None:
        named = {
            name: (layer, Source(layer.id, port.id))
            for layer in self.other.graph.layers()
            for port in layer.outputs
            for name in port.names
        }
        for layer in self.own.graph.layers():
            for port in layer.outputs:
                found = next((named[name] for name in port.names if name in named), None)
                if found is None:
                    continue
                self.sources[Source(layer.id, port.id)] = found[1]
                if found[0].type == layer.type and layer.id not in self.layers and found[0].id not in self.taken:
                    self._match(layer, found[0])

    def _by_layer_names(self) -> None:
        named = {layer.name: layer for layer in self.other.graph.layers() if layer.id not in self.taken}
        for layer in self.own.graph.layers():
            if layer.id not in self.layers and layer.type not in SILENT and layer.name in named:
                self._match(layer, named[layer.name])

    def _alike(self, layer: Layer) -> Layer | None:
        """The free layer of the other graph that reads the same; of several, the most similar one."""
        wanted = [None if source is None else self.sources.get(source) for source in _read(self.own.graph, layer)]
        if not any(wanted):
            return None
        graph = self.other.graph
        start = next(source for source in wanted if source is not None)
        readers = [graph.layer(reader) for reader in dict.fromkeys(name for name, _ in graph.readers(*start))]
        found = [
            entry
            for entry in readers
            if entry.id not in self.taken and entry.type == layer.type and self._reads(entry, wanted)
        ]
        return max(found, key=lambda entry: self._likeness(layer, entry)) if found else None

    def _reads(self, entry: Layer, wanted: list[Source | None]) -> bool:
        """Whether a layer reads these tensors, port by port; None stands for what has no partner yet."""
        reads = _read(self.other.graph, entry)
        return len(reads) == len(wanted) and all(
            mine is None or mine == theirs for mine, theirs in zip(wanted, reads, strict=True)
        )

    def _likeness(self, mine: Layer, theirs: Layer) -> tuple[bool, int, bool]:
        """By name, by equal constants, by attributes."""
        return mine.name == theirs.name, self._equal_constants(mine, theirs), mine.raw == theirs.raw

    def _equal_constants(self, mine: Layer, theirs: Layer) -> int:
        pairs = zip(constants_of(self.own, mine), constants_of(self.other, theirs), strict=False)
        return sum(a is not None and b is not None and _equal(a, b) for a, b in pairs)

    def _match_with_feeders(self, mine: Layer, theirs: Layer) -> None:
        """The layers belong together, and so do the layers that make what both read."""
        queue = [(mine, theirs)]
        for a, b in queue:
            if a.id in self.layers or b.id in self.taken:
                continue
            self._match(a, b)
            pairs = zip(_read(self.own.graph, a), _read(self.other.graph, b), strict=False)
            for left, right in pairs:
                if left is not None and right is not None:
                    makers = self.own.graph.layer(left.layer), self.other.graph.layer(right.layer)
                    if makers[0].type == makers[1].type and makers[0].type not in SILENT:
                        queue.append(makers)


def _inputs(side: Side) -> list[Endpoint]:
    ends = (layer for layer in side.graph.layers() if layer.type == "Parameter" and layer.outputs)
    return [Endpoint(layer, layer.outputs[0], (*layer.outputs[0].names, layer.name)) for layer in ends]


def _read(graph: Graph, layer: Layer) -> list[Source | None]:
    """What each input port reads; None for a constant."""
    sources = graph.sources(layer.id)
    found = [sources[port.id] for port in layer.inputs if port.id in sources]
    return [None if graph.layer(source.layer).type == "Const" else source for source in found]


def constants_of(side: Side, layer: Layer) -> Iterator[Array | None]:
    """The constants that each input port reads; None for other tensors."""
    sources = side.graph.sources(layer.id)
    for port in layer.inputs:
        if port.id in sources:
            maker = side.graph.layer(sources[port.id].layer)
            yield values(maker.raw, side.model.weights) if maker.type == "Const" else None


def _equal(a: Array, b: Array) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
