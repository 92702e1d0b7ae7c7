"""Functions of large tensors, applied to a block of them at a time.

What a function makes on its way then stays in the cache, and takes no memory of the size of the tensor.
"""

from collections.abc import Callable, Iterator, Sequence
from math import prod

import numpy as np

from ir_tools.ops._define import Array

__all__ = ["BLOCK", "blocks", "elementwise", "fits"]

BLOCK = 1 << 16
"""Elements at a time: a few blocks of f32 fit into the cache that a core has for itself."""


def elementwise(function: Callable[..., Array], *arrays: Array, spare: Array | None = None) -> Array:
    """A function that works element by element, on arrays that broadcast.

    Args:
        function: on as many arrays of one rank, which broadcast.
        arrays: what it is applied to.
        spare: one of them that may be written over with the result, where that has its shape and type.
    """
    if max(array.size for array in arrays) <= BLOCK:
        return function(*arrays)
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    aligned = [array.reshape(*[1] * (len(shape) - array.ndim), *array.shape) for array in arrays]
    out: Array | None = None
    for place in blocks(shape):
        part = function(*(_part(array, place) for array in aligned))
        if out is None:
            out = spare if spare is not None and fits(spare, shape, part) else np.empty(shape, part.dtype)
        out[place] = part
    return np.empty(shape, arrays[0].dtype) if out is None else out


def fits(spare: Array, shape: tuple[int, ...], like: Array) -> bool:
    """Whether an array can hold a result of this shape and of the type of `like`."""
    return spare.shape == shape and spare.dtype == like.dtype and spare.flags.c_contiguous


def _part(array: Array, place: Sequence[slice]) -> Array:
    """A block of an array that broadcasts to where the blocks lie."""
    return array[tuple(where if size > 1 else slice(None) for where, size in zip(place, array.shape, strict=True))]


def blocks(shape: Sequence[int], whole: int = 0) -> Iterator[tuple[slice, ...]]:
    """Places that cover a shape without its last `whole` axes: as many elements each as a block, or of one place."""
    axes = len(shape) - whole
    split = next((axis for axis in range(axes) if prod(shape[axis + 1 :]) <= BLOCK), axes - 1)
    if split < 0 or not prod(shape):
        yield (slice(None),) * axes
        return
    step = max(BLOCK // prod(shape[split + 1 :]), 1)
    for outer in np.ndindex(*shape[:split]):
        for start in range(0, shape[split], step):
            yield (
                *(slice(at, at + 1) for at in outer),
                slice(start, start + step),
                *(slice(None),) * (axes - split - 1),
            )
