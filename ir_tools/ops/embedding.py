"""Sums of rows of a table.

EmbeddingBagOffsetsSum-3, EmbeddingBagOffsets-15, EmbeddingBagPackedSum-3, EmbeddingBagPacked-15,
EmbeddingSegmentsSum-3. The shape rules are those of OpenVINO's core (embeddingbag_offsets_shape_inference.hpp and
others), measured.

Specification: `sparse/`.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops import _segment_rewrites as rewrites
from ir_tools.ops._broadcast import merge
from ir_tools.ops._numbers import in_working_type
from ir_tools.ops._requirements import require, require_rank
from ir_tools.ops._values import known_number, sizes_of
from ir_tools.ops.definition import Array, Fact, Input, Op, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, OneOf
from ir_tools.types import Dim

__all__ = ["OPS"]


def _summed(table: Fact, bags: Dim) -> tuple[Fact, ...]:
    """Return `[bags, ...]`, one row of the table for each bag."""
    if table.shape is None:
        return (Fact(table.dtype, None),)
    require(bool(table.shape), "the table is a scalar")
    return (Fact(table.dtype, (bags, *table.shape[1:])),)


def _first(fact: Fact) -> Dim:
    return Dim() if fact.shape is None else fact.shape[0]


def offsets_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return one row for each offset."""
    table, indices, offsets, *rest = inputs
    require_rank(indices, 1, "indices")
    require_rank(offsets, 1, "offsets")
    _require_filling_and_weights(indices, rest)
    return _summed(table, _first(offsets))


def packed_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return one row for each row of indices."""
    table, indices, *weights = inputs
    require_rank(indices, 2, "indices")
    bags = indices.shape
    for fact in weights:
        require_rank(fact, 2, "per_sample_weights")
        bags = merge(indices.shape, fact.shape)
    return _summed(table, Dim() if bags is None else bags[0])


def segments_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return as many rows as there are segments."""
    table, indices, segments, count, *rest = inputs
    require_rank(indices, 1, "indices")
    require_rank(segments, 1, "segment_ids")
    merge(indices.shape, segments.shape)
    require_rank(count, 0, "num_segments")
    _require_filling_and_weights(indices, rest)
    sizes = sizes_of(count, "num_segments")
    return _summed(table, sizes[0] if sizes else Dim())


def _require_filling_and_weights(indices: Fact, rest: Sequence[Fact]) -> None:
    """Require a scalar index for empty bags, and as many weights as indices.

    Raises:
        ShapeError: they are not so.
    """
    for fact in rest[:1]:
        require_rank(fact, 0, "default_index")
    for fact in rest[1:]:
        require_rank(fact, 1, "per_sample_weights")
        merge(indices.shape, fact.shape)


def offsets_beyond(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for an offset that is not one of an index: the CPU plugin rejects it, even behind the last one."""
    indices, starts = inputs[1].shape, inputs[2].integers()
    count = indices[0] if indices else Dim()
    for start in starts or ():
        if start < 0 or (count.hi is not None and start >= count.hi):
            message = f"holds {start}, but there are {count} indices; the runtime rejects it at run time"
            yield Violation("offsets", message, None, input=2)
            return


def check_filling(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for an index of -1, which means zeros, and the CPU plugin reads before the table."""
    if len(inputs) > 4 and known_number(inputs[4]) == -1:
        message = "is -1, which selects zeros, but the CPU plugin reads memory before the table"
        yield Violation("default_index", message, "remove this input", ViolationKind.SUSPECT)


def weighed_means(attrs: Attrs, inputs: Sequence[Fact], weights: int) -> Iterator[Violation]:
    """Check for a mean with weights; `weights`: the number of that input."""
    if attrs.reduction == "mean" and len(inputs) > weights:
        message = "is mean, but the layer has weights, which are allowed only with sum"
        yield Violation("reduction", message, "multiply the table's rows beforehand, or use sum")


def check_offsets_15(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for a mean with weights, and for offsets that are not those of an index."""
    yield from weighed_means(attrs, inputs, 4)
    yield from offsets_beyond(attrs, inputs)


# --- kernels ------------------------------------------------------------------------------------------------------


def _sums(attrs: Attrs, bags: Array, count: int, rows: Array, filling: Array | None) -> Array:
    """Return the rows of each bag added up, or their mean; what no row falls into is filled."""
    out = np.zeros((count, *rows.shape[1:]), rows.dtype)
    if not count:
        return out
    if (bags < 0).any():
        raise ShapeError("does not start with 0, or is not in ascending order", attribute="offsets")
    np.add.at(out, bags, rows)
    sizes = np.bincount(bags, minlength=count).reshape(count, *[1] * (rows.ndim - 1))
    if attrs.get("reduction") == "mean":
        out = (out / np.maximum(sizes, 1)).astype(rows.dtype)
    return out if filling is None else np.where(sizes == 0, filling, out)


def _rows(table: Array, indices: Array, weights: Sequence[Array]) -> Array:
    """Return the rows of the table, times the weights where there are any."""
    rows: Array = table[indices]
    for each in weights:
        rows = rows * each.reshape(*each.shape, *[1] * (table.ndim - 1))
    return rows


def _filling(table: Array, default: Sequence[Array]) -> Array | None:
    """Return the row for empty bags; None for zeros."""
    index = -1 if not default else int(default[0].ravel()[0])
    filling: Array | None = None if index == -1 else table[index]
    return filling


def offsets(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return bags of indices, each from its offset to the next."""
    table, indices, starts, *rest = arrays

    def summed(table: Array, *weights: Array) -> Array:
        bags = np.searchsorted(starts, np.arange(indices.size), side="right") - 1
        return _sums(attrs, bags, starts.size, _rows(table, indices, weights), _filling(table, rest[:1]))

    return (in_working_type(summed, table, *rest[1:]),)


def packed(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return bags of equally many indices."""
    indices = arrays[1]

    def summed(table: Array, *weights: Array) -> Array:
        rows = _rows(table, indices, weights)
        total: Array = rows.sum(axis=1, dtype=rows.dtype)
        return (total / indices.shape[1]).astype(rows.dtype) if attrs.get("reduction") == "mean" else total

    return (in_working_type(summed, arrays[0], *arrays[2:]),)


def segments(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return bags of the indices that one segment has."""
    table, indices, bags, count, *rest = arrays

    def summed(table: Array, *weights: Array) -> Array:
        return _sums(attrs, bags, int(count), _rows(table, indices, weights), _filling(table, rest[:1]))

    return (in_working_type(summed, table, *rest[1:]),)


# --- the operations ---------------------------------------------------------------------------------------------

TYPES = {"T": "float integer boolean", "T_IND": "i32 i64"}
TABLE = Input("emb_table", type="T")
INDICES = Input("indices", type="T_IND", indexes=lambda attrs, inputs: 0)
FILLING = Input("default_index", optional=True, type="T_IND")
WEIGHTS = Input("per_sample_weights", optional=True, type="T")
REDUCTION = {"reduction": OneOf(words=("sum", "mean"), default="sum")}

EMBEDDING_BAG_OFFSETS_SUM_3 = Op(
    type="EmbeddingBagOffsetsSum",
    version=3,
    migrate=rewrites.bag_offsets_sum,
    inputs=(TABLE, INDICES, Input("offsets", type="T_IND"), FILLING, WEIGHTS),
    types=TYPES,
    check=offsets_beyond,
    shape=offsets_shape,
    kernel=offsets,
)
EMBEDDING_BAG_OFFSETS_15 = EMBEDDING_BAG_OFFSETS_SUM_3.at(
    15,
    type="EmbeddingBagOffsets",
    attrs=REDUCTION,
    check=check_offsets_15,
    readers={"reduction": "check kernel migrate"},
    migrate=rewrites.migrate_bag_offsets,
)
EMBEDDING_BAG_PACKED_SUM_3 = Op(
    type="EmbeddingBagPackedSum",
    version=3,
    migrate=rewrites.bag_packed_sum,
    inputs=(TABLE, INDICES, WEIGHTS),
    types=TYPES,
    shape=packed_shape,
    kernel=packed,
)
EMBEDDING_BAG_PACKED_15 = EMBEDDING_BAG_PACKED_SUM_3.at(
    15,
    type="EmbeddingBagPacked",
    attrs=REDUCTION,
    check=partial(weighed_means, weights=2),
    readers={"reduction": "check kernel migrate"},
    migrate=rewrites.migrate_bag_packed,
)
EMBEDDING_SEGMENTS_SUM_3 = Op(
    type="EmbeddingSegmentsSum",
    version=3,
    migrate=rewrites.segments_sum,
    inputs=(
        TABLE,
        INDICES,
        Input("segment_ids", type="T_IND"),
        Input("num_segments", type="T_IND"),
        FILLING,
        WEIGHTS,
    ),
    types=TYPES,
    check=check_filling,
    shape=segments_shape,
    kernel=segments,
)

OPS = (
    EMBEDDING_BAG_OFFSETS_SUM_3,
    EMBEDDING_BAG_OFFSETS_15,
    EMBEDDING_BAG_PACKED_SUM_3,
    EMBEDDING_BAG_PACKED_15,
    EMBEDDING_SEGMENTS_SUM_3,
)
