"""Recurrent cells and sequences: LSTMCell-1/-4, LSTMSequence-5, GRUCell-3, GRUSequence-5, RNNCell-1, RNNSequence-5.

Specification: `sequence/`, a section for each of them (`sequence/gru-cell-3`); RNNCell-1 is in `sequence/rnn-cell-3`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ir_tools.ops._layers import Layers
from ir_tools.ops._numbers import in_working_types
from ir_tools.ops._recurrent import Step, gru_step, lstm_step, over_time, rnn_step
from ir_tools.ops._recurrent_rewrites import gru_cell, lstm_cell, rnn_cell, sequence, with_activations
from ir_tools.ops._requirements import agreed, impossible_length, require, require_lengths, require_rank
from ir_tools.ops._values import dim, divided, is_empty
from ir_tools.ops.definition import (
    UNKNOWN,
    Array,
    Check,
    Fact,
    Input,
    Kernel,
    Op,
    Output,
    Ref,
    Rewrite,
    ShapeRule,
    Violation,
    ViolationKind,
)
from ir_tools.ops.fields import Attrs, Field, Flag, Float, Floats, Int32, OneOf, Words
from ir_tools.types import Dim, shape_text

__all__ = ["OPS"]

STATES = ("initial_hidden_state", "initial_cell_state")


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A kind of recurrent network.

    Attributes:
        gates: the number of gates; the weights have `gates * hidden` rows.
        states: the number of states.
        activations: the default activations.
        step: computes the new states of one step.
    """

    gates: int
    states: int
    activations: tuple[str, ...]
    step: Step

    def bias_gates(self, attrs: Attrs) -> int:
        """Return the length of the bias as a multiple of the hidden size."""
        return self.gates + bool(attrs.get("linear_before_reset"))


LSTM = Network(gates=4, states=2, activations=("sigmoid", "tanh", "tanh"), step=lstm_step)
GRU = Network(gates=3, states=1, activations=("sigmoid", "tanh"), step=gru_step)
RNN = Network(gates=1, states=1, activations=("tanh",), step=rnn_step)


def cell_names(net: Network) -> tuple[str, ...]:
    """Return the names of the inputs of a cell."""
    return ("X", *STATES[: net.states], "W", "R", "B")


def sequence_names(net: Network) -> tuple[str, ...]:
    """Return the names of the inputs of a sequence."""
    return ("X", *STATES[: net.states], "sequence_lengths", "W", "R", "B")


# --- shapes -----------------------------------------------------------------------------------------------------


def cell_shape(net: Network) -> ShapeRule:
    """Return the shape rule of a cell: data `[N, input]` and states `[N, hidden]` to new states `[N, hidden]`.

    W is `[gates * hidden, input]`, R `[gates * hidden, hidden]`, B `[gates * hidden]` (`sequence/lstm-cell-1`,
    `sequence/gru-cell-3`, `sequence/rnn-cell-3`). The rule raises ShapeError for wrong ranks or sizes.
    """

    def shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
        count = net.states
        ranks = (2, *(2,) * count, 2, 2, 1)
        for fact, rank, name in zip(inputs, ranks, cell_names(net), strict=False):
            require_rank(fact, rank, name)
        data, states, weights, recurrent = inputs[0], inputs[1 : 1 + count], inputs[1 + count], inputs[2 + count]
        bias = inputs[3 + count] if len(inputs) > 3 + count else UNKNOWN
        batch = agreed((dim(fact, 0) for fact in (data, *states)), "batch size")
        hidden = agreed((dim(fact, 1) for fact in (*states, recurrent)), "hidden size")
        rows = [dim(fact, 0) for fact in (weights, recurrent)]
        hidden = _gated(hidden, rows, [row for row in rows if row.static], dim(bias, 0), net, attrs)
        return (Fact(data.dtype, (batch, hidden)),) * count

    return shape


def sequence_shape(net: Network) -> ShapeRule:
    """Return the shape rule of a sequence: data `[N, T, input]`, states `[N, D, hidden]` and lengths `[N]`.

    D is 2 for both directions, else 1. The outputs are `[N, D, T, hidden]` and new states `[N, D, hidden]`
    (`sequence/lstm-sequence-5`, `sequence/gru-sequence-5`, `sequence/rnn-sequence-5`). Weights are as for a cell, for
    each direction. The rule raises ShapeError for wrong ranks or sizes.
    """

    def shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
        count = net.states
        ranks = (3, *(3,) * count, 1, 3, 3, 2)
        for fact, rank, name in zip(inputs, ranks, sequence_names(net), strict=False):
            require_rank(fact, rank, name)
        data, states, lengths = inputs[0], inputs[1 : 1 + count], inputs[1 + count]
        weights, recurrent, bias = inputs[2 + count : 5 + count]
        batch = agreed((dim(fact, 0) for fact in (data, *states, lengths)), "batch size")
        hidden = agreed((dim(fact, 2) for fact in (*states, recurrent)), "hidden size")
        directions = Dim.of(2 if attrs.direction == "bidirectional" else 1)
        of_states = (dim(fact, 1) for fact in states)
        of_weights = (dim(fact, 0) for fact in (weights, recurrent, bias))
        agreed((directions, *of_states, *of_weights), f"number of directions of a {attrs.direction} sequence")
        rows = [dim(fact, 1) for fact in (weights, recurrent)]
        telling = [dim(fact, 1) for fact in (weights, recurrent) if dim(fact, 0).static]
        hidden = _gated(hidden, rows, telling, dim(bias, 1), net, attrs)
        steps = Fact(data.dtype, (batch, directions, dim(data, 1), hidden))
        return steps, *(Fact(data.dtype, (batch, directions, hidden)),) * count

    return shape


def _gated(hidden: Dim, rows: Sequence[Dim], telling: Sequence[Dim], bias: Dim, net: Network, attrs: Attrs) -> Dim:
    """Return the hidden size, compared with the rows of weights and bias.

    Args:
        hidden: what the states and R say.
        rows: the numbers of rows of W and R.
        telling: those of them from which an unknown hidden size is taken.
        bias: the length of B.
        net: the kind of network.
        attrs: of the layer.

    Raises:
        ShapeError: they do not fit.
    """
    if hidden.static:
        for found in rows:
            wanted = hidden.size * net.gates
            require(wanted in found, f"the weights have {found} rows; expected {wanted}")
        wanted = hidden.size * net.bias_gates(attrs)
        require(wanted in bias, f"the bias has {bias} values; expected {wanted}")
        return hidden
    parts = [divided(found, net.gates) for found in telling]
    require(None not in parts, f"the weights have {rows[0]} rows; expected a multiple of {net.gates}")
    return agreed((hidden, *(part for part in parts if part is not None)), "hidden size")


# --- checks -----------------------------------------------------------------------------------------------------


def check_recurrent(net: Network, before_weights: int = 1) -> Check:
    """Return the check of a network: `hidden_size` and the input size fit the weights, and each gate has an activation.

    LSTMCell-1 without peepholes makes them of the size that `hidden_size` says.

    Args:
        net: the kind of network.
        before_weights: the number of inputs besides the states that come before the weights.
    """

    def check(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
        elements, columns = dim(inputs[0], -1), dim(inputs[before_weights + net.states], -1)
        if elements.meet(columns) is None:
            yield Violation("X", f"has {elements} elements per step; expected {columns}, the number of columns of W")
        hidden = dim(inputs[1], -1)
        if attrs.hidden_size not in hidden:
            message = f"is {attrs.hidden_size}, but the state has {hidden} elements"
            makes_peepholes = "weights_format" in attrs and len(inputs) < 7
            runs = _spelled_out(net, attrs) and not makes_peepholes
            level = ViolationKind.SUSPECT if runs else ViolationKind.CONTRADICTION
            yield Violation("hidden_size", message, f'write hidden_size="{hidden}"', level)
        if attrs.clip < 0:
            yield Violation(
                "clip",
                f"is {attrs.clip:g}, which is negative, so the runtime does not clip",
                kind=ViolationKind.SUSPECT,
            )
        wanted = len(net.activations)
        if len(attrs.activations) < wanted:
            count = len(attrs.activations)
            yield Violation(
                "activations",
                f"has {count} names; expected {wanted}",
                f'write activations="{",".join(net.activations)}"',
            )

    return check


def check_sequence(net: Network) -> Check:
    """Return the check of a sequence: that of its network, and lengths that the CPU plugin ignores or refuses.

    It ignores them if a size of the data is unknown. Otherwise it limits impossible lengths if it only goes forward,
    and refuses them if it goes backward (measured).
    """

    def check(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
        yield from check_recurrent(net, before_weights=2)(attrs, inputs)
        shape, lengths = inputs[0].shape, inputs[1 + net.states].integers()
        if not shape or len(shape) != 3 or not lengths:
            return
        if all(size.static for size in shape):
            bad = impossible_length(lengths, shape[1])
            if bad is not None and not is_empty(inputs[0]):
                kind = ViolationKind.SUSPECT if attrs.direction == "forward" else ViolationKind.CONTRADICTION
                message = f"holds {bad}, but the sequence axis has {shape[1]} elements"
                yield Violation("sequence_lengths", message, kind=kind)
            return
        if not _spelled_out(net, attrs) and (not shape[1].static or min(lengths) < shape[1].lo):
            message = (
                f"is ignored by the CPU plugin because the data is {shape_text(shape)}: all sequences get the "
                "full length"
            )
            yield Violation("sequence_lengths", message, "use static sizes for the data", ViolationKind.SUSPECT)

    return check


def _spelled_out(net: Network, attrs: Attrs) -> bool:
    """Return whether the CPU plugin computes the layer as single operations, which do not read `hidden_size`."""
    return attrs.clip != 0 or attrs.activations != net.activations or "weights_format" in attrs


def check_lstm_cell_1(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check as all LSTMs, and for `input_forget` and peepholes, which the runtime does not read."""
    yield from check_recurrent(LSTM)(attrs, inputs)
    if attrs.input_forget:
        yield Violation("input_forget", "is true, which the runtime does not read", kind=ViolationKind.SUSPECT)
    peepholes = inputs[6].value if len(inputs) > 6 else None
    if peepholes is not None and (peepholes.exact is None or peepholes.exact.any()):
        yield Violation("P", "has values, which the runtime does not read", kind=ViolationKind.SUSPECT)


# --- kernels ----------------------------------------------------------------------------------------------------


def cell_kernel(net: Network) -> Kernel:
    """Return the kernel of one step: `[N, input]`, states and weights to new states; half floats in f32."""

    def kernel(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
        return in_working_types(lambda *arrays: _cell(net, attrs, arrays), *inputs[: 4 + net.states])

    return kernel


def _cell(net: Network, attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the new states of one step."""
    data, states, weights = inputs[0], tuple(inputs[1 : 1 + net.states]), inputs[1 + net.states :]
    return net.step(attrs, data @ weights[0].T, states, weights[1], weights[2])


def sequence_kernel(net: Network) -> Kernel:
    """Return the kernel of all steps, in one direction or both; half floats in f32."""

    def kernel(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
        if attrs.direction != "forward":
            require_lengths(inputs[1 + net.states].tolist(), inputs[0].shape[1], "sequence_lengths")
        return in_working_types(lambda *arrays: over_time(net.step, attrs, arrays, net.states), *inputs)

    return kernel


def lstm_cell_1(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Compute as LSTMCell-4; a missing bias is 0.

    The runtime reads no peepholes, no `input_forget` and no `weights_format` (measured).
    """
    bias = inputs[5] if len(inputs) > 5 else np.zeros(len(inputs[3]), inputs[3].dtype)
    return cell_kernel(LSTM)(attrs, [*inputs[:5], bias])


# --- the operations ---------------------------------------------------------------------------------------------

ACTIVATIONS = ("sigmoid", "tanh", "relu")


@dataclass(frozen=True, slots=True, kw_only=True)
class Names(Words):
    """A field of names of functions. An empty text does not count as absent, but as no names."""

    blank: ClassVar[bool] = False


def _attrs(net: Network, *, named: bool) -> dict[str, Field]:
    """Return the attributes of a network.

    `named`: whether absent activations are the default ones of the network.
    """
    return {
        "hidden_size": Int32(runtime_default=0),
        "activations": Names(words=ACTIVATIONS, default=net.activations if named else ()),
        "activations_alpha": Floats(default=()),
        "activations_beta": Floats(default=()),
        "clip": Float(default=0.0),
    }


DIRECTION = OneOf(words=("forward", "reverse", "bidirectional"), runtime_default="forward")
LINEAR: dict[str, Field] = {"linear_before_reset": Flag(default=False)}


UNREAD = {
    "hidden_size": "`check` compares it with the sizes of the weights",
    "activations_alpha": "sigmoid, tanh and relu have no parameters",
    "activations_beta": "sigmoid, tanh and relu have no parameters",
}


def _cell_op(type: str, version: int, net: Network, **attrs: Field) -> Op:
    """Return the operation of one step."""
    return Op(
        type=type,
        version=version,
        inputs=tuple(Input(name, type="T") for name in cell_names(net)),
        outputs=(Output("Ho"), Output("Co"))[: net.states],
        types={"T": "float"},
        attrs={**_attrs(net, named=True), **attrs},
        check=check_recurrent(net),
        shape=cell_shape(net),
        kernel=cell_kernel(net),
        unread=UNREAD,
    )


def _sequence_op(type: str, net: Network, **attrs: Field) -> Op:
    """Return the operation of all steps."""
    return Op(
        type=type,
        version=5,
        migrate=sequence(type.replace("Sequence", "Cell"), net.states),
        substitute=with_activations(type, net.activations),
        inputs=tuple(
            Input(name, type="integer float" if name == "sequence_lengths" else "T") for name in sequence_names(net)
        ),
        outputs=(Output("Y"), Output("Ho"), Output("Co"))[: 1 + net.states],
        types={"T": "float"},
        attrs={**_attrs(net, named=False), "direction": DIRECTION, **attrs},
        check=check_sequence(net),
        shape=sequence_shape(net),
        kernel=sequence_kernel(net),
        unread=UNREAD,
    )


SHARED = ("hidden_size", "activations", "activations_alpha", "activations_beta", "clip")


def migrate_lstm_cell_4(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | None:
    """Rewrite LSTMCell-4 before opset4: LSTMCell-1 without peepholes."""
    if target >= 4:
        return None
    layers = Layers(inputs, target)
    given = (Ref(None, number) for number in range(len(inputs)))
    layers.outputs("LSTMCell", *given, weights_format="fico", **{name: attrs[name] for name in SHARED})
    return layers.rewrite("no peepholes", "LSTMCell-1 computes the same without peepholes and coupled gates")


def migrate_lstm_cell_1(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | None:
    """Rewrite LSTMCell-1 of floats without peepholes and coupled gates from opset4 on; every opset reads it as it is.

    The runtime reads no `weights_format`, whose value is `ifco` in the files that it writes.
    """
    rows = dim(inputs[3], 0)
    if target < 4 or attrs.input_forget or attrs.weights_format not in {"fico", "ifco"} or len(inputs) > 6:
        return None
    if inputs[0].dtype.is_integer:
        return None
    layers = Layers(inputs, target)
    given: list[Ref | Array] = [Ref(None, number) for number in range(len(inputs))]
    if len(inputs) < 6:
        if not rows.static:
            return None
        given.append(np.zeros(rows.size, layers.dtype(Ref(None))))
    layers.outputs("LSTMCell", *given, **{name: attrs[name] for name in SHARED})
    return layers.rewrite("no peepholes", "LSTMCell-4 is LSTMCell-1 without peepholes and coupled gates")


LSTM_CELL_4 = replace(_cell_op("LSTMCell", 4, LSTM), migrate=migrate_lstm_cell_4, substitute=lstm_cell)


def lstm_cell_1_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the outputs of LSTMCell-4; the runtime compares peepholes `[3 * hidden]` and does not use them.

    Raises:
        ShapeError: as LSTMCell-4, or the peepholes have another size.
    """
    outputs = cell_shape(LSTM)(attrs, inputs)
    hidden = dim(outputs[0], 1)
    if len(inputs) > 6:
        shape = inputs[6].shape
        require(bool(shape), "has no first dimension", attribute="P")
        if shape and hidden.static:
            require(3 * hidden.size in shape[0], f"has {shape[0]} values; expected {3 * hidden.size}", attribute="P")
    return outputs


LSTM_CELL_1 = LSTM_CELL_4.at(
    1,
    inputs=(*LSTM_CELL_4.inputs[:5], Input("B", optional=True, type="T"), Input("P", optional=True)),
    attrs={
        "input_forget": Flag(default=False),
        "weights_format": OneOf(words=("fico", "icof", "ifco", "ifoc", "iofc"), default="ifco"),
    },
    types={"T": "float integer"},
    check=check_lstm_cell_1,
    shape=lstm_cell_1_shape,
    kernel=lstm_cell_1,
    migrate=migrate_lstm_cell_1,
    substitute=lstm_cell,
    unread={
        **UNREAD,
        "input_forget": "the runtime does not read it (measured)",
        "weights_format": "the runtime does not read it (measured)",
    },
)
_GRU_CELL = _cell_op("GRUCell", 3, GRU, **LINEAR)
GRU_CELL_3 = replace(
    _GRU_CELL, migrate=gru_cell, experimental=True, inputs=(*_GRU_CELL.inputs[:2], Input("W"), *_GRU_CELL.inputs[3:])
)
"""The runtime does not compare the type of its second weights with the others."""
RNN_CELL_1 = replace(_cell_op("RNNCell", 1, RNN), experimental=True, absent_opsets=(2,), substitute=rnn_cell)
LSTM_SEQUENCE_5 = _sequence_op("LSTMSequence", LSTM)
GRU_SEQUENCE_5 = _sequence_op("GRUSequence", GRU, **LINEAR)
RNN_SEQUENCE_5 = _sequence_op("RNNSequence", RNN)

OPS = (LSTM_CELL_1, LSTM_CELL_4, GRU_CELL_3, RNN_CELL_1, LSTM_SEQUENCE_5, GRU_SEQUENCE_5, RNN_SEQUENCE_5)
