"""Putting a rewrite into a graph, and the facts that rewrites are planned with."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ir_tools.errors import IrToolsError, UsageError
from ir_tools.graph import Graph, Layer, LayerContent, Located, Model, Port, Source
from ir_tools.infer import propagate_shapes
from ir_tools.ops._define import Array, Bounds, Fact, NewLayer, Op, Ref, Refused, Rewrite
from ir_tools.types import Dim, ElementType, Shape, element_type, format_shape, from_dtype, from_precision, parse_shape
from ir_tools.weights import Weights, constant

__all__ = ["Facts", "KnownFacts", "apply", "changes_nothing", "lost_output"]

LIST = re.compile(r"\s*[+-]?\d+\s*(,\s*[+-]?\d+\s*)+")
LARGEST_VALUE = 1024
"""Elements of an integer constant that a rule may want to see."""


# --- facts ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a layer's inputs, and where the file contradicts itself."""

    inputs: tuple[Fact, ...]
    notes: tuple[str, ...]


class KnownFacts:
    """What is known of the tensors of a model: as recorded, and computed where the record does not say enough."""

    def __init__(self, model: Model) -> None:
        """Nothing is computed until a layer needs it; the model is not changed."""
        self.model = model
        self._computed: dict[tuple[str, int], Fact] | None = None
        self._intervals: bool | None = None

    def of(self, located: Located) -> Facts:
        """Types and shapes of a layer's inputs, with the values of small integer constants.

        Raises:
            ReadError: the bytes of a constant are not there.
        """
        path, layer, graph = located
        facts, notes = [], []
        sources = graph.sources(layer.id)
        for port in layer.inputs:
            source = sources.get(port.id)
            if source is None:
                fact = _port_fact(port)
            else:
                maker = graph.layer(source.layer)
                fact = _output_fact(maker, source, self.model.weights)
                if not _agree(port, fact.shape):
                    recorded, made = list(port.dims), format_shape(fact.shape)
                    notes.append(f"input port {port.id} records {recorded} where '{maker.name}' makes {made}")
            facts.append(self._computed_fact(path, port.id, fact) if self._says_little(fact) else fact)
        return Facts(tuple(facts), tuple(notes))

    def _says_little(self, fact: Fact) -> bool:
        """Whether a rule may want more: a type, a rank, an interval, or the sizes that a small tensor holds."""
        if fact.shape is None or fact.dtype.kind == "dynamic":
            return True
        if not all(dim.static for dim in fact.shape):
            return self._has_intervals()
        return fact.value is None and fact.dtype.is_integer and len(fact.shape) == 1

    def _has_intervals(self) -> bool:
        if self._intervals is None:
            shapes = [end.layer.raw.get("shape", "") for end in self.model.inputs]
            self._intervals = any(".." in text.replace("...", "") for text in shapes)
        return self._intervals

    def _computed_fact(self, path: str, port_id: int, recorded: Fact) -> Fact:
        """The fact out of shape propagation; the recorded one where that fails or knows no rank."""
        if self._computed is None:
            try:
                self._computed = propagate_shapes(self.model.copy()).facts
            except IrToolsError:
                self._computed = {}
        fact = self._computed.get((path, port_id))
        return recorded if fact is None or fact.shape is None or fact.dtype.kind == "dynamic" else fact


def _output_fact(maker: Layer, source: Source, weights: Weights) -> Fact:
    fact = _port_fact(maker.port(source.port))
    if maker.type == "Parameter" and "shape" in maker.raw:
        return Fact(fact.dtype, parse_shape(maker.raw["shape"]))
    if maker.type != "Const" or not fact.dtype.is_integer or fact.dtype.dtype is None:
        return fact
    shape = parse_shape(maker.raw.get("shape", ""))
    if shape is None or np.prod([dim.lo for dim in shape], dtype=np.float64) > LARGEST_VALUE:
        return fact
    return Fact(fact.dtype, shape, Bounds.exactly(constant(maker.raw, weights)))


def _port_fact(port: Port) -> Fact:
    """A port without dims may be a scalar or of unknown rank: unknown it is, since nothing is claimed then."""
    shape = tuple(Dim() if size < 0 else Dim.of(size) for size in port.dims) or None
    return Fact(_element_type(port.precision), shape)


def _element_type(precision: str | None) -> ElementType:
    try:
        return from_precision(precision or "UNSPECIFIED")
    except UsageError:
        return element_type("dynamic")


def _agree(port: Port, shape: Shape) -> bool:
    """Whether an input port records what its producer makes; one of the two may know less."""
    if shape is None or not port.dims:
        return True
    return len(shape) == len(port.dims) and all(
        size < 0 or size in dim for size, dim in zip(port.dims, shape, strict=True)
    )


# --- before the edit --------------------------------------------------------------------------------------------


def lost_output(graph: Graph, layer: Layer, rewrite: Rewrite) -> Refused | None:
    """A refusal where somebody reads an output that the rewrite does not have."""
    for index, port in enumerate(layer.outputs[len(rewrite.layers[-1].outputs) :], len(rewrite.layers[-1].outputs)):
        for reader, _ in graph.readers(layer.id, port.id):
            return Refused(f"output {index} is read by '{graph.layer(reader).name}', and the target has no such output")
    return None


def changes_nothing(layer: Layer, op: Op | None, rewrite: Rewrite) -> bool:
    """Whether the layer is already what the rewrite would make of it."""
    new = rewrite.layers[-1]
    return (
        _in_place(layer, rewrite)
        and layer.version == f"opset{new.opset}"
        and len(layer.outputs) == len(new.outputs)
        and _merged(layer, op, new, ",") == layer.raw
    )


def _in_place(layer: Layer, rewrite: Rewrite) -> bool:
    new = rewrite.layers[-1]
    if len(rewrite.layers) != 1 or len(new.inputs) != len(layer.inputs) or layer.type.lower() != new.type.lower():
        return False
    return all(isinstance(given, Ref) and given == Ref(None, index) for index, given in enumerate(new.inputs))


# --- the edit ---------------------------------------------------------------------------------------------------


def apply(model: Model, graph: Graph, layer: Layer, op: Op | None, rewrite: Rewrite) -> None:
    """Replace a layer. The last new layer takes over its id, name, place, tensor names, readers and rt_info.

    An edit in place keeps the bytes of everything but version and attributes.
    """
    writer = _Writer(model, graph, layer, op)
    if _in_place(layer, rewrite):
        writer.edit(rewrite.layers[-1])
        return
    made: list[Source] = []
    for new in rewrite.layers[:-1]:
        added, feeds = writer.layer(new, made)
        graph.add(added, feeds)
        made.append(Source(added.id, added.outputs[0].id))
    last, feeds = writer.layer(rewrite.layers[-1], made)
    for old, port in zip(layer.outputs, last.outputs, strict=False):
        port.dims, port.precision = old.dims, old.precision or port.precision
    graph.replace(layer.id, last, feeds)


class _Writer:
    """Makes layers in the style of the file, in place of one layer."""

    def __init__(self, model: Model, graph: Graph, layer: Layer, op: Op | None) -> None:
        self.model = model
        self.graph = graph
        self.old = layer
        self.op = op
        self.separator = _separator(graph, layer)
        self.inputs_typed = any(port.precision for port in layer.inputs)
        self.sources = graph.sources(layer.id)

    def edit(self, new: NewLayer) -> None:
        """Change version and attributes of the old layer, and how many outputs it has."""
        self.old.tag["version"] = f"opset{new.opset}"
        self.old.content.raw = _merged(self.old, self.op, new, self.separator)
        outputs = self.old.outputs
        del outputs[len(new.outputs) :]
        for fact in new.outputs[len(outputs) :]:
            outputs.append(_port(max(port.id for port in (*self.old.inputs, *outputs)) + 1, fact))

    def layer(self, new: NewLayer, made: Sequence[Source]) -> tuple[Layer, dict[int, Source]]:
        """A layer that is in no graph yet, and what feeds its inputs; its constants are in the graph already."""
        sources = [self._source(given, made, f"{new.label}_{index}") for index, given in enumerate(new.inputs)]
        inputs = []
        for index, source in enumerate(sources):
            port = self.graph.layer(source.layer).port(source.port)
            inputs.append(Port(index, port.precision if self.inputs_typed else None, port.dims))
        outputs = [_port(len(inputs) + index, fact) for index, fact in enumerate(new.outputs)]
        raw = _merged(self.old, self.op, new, self.separator) if new.type == self.old.type else self._styled(new.raw)
        content = LayerContent(raw, inputs, outputs)
        tag = {"name": self._name(new.label), "type": new.type, "version": f"opset{new.opset}"}
        return Layer(self.graph.new_id(), tag, content), dict(enumerate(sources))

    def _source(self, given: Ref | Array, made: Sequence[Source], label: str) -> Source:
        if not isinstance(given, Ref):
            return self._constant(given, label)
        if given.layer is None:
            return self.sources[self.old.inputs[given.output].id]
        return made[given.layer]

    def _constant(self, array: Array, label: str) -> Source:
        offset, size = self.model.weights.append(array)
        dtype = from_dtype(array.dtype)
        shape = self.separator.join(map(str, array.shape))
        raw = {"element_type": dtype.name, "shape": shape, "offset": str(offset), "size": str(size)}
        content = LayerContent(raw, [], [Port(0, dtype.precision, array.shape)])
        tag = {"name": self._name(label), "type": "Const", "version": "opset1"}
        added = self.graph.add(Layer(self.graph.new_id(), tag, content))
        return Source(added.id, 0)

    def _name(self, label: str) -> str:
        return self.graph.new_name(f"{self.old.name}/{label}")

    def _styled(self, raw: Mapping[str, str]) -> dict[str, str]:
        return {key: _with_separator(text, self.separator) for key, text in raw.items()}


def _port(port_id: int, fact: Fact) -> Port:
    dims = () if fact.shape is None else tuple(dim.lo if dim.static else -1 for dim in fact.shape)
    return Port(port_id, fact.dtype.precision, dims)


def _merged(layer: Layer, op: Op | None, new: NewLayer, separator: str) -> dict[str, str]:
    """The new attributes in the order of the old ones; text that says the same stays as it is.

    Attributes of the old operation that the new one lacks, and misspelled ones, go; unknown ones stay.
    """
    fields = op.attrs if op else {}
    gone = {spec.xml or name for name, spec in fields.items()}.union(*(spec.aliases for spec in fields.values()))
    merged: dict[str, str] = {}
    for key, text in layer.raw.items():
        if key in new.raw:
            same = "".join(text.split()) == "".join(new.raw[key].split())
            merged[key] = text if same else _with_separator(new.raw[key], separator)
        elif key not in gone:
            merged[key] = text
    return merged | {key: _with_separator(text, separator) for key, text in new.raw.items() if key not in merged}


def _separator(graph: Graph, layer: Layer) -> str:
    """What stands between list items in this file: that of the layer itself, or else of the first list found."""
    for one in (layer, *graph.layers()):
        for text in one.raw.values():
            if LIST.fullmatch(text):
                return ", " if ", " in text else ","
    return ","


def _with_separator(text: str, separator: str) -> str:
    return separator.join(word.strip() for word in text.split(",")) if LIST.fullmatch(text) else text
