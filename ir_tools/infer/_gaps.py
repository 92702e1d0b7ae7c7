"""Ports that contradict facts."""

from __future__ import annotations

from ir_tools.graph import Port
from ir_tools.infer._facts import Known
from ir_tools.ops.definition import Fact
from ir_tools.types import Dim, ElementType, format_shape, precision_in_file

__all__ = ["Gap", "are_apart", "dims_text", "gap_of", "slack_of", "told"]


class Gap:
    """A port that contradicts a fact.

    Attributes:
        port: of the layer.
        known: the fact.
        types: whether the element types differ.
        dims: the numbers of the dimensions that differ; None where the rank does.
    """

    __slots__ = ("dims", "known", "port", "types")

    def __init__(self, port: Port, known: Known, types: bool, dims: tuple[int, ...] | None) -> None:
        self.port = port
        self.known = known
        self.types = types
        self.dims = dims

    @property
    def vague(self) -> bool:
        """Whether the port may mean a tensor of any rank, where the fact is not wholly static either."""
        dims = self.known.fact.shape
        return not self.types and not self.port.dims and not all(dim.static for dim in dims or ())


def gap_of(port: Port, known: Known) -> Gap | None:
    """How a port contradicts a fact: dims that are not possible, another type. What is open on either side fits."""
    if port.dims == known.dims and (port.precision is None or port.precision == known.precision):
        return None
    fact = known.fact
    types = port.precision not in {None, known.precision} and _other_type(port.precision, fact.dtype)
    dims: tuple[int, ...] | None = ()
    if fact.shape is not None and len(port.dims) != len(fact.shape):
        dims = None
    elif fact.shape is not None:
        pairs = zip(port.dims, fact.shape, strict=True)
        dims = tuple(index for index, (size, dim) in enumerate(pairs) if size >= 0 and size not in dim)
    return Gap(port, known, types, dims) if types or dims != () else None


def slack_of(port: Port, known: Known) -> Gap | None:
    """Where a port that does not contradict a fact says more or less than it."""
    shape = known.fact.shape
    if port.dims == known.dims or shape is None or len(shape) != len(port.dims) or gap_of(port, known):
        return None
    return Gap(port, known, False, tuple(at for at, size in enumerate(port.dims) if size != known.dims[at]))


def _other_type(precision: str | None, dtype: ElementType) -> bool:
    """Whether a port says another type, or something that is none at all."""
    said = precision_in_file(precision or "")
    return said is None or (said != dtype and "dynamic" not in {said.kind, dtype.kind})


def are_apart(one: Fact, other: Fact) -> bool:
    """Whether two facts cannot be of one tensor."""
    if one.dtype != other.dtype and "dynamic" not in {one.dtype.kind, other.dtype.kind}:
        return True
    if one.shape is None or other.shape is None:
        return False
    if len(one.shape) != len(other.shape):
        return True
    return any(a.meet(b) is None for a, b in zip(one.shape, other.shape, strict=True))


def told(known: Known) -> str:
    """`[1,3,8,8] of f32`."""
    return f"[{format_shape(known.fact.shape)}] of {known.fact.dtype}"


def dims_text(dims: tuple[int, ...]) -> str:
    return format_shape(tuple(Dim() if size < 0 else Dim.of(size) for size in dims))
