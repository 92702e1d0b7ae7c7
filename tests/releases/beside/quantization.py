"""Layers beside the rows of quantization."""

from collections.abc import Sequence

import numpy as np

from ir_tools.known_differences._model import (
    LINE,
    PLANE,
    Call,
    Fixed,
    Given,
    converted,
    counted,
    floats,
    index,
    number,
    whole,
)
from ir_tools.known_differences.releases._quantization import (
    FILTERS,
    GROUPED,
    LARGEST,
    MEANS,
    _by_columns,
    _by_levels,
    _convolved_bytes,
    _convolved_lines,
    _convolved_unsigned,
    _in_groups,
    _in_levels,
    _multiplied,
    _negated,
    _read_twice,
    _scaled_bytes,
    _with_zero_point,
)
from ir_tools.known_differences.releases._samples import quantized
from ir_tools.ops import Array
from tests.releases.beside import Feed, beside

Limit = Array | Fixed
ROWS = Fixed(floats([[[2], [3], [4], [5]]]))
TWO = Fixed(floats(2))
QUANTIZED = quantized(counted(2, 3), TWO)


def between(data: Feed, low: Limit, high: Limit, levels: int, to: tuple[Limit, Limit] | None = None) -> Call:
    """Data quantized to so many levels between limits, and brought between others."""
    return Call("FakeQuantize-1", (data, low, high, *(to or (low, high))), {"levels": str(levels)})


def _in_rows(
    channels: int,
    extent: int,
    parts: int,
    *,
    width: int = 0,
    stride: Sequence[int] = (),
    levels: int = 255,
    sizes: str = "",
    moved: bool = False,
    **more: str,
) -> Call:
    """A convolution of quantized images, with filters of so many columns, which divide the width unless it is given."""
    data = np.sin(counted(1, channels, 8, width or parts * extent))
    levelled = quantized(Given(data, sizes) if sizes else data, Fixed(floats(1)), levels=levels)
    if moved:
        levelled = quantized(data.transpose(0, 2, 3, 1), Fixed(floats(1)), levels=levels)
        levelled = Call("Transpose-1", (levelled, Fixed(whole(0, 3, 1, 2))))
    raw = {"strides": ",".join(map(str, stride or (2, extent))), "dilations": "1,1"}
    return Call(
        "Convolution-1",
        (levelled, _scaled_bytes(8, channels, 2, extent)),
        raw | {"pads_begin": "0,0", "pads_end": "0,0"} | more,
    )


def _product(
    sizes: tuple[int, ...],
    given: str = "",
    *,
    levels: int = 255,
    weights: Call | Fixed | None = None,
    limits: tuple[Fixed, Fixed] | None = None,
) -> Call:
    """Quantized rows times constants of 8 bits or others."""
    data = np.sin(counted(*sizes))
    levelled = between(Given(data, given) if given else data, *(limits or LIMITS), levels)
    held = weights or _scaled_bytes(5, sizes[-1])
    return Call("MatMul-1", (levelled, held), {"transpose_b": str(weights is None).lower()})


EVEN = quantized(np.sin(counted(1, 8, 4, 4)), Fixed(floats(1)), levels=255)
RAISED = Call("ConvolutionBackpropData-1", (EVEN, _scaled_bytes(8, 8, 2, 2)), PLANE)


def _taken(data: Call, weights: Feed | None = None) -> Call:
    return Call("Convolution-1", (data, weights or _scaled_bytes(3, 8, 1, 1)), PLANE)


CUT_IN_TWO = "Split-1", Fixed(index(1)), {"num_splits": "2"}
DOUBLED = "Multiply-1", Fixed(floats(2)), dict[str, str]()


def _passed(*layers: tuple[str, Fixed | None, dict[str, str]]) -> Call:
    """Quantized rows of 8 or 16 elements times bytes, behind layers with a constant or without one."""
    data = quantized(np.sin(counted(2, 16 if CUT_IN_TWO in layers else 8)), Fixed(floats(1)), levels=255)
    for type, held, raw in layers:
        data = Call(type, (data,) if held is None else (data, held), raw)
    return Call("MatMul-1", (data, _scaled_bytes(5, 8)), {"transpose_b": "true"})


def _joined(limit: float) -> Call:
    """Rows of which a part is between this limit and its opposite, the other between -1 and 1, times bytes."""
    parts = (quantized(np.sin(counted(2, 4)), Fixed(floats(one)), levels=255) for one in (1, limit))
    return Call("MatMul-1", (Call("Concat-1", (*parts,), {"axis": "1"}), _scaled_bytes(5, 8)), {"transpose_b": "true"})


LIMITS, POSITIVE = ((Fixed(floats(least)), Fixed(floats(1))) for least in (-1, 0))
IMAGES, GATE = counted(1, 2, 2, 2), quantized(counted(1, 2, 1, 1), TWO)


def _scaled(data: Call, op: str = "Multiply-1", axes: int = 2) -> Call:
    """Data of two channels that constants for each of them scale."""
    return Call(op, (data, Fixed(counted(1, 2, *[1] * axes) + 1)))


def _columns(
    held: Array, scale: Array, sizes: tuple[int, ...] = (2, 8), zero: int = 0, levels: int = 256, low: float = -1
) -> Call:
    """Quantized data of eight columns times constants of 8 bits, a row for each output, scaled and shifted."""
    weights = converted(Fixed(held), "f32")
    if zero:
        weights = Call("Subtract-1", (weights, Fixed(number(float(zero)))))
    high = Fixed(floats(1 - 2 / levels))
    data = between(np.sin(counted(*sizes)), Fixed(floats(low)), high, levels)
    return Call("MatMul-1", (data, Call("Multiply-1", (weights, Fixed(scale)))), {"transpose_b": "true"})


def _raised(data: Call, *sizes: int, op: str = "Add-1") -> Call:
    return Call(op, (data, Fixed(counted(*sizes) + 1)))


HUNDREDTH = number(0.01)


def _twice(data: Call, first: str, *more: Array | Fixed, **raw: str) -> Call:
    """The sum of a function of data, and of what another layer makes of them."""
    return Call("Add-1", (Call(first, (data, *more), raw), Call("Sigmoid-1", (data,))))


def _image(sizes: str, low: float = 0, high: float = 1, levels: int = 256, channels: int = 2) -> Call:
    """A small image of such sizes, quantized."""
    return _in_levels(Given(np.abs(np.sin(counted(1, channels, 3, 4))), sizes), low, high, levels)


def _shifted(data: Call, by: float, channels: int = 1, op: str = "Add-1") -> Call:
    """Data to which a number is added, for each channel or for all."""
    return Call(op, (data, Fixed(np.full((1, channels, 1, 1), by, np.float32))))


def _line(sizes: str, low: float, high: float) -> Call:
    """Quantized data of two channels along one axis."""
    return between(Given(np.sin(counted(1, 2, 4)), sizes), Fixed(floats(low)), Fixed(floats(high)), 256)


def _convolved_by_levels(data: Call, levels: int, low: float = -6) -> Call:
    """A convolution by weights that are quantized to levels between two numbers."""
    least, most = (Fixed(np.full((1, 1, 1, 1), limit, np.float32)) for limit in (low, 6))
    return Call("Convolution-1", (data, between(Fixed(counted(2, 2, 1, 1)), least, most, levels)), PLANE)


LINE_FILTERS = np.cos(counted(2, 3, 2))


def between_bytes(levels: int) -> Call:
    """A convolution of quantized data whose 0 is between two levels."""
    return _convolved_bytes(_image("1,2,3,4", -0.505, 0.545, levels))


def _sloped(data: Call) -> Call:
    """A PReLU with a slope for each of four channels."""
    return Call("PReLU-1", (data, Fixed(floats(0.1, 0.2, 0.3, 0.4))))


def _grouped(data: Call, *sizes: int) -> Call:
    return Call("GroupConvolution-1", (data, _scaled_bytes(*sizes or (2, 2, 2, 1, 1))), PLANE)


def _scaled_groups() -> Call:
    """What groups of two channels with a zero point give, with a scale for each channel."""
    held = converted(Fixed((np.arange(8) * 37 % 127).astype(np.int8).reshape(2, 2, 2, 1, 1)), "f32")
    weights = Call("Multiply-1", (held, Fixed(counted(2, 2, 1, 1, 1) / 99 + 0.01)))
    return Call("GroupConvolution-1", (_image("1,4,3,4", -0.2, 0.82, channels=4), weights), PLANE)


def _turned(data: Call) -> Call:
    """The rectified numbers, each negated."""
    return Call("Negative-1", (Call("ReLU-1", (data,)),))


ONE, IN_ROWS = Fixed(floats(1)), Fixed(floats(*range(10, 26)).reshape(1, 16) / 10)


def _levelled(high: Fixed, outputs: int, limits: Fixed | None = None) -> Call:
    """Quantized rows of 16 elements times weights, with a row for each output, quantized between such limits.

    `limits`: those of the inputs, if they are others.
    """
    data = quantized(np.sin(counted(2, 16)), ONE, levels=255)
    before, after = ((Fixed(-one.array), one) for one in (limits or high, high))
    return Call(
        "MatMul-1",
        (data, between(Fixed(np.sin(counted(outputs, 16))), *before, 255, after)),
        {"transpose_b": "true"},
    )


def _pooled(data: Call) -> Call:
    return Call("MaxPool-1", (data,), LARGEST)


def _by_weights(data: Call, held: Array, scale: Array | None, op: str = "Convolution-1") -> Call:
    """Data times constants, which are scaled unless there is no scale."""
    weights = converted(Fixed(held), "f32")
    return Call(op, (data, weights if scale is None else Call("Multiply-1", (weights, Fixed(scale)))), PLANE)


CHANNEL_SCALES = counted(3, 1, 1, 1) / 99 + 0.01
OF_ANY_SIZE = _convolved_bytes(_image("?,2,?,4"))
BY_CHANNEL = _by_weights(_image("1,2,?,4"), FILTERS.astype(np.int8), CHANNEL_SCALES)


def _by_vector(data: Call, scale: Array = HUNDREDTH) -> Call:
    """Quantized rows of eight numbers times a vector of 8 bits."""
    return Call("MatMul-1", (data, Call("Multiply-1", (converted(Fixed(SIGNED[0]), "f32"), Fixed(scale)))))


EVEN_ROWS = quantized(np.sin(counted(2, 8)), Fixed(floats(1)), levels=255)
UNSIGNED = (np.arange(40) * 37 % 251).astype(np.uint8).reshape(5, 8)
SIGNED = (np.arange(40) * 37 % 251 - 125).astype(np.int8).reshape(5, 8)
ROW_SCALES = counted(5, 1) / 99 + 0.01
UNSIGNED_ROWS = _by_columns(np.uint8, 2, 8)
HALVES = {"num_splits": "2"}
WIDE = "quantized convolutions whose strides are as wide as their filters"


def _product_between(*matrices: int, before: str = "", limits: Sequence[int] = (1, 5, 1, 1), rows: int = 5) -> Call:
    """Return products of rows by six columns between limits, behind an elementwise layer if `before` names its type."""
    sizes = (1, rows, *[3] * (len(limits) - 3), 8)
    data: Feed = Call(
        "MatMul-1",
        (np.sin(counted(*sizes)), Fixed(np.sin(counted(*matrices, 8, 6)))),
        {"transpose_a": "false", "transpose_b": "false"},
    )
    if before:
        data = Call(before, (data,))
    high = Fixed(counted(*limits) + 1)
    low = Fixed(-high.array)
    return Call("FakeQuantize-1", (data, low, high, low, high), {"levels": "256"})


def _channels(
    *rows: int, type: str = "Convolution-1", sizes: str = "?,2,?,?", sums: Sequence[str] = ("Add-1",), before: str = ""
) -> Call:
    """Return the quantized channels of a convolution, shifted in different ways, and those that are not.

    `rows`: sizes of the numbers that shift; `before`: an elementwise layer in front of the sums.
    """
    weights = {"GroupConvolution-1": (2, 1, 1, 1, 1), "GroupConvolutionBackpropData-1": (2, 1, 1, 1, 1)}
    filters = Fixed(np.sin(counted(*weights.get(type, (2, 2, 1, 1)))))
    plane = {"strides": "1,1", "dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0"}
    given = Call(type, (Given(counted(1, 2, 3, 2), sizes), filters), plane)
    data = Call(before, (given,)) if before else given
    for one in sums:
        data = Call(one, (data, Fixed(counted(*rows) * 14 - 3)))
    limits = (Fixed(np.full((), one, np.float32)) for one in (-20, 20, -20, 20))
    return Call("Concat-1", (Call("FakeQuantize-1", (data, *limits), {"levels": "256"}), given), {"axis": "1"})


def _between(*limits: Sequence[float], levels: int = 256) -> Call:
    """Data quantized between four limits."""
    return Call(
        "FakeQuantize-1",
        (counted(1, 2, 3) - 2, *(Fixed(np.array(one, np.float32)) for one in limits)),
        {"levels": str(levels)},
    )


BESIDE = [
    *beside(
        "products of quantized images that are scaled by channel",
        falling=[
            _scaled(Call("Multiply-1", (GATE, IMAGES))),
            _scaled(Call("Divide-1", (IMAGES, GATE))),
            _scaled(Call("Multiply-1", (IMAGES, GATE)), "Divide-1"),
            _scaled(Call("Multiply-1", (IMAGES, quantized(counted(1, 1, 2, 2), TWO)))),
            _scaled(Call("Multiply-1", (counted(1, 2, 2, 2, 2), quantized(counted(1, 2, 1, 1, 1), TWO))), axes=3),
        ],
        others=[
            Call("Multiply-1", (IMAGES, GATE)),
            Call("Multiply-1", (Call("Multiply-1", (IMAGES, GATE)), TWO)),
            _scaled(Call("Multiply-1", (counted(1, 2, 2), quantized(counted(1, 2, 1), TWO))), axes=1),
            _scaled(Call("Add-1", (IMAGES, GATE))),
            _scaled(Call("ReLU-1", (Call("Multiply-1", (IMAGES, GATE)),))),
            _scaled(Call("Multiply-1", (GATE, Fixed(IMAGES)))),
        ],
    ),
    *beside(
        "quantized convolutions of quantized transposed ones",
        falling=[
            _taken(_in_levels(RAISED, -5, 10.9375)),
            _taken(_in_levels(Call("Add-1", (RAISED, Fixed(counted(1, 8, 1, 1)))), -5, 10.9375)),
            _taken(_in_levels(Call("PReLU-1", (RAISED, Fixed(floats(0.1)))), -5, 10.9375)),
        ],
        others=[
            _taken(_in_levels(Call("ReLU-1", (RAISED,)), 0, 7)),
            _taken(Call("ReLU-1", (_in_levels(RAISED, -5, 10.9375),))),
            _taken(_in_levels(RAISED, -5, 10.9375), Fixed(np.sin(counted(3, 8, 1, 1)))),
            _taken(_in_levels(Call("Convolution-1", (EVEN, _scaled_bytes(8, 8, 2, 2)), PLANE), -5, 10.9375)),
            Call("ConvolutionBackpropData-1", (_in_levels(RAISED, -5, 10.9375), _scaled_bytes(8, 8, 2, 2)), PLANE),
        ],
    ),
    *beside(
        "quantized products of columns that 16 does not divide",
        falling=[
            _product((2, 20)),
            _product((2, 3, 8)),
            _product((2, 8), "?,8"),
            _product((2, 8), weights=between(Fixed(np.sin(counted(8, 5))), *LIMITS, 255)),
            _joined(1),
            *(_passed(*layer) for layer in ((CUT_IN_TWO,), (DOUBLED,), (DOUBLED, CUT_IN_TWO))),
            _product((2, 8), limits=POSITIVE),
            _product((1, 8), "?,8", limits=POSITIVE),
            _product((1, 8)),
        ],
        others=[
            _product((1, 8), limits=POSITIVE),
            _product((3, 8), limits=POSITIVE, weights=_scaled_bytes(8, 1)),
            _product((2, 48)),
            _product((1, 2, 3, 8)),
            _product((2, 8), weights=Fixed(np.sin(counted(8, 5)))),
            _product((2, 8), levels=64),
            _joined(2),
            _passed(("Multiply-1", Fixed(counted(1, 8)), {})),
            _passed(("Exp-1", None, {}), CUT_IN_TWO),
        ],
    ),
    *beside(
        "quantized products of rows that are fewer than the layer is compiled for",
        falling=[
            _product((2, 64), "..17,64"),
            _product((2, 2, 8), "..4,..5,8", limits=POSITIVE),
            _product((2, 8), "?,8", weights=between(Fixed(np.sin(counted(8, 5))), *LIMITS, 255)),
            _product((2, 8), "?,8", weights=_scaled_bytes(8, 64)),
        ],
        others=[
            _product((2, 8), "..16,8"),
            _product((17, 8), "17..,8"),
            _product((17, 8)),
            _product((2, 65), "?,65"),
            _product((2, 8), "?,8", weights=_scaled_bytes(8, 65)),
            _product((2, 8), "?,8", weights=Fixed(np.sin(counted(8, 5)))),
            _product((1, 1, 2, 8), "1,1,?,8"),
        ],
    ),
    *beside(
        "quantized products of weights of u8",
        falling=[
            _by_columns(np.uint8, 1, 2, 8),
            _columns(UNSIGNED, HUNDREDTH, low=0),
            _columns(UNSIGNED, ROW_SCALES, levels=16),
            _columns(UNSIGNED[:1], ROW_SCALES[:1]),
            _raised(UNSIGNED_ROWS, 5),
            _raised(UNSIGNED_ROWS, 1),
            _raised(UNSIGNED_ROWS, 1, 5, op="Multiply-1"),
            _raised(_columns(UNSIGNED, HUNDREDTH), 5),
            Call("Add-1", (UNSIGNED_ROWS, counted(2, 5))),
            Call("ReLU-1", (UNSIGNED_ROWS,)),
            Call("Clamp-1", (UNSIGNED_ROWS,), {"min": "-1", "max": "1"}),
            Call("Concat-1", (Call("Tanh-1", (UNSIGNED_ROWS,)), Call("Sigmoid-1", (UNSIGNED_ROWS,))), {"axis": "0"}),
            Call("Tanh-1", (Call("Transpose-1", (_columns(UNSIGNED, HUNDREDTH), Fixed(whole(1, 0)))),)),
        ],
        others=[
            _by_columns(np.int8, 2, 8),
            _by_columns(np.uint8, 1, 1, 2, 8),
            _by_columns(np.uint8, 8),
            _columns(UNSIGNED, ROW_SCALES, zero=7),
            _columns(UNSIGNED, counted(1, 8) / 99 + 0.01),
            _columns(UNSIGNED, ROW_SCALES, levels=128),
            _columns(UNSIGNED, ROW_SCALES, low=-0.75),
            _raised(UNSIGNED_ROWS, 2, 5),
            _raised(_columns(UNSIGNED, HUNDREDTH), 1),
            _raised(_columns(UNSIGNED[:1], ROW_SCALES[:1]), 1),
            _raised(Call("ReLU-1", (UNSIGNED_ROWS,)), 5),
            Call("Split-1", (UNSIGNED_ROWS, Fixed(index(0))), HALVES),
            Call("Clamp-1", (_columns(UNSIGNED, HUNDREDTH),), {"min": "-1", "max": "1"}),
            Call("Add-1", (UNSIGNED_ROWS, UNSIGNED_ROWS)),
        ],
    ),
    *beside(
        "quantized products of weights of u8 with a bias",
        falling=[
            Call("Subtract-1", (Fixed(counted(5)), _by_columns(np.uint8, 1, 2, 8))),
            _raised(_raised(UNSIGNED_ROWS, 5, op="Multiply-1"), 1, 5),
            _raised(_columns(UNSIGNED, HUNDREDTH), 5),
            Call("Tanh-1", (_raised(UNSIGNED_ROWS, 5),)),
        ],
        others=[
            _raised(_by_columns(np.int8, 2, 8), 5),
            _raised(_by_columns(np.uint8, 1, 1, 2, 8), 5),
            _raised(_columns(UNSIGNED, ROW_SCALES, zero=7), 5),
            _raised(_columns(UNSIGNED, ROW_SCALES, low=-0.75), 5),
            _raised(UNSIGNED_ROWS, 1),
            _raised(UNSIGNED_ROWS, 2, 5),
            _raised(UNSIGNED_ROWS, 5, op="Multiply-1"),
            _raised(Call("ReLU-1", (UNSIGNED_ROWS,)), 5),
            Call("Add-1", (UNSIGNED_ROWS, counted(2, 5))),
        ],
    ),
    *beside(
        "quantized data with a zero point times vectors of 8 bits",
        falling=[
            _by_vector(between(np.sin(counted(2, 8)), Fixed(floats(-1)), Fixed(floats(0)), 256)),
            _by_vector(between(np.sin(counted(2, 8)), Fixed(floats(-1)), Fixed(floats(1)), 16)),
            Call("ReLU-1", (_by_vector(_with_zero_point()),)),
        ],
        others=[
            _by_vector(EVEN_ROWS),
            _by_vector(between(np.sin(counted(2, 8)), Fixed(floats(0)), Fixed(floats(1)), 256)),
            _by_vector(between(np.sin(counted(2, 8)), Fixed(floats(0.5)), Fixed(floats(1)), 256)),
            _by_vector(between(np.sin(counted(2, 8)), Fixed(floats(-1)), Fixed(floats(1)), 128)),
            _by_vector(Call("ReLU-1", (_with_zero_point(),))),
            _by_vector(_with_zero_point(), counted(8) / 99),
            Call("MatMul-1", (_with_zero_point(), _scaled_bytes(8, 1))),
        ],
    ),
    *beside(
        "quantized vectors times weights of 8 bits",
        falling=[
            _by_columns(np.uint8, 8),
            _columns(SIGNED, ROW_SCALES, (8,), levels=16),
            _columns(SIGNED, ROW_SCALES, (8,), low=-0.75),
            Call("Tanh-1", (_by_columns(np.int8, 8),)),
            _raised(_by_columns(np.int8, 8), 5),
        ],
        others=[
            _by_columns(np.int8, 1, 8),
            _columns(SIGNED, HUNDREDTH, (8,)),
            _columns(SIGNED, ROW_SCALES, (8,), zero=7),
            _columns(SIGNED[:1], ROW_SCALES[:1], (8,)),
            _columns(SIGNED, ROW_SCALES, (8,), levels=128),
            Call("Unsqueeze-1", (_by_columns(np.int8, 8), Fixed(whole(0)))),
        ],
    ),
    *beside(
        WIDE,
        falling=[
            _in_rows(96, 2, 20),
            _in_rows(32, 4, 20),
            _in_rows(16, 8, 20),
            _in_rows(48, 4, 20, sizes="1,48,?,?"),
            _in_rows(96, 2, 20, stride=(1, 2)),
            _in_rows(96, 2, 20, moved=True),
        ],
        others=[
            _in_rows(96, 2, 41, width=41),
            _in_rows(32, 2, 20),
            _in_rows(64, 2, 20),
            _in_rows(24, 4, 20),
            _in_rows(96, 2, 20, stride=(2, 1)),
            _in_rows(96, 2, 20, levels=64),
            _in_rows(96, 2, 20, pads_begin="0,1", pads_end="0,1"),
            _in_rows(96, 2, 20, pads_begin="0,2"),
            _in_rows(96, 2, 20, pads_end="0,2"),
            _in_rows(96, 2, 20, dilations="1,2"),
        ],
    ),
    *beside(
        "FakeQuantize with limits for each image",
        falling=[quantized(Call("SoftPlus-4", (counted(2, 3, 4, 2),)), Fixed(floats([[[2]]], [[[3]]])))],
    ),
    *beside(
        "FakeQuantize with a list of limits for the last axis, or after a sum",
        falling=[quantized(Call("Divide-1", (counted(1, 3, 4, 2), TWO)), ROWS)],
        others=[
            quantized(counted(1, 3, 4, 2), Fixed(floats([[[2, 3]]]))),
            quantized(counted(1, 3, 4, 2), Fixed(floats(2))),
            quantized(counted(3), Fixed(floats(2, 3, 4))),
        ],
    ),
    *beside(
        "FakeQuantize to two levels with limits for all or for each channel, 2022.1 to 2022.3",
        falling=[
            between(
                counted(5, 5),
                Fixed(floats([0.5, 1.5, 2.5, 3.5, 4.5])),
                Fixed(np.arange(2, 7, dtype=np.float32).reshape(1, 5)),
                2,
            )
        ],
        others=[
            between(counted(5, 5), Fixed(number(0.5)), Fixed(number(2.5)), 3),
            between(counted(5, 5), floats(0.5), Fixed(floats(2.5)), 2),
            between(counted(5, 5), Fixed(floats(0.5)), floats(2.5), 2),
            between(counted(5, 5), floats([0.5, 1.5, 2.5, 3.5, 4.5]), np.arange(2, 7, dtype=np.float32)[None], 2),
            between(counted(5), Fixed(number(0.5)), Fixed(number(2.5)), 2),
            between(
                counted(5, 5),
                Fixed(floats([0.5], [1.5], [2.5], [3.5], [4.5])),
                Fixed(np.arange(2, 7, dtype=np.float32).reshape(5, 1)),
                2,
                (Fixed(number(0.5)), Fixed(number(2.5))),
            ),
        ],
    ),
    *beside(
        "FakeQuantize to 65536 levels",
        others=[
            quantized(floats(-5.2, 1.8), Fixed(floats(3.6)), levels=65535),
            between(floats(-5.2, 1.8), floats(-3.6), floats(3.6), 65536),
            between(
                floats(-5.2, 1.8),
                Fixed(number(-3.6)),
                Fixed(number(3.6)),
                65536,
                (Fixed(number(-3.6)), Fixed(number(7.2))),
            ),
        ],
    ),
    *beside(
        "FakeQuantize with limits for the heads of an attention, 2024.1 to 2026.4",
        falling=[
            quantized(
                Call(
                    "ScaledDotProductAttention-13",
                    (counted(1, 2, 4, 8), counted(1, 2, 4, 8), counted(1, 2, 4, 8)),
                    {"causal": "false"},
                ),
                Fixed(floats([[[2]], [[3]]])),
            )
        ],
    ),
    *beside(
        "FakeQuantize of i32 to the levels of quantized models, 2023.0 to 2026.4",
        falling=[
            between(
                np.arange(20, dtype=np.int32).reshape(4, 5),
                Fixed(counted(1).astype(np.int32)),
                Fixed(np.array([5], np.int32)),
                15,
            )
        ],
        others=[
            between(
                np.arange(20, dtype=np.int32).reshape(4, 5),
                Fixed(counted(1).astype(np.int32)),
                Fixed(np.array([5], np.int32)),
                17,
            ),
            between(
                np.arange(20, dtype=np.int32).reshape(4, 5), counted(1).astype(np.int32), np.array([5], np.int32), 16
            ),
        ],
    ),
    *beside(
        "FakeQuantize of u8 with computed limits",
        others=[
            between(
                np.arange(20, dtype=np.uint8).reshape(4, 5),
                Fixed(counted(1).astype(np.uint8)),
                Fixed(np.array([5], np.uint8)),
                3,
            )
        ],
    ),
    *beside(
        "quantized data that are scaled for an output",
        falling=[
            Call("Multiply-1", (TWO, QUANTIZED)),
            Call("Transpose-1", (Call("Multiply-1", (QUANTIZED, TWO)), Fixed(whole(1, 0)))),
        ],
        others=[
            Call("Multiply-1", (QUANTIZED, counted(1, 3))),
            Call("Abs-1", (Call("Multiply-1", (QUANTIZED, TWO)),)),
            Call("Divide-1", (TWO, QUANTIZED)),
        ],
    ),
    *beside(
        "FakeQuantize with limits along an axis after the channels",
        others=[quantized(counted(1, 3, 4, 2), Fixed(floats([[[2]], [[3]], [[4]]])))],
    ),
    *beside(
        "FakeQuantize with computed limits for each channel of each image",
        others=[
            between(
                counted(2, 3, 4),
                Fixed(counted(2, 3, 1)),
                Fixed(counted(2, 3, 1) + 1),
                256,
                (Fixed(number(0.0)), Fixed(number(255.0))),
            ),
            between(counted(2, 3), counted(2, 3), counted(2, 3) + 1, 256, (Fixed(number(0.0)), Fixed(number(255.0)))),
            between(
                counted(2, 3, 4),
                counted(2, 3, 4),
                counted(2, 3, 4) + 1,
                256,
                (Fixed(number(0.0)), Fixed(number(255.0))),
            ),
        ],
    ),
    *beside(
        "FakeQuantize with limits along axis 2 after another layer, 2022.1 to 2022.2",
        others=[
            quantized(
                Call(
                    "MVN-6",
                    (counted(1, 3, 4, 2), Fixed(whole(3))),
                    {"eps": "0.01", "eps_mode": "inside_sqrt", "normalize_variance": "true"},
                ),
                ROWS,
            ),
            quantized(Call("ReduceMax-1", (counted(1, 3, 4, 2), Fixed(whole(1))), {"keep_dims": "true"}), ROWS),
            quantized(
                Call("NormalizeL2-1", (counted(1, 3, 4, 2), Fixed(whole(1))), {"eps": "1", "eps_mode": "add"}), ROWS
            ),
        ],
    ),
    *beside(
        "FakeQuantize with limits along axis 2 after another layer of unknown size, 2022.1 to 2026.4",
        others=[
            quantized(
                Call("ReduceMean-1", (Given(counted(1, 3, 4, 2), "?,3,4,2"), Fixed(whole(1))), {"keep_dims": "true"}),
                ROWS,
            )
        ],
    ),
    *beside(
        "FakeQuantize with limits along axis 2 after a reduction, 2024.4 to 2026.4",
        falling=[quantized(Call("ReduceL2-4", (counted(1, 3, 4, 2), Fixed(whole(1))), {"keep_dims": "true"}), ROWS)],
    ),
    *beside(
        "FakeQuantize with limits along axis 2 after a product of three dimensions, 2022.1 to 2022.2",
        others=[quantized(Call("MatMul-1", (counted(1, 3, 4, 2), Fixed(floats([1.0, 0.0], [0.0, 1.0])))), ROWS)],
    ),
    *beside(
        "FakeQuantize with limits along axis 2 after a product or mean, 2022.1 to 2026.4",
        falling=[
            quantized(
                Call(
                    "GroupConvolutionBackpropData-1",
                    (counted(1, 3, 4, 2), Fixed(floats([[[[1.0]]]], [[[[1.0]]]], [[[[1.0]]]]))),
                    PLANE,
                ),
                ROWS,
            )
        ],
    ),
    *beside(
        "quantized convolutions of groups before constants for each channel",
        falling=[
            _sloped(_grouped(_image("?,4,3,4", -0.2, 0.82, channels=4))),
            _raised(Call("ReLU-1", (_scaled_groups(),)), 1, 4, 1, 1),
            Call("Add-1", (Call("ReLU-1", (_scaled_groups(),)), Fixed(number(0.5)))),
            _raised(Call("Tanh-1", (_scaled_groups(),)), 1, 4, 1, 1, op="Multiply-1"),
        ],
        others=[
            Call("PReLU-1", (_in_groups(), Fixed(number(0.1)))),
            _sloped(_grouped(_image("1,4,3,4", channels=4))),
            _sloped(_grouped(_image("1,4,3,4", -0.2, 0.82, channels=4), 4, 1, 1, 1, 1)),
            _sloped(_taken(_image("1,4,3,4", -0.2, 0.82, channels=4), _scaled_bytes(4, 4, 1, 1))),
            _raised(Call("ReLU-1", (_scaled_groups(),)), 1, 4, 1, 1, op="Multiply-1"),
            _in_levels(_raised(Call("Tanh-1", (_scaled_groups(),)), 1, 4, 1, 1), 0, 1),
            Call("Add-1", (Call("Tanh-1", (_scaled_groups(),)), Fixed(number(0.5)))),
        ],
    ),
    *beside(
        "quantized convolutions of groups with one scale before constants for each channel",
        falling=[
            _sloped(Call("ReLU-1", (_raised(_in_groups(), 1, 4, 1, 1),))),
            _sloped(Call("Add-1", (_in_groups(), Fixed(number(0.5))))),
        ],
        others=[
            _raised(_in_groups(), 1, 4, 1, 1),
            Call("PReLU-1", (Call("ReLU-1", (_in_groups(),)), Fixed(number(0.1)))),
        ],
    ),
    *beside(
        "quantized convolutions of groups with a bias before a function",
        falling=[
            Call(
                "Multiply-1",
                (Call("ReLU-1", (_raised(_scaled_groups(), 1, 4, 1, 1),)), Fixed(number(0.5))),
            )
        ],
        others=[
            Call("ReLU-1", (_raised(_scaled_groups(), 1, 4, 1, 1),)),
            Call("ReLU-1", (Call("Add-1", (_in_groups(), Fixed(number(0.5)))),)),
            Call("ReLU-1", (_raised(_grouped(_image("1,4,3,4", channels=4)), 1, 4, 1, 1),)),
        ],
    ),
    *beside(
        "quantized products whose rectified values are negated",
        falling=[
            _turned(_raised(_convolved_bytes(_image("?,2,3,4")), 1, 3, 1, 1)),
            _turned(_product((2, 3, 8))),
            Call("MaxPool-1", (_turned(_convolved_bytes(_image("1,2,3,4"))),), LARGEST),
        ],
        others=[
            _turned(_convolved_bytes(_image("1,2,3,4"), GROUPED)),
            Call("AvgPool-1", (_turned(_convolved_bytes(_image("1,2,3,4"))),), MEANS),
            Call("Tanh-1", (Call("ReLU-1", (_convolved_bytes(_image("1,2,3,4")),)),)),
        ],
    ),
    *beside(
        "quantized products without a bias whose rectified values are negated",
        falling=[
            _negated(_convolved_bytes(_image("?,2,3,4")), floats(-2)),
            _negated(_product((2, 3, 8)), floats(-2)),
            _negated(_convolved_by_levels(_image("1,2,3,4"), 255), floats(-2)),
            _turned(_by_weights(_image("1,2,3,4"), FILTERS.astype(np.int8), CHANNEL_SCALES)),
            _in_levels(_turned(_convolved_bytes(_image("1,2,3,4"))), -1, 1),
            Call(
                "Negative-1",
                (
                    Call(
                        "PReLU-1",
                        (
                            _by_weights(_image("1,2,3,4"), FILTERS.astype(np.int8), CHANNEL_SCALES),
                            Fixed(floats(0.1, 0.2, 0.3)),
                        ),
                    ),
                ),
            ),
        ],
        others=[
            _turned(_convolved_bytes(_image("1,2,3,4"))),
            _negated(_raised(_convolved_bytes(_image("1,2,3,4")), 1, 3, 1, 1), floats(-2)),
            _negated(_convolved_bytes(_image("1,2,3,4")), floats(2)),
            _negated(_convolved_bytes(_image("1,2,3,4")), floats(*range(3)).reshape(1, 3, 1, 1)),
            _negated(_convolved_by_levels(_image("1,2,3,4"), 255, low=0), floats(-2)),
            _negated(_by_weights(_image("1,2,3,4"), FILTERS.astype(np.uint8), CHANNEL_SCALES), floats(-2)),
            Call("Clamp-1", (_turned(_convolved_bytes(_image("1,2,3,4"))),), {"min": "-1", "max": "1"}),
            Call("Negative-1", (Call("Elu-1", (_convolved_bytes(_image("1,2,3,4")),), {"alpha": "1"}),)),
        ],
    ),
    *beside(
        "quantized products of four axes whose rectified values are negated",
        falling=[_negated(_product((1, 2, 2, 8)), floats(*range(-2, 3)))],
        others=[_negated(_product((1, 2, 2, 8)), floats(*range(1, 6)))],
    ),
    *beside(
        "quantized convolutions of weights of u8 that are quantized again",
        falling=[
            _pooled(_in_levels(Call("Tanh-1", (_raised(_convolved_unsigned(), 1, 3, 1, 1),)), 0, 1)),
            _taken(_in_levels(_convolved_unsigned(), 0, 1), _scaled_bytes(4, 3, 1, 1)),
        ],
        others=[
            _in_levels(_convolved_unsigned(), 0, 1),
            Call("Tanh-1", (_in_levels(_convolved_unsigned(), 0, 1),)),
            _pooled(_in_levels(_by_weights(_image("1,2,3,4"), FILTERS.astype(np.uint8), CHANNEL_SCALES), 0, 1)),
            _pooled(_in_levels(_convolved_bytes(_image("1,2,3,4", -0.2, 0.82)), 0, 1)),
        ],
    ),
    *beside(
        "quantized products of weights quantized along their last axis",
        falling=[
            Call("ReLU-1", (_raised(_by_levels(8, 5), 5),)),
            _raised(_levelled(IN_ROWS, 5), 5, op="Multiply-1"),
            Call("Negative-1", (_levelled(IN_ROWS, 5, limits=ONE),)),
        ],
        others=[
            _raised(_by_levels(16, 5), 5, op="Multiply-1"),
            _levelled(IN_ROWS, 5),
            _levelled(Fixed(floats(*range(10, 15)).reshape(5, 1) / 10), 5),
        ],
    ),
    *beside(
        "quantized products of square weights quantized along their last axis",
        falling=[Call("Tanh-1", (_by_levels(16, 16),)), _levelled(IN_ROWS, 16, limits=ONE)],
        others=[
            Call("Multiply-1", (_by_levels(16, 16), Fixed(number(0.5)))),
            _levelled(IN_ROWS, 16),
            Call("MatMul-1", (np.sin(counted(2, 16)), _by_levels(16, 16).inputs[1])),
        ],
    ),
    *beside(
        "quantized products of four axes that are quantized again",
        falling=[
            _in_levels(Call("ReLU-1", (_raised(_by_columns(np.int8, 1, 2, 2, 8), 5),)), 0, 1),
            _in_levels(Call("Multiply-1", (_product((1, 2, 2, 8)), Fixed(floats(*range(1, 6))))), 0, 1),
        ],
        others=[
            _by_columns(np.int8, 1, 1, 2, 8),
            _in_levels(_by_columns(np.int8, 1, 2, 2, 8, low=-0.2), 0, 1),
            _in_levels(_raised(Call("ReLU-1", (_by_columns(np.int8, 1, 2, 2, 8),)), 5), 0, 1),
            _in_levels(_product((1, 2, 2, 8)), 0, 1),
            _in_levels(_by_columns(np.int8, 1, 2, 8), 0, 1),
            _in_levels(Call("Tanh-1", (_by_columns(np.int8, 1, 1, 2, 8),)), 0, 1),
        ],
    ),
    *beside(
        "FakeQuantize of constants of six dimensions or more",
        others=[
            quantized(counted(2, 1, 1, 1, 1, 1), TWO),
            Call("Add-1", (counted(2, 1, 1, 1, 1), quantized(Fixed(counted(2, 1, 1, 1, 1)), TWO))),
        ],
    ),
    *beside(
        "quantized products of weights of u8 that are quantized again",
        falling=[_in_levels(Call("ReLU-1", (_raised(_by_columns(np.uint8, 2, 8, low=-0.2), 5),)), 0, 1)],
        others=[
            _by_columns(np.uint8, 2, 8, low=-0.2),
            _in_levels(Call("Tanh-1", (_by_columns(np.uint8, 2, 8, low=-0.2),)), 0, 1),
            _in_levels(_by_columns(np.int8, 2, 8, low=-0.2), 0, 1),
        ],
    ),
    *beside(
        "quantized convolutions of unknown size that are scaled for each reader",
        falling=[
            _twice(_convolved_bytes(_image("?,2,3,4"), GROUPED), "Negative-1"),
            _read_twice(_convolved_bytes(_image("1,2,3..5,4", -1, 127 / 128))),
            _twice(OF_ANY_SIZE, "Multiply-1", Fixed(number(2.0))),
            _twice(Call("Multiply-1", (OF_ANY_SIZE, Fixed(number(0.5)))), "Transpose-1", Fixed(whole(0, 1, 2, 3))),
            _twice(OF_ANY_SIZE, "Transpose-1", Fixed(whole(0, 1, 2, 3))),
            _twice(OF_ANY_SIZE, "ReduceMean-1", Fixed(whole(1)), keep_dims="true"),
            _twice(BY_CHANNEL, "ReduceMax-1", Fixed(whole(2, 3)), keep_dims="true"),
            _twice(BY_CHANNEL, "Transpose-1", Fixed(whole(0, 1, 2, 3))),
            _twice(BY_CHANNEL, "Reshape-1", Fixed(whole(1, 3, -1, 4)), special_zero="false"),
            Call("Multiply-1", (OF_ANY_SIZE, OF_ANY_SIZE)),
            Call("Subtract-1", (OF_ANY_SIZE, Call("Tanh-1", (OF_ANY_SIZE,)))),
            _read_twice(Call("ConvolutionBackpropData-1", (_image("?,2,3,4"), _scaled_bytes(2, 3, 2, 2)), PLANE)),
        ],
        others=[
            _read_twice(_convolved_bytes(_image("1,2,3,4"))),
            _read_twice(_by_weights(_image("?,2,3,4"), FILTERS.astype(np.uint8), CHANNEL_SCALES)),
            _read_twice(_by_weights(_image("?,2,3,4"), FILTERS.astype(np.int8), None)),
            _read_twice(_raised(OF_ANY_SIZE, 1)),
            _twice(OF_ANY_SIZE, "Add-1", Fixed(number(2.0))),
            _twice(OF_ANY_SIZE, "Exp-1"),
            _twice(BY_CHANNEL, "ReduceMax-1", Fixed(whole(1)), keep_dims="true"),
            _twice(BY_CHANNEL, "ReduceMax-1", Fixed(whole(-3)), keep_dims="true"),
            _twice(BY_CHANNEL, "Clamp-1", min="0", max="1"),
            Call("Multiply-1", (OF_ANY_SIZE, Call("Tanh-1", (OF_ANY_SIZE,)))),
            Call("ReLU-1", (OF_ANY_SIZE,)),
        ],
    ),
    *beside(
        "quantized convolutions, with a zero point, of unknown size that are scaled for each reader",
        falling=[_twice(_convolved_bytes(_image("?,2,?,4", -0.2, 0.82), GROUPED), "Negative-1")],
        others=[_read_twice(_convolved_bytes(_image("1,2,3,4", -0.2, 0.82)))],
    ),
    *beside(
        "quantized products of unknown size that are scaled for each reader",
        falling=[
            _read_twice(_multiplied(Given(np.sin(counted(1, 2, 8)), "?,?,8"))),
            Call("Multiply-1", (_multiplied(Given(np.sin(counted(2, 8)), "?,8")),) * 2),
        ],
        others=[
            _read_twice(_multiplied(np.sin(counted(2, 8)))),
            _read_twice(_raised(_multiplied(Given(np.sin(counted(2, 8)), "?,8")), 16)),
        ],
    ),
    *beside(
        "quantized convolutions of data whose 0 is between two bytes, 2022.1 to 2026.4",
        falling=[
            _convolved_bytes(_image("?,2,?,4", -0.505, 0.545)),
            _convolved_bytes(_pooled(_image("1,2,3,4", -0.505, 0.545))),
            _by_weights(_image("1,2,3,4", -0.505, 0.545), FILTERS.astype(np.uint8), CHANNEL_SCALES),
            _convolved_bytes(_shifted(_image("1,2,3,4"), -0.3)),
            _convolved_bytes(_shifted(_image("1,2,3,4"), 0.3, op="Subtract-1")),
            _convolved_bytes(Call("Subtract-1", (Fixed(number(0.7)), _image("1,2,3,4")))),
            _convolved_bytes(_pooled(_shifted(_shifted(_image("1,2,3,4"), 0.7, op="Multiply-1"), -0.3, 2))),
            _convolved_bytes(_shifted(Call("ReLU-1", (_image("1,2,3,4"),)), -0.3)),
        ],
        others=[
            _convolved_bytes(_shifted(_image("1,2,3,4"), -0.4)),
            _convolved_bytes(_shifted(_image("1,2,3,4"), 0.3)),
            _convolved_bytes(_shifted(_image("1,2,3,4"), -1.3)),
            _convolved_bytes(Call("ReLU-1", (_shifted(_image("1,2,3,4"), -0.3),))),
            _convolved_bytes(_shifted(Call("ReLU-1", (_image("1,2,3,4", -0.2, 0.82),)), -0.3)),
            _convolved_bytes(_image("1,2,3,4", -0.2, 0.82)),
            _convolved_bytes(_image("1,2,3,4", 0.1, 1)),
            _convolved_bytes(Call("Tanh-1", (_image("1,2,3,4", -0.505, 0.545),))),
            _by_weights(_image("1,2,3,4", -0.505, 0.545), FILTERS.astype(np.int8), None),
        ],
    ),
    *beside(
        "quantized convolutions of data whose 0 is between two bytes, 2021.3 to 2026.4",
        falling=[
            _convolved_bytes(_shifted(_image("1,2,3,4"), -0.3)),
            _convolved_bytes(_pooled(_image("1,2,3,4", -0.505, 0.545))),
        ],
        others=[
            _convolved_bytes(_shifted(_image("1,2,3,4"), -0.4)),
        ],
    ),
    *beside(
        "quantized convolutions",
        falling=[
            _convolved_bytes(_image("1,2,3,4", levels=16)),
            _convolved_bytes(_pooled(_image("1,2,3,4", -0.2, 0.82))),
            _convolved_bytes(_shifted(_image("1,2,3,4"), -1)),
            _convolved_bytes(_pooled(_image("1,2,3,4")), GROUPED),
            _convolved_by_levels(_pooled(_image("1,2,3,4")), 255),
        ],
        others=[
            _convolved_bytes(_image("?,2,3,4")),
            _convolved_bytes(_shifted(_image("1,2,3,4"), -1.004)),
            _convolved_bytes(_shifted(_image("1,2,3,4"), 0.004)),
            _convolved_bytes(_image("1,2,3,4", levels=65536)),
            _convolved_by_levels(_image("1,2,3,4"), 256),
            _by_weights(_image("1,2,3,4"), FILTERS.astype(np.uint8), CHANNEL_SCALES),
            _by_weights(_image("1,2,3,4"), FILTERS.astype(np.int8), None),
        ],
    ),
    *beside(
        "quantized convolutions in groups, of unknown sizes",
        falling=[
            _convolved_bytes(_pooled(_image("?,2,3,4")), GROUPED),
            _convolved_bytes(_shifted(_image("1,2,?,4"), -1), GROUPED),
        ],
        others=[_convolved_bytes(_shifted(_image("?,2,3,4"), -1.004), GROUPED)],
    ),
    *beside(
        "quantized transposed convolutions along one axis",
        falling=[
            _convolved_lines(_line("?,2,?", -1, 1 - 2 / 256)),
            _convolved_lines(_line("1,2,4", 0, 1), step=2),
            _convolved_lines(_line("1,2,4", 0, 1), step=3, width=3),
            Call(
                "ConvolutionBackpropData-1",
                (_line("1,2,4", 0, 1), quantized(Fixed(LINE_FILTERS), TWO, levels=255)),
                LINE,
            ),
        ],
        others=[
            _convolved_lines(_line("1,2,4", -0.2, 0.82)),
            _convolved_lines(_line("1,2,4", 0, 1), step=3),
            _convolved_lines(_line("1,2,4", 0, 1), step=4, width=4),
            Call("ConvolutionBackpropData-1", (_line("1,2,4", 0, 1), Fixed(LINE_FILTERS)), LINE),
            Call(
                "ConvolutionBackpropData-1",
                (_line("1,2,4", 0, 1), converted(Fixed(np.ones((2, 3, 2), np.int8)), "f32")),
                LINE,
            ),
            Call("Convolution-1", (_line("1,2,4", 0, 1), _scaled_bytes(3, 2, 2)), LINE),
            Call("ConvolutionBackpropData-1", (_image("1,2,3,4"), _scaled_bytes(2, 3, 2, 2)), PLANE),
        ],
    ),
    *beside(
        "quantized products of averages, 2022.1 to 2026.4",
        falling=[
            _convolved_bytes(Call("ReLU-1", (Call("AvgPool-1", (_image("1,2,3,4"),), MEANS),))),
            Call("MatMul-1", (Call("AvgPool-1", (_image("1,2,3,4"),), MEANS), _scaled_bytes(3, 2))),
        ],
        others=[_convolved_bytes(_pooled(_image("1,2,3,4")))],
    ),
    *beside(
        "quantized products of data of 255 or 15 levels, 2022.1 to 2026.4",
        falling=[
            _convolved_bytes(_image("1,2,3,4", -1, 1, 15)),
            Call("MatMul-1", (_image("1,2,3,4", -0.5, 1, 255), _scaled_bytes(4, 2))),
            Call("ConvolutionBackpropData-1", (_image("1,2,3,4", levels=255), _scaled_bytes(2, 3, 2, 2)), PLANE),
        ],
        others=[
            _convolved_bytes(_image("1,2,3,4", levels=16)),
            Call("ConvolutionBackpropData-1", (_image("1,2,3,4", -0.5, 1, 255), _scaled_bytes(2, 3, 2, 2)), PLANE),
            Call("MatMul-1", (_image("1,2,3,4", -1, 1, 255), _scaled_bytes(4, 2))),
        ],
    ),
    *beside(
        "quantized convolutions of data of 255 levels, 2022.1 to 2022.1",
        falling=[_convolved_bytes(_image("1,2,3,4", -2, 2, 255))],
        others=[
            _convolved_bytes(_image("1,2,3,4", -1, 1, 255), GROUPED),
            Call("MatMul-1", (_image("1,2,3,4", -1, 1, 255), _scaled_bytes(4, 2))),
        ],
    ),
    *beside(
        "FakeQuantize with one limit of the output for all and several others",
        falling=[
            _between((-4,), (4,), (-4, -8, -16), (4,)),
            _between((-4, -5, -6), (4,), (-4,), (4, 8, 16), levels=15),
        ],
        others=[
            _between((-4,), (4,), (-4, -4, -4), (4, 8, 16)),
            _between((-4, -5, -6), (4,), (-4,), (8,)),
            _between((-4,), (4,), (-4,), (4, 8, 16), levels=100),
        ],
    ),
    *beside(
        "FakeQuantize with limits along axis 1 of a product, 2022.3 to 2024.3",
        falling=[
            _product_between(limits=(1, 5, 1)),
            _product_between(limits=(1, 5, 1), before="ReLU-1"),
            _product_between(1, limits=(1, 5, 1), before="Negative-1"),
        ],
        others=[
            _product_between(limits=(1, 5, 1), before="Exp-1"),
            _product_between(limits=(1, 1, 6)),
            _product_between(limits=(1, 5, 6)),
        ],
    ),
    *beside(
        "FakeQuantize with limits along axis 1 of products, 2023.0 to 2024.3",
        falling=[_product_between(), _product_between(before="Abs-1")],
        others=[_product_between(before="Exp-1"), _product_between(limits=(1, 1, 1, 6))],
    ),
    *beside(
        "FakeQuantize with limits along axis 1 of matrices, 2023.0 to 2026.4",
        falling=[_product_between(1, 5), _product_between(1, 5, before="Sigmoid-1")],
        others=[_product_between(1, 5, before="Exp-1"), _product_between()],
    ),
    *beside(
        "FakeQuantize of shifted channels of a convolution that others read",
        falling=[
            _channels(1, 2, 1, 1),
            _channels(2, 1, 1),
            _channels(2, 1, 1, sizes="1,2,3,1..4"),
            _channels(2, 1, 1, type="GroupConvolution-1"),
            _channels(2, 1, 1, type="ConvolutionBackpropData-1"),
            _channels(2, 1, 1, type="GroupConvolutionBackpropData-1"),
            _channels(2, 1, 1, sums=("Subtract-1", "Subtract-1")),
        ],
        others=[
            _channels(2, 1, 1, sizes="1,2,3,2"),
            _channels(1),
            _channels(2, 1, 1, sums=("Multiply-1", "Add-1")),
            _channels(2, 1, 1, before="ReLU-1"),
        ],
    ),
]
