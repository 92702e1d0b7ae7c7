"""Dimension intervals and partial shapes: `1,3,?,16..64`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeGuard

from ir_tools.errors import UsageError
from ir_tools.types.numbers import whole_number

__all__ = ["Dim", "Shape", "Shapes", "format_shape", "holds", "is_static", "parse_shape", "shape_text"]

LARGEST = 2**63 - 1
MAX_RANK = 64
"""The largest rank that is read: numpy has no arrays beyond it, and OpenVINO 2026.4 compiles nothing beyond 32."""
LISTED = 32
"""Dimensions in a message."""


@dataclass(frozen=True, slots=True)
class Dim:
    """One dimension: every size from `lo` to `hi`, both included; `hi=None` has no upper bound.

    Raises:
        UsageError: `lo` is negative or above `hi`.

    Example:
        >>> dim = ir_tools.Dim(16, 64)
        >>> str(dim), dim.static, 32 in dim
        ('16..64', False, True)
        >>> ir_tools.Dim.of(3).size
        3
    """

    lo: int = 0
    hi: int | None = None

    def __post_init__(self) -> None:
        """Refuse an interval that holds no size."""
        if self.lo < 0 or (self.hi is not None and self.hi < self.lo):
            raise UsageError(f"a dimension cannot be {self.lo}..{self.hi}")

    @classmethod
    def of(cls, size: int) -> "Dim":
        """Return the static dimension of `size`."""
        return _static(size)

    @property
    def static(self) -> bool:
        """Whether exactly one size is possible."""
        return self.lo == self.hi

    @property
    def size(self) -> int:
        """The one size of a static dimension."""
        if self.hi != self.lo:
            raise ValueError(f"dimension {self} is not static")
        return self.lo

    def __contains__(self, size: int) -> bool:
        """Return whether `size` is possible."""
        return self.lo <= size and (self.hi is None or size <= self.hi)

    def within(self, other: "Dim") -> bool:
        """Return whether every size of this dimension is possible in `other`."""
        return other.lo <= self.lo and (other.hi is None or (self.hi is not None and self.hi <= other.hi))

    def meet(self, other: "Dim") -> "Dim | None":
        """Return the sizes that both allow, or None."""
        lo = max(self.lo, other.lo)
        hi = self.hi if other.hi is None else other.hi if self.hi is None else min(self.hi, other.hi)
        if hi is not None and hi < lo:
            return None
        if lo == self.lo and hi == self.hi:
            return self
        return other if lo == other.lo and hi == other.hi else Dim(lo, hi)

    def join(self, other: "Dim") -> "Dim":
        """Return the smallest interval that holds both."""
        hi = None if self.hi is None or other.hi is None else max(self.hi, other.hi)
        return Dim(min(self.lo, other.lo), hi)

    def __str__(self) -> str:
        """Return `3`, `?`, `16..64`, `16..` or `..64`, as OpenVINO writes them."""
        if self.static:
            return str(self.lo)
        if self.lo == 0:
            return "?" if self.hi is None else f"..{self.hi}"
        return f"{self.lo}.." if self.hi is None else f"{self.lo}..{self.hi}"


@lru_cache(1 << 10, typed=True)
def _static(size: int) -> Dim:
    """Return the static dimension of a size; models have few different sizes, and very many dimensions."""
    return Dim(size, size)


Shape = tuple[Dim, ...] | None
"""A partial shape; None if even the rank is unknown."""

Shapes = Mapping[str, str | int | Sequence[int | Dim] | Shape]
"""Shapes by tensor or layer name, in any form that `parse_shape` takes."""


def is_static(shape: Shape) -> TypeGuard[tuple[Dim, ...]]:
    """Return whether rank and all sizes are known."""
    return shape is not None and all(dim.static for dim in shape)


def holds(shape: Shape, sizes: Sequence[int]) -> bool:
    """Return whether an array of these sizes has the partial shape."""
    return shape is None or (
        len(sizes) == len(shape) and all(size in dim for size, dim in zip(sizes, shape, strict=True))
    )


def format_shape(shape: Shape) -> str:
    """Return `1,3,?,16..64`; `...` for an unknown rank, `[]` for a scalar."""
    if shape is None:
        return "..."
    return ",".join(map(str, shape)) if shape else "[]"


def shape_text(shape: Sequence[Dim | int] | None) -> str:
    """Return a shape for a message: `[1,3,?,16..64]`; of very many dimensions the first, and how many there are.

    A size of -1 is unknown, as in a port.
    """
    if shape is None:
        return "[...]"
    listed = ",".join("?" if size == -1 else str(size) for size in shape[:LISTED])
    return f"[{listed}]" if len(shape) <= LISTED else f"[{listed},... {len(shape)} dimensions]"


def parse_shape(text: str | Sequence[int | Dim] | int) -> Shape:
    """Read `1,3,?,16..64` (brackets, blanks and -1 welcome), a list of sizes (-1: any) or one size.

    Raises:
        UsageError: the text is not a shape, or one of more than `MAX_RANK` dimensions.
    """
    if isinstance(text, int):
        return (_dim(str(text)),)
    if not isinstance(text, str):
        return tuple(_dim(str(size)) for size in text)
    stripped = text.strip()
    if stripped == "...":
        return None
    if stripped.startswith("[") and stripped.endswith("]"):
        stripped = stripped[1:-1].strip()
        if stripped == "...":
            return None
    rank = stripped.count(",") + 1
    if rank > MAX_RANK:
        raise UsageError(f"a shape has {rank} dimensions; at most {MAX_RANK} are read")
    return tuple(_dim(part) for part in stripped.split(",")) if stripped else ()


@lru_cache(1024)
def _dim(text: str) -> Dim:
    word = text.strip()
    if word in {"?", "-1"}:
        return Dim()
    lo, dots, hi = word.partition("..")
    bounds = [whole_number(bound) for bound in (lo, hi) if bound]
    sizes = [size for size in bounds if size is not None and size <= LARGEST]
    if len(sizes) < len(bounds) or not bounds:
        raise UsageError(f"'{word[:40]}' is not a dimension; write a size, ?, or an interval such as 16..64")
    if dots:
        return Dim(sizes[0] if lo else 0, sizes[-1] if hi else None)
    return Dim.of(sizes[0])
