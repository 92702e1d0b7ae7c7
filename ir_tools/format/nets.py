"""The graphs of a document: layers by id, ports, edges, bodies. What cannot be read is left out and noted."""

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import NamedTuple

from ir_tools.display import plural
from ir_tools.format.content import (
    LEGACY_PARTS,
    PARTS,
    ElementSource,
    dim_problem,
    ends_of,
    legacy_data,
    number_problem,
    port_problems,
    precision_problem,
    tag_problems,
)
from ir_tools.format.problems import MAX_IN_ELEMENT, ElementProblem, name_of, read_error
from ir_tools.format.texts import SharedText, Text, texts_of
from ir_tools.format.usual import Usual
from ir_tools.graph import Graph, Layer, circles
from ir_tools.rules import Rule
from ir_tools.rules.storage import NESTED_TOO_DEEP
from ir_tools.rules.structure import (
    BAD_EDGE,
    BAD_LAYER_ID,
    CIRCULAR_LAYERS,
    DANGLING_EDGE,
    DUPLICATE_LAYER_ID,
    INPUT_FED_TWICE,
)
from ir_tools.source import Document, Element, Wiring
from ir_tools.source.grammar import BODIES, EDGE_ENDS, MAPS, SIDES
from ir_tools.types import closest, id_number

__all__ = ["MAX_NESTING", "EdgeState", "Net", "adds_nothing", "nets_of", "text_of"]

MAX_NESTING = 64
"""How many bodies may stand inside each other."""

BODY_PARTS = frozenset({*BODIES, *MAPS})
PART_WORDS = tuple(sorted(PARTS))
LACKING = {"input": {"Parameter", "Const", "Input", "Memory"}, "output": {"Result", "Memory"}}
"""Types of layers that have no such side."""

PortId = tuple[int, int]
PortIds = frozenset[int]
NONE: PortIds = frozenset()
NOWHERE: PortId = (-1, -1)


class EdgeState(enum.Enum):
    """Why an edge is not part of the wiring."""

    UNREADABLE = "an end is not a number"
    NO_PRODUCER = "it leads to an input port that is there, from an output port that is not"
    NO_INPUT = "it leads to a layer that has no such input port"
    NO_CONSUMER = "it leads to a layer that is not there"
    REPEATED = "it says what an earlier edge said"
    SECOND = "an earlier edge feeds its input port"
    CIRCULAR = "it closes a circle"


class LeftOut(NamedTuple):
    """An edge that is not part of the wiring; `end`: the layer and the input port that it leads to."""

    element: Element
    state: EdgeState
    end: PortId


@dataclass(slots=True)
class Net:
    """What is in `<net>` or in one body.

    Attributes:
        element: `<net>`, `<body>`, `<then_body>`.
        graph: of what could be read.
        layers: by id; of two with the same id the first; those that are left out of `graph` too.
        inputs: the ids of its input ports by layer; none for a layer without them.
        outputs: the ids of its output ports by layer.
        wiring: what feeds each input.
        left_out: the edges that are not in `wiring`.
        missing_layers: ids of layers that are not there, with the edges that name them and the side of that end.
        repeated_ids: the ids that several layers have.
        unreadable_ids: the ids of layers that are not numbers.
        bodied: layers with bodies, or with tables that tie one to its layer.
        disordered_sides: `<input>` and `<output>` whose port ids do not rise.
        unusual: elements that have other children than usual.
    """

    element: Element
    graph: Graph = field(default_factory=Graph)
    layers: dict[int, Element] = field(default_factory=dict)
    inputs: dict[int, PortIds] = field(default_factory=dict)
    outputs: dict[int, PortIds] = field(default_factory=dict)
    wiring: Wiring = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    missing_layers: dict[int, list[tuple[Element, str]]] = field(default_factory=dict)
    repeated_ids: set[int] = field(default_factory=set)
    unreadable_ids: set[str | None] = field(default_factory=set)
    bodied: list[Element] = field(default_factory=list)
    disordered_sides: list[Element] = field(default_factory=list)
    unusual: list[Element] = field(default_factory=list)

    @property
    def has_unclear_ids(self) -> bool:
        """Whether some layer has no id of its own: an edge to a layer that is not there may mean that one."""
        return bool(self.repeated_ids or self.unreadable_ids)

    def ends(self, *states: EdgeState) -> Iterator[PortId]:
        """Yield the inputs that the edges in these states lead to."""
        return (edge.end for edge in self.left_out if edge.state in states)

    def unfed(self) -> set[PortId]:
        """Return the inputs that no edge leads to, as `(layer id, port id)`."""
        if sum(map(len, self.inputs.values())) == len(self.wiring):
            return set()
        inputs = {(layer_id, port) for layer_id, ports in self.inputs.items() for port in ports}
        return inputs - self.wiring.keys() - {*self.ends(EdgeState.NO_PRODUCER, EdgeState.CIRCULAR)}

    def layer_at(self, edge: Element) -> Element | None:
        """Return the layer that an edge leads to, or if that is not there, the one that it comes from."""
        (producer, _), (reader, _) = ends_of(edge)
        return self.layers.get(reader, self.layers.get(producer))


class Nets(NamedTuple):
    """Every graph of a document, `<net>` first.

    Attributes:
        nets: the graphs.
        problems: what in them could not be read.
        usual: what need not be looked at.
        texts: of the layers.
    """

    nets: list[Net]
    problems: list[ElementProblem]
    usual: Usual
    texts: Mapping[Element, Text]


def nets_of(document: Document, *, thorough: bool = False) -> Nets:
    """Read all graphs. `thorough`: leave out layers with unreadable dimensions, and edges that close circles, too."""
    texts = texts_of(document)
    reader, usual = _Reader(document, texts, thorough), Usual(document, texts)
    if thorough and not usual.ports:
        reader.look_at_dims()
    if thorough and not usual.precisions:
        reader.look_at_precisions()
    reader.plain_tags = not thorough or usual.layers
    return Nets(reader.read(), reader.problems, usual, texts)


class _Numbers(dict[str | None, int]):
    """Integers by their text; KeyError where it is none."""

    def __missing__(self, text: str | None) -> int:
        number = id_number(text)
        if number is None:
            raise KeyError(text)
        self[text] = number
        return number


class _Reader:
    """Reads the graphs of one document."""

    def __init__(self, document: Document, texts: Mapping[Element, Text], thorough: bool) -> None:
        self.document = document
        self.texts = texts
        self.thorough = thorough
        self.plain_tags = True
        self.problems: list[ElementProblem] = []
        self.broken: set[Element] = set()
        self.hiding: dict[Element, bool] = {}
        self.numbers = _Numbers()
        self.legacy = document.is_legacy
        self.sides: dict[SharedText, tuple[PortIds, PortIds]] = {}

    def look_at_dims(self) -> None:
        """Note the dimensions that cannot be read."""
        readable: set[str | None] = set()
        for dim in self.document.root.iter("dim"):
            text = dim.text
            if text in readable:
                continue
            problem = dim_problem(dim)
            if problem is None:
                readable.add(text)
                continue
            port, layer = dim.getparent(), next(dim.iterancestors("layer"), None)
            if port is not None and port.tag == "port" and layer is not None:
                self._note(problem, layer)

    def look_at_precisions(self) -> None:
        """Note the ports whose element type cannot be read, and outputs that have none."""
        for port in self.document.root.iter("port"):
            side, layer = port.getparent(), next(port.iterancestors("layer"), None)
            if side is None or side.tag not in SIDES or layer is None:
                continue
            problem = precision_problem(port, not self.legacy and side.tag == "output")
            if problem:
                self._note(problem, layer)

    def read(self) -> list[Net]:
        """Return the main graph, with the graphs of all bodies hung into their layers."""
        return [*self._with_bodies(self._net(self.document.root), 1)]

    def _with_bodies(self, net: Net, depth: int) -> Iterator[Net]:
        """Yield a graph, and behind it those of its bodies, which are `depth` deep."""
        yield net
        for owner in dict.fromkeys((*net.bodied, *net.unusual)):
            owner_id = id_number(owner.get("id"))
            if owner in self.broken or owner_id is None or net.layers.get(owner_id) is not owner:
                continue
            layer = net.graph.layer(owner_id)
            for body in owner:
                if body.find("layers") is None or not _is_first(body):
                    continue
                if max(depth, len(layer.bodies) + 1) > MAX_NESTING:
                    outermost = next(iter(list(owner.iterancestors("layer"))[-1:]), owner)
                    message = (
                        f"the file has more than {MAX_NESTING} nested bodies, or a layer with more than "
                        f"{MAX_NESTING} bodies"
                    )
                    raise read_error(
                        self.document,
                        [ElementProblem(NESTED_TOO_DEEP, outermost, message, "check that the file is a model")],
                    )
                inner = self._net(body)
                assert isinstance(layer.source, ElementSource)
                layer.bodies[str(body.tag)] = inner.graph
                layer.source.bodies = tuple(layer.bodies)
                yield from self._with_bodies(inner, depth + 1)

    def _note(self, problem: ElementProblem, layer: Element) -> None:
        """Note a problem; one that is an error leaves the layer out."""
        self.problems.append(problem)
        if problem.is_error:
            self.broken.add(layer)

    def _note_all(self, problems: Iterable[ElementProblem], layer: Element) -> None:
        for problem in problems:
            self._note(problem, layer)

    def _net(self, element: Element) -> Net:
        net = Net(element)
        layers = element.find("layers")
        if layers is not None:
            elements = list(layers.iterchildren("layer"))
            if len(elements) != len(layers):
                net.unusual.append(layers)
            for layer in elements:
                self._enter(net, layer)
        self._sides(net)
        self._edges(net)
        if self.thorough:
            self._open_circles(net)
        self._fill(net)
        return net

    def _fill(self, net: Net) -> None:
        """Make the graph of what has no error."""
        broken, document, get = self.broken, self.document, self.texts.get
        layers = {
            layer_id: Layer(layer_id, source=ElementSource(document, element, layer_id, get(element)))
            for layer_id, element in net.layers.items()
            if element not in broken
        }
        whole = len(layers) == len(net.layers)
        net.graph = Graph.of(
            layers.values(),
            (
                (*source, *reader)
                for reader, source in net.wiring.items()
                if whole or (reader[0] in layers and source[0] in layers)
            ),
        )

    def _enter(self, net: Net, layer: Element) -> None:
        """Put a layer under its id."""
        try:
            layer_id = self.numbers[layer.get("id")]
        except KeyError:
            net.unreadable_ids.add(layer.get("id"))
            self._note(number_problem(BAD_LAYER_ID, layer, "id"), layer)
            return
        if not self.plain_tags:
            self._note_all(tag_problems(layer, stamped=not self.legacy), layer)
        first = net.layers.setdefault(layer_id, layer)
        if first is not layer:
            net.repeated_ids.add(layer_id)
            self.broken.add(first)
            name, line = name_of(first), self.document.line(first)
            message = f"layer '{name}' on line {line} already has the id {layer_id}"
            remedy = "give one of the two another id, and correct its edges"
            self._note(ElementProblem(DUPLICATE_LAYER_ID, layer, message, remedy), layer)

    def _sides(self, net: Net) -> None:
        """Read the ports of all layers; layers of one form have the same."""
        texts, known = self.texts, self.sides
        for layer_id, layer in net.layers.items():
            text = texts.get(layer)
            sides = known.get(text.form) if text else None
            if sides is None:
                sides, plain = self._sides_of(net, layer)
                if text and plain:
                    known[text.form] = sides
            if sides[0]:
                net.inputs[layer_id] = sides[0]
            if sides[1]:
                net.outputs[layer_id] = sides[1]

    def _sides_of(self, net: Net, layer: Element) -> tuple[tuple[PortIds, PortIds], bool]:
        """Return the input and output ports of one layer, and whether nothing else in it need be looked at."""
        parts = list(layer)
        early = legacy_data(layer) if self.legacy else None
        if early is not None and early.tag not in LEGACY_PARTS:
            parts.remove(early)
        kind = tuple([str(part.tag) for part in parts])
        known = LEGACY_PARTS if self.legacy else PARTS
        unusual, bodied = len(set(kind)) != len(kind) or not known.issuperset(kind), not BODY_PARTS.isdisjoint(kind)
        if unusual:
            net.unusual.append(layer)
            if self.thorough and _is_misread(parts):
                self.broken.add(layer)
        filled = [part for part in parts if part.tag == "data" and len(part)]
        net.unusual += filled
        if bodied:
            net.bodied.append(layer)
        into, out = (
            self._ports(net, layer, parts[kind.index(side)]) if side in kind else (NONE, True) for side in SIDES
        )
        return (into[0], out[0]), not (unusual or bodied or filled) and into[1] and out[1]

    def _ports(self, net: Net, layer: Element, side: Element) -> tuple[PortIds, bool]:
        """Return the port ids of one side of a layer, and whether they rise and there is nothing else."""
        numbers = [id_number(port.get("id")) for port in side.iterchildren("port")]
        ids = [number for number in numbers if number is not None]
        rising = ids == sorted(set(ids))
        if len(ids) > 1 and not rising:
            net.disordered_sides.append(side)
        if len(ids) < len(numbers) or not rising:
            self._note_all(port_problems(side), layer)
        if len(ids) != len(side):
            net.unusual.append(side)
        return frozenset(ids), rising and len(ids) == len(side)

    def _edges(self, net: Net) -> None:
        """Read what feeds each input, without the edges that have errors."""
        table = net.element.find("edges")
        if table is None:
            return
        sources, numbers, count = net.wiring, self.numbers, 0
        unreadable: list[Element] = []
        inputs, outputs = net.inputs, net.outputs
        self.document.wiring[table] = sources
        for edge in table.iterchildren("edge"):
            count += 1
            get = edge.get
            try:
                start = numbers[get("from-layer")], numbers[get("from-port")]
                end = numbers[get("to-layer")], numbers[get("to-port")]
            except KeyError:
                unreadable.append(edge)
                continue
            if start[1] not in outputs.get(start[0], NONE) or end[1] not in inputs.get(end[0], NONE):
                self._dangling(net, edge, start, end)
                continue
            known = sources.setdefault(end, start)
            if known is not start:
                self._second(net, edge, known, start, end)
        if count != len(table):
            net.unusual.append(table)
        self._unreadable(net, unreadable)
        self._missing(net)

    def _unreadable(self, net: Net, edges: Sequence[Element]) -> None:
        """Note edges without four numbers, of very many the first; no problem if one means a layer without a number."""
        for edge in edges[:MAX_IN_ELEMENT]:
            net.left_out.append(LeftOut(edge, EdgeState.UNREADABLE, NOWHERE))
            name = next(name for name in EDGE_ENDS if id_number(edge.get(name)) is None)
            if edge.get(name) is None or edge.get(name) not in net.unreadable_ids:
                self.problems.append(number_problem(BAD_EDGE, edge, name, partial(net.layer_at, edge)))
        if len(edges) > MAX_IN_ELEMENT:
            message = f"{len(edges)} edges are invalid; the first {MAX_IN_ELEMENT} are listed"
            self.problems.append(ElementProblem(BAD_EDGE, edges[MAX_IN_ELEMENT], message))

    def _at_edge(self, rule: Rule, net: Net, edge: Element, message: str, remedy: str) -> None:
        self.problems.append(ElementProblem(rule, edge, message, remedy, layer=partial(net.layer_at, edge)))

    def _second(self, net: Net, edge: Element, known: PortId, start: PortId, end: PortId) -> None:
        """Note an edge to an input that is fed already."""
        if known == start:
            net.left_out.append(LeftOut(edge, EdgeState.REPEATED, end))
            return
        net.left_out.append(LeftOut(edge, EdgeState.SECOND, end))
        message = (
            f"another edge, from layer {known[0]} port {known[1]}, already leads to input port {end[1]} of layer "
            f"{end[0]}"
        )
        self._at_edge(INPUT_FED_TWICE, net, edge, message, "delete one of the two edges")

    def _open_circles(self, net: Net) -> None:
        """Take the edges out that close circles."""
        order = {layer_id: place for place, layer_id in enumerate(net.layers)}
        found = list(circles(net.wiring, order))
        edges = net.element.iterfind("edges/edge") if found else ()
        edge_to = {ends_of(edge)[1]: edge for edge in reversed([*edges])}
        for end, circle in found:
            del net.wiring[end]
            edge = edge_to[end]
            net.left_out.append(LeftOut(edge, EdgeState.CIRCULAR, end))
            if circle:
                message, remedy = _round(net, circle), "correct the edge or delete it"
                self._at_edge(CIRCULAR_LAYERS, net, edge, message, remedy)

    def _dangling(self, net: Net, edge: Element, start: PortId, end: PortId) -> None:
        """Note an edge with an end that is not there, and a problem unless it follows from one of a layer."""
        if end[1] in net.inputs.get(end[0], NONE):
            state = EdgeState.NO_PRODUCER
        else:
            state = EdgeState.NO_INPUT if end[0] in net.layers else EdgeState.NO_CONSUMER
        net.left_out.append(LeftOut(edge, state, end))
        for side, end_id, known in (("output", start, net.outputs), ("input", end, net.inputs)):
            layer = net.layers.get(end_id[0])
            if end_id[1] in known.get(end_id[0], NONE) or layer in self.broken:
                continue
            if layer is None:
                net.missing_layers.setdefault(end_id[0], []).append((edge, side))
            elif not self._hides_ports(layer):
                self._no_port(net, edge, layer, side, end_id)
            return

    def _hides_ports(self, layer: Element) -> bool:
        if layer not in self.hiding:
            self.hiding[layer] = _hides_ports(layer)
        return self.hiding[layer]

    def _no_port(self, net: Net, edge: Element, layer: Element, side: str, end: PortId) -> None:
        """Note an edge to or from a port that its layer does not have."""
        word = "from" if side == "output" else "to"
        if layer.find(side) is None and layer.get("type") not in LACKING[side]:
            self.broken.add(layer)
            message = f"the layer has no <{side}>, and an edge goes {word} its port {end[1]}"
            self.problems.append(ElementProblem(DANGLING_EDGE, layer, message, f"add <{side}> with the port"))
            return
        words = ", ".join(port.get("id", "") for port in islice(layer.iterfind(f"{side}/port"), 10))
        remedy = f"its {side} ports are {words}" if words else f"it has no {side} ports"
        place = f"port {end[1]} of layer {end[0]} '{name_of(layer)}'"
        message = f"the edge goes {word} {place}, which has no such {side} port"
        self.problems.append(ElementProblem(DANGLING_EDGE, edge, message, remedy, layer=layer))

    def _missing(self, net: Net) -> None:
        """Report edges to and from layers that are not there, once for each, at the layer meant or an edge."""
        if not net.missing_layers or net.has_unclear_ids or net.element.find("layers") in net.unusual:
            return
        lone = _lone(net) if len(net.missing_layers) == 1 else None
        for layer_id, rows in net.missing_layers.items():
            edge, side = rows[0]
            if lone is not None and len(rows) > 1:
                message = f"no edge names the layer, but {len(rows)} edges name layer {layer_id}, which does not exist"
                remedy = f"give this layer the id {layer_id} if the edges refer to it"
                self.problems.append(ElementProblem(DANGLING_EDGE, lone, message, remedy))
                continue
            message = f"the edge goes {'from' if side == 'output' else 'to'} layer {layer_id}, which does not exist"
            message += f"; so do {plural(len(rows) - 1, 'more edge')}" if len(rows) > 1 else ""
            remedy = "correct the edge or delete it"
            if lone is not None:
                remedy += f"; no edge names layer {lone.get('id')} '{name_of(lone)}'"
            layer = net.layer_at(edge) if lone is None else lone
            self.problems.append(ElementProblem(DANGLING_EDGE, edge, message, remedy, layer=layer))


def _lone(net: Net) -> Element | None:
    """Return the only layer with ports that no edge means, if there is one."""
    edges = net.element.iterfind("edges/edge")
    meant = {layer for start, end in map(ends_of, edges) for layer in (start[0], end[0])}
    lone = [layer for layer_id, layer in net.layers.items() if layer_id not in meant]
    lone = [layer for layer in lone if layer.find("input/port") is not None]
    return lone[0] if len(lone) == 1 else None


def _is_misread(parts: Sequence[Element]) -> bool:
    """Return whether the runtime leaves out a part of a layer: a misspelled one, or a second that says more."""
    first: dict[str, Element] = {}
    for part in parts:
        known = first.setdefault(str(part.tag), part)
        if known is not part and known.tag in {"data", *SIDES} and not adds_nothing(part, known):
            return True
    unknown = islice((name for name in first if name not in PARTS), MAX_IN_ELEMENT)
    return any(closest(name, PART_WORDS) for name in unknown)


def adds_nothing(repeated: Element, first: Element) -> bool:
    """Return whether an element is empty, or equal to the first one."""
    return _is_equal(repeated, first) or not (len(repeated) or repeated.attrib or text_of(repeated))


def _is_equal(one: Element, other: Element) -> bool:
    todo = [(one, other)]
    while todo:
        a, b = todo.pop()
        if a.tag != b.tag or len(a) != len(b) or a.attrib != b.attrib or text_of(a) != text_of(b):
            return False
        todo += zip(a, b, strict=True)
    return True


def text_of(element: Element) -> str:
    """Return the text before the first child."""
    return (element.text or "").strip()


def _hides_ports(layer: Element) -> bool:
    """Return whether ports of a layer may stand where the runtime does not look."""
    tags = [str(child.tag) for child in layer]
    sides = [child for child in layer if child.tag in SIDES]
    return (
        len(sides) != len({side.tag for side in sides})
        or any(tag not in PARTS and closest(tag, SIDES) for tag in tags)
        or any(port.tag != "port" for side in sides for port in side)
    )


def _is_first(element: Element) -> bool:
    """Return whether an element is the first one of its name in its parent: the one that the runtime reads."""
    return next(element.itersiblings(element.tag, preceding=True), None) is None


def _round(net: Net, circle: list[int]) -> str:
    """Return a circle of layers in words."""
    if len(circle) == 1:
        return f"an edge leads from layer {circle[0]} '{name_of(net.layers[circle[0]])}' to itself"
    names = [f"{layer_id} '{name_of(net.layers[layer_id])}'" for layer_id in circle]
    shown = names if len(names) < 8 else [*names[:4], "...", *names[-3:]]
    return f"layers form a cycle: {' -> '.join([*shown, names[0]])}"
