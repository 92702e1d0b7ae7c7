"""Where the CPU plugin does something else with layers that move elements: each with a reason and a small layer.

What is broken here reads or writes memory that is not its own: the answers are garbage, or the process dies.
The random tests of these families keep away from such layers.
"""

from collections.abc import Mapping

import numpy as np
import pytest

from ir_tools.errors import RuntimeFailure
from ir_tools.ops import Array, gathering, generation, layout, ordering, padding, searching, slicing, strided_slicing
from ir_tools.runtime.client import RuntimeClient
from tests.ops.layer_support import Call, difference, found_arrays, wanted_arrays


def floats(*shape: int) -> Array:
    return (np.arange(1, 1 + int(np.prod(shape))) / 7).astype(np.float32).reshape(shape)


def ints(*values: int) -> Array:
    return np.array(values, np.int64)


NO_MASKS = {"begin_mask": "0,0", "end_mask": "0,0"}
DIFFERENCES: Mapping[str, Call] = {
    "Tile without repeats leaves its output unwritten": Call(padding.TILE, [floats(4, 5), ints()], constants=(1,)),
    "Tile of three and more dimensions of four is garbage where the repeats are computed": Call(
        padding.TILE, [floats(3, 4, 3, 2), ints(2, 2, 2, 3)]
    ),
    "SpaceToBatch puts neighbours where a place in the block has padding only": Call(
        padding.SPACE_TO_BATCH,
        [floats(1, 2, 1, 1), ints(1, 1, 3, 1), ints(0, 0, 0, 0), ints(0, 0, 2, 0)],
        constants=(1, 2, 3),
    ),
    "Roll wants as many shifts as axes": Call(ordering.ROLL, [floats(3, 4), np.array(1), ints(0, 1)], constants=(1, 2)),
    "Transpose by a computed empty order gives nothing": Call(layout.TRANSPOSE, [floats(3, 4), ints()]),
    "SliceScatter between computed bounds changes nothing": Call(
        slicing.SLICE_SCATTER, [floats(3), floats(1) + 9, ints(0), ints(1), ints(1), ints(0)]
    ),
    "StridedSlice that both adds and drops axes reads beyond its data": Call(
        strided_slicing.STRIDED_SLICE,
        [floats(4, 4, 4), ints(0, 2), ints(1, 3), ints(1, 1)],
        {**NO_MASKS, "new_axis_mask": "1,0", "shrink_axis_mask": "0,1"},
        constants=(1, 2, 3),
    ),
    "StridedSlice of computed bounds that only adds an axis leaves its output unwritten": Call(
        strided_slicing.STRIDED_SLICE,
        [floats(1, 3), ints(0), ints(1), ints(1)],
        {"begin_mask": "0", "end_mask": "0", "new_axis_mask": "1"},
    ),
    "Gather with batch_dims and one batch crashes": Call(
        gathering.GATHER_8, [floats(1, 1, 2), ints(0)[None], np.array(2)], {"batch_dims": "1"}, constants=(2,)
    ),
    "Range of floats to whole numbers rounds where it should cut off": Call(
        generation.RANGE_4,
        [np.array(1.9, np.float32), np.array(6.5, np.float32), np.array(1, np.float32)],
        {"output_type": "i32"},
    ),
    "Range in the wrong direction gives a number": Call(
        generation.RANGE_4, [np.array(-5), np.array(-4), np.array(-1)], {"output_type": "i64"}
    ),
    "Unique of slices does not say where each is first": Call(
        searching.UNIQUE, [np.array([[[2, 1], [2, 2], [1, 2]]], np.int8), np.array(1)], {}, 4, constants=(1,)
    ),
}


@pytest.mark.sweep
@pytest.mark.parametrize("reason", DIFFERENCES)
def test_still_differs(reason: str) -> None:
    """Once the runtime is right, the row goes and the random tests take such layers too."""
    call = DIFFERENCES[reason]
    with RuntimeClient() as client:
        try:
            wanted = wanted_arrays(client, call)
        except RuntimeFailure:
            return
        assert difference(call, found_arrays(call), wanted, 1e-6) is not None
