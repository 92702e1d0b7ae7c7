"""Integers beyond what the plugin computes in, values that a type does not hold, layers of constants alone."""

import ml_dtypes
import numpy as np

from ir_tools.known_differences._define import DifferenceKind, Instance, KnownDifference, leaves, refused
from ir_tools.known_differences._model import MAX_EXACT, Call, Fixed, Given, converted, floats, whole
from ir_tools.ops import Array
from ir_tools.processors import Processor
from ir_tools.types.packing import element_type_of

__all__ = ["ROWS"]

BF16 = ml_dtypes.bfloat16
BYTES = {"i8": "int8", "u8": "uint8"}
ARITHMETIC = (
    *("Add-1", "Subtract-1", "Multiply-1", "Divide-1", "Maximum-1", "Minimum-1", "Mod-1", "FloorMod-1"),
    *("SquaredDifference-1", "Power-1", "PReLU-1", "CumSum-3", "Select-1", "Negative-1", "Abs-1", "Sign-1"),
)
COMPARISONS = ("Equal-1", "NotEqual-1", "Greater-1", "GreaterEqual-1", "Less-1", "LessEqual-1")
BITS = ("BitwiseAnd-13", "BitwiseOr-13", "BitwiseXor-13", "BitwiseNot-13")
SHIFTS = ("BitwiseLeftShift-15", "BitwiseRightShift-15")
THROUGH_FLOATS = ("ReLU-1", "Clamp-1", "Ceiling-1", "Floor-1", "Round-5", "Elu-1", "HSwish-4")
CONVERSIONS = ("Convert-1", "ConvertLike-1", "ConvertPromoteTypes-14")
TRANSCENDENTAL = (
    *("Exp-1", "Log-1", "Sqrt-1", "Sin-1", "Cos-1", "Tan-1", "Asin-1", "Acos-1", "Atan-1", "Sinh-1", "Cosh-1"),
    *("Tanh-1", "Asinh-4", "Acosh-4", "Atanh-4", "Sigmoid-1", "HSigmoid-5"),
)


def _reaches(layer: Instance, minimum: int) -> bool:
    """Return whether an input of 32 bits or more holds an integer of this size."""
    wide = (array for array in layer.inputs if array.dtype.kind in "iu" and array.dtype.itemsize >= 4)
    return any(bool((np.abs(array.astype(np.float64)) >= minimum).any()) for array in wide)


def _beyond_bytes(layer: Instance) -> bool:
    """Return whether floats are beyond the type of 8 bits that they are converted to."""
    target = layer.attrs.get("destination_type") or element_type_of(layer.inputs[1])
    if layer.kind() != "f" or target.name not in BYTES:
        return False
    return leaves(np.trunc(np.nan_to_num(_wide(layer.inputs[0]))), BYTES[target.name])


def _wide(array: Array) -> Array:
    return array.astype(np.float64)


def _beyond_f32(layer: Instance) -> bool:
    """Return whether a power may be an integer that f32 does not hold."""
    base, exponent = (float(np.abs(_wide(array)).max(initial=0)) for array in layer.inputs)
    return layer.kind() in "iu" and exponent * np.log2(max(base, 1)) >= 24


def _of_other_words(layer: Instance) -> bool:
    """Return whether the plugin makes random numbers of other words, or of other bits of them."""
    small = layer.attrs.alignment == "pytorch" and all(float(_wide(limit).max()) < 2**32 for limit in layer.inputs[1:])
    return layer.attrs.output_type.name in {"f16", "f64"} or (layer.attrs.output_type.name == "i64" and not small)


def _pdpd(layer: Instance) -> bool:
    aligned = {-1, layer.inputs[0].ndim - layer.inputs[1].ndim}
    return layer.attrs.auto_broadcast == "pdpd" and layer.attrs.auto_broadcast_axis not in aligned


ROWS = (
    KnownDifference(
        name="integers beyond i32",
        ops=(*ARITHMETIC, *COMPARISONS, *BITS, *THROUGH_FLOATS, *CONVERSIONS, *TRANSCENDENTAL, "SegmentMax-16"),
        setting="i64, u32 or u64 values or results above 2^31",
        reason="The plugin reads the lower 32 bits and computes in i32; the reference computes in the element type.",
        model=Call("Add-1", (np.array([1 << 40, 3]), np.array([1, 1]))),
        applies=lambda layer: _reaches(layer, 1 << 31),
    ),
    KnownDifference(
        name="activations of integers beyond 2^24",
        ops=(*THROUGH_FLOATS, *TRANSCENDENTAL, "Mod-1", "FloorMod-1", "Divide-1", "Abs-1", "Negative-1", "PReLU-1"),
        kind=DifferenceKind.COARSE,
        setting="integer values or results above 2^24",
        reason="The plugin computes in f32, which cannot represent them; the reference does not convert values that it"
        " only passes on, and divides exactly.",
        model=Call("ReLU-1", (np.array([(1 << 24) + 1, 3], np.int32),)),
        applies=lambda layer: _reaches(layer, MAX_EXACT),
    ),
    KnownDifference(
        name="powers of integers beyond 2^24",
        ops=("Power-1",),
        kind=DifferenceKind.COARSE,
        setting="integers whose power is beyond 2^24",
        reason="The plugin computes in f32, which cannot represent them; the reference is exact.",
        model=Call("Power-1", (np.array([7, 3], np.int32), np.array([9, 2], np.int32))),
        applies=_beyond_f32,
    ),
    KnownDifference(
        name="shifts of 64 bits",
        ops=SHIFTS,
        setting="i64 and u64 values above 2^31, or shifted by 32 bits or more",
        reason="The plugin shifts the lower 32 bits, by the lower five bits of the shift.",
        model=Call("BitwiseLeftShift-15", (np.array([3, 4]), np.array([40, 1]))),
        applies=lambda layer: layer.inputs[0].dtype.itemsize == 8,
    ),
    KnownDifference(
        name="functions without a value in 8 bits",
        ops=("Sqrt-1", "Log-1", "Asin-1", "Acos-1", "Acosh-4", "Atanh-4"),
        setting="i8 and u8 values for which the function is undefined, in tensors of rank 3 and 4",
        reason=(
            "The plugin converts NaN to the minimum of the type (for u8 to the maximum) for most ranks, and to 0 "
            "for these two."
        ),
        model=Call("Log-1", (np.array([[[-11], [120]]], np.int8),)),
        applies=lambda layer: layer.inputs[0].dtype.itemsize == 1 and layer.kind() in "iu",
    ),
    KnownDifference(
        name="results beyond 2^15 in u8",
        ops=("Multiply-1", "Power-1", "Exp-1", "Asin-1", "Acos-1", "Acosh-4", "Atanh-4"),
        setting="u8, and a result that is undefined or 32768 or more",
        reason="The plugin converts these results to 0, and results between 256 and 32767 to 255.",
        model=Call("Multiply-1", (np.array([255, 3], np.uint8), np.array([255, 3], np.uint8))),
        applies=lambda layer: layer.inputs[0].dtype == np.uint8,
        processor=Processor.NO_AVX512,
    ),
    KnownDifference(
        name="RandomUniform-8 of other sizes",
        ops=("RandomUniform-8",),
        setting='f16 and f64; with `alignment="pytorch"` also i64, if a limit is beyond u32',
        reason="The plugin converts f16 and f64 from f32 numbers, and makes an i64 from one word instead of two.",
        model=Call(
            "RandomUniform-8",
            (Fixed(np.array([4], np.int32)), Fixed(np.array(0, np.float16)), Fixed(np.array(1, np.float16))),
            {"output_type": "f16", "global_seed": "12", "op_seed": "7"},
        ),
        applies=_of_other_words,
    ),
    KnownDifference(
        name="RandomUniform-8 of bf16",
        ops=("RandomUniform-8",),
        setting="bf16",
        reason=(
            "For the same seeds the plugin generates other numbers than with AVX-512; the latter follow the "
            "specification."
        ),
        model=Call(
            "RandomUniform-8",
            (Fixed(np.array([4], np.int32)), Fixed(np.array(0, BF16)), Fixed(np.array(1, BF16))),
            {"output_type": "bf16", "global_seed": "12", "op_seed": "7"},
        ),
        applies=lambda layer: str(layer.inputs[1].dtype) == "bfloat16",
        processor=Processor.NO_AVX512,
    ),
    KnownDifference(
        name="layers of constants alone",
        ops=("Divide-1", "Subtract-1", "Add-1", *TRANSCENDENTAL, *CONVERSIONS, "BitwiseNot-13"),
        setting="integer inputs that are all constants",
        reason=(
            "The runtime computes such a layer before the model runs, with other code: 8-bit types wrap around, "
            "and unsigned values above 2^31 saturate. The reference always computes as the plugin does."
        ),
        model=Call("Subtract-1", (Fixed(np.array([1, 9], np.uint8)), Fixed(np.array([4, 2], np.uint8)))),
        applies=lambda layer: len(layer.constant) == len(layer.inputs) and layer.kind() in "iu",
    ),
    KnownDifference(
        name="quotients of integers below 0",
        ops=("Divide-1",),
        setting='negative integers, with `m_pythondiv="true"` (the default)',
        reason="The plugin truncates quotients towards 0 and ignores `m_pythondiv`; the reference rounds them down.",
        model=Call("Divide-1", (np.array([-14, 9], np.int32), np.array([11, 2], np.int32))),
        applies=lambda layer: (
            layer.kind() == "i" and layer.attrs.m_pythondiv and any((array < 0).any() for array in layer.inputs)
        ),
    ),
    KnownDifference(
        name="floats that 8 bits do not hold",
        ops=("Convert-1", "ConvertLike-1"),
        setting="floats outside the range of i8 or u8, in tensors of unknown size",
        reason=(
            "The plugin saturates them if sizes are unknown, and wraps them around if sizes are known; the "
            "reference always wraps. Both saturate f64."
        ),
        model=Call("Convert-1", (Given(floats(-1.5, 300), "?"),), {"destination_type": "u8"}),
        applies=_beyond_bytes,
    ),
    KnownDifference(
        name="conversion from computed 4 bits",
        ops=("Convert-1", "ConvertLike-1"),
        setting="i4 or u4 data that another layer computed from values that do not fit into 4 bits",
        reason=(
            "Inside a model the plugin keeps 8 bits, and reduces them to 4 only in outputs of the model; the "
            "reference always keeps 4 bits."
        ),
        model=Call("Convert-1", (converted(whole(5, 16, 300), "u4"),), {"destination_type": "i32"}),
        applies=lambda layer: 0 not in layer.constant and str(element_type_of(layer.inputs[0])) in {"i4", "u4"},
    ),
    KnownDifference(
        name="conversion of NaN and infinity",
        ops=CONVERSIONS,
        setting="a NaN or an infinity in the data",
        reason=(
            "The plugin converts NaN to false, and replaces infinity by 65504 in f16, and by the largest f32 in "
            "f64, before the conversion."
        ),
        model=Call("Convert-1", (floats(np.nan, 0, 1),), {"destination_type": "boolean"}),
        applies=lambda layer: (
            layer.kind() == "f" and any(not np.isfinite(_wide(array)).all() for array in layer.inputs[:1])
        ),
    ),
    KnownDifference(
        name="tests of f64 and of denormal numbers",
        ops=("IsFinite-10", "IsInf-10", "IsNaN-10"),
        setting="f64, or magnitudes below 1.2e-38",
        reason="The plugin converts the infinity of f64 to the largest f32, and treats denormal numbers as infinite.",
        model=Call("IsFinite-10", (np.array([np.inf, 1.0]),)),
    ),
    KnownDifference(
        name="pdpd of operations that forget it",
        ops=(
            *("Subtract-1", "Divide-1", *COMPARISONS, *BITS[:3], *SHIFTS),
            *("LogicalAnd-1", "LogicalOr-1", "LogicalXor-1", "FakeQuantize-1"),
        ),
        setting='`auto_broadcast="pdpd"` with an axis that does not align the last dimensions',
        reason=(
            "In shape inference the runtime aligns the dimensions from the axis on, but in the computation the "
            "last ones; if those do not match, it refuses the layer. The reference always aligns them from the "
            "axis on."
        ),
        model=Call("Subtract-1", (floats([1, 2], [3, 4]), floats(1, 2)), {"auto_broadcast": "pdpd"}),
        applies=_pdpd,
    ),
    refused(
        name="Select-1 and Mod-1 with pdpd",
        ops=("Select-1", "Mod-1"),
        setting='`auto_broadcast="pdpd"`',
        reason="The plugin does not implement this mode for most element types.",
        model=Call("Mod-1", (floats([1, 2], [3, 4]), floats(1, 2)), {"auto_broadcast": "pdpd"}),
    ),
)
