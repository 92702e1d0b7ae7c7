"""Layers beside the rows of elementwise layers."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ir_tools.known_differences._model import (
    PLANE,
    Body,
    Call,
    Fixed,
    Given,
    Part,
    counted,
    floats,
    index,
    number,
    sizes_of,
    whole,
)
from ir_tools.known_differences.releases._elementwise import (
    _in_bytes,
    _quotient,
    _residual,
    _shifted_product,
    _summed_in_bytes,
    _summed_rows,
)
from ir_tools.ops import Array
from tests.releases.beside import Beside, Feed, beside

BY_CHANNEL = counted(1, 3, 1, 1)
IMAGE = counted(1, 2, 4, 4)
TINY = IMAGE / 1e6
WINDOWS = {"kernel": "2,2", "exclude-pad": "true"} | {key: PLANE[key] for key in PLANE if key != "dilations"}


def as_pdpd(op: str, *inputs: Array | Fixed, axis: int = -1) -> Call:
    return Call(op, inputs, {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": str(axis)})


def _reading(levels: Call, change: Callable[..., tuple[Feed, ...]]) -> Call:
    """The levels of a sum of what a function makes of its inputs."""
    total = levels.inputs[0]
    assert isinstance(total, Call)
    return replace(levels, inputs=(replace(total, inputs=change(*total.inputs)), *levels.inputs[1:]))


def _divided(first: Call, second: Call) -> tuple[Call, Call]:
    """A number that is divided by the first tensor and 3, and the second one."""
    return Call("Divide-1", (Fixed(floats(0.3)), Call("Add-1", (first, Fixed(number(3)))))), second


def _with_all_levels(levels: Call) -> Call:
    """The same FakeQuantize with so many levels that releases remove it."""
    return replace(levels, raw={"levels": "65536"})


SUM_IN_BYTES = _residual(sizes="2,2,4,4")
WAVES = Given(np.cos(counted(2, 2, 4, 4)), "2,2,4,4")
LEVELS_OF_FLOATS = _in_bytes(Call("Convolution-1", (WAVES, Fixed(np.cos(counted(2, 2, 1, 1)))), PLANE), 0.9)


def _sum(shape: str, *passed: str, first: bool = True, sizes: tuple[int, ...] = (1, 1)) -> Call:
    """The sum of a convolution, behind which other layers may be, and a number for each of three channels."""
    data = Given(counted(2, 2, 4, 4), shape)
    made = Call("Convolution-1", (data, Fixed(counted(3, 2, 1, 1))), PLANE)
    for op in passed:
        made = Call(op, (made, *([Fixed(counted(1, 3, 1, 1))] if op in {"Add-1", "Divide-1"} else [])))
    other = Call("Abs-1", (counted(2, 3, *sizes),))
    return Call("Add-1", (made, other) if first else (other, made))


def _single(data: Feed, step: int = 1) -> Call:
    """A convolution of single elements of two channels."""
    return Call("Convolution-1", (data, Fixed(counted(2, 2, 1, 1) / 9)), PLANE | {"strides": f"{step},{step}"})


def _root(data: Feed) -> Call:
    return Call("Sqrt-1", (data,))


def _with_erf(data: Feed, combined: Callable[[Feed, Call], Call]) -> Call:
    return combined(data, Call("Erf-1", (data,)))


def _transposed(data: Feed) -> Call:
    """A transposed convolution of two channels."""
    return Call("ConvolutionBackpropData-1", (data, Fixed(counted(2, 2, 2, 2) / 9)), PLANE)


def _product(data: Feed) -> Call:
    """Rows of four elements times a matrix."""
    return Call("MatMul-1", (data, Fixed(counted(4, 4) / 99)))


def _signed(data: Feed) -> Call:
    return Call("SoftSign-9", (data,))


def _iterated(state: Call) -> Call:
    """A loop over three vectors that computes a state of the last one."""
    return Call("TensorIterator-1", (counted(3, 1, 4), counted(1, 4)), body=Body(1, (state,), (Part(0),)))


def _images(shape: str) -> Call:
    return Call("Abs-1", (Given(counted(1, 2, 7, 8), shape),))


def _by_integers(op: str, data: Feed, *values: int, axes: int = 1) -> Call:
    """Integers and constants, one for all or one for each element along the second of some axes."""
    sizes = (1, len(values), *[1] * (axes - 2))[:axes]
    return Call(op, (data, Fixed(np.array(values, np.int32).reshape(sizes))))


INTEGERS = np.arange(24, dtype=np.int32).reshape(2, 3, 2, 2) * 5
SUMMED = Call("ReduceSum-1", (INTEGERS, Fixed(whole(2, 3))), {"keep_dims": "true"})


LIMITED, UNLIMITED, ODD = _images("1,2,1..14,8"), _images("1,2,7,?"), _images("1,2,?,8")


def _shifted(shape: str, *passed: str, op: str = "Add-1", by: Array = BY_CHANNEL) -> Call:
    """A convolution behind which other layers and a sum with constants come."""
    data = Given(counted(2, 2, 4, 4), shape)
    made = Call("Convolution-1", (data, Fixed(counted(3, 2, 1, 1))), PLANE)
    for one in passed:
        made = Call(one, (made, Fixed(BY_CHANNEL)) if one in {"Add-1", "Multiply-1"} else (made,))
    return Call(op, (made, Fixed(by)))


def _scaled_before(*sizes: int) -> Call:
    """A convolution of data that constants scale."""
    data = Call("Multiply-1", (IMAGE, Fixed(counted(*sizes) + 1)))
    return Call("Convolution-1", (data, Fixed(counted(3, 2, 3, 3))), PLANE)


RECTIFIED = _shifted("?,2,?,?", "ReLU-1")
REMAINDER = Call("Mod-1", (sizes_of(counted(5)), Fixed(whole(3))), {"auto_broadcast": "numpy"})
TURNED = Call("Add-1", (Call("Reshape-1", (REMAINDER, Fixed(whole(1, 1)))), whole(3, 4)))
"""The remainder itself in another shape."""
LENGTHS = Call("Concat-1", (REMAINDER, Fixed(whole(-1))), {"axis": "0"})


def _cut(data: Feed, *, unsqueezed: bool = False) -> Call:
    """A part of data of two rows, as long as the remainder of a division of sizes, in one shape or another."""
    part = Call("VariadicSplit-1", (data, Fixed(index(1)), LENGTHS))
    return Call("Add-1", (Call("Unsqueeze-1", (part, Fixed(whole(0)))) if unsqueezed else part, counted(2, 2)))


REMAINDERS = "remainders of sizes by which constants are "
SUMS = "sums of convolutions of unknown sizes and a tensor of known ones, "
ACTIVATED = "sums by channel behind activations of convolutions of unknown sizes"
FEWER = "tests of fewer dimensions with pdpd, "
AT_THE_END = "Add-1 with pdpd, dimensions of 1 at the end"
SLOPE = "PReLU with a slope inside channels"


def _repeated(
    type: str, *, first: bool = False, rows: int = 2, reader: str = "Concat-1", sizes: int = 1, constant: bool = False
) -> Call:
    """Rows that are repeated and combined with others, and joined with the result, or read by another layer."""
    row = counted(sizes, 3)
    repeated = Call("Broadcast-3", (Fixed(row) if constant else row, Fixed(whole(2, 3))), {"mode": "numpy"})
    data = counted(rows, 3)
    made = Call(type, (repeated, data) if first else (data, repeated))
    if reader == "Concat-1":
        return Call(reader, (repeated, made), {"axis": "1"})
    return Call(type, (repeated, made))


def _scaled_places(scale: Array) -> Call:
    """An image of two channels, each of whose columns is scaled."""
    return Call("Multiply-1", (IMAGE, Fixed(scale)))


EXPANDED = "Broadcasts that others read, in front of sums and products"
BESIDE = [
    *beside(
        "PReLU with a slope of unknown size that an elementwise layer computes, 2022.1 to 2026.4",
        falling=[
            Call(
                "PReLU-1",
                (
                    Given(np.sin(counted(2, 3) * 2), "?,?"),
                    Call("Add-1", (Given(np.cos(counted(2, 3)), "?,?"), Fixed(counted(2, 3)))),
                ),
            )
        ],
        others=[
            Call("PReLU-1", (Given(np.sin(counted(2, 3) * 2), "?,?"), Call("ReLU-1", (np.cos(counted(2, 3)),)))),
            Call("PReLU-1", (np.sin(counted(2, 3) * 2), Call("Add-1", (np.cos(counted(2, 3)), Fixed(counted(2, 3)))))),
        ],
    ),
    *beside("Clamp to one number", others=[Call("Clamp-1", (IMAGE,), {"min": "2", "max": "2.5"})]),
    *beside(
        "quotients of integers that are reduced",
        falling=[
            _quotient(_by_integers("Add-1", _summed_rows(), 1)),
            _quotient(_by_integers("Subtract-1", Call("Abs-1", (_summed_rows(),)), 2)),
            _quotient(Call("Reshape-1", (SUMMED, Fixed(whole(3, 2))), {"special_zero": "false"})),
            _quotient(Call("Convert-1", (Call("Abs-1", (SUMMED,)),), {"destination_type": "i32"})),
            _quotient(Call("ReduceMax-1", (INTEGERS, Fixed(whole(1))))),
            _by_integers("Divide-1", SUMMED, 3, 7, 11, axes=4),
            Call("Divide-1", (Fixed(np.array([99], np.int32)), _by_integers("Add-1", SUMMED, 1))),
        ],
        others=[
            _quotient(INTEGERS),
            _quotient(Call("Concat-1", (SUMMED, SUMMED), {"axis": "0"})),
            _quotient(_by_integers("Maximum-1", _summed_rows(), 2)),
            Call("Divide-1", (_summed_rows(), np.array([3], np.int32))),
            Call("Add-1", (_quotient(SUMMED), SUMMED)),
        ],
    ),
    *beside(
        "sums with numbers next to 0",
        falling=[
            _root(Call("Subtract-1", (Call("Abs-1", (TINY,)), Fixed(np.full((2, 1, 1), -9e-6, np.float32))))),
            _root(Call("Add-1", (Fixed(number(9e-6)), Call("Abs-1", (TINY,))))),
        ],
        others=[
            _root(Call("Abs-1", (Call("Subtract-1", (Fixed(number(9e-6)), Call("Abs-1", (TINY,)))),))),
            _root(Call("Add-1", (Call("Abs-1", (TINY,)), Fixed(number(1.1e-5))))),
            _root(Call("Add-1", (Call("Abs-1", (TINY,)), Fixed(BY_CHANNEL[:, :2] / 1e6)))),
        ],
    ),
    *beside(
        "products by position before a convolution",
        falling=[Call("Convolution-1", (_scaled_places(np.full(4, 2, np.float32)), Fixed(counted(1, 2, 3, 3))), PLANE)],
        others=[Call("Convolution-1", (_scaled_places(np.ones(4, np.float32)), Fixed(counted(1, 2, 3, 3))), PLANE)],
    ),
    *beside(
        EXPANDED,
        falling=[*(_repeated(type) for type in ("Subtract-1", "Divide-1")), _repeated("Multiply-1", first=True)],
        others=[
            *(_repeated(type, first=True) for type in ("Subtract-1", "Divide-1")),
            _repeated("Maximum-1"),
            _repeated("Add-1", rows=1),
            _repeated("Add-1", sizes=2),
            *(_repeated(type, constant=True) for type in ("Add-1", "Divide-1")),
            _repeated("Add-1", reader="Add-1"),
        ],
    ),
    Beside(SLOPE, False, Call("PReLU-1", (counted(2, 3, 1), Fixed(counted(3, 1))))),
    Beside(SLOPE, True, Call("PReLU-1", (counted(2, 3, 2), Fixed(counted(1, 2))))),
    *(
        Beside(FEWER + "if the second is repeated", falls, as_pdpd("Less-1", *inputs, axis=axis))
        for falls, axis, *inputs in (
            (True, -1, counted(2, 3), counted(3)),
            (True, 1, counted(2, 3, 1), Fixed(counted(3, 1))),
            (False, -1, counted(1, 3), counted(3)),
            (False, -1, counted(2, 3), counted(2, 3)),
            (False, -1, counted(2, 3).astype(np.int32), counted(3).astype(np.int32)),
        )
    ),
    *(
        Beside(FEWER + "if the axis is written", falls, as_pdpd("Greater-1", *inputs, axis=axis))
        for falls, axis, *inputs in (
            (True, 1, counted(2, 3), Fixed(counted(3))),
            (True, 2, counted(1, 1, 4), counted(4)),
            (True, 1, counted(3, 1), counted(1)),
            (False, 1, counted(3, 1), Fixed(counted(1))),
            (False, -1, counted(1, 3), counted(3)),
            (False, 0, counted(2, 3), counted(2, 3)),
            (False, 1, counted(2, 3).astype(np.int64), counted(3).astype(np.int64)),
        )
    ),
    *beside(
        "sums of convolutions of unlimited sizes and a tensor of limited ones",
        falling=[
            Call("Subtract-1", (_single(_single(LIMITED)), LIMITED)),
            Call("Add-1", (LIMITED, _single(Call("Add-1", (_single(LIMITED), LIMITED))))),
            Call("Add-1", (LIMITED, _single(Call("SoftMax-1", (_single(LIMITED),), {"axis": "1"})))),
        ],
        others=[
            Call("Add-1", (LIMITED, _single(LIMITED))),
            Call("Add-1", (_single(LIMITED), _single(_single(LIMITED)))),
            Call("Add-1", (LIMITED, Call("ReLU-1", (_single(_single(LIMITED)),)))),
            Call("Multiply-1", (LIMITED, _single(_single(LIMITED)))),
            Call("Add-1", (UNLIMITED, _single(_single(UNLIMITED)))),
        ],
    ),
    *beside(
        "sums of convolutions of single elements with strides",
        falling=[
            Call("Subtract-1", (_single(ODD, 2), _single(_single(ODD, 2)))),
            Call("Add-1", (Call("Add-1", (_single(ODD, 2), Fixed(counted(1, 2, 1, 1)))), _single(ODD, 2))),
        ],
        others=[
            Call("Add-1", (_single(_single(ODD, 2)), _single(ODD, 2))),
            Call("Add-1", (_single(UNLIMITED, 2), _single(UNLIMITED, 2))),
            Call("Add-1", (Call("ReLU-1", (_single(ODD, 2),)), Call("Abs-1", (_single(ODD, 2),)))),
            Call("Multiply-1", (_single(ODD, 2), _single(ODD, 2))),
            Call("Add-1", (_single(ODD), _single(ODD))),
        ],
    ),
    *beside(
        SUMS + "either way",
        falling=[
            _sum("2,2,?,?"),
            _sum("?,2,?,?", "Add-1"),
            _sum("?,2,?,?", "Divide-1", "Add-1"),
            _sum("?,2,4,?", sizes=(4, 1)),
            _sum("?,2,?,?", first=False),
            _sum("2,2,?,?", sizes=(4, 4)),
        ],
        others=[
            _sum("2,2,4,4"),
            _sum("?,2,4,4"),
            _sum("?,2,4,?"),
            _sum("?,2,?,?", "ReLU-1"),
            _sum("2,2,?,?", "ReLU-1", "Add-1"),
        ],
    ),
    *beside(
        ACTIVATED,
        falling=[
            _shifted("?,2,?,?", "ReLU-1"),
            _shifted("1..9,2,?,..9", "Tanh-1", op="Subtract-1"),
            _shifted("?,2,?,?", "Add-1", "Abs-1", "Sigmoid-1"),
            _shifted("?,2,?,?", "ReLU-1", by=counted(3, 1, 1)),
        ],
        others=[
            _shifted("?,2,?,?"),
            _shifted("?,2,?,?", "Add-1"),
            _shifted("?,2,?,?", "Exp-1"),
            _shifted("?,2,?,?", "ReLU-1", "Multiply-1"),
            Call("Concat-1", (RECTIFIED, RECTIFIED.inputs[0]), {"axis": "1"}),
            _shifted("?,2,?,?", "ReLU-1", op="Multiply-1"),
            _shifted("?,2,?,?", "ReLU-1", by=counted(3, 4, 4)),
            _shifted("?,2,?,?", "ReLU-1", by=counted(1, 1, 1, 1)),
            _shifted("2,2,?,?", "ReLU-1"),
            _shifted("?,2,4,?", "ReLU-1"),
        ],
    ),
    *beside(
        REMAINDERS + "reshaped",
        falling=[_cut(Fixed(counted(2, 6)), unsqueezed=True)],
        others=[_cut(Fixed(counted(2, 6))), _cut(counted(2, 6), unsqueezed=True), TURNED],
    ),
    *beside(
        REMAINDERS + "cut or reshaped",
        falling=[Call("Add-1", (Call("Reshape-1", (Fixed(counted(3, 4)), LENGTHS)), counted(2, 6)))],
        others=[_cut(counted(2, 6)), _cut(Call("ReLU-1", (counted(2, 6),))), TURNED],
    ),
    *beside(SUMS + "before it", falling=[_sum("2,2,?,?", first=False)], others=[_sum("2,2,?,?")]),
    *beside(SUMS + "within limits", falling=[_sum("?,2,?,2..9")], others=[_sum("?,2,..9,..9")]),
    *beside(SUMS + "at least 2", falling=[_sum("?,2,?,2..")], others=[_sum("?,2,1..,..9"), _sum("2..,2,?,?")]),
    *beside(
        SUMS + "by batch",
        falling=[Call("Add-1", (counted(1, 3, 4, 4), _sum("?,2,4,4").inputs[0]))],
        others=[_sum("?,2,4,4", first=False), _sum("?,2,?,?", first=False)],
    ),
    *beside(
        "a number that adds dimensions",
        falling=[Call("Add-1", (Call("Abs-1", (counted(1),)), Fixed(counted(1, 1))))],
        others=[Call("Add-1", (Call("Abs-1", (counted(),)), Fixed(counted(1))))],
    ),
    *beside(
        "products by position before a convolution",
        falling=[_scaled_before(1, 4, 1), _scaled_before(2, 1, 4)],
        others=[_scaled_before(2, 1, 1)],
    ),
    Beside(AT_THE_END, False, as_pdpd("Add-1", counted(2, 2), Fixed(counted(1, 1)))),
    *beside(
        "SoftSign after an elementwise layer",
        falling=[
            _signed(Call("Add-1", (IMAGE, counted(1, 2, 1, 1)))),
            _signed(Call("Add-1", (_product(IMAGE), Fixed(counted(1, 2, 1, 1))))),
        ],
        others=[
            _signed(Call("Add-1", (_single(IMAGE), IMAGE))),
            _signed(Call("Subtract-1", (IMAGE, _single(IMAGE)))),
            _signed(Call("Add-1", (Call("Add-1", (_single(IMAGE), Fixed(counted(1, 2, 1, 1)))), IMAGE))),
            _signed(Call("ReLU-1", (Call("Multiply-1", (_single(IMAGE), Fixed(counted(1, 2, 1, 1)))),))),
            _signed(Call("Tanh-1", (Call("ReduceMax-1", (counted(2, 3), Fixed(whole(1)))),))),
            _signed(Call("Add-1", (_product(counted(1, 4, 4)), Fixed(counted(4))))),
        ],
    ),
    *beside(
        "SoftSign after one that is not compiled with it",
        falling=[
            _signed(Call("Abs-1", (counted(1, 1, 1, 1, 1, 2, 3),))),
            _signed(Call("Abs-1", (Given(counted(2, 3), "?,3"),))),
        ],
        others=[
            _signed(Call("Abs-1", (counted(1, 1, 1, 1, 2, 3),))),
            _signed(Call("SoftPlus-4", (_single(IMAGE),))),
            _signed(Call("Tanh-1", (_single(Given(IMAGE, "?,2,?,?")),))),
        ],
    ),
    *beside(
        "SoftSign after a product whose rows have a constant each",
        falling=[_signed(Call("Tanh-1", (_shifted_product(counted(2, 4, 3), counted(1, 4, 1)),)))],
        others=[_signed(_shifted_product(counted(2, 4, 3), shift)) for shift in (counted(5), counted(1))],
    ),
    *beside(
        "SoftSign after a product of four axes",
        falling=[_signed(Call("Tanh-1", (_shifted_product(counted(2, 4, 6, 3), counted(1, 1, 1, 5)),)))],
        others=[_signed(_shifted_product(counted(2, 4, 6, 3), counted(1)))],
    ),
    *beside(
        "Erf that overwrites what other layers read",
        falling=[
            _with_erf(
                Call("SoftMax-8", (counted(2, 3),), {"axis": "1"}), lambda data, erf: Call("Add-1", (erf, _root(data)))
            ),
            _with_erf(Call("Tanh-1", (counted(2, 3),)), lambda data, erf: Call("Concat-1", (erf, data), {"axis": "0"})),
        ],
        others=[
            _with_erf(counted(2, 3), lambda data, erf: Call("Multiply-1", (data, erf))),
            _with_erf(
                Call("SoftMax-8", (counted(2, 3),), {"axis": "1"}),
                lambda data, erf: Call("Concat-1", (erf, data), {"axis": "0"}),
            ),
        ],
    ),
    *beside(
        "Erf that overwrites what an elementwise layer gives others",
        falling=[
            _with_erf(Call("Tanh-1", (counted(2, 3),)), lambda data, erf: Call("Add-1", (erf, _root(data)))),
            _with_erf(Call("Swish-4", (counted(2, 3),)), lambda data, erf: Call("Multiply-1", (erf, data))),
        ],
        others=[
            _with_erf(Call("Log-1", (counted(2, 3),)), lambda data, erf: Call("Multiply-1", (data, erf))),
            _with_erf(Call("Tanh-1", (counted(2, 3),)), lambda data, erf: Call("Add-1", (erf, Call("Sin-1", (data,))))),
            _with_erf(
                Call("Tanh-1", (Given(counted(2, 3), "?,3"),)), lambda data, erf: Call("Multiply-1", (data, erf))
            ),
        ],
    ),
    *beside(
        "SoftSign after one that is compiled with nothing",
        falling=[
            _signed(Call("Add-1", (counted(1, 2, 1, 4), _single(IMAGE)))),
            _signed(Call("ReLU-1", (Call("AvgPool-1", (IMAGE,), WINDOWS),))),
            _signed(Call("ReLU-1", (_transposed(IMAGE),))),
            _iterated(_signed(Call("Abs-1", (Part(1),)))),
        ],
        others=[
            _iterated(_signed(Part(1))),
            _iterated(_signed(_product(Part(1)))),
            _signed(Call("Multiply-1", (_single(IMAGE), counted(1, 2, 1, 1)))),
            _signed(Call("Add-1", (_transposed(IMAGE), Fixed(counted(1, 2, 1, 1))))),
            _signed(Call("AvgPool-1", (IMAGE,), WINDOWS)),
        ],
    ),
    *beside(
        "sums of convolutions of unknown sizes in bytes and numbers that are repeated",
        falling=[_summed_in_bytes("2,2,?,?"), _summed_in_bytes(again=True)],
        others=[
            _summed_in_bytes("2,2,4,4"),
            _summed_in_bytes(levels=False),
            _summed_in_bytes(known=False),
        ],
    ),
    *beside(
        "quantized sums of quantized convolutions",
        falling=[
            *(_residual("Subtract-1", sizes="2,2,4,4"), _residual(mask="ReLU-1"), _residual(sizes="2,2,4,4")),
            *(_residual(mask="HSwish-4", sizes="2,2,4,4"), _residual(channels=True, sizes="2,2,4,4")),
            _reading(SUM_IN_BYTES, lambda one, two: (two, one)),
            *(_reading(SUM_IN_BYTES, lambda one, _, first=first: (first, one)) for first in (WAVES, LEVELS_OF_FLOATS)),
        ],
        others=[
            *(_residual(last=False), _residual(first=False), _residual(read=True), _residual(mask="Sin-1")),
            *(_residual(channels=True, first=False), _residual(grouped=True), _residual("Subtract-1")),
            *(_reading(SUM_IN_BYTES, _divided), _with_all_levels(SUM_IN_BYTES)),
            _reading(SUM_IN_BYTES, lambda one, two: (_with_all_levels(one), two)),
        ],
    ),
    *beside(
        "quantized differences of quantized convolutions",
        falling=[_residual("Subtract-1", sizes="2,2,4,4")],
        others=[_residual("Subtract-1", channels=True), _residual("Subtract-1", first=False)],
    ),
    *beside(
        SUMS + "either way", falling=[_summed_in_bytes(again=True)], others=[_summed_in_bytes("2,2,4,4", again=True)]
    ),
]
