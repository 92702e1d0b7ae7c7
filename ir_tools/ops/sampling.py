"""Random values: RandomUniform-8, Multinomial-13."""

from collections.abc import Iterator, Sequence

from ir_tools.ops._define import Attrs, Fact, Flag, Input, Int, Kind, OneOf, Op, Violation
from ir_tools.ops._fields import IndexType, Type

__all__ = ["MULTINOMIAL", "OPS", "RANDOM_UNIFORM"]


def check_uniform(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """The limits have the type of the output."""
    for name, fact in zip(("minval", "maxval"), inputs[1:], strict=False):
        if fact.dtype.kind != "dynamic" and fact.dtype != attrs.output_type:
            message = f"has element type {fact.dtype} where output_type is {attrs.output_type}"
            yield Violation(name, message, "convert it", Kind.TYPES)


SEEDS = {"global_seed": Int(default=0), "op_seed": Int(default=0)}

RANDOM_UNIFORM = Op(
    type="RandomUniform",
    version=8,
    inputs=(Input("shape", type="i32 i64"), Input("minval", type="T"), Input("maxval", type="T")),
    attrs={
        "output_type": Type(),
        **SEEDS,
        "alignment": OneOf(words=("tensorflow", "pytorch"), default="tensorflow"),
    },
    types={"T": "float i32 i64"},
    check=check_uniform,
)
MULTINOMIAL = Op(
    type="Multinomial",
    version=13,
    inputs=(Input("probs", type="float"), Input("num_samples", type="integer")),
    attrs={
        "convert_type": IndexType(),
        "with_replacement": Flag(),
        "log_probs": Flag(),
        **SEEDS,
    },
)

OPS = (RANDOM_UNIFORM, MULTINOMIAL)
