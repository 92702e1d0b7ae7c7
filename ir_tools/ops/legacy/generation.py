"""Tensors that layers of IR v2 to v7 make: Broadcast, Fill, Range, OneHot.

Source: measured on Inference Engine 2020.1, which gives every output the sizes that the file declares.
"""

from ir_tools.graph import Source
from ir_tools.ops.definition import Input
from ir_tools.ops.fields import Float, Int
from ir_tools.ops.legacy._tensors import as_declared, as_integers, declared_sizes
from ir_tools.ops.legacy.definition import LegacyLayer, legacy_type

__all__ = ["OPS"]


def broadcast(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the input repeated along the axes where it has one element."""
    return (layer.call("Broadcast", layer.inputs[0], declared_sizes(layer), mode="bidirectional"),)


def fill(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the second input, one value, in every element."""
    return (layer.call("Broadcast", layer.inputs[1], declared_sizes(layer), mode="bidirectional"),)


def number_range(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the values from the first input on, in steps of the third, that are before the second."""
    limits = [layer.call("Squeeze", each, [0]) for each in layer.inputs]
    dtype = layer.fact(layer.inputs[0]).dtype.name
    return (as_declared(layer, layer.call("Range", *limits, output_type=dtype)),)


def one_hot(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return `on_value` where an index is, else `off_value`."""
    attrs = layer.attrs
    places = as_integers(layer, layer.inputs[0])
    return (layer.call("OneHot", places, attrs.depth, attrs.on_value, attrs.off_value, axis=attrs.axis),)


OPS = (
    legacy_type("Broadcast", broadcast, inputs=(Input("data"), Input("shape"))),
    legacy_type("Fill", fill, inputs=(Input("dims"), Input("value"))),
    legacy_type("Range", number_range, inputs=(Input("start"), Input("limit"), Input("delta"))),
    legacy_type(
        "OneHot",
        one_hot,
        inputs=(Input("indices"),),
        attrs={
            "depth": Int(minimum=1),
            "axis": Int(default=-1),
            "on_value": Float(default=1.0),
            "off_value": Float(default=0.0),
        },
    ),
)
