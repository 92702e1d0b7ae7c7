"""Random legacy convolutions, deconvolutions, binary convolutions and fully connected layers."""

from collections.abc import Sequence

import numpy as np

from ir_tools.ops.fields import listed
from tests.legacy.net import (
    Array,
    LegacyCase,
    Maker,
    Net,
    Rng,
    Tensor,
    chance,
    kind_of,
    optional,
    pick,
    quantize_type,
)

AXES = ("y", "x")
EARLY = (("stride", "strides", 1), ("pad", "pads_begin", 0), ("dilation", "dilations", 1))
"""Attributes of v2 for each axis, what they are called later, and their value when they are absent."""


def spellings(
    rng: Rng, version: int, windows: dict[str, list[int]], auto_pad: str, *, plain: dict[str, object]
) -> dict[str, object]:
    """Write a window: `kernel-x` and so on in v2, lists after it; attributes that have their default may be absent."""
    ones, zeros = [1] * len(windows["kernel"]), [0] * len(windows["kernel"])
    begin, end = windows["pads_begin"], windows["pads_end"]
    data = dict(plain)
    if auto_pad:
        data["auto_pad"] = auto_pad
    if version == 2 and len(ones) == 2:
        for at, axis in enumerate(AXES):
            data[f"kernel-{axis}"] = windows["kernel"][at]
            for old, name, default in EARLY:
                if name in windows and (windows[name][at] != default or chance(rng, 0.5)):
                    data[f"{old}-{axis}"] = windows[name][at]
            if end[at] != begin[at] or chance(rng, 0.5):
                data["pad-b" if axis == "y" else "pad-r"] = end[at]
        return data
    if chance(rng, 0.1):
        data[pick(rng, "kernel-x", "stride-y", "pad-x", "pad-r", "stride")] = pick(rng, 0, 2, 5)
    data |= {name: listed(values) for name, values in windows.items()}
    return optional(
        rng, data, strides=listed(ones), pads_begin=listed(zeros), pads_end=listed(begin), dilations=listed(ones)
    )


def _window(rng: Rng, rank: int, group_free: bool = True) -> dict[str, list[int]]:
    kernel = [int(size) for size in rng.integers(1, 4, rank)]
    dilated = chance(rng, 0.3) and group_free
    return {
        "kernel": kernel,
        "strides": [int(size) for size in rng.integers(1, 4, rank)],
        "pads_begin": [int(rng.integers(0, size)) for size in kernel],
        "pads_end": [int(rng.integers(0, size)) for size in kernel],
        "dilations": [int(size) for size in rng.integers(1, 3 if dilated else 2, rank)],
    }


def _pads(window: dict[str, list[int]], auto_pad: str, sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pads of each axis as the old runtime resolves them before it looks at the declared sizes."""
    if auto_pad == "valid":
        return [(0, 0)] * len(sizes)
    if auto_pad not in ("same_upper", "same_lower"):
        return list(zip(window["pads_begin"], window["pads_end"], strict=True))
    pads = []
    for kernel, step, spread, size in zip(window["kernel"], window["strides"], window["dilations"], sizes, strict=True):
        total = max((kernel - 1) * spread + 1 - (size % step or step), 0)
        small, large = total // 2, total - total // 2
        pads.append((small, large) if auto_pad == "same_upper" else (large, small))
    return pads


def _groups(rng: Rng) -> tuple[int, int, int]:
    """Draw groups, input channels and output channels."""
    group = pick(rng, 1, 1, 1, 2, 3, 4, 8)
    depthwise = group > 1 and chance(rng, 0.4)
    of_group, out_group = (1, 1) if depthwise else (int(rng.integers(1, 6)), int(rng.integers(1, 6)))
    return group, group * of_group, group * out_group


def convolution(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    rank = 2 if version == 2 else pick(rng, 2, 2, 2, 3)
    group, channels, out_channels = _groups(rng)
    window = _window(rng, rank)
    auto_pad = pick(rng, "", "", "", "valid", "same_upper", "same_lower")
    reach = [(size - 1) * spread + 1 for size, spread in zip(window["kernel"], window["dilations"], strict=True)]
    sizes = [int(size + rng.integers(0, 6)) for size in reach]
    pads = _pads(window, auto_pad, sizes)
    out = [
        (size + sum(pad) - length) // step + 1
        for size, pad, length, step in zip(sizes, pads, reach, window["strides"], strict=True)
    ]
    plain: dict[str, object] = {"output": out_channels, "group": group}
    data = spellings(rng, version, window, auto_pad, plain=optional(rng, plain, group=1))
    weights = net.values(out_channels, channels // group, *window["kernel"])
    blobs = {"weights": weights} | ({"biases": net.values(out_channels)} if chance(rng, 0.7) else {})
    batch = int(rng.integers(1, 3))
    kind = kind_of(rng, "Convolution")
    source = net.input(net.values(batch, channels, *sizes))
    inputs, blobs = _weights(net, source, blobs, kind == "Convolution")
    net.layer(kind, inputs, [(batch, out_channels, *out)], data, blobs)
    return net.case()


def _weights(net: Net, source: Tensor, blobs: dict[str, Array], usual: bool) -> tuple[list[Tensor], dict[str, Array]]:
    """Return inputs and blobs of a layer; since v6 weights and biases of a usual one may be inputs."""
    if net.version < 6 or not usual or chance(net.rng, 0.6):
        return [source], blobs
    return [source, *map(net.const, blobs.values())], {}


def deconvolution(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    rank = 2 if version == 2 else pick(rng, 2, 2, 2, 3)
    group, channels, out_channels = _groups(rng)
    window = _window(rng, rank, group_free=False)
    auto_pad = pick(rng, "", "", "", "valid", "same_upper", "same_lower")
    sizes = [int(size) for size in rng.integers(2, 6, rank)]
    pads, out = [], []
    for at, size in enumerate(sizes):
        kernel, step = window["kernel"][at], window["strides"][at]
        if auto_pad.startswith("same"):
            out.append(size * step)
            total = max(kernel - (size * step % step or step), 0)
            small, large = total // 2, total - total // 2
            pads.append((small, large) if auto_pad == "same_upper" else (large, small))
        else:
            begin, end = (0, 0) if auto_pad == "valid" else (window["pads_begin"][at], window["pads_end"][at])
            out.append(max((size - 1) * step + kernel - begin - end, 1))
            pads.append((begin, end))
    written = [
        (size - 1) * step + kernel - begin
        for size, step, kernel, (begin, _) in zip(sizes, window["strides"], window["kernel"], pads, strict=True)
    ]
    plain: dict[str, object] = {"output": out_channels, "group": group}
    data = spellings(rng, version, window, auto_pad, plain=optional(rng, plain, group=1))
    weights = net.values(channels, out_channels // group, *window["kernel"])
    blobs = {"weights": weights} | ({"biases": net.values(out_channels)} if chance(rng, 0.6) else {})
    batch = int(rng.integers(1, 3))
    source = net.input(net.values(batch, channels, *sizes))
    net.layer(kind_of(rng, "Deconvolution"), [source], [(batch, out_channels, *out)], data, blobs)
    # A kernel of one element that leaves rows out has the others in wrong places too.
    mask = np.ones((batch, out_channels, *out), np.bool_)
    if max(window["kernel"]) > 1 or all(end >= length for end, length in zip(written, out, strict=True)):
        mask[(slice(None), slice(None), *map(slice, written))] = False
    return net.case(mask=mask)


def fully_connected(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = pick(rng, (2, 5), (1, 7), (1, 3, 4, 2), (2, 2, 3, 3), (3, 1, 1, 1))
    units = int(rng.integers(1, 7))
    data: dict[str, object] = {"out-size": units}
    data |= {"alpha": 2, "beta": 0.5} if chance(rng, 0.1) else {}
    blobs = {"weights": net.values(units, int(np.prod(shape[1:])))}
    blobs |= {"biases": net.values(units)} if chance(rng, 0.7) else {}
    kind = pick(rng, "FullyConnected", "FullyConnected", "FullyConnected", "InnerProduct")
    usual = kind == "FullyConnected" and len(shape) == 2
    inputs, blobs = _weights(net, net.input(net.values(*shape)), blobs, usual)
    net.layer(kind, inputs, [(shape[0], units)], data, blobs)
    return net.case()


def binary_convolution(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    channels = pick(rng, 8, 8, 16, 32, 64, 3)
    out_channels = pick(rng, 1, 4, 8, 16, 20)
    window = _window(rng, 2)
    sizes = [
        int((size - 1) * spread + 1 + rng.integers(0, 6))
        for size, spread in zip(window["kernel"], window["dilations"], strict=True)
    ]
    out = [
        (size + sum(pad) - (kernel - 1) * spread - 1) // step + 1
        for size, pad, kernel, spread, step in zip(
            sizes, _pads(window, "", sizes), window["kernel"], window["dilations"], window["strides"], strict=True
        )
    ]
    plain: dict[str, object] = {
        "input": channels,
        "output": out_channels,
        "group": 1,
        "mode": "xnor-popcount",
        "pad_value": pick(rng, 0, 0, -1, 1),
    }
    data = spellings(rng, version, window, "", plain=optional(rng, plain, group=1, mode="xnor-popcount", pad_value=0))
    count = out_channels * channels * int(np.prod(window["kernel"]))
    packed = rng.integers(0, 256, -(-count // 8)).astype(np.uint8)
    source = net.input(net.values(1, channels, *sizes))
    net.layer("BinaryConvolution", [source], [(1, out_channels, *out)], data, {"weights": packed})
    return net.case(undefined="input channels are not a multiple of 8" if channels % 8 else "")


def binarize(rng: Rng, version: int) -> LegacyCase:
    """Make a quantization to two levels that BinaryConvolution reads; inputs are often in the middle of the limits."""
    net = Net(rng, version)
    shape = (1, 8 * int(rng.integers(1, 3)), int(rng.integers(2, 5)), int(rng.integers(2, 5)))
    sizes = pick(rng, (1, 1, 1, 1), (1, shape[1], 1, 1))
    limits = [rng.integers(pick(rng, -1, 0), 2, sizes).astype(np.float32) for _ in range(4)]
    source = net.input(rng.integers(-2, 3, shape).astype(np.float32) / 2)
    inputs = [source, *(net.const(limit) for limit in limits)]
    found = net.layer(quantize_type(version), inputs, [shape], {"levels": 2})
    window = {"kernel": [1, 1], "strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0], "dilations": [1, 1]}
    data = spellings(rng, version, window, "", plain={"input": shape[1], "output": 1})
    packed = rng.integers(0, 256, shape[1] // 8).astype(np.uint8)
    net.layer("BinaryConvolution", found, [(1, 1, *shape[2:])], data, {"weights": packed})
    return net.case()


MAKERS: dict[str, Maker] = {
    "Convolution": convolution,
    "Deconvolution": deconvolution,
    "FullyConnected": fully_connected,
    "BinaryConvolution": binary_convolution,
    "BinaryConvolution of two levels": binarize,
}
