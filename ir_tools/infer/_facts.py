"""Facts as the walk through a graph keeps them: one object for equal facts, so that work on them is done once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ir_tools.ops.definition import Array, Bounds, Fact
from ir_tools.ops.records import recorded_dims
from ir_tools.types import Shape, element_type

__all__ = ["UNKNOWN", "FactTable", "Known", "StoredBounds", "minimum_size"]

UNKNOWN = Fact(element_type("dynamic"), None)
MAX_KEPT = 64
"""Values of larger tensors are not compared with others."""


class Known:
    """A fact, with what ports record of such a tensor.

    Attributes:
        key: equal for facts that no shape rule can tell apart without looking at stored values.
        dims, precision: as a port of the file says them.
    """

    __slots__ = ("dims", "fact", "key", "precision")

    def __init__(self, fact: Fact, key: int) -> None:
        self.fact = fact
        self.key = key
        self.dims = recorded_dims(fact.shape)
        self.precision = fact.dtype.precision


class StoredBounds(Bounds):
    """The values of a constant, read from the weights when a rule first looks at them; any if they cannot be read."""

    __slots__ = ("_found", "_load", "used")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the values."""
        return Bounds, (self.lower, self.upper)

    def __init__(self, load: Callable[[], Bounds]) -> None:
        self._load = load
        self._found: Bounds | None = None
        self.used = False
        """Whether somebody looked; whoever asks sets it back."""

    @property
    def lower(self) -> Array:
        return self._bounds().lower

    @property
    def upper(self) -> Array:
        return self._bounds().upper

    def _bounds(self) -> Bounds:
        self.used = True
        if self._found is None:
            self._found = self._load()
        return self._found


class FactTable:
    """One `Known` for all equal facts."""

    def __init__(self) -> None:
        self._plain: dict[object, Known] = {}
        self._count = 0

    def known(self, fact: Fact) -> Known:
        """Return the one for this fact."""
        key: object = (fact.dtype.name, fact.shape, fact.constant)
        if fact.value is not None:
            digest = content(fact.value)
            if digest is None:
                return Known(fact, self._next())
            key = (key, digest)
        found = self._plain.get(key)
        if found is None:
            found = self._plain[key] = Known(fact, self._next())
        return found

    def stored(self, template: Known, values: StoredBounds) -> Known:
        """Return a constant: like others of its type and shape, as long as nothing reads the values."""
        key = ("stored", template.key)
        first = self._plain.get(key)
        if first is None:
            first = self._plain[key] = Known(template.fact, self._next())
        twin = Known.__new__(Known)
        twin.fact = replace(template.fact, value=values)
        twin.key, twin.dims, twin.precision = first.key, template.dims, template.precision
        return twin

    def _next(self) -> int:
        self._count += 1
        return self._count


def content(value: Bounds) -> object | None:
    """Return what two bounds that say the same have in common; None if there are too many to compare."""
    lower, upper = value.lower, value.upper
    if lower.size > MAX_KEPT:
        return None
    return lower.dtype.str, lower.shape, lower.tobytes(), b"" if upper is lower else upper.tobytes()


def minimum_size(shape: Shape, maximum: int) -> int:
    """Return how many elements a tensor has at least, if it has any; of more than `most`, one more."""
    size = 1
    for dim in shape or ():
        size = min(size * (dim.lo or (dim.hi != 0)), maximum + 1)
    return size
