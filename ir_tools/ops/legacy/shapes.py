"""Other shapes of the same elements in IR v2 to v7: Reshape, Flatten, Squeeze, Unsqueeze.

Source: measured on Inference Engine 2020.1, which gives every output the sizes that the file declares.
"""

from ir_tools.graph import Source
from ir_tools.ops.definition import Input
from ir_tools.ops.fields import Int, Ints
from ir_tools.ops.legacy._tensors import as_declared, declared_sizes, reshaped
from ir_tools.ops.legacy.definition import LegacyLayer, legacy_type

__all__ = ["OPS"]


def reshape(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the elements in the declared sizes; a size of -1 in the target stays open."""
    target = layer.attrs.dim or _numbers(layer)
    free = target.index(-1) if -1 in target else None
    return (reshaped(layer, layer.inputs[0], declared_sizes(layer), free),)


def flatten(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the elements with the axes from `axis` to `end_axis` made one."""
    sizes = declared_sizes(layer)
    axis = layer.attrs.axis
    return (reshaped(layer, layer.inputs[0], sizes, axis if axis >= 0 else axis + len(layer.sizes(layer.inputs[0]))),)


def squeeze(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the elements without the axes of size 1 that the second input names."""
    return (as_declared(layer, layer.call("Squeeze", layer.inputs[0], _numbers(layer))),)


def unsqueeze(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the elements with an axis of size 1 at each place that the second input names."""
    return (as_declared(layer, layer.call("Unsqueeze", layer.inputs[0], _numbers(layer))),)


def _numbers(layer: LegacyLayer) -> list[int]:
    """Return the values of the second input; none, if it is absent or not a constant."""
    found = layer.numbers(layer.inputs[1]) if len(layer.inputs) > 1 else None
    return [] if found is None else [int(number) for number in found.ravel()]


DATA_AND_AXES = (Input("data"), Input("axes"))
OPS = (
    legacy_type(
        "Reshape",
        reshape,
        inputs=(Input("data"), Input("dims", optional=True)),
        attrs={"dim": Ints(default=()), "axis": Int(default=0), "num_axes": Int(default=-1)},
    ),
    legacy_type("Flatten", flatten, attrs={"axis": Int(default=0), "end_axis": Int(default=-1)}),
    legacy_type("Squeeze", squeeze, inputs=DATA_AND_AXES),
    legacy_type("Unsqueeze", unsqueeze, inputs=DATA_AND_AXES),
)
