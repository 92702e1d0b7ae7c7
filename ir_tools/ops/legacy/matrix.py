"""Matrix products of two inputs in IR v2 to v7: GEMM.

Source: measured on Inference Engine 2020.1.
"""

from ir_tools.graph import Source
from ir_tools.ops.definition import Input
from ir_tools.ops.fields import Float
from ir_tools.ops.legacy._tensors import as_floats
from ir_tools.ops.legacy.definition import LegacyFlag, LegacyLayer, legacy_type

__all__ = ["OPS"]


def gemm(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return alpha times the product of the first two inputs, plus beta times the third."""
    attrs, (left, right, *added) = layer.attrs, [as_floats(layer, each) for each in layer.inputs]
    found = layer.call("MatMul", left, right, transpose_a=attrs.transpose_a, transpose_b=attrs.transpose_b)
    found = _scaled(layer, found, attrs.alpha)
    return (layer.call("Add", found, _scaled(layer, added[0], attrs.beta)) if added else found,)


def _scaled(layer: LegacyLayer, tensor: Source, factor: float) -> Source:
    return tensor if factor == 1 else layer.call("Multiply", tensor, factor)


OPS = (
    legacy_type(
        "GEMM",
        gemm,
        inputs=(Input("a"), Input("b"), Input("c", optional=True)),
        attrs={
            "alpha": Float(default=1.0),
            "beta": Float(default=1.0),
            "transpose_a": LegacyFlag(default=False),
            "transpose_b": LegacyFlag(default=False),
        },
    ),
)
