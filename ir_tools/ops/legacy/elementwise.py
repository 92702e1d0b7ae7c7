"""Elementwise layers of IR v2 to v7: Eltwise, Select.

Source: measured on Inference Engine 2020.1, which computes several inputs from left to right.
"""

from collections.abc import Sequence
from functools import reduce

from ir_tools.graph import Source
from ir_tools.ops.definition import Input, Refused
from ir_tools.ops.fields import Floats, OneOf
from ir_tools.ops.legacy._tensors import as_floats, joined_types, truth
from ir_tools.ops.legacy.definition import LegacyLayer, legacy_type

__all__ = ["OPS"]

ARITHMETIC = {
    "sum": "Add",
    "sub": "Subtract",
    "mul": "Multiply",
    "div": "Divide",
    "max": "Maximum",
    "min": "Minimum",
    "squared_diff": "SquaredDifference",
    "pow": "Power",
    "floor_mod": "Mod",
}
COMPARISONS = {
    "equal": "Equal",
    "not_equal": "NotEqual",
    "less": "Less",
    "less_equal": "LessEqual",
    "greater": "Greater",
    "greater_equal": "GreaterEqual",
}
LOGIC = {"logical_and": "LogicalAnd", "logical_or": "LogicalOr", "logical_xor": "LogicalXor"}


def eltwise(layer: LegacyLayer) -> tuple[Source, ...] | Refused:
    """Return what an operation makes of the inputs; comparisons and logic give 0 and 1."""
    attrs, word = layer.attrs, layer.attrs.operation
    if attrs.coeff and word != "sum":
        return Refused(f"is present for the operation {word}, which Inference Engine refuses", "coeff")
    if attrs.coeff and len(attrs.coeff) != len(layer.inputs):
        return Refused(f"has {len(attrs.coeff)} values for {len(layer.inputs)} inputs", "coeff")
    inputs = joined_types(layer, layer.inputs)
    if layer.declared[0].dtype.is_float:
        inputs = [as_floats(layer, each) for each in inputs]
    if word in ARITHMETIC:
        kind = ARITHMETIC[word]
        return (reduce(lambda left, right: layer.call(kind, left, right), _scaled(layer, inputs, attrs.coeff)),)
    if word in COMPARISONS:
        return (reduce(lambda left, right: as_floats(layer, layer.call(COMPARISONS[word], left, right)), inputs),)
    return (reduce(lambda left, right: layer.call(LOGIC[word], left, right), [truth(layer, each) for each in inputs]),)


def _scaled(layer: LegacyLayer, inputs: Sequence[Source], factors: Sequence[float]) -> list[Source]:
    """Return the inputs times their factors, which count only if all inputs have the same sizes."""
    if not factors or len({layer.sizes(tensor) for tensor in inputs}) > 1:
        return [*inputs]
    pairs = zip(inputs, factors, strict=True)
    return [tensor if factor == 1 else layer.call("Multiply", tensor, factor) for tensor, factor in pairs]


def select(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return elements of the second input where the first is not 0, else of the third."""
    condition, *values = layer.inputs
    return (layer.call("Select", truth(layer, condition), *joined_types(layer, values)),)


OPS = (
    legacy_type(
        "Eltwise",
        eltwise,
        inputs=(Input("data", many=True),),
        attrs={
            "operation": OneOf(
                words=(*ARITHMETIC, *COMPARISONS, *LOGIC), synonyms={"prod": "mul", "": "sum"}, default="sum"
            ),
            "coeff": Floats(default=()),
        },
    ),
    legacy_type("Select", select, inputs=(Input("condition"), Input("then"), Input("else"))),
)
