"""Files with other names, information, constants and layers that change nothing of what the model does."""

from __future__ import annotations

import random

from tests.faults.define import Case, CaseLayer, Fault, Guilt, NotHere, fault, pick, valid
from tests.faults.markup import Node

__all__ = ["FAULTS"]

GROUP = "valid"
FAULTS: list[Fault] = []


# --- ports, names, information ------------------------------------------------------------------------------------


@valid(FAULTS)
def ports_without_precision(case: Case, rng: random.Random) -> None:
    for place in case.places():
        for port in place.ports("input"):
            port.drop("precision")


@valid(FAULTS)
def ports_without_names(case: Case, rng: random.Random) -> None:
    for place in case.places():
        for port in place.ports("output"):
            port.drop("names")


@valid(FAULTS)
def names_with_letters_of_the_world(case: Case, rng: random.Random) -> None:
    for place in case.main():
        place.node.set("name", place.node.get("name") + "_\u00e4\u03b2\u4e2d\U0001f600")


@valid(FAULTS)
def names_with_quotes_and_brackets(case: Case, rng: random.Random) -> None:
    for place in case.main():
        place.node.set("name", place.node.get("name") + " <a> & 'b' \"c\"")


@valid(FAULTS)
def names_with_slashes_and_commas(case: Case, rng: random.Random) -> None:
    for place in case.main():
        place.node.set("name", "scope/x:0,y/" + place.node.get("name"))


@valid(FAULTS)
def names_very_long(case: Case, rng: random.Random) -> None:
    for place in case.main():
        place.node.set("name", place.node.get("name") + "n" * 3000)


@valid(FAULTS)
def tensor_names_with_commas(case: Case, rng: random.Random) -> None:
    for number, place in enumerate(case.main()):
        for port in place.ports("output"):
            port.set("names", f"t{number}\\,{port.get('id')},u{number}_{port.get('id')}")


@valid(FAULTS)
def layers_of_the_same_name(case: Case, rng: random.Random) -> None:
    """Names are for people; a Parameter's and a Result's are not touched."""
    found = [place for place in case.main() if place.type not in ("Parameter", "Result", "Assign", "ReadValue")]
    if len(found) < 2:
        raise NotHere
    one, other = rng.sample(found, 2)
    one.node.set("name", other.node.get("name"))


@valid(FAULTS)
def tensor_name_twice_at_one_port(case: Case, rng: random.Random) -> None:
    place = pick(rng, [place for place in case.main() if place.ports("output")])
    place.ports("output")[0].set("names", "one,one")


@valid(FAULTS)
def tensor_names_empty(case: Case, rng: random.Random) -> None:
    place = pick(rng, [place for place in case.main() if place.ports("output")])
    place.ports("output")[0].set("names", "")


@valid(FAULTS)
def net_without_name(case: Case, rng: random.Random) -> None:
    case.root.drop("name")


@valid(FAULTS)
def net_with_other_attributes(case: Case, rng: random.Random) -> None:
    case.root.attrs.append(("batch", "1"))


@valid(FAULTS)
def info_of_layers(case: Case, rng: random.Random) -> None:
    for place in case.places():
        info = Node(
            "rt_info",
            [],
            [Node("attribute", [("name", "fused_names"), ("version", "0"), ("value", place.node.get("name"))])],
        )
        data = place.data
        place.node.children.insert(0 if data is None else place.node.children.index(data) + 1, info)


@valid(FAULTS)
def info_unknown(case: Case, rng: random.Random) -> None:
    place = pick(rng, case.places())
    place.node.children.insert(
        0, Node("rt_info", [], [Node("attribute", [("name", "my_own"), ("version", "3"), ("colour", "red")])])
    )


@valid(FAULTS)
def info_of_the_model(case: Case, rng: random.Random) -> None:
    case.root.drop_all("rt_info")
    case.root.children.append(
        Node(
            "rt_info",
            [],
            [Node("author", [("value", "me & you")]), Node("deep", [], [Node("deeper", [("value", "1,2")])])],
        )
    )


@valid(FAULTS)
def meta_data(case: Case, rng: random.Random) -> None:
    case.root.children.append(
        Node(
            "meta_data",
            [],
            [
                Node("MO_version", [("value", "2021.4")]),
                Node("cli_parameters", [], [Node("unset", [("unset_cli_parameters", "a, b")])]),
            ],
        )
    )


@valid(FAULTS)
def other_elements_in_net(case: Case, rng: random.Random) -> None:
    case.root.children.append(Node("quantization_parameters", [], [Node("config", [("value", "x")])]))


@valid(FAULTS)
def other_elements_in_a_layer(case: Case, rng: random.Random) -> None:
    pick(rng, case.main()).node.children.append(Node("note", [("by", "hand")]))


# --- constants ----------------------------------------------------------------------------------------------------


def _add_bytes(case: Case, data: bytes, place: CaseLayer) -> None:
    case.weights = (case.weights or b"") + data
    place.need_data().set("offset", str(len(case.weights) - len(data)))


@valid(FAULTS)
def constant_at_an_odd_offset(case: Case, rng: random.Random) -> None:
    place = pick(rng, case.consts())
    start, size = int(place.need_data().get("offset")), int(place.need_data().get("size"))
    part = (case.weights or b"")[start : start + size]
    case.weights = (case.weights or b"") + bytes(1 if len(case.weights or b"") % 2 == 0 else 2)
    _add_bytes(case, part, place)


@valid(FAULTS)
def constants_all_at_odd_offsets(case: Case, rng: random.Random) -> None:
    if not case.consts():
        raise NotHere
    case.weights = b"x" + (case.weights or b"")
    for place in case.consts():
        place.need_data().set("offset", str(int(place.need_data().get("offset")) + 1))


@valid(FAULTS)
def bin_longer_than_needed(case: Case, rng: random.Random) -> None:
    case.weights = (case.weights or b"") + rng.randbytes(33)


@valid(FAULTS)
def constants_share_bytes(case: Case, rng: random.Random) -> None:
    """Two copies of one constant point at the same place."""
    place = pick(rng, [place for place in case.consts() if not place.prefix])
    users = [row for row in case.edges() if row[1].node is place.node]
    copy = place.node.copy()
    copy.set("id", "9100")
    copy.set("name", place.node.get("name") + "_again")
    for port in copy.need("output").all("port"):
        port.drop("names")
    case.root.need("layers").children.append(copy)
    pick(rng, users)[0].set("from-layer", "9100")


@valid(FAULTS)
def unused_constant(case: Case, rng: random.Random) -> None:
    place = pick(rng, case.consts())
    copy = place.node.copy()
    copy.set("id", "9200")
    copy.set("name", "unused")
    for port in copy.need("output").all("port"):
        port.drop("names")
    place.graph.need("layers").children.append(copy)


@valid(FAULTS)
def unused_layer(case: Case, rng: random.Random) -> None:
    """A Relu that nobody reads."""
    rows = [
        (place, port)
        for place in case.main()
        for port in place.ports("output")
        if port.get("precision") == "FP32" and port.all("dim")
    ]
    place, port = pick(rng, rows)
    into, out = port.copy(), port.copy()
    for one, number in ((into, "0"), (out, "1")):
        one.set("id", number)
        one.drop("names")
    node = Node(
        "layer",
        [("id", "9300"), ("name", "unused_relu"), ("type", "ReLU"), ("version", "opset1")],
        [Node("input", [], [into]), Node("output", [], [out])],
    )
    case.root.need("layers").children.append(node)
    case.root.need("edges").children.append(
        Node(
            "edge",
            [
                ("from-layer", place.node.get("id")),
                ("from-port", port.get("id")),
                ("to-layer", "9300"),
                ("to-port", "0"),
            ],
        )
    )


@fault(FAULTS, GROUP, "valid")
def valid_one_result_less(case: Case, rng: random.Random) -> Guilt:
    """The model gives one output less."""
    results = [place for place in case.main() if place.type == "Result"]
    if len(results) < 2:
        raise NotHere
    place = pick(rng, results)
    layers, edges = case.root.need("layers"), case.root.need("edges")
    layers.children = [child for child in layers.children if child is not place.node]
    edges.children = [
        edge for edge in edges.children if isinstance(edge, Node) and edge.get("to-layer") != place.node.get("id")
    ]
    return Guilt()
