"""The facts that rewrites are planned with."""

from collections.abc import Iterable
from typing import NamedTuple

from ir_tools.errors import GraphError, ReadError
from ir_tools.graph import Graph, Layer, Located, Model, Port, Source, find_port
from ir_tools.infer import LayerSignatures, Propagation
from ir_tools.ops import Role, role_of
from ir_tools.ops.definition import Fact
from ir_tools.ops.records import recorded, recorded_output
from ir_tools.types import Shape, shape_text

__all__ = ["InputFacts", "KnownFacts"]


class InputFacts(NamedTuple):
    """Hold what is known of a layer's inputs, and where the file contradicts itself."""

    inputs: tuple[Fact, ...]
    notes: tuple[str, ...]

    @property
    def key(self) -> tuple[int, ...]:
        """Return the identities of the facts."""
        return tuple(map(id, self.inputs))


class KnownFacts:
    """Work out what is known of the tensors of a model: as recorded, and computed where the record does not say enough.

    There is one object for equal records, and one for what each constant holds.
    """

    def __init__(self, model: Model, signatures: LayerSignatures) -> None:
        """Nothing is computed until a layer needs it, and no more than that; the model is not changed."""
        self.signatures = signatures
        self._computed = Propagation(model, signatures)
        self._intervals: bool | None = None
        self._outputs: dict[tuple[int, int | None, int], Fact] = {}

    def of(self, located: Located) -> InputFacts:
        """Return types and shapes of a layer's inputs, with the values of small integer constants that are there."""
        _, layer, graph = located
        facts: list[Fact] = []
        notes = []
        sources = graph.sources(layer.id)
        for port in self.signatures.of(layer)[0].inputs:
            source = sources.get(port.id)
            if source is None:
                facts.append(self._computed.record(port))
                continue
            fact = self._output(graph, source)
            if not _agree(port, fact.shape):
                made = f"'{graph.layer(source.layer).name}' makes {shape_text(fact.shape)}"
                notes.append(f"input port {port.id} records {list(port.dims)}, but {made}")
            facts.append(self._computed_fact(graph, source, fact) if self._says_little(fact) else fact)
        return InputFacts(tuple(facts), tuple(notes))

    def computed(self, located: Located) -> tuple[Fact, ...]:
        """Return all that the shape rules find out about the inputs that are connected."""
        _, layer, graph = located
        sources = graph.sources(layer.id)
        feeds = (sources[port.id] for port in self.signatures.of(layer)[0].inputs if port.id in sources)
        return tuple(self._computed_fact(graph, feed, self._output(graph, feed)) for feed in feeds)

    def results(self, located: Located) -> tuple[Fact, ...]:
        """Return all that the shape rules find out about the outputs."""
        _, layer, graph = located
        return tuple(self._computed_fact(graph, Source(layer.id, port.id), recorded(port)) for port in layer.outputs)

    def changed(self, model: Model, layers: Iterable[tuple[Graph, int]]) -> None:
        """Go on with the model, or the copy of it, in which layers were rewritten: only what follows from them is new.

        `layers`: with the graph of the model that holds each.
        """
        self._computed.move(model)
        self._intervals = None
        for graph, layer_id in layers:
            self._computed.forget(graph, layer_id)

    def _output(self, graph: Graph, source: Source) -> Fact:
        """Return the record of an output, with the shape of a Parameter and the values of a small integer constant."""
        producer = graph.layer(source.layer)
        signature, offset = self.signatures.of(producer)
        key = signature.number, offset, source.port
        fact = self._outputs.get(key)
        if fact is None:
            port = find_port(signature.outputs, source.port) or producer.port(source.port)
            if role_of(producer) in {Role.PARAMETER, Role.CONSTANT}:
                fact = self._recorded(producer, port)
            else:
                fact = self._computed.record(port)
            self._outputs[key] = fact
        return fact

    def _recorded(self, producer: Layer, port: Port) -> Fact:
        """Return what a Parameter or a constant says; without its bytes, the values of a constant are not known."""
        try:
            return recorded_output(producer, port, self._computed.model.weights)
        except ReadError:
            return recorded(port)

    def _says_little(self, fact: Fact) -> bool:
        """Return whether a rule may want more: a type, a rank, an interval, or the sizes that a small tensor holds."""
        if fact.shape is None or fact.dtype.kind == "dynamic":
            return True
        if not all(dim.static for dim in fact.shape):
            return self._has_intervals()
        return fact.value is None and fact.dtype.is_integer and len(fact.shape) == 1

    def _has_intervals(self) -> bool:
        if self._intervals is None:
            shapes = [end.layer.raw.get("shape", "") for end in self._computed.model.inputs]
            self._intervals = any(".." in text.replace("...", "") for text in shapes)
        return self._intervals

    def _computed_fact(self, graph: Graph, source: Source, record: Fact) -> Fact:
        """Return the fact that the shape rules give; the recorded one if they give no type or rank."""
        try:
            fact = self._computed.fact(graph, source)
        except GraphError:
            return record
        return record if fact.shape is None or fact.dtype.kind == "dynamic" else fact


def _agree(port: Port, shape: Shape) -> bool:
    """Return whether an input port records what its producer makes; one of the two may know less."""
    if shape is None or not port.dims:
        return True
    return len(shape) == len(port.dims) and all(
        size < 0 or size in dim for size, dim in zip(port.dims, shape, strict=True)
    )
