"""Combine the shapes and values of several inputs: broadcasting, merging, bounds of values.

The rules are those of OpenVINO's core (dimension.cpp, partial_shape.cpp, eltwise shape inference), measured.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops.definition import UNBOUNDED, Array, Bounds
from ir_tools.ops.fields import Attrs, Int, OneOf
from ir_tools.types import Dim, Shape, shape_text

__all__ = [
    "AUTO_BROADCAST",
    "auto_broadcast",
    "broadcast",
    "broadcast_arrays",
    "first_axis",
    "interval",
    "merge",
    "no_bound",
    "unbounded",
]

AUTO_BROADCAST = {
    "auto_broadcast": OneOf(words=("none", "numpy", "pdpd"), synonyms={"explicit": "none"}, default="numpy"),
    "auto_broadcast_axis": Int(xml="auto_broadcast.auto_broadcast_axis", default=0),
}
"""How inputs are broadcast. The axis is written and read with `pdpd` only."""


def auto_broadcast(attrs: Attrs, left: Shape, right: Shape) -> Shape:
    """Return the common shape of two inputs under `auto_broadcast`.

    Raises:
        ShapeError: the shapes do not fit.
    """
    if attrs.auto_broadcast == "pdpd":
        return _pdpd(left, right, attrs.auto_broadcast_axis)
    return broadcast(left, right) if attrs.auto_broadcast == "numpy" else merge(left, right)


def first_axis(axis: int, rank: int, other: int, *, whole: bool = False) -> int:
    """Return the axis of a tensor of `rank` at which one of rank `other` begins in mode `pdpd`; -1: both end together.

    Raises:
        ShapeError: the other tensor does not lie within the axes of the first, or with `whole` not at their end.
    """
    start = rank - other if axis == -1 else axis
    if start < 0 or start + other > rank or (whole and start + other < rank):
        raise ShapeError(f"an input of rank {other} cannot be broadcast to rank {rank} from axis {axis} on")
    return start


def merge(left: Shape, right: Shape) -> Shape:
    """Return the shapes that both allow, for inputs that must be equal.

    Raises:
        ShapeError: there is none.
    """
    if left is None or right is None:
        return right if left is None else left
    dims = [a.meet(b) for a, b in zip(left, right, strict=False)]
    if len(left) != len(right) or None in dims:
        raise ShapeError(
            f"the shapes {shape_text(left)} and {shape_text(right)} of the inputs are not equal, and auto_broadcast "
            "is none"
        )
    return tuple(dim for dim in dims if dim is not None)


def broadcast(left: Shape, right: Shape) -> Shape:
    """Return the common shape of two inputs, aligned at their last dimensions as in numpy.

    Raises:
        ShapeError: the shapes do not fit.
    """
    if left is None or right is None:
        return None
    rank = max(len(left), len(right))
    pair = zip(_to_rank(left, rank), _to_rank(right, rank), strict=True)
    dims = [_broadcast_dim(a, b) for a, b in pair]
    return _all_known(dims, left, right)


def _all_known(dims: Sequence[Dim | None], left: Shape, right: Shape) -> tuple[Dim, ...]:
    """Return dimensions that none is missing of.

    Raises:
        ShapeError: one is, so the shapes do not fit.
    """
    known = tuple(dim for dim in dims if dim is not None)
    if len(known) < len(dims):
        raise ShapeError(
            f"the shapes {shape_text(left)} and {shape_text(right)} of the inputs cannot be broadcast together"
        )
    return known


def _to_rank(shape: tuple[Dim, ...], rank: int) -> tuple[Dim, ...]:
    return (Dim.of(1),) * (rank - len(shape)) + shape


def _broadcast_dim(left: Dim, right: Dim) -> Dim | None:
    if 1 in left and 1 in right:
        return left.join(right)
    if 1 in left:
        return right
    return left if 1 in right else left.meet(right)


def _pdpd(left: Shape, right: Shape, axis: int) -> Shape:
    if left is None or right is None:
        return None
    start = first_axis(axis, len(left), len(right))
    dims = [_pdpd_dim(a, b) for a, b in zip(left[start:], right, strict=False)]
    return (*left[:start], *_all_known(dims, left, right), *left[start + len(right) :])


def _pdpd_dim(left: Dim, right: Dim) -> Dim | None:
    """Return a dimension, of which only the second input's may be stretched.

    Of dimensions that are not static the runtime does not know yet.
    """
    one = Dim.of(1)
    return None if left == one and right.static and right != one else _broadcast_dim(left, right)


def broadcast_arrays(attrs: Attrs, left: Array, right: Array) -> tuple[Array, Array]:
    """Return two inputs so that numpy can combine them: under `pdpd` the second gets dimensions of 1 at its end."""
    if attrs.auto_broadcast == "pdpd":
        start = first_axis(attrs.auto_broadcast_axis, left.ndim, right.ndim)
        right = right.reshape((*right.shape, *[1] * (left.ndim - start - right.ndim)))
    return left, right


def interval(function: Callable[[Array, Array], Array], left: Bounds, right: Bounds) -> Bounds:
    """Return bounds of a binary operation: least and largest over the corners; unbounded where an input is.

    That is how the runtime does it, monotonic or not.
    """
    if left.exact is not None and right.exact is not None:
        value = function(left.lower, right.lower)
        return Bounds(value, value)
    corners = [function(a, b) for a in (left.lower, left.upper) for b in (right.lower, right.upper)]
    lower, upper = np.minimum.reduce(corners), np.maximum.reduce(corners)
    unknown = unbounded(left) | unbounded(right)
    return Bounds(np.where(unknown, 0, lower), np.where(unknown, no_bound(upper), upper))


def unbounded(values: Bounds) -> Array:
    """Return which values have no bound."""
    limit = no_bound(values.upper)
    missing: Array = (values.lower == limit) | (values.upper == limit) | (values.lower == -limit)
    return missing


def no_bound(bounds: Array) -> float:
    """Return what stands for no upper bound in an array of bounds."""
    return np.inf if bounds.dtype.kind == "f" else UNBOUNDED
