"""Layers beside those of the table of known differences: a row is about those for which the runtime differs, too."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from ir_tools.known_differences import TABLE, Call, Fixed, Given, find, named
from ir_tools.known_differences._detection import BOXES, OUTPUT, PRIORS, proposal
from ir_tools.known_differences._flow import _weights
from ir_tools.known_differences._math import ALL, BINARY, one, quantized
from ir_tools.known_differences._model import LINE, MAX_EXACT, counted, floats, number, whole
from ir_tools.known_differences._settings import POOL
from ir_tools.known_differences._vision import SIZES, resized
from ir_tools.ops import Array
from ir_tools.runtime.client import RuntimeClient
from tests.releases.beside import Beside, Feed, beside
from tests.test_known_differences import ATTEMPTS, agree, by_reference, last_inputs, on_runtime

BF16 = ml_dtypes.bfloat16


def ints(*values: object, dtype: npt.DTypeLike = np.int32) -> Array:
    return np.array(values, dtype)


def constants(*lists: Sequence[int]) -> list[Fixed]:
    return [Fixed(whole(*values)) for values in lists]


def calls(op: str, *inputs: Sequence[Feed], **raw: str) -> list[Call]:
    """Layers of one operation and the same attributes."""
    return [Call(op, tuple(each), raw) for each in inputs]


def convolution(data: Array, filters: Array) -> Call:
    return Call("Convolution-1", (data.reshape(1, -1, 1), Fixed(filters.reshape(1, -1, 1))), LINE)


def reduced(op: str, *values: object, dtype: npt.DTypeLike = np.int32) -> Call:
    return Call(op, (ints(*values, dtype=dtype), Fixed(whole(0))), ALL)


def in_segments(*dtypes: npt.DTypeLike, fill: str = "LOWEST") -> list[Call]:
    """Maxima of two segments, of which one is empty."""
    inputs = [(ints(1, dtype=dtype), whole(0), number(2, np.int64)) for dtype in dtypes]
    return calls("SegmentMax-16", *inputs, fill_mode=fill)


def random(kind: str, low: float, high: float, **raw: str) -> Call:
    dtype = {"f": f"float{kind[1:]}", "i": f"int{kind[1:]}"}[kind[0]]
    limits = [Fixed(number(limit, dtype)) for limit in (low, high)]
    return Call(
        "RandomUniform-8", (Fixed(ints(4)), *limits), {"output_type": kind, "global_seed": "12", "op_seed": "7", **raw}
    )


def converted(target: str, *values: object, dtype: npt.DTypeLike = np.float32) -> Call:
    """A list of unknown size, converted."""
    return Call("Convert-1", (Given(ints(*values, dtype=dtype), "?"),), {"destination_type": target})


def pdpd(op: str, data: Array, other: Array, axis: int) -> Call:
    raw = {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": str(axis)}
    return Call(op, (data, other), raw)


def to_batches(size: int, block: int, begin: int, end: int) -> Call:
    lists = constants((1, 1, block, 1), (0, 0, begin, 0), (0, 0, end, 0))
    return Call("SpaceToBatch-2", (counted(1, 2, size, 1), *lists))


def strided(data: Array, *bounds: Feed, **masks: str) -> Call:
    zeros = ",".join("0" for _ in masks.get("new_axis_mask", "0,0").split(","))
    return Call("StridedSlice-1", (data, *bounds), {"begin_mask": zeros, "end_mask": zeros, **masks})


def cell(data: Feed, **raw: str) -> Call:
    weights = (Fixed(part.array[0]) for part in _weights(1))
    return Call("RNNCell-1", (data, floats([0.5]), *weights), {"hidden_size": "1", **raw})


def padded(data: Array, begin: Feed, end: Feed, *value: Feed, mode: str = "constant", op: str = "Pad-1") -> Call:
    return Call(op, (data, begin, end, *value), {"pad_mode": mode})


def gathered(data: Feed, indices: Feed, op: str = "Gather-7", axis: int = 0) -> Call:
    return Call(op, (data, indices, Fixed(np.array(axis))))


def spectrum(op: str, shape: Sequence[int], axes: Sequence[int], *sizes: int) -> Call:
    return Call(op, (counted(*shape), *constants(axes), *constants(*([sizes] if sizes else []))))


def normalized(data: Array, *axes: int) -> Call:
    return Call("NormalizeL2-1", (data, *constants(axes)), {"eps": "0.1", "eps_mode": "add"})


def suppressed(scores: Sequence[float], **raw: str) -> Call:
    """MatrixNms of two classes with these scores of four boxes each."""
    array = np.array(scores, np.float32).reshape(1, 2, 4)
    return Call("MatrixNms-8", (BOXES, array), {"score_threshold": "0.5", **raw})


def moved(*axes: int, sizes: Sequence[int] = (4,), begin: str = "0,0,0,1", end: str = "0,0,1,0") -> Call:
    """Interpolate with pads."""
    return resized((1, 2, 3, 4), axes, sizes, pads_begin=begin, pads_end=end)


def by_computed_axes(kind: str, **raw: str) -> Call:
    data = (counted(1, 1, 4, 6) * 13).astype(kind)
    return Call("Interpolate-11", (data, *constants((3, 3)), whole(2, 3)), {**SIZES, **raw})


DESCENDING, NOTHING = (0.9, 0.8, 0.7, 0.6), (0.0,) * 4
MATRIX = floats([1, 2], [3, 4])
IMAGE, SMALLER = (1, 1, 4, 6), ((2, 3), (3, 3))
SEVEN = np.array(7, np.float32)
LARGE = Fixed(np.array(MAX_EXACT + 1, np.int32))
SCALES = (counted(1, 2, 2, 2), Fixed(whole(1)))
LIMITS = floats(-3, -1, 0, 1, 3)[None, None]
SHIFTED = (floats(72.5, 214), one(0.2890625), one(-0.068359375))
SHAPES = (whole(1, 1), whole(20, 20))
WITH_PADS = "Interpolate with pads along axes before the last ones"
COMPUTED_REPEATS = "Tile-1 of many dimensions by computed repeats"
IN_BYTES = "floats that 8 bits do not hold"
FROM_END = "Gather of constants from the end"
LONE_MATRIX = "MatMul-1 of one matrix of unknown size by several"
BESIDE = [
    *beside(
        "convolutions of integers beyond 2^24",
        falling=[
            convolution(ints(MAX_EXACT, 1, 1), ints(1, 1, 1)),
            convolution(ints(-(2**23) - 1, -1, -1), ints(3, 1, 1)),
        ],
        others=[
            convolution(ints(3, 1, 1), ints(3, 1, 1)),
            convolution(floats(MAX_EXACT, 1, 1), floats(1, 1, 1)),
            *calls("MatMul-1", (ints([2**22 + 1, 1]), Fixed(ints([3], [1])))),
        ],
    ),
    *beside(
        "BinaryConvolution-1 of few channels",
        falling=[
            Call(
                "BinaryConvolution-1",
                (np.sign(counted(1, 12, 2, 2) - 2), Fixed(ints(*range(19, 247, 19), dtype="u1"), "u1", (8, 12, 1, 1))),
                BINARY,
            )
        ],
        others=[
            Call(
                "BinaryConvolution-1",
                (np.sign(counted(1, 8, 2, 2) - 1), Fixed(ints(*range(31, 249, 31), dtype="u1"), "u1", (8, 8, 1, 1))),
                BINARY,
            )
        ],
    ),
    *beside(
        "AdaptiveAvgPool-8 of integers",
        falling=calls("AdaptiveAvgPool-8", (ints([[200, 100, 0]], dtype="u1"), Fixed(whole(1)))),
        others=calls("AdaptiveAvgPool-8", (floats([[-1, -1, 0]]), Fixed(whole(1)))),
    ),
    *beside(
        "Einsum-7 with dots",
        others=calls("Einsum-7", (counted(2, 3, 4, 5), counted(3, 4)), equation="abcd,bc->abcd"),
    ),
    *beside(
        "Inverse-14 of a matrix that has none",
        falling=calls(
            "Inverse-14",
            (floats([[2, 1], [1, 1]], [[1, 1], [1, 1]]),),
            (floats([np.inf, 0], [0, 1]),),
        ),
        others=calls("Inverse-14", (floats([2, 1], [1, 1]),), (floats([[2, 1], [1, 1]], [[np.nan, 0], [0, 1]]),)),
    ),
    *beside(
        "LRN-1 with a fraction in bias",
        falling=calls("LRN-1", SCALES, alpha="1", beta="0.5", bias="0.5", size="3"),
        others=calls("LRN-1", SCALES, alpha="1", beta="0.5", bias="2", size="3"),
    ),
    *beside(
        "reductions of integers beyond 2^24",
        falling=[
            reduced("ReduceSum-1", -MAX_EXACT, -1, -1),
            reduced("ReduceMean-1", MAX_EXACT, 1, 1),
            reduced("ReduceSum-1", 2**23, 2**23, 1),
        ],
        others=[
            reduced("ReduceSum-1", MAX_EXACT - 3, 1, 1),
            reduced("ReduceSum-1", MAX_EXACT, 1, 1, dtype=np.float32),
        ],
    ),
    *beside(
        "maxima of integers beyond 2^24",
        falling=[
            reduced("ReduceMax-1", 2**31 - 1, 1),
            reduced("ReduceMin-1", -MAX_EXACT - 1, 1),
            reduced("ReduceMax-1", 2**31, 1, dtype=np.uint32),
        ],
        others=[reduced("ReduceMax-1", MAX_EXACT, 1), reduced("ReduceMax-1", 2.0**25, 1, dtype=np.float32)],
    ),
    *beside(
        "reductions of i64 beyond i32",
        falling=[
            reduced("ReduceMax-1", 2**31, 1, dtype=np.int64),
            reduced("ReduceMin-1", -(2**33), 1, dtype=np.int64),
            reduced("ReduceMax-1", 2**33, 1, dtype=np.uint64),
        ],
        others=[reduced("ReduceMax-1", 2**30, 1, dtype=np.int64)],
    ),
    *beside(
        "reductions of 8 bits that leave them",
        falling=[reduced("ReduceL2-4", 16, 12, dtype="u1"), reduced("ReduceMean-1", 100, 100, dtype="i1")],
        others=[
            reduced("ReduceL2-4", 3, 4, dtype="i1"),
            reduced("ReduceProd-1", 5, 5, 5, dtype="i1"),
            reduced("ReduceSum-1", 100, 100, dtype="i2"),
            reduced("ReduceL2-4", 12, 5, dtype="u1"),
        ],
    ),
    *beside(
        "ReduceL2-4 of integers",
        falling=[reduced("ReduceL2-4", 1, 1, 1, dtype=np.int64)],
        others=[reduced("ReduceL2-4", 1, 1, 1, dtype=np.float32)],
    ),
    *beside(
        "SegmentMax-16 of nothing",
        falling=in_segments(np.float64, np.int64, np.int16, np.uint32),
        others=[
            *in_segments(np.float32, np.int32, np.int8, np.uint8, BF16, bool),
            *in_segments(np.float16, fill="ZERO"),
        ],
    ),
    *beside(
        "maxima of NaN",
        falling=[reduced("ReduceMin-1", 1, 2, np.nan, 0, dtype=dtype) for dtype in (np.float32, np.float16, BF16)],
        others=[reduced("ReduceMax-1", 1, 2, np.inf, 0, dtype=np.float32)],
    ),
    *beside(
        "FakeQuantize-1 of bf16 half-way between levels",
        others=[quantized(floats(5.4375, -2.90625, -1.97656, 3.57812), 0.8, 4.5, 3)],
    ),
    *beside(
        "FakeQuantize-1 between limits that do not ascend",
        falling=calls("FakeQuantize-1", (LIMITS, one(2), one(2), one(0), one(8)), levels="9"),
        others=calls("FakeQuantize-1", (LIMITS, one(-2), one(2), one(0), one(8)), levels="9"),
    ),
    *beside(
        "FakeConvert-13 of bf16 with a shift",
        others=calls(
            "FakeConvert-13", SHIFTED, (SHIFTED[0].astype(BF16), one(0.2890625, BF16)), destination_type="f8e4m3"
        ),
    ),
    *beside(
        "Negative-1 of an unsigned type",
        falling=calls("Negative-1", (ints(1, 2, dtype=np.uint64),)),
        others=calls("Negative-1", (ints(1, 2, dtype="i1"),), (floats(1),)),
    ),
    *beside(
        "SquaredDifference-1 of 8 bits",
        falling=calls("SquaredDifference-1", (ints(100, -100, dtype="i1"), ints(-100, 50, dtype="i1"))),
        others=calls("SquaredDifference-1", *((np.arange(6, dtype=kind), np.ones(6, kind)) for kind in ("i2", "u2"))),
    ),
    *beside(
        "Power-1 of integers",
        falling=calls("Power-1", (ints(-7, 2), ints(9, 2)), (ints(4097, 3), ints(2, 5))),
        others=calls("Power-1", (ints(4095, 3), ints(2, 5)), (floats(7, 11), floats(9, 7))),
    ),
    *beside(
        "powers of integers beyond 2^24",
        falling=calls("Power-1", (ints(-7, 3), ints(9, 2)), (ints(257, 3), ints(3, 2))),
        others=calls("Power-1", (ints(3, 2), ints(3, 2)), (floats(7, 11), floats(9, 7)), (ints(3, 0), ints(-1, 2))),
    ),
    *beside(
        "f64 in f32",
        falling=[
            *calls("FloorMod-1", (np.array([20.5]), np.array([1e-3]))),
            *calls("Power-1", (np.array([10.0]), np.array([50.0]))),
        ],
        others=calls("Mod-1", (floats(20.5), floats(0.25))),
    ),
    *beside("HardSigmoid-1 of integers", others=calls("HardSigmoid-1", (floats(-3, 1), one(0.2), one(0.5)))),
    *beside(
        "activations of NaN and infinity",
        falling=[*calls("Gelu-7", (floats(np.inf, 1),)), *calls("Exp-1", (floats(np.nan, 1).astype(BF16),))],
        others=calls("Exp-1", (floats(1, 2),)),
    ),
    *beside(
        "comparisons of NaN",
        falling=[
            *calls("GreaterEqual-1", (floats(np.nan, 1), floats(1, 1))),
            *calls("Greater-1", (floats(1, 1).astype(BF16), floats(np.nan, 1).astype(BF16))),
        ],
        others=calls("Greater-1", (floats(1, 2), floats(2, 1))),
    ),
    *beside(
        "SoftMax of infinity",
        falling=[
            *calls("SoftMax-1", (floats([np.inf, 1], [3, 1]),), axis="1"),
            *calls("LogSoftmax-5", (floats([np.nan, 1], [3, 1]),), axis="1"),
        ],
        others=calls("SoftMax-8", (floats([1, 1], [3, 1]),), axis="1"),
    ),
    *beside(
        "integers beyond i32",
        falling=[
            *calls("Add-1", (whole(2**31, 3), whole(1, 1)), (whole(1, 3), whole(-(2**40), 1))),
            *calls("Multiply-1", (ints(2**40, 1, dtype=np.uint64), ints(1, 1, dtype=np.uint64))),
        ],
        others=calls("Add-1", (whole(2**31 - 2, 3), whole(1, 1)), (floats(2**32), floats(1))),
    ),
    *beside(
        "activations of integers beyond 2^24",
        falling=[
            *calls("Floor-1", (ints(-MAX_EXACT - 1, 3),)),
            *calls("ReLU-1", (whole(MAX_EXACT + 1, 3),)),
            *calls("Mod-1", (ints(MAX_EXACT + 1, 3), ints(2, 2))),
            *calls("Divide-1", (ints(2**30 + 1, 3), ints(1, 2))),
        ],
        others=calls("ReLU-1", (ints(MAX_EXACT - 1, 3),), (ints(3, 5, dtype="i2"),)),
    ),
    *beside(
        "shifts of 64 bits",
        falling=calls(
            "BitwiseRightShift-15", *((ints(2**40, 4, dtype=kind), ints(3, 1, dtype=kind)) for kind in ("i8", "u8"))
        ),
        others=calls("BitwiseLeftShift-15", (ints(3, 4, dtype="u4"), ints(20, 1, dtype="u4"))),
    ),
    *beside(
        "functions without a value in 8 bits",
        falling=[
            *calls("Acosh-4", (ints([[0], [120]], dtype="u1"),)),
            *calls("Asin-1", (ints([[-11], [120]], dtype="i1"),)),
        ],
        others=calls("Log-1", (ints([[-11], [120]], dtype="i2"),)),
    ),
    *beside(
        "RandomUniform-8 of other sizes",
        falling=[
            random("f64", 0, 1),
            random("i64", 0, 100),
            random("i64", 0, 2**32, alignment="pytorch"),
            random("f16", 0, 1, alignment="pytorch"),
        ],
        others=[random("f32", 0, 1), random("i32", 0, 100), random("i64", 0, 100, alignment="pytorch")],
    ),
    *beside(
        "layers of constants alone",
        falling=calls("Add-1", (Fixed(ints(200, 9, dtype="u1")), Fixed(ints(100, 2, dtype="u1")))),
        others=calls(
            "Subtract-1",
            (ints(1, 9, dtype="u1"), Fixed(ints(4, 2, dtype="u1"))),
            (Fixed(floats(1, 9)), Fixed(floats(4, 2))),
        ),
    ),
    *beside(
        "quotients of integers below 0",
        falling=calls("Divide-1", (ints(14, 9), ints(-11, 2)), (whole(-14, 9), whole(11, 2))),
        others=[
            *calls("Divide-1", (ints(14, 9), ints(11, 2)), (floats(-14, 9), floats(11, 2))),
            *calls("Divide-1", (ints(-14, 9), ints(11, 2)), m_pythondiv="false"),
        ],
    ),
    *beside(
        IN_BYTES,
        falling=[
            converted("u8", -1, 100),
            converted("u8", 256),
            converted("i8", 1.5, 128),
            converted("i8", -129),
            converted("i8", 300, dtype=np.float16),
            converted("u8", -2, dtype=BF16),
            *calls("ConvertLike-1", (Given(floats(-1, 100), "?"), ints(1, dtype="u1"))),
        ],
        others=[
            converted("u8", -0.5, 255.5),
            converted("i8", -128.5, 127),
            converted("i8", 300, dtype=np.int32),
            converted("i16", 300.5),
            converted("boolean", -300),
            *calls("ConvertLike-1", (Given(floats(-129, 100), "?"), ints(1, dtype="i2"))),
        ],
    ),
    *beside(
        "conversion from computed 4 bits",
        falling=[Call("Convert-1", (converted("i4", 5, 16, 300, dtype=np.int64),), {"destination_type": "i32"})],
        others=[
            *calls("Convert-1", (Fixed(ints(0x21, dtype="u1"), "u4", (2,)),), destination_type="i32"),
            Call("Convert-1", (converted("u8", 5, 16, 300, dtype=np.int64),), {"destination_type": "i32"}),
        ],
    ),
    *beside(
        "conversion of NaN and infinity",
        falling=[converted("f64", np.inf, 0), converted("boolean", np.nan, 0, 1, dtype=BF16)],
        others=[converted("boolean", 2, 0, 1), converted("boolean", 2, 0, dtype=np.int32)],
    ),
    *beside(
        "pdpd of operations that forget it",
        falling=[
            pdpd("Subtract-1", MATRIX, floats(1, 2), 0),
            pdpd("Divide-1", counted(2, 2, 2), floats(1, 2), 1),
            pdpd("Greater-1", counted(2, 2), floats(0.3, 0.5), 0),
        ],
        others=[
            pdpd("Subtract-1", MATRIX, floats(1, 2), 1),
            pdpd("Subtract-1", MATRIX, floats(1, 2), -1),
            pdpd("Divide-1", counted(2, 2, 2), floats(1, 2), 2),
        ],
    ),
    *beside("Tile-1 without repeats", others=calls("Tile-1", (counted(4, 5), *constants((1,))))),
    *beside(
        COMPUTED_REPEATS,
        falling=calls(
            "Tile-1",
            (counted(3, 4, 3, 2), whole(1, 2, 2, 3)),
            (counted(3, 4, 3, 1), whole(2, 2, 2, 3)),
            (counted(2, 3, 4, 3, 2), whole(1, 1, 2, 2, 3)),
        ),
        others=calls(
            "Tile-1",
            (counted(3, 4, 3, 2), *constants((2, 2, 2, 3))),
            (counted(3, 4, 3, 2), whole(1, 1, 2, 3)),
            (counted(1, 4, 3, 2), whole(2, 2, 2, 3)),
            (counted(2, 3, 4, 3, 2), whole(1, 1, 1, 2, 3)),
            (counted(2, 3, 4), whole(2, 2, 2)),
        ),
    ),
    *beside(
        "SpaceToBatch-2 of padding only",
        falling=[to_batches(1, 3, 1, 1)],
        others=[to_batches(3, 3, 0, 0), to_batches(2, 2, 1, 1), to_batches(3, 2, 1, 0), to_batches(3, 1, 1, 2)],
    ),
    *beside(
        "Transpose-1 by a computed empty order",
        others=calls("Transpose-1", (counted(3, 4), *constants(())), (counted(3, 4), whole(1, 0))),
    ),
    *beside(
        "SliceScatter-15 between computed bounds",
        falling=calls("SliceScatter-15", (counted(3), counted(1) + 9, *constants((0,), (1,), (1,)), whole(0))),
        others=calls(
            "SliceScatter-15",
            (counted(3), counted(1) + 9, *constants((0,), (1,), (1,), (0,))),
            (counted(3), counted(1) + 9, *constants((0,), (1,), (1,))),
        ),
    ),
    *beside(
        "StridedSlice-1 that adds and drops axes",
        falling=[
            strided(counted(4, 4, 4), *constants((0, 2), (1, 3), (1, 1)), new_axis_mask="0,1", shrink_axis_mask="1,0")
        ],
        others=[
            strided(counted(4, 4, 4), *constants((0, 2), (1, 3), (1, 1)), **mask)
            for mask in ({"new_axis_mask": "1,0"}, {"shrink_axis_mask": "0,1"})
        ],
    ),
    *beside(
        "StridedSlice-1 of computed bounds that adds an axis",
        falling=[strided(counted(2, 3), whole(0, 0), whole(1, 1), whole(1, 1), new_axis_mask="1,1")],
        others=[
            strided(counted(1, 3), *constants((0,), (1,), (1,)), new_axis_mask="1"),
            strided(counted(4, 3), whole(0, 0), whole(1, 1), whole(1, 1)),
            strided(counted(2, 3), whole(0, 0), whole(1, 1), whole(1, 1), new_axis_mask="1,0"),
        ],
    ),
    *beside(
        "Range-4 of floats to integers",
        falling=calls("Range-4", tuple(number(each, np.float16) for each in (1.9, 6.5, 1)), output_type="i64"),
        others=[
            *calls("Range-4", (number(1.9), number(6.5), number(1)), output_type="f32"),
            *calls("Range-4", (np.array(1), np.array(6), np.array(1)), output_type="i32"),
        ],
    ),
    *beside(
        "Range-4 in the wrong direction",
        falling=[
            *calls("Range-4", (np.array(5), np.array(4), np.array(1)), output_type="i64"),
            *calls("Range-4", (number(1), number(0), number(0.5)), output_type="f32"),
        ],
        others=calls(
            "Range-4",
            (np.array(-5), np.array(-6), np.array(-1)),
            (np.array(5), np.array(5), np.array(1)),
            (np.array(-5), np.array(-4), np.array(1)),
            output_type="i64",
        ),
    ),
    *beside(
        "Range-4 beyond 8 bits",
        falling=[
            *calls("Range-4", (np.array(120), np.array(140), np.array(9)), output_type="i8"),
            *calls("Range-4", (np.array(5), np.array(-5), np.array(-3)), output_type="u4"),
        ],
        others=[
            *calls("Range-4", tuple(Fixed(np.array(each)) for each in (-3, 2, 2)), output_type="u8"),
            *calls("Range-4", (np.array(-3), np.array(2), np.array(2)), output_type="i8"),
            *calls("Range-4", (np.array(-3), np.array(2), np.array(2)), output_type="u16"),
            *calls("Range-4", (np.array(12), np.array(20), np.array(3)), output_type="u4"),
        ],
    ),
    *beside(
        "Range-4 in f8e8m0",
        falling=calls("Range-4", tuple(Fixed(number(each)) for each in (5, 9, 2)), output_type="f8e8m0"),
        others=[
            *calls("Range-4", (number(1), number(3), number(1)), output_type="f8e8m0"),
            *calls("Range-4", (number(1), number(4), number(2)), output_type="f8e5m2"),
        ],
    ),
    *beside(
        "Unique-10 of slices",
        others=calls("Unique-10", (ints([2, 1], [2, 2], dtype="i1"),), (ints(2, 1, 2), Fixed(np.array(0)))),
    ),
    *beside(
        "Cells of a constant with clip",
        others=[cell(floats([0.25]), clip="2"), cell(Fixed(floats([0.25]))), cell(Fixed(floats([0.25])), clip="0")],
    ),
    *beside(
        "Pad by a computed value",
        falling=[padded(counted(2), *constants((-1,), (1,)), SEVEN, op="Pad-12")],
        others=[
            padded(counted(2), *constants((1,), (1,)), Fixed(SEVEN)),
            padded(counted(2), *constants((1,), (1,))),
            padded(counted(2), *constants((1,), (1,)), SEVEN, mode="edge"),
            padded(counted(2), whole(1), *constants((1,)), SEVEN),
            padded(counted(2), *constants((1,)), whole(1), SEVEN),
        ],
    ),
    *beside(
        "Pad by a large integer",
        falling=[
            padded(whole(1, 2), *constants((1,), (1,)), Fixed(np.array(-MAX_EXACT - 1))),
            padded(ints(1, 2), *constants((1,), (1,)), LARGE),
        ],
        others=[
            padded(whole(1, 2), whole(1), whole(1)),
            padded(whole(1, 2), whole(1), whole(1), Fixed(np.array(MAX_EXACT))),
            padded(counted(2), whole(1), whole(1), one(2**25)),
        ],
    ),
    *beside(
        "Gather of one computed index from the end",
        falling=[gathered(counted(3), whole(-1)), gathered(counted(3), np.array(-1), "Gather-1")],
        others=[
            gathered(counted(3), np.array(1)),
            gathered(counted(3), Fixed(np.array(-1))),
            gathered(counted(3), whole(-1, -1)),
        ],
    ),
    *beside(
        FROM_END,
        falling=[gathered(Fixed(counted(3)), Fixed(whole(-2, -1)), "Gather-1")],
        others=[
            gathered(Fixed(counted(3)), Fixed(whole(0, 1))),
            gathered(counted(3), Fixed(whole(0, -1))),
            gathered(Fixed(counted(3)), whole(0, -1)),
        ],
    ),
    *beside(
        "ReverseSequence-1 of large integers",
        falling=calls(
            "ReverseSequence-1",
            (whole(-MAX_EXACT - 1, 5)[None], *constants((2,))),
            (ints([MAX_EXACT + 1, 5], dtype=np.uint32), *constants((2,))),
            batch_axis="0",
            seq_axis="1",
        ),
        others=calls(
            "ReverseSequence-1",
            (whole(MAX_EXACT, 5)[None], *constants((2,))),
            (floats([2**25, 5]), *constants((2,))),
            batch_axis="0",
            seq_axis="1",
        ),
    ),
    *beside(
        "Slice-8 by computed numbers beyond i32",
        falling=calls(
            "Slice-8",
            (counted(3), whole(0), whole(2**31), whole(1)),
            (counted(3), *constants((0,)), whole(2**63 - 1), *constants((1,))),
            (counted(3), whole(2), whole(-(2**63)), whole(-1)),
        ),
        others=calls(
            "Slice-8",
            (counted(3), whole(0), whole(2**31 - 1), whole(1)),
            (counted(3), whole(-(2**31)), whole(3), whole(1)),
            (counted(3), whole(0), *constants((2**63 - 1,)), whole(1)),
        ),
    ),
    *beside(
        "Unique-10 of bytes, not sorted",
        falling=calls("Unique-10", (ints(1, 0, 0, 1, dtype=bool), Fixed(np.array(0))), sorted="false"),
        others=[
            *calls("Unique-10", (ints(1, 2, 2, 1, dtype="i2"), Fixed(np.array(0))), sorted="false"),
            *calls("Unique-10", (ints(1, 2, 2, 1, dtype="i1"), Fixed(np.array(0))), sorted="true"),
        ],
    ),
    *beside(
        "Eye-9 of an empty batch",
        others=calls(
            "Eye-9",
            (np.array(3), np.array(4), Fixed(np.array(0))),
            (np.array(3), np.array(4), Fixed(np.array(0)), *constants((1,))),
            output_type="i32",
        ),
    ),
    *beside(
        "GatherTree-1 of no steps",
        others=calls("GatherTree-1", (counted(2, 1, 1), np.zeros((2, 1, 1), np.float32), floats(1), SEVEN)),
    ),
    *beside("SearchSorted-15 in an empty list", others=calls("SearchSorted-15", (floats(3, 7), floats(6, 2)))),
    *beside(
        "SparseFillEmptyRows-16 without values",
        others=calls("SparseFillEmptyRows-16", (Fixed(floats(5)), *constants((3, 3)), Fixed(whole(1, 1)[None]), SEVEN)),
    ),
    *beside(
        "Gather from an empty axis",
        falling=[gathered(np.zeros((0, 2), np.float32), Fixed(whole(0, 1)), "Gather-8", 1)],
        others=[gathered(counted(2), Fixed(whole(0, 0)), "Gather-8")],
    ),
    *beside(
        "NonZero-3 of a constant 0",
        falling=calls("NonZero-3", (Fixed(number(0)),), output_type="i64"),
        others=calls(
            "NonZero-3", (number(0),), (Fixed(number(1)),), (Fixed(ints(0)),), (Fixed(ints(0, 1)),), output_type="i64"
        ),
    ),
    *beside(
        "MaxPool-8 with indices over unknown sizes",
        others=calls("MaxPool-8", (Given(counted(1, 1, 3, 3), "1,1,?,?"),), **{**POOL, "auto_pad": "valid"}),
    ),
    *beside(
        "IRDFT-9 along three axes and more",
        others=[spectrum("IRDFT-9", (2, 2, 9, 2), (0, 1, 2)), spectrum("IRDFT-9", (2, 2, 9, 2), (1, 2), 1, 16)],
    ),
    *beside(
        "NormalizeL2-1 along no axis",
        others=[normalized(floats(-2, 3), 0), normalized(floats([-2, 3])), normalized(MATRIX, 1)],
    ),
    *beside(
        "MVN-6 of integers",
        falling=calls(
            "MVN-6",
            (ints([1, 4], [2, 7], dtype="u1"), *constants((0,))),
            eps="1e-9",
            eps_mode="inside_sqrt",
            normalize_variance="false",
        ),
        others=calls(
            "MVN-6", (MATRIX, *constants((0,))), eps="1e-9", eps_mode="inside_sqrt", normalize_variance="false"
        ),
    ),
    *beside(
        "FakeQuantize-1 with 255 levels",
        others=[quantized(floats(-0.5, 1, 3), -5.96, 5.97)],
    ),
    *beside("FakeQuantize-1 of NaN", others=[quantized(floats(np.inf, 1), 0, 2, 17)]),
    *beside(
        LONE_MATRIX,
        falling=calls("MatMul-1", (Given(counted(2, 4), "?,4"), Fixed(counted(3, 4, 5)))),
        others=calls(
            "MatMul-1",
            (Given(counted(1, 2, 4), "1,?,4"), counted(3, 4, 5)),
            (Given(counted(1, 2, 4), "1,?,4"), Fixed(counted(1, 4, 5))),
            (Given(counted(2, 2, 4), "2,?,4"), Fixed(counted(2, 4, 5))),
            (Given(counted(2, 4), "?,4"), Fixed(counted(1, 4, 5))),
            (Given(counted(1, 1, 2, 4), "1,1,?,4"), Fixed(counted(1, 3, 4, 5))),
            (Fixed(counted(1, 2, 4)), Fixed(counted(3, 4, 5))),
        ),
    ),
    *beside(
        "MatMul-1 of nothing", others=calls("MatMul-1", (np.ones((1, 2, 2), "u2"), Fixed(np.ones((1, 2, 2), "u2"))))
    ),
    *beside(
        "DetectionOutput keep_top_k=0",
        others=[
            Call("DetectionOutput-1", (floats([0] * 8), floats([0.1, 0.9, 0.2, 0.8]), PRIORS), {**OUTPUT, **raw})
            for raw in ({"keep_top_k": "1"}, {"keep_top_k": "0", "top_k": "-1"}, {"keep_top_k": "200", "top_k": "0"})
        ],
    ),
    *beside(
        "MatrixNms without boxes",
        falling=[suppressed((*DESCENDING, *NOTHING), background_class="0"), suppressed((0.5,) * 8)],
        others=[
            suppressed((*NOTHING, *DESCENDING)),
            suppressed((*DESCENDING, *NOTHING)),
            suppressed((*NOTHING, *DESCENDING), background_class="0"),
        ],
    ),
    *beside(
        "MulticlassNms without boxes",
        others=calls("MulticlassNms-9", (BOXES, floats([NOTHING, DESCENDING]))),
    ),
    *beside(
        "NonMaxSuppression, most boxes 0",
        falling=calls("NonMaxSuppression-9", (BOXES, floats([DESCENDING]))),
        others=calls(
            "NonMaxSuppression-9",
            (BOXES, floats([DESCENDING]), Fixed(np.array(1)), Fixed(number(0.5)), Fixed(number(0))),
        ),
    ),
    *beside(
        "PriorBox fixed_size",
        falling=calls(
            "PriorBox-1", (SHAPES[0], Fixed(SHAPES[1])), (Fixed(SHAPES[0]), SHAPES[1]), fixed_size="5", density="1"
        ),
        others=[
            *calls("PriorBox-1", SHAPES, fixed_size="6", density="1", offset="0.5"),
            *calls("PriorBox-1", (Fixed(SHAPES[0]), Fixed(SHAPES[1])), fixed_size="5", density="1", offset="0.5"),
        ],
    ),
    *beside(
        "Proposal of small boxes",
        falling=[proposal(3, 4, "Proposal-1", min_size="100", post_nms_topn="9")],
        others=[proposal(3, 4, "Proposal-1", min_size="0", post_nms_topn="9")],
    ),
    *beside(
        "RDFT-9 beyond the data",
        falling=[spectrum("RDFT-9", (3, 4), (0, 1), 3, 5), spectrum("RDFT-9", (5, 4), (1,), 5)],
        others=[
            spectrum("RDFT-9", (3,), (0,)),
            spectrum("RDFT-9", (5, 4), (1,), 4),
            spectrum("RDFT-9", (3, 4), (-2, -1), 3, 4),
        ],
    ),
    *beside(
        "IRDFT-9 beyond the spectrum",
        falling=[
            spectrum("IRDFT-9", (2, 3, 2), (0, 1), 3, 4),
            spectrum("IRDFT-9", (2, 3, 2), (-2, -1), 2, 9),
            spectrum("IRDFT-9", (2, 3, 2), (1,), 6),
        ],
        others=[
            spectrum("IRDFT-9", (2, 3, 2), (0, 1)),
            spectrum("IRDFT-9", (2, 3, 2), (0, 1), 2, 5),
            spectrum("IRDFT-9", (2, 3, 2), (1,), 5),
            spectrum("IRDFT-9", (2, 3, 2), (-2, -1), 2, 5),
        ],
    ),
    *beside(
        "EmbeddingSegmentsSum-3 with a default of zeros",
        others=calls(
            "EmbeddingSegmentsSum-3",
            *(
                (counted(3, 2), ints(0, 1), ints(0, 2), Fixed(number(3, np.int32)), *default)
                for default in ((), (Fixed(number(2, np.int32)),))
            ),
        ),
    ),
    *beside(
        WITH_PADS,
        falling=[
            moved(0, sizes=(2,)),
            moved(1, begin="0,0,0,0"),
            moved(1, begin="0,0,1,0", end="0,0,0,0"),
            moved(1, 2, sizes=(4, 5), begin="0,0,1,0", end="0,0,0,0"),
        ],
        others=[
            moved(2),
            moved(1, begin="0,0,0,0", end="0,0,0,0"),
            moved(1, 2, 3, sizes=(4, 3, 4)),
            moved(2, 3, sizes=(4, 5)),
        ],
    ),
    *beside(
        "Interpolate cubic along more than two axes",
        falling=[
            resized((2, 3, 4), (0, 1), (4, 6), mode="cubic"),
            resized((1, 2, 3, 4), (1, 2, 3), (3, 4, 5), mode="cubic"),
        ],
        others=[
            resized((2, 3, 4), (1, 2), (6, 8), mode="cubic"),
            resized((2, 3, 4), (0,), (4,), mode="cubic"),
            resized((2, 3, 4), (0, 1, 2), (4, 6, 8), mode="linear"),
            resized((1, 2, 3, 4, 5), (2, 3, 4), (4, 5, 6), mode="cubic"),
            resized((3, 4), (0, 1), (5, 6), mode="cubic"),
        ],
    ),
    *beside(
        "Interpolate of integers before running",
        falling=[
            resized((1, 1, 2, 3), (2, 3), (5, 7), constant=True, kind="i1", mode="linear_onnx"),
            by_computed_axes("u1", mode="linear_onnx"),
        ],
        others=[
            resized((1, 1, 2, 3), (2, 3), (5, 7), kind="u1", mode="linear_onnx"),
            resized((1, 1, 2, 3), (2, 3), (5, 7), constant=True, mode="linear_onnx"),
        ],
    ),
    *beside(
        "Interpolate before running",
        falling=[
            resized(IMAGE, *SMALLER, constant=True, mode="bicubic_pillow"),
            by_computed_axes("f4", antialias="true"),
        ],
        others=[
            resized(IMAGE, *SMALLER, antialias="true"),
            resized(IMAGE, *SMALLER, mode="bicubic_pillow"),
            resized(IMAGE, *SMALLER, constant=True),
            resized(IMAGE, *SMALLER, constant=True, mode="bilinear_pillow"),
            resized((*IMAGE, 5), (2, 3, 4), (3, 3, 3), constant=True, antialias="true"),
        ],
    ),
    *beside(
        "TopK in no order before running",
        others=[
            *calls("TopK-3", (floats(-4, 6, -0.5), Fixed(np.array(3))), axis="0", mode="min", sort="none"),
            *calls("TopK-3", (Fixed(floats(-4, 6, -0.5)), Fixed(np.array(3))), axis="0", mode="min", sort="value"),
        ],
    ),
    *beside(
        "Proposals of one image, of small boxes",
        others=[
            replace(row.model, raw={**row.model.raw, "min_size": "0"})
            for row in named("Proposals of one image, of small boxes")
        ],
    ),
]
HERE = {row.name: row for row in TABLE if row.applies and row.processor.is_here}
CASE = pytest.mark.parametrize(
    "beside", [one for one in BESIDE if one.row in HERE], ids=lambda one: f"{one.row}: {'yes' if one.falls else 'no'}"
)


@pytest.fixture(scope="module", autouse=True)
def forked_workers() -> None:
    """None here: what a layer reads beyond its data depends on what its process did before."""


@pytest.fixture(scope="module")
def client() -> Iterator[RuntimeClient]:
    with RuntimeClient(timeout=30, memory=6 << 30) as running:
        yield running


def test_the_rows_are_in_the_table() -> None:
    assert {one.row for one in BESIDE} <= {row.name for row in TABLE if row.applies}


@CASE
def test_a_layer_falls_under_the_row_or_not(beside: Beside) -> None:
    call = beside.model
    constant = {number for number, feed in enumerate(call.inputs) if isinstance(feed, Fixed)}
    with np.errstate(all="ignore"):
        found = find(call.operation, call.attrs, last_inputs(call), constant)
    assert (HERE[beside.row] in found) is beside.falls


def differs(client: RuntimeClient, call: Call) -> bool:
    """Whether the runtime gives something else than the reference."""
    found, wanted = on_runtime(client, call), by_reference(call)
    return isinstance(found, str) or isinstance(wanted, str) or not agree(found, wanted)


@CASE
def test_the_runtime_differs_from_the_reference_there_or_not(beside: Beside, client: RuntimeClient) -> None:
    """Memory that is not written may hold the right values, and what an earlier layer wrote to may be wrong now."""
    for _ in range(ATTEMPTS):
        if differs(client, beside.model) is beside.falls:
            return
        client.close()
    pytest.fail(f"in {ATTEMPTS} attempts the two {'agree' if beside.falls else 'differ'}")
