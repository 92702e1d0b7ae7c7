"""Express ScaledDotProductAttention-13 by matrix products and a SoftMax, for opsets without it."""

import math

import numpy as np

from ir_tools.ops._layers import I64, Layers, by_formula, composed, not_added_up
from ir_tools.ops.definition import Array, Ref, Refused
from ir_tools.ops.fields import Attrs
from ir_tools.types import Dim, Shape, is_static

__all__ = ["attention_of_powers", "grouped_products", "scaled_dot_product_attention"]

QUERY, KEY = Ref(None), Ref(None, 1)
ONE = np.array([1], np.int64)
LAST = np.array([-1], np.int64)


def _attention(layers: Layers, attrs: Attrs, *, divided: bool) -> Ref:
    """Add the layers of an attention. `divided`: the products are divided by the sums of a SoftMax, not its terms."""
    query, key, value = (layers.working(number) for number in range(3))
    scaled = layers.call("Multiply", query, _scale(layers, query))
    scores = layers.call("MatMul", scaled, key, transpose_b=True)
    if attrs.causal:
        scores = _masked(layers, scores, _triangle(layers))
    elif len(layers.inputs) > 3:
        mask = Ref(None, 3)
        if layers.fact(mask).dtype.kind == "boolean":
            scores = _masked(layers, scores, mask)
        else:
            scores = layers.call("Add", scores, layers.to_type(mask, layers.fact(scores).dtype))
    if len(layers.inputs) < 6 and not divided:
        axis = -1 if layers.target >= 8 else layers.rank(scores) - 1
        return layers.call("MatMul", layers.call("SoftMax", scores, axis=axis), value)
    powers, total = _powers(layers, scores)
    return layers.call("Divide", layers.call("MatMul", powers, value), total)


def _exchanges(shape: Shape) -> bool:
    """Return whether queries have as many rows as heads, which the runtime exchanges now and then."""
    return shape is not None and len(shape) == 4 and shape[1].static and shape[1] == shape[2] != Dim.of(1)


@composed(13, "softmax(query * scale * transposed key + mask) * value", wide=True)
def scaled_dot_product_attention(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite ScaledDotProductAttention-13.

    OpenVINO 2023.3 to 2026.4 make it again of products around a SoftMax, and then exchange rows and heads of one number
    if another layer transposes them: measured.
    """
    return _attention(layers, attrs, divided=_exchanges(layers.inputs[0].shape))


@by_formula("exp(query * scale * transposed key + mask), divided by its sum with the sink, times value", wide=True)
def attention_of_powers(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite ScaledDotProductAttention-13 as layers of which no release makes it again."""
    return _attention(layers, attrs, divided=True)


def _scale(layers: Layers, query: Ref) -> Ref | Array:
    """Return what the query is multiplied by: an input, or one by the square root of the size of its rows."""
    if len(layers.inputs) > 4:
        scale = layers.working(4)
        return scale if len(layers.fact(scale).shape or ONE * 2) < 2 else layers.reshape(scale, ONE)
    rank, shape = layers.rank(query), layers.fact(query).shape
    size = shape[-1] if shape else Dim()
    if size.static:
        return layers.number(1 / math.sqrt(size.size), query)
    length = layers.to_type(layers.gather(layers.shape_of(QUERY), rank - 1), layers.fact(query).dtype)
    return layers.call("Divide", 1, layers.call("Sqrt", length))


def _masked(layers: Layers, scores: Ref, mask: Ref | Array) -> Ref:
    return layers.call("Select", mask, scores, -np.inf)


def _triangle(layers: Layers) -> Ref | Array:
    """Return which keys each query sees, `[queries, keys]`: those that are not behind it."""
    shapes = [layers.fact(source).shape for source in (QUERY, KEY)]
    if all(shape and shape[-2].static for shape in shapes):
        queries, keys = (shape[-2].size for shape in shapes if shape)
        return np.tri(queries, keys, dtype=np.bool_)
    places = []
    for source in (QUERY, KEY):
        count = layers.gather(layers.shape_of(source), layers.rank(source) - 2)
        places.append(layers.count_to(count))
    rows = layers.call("Unsqueeze", places[0], np.array([1], np.int64))
    return layers.call("GreaterEqual", rows, places[1])


def _powers(layers: Layers, scores: Ref) -> tuple[Ref, Ref]:
    """Return the terms of the SoftMax of the scores along the last axis, and their sum, of which a sink is a part."""
    top = layers.call("ReduceMax", scores, LAST, keep_dims=True)
    sink = layers.working(5) if len(layers.inputs) > 5 else None
    if sink is not None:
        top = layers.call("Maximum", top, sink)
    powers = layers.call("Exp", layers.call("Subtract", scores, top))
    total = layers.call("ReduceSum", powers, LAST, keep_dims=True)
    if sink is not None:
        total = layers.call("Add", total, layers.call("Exp", layers.call("Subtract", sink, top)))
    return powers, total


@composed(17, "one matrix product per group; each row keeps the product of its own group", wide=True)
def grouped_products(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite GroupedMatMul-17. Rows of unknown number are copied for each group: 2025.4 does not do so by itself."""
    if wrong := not_added_up(layers.inputs[0].dtype):
        return wrong
    left, right = layers.working(0), layers.working(1)
    if layers.rank(left) == layers.rank(right):
        return layers.call("MatMul", left, right, transpose_b=True)
    copies = layers.call("Unsqueeze", left, np.array(0))
    if not is_static(layers.fact(left).shape) and isinstance(groups := layers.size(right, 0), np.ndarray):
        copies = layers.call("Tile", copies, np.array([groups.item(), 1, 1]))
    products = layers.call("MatMul", copies, right, transpose_b=True)
    all_but_last = np.array([0]), np.array([-1]), np.array([1])
    ends = layers.call("StridedSlice", layers.to_type(Ref(None, 2), I64), *all_but_last, begin_mask=(0,), end_mask=(0,))
    rows = layers.call("Unsqueeze", layers.places(left, 0), np.array(1))
    ended = layers.total(layers.call("LessEqual", ends, rows), 1, I64)
    group = layers.call("Unsqueeze", ended, np.array([0, 2]))
    own = layers.call("Equal", layers.call("Unsqueeze", layers.places(right, 0), np.array([1, 2])), group)
    kept = layers.call("Select", own, products, 0)
    return layers.call("ReduceSum", kept, np.array(0))
