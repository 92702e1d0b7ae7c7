"""The tensors inside a model as the runtime computes them, in batches that fit into memory."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ir_tools.arguments import word_list
from ir_tools.errors import RuntimeFailure, ShapeError, UsageError
from ir_tools.format.legacy import Centring
from ir_tools.graph import Graph, Layer, Located, Model, Port, Source
from ir_tools.graph.model import walk
from ir_tools.infer import propagate_shapes
from ir_tools.ops import Array, Elements, Role, elements_of, find_op, role_of, type_of
from ir_tools.runtime.client import RuntimeClient, Tap
from ir_tools.runtime.setting import Setting
from ir_tools.types import Shape, from_precision, precision_in_file
from ir_tools.weights import values

__all__ = [
    "Batch",
    "Choice",
    "as_far_as_it_runs",
    "batches",
    "count_compared",
    "decided_by_rounding",
    "groups",
    "input_taps",
    "inputs_of",
    "labels_of",
    "living",
    "living_taps",
    "quantized",
    "require_layers",
    "tap_of",
]

T = TypeVar("T")
U = TypeVar("U")
LARGEST = 1 << 29
"""Bytes of tensors that one run hands out, about; a model with more of them runs again for the rest.

Each run rounds otherwise: between tensors that stay inside, the plugin folds constants, of f16 in f16.
"""
FREE_SIZE = 32
"""What a dimension counts for whose size depends on values."""
SILENT = frozenset({Role.PARAMETER, Role.CONSTANT, Role.RESULT, Role.ASSIGN_VARIABLE})
"""What computes nothing."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which layers are compared. `types`: operation types; None for all layers that compute something."""

    types: frozenset[str] | None

    @classmethod
    def of(cls, layers: bool | str | Collection[str]) -> "Choice":
        """Read True for every layer, False for none, or operation types."""
        return cls(None if layers is True else frozenset(word_list(layers or ())))

    @property
    def any(self) -> bool:
        """Whether any layer is compared."""
        return self.types is None or bool(self.types)

    def takes(self, layer: Layer) -> bool:
        """Return whether the layer itself is compared."""
        if self.types is None:
            return role_of(layer) not in SILENT and bool(layer.outputs)
        return type_of(layer) in self.types

    def inside(self, layer: Layer) -> bool:
        """Return whether a layer in its bodies is compared."""
        inner = (entry for body in layer.bodies.values() for entry in body.layers())
        return any(self.takes(entry) or self.inside(entry) for entry in inner)

    def located(self, graph: Graph, prefix: str = "") -> list[Located]:
        """Return the layers of one graph that are compared or hold such layers, in the order of execution."""
        if not self.any:
            return []
        labels = labels_of(graph)
        wanted = (layer for layer in graph.ordered() if self.takes(layer) or self.inside(layer))
        return [Located(prefix + labels[layer.id], layer, graph) for layer in wanted]


def require_layers(model: Model, choice: Choice) -> None:
    """Raise a UsageError if the model has no layer of a type that is asked for."""
    if not choice.types:
        return
    known = {type_of(located.layer) for located in model.walk() if role_of(located.layer) not in SILENT}
    missing = sorted(choice.types - known)
    if missing:
        raise UsageError(f"the model has no layer of type '{missing[0]}'; it has {', '.join(sorted(known)) or 'none'}")


def count_compared(model: Model, layers: bool | str | Collection[str]) -> int:
    """Return how many layers of the main graph a comparison goes through, as progress counts them."""
    chosen = Choice.of(layers).located(model.graph)
    alive = {one.layer.id for one in chosen} if model.is_legacy else living(model.graph)
    return sum(one.layer.id in alive for one in chosen)


@dataclass(frozen=True, slots=True)
class Batch:
    """Some layers of one graph, in the order of execution, and the tensors that the runtime handed out for them.

    Attributes:
        layers: with their paths.
        tensors: by label of the layer in its graph, and output.
        outputs: of the model.
        labels: by layer id; see `labels_of`.
        refused: why there are none: what the runtime says of a model whose tensors here are taken out.
    """

    layers: tuple[Located, ...]
    tensors: Mapping[Tap, Array]
    outputs: Mapping[str, Array]
    labels: Mapping[int, str]
    refused: str | None = None

    @classmethod
    def without_tensors(cls, layers: Sequence[Located], reason: str) -> "Batch":
        """Return layers whose tensors the runtime does not hand out."""
        return cls(tuple(layers), {}, {}, {}, reason)

    @property
    def sources(self) -> Iterator[Source]:
        """Yield the tensors of the layers, none if the runtime handed out none."""
        for located in () if self.refused else self.layers:
            yield from (Source(located.layer.id, port.id) for port in located.layer.outputs)

    def actual(self, located: Located, index: int) -> Array:
        """Output number `index` of a layer."""
        return self.tensors[Tap(self.labels[located.layer.id], index)]

    def arrays(self, model: Model, located: Located) -> dict[int, Array]:
        """Return what a layer reads, by input port."""
        return inputs_of(model, located.graph, located.layer, self.tensors, self.labels)


def labels_of(graph: Graph) -> dict[int, str]:
    """Return what each layer of one graph is called: its name, with `#id` if two layers have the same."""
    return {entry.layer.id: entry.path for entry in walk(graph) if entry.graph is graph}


def living(graph: Graph) -> set[int]:
    """Return the layers that lead to a result or a state; the runtime leaves out all others."""
    queue = [layer.id for layer in graph.layers() if role_of(layer) in {Role.RESULT, Role.ASSIGN_VARIABLE}]
    found = set(queue)
    for layer_id in queue:
        new = {source.layer for source in graph.sources(layer_id).values()} - found
        found |= new
        queue += new
    return found


def living_taps(graph: Graph) -> set[Tap]:
    """Return the tensors that the runtime computes."""
    labels, alive = labels_of(graph), living(graph)
    return {Tap(labels[entry.id], index) for entry in map(graph.layer, alive) for index in range(len(entry.outputs))}


def quantized(model: Model) -> tuple[Tap, ...]:
    """Return the tensors of the main graph that are quantized.

    They are taken out of every run that computes a quantized model in f32. Left inside, OpenVINO 2026.4 merges the
    quantization into the convolution before, and gets it wrong in some models.
    """
    graph, labels = model.graph, labels_of(model.graph)
    alive = living(graph)
    found: dict[Tap, None] = {}
    for layer in graph.layers():
        if elements_of(layer) is Elements.QUANTIZED and layer.id in alive:
            source = graph.sources(layer.id)[layer.inputs[0].id]
            if role_of(graph.layer(source.layer)) is not Role.CONSTANT:
                found[tap_of(graph, source, labels)] = None
    return tuple(found)


def is_quantized(model: Model) -> bool:
    """Return whether a model has a quantization, or constants of at most 8 bits, such as compressed weights."""
    return any(elements_of(place.layer) is Elements.QUANTIZED or _is_small(place.layer) for place in model.walk())


def _is_small(layer: Layer) -> bool:
    kinds = (precision_in_file(port.precision or "") for port in layer.outputs)
    return role_of(layer) is Role.CONSTANT and any(
        kind and 0 < kind.bits <= 8 and kind.name != "boolean" for kind in kinds
    )


def batches(
    client: RuntimeClient,
    model: Model,
    fed: Mapping[str, Array],
    layers: Sequence[Located],
    setting: Setting,
    *,
    with_inputs: bool,
) -> Iterator[Batch]:
    """Run the model and hand out the outputs of `layers`, and what they read; as often as it takes.

    Without `with_inputs`, only layers with bodies and those that rounding may decide come with what they read.
    """
    labels, centred = labels_of(model.graph), Centring(model)
    more = quantized(model) if setting.tapped != setting.config else ()

    def run(group: Sequence[Located]) -> Batch:
        taps = dict.fromkeys(tap for located in group for tap in _taps(located, labels, with_inputs=with_inputs))
        found = client.infer_model(
            model, fed, taps=(*taps, *more), wide=setting.wide, device=setting.device, config=setting.tapped
        )
        return Batch(
            tuple(group), {tap: centred(tap.layer_name, found.taps[tap]) for tap in taps}, found.outputs, labels
        )

    for group in groups(layers, _sizes(model, fed), with_inputs=with_inputs):
        yield from as_far_as_it_runs(run, group, Batch.without_tensors)


def as_far_as_it_runs(
    run: Callable[[Sequence[T]], U], group: Sequence[T], give_up: Callable[[Sequence[T], str], U]
) -> Iterator[U]:
    """Yield what a group gives, or ever smaller parts if the runtime cannot hand out all of its tensors.

    A model runs otherwise once its tensors are taken out: the CPU plugin refuses some, and crashes over others.
    `give_up` takes a part of one that does not run, and the reason.
    """
    try:
        found = run(group)
    except RuntimeFailure as why:
        if why.kind not in {"rejected", "crashed"}:
            raise
        half = len(group) // 2
        if half:
            yield from as_far_as_it_runs(run, group[:half], give_up)
            yield from as_far_as_it_runs(run, group[half:], give_up)
        else:
            yield give_up(group, f"the model does not run with this tensor as an output: {why}")
    else:
        yield found


def groups(
    layers: Sequence[Located], sizes: Mapping[tuple[str, int], Shape], *, with_inputs: bool
) -> Iterator[list[Located]]:
    """Yield layers whose tensors fit into one run; `sizes`: by path and port."""
    group: list[Located] = []
    size = 0
    for located in layers:
        layer = located.layer
        ports = (*layer.inputs, *layer.outputs) if with_inputs else layer.outputs
        needed = sum(_bytes(port, sizes.get((located.path, port.id))) for port in ports)
        if group and size + needed > LARGEST:
            yield group
            group, size = [], 0
        group.append(located)
        size += needed
    if group:
        yield group


def _sizes(model: Model, fed: Mapping[str, Array]) -> Mapping[tuple[str, int], Shape]:
    """Return the shapes that follow from those of the inputs; none if a layer does not take them."""
    try:
        return propagate_shapes(model, {name: array.shape for name, array in fed.items()}).shapes
    except ShapeError:
        return {}


def _bytes(port: Port, shape: Shape) -> int:
    try:
        bits = from_precision(port.precision or "FP32").bits
    except UsageError:
        bits = 32
    sizes = port.dims if shape is None else [dim.lo if dim.static else -1 for dim in shape]
    return math.prod(FREE_SIZE if size < 0 else size for size in sizes) * max(bits, 8) // 8


def _taps(located: Located, labels: Mapping[int, str], *, with_inputs: bool) -> Iterator[Tap]:
    layer = located.layer
    for index in range(len(layer.outputs)):
        yield Tap(labels[layer.id], index)
    if with_inputs or layer.bodies or decided_by_rounding(layer):
        yield from input_taps(located.graph, layer, labels)


def decided_by_rounding(layer: Layer) -> bool:
    """Return whether errors of rounding in its inputs may decide what a layer gives, as the order of a TopK."""
    op = find_op(layer.type, layer.version)
    return op is not None and op.ill_conditioned is not None


def input_taps(graph: Graph, layer: Layer, labels: Mapping[int, str]) -> Iterator[Tap]:
    """Yield the taps at what feeds a layer, constants left out."""
    for source in graph.sources(layer.id).values():
        if role_of(graph.layer(source.layer)) is not Role.CONSTANT:
            yield tap_of(graph, source, labels)


def tap_of(graph: Graph, source: Source, labels: Mapping[int, str]) -> Tap:
    """Return the tap at an output port."""
    ports = graph.layer(source.layer).outputs
    return Tap(labels[source.layer], next(index for index, port in enumerate(ports) if port.id == source.port))


def inputs_of(
    model: Model, graph: Graph, layer: Layer, tensors: Mapping[Tap, Array], labels: Mapping[int, str]
) -> dict[int, Array]:
    """Return what a layer reads, by input port: constants from the file, the rest from the runtime."""
    sources = graph.sources(layer.id)
    found = {}
    for port in layer.inputs:
        if port.id in sources:
            producer = graph.layer(sources[port.id].layer)
            constant = role_of(producer) is Role.CONSTANT
            tap = tap_of(graph, sources[port.id], labels)
            found[port.id] = values(producer.raw, model.weights) if constant else tensors[tap]
    return found
