"""How shapes and values of several inputs come together: broadcasting, merging, bounds of values.

The rules are those of OpenVINO's core (dimension.cpp, partial_shape.cpp, eltwise shape inference), measured.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._define import UNBOUNDED, Array, Bounds
from ir_tools.types import Dim, Shape, format_shape

__all__ = ["broadcast", "broadcast_arrays", "interval", "merge", "pdpd_axis"]


def broadcast(left: Shape, right: Shape, mode: str, axis: int = -1) -> Shape:
    """The common shape of two inputs under `auto_broadcast` (`none`, `numpy`, `pdpd` with its axis).

    Raises:
        ShapeError: there is none.
    """
    if mode == "numpy":
        return _numpy(left, right)
    if mode == "pdpd":
        return _pdpd(left, right, axis)
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


def pdpd_axis(left: Sequence[object], right: Sequence[object], axis: int) -> int:
    """Where the second input's dimensions start in the first; -1 lines up the last ones."""
    return len(left) - len(right) if axis == -1 else axis


def _pdpd(left: Shape, right: Shape, axis: int) -> Shape:
    if left is None or right is None:
        return None
    start = pdpd_axis(left, right, axis)
    if start < 0 or start > len(left):
        raise ShapeError(f"axis {axis} does not line up [{format_shape(right)}] with [{format_shape(left)}]")
    small = list(right)
    while len(small) > len(left) - start and small[-1] == Dim.of(1):
        small.pop()
    out = list(left)
    for index, dim in enumerate(small, start):
        common = _pdpd_dim(left[index], dim) if index < len(left) else None
        if common is None:
            raise ShapeError(f"the inputs [{format_shape(left)}] and [{format_shape(right)}] do not broadcast")
        out[index] = common
    return tuple(out)


def _pdpd_dim(left: Dim, right: Dim) -> Dim | None:
    return left if right == Dim.of(1) else left.meet(right)


def broadcast_arrays(left: Array, right: Array, mode: str, axis: int = -1) -> tuple[Array, Array]:
    """Two arrays that numpy can combine; only `pdpd` needs help."""
    if mode == "pdpd":
        start = pdpd_axis(left.shape, right.shape, axis)
        shape = list(right.shape)
        while len(shape) > left.ndim - start and shape[-1] == 1:
            shape.pop()
        right = right.reshape([*shape, *[1] * (left.ndim - start - len(shape))])
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
