"""Elementwise operations and activations."""

import numpy as np

from ir_tools.known_differences._define import DifferenceKind, Instance, KnownDifference, refused
from ir_tools.known_differences._model import Call, Fixed, floats
from ir_tools.processors import Processor

__all__ = ["ROWS"]

SPECIAL = floats(np.nan, np.inf, -np.inf, 1)


def _not_finite(layer: Instance) -> bool:
    return any(
        array.dtype.kind in "fV" and not np.isfinite(array.astype(np.float32, copy=False)).all()
        for array in layer.inputs
    )


def _wide_power(layer: Instance) -> bool:
    if layer.kind() not in "iu":
        return False
    with np.errstate(all="ignore"):
        return bool((np.abs(layer.inputs[0].astype(np.float64)) ** layer.inputs[1] >= 2.0**24).any())


ROWS = (
    refused(
        name="Negative-1 of an unsigned type",
        ops=("Negative-1",),
        setting="u8 to u64",
        reason="The runtime multiplies by -1, which an unsigned type cannot represent.",
        model=Call("Negative-1", (np.array([1, 2], np.uint8),)),
        applies=lambda layer: layer.kind() == "u",
    ),
    KnownDifference(
        name="SquaredDifference-1 of 8 bits",
        ops=("SquaredDifference-1",),
        setting="i8 or u8",
        reason="The plugin reads outside its inputs, or saturates the differences before it squares them.",
        model=Call("SquaredDifference-1", (np.arange(6).astype(np.uint8), np.ones(6, np.uint8))),
        applies=lambda layer: layer.inputs[0].dtype.itemsize == 1 and layer.kind() in "iu",
    ),
    KnownDifference(
        name="Power-1 of integers",
        ops=("Power-1",),
        setting="integers whose power exceeds 2^24",
        reason="The plugin computes in f32, by another algorithm than numpy's.",
        model=Call("Power-1", (np.array([7, 11], np.int32), np.array([9, 7], np.int32))),
        applies=_wide_power,
        processor=Processor.AVX512,
    ),
    KnownDifference(
        name="f64 in f32",
        ops=("Power-1", "Mod-1", "FloorMod-1"),
        setting=(
            "f64 values for which f32 is not precise enough: remainders of numbers that are not binary fractions, "
            "powers above 3e38"
        ),
        reason="The plugin computes f64 in f32 in all operations; in these the difference exceeds the tolerance.",
        model=Call("Mod-1", (np.array([20.5]), np.array([1e-3]))),
        applies=lambda layer: layer.inputs[0].dtype == np.dtype(np.float64),
    ),
    KnownDifference(
        name="ErfInv-17 near its ends",
        ops=("ErfInv-17",),
        kind=DifferenceKind.COARSE,
        setting="values near -1 and 1 (up to 0.5 % off) and near 0 (1e-4 off)",
        reason="The plugin uses an approximation.",
        model=Call("ErfInv-17", (floats(0.999, -0.99),)),
        applies=lambda layer: layer.kind() == "f",
    ),
    KnownDifference(
        name="HardSigmoid-1 of integers",
        ops=("HardSigmoid-1",),
        setting="integers",
        reason=(
            "The plugin truncates the parameters to integers and computes in floats; the specification does not "
            "cover integers."
        ),
        model=Call(
            "HardSigmoid-1",
            (np.array([-3, 1], np.int32), Fixed(np.array(0, np.int32)), Fixed(np.array(1, np.int32))),
        ),
        applies=lambda layer: layer.kind() in "iu",
    ),
    KnownDifference(
        name="activations of NaN and infinity",
        ops=("Exp-1", "Gelu-2", "Gelu-7", "HardSigmoid-1"),
        setting="a NaN or an infinity in the data",
        reason="The plugin's approximations do not handle them: `Exp(NaN)` is inf, `Gelu(inf)` is NaN.",
        model=Call("Exp-1", (SPECIAL,)),
        applies=_not_finite,
    ),
    KnownDifference(
        name="comparisons of NaN",
        ops=("Greater-1", "GreaterEqual-1"),
        setting="a NaN in one of the inputs",
        reason="The plugin returns true for NaN > x and for x > NaN; both are false.",
        model=Call("Greater-1", (SPECIAL, floats(1, 1, 1, np.nan))),
        applies=_not_finite,
        processor=Processor.AVX512,
    ),
    KnownDifference(
        name="PReLU-1 with a slope of NaN",
        ops=("PReLU-1",),
        setting="a slope of NaN, or an infinite one",
        reason="The plugin also multiplies values of 0 by the slope; the reference multiplies only negative values.",
        model=Call("PReLU-1", (floats([0, 1]), floats(np.nan, 1))),
        applies=lambda layer: not np.isfinite(layer.inputs[1].astype(np.float32, copy=False)).all(),
        processor=Processor.NO_AVX512,
    ),
    KnownDifference(
        name="SoftMax of infinity",
        ops=("SoftMax-1", "SoftMax-8", "LogSoftmax-5"),
        setting="a NaN or an infinity in the data",
        reason="A NaN or inf makes every element of its row NaN; the plugin returns 0 for the other elements.",
        model=Call("SoftMax-8", (floats([np.nan, 1], [np.inf, 1]),), {"axis": "1"}),
        applies=_not_finite,
    ),
)
