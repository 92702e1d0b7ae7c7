"""Convolutions of IR v2 to v7: Convolution, Deconvolution, BinaryConvolution, FullyConnected.

Source: measured on Inference Engine 2020.1, which takes pads at the end from the declared size of the output.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ir_tools.graph import Source
from ir_tools.ops.definition import Fact, Input, Refused
from ir_tools.ops.fields import Attrs, Float, Int, OneOf
from ir_tools.ops.legacy._windows import (
    WINDOW_ATTRS,
    begin_pads,
    check_windows,
    end_pad,
    per_axis,
    respell,
    spatial_sizes,
)
from ir_tools.ops.legacy.definition import LEFTOVERS, LegacyLayer, legacy_type, sizes_of

__all__ = ["OPS"]


class Windows(NamedTuple):
    """The windows of a layer, one number per spatial axis."""

    strides: Sequence[int]
    dilations: Sequence[int]
    reach: Sequence[int]
    begins: Sequence[int]
    sizes: Sequence[int]
    outputs: Sequence[int]


def convolution(layer: LegacyLayer) -> tuple[Source, ...] | Refused:
    """Return Convolution or GroupConvolution, and Add of the biases."""
    windows = _windows(layer)
    if isinstance(windows, Refused):
        return windows
    attrs, data = layer.attrs, layer.inputs[0]
    shape = _weight_shape(attrs.group, attrs.output, layer.sizes(data)[1], attrs.kernel)
    weights = parameters(layer, "weights", 1, shape)
    data, weights = _quantized(layer, data, weights, channels=2 if attrs.group > 1 else 1)
    return (with_biases(layer, _convolved(layer, data, weights, windows), attrs.output),)


def deconvolution(layer: LegacyLayer) -> tuple[Source, ...] | Refused:
    """Return ConvolutionBackpropData or its grouped form, and Add of the biases."""
    windows = _windows(layer)
    if isinstance(windows, Refused):
        return windows
    attrs, data = layer.attrs, layer.inputs[0]
    rooms = zip(windows.sizes, windows.strides, windows.reach, windows.begins, windows.outputs, strict=True)
    ends = [(size - 1) * step + reach - begin - output for size, step, reach, begin, output in rooms]
    if min(ends) < 0:
        layer.note(
            "Inference Engine 2020.1 leaves output rows that the kernel does not reach unwritten; they are 0 here"
        )
    shape = _weight_shape(attrs.group, layer.sizes(data)[1], attrs.output, attrs.kernel)
    grouped = attrs.group > 1
    found = layer.call(
        "GroupConvolutionBackpropData" if grouped else "ConvolutionBackpropData",
        data,
        parameters(layer, "weights", 1, shape),
        strides=windows.strides,
        dilations=windows.dilations,
        pads_begin=windows.begins,
        pads_end=[max(end, 0) for end in ends],
        output_padding=[max(-end, 0) for end in ends],
    )
    return (with_biases(layer, found, attrs.output),)


def binary_convolution(layer: LegacyLayer) -> tuple[Source, ...] | Refused:
    """Return a Convolution of the signs of the input with weights of 1 and -1."""
    windows = _windows(layer)
    if isinstance(windows, Refused):
        return windows
    attrs, data = layer.attrs, layer.inputs[0]
    channels = layer.sizes(data)[1]
    if attrs.input != channels:
        return Refused(f"is {attrs.input}, but the input has {channels} channels", "input")
    if channels % 8:
        return Refused(
            f"the input has {channels} channels, which is not a multiple of 8; Inference Engine 2020.1 then "
            "reads the wrong bits"
        )
    shape = _weight_shape(attrs.group, attrs.output, channels, attrs.kernel)
    bits = np.unpackbits(layer.blob_bytes("weights"), bitorder="little")
    if bits.size < math.prod(shape):
        return Refused(f"the weights have {bits.size} bits; expected {math.prod(shape)}")
    weights = layer.constant((bits[: math.prod(shape)].reshape(shape) * 2.0 - 1).astype(np.float32))
    signs = layer.call("Select", layer.call("Greater", data, 0.0), 1.0, -1.0)
    begins = [0, 0, *windows.begins]
    ends = [0, 0, *map(end_pad, windows.sizes, windows.outputs, windows.strides, windows.reach, windows.begins)]
    if any((*begins, *ends)):
        signs = layer.call("Pad", signs, begins, ends, attrs.pad_value, pad_mode="constant")
    padded = windows._replace(begins=[0] * len(windows.begins), sizes=layer.sizes(signs)[2:])
    return (_convolved(layer, signs, weights, padded),)


def fully_connected(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return MatMul of the flattened input with the weights, and Add of the biases."""
    data, outputs = layer.inputs[0], layer.attrs.out_size
    batch, *sizes = layer.sizes(data)
    if len(sizes) != 1:
        data = layer.call("Reshape", data, [batch, math.prod(sizes)], special_zero=False)
    weights = parameters(layer, "weights", 1, (outputs, math.prod(sizes)))
    data, weights = _quantized(layer, data, weights, channels=1)
    found = layer.call("MatMul", data, weights, transpose_a=False, transpose_b=True)
    return (with_biases(layer, found, outputs),)


def _windows(layer: LegacyLayer) -> Windows | Refused:
    """Return the windows of a layer.

    `auto_pad` of a deconvolution pads the size that it gives; that of its input if the name of its type has other case.
    """
    found = spatial_sizes(layer)
    if isinstance(found, Refused):
        return found
    attrs, (sizes, outputs) = layer.attrs, found
    rank = len(sizes)
    kernel, strides, dilations = (per_axis(attrs, name, rank) for name in ("kernel", "strides", "dilations"))
    reach = [(wide - 1) * step + 1 for wide, step in zip(kernel, dilations, strict=True)]
    scale = strides if layer.type == "Deconvolution" else [1] * rank
    padded = [size * step for size, step in zip(sizes, scale, strict=True)]
    return Windows(strides, dilations, reach, begin_pads(attrs, padded, strides, reach), sizes, outputs)


def _convolved(layer: LegacyLayer, data: Source, weights: Source, windows: Windows) -> Source:
    """Return a convolution, grouped if the weights are; its pads at the end are those of the declared output."""
    ends = map(end_pad, windows.sizes, windows.outputs, windows.strides, windows.reach, windows.begins)
    return layer.call(
        "GroupConvolution" if layer.attrs.group > 1 else "Convolution",
        data,
        weights,
        strides=windows.strides,
        dilations=windows.dilations,
        pads_begin=windows.begins,
        pads_end=list(ends),
    )


def _quantized(layer: LegacyLayer, data: Source, weights: Source, *, channels: int) -> tuple[Source, Source]:
    """Return data and weights in the levels that Inference Engine had for them in INT8, if the layer is quantized.

    Data has 255 levels above 0, or 127 on either side; of weights each output channel has 127 on either side of 0.

    Args:
        layer: the layer.
        data: its input.
        weights: f32, with the axes of output channels first.
        channels: how many these axes are.
    """
    limits, numbers = layer.input_range, layer.numbers(weights)
    if limits is None or numbers is None:
        return data, weights
    low, high = limits
    reach = max(abs(low), abs(high)) or 1.0
    ends = (-reach * LEVELS_BELOW / LEVELS_ABOVE, reach) if low < 0 else (0.0, reach)
    axes = tuple(range(channels, numbers.ndim))
    largest = np.abs(numbers).max(axes, keepdims=True).astype(np.float32)
    largest[largest == 0] = 1
    rounded = layer.call("FakeQuantize", data, *ends, *ends, levels=256)
    return rounded, layer.call("FakeQuantize", weights, -largest, largest, -largest, largest, levels=255)


def _weight_shape(group: int, first: int, second: int, kernel: Sequence[int]) -> list[int]:
    """Return the shape of weights that have channels of one side first, in groups if there are several."""
    if group > 1:
        return [group, first // group, second // group, *kernel]
    return [first, second, *kernel]


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


def _filters(attrs: Attrs, inputs: Sequence[Fact], outputs: Sequence[Fact]) -> Mapping[str, Collection[int]]:
    channels = sizes_of(inputs, rank=2)[1]
    return _blobs(channels // attrs.group * attrs.output * math.prod(attrs.kernel), attrs.output, inputs)


def _matrix(attrs: Attrs, inputs: Sequence[Fact], outputs: Sequence[Fact]) -> Mapping[str, Collection[int]]:
    return _blobs(math.prod(sizes_of(inputs, rank=1)[1:]) * attrs.out_size, attrs.out_size, inputs)


def _blobs(weights: int, biases: int, inputs: Sequence[Fact]) -> Mapping[str, Collection[int]]:
    return {"weights": {0, weights} if len(inputs) > 1 else {weights}, "biases": {0, biases}}


def _bits(attrs: Attrs, inputs: Sequence[Fact], outputs: Sequence[Fact]) -> Mapping[str, Collection[int]]:
    """Return that there are weights; each has one bit, whatever type the file names."""
    return {"weights": ()}


LEVELS_BELOW, LEVELS_ABOVE = 128, 127
"""Levels of a signed input. Inference Engine had 127 below 0; with those, OpenVINO 2026.4 takes other steps."""
PARAMETERS = (Input("data"), Input("weights", optional=True), Input("biases", optional=True))
"""Weights and biases are blobs of the layer, or inputs in IR v7."""
WINDOWED: Mapping[str, Any] = {"respell": respell, "check": check_windows}
ATTRS = {**WINDOW_ATTRS, "group": Int(default=1, minimum=1), "output": Int(minimum=1)}
UNREAD = {"alpha": ".*", "beta": ".*"}
"""Attributes of Caffe's layer, which Inference Engine does not read."""
OPS = (
    legacy_type("Convolution", convolution, inputs=PARAMETERS, attrs=ATTRS, **WINDOWED, blobs=_filters),
    legacy_type("Deconvolution", deconvolution, inputs=PARAMETERS, attrs=ATTRS, **WINDOWED, blobs=_filters),
    legacy_type(
        "BinaryConvolution",
        binary_convolution,
        attrs={
            **ATTRS,
            "input": Int(),
            "mode": OneOf(words=("xnor-popcount",), default="xnor-popcount"),
            "pad_value": Float(default=0.0),
        },
        **WINDOWED,
        blobs=_bits,
    ),
    *(
        legacy_type(
            name,
            fully_connected,
            inputs=PARAMETERS,
            attrs={"out_size": Int(xml="out-size", minimum=1)},
            leftovers={**LEFTOVERS, **UNREAD},
            blobs=_matrix,
        )
        for name in ("FullyConnected", "InnerProduct")
    ),
)
