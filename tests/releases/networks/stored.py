"""Blocks whose weights or data are stored as integers."""

import numpy as np

from ir_tools.graph import Source
from tests.releases.networks.anything import activation
from tests.releases.networks.network import Network, block


def limited(net: Network, x: Source, least: float, most: float) -> Source:
    """Return data that are rounded to 256 steps."""
    limits = [net.floats(np.full([1] * len(net.sizes(x)), one)) for one in (least, most, least, most)]
    return net.call("FakeQuantize", x, *limits, levels=256)


def stored(net: Network, *shape: int, kind: str) -> Source:
    """Return weights that are stored as integers, with a scale for each row and with an offset or without."""
    signed = kind.startswith("i")
    bits = int(kind[1:])
    low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    found = net.call(
        "Convert", net.builder.constant(net.rng.integers(low, high, shape), dtype=kind), destination_type="f32"
    )
    each = (shape[0], *[1] * (len(shape) - 1))
    if not signed or net.chance(0.2):
        middle = net.rng.integers((low + high) // 2 - 2, (low + high) // 2 + 3, each)
        offset = net.builder.constant(middle if net.chance(0.7) else middle[:1], dtype=kind)
        found = net.call("Subtract", found, net.call("Convert", offset, destination_type="f32"))
    size = float(np.prod(shape[1:])) ** -0.5 * 3 / (high - low)
    return net.call("Multiply", found, net.floats(net.rng.uniform(0.5 * size, 2 * size, each)))


@block("image")
@block("image")
def quantized_convolution(net: Network, x: Source) -> Source:
    """Filter as a quantized network does, in one group or one for each channel, with a sum or without."""
    channels, size = net.channels(x, 1), net.one(1, 3)
    data = limited(net, x, net.one(0.0, -4.02), 3.98)
    step = net.one(1, 1, 2)
    windows = {"strides": [step] * 2, "dilations": [1, 1]}
    windows |= {"pads_begin": [size // 2] * 2, "pads_end": [size // 2] * 2}
    if net.chance(0.25):
        weights = stored(net, channels, 1, 1, size, size, kind="i8")
        found = net.call("GroupConvolution", data, weights, **windows)
    else:
        channels = net.one(4, 8, channels)
        found = net.call(
            "Convolution", data, stored(net, channels, net.channels(x, 1), size, size, kind="i8"), **windows
        )
    if net.chance(0.8):
        found = net.call("Add", found, net.weights(1, channels, 1, 1, scale=0.3))
    if step == 1 and net.sizes(found) == net.sizes(x) and net.chance(0.4):
        found = net.call("Add", found, net.one(x, data))
    return activation(net, found)


@block("rows")
def quantized_product(net: Network, x: Source) -> Source:
    """Multiply quantized data by weights that are stored as integers."""
    outputs = net.one(8, 16)
    data = limited(net, x, -4.02, 3.98)
    found = net.product(data, stored(net, outputs, net.channels(x, -1), kind="i8"), transposed=True)
    return activation(net, net.call("Add", found, net.weights(1, 1, outputs, scale=0.3)))


@block("rows")
def packed_product(net: Network, x: Source) -> Source:
    """Multiply by weights that are stored as integers, whose rows have one scale or several."""
    outputs, width, kind = net.one(8, 16), net.channels(x, -1), net.one("u8", "i8", "u4", "i4")
    if width % 4 or net.chance(0.5):
        weights = stored(net, outputs, width, kind=kind)
    else:
        weights = net.reshape(stored(net, outputs * width // 4, 4, kind=kind), outputs, width)
    return net.product(x, weights, transposed=True)


@block("rows")
def named_rows(net: Network, x: Source) -> Source:
    """Add rows of a packed table that the largest elements name."""
    table = stored(net, net.channels(x, -1), net.channels(x, -1), kind=net.one("u8", "i8"))
    settings = {"mode": "max", "sort": "value", "index_element_type": net.one("i32", "i64")}
    places = net.outputs("TopK", x, net.long(1), axis=2, **settings)[1]
    found = net.call("Gather", table, net.call("Squeeze", places, net.long([2])), net.long(0), batch_dims=0)
    return net.call("Add", x, found)
