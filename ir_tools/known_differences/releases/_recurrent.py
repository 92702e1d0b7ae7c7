"""Cells and sequences."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ir_tools.known_differences._model import Call, Feed, Fixed, Given, counted, floats, whole
from ir_tools.known_differences.releases._predicates import has_value
from ir_tools.known_differences.releases._row import ReleaseDifference, not_compiled, not_read
from ir_tools.known_differences.releases.seen import Pattern, Seen
from ir_tools.ops import Array
from ir_tools.releases.measured import State
from ir_tools.types import Shape, is_static

__all__ = ["ROWS"]

CELLS = (("LSTMCell-1", 2), ("LSTMCell-4", 2), ("GRUCell-3", 1), ("RNNCell-1", 1))
SEQUENCES = (("LSTMSequence-5", 2), ("GRUSequence-5", 1), ("RNNSequence-5", 1))
ROWS_LAST = counted(5, 3, 4) / 9


def _states(seen: Seen) -> range:
    """Return the numbers of the states of a cell or sequence."""
    return range(1, 3 if seen.op.type.startswith("LSTM") else 2)


def _weights(seen: Seen) -> range:
    """Return the numbers of the weights, recurrence weights and biases of a cell or sequence."""
    first = _states(seen).stop + seen.op.type.endswith("Sequence")
    return range(first, min(first + 3, len(seen.inputs)))


def _has_known_state(seen: Seen, *, constant: bool) -> bool:
    """Return whether a cell or sequence that a device knows has a state for a batch of unknown size.

    `constant`: whether the state is constant; else the size of its batch is known.
    """
    shape = seen.inputs[0].shape
    sizes = [seen.inputs[number].shape for number in _states(seen) if number in seen.constant or not constant]
    return (
        shape is not None
        and not shape[0].static
        and not _is_split(seen)
        and any(size is not None and size[0].static for size in sizes)
    )


def _has_state_of_one_row(seen: Seen) -> bool:
    """Return whether a cell has a state of one row that is not known to be the batch.

    A device that knows the cell takes such a state unless it is constant.
    """
    shape, any_state = seen.inputs[0].shape, _is_split(seen) or str(seen.op) in {"LSTMCell-1", "RNNCell-1"}
    sizes = [seen.inputs[number].shape for number in _states(seen) if any_state or number in seen.constant]
    return shape is not None and not shape[0].static and any(size is not None and size[0].hi == 1 for size in sizes)


def _has_unknown_recurrence(seen: Seen) -> bool:
    """Return whether a cell or sequence has recurrence weights of unknown size, and constant biases."""
    number = _weights(seen)[1]
    shape = seen.inputs[number].shape
    rows = None if shape is None or len(shape) < 2 else shape[-2]
    biased = number + 1 < len(seen.inputs) and number + 1 not in seen.constant
    return number not in seen.constant and not biased and (rows is None or not rows.static)


def _has_unknown_gates(seen: Seen) -> bool:
    """Return whether no size of a cell tells its gates: it has a state of unknown size, for a batch of known size."""
    open_state = any(shape is None or not shape[1].static for shape in _shapes(seen, _states(seen)))
    return open_state and _has_weights_of_any_gates(seen)


def _has_units_without_gates(seen: Seen) -> bool:
    """Return whether the recurrence weights of such a cell tell its units; of an RNNCell, a state may, too."""
    units = [seen.inputs[_weights(seen)[1]].shape, *_shapes(seen, _states(seen) if seen.op.type == "RNNCell" else ())]
    known = any(shape is not None and shape[1].static for shape in units)
    return known and (_has_weights_of_any_gates(seen) if seen.op.type == "RNNCell" else _has_unknown_gates(seen))


def _has_weights_of_any_gates(seen: Seen) -> bool:
    """Return whether no weights of a cell tell its gates, for a batch of known size."""
    known = any(shape is not None and shape[0].static for shape in _shapes(seen, (0, *_states(seen))))
    return known and all(shape is None or not shape[0].static for shape in _shapes(seen, _weights(seen)))


def _has_known_biases(seen: Seen) -> bool:
    """Return whether computed biases of known size are with recurrence weights or a state of unknown first size."""
    weights = _weights(seen)
    unknown = any(shape is None or not shape[0].static for shape in _shapes(seen, (*_states(seen), weights[1])))
    return (
        unknown and len(weights) == 3 and weights[2] not in seen.constant and is_static(seen.inputs[weights[2]].shape)
    )


def _shapes(seen: Seen, numbers: Sequence[int]) -> list[Shape]:
    """Return the shapes of some inputs."""
    return [seen.inputs[number].shape for number in numbers]


def _is_split(seen: Seen) -> bool:
    """Return whether the device is given the parts of a sequence: it has computed weights, or other activations."""
    return seen.attrs is not None and (_is_unusual(seen) or not {*_weights(seen)} <= {*seen.constant})


def _is_unusual(seen: Seen) -> bool:
    """Return whether a cell or sequence is clipped, or has other activations than the usual ones."""
    attrs = seen.attrs
    if attrs is None:
        return False
    names = {"L": ["sigmoid", "tanh", "tanh"], "G": ["sigmoid", "tanh"]}.get(seen.op.type[0])
    unusual = names is not None and [*attrs.activations[: len(names)]] != names
    return bool(attrs.clip) or unusual


def _has_unknown_state(seen: Seen) -> bool:
    """Return whether a sequence has a state of unknown size for data of known size, or the device its parts."""
    unknown = not all(is_static(seen.inputs[number].shape) for number in _states(seen))
    return unknown and (_is_split(seen) or is_static(seen.inputs[0].shape))


def _has_unknown_data(seen: Seen) -> bool:
    """Return whether a sequence whose device is given its parts has data of unknown size."""
    return _is_split(seen) and not is_static(seen.inputs[0].shape)


def _has_unknown_time(seen: Seen) -> bool:
    """Return whether a sequence whose device is given its parts has an unknown number of steps."""
    shape = seen.inputs[0].shape
    return _is_split(seen) and (shape is None or not shape[1].static)


def _ignores_lengths(seen: Seen) -> bool:
    """Return whether a sequence that a device knows has data of unknown size, and may have other lengths than all."""
    shape, lengths = seen.inputs[0].shape, seen.inputs[_states(seen).stop].exact
    if _is_split(seen) or is_static(shape):
        return False
    if lengths is None:
        return seen.has(Pattern.GIVEN_LENGTHS)
    return shape is None or not shape[1].static or bool((lengths != shape[1].size).any())


def _reshapes_its_data(seen: Seen) -> bool:
    """Return whether others read the transposed data of a sequence that a device knows, in one direction, of all steps.

    Of few rows or steps, the data are in the same order before.
    """
    if not seen.has(Pattern.EXCHANGED) or _is_split(seen) or 1 in seen.inputs[0].dims[:2]:
        return False
    shape, lengths = seen.inputs[0].shape, seen.inputs[_states(seen).stop].exact
    whole = not is_static(shape) or (lengths is not None and shape is not None and (lengths == shape[1].size).all())
    return bool(whole) and seen.attrs is not None and seen.attrs.direction != "bidirectional"


def _has_known_batch(seen: Seen, *, lengths: bool) -> bool:
    """Return whether states or lengths have a known size for a batch of unknown size; `lengths`: constant lengths."""
    shape, of_lengths = seen.inputs[0].shape, _states(seen).stop
    if shape is None or shape[0].static:
        return False
    if lengths:
        return of_lengths in seen.constant and not {*_states(seen)} & {*seen.constant}
    sizes = [seen.inputs[number].shape for number in (*_states(seen), of_lengths)]
    return any(size is not None and size[0].static for size in sizes)


def _has_computed_recurrence(seen: Seen) -> bool:
    """Return whether a cell has computed recurrence weights and constant biases."""
    return 4 not in seen.constant and 5 in seen.constant


def _has_static_recurrence(seen: Seen) -> bool:
    """Return whether a cell has computed recurrence weights of known sizes and constant biases."""
    return _has_computed_recurrence(seen) and is_static(seen.inputs[4].shape)


def _has_state_of_any_batch(seen: Seen) -> bool:
    """Return whether a cell has data of one row, and a state whose batch has an unknown size."""
    shape = seen.inputs[0].shape
    states = [seen.inputs[number].shape for number in _states(seen)]
    one = shape is not None and shape[0].hi == 1
    return one and any(state is not None and not state[0].static for state in states)


def _has_state_for_one_unit(seen: Seen) -> bool:
    """Return whether a cell of one unit has a state whose units have an unknown number, for a batch of known size."""
    states = [shape for number in _states(seen) if (shape := seen.inputs[number].shape) is not None]
    data = seen.inputs[0].shape
    known = any(shape[0].static for shape in (*states, *([data] if data else ())))
    return has_value("hidden_size", 1)(seen) and known and any(not shape[1].static for shape in states)


def _recurrent(op: str, *given: str, rows: int = 3, **raw: str) -> Call:
    """Return a cell or sequence of two units for batches of four numbers.

    Args:
        op: the operation.
        given: partial shapes of the inputs in order; of none, and behind the last one: a constant.
        rows: the size of the batch.
        raw: other attributes.
    """
    gates = {"L": 4, "G": 3, "R": 1}[op[0]]
    names = {"L": "sigmoid,tanh,tanh", "G": "sigmoid,tanh", "R": "tanh"}[op[0]]
    states = 2 if gates == 4 else 1
    lead: tuple[int, ...] = ()
    if "Sequence" in op:
        arrays: list[Array] = [counted(rows, 5, 4), *[counted(rows, 1, 2)] * states, np.array([5, 3, 4])[:rows]]
        lead, raw = (1,), {"direction": "forward", "activations": names} | raw
    else:
        arrays = [counted(rows, 4), *[counted(rows, 2)] * states]
    arrays += [counted(*lead, *sizes) / 100 for sizes in ((2 * gates, 4), (2 * gates, 2), (2 * gates,))]
    shapes = (*given, *[""] * (len(arrays) - len(given)))
    feeds = (Given(array, shape) if shape else Fixed(array) for array, shape in zip(arrays, shapes, strict=True))
    return Call(op, tuple(feeds), {"hidden_size": "2"} | raw)


def _both_ways(
    op: str = "RNNSequence-5",
    data: Feed = ROWS_LAST,
    back: Sequence[int] = (2, 1, 0, 3),
    lengths: Sequence[int] = (5, 5, 5),
    **raw: str,
) -> Call:
    """Return the sum of sequences of the same transposed data in either direction, transposed back."""
    transposed = Call("Transpose-1", (data, Fixed(whole(1, 0, 2))))
    sequences = (_recurrent(op, rows=len(lengths), direction=way, **raw) for way in ("forward", "reverse"))
    of_data = (
        replace(one, inputs=(transposed, *one.inputs[1:-4], Fixed(whole(*lengths)), *one.inputs[-3:]))
        for one in sequences
    )
    return Call("Add-1", tuple(Call("Transpose-1", (one, Fixed(whole(*back)))) for one in of_data))


def _of_one_unit(op: str, states: int) -> Call:
    """Return a clipped cell of one unit for batches of four numbers, with a state of unknown size."""
    gates = {"L": 4, "G": 3}[op[0]]
    weights = (Fixed(counted(*sizes) / 100) for sizes in ((gates, 4), (gates, 1), (gates,)))
    state = Given(counted(3, 1), "?,?")
    return Call(op, (counted(3, 4), *[state] * states, *weights), {"hidden_size": "1", "clip": "0.5"})


def _with_peepholes(cell: Call) -> Call:
    return replace(cell, inputs=(*cell.inputs, Fixed(counted(6) / 100)))


def _with_doubled_state() -> Call:
    """Return a sequence with computed weights whose last state a number scales."""
    sequence = _recurrent("RNNSequence-5", "3,5,4", "3,1,2", "3", "1,2,4")
    return Call("Multiply-1", (replace(sequence, gives=1), Fixed(floats(2))))


def _gives_a_state_in_parts(seen: Seen) -> bool:
    """Return whether a sequence in one direction gives a last state to a number, and the device is given its parts."""
    if not seen.has(Pattern.STATE_BY_NUMBER) or seen.attrs is None or seen.attrs.direction == "bidirectional":
        return False
    shape, lengths = seen.inputs[0].shape, seen.inputs[_states(seen).stop].exact
    if _is_split(seen) or shape is None or not is_static(shape):
        return _is_split(seen)
    return lengths is None or bool((lengths != shape[1].size).any())


def _integer_cell(recurrence: str) -> Call:
    """Return an LSTMCell of integers whose recurrence weights have this partial shape."""
    data, biases = np.array([[1, 2, 3], [3, 0, 2]], np.int16), np.array([9, 1, 7, 9, 4, 2, 6, 2], np.int16)
    state = np.array([[1, 5], [4, 2]], np.int16)
    weights, others = (np.arange(8 * size, dtype=np.int16).reshape(8, size) % 7 - 2 for size in (3, 2))
    return Call(
        "LSTMCell-1",
        (data, state, state, Fixed(weights), Given(others, recurrence), Fixed(biases)),
        {"hidden_size": "2"},
    )


ROWS = (
    *(
        ReleaseDifference(
            name=f"{op} with a constant state for a batch of unknown size, {span}",
            span=span,
            ops=(op,),
            state=state,
            reason="A constant state is not compiled if the size of the batch is unknown.",
            model=_recurrent(op, "?,5,4" if "Sequence" in op else "?,4"),
            applies=partial(_has_known_state, constant=True),
        )
        for op, span, state in (
            ("GRUCell-3", "2022.1 to 2026.4", State.UNCOMPILED),
            ("LSTMCell-4", "2022.1 to 2026.4", State.UNCOMPILED),
            ("RNNCell-1", "2022.1 to 2023.0", State.UNCOMPILED),
            ("RNNCell-1", "2024.3 to 2026.4", State.UNCOMPILED),
            *(
                (op, *span)
                for op, _ in SEQUENCES
                for span in (
                    ("2022.1 to 2022.2", State.UNCOMPILED),
                    ("2022.3 to 2023.0", State.DIES),
                    ("2023.1 to 2026.4", State.UNCOMPILED),
                )
            ),
        )
    ),
    *(
        not_compiled(
            name=f"{op} with a state of known size for a batch of unknown size",
            span="2022.1 to 2023.0",
            ops=(op,),
            reason="A state of known size is not compiled if the size of the batch is unknown.",
            model=_recurrent(op, "?,4", *["3,2"] * states),
            applies=partial(_has_known_state, constant=False),
        )
        for op, states in CELLS
    ),
    *(
        not_compiled(
            name=f"{op} with a state for a batch of any size and data of one row",
            span="2022.1 to 2023.2",
            ops=(op,),
            reason="If it is clipped or has unusual activations, a state of unknown size is not compiled for one row.",
            model=_recurrent(op, "1,4", *["?,2"] * states, rows=1, clip="0.5"),
            applies=lambda seen: _is_unusual(seen) and _has_state_of_any_batch(seen),
        )
        for op, states in CELLS
        if op != "LSTMCell-1"
    ),
    not_compiled(
        name="RNNCell-1 with a state for a batch of any size and data of one row, not clipped",
        span="2023.1 to 2023.2",
        ops=("RNNCell-1",),
        reason="A state of unknown size is not compiled for data of one row.",
        model=_recurrent("RNNCell-1", "1,4", "?,2", rows=1),
        applies=lambda seen: not _is_split(seen) and _has_state_of_any_batch(seen),
    ),
    *(
        not_compiled(
            name=f"{op} of one unit with a state of unknown size",
            span="2022.1 to 2023.2",
            ops=(op,),
            reason="If it is clipped or has unusual activations, the state is not compiled if its size is unknown.",
            model=_of_one_unit(op, states),
            applies=lambda seen: _is_unusual(seen) and _has_state_for_one_unit(seen),
        )
        for op, states in CELLS
        if op in {"LSTMCell-4", "GRUCell-3"}
    ),
    *(
        not_compiled(
            name=f"{op} with recurrence weights of unknown size, {span}",
            span=span,
            ops=(op,),
            reason="Recurrence weights of unknown size are not compiled if the biases are constant.",
            model=_recurrent(op, *before, "", "1,?,2" if len(before) > states + 1 else "?,2", clip="1"),
            instead=tuple(f"? {axis}input {len(before) + 1}" for axis in ("", "0 ", "1 ")),
            applies=_has_unknown_recurrence,
        )
        for op, states, first, before in (
            *((op, states, "2022.3", ("3,4", *["3,2"] * states)) for op, states in CELLS),
            *((op, states, "2022.1", ("3,5,4", *["3,1,2"] * states, "3")) for op, states in SEQUENCES),
        )
        for span in (f"{first} to 2023.3", "2025.4 to 2026.4")
    ),
    *(
        not_compiled(
            name=f"{op} with weights and states of unknown sizes",
            span="2023.1 to 2023.2",
            ops=(op,),
            reason="Weights and biases of unknown sizes with a state of unknown size are not compiled.",
            model=_recurrent(op, "3,4", "?,?", "?,?", "?,4", "?,?", "?", clip="1"),
            applies=_has_unknown_gates,
        )
        for op in ("LSTMCell-1", "LSTMCell-4")
    ),
    *(
        not_compiled(
            name=f"{op} with weights of unknown sizes, whose units are known",
            span="2022.1 to 2023.2",
            ops=(op,),
            reason="Weights and biases of unknown sizes are not compiled if the units are known, but not the gates.",
            model=_recurrent(op, "3,4", *["?,?"] * states, "?,4", "?,2", "?", clip="1"),
            applies=_has_units_without_gates,
        )
        for op, states in CELLS
    ),
    not_compiled(
        name="GRUCell-3 with biases of known size",
        span="2022.1 to 2022.3",
        ops=("GRUCell-3",),
        reason="Computed biases of known size are not compiled with recurrence weights or a state of unknown size.",
        model=_recurrent("GRUCell-3", "3,4", "?,2", "", "", "6", clip="1"),
        applies=_has_known_biases,
    ),
    *(
        ReleaseDifference(
            name=f"{op} with {what}, {span}",
            span=span,
            ops=(op,),
            state=state,
            reason=f"A sequence with {what} {state.words}.",
            model=model,
            instead=instead,
            applies=applies,
        )
        for op, states in SEQUENCES
        for open, known in [(["?,1,2"] * states, ["3,1,2"] * states)]
        for what, model, instead, applies, spans in (
            (
                "states or lengths of known size for a batch of unknown size",
                _recurrent(op, "?,5,4", *known, "?"),
                (),
                partial(_has_known_batch, lengths=False),
                (("2022.1 to 2022.2", State.UNCOMPILED),),
            ),
            (
                "constant lengths for a batch of unknown size",
                _recurrent(op, "?,5,4", *open),
                (),
                partial(_has_known_batch, lengths=True),
                (("2022.3 to 2023.0", State.DIES), ("2023.1 to 2023.3", State.UNCOMPILED)),
            ),
            (
                "states of unknown size",
                _recurrent(op, "3,5,4", *open, "3"),
                tuple(f"? {axis}input {at}" for at in range(1, states + 1) for axis in ("", "0 ", "2 ")),
                _has_unknown_state,
                (
                    ("2022.1 to 2022.3", State.UNCOMPILED),
                    ("2023.0 to 2023.1", State.FAILS),
                    ("2023.2 to 2024.0", State.UNCOMPILED),
                ),
            ),
            (
                "data of unknown size, and clipping, other activations or computed weights",
                _recurrent(op, "3,5,?", *known, "3", clip="1"),
                (),
                _has_unknown_data,
                (("2022.1 to 2023.0", State.DIFFERS if op == "GRUSequence-5" else State.UNCOMPILED),),
            ),
            (
                "an unknown number of steps, and clipping, other activations or computed weights",
                _recurrent(op, "3,?,4", *known, "3", clip="1"),
                (),
                _has_unknown_time,
                (("2023.1 to 2023.1" if op == "GRUSequence-5" else "2022.1 to 2023.1", State.UNCOMPILED),),
            ),
        )
        for span, state in spans
    ),
    ReleaseDifference(
        name="sequences of transposed data that others read",
        span="2021.4 to 2026.4",
        ops=tuple(op for op, _ in SEQUENCES),
        reason=(
            "If a Transpose alone reads its output, the Transpose of its data gets a Reshape in its place, from which "
            "others that read it have wrong values."
        ),
        model=_both_ways(),
        applies=_reshapes_its_data,
    ),
    ReleaseDifference(
        name="sequences of unknown size with other lengths",
        span="2022.1 to 2026.4",
        ops=tuple(op for op, _ in SEQUENCES),
        reason="If a size of the data is unknown, the lengths are ignored: all sequences have all steps.",
        sometimes=True,
        model=_recurrent("GRUSequence-5", "3,?,4", "3,1,2"),
        applies=_ignores_lengths,
    ),
    *(
        ReleaseDifference(
            name=f"LSTMCell-1 without clipping, {span}",
            span=span,
            ops=("LSTMCell-1",),
            state=state,
            reason="A cell without clipping and with the default activations is not supported.",
            measured=True,
            model=_recurrent("LSTMCell-1", "3,4", "3,2", "3,2"),
            applies=lambda seen: not _is_split(seen),
        )
        for span, state in (
            ("2021.4 to 2021.4", State.UNCOMPILED),
            ("2022.1 to 2022.2", State.DIES),
            ("2022.3 to 2023.0", State.UNCOMPILED),
        )
    ),
    not_read(
        name="LSTMCell-1 with peepholes",
        span="2021.2 to 2021.2",
        ops=("LSTMCell-1",),
        reason="A seventh input (peepholes) is not supported.",
        model=_with_peepholes(_recurrent("LSTMCell-1", "3,4")),
        applies=lambda seen: len(seen.inputs) > 6,
    ),
    *(
        not_compiled(
            name=f"{op} with computed weights",
            span="2021.2 to 2023.0",
            ops=(op,),
            reason="Weights that are not constants are not compiled without clipping and with the default activations.",
            model=model,
            instead=tuple(
                f"{size}input {number}"
                for number in range(len(model.inputs) - 3, len(model.inputs))
                for size in ("", "? ", "? 0 ", "? 1 ")
            ),
            applies=lambda seen: not _is_unusual(seen) and not {*_weights(seen)} <= {*seen.constant},
        )
        for op, model in (
            ("LSTMCell-1", _recurrent("LSTMCell-1", "3,4", "3,2", "3,2", "8,4")),
            ("LSTMCell-4", _recurrent("LSTMCell-4", "3,4", "3,2", "3,2", "8,4")),
            ("GRUCell-3", _recurrent("GRUCell-3", "3,4", "3,2", "6,4")),
            ("RNNCell-1", _recurrent("RNNCell-1", "3,4", "3,2", "2,4")),
        )
    ),
    *(
        ReleaseDifference(
            name=f"LSTMCell-1 of integers with recurrence weights of {sizes} sizes",
            span=f"{first} to 2025.3",
            ops=("LSTMCell-1",),
            state=state,
            reason=(
                f"Integers with recurrence weights of {sizes} sizes that are not constants, and constant biases, "
                f"{what}."
            ),
            model=_integer_cell(shape),
            types="i8 i16 i32 i64 u8 u16 u32 u64",
            applies=applies,
        )
        for sizes, shape, first, state, what, applies in (
            ("known", "8,2", "2022.1", State.UNCOMPILED, "are not compiled", _has_static_recurrence),
            ("unknown", "?,2", "2024.0", State.DIFFERS, "have wrong values", _has_computed_recurrence),
        )
    ),
    *(
        ReleaseDifference(
            name=f"last states that are combined with a number, {span}",
            span=span,
            ops=tuple(op for op, _ in SEQUENCES),
            state=state,
            reason=(
                "With computed weights, other activations or lengths, a last state in one direction that a number alone"
                f" scales, shifts or negates {what}."
            ),
            model=_with_doubled_state(),
            applies=_gives_a_state_in_parts,
        )
        for span, state, what in (
            ("2023.1 to 2023.2", State.FAILS, "is compiled, but does not run"),
            ("2023.3 to 2026.4", State.DIFFERS, "has another axis in front"),
        )
    ),
    *(
        not_compiled(
            name=f"{op} with a state of one row for a batch of unknown size",
            span="2022.1 to 2023.2",
            ops=(op,),
            reason="A state of one row is not compiled if the size of the batch is unknown.",
            model=_recurrent(op, "?,4", rows=1, clip="1"),
            applies=_has_state_of_one_row,
        )
        for op, _ in CELLS
    ),
)
"""The rows."""
