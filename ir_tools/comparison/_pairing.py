"""Which layers and tensors of two graphs belong together.

Three kinds of evidence count. *Structure*: how a tensor is computed from the inputs of the graph, and how the outputs
are computed from it. *Constants*: the weights that a layer reads. *Names*, if only one layer or tensor of a type has
them in either graph. Files repeat names and change them, so that structure comes first; a layer with evidence for two
others, or for none, has no partner.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import numpy as np

from ir_tools.comparison._structure import LEVELS, Direction, Side, View
from ir_tools.comparison._tensors import labels_of, tap_of
from ir_tools.graph import Graph, Layer, Source
from ir_tools.runtime.client import Tap

__all__ = ["Ends", "Pairs", "paired"]

Ends = Iterable[tuple[Layer, Layer]]
"""Parameters and Results that belong together, of the first graph and of the other."""
T = TypeVar("T")
Classes: TypeAlias = Mapping[Hashable, Sequence[T]]
"""Layers or tensors by what they have in common."""
Key: TypeAlias = Callable[[int], Hashable]
Keys: TypeAlias = tuple[Key, Key]
"""What layers of the two graphs are grouped by."""
DIRECTIONS: tuple[Direction, ...] = ("down", "up")
TRUST = 0.9
"""The share of the names that have to agree with the structure, for the others to be trusted."""
ALIKE = 0.9
"""The correlation from which on two constants are two versions of the same weights."""
MARGIN = 0.1
"""How much more alike than all others they have to be."""
LARGEST = 1 << 12
"""Pairs of layers whose constants are correlated, at most, among those of one type and shape."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """What belongs together.

    Attributes:
        layers: the other graph's layer by the id of this one's, if they are of one type.
        sources: the other graph's tensor by this one's, under whatever layers.
        taps: the same tensors, as the runtime is asked for them.
        labels: what the other graph's layers are called, by id.
    """

    layers: dict[int, Layer] = field(default_factory=dict)
    sources: dict[Source, Source] = field(default_factory=dict)
    taps: dict[Source, Tap] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)

    @classmethod
    def identical(cls, graph: Graph) -> "Pairs":
        """Pair a graph with itself."""
        layers = {layer.id: layer for layer in graph.layers()}
        tensors = [Source(layer.id, port.id) for layer in layers.values() for port in layer.outputs]
        return cls.of(graph, layers, {source: source for source in tensors})

    @classmethod
    def of(cls, graph: Graph, layers: dict[int, Layer], sources: dict[Source, Source]) -> "Pairs":
        """Pair layers and tensors with those of another graph, `graph`."""
        labels = labels_of(graph)
        taps = {mine: tap_of(graph, theirs, labels) for mine, theirs in sources.items()}
        return cls(layers, sources, taps, labels)


def paired(own: Side, other: Side, ends: Ends) -> Pairs:
    """Return which layers and tensors of two graphs belong together; `ends`: the Parameters and Results that do."""
    matching = _Matching(own, other, list(ends))
    matching.run()
    return Pairs.of(other.graph, {a: other.graph.layer(b) for a, b in matching.layers.items()}, matching.sources)


class _Matching:
    """Pairs layers, by id: what is certain first, then the neighbours of pairs, then by constants and by names."""

    def __init__(self, own: Side, other: Side, ends: Sequence[tuple[Layer, Layer]]) -> None:
        self.own = View(own, {mine.id: number for number, (mine, _) in enumerate(ends)})
        self.other = View(other, {theirs.id: number for number, (_, theirs) in enumerate(ends)})
        self.layers: dict[int, int] = {}
        self.back: dict[int, int] = {}
        self.sources: dict[Source, Source] = {}
        self.fresh: list[tuple[int, int]] = []
        self.claims: dict[int, set[int]] = {}
        self.claims_back: dict[int, set[int]] = {}
        for mine, theirs in ends:
            self._match(mine.id, theirs.id)

    def run(self) -> None:
        """Find all pairs."""
        for level in LEVELS:
            self._claim_by_structure(level)
        self._same_values()
        for level in LEVELS:
            self._same_places(level)
        self._by_constants()
        self.named = self._trusted_names()
        for pair in self.named:
            self._claim(*pair)
        for level in LEVELS:
            self._one_sided(level)
            self._spread()
        self._by_names()
        self._spread()
        self.fresh = list(self.layers.items())
        self._spread(careful=False)
        self._constants()
        self._tensors_by_name()

    # --- structure ------------------------------------------------------------------------------------------------

    def _claim_by_structure(self, level: int) -> None:
        """Note which layers are the only ones that are computed, or used, in the same way."""
        for direction in DIRECTIONS:
            for a, b in _unique(*self._classes(level, direction)):
                self._claim(a, b)

    def _claim(self, a: int, b: int) -> None:
        """Note that two layers may belong together."""
        self.claims.setdefault(a, set()).add(b)
        self.claims_back.setdefault(b, set()).add(a)

    def _classes(self, level: int, direction: Direction) -> tuple[Classes[int], Classes[int]]:
        """Return the layers without a partner that are alike, of either graph."""
        own, other = self.own.digest(level, direction), self.other.digest(level, direction)
        return (
            _grouped((a for a in own if a not in self.layers), own.__getitem__),
            _grouped((b for b in other if b not in self.back), other.__getitem__),
        )

    def _same_places(self, level: int) -> None:
        """Pair layers that have the same place between inputs and outputs."""
        for a, b in list(_unique(*self._classes(level, "both"))):
            self._try(a, b)

    def _one_sided(self, level: int) -> None:
        """Pair layers that are computed in the same way, or used in the same way, if anything else says so, too."""
        for direction in DIRECTIONS:
            for a, b in list(_unique(*self._classes(level, direction))):
                if self._supported(a, b):
                    self._try(a, b)

    def _same_values(self) -> None:
        """Pair layers that compute the same from the same inputs: by their use, by name, or else in their order."""
        own, other = self._classes(0, "down")
        uses = self.own.digest(0, "up"), self.other.digest(0, "up")
        keys: list[Keys] = [(uses[0].__getitem__, uses[1].__getitem__), (self.own.name, self.other.name)]
        for digest, mine in own.items():
            for a, b in _refined(mine, other.get(digest, ()), keys):
                self._match(a, b)

    def _supported(self, a: int, b: int) -> bool:
        """Return whether names or constants say the same, or there are none and what both read belongs together."""
        if (a, b) in self.named:
            return True
        likeness = self._likeness(a, b)
        return self._agrees(a, b, known=True) if likeness is None else likeness >= ALIKE

    def _likeness(self, a: int, b: int) -> float | None:
        """Return the correlation of the largest constants of two layers; None if one of them has none to speak of."""
        mine, theirs = self.own.weights(a), self.other.weights(b)
        if mine is None and theirs is None:
            return None
        return 0.0 if mine is None or theirs is None or len(mine) != len(theirs) else float(mine @ theirs)

    def _try(self, a: int, b: int, *, decided: bool = False) -> None:
        """Pair two free layers of one type, unless other layers are as good (`decided`: they are not)."""
        free = a not in self.layers and b not in self.back
        if free and self.own.kinds[a] == self.other.kinds[b] and (decided or not self._contested(a, b)):
            self._match(a, b)

    def _contested(self, a: int, b: int) -> bool:
        """Return whether one of two layers may belong to a third one that is free, or either is one of several."""
        rivals = [rival for rival in self.claims.get(a, ()) if rival != b and rival not in self.back]
        rivals += [rival for rival in self.claims_back.get(b, ()) if rival != a and rival not in self.layers]
        return bool(rivals) or (self._likeness(a, b) is None and self.own.rows[a] != self.other.rows[b])

    def _match(self, a: int, b: int) -> None:
        """Pair two layers and their outputs."""
        self.layers[a], self.back[b] = b, a
        self.fresh.append((a, b))
        self.sources.update(zip(self.own.outputs(a), self.other.outputs(b), strict=False))

    # --- neighbours -----------------------------------------------------------------------------------------------

    def _spread(self, *, careful: bool = True) -> None:
        """Pair the only free layers of a type that read what belongs together, or that make it.

        With `careful`, layers without weights have to read what belongs together: of several activations in a row, any
        may be the one before a pair.
        """
        for a, b in self.fresh:
            for mine, theirs in zip(self.own.outputs(a), self.other.outputs(b), strict=False):
                for near in _unique(self._near(self.own, mine, self.layers), self._near(self.other, theirs, self.back)):
                    self._try_neighbours(*near, careful=careful)
            for near in self._makers(a, b):
                self._try_neighbours(*near, careful=careful)
        self.fresh.clear()

    def _near(self, view: View, source: Source, taken: Mapping[int, int]) -> Classes[int]:
        """Return the free layers that read a tensor, by type and place."""
        consumers = dict.fromkeys(view.consumers(source))
        found: dict[Hashable, list[int]] = {}
        for consumer, place in consumers:
            if consumer not in taken:
                found.setdefault((view.kinds[consumer], place), []).append(consumer)
        return found

    def _makers(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """Yield the layers that make what two layers read at the same place."""
        mine, theirs = (
            list(map(self.own.origin, self.own.reads[a])),
            list(map(self.other.origin, self.other.reads[b])),
        )
        if self.own.commutes(a):
            own = _grouped((source.layer for source in mine), self.own.kinds.__getitem__)
            yield from _unique(own, _grouped((source.layer for source in theirs), self.other.kinds.__getitem__))
        elif len(mine) == len(theirs):
            yield from ((one.layer, two.layer) for one, two in zip(mine, theirs, strict=True))

    def _try_neighbours(self, a: int, b: int, *, careful: bool) -> None:
        if a in self.own.fixed or b in self.other.fixed or self.own.kinds[a] != self.other.kinds[b]:
            return
        weighted = self._likeness(a, b) is not None
        if self._agrees(a, b) and (weighted or not careful or self._agrees(a, b, known=True)):
            self._try(a, b)
        self._claim(a, b)

    def _agrees(self, a: int, b: int, *, known: bool = False) -> bool:
        """Return whether what two layers read belongs together, if it has partners at all; `known`: some of it has."""
        wanted = [self._partner(source) for source in self.own.computed_reads(a)]
        reads = self.other.computed_reads(b)
        if len(wanted) != len(reads) or (known and not any(wanted)):
            return False
        if self.own.commutes(a):
            return all(source is None or source in reads for source in wanted)
        return all(source is None or source == read for source, read in zip(wanted, reads, strict=True))

    def _partner(self, source: Source) -> Source | None:
        partner = self.sources.get(source)
        return None if partner is None else self.other.origin(partner)

    # --- constants and names --------------------------------------------------------------------------------------

    def _by_constants(self) -> None:
        """Pair free layers of one type whose weights are much more alike than those of any others."""
        own, other = (
            _grouped((entry for entry in view.digest(1, "down") if entry not in taken), _by_weights(view))
            for view, taken in ((self.own, self.layers), (self.other, self.back))
        )
        for key, mine in own.items():
            theirs = other.get(key, ())
            if key is None or not theirs or len(mine) * len(theirs) > LARGEST:
                continue
            table = np.array([[self._likeness(a, b) or 0.0 for b in theirs] for a in mine])
            for row, a in enumerate(mine):
                column = int(table[row].argmax())
                rivals = [*np.delete(table[row], column), *np.delete(table[:, column], row)]
                if table[row, column] >= max(ALIKE, max(rivals, default=0.0) + MARGIN):
                    self._try(a, theirs[column], decided=True)

    def _by_names(self) -> None:
        """Pair layers by their names, unless their structure says something else."""
        for a, b in self.named:
            if self.own.same_sizes(a, self.other, b):
                self._try(a, b, decided=True)

    def _trusted_names(self) -> dict[tuple[int, int], None]:
        """Return the layers that are the only ones of their type with a name, of the layer or of one of its outputs.

        None if names say something else than the structure, as after layers were numbered again.
        """
        found: dict[tuple[int, int], None] = {}
        says: list[bool] = []
        for tensors in (False, True):
            own, other = self.own.names(tensors=tensors), self.other.names(tensors=tensors)
            for name in own.keys() & other.keys():
                says += [self.layers[a] in other[name] for a in own[name] if a in self.layers]
            found.update(dict.fromkeys(_unique(self._by_type(self.own, own), self._by_type(self.other, other))))
        return found if sum(says) >= TRUST * len(says) else {}

    @staticmethod
    def _by_type(view: View, names: Mapping[str, Sequence[int]]) -> Classes[int]:
        """Return layers by type and name."""
        found: dict[Hashable, list[int]] = {}
        for name, layers in names.items():
            for layer_id in layers:
                found.setdefault((view.kinds[layer_id], name), []).append(layer_id)
        return found

    def _constants(self) -> None:
        """Pair what depends on constants alone and is read by layers that belong together."""
        queue = list(self.layers.items())
        for a, b in queue:
            for one, two in zip(self.own.fixed_reads(a), self.other.fixed_reads(b), strict=False):
                free = one not in self.layers and two not in self.back
                if free and self.own.kinds[one] == self.other.kinds[two]:
                    self._match(one, two)
                    queue.append((one, two))

    def _tensors_by_name(self) -> None:
        """Pair tensors of the same sizes under layers of other types, if they are the only ones with a name."""
        taken = set(self.sources.values())
        for mine, theirs in _unique(self.own.named_tensors(), self.other.named_tensors()):
            if mine not in self.sources and theirs not in taken and self.own.dims(mine) == self.other.dims(theirs):
                self.sources[mine] = theirs
                taken.add(theirs)


def _grouped(entries: Iterable[T], key: Callable[[T], Hashable]) -> dict[Hashable, list[T]]:
    found: dict[Hashable, list[T]] = {}
    for entry in entries:
        found.setdefault(key(entry), []).append(entry)
    return found


def _unique(own: Classes[T], other: Classes[T]) -> Iterator[tuple[T, T]]:
    """Yield the members of classes that have one on either side."""
    for key, mine in own.items():
        theirs = other.get(key, ())
        if len(mine) == len(theirs) == 1:
            yield mine[0], theirs[0]


def _refined(mine: Sequence[int], theirs: Sequence[int], keys: Sequence[Keys]) -> Iterator[tuple[int, int]]:
    """Yield pairs of two classes: those with equal keys, the first of the keys first, then the rest in order."""
    if not keys or not mine or not theirs:
        yield from zip(mine, theirs, strict=False)
        return
    (own_key, other_key), *others = keys
    own, other = _grouped(mine, own_key), _grouped(theirs, other_key)
    done, done_back = set(), set()
    for key in own:
        for a, b in _refined(own[key], other.get(key, ()), others):
            done.add(a)
            done_back.add(b)
            yield a, b
    yield from _refined([a for a in mine if a not in done], [b for b in theirs if b not in done_back], others)


def _by_weights(view: View) -> Callable[[int], Hashable]:
    """Return what groups layers by type and number of weights; None for those without."""

    def key(layer_id: int) -> Hashable:
        weights = view.weights(layer_id)
        return None if weights is None else (view.kinds[layer_id], len(weights))

    return key
