"""Attention and mixtures of experts: ScaledDotProductAttention-13, GroupedMatMul-17."""

from collections.abc import Iterator, Sequence

from ir_tools.ops._define import Attrs, Fact, Flag, Input, Kind, Op, Violation

__all__ = ["GROUPED_MAT_MUL", "OPS", "SCALED_DOT_PRODUCT_ATTENTION"]


def check_mask(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """The mask is boolean or of the data's type."""
    del attrs
    data = inputs[0].dtype
    for mask in inputs[3:4]:
        if data.kind != "dynamic" and mask.dtype.kind not in {"dynamic", "boolean"} and mask.dtype != data:
            message = f"has element type {mask.dtype} where boolean or {data} is meant"
            yield Violation("attention_mask", message, None, Kind.TYPES)


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
    attrs={"causal": Flag(missing=False)},
    types={"T": "float"},
    check=check_mask,
)
GROUPED_MAT_MUL = Op(
    type="GroupedMatMul",
    version=17,
    inputs=(Input("mat_a", type="T"), Input("mat_b", type="T"), Input("offsets", optional=True, type="i32 i64")),
    types={"T": "float integer"},
)

OPS = (SCALED_DOT_PRODUCT_ATTENTION, GROUPED_MAT_MUL)
