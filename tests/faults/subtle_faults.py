"""Contradictions between places: each of them alone looks right."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.faults.define import Case, CaseLayer, Expect, Fault, Guilt, NotHere, fault, pick
from tests.faults.markup import Node

__all__ = ["FAULTS"]

FAULTS: list[Fault] = []
BODIED = ("TensorIterator", "Loop", "If")


def _everything(*places: CaseLayer) -> Guilt:
    """Any of these layers, and any of their lines."""
    return Guilt([place.spot for place in places], within=[place.node for place in places])


def _readers(case: Case, place: CaseLayer) -> list[CaseLayer]:
    return [end for _, start, end in case.edges() if start.node is place.node]


def _inner(case: Case, place: CaseLayer) -> list[CaseLayer]:
    """The layers of all bodies of a layer."""
    start = f"{place.prefix}{place.node.get('name')}/"
    return [one for one in case.places() if one.prefix.startswith(start)]


# --- Parameters and constants against what reads them -------------------------------------------------------------


def _parameter(kind: str, group: str, edit: Callable[[Node, Node], None]) -> None:
    """Shape or type of a Parameter changed with its port: its readers record something else."""

    def change(case: Case, rng: random.Random) -> Guilt:
        places = [one for one in case.places("Parameter") if not one.prefix and one.ports("output")[0].all("dim")]
        place = pick(rng, [one for one in places if _readers(case, one)])
        edit(place.need_data(), place.ports("output")[0])
        return _everything(place, *_readers(case, place))

    FAULTS.append(Fault(kind, group, "error", change))


def _last_dim(data: Node, port: Node) -> None:
    dims = port.all("dim")
    if dims[-1].text == "-1":
        raise NotHere
    dims[-1].text = str(int(dims[-1].text) + 5)
    data.set("shape", ",".join([*data.get("shape").split(",")[:-1], dims[-1].text]))


def _rank_more(data: Node, port: Node) -> None:
    port.children.append(Node("dim", [], ["3"]))
    data.set("shape", data.get("shape") + ",3")


def _rank_less(data: Node, port: Node) -> None:
    port.children.pop()
    data.set("shape", ",".join(data.get("shape").split(",")[:-1]))


def _scalar(data: Node, port: Node) -> None:
    port.children = []
    data.set("shape", "")


def _as_type(name: str, precision: str) -> Callable[[Node, Node], None]:
    def edit(data: Node, port: Node) -> None:
        if data.get("element_type") == name:
            raise NotHere
        data.set("element_type", name)
        port.set("precision", precision)

    return edit


_parameter("parameter-and-port-another-dim", "shapes", _last_dim)
_parameter("parameter-and-port-rank-more", "shapes", _rank_more)
_parameter("parameter-and-port-rank-less", "shapes", _rank_less)
_parameter("parameter-and-port-scalar", "shapes", _scalar)


def _parameter_type(name: str, precision: str) -> None:
    """Only where some reader records the type or must have another one."""

    def change(case: Case, rng: random.Random) -> Guilt:
        places = [one for one in case.places("Parameter") if not one.prefix]
        recorded = [
            one
            for one in places
            if any(port.has("precision") for end in _readers(case, one) for port in end.ports("input"))
        ]
        place = pick(rng, recorded)
        _as_type(name, precision)(place.need_data(), place.ports("output")[0])
        return _everything(place, *_readers(case, place))

    FAULTS.append(Fault(f"parameter-and-port-{name}", "element types", "error", change))


for _name, _precision in (("i64", "I64"), ("boolean", "BOOL"), ("f64", "FP64"), ("string", "STRING"), ("u8", "U8")):
    _parameter_type(_name, _precision)


def _const(kind: str, edit: Callable[[Node, Node], None], group: str = "shapes") -> None:
    """Shape or type of a constant changed with its port, in a way that fits its bytes."""

    def change(case: Case, rng: random.Random) -> Guilt:
        places = [one for one in case.consts() if len(one.ports("output")[0].all("dim")) > 1 and _readers(case, one)]
        place = pick(rng, places)
        edit(place.need_data(), place.ports("output")[0])
        return _everything(place, *_readers(case, place))

    FAULTS.append(Fault(kind, group, "error", change))


def _write(data: Node, port: Node, dims: list[str]) -> None:
    if dims == [dim.text for dim in port.all("dim")]:
        raise NotHere
    data.set("shape", ",".join(dims))
    port.children = [Node("dim", [], [dim]) for dim in dims]


def _turn(data: Node, port: Node) -> None:
    _write(data, port, [dim.text for dim in port.all("dim")][::-1])


def _flatten(data: Node, port: Node) -> None:
    count = 1
    for dim in port.all("dim"):
        count *= int(dim.text)
    _write(data, port, [str(count)])


def _extend(data: Node, port: Node) -> None:
    _write(data, port, [*(dim.text for dim in port.all("dim")), "1"])


def _retype(data: Node, port: Node) -> None:
    swap = {"f32": ("i32", "I32"), "i64": ("f64", "FP64"), "i32": ("f32", "FP32"), "f16": ("bf16", "BF16")}
    if data.get("element_type") not in swap:
        raise NotHere
    name, precision = swap[data.get("element_type")]
    data.set("element_type", name)
    port.set("precision", precision)


_const("const-and-port-turned", _turn)
_const("const-and-port-flattened", _flatten)
_const("const-and-port-one-dim-more", _extend)


@fault(FAULTS, "element types", "error")
def const_and_port_another_type(case: Case, rng: random.Random) -> Guilt:
    places = [
        one
        for one in case.consts()
        if any(port.has("precision") for end in _readers(case, one) for port in end.ports("input"))
    ]
    place = pick(rng, places)
    _retype(place.need_data(), place.ports("output")[0])
    return _everything(place, *_readers(case, place))


# --- several outputs ----------------------------------------------------------------------------------------------


@fault(FAULTS, "edges", "error")
def edge_from_the_other_output(case: Case, rng: random.Random) -> Guilt:
    """An edge starts at another output of the same layer, which is of another type or shape."""
    rows = []
    for edge, start, end in case.edges():
        ports = start.ports("output")
        mine = [port for port in ports if port.get("id") == edge.get("from-port")]
        rows += [(edge, start, end, port) for port in ports if mine and _unlike(port, mine[0])]
    edge, start, end, port = pick(rng, rows)
    edge.set("from-port", port.get("id"))
    guilt = _everything(start, end)
    guilt.at.append(edge)
    return guilt


def _unlike(one: Node, other: Node) -> bool:
    dims = [[dim.text for dim in port.all("dim")] for port in (one, other)]
    return one is not other and "-1" not in (*dims[0], *dims[1]) and dims[0] != dims[1]


@fault(FAULTS, "shapes", "error")
def two_output_ports_exchanged(case: Case, rng: random.Random) -> Guilt:
    """The records of two outputs stand in each other's place."""
    rows = [
        (place, one, other)
        for place in case.places()
        for one in place.ports("output")
        for other in place.ports("output")
        if _unlike(one, other)
    ]
    place, one, other = pick(rng, rows)
    one.children, other.children = other.children, one.children
    return Guilt([place.spot], at=[one, other], within=[one, other])


# --- bodies -------------------------------------------------------------------------------------------------------


@fault(FAULTS, "bodies", "error")
def port_maps_of_branches_exchanged(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, case.places("If"))
    one, other = place.node.need("then_port_map"), place.node.need("else_port_map")
    if [row.attrs for row in one.children if isinstance(row, Node)] == [
        row.attrs for row in other.children if isinstance(row, Node)
    ]:
        raise NotHere
    one.children, other.children = other.children, one.children
    inner = _inner(case, place)
    return _everything(place, *inner)


@fault(FAULTS, "bodies", "error")
def body_of_another_layer(case: Case, rng: random.Random) -> Guilt:
    """A body of another model, with other Parameters and Results."""
    places = [place for place in case.places() if place.type in ("Loop", "TensorIterator")]
    place = pick(rng, places)
    body = place.node.need("body")
    body.need("layers").children = []
    body.need("edges").children = []
    return _everything(place)


@fault(FAULTS, "bodies", "error")
def parameter_of_a_body_another_shape(case: Case, rng: random.Random) -> Guilt:
    """Shape and port of a Parameter in a body, against what the layer passes in."""
    places = [one for one in case.places("Parameter") if one.prefix and one.ports("output")[0].all("dim")]
    place = pick(rng, places)
    _last_dim(place.need_data(), place.ports("output")[0])
    owner = _owner(case, place)
    return _everything(place, owner, *_readers(case, place), *_inner(case, owner))


def _owner(case: Case, place: CaseLayer) -> CaseLayer:
    owners = [
        one
        for one in case.places()
        if one.type in BODIED and place.prefix.startswith(f"{one.prefix}{one.node.get('name')}/")
    ]
    return max(owners, key=lambda one: len(one.prefix))


@fault(FAULTS, "bodies", "error")
def result_of_a_body_reads_another_layer(case: Case, rng: random.Random) -> Guilt:
    """A Result in a body is wired to a layer that gives another shape."""
    rows = []
    for edge, start, end in case.edges():
        if end.type == "Result" and end.prefix:
            mine = start.port("output", edge.get("from-port"))
            others = [(one, port) for one in case.places() if one.graph is end.graph for port in one.ports("output")]
            rows += [(edge, end, one, port) for one, port in others if _unlike(port, mine)]
    edge, end, one, port = pick(rng, rows)
    edge.set("from-layer", one.node.get("id"))
    edge.set("from-port", port.get("id"))
    owner = _owner(case, end)
    guilt = _everything(end, one, owner)
    guilt.at.append(edge)
    return guilt


@fault(FAULTS, "bodies", "error")
def input_of_a_layer_with_a_body_lost(case: Case, rng: random.Random) -> Guilt:
    """Port and edge of a Loop, TensorIterator or If are gone, the row that names the port is not."""
    place = pick(rng, [place for place in case.places() if place.type in BODIED and len(place.ports("input")) > 1])
    place.take_input(place.ports("input")[-1])
    return _everything(place)


@fault(FAULTS, "bodies", "error")
def input_of_a_layer_with_a_body_that_no_row_names(case: Case, rng: random.Random) -> Guilt:
    place = pick(
        rng,
        [place for place in case.places() if place.type in ("TensorIterator", "Loop") and place.ports("input")],
    )
    port = place.ports("input")[-1].copy()
    wire = next(
        edge for edge, _, end in case.edges() if end.node is place.node and edge.get("to-port") == port.get("id")
    ).copy()
    port.set("id", "77")
    wire.set("to-port", "77")
    place.node.need("input").children.append(port)
    place.graph.need("edges").children.append(wire)
    guilt = _everything(place)
    guilt.at.append(wire)
    return guilt


@fault(FAULTS, "bodies", "error")
def output_of_a_layer_with_a_body_that_no_row_names(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, [place for place in case.places() if place.type in BODIED])
    port = place.ports("output")[-1].copy()
    port.set("id", "78")
    port.drop("names")
    place.node.need("output").children.append(port)
    return _everything(place)


@fault(FAULTS, "bodies", "error")
def body_id_of_the_outer_graph(case: Case, rng: random.Random) -> Guilt:
    """An edge in a body starts at a layer of the graph around it."""
    edge, start, end = pick(rng, [row for row in case.edges() if row[2].prefix])
    edge.set("from-layer", "9911")
    outer = pick(rng, [place for place in case.main() if place.ports("output")])
    outer_id = outer.node.get("id")
    for wire in case.root.need("edges").all("edge"):
        for name in ("from-layer", "to-layer"):
            if wire.get(name) == outer_id:
                wire.set(name, "9911")
    outer.node.set("id", "9911")
    guilt = _everything(start, end)
    guilt.at.append(edge)
    return guilt


# --- names and information ----------------------------------------------------------------------------------------


@fault(FAULTS, "bodies", "error")
def assign_twice(case: Case, rng: random.Random) -> Guilt:
    """Two Assigns to one variable."""
    place = pick(rng, case.places("Assign"))
    wire = next(edge for edge, _, end in case.edges() if end.node is place.node).copy()
    copy = place.node.copy()
    copy.set("id", "9400")
    copy.set("name", "again")
    wire.set("to-layer", "9400")
    place.graph.need("layers").children.append(copy)
    place.graph.need("edges").children.append(wire)
    return Guilt(
        [place.spot, CaseLayer(copy, place.graph, place.prefix).spot], at=[place.node, copy], within=[place.node, copy]
    )


def _parameter_name(kind: str, name: str, expect: Expect) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        places = [one for one in case.main() if one.type == name]
        if len(places) < 2:
            raise NotHere
        one, other = rng.sample(places, 2)
        old = other.spot
        other.node.set("name", one.node.get("name"))
        return Guilt([one.spot, other.spot, old], at=[one.node, other.node])

    FAULTS.append(Fault(kind, "layers", expect, change))


_parameter_name("two-inputs-of-one-name", "Parameter", "warning")
_parameter_name("two-outputs-of-one-name", "Result", "warning")
