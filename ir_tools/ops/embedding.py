"""Sums of rows of a table.

EmbeddingBagOffsetsSum-3, EmbeddingBagOffsets-15, EmbeddingBagPackedSum-3, EmbeddingBagPacked-15,
EmbeddingSegmentsSum-3. The shape rules are those of OpenVINO's core (embeddingbag_offsets_shape_inference.hpp and
others), measured.
"""

from collections.abc import Callable, Iterator, Sequence

from ir_tools.ops._broadcast import merge
from ir_tools.ops._define import Attrs, Fact, Input, OneOf, Op, Violation
from ir_tools.ops._ranks import require, require_rank
from ir_tools.ops._values import sizes_of
from ir_tools.types import Dim

__all__ = [
    "EMBEDDING_BAG_OFFSETS_15",
    "EMBEDDING_BAG_OFFSETS_SUM_3",
    "EMBEDDING_BAG_PACKED_15",
    "EMBEDDING_BAG_PACKED_SUM_3",
    "EMBEDDING_SEGMENTS_SUM_3",
    "OPS",
]

Check = Callable[[Attrs, Sequence[Fact]], Iterator[Violation]]


def _summed(table: Fact, bags: Dim) -> tuple[Fact, ...]:
    """`[bags, ...]`, one row of the table for each bag."""
    if table.shape is None:
        return (Fact(table.dtype, None),)
    require(bool(table.shape), "the table is a scalar")
    return (Fact(table.dtype, (bags, *table.shape[1:])),)


def _first(fact: Fact) -> Dim:
    return Dim() if fact.shape is None else fact.shape[0]


def offsets_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """One row for each offset."""
    del attrs
    table, indices, offsets, *rest = inputs
    require_rank(indices, 1, "the input 'indices'")
    require_rank(offsets, 1, "the input 'offsets'")
    _require_filling_and_weights(indices, rest, 1)
    return _summed(table, _first(offsets))


def packed_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """One row for each row of indices."""
    del attrs
    table, indices, *weights = inputs
    require_rank(indices, 2, "the input 'indices'")
    bags = indices.shape
    for fact in weights:
        require_rank(fact, 2, "the input 'per_sample_weights'")
        bags = merge(indices.shape, fact.shape)
    return _summed(table, Dim() if bags is None else bags[0])


def segments_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """As many rows as there are segments."""
    del attrs
    table, indices, segments, count, *rest = inputs
    require_rank(indices, 1, "the input 'indices'")
    require_rank(segments, 1, "the input 'segment_ids'")
    merge(indices.shape, segments.shape)
    require_rank(count, 0, "the input 'num_segments'")
    _require_filling_and_weights(indices, rest, 1)
    sizes = sizes_of(count, "num_segments")
    return _summed(table, sizes[0] if sizes else Dim())


def _require_filling_and_weights(indices: Fact, rest: Sequence[Fact], rank: int) -> None:
    """A scalar index for empty bags, and as many weights as indices.

    Raises:
        ShapeError: they are not so.
    """
    for fact in rest[:1]:
        require_rank(fact, 0, "the input 'default_index'")
    for fact in rest[1:]:
        require_rank(fact, rank, "the input 'per_sample_weights'")
        merge(indices.shape, fact.shape)


def no_weights(inputs: int) -> Check:
    """A check for an operation whose weights are input number `inputs`: a mean has none."""

    def check(attrs: Attrs, given: Sequence[Fact]) -> Iterator[Violation]:
        if attrs.reduction == "mean" and len(given) == inputs:
            message = "is mean, and there are weights, with which only sum is allowed"
            yield Violation("reduction", message, "multiply the table's rows before, or use sum")

    return check


TYPES = {"T": "float integer boolean", "T_IND": "i32 i64"}
TABLE = Input("emb_table", type="T")
INDICES = Input("indices", type="T_IND")
FILLING = Input("default_index", optional=True, type="T_IND")
WEIGHTS = Input("per_sample_weights", optional=True, type="T")
REDUCTION = {"reduction": OneOf(words=("sum", "mean"), default="sum")}

EMBEDDING_BAG_OFFSETS_SUM_3 = Op(
    type="EmbeddingBagOffsetsSum",
    version=3,
    inputs=(TABLE, INDICES, Input("offsets", type="T_IND"), FILLING, WEIGHTS),
    types=TYPES,
    shape=offsets_shape,
)
EMBEDDING_BAG_OFFSETS_15 = EMBEDDING_BAG_OFFSETS_SUM_3.at(
    15, type="EmbeddingBagOffsets", attrs=REDUCTION, check=no_weights(5)
)
EMBEDDING_BAG_PACKED_SUM_3 = Op(
    type="EmbeddingBagPackedSum", version=3, inputs=(TABLE, INDICES, WEIGHTS), types=TYPES, shape=packed_shape
)
EMBEDDING_BAG_PACKED_15 = EMBEDDING_BAG_PACKED_SUM_3.at(
    15, type="EmbeddingBagPacked", attrs=REDUCTION, check=no_weights(3)
)
EMBEDDING_SEGMENTS_SUM_3 = Op(
    type="EmbeddingSegmentsSum",
    version=3,
    inputs=(
        TABLE,
        INDICES,
        Input("segment_ids", type="T_IND"),
        Input("num_segments", type="T_IND"),
        FILLING,
        WEIGHTS,
    ),
    types=TYPES,
    shape=segments_shape,
)

OPS = (
    EMBEDDING_BAG_OFFSETS_SUM_3,
    EMBEDDING_BAG_OFFSETS_15,
    EMBEDDING_BAG_PACKED_SUM_3,
    EMBEDDING_BAG_PACKED_15,
    EMBEDDING_SEGMENTS_SUM_3,
)
