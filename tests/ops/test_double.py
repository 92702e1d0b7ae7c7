"""Kernels compute f64 in f64: their results change with digits of the data that f32 does not hold.

The CPU plugin computes f64 in f32, so that comparisons with it say nothing of that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from ir_tools.ops import Array, Op
from tests.ops import table_makers
from tests.ops.recorded import right_outputs
from tests.ops.single import Fed

LAYERS = 16
FINE = 2.0**-40
WITHOUT: Mapping[str, str] = {
    "BinaryConvolution-1": "it counts",
    "CTCGreedyDecoder-1": "it gives numbers of classes",
    "CTCGreedyDecoderSeqLen-6": "it gives numbers of classes",
    "ExperimentalDetectronPriorGridGenerator-6": "it computes in f32, as all releases do",
    "Ceiling-1": "it gives integers",
    "Eye-9": "it gives zeros and ones",
    "Floor-1": "it gives integers",
    **dict.fromkeys(("RGBtoNV12-17", "BGRtoNV12-17"), "OpenVINO's core computes it in f32, too"),
    "Round-5": "it gives integers",
    "Sign-1": "it gives integers",
}
"""Operations whose results have no such digits, and why."""


def in_double(layer: Fed, fine: float = 0.0) -> Fed:
    """The layer with its data in f64, a little larger."""
    arrays = [array.astype(np.float64) * (1 + fine) if array.dtype == np.float32 else array for array in layer.arrays]
    return replace(layer, arrays=arrays)


def is_wide(outputs: Sequence[Array] | None) -> bool:
    return outputs is not None and any(one.dtype == np.float64 and one.any() for one in outputs)


@pytest.mark.parametrize("op", [op for op in table_makers.OPS if op.kernel], ids=str)
def test_digits_of_double(op: Op) -> None:
    pairs = [
        (right_outputs(in_double(layer)), right_outputs(in_double(layer, FINE)))
        for layer in table_makers.layers(op, LAYERS, seed=2)
    ]
    compared = [(one, other) for one, other in pairs if one is not None and other is not None and is_wide(one)]
    changed = any(not np.array_equal(*both) for pair in compared for both in zip(*pair, strict=True))
    assert changed or not compared or str(op) in WITHOUT
