"""Intern facts: equal facts are one object, so that results that depend on a fact are computed once."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Generic, NewType, TypeVar, TypeVarTuple

from ir_tools.ops.definition import Array, Bounds, Fact
from ir_tools.types import Shape

__all__ = [
    "MAX_KEPT",
    "AnswerTable",
    "FactTable",
    "InternedFact",
    "StoredBounds",
    "key_of",
    "minimum_size",
    "value_key",
]

MAX_KEPT = 64
"""Values of larger tensors are not compared with others."""
MAX_CARRIED = 1 << 23
"""Values of such tensors that are kept in all; those that decide shapes of real models are a thousand times fewer."""


AnswerT = TypeVar("AnswerT")
GivenT = TypeVarTuple("GivenT")
InternedFact = NewType("InternedFact", Fact)
"""A fact of a `FactTable`: of equal ones there is one object, so that its identity says which fact it is."""


class StoredBounds(Bounds):
    """The values of a constant, read from the weights when a shape rule first uses them; any if they cannot be read.

    Attributes:
        template: the fact of the constant without its values.
        used: whether the values were used since a caller last set this to False.
    """

    __slots__ = ("_found", "_load", "template", "used")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the values."""
        return Bounds, (self.lower, self.upper)

    def __init__(self, template: InternedFact, load: Callable[[], Bounds]) -> None:
        """`load` returns the values when a rule first uses them."""
        self.template = template
        self.used = False
        self._load = load
        self._found: Bounds | None = None

    @property
    def lower(self) -> Array:
        """The lower bounds."""
        return self.loaded().lower

    @property
    def upper(self) -> Array:
        """The upper bounds."""
        return self.loaded().upper

    def loaded(self) -> Bounds:
        """Return the values, and set `used`."""
        self.used = True
        if self._found is None:
            self._found = self._load()
        return self._found


class FactTable:
    """A table with one object for all equal facts."""

    def __init__(self) -> None:
        """Start with no facts."""
        self._interned: dict[object, InternedFact] = {}
        self._carried = 0

    def interned(self, fact: Fact) -> InternedFact:
        """Return the one object for this fact. A fact with more than `MAX_KEPT` values is equal only to itself.

        After `MAX_CARRIED` values in such facts, the values of further ones are dropped.
        """
        key: object = (fact.dtype.name, fact.shape, fact.constant)
        if isinstance(fact.value, StoredBounds):
            fact = replace(fact, value=fact.value.loaded())
        if fact.value is not None:
            same = content(fact.value)
            self._carried += 0 if same else fact.value.lower.size
            if same or self._carried <= MAX_CARRIED:
                key = (key, same or id(fact))
            else:
                fact = replace(fact, value=None)
        return self._interned.setdefault(key, InternedFact(fact))


class _Missing(enum.Enum):
    """Why a table has no answer: it was not asked for, or depends on the values of constants."""

    NOT_ASKED = enum.auto()
    BY_VALUES = enum.auto()


NOT_ASKED = _Missing.NOT_ASKED


class AnswerTable(Generic[AnswerT]):
    """Answers about facts: facts that differ only in values of constants that nothing looked at are asked about once.

    Attributes:
        looked_at: how many values of constants with more than `MAX_KEPT` of them were looked at.
    """

    def __init__(self) -> None:
        """Start with no answers."""
        self.looked_at = 0
        self._known: dict[object, AnswerT | _Missing] = {}

    def of(self, about: object, facts: Sequence[Fact], ask: Callable[[*GivenT], AnswerT], *given: *GivenT) -> AnswerT:
        """Return the known answer, or ask for it.

        Args:
            about: what it depends on besides the facts.
            facts: each has to be one object whenever it is equal, and to live as long as the table.
            ask: returns the answer.
            given: what it is called with.
        """
        key: object = (about, *map(key_of, facts))
        found = self._known.get(key, NOT_ASKED)
        if not isinstance(found, _Missing):
            return found
        by_values = found is _Missing.BY_VALUES
        if by_values:
            key = (key, *map(value_key, facts))
            found = self._known.get(key, NOT_ASKED)
            if not isinstance(found, _Missing):
                return found
        stored = [fact.value for fact in facts if isinstance(fact.value, StoredBounds)]
        for value in stored:
            value.used = False
        answer = ask(*given)
        used = [value.lower.size for value in stored if value.used]
        if used:
            self.looked_at += sum(size for size in used if size > MAX_KEPT)
        if used and not by_values:
            self._known[key] = _Missing.BY_VALUES
            key = (key, *map(value_key, facts))
        self._known[key] = answer
        return answer


def key_of(fact: Fact) -> int:
    """Return a number that is equal for facts that a shape rule can distinguish only by the values of constants."""
    value = fact.value
    return -id(value.template) if type(value) is StoredBounds else id(fact)


def value_key(fact: Fact) -> object:
    """Return a key that differs for facts with different values; of too many values each array has its own."""
    return None if fact.value is None else content(fact.value) or fact.value


def content(value: Bounds) -> object | None:
    """Return a key that is equal for equal bounds; None if there are too many values to compare."""
    return None if value.lower.size > MAX_KEPT else value.content()


def minimum_size(shape: Shape, maximum: int) -> int:
    """Return the smallest possible number of elements of a non-empty tensor, at most `maximum + 1`."""
    size = 1
    for dim in shape or ():
        size = min(size * (dim.lo or (dim.hi != 0)), maximum + 1)
    return size
