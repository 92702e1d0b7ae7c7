"""Express recurrent networks by older operations: a cell by its gates, a sequence by a cell per step."""

from collections.abc import Sequence
from functools import partial, reduce

import numpy as np

from ir_tools.ops._layers import I64, Layers, by_formula, composed
from ir_tools.ops._requirements import require
from ir_tools.ops.definition import Fact, Ref, Refused, Rewrite, Step
from ir_tools.ops.fields import Attrs

__all__ = ["gru_cell", "lstm_cell", "rnn_cell", "sequence", "with_activations"]

LONGEST = 256
"""Steps of a sequence that are written out."""
INTEGERS = Refused(
    "a composition of layers would round integers at every step; the operation rounds only sigmoid and tanh"
)
ACTIVATIONS = {"sigmoid": "Sigmoid", "tanh": "Tanh", "relu": "ReLU"}


@composed(3, "the update, reset and hidden gates", wide=True)
def gru_cell(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite GRUCell-3."""
    data, state, weights, recurrent, bias = (layers.working(number) for number in range(5))
    inputs = layers.outputs("Split", _product(layers, data, weights), np.array(1), num_splits=3)
    own = layers.outputs("Split", recurrent, np.array(0), num_splits=3)
    biases = layers.outputs("Split", bias, np.array(0), num_splits=3 + attrs.linear_before_reset)

    update, reset = (
        _activated(layers, attrs, 0, inputs[gate], _product(layers, state, own[gate]), biases[gate])
        for gate in range(2)
    )
    if attrs.linear_before_reset:
        linear = layers.call("Add", _product(layers, state, own[2]), biases[3])
        new = _activated(layers, attrs, 1, inputs[2], layers.call("Multiply", reset, linear), biases[2])
    else:
        kept = layers.call("Multiply", reset, state)
        new = _activated(layers, attrs, 1, inputs[2], _product(layers, kept, own[2]), biases[2])
    rest = layers.call("Subtract", 1, update)
    return layers.call("Add", layers.call("Multiply", rest, new), layers.call("Multiply", update, state))


@by_formula("the forget, input, cell and output gates", wide=True)
def lstm_cell(layers: Layers, attrs: Attrs) -> Sequence[Ref] | Refused:
    """Rewrite LSTMCell-4, and LSTMCell-1 as releases read it: without peepholes and coupled gates."""
    if not layers.inputs[0].dtype.is_float:
        return INTEGERS
    data, hidden, cell, weights, recurrent, *bias = (layers.working(number) for number in range(len(layers.inputs[:6])))
    terms = [_product(layers, data, weights), _product(layers, hidden, recurrent), *bias]
    gates = layers.outputs("Split", _sum(layers, terms), np.array(1), num_splits=4)
    forget, take, new, give = (
        _activated(layers, attrs, number, gate) for number, gate in zip((0, 0, 1, 0), gates, strict=True)
    )
    kept, added = layers.call("Multiply", forget, cell), layers.call("Multiply", take, new)
    state = layers.call("Add", kept, added)
    shown = layers.call("Multiply", give, layers.call(_activation(attrs, 2), state))
    return shown, state


@by_formula("the activation of W * x + R * h + b", wide=True)
def rnn_cell(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite RNNCell-1."""
    if not layers.inputs[0].dtype.is_float:
        return INTEGERS
    data, state, weights, recurrent, bias = (layers.working(number) for number in range(5))
    return _activated(layers, attrs, 0, _product(layers, data, weights), _product(layers, state, recurrent), bias)


def _activated(layers: Layers, attrs: Attrs, number: int, *terms: Ref) -> Ref:
    """Add activation `number` of a sum, which `clip` keeps between bounds."""
    total = _sum(layers, terms)
    if attrs.clip > 0:
        total = layers.call("Clamp", total, min=-attrs.clip, max=attrs.clip)
    return layers.call(_activation(attrs, number), total)


def _activation(attrs: Attrs, number: int) -> str:
    """Return the operation of activation `number`."""
    require(number < len(attrs.activations), f"activations has {len(attrs.activations)} names; expected {number + 1}")
    return ACTIVATIONS[attrs.activations[number]]


def _sum(layers: Layers, terms: Sequence[Ref]) -> Ref:
    return reduce(partial(layers.call, "Add"), terms)


def _product(layers: Layers, data: Ref, weights: Ref) -> Ref:
    return layers.call("MatMul", data, weights, transpose_b=True)


def sequence(cell: str, states: int) -> Step:
    """Return the step of a sequence before opset5: its cell for every step.

    Args:
        cell: type of the operation of one step.
        states: how many it has.
    """

    @composed(5, f"one {cell} per time step; the states do not change after the end of a sequence", wide=True)
    def step(layers: Layers, attrs: Attrs) -> Sequence[Ref] | Refused:
        shape = layers.inputs[0].shape
        if shape is None or not shape[1].static or not 0 < shape[1].size <= LONGEST:
            return Refused(
                f"the number of time steps is not known, or more than {LONGEST}, which is too many to unroll"
            )
        ways = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}[attrs.direction]
        rolled = _Rolled(layers, attrs, cell, states)
        found = [rolled.run(way, backwards=backwards) for way, backwards in enumerate(ways)]
        joined = []
        for parts in zip(*found, strict=True):
            both = [layers.call("Unsqueeze", part, np.array(1)) for part in parts]
            joined.append(layers.call("Concat", *both, axis=1) if len(both) > 1 else both[0])
        return joined

    return step


def with_activations(type: str, activations: Sequence[str]) -> Step:
    """Return the step of a sequence without `activations`: the same with these, which releases take then."""

    def step(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | None:
        if attrs.activations or target < 5:
            return None
        layers = Layers(inputs, target)
        given = (Ref(None, number) for number in range(len(inputs)))
        layers.outputs(type, *given, **{**attrs, "activations": activations})
        return layers.rewrite("activations written out", "these are the default activations")

    return step


class _Rolled:
    """A sequence whose steps are written out."""

    def __init__(self, layers: Layers, attrs: Attrs, cell: str, states: int) -> None:
        self.layers = layers
        self.cell = cell
        self.states = [layers.working(number) for number in range(1, 1 + states)]
        self.weights = [layers.working(number) for number in range(2 + states, 5 + states)]
        self.data = layers.working(0)
        self.lengths = layers.to_type(Ref(None, 1 + states), I64)
        names = ("activations", "activations_alpha", "activations_beta", "clip", "linear_before_reset")
        self.attributes = {name: attrs[name] for name in names if attrs.get(name, ()) != ()}
        self.attributes["hidden_size"] = attrs.hidden_size

    def run(self, way: int, *, backwards: bool) -> list[Ref]:
        """Add one direction: its steps `[N, T, hidden]`, and its last states."""
        layers = self.layers
        data = self._reversed(self.data) if backwards else self.data
        shape = layers.fact(data).shape
        assert shape is not None
        weights = [layers.gather(each, way) for each in self.weights]
        column = layers.call("Unsqueeze", self.lengths, np.array(1))
        some = layers.call("Greater", column, 0)
        states = [self._where(some, layers.gather(state, way, 1)) for state in self.states]
        steps = []
        for time in range(shape[1].size):
            new = layers.outputs(self.cell, layers.gather(data, time, 1), *states, *weights, **self.attributes)
            running = layers.call("Greater", column, np.array(time))
            states = [layers.call("Select", running, *pair) for pair in zip(new, states, strict=True)]
            steps.append(layers.call("Unsqueeze", self._where(running, new[0]), np.array(1)))
        joined = layers.call("Concat", *steps, axis=1)
        return [self._reversed(joined) if backwards else joined, *states]

    def _reversed(self, data: Ref) -> Ref:
        return self.layers.call("ReverseSequence", data, self.lengths, batch_axis=0, seq_axis=1)

    def _where(self, mask: Ref, data: Ref) -> Ref:
        return self.layers.call("Select", mask, data, 0)
