"""Compute recurrent networks step by step: LSTM, GRU, RNN; sequences of different lengths, in both directions."""

from collections.abc import Callable, Sequence

import numpy as np

from ir_tools.ops._numbers import sigmoid
from ir_tools.ops.definition import Array
from ir_tools.ops.fields import Attrs

__all__ = ["Step", "gru_step", "lstm_step", "over_time", "rnn_step"]

States = tuple[Array, ...]
Step = Callable[[Attrs, Array, States, Array, Array], States]
"""`(attributes, x W^T [N, gates * hidden], states [N, hidden], R, B) -> ` new states."""


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "sigmoid": sigmoid,
    "tanh": np.tanh,
    "relu": lambda values: np.maximum(values, 0),
}


def _activated(attrs: Attrs, number: int, values: Array) -> Array:
    """Return activation `number` of values that `clip` keeps between bounds."""
    clipped = np.clip(values, -attrs.clip, attrs.clip) if attrs.clip > 0 else values
    return ACTIVATIONS[attrs.activations[number]](clipped)


def lstm_step(attrs: Attrs, inputs: Array, states: States, recurrent: Array, bias: Array) -> States:
    """Return hidden and cell state; the gates are forget, input, cell, output."""
    hidden, cell = states
    forget, take, new, give = np.split(inputs + hidden @ recurrent.T + bias, 4, axis=1)
    cell = _activated(attrs, 0, forget) * cell + _activated(attrs, 0, take) * _activated(attrs, 1, new)
    return _activated(attrs, 0, give) * ACTIVATIONS[attrs.activations[2]](cell), cell


def gru_step(attrs: Attrs, inputs: Array, states: States, recurrent: Array, bias: Array) -> States:
    """Return the hidden state; the gates are update, reset, hidden."""
    (hidden,) = states
    size = hidden.shape[1]
    both = inputs[:, : 2 * size] + hidden @ recurrent[: 2 * size].T + bias[: 2 * size]
    update, reset = np.split(_activated(attrs, 0, both), 2, axis=1)
    data, own = inputs[:, 2 * size :], recurrent[2 * size :]
    if attrs.linear_before_reset:
        new = data + reset * (hidden @ own.T + bias[3 * size :]) + bias[2 * size : 3 * size]
    else:
        new = data + (reset * hidden) @ own.T + bias[2 * size :]
    return ((1 - update) * _activated(attrs, 1, new) + update * hidden,)


def rnn_step(attrs: Attrs, inputs: Array, states: States, recurrent: Array, bias: Array) -> States:
    """Return the hidden state."""
    return (_activated(attrs, 0, inputs + states[0] @ recurrent.T + bias),)


def over_time(step: Step, attrs: Attrs, inputs: Sequence[Array], states: int) -> tuple[Array, ...]:
    """Return a sequence in all its directions.

    Outputs `[N, directions, T, hidden]` and last states `[N, directions, hidden]`.

    `inputs` are those of the operation: data, states, lengths, weights, recurrent weights, bias.
    """
    data, initial, lengths = inputs[0], inputs[1 : 1 + states], inputs[1 + states]
    weights, recurrent, bias = inputs[2 + states :]
    reversed_ = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}[attrs.direction]
    runs = [
        _one_way(step, attrs, data @ weights[way].T, [state[:, way] for state in initial], lengths, backwards, own)
        for way, (backwards, own) in enumerate(zip(reversed_, zip(recurrent, bias, strict=True), strict=True))
    ]
    return tuple(np.stack(parts, axis=1) for parts in zip(*runs, strict=True))


def _one_way(
    step: Step,
    attrs: Attrs,
    data: Array,
    initial: Sequence[Array],
    lengths: Array,
    backwards: bool,
    own: tuple[Array, Array],
) -> tuple[Array, ...]:
    """Return one direction; `data` is `[N, T, gates * hidden]`. Behind its length a row is 0 and keeps its states.

    The last states of a row of length 0 are 0 in the runtime, not the initial ones.
    """
    count, steps = data.shape[:2]
    places = np.broadcast_to(np.arange(steps), (count, steps))
    if backwards:
        places = np.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)
    states = tuple(np.where((lengths > 0)[:, None], state, state.dtype.type(0)) for state in initial)
    out = np.zeros((count, steps, states[0].shape[1]), states[0].dtype)
    rows = np.arange(count)
    for time in range(steps):
        running = (time < lengths)[:, None]
        new = step(attrs, data[rows, places[:, time]], states, *own)
        states = tuple(np.where(running, one, other) for one, other in zip(new, states, strict=True))
        out[rows, places[:, time]] = np.where(running, states[0], 0)
    return out, *states
