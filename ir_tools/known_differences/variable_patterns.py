"""What layers are part of that read and keep variables, as it decides about what releases do with them."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from functools import cached_property
from math import prod
from typing import NamedTuple

from ir_tools.errors import ReadError
from ir_tools.graph import Graph, Layer, Model, Source, find_port
from ir_tools.known_differences.fusing_patterns import FUNCTIONS
from ir_tools.known_differences.neighbours import (
    FAR,
    MOVED,
    VIEWS,
    all_used,
    computed_sources,
    gives_known_sizes,
    made_from,
    number_of,
    producer_of,
    readers_of,
    sources_of,
    walked,
)
from ir_tools.known_differences.releases.seen import ELEMENTWISE, Pattern
from ir_tools.ops import Role, role_of
from ir_tools.weights import values

__all__ = ["VariablePatterns"]

JUST_SIZES = "ShapeOf"
"""The type of layers that read no element of a tensor."""
MOVING = VIEWS | {"Broadcast", "Convert", "Gather", "Pad", "Slice", "StridedSlice", "Tile", "Transpose"}
"""Types of layers that may give the elements of their first input as they are."""
NEUTRAL = {"Add": 0, "Subtract": 0, "Multiply": 1, "Divide": 1}
"""Types of layers that do so if the second input is this number."""
OVERWRITING = frozenset({"GRN", "SoftMax"})
"""Types of layers that write into the memory of a variable that nothing else reads."""
ARRANGING = VIEWS | ELEMENTWISE | MOVED | {"Broadcast", "Concat", "Gather", "Slice", "StridedSlice", "Tile"}
"""Types of layers between a variable and the keys of an attention."""
MANY = 4096
"""How many layers are looked at for one that they depend on."""
DEEP = 12
"""How many layers in a row are compared to find two that give the same."""
LARGEST = 64
"""How many elements constants have at most that are compared by value."""


class _Variable(NamedTuple):
    """The layers that read and keep a variable."""

    read: Layer
    assign: Layer


class VariablePatterns:
    """The patterns of layers of variables, and of those that read these."""

    def __init__(self, model: Model) -> None:
        """Look at nothing until it is needed."""
        self._model = model
        self._variables: dict[int, Mapping[int, _Variable]] = {}
        self._alone: dict[int, Collection[int]] = {}
        self._used: dict[int, Set[int]] = {}

    @cached_property
    def _never_kept(self) -> Set[str | None]:
        """The variables that no layer of the model keeps; none if one keeps what no layer reads, by mistake maybe."""
        read, kept = set[str | None](), set[str | None]()
        named = {Role.READ_VARIABLE: read, Role.ASSIGN_VARIABLE: kept}
        for layer in (layer for graph in self._model.graphs() for layer in graph.layers()):
            if (role := role_of(layer)) in named:
                named[role].add(layer.common.raw.get("variable_id"))
        return read - kept if kept <= read else set()

    def _in(self, graph: Graph) -> Mapping[int, _Variable]:
        """Return the variables of a graph, by the ids of the layers that read and keep them."""
        if id(graph) not in self._variables:
            by_name = defaultdict[str, dict[Role, Layer]](dict)
            for layer in graph.layers():
                if (role := role_of(layer)) is Role.READ_VARIABLE or role is Role.ASSIGN_VARIABLE:
                    by_name[layer.common.raw.get("variable_id", "")][role] = layer
            pairs = [
                _Variable(pair[Role.READ_VARIABLE], pair[Role.ASSIGN_VARIABLE])
                for pair in by_name.values()
                if len(pair) == len(_Variable._fields)
            ]
            self._variables[id(graph)] = {layer.id: pair for pair in pairs for layer in pair}
        return self._variables[id(graph)]

    def of(self, graph: Graph, layer: Layer, constants: Collection[int]) -> Iterator[str]:
        """Yield the patterns of a layer; `constants`: the layers of the graph that are computed of constants alone."""
        variables = self._in(graph)
        if role_of(layer) is Role.READ_VARIABLE and layer.common.raw.get("variable_id") in self._never_kept:
            yield Pattern.NEVER_KEPT
        if not variables:
            return
        pair = variables.get(layer.id)
        if pair is not None and layer is pair.read:
            yield from self._of_read(graph, pair, constants)
        elif pair is not None:
            yield from self._of_assign(graph, pair, variables)
            yield from self._of_unchanged(graph, pair)
            if _is_joined(graph, pair, constants):
                yield Pattern.JOINED_STATE
        elif layer.type == "Concat":
            if any(self._begins_alone(graph, source, constants) for source in sources_of(graph, layer)):
                yield Pattern.BEGUN
        elif layer.type == "MatMul" and _is_known_state(graph, layer, constants):
            yield Pattern.KNOWN_STATE
        elif layer.type == "ScaledDotProductAttention":
            yield from _of_attention(graph, layer)
        elif layer.type in OVERWRITING and _reads_open_state(graph, layer):
            yield Pattern.OPEN_STATE

    def _of_read(self, graph: Graph, pair: _Variable, constants: Collection[int]) -> Iterator[str]:
        first, kept = _sizes(pair.read), _sizes(pair.assign)
        if min(kept, default=0) >= 0 and not _comes_of_a_cell(graph, pair):
            yield Pattern.KNOWN_KEPT
        if not pair.read.common.inputs:
            return
        if min(first, default=0) >= 0:
            if min(kept, default=0) < 0 and not _is_known_then(graph, pair):
                yield Pattern.UNKNOWN_KEPT
            elif kept != first and (min(kept, default=0) >= 0 or _grows(graph, pair)):
                yield Pattern.OTHER_KEPT
        elif pair.read.id in self._begun(graph, constants) and any(
            size >= 0 and size != other for size, other in zip(first, kept, strict=False)
        ):
            yield Pattern.OUTGROWN_START

    def _of_assign(self, graph: Graph, pair: _Variable, variables: Mapping[int, _Variable]) -> Iterator[str]:
        kept = next(iter(sources_of(graph, pair.assign)), None)
        if kept is None:
            return
        if _keeps_an_input(graph, kept):
            yield Pattern.KEPT_INPUT
        if _depends_on(graph, [kept.layer], {pair.read.id}) is False:
            yield Pattern.UNRELATED
            if _depends_on(graph, [kept.layer], variables):
                yield Pattern.CROSSED
        first = next(iter(sources_of(graph, pair.read)), None)
        if first is None:
            return
        same = first == kept or (
            graph.layer(first.layer).type == graph.layer(kept.layer).type
            and self._signature(graph, first) == self._signature(graph, kept)
        )
        if not same and not _depends_on(graph, [first.layer], {kept.layer}):
            return
        readers = {one for one, _ in graph.consumers(*kept, FAR)} - {pair.assign.id, pair.read.id}
        if same or _depends_on(graph, [*readers], {pair.read.id}):
            yield Pattern.STARTING

    def _of_unchanged(self, graph: Graph, pair: _Variable) -> Iterator[str]:
        """Yield the patterns of an Assign that keeps what the variable held before."""
        steps = self._steps_between(graph, pair)
        if steps is None:
            return
        if id(graph) not in self._used:
            self._used[id(graph)] = all_used(graph)
        own = [pair.read, *steps]

        def readers(layer: Layer) -> list[Layer]:
            """Return the layers that read what a variable holds, in whatever shape, but for the one that keeps it."""
            found = readers_of(graph, layer) if layer in own or layer.type in VIEWS else []
            used = [one for one in found if one.id in self._used[id(graph)] and one is not pair.assign]
            return [one for one in used if not gives_known_sizes(one)]

        behind = [one for one in walked(own, readers) if one not in own and one.type not in VIEWS]
        if not behind:
            yield Pattern.HELD
        elif len(behind) == 1 and behind[0].type in OVERWRITING:
            yield Pattern.OVERWRITTEN

    def _steps_between(self, graph: Graph, pair: _Variable) -> Sequence[Layer] | None:
        """Return the layers between a variable and what is kept of it; None if they change elements or are others."""
        steps = list[Layer]()
        layer = producer_of(graph, pair.assign)
        while layer is not None and layer is not pair.read and len(steps) < FAR and self._moves(graph, layer):
            steps.append(layer)
            layer = producer_of(graph, layer)
        return steps if layer is pair.read else None

    def _moves(self, graph: Graph, layer: Layer) -> bool:
        """Return whether a layer gives elements of its first input, maybe all as they are."""
        neutral = NEUTRAL.get(layer.type)
        return layer.type in MOVING or (neutral is not None and number_of(self._model, graph, layer, 1) == neutral)

    def _begins_alone(self, graph: Graph, source: Source | None, constants: Collection[int]) -> bool:
        """Return whether a tensor is a variable of unknown sizes whose initial value is computed for it alone."""
        layer = None if source is None else graph.layer(source.layer)
        if layer is not None and layer.type == "Convert":
            layer = producer_of(graph, layer)
        if layer is None or layer.id not in self._begun(graph, constants):
            return False
        return min(_sizes(layer), default=0) < 0

    def _begun(self, graph: Graph, constants: Collection[int]) -> Collection[int]:
        """Return the layers that read variables whose initial values are computed for one alone."""
        if id(graph) not in self._alone:
            found = defaultdict[object, list[int]](list)
            for pair in {one.read.id: one for one in self._in(graph).values()}.values():
                first = next(iter(sources_of(graph, pair.read)), None)
                if (
                    first is not None
                    and first.layer not in constants
                    and role_of(graph.layer(first.layer)) is Role.COMPUTATION
                    and graph.reads(*first) == 1
                ):
                    found[self._signature(graph, first)].append(pair.read.id)
            self._alone[id(graph)] = {reads[0] for reads in found.values() if len(reads) == 1}
        return self._alone[id(graph)]

    def _signature(self, graph: Graph, source: Source | None, depth: int = DEEP) -> object:
        """Return what is equal for tensors that are computed in the same way of the same."""
        if source is None or not depth:
            return source
        layer = graph.layer(source.layer)
        content = layer.common
        if role_of(layer) is Role.CONSTANT:
            port = content.outputs[0]
            try:
                known = values(layer.raw, self._model.weights) if prod(port.dims) <= LARGEST else None
            except ReadError:
                known = None
            return source if known is None else (port.precision, *port.dims, known.tobytes())
        if role_of(layer) is not Role.COMPUTATION:
            return source
        inputs = [self._signature(graph, one, depth - 1) for one in sources_of(graph, layer)]
        return (layer.type, layer.version, source.port, *content.raw.items(), *inputs)


def _sizes(layer: Layer) -> Sequence[int]:
    """Return the sizes of what a layer reads first, as the file records them."""
    return layer.common.inputs[0].dims if layer.common.inputs else ()


def _depends_on(graph: Graph, layers: Sequence[int], wanted: Collection[int]) -> bool | None:
    """Return whether some layers are among others or give elements that these are computed of; None if too many are."""
    seen, waiting = set[int](), [*layers]
    while waiting:
        if len(seen) > MANY:
            return None
        layer = waiting.pop()
        if layer in wanted:
            return True
        seen.add(layer)
        if graph.layer(layer).type != JUST_SIZES:
            waiting += {*graph.producers(layer)} - seen
    return False


def _keeps_an_input(graph: Graph, kept: Source) -> bool:
    """Return whether an input of the graph lies in the memory of what is kept, and other layers read it there."""
    read = 0
    for _ in range(FAR):
        readers = [graph.layer(one) for one, _ in graph.consumers(*kept, FAR)]
        read += sum(role_of(one) is Role.COMPUTATION and one.type not in VIEWS for one in readers)
        layer = graph.layer(kept.layer)
        if role_of(layer) is Role.PARAMETER:
            return read > 0
        sources = sources_of(graph, layer)
        if layer.type == "Concat" and _is_joined_in_place(layer):
            inputs = [one for one in sources if one is not None and role_of(graph.layer(one.layer)) is Role.PARAMETER]
            return bool(inputs) and read > 0
        if layer.type not in VIEWS or not sources or sources[0] is None:
            return False
        kept = sources[0]
    return False


def _is_joined_in_place(concat: Layer) -> bool:
    """Return whether each part of a Concat is one piece of its memory."""
    try:
        axis = int(concat.common.raw.get("axis", ""))
    except ValueError:
        return False
    sizes = [port.dims for port in concat.common.outputs]
    return bool(sizes) and prod(sizes[0][:axis]) == 1


def _is_joined(graph: Graph, pair: _Variable, constants: Collection[int]) -> bool:
    """Return whether what is kept lies in the memory of a Concat, and the initial value is not constant."""
    first = next(iter(sources_of(graph, pair.read)), None)
    if first is None or first.layer in constants:
        return False
    layer = producer_of(graph, pair.assign)
    for _ in range(FAR):
        if layer is None or layer.type == "Concat":
            break
        moves = layer.type in VIEWS or layer.type == "Transpose"
        if not moves and (layer.type not in ELEMENTWISE or not _is_in_place(graph, layer, constants)):
            return False
        layer = producer_of(graph, layer)
    return layer is not None and layer.type == "Concat" and _is_joined_in_place(layer)


def _is_in_place(graph: Graph, layer: Layer, constants: Collection[int]) -> bool:
    """Return whether a layer reads one tensor that is not constant, and one layer reads what it gives."""
    return len(computed_sources(graph, layer, constants)) == 1 and len(readers_of(graph, layer)) == 1


def _is_known_then(graph: Graph, pair: _Variable) -> bool:
    """Return whether sizes of what is kept are unknown for those of the variable alone."""
    seen, waiting = set[int](), [pair.assign.id]
    while waiting and len(seen) < FAR:
        layer = graph.layer(waiting.pop())
        unknown = [
            source.layer
            for source, port in zip(sources_of(graph, layer), layer.common.inputs, strict=True)
            if source is not None and min(port.dims, default=0) < 0
        ]
        if not unknown:
            return False
        seen.add(layer.id)
        waiting += {one for one in unknown if one != pair.read.id} - seen
    return not waiting


def _comes_of_a_cell(graph: Graph, pair: _Variable) -> bool:
    """Return whether what is kept is the state of a cell, or elements that are computed of it one by one."""
    layer = made_from(graph, producer_of(graph, pair.assign), FUNCTIONS)
    return layer is not None and layer.type.endswith("Cell")


def _grows(graph: Graph, pair: _Variable) -> bool:
    """Return whether what is kept is the variable with other elements behind or before it."""
    kept = producer_of(graph, pair.assign)
    return kept is not None and kept.type == "Concat"


def _reads_open_state(graph: Graph, layer: Layer) -> bool:
    """Return whether a layer reads a variable of unknown sizes, in whatever shape."""
    read = made_from(graph, producer_of(graph, layer), VIEWS)
    sizes = read.common.outputs[0].dims if read is not None and read.common.outputs else ()
    return read is not None and role_of(read) is Role.READ_VARIABLE and min(sizes, default=0) < 0


def _of_attention(graph: Graph, layer: Layer) -> Iterator[str]:
    """Yield the patterns of an attention in a graph with variables, of which its keys may be computed."""
    yield Pattern.BESIDE_VARIABLES
    keys = producer_of(graph, layer, 1)
    if keys is None:
        return
    before = walked([keys.id], lambda number: graph.producers(number) if graph.layer(number).type in ARRANGING else ())
    if any(role_of(graph.layer(number)) is Role.READ_VARIABLE for number in before):
        yield Pattern.STATE_KEYS
    moved, joined = (made_from(graph, keys, types) for types in (MOVED, MOVED | {"Broadcast", "Multiply"}))
    if joined is None or joined.type != "Concat":
        return
    for source in sources_of(graph, joined):
        part = None if source is None else graph.layer(source.layer)
        part = producer_of(graph, part) if part is not None and part.type == "Convert" else part
        state = producer_of(graph, part) if part is not None and part.type == "Gather" else None
        if state is not None and role_of(state) is Role.READ_VARIABLE:
            yield Pattern.GATHERED_KEYS if moved is joined else Pattern.REPEATED_KEYS


def _is_known_state(graph: Graph, product: Layer, constants: Collection[int]) -> bool:
    """Return whether matrices of a product are computed of variables that begin with constants, and of constants."""
    source = dict(enumerate(sources_of(graph, product))).get(1)
    if source is None or source.layer in constants:
        return False
    port = find_port(graph.layer(source.layer).common.outputs, source.port)
    if port is None or any(size != 1 for size in port.dims[:-2]):
        return False
    before = [*walked([source.layer], lambda number: {*graph.producers(number)}.difference(constants))]
    known = {Role.READ_VARIABLE, Role.COMPUTATION}
    return len(before) < FAR and all(role_of(graph.layer(number)) in known for number in before)
