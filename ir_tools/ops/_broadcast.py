"""How shapes and values of several inputs come together: broadcasting, merging, bounds of values.

The rules are those of OpenVINO's core (dimension.cpp, partial_shape.cpp, eltwise shape inference), measured.
"""

from collections.abc import Callable

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._define import UNBOUNDED, Array, Bounds
from ir_tools.types import Dim, Shape, format_shape

__all__ = ["broadcast", "broadcast_arrays", "interval", "merge"]


def broadcast(left: Shape, right: Shape, mode: str) -> Shape:
    """The common shape of two inputs under `auto_broadcast`: `none`, `numpy`, `pdpd`.

    `pdpd` lines up the first dimensions: the runtime does not read the `axis` that would say otherwise.

    Raises:
        ShapeError: there is none.
    """
    if mode == "numpy":
        return _numpy(left, right)
    if mode == "pdpd":
        return _pdpd(left, right)
    return merge(left, right)


def merge(left: Shape, right: Shape) -> Shape:
    """The shapes that both allow, for inputs that must be equal.

    Raises:
        ShapeError: there is none.
    """
    if left is None or right is None:
        return right if left is None else left
    dims = [a.meet(b) for a, b in zip(left, right, strict=False)]
    if len(left) != len(right) or None in dims:
        raise ShapeError(f"the inputs [{format_shape(left)}] and [{format_shape(right)}] are not equal")
    return tuple(dim for dim in dims if dim is not None)


def _numpy(left: Shape, right: Shape) -> Shape:
    if left is None or right is None:
        return None
    rank = max(len(left), len(right))
    pair = zip(_to_rank(left, rank), _to_rank(right, rank), strict=True)
    dims = [_broadcast_dim(a, b) for a, b in pair]
    if None in dims:
        raise ShapeError(f"the inputs [{format_shape(left)}] and [{format_shape(right)}] do not broadcast")
    return tuple(dim for dim in dims if dim is not None)


def _to_rank(shape: tuple[Dim, ...], rank: int) -> tuple[Dim, ...]:
    return (Dim.of(1),) * (rank - len(shape)) + shape


def _broadcast_dim(left: Dim, right: Dim) -> Dim | None:
    if 1 in left and 1 in right:
        return left.join(right)
    if 1 in left:
        return right
    return left if 1 in right else left.meet(right)


def _pdpd(left: Shape, right: Shape) -> Shape:
    if left is None or right is None:
        return None
    dims = [_pdpd_dim(a, b) for a, b in zip(left, right, strict=False)]
    if len(right) > len(left) or None in dims:
        raise ShapeError(f"the inputs [{format_shape(left)}] and [{format_shape(right)}] do not broadcast")
    return (*(dim for dim in dims if dim is not None), *left[len(right) :])


def _pdpd_dim(left: Dim, right: Dim) -> Dim | None:
    """Only the second input may be stretched; of dimensions that are not static the runtime does not know yet."""
    one = Dim.of(1)
    return None if left == one and right.static and right != one else _broadcast_dim(left, right)


def broadcast_arrays(left: Array, right: Array, mode: str) -> tuple[Array, Array]:
    """Two arrays that numpy can combine; only `pdpd` needs help."""
    if mode == "pdpd":
        right = right.reshape((*right.shape, *[1] * (left.ndim - right.ndim)))
    return left, right


def interval(function: Callable[[Array, Array], Array], left: Bounds, right: Bounds) -> Bounds:
    """Bounds of a binary operation: least and largest over the corners; unbounded where an input is.

    That is how the runtime does it, monotonic or not.
    """
    if left.exact is not None and right.exact is not None:
        value = function(left.lower, right.lower)
        return Bounds(value, value)
    corners = [function(a, b) for a in (left.lower, left.upper) for b in (right.lower, right.upper)]
    unknown = np.zeros(corners[0].shape, dtype=bool)
    for bound in (left.lower, left.upper, right.lower, right.upper):
        unknown = unknown | (bound == UNBOUNDED)
    return Bounds(
        np.where(unknown, 0, np.minimum.reduce(corners)),
        np.where(unknown, UNBOUNDED, np.maximum.reduce(corners)),
    )
