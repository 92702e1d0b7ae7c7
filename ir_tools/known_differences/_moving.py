"""Layers that move elements: what is broken reads or writes memory that is not its own, as a rule."""

from math import trunc

import numpy as np
import numpy.typing as npt

from ir_tools.known_differences._define import DifferenceKind, Instance, KnownDifference, leaves, refused, unwritten
from ir_tools.known_differences._model import Call, Fixed, counted, number, sizes_of, whole

__all__ = ["ROWS"]

STRIDED = {"begin_mask": "0,0", "end_mask": "0,0"}
COMPUTED = Call("Subtract-1", (sizes_of(counted(4, 1)), Fixed(whole(2, 2))))
"""2 and -1, not as a constant."""


def _repeats_many(layer: Instance) -> bool:
    data, repeats = layer.inputs
    repeated = np.count_nonzero(repeats.ravel() != 1)
    many = data.ndim > 4 or (data.ndim == 4 and 1 not in data.shape[:3])
    return 1 not in layer.constant and many and bool(repeated > 2)


def _padded_block(layer: Instance) -> bool:
    """Return whether some place in a block longer than the data meets padding only."""
    data, block, begin, end = layer.inputs
    sizes = np.array(data.shape)
    return bool(((block > 1) & (np.minimum(block, sizes + begin + end) > sizes)).any())


def _backwards(layer: Instance) -> bool:
    start, stop, step = (float(array) for array in layer.inputs)
    return (stop - start) * step < 0


def _numbers(layer: Instance) -> npt.NDArray[np.float64]:
    """Return the numbers of a Range, before they get their type."""
    start, stop, step = (float(array) for array in layer.inputs)
    if layer.attrs.output_type.is_integer:
        start, stop, step = (float(trunc(each)) for each in (start, stop, step))
    return np.arange(start, stop, step, dtype=np.float64) if step else np.empty(0)


def _beyond_8_bits(layer: Instance) -> bool:
    kind = layer.attrs.output_type
    if len(layer.constant) == 3 or not kind.is_integer or kind.bits > 8:
        return False
    return leaves(_numbers(layer), "int8" if kind.kind == "signed" else "uint8")


def _between_powers(layer: Instance) -> bool:
    """Return whether one of the numbers is not a power of two."""
    return layer.attrs.output_type.name == "f8e8m0" and bool((np.frexp(_numbers(layer))[0] != 0.5).any())


ROWS = (
    unwritten(
        name="Tile-1 without repeats",
        ops=("Tile-1",),
        setting="empty `repeats`",
        reason="The runtime leaves the output uninitialized; by the specification the data does not change.",
        model=Call("Tile-1", (counted(4, 5), Fixed(whole()))),
        applies=lambda layer: not layer.inputs[1].size,
    ),
    KnownDifference(
        name="Tile-1 of many dimensions by computed repeats",
        ops=("Tile-1",),
        setting="three or more dimensions that are repeated, and `repeats` that is not a constant",
        reason="The plugin copies blocks to the wrong positions; with constant repeats the values are right.",
        model=Call("Tile-1", (counted(3, 4, 3, 2), whole(2, 2, 2, 3))),
        applies=_repeats_many,
    ),
    KnownDifference(
        name="SpaceToBatch-2 of padding only",
        ops=("SpaceToBatch-2",),
        setting="a position of the block that covers only padding",
        reason="The plugin returns neighbouring elements instead of zeros.",
        model=Call(
            "SpaceToBatch-2",
            (counted(1, 2, 1, 1), Fixed(whole(1, 1, 3, 1)), Fixed(whole(0, 0, 0, 0)), Fixed(whole(0, 0, 2, 0))),
        ),
        applies=_padded_block,
    ),
    refused(
        name="Roll-7 by one shift",
        ops=("Roll-7",),
        setting="a single `shift` for several axes",
        reason="By the specification the shift applies to every axis; the plugin requires as many shifts as axes.",
        model=Call("Roll-7", (counted(3, 4), Fixed(np.array(1)), Fixed(whole(0, 1)))),
    ),
    KnownDifference(
        name="Transpose-1 by a computed empty order",
        ops=("Transpose-1",),
        setting="an empty `input_order` that is not a constant",
        reason="An empty order reverses the axes; the plugin returns an empty output.",
        model=Call("Transpose-1", (counted(3, 4), whole())),
        applies=lambda layer: 1 not in layer.constant and not layer.inputs[1].size,
    ),
    KnownDifference(
        name="SliceScatter-15 between computed bounds",
        ops=("SliceScatter-15",),
        kind=DifferenceKind.DIES,
        setting="`start`, `stop`, `step` or `axes` that is not a constant",
        reason="The plugin does not update the data, or writes outside it and crashes.",
        model=Call("SliceScatter-15", (counted(3), counted(1) + 9, whole(0), whole(1), whole(1), whole(0))),
        applies=lambda layer: not set(range(2, len(layer.inputs))) <= set(layer.constant),
    ),
    KnownDifference(
        name="StridedSlice-1 that adds and drops axes",
        ops=("StridedSlice-1",),
        setting="a 1 in both `new_axis_mask` and `shrink_axis_mask`",
        reason="The plugin reads outside the data.",
        model=Call(
            "StridedSlice-1",
            (counted(4, 4, 4), Fixed(whole(0, 2)), Fixed(whole(1, 3)), Fixed(whole(1, 1))),
            {**STRIDED, "new_axis_mask": "1,0", "shrink_axis_mask": "0,1"},
        ),
        applies=lambda layer: 1 in layer.attrs.new_axis_mask and 1 in layer.attrs.shrink_axis_mask,
    ),
    unwritten(
        name="StridedSlice-1 of computed bounds that adds an axis",
        ops=("StridedSlice-1",),
        setting="a 1 in `new_axis_mask`, and `begin` and `end` that are not constants",
        reason="The plugin leaves its output uninitialized.",
        model=Call(
            "StridedSlice-1",
            (counted(1, 3), whole(0), whole(1), whole(1)),
            {"begin_mask": "0", "end_mask": "0", "new_axis_mask": "1"},
        ),
        applies=lambda layer: 1 not in layer.constant and set(layer.attrs.new_axis_mask) == {1},
    ),
    unwritten(
        name="Gather-8 from one batch",
        ops=("Gather-7", "Gather-8"),
        setting="`batch_dims` with a batch of 1",
        reason="The plugin divides by zero, or reads outside the data.",
        model=Call("Gather-8", (counted(1, 1, 2), whole(0)[None], Fixed(np.array(2))), {"batch_dims": "1"}),
    ),
    KnownDifference(
        name="Range-4 of floats to integers",
        ops=("Range-4",),
        setting="float inputs and an integer `output_type`",
        reason="By the specification the inputs are truncated first; the plugin rounds them.",
        model=Call("Range-4", (number(1.9), number(6.5), number(1)), {"output_type": "i32"}),
        applies=lambda layer: layer.kind() == "f" and not layer.attrs.output_type.is_float,
    ),
    KnownDifference(
        name="Range-4 in the wrong direction",
        ops=("Range-4",),
        setting="a `step` with the wrong sign for `start` and `stop`",
        reason="The plugin returns one element; by the specification the output is empty.",
        model=Call("Range-4", (np.array(-5), np.array(-4), np.array(-1)), {"output_type": "i64"}),
        applies=_backwards,
    ),
    KnownDifference(
        name="Range-4 beyond 8 bits",
        ops=("Range-4",),
        setting="an `output_type` of at most 8 bits, numbers beyond 8 bits, and inputs that are not constants",
        reason="The plugin limits the numbers to 8 bits; the reference wraps them, as the runtime does for constants.",
        model=Call("Range-4", (np.array(-3), np.array(2), np.array(2)), {"output_type": "u8"}),
        applies=_beyond_8_bits,
    ),
    KnownDifference(
        name="Range-4 in f8e8m0",
        ops=("Range-4",),
        setting='`output_type="f8e8m0"` and numbers that are not powers of two',
        reason="The runtime drops the sign and rounds down; the nearest power of two is right.",
        model=Call("Range-4", (number(1), number(4), number(2)), {"output_type": "f8e8m0"}),
        applies=_between_powers,
    ),
    KnownDifference(
        name="Unique-10 of slices",
        ops=("Unique-10",),
        setting="an `axis`, and data of rank 2 or more",
        reason="The plugin does not return the index of the first occurrence of each slice.",
        model=Call("Unique-10", (np.array([[[2, 1], [2, 2], [1, 2]]], np.int8), Fixed(np.array(1)))),
        applies=lambda layer: len(layer.inputs) > 1 and layer.inputs[0].ndim > 1,
    ),
    KnownDifference(
        name="VariadicSplit-1 of more than there is",
        ops=("VariadicSplit-1",),
        kind=DifferenceKind.SHAPE,
        setting="a -1, and other lengths whose sum exceeds the size of the axis",
        reason="The runtime uses the remainder for the -1 even if it is negative, and reads outside the data.",
        model=Call("VariadicSplit-1", (counted(1), Fixed(np.array(0)), Fixed(whole(-1, 2)))),
    ),
    KnownDifference(
        name="Broadcast-3 from an axis beyond its target",
        ops=("Broadcast-3",),
        kind=DifferenceKind.SHAPE,
        setting='`mode="pdpd"`, and an axis outside the target shape',
        reason="The runtime returns the target shape for any data; the reference refuses the layer.",
        model=Call("Broadcast-3", (counted(3), Fixed(whole(2))), {"mode": "pdpd", "mode.mode.axis": "1"}),
    ),
    KnownDifference(
        name="Tile-1 by computed repeats below 0",
        ops=("Tile-1",),
        kind=DifferenceKind.SHAPE,
        setting="negative repeats that are not constants",
        reason=(
            "The runtime treats constant negative repeats as 0 and refuses others; the reference treats all "
            "negative repeats as 0."
        ),
        model=Call("Tile-1", (counted(2, 2), COMPUTED)),
    ),
)
