"""Random quantized products for releases: `python -m tests.releases.quantized SEED COUNT RELEASE...`.

It tells where `compat` is wrong, with the shortest chain of steps that still shows it; `python -m
tests.releases.quantized "1,4,?,5 fq:zero conv:3:i8:each bias relu >soft" RELEASE...` asks about a chain. A chain is the
shape of the input and steps, of which those with `>` give outputs:

    fq:LIMITS              a FakeQuantize with the limits of `LIMITS`
    OP:SIZE:WEIGHTS:SCALE  a convolution of `CONVOLUTIONS` with a kernel of that size along each axis, or `mm` or `mt`,
                           a MatMul with that many columns, and weights of `WEIGHTS` with scales of `SCALES`
    NAME                   a step of `STEPS`
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from ir_tools.builder import Builder, Tensor
from ir_tools.errors import IrToolsError
from ir_tools.format.write import render
from ir_tools.graph import Source
from ir_tools.ops import Array
from ir_tools.releases.table import find_release
from tests.releases.pairs import Clients, Pair, pair_of
from tests.releases.questions import Question

CHANNELS = 4
"""Of convolutions."""
COLUMNS = 8
"""Of the input of a MatMul."""
LIMITS = {
    "u8": (0, 2.5637, 256),
    "i8": (-1.2928, 1.2827, 256),
    "zero": (-0.505, 2.0705, 256),
    "below": (-3.01, -0.45, 256),
    "even": (-1.2713, 1.2713, 255),
    "few": (0, 1.53, 16),
}
"""The least value, the largest one and the number of levels; steps are such that few values are between two levels."""
CONVOLUTIONS = {
    "conv": ("Convolution", (4, 4), (4, 1)),
    "dw": ("GroupConvolution", (4, 1, 1), (4, 1, 1)),
    "groups": ("GroupConvolution", (2, 2, 2), (2, 2, 1)),
    "back": ("ConvolutionBackpropData", (4, 4), (1, 4)),
    "groupback": ("GroupConvolutionBackpropData", (2, 2, 2), (2, 1, 2)),
}
"""The type, the first sizes of the weights, and those of a scale for each channel."""
WEIGHTS = ("i8", "i8", "u8", "fq", "i8zero", "u8zero", "i8zeros", "u8zeros")
"""Stored integers, without a zero point, with one, or with as many as there are scales; floats in a FakeQuantize."""

SCALES = ("each", "each", "one", "one", "no")


class Chain:
    """A model in the making.

    Attributes:
        builder: which makes the model.
        rng: which decides about the numbers.
        axis: of the channels.
        width: how many channels there are.
        rank: of the input.
    """

    def __init__(self, shape: str, *, rows: bool) -> None:
        """Start with an input of rows, whose channels are behind, or of images."""
        self.builder, self.rng = Builder(opset=8), np.random.default_rng(0)
        self.rank = len(shape.split(","))
        self.axis, self.width = (self.rank - 1, COLUMNS) if rows else (1, CHANNELS)
        sizes = [int(word) if word != "?" else 6 - axis for axis, word in enumerate(shape.split(","))]
        self.fed = self.rng.normal(size=sizes).astype(np.float32)
        self.input = self.builder.parameter("x", shape, "f32")

    def call(self, type: str, *inputs: Tensor, **settings: Any) -> Source:
        """Return the output of a new layer."""
        return self.builder.call(type, *inputs, **settings)

    def number(self, value: float) -> Source:
        """Return a constant of one number."""
        return self.builder.constant(np.float32(value))

    def axes(self, *values: int) -> Source:
        """Return a constant list of axes or sizes."""
        return self.builder.constant(np.array(values, np.int64))

    def each(self) -> Source:
        """Return a constant of a number for each channel."""
        sizes = [self.width, *[1] * (self.rank - 1 - self.axis)]
        return self.builder.constant(self.rng.normal(size=sizes).astype(np.float32))

    def limited(self, data: Source, name: str) -> Source:
        """Return data that are rounded to levels."""
        low, high, levels = LIMITS[name]
        return self.call("FakeQuantize", data, *map(self.number, (low, high, low, high)), levels=levels)

    def weights(self, sizes: Sequence[int], kind: str, scale: str, each: Sequence[int]) -> Source:
        """Return weights with a scale for each channel, of these sizes, with one or without."""
        scales = each if scale == "each" else [1] * len(each)
        if kind == "fq":
            limits = [self.builder.constant(np.full(scales, value, np.float32)) for value in (-2.02, 2.02)]
            return self.call("FakeQuantize", self._floats(self.rng.normal(size=sizes)), *limits, *limits, levels=255)
        low, high, middle = (0, 255, 127) if kind[0] == "u" else (-127, 128, 3)
        stored = self.rng.integers(low, high, sizes).astype(np.uint8 if kind[0] == "u" else np.int8)
        found = self.call("Convert", self.builder.constant(stored), destination_type="f32")
        if kind.endswith("zero"):
            found = self.call("Subtract", found, self.number(middle))
        elif kind.endswith("zeros"):
            zeros = self.builder.constant((middle + self.rng.integers(-2, 3, scales)).astype(stored.dtype))
            found = self.call("Subtract", found, self.call("Convert", zeros, destination_type="f32"))
        if scale == "no":
            return found
        return self.call("Multiply", found, self._floats(self.rng.uniform(0.01, 0.03, scales)))

    def _floats(self, values: Array) -> Source:
        return self.builder.constant(values.astype(np.float32))

    def product(self, data: Source, type: str, size: int, kind: str, scale: str) -> Source:
        """Return a product with weights."""
        if type in {"mm", "mt"}:
            sizes, scales = [size, self.width], [size, 1]
            if type == "mm":
                sizes, scales = sizes[::-1], scales[::-1]
            weights = self.weights(sizes, kind, scale, scales)
            self.width = size
            return self.call("MatMul", data, weights, transpose_a=False, transpose_b=type == "mt")
        op, first, scaled = CONVOLUTIONS[type]
        around = self.rank - 2
        weights = self.weights([*first, *[size] * around], kind, scale, [*scaled, *[1] * around])
        windows: dict[str, Any] = {"strides": [1] * around, "dilations": [1] * around}
        windows |= {"pads_begin": [size // 2] * around, "pads_end": [size // 2] * around, "auto_pad": "explicit"}
        if "Backprop" in op:
            windows["output_padding"] = [0] * around
        return self.call(op, data, weights, **windows)

    def step(self, data: Source, text: str) -> Source:
        """Return what a step makes of data."""
        name, *rest = text.split(":")
        if name == "fq":
            return self.limited(data, *rest)
        if rest:
            size, kind, scale = rest
            return self.product(data, name, int(size), kind, scale)
        return STEPS[name](self, data)


def _halves(chain: Chain, data: Source) -> Source:
    first, second = chain.builder.outputs("Split", data, chain.builder.constant(np.int64(chain.axis)), num_splits=2)
    return chain.call("Concat", second, first, axis=chain.axis)


STEPS: dict[str, Callable[[Chain, Source], Source]] = {
    "bias": lambda chain, x: chain.call("Add", x, chain.each()),
    "less": lambda chain, x: chain.call("Subtract", x, chain.each()),
    "scale": lambda chain, x: chain.call("Multiply", x, chain.each()),
    "add": lambda chain, x: chain.call("Add", x, chain.number(0.3)),
    "times": lambda chain, x: chain.call("Multiply", x, chain.number(0.7)),
    "minus": lambda chain, x: chain.call("Multiply", x, chain.number(-0.7)),
    "over": lambda chain, x: chain.call("Divide", x, chain.number(1.7)),
    "negative": lambda chain, x: chain.call("Negative", x),
    "relu": lambda chain, x: chain.call("ReLU", x),
    "prelu": lambda chain, x: chain.call("PReLU", x, chain.number(0.1)),
    "slopes": lambda chain, x: chain.call(
        "PReLU", x, chain.builder.constant(np.linspace(0.1, 0.4, chain.width, dtype=np.float32))
    ),
    "elu": lambda chain, x: chain.call("Elu", x, alpha=0.5),
    "tanh": lambda chain, x: chain.call("Tanh", x),
    "sigmoid": lambda chain, x: chain.call("Sigmoid", x),
    "gelu": lambda chain, x: chain.call("Gelu", x, approximation_mode="ERF"),
    "hswish": lambda chain, x: chain.call("HSwish", x),
    "abs": lambda chain, x: chain.call("Abs", x),
    "clamp": lambda chain, x: chain.call("Clamp", x, min=-1.0, max=2.0),
    "swish": lambda chain, x: chain.call("Multiply", x, chain.call("Sigmoid", x)),
    "residual": lambda chain, x: chain.call("Add", x, chain.call("Tanh", x)),
    "soft": lambda chain, x: chain.call("SoftMax", x, axis=chain.axis),
    "mvn": lambda chain, x: chain.call(
        "MVN", x, chain.axes(chain.rank - 1), eps=1e-5, eps_mode="inside_sqrt", normalize_variance=True
    ),
    "mean": lambda chain, x: chain.call("ReduceMean", x, chain.axes(chain.rank - 1), keep_dims=True),
    "max": lambda chain, x: chain.call("ReduceMax", x, chain.axes(chain.rank - 1), keep_dims=True),
    "flat": lambda chain, x: chain.call("Reshape", x, chain.axes(0, -1), special_zero=True),
    "turn": lambda chain, x: chain.call(
        "Transpose", x, chain.axes(*range(chain.rank - 2), chain.rank - 1, chain.rank - 2)
    ),
    "halves": _halves,
    "same": lambda chain, x: x,
}
"""What may be between products and behind them."""
ENDS = ("soft", "mvn", "mean", "max", "flat", "halves", "same")
"""Steps that are only behind the last product."""


def question(text: str) -> Question:
    """Return the model of a chain.

    Raises:
        IrToolsError: a step does not fit the shape.
    """
    shape, *steps = text.split()
    chain = Chain(shape, rows=any(step.startswith(("mm:", "mt:")) for step in steps))
    data, outputs = chain.input, list[Source]()
    for step in steps:
        if step.startswith(">"):
            outputs.append(chain.step(data, step[1:]))
        else:
            data = chain.step(data, step)
    for output in outputs or [data]:
        chain.builder.result(output)
    model = chain.builder.model
    model.version = 10
    return Question(text, "", 10, render(model), b"".join(model.weights.tail()), {"x": chain.fed})


def chain_of(seed: int) -> str:
    """Return a random chain."""
    rng = np.random.default_rng(seed)

    def one(*choices: str) -> str:
        return str(rng.choice(choices))

    rows = rng.random() < 0.4
    rank = int(rng.choice([2, 3, 4] if rows else [3, 4, 4, 5]))
    sizes = (
        [*("1", "2", "3")[-rank + 1 :], str(COLUMNS)] if rows else ["1", str(CHANNELS), *("6", "5", "4")[: rank - 2]]
    )
    open_axes = range(rank - 1) if rows else (0, *range(2, rank))
    for axis in rng.choice(open_axes, int(rng.integers(0, len(open_axes) + 1)), replace=False):
        sizes[axis] = sizes[axis] if rng.random() < 0.4 else "?"
    steps = [",".join(sizes), *[one(*STEPS)] * (rng.random() < 0.2), f"fq:{one(*LIMITS)}"]
    between = [name for name in STEPS if name not in ENDS]
    convolutions = [name for name in CONVOLUTIONS if rank < 5 or name != "groupback"]
    for number in range(int(rng.choice([1, 1, 2]))):
        product = f"{one('mm', 'mt')}:{one('4', '8', '16')}" if rows else f"{one(*convolutions)}:{one('1', '3')}"
        steps += [f"fq:{one(*LIMITS)}"] * (number > 0 and rng.random() < 0.7)
        steps.append(f"{product}:{one(*WEIGHTS)}:{one(*SCALES)}")
        steps += ["bias"] * (rng.random() < 0.4)
        steps += [one(*between) for _ in range(int(rng.integers(0, 3)))]
    return " ".join(steps + [f">{one(*STEPS, 'fq:i8')}" for _ in range(int(rng.choice([1, 1, 2])))])


def reduced(pair: Pair, clients: Clients) -> str:
    """Return the shortest chain of which the same is said, and with which the release does the same."""
    shape, *steps = pair.question.about.split()
    for place in range(len(steps)):
        less = " ".join((shape, *steps[:place], *steps[place + 1 :]))
        try:
            found = pair_of(question(less), pair.release, clients, by_reference=True)
        except IrToolsError:
            continue
        if found and not found.right and (found.said.answer, found.does) == (pair.said.answer, pair.does):
            return reduced(found, clients)
    return pair.question.about


def wrong(texts: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong about chains, and then how much is right."""
    all_of = right = 0
    with Clients() as clients:
        for text, release in product(texts, map(find_release, names)):
            try:
                pair = pair_of(question(text), release, clients, by_reference=True)
            except IrToolsError:
                continue
            if pair is None:
                continue
            all_of, right = all_of + 1, right + pair.right
            if not pair.right:
                why = f": {pair.said.obstacles[0]}" if pair.said.obstacles else ""
                yield f"{release.name}: {pair.said.answer}, does {pair.does.name}: {reduced(pair, clients)}{why}"
    yield f"{right} of {all_of} right"


if __name__ == "__main__":
    if " " in sys.argv[1]:
        chains, releases = sys.argv[1:2], sys.argv[2:]
    else:
        first, count = map(int, sys.argv[1:3])
        chains, releases = [chain_of(seed) for seed in range(first, first + count)], sys.argv[3:]
    for line in wrong(chains, releases):
        print(line, flush=True)
