"""Activations of IR v2 to v7: ReLU.

Source: measured on Inference Engine 2020.1.
"""

from ir_tools.graph import Source
from ir_tools.ops.definition import Float
from ir_tools.ops.legacy.definition import LegacyLayer, legacy_type

__all__ = ["OPS"]


def relu(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the input, negative elements times `negative_slope`."""
    slope = layer.attrs.negative_slope
    if slope == 0:
        return (layer.call("ReLU", layer.inputs[0]),)
    return (layer.call("PRelu", layer.inputs[0], layer.constant([slope])),)


OPS = (legacy_type("ReLU", relu, attrs={"negative_slope": Float(default=0.0)}),)
