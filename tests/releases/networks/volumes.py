"""Blocks of volumes."""

from ir_tools.graph import Source
from tests.releases.networks.anything import activation
from tests.releases.networks.network import Network, block

RESIZING = {"pads_begin": [0], "pads_end": [0], "antialias": False, "cube_coeff": -0.75, "nearest_mode": "floor"}


@block("volume")
@block("volume")
def filtered_volume(net: Network, x: Source) -> Source:
    channels, outputs, size, step = net.channels(x, 1), net.one(4, 8), net.one(1, 3), net.one(1, 1, 2)
    windows = {"strides": [step] * 3, "pads_begin": [size // 2] * 3, "pads_end": [size // 2] * 3, "dilations": [1] * 3}
    if net.chance(0.2):
        found = net.call("GroupConvolution", x, net.weights(channels, 1, 1, size, size, size), **windows)
    else:
        found = net.call("Convolution", x, net.weights(outputs, channels, size, size, size), **windows)
        found = net.call("Add", found, net.weights(1, outputs, 1, 1, 1, scale=0.3))
    return activation(net, found)


@block("volume")
def pooled_volume(net: Network, x: Source) -> Source:
    windows = {"strides": [2] * 3, "pads_begin": [0] * 3, "pads_end": [0] * 3, "kernel": [2] * 3}
    rounding = net.one("floor", "ceil")
    if net.chance(0.5):
        return net.call("AvgPool", x, rounding_type=rounding, exclude_pad=net.chance(0.5), **windows)
    more = {"dilations": [1] * 3, "axis": 0, "index_element_type": "i64"}
    return net.call("MaxPool", x, rounding_type=rounding, **windows, **more)


@block("volume")
def resized_volume(net: Network, x: Source) -> Source:
    settings = {"mode": net.one("nearest", "linear_onnx"), "shape_calculation_mode": "scales"}
    place = {"coordinate_transformation_mode": net.one("half_pixel", "asymmetric")}
    return net.call("Interpolate", x, net.floats([2, 2, 2]), net.whole(2, 3, 4), **settings, **place, **RESIZING)


@block("volume")
def normalized_volume(net: Network, x: Source) -> Source:
    channels = net.channels(x, 1)
    axes = {"eps": 1e-5, "normalize_variance": True, "eps_mode": "inside_sqrt"}
    found = net.call("MVN", x, net.long([2, 3, 4]), **axes) if net.chance(0.6) else x
    scale, shift = (net.weights(1, channels, 1, 1, 1, scale=0.5) for _ in range(2))
    return activation(net, net.call("Add", net.call("Multiply", found, scale), shift))


@block("volume")
def enlarged_volume(net: Network, x: Source) -> Source:
    windows = {"strides": [2] * 3, "pads_begin": [0] * 3, "pads_end": [0] * 3, "dilations": [1] * 3}
    weights = net.weights(net.channels(x, 1), 4, 2, 2, 2, scale=0.3)
    return net.call("ConvolutionBackpropData", x, weights, output_padding=[0] * 3, **windows)


@block("volume")
def joined_volume(net: Network, x: Source) -> Source:
    """Join a volume with what a filter makes of it, by a sum or along the channels."""
    channels = net.channels(x, 1)
    found = net.call(
        "Convolution",
        x,
        net.weights(channels, channels, 3, 3, 3),
        strides=[1] * 3,
        pads_begin=[1] * 3,
        pads_end=[1] * 3,
        dilations=[1] * 3,
    )
    return net.call("Add", x, found) if net.chance(0.5) else net.call("Concat", x, found, axis=1)
