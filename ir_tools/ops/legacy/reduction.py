"""Reductions in IR v2 to v7: ReduceAnd to ReduceSumSquare.

Source: measured on Inference Engine 2020.1.
"""

from ir_tools.graph import Source
from ir_tools.ops.definition import Input, Op
from ir_tools.ops.legacy._tensors import as_declared, as_floats, as_integers, truth
from ir_tools.ops.legacy.definition import LegacyFlag, LegacyLayer, LegacyStep, legacy_type, unary

__all__ = ["OPS"]

ALL_NEGATIVE = (
    "if all values are below 0, Inference Engine 2020.1 returns 1.1754944e-38; the new model returns their maximum"
)


def _plain(layer: LegacyLayer, tensor: Source) -> Source:
    """Return the tensor."""
    return tensor


def _square(layer: LegacyLayer, tensor: Source) -> Source:
    return layer.call("Multiply", tensor, tensor)


def _reduction(name: str, type: str, before: LegacyStep = _plain, after: LegacyStep = _plain) -> Op:
    """Return the description of a reduction: what is computed before, the operation that reduces, what comes after."""

    def reduce(layer: LegacyLayer) -> tuple[Source, ...]:
        """Return the input without the axes that the second one names, or with sizes of 1 there."""
        if name == "ReduceMax":
            layer.note(ALL_NEGATIVE)
        data, axes = as_floats(layer, layer.inputs[0]), as_integers(layer, layer.inputs[1])
        found = layer.call(type, before(layer, data), axes, keep_dims=layer.attrs.keep_dims)
        return (as_declared(layer, after(layer, found)),)

    return legacy_type(
        name, reduce, inputs=(Input("data"), Input("axes")), attrs={"keep_dims": LegacyFlag(default=True)}
    )


OPS = (
    _reduction("ReduceAnd", "ReduceLogicalAnd", before=truth),
    _reduction("ReduceOr", "ReduceLogicalOr", before=truth),
    _reduction("ReduceL1", "ReduceL1"),
    _reduction("ReduceL2", "ReduceL2"),
    _reduction("ReduceLogSum", "ReduceSum", after=unary("Log")),
    _reduction("ReduceLogSumExp", "ReduceSum", before=unary("Exp"), after=unary("Log")),
    _reduction("ReduceMax", "ReduceMax"),
    _reduction("ReduceMean", "ReduceMean"),
    _reduction("ReduceMin", "ReduceMin"),
    _reduction("ReduceProd", "ReduceProd"),
    _reduction("ReduceSum", "ReduceSum"),
    _reduction("ReduceSumSquare", "ReduceSum", before=_square),
)
