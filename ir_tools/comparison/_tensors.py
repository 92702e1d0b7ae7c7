"""The tensors inside a model as the runtime computes them, in batches that fit into memory."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ir_tools.errors import UsageError
from ir_tools.graph import Layer, Located, Model, Port, Source
from ir_tools.ops import Array, find_op
from ir_tools.runtime.client import RuntimeClient, Tap
from ir_tools.types import from_precision
from ir_tools.weights import values

__all__ = ["Batch", "Setting", "batches", "chosen_layers", "inputs_of", "tap_of"]

LARGEST = 1 << 30
"""Bytes of tensors that one run hands out, about; a model with more of them runs again for the rest."""
FREE_SIZE = 32
"""What a dimension of unknown size counts for."""
SILENT = frozenset({"Parameter", "Const", "Result"})


class Setting(NamedTuple):
    """Where a model runs."""

    device: str
    precision: str

    @property
    def config(self) -> Mapping[str, str]:
        """For the runtime, as it runs in use: a quantized model in int8, on the CPU, whatever the hint says."""
        return {"INFERENCE_PRECISION_HINT": "f32" if self.precision == "int8" else self.precision}

    @property
    def tapped(self) -> Mapping[str, str]:
        """For a model whose tensors are taken out: with f32, nothing is computed in int8.

        Not for a whole model: on OpenVINO 2026.4 that gives wrong outputs for a quantized IR v10 with f16 constants.
        """
        whole = self.precision != "int8" and self.device.split(".")[0] == "CPU"
        return {**self.config, "LP_TRANSFORMS_MODE": "NO"} if whole else self.config

    @property
    def wide(self) -> bool:
        """Whether f16 and bf16 are computed in f32, so that tensors of theirs are handed out in f32."""
        return self.precision in {"f32", "int8"}

    def __str__(self) -> str:
        """`CPU, f32`."""
        return f"{self.device}, {self.precision}"


@dataclass(frozen=True, slots=True)
class Batch:
    """Some layers, in the order of execution, and the tensors that the runtime handed out for them."""

    layers: tuple[Located, ...]
    tensors: Mapping[Tap, Array]
    outputs: Mapping[str, Array]


def chosen_layers(model: Model, layers: bool | Collection[str]) -> tuple[list[Located], list[Located]]:
    """The layers that are to be compared, in the order of execution: of the main graph, and those inside bodies.

    `layers`: True for all that compute something (bodies go with their layer), or operation types.
    """
    order = {layer.id: index for index, layer in enumerate(model.graph.ordered())}
    if layers is False:
        return [], []
    types = None if layers is True else frozenset(layers)
    found = [entry for entry in model.walk() if _is_chosen(entry.layer, types)]
    top = sorted((entry for entry in found if entry.graph is model.graph), key=lambda entry: order[entry.layer.id])
    return top, [entry for entry in found if entry.graph is not model.graph and types is not None]


def _is_chosen(layer: Layer, types: frozenset[str] | None) -> bool:
    if types is None:
        return layer.type not in SILENT and bool(layer.outputs)
    op = find_op(layer.type, layer.version)
    return (op.type if op else layer.type) in types


def batches(
    client: RuntimeClient,
    model: Model,
    fed: Mapping[str, Array],
    layers: Sequence[Located],
    setting: Setting,
    *,
    with_inputs: bool,
) -> Iterator[Batch]:
    """Run the model and hand out the outputs of `layers`, and what they read; as often as it takes."""
    for group in _groups(layers, with_inputs=with_inputs):
        taps = dict.fromkeys(tap for located in group for tap in _taps(located, with_inputs=with_inputs))
        run = client.infer_model(
            model, fed, taps=tuple(taps), wide=setting.wide, device=setting.device, config=setting.tapped
        )
        yield Batch(tuple(group), run.taps, run.outputs)


def _groups(layers: Sequence[Located], *, with_inputs: bool) -> Iterator[list[Located]]:
    group: list[Located] = []
    size = 0
    for located in layers:
        layer = located.layer
        ports = (*layer.inputs, *layer.outputs) if with_inputs else layer.outputs
        needed = sum(map(_bytes, ports))
        if group and size + needed > LARGEST:
            yield group
            group, size = [], 0
        group.append(located)
        size += needed
    if group:
        yield group


def _bytes(port: Port) -> int:
    try:
        bits = from_precision(port.precision or "FP32").bits
    except UsageError:
        bits = 32
    return math.prod(FREE_SIZE if size < 0 else size for size in port.dims) * max(bits, 8) // 8


def _taps(located: Located, *, with_inputs: bool) -> Iterator[Tap]:
    layer = located.layer
    for index in range(len(layer.outputs)):
        yield Tap(layer.name, index)
    if with_inputs:
        for source in located.graph.sources(layer.id).values():
            maker = located.graph.layer(source.layer)
            if maker.type != "Const":
                yield tap_of(maker, source)


def tap_of(maker: Layer, source: Source) -> Tap:
    """The tap at an output port."""
    return Tap(maker.name, next(index for index, port in enumerate(maker.outputs) if port.id == source.port))


def inputs_of(model: Model, located: Located, tensors: Mapping[Tap, Array]) -> dict[int, Array]:
    """What a layer reads, by input port: constants from the file, the rest from the runtime."""
    graph, layer = located.graph, located.layer
    sources = graph.sources(layer.id)
    found = {}
    for port in layer.inputs:
        if port.id in sources:
            maker = graph.layer(sources[port.id].layer)
            constant = maker.type == "Const"
            found[port.id] = values(maker.raw, model.weights) if constant else tensors[tap_of(maker, sources[port.id])]
    return found
