"""Functions of large tensors, applied to a block of them at a time.

What a function makes on its way then stays in the cache, and takes no memory of the size of the tensor.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from math import prod

import numpy as np

from ir_tools.ops.definition import Array

__all__ = ["along", "blocks", "elementwise"]

BLOCK = 1 << 16
"""Elements at a time: two blocks of f32 fit into the cache of a core, and a block takes much longer than its call."""


def elementwise(function: Callable[..., Array], *arrays: Array) -> Array:
    """Apply a function that works element by element to arrays that broadcast.

    Args:
        function: on as many arrays of one rank, which broadcast.
        arrays: what it is applied to.
    """
    if max(array.size for array in arrays) <= BLOCK:
        return function(*arrays)
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    aligned = [array.reshape(*[1] * (len(shape) - array.ndim), *array.shape) for array in arrays]
    out: Array | None = None
    for place in blocks(shape):
        part = function(*(_part(array, place) for array in aligned))
        if out is None:
            out = np.empty(shape, part.dtype)
        out[place] = part
    return np.empty(shape, arrays[0].dtype) if out is None else out


def _part(array: Array, place: Sequence[slice]) -> Array:
    """Return a block of an array that broadcasts to where the blocks lie."""
    return array[tuple(where if size > 1 else slice(None) for where, size in zip(place, array.shape, strict=True))]


def along(function: Callable[[Array], Array], data: Array, axes: Collection[int]) -> Array:
    """Apply a function of a tensor that looks along some axes only: each of its elements depends on no others.

    Args:
        function: keeps shape and element type.
        data: what it is applied to.
        axes: along which it looks, counted from the front.
    """
    if data.size <= BLOCK:
        return function(data)
    out = np.empty(data.shape, data.dtype)
    for place in blocks(data.shape, axes):
        out[place] = function(data[place])
    return out


def blocks(shape: Sequence[int], whole: Collection[int] = ()) -> Iterator[tuple[slice, ...]]:
    """Yield places that cover a shape, about a block of elements each; none cuts the axes that are to stay whole."""
    place = [slice(None)] * len(shape)
    free = [axis for axis in range(len(shape)) if axis not in whole]
    each = prod(shape[axis] for axis in whole)
    rests = [each * prod(shape[axis] for axis in free[number + 1 :]) for number in range(len(free))]
    split = next((number for number, rest in enumerate(rests) if rest <= BLOCK), len(free) - 1)
    if split < 0 or not prod(shape):
        yield tuple(place)
        return
    step = max(BLOCK // rests[split], 1)
    for outer in np.ndindex(*(shape[axis] for axis in free[:split])):
        for axis, at in zip(free, outer, strict=False):
            place[axis] = slice(at, at + 1)
        for start in range(0, shape[free[split]], step):
            place[free[split]] = slice(start, start + step)
            yield tuple(place)
