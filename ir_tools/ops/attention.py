"""Attention: ScaledDotProductAttention-13."""

from ir_tools.ops._define import Flag, Input, Op

__all__ = ["OPS", "SCALED_DOT_PRODUCT_ATTENTION"]

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
    attrs={"causal": Flag(default=False)},
    types={"T": "float"},
)

OPS = (SCALED_DOT_PRODUCT_ATTENTION,)
