"""Sequences, searches and picks: lengths, paddings and empty inputs that the runtime does not read as written."""

import numpy as np

from ir_tools.known_differences._define import DifferenceKind, Instance, KnownDifference, everywhere, leaves, unwritten
from ir_tools.known_differences._model import MAX_EXACT, Call, Fixed, Given, counted, floats, whole

__all__ = ["ROWS"]


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
    computed = (array for number, array in enumerate(layer.inputs[1:], 1) if number not in layer.constant)
    return any(leaves(array, "int32") for array in computed)


ROWS = (
    KnownDifference(
        name="Sequences over data of unknown sizes",
        ops=("LSTMSequence-5", "GRUSequence-5", "RNNSequence-5"),
        setting=(
            "data with a dynamic dimension (even only the batch), and `sequence_lengths` below the number of time steps"
        ),
        reason="The plugin ignores `sequence_lengths` and computes every sequence to the last time step.",
        model=Call(
            "RNNSequence-5",
            (Given(counted(1, 3, 1), "?,3,1"), counted(1, 1, 1), np.array([2], np.int32), *_weights(1)),
            {"hidden_size": "1", "direction": "forward", "activations": "tanh"},
        ),
    ),
    KnownDifference(
        name="Cells of a constant with clip",
        ops=("LSTMCell-1", "LSTMCell-4", "GRUCell-3", "RNNCell-1"),
        setting="`clip` or non-default activations, and constant data",
        reason="The plugin ignores the bias.",
        model=_cell_on_constant(),
        applies=lambda layer: 0 in layer.constant and layer.attrs.clip > 0,
    ),
    KnownDifference(
        name="Pad by a computed value",
        ops=("Pad-1", "Pad-12"),
        setting="constant pads and a `pad_value` that is not a constant",
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
        setting="an integer `pad_value` above 2^24",
        reason="The plugin converts it to f32; the reference pads with the exact integer.",
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
        setting="a single negative index that is not a constant",
        reason=(
            "The plugin returns zeros, as it does for several indices; it counts a constant index from the end, "
            "and the reference counts both from the end."
        ),
        model=Call("Gather-7", (counted(3), np.array(-1), Fixed(np.array(0)))),
        applies=lambda layer: (
            1 not in layer.constant and layer.inputs[1].size == 1 and bool((layer.inputs[1] < 0).all())
        ),
    ),
    KnownDifference(
        name="Gather of constants from the end",
        ops=("Gather-1", "Gather-7"),
        setting="constant `data` and several constant `indices`, one of them negative",
        reason=(
            "If the runtime computes the layer before the model runs, it counts negative indices from the end; "
            "otherwise it returns zeros, as the reference does."
        ),
        model=Call("Gather-7", (Fixed(counted(3)), Fixed(whole(0, -1)), Fixed(np.array(0)))),
        applies=lambda layer: {0, 1} <= set(layer.constant) and bool((layer.inputs[1] < 0).any()),
    ),
    KnownDifference(
        name="ReverseSequence-1 of large integers",
        ops=("ReverseSequence-1",),
        kind=DifferenceKind.COARSE,
        setting="integers above 2^24",
        reason="The plugin converts the elements to f32; the reference does not change them.",
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
        setting=(
            "`start`, `stop` or `step` that are not constants and have values above 32 bits, such as 2^63 - 1 for "
            "the end"
        ),
        reason="The plugin reads the lower 32 bits: 2^63 - 1 becomes -1, so the last element is missing.",
        model=Call("Slice-8", (counted(3), whole(0), whole((1 << 63) - 1), whole(1))),
        applies=_beyond_i32,
    ),
    KnownDifference(
        name="Unique-10 without its third output, not sorted",
        ops=("Unique-10",),
        setting='`sorted="false"` without an `axis`, if nothing reads the third output, and several different elements',
        reason="The plugin returns the first element and a count of 1 for each different element.",
        model=Call("Unique-10", (floats(3, 1, 3),), {"sorted": "false"}, results=(0,)),
    ),
    unwritten(
        name="Unique-10 of bytes, not sorted",
        ops=("Unique-10",),
        setting='`sorted="false"` with an `axis`, and data of 8 bits or boolean',
        reason="The plugin writes only one byte of each index and count.",
        model=Call("Unique-10", (np.array([1, 2, 2, 1], np.int8), Fixed(np.array(0))), {"sorted": "false"}),
        applies=lambda layer: not layer.attrs.sorted and layer.inputs[0].dtype.itemsize == 1,
    ),
    unwritten(
        name="Eye-9 of an empty batch",
        ops=("Eye-9",),
        setting="an empty `batch_shape`",
        reason="The plugin leaves the output uninitialized; by the specification it is one matrix.",
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
        reason="The plugin leaves those beams uninitialized; by the specification they have the end token.",
        model=Call(
            "GatherTree-1", (counted(2, 1, 1), np.zeros((2, 1, 1), np.float32), floats(0), np.array(9, np.float32))
        ),
        applies=lambda layer: bool((layer.inputs[2] == 0).any()),
    ),
    unwritten(
        name="SearchSorted-15 in an empty list",
        ops=("SearchSorted-15",),
        setting="empty sorted lists",
        reason="The plugin leaves the output uninitialized; by the specification it is 0.",
        model=Call("SearchSorted-15", (floats(), floats(6, 2))),
        applies=lambda layer: not layer.inputs[0].size,
        arbitrary=everywhere,
    ),
    unwritten(
        name="SparseFillEmptyRows-16 without values",
        ops=("SparseFillEmptyRows-16",),
        setting="an empty `values` input",
        reason="The plugin leaves the outputs uninitialized; by the specification each row has the default value.",
        model=Call(
            "SparseFillEmptyRows-16",
            (Fixed(floats()), Fixed(whole(3, 3)), Fixed(np.zeros((0, 2), np.int64)), np.array(2, np.float32)),
        ),
        applies=lambda layer: not layer.inputs[0].size,
    ),
    unwritten(
        name="Gather from an empty axis",
        ops=("Gather-1", "Gather-7", "Gather-8"),
        setting="an axis without elements, and at least one index",
        reason="An index outside the axis returns zeros; in this setting the plugin leaves the output uninitialized.",
        model=Call("Gather-8", (floats(), Fixed(whole(0, 0)), Fixed(np.array(0)))),
        applies=lambda layer: bool(layer.inputs[1].size) and not layer.inputs[0].size,
        arbitrary=everywhere,
    ),
    KnownDifference(
        name="NonZero-3 of a constant 0",
        ops=("NonZero-3",),
        setting="data that is a constant scalar of 0",
        reason="The output shape is [0,0] if the runtime knows the value before the model runs, and [1,0] otherwise.",
        model=Call("NonZero-3", (Fixed(np.array(0, np.int32)),), {"output_type": "i64"}),
        applies=lambda layer: 0 in layer.constant and not layer.inputs[0].ndim and not layer.inputs[0],
    ),
    KnownDifference(
        name="Concat-1 of empty tensors of unknown sizes",
        ops=("Concat-1",),
        setting="empty inputs, at least one with dynamic dimensions",
        reason="The output of the plugin has the shape of one of the inputs.",
        model=Call(
            "Concat-1", (Given(np.zeros((0, 2), np.float32), "?,?"), np.zeros((0, 3), np.float32)), {"axis": "1"}
        ),
    ),
)
