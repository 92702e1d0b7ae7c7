"""Blocks of images."""

import numpy as np

from ir_tools.graph import Source
from tests.releases.networks.anything import activation
from tests.releases.networks.network import Network, block
from tests.releases.networks.rows import layer_normalized

RESIZING = {"pads_begin": [0], "pads_end": [0], "antialias": False, "cube_coeff": -0.75, "nearest_mode": "floor"}


def filtered(net: Network, x: Source, outputs: int, size: int = 1, step: int = 1, groups: int = 1) -> Source:
    """Return a convolution with a bias or without."""
    channels, pad = net.channels(x, 1), size // 2
    windows = {"strides": [step] * 2, "pads_begin": [pad] * 2, "pads_end": [pad] * 2, "dilations": [1, 1]}
    if groups > 1:
        weights = net.weights(groups, outputs // groups, channels // groups, size, size)
        found = net.call("GroupConvolution", x, weights, **windows)
    else:
        found = net.call("Convolution", x, net.weights(outputs, channels, size, size), **windows)
    return net.call("Add", found, net.weights(1, outputs, 1, 1, scale=0.3)) if net.chance(0.8) else found


@block("image")
@block("image")
@block("image")
def convolution(net: Network, x: Source) -> Source:
    """Filter, in one group or one for each channel, with an activation behind."""
    channels = net.channels(x, 1)
    if net.chance(0.25) and channels > 1:
        return activation(net, filtered(net, x, channels, 3, groups=channels))
    return activation(net, filtered(net, x, net.one(4, 8, 3, 16), net.one(1, 3, 5), net.one(1, 1, 2)))


@block("image")
def bottleneck(net: Network, x: Source) -> Source:
    channels = net.channels(x, 1)
    return net.call("Add", x, filtered(net, activation(net, filtered(net, x, 4, 1)), channels, 3))


@block("image")
def excited(net: Network, x: Source) -> Source:
    """Scale channels by what their means decide."""
    channels = net.channels(x, 1)
    mean = net.call("ReduceMean", x, net.whole(2, 3), keep_dims=True)
    gate = filtered(net, activation(net, filtered(net, mean, max(1, channels // 2))), channels)
    return net.call("Multiply", x, net.call(net.one("Sigmoid", "HSigmoid"), gate))


@block("image")
def batch_normalized(net: Network, x: Source) -> Source:
    scale, shift = (net.weights(1, net.channels(x, 1), 1, 1, scale=0.5) for _ in range(2))
    return activation(net, net.call("Add", net.call("Multiply", x, scale), shift))


@block("image")
def pooled(net: Network, x: Source) -> Source:
    step, rounding = net.one(1, 2), net.one("floor", "ceil")
    windows = {"strides": [step] * 2, "pads_begin": [1, 1], "pads_end": [net.one(0, 1)] * 2, "kernel": [3, 3]}
    if net.chance(0.5):
        return net.call("AvgPool", x, rounding_type=rounding, exclude_pad=net.chance(0.5), **windows)
    more = {"dilations": [1, 1], "axis": 0, "index_element_type": "i64"}
    return net.call("MaxPool", x, rounding_type=rounding, **windows, **more)


@block("image")
def adapted(net: Network, x: Source) -> Source:
    return net.call("AdaptiveAvgPool", x, net.whole(net.one(2, 3, 5), net.one(2, 4)))


@block("image")
def resized(net: Network, x: Source) -> Source:
    """Resize to sizes, by scales, or to twice a size that is looked up."""
    kind = net.one("sizes", "scales", "twice")
    place = net.one("half_pixel", "asymmetric", "align_corners")
    mode = net.one("nearest", "linear_onnx", "linear", "cubic")
    by = "scales" if kind == "scales" else "sizes"
    if kind == "sizes":
        target = net.whole(9, 11)
    elif kind == "scales":
        target = net.floats([2, 2])
    else:
        target = net.call("Multiply", net.size_of(x, 2, 3), net.long([2, 2]))
    settings = {"mode": mode, "shape_calculation_mode": by, "coordinate_transformation_mode": place}
    return net.call("Interpolate", x, target, net.whole(2, 3), **settings, **RESIZING)


@block("image")
def inception(net: Network, x: Source) -> Source:
    """Join what several blocks make of an image along its channels."""
    parts = [activation(net, filtered(net, x, width, size)) for width, size in ((4, 1), (3, 3))]
    return net.call("Concat", *net.one((*parts, x), (x, *parts), parts), axis=net.one(1, -3))


@block("image")
def mixed(net: Network, x: Source) -> Source:
    """Move elements between channels and space."""
    channels, (*_, height, width) = net.channels(x, 1), net.sizes(x)
    even = height is not None and width is not None and height % 2 == width % 2 == 0
    kind = net.one("shuffle", "to space", "to depth", "halves")
    if kind == "shuffle" and channels % 2 == 0:
        return net.call("ShuffleChannels", x, axis=1, group=2)
    if kind == "to space" and channels % 4 == 0:
        return net.call("DepthToSpace", x, mode=net.one("blocks_first", "depth_first"), block_size=2)
    if kind == "to depth" and even:
        return net.call("SpaceToDepth", x, mode=net.one("blocks_first", "depth_first"), block_size=2)
    if kind == "halves" and channels % 2 == 0:
        first, second = net.outputs("Split", x, net.long(1), num_splits=2)
        return net.call("Concat", second, filtered(net, first, 4), axis=1)
    return filtered(net, x, 8)


@block("image")
def group_normalized(net: Network, x: Source) -> Source:
    channels = net.channels(x, 1)
    groups = 2 if channels % 2 == 0 else 1
    scale, shift = (net.weights(channels, scale=1) for _ in range(2))
    if net.chance(0.4):
        return net.call("GroupNormalization", x, scale, shift, num_groups=groups, epsilon=1e-5)
    flat = net.reshape(x, 0, groups, -1)
    flat = net.call("MVN", flat, net.long([2]), eps=1e-5, normalize_variance=True, eps_mode="inside_sqrt")
    back = net.call("Reshape", flat, net.call("ShapeOf", x, output_type="i64"), special_zero=False)
    return net.call("Multiply", back, net.weights(1, channels, 1, 1, scale=1))


@block("image")
def channels_behind(net: Network, x: Source) -> Source:
    """Do something with rows of channels, and move them back."""
    return net.transpose(layer_normalized(net, net.transpose(x, 0, 2, 3, 1)), 0, 3, 1, 2)


@block("image")
def deconvolution(net: Network, x: Source) -> Source:
    size = net.one(2, 3, 4)
    weights = net.weights(net.channels(x, 1), 4, size, size, scale=0.3)
    windows = {"strides": [2, 2], "pads_begin": [0, 0], "pads_end": [0, 0], "dilations": [1, 1]}
    return net.call("ConvolutionBackpropData", x, weights, output_padding=[0, 0], **windows)


@block("image")
def locally_normalized(net: Network, x: Source) -> Source:
    return net.call("LRN", x, net.long([1]), alpha=1e-2, beta=0.75, bias=1.0, size=3)


@block("image")
def best_channel(net: Network, x: Source) -> Source:
    """Scale an image by the number of its best channel."""
    kind = net.one("i32", "i64")
    number = net.outputs("TopK", x, net.long(1), axis=1, mode="max", sort="value", index_element_type=kind)[1]
    return net.call("Multiply", x, net.call("Convert", number, destination_type="f32"))


@block("image")
def sampled(net: Network, x: Source) -> Source:
    """Sample an image at places that a constant names, or that are computed of the image."""
    count = net.sizes(x)[0]
    if count is None:
        return x
    grid = net.builder.constant(net.rng.uniform(-0.9, 0.9, (count, 5, 6, 2)).astype(np.float32))
    settings = {"align_corners": net.chance(0.5), "mode": net.one("bilinear", "nearest"), "padding_mode": "zeros"}
    return net.call("GridSample", x, grid, **settings)


@block("image")
def windows(net: Network, x: Source) -> Source:
    """Multiply windows of an image with themselves."""
    sizes = [size or 1 for size in net.sizes(x)]
    count, channels, height, width = sizes
    if None in net.sizes(x) or height % 2 or width % 2:
        return x
    parts = net.transpose(net.reshape(x, count, channels, height // 2, 2, width // 2, 2), 0, 2, 4, 1, 3, 5)
    flat = net.reshape(parts, -1, channels, 4)
    flat = net.product(net.product(flat, flat, transposed=True), flat)
    parts = net.reshape(flat, count, height // 2, width // 2, channels, 2, 2)
    return net.reshape(net.transpose(parts, 0, 3, 1, 4, 2, 5), *sizes)


@block("image")
def regions(net: Network, x: Source) -> Source:
    """Cut regions out of an image, and take their mean."""
    boxes = net.floats([[0, 0, 4, 4], [1, 1, 6, 5]])
    settings = {"pooled_h": 2, "pooled_w": 2, "sampling_ratio": 2, "spatial_scale": 1.0, "mode": net.one("avg", "max")}
    found = net.call("ROIAlign", x, boxes, net.whole(0, 0), **settings)
    return net.call("Add", x, net.call("ReduceMean", found, net.whole(0, 2, 3), keep_dims=True))


@block("image")
def detected(net: Network, x: Source) -> Source:
    """Add the mean of the boxes whose scores are the largest."""
    sizes = net.sizes(x)
    if None in sizes:
        return x
    count, _, height, width = (size or 1 for size in sizes)
    corners = net.rng.uniform(0, 0.6, (1, height * width, 2))
    boxes = np.concatenate([corners, corners + net.rng.uniform(0.1, 0.4, corners.shape)], 2).astype(np.float32)
    most, overlap, least = (
        net.builder.constant(one) for one in (np.int64(net.one(3, 20)), np.float32(0.5), np.float32(0.1))
    )
    found = net.outputs(
        "NonMaxSuppression",
        net.builder.constant(np.repeat(boxes, count, 0)),
        net.call("Sigmoid", net.reshape(x, 0, 0, -1)),
        most,
        overlap,
        least,
        box_encoding="corner",
        sort_result_descending=net.chance(0.5),
        output_type=net.one("i64", "i32"),
    )
    places = net.call("Gather", found[0], net.long(2), net.long(1), batch_dims=0)
    taken = net.call("Gather", net.builder.constant(boxes[0]), places, net.long(0), batch_dims=0)
    return net.call("Add", x, net.call("ReduceMean", taken, net.whole(0, 1), keep_dims=False))
