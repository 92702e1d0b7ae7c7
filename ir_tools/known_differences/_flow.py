"""Sequences, searches and picks: lengths, paddings and empty inputs that the runtime does not read as written."""

import numpy as np

from ir_tools.known_differences._define import DifferenceKind, Instance, KnownDifference, everywhere, unwritten
from ir_tools.known_differences._model import Call, Fixed, Given, counted, floats, whole

__all__ = ["ROWS"]

MAX_EXACT = 1 << 24
"""The integers of f32 are all there up to here."""


def _weights(gates: int) -> tuple[Fixed, Fixed, Fixed]:
    """Return weights, recurrent weights and bias of one hidden number and one direction."""
    rows = (1 + np.arange(gates, dtype=np.float32)) / 3
    return Fixed(rows.reshape(1, gates, 1)), Fixed(rows.reshape(1, gates, 1) / 2), Fixed(rows.reshape(1, gates))


def _cell_on_constant() -> Call:
    weights = tuple(Fixed(part.array[0]) for part in _weights(1))
    return Call("RNNCell-1", (Fixed(floats([0.25])), floats([0.5]), *weights), {"hidden_size": "1", "clip": "2"})


def _computed_padding(layer: Instance) -> bool:
    if len(layer.inputs) < 4 or layer.attrs.pad_mode != "constant":
        return False
    return {1, 2} <= set(layer.constant) and 3 not in layer.constant


def _beyond_f32(layer: Instance, number: int = 0) -> bool:
    data = layer.inputs[number]
    return layer.kind(number) in "iu" and bool((np.abs(data.astype(np.float64)) > MAX_EXACT).any())


def _beyond_i32(layer: Instance) -> bool:
    limits = np.iinfo(np.int32)
    computed = (array for number, array in enumerate(layer.inputs[1:], 1) if number not in layer.constant)
    return any(bool(((array > limits.max) | (array < limits.min)).any()) for array in computed)


ROWS = (
    KnownDifference(
        name="Sequences over data of unknown sizes",
        ops=("LSTMSequence-5", "GRUSequence-5", "RNNSequence-5"),
        setting="the data have a dynamic dimension, be it the batch alone, and `sequence_lengths` below the number of"
        " steps",
        reason="The plugin runs every row to the last step, whatever `sequence_lengths` says.",
        model=Call(
            "RNNSequence-5",
            (Given(counted(1, 3, 1), "?,3,1"), counted(1, 1, 1), np.array([2], np.int32), *_weights(1)),
            {"hidden_size": "1", "direction": "forward", "activations": "tanh"},
        ),
    ),
    KnownDifference(
        name="Cells of a constant with clip",
        ops=("LSTMCell-1", "LSTMCell-4", "GRUCell-3", "RNNCell-1"),
        setting="`clip`, or activations other than the usual ones, and data that are a constant",
        reason="The plugin drops the bias.",
        model=_cell_on_constant(),
        applies=lambda layer: 0 in layer.constant and layer.attrs.clip > 0,
    ),
    KnownDifference(
        name="Pad by a computed value",
        ops=("Pad-1", "Pad-12"),
        setting="the pads are constants and `pad_value` is none",
        reason="The plugin pads with zeros.",
        model=Call(
            "Pad-1", (counted(2), Fixed(whole(1)), Fixed(whole(1)), np.array(7, np.float32)), {"pad_mode": "constant"}
        ),
        applies=_computed_padding,
    ),
    KnownDifference(
        name="Pad by a large integer",
        ops=("Pad-1", "Pad-12"),
        kind=DifferenceKind.COARSE,
        setting="`pad_value` is an integer beyond 2^24",
        reason="The plugin reads it as f32; the reference pads with the number itself.",
        model=Call(
            "Pad-1",
            (whole(1, 2), whole(1), whole(1), Fixed(np.array(MAX_EXACT + 1))),
            {"pad_mode": "constant"},
        ),
        applies=lambda layer: len(layer.inputs) > 3 and _beyond_f32(layer, 3),
    ),
    KnownDifference(
        name="Gather of one computed index from the end",
        ops=("Gather-1", "Gather-7"),
        setting="`indices` is a single negative number and no constant",
        reason="The plugin gives zeros, as for several; a constant counts from the end, and so in the reference.",
        model=Call("Gather-7", (counted(3), np.array(-1), Fixed(np.array(0)))),
        applies=lambda layer: (
            1 not in layer.constant and layer.inputs[1].size == 1 and bool((layer.inputs[1] < 0).all())
        ),
    ),
    KnownDifference(
        name="Gather of constants from the end",
        ops=("Gather-1", "Gather-7"),
        setting="`data` and `indices` are constants, and several `indices` hold a negative number",
        reason="The runtime counts from the end where it computes the layer before it runs; if not, it gives zeros,"
        " and so does the reference.",
        model=Call("Gather-7", (Fixed(counted(3)), Fixed(whole(0, -1)), Fixed(np.array(0)))),
        applies=lambda layer: {0, 1} <= set(layer.constant) and bool((layer.inputs[1] < 0).any()),
    ),
    KnownDifference(
        name="ReverseSequence-1 of large integers",
        ops=("ReverseSequence-1",),
        kind=DifferenceKind.COARSE,
        setting="integers beyond 2^24",
        reason="The plugin moves them as f32; the reference moves them as they are.",
        model=Call(
            "ReverseSequence-1",
            (whole(MAX_EXACT + 1, 5)[None], Fixed(whole(2))),
            {"batch_axis": "0", "seq_axis": "1"},
        ),
        applies=_beyond_f32,
    ),
    KnownDifference(
        name="Slice-8 by computed numbers beyond i32",
        ops=("Slice-8", "StridedSlice-1"),
        setting="`start`, `stop` or `step` are not constants, and hold numbers beyond 32 bits, as 2^63 - 1 for the end",
        reason="The plugin reads the lower 32 bits: 2^63 - 1 is -1, and cuts the last element off.",
        model=Call("Slice-8", (counted(3), whole(0), whole((1 << 63) - 1), whole(1))),
        applies=_beyond_i32,
    ),
    unwritten(
        name="Unique-10 of bytes, not sorted",
        ops=("Unique-10",),
        setting="`sorted` is false, the data are of 8 bits or boolean, and `axis` is given",
        reason="The plugin writes single bytes of the indices and counts.",
        model=Call("Unique-10", (np.array([1, 2, 2, 1], np.int8), Fixed(np.array(0))), {"sorted": "false"}),
        applies=lambda layer: not layer.attrs.sorted and layer.inputs[0].dtype.itemsize == 1,
    ),
    unwritten(
        name="Eye-9 of an empty batch",
        ops=("Eye-9",),
        setting="`batch_shape` has no values",
        reason="The plugin leaves the output unwritten; the specification says one matrix.",
        model=Call(
            "Eye-9",
            (np.array(3), np.array(4), Fixed(np.array(0)), Fixed(whole())),
            {"output_type": "i32"},
        ),
        applies=lambda layer: len(layer.inputs) > 3 and not layer.inputs[3].size,
        arbitrary=everywhere,
    ),
    unwritten(
        name="GatherTree-1 of no steps",
        ops=("GatherTree-1",),
        setting="a length in `max_seq_len` is 0",
        reason="The plugin leaves those beams unwritten; the specification says the end token.",
        model=Call(
            "GatherTree-1", (counted(2, 1, 1), np.zeros((2, 1, 1), np.float32), floats(0), np.array(9, np.float32))
        ),
        applies=lambda layer: bool((layer.inputs[2] == 0).any()),
    ),
    unwritten(
        name="SearchSorted-15 in an empty list",
        ops=("SearchSorted-15",),
        setting="the sorted lists have no elements",
        reason="The plugin leaves the output unwritten; the specification says 0.",
        model=Call("SearchSorted-15", (floats(), floats(6, 2))),
        applies=lambda layer: not layer.inputs[0].size,
        arbitrary=everywhere,
    ),
    unwritten(
        name="SparseFillEmptyRows-16 without values",
        ops=("SparseFillEmptyRows-16",),
        setting="there are no values",
        reason="The plugin leaves the outputs unwritten; the specification says a default for each row.",
        model=Call(
            "SparseFillEmptyRows-16",
            (Fixed(floats()), Fixed(whole(3, 3)), Fixed(np.zeros((0, 2), np.int64)), np.array(2, np.float32)),
        ),
        applies=lambda layer: not layer.inputs[0].size,
    ),
    unwritten(
        name="Gather from an empty axis",
        ops=("Gather-1", "Gather-7", "Gather-8"),
        setting="the axis has no elements, and there are indices",
        reason="An index beyond the axis gives zeros; here the plugin leaves the output unwritten.",
        model=Call("Gather-8", (floats(), Fixed(whole(0, 0)), Fixed(np.array(0)))),
        applies=lambda layer: bool(layer.inputs[1].size) and not layer.inputs[0].size,
        arbitrary=everywhere,
    ),
    KnownDifference(
        name="NonZero-3 of a constant 0",
        ops=("NonZero-3",),
        setting="the data are a constant scalar 0",
        reason="The runtime gives [0,0] where it knows the number before it runs, and [1,0] where it does not.",
        model=Call("NonZero-3", (Fixed(np.array(0, np.int32)),), {"output_type": "i64"}),
        applies=lambda layer: 0 in layer.constant and not layer.inputs[0].ndim and not layer.inputs[0],
    ),
    KnownDifference(
        name="Concat-1 of empty tensors of unknown sizes",
        ops=("Concat-1",),
        setting="the inputs have no elements, and an input has dynamic dimensions",
        reason="The plugin gives the shape of one of the inputs.",
        model=Call(
            "Concat-1", (Given(np.zeros((0, 2), np.float32), "?,?"), np.zeros((0, 3), np.float32)), {"axis": "1"}
        ),
    ),
)
