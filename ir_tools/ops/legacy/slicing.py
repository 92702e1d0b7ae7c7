"""Parts of tensors in IR v2 to v7: Split, Slice, Crop, StridedSlice, Gather.

Source: measured on Inference Engine 2020.1, which gives every output the sizes that the file declares.
"""

from collections.abc import Sequence

from ir_tools.graph import Source
from ir_tools.ops.definition import Input, Output, Refused
from ir_tools.ops.fields import Int, Ints
from ir_tools.ops.legacy._tensors import as_declared, as_integers, declared_sizes
from ir_tools.ops.legacy.definition import LegacyLayer, legacy_type

__all__ = ["OPS"]


def split(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return parts of the input along an axis, as long as the file declares them."""
    axis = layer.attrs.axis
    lengths = [declared_sizes(layer, index)[axis] for index in range(len(layer.declared))]
    return layer.outputs("VariadicSplit", layer.inputs[0], axis, lengths)


def crop(layer: LegacyLayer) -> tuple[Source, ...] | Refused:
    """Return the part of the input from an offset on that has the declared sizes."""
    attrs = layer.attrs
    begins = attrs.offset or attrs.crop_begin
    if len(begins) != len(attrs.axis):
        return Refused(f"has {len(begins)} values; expected one per axis", "offset" if attrs.offset else "crop_begin")
    sizes = declared_sizes(layer)
    ends = [begin + sizes[axis] for axis, begin in zip(attrs.axis, begins, strict=True)]
    return (layer.call("Slice", layer.inputs[0], begins, ends, [1] * len(begins), attrs.axis),)


def strided_slice(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the part of the input between the values of two inputs; a mask of 1 means that a value counts."""
    data, *limits = layer.inputs
    attrs, (count,) = layer.attrs, layer.sizes(limits[0])
    masks = {name: _padded(mask, count, 0) for name, mask in attrs.items()}
    for name in ("begin_mask", "end_mask"):
        masks[name] = [1 - bit for bit in _padded(attrs[name], count, 1)]
    found = layer.call("StridedSlice", data, *(as_integers(layer, each) for each in limits), **masks)
    return (as_declared(layer, found),)


def gather(layer: LegacyLayer) -> tuple[Source, ...] | Refused:
    """Return the slices of the input that the indices name."""
    data, indices = layer.inputs
    size, known = layer.sizes(data)[layer.attrs.axis], layer.numbers(indices)
    if known is not None and ((known < 0) | (known >= size)).any():
        return Refused(f"has indices that are not from 0 to {size - 1}, for which Inference Engine returns zeros")
    return (as_declared(layer, layer.call("Gather", data, as_integers(layer, indices), layer.attrs.axis)),)


def _padded(mask: Sequence[int], count: int, bit: int) -> list[int]:
    """Return a mask with one bit for each value."""
    return [*mask[:count], *[bit] * (count - len(mask))]


MASK = Ints(minimum=0, maximum=1, default=())
SPLIT = {"axis": Int(default=1, minimum=0), "num_split": Int(default=0), "out_sizes": Ints(default=())}
OPS = (
    legacy_type("Split", split, outputs=(Output(many=True),), attrs=SPLIT),
    legacy_type("Slice", split, outputs=(Output(many=True),), attrs=SPLIT),
    legacy_type(
        "Crop",
        crop,
        inputs=(Input("data"), Input("like", optional=True)),
        attrs={
            "axis": Ints(minimum=0),
            "offset": Ints(default=()),
            "dim": Ints(default=()),
            "crop_begin": Ints(default=()),
            "crop_end": Ints(default=()),
        },
    ),
    legacy_type(
        "StridedSlice",
        strided_slice,
        inputs=(Input("data"), Input("begin"), Input("end"), Input("strides", optional=True)),
        attrs=dict.fromkeys(("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask"), MASK),
    ),
    legacy_type("Gather", gather, inputs=(Input("data"), Input("indices")), attrs={"axis": Int()}),
)
