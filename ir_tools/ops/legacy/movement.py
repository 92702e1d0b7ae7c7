"""Moving elements in IR v2 to v7: Permute, Concat, Tile, Pad, channels to space and back, and in sequences.

Source: measured on Inference Engine 2020.1.
"""

from ir_tools.display import plural
from ir_tools.graph import Source
from ir_tools.ops.definition import Input, Refused
from ir_tools.ops.fields import Float, Int, Ints, OneOf, Text
from ir_tools.ops.legacy._tensors import as_integers, declared_sizes, joined_types, reshaped
from ir_tools.ops.legacy.definition import LegacyLayer, legacy_type

__all__ = ["OPS"]


def permute(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the input with its axes in another order."""
    return (layer.call("Transpose", layer.inputs[0], layer.attrs.order),)


def concat(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the inputs one after the other along an axis."""
    return (layer.call("Concat", *joined_types(layer, layer.inputs), axis=layer.attrs.axis),)


def tile(layer: LegacyLayer) -> tuple[Source, ...] | Refused:
    """Return the input repeated along one axis."""
    data, attrs = layer.inputs[0], layer.attrs
    repeats = [1] * len(layer.sizes(data))
    if attrs.axis >= len(repeats):
        return Refused(f"is {attrs.axis}, but the input has {plural(len(repeats), 'dimension')}", "axis")
    repeats[attrs.axis] = attrs.tiles
    return (layer.call("Tile", data, repeats),)


def pad(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the input with elements added at its borders."""
    attrs, data = layer.attrs, layer.inputs[0]
    value = layer.call("ConvertLike", attrs.pad_value, data)
    return (layer.call("Pad", data, attrs.pads_begin, attrs.pads_end, value, pad_mode=attrs.pad_mode),)


def reverse_sequence(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the input with the first elements of each sequence in reverse order."""
    data, lengths = layer.inputs
    axes = {"batch_axis": layer.attrs.batch_axis, "seq_axis": layer.attrs.seq_axis}
    return (layer.call("ReverseSequence", data, as_integers(layer, lengths), **axes),)


def shuffle_channels(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the input with the elements of an axis dealt out to its groups in turn."""
    return (layer.call("ShuffleChannels", layer.inputs[0], axis=layer.attrs.axis, group=layer.attrs.group),)


def depth_to_space(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return channels moved to rows and columns, in the order of this release, which is that of no later one."""
    block = layer.attrs.block_size
    batch, channels, rows, columns = layer.sizes(layer.inputs[0])
    parts = reshaped(layer, layer.inputs[0], [batch, channels // block, block, rows, columns])
    return (reshaped(layer, layer.call("Transpose", parts, [0, 3, 1, 4, 2]), declared_sizes(layer), 0),)


def space_to_depth(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return rows and columns moved to channels, in the order of this release, which is that of no later one."""
    block = layer.attrs.block_size
    batch, channels, rows, columns = declared_sizes(layer)
    parts = reshaped(layer, layer.inputs[0], [batch, rows, channels // block, columns, block])
    return (reshaped(layer, layer.call("Transpose", parts, [0, 2, 4, 1, 3]), declared_sizes(layer), 0),)


OPS = (
    legacy_type("Permute", permute, attrs={"order": Ints(minimum=0)}),
    legacy_type("Concat", concat, inputs=(Input("data", many=True),), attrs={"axis": Int(default=1, minimum=0)}),
    legacy_type("Tile", tile, attrs={"axis": Int(minimum=0), "tiles": Int(minimum=1)}),
    legacy_type(
        "Pad",
        pad,
        attrs={
            "pads_begin": Ints(minimum=0),
            "pads_end": Ints(minimum=0),
            "pad_mode": OneOf(words=("constant", "edge", "reflect", "symmetric")),
            "pad_value": Float(default=0.0),
        },
    ),
    legacy_type(
        "ReverseSequence",
        reverse_sequence,
        inputs=(Input("data"), Input("seq_lengths")),
        attrs={"seq_axis": Int(default=1), "batch_axis": Int(default=0)},
    ),
    legacy_type("ShuffleChannels", shuffle_channels, attrs={"axis": Int(default=1), "group": Int(default=1)}),
    legacy_type(
        "DepthToSpace", depth_to_space, attrs={"block_size": Int(default=1, minimum=1), "mode": Text(default="")}
    ),
    legacy_type(
        "SpaceToDepth", space_to_depth, attrs={"block_size": Int(default=1, minimum=1), "mode": Text(default="")}
    ),
)
