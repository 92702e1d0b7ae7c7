"""The choice of sizes and values for the inputs of a model that are not given."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ir_tools.graph import Model
from ir_tools.infer import Refusal, ShapeTrials, Trial
from ir_tools.inputs._generators import Generator
from ir_tools.inputs._given import Given
from ir_tools.inputs._sizes import SizeSearch, static_sizes
from ir_tools.inputs._values import FIXED, Wish, Wishes
from ir_tools.ops import Fact
from ir_tools.ops.definition import Bounds
from ir_tools.types import Dim, ElementType, Shape

__all__ = ["Choice", "Chooser"]

MAX_VALUES = 64
"""Elements of an input of integers whose values shape rules look at."""
ROUNDS = 3
"""Searches for sizes, since values that are sizes depend on what was found before."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen.

    Attributes:
        sizes: of every input, by name.
        wishes: the values for inputs that are not given and of which not any values suit the model.
        refusal: the layer that refuses the best sizes found, if one does.
        hopeless: whether that layer refuses inputs of unknown sizes for the same reason, so that no sizes suit it.
    """

    sizes: Mapping[str, tuple[int, ...]]
    wishes: Mapping[str, Wish]
    refusal: Refusal | None
    hopeless: bool = False


class Chooser:
    """The choice for one model."""

    def __init__(
        self,
        model: Model,
        facts: Mapping[str, tuple[ElementType, Shape]],
        arrays: Mapping[str, Given],
        generators: Mapping[str, Generator],
    ) -> None:
        """Prepare.

        Args:
            model: the model.
            facts: element type and partial shape of every input, by name.
            arrays: those that are given.
            generators: those that are given.
        """
        self._model = model
        self._open = any(static_sizes(shape) is None for _, shape in facts.values())
        self._facts = {name: (dtype, _shape(shape, arrays.get(name))) for name, (dtype, shape) in facts.items()}
        self._layers = {end.name: end.layer for end in model.inputs}
        self._arrays = {name: given.array for name, given in arrays.items()}
        self._generators = generators
        self._missing = [name for name in facts if name not in arrays and name not in generators]
        self._trial: Trial | None = None

    def choose(self) -> Choice:
        """Return sizes and values that suit all layers, or those that come furthest."""
        sizes = {name: static_sizes(shape) for name, (_, shape) in self._facts.items()}
        known = {name: own for name, own in sizes.items() if own is not None}
        if len(known) == len(sizes):
            wishes = self._wishes(known)
            return Choice(known, wishes, self._tried(known).refusal if self._open else None)
        fixed: dict[str, Wish] = {}
        facts = self._facts
        longer: Choice | None = None
        for _ in range(ROUNDS):
            search = SizeSearch(self._model, facts, self._pictures, self._value_facts(known, fixed))
            known, trial = search.find()
            if trial.refusal is not None and longer is not None:
                return longer
            self._trial = trial
            wishes = self._wishes(known)
            before, fixed = fixed, {name: wish for name, wish in wishes.items() if wish.strength == FIXED}
            shorter = facts if trial.refusal is not None else _shortened(facts, known, wishes)
            if fixed == before and shorter == facts:
                break
            if shorter != facts:
                facts, longer = shorter, longer or Choice(known, wishes, None)
        return Choice(known, wishes, trial.refusal, self._is_hopeless(trial.refusal))

    def _is_hopeless(self, refusal: Refusal | None) -> bool:
        """Return whether a layer refuses inputs of the sizes in the file, known or not, as it refuses those found."""
        if refusal is None:
            return False
        as_written = {self._layers[name].id: Fact(*fact) for name, fact in self._facts.items()}
        first = ShapeTrials(self._model).of(as_written).refusal
        return first is not None and (first.path, first.message) == (refusal.path, refusal.message)

    def _wishes(self, sizes: Mapping[str, tuple[int, ...]]) -> dict[str, Wish]:
        """Return what the layers wish for the values that are missing."""
        wishes = Wishes(self._model, lambda: self._tried(sizes))
        found = {}
        for name in self._missing:
            dtype = self._facts[name][0]
            count = int(np.prod(sizes[name], dtype=np.float64))
            wish = wishes.of(self._layers[name], dtype, count) if dtype.dtype is not None else None
            if wish is not None:
                found[name] = wish
        return found

    def _tried(self, sizes: Mapping[str, tuple[int, ...]]) -> Trial:
        """Return the facts of all tensors."""
        if self._trial is None:
            given = {
                self._layers[name].id: Fact(self._facts[name][0], tuple(map(Dim.of, own)))
                for name, own in sizes.items()
            }
            values = {self._layers[name].id: fact for name, fact in self._value_facts(sizes, {}).items()}
            self._trial = ShapeTrials(self._model).of({**given, **values})
        return self._trial

    def _value_facts(self, sizes: Mapping[str, tuple[int, ...]], fixed: Mapping[str, Wish]) -> dict[str, Fact]:
        """Return the facts of inputs of few integers whose values are known."""
        found = {}
        generators = {**self._generators, **{name: wish.values for name, wish in fixed.items()}}
        for name, (dtype, _) in self._facts.items():
            array = self._arrays.get(name)
            if array is None and name in sizes and name in generators and generators[name].certain:
                array = generators[name].make(sizes[name], dtype, np.random.default_rng(0))
            if array is not None and dtype.is_integer and dtype.dtype is not None and array.size <= MAX_VALUES:
                found[name] = Fact(dtype, tuple(map(Dim.of, array.shape)), Bounds.exactly(array))
        return found

    @cached_property
    def _pictures(self) -> dict[str, tuple[int, int]]:
        """Return the axes of height and width of the inputs that are pictures."""
        wishes = Wishes(self._model, lambda: Trial({}, None))
        return {
            name: (1, 2) if shape[3] == Dim.of(3) else (2, 3)
            for name, (_, shape) in self._facts.items()
            if shape is not None and len(shape) == 4 and wishes.reads_picture(self._layers[name])
        }


def _shortened(
    facts: Mapping[str, tuple[ElementType, Shape]], sizes: Mapping[str, tuple[int, ...]], wishes: Mapping[str, Wish]
) -> dict[str, tuple[ElementType, Shape]]:
    """Return the facts of the inputs, with an upper bound for axes of which more is added up than a table has rows."""
    found = dict(facts)
    for name, wish in wishes.items():
        dtype, shape = facts[name]
        if shape is not None and wish.terms is not None and wish.terms > wish.most_terms:
            most = int(wish.most_terms)
            found[name] = (
                dtype,
                tuple(
                    Dim(dim.lo, most) if size == wish.terms and not dim.static and max(dim.lo, 1) <= most else dim
                    for dim, size in zip(shape, sizes[name], strict=True)
                ),
            )
    return found


def _shape(shape: Shape, given: Given | None) -> Shape:
    """Return the partial shape of an input, or the shape of its array; packed elements keep the former."""
    if given is None or (static_sizes(shape) is not None and given.array.ndim != len(shape or ())):
        return shape
    return tuple(map(Dim.of, given.array.shape))
