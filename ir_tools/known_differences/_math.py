"""Convolutions, products, reductions, normalisation, quantisation and pooling."""

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ir_tools.known_differences._define import DifferenceKind, Instance, KnownDifference, refused, unwritten
from ir_tools.known_differences._model import (
    LINE,
    MAX_EXACT,
    PLANE,
    Call,
    Fixed,
    converted,
    counted,
    floats,
    index,
    whole,
)
from ir_tools.ops import Array
from ir_tools.processors import Processor

__all__ = ["ROWS"]

BF16 = ml_dtypes.bfloat16
BINARY = {**PLANE, "mode": "xnor-popcount", "pad_value": "0"}
POOL = {"kernel": "2,2", "strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0"}
ALL = {"keep_dims": "false"}
LOWEST = {"fill_mode": "LOWEST"}
FORWARD = ("Convolution-1", "GroupConvolution-1")
CONVOLUTIONS = (*FORWARD, "ConvolutionBackpropData-1", "GroupConvolutionBackpropData-1", "DeformableConvolution-8")
REDUCTIONS = ("ReduceSum-1", "ReduceMean-1", "ReduceProd-1", "ReduceL1-4", "ReduceL2-4")


def one(value: float, dtype: npt.DTypeLike = np.float32) -> Fixed:
    """Return a constant of one number."""
    return Fixed(np.array(value, dtype))


def quantized(data: Array | Fixed, low: float, high: float, levels: int = 256) -> Call:
    """Return FakeQuantize to the same limits."""
    limits = (one(low), one(high), one(low), one(high))
    return Call("FakeQuantize-1", (data, *limits), {"levels": str(levels)})


COMPRESSED = Call("Multiply-1", (converted(Fixed(np.full((4, 1), 127, np.int8)), "f32"), one(0.01)))
"""Weights of 8 bits, scaled."""


def _wide(layer: Instance) -> bool:
    """Return whether integers may add up, or multiply, to more than f32 holds."""
    if layer.kind() not in "iu":
        return False
    total = float(np.abs(layer.inputs[0].astype(np.float64)).sum())
    if len(layer.inputs) > 1 and layer.inputs[1].dtype == layer.inputs[0].dtype:
        total *= float(np.abs(layer.inputs[1].astype(np.float64)).max(initial=0))
    return total >= MAX_EXACT


def _beyond_i32(layer: Instance) -> bool:
    data = layer.inputs[0]
    wide = data.dtype.itemsize == 8 and data.dtype.kind in "iu"
    return wide and bool((np.abs(data) >= 2**31).any())


def _filled_in_another_type(layer: Instance) -> bool:
    return layer.attrs.fill_mode == "lowest" and layer.inputs[0].dtype.name not in {
        *("float32", "bfloat16", "int32", "int8", "uint8", "bool"),
    }


def _cut_off(layer: Instance) -> bool:
    """Return whether numbers of 8 bits may leave their type on the way to the result."""
    data = layer.inputs[0]
    if data.dtype not in {np.dtype(np.int8), np.dtype(np.uint8)}:
        return False
    limit = np.iinfo(data.dtype).max
    wide = data.astype(np.float64)
    with np.errstate(all="ignore"):
        reached = max(np.abs(wide).sum(), (wide**2).sum(), np.abs(np.prod(wide)))
    return bool(reached > limit)


def _has_nan(layer: Instance) -> bool:
    data = layer.inputs[0]
    return layer.kind() == "f" and bool(np.isnan(data.astype(np.float32, copy=False)).any())


def _singular(layer: Instance) -> bool:
    data = layer.inputs[0].astype(np.float64)
    finite = np.isfinite(data).all((-2, -1))
    return bool(np.isinf(data).any() or (np.linalg.matrix_rank(data[finite]) < data.shape[-1]).any())


def _of_bf16(layer: Instance) -> bool:
    return str(layer.inputs[0].dtype) == "bfloat16"


CONVOLUTION = (
    KnownDifference(
        name="convolutions of integers beyond 2^24",
        ops=(*CONVOLUTIONS, "MatMul-1", "Einsum-7"),
        setting="integers whose products have a sum above 2^24",
        reason="The plugin and the reference both compute in f32, in different orders; neither is exact.",
        model=Call(
            "Convolution-1",
            (np.array([[[2**23 + 1], [1], [1]]], np.int32), Fixed(np.array([[[3], [1], [1]]], np.int32))),
            LINE,
        ),
        applies=_wide,
    ),
    KnownDifference(
        name="convolutions of i8",
        ops=FORWARD,
        setting="i8 data that is not quantized",
        reason="The plugin returns wrong sums, unrelated to the data.",
        model=Call("Convolution-1", (np.array([[[1, 2, 3]]], np.int8), Fixed(np.ones((1, 1, 2), np.int8))), LINE),
        applies=lambda layer: layer.inputs[0].dtype == np.int8,
        processor=Processor.NO_AVX512,
    ),
    KnownDifference(
        name="products of 8 bits that saturate",
        ops=(*FORWARD, "MatMul-1"),
        setting="quantized data and weights of 8 bits, for which the sum of two consecutive products exceeds 2^15",
        reason="The plugin adds two products in 16 bits, with saturation. Weights of 7 bits do not reach the limit.",
        model=Call("MatMul-1", (quantized(np.full((1, 4), 2.5, np.float32), 0, 2.55), COMPRESSED)),
        processor=Processor.NO_VNNI,
    ),
    unwritten(
        name="Convolution-1 from one channel to one",
        ops=FORWARD,
        setting="one input channel and one output channel, with strides or dilations (some sizes only)",
        reason=(
            "The plugin reads outside the data for some sizes, such as this one; with two channels the values are "
            "right."
        ),
        model=Call(
            "Convolution-1",
            (counted(1, 1, 13, 2), Fixed(counted(1, 1, 3, 4))),
            {"strides": "1,2", "dilations": "2,1", "pads_begin": "0,1", "pads_end": "0,2"},
        ),
    ),
    KnownDifference(
        name="BinaryConvolution-1 of few channels",
        ops=("BinaryConvolution-1",),
        setting="a number of channels that is not a multiple of 8",
        reason=(
            "The plugin expects every filter to start at a new byte and reads it from the lowest bit; in the file, "
            "filters are contiguous. The reference reads them from the highest bit, and treats padding with 0 as "
            "-1."
        ),
        model=Call(
            "BinaryConvolution-1",
            (np.sign(counted(1, 4, 2, 2) - 1), Fixed(np.array([0xAA, 0xF0], np.uint8), "u1", (4, 4, 1, 1))),
            BINARY,
        ),
        applies=lambda layer: layer.inputs[0].shape[1] % 8 != 0,
    ),
    KnownDifference(
        name="BinaryConvolution-1 after FakeQuantize",
        ops=("BinaryConvolution-1",),
        setting="data from a FakeQuantize with output values other than 0 and 1",
        reason="The plugin fuses the two layers and ignores the output values.",
        model=Call(
            "BinaryConvolution-1",
            (
                Call(
                    "FakeQuantize-1",
                    (np.sin(counted(1, 8, 2, 2) * 9), one(0), one(0), one(-1), one(1)),
                    {"levels": "2"},
                ),
                Fixed(np.array([195, 78, 237, 9, 220, 196, 144, 61], np.uint8), "u1", (8, 8, 1, 1)),
            ),
            BINARY,
        ),
    ),
    KnownDifference(
        name="int8",
        ops=("FakeQuantize-1",),
        kind=DifferenceKind.COARSE,
        setting="a quantized model: FakeQuantize before both inputs of a convolution or product",
        reason=(
            "The CPU plugin computes such layers in int8 regardless of the precision hint, and shifts the limits "
            "so that 0 is one of the levels; `LP_TRANSFORMS_MODE=NO` disables this. The reference quantizes in "
            "floats."
        ),
        model=Call(
            "Convolution-1",
            (quantized(-counted(1, 1, 2, 2), -0.37, 1.05), quantized(Fixed(counted(2, 1, 1, 1)), -2.1, 2.1, 255)),
            PLANE,
        ),
    ),
)


POOLING = (
    KnownDifference(
        name="AvgPool-1 of a Pad",
        ops=("AvgPool-1", "AvgPool-14", "AvgPool-16"),
        setting=(
            "a Pad with zeros before the pooling, which has no pads itself, and `ceil` with a last window that "
            "reaches beyond the input"
        ),
        reason="The plugin fuses the Pad into the pooling, and then divides the last window by the size of the kernel.",
        model=Call(
            "AvgPool-1",
            (
                Call(
                    "Pad-1",
                    (counted(1, 1, 3), Fixed(whole(0, 0, 1)), Fixed(whole(0, 0, 0)), one(0)),
                    {"pad_mode": "constant"},
                ),
            ),
            {
                "kernel": "3",
                "strides": "2",
                "pads_begin": "0",
                "pads_end": "0",
                "exclude-pad": "false",
                "rounding_type": "ceil",
            },
        ),
    ),
    refused(
        name="AvgPool-16 of integers in one channel",
        ops=("AvgPool-1", "AvgPool-14", "AvgPool-16"),
        setting=(
            "one channel of integers of 16 bits or more, with dilations or with a window that contains no input element"
        ),
        reason="The plugin does not implement it; the specification does not cover integers.",
        model=Call(
            "AvgPool-16",
            (np.arange(16, dtype=np.int32).reshape(1, 1, 4, 4),),
            {**POOL, "dilations": "2,2", "exclude-pad": "true"},
        ),
    ),
    refused(
        name="AvgPool of few integers in one channel",
        ops=("AvgPool-1", "AvgPool-14", "AvgPool-16"),
        setting="one channel of integers of 16 bits or more; seen for fewer than 4 elements of output, and with pads",
        reason="The plugin does not implement it; the specification does not cover integers.",
        model=Call(
            "AvgPool-1",
            (np.arange(2, dtype=np.int32).reshape(1, 1, 2),),
            {"kernel": "1", "strides": "1", "pads_begin": "0", "pads_end": "0", "exclude-pad": "true"},
        ),
        processor=Processor.NO_AVX512,
    ),
    refused(
        name="MaxPool-8 of bf16 with indices",
        ops=("MaxPool-8", "MaxPool-14"),
        setting="bf16 data, and indices that a layer or Result reads",
        reason="The plugin does not implement it.",
        model=Call("MaxPool-8", (counted(1, 1, 4, 4).astype(BF16),), {**POOL, "dilations": "1,1"}),
        processor=Processor.AVX512,
    ),
    KnownDifference(
        name="bf16 in 8 channels and 8 places",
        ops=(*FORWARD, "AvgPool-1", "AvgPool-14", "AvgPool-16", "MaxPool-1"),
        kind=DifferenceKind.DIES,
        setting="bf16 data, a number of channels that is a multiple of 8, and 8 elements in each channel of the output",
        reason="The process crashes when the model is compiled.",
        model=Call(
            "MaxPool-1",
            (np.ones((1, 8, 8), BF16),),
            {"kernel": "1", "strides": "1", "pads_begin": "0", "pads_end": "0"},
        ),
        applies=_of_bf16,
        processor=Processor.NO_AVX512,
    ),
    refused(
        name="AdaptiveMaxPool-8 with i64 indices",
        ops=("AdaptiveMaxPool-8",),
        setting='`index_element_type="i64"` (the default), and indices that a layer or Result reads',
        reason="The plugin implements only i32.",
        model=Call("AdaptiveMaxPool-8", (counted(1, 1, 4, 4), Fixed(whole(2, 2)))),
    ),
    KnownDifference(
        name="AdaptiveAvgPool-8 of integers",
        ops=("AdaptiveAvgPool-8",),
        setting="integers",
        reason=(
            "The specification does not cover integers; the plugin rounds differently, and reinterprets the bits "
            "of 8-bit types."
        ),
        model=Call("AdaptiveAvgPool-8", (np.array([[[-1, -1, 0]]], np.int32), Fixed(whole(1)))),
        applies=lambda layer: layer.kind() in "iu",
    ),
)

MATRIX = (
    refused(
        name="Einsum-7 with dots",
        ops=("Einsum-7",),
        setting="`...` in inputs of different ranks, as in `...db,...c->...dcb`",
        reason="The runtime confuses dimensions when it decomposes the equation; some equations give wrong values.",
        model=Call("Einsum-7", (counted(2, 3, 4, 5), counted(3, 4)), {"equation": "...db,...c->...dcb"}),
        applies=lambda layer: "..." in layer.attrs.equation,
    ),
    KnownDifference(
        name="Inverse-14 of a matrix that has none",
        ops=("Inverse-14",),
        setting="a matrix that is singular or has infinities",
        reason="The specification does not define the result: the plugin returns infinities, the reference NaN.",
        model=Call("Inverse-14", (np.ones((2, 2), np.float32),)),
        applies=_singular,
    ),
    KnownDifference(
        name="LRN-1 with a fraction in bias",
        ops=("LRN-1",),
        setting="a `bias` that is not an integer",
        reason="The plugin truncates the bias to an integer.",
        model=Call(
            "LRN-1",
            (counted(1, 2, 2, 2), Fixed(whole(1))),
            {"alpha": "1", "beta": "0.5", "bias": "1.5", "size": "3"},
        ),
        applies=lambda layer: layer.attrs.bias != int(layer.attrs.bias),
    ),
    refused(
        name="NormalizeL2-1 of integers",
        ops=("NormalizeL2-1",),
        setting="integers of more than 8 bits",
        reason="The plugin does not implement it, unlike other normalizations of integers.",
        model=Call(
            "NormalizeL2-1", (np.array([[3, 4]], np.int32), Fixed(whole(1))), {"eps": "0.001", "eps_mode": "add"}
        ),
    ),
)

REDUCTION = (
    refused(
        name="reductions along no axis",
        ops=REDUCTIONS,
        setting='`axes` is empty and `keep_dims="false"`',
        reason="By the specification the data does not change; the plugin compiles the layer only with `keep_dims`.",
        model=Call("ReduceSum-1", (counted(2, 3), Fixed(whole())), ALL),
    ),
    KnownDifference(
        name="reductions of integers beyond 2^24",
        ops=REDUCTIONS,
        setting="integers with a sum above 2^24",
        reason="The plugin adds in f32; the reference is exact.",
        model=Call("ReduceSum-1", (np.array([2**24, 1, 1], np.int32), Fixed(whole(0))), ALL),
        applies=lambda layer: layer.kind() in "iu" and _wide(Instance(layer.attrs, layer.inputs[:1])),
    ),
    KnownDifference(
        name="maxima of integers beyond 2^24",
        ops=("ReduceMax-1", "ReduceMin-1"),
        kind=DifferenceKind.COARSE,
        setting="integers above 2^24",
        reason="The plugin converts them to f32; the reference returns one of the integers.",
        model=Call("ReduceMax-1", (np.array([2**24 + 1, 1], np.int32), Fixed(whole(0))), ALL),
        applies=lambda layer: (
            layer.kind() in "iu" and bool((np.abs(layer.inputs[0].astype(np.float64)) > MAX_EXACT).any())
        ),
    ),
    KnownDifference(
        name="reductions of i64 beyond i32",
        ops=("ReduceMax-1", "ReduceMin-1", *REDUCTIONS),
        setting="i64 or u64 values above 2^31",
        reason="The plugin reads the lower 32 bits and computes in i32.",
        model=Call("ReduceMax-1", (np.array([2**33, 1]), Fixed(whole(0))), ALL),
        applies=_beyond_i32,
    ),
    KnownDifference(
        name="reductions of 8 bits that leave them",
        ops=REDUCTIONS,
        setting="sums, squares or products of i8 or u8 that exceed the limits of the type",
        reason="The plugin saturates or wraps intermediate results; the reference wraps only the final result.",
        model=Call("ReduceL2-4", (np.array([100, 100], np.int8), Fixed(whole(0))), ALL),
        applies=_cut_off,
    ),
    KnownDifference(
        name="ReduceL2-4 of integers",
        ops=("ReduceL2-4",),
        setting="integers, and a root that is not an integer",
        reason=(
            "The plugin truncates; the reference rounds to the nearest integer, as OpenVINO's reference "
            "implementation does."
        ),
        model=Call("ReduceL2-4", (np.array([1, 1, 1], np.int32), Fixed(whole(0))), ALL),
        applies=lambda layer: layer.kind() in "iu",
    ),
    KnownDifference(
        name="SegmentMax-16 of nothing",
        ops=("SegmentMax-16",),
        setting='segments without rows and `fill_mode="LOWEST"`, for f16, f64, and integers other than i32, i8 and u8',
        reason="The plugin fills with the minimum of f32 or i32, converted to the type: -inf in f16, 0 in i16.",
        model=Call("SegmentMax-16", (np.array([1], np.float16), whole(0), index(2)), LOWEST),
        applies=_filled_in_another_type,
    ),
    KnownDifference(
        name="SegmentMax-16 that fills bf16",
        ops=("SegmentMax-16",),
        setting='segments without rows and `fill_mode="LOWEST"`, for bf16',
        reason="The plugin fills with the minimum of f32, which is -inf in bf16.",
        model=Call("SegmentMax-16", (np.array([1], BF16), whole(0), index(2)), LOWEST),
        applies=lambda layer: layer.attrs.fill_mode == "lowest" and _of_bf16(layer),
        processor=Processor.NO_AVX512,
    ),
    KnownDifference(
        name="maxima of NaN",
        ops=("ReduceMax-1", "ReduceMin-1"),
        setting="a NaN in the data",
        reason=(
            "Whether the plugin returns NaN depends on the position of the NaN in its vector registers; the "
            "reference always returns NaN."
        ),
        model=Call("ReduceMax-1", (floats(1, 2, np.nan, 0), Fixed(whole(0))), ALL),
        applies=_has_nan,
    ),
)

QUANTIZATION = (
    KnownDifference(
        name="FakeQuantize-1 of bf16 half-way between levels",
        ops=("FakeQuantize-1",),
        setting="bf16, and a value half-way between two levels",
        reason="The plugin uses another formula for bf16, which rounds such values differently.",
        model=Call(
            "FakeQuantize-1",
            (
                floats(5.4375, -2.90625, -1.97656, 3.57812).astype(BF16),
                *(one(value, BF16) for value in (0.8, 4.5, 0.8, 4.5)),
            ),
            {"levels": "3"},
        ),
        applies=_of_bf16,
        processor=Processor.AVX512,
    ),
    refused(
        name="FakeQuantize-1 with 65536 levels",
        ops=("FakeQuantize-1",),
        setting="65536 levels, and certain limits",
        reason="The runtime tries to remove such layers, because they would need 16 bits, and fails.",
        model=Call(
            "FakeQuantize-1", (floats(-5.2, 1.8), *(one(value) for value in (0.4, 3.6, 0.4, 3.6))), {"levels": "65536"}
        ),
    ),
    KnownDifference(
        name="FakeQuantize-1 between limits that do not ascend",
        ops=("FakeQuantize-1",),
        setting="constant limits with `input_low` not below `input_high`, and data of rank 3 or more",
        reason=(
            "For equal limits the specification outputs `output_low` or `output_high`, and for swapped limits it "
            "counts the levels downwards. The plugin returns NaN for equal limits and a single value for swapped "
            "ones; if the limits are not constants, it follows the specification."
        ),
        model=Call(
            "FakeQuantize-1",
            (floats(-3, -1, 0, 1, 3)[None, None], *(one(value) for value in (2, -2, 0, 8))),
            {"levels": "9"},
        ),
        applies=lambda layer: layer.attrs.auto_broadcast != "pdpd" and not np.all(layer.inputs[1] < layer.inputs[2]),
    ),
    refused(
        name="FakeQuantize-1 of f64",
        ops=("FakeQuantize-1",),
        setting="f64",
        reason="The plugin does not implement it.",
        model=Call(
            "FakeQuantize-1",
            (np.ones((1, 2, 2)), *(one(value, np.float64) for value in (0, 1, 0, 2))),
            {"levels": "16"},
        ),
    ),
    KnownDifference(
        name="FakeConvert-13 of bf16",
        ops=("FakeConvert-13",),
        setting="bf16",
        reason="The plugin rounds to bf16 after each step, which changes small values and some others.",
        model=Call(
            "FakeConvert-13",
            (floats(0.02).astype(BF16), one(0.2890625, BF16), one(-0.068359375, BF16)),
            {"destination_type": "f8e4m3"},
        ),
        applies=_of_bf16,
        processor=Processor.NO_AVX512,
    ),
    KnownDifference(
        name="FakeConvert-13 of bf16 with a shift",
        ops=("FakeConvert-13",),
        setting="bf16, and a `shift`",
        reason="The plugin rounds to bf16 in another order.",
        model=Call(
            "FakeConvert-13",
            (floats(72.5, 214).astype(BF16), one(0.2890625, BF16), one(-0.068359375, BF16)),
            {"destination_type": "f8e4m3"},
        ),
        applies=lambda layer: len(layer.inputs) > 2 and _of_bf16(layer),
        processor=Processor.AVX512,
    ),
)

ROWS = (*CONVOLUTION, *POOLING, *MATRIX, *REDUCTION, *QUANTIZATION)
