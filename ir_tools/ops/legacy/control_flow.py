"""Loops and variables of IR v2 to v7: TensorIterator, Memory.

Source: measured on Inference Engine 2020.1.
"""

from ir_tools.graph import Source
from ir_tools.ops.definition import Input, Output, Refused
from ir_tools.ops.fields import Int, Text
from ir_tools.ops.legacy._tensors import declared_sizes
from ir_tools.ops.legacy.definition import LegacyLayer, legacy_type

__all__ = ["OPS"]

UNDEFINED = "Inference Engine 2020.1 starts with uninitialized memory; the new model starts with zeros"


def tensor_iterator(layer: LegacyLayer) -> tuple[Source, ...] | Refused:
    """Return what the iterations of the body give."""
    return layer.iterate()


def memory(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the value of a variable, zeros at the start; or, with an input, store it."""
    variable = layer.attrs.id
    if layer.inputs:
        return (layer.call("Assign", layer.inputs[0], variable_id=variable),)
    layer.note(UNDEFINED)
    sizes = declared_sizes(layer)
    zeros = layer.call("Broadcast", 0.0, sizes)
    return (layer.call("ReadValue", zeros, variable_id=variable, variable_type="f32", variable_shape=sizes),)


OPS = (
    legacy_type(
        "TensorIterator",
        tensor_iterator,
        inputs=(Input("input", many=True),),
        outputs=(Output(many=True),),
    ),
    legacy_type(
        "Memory",
        memory,
        inputs=(Input("value", optional=True),),
        outputs=(Output(many=True),),
        attrs={"id": Text(), "index": Int(minimum=0, maximum=1), "size": Int(default=2)},
    ),
)
