"""What layers with bodies and those in them are part of, as it decides about what releases do with them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from math import prod
from typing import NamedTuple

from ir_tools.errors import ShapeError
from ir_tools.graph import Graph, Layer, Model, Port, Source
from ir_tools.known_differences.neighbours import (
    FAR,
    VIEWS,
    computed_sources,
    consumers_of,
    made_from,
    producer_of,
    reads_of,
    sources_of,
    walked,
)
from ir_tools.known_differences.releases.seen import COMBINING, ELEMENTWISE, ITERATING, Pattern
from ir_tools.ops import Role, role_of
from ir_tools.ops.bodies import PortMap, port_maps

__all__ = ["LoopPatterns"]

PRODUCTS = frozenset({"MatMul", "Convolution", "GroupConvolution"})
"""Types of layers that elementwise layers behind them are computed with."""
COMPUTED_THERE = frozenset({"SoftMax", "MVN", "NormalizeL2", "BatchNormInference", "Swish"})
"""Types of layers that are computed in the memory of their first input, as elementwise layers are. Measured."""
OVERWRITING = frozenset({"SoftMax", "MVN"})
"""Types of layers that are computed in the memory of an input of a body that stays the same. Measured."""
BEGINNING = frozenset(
    {"Add", "Multiply", "Maximum", "Minimum", "SquaredDifference", "FloorMod", "Mod", "Power", "PReLU"}
)
"""Types of elementwise layers that are computed there if none of these gives their second input. Measured."""
SCALED = frozenset({"Subtract", "Divide"})
"""Types of layers that are others before a device sees them: those of a sum or product with constants."""
MERGED = COMBINING | {
    *("Abs", "Ceiling", "Clamp", "Elu", "Erf", "Exp", "FakeQuantize", "Floor", "Gelu", "HSwish", "Negative", "PReLU"),
    *("ReLU", "Round", "Sigmoid", "Sqrt", "Swish", "Tanh"),
}
"""Types of layers that releases compile together. Measured."""
CARRIED = VIEWS | {
    *("Abs", "Add", "Clamp", "Divide", "Elu", "FakeQuantize", "Gelu", "HSigmoid", "HSwish", "Maximum", "Minimum"),
    *("Mish", "Multiply", "Power", "PReLU", "ReLU", "Round", "Sigmoid", "Sqrt", "Subtract", "Swish", "Tanh"),
    "Transpose",
}
"""Types of layers behind a MatMul that are computed with it, with constants. Measured."""
FLOATS = frozenset({"FP16", "FP32"})
WAITING = frozenset({"If", "NonMaxSuppression", "NonZero", "Unique"})
"""Types of layers that decide about sizes as they run: what they depend on is computed before those are known."""
ENOUGH = 3
"""How many tensors make memory large enough for another one of their size. Measured."""


class _Ports:
    """The port map of a loop, as it is asked about for each layer of a body.

    Attributes:
        map: the port map.
        order: of each Parameter of the body that an input feeds, the number of the port.
        cut: the Parameters that get a part of an input.
        joined: the Results of which an output of the loop joins what they give.
        states: the Parameters whose next state a Result gives, by the Result.
    """

    def __init__(self, ports: PortMap) -> None:
        """Sort the rows."""
        self.map = ports
        self.order = {row.layer: row.port for row in ports.inputs}
        self.cut = {row.layer for row in ports.inputs if row.axis is not None}
        self.joined = {row.layer for row in ports.outputs if row.axis is not None}
        self.states = defaultdict[int, list[int]](list)
        for state, result in ports.back_edges.items():
            self.states[result].append(state)


class _Place(NamedTuple):
    """Where in a body an input of it comes in: the ports of the loop, the body, and the Parameter."""

    ports: _Ports
    graph: Graph
    parameter: Layer

    @property
    def is_cut(self) -> bool:
        return self.parameter.id in self.ports.cut

    @property
    def is_state(self) -> bool:
        return self.parameter.id in self.ports.map.back_edges

    @property
    def is_fixed(self) -> bool:
        return not (self.is_cut or self.is_state)

    def passes_on(self, result: Layer) -> Iterator[str]:
        """Yield `PASSED_ON` and `FIXED_STATE` as far as a Result that gives the input as a next state shows them.

        States are written in the order of the ports of the loop; a state that was written has its next value.
        """
        order, own = self.ports.order, self.parameter.id
        for state in self.ports.states.get(result.id, ()):
            if state not in order or not _is_read(self.graph, state):
                continue
            if self.is_cut or (self.is_state and own in order and order[own] < order[state]):
                yield Pattern.PASSED_ON
            elif self.is_fixed and result.id not in self.ports.joined:
                yield Pattern.FIXED_STATE

    def is_copied(self, result: Layer) -> bool:
        """Return whether the input is a state that stays the same and a Result gives as one before it that is read."""
        order, own = self.ports.order, self.parameter.id
        back = self.ports.map.back_edges.get(own)
        stays = back is not None and _stays(self.graph, own, back)
        others = (state for state in self.ports.states.get(result.id, ()) if state in order and own in order)
        return stays and any(order[state] < order[own] and _is_read(self.graph, state) for state in others)

    def is_next_state(self, result: Layer) -> bool:
        """Return whether a Result gives a next state that the body reads."""
        return any(_is_read(self.graph, state) for state in self.ports.states.get(result.id, ()))


class LoopPatterns:
    """The patterns of layers that iterate and of layers in their bodies."""

    def __init__(self, model: Model) -> None:
        """Look at nothing until it is needed."""
        self._model = model
        self._known: dict[int, _Ports | None] = {}

    def _ports(self, loop: Layer) -> _Ports | None:
        """Return the port map of a loop, which is read once; None if it cannot be read."""
        if id(loop) not in self._known:
            try:
                found = port_maps(loop).get("body")
            except ShapeError:
                found = None
            self._known[id(loop)] = None if found is None else _Ports(found)
        return self._known[id(loop)]

    @cached_property
    def _owners(self) -> Mapping[int, Layer]:
        """The layers that iterate, by the `id` of their bodies."""
        return {
            id(layer.bodies["body"]): layer
            for _, layer in self._model.owners()
            if layer.type in ITERATING and "body" in layer.bodies
        }

    def unread(self, layer: Layer) -> frozenset[int]:
        """Return the inputs of a loop, by number, that nothing reads in its body."""
        body = layer.bodies.get("body") if layer.type in ITERATING else None
        ports = None if body is None else self._ports(layer)
        if body is None or ports is None:
            return frozenset()
        unread = {row.port for row in ports.map.inputs if row.layer in body and not _is_read(body, row.layer)}
        return frozenset(number for number, port in enumerate(layer.common.inputs) if port.id in unread)

    def of(self, graph: Graph, layer: Layer, constants: Collection[int]) -> Iterator[str]:
        """Yield the patterns of a layer; `constants`: the layers of the graph that are computed of constants alone."""
        body = layer.bodies.get("body") if layer.type == "TensorIterator" else None
        ports = None if body is None else self._ports(layer)
        if body is not None and ports is not None:
            yield from _of_loop(graph, layer, body, ports.map, constants)
        unknown = [port for port in layer.common.outputs if _is_unknown(port)] if layer.type == "If" else []
        if any(_is_outgrown(graph, layer, port) for port in unknown):
            yield Pattern.OUTGROWN
        owner = self._owners.get(id(graph))
        producer = producer_of(graph, layer) if owner is not None else None
        if owner is None or producer is None:
            return
        if role_of(layer) is Role.RESULT and _is_given_again(graph, layer):
            yield Pattern.GIVEN_AGAIN
        if role_of(producer) is not Role.PARAMETER:
            return
        around = self._ports(owner)
        if around is not None:
            place = _Place(around, graph, producer)
            if role_of(layer) is Role.RESULT:
                yield from place.passes_on(layer)
                if place.is_copied(layer):
                    yield Pattern.COPIED_STATE
            elif _is_view(layer):
                yield from _followed(place, layer, constants)
            elif layer.type in OVERWRITING and place.is_fixed and len(consumers_of(graph, producer)) == 1:
                yield from (
                    (Pattern.IN_PLACE, Pattern.SOFTENED_INPUT) if layer.type == "SoftMax" else (Pattern.IN_PLACE,)
                )


def _is_outgrown(graph: Graph, layer: Layer, port: Port) -> bool:
    """Return whether a tensor of unknown size that is computed of an output of unknown size may be larger than it.

    Those that layers read at once that read the output are not in its memory, nor is what the model gives. It does not
    matter behind a layer that waits for the output, nor if several tensors that were computed before the layer are as
    large, because the memory is large enough then.
    """
    first = [graph.layer(one) for one, _ in graph.consumers(layer.id, port.id)]
    behind = _behind(graph, first)
    waiting = _behind(graph, [one for one in behind.values() if one.type in WAITING])
    before = list(_computed_before(graph, layer))
    for current in (one for one in behind.values() if one.id not in waiting and one not in first):
        readers = [graph.layer(one) for one in islice(graph.successors(current.id), FAR)]
        tensors = [one.dims for one in current.common.outputs if _is_unknown(one)]
        inner = any(role_of(one) is not Role.RESULT and not _ends(graph, one) for one in readers)
        larger = [dims for dims in tensors if inner and _may_be_larger(dims, port.dims)]
        if any(sum(not _may_be_larger(dims, one) for one in before) < ENOUGH for dims in larger):
            return True
    return False


def _behind(graph: Graph, layers: Iterable[Layer]) -> Mapping[int, Layer]:
    """Return layers and those that depend on them, by id."""
    numbers = walked((layer.id for layer in layers), lambda one: islice(graph.successors(one), FAR))
    return {number: graph.layer(number) for number in numbers}


def _computed_before(graph: Graph, layer: Layer) -> Iterator[tuple[int, ...]]:
    """Yield the sizes of tensors of unknown size that layers give that a layer depends on."""
    for number in walked(graph.producers(layer.id), graph.producers):
        producer = graph.layer(number)
        if producer.common.inputs:
            yield from (port.dims for port in producer.common.outputs if _is_unknown(port))


def _is_unknown(port: Port) -> bool:
    return any(size < 0 for size in port.dims)


def _ends(graph: Graph, layer: Layer) -> bool:
    """Return whether only Results read an elementwise layer."""
    return layer.type in ELEMENTWISE and all(
        role_of(graph.layer(one)) is Role.RESULT for one in graph.successors(layer.id)
    )


def _may_be_larger(dims: Sequence[int], others: Sequence[int]) -> bool:
    unknown, known = ([size for size in sizes if size < 0] for sizes in (dims, others))
    if len(unknown) != len(known):
        return len(unknown) > len(known)
    return prod(size for size in dims if size >= 0) > prod(size for size in others if size >= 0)


def _of_loop(graph: Graph, loop: Layer, body: Graph, ports: PortMap, constants: Collection[int]) -> Iterator[str]:
    """Yield `UNCUT`, `UNCOUNTED` and `BEHIND_PRODUCT` as far as they are true of a TensorIterator."""
    if _is_uncut(body, ports):
        yield Pattern.UNCUT
        if all(row.axis is None for row in ports.outputs):
            yield Pattern.UNCOUNTED
    if _has_joined_layers(body) and _is_behind_product(graph, loop, constants):
        yield Pattern.BEHIND_PRODUCT


def _is_read(body: Graph, parameter: int) -> bool:
    return parameter in body and any(True for _ in body.successors(parameter))


def _stays(body: Graph, state: int, result: int) -> bool:
    """Return whether a Result gives a state as its own next one."""
    producer = producer_of(body, body.layer(result)) if result in body else None
    return producer is not None and producer.id == state


def _is_uncut(body: Graph, ports: PortMap) -> bool:
    """Return whether it matters how often a body runs, and it reads none of the parts that say so."""
    cut = [row.layer for row in ports.inputs if row.axis is not None]
    changes = not all(_stays(body, *edge) for edge in ports.back_edges.items())
    states_matter = changes and any(_is_read(body, one) for one in ports.back_edges)
    matters = states_matter or any(row.axis is not None for row in ports.outputs)
    return bool(cut) and matters and not any(_is_read(body, one) for one in cut)


def _is_given_again(graph: Graph, result: Layer) -> bool:
    """Return whether a Result comes after another one that gives the same tensor."""
    readers = (one for source in graph.sources(result.id).values() for one, _ in graph.consumers(*source, FAR))
    return next((one for one in readers if role_of(graph.layer(one)) is Role.RESULT), result.id) != result.id


def _is_view(layer: Layer) -> bool:
    """Return whether the output of a layer is in the memory of its first input; the sizes are known then."""
    before, after = ([port.dims for port in ports] for ports in (layer.common.inputs[:1], layer.common.outputs))
    if not before or len(after) != 1 or min((*before[0], *after[0]), default=1) < 1:
        return False
    if layer.type in VIEWS:
        return True
    kept, same = ([size for size in dims if size != 1] for dims in (*before, *after))
    if kept != same:
        return False
    by_one = layer.type == "Gather" and {port.dims for port in layer.common.inputs[1:2]} <= {(), (1,)}
    return by_one or layer.type == "Split" or (layer.type == "Transpose" and len({*kept}) == len(kept))


def _followed(place: _Place, view: Layer, constants: Collection[int]) -> Iterator[str]:
    """Yield what a view of an input of a body shows: what is computed in its memory, or passed on as it is."""
    graph, current, computed, passed, softened = place.graph, view, False, 0, True
    alone = graph.reads(place.parameter.id, place.parameter.common.outputs[0].id) == 1
    while passed < FAR:
        passed += 1
        readers = graph.consumers(current.id, current.common.outputs[0].id)
        found = [(graph.layer(one), port) for one, port in readers]
        for result in (one for one, _ in found if role_of(one) is Role.RESULT):
            if not computed:
                yield from (pattern for pattern in place.passes_on(result) if pattern == Pattern.PASSED_ON)
            elif place.is_next_state(result):
                yield from (Pattern.IN_PLACE, Pattern.SOFTENED) if softened else (Pattern.IN_PLACE,)
        others = [(one, port) for one, port in found if role_of(one) is not Role.RESULT]
        if len(others) != 1 or (others[0][0].common.inputs[0].id != others[0][1] and not computed):
            return
        alone, reader = alone and len(found) == 1, others[0][0]
        if not _is_view(reader):
            begins = reader.type in COMPUTED_THERE or _is_computed_there(graph, reader, constants)
            goes_on = reader.type in COMPUTED_THERE | ELEMENTWISE
            apart = current.type == "SoftMax" and reader.type in ELEMENTWISE
            if apart or not alone or place.is_state or len(reader.common.outputs) != 1:
                return
            if not (goes_on if computed else begins):
                return
            computed, softened = True, softened and reader.type == "SoftMax"
            if place.is_fixed:
                yield from (Pattern.IN_PLACE, Pattern.SOFTENED_INPUT) if softened else (Pattern.IN_PLACE,)
                return
        current = reader


def _is_computed_there(graph: Graph, layer: Layer, constants: Collection[int]) -> bool:
    """Return whether an elementwise layer that reads a view first is computed in the memory of the view.

    It is not if it is computed before the view, or with the layer of its second input, or if others read that too.
    """
    if layer.type not in BEGINNING | SCALED:
        return False
    second = dict(enumerate(sources_of(graph, layer))).get(1)
    if second is None:
        return False
    if second.layer in constants:
        return prod(graph.layer(second.layer).port(second.port).dims) != 1
    other = graph.layer(second.layer)
    if other.type == "Concat" or sum(graph.reads(other.id, port.id) for port in other.common.outputs) != 1:
        return False
    if other.type not in ELEMENTWISE | {"PReLU"}:
        return layer.type in BEGINNING or (layer.type == "Subtract" and other.type in PRODUCTS)
    return layer.type in BEGINNING and _carried_product(graph, second, constants) is not None


def _carried_product(graph: Graph, source: Source, constants: Collection[int]) -> Layer | None:
    """Return the product that a tensor comes of, by layers with constants alone, each of which only the next reads."""
    for _ in range(FAR):
        layer = graph.layer(source.layer)
        if layer.type in PRODUCTS:
            return layer
        if layer.type not in CARRIED:
            return None
        given = computed_sources(graph, layer, constants)
        if len(given) != 1 or reads_of(graph, given[0]) != 1:
            return None
        source = given[0]
    return None


def _is_behind_product(graph: Graph, layer: Layer, constants: Collection[int]) -> bool:
    """Return whether a loop alone reads what comes of a MatMul by layers with constants."""
    for source in filter(None, sources_of(graph, layer)):
        if reads_of(graph, source) != 1:
            continue
        product = _carried_product(graph, source, constants)
        if product is not None and product.type == "MatMul":
            return True
    return False


def _has_joined_layers(body: Graph) -> bool:
    """Return whether layers of a body that releases compile together follow each other, views between them or not.

    One that subtracts or divides by an input of the body is two such layers.
    """
    for layer in body.layers():
        if layer.type in MERGED and _are_floats(layer):
            sources = sources_of(body, layer)
            before = [made_from(body, body.layer(source.layer), VIEWS) for source in sources if source]
            if any(one is not None and one.type in MERGED and _are_floats(one) for one in before):
                return True
            second = sources[1] if layer.type in SCALED and len(sources) == 2 else None
            if second is not None and role_of(body.layer(second.layer)) is Role.PARAMETER:
                return True
    return False


def _are_floats(layer: Layer) -> bool:
    return all(port.precision in FLOATS for port in layer.common.outputs)
