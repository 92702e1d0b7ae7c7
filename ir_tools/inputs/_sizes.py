"""Sizes for what a model leaves open: a search for some that every layer takes.

A trial walks the shape rules with one choice of sizes up to the first layer that refuses. The search goes on from a
choice that comes further than the one before, and back when none does.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, product
from typing import Literal, NamedTuple

from ir_tools.graph import Layer, Model
from ir_tools.infer import Refusal, ShapeTrials, Trial
from ir_tools.ops import Fact
from ir_tools.types import Dim, ElementType, Shape, is_static

__all__ = ["SizeSearch", "static_sizes"]

FREE_SIZE, PICTURE_SIZE = 32, 64
"""What a dimension without bounds is tried with first; the latter for height and width of a picture."""
RANKS = (2, 4, 3, 1, 5, 0)
"""What an input of unknown rank is tried with."""
LIKELY = (64, 128, 224, 256)
USUAL = (512, 16, 8, 4, 2, 24, 48, 56, 77, 96, 112, 160, 192, 384, 640, 1024, 3, 5, 7, 14, 28, 1)
"""Sizes that models have, the likely ones first. Tensors without elements would prove nothing."""
MAX_LAYERS, MAX_TRIALS = 400_000, 400
"""Layers that all trials of one model walk over, and trials."""
LARGEST, HALVED = 1 << 16, 1 << 11
"""The largest size that is computed from others, and the largest that is found by halving."""
MAX_ELEMENTS = 1 << 23
"""Elements of an input with other sizes than those tried first."""
NUMBERS = re.compile(r"-?[0-9]+(?:(?:,| and) ?-?[0-9]+)*")
"""Numbers in a message, or lists of them."""
MAX_VALUES = 64
"""Values of one input that are looked at."""
PAIRS = 4
"""Pairs of numbers that are made equal by halving, for one group of dimensions."""

InputAxis = tuple[str, int]
"""A dimension: the name of its input, and the axis."""
Group = tuple[InputAxis, ...]
Choice = dict[InputAxis, int]


@dataclass(slots=True)
class SizeSearch:
    """The search for one model.

    Attributes:
        model: the model.
        facts: element type and partial shape of every input by name; those of given arrays are static.
        pictures: the axes of height and width of inputs that are pictures, by name.
        fixed: the facts of inputs whose values are known, by name.
    """

    model: Model
    facts: Mapping[str, tuple[ElementType, Shape]]
    pictures: Mapping[str, tuple[int, int]]
    fixed: Mapping[str, Fact]
    _trials: ShapeTrials = field(init=False)
    _known: dict[tuple[tuple[InputAxis, int], ...], Trial] = field(init=False, default_factory=dict)
    _left: int = field(init=False)

    def __post_init__(self) -> None:
        """Prepare the trials."""
        self._trials = ShapeTrials(self.model)
        self._left = max(20, min(MAX_TRIALS, MAX_LAYERS // max(len(self.model.graph), 1)))

    def find(self) -> tuple[dict[str, tuple[int, ...]], Trial]:
        """Return sizes of all inputs that every layer takes, or those that come furthest, and the facts with them."""
        best = None
        for shapes in self._ranked():
            found = self._of_ranks(shapes)
            if best is None or _position(found[1]) > _position(best[1]):
                best = found
            if found[1].refusal is None:
                break
        assert best is not None
        return best

    def _ranked(self) -> Iterator[dict[str, tuple[Dim, ...]]]:
        """Yield the partial shapes of the inputs, once for each rank that unknown ones may have."""
        unknown = any(shape is None for _, shape in self.facts.values())
        for rank in RANKS if unknown else RANKS[:1]:
            yield {name: (Dim(),) * rank if shape is None else shape for name, (_, shape) in self.facts.items()}

    def _of_ranks(self, shapes: Mapping[str, tuple[Dim, ...]]) -> tuple[dict[str, tuple[int, ...]], Trial]:
        start = {
            (name, axis): _near(dim, self._wanted(name, axis))
            for name, shape in shapes.items()
            for axis, dim in enumerate(shape)
            if not dim.static
        }
        best, trial = start, self._try(shapes, start)
        path = [(trial, self._moves(shapes, start, trial))]
        problems = {_problem(trial)}
        while path and _position(trial) < math.inf and self._left > 0:
            last, moves = path[-1]
            choice = next(moves, None)
            if choice is None:
                path.pop()
                continue
            if max(map(math.prod, _filled(shapes, choice).values())) > MAX_ELEMENTS:
                continue
            found = self._try(shapes, choice)
            if _position(found) > _position(last) or (
                _position(found) == _position(last) and _problem(found) not in problems
            ):
                problems.add(_problem(found))
                path.append((found, self._moves(shapes, choice, found)))
                if _position(found) >= _position(trial):
                    best, trial = choice, found
        return _filled(shapes, best), trial

    def _wanted(self, name: str, axis: int) -> int:
        if axis in self.pictures.get(name, ()):
            return PICTURE_SIZE
        return 1 if axis == 0 else FREE_SIZE

    def _try(self, shapes: Mapping[str, tuple[Dim, ...]], choice: Choice) -> Trial:
        key = tuple(choice.items())
        if key not in self._known:
            self._left -= 1
            self._known[key] = self._trials.of(self._given(_filled(shapes, choice)))
        return self._known[key]

    def _given(self, sizes: Mapping[str, tuple[int, ...]]) -> dict[int, Fact]:
        """Return the facts of the Parameters, by layer id; values only if they are as many as the sizes say."""
        found = {}
        for end in self.model.inputs:
            shape = tuple(map(Dim.of, sizes[end.name]))
            fact = self.fixed.get(end.name)
            found[end.layer.id] = fact if fact and fact.shape == shape else Fact(self.facts[end.name][0], shape)
        return found

    # --- moves --------------------------------------------------------------------------------------------------

    def _moves(self, shapes: Mapping[str, tuple[Dim, ...]], choice: Choice, trial: Trial) -> Iterator[Choice]:
        """Yield other sizes for the dimensions that lead to the layer that refuses: computed ones, then usual ones."""
        refusal = trial.refusal
        if refusal is None:
            return
        before = self._numbers(trial, refusal)
        places = self._leading(choice, refusal.owner)
        pictures, others = _pictures(places, choice, self.pictures), _groups(places, choice)

        def of(methods: Sequence[Callable[[_Probe], Iterator[int]]], groups: Sequence[Group]) -> Iterator[Choice]:
            for sizes, group in product(methods, groups):
                probe = _Probe(shapes, choice, group, refusal, before)
                for size in sizes(probe):
                    if all(size in shapes[name][axis] for name, axis in group):
                        yield probe.with_size(size)

        yield from of((self._solved, self._likely, self._halved), pictures)
        yield from of((self._solved,), others)
        yield from self._divided(shapes, choice, places, before)
        yield from of((self._likely, self._halved, self._usual), others)
        yield from of((self._usual,), pictures)

    def _leading(self, choice: Choice, layer: Layer) -> list[InputAxis]:
        """Return the dimensions of inputs from which a path leads to a layer."""
        graph = self.model.graph
        seen, todo = {layer.id}, [layer.id]
        while todo:
            fresh = [producer for producer in graph.producers(todo.pop()) if producer not in seen]
            seen.update(fresh)
            todo += fresh
        names = {end.name for end in self.model.inputs if end.layer.id in seen}
        return [place for place in choice if place[0] in names]

    def _divided(
        self,
        shapes: Mapping[str, tuple[Dim, ...]],
        choice: Choice,
        places: Sequence[InputAxis],
        before: list["_Number"],
    ) -> Iterator[Choice]:
        """Yield sizes of one input that multiply to a number of elements at the layer that refuses."""
        counts = {number.value for number in before if number.kind == "count" and 1 < number.value <= MAX_ELEMENTS}
        for name in dict.fromkeys(name for name, _ in places):
            own = [place for place in places if place[0] == name]
            fixed = math.prod(dim.size for dim in shapes[name] if dim.static)
            for count in sorted(counts):
                if fixed and count % fixed == 0 and len(own) > 1:
                    sizes = _factors(count // fixed, len(own))
                    yield {**choice, **dict(zip(own, sizes, strict=True))}

    def _solved(self, probe: "_Probe") -> Iterator[int]:
        """Yield sizes with which two numbers at the layer become equal, if one grows in proportion to the size."""
        step, after = self._changed(probe)
        for index, target in probe.targets(after):
            found, rest = divmod(
                (target - probe.before[index].value) * step, after[index].value - probe.before[index].value
            )
            if not rest and 0 < probe.size + found <= LARGEST:
                yield probe.size + found

    def _halved(self, probe: "_Probe") -> Iterator[int]:
        """Yield sizes with which two numbers at the layer become equal, if one grows with the size in any way."""
        _, after = self._changed(probe)
        for index, target in islice(probe.targets(after), PAIRS):
            low, high = 1, HALVED
            while high - low > 1:
                middle = (low + high) // 2
                numbers = self._numbers(self._try(probe.shapes, probe.with_size(middle)), probe.refusal)
                if index >= len(numbers):
                    break
                if numbers[index].value == target:
                    yield middle
                    break
                low, high = (middle, high) if numbers[index].value < target else (low, middle)

    def _changed(self, probe: "_Probe") -> tuple[int, list["_Number"]]:
        """Return a step of the size that changes numbers at the layer, and the numbers then; none if no step does."""
        for step in (1, max(probe.size, 1)):
            after = self._numbers(self._try(probe.shapes, probe.with_size(probe.size + step)), probe.refusal)
            if len(after) == len(probe.before) and after != probe.before:
                return step, after
        return 0, []

    def _likely(self, probe: "_Probe") -> Iterator[int]:
        """Yield sizes that models often have, and the size rounded down to powers of two."""
        rounded = (probe.size // factor * factor for factor in (32, 16, 8) if probe.size % factor)
        yield from dict.fromkeys(_near(probe.dim, size) for size in chain(LIKELY, rounded))

    def _usual(self, probe: "_Probe") -> Iterator[int]:
        """Yield sizes that models have, and multiples of the size."""
        factors = sorted({number.value for number in probe.before if 1 < number.value <= 64})
        multiples = (probe.size * factor for factor in factors if probe.size * factor <= LARGEST)
        yield from dict.fromkeys(_near(probe.dim, size) for size in chain(USUAL, multiples))

    def _numbers(self, trial: Trial, refusal: Refusal) -> list["_Number"]:
        """Return the numbers at the inputs of a layer; none if the trial did not reach it."""
        numbers: list[_Number] = []
        for port, fact in enumerate(trial.inputs(refusal.graph, refusal.layer)):
            if fact is None or fact.shape is None:
                return []
            sizes = [dim.size if dim.static else -1 for dim in fact.shape]
            exact = None if fact.value is None or not fact.dtype.is_integer else fact.value.exact
            values = [] if exact is None else [int(value) for value in exact.ravel()[:MAX_VALUES]]
            numbers += [_Number(port, "size", size) for size in (*sizes, *values)]
            numbers.append(_Number(port, "count", math.prod(sizes)))
            if values:
                numbers.append(_Number(port, "count", math.prod(value for value in values if value > 0)))
        return numbers


class _Number(NamedTuple):
    """A number at a layer: the input that has it; whether it is a size, or how many elements sizes make."""

    port: int
    kind: Literal["size", "count"]
    value: int


@dataclass(frozen=True, slots=True)
class _Probe:
    """One group of dimensions of one size, at a layer that refuses.

    Attributes:
        shapes: of all inputs.
        choice: the sizes that are refused.
        group: the dimensions.
        refusal: of the layer.
        before: the numbers at the layer.
    """

    shapes: Mapping[str, tuple[Dim, ...]]
    choice: Choice
    group: Group
    refusal: Refusal
    before: list[_Number]

    @property
    def size(self) -> int:
        """Return the size of the first of the dimensions."""
        return self.choice[self.group[0]]

    @property
    def dim(self) -> Dim:
        """Return what the first of the dimensions may be."""
        name, axis = self.group[0]
        return self.shapes[name][axis]

    def with_size(self, size: int) -> Choice:
        """Return the sizes with another one for the group."""
        return {**self.choice, **dict.fromkeys(self.group, size)}

    def targets(self, after: Sequence[_Number]) -> Iterator[tuple[int, int]]:
        """Yield numbers that depend on the group, by index, with those of other inputs that do not; 1 comes last."""
        pairs = list(zip(self.before, after, strict=False))
        fixed = list(dict.fromkeys(number for number, then in pairs if number == then))
        for small in (False, True):
            for index, (number, then) in enumerate(pairs):
                for other in fixed if number != then else ():
                    fits = other.port != number.port and other.kind == number.kind and other.value != number.value
                    if fits and (other.value <= 1) is small:
                        yield index, other.value


def _pictures(places: Sequence[InputAxis], choice: Choice, pictures: Mapping[str, tuple[int, int]]) -> list[Group]:
    """Return height and width of pictures, to change at once."""
    return [
        group
        for name, axes in pictures.items()
        for group in _of_one_size([place for place in places if place[0] == name and place[1] in axes], choice)
    ]


def _groups(places: Sequence[InputAxis], choice: Choice) -> list[Group]:
    """Return dimensions of one size to change at once: each one; those of one input; those of one axis; all."""
    ranks = Counter(name for name, _ in places)
    chosen = [[place] for place in sorted(places, key=lambda place: place[1] == 0)]
    for name in ranks:
        chosen.append([place for place in places if place[0] == name and place[1] > 1])
        chosen.append([place for place in places if place[0] == name and place[1] > 0])
    for axis in dict.fromkeys(axis for _, axis in places):
        own = [place for place in places if place[1] == axis]
        chosen += [[place for place in own if ranks[place[0]] == rank] for rank in sorted(set(ranks.values()))]
        chosen.append(own)
    chosen.append([place for place in places if place[1] > 0])
    return list(dict.fromkeys(group for own in chosen for group in _of_one_size(own, choice)))


def _of_one_size(places: Sequence[InputAxis], choice: Choice) -> list[Group]:
    """Return the dimensions in groups of one size."""
    sizes = dict.fromkeys(choice[place] for place in places)
    return [tuple(place for place in places if choice[place] == size) for size in sizes]


def static_sizes(shape: Shape) -> tuple[int, ...] | None:
    """Return the sizes of a shape that leaves none open; None for any other."""
    if not is_static(shape):
        return None
    return tuple(dim.size for dim in shape)


def _position(trial: Trial) -> float:
    return math.inf if trial.refusal is None else trial.refusal.position


def _problem(trial: Trial) -> str:
    """Return what a layer objects to, without its numbers."""
    refusal = trial.refusal
    return "" if refusal is None else f"{refusal.position} " + NUMBERS.sub("#", refusal.message)


def _factors(count: int, parts: int) -> list[int]:
    """Return so many sizes whose product is `count`, the largest ones last."""
    sizes = []
    for left in range(parts, 1, -1):
        root = round(count ** (1 / left))
        size = next((size for size in range(root, 1, -1) if count % size == 0), 1)
        sizes.append(size)
        count //= size
    return [*sizes, count]


def _near(dim: Dim, wanted: int) -> int:
    """Return the size nearest to the wanted one that a dimension allows."""
    return max(dim.lo, wanted if dim.hi is None else min(wanted, dim.hi))


def _filled(shapes: Mapping[str, tuple[Dim, ...]], choice: Choice) -> dict[str, tuple[int, ...]]:
    return {
        name: tuple(dim.size if dim.static else choice[name, axis] for axis, dim in enumerate(shape))
        for name, shape in shapes.items()
    }
