"""Random values: RandomUniform-8, Multinomial-13."""

from ir_tools.ops._define import Flag, Input, Int, OneOf, Op
from ir_tools.ops._fields import IndexType, Type

__all__ = ["MULTINOMIAL", "OPS", "RANDOM_UNIFORM"]

SEEDS = {"global_seed": Int(least=0, default=0), "op_seed": Int(least=0, default=0)}

RANDOM_UNIFORM = Op(
    type="RandomUniform",
    version=8,
    inputs=(Input("shape", type="i32 i64"), Input("minval", type="T"), Input("maxval", type="T")),
    attrs={
        "output_type": Type(),
        **SEEDS,
        "alignment": OneOf(words=("tensorflow", "pytorch"), default="tensorflow"),
    },
    types={"T": "float integer"},
)
MULTINOMIAL = Op(
    type="Multinomial",
    version=13,
    inputs=(Input("probs", type="float"), Input("num_samples", type="i32 i64")),
    attrs={
        "convert_type": IndexType(),
        "with_replacement": Flag(),
        "log_probs": Flag(),
        **SEEDS,
    },
)

OPS = (RANDOM_UNIFORM, MULTINOMIAL)
