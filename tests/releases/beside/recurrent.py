"""Layers beside the rows of cells and sequences."""

from dataclasses import replace

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, converted, counted, floats, index, sizes_of, whole
from ir_tools.known_differences.releases._recurrent import ROWS_LAST, _both_ways, _recurrent
from tests.releases.beside import Beside, Feed, beside


def _alone(both: Call) -> Call:
    """One of two sequences of the same data, and the size of these."""
    one, _ = both.inputs
    assert isinstance(one, Call)
    (sequence, _) = one.inputs
    assert isinstance(sequence, Call)
    return Call("Add-1", (one, Call("ReduceSum-1", (converted(sizes_of(sequence.inputs[0]), "f32"), whole(0)))))


def _activated(both: Call) -> Call:
    """A sequence and the product of the data that it reads."""
    one, _ = both.inputs
    assert isinstance(one, Call)
    (sequence, _) = one.inputs
    assert isinstance(sequence, Call)
    product = Call("MatMul-1", (sequence.inputs[0], Fixed(counted(4, 2) / 9)))
    flat = (Call("Reshape-1", (each, Fixed(whole(-1))), {"special_zero": "false"}) for each in (one, product))
    return Call("Concat-1", (*flat,), {"axis": "0"})


def _state(sequence: Call, factor: Feed | None = None, *, gives: int = 1) -> Call:
    """An output of a sequence, scaled."""
    factor = Fixed(floats(2)) if factor is None else factor
    return Call("Multiply-1", (replace(sequence, gives=gives), factor))


def _of_all_steps(sequence: Call) -> Call:
    """A sequence whose lengths are made of the number of steps."""
    data = sequence.inputs[0]
    known = not isinstance(data, Given) or "?" not in data.shape
    steps = Call("Gather-8", (sizes_of(data), Fixed(whole(1)), Fixed(index(0))))
    lengths = Fixed(whole(5, 5, 5)) if known else Call("Broadcast-3", (steps, Fixed(whole(3))), {"mode": "numpy"})
    return replace(sequence, inputs=(*sequence.inputs[:-4], lengths, *sequence.inputs[-3:]))


def _by_sums(sequence: Call) -> Call:
    """A sequence whose lengths are computed of an input."""
    none = Fixed(whole(0))
    return replace(
        sequence, inputs=(*sequence.inputs[:-4], Call("Add-1", (sequence.inputs[-4], none)), *sequence.inputs[-3:])
    )


BESIDE = [
    *beside(
        "RNNCell-1 with a state of one row for a batch of unknown size",
        falling=[_recurrent("RNNCell-1", "?,4", "1,2", rows=1)],
    ),
    *beside(
        "GRUCell-3 with a constant state for a batch of unknown size, 2022.1 to 2026.4",
        others=[_recurrent("GRUCell-3", "?,4", "", "6,4"), _recurrent("GRUCell-3", "?,4", "3,2")],
    ),
    *beside(
        "GRUSequence-5 with data of unknown size, and clipping, other activations or computed weights, "
        "2022.1 to 2023.0",
        falling=[_recurrent("GRUSequence-5", "3,5,?", "3,1,2", "3", activations="tanh,tanh")],
    ),
    *beside(
        "GRUCell-3 with a state of one row for a batch of unknown size",
        falling=[_recurrent("GRUCell-3", "?,4", "1,2", rows=1, clip="1")],
        others=[
            _recurrent("GRUCell-3", "?,4", "1,2", rows=1),
            _recurrent("GRUCell-3", "?,4", clip="1"),
            _recurrent("GRUCell-3", "1,4", rows=1, clip="1"),
        ],
    ),
    *beside(
        "sequences of unknown size with other lengths",
        others=[
            _recurrent("RNNSequence-5", "3,?,4", "3,1,2", clip="1"),
            _recurrent("GRUSequence-5", "3,5,4", "3,1,2"),
            Call(
                "GRUSequence-5",
                (
                    Given(counted(3, 5, 4), "3,5,?"),
                    Given(counted(3, 1, 2), "3,1,2"),
                    Fixed(whole(5, 5, 5)),
                    Fixed(counted(1, 6, 4) / 100),
                    Fixed(counted(1, 6, 2) / 100),
                    Fixed(counted(1, 6) / 100),
                ),
                {"hidden_size": "2", "direction": "forward", "activations": "sigmoid,tanh"},
            ),
        ],
    ),
    *beside(
        "initial value of a variable", others=[Call("ReadValue-3", (Fixed(counted(1, 2) * 0),), {"variable_id": "v"})]
    ),
    *beside(
        "variables of unknown sizes with a constant initial value",
        others=[
            Call(
                "ReadValue-6",
                (Given(counted(1, 1, 3), "1,?,3"),),
                {"variable_id": "v", "variable_type": "f32", "variable_shape": "1,?,3"},
            )
        ],
    ),
    *beside(
        "GRUCell-3 with recurrence weights of unknown size, 2025.4 to 2026.4",
        others=[_recurrent("GRUCell-3", "3,4", "3,2", "", "?,2", "6")],
    ),
    *beside(
        "GRUCell-3 with recurrence weights of unknown size, 2022.3 to 2023.3",
        falling=[_recurrent("GRUCell-3", "?,?", "?,?", "", "?,?"), _recurrent("GRUCell-3", "3,4", "3,2", "6,4", "?,?")],
        others=[
            _recurrent("GRUCell-3", "3,4", "3,2", "", "6,?", clip="1"),
            _recurrent("GRUCell-3", "3,4", "3,2", "", "?,2", "?", clip="1"),
        ],
    ),
    *(
        Beside(f"{op} with computed weights", False, _recurrent(op, "3,4", *["3,2"] * states, *weights, clip="1"))
        for op, states in (("LSTMCell-1", 2), ("LSTMCell-4", 2), ("GRUCell-3", 1), ("RNNCell-1", 1))
        for weights in (("?,?",), ("?,4",), ("", "", "?"), ("?,?", "", "?"))
    ),
    *(
        Beside(f"{op} with weights of unknown sizes, whose units are known", falls, _recurrent(op, *given, clip="1"))
        for op, states in (("LSTMCell-1", 2), ("LSTMCell-4", 2), ("GRUCell-3", 1))
        for falls, given in (
            (True, ("?,4", *["3,?"] * states, "?,?", "?,2", "?")),
            (False, ("3,4", *["3,2"] * states, "?,4", "?,2", "?")),
            (False, ("?,?", *["?,?"] * states, "?,?", "?,2", "?")),
        )
    ),
    *beside(
        "RNNCell-1 with weights of unknown sizes, whose units are known",
        falling=[
            _recurrent("RNNCell-1", "3,4", "3,2", "?,?", "?,?", "?"),
            _recurrent("RNNCell-1", "3,4", "?,?", "?,4", "?,2", "?", clip="1"),
        ],
        others=[
            _recurrent("RNNCell-1", "3,4", "?,?", "?,?", "?,?", "?", clip="1"),
            _recurrent("RNNCell-1", "?,4", "?,2", "?,?", "?,2", "?", clip="1"),
            _recurrent("RNNCell-1", "3,4", "3,2", "?,?", "?,2", "2", clip="1"),
        ],
    ),
    *beside(
        "GRUCell-3 with biases of known size",
        falling=[
            _recurrent("GRUCell-3", "3,4", "3,2", "?,4", "?,2", "6", clip="1"),
            _recurrent("GRUCell-3", "?,?", "?,?", "6,4", "6,2", "6", clip="1"),
        ],
        others=[
            _recurrent("GRUCell-3", "?,4", "3,?", "?,4", "6,?", "6", clip="1"),
            _recurrent("GRUCell-3", "3,4", "?,2", "6,4", "6,2", "?", clip="1"),
        ],
    ),
    *beside(
        "LSTMSequence-5 with states or lengths of known size for a batch of unknown size, 2022.1 to 2022.2",
        falling=[_recurrent("LSTMSequence-5", "?,5,4", "?,1,2", "?,1,2", "3")],
    ),
    *beside(
        "LSTMSequence-5 with states of unknown size, 2023.2 to 2024.0",
        falling=[_recurrent("LSTMSequence-5", "?,5,4", "?,1,2", "?,1,2", "?", clip="1")],
        others=[_recurrent("LSTMSequence-5", "?,5,4", "?,1,2", "?,1,2", "?")],
    ),
    *beside(
        "LSTMSequence-5 with data of unknown size, and clipping, other activations or computed weights, "
        "2022.1 to 2023.0",
        others=[_recurrent("LSTMSequence-5", "3,5,?", "3,1,2", "3,1,2", "3")],
    ),
    *beside(
        "LSTMSequence-5 with an unknown number of steps, and clipping, other activations or computed "
        "weights, 2022.1 to 2023.1",
        others=[_recurrent("LSTMSequence-5", "3,?,4", "3,1,2", "3,1,2", "3")],
    ),
    *beside(
        "LSTMCell-1 without clipping, 2022.3 to 2023.0",
        others=[_recurrent("LSTMCell-1", "3,4", "3,2", "3,2", clip="1")],
    ),
    *beside("LSTMCell-1 with peepholes", others=[_recurrent("LSTMCell-1", "3,4")]),
    *beside(
        "LSTMCell-1 with computed weights",
        falling=[_recurrent("LSTMCell-1", "3,4", "3,2", "3,2", "", "", "8")],
        others=[_recurrent("LSTMCell-1", "3,4", "3,2", "3,2", "8,4", clip="1")],
    ),
    *beside(
        "LSTMCell-1 of integers with recurrence weights of known sizes",
        others=[
            Call(
                "LSTMCell-1",
                (
                    np.array([[1, 2, 3], [3, 0, 2]], np.int16),
                    np.array([[1, 5], [4, 2]], np.int16),
                    np.array([[1, 5], [4, 2]], np.int16),
                    Fixed(
                        np.array(
                            [
                                [-2, -1, 0],
                                [1, 2, 3],
                                [4, -2, -1],
                                [0, 1, 2],
                                [3, 4, -2],
                                [-1, 0, 1],
                                [2, 3, 4],
                                [-2, -1, 0],
                            ],
                            np.int16,
                        )
                    ),
                    Given(
                        np.array([[-2, -1], [0, 1], [2, 3], [4, -2], [-1, 0], [1, 2], [3, 4], [-2, -1]], np.int16),
                        "?,2",
                    ),
                    Fixed(np.array([9, 1, 7, 9, 4, 2, 6, 2], np.int16)),
                ),
                {"hidden_size": "2"},
            )
        ],
    ),
    *beside(
        "sequences of unknown size with other lengths",
        falling=[
            _recurrent("LSTMSequence-5", "3,5,?", "3,1,2", "3,1,2", "3"),
            _by_sums(_recurrent("RNNSequence-5", "?,5,4", "?,1,2", "?")),
        ],
        others=[
            _recurrent("LSTMSequence-5", "3,5,4", "3,1,2", "3,1,2", "3"),
            _recurrent("RNNSequence-5", "3,?,4", "3,1,2", "3", "1,2,4"),
            _of_all_steps(_recurrent("RNNSequence-5", "3,?,4", "3,1,2", "3")),
        ],
    ),
    *beside(
        "last states that are combined with a number, 2023.3 to 2026.4",
        falling=[
            _state(_recurrent("LSTMSequence-5", "3,5,4", "3,1,2", "3,1,2", "3"), gives=2),
            Call("Negative-1", (replace(_recurrent("GRUSequence-5", "3,5,4", "3,1,2", "", "1,6,4"), gives=1),)),
            _state(_recurrent("RNNSequence-5", "3,5,4", "3,1,2", "3", clip="1"), Fixed(floats(2).reshape(1, 1, 1, 1))),
        ],
        others=[
            _state(_of_all_steps(_recurrent("RNNSequence-5", "3,5,4", "3,1,2", "3"))),
            _state(_recurrent("RNNSequence-5", "3,5,4", "3,1,2", "3", "1,2,4"), Fixed(floats(2, 3))),
            _state(_recurrent("RNNSequence-5", "3,5,4", "3,1,2", "3", "1,2,4"), gives=0),
            _state(_recurrent("RNNSequence-5", "3,5,4", "3,1,2", "3", "1,2,4"), counted(1)),
            Call("Tanh-1", (replace(_recurrent("RNNSequence-5", "3,5,4", "3,1,2", "3", "1,2,4"), gives=1),)),
        ],
    ),
    *beside(
        "sequences of transposed data that others read",
        falling=[
            _both_ways("LSTMSequence-5"),
            _both_ways("GRUSequence-5"),
            _both_ways(activations="relu"),
            _activated(_both_ways()),
        ],
        others=[
            _both_ways("GRUSequence-5", clip="1"),
            _both_ways("LSTMSequence-5", activations="sigmoid,relu,tanh"),
            _both_ways(back=(1, 2, 0, 3)),
            _both_ways(lengths=(5, 4, 5)),
            _both_ways(data=ROWS_LAST[:, :1], lengths=(5,)),
            _alone(_both_ways()),
        ],
    ),
]
