"""A network in the making, and the table of the blocks that it is made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ir_tools.builder import Builder, Tensor
from ir_tools.errors import IrToolsError
from ir_tools.format.write import render
from ir_tools.graph import Source
from ir_tools.ops import Array
from ir_tools.types import element_type
from tests.releases.questions import Question

T = TypeVar("T")
Block = Callable[["Network", Source], Source]
BLOCKS: dict[str, list[Block]] = defaultdict(list)
"""By what they take and give: `image` is [N, C, H, W], `volume` [N, C, D, H, W], `rows` [N, T, D]."""
IMAGE = 4
"""Of how many axes an image is."""
KINDS = {3: "rows", IMAGE: "image", 5: "volume"}
"""What a tensor is, by the number of its axes."""


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
        kind = self.one("image", "image", "image", "rows", "rows", "rows", "volume")
        data = {"image": images, "rows": rows, "volume": volumes}[kind](self)
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


def volumes(net: Network) -> Source:
    """Return an input of volumes."""
    return net.input("volume", (net.one(1, 2), net.one(2, 3), 4, net.one(6, 5), 6), (0, 2, 3, 4))


def block(*kinds: str) -> Callable[[Block], Block]:
    """Put a block into the table."""

    def put(made: Block) -> Block:
        for kind in kinds:
            BLOCKS[kind].append(made)
        return made

    return put


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
