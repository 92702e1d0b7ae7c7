"""Files that are written differently and mean the same."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace

from tests.faults.define import Case, Fault, Guilt, NotHere, pick, valid
from tests.faults.markup import Node, Style, parse

__all__ = ["FAULTS", "REFUSED"]

GROUP = "valid"
FAULTS: list[Fault] = []
REFUSED = frozenset({"valid-nested-tensor-iterator"})
"""Valid, though the runtime refuses them."""


def _styled(kind: str, make: Callable[[Style], Style]) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        case.style = make(case.style)
        return Guilt()

    FAULTS.append(Fault(f"valid-{kind}", GROUP, "valid", change))


_styled("no-declaration", lambda style: replace(style, declaration=""))
_styled("declaration-utf-8", lambda style: replace(style, declaration='<?xml version="1.0" encoding="UTF-8"?>\n'))
_styled("declaration-lower-case", lambda style: replace(style, declaration='<?xml version="1.0" encoding="utf-8"?>'))
_styled(
    "declaration-standalone",
    lambda style: replace(style, declaration='<?xml version="1.0" encoding="utf-8" standalone="yes"?>\n'),
)
_styled("declaration-in-single-quotes", lambda style: replace(style, declaration="<?xml version='1.0'?>\n"))
_styled("crlf", lambda style: replace(style, newline="\r\n", declaration=style.declaration.replace("\n", "\r\n")))
_styled("no-newlines", lambda style: replace(style, newline="", indent="", declaration=style.declaration.strip()))
_styled("no-indent", lambda style: replace(style, indent=""))
_styled("spaces-for-indent", lambda style: replace(style, indent="  "))
_styled("blank-lines", lambda style: replace(style, newline="\n\n"))
_styled("single-quotes", lambda style: replace(style, quote="'"))
_styled("no-space-before-slash", lambda style: replace(style, close="/>"))
_styled("many-spaces-before-slash", lambda style: replace(style, close="   />"))
_styled("newline-before-slash", lambda style: replace(style, close="\n/>"))
_styled("comment-at-the-end", lambda style: replace(style, tail="\n<!-- the end -->\n"))
_styled("comment-at-the-start", lambda style: replace(style, declaration=style.declaration + "<!-- <net> & -->\n"))
_styled(
    "instruction-at-the-start",
    lambda style: replace(style, declaration=style.declaration + '<?xml-stylesheet href="a.css"?>\n'),
)
_styled("instruction-at-the-end", lambda style: replace(style, tail="\n<?done yes?>\n"))
_styled("white-space-at-the-end", lambda style: replace(style, tail=" \n\t\n\n"))


def _text(kind: str, make: Callable[[str], bytes]) -> None:
    FAULTS.append(Fault(f"valid-{kind}", GROUP, "valid", None, lambda text, rng: (make(text), [])))


def _encoded(text: str, encoding: str) -> str:
    return f'<?xml version="1.0" encoding="{encoding}"?>\n{_undeclared(text)}'


def _undeclared(text: str) -> str:
    return re.sub(r"<\?xml[^>]*\?>", "", text).lstrip()


_text("byte-order-mark", lambda text: b"\xef\xbb\xbf" + text.encode())
_text("utf-16-le", lambda text: b"\xff\xfe" + _undeclared(text).encode("utf-16-le"))
_text("utf-16-be", lambda text: b"\xfe\xff" + _undeclared(text).encode("utf-16-be"))
_text("old-mac-newlines", lambda text: text.replace("\n", "\r").encode())
_text("utf-16-declared", lambda text: b"\xff\xfe" + _encoded(text, "UTF-16").encode("utf-16-le"))
_text("latin-1", lambda text: _encoded(text, "ISO-8859-1").encode("latin-1", "xmlcharrefreplace"))
_text("ascii", lambda text: _encoded(text, "US-ASCII").encode("ascii", "xmlcharrefreplace"))
_text("xml-1.1", lambda text: text.replace('version="1.0"', 'version="1.1"', 1).encode())
_text("namespace-of-its-own", lambda text: text.replace("<net ", '<net xmlns="urn:openvino" ').encode())
_text("namespace-that-nobody-uses", lambda text: text.replace("<net ", '<net xmlns:x="urn:x" ').encode())
_text("greater-in-values", lambda text: re.sub(r'(<layer\b[^>]*? name=")', r"\1a>b", text).encode())
_text("newlines-in-lists", lambda text: re.sub(r"(?<=[0-9]), ?(?=[0-9])", ",\n", text).encode())
_text("closed-elements-in-full", lambda text: re.sub(r"<(data|edge)\b([^>]*?)\s*/>", r"<\1\2></\1>", text).encode())
_text("space-in-end-tags", lambda text: re.sub(r"</(\w+)>", r"</\1 >", text).encode())
_text("space-around-equals", lambda text: re.sub(r'(<(?:layer|edge|data)\b[^>]*?\w)="', r'\1 = "', text).encode())
_text("attributes-on-lines-of-their-own", lambda text: re.sub(r'" (?=[a-z_-]+=")', '"\n ', text).encode())
_text("tabs-between-attributes", lambda text: re.sub(r'" (?=[a-z_-]+=")', '"\t', text).encode())
_text(
    "comments-everywhere",
    lambda text: re.sub(r"(?=<(?:layer|port|edge|dim|data)\b)", "<!-- a > b & c -->", text).encode(),
)
_text("comments-with-tags", lambda text: re.sub(r"(?=<layer\b)", '<!-- <layer id="0"/> -->', text).encode())
_text("comments-of-several-lines", lambda text: re.sub(r"(?=<layer\b)", "<!--\n\n-->", text).encode())
_text("instructions-inside", lambda text: re.sub(r"(?=<edge\b)", "<?note x?>", text).encode())
_text(
    "numeric-references-in-names",
    lambda text: re.sub(r'(<layer\b[^>]*? name=")(\w)', lambda m: f"{m[1]}&#{ord(m[2])};", text).encode(),
)
_text(
    "hexadecimal-references-in-names",
    lambda text: re.sub(r'(<layer\b[^>]*? name=")(\w)', lambda m: f"{m[1]}&#x{ord(m[2]):x};", text).encode(),
)


# --- order and numbers --------------------------------------------------------------------------------------------


@valid(FAULTS)
def unchanged(case: Case, rng: random.Random) -> None:
    """The base itself."""


@valid(FAULTS)
def attributes_in_another_order(case: Case, rng: random.Random) -> None:
    for node in case.root.walk():
        rng.shuffle(node.attrs)


@valid(FAULTS)
def edges_in_another_order(case: Case, rng: random.Random) -> None:
    for node in case.root.walk():
        if node.tag == "edges":
            rng.shuffle(node.children)


@valid(FAULTS)
def layers_in_another_order(case: Case, rng: random.Random) -> None:
    """Parameters and Results keep theirs: it is the order of inputs and outputs."""
    layers = case.root.need("layers")
    fixed = [
        child
        for child in layers.children
        if isinstance(child, Node) and child.get("type") in ("Parameter", "Result", "Assign", "ReadValue")
    ]
    others = [child for child in layers.children if child not in fixed]
    rng.shuffle(others)
    layers.children = [*others, *fixed]


@valid(FAULTS)
def edges_before_layers(case: Case, rng: random.Random) -> None:
    case.root.children.sort(key=lambda child: isinstance(child, Node) and child.tag != "edges")


@valid(FAULTS)
def parts_of_layers_in_another_order(case: Case, rng: random.Random) -> None:
    for place in case.places():
        if place.type not in ("TensorIterator", "Loop", "If"):
            place.node.children.reverse()


def _renumber(case: Case, make: Callable[[int], int]) -> None:
    """Other ids for all layers of the main graph."""
    for place in case.main():
        place.node.set("id", str(make(int(place.node.get("id")))))
    for edge in case.root.need("edges").all("edge"):
        for name in ("from-layer", "to-layer"):
            edge.set(name, str(make(int(edge.get(name)))))


@valid(FAULTS)
def ids_with_gaps(case: Case, rng: random.Random) -> None:
    _renumber(case, lambda number: 10 * number + 3)


@valid(FAULTS)
def ids_large(case: Case, rng: random.Random) -> None:
    _renumber(case, lambda number: 1_000_000_000 + number)


@valid(FAULTS)
def ids_in_bodies_with_gaps(case: Case, rng: random.Random) -> None:
    owners = [place for place in case.places() if place.type in ("TensorIterator", "Loop", "If")]
    place = pick(rng, owners)
    for body, table in (("body", "port_map"), ("then_body", "then_port_map"), ("else_body", "else_port_map")):
        for inner in place.node.all(body):
            for layer in inner.need("layers").all("layer"):
                layer.set("id", str(int(layer.get("id")) * 7 + 2))
            wires = [
                *inner.need("edges").all("edge"),
                *(edge for back in place.node.all("back_edges") for edge in back.all("edge")),
            ]
            for edge in wires:
                for name in ("from-layer", "to-layer"):
                    edge.set(name, str(int(edge.get(name)) * 7 + 2))
            for row in (row for rows in place.node.all(table) for row in rows.children):
                assert isinstance(row, Node)
                row.set("internal_layer_id", str(int(row.get("internal_layer_id")) * 7 + 2))


def _renumber_ports(case: Case, make: Callable[[int], int]) -> None:
    for place in case.places():
        if place.type in ("TensorIterator", "Loop", "If"):
            continue
        number, edges = place.node.get("id"), place.graph.need("edges").all("edge")
        for side, layer, name in (("input", "to-layer", "to-port"), ("output", "from-layer", "from-port")):
            for port in place.ports(side):
                port.set("id", str(make(int(port.get("id")))))
            for edge in edges:
                if edge.get(layer) == number:
                    edge.set(name, str(make(int(edge.get(name)))))


@valid(FAULTS)
def port_ids_with_gaps(case: Case, rng: random.Random) -> None:
    _renumber_ports(case, lambda number: 3 * number + 5)


@valid(FAULTS)
def leading_zeros_in_ids(case: Case, rng: random.Random) -> None:
    place = pick(rng, case.main())
    place.node.set("id", "0" + place.node.get("id"))


# --- attributes ---------------------------------------------------------------------------------------------------


def _data(case: Case) -> list[Node]:
    return [place.data for place in case.places() if place.data]


@valid(FAULTS)
def lists_without_spaces(case: Case, rng: random.Random) -> None:
    for data in _data(case):
        data.attrs = [(name, value.replace(", ", ",")) for name, value in data.attrs]


@valid(FAULTS)
def lists_with_spaces(case: Case, rng: random.Random) -> None:
    for data in _data(case):
        data.attrs = [(name, re.sub(r"(?<=[0-9]),(?=[0-9])", ", ", value)) for name, value in data.attrs]


@valid(FAULTS)
def flags_as_numbers(case: Case, rng: random.Random) -> None:
    for data in _data(case):
        data.attrs = [(name, {"true": "1", "false": "0"}.get(value, value)) for name, value in data.attrs]


@valid(FAULTS)
def flags_with_capitals(case: Case, rng: random.Random) -> None:
    for data in _data(case):
        data.attrs = [(name, {"true": "True", "false": "False"}.get(value, value)) for name, value in data.attrs]


@valid(FAULTS)
def auto_pad_in_capitals(case: Case, rng: random.Random) -> None:
    found = [data for data in _data(case) if data.has("auto_pad")]
    pick(rng, found)
    for data in found:
        data.set("auto_pad", data.get("auto_pad").upper())


@valid(FAULTS)
def rounding_in_capitals(case: Case, rng: random.Random) -> None:
    found = [data for data in _data(case) if data.has("rounding_type")]
    pick(rng, found)
    for data in found:
        data.set("rounding_type", data.get("rounding_type").upper())


@valid(FAULTS)
def numbers_with_point(case: Case, rng: random.Random) -> None:
    found = [
        (data, name)
        for data in _data(case)
        for name in ("alpha", "min", "max", "clip", "step", "eps", "cube_coeff")
        if data.has(name)
    ]
    data, name = pick(rng, found)
    if data.get(name) in ("true", "false", "max", "min"):
        raise NotHere
    data.set(name, str(float(data.get(name))))


@valid(FAULTS)
def numbers_with_exponent(case: Case, rng: random.Random) -> None:
    found = [(data, name) for data in _data(case) for name in ("epsilon", "eps", "alpha", "bias") if data.has(name)]
    data, name = pick(rng, found)
    data.set(name, f"{float(data.get(name)):.17e}")


def _optional(kind: str, name: str, default: tuple[str, ...]) -> None:
    """Leaves an optional attribute out that says what it would mean anyway."""

    def change(case: Case, rng: random.Random) -> Guilt:
        # Broadcast-1 without a mode is rejected, though the specification gives it one.
        places = [
            place for place in case.places() if (place.type, place.node.get("version")) != ("Broadcast", "opset1")
        ]
        datas = [place.data for place in places if place.data]
        found = [data for data in datas if data.get(name).replace(" ", "") in default and data.has(name)]
        pick(rng, found).drop(name)
        return Guilt()

    FAULTS.append(Fault(f"valid-without-{kind}", GROUP, "valid", change))


for _name, *_default in (
    ("auto_broadcast", "numpy"), ("auto_pad", "explicit"), ("rounding_type", "floor"), ("keep_dims", "false"),
    ("transpose_a", "false"),
    ("transpose_b", "false"), ("index_element_type", "i64"), ("clip", "0", "0.0"), ("activations_alpha", ""),
    ("activations_beta", ""), ("linear_before_reset", "false"), ("batch_dims", "0"), ("antialias", "false"),
    ("cube_coeff", "-0.75"), ("stable", "false"),
    ("m_pythondiv", "true"), ("exclusive", "false"), ("reverse", "false"), ("approximation_mode", "ERF"), ("mode",
    "numpy"), ("reduction", "none"),
    ("special_zero", "nothing"), ("output_padding", "0,0"), ("new_axis_mask", ""), ("shrink_axis_mask", ""),
    ("ellipsis_mask", ""), ("allow_axis_skip", "false"),
):  # fmt: skip
    _optional(_name.replace("_", "-"), _name, tuple(_default))


@valid(FAULTS)
def nested_tensor_iterator(case: Case, rng: random.Random) -> None:
    """A TensorIterator over the three columns of what the cell gives, in the body of another."""
    place = pick(rng, [place for place in case.places("RNNCell") if place.prefix])
    if case.base.name != "recurrent":
        raise NotHere
    inner = parse(NESTED)
    body = place.graph
    body.need("layers").children.append(inner)
    for edge in body.need("edges").all("edge"):
        if edge.get("from-layer") == place.node.get("id"):
            edge.attrs = [
                ("from-layer", "50"),
                ("from-port", "1"),
                ("to-layer", edge.get("to-layer")),
                ("to-port", edge.get("to-port")),
            ]
    wire = [("from-layer", place.node.get("id")), ("from-port", "5"), ("to-layer", "50"), ("to-port", "0")]
    body.need("edges").children.append(Node("edge", wire))


_COLUMNS = "<dim>1</dim><dim>3</dim></port>"
_COLUMN = "<dim>1</dim><dim>1</dim></port>"
NESTED = (
    '<layer id="50" name="columns" type="TensorIterator" version="opset1">'
    f'<input><port id="0">{_COLUMNS}</input><output><port id="1" precision="FP32">{_COLUMNS}</output><port_map>'
    '<input axis="1" external_port_id="0" internal_layer_id="0" start="0" end="-1" stride="1" part_size="1"/>'
    '<output axis="1" external_port_id="1" internal_layer_id="2" start="0" end="-1" stride="1" part_size="1"/>'
    "</port_map>"
    '<body><layers><layer id="0" name="column" type="Parameter" version="opset1"><data element_type="f32" shape="1,1"/>'
    f'<output><port id="0" precision="FP32">{_COLUMN}</output></layer>'
    '<layer id="1" name="bent" type="Tanh" version="opset1">'
    f'<input><port id="0">{_COLUMN}</input><output><port id="1" precision="FP32">{_COLUMN}</output></layer>'
    f'<layer id="2" name="bent/sink" type="Result" version="opset1"><input><port id="0">{_COLUMN}</input></layer>'
    "</layers>"
    '<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'
    '<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges>'
    "</body></layer>"
)


@valid(FAULTS)
def unknown_attributes_in_layer_tags(case: Case, rng: random.Random) -> None:
    for place in case.places():
        place.node.attrs.append(("made_by", "hand"))


@valid(FAULTS)
def types_in_lower_case(case: Case, rng: random.Random) -> None:
    for place in case.places():
        if place.type not in ("Result", "Parameter", "Const", "If", "Loop", "TensorIterator"):
            place.node.set("type", place.type.lower())


@valid(FAULTS)
def types_in_capitals(case: Case, rng: random.Random) -> None:
    place = pick(
        rng,
        [
            place
            for place in case.places()
            if place.type not in ("Result", "Parameter", "Const", "If", "Loop", "TensorIterator")
        ],
    )
    place.node.set("type", place.type.upper())


@valid(FAULTS)
def opsets_as_new_as_can_be(case: Case, rng: random.Random) -> None:
    place = pick(
        rng,
        [
            place
            for place in case.places()
            if place.type
            in (
                "Relu",
                "ReLU",
                "Add",
                "MatMul",
                "Convolution",
                "Reshape",
                "Transpose",
                "Concat",
                "Parameter",
                "Const",
                "Result",
            )
        ],
    )
    place.node.set("version", rng.choice(("opset2", "opset5", "opset8", "opset13")))
