"""Single dimensions of inputs, held against each other: ranks, sizes that inputs have in common, what does not fit."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from ir_tools.errors import ShapeError
from ir_tools.ops._values import whole
from ir_tools.ops.definition import Attrs, Fact, Kind, Violation
from ir_tools.types import Dim, format_shape

__all__ = ["agreed", "dim", "known_number", "require", "require_rank", "require_size", "too_large_for"]

MAX_ELEMENTS = 1 << 31
"""An output with more elements fits into no usual machine, and the runtime tries to allocate it all the same."""


def dim(fact: Fact, axis: int) -> Dim:
    """The dimension of an axis; any size where the rank is not known."""
    shape = fact.shape
    return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else Dim()


def require(holds: bool, message: str) -> None:
    """Hold a layer against a condition.

    Raises:
        ShapeError: it does not hold.
    """
    if not holds:
        raise ShapeError(message)


def require_rank(fact: Fact, rank: int, name: str) -> None:
    """Hold an input against its rank.

    Raises:
        ShapeError: it has another.
    """
    if fact.shape is not None and len(fact.shape) != rank:
        raise ShapeError(f"{name} is [{format_shape(fact.shape)}]; expected rank {rank}")


def require_size(fact: Fact, axis: int, sizes: Sequence[int], name: str) -> None:
    """Hold a dimension against the sizes that it may have.

    Raises:
        ShapeError: it has another.
    """
    found = dim(fact, axis)
    if not any(size in found for size in sizes):
        meant = " or ".join(map(str, sizes))
        raise ShapeError(f"{name} is [{format_shape(fact.shape)}], but dimension {axis} must be {meant}")


def agreed(dims: Iterable[Dim], what: str) -> Dim:
    """The sizes that all dimensions allow.

    Raises:
        ShapeError: there are none.
    """
    out: Dim | None = Dim()
    found = list(dims)
    for each in found:
        out = None if out is None else out.meet(each)
    if out is None:
        raise ShapeError(f"the inputs do not agree on the {what}: {' and '.join(map(str, dict.fromkeys(found)))}")
    return out


def known_number(fact: Fact) -> float | None:
    """The first value of an input that is known before anything runs."""
    exact = None if fact.value is None else fact.value.exact
    return None if exact is None or not exact.size else exact.ravel()[0].item()


def too_large_for(
    shape: Callable[[Attrs, Sequence[Fact]], tuple[Fact, ...]], name: str
) -> Callable[[Attrs, Sequence[Fact]], Iterator[Violation]]:
    """A check for outputs that no machine can hold, blamed on the attribute or input `name`."""

    def check(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
        try:
            outputs = shape(attrs, inputs)
        except ShapeError:
            return
        for output in outputs[:1]:
            count = whole(output.shape)
            if count is not None and count > MAX_ELEMENTS:
                text = f"makes an output of {count} elements, [{format_shape(output.shape)}]"
                yield Violation(name, text, kind=Kind.RANGE)

    return check
