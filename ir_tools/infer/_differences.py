"""How a port differs from what is known of its tensor."""

from __future__ import annotations

import enum
from typing import Literal, NamedTuple

from ir_tools.graph import Port
from ir_tools.ops.definition import Fact
from ir_tools.ops.interning import InternedFact
from ir_tools.types import ElementType, precision_in_file, shape_text

__all__ = ["Difference", "Relation", "Side", "agrees", "are_apart", "contradiction", "difference", "text_of"]

Side = Literal["input", "output"]


class Relation(enum.Enum):
    """What a port that differs from a fact has to do with it.

    CONTRADICTION: the tensor cannot be as the port records. UNKNOWN_RANK: the same, but the port has no dims, which may
    mean any rank, and the fact has open sizes. LOOSE: the port only records more or less of the sizes.
    """

    CONTRADICTION = enum.auto()
    UNKNOWN_RANK = enum.auto()
    LOOSE = enum.auto()


class Difference(NamedTuple):
    """A port that differs from a fact.

    Attributes:
        side: of the layer that has the port.
        port: of the layer.
        known: the fact.
        relation: how they differ.
        types: whether the element types differ.
        dims: the numbers of the dimensions that differ; None if the rank does.
    """

    side: Side
    port: Port
    known: InternedFact
    relation: Relation
    types: bool
    dims: tuple[int, ...] | None


def agrees(port: Port, known: InternedFact) -> bool:
    """Return whether a port records exactly a fact; no precision says nothing."""
    return port.dims == known.dims and (port.precision is None or port.precision == known.dtype.precision)


def difference(port: Port, known: InternedFact, side: Side = "output") -> Difference | None:
    """Return how a port differs from a fact; what is open on either side fits."""
    if agrees(port, known):
        return None
    types = port.precision not in {None, known.dtype.precision} and _other_type(port.precision, known.dtype)
    dims: tuple[int, ...] | None = ()
    if known.shape is not None and len(port.dims) != len(known.shape):
        dims = None
    elif known.shape is not None:
        pairs = zip(port.dims, known.shape, strict=True)
        dims = tuple(index for index, (size, dim) in enumerate(pairs) if size >= 0 and size not in dim)
    if types or dims != ():
        unranked = not types and not port.dims and not all(dim.static for dim in known.shape or ())
        relation = Relation.UNKNOWN_RANK if unranked else Relation.CONTRADICTION
        return Difference(side, port, known, relation, types, dims)
    if known.shape is None or port.dims == known.dims:
        return None
    loose = tuple(index for index, size in enumerate(port.dims) if size != known.dims[index])
    return Difference(side, port, known, Relation.LOOSE, False, loose)


def contradiction(port: Port, known: InternedFact) -> Difference | None:
    """Return how a port contradicts a fact, if it does."""
    found = difference(port, known)
    return None if found is None or found.relation is Relation.LOOSE else found


def _other_type(precision: str | None, dtype: ElementType) -> bool:
    """Return whether a port records another type, or something that is not a type."""
    said = precision_in_file(precision or "")
    return said is None or (said != dtype and "dynamic" not in {said.kind, dtype.kind})


def are_apart(one: Fact, other: Fact) -> bool:
    """Return whether two facts cannot be of one tensor."""
    if one.dtype != other.dtype and "dynamic" not in {one.dtype.kind, other.dtype.kind}:
        return True
    if one.shape is None or other.shape is None or one.shape is other.shape:
        return False
    if len(one.shape) != len(other.shape):
        return True
    return any(a.meet(b) is None for a, b in zip(one.shape, other.shape, strict=True))


def text_of(fact: Fact) -> str:
    """Return `[1,3,8,8] of f32`."""
    return f"{shape_text(fact.shape)} of {fact.dtype}"
