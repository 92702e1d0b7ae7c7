"""Attention and mixtures of experts: ScaledDotProductAttention-13, GroupedMatMul-17.

The shape rules are those of OpenVINO's core (scaled_dot_product_attention_shape_inference.hpp and
grouped_matmul_shape_inference.hpp), measured.

Specification: `sequence/`, `matrix/`.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._attention_rewrites import attention_of_powers, grouped_products, scaled_dot_product_attention
from ir_tools.ops._broadcast import broadcast
from ir_tools.ops._numbers import in_working_type
from ir_tools.ops._requirements import agreed, require, require_one, require_rank, require_size
from ir_tools.ops._values import dim
from ir_tools.ops.definition import Array, Fact, Input, Op, Oracle, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, Flag
from ir_tools.types import Dim, shape_text

__all__ = ["OPS"]


def check_mask(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check that the mask is boolean or of the data's type."""
    data = inputs[0].dtype
    for mask in inputs[3:4]:
        if data.kind != "dynamic" and mask.dtype.kind not in {"dynamic", "boolean"} and mask.dtype != data:
            message = f"has element type {mask.dtype}; expected boolean or {data}"
            yield Violation("attention_mask", message, None, ViolationKind.TYPES)


def attention_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[batch..., q, v]` of query `[batch..., q, n]`, key `[batch..., k, n]` and value `[batch..., k, v]`."""
    query, key, value, *rest = inputs
    for fact, name in zip(inputs[:3], ("query", "key", "value"), strict=True):
        shape = fact.shape
        require(shape is None or len(shape) >= 3, f"is {shape_text(shape)}; expected rank 3 or more", attribute=name)
    batch = None if query.shape is None else query.shape[:-2]
    _common(dim(query, -1), dim(key, -1), "size of query and key")
    keys = _common(dim(key, -2), dim(value, -2), "number of keys and values")
    for fact in (key, value):
        if fact.shape is not None:
            batch = broadcast(batch, fact.shape[:-2])
    queries = dim(query, -2)
    mask = rest[0].shape if rest and not attrs.causal else None
    if mask:
        require(len(mask) >= 2, f"is {shape_text(mask)}; expected rank 2 or more", attribute="attention_mask")
        queries = _common(queries, mask[-2], "number of queries")
        _common(keys, mask[-1], "number of keys")
        batch = broadcast(batch, mask[:-2])
    _require_scale_and_sink(query, rest)
    return (Fact(query.dtype, None if batch is None else (*batch, queries, dim(value, -1))),)


def _common(left: Dim, right: Dim, what: str) -> Dim:
    """Return one size, where 1 may be stretched.

    Raises:
        ShapeError: the sizes differ.
    """
    try:
        both = broadcast((left,), (right,))
    except ShapeError:
        raise ShapeError(f"the inputs have different values for the {what}: {left} and {right}") from None
    assert both is not None
    return both[0]


def _require_scale_and_sink(query: Fact, rest: Sequence[Fact]) -> None:
    for scale in rest[1:2]:
        require_one(scale, "scale")
    for sink in rest[2:3]:
        if sink.shape is not None and query.shape is not None:
            require(
                len(sink.shape) == len(query.shape),
                f"has rank {len(sink.shape)}; expected {len(query.shape)}, the rank of query",
                attribute="sink",
            )
            require_size(sink, -1, (1,), "sink")
            broadcast(query.shape[:-1], sink.shape[:-1])


def grouped_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[groups, m, n]` of `[groups, m, k]` and `[groups, n, k]`.

    It is `[m, n]` of rows `[m, k]` that offsets group.

    The specification has products of two matrices too, which the runtime refuses.
    """
    left, right, *offsets = inputs
    if left.shape is None or right.shape is None:
        return (Fact(left.dtype, None),)
    ranks = len(left.shape), len(right.shape)
    require(
        ranks in {(3, 3), (2, 3)}, f"mat_a and mat_b have ranks {ranks[0]} and {ranks[1]}; expected 3 and 3, or 2 and 3"
    )
    agreed((left.shape[-1], right.shape[-1]), "inner dimension")
    if ranks == (3, 3):
        groups = agreed((left.shape[0], right.shape[0]), "number of groups")
        return (Fact(left.dtype, (groups, left.shape[1], right.shape[1])),)
    require(bool(offsets), "is missing; it divides a matrix of rank 2 into groups", attribute="offsets")
    require_rank(offsets[0], 1, "offsets")
    return (Fact(left.dtype, (left.shape[0], right.shape[1])),)


# --- kernels ------------------------------------------------------------------------------------------------------


def attention(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return `softmax(query . key^T * scale + mask) . value`.

    With a sink the softmax has one more place, which is dropped.
    """
    mask = arrays[3] if len(arrays) > 3 and not attrs.causal else None

    def attended(query: Array, key: Array, value: Array, *rest: Array) -> Array:
        scale = rest[0].ravel()[0] if rest else query.dtype.type(1 / math.sqrt(max(query.shape[-1], 1)))
        scores = (query * scale) @ np.swapaxes(key, -1, -2)
        if attrs.causal:
            scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
        elif mask is not None and mask.dtype == np.bool_:
            scores = np.where(mask, scores, -np.inf)
        elif mask is not None:
            scores = scores + mask.astype(scores.dtype)
        return _softmax(scores, rest[1] if len(rest) > 1 else None) @ value

    return (in_working_type(attended, *arrays[:3], *arrays[4:]),)


def _softmax(scores: Array, sink: Array | None) -> Array:
    if not scores.size:
        return scores
    top = scores.max(axis=-1, keepdims=True)
    if sink is not None:
        top = np.maximum(top, sink)
    powers = np.exp(scores - top)
    total = powers.sum(axis=-1, keepdims=True)
    out: Array = powers / (total if sink is None else total + np.exp(sink - top))
    return out


def grouped(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return one product for each group."""
    offsets = arrays[2:]

    def multiplied(left: Array, right: Array) -> Array:
        turned = np.swapaxes(right, 1, 2)
        if not offsets:
            product: Array = left @ turned
            return product
        parts = np.split(left, offsets[0][:-1])
        return np.concatenate([part @ each for part, each in zip(parts, turned, strict=True)])

    return (in_working_type(multiplied, *arrays[:2]),)


# --- the operations ---------------------------------------------------------------------------------------------

SCALED_DOT_PRODUCT_ATTENTION = Op(
    type="ScaledDotProductAttention",
    version=13,
    inputs=(
        Input("query", type="T"),
        Input("key", type="T"),
        Input("value", type="T"),
        Input("attention_mask", optional=True),
        Input("scale", optional=True, type="T"),
        Input("sink", optional=True, type="T"),
    ),
    attrs={"causal": Flag(runtime_default=False)},
    types={"T": "float"},
    check=check_mask,
    shape=attention_shape,
    kernel=attention,
    migrate=scaled_dot_product_attention,
    substitute=attention_of_powers,
)
GROUPED_MAT_MUL = Op(
    type="GroupedMatMul",
    version=17,
    migrate=grouped_products,
    inputs=(Input("mat_a", type="T"), Input("mat_b", type="T"), Input("offsets", optional=True, type="i32 i64")),
    types={"T": "float integer"},
    shape=grouped_shape,
    kernel=grouped,
    oracle=Oracle.SHAPES_BY_RUNTIME,
)

OPS = (SCALED_DOT_PRODUCT_ATTENTION, GROUPED_MAT_MUL)
