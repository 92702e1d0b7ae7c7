"""Sums of rows of a table: EmbeddingBagOffsets, EmbeddingBagPacked, EmbeddingSegmentsSum."""

from ir_tools.ops._define import Input, OneOf, Op

__all__ = [
    "EMBEDDING_BAG_OFFSETS_15",
    "EMBEDDING_BAG_OFFSETS_SUM_3",
    "EMBEDDING_BAG_PACKED_15",
    "EMBEDDING_BAG_PACKED_SUM_3",
    "EMBEDDING_SEGMENTS_SUM_3",
    "OPS",
]

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
)
EMBEDDING_BAG_OFFSETS_15 = EMBEDDING_BAG_OFFSETS_SUM_3.at(15, type="EmbeddingBagOffsets", attrs=REDUCTION)
EMBEDDING_BAG_PACKED_SUM_3 = Op(type="EmbeddingBagPackedSum", version=3, inputs=(TABLE, INDICES, WEIGHTS), types=TYPES)
EMBEDDING_BAG_PACKED_15 = EMBEDDING_BAG_PACKED_SUM_3.at(15, type="EmbeddingBagPacked", attrs=REDUCTION)
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
)

OPS = (
    EMBEDDING_BAG_OFFSETS_SUM_3,
    EMBEDDING_BAG_OFFSETS_15,
    EMBEDDING_BAG_PACKED_SUM_3,
    EMBEDDING_BAG_PACKED_15,
    EMBEDDING_SEGMENTS_SUM_3,
)
