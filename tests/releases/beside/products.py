"""Layers beside the rows of products of matrices, Einsum, convolutions and deconvolutions."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

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
from ir_tools.known_differences.releases._products import _bent
from ir_tools.known_differences.releases._samples import quantized
from tests.releases.beside import Beside, Feed, beside


def einsum(equation: str, *inputs: Feed) -> Call:
    return Call("Einsum-7", inputs, {"equation": equation})


def convolved(size: int, extent: int, **settings: str) -> Call:
    """Data of unknown size and filters of one axis."""
    return Call("Convolution-1", (Given(counted(1, 1, size), "1,1,?"), Fixed(counted(1, 1, extent))), LINE | settings)


NUMBERS = np.arange(16 * 128) * 37 % 251
BYTES = Fixed((NUMBERS - 125).astype(np.int8).reshape(16, 128))
NIBBLES = Fixed((NUMBERS[: 8 * 128]).astype(np.uint8), "i4", (16, 128))


def _compressed(data: Call, held: Fixed = BYTES) -> Call:
    """Data of 128 columns times weights that are held in few bits."""
    scale = Fixed((0.01 + np.arange(16) / 1600).astype(np.float32).reshape(16, 1))
    weights = Call("Multiply-1", (converted(held, "f32"), scale))
    return Call("MatMul-1", (data, weights), {"transpose_b": "true"})


def _in_bytes(outputs: int, summed: int, transposed: bool = True, matrices: Sequence[int] = ()) -> Call:
    """Data times weights that are held in bytes, which make so many outputs, each of so many products."""
    held = (np.arange(prod(matrices) * outputs * summed) * 37 % 251 - 125).astype(np.int8)
    held = held.reshape(*matrices, outputs, summed)
    scale = (0.01 + np.arange(outputs) / 1600).astype(np.float32).reshape(outputs, 1)
    if not transposed:
        held, scale = held.T, scale.T
    data = np.sin(np.arange(2 * summed)).astype(np.float32).reshape(2, summed)
    weights = Call("Multiply-1", (converted(Fixed(held), "f32"), Fixed(scale)))
    return Call("MatMul-1", (data, weights), {"transpose_b": str(transposed).lower()})


def _cut(summed: int = 16, *, cut: str = "Slice-8", transposed: bool = False) -> Call:
    """Two of four quantized rows times weights that are held in bytes, or two rows repeated."""
    data = quantized(np.sin(counted(4, summed)), Fixed(floats(1)), levels=255)
    inputs = {
        "Slice-8": (Fixed(whole(0)), Fixed(whole(2)), Fixed(whole(1)), Fixed(whole(0))),
        "StridedSlice-1": (Fixed(whole(0, 0)), Fixed(whole(2, summed)), Fixed(whole(1, 1))),
        "Broadcast-3": (Fixed(whole(2, 4, summed)),),
    }
    raw = {"Slice-8": {}, "StridedSlice-1": {"begin_mask": "0,0", "end_mask": "0,0"}, "Broadcast-3": {"mode": "numpy"}}
    rows = Call(cut, (data, *inputs[cut]), raw[cut])
    held = _in_bytes(16, summed, transposed).inputs[1]
    return Call("MatMul-1", (rows, held), {"transpose_b": str(transposed).lower()})


def _levels(levels: int, *limits: float) -> Call:
    """Two rows of 128 numbers below 1, quantized."""
    data = np.abs(np.sin(np.arange(256))).astype(np.float32).reshape(2, 128)
    return quantized(data, Fixed(floats(*limits)), levels=levels)


def _multiplied(sizes: str, *held: int, transposed: bool = False) -> Call:
    """Data of at most these sizes times several constant matrices."""
    data = counted(*(int(size) if size.isdecimal() else 2 for size in sizes.split(",")))
    return Call("MatMul-1", (Given(data, sizes), Fixed(counted(*held))), {"transpose_b": str(transposed).lower()})


def _part(gives: int = 1, sizes: str = "1,2,4,4") -> Call:
    data = Given(counted(1, 2, 4, 4), sizes)
    return Call("Split-1", (data, Fixed(index(1))), {"num_splits": "2"}, gives=gives)


BIAS = Fixed(counted(1, 4, 1, 1))


def _by_groups(
    width: int,
    extent: int,
    begin: int,
    *,
    channels: int = 1,
    groups: int = 2,
    stride: int = 1,
    sizes: str = "",
    **more: str,
) -> Call:
    """A convolution of one row whose filters begin so far before it; 4 channels are computed."""
    rows = np.sin(counted(1, groups * channels, 1, width))
    data = Given(rows, sizes) if sizes else rows
    filters = Fixed(np.cos(counted(groups, 4 // groups, channels, 1, extent)))
    raw = {"strides": f"1,{stride}", "dilations": "1,1", "pads_begin": f"0,{begin}", "pads_end": "0,0"}
    return Call("GroupConvolution-1", (data, filters), raw | more)


def _filtered(
    out: int, extent: int, *, groups: int = 0, channels: int = 0, size: int = 1, sizes: str = "", **more: str
) -> Call:
    """A convolution of rows of unknown size, of two channels or so many for each group, to so many for each group."""
    into = channels or (2 if groups < 2 else 8 if out == 8 else 1)
    total = into * max(groups, 1)
    data = Given(counted(1, total, 1, size), sizes or f"1,{total},1,?")
    filters = Fixed(counted(*([groups] if groups else []), out, into, 1, extent) / 99)
    raw = {"strides": "1,1", "dilations": "1,1", "pads_begin": "0,2", "pads_end": "0,2"}
    return Call("GroupConvolution-1" if groups else "Convolution-1", (data, filters), raw | more)


def _added(data: Feed, channels: int, size: int = 1, op: str = "Add-1") -> Call:
    """A sum with a tensor of unknown size."""
    return _plus(data, Given(counted(1, channels, 1, size), f"1,{channels},1,?"), op)


OTHER = Given(counted(1, 2, 1, 1), "1,2,1,?")


def _plus(data: Feed, more: Feed = BIAS, op: str = "Add-1") -> Call:
    return Call(op, (data, more))


def _strided(data: Feed, stride: int = 2, filter: int = 1, **more: str) -> Call:
    """A convolution of data of one channel."""
    raw = {"strides": f"{stride},1", "dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0", **more}
    return Call("Convolution-1", (data, Fixed(counted(1, 1, filter, 1) + 1)), raw)


STRIDES = "strides of a convolution that move before a later output"
LARGE = counted(1, 1, 8, 8)
RECTIFIED = Call("ReLU-1", (_part(),))
SORTED = Call(
    "TopK-3",
    (counted(1, 1, 4, 4), Fixed(number(3, np.int64))),
    {"axis": "3", "mode": "min", "sort": "value", "index_element_type": "i32"},
)
THIN = "MatMul by several constant matrices of one row or column"
WEIGHTS = "MatMul with weights of 8 and 4 bits, 2024.3 to 2026.4"
FAR = "convolutions that extend far beyond the data, {}"


def _matmul(first: Feed, second: Feed) -> Call:
    return Call("MatMul-1", (first, second), {"transpose_a": "false", "transpose_b": "false"})


def _computed_between(bent: Call) -> Call:
    """The same PReLU of the product multiplied by a tensor of the model."""
    product, slopes = bent.inputs
    return Call("PReLU-1", (Call("Multiply-1", (product, counted(1, 4, 7, 7))), slopes))


BESIDE = [
    *beside(
        "MatMul of matrices and a constant vector",
        falling=[_matmul(counted(2, 4, 3), Fixed(counted(3)))],
        others=[_matmul(counted(2, 3), counted(3)), _matmul(counted(2, 3), Fixed(counted(3, 1)))],
    ),
    *beside(
        "MatMul of a vector and constants",
        falling=[_matmul(counted(3), Fixed(counted(3)))],
        others=[
            _matmul(counted(3), counted(3, 2)),
            _matmul(counted(1, 3), Fixed(counted(3, 2))),
            _matmul(counted(3), Fixed(counted(1, 3, 2))),
        ],
    ),
    *beside(
        "MatMul of a matrix and a constant one with more dimensions",
        falling=[_matmul(counted(2, 3), Fixed(counted(1, 1, 3, 4))), _matmul(counted(1, 3), Fixed(counted(1, 3, 1)))],
        others=[
            _matmul(counted(2, 3), counted(1, 3, 4)),
            _matmul(counted(2, 3), Fixed(counted(2, 3, 4))),
            _matmul(counted(1, 2, 3), Fixed(counted(1, 1, 3, 4))),
            _matmul(counted(3), Fixed(counted(1, 3, 4))),
        ],
    ),
    *beside(
        FAR.format("before sums by channel"),
        falling=[
            _plus(_by_groups(40, 30, 29)),
            _plus(_by_groups(40, 30, 29, channels=3)),
            _plus(_by_groups(28, 30, 0, pads_end="0,29")),
            _plus(_by_groups(4, 7, 3, stride=4)),
            _plus(_by_groups(4, 9, 0, stride=2, auto_pad="same_upper")),
            _plus(_by_groups(3, 7, 0, stride=2, auto_pad="same_lower")),
            _plus(_by_groups(40, 30, 29), op="Subtract-1"),
            _plus(_plus(_by_groups(40, 30, 29), Fixed(counted(1, 4, 1, 1) + 1), "Multiply-1")),
            _plus(Call("Multiply-1", (Fixed(floats(2)), _by_groups(40, 30, 29)))),
            _plus(_plus(_by_groups(40, 30, 29), BIAS, "Divide-1"), Fixed(counted(4, 1, 1))),
            _plus(_plus(_by_groups(40, 30, 29), Fixed(floats(2))), BIAS),
            _plus(_by_groups(40, 21, 10, channels=16, pads_end="0,10")),
        ],
        others=[
            _by_groups(40, 30, 29),
            _plus(_by_groups(40, 29, 28)),
            _plus(_by_groups(40, 30, 0, pads_end="0,29")),
            _plus(_by_groups(40, 7, 6, channels=16)),
            _plus(_by_groups(40, 30, 29, channels=17)),
            _plus(_by_groups(40, 30, 29, groups=1)),
            _plus(_by_groups(40, 30, 29, groups=4)),
            _plus(_by_groups(5, 7, 3, pads_end="0,3", stride=2)),
            _plus(_by_groups(40, 30, 29), counted(1, 4, 1, 1)),
            _plus(_by_groups(40, 30, 29), Fixed(floats(2))),
            _plus(_by_groups(2, 5, 4), Fixed(counted(1, 4, 1, 2))),
            _plus(BIAS, _by_groups(40, 30, 29)),
            _plus(Call("Divide-1", (BIAS, _by_groups(40, 30, 29)))),
            _plus(Call("ReLU-1", (_by_groups(40, 30, 29),))),
        ],
    ),
    *beside(
        FAR.format("before sums by channel of unknown sizes"),
        falling=[_plus(_by_groups(4, 7, 3, sizes="?,2,?,4", stride=4))],
        others=[_plus(_by_groups(4, 7, 3, sizes="?,2,?,?", stride=4)), _plus(_by_groups(40, 7, 6, channels=16))],
    ),
    *beside(
        FAR.format("before sums"),
        falling=[
            _added(_filtered(2, 5), 2),
            _added(_filtered(2, 5, auto_pad="same_upper"), 2),
            _added(_filtered(2, 3, dilations="1,2"), 2),
            _added(_filtered(2, 5), 2, op="Subtract-1"),
            _plus(OTHER, _filtered(2, 5)),
            _added(_plus(_filtered(2, 5), Fixed(counted(1, 2, 1, 1))), 2),
            _added(_plus(_filtered(2, 5), Fixed(floats(2)), "Multiply-1"), 2),
            _added(_filtered(2, 5, groups=1), 2),
            _added(_filtered(8, 5, groups=2), 16),
        ],
        others=[
            _filtered(2, 5),
            _added(_filtered(2, 3, pads_begin="0,1", pads_end="0,1"), 2),
            _added(_filtered(2, 5, sizes="1,2,?,1"), 2),
            _added(_filtered(2, 5, size=2, sizes="1,2,1,2.."), 2, size=2),
            _plus(_filtered(2, 5), Fixed(counted(1, 2, 1, 1))),
            _plus(Call("ReLU-1", (_filtered(2, 5),)), OTHER),
            _plus(_filtered(2, 5), Given(counted(1, 1, 1, 1), "1,1,1,?")),
            _added(_filtered(2, 5, groups=2), 4),
        ],
    ),
    *beside(
        FAR.format("before sums of groups of few channels"),
        falling=[
            _added(_filtered(2, 5, groups=2), 4),
            _added(_filtered(8, 5, groups=2), 16),
            _added(_filtered(1, 5, groups=2, channels=8), 2),
        ],
        others=[
            _added(_filtered(1, 5, groups=2, channels=9), 2),
            _added(_filtered(1, 5, groups=2), 2),
            _added(_filtered(2, 5, groups=1), 2),
        ],
    ),
    *beside(
        STRIDES,
        falling=[
            _strided(Call("Tanh-1", (RECTIFIED,))),
            _strided(Call("Add-1", (_part(0), _part(1)))),
            _strided(Call("Multiply-1", (RECTIFIED, Fixed(floats(3))))),
            _strided(Call("ReLU-1", (Call("Multiply-1", (_part(), Fixed(floats(3)))),))),
            _strided(Call("Multiply-1", (_part(), Fixed(counted(4, 4) + 1)))),
            Call("Concat-1", (_strided(RECTIFIED), _strided(RECTIFIED)), {"axis": "1"}),
            _strided(Call("Tanh-1", (_strided(RECTIFIED, stride=1),))),
        ],
        others=[
            _strided(_part()),
            _strided(Call("ReLU-1", (_part(0),))),
            _strided(Call("Multiply-1", (_part(), Fixed(floats(3))))),
            _strided(Call("Swish-4", (_part(),))),
            _strided(RECTIFIED, stride=1),
            _strided(Call("ReLU-1", (_strided(_part(), stride=1),))),
            _strided(RECTIFIED, filter=2),
            Call("Concat-1", (_strided(RECTIFIED), _strided(RECTIFIED, stride=1)), {"axis": "2"}),
            _strided(
                Call(
                    "ReLU-1",
                    (
                        Call(
                            "Split-1",
                            (Given(counted(1, 2, 4, 4), "1,2,?,4"), Fixed(index(1))),
                            {"num_splits": "2"},
                            gives=1,
                        ),
                    ),
                )
            ),
        ],
    ),
    *beside(
        "strides of a padded convolution that move before other layers",
        falling=[
            _strided(Call("Exp-1", (LARGE,)), pads_begin="1,0"),
            _strided(Call("ReLU-1", (LARGE,)), pads_end="2,0"),
            _strided(_strided(LARGE, stride=1), pads_begin="2,0", pads_end="1,0"),
            _strided(Call("Multiply-1", (Call("ReLU-1", (LARGE,)), Fixed(floats(3)))), pads_begin="1,0"),
            _strided(_strided(Call("ReLU-1", (LARGE,)), stride=1, pads_begin="1,0")),
            _strided(_strided(Call("ReLU-1", (counted(1, 1, 2, 2),)), pads_end="1,0")),
            _strided(Call("ReLU-1", (Call("Multiply-1", (LARGE, Fixed(floats(3)))),)), pads_begin="1,0"),
            _strided(Call("ReLU-1", (counted(1, 1, 7, 8),)), pads_end="1,0"),
        ],
        others=[
            _strided(LARGE, pads_begin="1,0"),
            _strided(_strided(counted(1, 1, 2, 2), pads_end="1,0")),
            _strided(Call("ReLU-1", (LARGE,)), pads_end="1,0"),
            _strided(Call("ReLU-1", (LARGE,)), stride=1, pads_begin="1,0"),
            _strided(Call("ReLU-1", (LARGE,)), filter=2, pads_begin="1,0"),
            _strided(Call("Swish-4", (LARGE,)), pads_begin="1,0"),
            _strided(Call("Multiply-1", (LARGE, Fixed(floats(3)))), pads_begin="1,0"),
            _strided(Call("ReLU-1", (LARGE,)), pads_begin="1,0", auto_pad="valid"),
        ],
    ),
    *beside(
        "strides of a convolution that move before an output of a TopK, VariadicSplit or LSTMSequence",
        falling=[_strided(Call("ReLU-1", (SORTED,)))],
        others=[_strided(SORTED)],
    ),
    *beside(
        THIN,
        falling=[
            _multiplied("2,3,1", 2, 1, 5),
            _multiplied("2,3,1", 2, 5, 1, transposed=True),
            _multiplied("3,4", 2, 4, 1),
            _multiplied("2,?,4", 2, 4, 1),
            _multiplied("1,3,4", 2, 1, 4, transposed=True),
        ],
        others=[
            _multiplied("2,3,4", 2, 4, 2),
            _multiplied("1,3,4", 1, 4, 1),
            _multiplied("?,3,4", 2, 4, 1),
            _multiplied("2,2,3,4", 2, 2, 4, 1),
            _multiplied("2,2,3,4", 2, 4, 1),
            _multiplied("2,3,4", 4, 1),
            Call("MatMul-1", (counted(2, 3, 4), counted(2, 4, 1))),
        ],
    ),
    *beside(
        f"{THIN}, 2021",
        falling=[_multiplied("2,2,3,4", 1, 2, 4, 1), _multiplied("2,2,3,1", 2, 1, 1, 5), _multiplied("3,4", 2, 4, 1)],
        others=[_multiplied("2,2,3,4", 2, 2, 4, 1), _multiplied("2,3,4", 1, 4, 1), _multiplied("4", 2, 4, 1)],
    ),
    Beside(WEIGHTS, False, _compressed(_levels(256, 1))),
    Beside(WEIGHTS, False, _compressed(_levels(16, 1))),
    Beside(WEIGHTS, False, _compressed(Call("ReLU-1", (_levels(255, 1),)))),
    Beside(
        WEIGHTS,
        False,
        _compressed(Call("Reshape-1", (_levels(256, 1), Fixed(whole(1, 2, 128))), {"special_zero": "false"})),
    ),
    Beside(WEIGHTS, True, _compressed(_levels(100, 1))),
    Beside(WEIGHTS, True, _compressed(_levels(256, *np.linspace(0.5, 1, 128)))),
    Beside(WEIGHTS, True, _compressed(Call("Tanh-1", (_levels(256, 1),)))),
    Beside(WEIGHTS, True, _compressed(_levels(256, 1), NIBBLES)),
    *(
        one
        for span, least in (("2024.3 to 2025.1", 4), ("2024.3 to 2026.0", 16), ("2024.3 to 2026.4", 32))
        for one in beside(
            f"MatMul with weights of 8 and 4 bits, {span}",
            falling=[
                _in_bytes(2, least),
                _in_bytes(2, 64),
                _in_bytes(2, 64, transposed=False),
                _in_bytes(2, 64, matrices=[1]),
            ],
            others=[
                _in_bytes(64, least - 1),
                _in_bytes(64, least - 1, transposed=False),
                _in_bytes(1, 64),
                _in_bytes(2, 64, matrices=[2]),
            ],
        )
    ),
    *beside(
        "MatMul of quantized data behind a Slice with weights of 8 bits",
        falling=[_cut(), _cut(8, transposed=True)],
        others=[_cut(cut="StridedSlice-1"), _cut(3)],
    ),
    *beside(
        "MatMul of quantized data behind a Broadcast with weights of 8 bits",
        falling=[_cut(cut="Broadcast-3")],
        others=[_cut(cut="StridedSlice-1")],
    ),
    *beside(
        "Einsum of dots for several dimensions",
        falling=[einsum("...b,...c->...bc", counted(5), counted(2, 3, 7))],
        others=[
            einsum("...a,...b,...->...a", counted(3, 2), counted(2, 3, 4), counted(3)),
            einsum("d...b,...b->d...b", counted(4, 2, 3, 5), counted(3, 5)),
            einsum("...b,...c->...bc", counted(2, 3, 5), counted(7)),
            einsum("...ab,...a,...b->...", counted(2, 3, 2, 4), counted(3, 2), counted(3, 4)),
        ],
    ),
    *beside(
        "convolution of data of unknown size with filters that extend over more than 64 elements by "
        "dilation, one or two elements",
        falling=[convolved(200, 33, dilations="3", pads_begin="31")],
        others=[
            convolved(200, 33, dilations="2", auto_pad="same_upper"),
            convolved(200, 33, dilations="3", pads_begin="30"),
            convolved(200, 33, strides="2", dilations="2"),
            convolved(200, 33, dilations="3", pads_begin="33"),
            convolved(200, 65),
        ],
    ),
    *beside(
        "deconvolution to a size for an input of unknown size, auto_pad explicit or valid",
        falling=[
            Call(
                "ConvolutionBackpropData-1",
                (Given(counted(1, 2, 4), sizes), Fixed(counted(2, 2, extent)), Fixed(whole(3))),
                LINE | {"auto_pad": "explicit"},
            )
            for sizes, extent in (("1,2,4..9", 6), ("1,2,?", 5), ("1,2,4..", 5), ("1,2,4..", 4))
        ],
        others=[
            *(
                Call(
                    "ConvolutionBackpropData-1",
                    (Given(counted(1, 2, 4), sizes), Fixed(counted(2, 2, extent)), Fixed(whole(3))),
                    LINE | {"auto_pad": "explicit"},
                )
                for sizes, extent in (("1,2,?", 6), ("1,2,?", 4), ("1,2,4..", 6))
            ),
            Call(
                "ConvolutionBackpropData-1",
                (counted(1, 2, 4), Fixed(counted(2, 2, 1)), Fixed(whole(3))),
                LINE | {"auto_pad": "explicit"},
            ),
            Call(
                "ConvolutionBackpropData-1",
                (Given(counted(1, 2, 4), "1,2,4.."), Fixed(counted(2, 2, 2)), Fixed(whole(4))),
                LINE | {"pads_end": "1", "auto_pad": "explicit"},
            ),
            Call(
                "ConvolutionBackpropData-1",
                (Given(counted(1, 2, 4), "1,2,4.."), Fixed(counted(2, 2, 1)), Fixed(whole(3))),
                LINE | {"auto_pad": "same_upper"},
            ),
        ],
    ),
    *beside(
        "convolution of data of unknown size with filters that extend over more than 64 elements",
        others=[convolved(74, 65, pads_end="1")],
    ),
    *beside(
        "Einsum of unknown sizes by constants with all letters of the output",
        others=[
            einsum("a,a->", Given(counted(3), "?"), Fixed(counted(3))),
            einsum("cda,ca->cd", Given(counted(2, 4, 3), "?,?,?"), Fixed(counted(2, 3))),
            einsum("ca,ca->c", counted(2, 3), Fixed(counted(2, 3))),
            einsum("c,c->c", Given(counted(3), "?"), Fixed(counted(3))),
        ],
    ),
    *beside(
        "Einsum of unknown sizes by constants",
        falling=[
            einsum("a,cab->cb", Given(counted(3), "?"), Fixed(counted(2, 3, 4))),
            einsum("ab,ab->", Given(counted(3, 4), "?,?"), Fixed(counted(3, 4))),
            einsum("cda,ca->cd", Given(counted(2, 4, 3), "?,?,?"), Fixed(counted(2, 3))),
            einsum("cab,b->ca", Given(counted(2, 3, 4), "2,3,?"), Fixed(counted(4))),
        ],
        others=[
            einsum("dca,dab->dcb", Given(counted(2, 4, 3), "?,?,?"), Fixed(counted(2, 3, 4))),
            einsum("cab,b->ca", Given(counted(2, 3, 4), "?,?,4"), Fixed(counted(4))),
            einsum("cab,bd->cad", Given(counted(2, 3, 4), "2,?,4"), Fixed(counted(4, 5))),
        ],
    ),
    *beside(
        "convolution of data of unknown size with filters that extend over more than 64 elements by dilation",
        falling=[convolved(200, 33, strides="2", dilations="2")],
        others=[convolved(200, 65, dilations="2")],
    ),
    *beside(
        "Einsum by constants that are vectors in each of several batches",
        others=[
            einsum("cda,cda->cd", counted(2, 3, 4), Fixed(counted(2, 3, 4))),
            einsum("c,c->c", counted(2), Fixed(counted(2))),
            einsum("ca,cab->cb", counted(2, 3), Fixed(counted(2, 3, 4))),
            einsum("cda,ca->cd", Given(counted(2, 4, 3), "?,?,?"), Fixed(counted(2, 3))),
        ],
    ),
    *beside(
        "Einsum with two sizes for a letter", others=[einsum("a...,a...->a...", counted(4, 2, 3), counted(4, 2, 3))]
    ),
    *beside("Einsum whose last input is a number", others=[einsum(",a->a", number(3.0), counted(2))]),
    *beside(
        "Einsum that changes nothing, 2021.4 to 2021.4",
        others=[einsum("ab->ab", Call("Abs-1", (counted(2, 3).astype(np.float16),)))],
    ),
    *beside(
        "Einsum that changes nothing, 2022.1 to 2023.2", others=[einsum("ab->ab", Call("Abs-1", (counted(2, 3),)))]
    ),
    *beside(
        "deconvolution of groups before a PReLU with several slopes",
        falling=[_bent(2, 3), _bent(1, 2), Call("Negative-1", (_bent(4, 1),))],
        others=[
            _bent(1, 1),
            _computed_between(_bent(2, 2)),
            *(
                replace(_bent(2, 2), inputs=(_bent(2, 2).inputs[0], slopes))
                for slopes in (Fixed(floats(0.1)), counted(4))
            ),
        ],
    ),
    *beside(
        "deconvolution of one group",
        falling=[Call("GroupConvolutionBackpropData-1", (counted(1, 1, 4, 4), Fixed(counted(1, 1, 2, 2, 2))), PLANE)],
        others=[Call("GroupConvolutionBackpropData-1", (counted(1, 1, 4, 4), Fixed(counted(1, 1, 1, 2, 2))), PLANE)],
    ),
    *beside(
        "MatMul of one matrix of unknown size by several constant ones",
        falling=[Call("MatMul-1", (Given(counted(1, 6, 4), "1,?,4"), Fixed(counted(2, 4, 5))))],
        others=[
            Call("MatMul-1", (counted(1, 6, 4), Fixed(counted(3, 4, 5)))),
            Call("MatMul-1", (Given(counted(3, 6, 4), "3,?,4"), Fixed(counted(3, 4, 5)))),
        ],
    ),
    *beside(
        "deconvolution of i8 with computed weights",
        others=[
            Call(
                "ConvolutionBackpropData-1",
                (np.ones((1, 4, 8, 8), np.int8), Fixed(np.ones((4, 3, 3, 3), np.int8))),
                PLANE,
            )
        ],
    ),
    *beside(
        "MatMul of more than 4 dimensions",
        falling=[Call("MatMul-1", (counted(2, 3, 4), counted(1, 1, 1, 4, 3)))],
        others=[
            Call("MatMul-1", (counted(2, 1, 3, 4), counted(2, 1, 4, 3))),
            Call("MatMul-1", (counted(2, 3, 4), Fixed(counted(4)))),
            Call("MatMul-1", (counted(2, 1, 2, 3, 4), Fixed(counted(4, 3)))),
            Call("MatMul-1", (counted(2, 3, 4), Fixed(counted(1, 1, 1, 4, 3)))),
        ],
    ),
]
