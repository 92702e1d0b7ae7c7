"""The graphs of a document: layers by id, ports, edges, bodies. What cannot be read is left out and noted."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain, islice, repeat
from typing import NamedTuple

from ir_tools.format.circles import circles
from ir_tools.format.content import EDGE_ENDS, MAPS, ElementSource, dim_fault, ends_of, number_fault, port_faults
from ir_tools.format.faults import Fault
from ir_tools.format.usual import Usual
from ir_tools.graph import Graph, Layer
from ir_tools.source import Document, Element, Wiring
from ir_tools.types import closest, id_number

__all__ = ["BODIES", "MAX_NESTING", "PARTS", "Net", "Nets", "nets_of"]

MAX_NESTING = 64
"""How many bodies may stand inside each other."""

BODIES = ("body", "then_body", "else_body")
BODY_PARTS = frozenset({*BODIES, *MAPS})
PARTS = BODY_PARTS | {"data", "input", "output", "rt_info", "blobs", "weights", "biases"}
"""What a `<layer>` may hold; `blobs` and the like are of older files."""
SIDES = ("input", "output")

PortId = tuple[int, int]


@dataclass(slots=True)
class Net:
    """What is in `<net>` or in one body.

    Attributes:
        element: `<net>`, `<body>`, `<then_body>`.
        graph: of what could be read.
        layers: by id; of two with the same id the first, and those that are left out of `graph` too.
        inputs: all input ports, as `(layer id, port id)`.
        outputs: all output ports.
        wiring: what feeds each input.
        reached: inputs to which an edge leads whose source is not there.
        repeated: edges that say what an earlier one said.
        bodied: layers with bodies, or with tables that tie one to its layer.
        disordered: `<input>` and `<output>` whose port ids do not rise.
        odd: elements that have other children than usual.
        shared: the ids that several layers have.
        unsure: some layer has no id of its own, so that an edge to a layer that is not there may mean that one.
        loose: some edge leads to an input that is not there, so that an input without an edge may be the one meant.
        crowded: the layers with an input that is fed twice, or to a port of which that is not there an edge leads.
    """

    element: Element
    graph: Graph = field(default_factory=Graph)
    layers: dict[int, Element] = field(default_factory=dict)
    inputs: set[PortId] = field(default_factory=set)
    outputs: set[PortId] = field(default_factory=set)
    wiring: Wiring = field(default_factory=dict)
    reached: set[PortId] = field(default_factory=set)
    repeated: list[Element] = field(default_factory=list)
    bodied: list[Element] = field(default_factory=list)
    disordered: list[Element] = field(default_factory=list)
    odd: list[Element] = field(default_factory=list)
    shared: set[int] = field(default_factory=set)
    unsure: bool = False
    loose: bool = False
    crowded: set[int] = field(default_factory=set)

    def layer_at(self, edge: Element) -> Element | None:
        """The layer that an edge leads to, or if that is not there, the one that it comes from."""
        (maker, _), (reader, _) = ends_of(edge)
        return self.layers.get(reader, self.layers.get(maker))


class Nets(NamedTuple):
    """Every graph of a document, `<net>` first, and what in them could not be read."""

    nets: list[Net]
    faults: list[Fault]


def nets_of(document: Document, *, thorough: bool = False) -> Nets:
    """Read all graphs. `thorough`: leave out layers with unreadable dimensions, and edges that close circles, too."""
    reader = _Reader(document, thorough)
    if thorough and not Usual(document).ports:
        reader.look_at_dims()
    return reader.read()


class _Numbers(dict[str | None, int]):
    """Whole numbers by their text; KeyError where it is none."""

    def __missing__(self, text: str | None) -> int:
        number = id_number(text)
        if number is None:
            raise KeyError(text)
        self[text] = number
        return number


class _Reader:
    """Reads the graphs of one document."""

    def __init__(self, document: Document, thorough: bool) -> None:
        self.document = document
        self.thorough = thorough
        self.faults: list[Fault] = []
        self.broken: set[Element] = set()
        self.sideless: set[Element] = set()
        self.numbers = _Numbers()
        self.usual_layers: set[tuple[str, ...]] = set()

    def look_at_dims(self) -> None:
        """Note the dimensions that cannot be read."""
        for dim in self.document.root.iter("dim"):
            port = dim.getparent()
            layer = next(dim.iterancestors("layer"), None)
            fault = dim_fault(dim)
            if fault and port is not None and port.tag == "port" and layer is not None:
                self._note(fault, layer)

    def read(self) -> Nets:
        """The main graph, with the graphs of all bodies hung into their layers."""
        root = self.document.root
        nets = {root: self._net(root)}
        depths = {root: 0}
        for layers in root.iter("layers"):
            body, owner, shelf, outer = islice(chain(layers.iterancestors(), repeat(None)), 4)
            if body is None or owner is None or outer is None or outer not in nets or owner.tag != "layer":
                continue
            if owner in self.broken or not all(_is_first(element) for element in (layers, body, shelf)):
                continue
            depths[body] = depths[outer] + 1
            layer = nets[outer].graph.layer(self.numbers[owner.get("id")])
            if max(depths[body], len(layer.bodies) + 1) > MAX_NESTING:
                message = f"more than {MAX_NESTING} bodies stand inside each other or in one layer"
                self.faults.append(Fault("IR005", body, message))
                break
            nets[body] = self._net(body)
            assert isinstance(layer.source, ElementSource)
            layer.bodies[str(body.tag)] = nets[body].graph
            layer.source.bodies = tuple(layer.bodies)
        return Nets(list(nets.values()), self.faults)

    def _note(self, fault: Fault, layer: Element) -> None:
        """A fault because of which a layer is left out."""
        self.faults.append(fault)
        self.broken.add(layer)

    def _note_all(self, faults: Iterable[Fault], layer: Element) -> None:
        for fault in faults:
            self._note(fault, layer)

    def _net(self, element: Element) -> Net:
        net = Net(element)
        layers = element.find("layers")
        if layers is not None:
            elements = list(layers.iterchildren("layer"))
            if len(elements) != len(layers):
                net.odd.append(layers)
            for layer in elements:
                self._enter(net, layer)
        for layer_id, layer in net.layers.items():
            self._sides(net, layer_id, layer)
            if layer not in self.broken:
                source = ElementSource(self.document, layer, layer_id)
                net.graph.add_node(layer_id, layer=Layer(layer_id, source=source))
        self._edges(net)
        if self.thorough:
            self._open_circles(net)
        for (reader, end), (maker, start) in net.wiring.items():
            if reader in net.graph and maker in net.graph:
                net.graph.add_edge(maker, reader, key=(start, end))
        return net

    def _enter(self, net: Net, layer: Element) -> None:
        """Put a layer under its id."""
        try:
            layer_id = self.numbers[layer.get("id")]
        except KeyError:
            net.unsure = True
            self._note(number_fault("IR101", layer, "id"), layer)
            return
        first = net.layers.setdefault(layer_id, layer)
        if first is not layer:
            net.unsure = True
            net.shared.add(layer_id)
            name, line = first.get("name", ""), self.document.line(first)
            message = f"the layer id {layer_id} belongs to layer '{name}' on line {line} already"
            remedy = "renumber one of the two, and the edges that mean it"
            self._note(Fault("IR102", layer, message, remedy), layer)

    def _sides(self, net: Net, layer_id: int, layer: Element) -> None:
        """The ports of a layer."""
        sides: dict[str, Element] = {}
        tags = []
        for side in layer:
            tags.append(side.tag)
            sides.setdefault(side.tag, side)
        kind = tuple(tags)
        if kind not in self.usual_layers:
            if not BODY_PARTS.isdisjoint(kind):
                net.bodied.append(layer)
            elif len(sides) == len(kind) and PARTS.issuperset(kind):
                self.usual_layers.add(kind)
            if len(sides) != len(kind) or not PARTS.issuperset(kind):
                net.odd.append(layer)
        if "input" in sides:
            self._ports(net, layer_id, sides["input"], net.inputs)
        if "output" in sides:
            self._ports(net, layer_id, sides["output"], net.outputs)

    def _ports(self, net: Net, layer_id: int, side: Element, known: set[PortId]) -> None:
        """The ports of one side of a layer."""
        numbers = self.numbers
        try:
            ids = [numbers[port.get("id")] for port in side.iterchildren("port")]
        except KeyError:
            ids = [number for port in side.iterchildren("port") if (number := id_number(port.get("id"))) is not None]
            self._note_all(port_faults(side), net.layers[layer_id])
        else:
            if len(ids) > 1 and ids != sorted(set(ids)):
                net.disordered.append(side)
                self._note_all(port_faults(side), net.layers[layer_id])
        known.update([(layer_id, port) for port in ids])
        if len(ids) != len(side):
            net.odd.append(side)

    def _edges(self, net: Net) -> None:
        """What feeds each input, without the edges that are faulty."""
        table = net.element.find("edges")
        if table is None:
            return
        sources, numbers, count = net.wiring, self.numbers, 0
        self.document.wiring[table] = sources
        for edge in table.iterchildren("edge"):
            count += 1
            get = edge.get
            try:
                start = numbers[get("from-layer")], numbers[get("from-port")]
                end = numbers[get("to-layer")], numbers[get("to-port")]
            except KeyError:
                net.loose = True
                names = (name for name in EDGE_ENDS if id_number(get(name)) is None)
                self.faults.append(number_fault("IR121", edge, next(names))._replace(layer=net.layer_at(edge)))
                continue
            if start not in net.outputs or end not in net.inputs:
                self._loose(net, edge, start, end)
                continue
            known = sources.setdefault(end, start)
            if known is not start:
                self._second(net, edge, known, start, end)
        if count != len(table):
            net.odd.append(table)

    def _second(self, net: Net, edge: Element, known: PortId, start: PortId, end: PortId) -> None:
        """An edge to an input that is fed already."""
        if known == start:
            net.repeated.append(edge)
            return
        net.crowded.add(end[0])
        message = f"input port {end[1]} of layer {end[0]} is fed twice, also by layer {known[0]} port {known[1]}"
        self.faults.append(Fault("IR123", edge, message, "delete one of the two edges", net.layer_at(edge)))

    def _open_circles(self, net: Net) -> None:
        """Take the edges out that close circles."""
        order = {layer_id: place for place, layer_id in enumerate(net.layers)}
        for end, circle in list(circles(net.wiring, order)):
            del net.wiring[end]
            net.reached.add(end)
            if circle:
                edge = next(edge for edge in net.element.iterfind("edges/edge") if ends_of(edge)[1] == end)
                message, remedy = _round(net, circle), "correct the edge or delete it"
                self.faults.append(Fault("IR124", edge, message, remedy, net.layer_at(edge)))

    def _loose(self, net: Net, edge: Element, start: PortId, end: PortId) -> None:
        """An edge with an end that is not there: noted, unless that follows from a fault of a layer."""
        if end in net.inputs:
            net.reached.add(end)
        else:
            net.crowded.add(end[0])
            net.loose = net.loose or end[0] not in net.layers
        rows = ("from", "output", start, net.outputs), ("to", "input", end, net.inputs)
        for word, side, (layer_id, port_id), known in rows:
            layer = net.layers.get(layer_id)
            if (layer_id, port_id) in known or layer in self.broken or layer_id in net.shared:
                continue
            if layer is None:
                if net.unsure or net.element.find("layers") in net.odd:
                    continue
                message, remedy = f"layer {layer_id}, which is not there", "correct the edge or delete it"
            elif _hides_ports(layer):
                continue
            else:
                place = f"port {port_id} of layer {layer_id} '{layer.get('name', '')}'"
                words = ", ".join(str(port) for owner, port in sorted(known) if owner == layer_id)
                message = f"{place}, which has no such {side} port"
                remedy = f"its {side} ports are {words}" if words else f"it has no {side} ports"
            message = f"the edge goes {word} {message}"
            if layer is not None and layer.find(side) is None:
                if layer not in self.sideless:
                    self.sideless.add(layer)
                    remedy = f"write <{side}> with the port"
                    message = f"the layer has no <{side}>, and an edge goes {word} its port {port_id}"
                    self.faults.append(Fault("IR122", layer, message, remedy))
            else:
                self.faults.append(
                    Fault("IR122", edge, message, remedy, net.layer_at(edge) if layer is None else layer)
                )
            return


def _hides_ports(layer: Element) -> bool:
    """Whether ports of a layer may stand where the runtime does not look."""
    tags = [str(child.tag) for child in layer]
    sides = [child for child in layer if child.tag in SIDES]
    return (
        len(sides) != len({side.tag for side in sides})
        or any(tag not in PARTS and closest(tag, SIDES) for tag in tags)
        or any(port.tag != "port" for side in sides for port in side)
    )


def _is_first(element: Element | None) -> bool:
    """Whether an element is the first one of its name in its parent: the one that the runtime reads."""
    return element is not None and next(element.itersiblings(element.tag, preceding=True), None) is None


def _round(net: Net, circle: list[int]) -> str:
    """A circle of layers in words."""
    if len(circle) == 1:
        return f"layer {circle[0]} '{net.layers[circle[0]].get('name', '')}' feeds itself"
    names = [f"{layer_id} '{net.layers[layer_id].get('name', '')}'" for layer_id in circle]
    shown = names if len(names) < 8 else [*names[:4], "...", *names[-3:]]
    return f"layers feed each other in a circle: {' -> '.join([*shown, names[0]])}"
