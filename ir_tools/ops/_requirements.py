"""Conditions of shape rules and checks on inputs: ranks, sizes, axes, agreement of several inputs."""

from collections.abc import Iterable, Iterator, Sequence

from ir_tools.display import either
from ir_tools.errors import ShapeError
from ir_tools.ops._values import dim, outside, same_shape
from ir_tools.ops.definition import Check, Fact, ShapeRule, Violation, ViolationKind
from ir_tools.ops.fields import Attrs
from ir_tools.ops.limits import MAX_SIZES
from ir_tools.types import Dim, ElementType, Shape, element_type, shape_text

__all__ = [
    "agreed",
    "check_axes",
    "check_divisor",
    "check_tuples",
    "impossible_length",
    "raise_first",
    "require",
    "require_integers",
    "require_lengths",
    "require_list",
    "require_one",
    "require_rank",
    "require_size",
    "require_sizes",
    "require_type",
    "same_shape_unless",
    "same_type",
]


def require(holds: bool, message: str, *, attribute: str | None = None) -> None:
    """Hold a layer, or one of its attributes or inputs, against a condition.

    Raises:
        ShapeError: it does not hold.
    """
    if not holds:
        raise ShapeError(message, attribute=attribute)


def check_divisor(name: str, fact: Fact) -> Iterator[Violation]:
    """Yield a violation if a constant by which a layer divides holds 0."""
    if fact.exact is not None and not fact.exact.all():
        yield Violation(name, "holds 0, by which the layer divides", kind=ViolationKind.SUSPECT)


def raise_first(violations: Iterable[Violation]) -> None:
    """Raise the first of the violations.

    Raises:
        ShapeError: there is one.
    """
    for violation in violations:
        raise ShapeError(violation.message, attribute=violation.attribute)


def same_shape_unless(check: Check) -> ShapeRule:
    """Return the shape rule of an operation that gives type and shape of its first input, unless a check objects."""

    def shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
        raise_first(check(attrs, inputs))
        return same_shape(attrs, inputs)

    return shape


def require_rank(fact: Fact, rank: int, name: str) -> None:
    """Hold an input against its rank.

    Raises:
        ShapeError: it has another.
    """
    if fact.shape is not None and len(fact.shape) != rank:
        raise ShapeError(f"is {shape_text(fact.shape)}; expected rank {rank}", attribute=name)


def require_size(fact: Fact, axis: int, sizes: Sequence[int], name: str) -> None:
    """Hold a dimension against the sizes that it may have.

    Raises:
        ShapeError: it has another.
    """
    found = dim(fact, axis)
    if not any(size in found for size in sizes):
        meant = either(sizes)
        raise ShapeError(f"is {shape_text(fact.shape)}, but dimension {axis} must be {meant}", attribute=name)


def require_list(fact: Fact, name: str) -> None:
    """Hold an input against being a list.

    Raises:
        ShapeError: it has another rank.
    """
    if fact.shape is not None and len(fact.shape) != 1:
        raise ShapeError(f"is {shape_text(fact.shape)}; expected a list", attribute=name)


def impossible_length(lengths: Iterable[int], steps: Dim) -> int | None:
    """Return the first length that no sequence of that many steps has; None if all are possible."""
    return next((length for length in lengths if length < 0 or (steps.hi is not None and length > steps.hi)), None)


def require_lengths(lengths: Iterable[int], steps: int, name: str) -> None:
    """Hold the lengths of sequences against their number of steps.

    Raises:
        ShapeError: one is negative, or longer.
    """
    bad = impossible_length(lengths, Dim.of(steps))
    require(bad is None, f"holds {bad}, but the sequence axis has {steps} elements", attribute=name)


def require_sizes(fact: Fact, name: str) -> None:
    """Hold an input against being a list of sizes, lengths or axes, which is no longer than anything has dimensions.

    Raises:
        ShapeError: it has another rank, or more values than any such list can have.
    """
    require_list(fact, name)
    if fact.shape is not None and fact.shape[0].lo > MAX_SIZES:
        raise ShapeError(f"has {fact.shape[0]} values, more than a tensor can have dimensions", attribute=name)


def require_one(fact: Fact, name: str, *, only_scalar: bool = False) -> None:
    """Hold an input against being a scalar, or a list of one element unless `only_scalar`.

    Raises:
        ShapeError: it has another shape.
    """
    shape = fact.shape
    if shape is None or shape == () or (not only_scalar and len(shape) == 1 and 1 in shape[0]):
        return
    raise ShapeError(f"is {shape_text(shape)}; expected a scalar", attribute=name)


def require_integers(fact: Fact, name: str) -> None:
    """Hold an input against having an integer type.

    Raises:
        ShapeError: it has another.
    """
    if fact.dtype.kind != "dynamic" and not fact.dtype.is_integer:
        raise ShapeError(f"has element type {fact.dtype}; expected an integer type", attribute=name)


def require_type(dtype: ElementType, words: str) -> None:
    """Hold the element type of the data against what an operation takes, as `ElementType.is_one_of` reads it.

    Raises:
        ShapeError: it does not take the type.
    """
    if dtype.kind != "dynamic" and not dtype.is_one_of(words):
        raise ShapeError(f"the input has element type {dtype}; expected {either(words.split())}")


def same_type(inputs: Sequence[Fact]) -> ElementType:
    """Return the element type of inputs that must have one in common; `dynamic` gives way.

    Raises:
        ShapeError: they differ.
    """
    known = [fact.dtype for fact in inputs if fact.dtype.kind != "dynamic"]
    if any(dtype != known[0] for dtype in known):
        raise ShapeError(f"the inputs have different element types: {', '.join(str(fact.dtype) for fact in inputs)}")
    return known[0] if known else element_type("dynamic")


def agreed(dims: Iterable[Dim], what: str) -> Dim:
    """Return the sizes that all dimensions allow.

    Raises:
        ShapeError: there are none.
    """
    out: Dim | None = Dim()
    found = list(dims)
    for each in found:
        out = None if out is None else out.meet(each)
    if out is None:
        raise ShapeError(
            f"the inputs have different values for the {what}: {' and '.join(map(str, dict.fromkeys(found)))}"
        )
    return out


def check_tuples(indices: Fact, sizes: tuple[Dim, ...]) -> Iterator[Violation]:
    """Check for tuples of indices, along the last dimension, that axes of these sizes do not have."""
    bad = outside(indices, sizes)
    if bad is not None:
        yield Violation("indices", f"holds {bad}, but the axes have {shape_text(sizes)} elements")


def check_axes(
    data: Shape, axes: Fact, ranks: Sequence[int], *, name: str = "axes", negative: bool = True
) -> Iterator[Violation]:
    """Check for an input of axes that holds no integers, is of other `ranks`, or names one that the data does not have.

    A scalar counts as having one axis where a number or nothing can stand for a list.
    """
    if not (axes.dtype.is_integer or axes.dtype.kind == "dynamic"):
        yield Violation(name, f"has element type {axes.dtype}; expected integers")
        return
    if axes.shape is not None and len(axes.shape) not in ranks:
        meant = "a single number" if ranks == (0,) else "a list" if 0 not in ranks else "a number or a list"
        yield Violation(name, f"is {shape_text(axes.shape)}; expected {meant}")
        return
    if data is None:
        return
    rank = max(len(data), 1) if 0 in ranks else len(data)
    for axis in axes.integers() or ():
        if not (-rank if negative else 0) <= axis < rank:
            yield Violation(name, f"names axis {axis}, but the data {shape_text(data)} has rank {len(data)}")
