"""Recurrent layers of IR v2 to v7: cells and sequences of LSTM, GRU and RNN.

Source: measured on Inference Engine 2020.1; the gates are in the order of today.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ir_tools.graph import Source
from ir_tools.ops.definition import Fact, Input, Op, Output
from ir_tools.ops.fields import Attrs, Field, Float, Floats, Int, OneOf, Words
from ir_tools.ops.legacy._tensors import as_floats
from ir_tools.ops.legacy.definition import LegacyFlag, LegacyLayer, legacy_type, sizes_of

__all__ = ["OPS"]

DIRECTIONS = {"forward": "forward", "backward": "reverse"}


@dataclass(frozen=True, slots=True)
class Network:
    """A kind of recurrent network: its name, its gates, its activations and how many states it has."""

    name: str
    gates: int
    activations: tuple[str, ...]
    states: tuple[str, ...] = ("hidden_state",)

    def cell(self, layer: LegacyLayer) -> tuple[Source, ...]:
        """Return the next states."""
        tensors = [as_floats(layer, each) for each in layer.inputs]
        return layer.outputs(f"{self.name}Cell", *tensors, *_parameters(layer), **_settings(layer))

    def sequence(self, layer: LegacyLayer) -> tuple[Source, ...]:
        """Return the states of all steps, and the last ones; `axis` is that of time, 0 or 1."""
        data, *states = (as_floats(layer, each) for each in layer.inputs)
        turned = layer.attrs.axis == 0
        data = layer.call("Transpose", data, [1, 0, 2]) if turned else data
        batch = layer.call("Gather", layer.call("ShapeOf", data, output_type="i64"), [0], 0)
        sizes = layer.call("Concat", batch, [layer.attrs.hidden_size], axis=0)
        states = states or [layer.call("Broadcast", 0.0, sizes)] * len(self.states)
        found = layer.outputs(
            f"{self.name}Sequence",
            data,
            *(layer.call("Unsqueeze", state, [1]) for state in states),
            layer.call("Broadcast", layer.sizes(data)[1], batch),
            *(layer.call("Unsqueeze", each, [0]) for each in _parameters(layer)),
            direction=DIRECTIONS[layer.attrs.direction],
            **_settings(layer),
        )
        steps, *last = (layer.call("Squeeze", each, [1]) for each in found)
        return (layer.call("Transpose", steps, [1, 0, 2]) if turned else steps, *last)

    def blobs(self, attrs: Attrs, inputs: Sequence[Fact], outputs: Sequence[Fact]) -> Mapping[str, Collection[int]]:
        """Return how many weights and biases there are; GRU may have biases of the state that it adds before a gate."""
        hidden, size = attrs.hidden_size, sizes_of(inputs, rank=1)[-1]
        more = hidden if attrs.get("linear_before_reset") else 0
        return {"weights": {self.gates * hidden * (size + hidden)}, "biases": {self.gates * hidden + more}}

    def types(self) -> Iterator[Op]:
        """Yield the descriptions of cell and sequence."""
        attrs: Mapping[str, Field] = {
            "hidden_size": Int(minimum=1),
            "activations": Words(default=self.activations),
            "activations_alpha": Floats(default=()),
            "activations_beta": Floats(default=()),
            "clip": Float(default=0.0),
            **({"linear_before_reset": LegacyFlag(default=False)} if self.name == "GRU" else {}),
        }
        inputs = (Input("data"), *map(Input, self.states))
        outputs = tuple(map(Output, self.states))
        yield legacy_type(f"{self.name}Cell", self.cell, inputs=inputs, outputs=outputs, attrs=attrs, blobs=self.blobs)
        scan = {"axis": Int(default=1, minimum=0, maximum=1), "direction": OneOf(words=tuple(DIRECTIONS))}
        yield legacy_type(
            f"{self.name}Sequence",
            self.sequence,
            inputs=(Input("data"), *(Input(name, optional=True) for name in self.states)),
            outputs=(Output("sequence"), *outputs),
            attrs={**attrs, **scan},
            blobs=self.blobs,
        )


def _parameters(layer: LegacyLayer) -> tuple[Source, Source, Source]:
    """Return the weights of data and state, which are one blob, and the biases."""
    hidden = layer.attrs.hidden_size
    size = layer.sizes(layer.inputs[0])[-1]
    weights = layer.blob_values("weights").reshape(-1, size + hidden)
    return layer.constant(weights[:, :size]), layer.constant(weights[:, size:]), layer.blob("biases")


def _settings(layer: LegacyLayer) -> dict[str, object]:
    """Return the attributes that cells and sequences of today have, too."""
    return {name: value for name, value in layer.attrs.items() if name not in {"axis", "direction"}}


NETWORKS = (
    Network("LSTM", 4, ("sigmoid", "tanh", "tanh"), ("hidden_state", "cell_state")),
    Network("GRU", 3, ("sigmoid", "tanh")),
    Network("RNN", 1, ("tanh",)),
)
OPS = tuple(op for network in NETWORKS for op in network.types())
