"""Ports and edges."""

from __future__ import annotations

import random

from tests.faults.define import Case, CaseLayer, Fault, Guilt, NotHere, fault, pick
from tests.faults.markup import Node

__all__ = ["FAULTS"]

GROUP = "edges"
FAULTS: list[Fault] = []
Edge = tuple[Node, CaseLayer, CaseLayer]


def _edge(case: Case, rng: random.Random) -> Edge:
    return pick(rng, case.edges())


# --- attributes of edges ------------------------------------------------------------------------------------------


def _end(attribute: str, kind: str, value: str | None) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        edge, start, end = _edge(case, rng)
        edge.set(attribute, value)
        return Guilt([start.spot, end.spot], at=[edge, end.node])

    FAULTS.append(Fault(f"edge-{attribute}-{kind}", GROUP, "error", change))


for _attribute in ("from-layer", "from-port", "to-layer", "to-port"):
    _end(_attribute, "missing", None)
    _end(_attribute, "empty", "")
    _end(_attribute, "not-there", "7777")
    _end(_attribute, "text", "abc")
    _end(_attribute, "negative", "-1")
    _end(_attribute, "fraction", "0.5")
    _end(_attribute, "huge", "18446744073709551616")


def _renamed(attribute: str, new: str) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        edge, start, end = _edge(case, rng)
        edge.rename(attribute, new)
        return Guilt([start.spot, end.spot], at=[edge, end.node])

    FAULTS.append(Fault(f"edge-{attribute}-called-{new}", GROUP, "error", change))


_renamed("from-layer", "from_layer")
_renamed("to-layer", "tolayer")
_renamed("from-port", "fromport")
_renamed("to-port", "to_port")


# --- the wiring ---------------------------------------------------------------------------------------------------


@fault(FAULTS, GROUP, "error")
def edge_lost(case: Case, rng: random.Random) -> Guilt:
    edge, _, end = _edge(case, rng)
    edges = end.graph.need("edges")
    edges.children = [child for child in edges.children if child is not edge]
    port = [port for port in end.ports("input") if port.get("id") == edge.get("to-port")]
    return Guilt([end.spot], at=[end.node, *port], within=[end.node.need("input")])


@fault(FAULTS, GROUP, "error")
def all_edges_of_a_layer_lost(case: Case, rng: random.Random) -> Guilt:
    _, _, end = _edge(case, rng)
    edges = end.graph.need("edges")
    number = end.node.get("id")
    edges.children = [child for child in edges.children if isinstance(child, Node) and child.get("to-layer") != number]
    return Guilt([end.spot], at=[end.node], within=[end.node.need("input")])


@fault(FAULTS, GROUP, "error")
def edge_twice(case: Case, rng: random.Random) -> Guilt:
    edge, start, end = _edge(case, rng)
    copy = edge.copy()
    edges = end.graph.need("edges")
    edges.children.insert(rng.randrange(len(edges.children) + 1), copy)
    return Guilt([start.spot, end.spot], at=[edge, copy])


@fault(FAULTS, GROUP, "error")
def input_fed_twice(case: Case, rng: random.Random) -> Guilt:
    edge, _, end = _edge(case, rng)
    ok = [
        other
        for other in case.edges()
        if other[2].graph is end.graph and other[1].node.get("id") != edge.get("from-layer")
    ]
    other, start, _ = pick(rng, ok)
    copy = edge.copy()
    copy.set("from-layer", other.get("from-layer"))
    copy.set("from-port", other.get("from-port"))
    end.graph.need("edges").children.append(copy)
    return Guilt([end.spot, start.spot], at=[edge, copy])


@fault(FAULTS, GROUP, "error")
def input_fed_by_two_outputs_of_one_layer(case: Case, rng: random.Random) -> Guilt:
    edge, start, end = pick(rng, [row for row in case.edges() if len(row[1].ports("output")) > 1])
    copy = edge.copy()
    copy.set(
        "from-port",
        pick(rng, [port.get("id") for port in start.ports("output") if port.get("id") != edge.get("from-port")]),
    )
    end.graph.need("edges").children.append(copy)
    return Guilt([end.spot, start.spot], at=[edge, copy])


@fault(FAULTS, GROUP, "error")
def cycle(case: Case, rng: random.Random) -> Guilt:
    """An input gets its data from a layer that depends on it."""
    rows = [row for row in case.edges() if case.reaches(row[2])]
    edge, _, end = pick(rng, rows)
    later = [
        place
        for place in case.places()
        if place.graph is end.graph and place.node.get("id") in case.reaches(end) and place.ports("output")
    ]
    back = pick(rng, later)
    edge.set("from-layer", back.node.get("id"))
    edge.set("from-port", back.ports("output")[0].get("id"))
    inside = [
        place
        for place in case.places()
        if place.graph is end.graph
        and place.node.get("id") in case.reaches(end)
        and end.node.get("id") in case.reaches(place)
    ]
    numbers = {place.node.get("id") for place in inside}
    wires = [
        wire
        for wire in end.graph.need("edges").all("edge")
        if {wire.get("from-layer"), wire.get("to-layer")} <= numbers
    ]
    return Guilt([place.spot for place in inside], at=[*wires, *(place.node for place in inside)])


@fault(FAULTS, GROUP, "error")
def self_loop(case: Case, rng: random.Random) -> Guilt:
    edge, _, end = pick(rng, [row for row in case.edges() if row[2].ports("output")])
    edge.set("from-layer", end.node.get("id"))
    edge.set("from-port", pick(rng, end.ports("output")).get("id"))
    return Guilt([end.spot], at=[edge, end.node])


@fault(FAULTS, GROUP, "error")
def edge_from_an_input_port(case: Case, rng: random.Random) -> Guilt:
    edge, start, end = pick(rng, [row for row in case.edges() if row[1].ports("input")])
    edge.set("from-port", pick(rng, start.ports("input")).get("id"))
    return Guilt([start.spot, end.spot], at=[edge])


@fault(FAULTS, GROUP, "error")
def edge_to_an_output_port(case: Case, rng: random.Random) -> Guilt:
    edge, start, end = pick(rng, [row for row in case.edges() if row[2].ports("output")])
    edge.set("to-port", pick(rng, end.ports("output")).get("id"))
    return Guilt([start.spot, end.spot], at=[edge, end.node])


@fault(FAULTS, GROUP, "error")
def edge_turned_round(case: Case, rng: random.Random) -> Guilt:
    edge, start, end = _edge(case, rng)
    names = ("from-layer", "from-port", "to-layer", "to-port")
    a, b, c, d = (edge.get(name) for name in names)
    edge.attrs = list(zip(names, (c, d, a, b), strict=True))
    return Guilt([start.spot, end.spot], at=[edge, end.node], within=[end.node.need("input")])


@fault(FAULTS, GROUP, "error")
def edge_from_a_result(case: Case, rng: random.Random) -> Guilt:
    edge, start, end = _edge(case, rng)
    result = pick(
        rng, [place for place in case.places("Result") if place.graph is end.graph and place.node is not end.node]
    )
    edge.set("from-layer", result.node.get("id"))
    edge.set("from-port", "0")
    return Guilt([result.spot, end.spot, start.spot], at=[edge])


@fault(FAULTS, GROUP, "error")
def edge_to_a_parameter(case: Case, rng: random.Random) -> Guilt:
    edge, start, end = _edge(case, rng)
    parameter = pick(rng, [place for place in case.places("Parameter") if place.graph is end.graph])
    copy = edge.copy()
    copy.set("to-layer", parameter.node.get("id"))
    copy.set("to-port", "0")
    end.graph.need("edges").children.append(copy)
    return Guilt([parameter.spot, start.spot, end.spot], at=[copy])


def _dims(port: Node) -> tuple[str, ...]:
    return (port.get("precision"), *(dim.text for dim in port.all("dim")))


@fault(FAULTS, GROUP, "error")
def edge_from_another_shape(case: Case, rng: random.Random) -> Guilt:
    """The recorded dims of the input port are not those of the port that feeds it."""
    edge, start, end = _edge(case, rng)
    port = end.port("input", edge.get("to-port"))
    later = case.reaches(end) | {end.node.get("id")}
    others = [
        (place, out)
        for place in case.places()
        if place.graph is end.graph and place.node.get("id") not in later
        for out in place.ports("output")
        if len(out.all("dim")) != len(port.all("dim")) and "-1" not in _dims(out) and "-1" not in _dims(port)
    ]
    place, out = pick(rng, others)
    edge.set("from-layer", place.node.get("id"))
    edge.set("from-port", out.get("id"))
    at = [edge, end.node, *([end.data] if end.data else [])]
    return Guilt([end.spot, place.spot, start.spot], at=at, within=[end.node.need("input"), *end.ports_within()])


@fault(FAULTS, GROUP, "error")
def two_inputs_exchanged(case: Case, rng: random.Random) -> Guilt:
    rows = case.edges()
    pairs = [
        (a, b)
        for a in rows
        for b in rows
        if a[2].node is b[2].node and a[0].get("to-port") < b[0].get("to-port") and _shape_of(a) != _shape_of(b)
    ]
    first, second = pick(rng, pairs)
    one, two = first[0].get("to-port"), second[0].get("to-port")
    first[0].set("to-port", two)
    second[0].set("to-port", one)
    end = first[2]
    at = [first[0], second[0], end.node, *([end.data] if end.data else [])]
    return Guilt([end.spot, first[1].spot, second[1].spot], at=at, within=end.ports_within())


def _shape_of(row: Edge) -> tuple[str, ...]:
    edge, start, _ = row
    found = _dims(start.port("output", edge.get("from-port")))
    if "-1" in found:
        raise NotHere
    return found


# --- ports --------------------------------------------------------------------------------------------------------


@fault(FAULTS, GROUP, "error")
def input_port_lost(case: Case, rng: random.Random) -> Guilt:
    edge, start, end = _edge(case, rng)
    into = end.node.need("input")
    into.children = [port for port in into.children if isinstance(port, Node) and port.get("id") != edge.get("to-port")]
    return Guilt([end.spot, start.spot], at=[edge, end.node, into])


OPTIONAL_INPUTS = (
    "Squeeze",
    "Clamp",
    "NonMaxSuppression",
    "StridedSlice",
    "Interpolate",
    "ReadValue",
    "Slice",
    "Broadcast",
    "Pad",
    "Swish",
    "Loop",
    "If",
    "TensorIterator",
    "GRUCell",
    "LSTMCell",
    "RNNCell",
    "ConvolutionBackpropData",
    "DetectionOutput",
    "Concat",
)
"""Some of whose inputs need not be there."""
FIXED_INPUTS = [
    "Relu",
    "ReLU",
    "Add",
    "MatMul",
    "Convolution",
    "AvgPool",
    "MaxPool",
    "Transpose",
    "Result",
    "SoftMax",
    "Sqrt",
    "Multiply",
    "Convert",
    "Sigmoid",
    "Tanh",
    "ReduceMean",
    "TopK",
    "Split",
    "ShapeOf",
    "Reshape",
    "Assign",
]
"""With a fixed number of inputs."""


@fault(FAULTS, GROUP, "error")
def last_input_taken_away(case: Case, rng: random.Random) -> Guilt:
    """Port and edge, of an operation that needs them."""
    fitting = [place for place in case.places() if place.ports("input") and place.type not in OPTIONAL_INPUTS]
    place = pick(rng, fitting)
    return _take_port(case, place, place.ports("input")[-1])


@fault(FAULTS, GROUP, "error")
def first_input_taken_away(case: Case, rng: random.Random) -> Guilt:
    fitting = [
        place
        for place in case.places()
        if place.ports("input") and place.type not in ("Loop", "If", "TensorIterator", "Concat")
    ]
    place = pick(rng, fitting)
    return _take_port(case, place, place.ports("input")[0])


def _take_port(case: Case, place: CaseLayer, port: Node) -> Guilt:
    into = place.node.need("input")
    place.take_input(port)
    return Guilt(
        [place.spot], at=[place.node, into, *([place.data] if place.data else [])], within=place.ports_within()
    )


@fault(FAULTS, GROUP, "error")
def input_added_without_edge(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, [place for place in case.places() if place.ports("input")])
    port = place.ports("input")[-1].copy()
    port.set("id", "90")
    place.node.need("input").children.append(port)
    return Guilt([place.spot], at=[port, place.node, place.node.need("input")])


@fault(FAULTS, GROUP, "error")
def input_too_many(case: Case, rng: random.Random) -> Guilt:
    """Another input with its own edge, for an operation that has a fixed number of them."""
    _, _, end = pick(rng, [row for row in case.edges() if row[2].type in FIXED_INPUTS])
    port = end.ports("input")[-1].copy()
    port.set("id", "90")
    end.node.need("input").children.append(port)
    copy = next(
        one
        for one, _, other in case.edges()
        if other.node is end.node and one.get("to-port") == end.ports("input")[-2].get("id")
    ).copy()
    copy.set("to-port", "90")
    end.graph.need("edges").children.append(copy)
    return Guilt([end.spot], at=[port, copy, end.node, end.node.need("input")])


@fault(FAULTS, GROUP, "error")
def output_port_lost(case: Case, rng: random.Random) -> Guilt:
    edge, start, _ = _edge(case, rng)
    out = start.node.need("output")
    out.children = [port for port in out.children if isinstance(port, Node) and port.get("id") != edge.get("from-port")]
    users = [row for row in case.edges() if row[1].node is start.node]
    return Guilt([start.spot, *(row[2].spot for row in users)], at=[start.node, out, *(row[0] for row in users)])


@fault(FAULTS, GROUP, "error")
def output_too_many(case: Case, rng: random.Random) -> Guilt:
    free = ("TensorIterator", "Loop", "If", "Split", "VariadicSplit", "Result")
    place = pick(rng, [place for place in case.places() if place.ports("output") and place.type not in free])
    port = place.ports("output")[-1].copy()
    port.set("id", "91")
    port.drop("names")
    place.node.need("output").children.append(port)
    return Guilt([place.spot], at=[port, place.node, place.node.need("output")])


@fault(FAULTS, GROUP, "error")
def split_with_too_many_outputs(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, [*case.places("Split"), *case.places("VariadicSplit")])
    port = place.ports("output")[-1].copy()
    port.set("id", "91")
    port.drop("names")
    place.node.need("output").children.append(port)
    return Guilt([place.spot], at=[port, place.node, place.node.need("output"), *([place.data] if place.data else [])])


@fault(FAULTS, GROUP, "error")
def result_with_an_output(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, case.places("Result"))
    port = place.ports("input")[0].copy()
    port.set("id", "1")
    out = Node("output", [], [port])
    place.node.children.append(out)
    return Guilt([place.spot], at=[place.node, out, port])


@fault(FAULTS, GROUP, "error")
def parameter_with_an_input(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, [*case.places("Parameter"), *case.places("Const")])
    into = Node("input", [], [Node("port", [("id", "5")], [Node("dim", [], ["1"])])])
    place.node.children.append(into)
    return Guilt([place.spot], at=[place.node, into, *into.all("port")])


def _port_id(side: str, kind: str, value: str | None) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        rows = case.edges()
        edge, start, end = pick(rng, rows)
        place, name = (end, "to-port") if side == "input" else (start, "from-port")
        port = place.port(side, edge.get(name))
        if value is None:
            port.drop("id")
        else:
            port.set("id", value)
        wires = [row[0] for row in rows if place.node in (row[1].node, row[2].node)]
        users = [row[2].spot for row in rows if row[1].node is place.node] if side == "output" else []
        return Guilt([place.spot, *users], at=[port, *wires])

    FAULTS.append(Fault(f"{side}-port-id-{kind}", GROUP, "error", change))


for _side in ("input", "output"):
    _port_id(_side, "missing", None)
    _port_id(_side, "empty", "")
    _port_id(_side, "text", "abc")
    _port_id(_side, "negative", "-3")
    _port_id(_side, "fraction", "1.5")
    _port_id(_side, "huge", "99999999999999999999")
    _port_id(_side, "unknown-to-edges", "4242")


def _same_ids(side: str) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        place = pick(rng, [place for place in case.places() if len(place.ports(side)) > 1])
        first, second = rng.sample(place.ports(side), 2)
        second.set("id", first.get("id"))
        wires = [row[0] for row in case.edges() if place.node in (row[1].node, row[2].node)]
        users = [row[2].spot for row in case.edges() if row[1].node is place.node] if side == "output" else []
        return Guilt([place.spot, *users], at=[first, second, *wires])

    FAULTS.append(Fault(f"{side}-port-ids-duplicate", GROUP, "error", change))


_same_ids("input")
_same_ids("output")


@fault(FAULTS, GROUP, "error")
def whole_layer_lost(case: Case, rng: random.Random) -> Guilt:
    """A layer in the middle is gone, its edges are not."""
    place = pick(rng, [place for place in case.places() if place.type not in ("Parameter", "Result", "Assign")])
    rows = [row for row in case.edges() if place.node in (row[1].node, row[2].node)]
    layers = place.graph.need("layers")
    layers.children = [child for child in layers.children if child is not place.node]
    if not rows:
        raise NotHere
    spots = [row[1].spot for row in rows] + [row[2].spot for row in rows]
    return Guilt(spots, at=[row[0] for row in rows] + [row[2].node for row in rows])


@fault(FAULTS, GROUP, "error")
def layer_and_edges_lost(case: Case, rng: random.Random) -> Guilt:
    """A layer and all its edges are gone: its readers have nothing to read."""
    place = pick(rng, [place for place in case.places() if place.type not in ("Result", "Assign")])
    rows = [row for row in case.edges() if place.node in (row[1].node, row[2].node)]
    readers = [row[2] for row in rows if row[1].node is place.node]
    if not readers:
        raise NotHere
    layers, edges = place.graph.need("layers"), place.graph.need("edges")
    layers.children = [child for child in layers.children if child is not place.node]
    edges.children = [child for child in edges.children if not any(child is row[0] for row in rows)]
    at = [node for reader in readers for node in (reader.node, *reader.ports("input"))]
    return Guilt([reader.spot for reader in readers], at=at)
