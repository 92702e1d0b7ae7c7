"""Recurrent cells and sequences against the runtime: shapes, and what it refuses."""

import numpy as np

from ir_tools.ops import recurrent
from tests.ops.around import AroundTests, Case, Change, ops_by_name
from tests.ops.single import Slot

OPS = ops_by_name(recurrent.OPS)

COMMON = {"hidden_size": "4", "activations_alpha": "", "activations_beta": "", "clip": "0"}
LSTM = {**COMMON, "activations": "sigmoid,tanh,tanh"}
GRU = {**COMMON, "activations": "sigmoid,tanh", "linear_before_reset": "false"}
RNN = {**COMMON, "activations": "tanh"}
LENGTHS = np.array([5, 4], np.int32)


def weights(*sizes: int) -> Slot:
    return np.random.default_rng(0).normal(size=sizes).astype(np.float32)


def cell(states: int, gates: int, *, bias: int = 0) -> tuple[Slot, ...]:
    state: Slot = ("f32", "2,4")
    return (
        ("f32", "2,3"),
        *(state,) * states,
        weights(4 * gates, 3),
        weights(4 * gates, 4),
        weights(4 * (bias or gates)),
    )


def sequence(states: int, gates: int, directions: int = 1) -> tuple[Slot, ...]:
    state: Slot = ("f32", f"2,{directions},4")
    sizes = (directions, 4 * gates)
    return ("f32", "2,5,3"), *(state,) * states, LENGTHS, weights(*sizes, 3), weights(*sizes, 4), weights(*sizes)


BOTH = {"direction": "bidirectional"}
CASES = {
    "LSTMCell-1": Case(OPS["LSTMCell-1"], LSTM, (*cell(2, 4), weights(12))),
    "LSTMCell-1-six": Case(OPS["LSTMCell-1"], {**LSTM, "weights_format": "iofc"}, cell(2, 4)),
    "LSTMCell-1-five": Case(OPS["LSTMCell-1"], LSTM, cell(2, 4)[:5]),
    "LSTMCell-4": Case(OPS["LSTMCell-4"], LSTM, cell(2, 4)),
    "GRUCell-3": Case(OPS["GRUCell-3"], GRU, cell(1, 3)),
    "GRUCell-3-linear": Case(OPS["GRUCell-3"], {**GRU, "linear_before_reset": "true"}, cell(1, 3, bias=4)),
    "RNNCell-1": Case(OPS["RNNCell-1"], RNN, cell(1, 1)),
    "LSTMSequence-5": Case(OPS["LSTMSequence-5"], LSTM, sequence(2, 4)),
    "LSTMSequence-5-both": Case(OPS["LSTMSequence-5"], {**LSTM, **BOTH}, sequence(2, 4, 2)),
    "GRUSequence-5": Case(OPS["GRUSequence-5"], GRU, sequence(1, 3)),
    "GRUSequence-5-both": Case(OPS["GRUSequence-5"], {**GRU, **BOTH}, sequence(1, 3, 2)),
    "RNNSequence-5": Case(OPS["RNNSequence-5"], RNN, sequence(1, 1)),
    "RNNSequence-5-both": Case(OPS["RNNSequence-5"], {**RNN, **BOTH}, sequence(1, 1, 2)),
}


RUN: list[Change] = [
    *((name, {}, {}) for name in CASES),
    ("LSTMCell-4", {"activations": "Sigmoid,RELU,tanh,tanh"}, {}),
    ("LSTMCell-4", {"clip": "3", "hidden_size": "5"}, {}),
    ("LSTMCell-1", {"weights_format": "FICO", "input_forget": "true", "hidden_size": None}, {}),
    ("GRUCell-3", {"activations": None}, {}),
    ("LSTMSequence-5", {"direction": None, "clip": "-1"}, {}),
    ("RNNSequence-5", {"activations_alpha": "0.5"}, {}),
]
REFUSED: list[Change] = [
    ("LSTMCell-4", {"activations": "sigmoid,tanh"}, {}),
    ("GRUCell-3", {"activations": ""}, {}),
    ("LSTMCell-4", {"activations": "hardsigmoid,tanh,tanh"}, {}),
    ("LSTMCell-4", {"activations": "elu,tanh,tanh"}, {}),
    ("LSTMCell-4", {"hidden_size": "5"}, {}),
    ("LSTMCell-4", {"hidden_size": None}, {}),
    ("LSTMCell-1", {"weights_format": "foo"}, {}),
    ("LSTMCell-1", {}, {6: weights(11)}),
    ("GRUCell-3", {"linear_before_reset": "true"}, {}),
    ("GRUCell-3", {"hidden_size": "-1"}, {}),
    ("RNNCell-1", {}, {2: weights(5, 3)}),
    ("LSTMSequence-5", {"activations": None}, {}),
    ("LSTMSequence-5", BOTH, {}),
    ("LSTMSequence-5", {"direction": "foo"}, {}),
    ("GRUSequence-5", {"activations": "sigmoid"}, {}),
    ("RNNSequence-5", {"hidden_size": "5"}, {}),
]


class TestRecurrent(AroundTests):
    cases, run, refused = CASES, RUN, REFUSED
