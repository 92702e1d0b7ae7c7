"""Random networks of blocks as models have them: `python -m tests.releases.networks SEED COUNT RELEASE...`.

It tells where `compat` is wrong, with the first layer whose values differ, and where a release does not run what is
migrated for it.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

import ir_tools
from ir_tools.builder import Builder, Tensor
from ir_tools.errors import IrToolsError
from ir_tools.format.write import render
from ir_tools.graph import Source
from ir_tools.ops import Array, Role, role_of
from ir_tools.releases.measured import State
from ir_tools.releases.table import Release, find_release
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import element_type
from tests.releases.measure import Answer as Given
from tests.releases.measure import ask, client_of, reference
from tests.releases.pairs import after_migration_runs, asked, does
from tests.releases.questions import Question

__all__ = ["Network", "network"]

T = TypeVar("T")
Block = Callable[["Network", Source], Source]
BLOCKS: dict[str, list[Block]] = defaultdict(list)
"""By what they take and give: `image` is [N, C, H, W] with known C, `rows` is [N, T, D] with known D."""
UNARY = ("ReLU", "Swish", "HSwish", "Mish", "Gelu", "HSigmoid", "Sigmoid", "Tanh", "SoftPlus", "Abs", "Exp", "SoftSign")
IMAGE = 4
"""Of how many axes an image is."""
RESIZING = {"pads_begin": [0], "pads_end": [0], "antialias": False, "cube_coeff": -0.75, "nearest_mode": "floor"}


class Network:
    """A network in the making.

    Attributes:
        builder: which makes the model.
        rng: which decides everything.
        fed: the inputs.
        blocks: the names of the blocks.
    """

    def __init__(self, seed: int) -> None:
        """Make an empty model."""
        self.rng = np.random.default_rng(seed)
        self.builder = Builder(name=f"network {seed}", opset=int(self.rng.choice([8, 13, 14])))
        self.fed = dict[str, Array]()
        self.blocks = list[str]()
        self.halved = bool(self.rng.random() < 0.15)

    def call(self, type: str, *inputs: Tensor, **settings: Any) -> Source:
        """Return the first output of a new layer."""
        return self.builder.call(type, *inputs, **settings)

    def outputs(self, type: str, *inputs: Tensor, **settings: Any) -> tuple[Source, ...]:
        """Return the outputs of a new layer."""
        return self.builder.outputs(type, *inputs, **settings)

    def one(self, *choices: T) -> T:
        """Return one of several choices."""
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, part: float) -> bool:
        """Return whether something happens that happens in that part of all cases."""
        return bool(self.rng.random() < part)

    def input(self, name: str, sizes: Sequence[int], open: Sequence[int], dtype: str = "f32") -> Source:
        """Return an input, with some sizes unknown or bounded in half of the networks."""
        words = [str(size) for size in sizes]
        if self.chance(0.45):
            for axis in self.rng.choice(open, int(self.rng.integers(1, len(open) + 1)), replace=False):
                words[axis] = self.one("?", "?", f"1..{sizes[axis] * 2}")
        kind = element_type(dtype).dtype
        values = self.rng.normal(size=sizes)
        self.fed[name] = (values if dtype == "f32" else np.abs(values * 7)).astype(kind)
        return self.builder.parameter(name, ",".join(words), dtype)

    def floats(self, values: object) -> Source:
        """Return a constant of floats."""
        return self.builder.constant(np.array(values, np.float32))

    def whole(self, *values: int) -> Source:
        """Return a constant list of integers, of 64 or 32 bits."""
        return self.builder.constant(np.array(values, self.one(np.int64, np.int64, np.int32)))

    def long(self, values: int | Sequence[int]) -> Source:
        """Return a constant of integers of 64 bits."""
        return self.builder.constant(np.array(values, np.int64))

    def weights(self, *shape: int, scale: float | None = None) -> Source:
        """Return weights, which are stored as f16 in some networks."""
        scale = scale or float(np.prod(shape[1:])) ** -0.5
        values = (self.rng.normal(size=shape) * scale).astype(np.float32)
        if not self.halved:
            return self.builder.constant(values)
        return self.call("Convert", self.builder.constant(values.astype(np.float16)), destination_type="f32")

    def sizes(self, source: Source) -> list[int | None]:
        """Return the sizes of a tensor, None for unknown ones."""
        return [dim.lo if dim.lo == dim.hi else None for dim in self.builder.fact(source).shape or ()]

    def channels(self, source: Source, axis: int) -> int:
        """Return a size that is known by convention."""
        size = self.sizes(source)[axis]
        assert size is not None
        return size

    def size_of(self, source: Source, *axes: int) -> Source:
        """Return the list of some sizes as it is computed."""
        sizes = self.call("ShapeOf", source, output_type="i64")
        return self.call("Gather", sizes, self.long(axes), self.long(0), batch_dims=0)

    def reshape(self, source: Source, *sizes: int, keeps: bool = True) -> Source:
        """Return another shape of a tensor; 0 keeps a size."""
        return self.call("Reshape", source, self.long(sizes), special_zero=keeps)

    def transpose(self, source: Source, *order: int) -> Source:
        """Return a tensor with its axes in another order."""
        return self.call("Transpose", source, self.whole(*order))

    def product(self, first: Source, second: Source, *, transposed: bool = False) -> Source:
        """Return the product of matrices, of which the second may be transposed."""
        return self.call("MatMul", first, second, transpose_a=False, transpose_b=transposed)

    def build(self, steps: int) -> None:
        """Add an input, blocks, and Results; some are inside."""
        kind = self.one("image", "rows")
        data = images(self) if kind == "image" else rows(self)
        inside = list[Source]()
        for _ in range(steps):
            if kind == "image" and self.chance(0.12):
                data = self.transpose(self.reshape(data, 0, 0, -1), 0, 2, 1)
                kind = "rows"
            block = self.one(*BLOCKS[kind])
            try:
                data = block(self, data)
            except IrToolsError:
                continue
            self.blocks.append(block.__name__)
            inside += [data] * self.chance(0.15)
        if kind == "image" and self.chance(0.4):
            data = self.reshape(self.call("ReduceMean", data, self.whole(2, 3), keep_dims=True), 0, -1)
        for one in dict.fromkeys((*inside[:2], data)):
            self.builder.result(one)


def images(net: Network) -> Source:
    """Return an input of images, of bytes with channels behind in a few networks."""
    count, channels = net.one(1, 1, 2), net.one(3, 3, 4)
    height, width = net.one(8, 8, 7), net.one(8, 8, 10)
    if not net.chance(0.15):
        return net.input("image", (count, channels, height, width), (0, 2, 3))
    data = net.input("image", (count, height, width, channels), (0, 1, 2), "u8")
    scaled = net.call("Multiply", net.call("Convert", data, destination_type="f32"), net.floats([0.1]))
    return net.transpose(scaled, 0, 3, 1, 2)


def rows(net: Network) -> Source:
    """Return an input of rows, or rows of a table that an input names."""
    count, steps, width = net.one(1, 1, 2, 3), net.one(5, 6, 1, 8), net.one(8, 8, 16, 6)
    if net.chance(0.6):
        return net.input("x", (count, steps, width), (0, 1))
    table = net.weights(20, width, scale=1)
    return net.call(
        "Gather", table, net.input("ids", (count, steps), (0, 1), net.one("i64", "i32")), net.long(0), batch_dims=0
    )


def block(*kinds: str) -> Callable[[Block], Block]:
    """Put a block into the table."""

    def put(made: Block) -> Block:
        for kind in kinds:
            BLOCKS[kind].append(made)
        return made

    return put


# --- any tensors ------------------------------------------------------------------------------------------------


@block("rows", "image")
def activation(net: Network, x: Source) -> Source:
    """Compute each element, by one layer or several."""
    kind = net.one(*UNARY, "Clamp", "Elu", "PReLU", "gate", "erf", "tanh", "Selu", "HardSigmoid", "none")
    if kind == "none":
        return x
    if kind == "gate":
        return net.call("Multiply", x, net.call("Sigmoid", x))
    if kind == "erf":
        shifted = net.call("Add", net.call("Erf", net.call("Divide", x, net.floats([2**0.5]))), net.floats([1]))
        return net.call("Multiply", net.call("Multiply", x, shifted), net.floats([0.5]))
    if kind == "tanh":
        cube = net.call("Multiply", net.call("Power", x, net.floats([3])), net.floats([0.044715]))
        bent = net.call("Tanh", net.call("Multiply", net.call("Add", x, cube), net.floats([0.7978846])))
        return net.call("Multiply", net.call("Multiply", x, net.floats([0.5])), net.call("Add", bent, net.floats([1])))
    more: dict[str, list[object]] = {"PReLU": [[0.1]], "Selu": [[1.67], [1.05]], "HardSigmoid": [0.2, 0.5]}
    settings = {"Clamp": {"min": 0.0, "max": 6.0}, "Elu": {"alpha": 1.0}}.get(kind, {})
    return net.call(kind, x, *(net.floats(one) for one in more.get(kind, [])), **settings)


@block("rows", "image")
def residual(net: Network, x: Source) -> Source:
    """Join a tensor with what another block of the same kind makes of it, if the sizes fit, or with itself."""
    kind = "image" if len(net.sizes(x)) == IMAGE else "rows"
    other = net.one(*BLOCKS[kind])(net, x)
    if net.sizes(other) != net.sizes(x):
        other = activation(net, x)
    return net.call(net.one("Add", "Add", "Multiply", "Maximum", "Subtract"), *net.one((x, other), (other, x)))


@block("rows", "image")
def softmax(net: Network, x: Source) -> Source:
    rank = len(net.sizes(x))
    return net.call(net.one("SoftMax", "LogSoftmax"), x, axis=net.one(*range(1, rank), -1))


@block("rows", "image")
def normalized(net: Network, x: Source) -> Source:
    """Normalize along some axes, by one layer or several."""
    axes = net.one((1,), (-1,), (len(net.sizes(x)) - 1,))
    kind = net.one("NormalizeL2", "l2", "range", "MVN")
    if kind == "NormalizeL2":
        return net.call(kind, x, net.long(axes), eps=1e-6, eps_mode=net.one("add", "max"))
    if kind == "MVN":
        mode = net.one("inside_sqrt", "outside_sqrt")
        return net.call(kind, x, net.long(axes), eps=1e-5, normalize_variance=True, eps_mode=mode)
    if kind == "l2":
        norm = net.call("ReduceL2", x, net.whole(*axes), keep_dims=True)
        return net.call("Divide", x, net.call(net.one("Maximum", "Add"), norm, net.floats([1e-3])))
    least, most = (net.call(type, x, net.whole(*axes), keep_dims=True) for type in ("ReduceMin", "ReduceMax"))
    width = net.call("Add", net.call("Subtract", most, least), net.floats([0.01]))
    return net.call("Divide", net.call("Subtract", x, least), width)


@block("rows", "image")
def cut(net: Network, x: Source) -> Source:
    """Take a part of a tensor, forwards or backwards, by constants or by half of a size."""
    rank = len(net.sizes(x))
    axis = rank - net.one(1, 2) if rank == IMAGE else 1
    kind = net.one("constant", "computed", "backwards", "strided")
    if kind == "computed":
        size = net.call("Divide", net.size_of(x, axis), net.long([2]))
        return net.call("Slice", x, net.long([0]), size, net.long([1]), net.long([axis]))
    if kind == "strided":
        kept = [int(place != axis) for place in range(rank)]
        steps = [1 if whole else 2 for whole in kept]
        limits = [net.long([0] * rank), net.long([99] * rank), net.long(steps)]
        masks = dict.fromkeys(("new_axis_mask", "shrink_axis_mask", "ellipsis_mask"), [0] * rank)
        return net.call("StridedSlice", x, *limits, begin_mask=kept, end_mask=kept, **masks)
    start, end, step = (-1, -9999, -1) if kind == "backwards" else (1, net.one(999, -1), 1)
    return net.call("Slice", x, *(net.long([one]) for one in (start, end, step, axis)))


@block("rows", "image")
def chosen(net: Network, x: Source) -> Source:
    """Choose elements by a comparison."""
    other = net.one(net.floats(0.0), net.call("ReduceMean", x, net.whole(-1), keep_dims=True))
    return net.call("Select", net.call(net.one("Greater", "LessEqual"), x, other), x, net.floats(0.1))


@block("rows", "image")
def shifted(net: Network, x: Source) -> Source:
    axis = len(net.sizes(x)) - 1
    if net.chance(0.5):
        return net.call("Roll", x, net.whole(net.one(1, -1)), net.whole(axis))
    ends = [0] * axis + [1]
    padded = net.call("Pad", x, net.long(ends), net.long(ends), net.floats(0.5), pad_mode=net.one("constant", "edge"))
    return net.call("Slice", padded, net.long([0]), net.long([-2]), net.long([1]), net.long([axis]))


@block("rows", "image")
def spread(net: Network, x: Source) -> Source:
    """Combine a tensor with its maximum, repeated to its sizes."""
    most = net.call("ReduceMax", x, net.whole(1), keep_dims=True)
    sizes = net.call("ShapeOf", x, output_type=net.one("i64", "i32"))
    return net.call("Add", x, net.call("Broadcast", most, sizes, mode=net.one("numpy", "bidirectional")))


@block("rows", "image")
def quantized(net: Network, x: Source) -> Source:
    """Round to steps that no value is a tie of."""
    limits = [net.floats(np.full([1] * len(net.sizes(x)), one)) for one in (-2.87, 3.13, -2.87, 3.13)]
    return net.call("FakeQuantize", x, *limits, levels=7)


# --- images -----------------------------------------------------------------------------------------------------


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


# --- rows -------------------------------------------------------------------------------------------------------


def linear(net: Network, x: Source, outputs: int, bias: bool = True) -> Source:
    """Return a product with weights, which are constants of either order."""
    width = net.channels(x, -1)
    if net.chance(0.8):
        found = net.product(x, net.weights(outputs, width), transposed=True)
    else:
        found = net.product(x, net.weights(width, outputs, scale=width**-0.5))
    return net.call("Add", found, net.weights(1, 1, outputs, scale=0.3)) if bias else found


@block("rows", "rows")
def layer_normalized(net: Network, x: Source) -> Source:
    """Normalize along the last axis, by one layer or several."""
    rank, width, kind = len(net.sizes(x)), net.channels(x, -1), net.one("MVN", "by hand", "root", "inverse")
    scale, shift = (net.weights(*[1] * (rank - 1), width, scale=1) for _ in range(2))
    if kind == "MVN":
        found = net.call(kind, x, net.long([-1]), eps=1e-5, normalize_variance=True, eps_mode="inside_sqrt")
        return net.call("Add", net.call("Multiply", found, scale), shift)
    data = x
    if kind != "root":
        data = net.call("Subtract", x, net.call("ReduceMean", x, net.whole(-1), keep_dims=True))
    square = net.one(net.call("Power", data, net.floats([2])), net.call("Multiply", data, data))
    variance = net.call("Add", net.call("ReduceMean", square, net.whole(-1), keep_dims=True), net.floats([1e-5]))
    if kind == "inverse":
        found = net.call("Multiply", data, net.call("Power", variance, net.floats([-0.5])))
    else:
        found = net.call("Divide", data, net.call("Sqrt", variance))
    return net.call("Add", net.call("Multiply", found, scale), shift)


@block("rows")
@block("rows")
def attention(net: Network, x: Source) -> Source:
    """Attend to the same rows, or to a second input."""
    width = net.channels(x, -1)
    heads = net.one(1, 2, 4) if width % 4 == 0 else 1
    other = x
    if net.chance(0.2) and "memory" not in net.fed and net.sizes(x)[0] is not None:
        other = net.input("memory", (net.channels(x, 0), 7, width), (1,))
    if other is x and net.chance(0.4):
        parts = net.outputs("Split", linear(net, x, 3 * width), net.long(2), num_splits=3)
    else:
        parts = tuple(linear(net, one, width) for one in (x, other, other))
    query, key, value = (net.transpose(net.reshape(one, 0, 0, heads, width // heads), 0, 2, 1, 3) for one in parts)
    if net.chance(0.3) and width // heads % 2 == 0:
        query, key = rotated(net, query), rotated(net, key)
    mask = [causal(net, x)] if other is x and net.chance(0.5) else []
    if net.chance(0.3):
        causes = not mask and net.chance(0.5)
        found = net.call("ScaledDotProductAttention", query, key, value, *mask, causal=causes)
    else:
        scores = net.product(query, key, transposed=True)
        scores = net.call(net.one("Multiply", "Divide"), scores, net.floats([[[[0.5]]]]))
        for one in mask:
            scores = net.call("Add", scores, one)
        found = net.product(net.call("SoftMax", scores, axis=net.one(3, -1)), value)
    return net.call("Add", x, linear(net, net.reshape(net.transpose(found, 0, 2, 1, 3), 0, 0, width), width))


def causal(net: Network, x: Source) -> Source:
    """Return the mask of what comes later."""
    steps = net.call("Squeeze", net.size_of(x, 1), net.long([0]))
    counted = net.call("Range", net.long(0), steps, net.long(1), output_type="i64")
    behind, before = (net.call("Unsqueeze", counted, net.long([axis])) for axis in (0, 1))
    hidden = net.floats(net.one(-1e4, -3e38))
    return net.call("Select", net.call("LessEqual", behind, before), net.floats(0), hidden)


def rotated(net: Network, heads: Source) -> Source:
    """Return queries or keys with rotary positions."""
    half = net.channels(heads, -1) // 2
    first, second = net.outputs("VariadicSplit", heads, net.long(3), net.long([half, half]))
    negative = net.one(net.call("Negative", second), net.call("Multiply", second, net.floats([-1])))
    turned = net.call("Concat", negative, first, axis=net.one(-1, 3))
    steps = net.call("Squeeze", net.size_of(heads, 2), net.long([0]))
    places = net.call("Range", net.long(0), steps, net.long(1), output_type="f32")
    angles = net.call(
        "Multiply", net.call("Unsqueeze", places, net.long([1])), net.floats([[0.5**i for i in range(half)] * 2])
    )
    kept = net.call("Multiply", heads, net.call("Cos", angles))
    return net.call("Add", kept, net.call("Multiply", turned, net.call("Sin", angles)))


@block("rows")
def feed_forward(net: Network, x: Source) -> Source:
    width = net.channels(x, -1)
    if net.chance(0.5):
        return net.call("Add", x, linear(net, activation(net, linear(net, x, 2 * width)), width))
    first, second = net.outputs("Split", linear(net, x, 2 * width), net.long(net.one(2, -1)), num_splits=2)
    return net.call("Multiply", first, net.call(net.one("Sigmoid", "Swish"), second))


@block("rows")
def recurrent(net: Network, x: Source) -> Source:
    """Run a sequence forwards, backwards or both ways."""
    kind, size, width = net.one("LSTM", "GRU", "RNN"), net.one(3, 8), net.channels(x, -1)
    gates, ways = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind], net.one(1, 1, 2)
    direction = "bidirectional" if ways == 2 else net.one("forward", "reverse")
    count = net.size_of(x, 0)
    lengths = net.call("Broadcast", net.size_of(x, 1), count, mode="numpy")
    start = net.call(
        "Broadcast", net.floats(0), net.call("Concat", count, net.long([ways, size]), axis=0), mode="numpy"
    )
    apart = kind == "GRU" and net.chance(0.5)
    weights = [net.weights(ways, gates * size, one, scale=0.3) for one in (width, size)]
    weights.append(net.weights(ways, (gates + apart) * size, scale=0.3))
    settings: dict[str, object] = {"hidden_size": size, "direction": direction}
    settings["activations"] = ["tanh"] if kind == "RNN" else ["sigmoid", *["tanh"] * (2 if kind == "LSTM" else 1)]
    settings |= {"linear_before_reset": apart} if kind == "GRU" else {}
    states = [start] * (2 if kind == "LSTM" else 1)
    found = net.outputs(f"{kind}Sequence", x, *states, lengths, *weights, **settings)[0]
    return net.reshape(net.transpose(found, 0, 2, 1, 3), 0, 0, ways * size)


@block("rows")
def filtered_rows(net: Network, x: Source) -> Source:
    """Filter along the rows."""
    width, ahead = net.channels(x, -1), net.chance(0.5)
    windows = {"strides": [1], "dilations": [1], "pads_begin": [2 if ahead else 1], "pads_end": [0 if ahead else 1]}
    columns = net.transpose(x, 0, 2, 1)
    if net.chance(0.5):
        found = net.call("Convolution", columns, net.weights(width, width, 3), **windows)
    else:
        found = net.call("GroupConvolution", columns, net.weights(width, 1, 1, 3), **windows)
    return net.transpose(activation(net, found), 0, 2, 1)


@block("rows")
def summed(net: Network, x: Source) -> Source:
    kind = net.one("CumSum", "Einsum", "own", "product")
    if kind == "CumSum":
        return net.call(kind, x, net.long(1), exclusive=net.chance(0.3), reverse=net.chance(0.3))
    if kind == "own":
        return net.product(net.call("SoftMax", net.product(x, x, transposed=True), axis=-1), x)
    if kind == "Einsum":
        return net.call(kind, x, net.weights(net.channels(x, -1), 8), equation="btd,de->bte")
    scores = net.call("Einsum", x, x, equation="bid,bjd->bij")
    return net.call("Einsum", scores, x, equation="bij,bjd->bid")


@block("rows")
def best_rows(net: Network, x: Source) -> Source:
    """Take some rows, the best or those that a comparison finds."""
    kind = net.one("i32", "i64")
    found = net.one("values", "rows", "nonzero", "one-hot")
    if found == "nonzero":
        sums = net.call("ReduceSum", x, net.whole(0, 2), keep_dims=False)
        places = net.call("NonZero", net.call("Greater", sums, net.floats(0)), output_type=kind)
        taken = net.call("Gather", x, net.call("Squeeze", places, net.long([0])), net.long(1), batch_dims=0)
        return net.call("Concat", x, taken, axis=1)
    best = {"mode": net.one("max", "min"), "sort": "value", "index_element_type": kind}
    if found == "one-hot":
        places = net.outputs("TopK", x, net.long(1), axis=2, **best)[1]
        count = net.long(net.channels(x, -1))
        hot = net.call(
            "OneHot", net.call("Squeeze", places, net.long([2])), count, net.floats(1), net.floats(0), axis=-1
        )
        return net.call("Multiply", x, hot)
    if found == "values":
        most, places = net.outputs("TopK", x, net.long(1), axis=1, **best)
        return net.call("Add", most, net.call("Convert", places, destination_type="f32"))
    sums = net.call("ReduceSum", x, net.whole(2), keep_dims=False)
    return net.call("Gather", x, net.outputs("TopK", sums, net.long(1), axis=1, **best)[1], net.long(1), batch_dims=1)


@block("rows")
def updated(net: Network, x: Source) -> Source:
    width, kind = net.channels(x, -1), net.one("ScatterNDUpdate", "GatherND", "ScatterUpdate", "GatherElements")
    if kind == "ScatterNDUpdate":
        return net.call(kind, x, np.array([[0, 0]], np.int64), net.weights(1, width))
    if kind == "GatherND":
        return net.call("Add", x, net.call(kind, x, np.array([[0, 0]], np.int32), batch_dims=0))
    first = net.call("Slice", net.call("Exp", x), net.long([0]), net.long([1]), net.long([1]), net.long([1]))
    if kind == "ScatterUpdate":
        return net.call(kind, x, net.whole(0), first, net.whole(1))
    places = net.call("Convert", net.call("Greater", x, net.floats(50)), destination_type=net.one("i64", "i32"))
    return net.call(kind, x, places, axis=1)


@block("rows")
def measured(net: Network, x: Source) -> Source:
    """Append reductions of each row."""
    kinds = net.rng.choice(
        ["ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum", "ReduceL1", "ReduceL2"], 2, replace=False
    )
    return net.call("Concat", x, *(net.call(kind, x, net.whole(2), keep_dims=True) for kind in kinds), axis=2)


@block("rows")
def placed(net: Network, x: Source) -> Source:
    """Add positions that are cut out of a table."""
    table = net.weights(1, 64, net.channels(x, -1))
    return net.call("Add", x, net.call("Slice", table, net.long([0]), net.size_of(x, 1), net.long([1]), net.long([1])))


@block("rows")
def transformed(net: Network, x: Source) -> Source:
    found = net.call("RDFT", x, net.long([2]))
    if net.chance(0.5):
        return net.call("IRDFT", found, net.long([2]), net.long([net.channels(x, -1)]))
    return net.call("ReduceSum", found, net.whole(3), keep_dims=False)


@block("rows")
def remainder(net: Network, x: Source) -> Source:
    return net.call(net.one("Mod", "FloorMod"), x, net.floats([0.7]))


@block("rows")
def repeated(net: Network, x: Source) -> Source:
    if net.chance(0.5):
        return net.call("Tile", x, net.whole(1, 2, 1))
    return net.call(net.one("ReduceMean", "ReduceMax"), x, net.whole(1), keep_dims=True)


# --- asking -----------------------------------------------------------------------------------------------------


def network(seed: int) -> Question:
    """Return a random network.

    Raises:
        IrToolsError: the blocks do not fit.
    """
    net = Network(seed)
    net.build(int(net.rng.integers(2, 6)))
    model = net.builder.model
    return Question(
        "+".join(net.blocks), str(seed), model.version, render(model), b"".join(model.weights.tail()), net.fed
    )


def first_wrong(question: Question, release: Release) -> str:
    """Return the first layer, in order, that a release computes otherwise if its outputs are those of the model."""
    with client_of(release) as client:
        return _first_wrong(question, client)


def _first_wrong(question: Question, client: RuntimeClient) -> str:
    for place in range(len([*ir_tools.read(question.xml, question.weights).graph.ordered()])):
        model = ir_tools.read(question.xml, question.weights)
        layer = [*model.graph.ordered()][place]
        if role_of(layer) is not Role.COMPUTATION:
            continue
        for result in [one for one in model.graph.layers() if role_of(one) is Role.RESULT]:
            model.graph.remove(result.id)
        for port in layer.outputs:
            Builder(model).result(Source(layer.id, port.id))
        part = replace(question, xml=render(model))
        wanted, found = reference(part), ask(client, part)
        if wanted and does(part, found, Given(None, wanted)) is not State.RUNS:
            return f"{layer.type} '{layer.name}'"
    return "no layer alone"


def wrong(seeds: Sequence[int], names: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong about networks, and then how much is right."""
    all_of = right = promised = kept = 0
    asking = ((network(seed), release) for seed in seeds for release in map(find_release, names))
    for pair in asked(asking):
        all_of += 1
        about, right = f"{pair.release.name}: {pair.question.case}", right + pair.right
        if not pair.right:
            why = pair.said.obstacles[0] if pair.said.obstacles else first_wrong(pair.question, pair.release)
            yield f"{about}: {pair.said.answer}, does {pair.does.name}: {pair.question.about}: {why}"
        runs = None if pair.does is State.RUNS else after_migration_runs(pair.question, pair.release)
        promised, kept = promised + (runs is not None), kept + (runs is True)
        if runs is False:
            yield f"{about}: does not run after migration"
    yield f"{right} of {all_of} right; {kept} of {promised} promises kept"


if __name__ == "__main__":
    first, count = map(int, sys.argv[1:3])
    for line in wrong(range(first, first + count), sys.argv[3:]):
        print(line, flush=True)
