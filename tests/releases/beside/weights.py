"""Layers beside the rows of weights that multiply quantized data."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike

from ir_tools.known_differences._model import PLANE, Call, Fixed, Given, converted, counted, floats, whole
from ir_tools.known_differences.releases._quantization import _by_limited, _limited_back, _of_limits, _scaled_beside
from ir_tools.known_differences.releases._samples import quantized
from tests.releases.beside import Feed, beside

TYPES = {"conv": "Convolution-1", "groups": "GroupConvolution-1", "back": "ConvolutionBackpropData-1"}
SIZES = {"conv": (4, 4), "groups": (2, 2, 2), "back": (4, 4)}
"""Of the weights, before those along the axes of the data."""


def image(axes: int = 2, low: float = -1, high: float = 1, levels: int = 255) -> Call:
    """Quantized data of four channels."""
    limits = [Fixed(floats(limit)) for limit in (low, high, low, high)]
    return Call("FakeQuantize-1", (np.sin(counted(1, 4, *(4,) * axes)), *limits), {"levels": str(levels)})


def stored(
    sizes: Sequence[int],
    zero: Feed | None = None,
    scale: Sequence[int] | None = (),
    *,
    kind: DTypeLike = np.int8,
    least: int = -20,
) -> Call:
    """Weights of integers from the least one on, less zero points, with scales of some sizes or without."""
    held = least + np.arange(np.prod(sizes)) * 7 % 60
    found = converted(Fixed(held.astype(kind).reshape(sizes)), "f32")
    if zero is not None:
        found = Call("Subtract-1", (found, zero))
    return found if scale is None else Call("Multiply-1", (found, Fixed(counted(*scale) / 50)))


def convolved(
    op: str,
    zero: Feed | None,
    scale: Sequence[int] | None = (),
    *,
    data: Feed | None = None,
    least: int = -20,
    axes: int = 2,
) -> Call:
    """A convolution of quantized data, or others, by stored weights."""
    settings = {"strides": "1", "dilations": "1", "pads_begin": "0", "pads_end": "0"}
    weights = stored((*SIZES[op], *(2,) * axes), zero, scale, least=least)
    feed = image(axes) if data is None else data
    return Call(TYPES[op], (feed, weights), {key: ",".join(value * axes) for key, value in settings.items()})


def rows(
    zero: Feed,
    scale: Sequence[int] | None = (),
    *,
    kind: DTypeLike = np.uint8,
    by_rows: bool = True,
    data: Feed | None = None,
) -> Call:
    """Quantized rows, or others, times stored weights of four outputs."""
    least = 20 if kind is np.uint8 else -20
    weights = stored((4, 8) if by_rows else (8, 4), zero, scale, kind=kind, least=least)
    feed = quantized(np.sin(counted(2, 8)), Fixed(floats(1)), levels=255) if data is None else data
    return Call("MatMul-1", (feed, weights), {"transpose_b": str(by_rows).lower()})


def zeros(*sizes: int, first: float = 3, kind: DTypeLike = np.float32) -> Fixed:
    """Zero points that follow upon each other."""
    return Fixed((first + np.arange(np.prod(sizes, dtype=int))).astype(kind).reshape(sizes))


def in_bytes(*sizes: int, kind: DTypeLike = np.uint8) -> Call:
    """Zero points of 8 bits."""
    return converted(zeros(*sizes, kind=kind), "f32")


def back(**settings: str) -> Call:
    """A deconvolution of two groups, without padding."""
    data = Given(counted(1, 4, 3, 3), "1,4,?,?")
    return Call("GroupConvolutionBackpropData-1", (data, Fixed(counted(2, 2, 2, 2, 2))), PLANE | settings)


def largest(type: str) -> Call:
    """Numbers that are reduced along the last of three axes."""
    return Call(f"{type}-1", (np.sin(counted(1, 4, 6)) - 0.5, Fixed(whole(2))), {"keep_dims": "true"})


def turned(data: Call, levels: int = 256) -> Call:
    """Quantized data with the last two of three axes exchanged."""
    return Call("Transpose-1", (quantized(data, Fixed(floats(1)), levels=levels), Fixed(whole(0, 2, 1))))


WIDE = image(low=-0.5, high=2.05, levels=256)
PLAIN = np.sin(counted(1, 4, 4, 4))
BESIDE = [
    *beside(
        "quantized products by weights whose zero points are no integers",
        falling=[
            convolved("groups", zeros(2, 2, 1, 1, 1, first=1.4)),
            convolved("back", zeros(first=2.5)),
            rows(zeros(4, 1, first=1.3), (4, 1), kind=np.int8),
        ],
        others=[convolved("conv", zeros(first=2)), convolved("conv", zeros(first=2.5), data=PLAIN)],
    ),
    *beside(
        "quantized transposed convolutions of weights with zero points",
        falling=[
            convolved("back", zeros(first=110)),
            convolved("back", zeros(1, 4, 1, 1, first=110), (1, 4, 1, 1)),
            convolved("back", zeros(first=30), least=-110),
        ],
        others=[
            convolved("back", zeros(first=5)),
            convolved("back", zeros(first=110), None),
            convolved("back", zeros(first=110), data=WIDE),
            convolved("back", zeros(first=110), data=PLAIN),
            convolved("conv", zeros(first=110)),
        ],
    ),
    *beside(
        "quantized convolutions by weights whose zero is between two levels",
        falling=[_by_limited((1, 1, 1, 1), -0.905)],
        others=[_by_limited((1, 1, 1, 1), -1), _by_limited((4, 1, 1, 1), 0.5), _by_limited((1, 1, 1, 1), -0.905, 128)],
    ),
    *beside(
        "quantized convolutions in groups by weights whose zero is between two levels",
        others=[_by_limited((2, 2, 1, 1, 1), -1)],
    ),
    *beside(
        "quantized convolutions by weights of few levels",
        falling=[_by_limited((1, 1, 1, 1), -1, 16), _by_limited((4, 1, 1, 1), -0.5, 15)],
        others=[_by_limited((1, 1, 1, 1), -8 / 7, 16), _by_limited((1, 1, 1, 1), -1)],
    ),
    *beside(
        "quantized convolutions in groups that have a scale for each group",
        falling=[convolved("groups", None, (2, 1, 1, 1, 1)), _by_limited((1, 2, 1, 1, 1), -1)],
        others=[
            convolved("groups", None, (2, 2, 1, 1, 1)),
            convolved("groups", None, (1, 1, 2, 1, 1)),
            convolved("groups", None, (2, 1, 1, 1, 1), data=PLAIN),
            _by_limited((2, 2, 1, 1, 1), -1),
        ],
    ),
    *beside(
        "quantized convolutions in groups with zero points for filters, along one axis or three",
        falling=[
            convolved("groups", in_bytes(1, 2, 1, 1, kind=np.int8), axes=1),
            convolved("groups", zeros(2, 2, 1, 1, 1, 1), axes=3),
        ],
        others=[
            convolved("groups", zeros(2, 2, 1, 1, 1)),
            convolved("groups", zeros(2, 1, 1, 1), axes=1),
            convolved("groups", zeros(), axes=1),
        ],
    ),
    *beside(
        "quantized convolutions by weights with limits for each channel of the data",
        others=[_by_limited((4, 1, 1, 1), -1), _by_limited((1, 1, 1, 1), -1)],
    ),
    *beside(
        "quantized products of columns of u8 less a float",
        falling=[rows(Fixed(np.full((4, 8), 9, np.float32)), (4, 1))],
        others=[
            rows(zeros(4, 1), (4, 1)),
            rows(zeros(), ()),
            rows(zeros(), (1, 4), by_rows=False),
            rows(in_bytes(4, 1), (4, 1)),
            rows(zeros(), (4, 1), kind=np.int8),
            rows(zeros(), (4, 1), data=np.sin(counted(2, 8))),
        ],
    ),
    *beside(
        "MatMul with weights of 8 and 4 bits, 2024.3 to 2025.1",
        falling=[rows(zeros(), (4, 1)), rows(in_bytes(4, 1), ())],
        others=[rows(zeros(), (4, 1), kind=np.int8)],
    ),
    *beside(
        "FakeQuantize of constants with limits along several axes",
        falling=[_by_limited((4, 4, 1, 1), -1), _by_limited((1, 1, 1, 2), -1)],
        others=[
            _by_limited((1, 4, 1, 1), -1),
            Call("FakeQuantize-1", (PLAIN, *_of_limits(Fixed(PLAIN), (1, 4, 1, 4), -1).inputs[1:]), {"levels": "255"}),
        ],
    ),
    *beside(
        "FakeQuantize of weights of transposed convolutions, 2021.2 to 2021.3",
        others=[_limited_back("ConvolutionBackpropData", (4, 1, 1, 1))],
    ),
    *beside(
        "FakeQuantize to 255 levels that constants scale beside another reader",
        falling=[_scaled_beside(255)],
        others=[
            _scaled_beside(256),
            Call("Tanh-1", (Call("Multiply-1", (image(), Fixed(floats(0.7)))),)),
            Call("Add-1", (Call("Add-1", (shared := image(), Fixed(floats(0.7)))), Call("Tanh-1", (shared,)))),
        ],
    ),
    *beside(
        "deconvolution of groups without auto_pad",
        falling=[back(pads_begin="1,0")],
        others=[back(), back(pads_begin="1,0", auto_pad="explicit")],
    ),
    *beside(
        "FakeQuantize of a maximum or minimum along axes that stays in bytes, 2024.4 to 2026.4",
        falling=[turned(largest("ReduceMin")), turned(Call("Tanh-1", (largest("ReduceMax"),)))],
        others=[
            turned(largest("ReduceMean")),
            turned(largest("ReduceMax"), levels=100),
            Call("Tanh-1", turned(largest("ReduceMax")).inputs[:1]),
        ],
    ),
]
