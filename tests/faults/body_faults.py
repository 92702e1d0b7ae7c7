"""TensorIterator, Loop and If: the tables that tie a body to its layer, and the bodies."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection

from tests.faults.define import Case, CaseLayer, Expect, Fault, Guilt, NotHere, fault, pick
from tests.faults.markup import Node

__all__ = ["FAULTS"]

GROUP = "bodies"
FAULTS: list[Fault] = []
MAPS = ("port_map", "then_port_map", "else_port_map")
BODIES = ("body", "then_body", "else_body")
LOOPS = ("TensorIterator", "Loop")
BODIED = (*LOOPS, "If")


def _rows(case: Case, tag: str) -> list[tuple[CaseLayer, Node, Node]]:
    """Layer, table and row of every `<input>` or `<output>` of a port map."""
    return [
        (place, table, row)
        for place in case.places()
        if place.type in BODIED
        for name in MAPS
        for table in place.node.all(name)
        for row in table.all(tag)
    ]


def _sliced(row: Node) -> bool:
    return row.has("axis")


def _external(row: Node) -> bool:
    return row.get("external_port_id") != "-1"


def _body_of(place: CaseLayer, table: Node) -> Node:
    return place.node.need({"port_map": "body", "then_port_map": "then_body", "else_port_map": "else_body"}[table.tag])


def _inside(place: CaseLayer, table: Node, row: Node) -> list[Node]:
    """The layer in the body that a row names."""
    layers = _body_of(place, table).need("layers").all("layer")
    return [layer for layer in layers if layer.get("id") == row.get("internal_layer_id")]


def _row(
    kind: str,
    tag: str,
    edit: Callable[[CaseLayer, Node, Node, random.Random], None],
    fits: Callable[[Node], bool] = _external,
    expect: Expect = "error",
    types: Collection[str] = BODIED,
) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        place, table, row = pick(rng, [one for one in _rows(case, tag) if fits(one[2]) and one[0].type in types])
        inner = _inside(place, table, row)
        edit(place, table, row, rng)
        prefix = f"{place.prefix}{place.node.get('name')}/{_body_of(place, table).tag}/"
        spots = [place.spot, *(CaseLayer(node, table, prefix).spot for node in inner)]
        return Guilt(spots, at=[row, table, place.node, *inner], within=place.ports_within())

    FAULTS.append(Fault(kind, GROUP, expect, change))


def _drop(place: CaseLayer, table: Node, row: Node, rng: random.Random) -> None:
    table.children = [child for child in table.children if child is not row]


def _put(name: str, value: str | None) -> Callable[[CaseLayer, Node, Node, random.Random], None]:
    def edit(place: CaseLayer, table: Node, row: Node, rng: random.Random) -> None:
        row.set(name, value)

    return edit


def _another(tag: str) -> Callable[[CaseLayer, Node, Node, random.Random], None]:
    """The row names a layer of the body that is not a Parameter (no Result)."""

    def edit(place: CaseLayer, table: Node, row: Node, rng: random.Random) -> None:
        wanted = "Parameter" if tag == "input" else "Result"
        others = [layer for layer in _body_of(place, table).need("layers").all("layer") if layer.get("type") != wanted]
        row.set("internal_layer_id", pick(rng, others).get("id"))

    return edit


for _tag in ("input", "output"):
    _row(f"{_tag}-row-lost", _tag, _drop)
    for _name in ("external_port_id", "internal_layer_id"):
        _ordered = (_tag, _name) == ("output", "external_port_id")
        _row(f"{_tag}-row-{_name}-missing", _tag, _put(_name, None))
        _row(f"{_tag}-row-{_name}-not-there", _tag, _put(_name, "6000"), types=LOOPS if _ordered else BODIED)
        _row(f"{_tag}-row-{_name}-text", _tag, _put(_name, "abc"))
        _row(f"{_tag}-row-{_name}-empty", _tag, _put(_name, ""))
        _row(f"{_tag}-row-{_name}-fraction", _tag, _put(_name, "0.5"))
    _row(f"{_tag}-row-internal_layer_id-negative", _tag, _put("internal_layer_id", "-1"))
    _row(f"{_tag}-row-external_port_id-very-negative", _tag, _put("external_port_id", "-7"))
    _row(f"{_tag}-row-names-another-layer", _tag, _another(_tag))
    _row(f"{_tag}-axis-beyond", _tag, _put("axis", "9"), _sliced)
    _row(f"{_tag}-axis-text", _tag, _put("axis", "x"), _sliced)
    _row(f"{_tag}-axis-below", _tag, _put("axis", "-9"), _sliced)
    _row(f"{_tag}-stride-zero", _tag, _put("stride", "0"), _sliced)
    _row(f"{_tag}-stride-text", _tag, _put("stride", "x"), _sliced)
    _row(
        f"{_tag}-stride-against-start-and-end",
        _tag,
        lambda place, table, row, rng: row.set("stride", str(-int(row.get("stride")))),
        _sliced,
    )
    _row(f"{_tag}-part-size-zero", _tag, _put("part_size", "0"), _sliced)
    _row(f"{_tag}-part-size-negative", _tag, _put("part_size", "-1"), _sliced)
    _row(f"{_tag}-part-size-two", _tag, _put("part_size", "2"), _sliced)
    _row(f"{_tag}-part-size-text", _tag, _put("part_size", "x"), _sliced)
    _row(f"{_tag}-start-text", _tag, _put("start", "x"), _sliced)
    _row(f"{_tag}-end-text", _tag, _put("end", "x"), _sliced)
    _row(f"{_tag}-end-2-to-64", _tag, _put("end", str(2**64)), _sliced)
_row("input-start-beyond", "input", _put("start", "100"), _sliced)
_row("output-start-beyond", "output", _put("start", "100"), _sliced, "warning")
_row("input-end-beyond", "input", _put("end", "100"), _sliced)


def _external_inputs(case: Case) -> list[tuple[CaseLayer, Node, Node]]:
    return [one for one in _rows(case, "input") if _external(one[2])]


@fault(FAULTS, GROUP, "error")
def row_external_port_of_the_other_side(case: Case, rng: random.Random) -> Guilt:
    place, table, row = pick(rng, _external_inputs(case))
    row.set("external_port_id", pick(rng, place.ports("output")).get("id"))
    return Guilt([place.spot], at=[row, table, place.node], within=place.ports_within())


@fault(FAULTS, GROUP, "error")
def output_row_of_an_input_port(case: Case, rng: random.Random) -> Guilt:
    """The runtime takes the outputs of an If in the order of these numbers, whatever they are."""
    rows = [one for one in _rows(case, "output") if _external(one[2]) and one[0].type in LOOPS]
    place, table, row = pick(rng, rows)
    row.set("external_port_id", pick(rng, place.ports("input")).get("id"))
    return Guilt([place.spot], at=[row, table, place.node], within=place.ports_within())


@fault(FAULTS, GROUP, "warning")
def two_rows_for_one_parameter(case: Case, rng: random.Random) -> Guilt:
    place, table, row = pick(rng, _external_inputs(case))
    copy = row.copy()
    table.children.append(copy)
    return Guilt([place.spot], at=[row, copy, table, place.node], within=[table])


@fault(FAULTS, GROUP, "error")
def two_rows_for_one_output_port(case: Case, rng: random.Random) -> Guilt:
    place, table, row = pick(
        rng, [one for one in _rows(case, "output") if _external(one[2]) and len(one[0].ports("output")) > 1]
    )
    others = [port.get("id") for port in place.ports("output") if port.get("id") != row.get("external_port_id")]
    row.set("external_port_id", pick(rng, others))
    return Guilt([place.spot], at=[row, *table.all("output"), table, place.node], within=place.ports_within())


@fault(FAULTS, GROUP, "error")
def rows_of_two_inputs_exchanged(case: Case, rng: random.Random) -> Guilt:
    """Parameters of the body get tensors of other shapes."""
    place, table, row = pick(rng, _external_inputs(case))
    shapes = {port.get("id"): [dim.text for dim in port.all("dim")] for port in place.ports("input")}
    others = [
        one
        for one in table.all("input")
        if _external(one) and len(shapes[one.get("external_port_id")]) != len(shapes[row.get("external_port_id")])
    ]
    other = pick(rng, others)
    inner = [*_inside(place, table, row), *_inside(place, table, other)]
    a, b = row.get("internal_layer_id"), other.get("internal_layer_id")
    row.set("internal_layer_id", b)
    other.set("internal_layer_id", a)
    prefix = f"{place.prefix}{place.node.get('name')}/{_body_of(place, table).tag}/"
    readers = [one.spot for one in case.places() if one.prefix == prefix]
    at = [row, other, table, place.node, *inner, *(one.node for one in case.places() if one.prefix == prefix)]
    return Guilt([place.spot, *readers], at=at, within=[place.node])


# --- back edges ---------------------------------------------------------------------------------------------------


def _back(kind: str, edit: Callable[[CaseLayer, Node, random.Random], None]) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        rows = [
            (place, edge)
            for place in case.places()
            for table in place.node.all("back_edges")
            for edge in table.all("edge")
        ]
        place, edge = pick(rng, rows)
        ends = [
            layer
            for layer in place.node.need("body", "layers").all("layer")
            if layer.get("id") in (edge.get("from-layer"), edge.get("to-layer"))
        ]
        edit(place, edge, rng)
        prefix = f"{place.prefix}{place.node.get('name')}/body/"
        spots = [place.spot, *(CaseLayer(node, place.node, prefix).spot for node in ends)]
        return Guilt(
            spots, at=[edge, place.node, place.node.need("back_edges"), *ends], within=place.node.all("port_map")
        )

    FAULTS.append(Fault(f"back-edge-{kind}", GROUP, "error", change))


def _back_to(name: str, value: str | None) -> Callable[[CaseLayer, Node, random.Random], None]:
    def edit(place: CaseLayer, edge: Node, rng: random.Random) -> None:
        edge.set(name, value)

    return edit


for _name in ("from-layer", "to-layer"):
    _back(f"{_name}-not-there", _back_to(_name, "6000"))
    _back(f"{_name}-missing", _back_to(_name, None))
    _back(f"{_name}-text", _back_to(_name, "abc"))
    _back(f"{_name}-negative", _back_to(_name, "-1"))


def _back_wrong(name: str, wanted: str) -> Callable[[CaseLayer, Node, random.Random], None]:
    def edit(place: CaseLayer, edge: Node, rng: random.Random) -> None:
        others = [layer for layer in place.node.need("body", "layers").all("layer") if layer.get("type") != wanted]
        edge.set(name, pick(rng, others).get("id"))

    return edit


_back("from-no-result", _back_wrong("from-layer", "Result"))
_back("to-no-parameter", _back_wrong("to-layer", "Parameter"))


def _turned(place: CaseLayer, edge: Node, rng: random.Random) -> None:
    a, b = edge.get("from-layer"), edge.get("to-layer")
    edge.set("from-layer", b)
    edge.set("to-layer", a)


def _other_shape(place: CaseLayer, edge: Node, rng: random.Random) -> None:
    """From a Result whose tensor does not fit the Parameter."""
    layers = place.node.need("body", "layers").all("layer")
    old = next(layer for layer in layers if layer.get("id") == edge.get("from-layer"))
    dims = [dim.text for dim in old.need("input", "port").all("dim")]
    others = [
        layer
        for layer in layers
        if layer.get("type") == "Result" and [dim.text for dim in layer.need("input", "port").all("dim")] != dims
    ]
    edge.set("from-layer", pick(rng, others).get("id"))


_back("turned-round", _turned)
_back("from-another-shape", _other_shape)


@fault(FAULTS, GROUP, "error")
def all_back_edges_lost_without_input(case: Case, rng: random.Random) -> Guilt:
    """A Parameter of the body that nothing feeds: neither row nor back edge."""
    place, table, row = pick(rng, _external_inputs(case))
    inner = _inside(place, table, row)
    table.children = [child for child in table.children if child is not row]
    for edges in place.node.all("back_edges"):
        edges.children = [
            edge
            for edge in edges.children
            if isinstance(edge, Node) and edge.get("to-layer") != row.get("internal_layer_id")
        ]
    prefix = f"{place.prefix}{place.node.get('name')}/{_body_of(place, table).tag}/"
    spots = [place.spot, *(CaseLayer(node, table, prefix).spot for node in inner)]
    return Guilt(spots, at=[table, place.node, *inner], within=place.ports_within())


# --- bodies -------------------------------------------------------------------------------------------------------


def _body(kind: str, edit: Callable[[CaseLayer, Node], None], expect: Expect = "error") -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        rows = [(place, body) for place in case.places() for name in BODIES for body in place.node.all(name)]
        place, body = pick(rng, rows)
        edit(place, body)
        bodies = place.node.all(body.tag)
        prefix = f"{place.prefix}{place.node.get('name')}/{body.tag}/"
        inner = [one for one in case.places() if one.prefix.startswith(prefix)]
        maps = [row for name in MAPS for row in place.node.all(name)]
        spots = [place.spot, *(one.spot for one in inner)]
        return Guilt(
            spots,
            at=[place.node, body, *bodies, *(one.node for one in inner)],
            within=[*maps, *place.node.all("back_edges"), body],
        )

    FAULTS.append(Fault(f"body-{kind}", GROUP, expect, change))


def _gone(place: CaseLayer, body: Node) -> None:
    place.node.children = [child for child in place.node.children if child is not body]


def _without_type(type_: str) -> Callable[[CaseLayer, Node], None]:
    def edit(place: CaseLayer, body: Node) -> None:
        layers, edges = body.need("layers"), body.need("edges")
        gone = [layer.get("id") for layer in layers.all("layer") if layer.get("type") == type_]
        if not gone:
            raise NotHere
        layers.children = [
            layer for layer in layers.children if isinstance(layer, Node) and layer.get("id") not in gone
        ]
        edges.children = [
            edge
            for edge in edges.children
            if isinstance(edge, Node) and not {edge.get("from-layer"), edge.get("to-layer")} & set(gone)
        ]

    return edit


def _emptied(place: CaseLayer, body: Node) -> None:
    body.children = []


def _without(tag: str) -> Callable[[CaseLayer, Node], None]:
    def edit(place: CaseLayer, body: Node) -> None:
        if tag == "edges" and not body.need("edges").children:
            raise NotHere
        body.drop_all(tag)

    return edit


def _cleared(place: CaseLayer, body: Node) -> None:
    body.need("layers").children = []
    body.need("edges").children = []


def _doubled(place: CaseLayer, body: Node) -> None:
    place.node.children.append(body.copy())


_body("missing", _gone)
_body("without-results", _without_type("Result"))
_body("without-parameters", _without_type("Parameter"))
_body("empty", _emptied)
_body("without-layers", _without("layers"))
_body("without-edges", _without("edges"))
_body("with-nothing-in-it", _cleared)
_body("twice", _doubled)


def _no_map(name: str) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        place = pick(rng, [place for place in case.places() if place.node.find(name)])
        place.node.drop_all(name)
        bodies = [body for tag in BODIES for body in place.node.all(tag)]
        prefix = f"{place.prefix}{place.node.get('name')}/"
        inner = [one for one in case.places() if one.prefix.startswith(prefix)]
        return Guilt(
            [place.spot, *(one.spot for one in inner)],
            at=[place.node, *bodies, *(one.node for one in inner)],
            within=place.ports_within(),
        )

    FAULTS.append(Fault(f"no-{name}", GROUP, "error", change))


for _map in MAPS:
    _no_map(_map)


@fault(FAULTS, GROUP, "error")
def branches_of_different_types(case: Case, rng: random.Random) -> Guilt:
    """Both branches of an If must give the same element type: one gets a Convert."""
    place = pick(rng, case.places("If"))
    body = place.node.need("else_body")
    layers, edges = body.need("layers"), body.need("edges")
    result = next(layer for layer in layers.all("layer") if layer.get("type") == "Result")
    wire = next(edge for edge in edges.all("edge") if edge.get("to-layer") == result.get("id"))
    port = result.need("input", "port")
    into, made = port.copy(), port.copy()
    made.set("id", "1")
    made.set("precision", "I32")
    port.set("precision", "I32")
    node = Node("layer", [("id", "700"), ("name", "late"), ("type", "Convert"), ("version", "opset1")])
    node.children = [Node("data", [("destination_type", "i32")]), Node("input", [], [into]), Node("output", [], [made])]
    layers.children.append(node)
    edges.children.append(
        Node("edge", [("from-layer", "700"), ("from-port", "1"), ("to-layer", result.get("id")), ("to-port", "0")])
    )
    wire.set("to-layer", "700")
    prefix = f"{place.prefix}{place.node.get('name')}/else_body/"
    spots = [place.spot, CaseLayer(result, body, prefix).spot]
    return Guilt(spots, at=[place.node, body], within=[*place.ports_within(), place.node.need("else_port_map"), result])


@fault(FAULTS, GROUP, "error")
def branch_output_missing(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, case.places("If"))
    table = place.node.need(rng.choice(("then_port_map", "else_port_map")))
    table.children = [row for row in table.children if isinstance(row, Node) and row.tag != "output"]
    return Guilt([place.spot], at=[place.node, table], within=place.ports_within())


def _purpose(kind: str, tag: str, old: str, new: str | None) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        place, table, row = pick(rng, [one for one in _rows(case, tag) if one[2].get("purpose") == old])
        if new is None:
            row.drop("purpose")
        else:
            row.set("purpose", new)
        return Guilt([place.spot], at=[row, table, place.node], within=[table])

    FAULTS.append(Fault(f"purpose-{kind}", GROUP, "error", change))


_purpose("of-condition-misspelled", "output", "execution_condition", "execution_conditon")
_purpose("of-condition-missing", "output", "execution_condition", None)
_purpose("of-number-misspelled", "input", "current_iteration", "current_iter")
_purpose("of-number-missing", "input", "current_iteration", None)


@fault(FAULTS, GROUP, "error")
def input_ids_that_are_not_numbers_of_inputs(case: Case, rng: random.Random) -> Guilt:
    """The last input port, its edge and its rows have a higher id, which the runtime takes as its number."""
    place = pick(rng, [one for one in case.places() if one.type in BODIED])
    old, new = str(len(place.ports("input")) - 1), str(len(place.ports("input")) + 5)
    rows = [one for one in _rows(case, "input") if one[0].node is place.node and one[2].get("external_port_id") == old]
    pick(rng, rows)
    place.ports("input")[-1].set("id", new)
    for edge in place.graph.need("edges").all("edge"):
        if edge.get("to-layer") == place.node.get("id") and edge.get("to-port") == old:
            edge.set("to-port", new)
    for _, _, row in rows:
        row.set("external_port_id", new)
    tables = [table for _, table, _ in rows]
    return Guilt([place.spot], at=[*(row for _, _, row in rows), *tables, place.node], within=tables)


def _numbered(case: Case, rng: random.Random) -> tuple[CaseLayer, Node, Node]:
    """A row that gives the current iteration, with its layer and table."""
    return pick(rng, [one for one in _rows(case, "input") if one[2].get("purpose") == "current_iteration"])


@fault(FAULTS, GROUP, "error")
def number_cut_into_parts(case: Case, rng: random.Random) -> Guilt:
    place, table, row = _numbered(case, rng)
    row.set("axis", "0")
    return Guilt([place.spot], at=[row, table, place.node], within=[table])


@fault(FAULTS, GROUP, "error")
def back_edge_to_the_number(case: Case, rng: random.Random) -> Guilt:
    """A back edge leads to the Parameter that holds the current iteration."""
    place, _, row = _numbered(case, rng)
    edges = place.node.need("back_edges")
    edge = pick(rng, edges.all("edge"))
    edge.set("to-layer", row.get("internal_layer_id"))
    return Guilt([place.spot], at=[edge, place.node], within=[edges])


@fault(FAULTS, GROUP, "error")
def execution_condition_lost(case: Case, rng: random.Random) -> Guilt:
    place, table, row = pick(
        rng, [one for one in _rows(case, "output") if one[2].get("purpose") == "execution_condition"]
    )
    table.children = [child for child in table.children if child is not row]
    return Guilt([place.spot], at=[table, place.node], within=[table])


@fault(FAULTS, GROUP, "error")
def execution_condition_of_another_result(case: Case, rng: random.Random) -> Guilt:
    """The condition is a tensor of floats."""
    place, table, row = pick(
        rng, [one for one in _rows(case, "output") if one[2].get("purpose") == "execution_condition"]
    )
    results = [layer for layer in place.node.need("body", "layers").all("layer") if layer.get("type") == "Result"]
    other = pick(rng, [layer for layer in results if layer.get("id") != row.get("internal_layer_id")])
    row.set("internal_layer_id", other.get("id"))
    prefix = f"{place.prefix}{place.node.get('name')}/body/"
    return Guilt(
        [place.spot, CaseLayer(other, table, prefix).spot], at=[row, table, place.node, other], within=[table, other]
    )


PORT = "<dim>1</dim></port>"
ROWS = '{0} axis="0" external_port_id="{1}" internal_layer_id="{2}" start="0" end="-1" stride="1" part_size="1"/>'
OUTER = (
    '<layer id="{0}" name="deep" type="TensorIterator" version="opset1"><input><port id="0">'
    + PORT
    + '</input><output><port id="1" precision="FP32">'
    + PORT
    + f"</output><port_map>{ROWS.format('<input', 0, 0)}{ROWS.format('<output', 1, 2)}</port_map><body><layers>"
    '<layer id="0" name="p" type="Parameter" version="opset1"><data element_type="f32" shape="1"/><output>'
    f'<port id="0" precision="FP32">{PORT}</output></layer>'
)
CLOSING = (
    f'<layer id="2" name="r" type="Result" version="opset1"><input><port id="0">{PORT}</input></layer></layers><edges>'
    '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'
    '<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>'
    "</edges></body></layer>"
)
INNERMOST = (
    f'<layer id="1" name="t" type="Tanh" version="opset1"><input><port id="0">{PORT}</input><output>'
    f'<port id="1" precision="FP32">{PORT}</output></layer>'
)


def _deep(depth: int, *, read: bool) -> Callable[[Case, random.Random], Guilt]:
    """Bodies in bodies; `read`: fed by the model's input, so that they are not only there."""

    def change(case: Case, rng: random.Random) -> Guilt:
        if case.base.name not in ("informed", "branches"):
            raise NotHere
        text = OUTER.format(500) + OUTER.format(1) * (depth - 1) + INNERMOST + CLOSING * depth
        case.root.need("layers").children.append(text)
        if read:
            number = case.places("Parameter")[0].node.get("id")
            row = zip(("from-layer", "from-port", "to-layer", "to-port"), (number, "0", "500", "0"), strict=True)
            case.root.need("edges").children.append(Node("edge", list(row)))
        return Guilt()

    return change


FAULTS.append(Fault("bodies-4000-deep", GROUP, "error", _deep(4000, read=True)))
FAULTS.append(Fault("bodies-4000-deep-that-nobody-reads", GROUP, "error", _deep(4000, read=False)))
FAULTS.append(Fault("bodies-1000-deep", GROUP, "error", _deep(1000, read=True)))


@fault(FAULTS, GROUP, "error")
def body_parameter_of_another_type(case: Case, rng: random.Random) -> Guilt:
    """Type and port of a Parameter in a body, against what the layer passes in."""
    places = [place for place in case.places("Parameter") if place.prefix]
    place = pick(rng, places)
    data, port = place.need_data(), place.ports("output")[0]
    new, precision = ("f16", "FP16") if data.get("element_type") == "f32" else ("f32", "FP32")
    data.set("element_type", new)
    port.set("precision", precision)
    owner = next(
        one
        for one in case.places()
        if one.type in BODIED
        and place.prefix.startswith(f"{one.prefix}{one.node.get('name')}/")
        and place.prefix.count("/") - one.prefix.count("/") == 2
    )
    readers = [row[2] for row in case.edges() if row[1].node is place.node]
    at = [place.node, data, port, owner.node, *(one.node for one in readers)]
    within = [row for name in MAPS for row in owner.node.all(name)] + [
        part for one in readers for part in one.ports_within()
    ]
    return Guilt([place.spot, owner.spot, *(one.spot for one in readers)], at=at, within=within)


@fault(FAULTS, GROUP, "error")
def body_result_of_wrong_shape(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, [place for place in case.places("Result") if place.prefix and place.ports("input")[0].all("dim")])
    dim = pick(rng, place.ports("input")[0].all("dim"))
    dim.text = str(int(dim.text) + 3)
    return Guilt([place.spot], at=place.ports("input"), within=place.ports("input"))


@fault(FAULTS, GROUP, "error")
def assign_without_read(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, case.places("Assign"))
    place.need_data().set("variable_id", "nobody")
    return Guilt([place.spot, *(one.spot for one in case.places("ReadValue"))], at=[place.need_data()])


@fault(FAULTS, GROUP, "error")
def assign_of_another_shape(case: Case, rng: random.Random) -> Guilt:
    read = pick(rng, case.places("ReadValue"))
    read.need_data().set("variable_shape", "2,7")
    others = case.places("Assign")
    return Guilt(
        [read.spot, *(one.spot for one in others)],
        at=[read.need_data(), *(one.need_data() for one in others)],
        within=read.ports_within(),
    )
