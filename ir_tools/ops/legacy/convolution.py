"""Convolutions of IR v2 to v7: Convolution.

Source: measured on Inference Engine 2020.1, which takes pads at the end from the declared size of the output.
"""

from collections.abc import Sequence

from ir_tools.graph import Source
from ir_tools.ops.definition import Input, Int, Refused
from ir_tools.ops.legacy._windows import WINDOW_ATTRS, begin_pads, end_pad, respell, sizes_of
from ir_tools.ops.legacy.definition import LegacyLayer, legacy_type

__all__ = ["OPS"]


def convolution(layer: LegacyLayer) -> tuple[Source, ...] | Refused:
    """Return Convolution or GroupConvolution, and Add of the biases."""
    attrs, data = layer.attrs, layer.inputs[0]
    sizes, outputs = layer.sizes(data), [dim.lo for dim in layer.declared[0].shape or ()]
    rank = len(sizes) - 2
    if len(attrs.kernel) != rank or len(outputs) != len(sizes):
        return Refused(f"has {len(attrs.kernel)} values for an input with {rank} spatial axes", "kernel")
    strides, dilations = sizes_of(attrs.strides, rank, 1), sizes_of(attrs.dilations, rank, 1)
    reach = [(kernel - 1) * step + 1 for kernel, step in zip(attrs.kernel, dilations, strict=True)]
    begins = begin_pads(attrs, sizes[2:], strides, reach)
    ends = [
        end_pad(size, output, stride, kernel, begin)
        for size, output, stride, kernel, begin in zip(sizes[2:], outputs[2:], strides, reach, begins, strict=True)
    ]
    channels, group = sizes[1], attrs.group
    shape = [attrs.output, channels // group, *attrs.kernel]
    if group > 1:
        shape = [group, attrs.output // group, channels // group, *attrs.kernel]
    windows = {"strides": strides, "dilations": dilations, "pads_begin": begins, "pads_end": ends}
    kind = "GroupConvolution" if group > 1 else "Convolution"
    found = layer.call(kind, data, parameters(layer, "weights", 1, shape), **windows)
    return (with_biases(layer, found, attrs.output),)


def parameters(layer: LegacyLayer, blob: str, place: int, shape: Sequence[int]) -> Source:
    """Return the weights or biases of a layer in a shape: a blob, or the input at a place, as in IR v7."""
    if len(layer.inputs) <= place:
        return layer.blob(blob, shape)
    given = layer.inputs[place]
    return given if layer.sizes(given) == tuple(shape) else layer.call("Reshape", given, shape, special_zero=False)


def with_biases(layer: LegacyLayer, tensor: Source, channels: int) -> Source:
    """Return the tensor plus the biases of the layer, one for each channel, if it has any."""
    if not layer.blob_size("biases") and len(layer.inputs) < 3:
        return tensor
    shape = [1, channels, *[1] * (len(layer.sizes(tensor)) - 2)]
    return layer.call("Add", tensor, parameters(layer, "biases", 2, shape))


PARAMETERS = (Input("data"), Input("weights", optional=True), Input("biases", optional=True))
"""Weights and biases are blobs of the layer, or inputs in IR v7."""
OPS = (
    legacy_type(
        "Convolution",
        convolution,
        inputs=PARAMETERS,
        attrs={**WINDOW_ATTRS, "group": Int(default=1, minimum=1), "output": Int(minimum=1)},
        respell=respell,
    ),
)
