"""The shape of the document: elements that are missing, twice there, misspelled, or in the wrong place."""

from __future__ import annotations

import random

from tests.faults.define import Case, CaseLayer, Fault, Guilt, fault, pick
from tests.faults.markup import Node

__all__ = ["FAULTS"]

GROUP = "structure"
FAULTS: list[Fault] = []


def _place_of(case: Case, node: Node) -> CaseLayer | None:
    """The innermost layer that an element stands in."""
    found = None
    for place in case.places():
        if any(inner is node for inner in place.node.walk()):
            found = place
    return found


def _parent(case: Case, node: Node) -> Node:
    return next(outer for outer in case.root.walk() if any(child is node for child in outer.children))


def _guilt(case: Case, node: Node, *more: Node) -> Guilt:
    place = _place_of(case, node)
    return Guilt([place.spot] if place else [], at=[node, *more])


# --- missing ------------------------------------------------------------------------------------------------------


@fault(FAULTS, GROUP, "error")
def no_layers_element(case: Case, rng: random.Random) -> Guilt:
    case.root.children = [child for child in case.root.children if child is not case.root.need("layers")]
    return Guilt()


@fault(FAULTS, GROUP, "error")
def no_edges_element(case: Case, rng: random.Random) -> Guilt:
    case.root.children = [child for child in case.root.children if child is not case.root.need("edges")]
    return Guilt()


@fault(FAULTS, GROUP, "error")
def empty_layers(case: Case, rng: random.Random) -> Guilt:
    case.root.need("layers").children = []
    return Guilt()


@fault(FAULTS, GROUP, "error")
def empty_layers_and_edges(case: Case, rng: random.Random) -> Guilt:
    case.root.need("layers").children = []
    case.root.need("edges").children = []
    return Guilt()


@fault(FAULTS, GROUP, "error")
def empty_edges(case: Case, rng: random.Random) -> Guilt:
    case.root.need("edges").children = []
    return Guilt()


@fault(FAULTS, GROUP, "error")
def empty_net(case: Case, rng: random.Random) -> Guilt:
    case.root.children = []
    return Guilt(at=[case.root])


@fault(FAULTS, GROUP, "error")
def no_result(case: Case, rng: random.Random) -> Guilt:
    _without(case, [place for place in case.main() if place.type in ("Result", "Assign")])
    return Guilt()


def _without(case: Case, places: list[CaseLayer]) -> None:
    """Takes layers and their edges away."""
    for place in places:
        layers, edges, number = place.graph.need("layers"), place.graph.need("edges"), place.node.get("id")
        layers.children = [child for child in layers.children if child is not place.node]
        edges.children = [
            child
            for child in edges.children
            if not isinstance(child, Node) or number not in (child.get("from-layer"), child.get("to-layer"))
        ]


def _drop_child(kind: str, parent: str, tag: str) -> None:
    """Takes one random `tag` out of one random `parent`."""

    def change(case: Case, rng: random.Random) -> Guilt:
        outer = pick(rng, [node for node in case.root.walk() if node.tag == parent and node.find(tag)])
        if tag == "data":
            needed = ("Const", "Parameter", "Convert", "AvgPool", "MaxPool", "Concat", "Convolution", "Split", "Assign")
            outer = pick(rng, [place.node for place in case.places() if place.type in needed])
        gone = outer.need(tag)
        outer.children = [child for child in outer.children if child is not gone]
        number = outer.get("id")
        wires = [edge for edge, *ends in case.edges() if any(end.node is outer for end in ends)]
        return _guilt(case, outer, *(wires if tag in ("input", "output") and number else []))

    FAULTS.append(Fault(kind, GROUP, "error", change))


_drop_child("data-lost", "layer", "data")
_drop_child("inputs-lost", "layer", "input")
_drop_child("outputs-lost", "layer", "output")


# --- twice --------------------------------------------------------------------------------------------------------


def _twice(kind: str, parent: str, tag: str, *, empty: bool = False) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        outer = pick(rng, [node for node in case.root.walk() if node.tag == parent and node.find(tag)])
        first = outer.need(tag)
        second = Node(tag, []) if empty else first.copy()
        outer.children.insert(outer.children.index(first) + 1, second)
        return _guilt(case, second, first)

    FAULTS.append(Fault(kind, GROUP, "warning", change))


_twice("second-layers", "net", "layers")
_twice("second-empty-layers", "net", "layers", empty=True)
_twice("second-edges", "net", "edges")
_twice("second-data", "layer", "data")
_twice("second-empty-data", "layer", "data", empty=True)
_twice("second-input", "layer", "input")
_twice("second-output", "layer", "output")
_twice("second-layers-in-a-body", "body", "layers")
_twice("second-edges-in-a-body", "body", "edges")


@fault(FAULTS, GROUP, "error")
def layers_split_in_two(case: Case, rng: random.Random) -> Guilt:
    layers = case.root.need("layers")
    half = len(layers.children) // 2
    second = Node("layers", [], layers.children[half:])
    layers.children = layers.children[:half]
    case.root.children.insert(case.root.children.index(layers) + 1, second)
    return Guilt(at=[second, layers])


@fault(FAULTS, GROUP, "error")
def edges_split_in_two(case: Case, rng: random.Random) -> Guilt:
    edges = case.root.need("edges")
    half = len(edges.children) // 2
    second = Node("edges", [], edges.children[half:])
    edges.children = edges.children[:half]
    case.root.children.insert(case.root.children.index(edges) + 1, second)
    return Guilt(at=[second, edges], within=[])


@fault(FAULTS, GROUP, "error")
def data_split_in_two(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, [place for place in case.places() if place.data and len(place.data.attrs) > 2])
    data = place.data
    assert data
    half = len(data.attrs) // 2
    second = Node("data", data.attrs[half:])
    data.attrs = data.attrs[:half]
    place.node.children.insert(place.node.children.index(data) + 1, second)
    return Guilt([place.spot], at=[second, data])


# --- the root -----------------------------------------------------------------------------------------------------


def _root_tag(tag: str) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        case.root.tag = tag
        return Guilt(at=[case.root])

    FAULTS.append(Fault(f"root-called-{tag}", GROUP, "error", change))


for _tag in ("nets", "model", "network", "graph"):
    _root_tag(_tag)


def _root_version(kind: str, version: str | None) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        case.root.drop("version")
        if version is not None:
            case.root.set("version", version)
        return Guilt(at=[case.root])

    FAULTS.append(Fault(f"ir-version-{kind}", GROUP, "error", change))


for _kind, _version in {
    "missing": None,
    "empty": "",
    "12": "12",
    "9": "9",
    "8": "8",
    "1": "1",
    "0": "0",
    "negative": "-11",
    "text": "abc",
    "v11": "v11",
    "huge": "99999999999999999999",
    "110": "110",
    "list": "10,11",
    "words": "eleven",
    "infinite": "inf",
}.items():
    _root_version(_kind, _version)


@fault(FAULTS, GROUP, "error")
def root_inside_another(case: Case, rng: random.Random) -> Guilt:
    case.root = Node("models", [], [case.root])
    return Guilt()


@fault(FAULTS, GROUP, "error")
def net_inside_net(case: Case, rng: random.Random) -> Guilt:
    case.root = Node("net", list(case.root.attrs), [case.root])
    return Guilt()


# --- misspelled ---------------------------------------------------------------------------------------------------


def _misspelled(old: str, new: str) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        found = [node for node in case.root.walk() if node.tag == old]
        if old == "data":
            needed = ("Const", "Parameter", "Convert", "AvgPool", "MaxPool", "Concat", "Convolution", "Split", "Assign")
            found = [place.data for place in case.places() if place.type in needed and place.data]
        node = pick(rng, found)
        outer = _parent(case, node)
        target = [end for edge, _, end in case.edges() if edge is node]
        guilt = _guilt(case, node, outer)
        node.tag = new
        if target:
            guilt = Guilt([target[0].spot], at=[node, target[0].node], within=target[0].ports_within())
        if old == "layer":
            number = node.get("id")
            touching = [
                (edge, start, end)
                for edge, start, end in _edges_of(case, outer)
                if number in (edge.get("from-layer"), edge.get("to-layer"))
            ]
            guilt.at += [edge for edge, _, _ in touching]
            guilt.layers += [place.spot for _, *ends in touching for place in ends]
        return guilt

    FAULTS.append(Fault(f"{old}-called-{new}", GROUP, "error", change))


def _edges_of(case: Case, layers: Node) -> list[tuple[Node, CaseLayer, CaseLayer]]:
    """Edges of the graph whose `<layers>` this is, with a made-up layer where one end is gone."""
    graph = _parent(case, layers)
    by_id = {place.node.get("id"): place for place in case.places() if place.graph is graph}
    prefix = next((place.prefix for place in case.places() if place.graph is graph), "")

    def end(number: str) -> CaseLayer:
        return by_id.get(number) or CaseLayer(Node("layer", [("id", number)]), graph, prefix)

    return [(edge, end(edge.get("from-layer")), end(edge.get("to-layer"))) for edge in graph.need("edges").all("edge")]


for _old, *_news in (
    ("layers", "layer", "Layers", "layrs"),
    ("layer", "Layer", "layr", "node", "layers"),
    ("data", "Data", "date", "attributes"),
    ("input", "inputs", "Input", "in"),
    ("output", "outputs", "Output", "out"),
    ("port", "prot", "Port", "ports"),
    ("dim", "dims", "Dim", "dimension"),
    ("edges", "edge", "Edges", "egdes"),
    ("edge", "egde", "Edge", "link"),
    ("body", "Body", "boddy"),
    ("then_body", "then", "thenbody"),
    ("else_body", "else", "elsebody"),
    ("port_map", "portmap", "port-map"),
    ("then_port_map", "port_map"),
    ("back_edges", "backedges", "back_edge"),
):
    for _new in _news:
        _misspelled(_old, _new)


# --- in the wrong place -------------------------------------------------------------------------------------------


def _moved(kind: str, tag: str, target: str) -> None:
    """Moves a random `tag` into the nearest `target` outside of it."""

    def change(case: Case, rng: random.Random) -> Guilt:
        chains = [chain for chain in _chains(case.root, []) if chain[-1].tag == tag]
        fitting = [chain for chain in chains if any(node.tag == target for node in chain[:-2])]
        if tag == "data":
            needed = ("Const", "Parameter", "Convert", "AvgPool", "MaxPool", "Concat", "Convolution", "Split", "Assign")
            fitting = [chain for chain in fitting if chain[-2].get("type") in needed]
        chain = pick(rng, fitting)
        node = chain[-1]
        target_layer = [end for edge, _, end in case.edges() if edge is node]
        place = target_layer[0] if target_layer else _place_of(case, node)
        at = [node, *chain[-3:-1]]
        chain[-2].children = [child for child in chain[-2].children if child is not node]
        next(outer for outer in reversed(chain[:-2]) if outer.tag == target).children.append(node)
        within = place.ports_within() if place and tag == "edge" else []
        return Guilt([place.spot] if place and tag != "layer" else [], at=at if tag != "layer" else [], within=within)

    FAULTS.append(Fault(kind, GROUP, "error", change))


def _chains(node: Node, above: list[Node]) -> list[list[Node]]:
    here = [*above, node]
    return [here, *(chain for child in node.children if isinstance(child, Node) for chain in _chains(child, here))]


_moved("layer-outside-layers", "layer", "net")
_moved("edge-outside-edges", "edge", "net")
_moved("port-outside-input-or-output", "port", "layer")
_moved("dim-outside-port", "dim", "layer")
_moved("dim-beside-ports", "dim", "input")
_moved("data-outside-layer", "data", "layers")


@fault(FAULTS, GROUP, "error")
def layer_inside_layer(case: Case, rng: random.Random) -> Guilt:
    first, second = rng.sample(case.main(), 2)
    layers = case.root.need("layers")
    layers.children = [child for child in layers.children if child is not second.node]
    first.node.children.append(second.node)
    touching = [
        edge
        for edge in case.root.need("edges").all("edge")
        if second.node.get("id") in (edge.get("from-layer"), edge.get("to-layer"))
    ]
    spots = [place.spot for place in case.main()]
    return Guilt([first.spot, second.spot, *spots], at=[first.node, second.node, *touching])


@fault(FAULTS, GROUP, "error")
def data_inside_output(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, [place for place in case.places() if place.type in ("Const", "Parameter")])
    data = place.data
    assert data
    place.node.children = [child for child in place.node.children if child is not data]
    place.node.need("output").children.append(data)
    return Guilt([place.spot], at=[place.node, data])


@fault(FAULTS, GROUP, "error")
def input_and_output_exchanged(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, [place for place in case.places() if place.node.find("input") and place.node.find("output")])
    into, out = place.node.need("input"), place.node.need("output")
    into.tag, out.tag = "output", "input"
    number = place.node.get("id")
    touching = [
        edge
        for edge in place.graph.need("edges").all("edge")
        if number in (edge.get("from-layer"), edge.get("to-layer"))
    ]
    return Guilt([place.spot], at=[place.node, into, out, *touching], within=[into, out])
