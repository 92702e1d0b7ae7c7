"""Express operations that only move elements by a Gather with a list of positions, for older opsets."""

from collections.abc import Sequence
from math import prod

import numpy as np

from ir_tools.ops._layers import I64, Layers, composed
from ir_tools.ops._values import normal_axis
from ir_tools.ops.definition import Array, Fact, Kernel, Ref, Refused, Step
from ir_tools.ops.fields import Attrs
from ir_tools.ops.limits import MAX_PLACES
from ir_tools.types import is_static

__all__ = ["migrate_gather_elements", "moved"]


def moved(version: int, kernel: Kernel, tensors: Sequence[int] = (0,)) -> Step:
    """Return the step of an operation that begins with `version` and only moves elements, or puts zeros beside them.

    Args:
        version: of the operation.
        kernel: of the operation: what it makes of the numbers of the elements says where each comes from.
        tensors: the inputs whose elements it moves; the others must be known.
    """

    @composed(version, "a Gather at the positions from which the operation takes its elements")
    def step(layers: Layers, attrs: Attrs) -> Ref | Refused:
        if attrs.get("reduction", "none") != "none":
            return Refused("no older operation combines elements at given indices", "reduction")
        numbers, parts, first = list[Array](), list[Ref | Array](), 1
        for index, fact in enumerate(layers.inputs):
            if index not in tensors:
                found = fact.exact
                if found is None:
                    return Refused(f"the value of its input {index} is not known before the model runs")
                numbers.append(found)
                continue
            sizes = _sizes(fact)
            if sizes is None or prod(sizes) > MAX_PLACES:
                return Refused(
                    f"the size of its input {index} is not known, or is too large for a constant with all positions"
                )
            numbers.append(np.arange(first, first + prod(sizes)).reshape(sizes))
            first += prod(sizes)
            parts.append(layers.reshape(Ref(None, index), np.array([-1])))
        (places,) = kernel(attrs, numbers)
        if places.size > MAX_PLACES:
            return Refused("its output is too large for a constant with all positions")
        if not places.size or places.min():
            places = places - 1
        else:
            parts = [layers.number(0, Ref(None, tensors[0])).reshape(1), *parts]
        flat = layers.call("Concat", *parts, axis=0) if len(parts) > 1 else parts[0]
        return layers.call("Gather", flat, places, np.array(0))

    return step


def _sizes(fact: Fact) -> list[int] | None:
    if not is_static(fact.shape):
        return None
    return [dim.size for dim in fact.shape]


@composed(6, "a Gather at the position of the index, with the index itself along the axis")
def migrate_gather_elements(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite GatherElements-6 as a Gather from all elements in one row."""
    sizes, counts = map(_sizes, layers.inputs)
    if sizes is None or counts is None:
        return Refused("the size of the data, or of the indices, is not known")
    axis, rank = normal_axis(attrs.axis, len(sizes)), len(sizes)
    strides = [prod(sizes[number + 1 :]) for number in range(rank)]
    index = layers.to_type(Ref(None, 1), I64)
    below = layers.to_type(layers.call("Less", index, 0), I64)
    index = layers.call("Add", index, layers.call("Multiply", below, np.array(sizes[axis])))
    place = layers.call("Multiply", index, np.array(strides[axis]))
    for number in range(rank):
        if number != axis and counts[number] > 1:
            line = np.arange(counts[number]) * strides[number]
            place = layers.call("Add", place, line.reshape([-1 if one == number else 1 for one in range(rank)]))
    return layers.call("Gather", layers.reshape(Ref(None), np.array([-1])), place, np.array(0))
