"""Layers that move elements: what is broken reads or writes memory that is not its own, as a rule."""

import numpy as np

from ir_tools.known_differences._define import DifferenceKind, Instance, KnownDifference, refused, unwritten
from ir_tools.known_differences._model import Call, Fixed, counted, number, whole

__all__ = ["ROWS"]

STRIDED = {"begin_mask": "0,0", "end_mask": "0,0"}
COMPUTED = Call("Subtract-1", (Call("ShapeOf-3", (counted(4, 1),), {"output_type": "i64"}), Fixed(whole(2, 2))))
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


ROWS = (
    unwritten(
        name="Tile-1 without repeats",
        ops=("Tile-1",),
        setting="`repeats` is empty",
        reason="The runtime leaves the output unwritten; the specification leaves the data as they are.",
        model=Call("Tile-1", (counted(4, 5), Fixed(whole()))),
        applies=lambda layer: not layer.inputs[1].size,
    ),
    KnownDifference(
        name="Tile-1 of many dimensions by computed repeats",
        ops=("Tile-1",),
        setting="three or more of many dimensions are repeated, and `repeats` is not a constant",
        reason="The plugin copies blocks to the wrong places; with constant repeats it is right.",
        model=Call("Tile-1", (counted(3, 4, 3, 2), whole(2, 2, 2, 3))),
        applies=_repeats_many,
    ),
    KnownDifference(
        name="SpaceToBatch-2 of padding only",
        ops=("SpaceToBatch-2",),
        setting="a place in the block meets padding only",
        reason="The plugin puts neighbouring elements; expected zeros.",
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
        reason="By the specification it holds for every axis; the plugin wants as many shifts as axes.",
        model=Call("Roll-7", (counted(3, 4), Fixed(np.array(1)), Fixed(whole(0, 1)))),
    ),
    KnownDifference(
        name="Transpose-1 by a computed empty order",
        ops=("Transpose-1",),
        setting="`input_order` is empty and no constant",
        reason="An empty order turns all axes around; the plugin gives an output without elements.",
        model=Call("Transpose-1", (counted(3, 4), whole())),
        applies=lambda layer: 1 not in layer.constant and not layer.inputs[1].size,
    ),
    KnownDifference(
        name="SliceScatter-15 between computed bounds",
        ops=("SliceScatter-15",),
        kind=DifferenceKind.DIES,
        setting="`start`, `step` or `axes` is not a constant",
        reason="The plugin changes nothing, or writes beyond its data and ends the process.",
        model=Call("SliceScatter-15", (counted(3), counted(1) + 9, whole(0), whole(1), whole(1), whole(0))),
        applies=lambda layer: not {2, 4, 5}.intersection(range(len(layer.inputs))) <= set(layer.constant),
    ),
    KnownDifference(
        name="StridedSlice-1 that adds and drops axes",
        ops=("StridedSlice-1",),
        setting="both `new_axis_mask` and `shrink_axis_mask` have a 1",
        reason="The plugin reads beyond its data.",
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
        setting="`new_axis_mask` has a 1, and `begin` and `end` are not constants",
        reason="The plugin leaves its output unwritten.",
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
        reason="The plugin divides by zero, or reads beyond its data.",
        model=Call("Gather-8", (counted(1, 1, 2), whole(0)[None], Fixed(np.array(2))), {"batch_dims": "1"}),
    ),
    KnownDifference(
        name="Range-4 of floats to integers",
        ops=("Range-4",),
        setting="inputs are floats, `output_type` is whole",
        reason="The specification cuts the inputs off first; the plugin rounds.",
        model=Call("Range-4", (number(1.9), number(6.5), number(1)), {"output_type": "i32"}),
        applies=lambda layer: layer.kind() == "f" and not layer.attrs.output_type.is_float,
    ),
    KnownDifference(
        name="Range-4 in the wrong direction",
        ops=("Range-4",),
        setting="`step` leads away from `stop`",
        reason="The plugin gives one number; the specification says no elements.",
        model=Call("Range-4", (np.array(-5), np.array(-4), np.array(-1)), {"output_type": "i64"}),
        applies=_backwards,
    ),
    KnownDifference(
        name="Unique-10 of slices",
        ops=("Unique-10",),
        setting="an `axis` is given, and the data have more than one dimension",
        reason="The plugin does not say where each slice comes first.",
        model=Call("Unique-10", (np.array([[[2, 1], [2, 2], [1, 2]]], np.int8), Fixed(np.array(1)))),
        applies=lambda layer: len(layer.inputs) > 1 and layer.inputs[0].ndim > 1,
    ),
    KnownDifference(
        name="VariadicSplit-1 of more than there is",
        ops=("VariadicSplit-1",),
        kind=DifferenceKind.SHAPE,
        setting="lengths beside a -1 that add up to more than the axis has",
        reason="The runtime takes what is left over for the -1 even where it is negative, and reads beyond the data.",
        model=Call("VariadicSplit-1", (counted(1), Fixed(np.array(0)), Fixed(whole(-1, 2)))),
    ),
    KnownDifference(
        name="Broadcast-3 from an axis behind its target",
        ops=("Broadcast-3",),
        kind=DifferenceKind.SHAPE,
        setting='`mode="pdpd"`, and the axis is not one of the target',
        reason="The runtime gives the target's shape, whatever the data are; the reference refuses the layer.",
        model=Call("Broadcast-3", (counted(3), Fixed(whole(2))), {"mode": "pdpd", "mode.mode.axis": "1"}),
    ),
    KnownDifference(
        name="Tile-1 by computed repeats below 0",
        ops=("Tile-1",),
        kind=DifferenceKind.SHAPE,
        setting="repeats below 0 that are not constants",
        reason="The runtime counts constant repeats below 0 as 0, and refuses computed ones; the reference counts all"
        " as 0.",
        model=Call("Tile-1", (counted(2, 2), COMPUTED)),
    ),
)
