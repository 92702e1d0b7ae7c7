"""Rewrite operations that generate tensors to the versions or operations of other opsets."""

from collections.abc import Sequence

import numpy as np

from ir_tools.ops._layers import I64, Layers, composed
from ir_tools.ops.definition import Fact, Ref, Refused, Rewrite
from ir_tools.ops.fields import Attrs
from ir_tools.ops.limits import MAX_PLACES

__all__ = ["matrix_of_ones", "migrate_range_1", "range_of_converted"]

LIMITS = tuple(Ref(None, number) for number in range(3))


def migrate_range_1(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | None:
    """Rewrite Range-1 with its element type as an attribute, from opset4 on; every opset reads it as it is."""
    dtype = inputs[0].dtype
    if target < 4 or dtype.kind == "dynamic":
        return None
    layers = Layers(inputs, target)
    layers.call("Range", *LIMITS, output_type=dtype.name)
    return layers.rewrite("the element type as an attribute", "Range-4 computes the same in the type of the inputs")


@composed(4, "the limits are converted to the output type, which truncates their fractions as Range-4 does")
def range_of_converted(layers: Layers, attrs: Attrs) -> Ref | Refused:
    dtype = attrs.output_type
    if any(fact.dtype != dtype and not (dtype.kind == "signed" and fact.dtype.bits) for fact in layers.inputs):
        return Refused(f"is {dtype}, and limits of another element type may not convert to it exactly", "output_type")
    return layers.call("Range", *(layers.to_type(limit, dtype) for limit in LIMITS))


@composed(9, "1 if the column is the row plus diagonal_index, else 0")
def matrix_of_ones(layers: Layers, attrs: Attrs) -> Ref:
    """Eye-9; a constant where all sizes are known."""
    sizes = [fact.integers() for fact in layers.inputs]
    if None not in sizes and layers.fact(LIMITS[0]).dtype.bits:
        (height,), (width,), (offset,), *batch = (size or [] for size in sizes)
        whole = (*(batch[0] if batch else ()), height, width)
        if np.prod(whole, dtype=np.float64) <= MAX_PLACES:
            ones = np.broadcast_to(np.eye(height, width, offset, dtype=attrs.output_type.dtype), whole)
            return layers.call("Convert", np.ascontiguousarray(ones), destination_type=attrs.output_type)
    rows, columns, diagonal = (_scalar(layers, number) for number in range(3))
    places = layers.call("Add", layers.count_to(rows), diagonal)
    column = layers.call("Unsqueeze", places, np.array([1], np.int64))
    found = layers.to_type(layers.call("Equal", column, layers.count_to(columns)), attrs.output_type)
    if len(layers.inputs) < 4:
        return found
    shape = [layers.to_type(Ref(None, number), I64) for number in (3, 0, 1)]
    flat = [layers.reshape(size, np.array([-1], np.int64)) for size in shape]
    return layers.call("Broadcast", found, layers.call("Concat", *flat, axis=0))


def _scalar(layers: Layers, number: int) -> Ref:
    size = layers.to_type(Ref(None, number), I64)
    return layers.call("Squeeze", size, np.array([0], np.int64)) if layers.rank(size) else size
