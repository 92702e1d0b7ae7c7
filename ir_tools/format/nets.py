"""The graphs of a document: layers by id, ports, edges, bodies. What cannot be read is left out and noted."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice, repeat
from typing import NamedTuple

from ir_tools.format.circles import circles
from ir_tools.format.content import EDGE_ENDS, ElementSource, dim_fault, ends_of, number_fault, port_faults
from ir_tools.format.faults import Fault
from ir_tools.graph import Graph, Layer
from ir_tools.source import Document, Element, Wiring
from ir_tools.types import whole_number

__all__ = ["MAX_NESTING", "Net", "Nets", "nets_of"]

MAX_NESTING = 64
"""How many bodies may stand inside each other."""

PortId = tuple[int, int]
_NO_DIM = re.compile(rb"<(?:[^\s<>/:!?]+:)?dim(?![\w:.-])(?!>(?:\d{1,18}|-1)</)")


@dataclass(slots=True)
class Net:
    """What is in `<net>` or in one body.

    Attributes:
        element: `<net>`, `<body>`, `<then_body>`.
        graph: of what could be read.
        layers: by id; of two with the same id the first, and those that are left out of `graph` too.
        shared: the ids that several layers have.
        unsure: some layer has no id of its own, so that an edge to a layer that is not there may mean that one.
        loose: some edge leads to an input that is not there, so that an input without an edge may be the one meant.
        crowded: the layers with an input that is fed twice.
    """

    element: Element
    graph: Graph = field(default_factory=Graph)
    layers: dict[int, Element] = field(default_factory=dict)
    shared: set[int] = field(default_factory=set)
    unsure: bool = False
    loose: bool = False
    crowded: set[int] = field(default_factory=set)


class Nets(NamedTuple):
    """Every graph of a document, `<net>` first, and what in them could not be read."""

    nets: list[Net]
    faults: list[Fault]


def nets_of(document: Document, *, thorough: bool = False) -> Nets:
    """Read all graphs. `thorough`: leave out layers with unreadable dimensions, and edges that close circles, too."""
    reader = _Reader(document, thorough)
    if thorough:
        reader.look_at_dims()
    return reader.read()


class _Ports(NamedTuple):
    """Which ports there are, as `(layer id, port id)`."""

    inputs: set[PortId]
    outputs: set[PortId]


class _Numbers(dict[str | None, int]):
    """Whole numbers by their text; KeyError where it is none."""

    def __missing__(self, text: str | None) -> int:
        number = whole_number(text)
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
        self.numbers = _Numbers()

    def look_at_dims(self) -> None:
        """Note the dimensions that cannot be read; one look at the bytes tells whether there are any."""
        if not _NO_DIM.search(self.document.text):
            return
        for dim in self.document.root.iter("dim"):
            port = dim.getparent()
            layer = next(dim.iterancestors("layer"), None)
            if port is not None and port.tag == "port" and layer is not None:
                fault = dim_fault(dim)
                if fault:
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

    def _net(self, element: Element) -> Net:
        net = Net(element)
        layers = element.find("layers")
        for layer in () if layers is None else layers.iterchildren("layer"):
            self._enter(net, layer)
        ports = self._all_ports(net)
        for layer_id, layer in net.layers.items():
            if layer not in self.broken:
                source = ElementSource(self.document, layer, layer_id)
                net.graph.add_node(layer_id, layer=Layer(layer_id, source=source))
        wiring = self._edges(net, ports)
        if self.thorough:
            self._open_circles(net, wiring)
        for (reader, end), (start_layer, start) in wiring.items():
            if reader in net.graph and start_layer in net.graph:
                net.graph.add_edge(start_layer, reader, key=(start, end))
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

    def _all_ports(self, net: Net) -> _Ports:
        found: _Ports = _Ports(set(), set())
        numbers = self.numbers
        sides = {"input": found.inputs, "output": found.outputs}
        for layer_id, element in net.layers.items():
            seen: set[str] = set()
            for side in element:
                tag = side.tag
                if tag not in sides or tag in seen:
                    continue
                seen.add(tag)
                known = sides[tag]
                before, count = len(known), 0
                try:
                    for port in side.iterchildren("port"):
                        count += 1
                        known.add((layer_id, numbers[port.get("id")]))
                except KeyError:
                    count = -1
                if len(known) - before != count:
                    for fault in port_faults(side):
                        self._note(fault, element)
        return found

    def _edges(self, net: Net, ports: _Ports) -> Wiring:
        """What feeds each input, without the edges that are faulty."""
        sources: Wiring = {}
        table = net.element.find("edges")
        if table is None:
            return sources
        numbers = self.numbers
        for edge in table.iterchildren("edge"):
            get = edge.get
            try:
                start = numbers[get("from-layer")], numbers[get("from-port")]
                end = numbers[get("to-layer")], numbers[get("to-port")]
            except KeyError:
                net.loose = True
                names = (name for name in EDGE_ENDS if whole_number(get(name)) is None)
                self.faults += [number_fault("IR121", edge, name) for name in names]
                continue
            if start not in ports.outputs or end not in ports.inputs:
                self.faults += islice(self._loose_ends(net, edge, start, end, ports), 1)
                if end not in ports.inputs:
                    net.crowded.add(end[0])
                    net.loose = net.loose or end[0] not in net.layers
            elif sources.setdefault(end, start) != start:
                net.crowded.add(end[0])
                other = "layer {} port {}".format(*sources[end])
                message = f"input port {end[1]} of layer {end[0]} is fed twice, also by {other}"
                self.faults.append(Fault("IR123", edge, message, "delete one of the two edges"))
        self.document.wiring[table] = sources
        return sources

    def _open_circles(self, net: Net, wiring: Wiring) -> None:
        """Take the edges out that close circles."""
        order = {layer_id: place for place, layer_id in enumerate(net.layers)}
        for end, circle in list(circles(wiring, order)):
            del wiring[end]
            if circle:
                edge = next(edge for edge in net.element.iterfind("edges/edge") if ends_of(edge)[1] == end)
                self.faults.append(Fault("IR124", edge, _round(net, circle), "correct the edge or delete it"))

    def _loose_ends(self, net: Net, edge: Element, start: PortId, end: PortId, ports: _Ports) -> Iterator[Fault]:
        """The ends of an edge that are not there, unless that follows from a fault of a layer."""
        rows = ("from", "output", start, ports.outputs), ("to", "input", end, ports.inputs)
        for word, side, (layer_id, port_id), known in rows:
            layer = net.layers.get(layer_id)
            if (layer_id, port_id) in known or layer in self.broken or layer_id in net.shared:
                continue
            if layer is None:
                if not net.unsure:
                    message = f"the edge goes {word} layer {layer_id}, which is not there"
                    yield Fault("IR122", edge, message, "correct the edge or delete it")
                continue
            place = f"port {port_id} of layer {layer_id} '{layer.get('name', '')}'"
            words = ", ".join(str(port) for owner, port in sorted(known) if owner == layer_id)
            remedy = f"its {side} ports are {words}" if words else f"it has no {side} ports"
            yield Fault("IR122", edge, f"the edge goes {word} {place}, which has no such {side} port", remedy)


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
