"""The facts that rewrites are planned with."""

from collections.abc import Iterable, Iterator, Sequence, Set
from functools import partial
from typing import NamedTuple

from ir_tools.errors import GraphError, ReadError
from ir_tools.graph import Graph, Layer, Located, Model, Port, Source, find_port
from ir_tools.infer import Propagation
from ir_tools.ops import Role, role_of
from ir_tools.ops.definition import Bounds, Elements, Fact, LaterFact
from ir_tools.ops.interning import value_key
from ir_tools.ops.records import recorded, recorded_output
from ir_tools.types import Shape, is_static, shape_text

__all__ = ["InputFacts", "KnownFacts"]


class InputFacts(NamedTuple):
    """Hold what is known of a layer's inputs, and where the file contradicts itself.

    `key`: the same for inputs of which the same is known without computing the sizes that small tensors hold.
    """

    inputs: tuple[Fact, ...]
    notes: tuple[str, ...]
    key: tuple[int, ...]

    @property
    def looked_at(self) -> Sequence[int]:
        """The numbers of the inputs of which sizes that small tensors hold have been computed."""
        return [number for number, fact in enumerate(self.inputs) if isinstance(fact, LaterFact) and fact.looked_at]

    def values(self, numbers: Iterable[int]) -> Iterator[object]:
        """Yield a key for each of some inputs, and with them their numbers: equal if they hold equal sizes."""
        return ((number, value_key(self.inputs[number])) for number in numbers)

    @property
    def without_values(self) -> tuple[Fact, ...]:
        """The inputs without the sizes that small tensors hold."""
        return tuple(fact.without_values() if isinstance(fact, LaterFact) else fact for fact in self.inputs)


class KnownFacts:
    """Work out what is known of the tensors of a model: as recorded, and computed where the record does not say enough.

    There is one object for equal records, and one for what each constant holds.
    """

    def __init__(self, model: Model) -> None:
        """Compute nothing until a layer needs it, and no more than that; the model is not changed."""
        self._computed = Propagation(model)
        self.signatures = self._computed.signatures
        self._intervals: bool | None = None
        self._of_data: Set[int] | None = None
        self._outputs: dict[tuple[int, int | None, int], Fact] = {}

    def of(self, located: Located) -> InputFacts:
        """Return types and shapes of a layer's inputs, with the values of small integer constants that are there."""
        _, layer, graph = located
        facts: list[Fact] = []
        notes, key = list[str](), list[int]()
        sources = graph.sources(layer.id)
        for port in self.signatures.of(layer)[0].inputs:
            source = sources.get(port.id)
            fact = self._computed.record(port) if source is None else self._output(graph, source)
            if source is not None:
                if port.dims != fact.dims and not _agree(port, fact.shape):
                    made = f"'{graph.layer(source.layer).name}' outputs {shape_text(fact.shape)}"
                    notes.append(f"input port {port.id} records {list(port.dims)}, but {made}")
                if self._says_little(fact):
                    fact = self._computed_fact(graph, source) or fact
            key.append(id(fact))
            if source is not None and _may_hold_sizes(fact):
                fact = LaterFact(fact.dtype, fact.shape, partial(self._values, graph, source, fact))
            facts.append(fact)
        return InputFacts(tuple(facts), tuple(notes), tuple(key))

    def computed(self, graph: Graph, layer: Layer) -> tuple[Fact, ...]:
        """Return all that the shape rules find out about the inputs that are connected."""
        sources = graph.sources(layer.id)
        feeds = (sources[port.id] for port in self.signatures.of(layer)[0].inputs if port.id in sources)
        return tuple(self._computed_fact(graph, feed) or self._output(graph, feed) for feed in feeds)

    def results(self, located: Located) -> tuple[Fact, ...]:
        """Return all that the shape rules find out about the outputs."""
        _, layer, graph = located
        return tuple(
            self._computed_fact(graph, Source(layer.id, port.id)) or self._computed.record(port)
            for port in self.signatures.of(layer)[0].outputs
        )

    def moved(self, model: Model) -> None:
        """Go on with the model, or a copy of it that was not changed yet."""
        self._computed.move(model)

    def changed(self, layers: Iterable[tuple[Graph, int]]) -> None:
        """Drop what follows from layers that were rewritten, each with its graph; all else stays known."""
        self._intervals = self._of_data = None
        self._computed.forget(layers)

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
        """Return whether a rule may want more: a type, a rank or an interval."""
        if fact.shape is None or fact.dtype.kind == "dynamic":
            return True
        return not is_static(fact.shape) and self._has_intervals()

    def _has_intervals(self) -> bool:
        if self._intervals is None:
            shapes = [end.layer.raw.get("shape", "") for end in self._computed.model.inputs]
            self._intervals = any(".." in text.replace("...", "") for text in shapes)
        return self._intervals

    def _values(self, graph: Graph, source: Source, record: Fact) -> Bounds | None:
        """Return the values that the shape rules find out, unless they give another shape than the file."""
        if graph is self._computed.model.graph and self._depends_on_data(graph, source.layer):
            return None
        fact = self._computed_fact(graph, source) or record
        return fact.value if fact.shape == record.shape else None

    def _depends_on_data(self, graph: Graph, layer_id: int) -> bool:
        """Return whether what a layer of the main graph gives is computed from what the inputs of the model hold.

        No rule knows such values, nor those that bodies give. Sizes do not depend on them.
        """
        if self._of_data is None:
            found, todo = set[int](), [end.layer.id for end in self._computed.model.inputs]
            while todo:
                for consumer in graph.successors(todo.pop()):
                    op = self.signatures.of(graph.layer(consumer))[0].op
                    reads = op is None or op.elements(0) is not Elements.UNREAD
                    if consumer not in found and reads:
                        found.add(consumer)
                        todo.append(consumer)
            self._of_data = found
        return layer_id in self._of_data

    def _computed_fact(self, graph: Graph, source: Source) -> Fact | None:
        """Return the fact that the shape rules give; None if they give no type or rank."""
        try:
            fact = self._computed.fact(graph, source)
        except GraphError:
            return None
        return None if fact.shape is None or fact.dtype.kind == "dynamic" else fact


def _may_hold_sizes(fact: Fact) -> bool:
    """Return whether a rule may want the values of a small tensor: sizes, factors of them, or rows of places."""
    countable = fact.dtype.is_integer or fact.dtype.is_float
    return fact.value is None and countable and is_static(fact.shape) and 1 <= len(fact.shape or ()) <= 2


def _agree(port: Port, shape: Shape) -> bool:
    """Return whether an input port records what its producer makes; one of the two may know less."""
    if shape is None or not port.dims:
        return True
    return len(shape) == len(port.dims) and all(
        size < 0 or size in dim for size, dim in zip(port.dims, shape, strict=True)
    )
