"""What of the graphs of a model decides about what releases do with its layers."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property

from ir_tools.display import plural
from ir_tools.graph import Graph, Layer, Located, Model, Source
from ir_tools.known_differences.loop_patterns import LoopPatterns
from ir_tools.known_differences.model_problems import (
    EMPTY_FILE,
    NO_INPUTS,
    UNSPECIFIED,
    UNTYPED,
    WORDS,
    flags_in_words,
    input_problem,
    lacks_bytes,
    name_problems,
    text_problems,
)
from ir_tools.known_differences.neighbours import all_behind, all_used, gives_known_sizes, sources_of
from ir_tools.known_differences.patterns import Patterns, compares_itself
from ir_tools.known_differences.releases.seen import FIRST_VERSION, MULTIPLE, REMAINDERS, UNCONVERTED, Pattern, Seen
from ir_tools.known_differences.variable_patterns import VariablePatterns
from ir_tools.ops import Op, Role, opset_number, role_of
from ir_tools.ops.definition import Fact
from ir_tools.ops.fields import Attrs
from ir_tools.processors import Processor

__all__ = [
    "Surroundings",
    "idle_bodies",
    "quantized_note",
]

STEPS = "releases compute these in INT8, and their values may differ by steps of the quantization"
NOTHING = frozenset[str]()
BRANCHES = "else_body", "then_body"
"""The bodies of an If that is not true, and of one that is."""
SATURATED = "; on processors without VNNI, such as this one, sums of 8-bit products also saturate at 16 bits"


def quantized_note(model: Model) -> str:
    """Return what is to be known of a model with quantized tensors on whatever release; else an empty text."""
    count = quantized_tensors(model)
    more = SATURATED if Processor.NO_VNNI.is_here else ""
    return f"{plural(count, 'tensor')} quantized: {STEPS}{more}" if count else ""


class Surroundings:
    """What of the graphs of a model decides about what releases do with its layers, besides the layers themselves.

    Attributes:
        origins: of `PackedWeights`, for each graph by its `id`; to be cleared when edges change.
    """

    def __init__(self, model: Model, idle: Set[int] = frozenset()) -> None:
        """Look at nothing until it is needed; `idle`: the bodies that `idle_bodies` finds."""
        self.model = model
        self._idle = idle
        self._constants: dict[int, Mapping[int, frozenset[str]]] = {}
        self._names: dict[int, Mapping[int, frozenset[str]]] = {}
        self._used: dict[int, Set[int]] = {}
        self._attributes: dict[tuple[object, ...], tuple[Attrs | None, frozenset[str]]] = {}
        self._behind: dict[int, Mapping[str, Set[int]]] = {}
        self._patterns = Patterns(model)
        self._loops = LoopPatterns(model)
        self._variables = VariablePatterns(model)
        self.origins = self._patterns.origins

    @cached_property
    def _problems(self) -> Mapping[Role, frozenset[str]]:
        """What is wrong with the whole model, by the role of the layers that it is said of."""
        return {
            Role.CONSTANT: frozenset({EMPTY_FILE} if lacks_bytes(self.model) else ()),
            Role.RESULT: frozenset(() if self.model.inputs else {NO_INPUTS}),
        }

    def _problems_of(self, located: Located, op: Op) -> frozenset[str]:
        """Return what else is wrong with the model, said of a layer."""
        if op.role is not Role.PARAMETER:
            return self._problems.get(op.role, frozenset({WORDS}) if flags_in_words(located.layer) else NOTHING)
        if located.graph is self.model.graph:
            return frozenset(filter(None, [input_problem(located.layer)]))
        content = located.layer.common
        untyped = content.raw.get("element_type", "").lower() == "dynamic" and id(located.graph) in self._iterated
        unspecified = any(port.precision == "UNSPECIFIED" for port in content.outputs)
        return frozenset({UNTYPED} if untyped else ()) | frozenset({UNSPECIFIED} if unspecified else ())

    @cached_property
    def _iterated(self) -> Set[int]:
        """The bodies of TensorIterators, by `id`."""
        return self._bodies_of("TensorIterator")

    @cached_property
    def _branches(self) -> Set[int]:
        """The bodies of Ifs, by `id`."""
        return self._bodies_of("If")

    def _bodies_of(self, type: str) -> Set[int]:
        layers = (layer for _, layer in self.model.owners() if layer.type == type)
        return {id(body) for layer in layers for body in layer.bodies.values()}

    def is_read(self, located: Located) -> bool:
        """Return whether releases read a layer: those that no Result needs they do not, but for inputs."""
        _, layer, graph = located
        used = self._used.get(id(graph))
        if used is None:
            used = self._used[id(graph)] = all_used(graph)
        return layer.id in used or role_of(layer) is Role.PARAMETER

    def seen(self, located: Located, op: Op, inputs: Sequence[Fact], outputs: Sequence[Fact], version: int) -> Seen:
        """Return a layer as it decides about releases.

        Args:
            located: the layer.
            op: its operation.
            inputs: facts of the inputs that are connected, in order.
            outputs: facts of all outputs.
            version: of the IR.
        """
        _, layer, graph = located
        content, place = layer.common, id(graph)
        bordered = version == FIRST_VERSION and graph is self.model.graph
        if place not in self._names:
            self._names[place] = name_problems(graph, bordered)
        known, sources = self._constants_in(graph), sources_of(graph, layer)
        feeds = [source.layer for source in sources if source is not None]
        attrs, absent = self._attributes_of(op, content.raw)
        before = [role is Role.PARAMETER for role in _roles(graph, feeds) if role is not Role.CONSTANT]
        targets = [
            (number, fact, graph.layer(reader))
            for number, (port, fact) in enumerate(zip(content.outputs, outputs, strict=True))
            for reader, _ in graph.consumers(layer.id, port.id)
        ]
        after = [role_of(reader) is Role.RESULT for _, _, reader in targets]
        readers = [
            (number, "Convert" if bordered and last and fact.dtype.name not in UNCONVERTED else reader.type)
            for (number, fact, reader), last in zip(targets, after, strict=True)
        ]
        constant = [feed in known for feed in feeds]
        return Seen(
            op,
            attrs,
            inputs,
            outputs,
            constant=frozenset(
                [
                    number
                    for number, (held, fact) in enumerate(zip(constant, inputs, strict=False))
                    if held or fact.exact is not None
                ]
            ),
            version=version,
            held=frozenset().union(*[known[feed] for feed in feeds if feed in known]) if any(constant) else NOTHING,
            opset=opset_number(layer.version) or 6,
            first=any(before),
            last=any(after),
            absent=absent,
            open=any([min(port.dims, default=0) < 0 for port in (*content.inputs, *content.outputs)]),
            names=self._names[place].get(layer.id, NOTHING)
            | self._problems_of(located, op).union(text_problems(layer, version)),
            between=all(before) and all(after),
            producers=_producers(graph, layer, sources),
            readers=tuple(sorted(readers)),
            scaled=self._patterns.scaled(graph, layer, known),
            patterns=self.patterns(graph, layer, op, outputs),
            idle=place in self._idle,
            unread=self._loops.unread(layer),
        )

    def patterns(self, graph: Graph, layer: Layer, op: Op, outputs: Sequence[Fact]) -> frozenset[str]:
        """Return what a layer is part of; `outputs`: facts of all of them."""
        known = self._constants_in(graph)
        return self._patterns.of(graph, layer, op, known).union(
            self._loops.of(graph, layer, known),
            self._variables.of(graph, layer, known),
            [name for name, behind in self._behind_in(graph).items() if layer.id in behind],
            [Pattern.CHOSEN] if any(0 in fact.dims for fact in outputs) and id(graph) in self._branches else [],
        )

    def _constants_in(self, graph: Graph) -> Mapping[int, frozenset[str]]:
        """Return the layers of a graph that are computed of constants alone, with the element types of these."""
        if id(graph) not in self._constants:
            self._constants[id(graph)] = _constant_layers(graph)
        return self._constants[id(graph)]

    def _behind_in(self, graph: Graph) -> Mapping[str, Set[int]]:
        """Return which layers of a graph are `LIMITED` and `DECIDED`."""
        if id(graph) not in self._behind:
            layers = [layer for layer in graph.layers() if layer.type in {"If", "NonMaxSuppression"}]
            limited = [layer.id for layer in layers if layer.type != "If"]
            decided = [layer.id for layer in layers if layer.type == "If" and compares_itself(graph, layer)]
            self._behind[id(graph)] = {
                Pattern.LIMITED: all_behind(graph, limited),
                Pattern.DECIDED: all_behind(graph, decided),
            }
        return self._behind[id(graph)]

    def _attributes_of(self, op: Op, raw: Mapping[str, str]) -> tuple[Attrs | None, frozenset[str]]:
        """Return the attributes of a layer, and which are absent; layers with the same text share them."""
        key = id(op), *raw.items()
        if key not in self._attributes:
            self._attributes[key] = op.read(raw, []), op.absent(raw)
        return self._attributes[key]


def idle_bodies(model: Model, inputs_of: Callable[[Graph, Layer], Sequence[Fact]]) -> Set[int]:
    """Return the branches of Ifs that known conditions do not take, and all bodies in these, by `id`.

    Args:
        model: that has them.
        inputs_of: what is known of the inputs of an If that are connected, in order.
    """
    found = set[int]()
    for graph, layer in model.owners():
        if id(graph) in found:
            found.update(map(id, layer.bodies.values()))
        elif layer.type == "If":
            condition = next((fact.integers() for fact in inputs_of(graph, layer)), None)
            if condition is not None and len(condition) == 1:
                found.update(id(body) for name, body in layer.bodies.items() if name == BRANCHES[not condition[0]])
    return found


def quantized_tensors(model: Model) -> int:
    """Return how many tensors of a model are quantized when it runs; constants are before that."""
    constants: dict[int, Set[int]] = {}
    count = 0
    for graph, layer in ((one, layer) for one in model.graphs() for layer in one.layers()):
        if layer.type == "FakeQuantize":
            if id(graph) not in constants:
                constants[id(graph)] = _constant_layers(graph).keys()
            sources = graph.sources(layer.id)
            count += any(
                sources[port.id].layer not in constants[id(graph)]
                for port in layer.common.inputs[:1]
                if port.id in sources
            )
    return count


def _roles(graph: Graph, layers: Iterable[int]) -> Iterator[Role]:
    """Yield the roles of layers."""
    return (role_of(graph.layer(layer_id)) for layer_id in layers)


def _producers(graph: Graph, layer: Layer, sources: Sequence[Source | None]) -> tuple[str, ...]:
    """Return `producers` of a layer; `sources`: what feeds its inputs."""
    found = tuple(_alone(graph, source) for source in sources)
    if layer.type != "Divide" or found[:1] != ("Subtract",) or sources[0] is None:
        return found
    data, rest = sources_of(graph, graph.layer(sources[0].layer))
    remainder = None if rest is None else graph.layer(rest.layer)
    if remainder is None or remainder.type not in REMAINDERS or sources_of(graph, remainder) != [data, sources[1]]:
        return found
    return (MULTIPLE, *found[1:])


def _alone(graph: Graph, source: Source | None) -> str:
    """Return the type of the layer that computes a tensor if only one input reads it; else an empty text."""
    if source is None or graph.reads(*source) != 1:
        return ""
    producer = graph.layer(source.layer)
    return producer.type if role_of(producer) is Role.COMPUTATION else ""


def _constant_layers(graph: Graph) -> dict[int, frozenset[str]]:
    """Return the layers that are computed of constants and known sizes alone, with the element types of these."""
    constants = [layer for layer in graph.layers() if role_of(layer) is Role.CONSTANT or gives_known_sizes(layer)]
    found = {layer.id: frozenset(filter(None, [layer.common.raw.get("element_type")])) for layer in constants}
    todo, unknown = [*found], dict[int, int]()
    for number in todo:
        for reader in graph.successors(number):
            if reader in found:
                continue
            producers = graph.producers(reader)
            unknown[reader] = unknown.get(reader, len(producers)) - 1
            if not unknown[reader] and role_of(graph.layer(reader)) is Role.COMPUTATION:
                found[reader] = frozenset().union(*(found[one] for one in producers))
                todo.append(reader)
    return found
