"""From layers, ports and maps to the text of XML, for what is new in a document."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain

from ir_tools.errors import WriteError
from ir_tools.format.content import join_names
from ir_tools.graph import Layer, LayerForm, NewSource, Port
from ir_tools.source import Style
from ir_tools.types import whole_number

__all__ = [
    "Node",
    "content_texts",
    "dim_texts",
    "edge_text",
    "element_text",
    "escape",
    "lead",
    "pieces",
    "port_text",
    "render",
    "tag_of",
    "text_of_form",
]

_ESCAPES = {"&": "&amp;", "<": "&lt;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;", '"': "&quot;", "'": "&apos;"}
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_SPECIAL = re.compile("[\x00-\x1f&<\"'\ufffe\uffff\ud800-\udfff]")
"""What is escaped or forbidden."""
_NAME = re.compile(r"[^\W\d][\w.:-]*")


@dataclass(slots=True)
class Node:
    """An element that is to be written; a child that is text is an element whose text is known."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: "Sequence[Node | str]" = ()


def escape(value: object, quote: str = '"') -> str:
    """Return the text of an attribute's value between `quote`s.

    Raises:
        WriteError: XML cannot contain one of the characters.
    """
    text = str(value)
    if not _SPECIAL.search(text):
        return text
    if bad := _FORBIDDEN.search(text):
        raise WriteError(f"XML cannot contain the character U+{ord(bad[0]):04X} of {text!r}; remove it")
    return re.sub(rf"[&<\t\n\r{quote}]", lambda found: _ESCAPES[found[0]], text)


def render(node: Node, style: Style, indent: str) -> str:
    """Return the text of an element whose first line is already indented by `indent`."""
    return "".join(pieces(node, style, indent))


def pieces(node: Node, style: Style, indent: str) -> Iterator[str]:
    """Yield the text of an element in pieces, so that a whole document is put together once."""
    start = f"<{node.tag}{_attributes(node.attributes, style.quote)}"
    if not node.children:
        yield start + style.empty
    else:
        deeper = indent + style.unit
        before = lead(style, deeper)
        yield f"{start}>"
        for child in node.children:
            yield before
            if isinstance(child, str):
                yield child
            else:
                yield from pieces(child, style, deeper)
        yield f"{lead(style, indent)}</{node.tag}>"


def element_text(tag: str, attributes: Mapping[str, str], children: Sequence[str], style: Style, indent: str) -> str:
    """Return the text of an element with elements inside whose text is known."""
    start = f"<{tag}{_attributes(attributes, style.quote)}"
    if not children:
        return start + style.empty
    before = lead(style, indent + style.unit)
    return f"{start}>{before}{before.join(children)}{lead(style, indent)}</{tag}>"


def lead(style: Style, indent: str) -> str:
    """Return what precedes an element: a new line and its indentation; nothing if the file is one line."""
    return style.newline + indent if style.newline else ""


def tag_of(layer: Layer, layer_id: int) -> dict[str, str]:
    """Return the attributes of a layer's tag, `id` first if it is new."""
    tag = layer.tag
    if "id" not in tag:
        return {"id": str(layer_id), **tag}
    return tag if whole_number(tag["id"]) == layer_id else {"id": "", **tag, **{"id": str(layer_id)}}


def content_texts(layer: Layer, style: Style, indent: str) -> dict[str, str]:
    """Return what a layer holds except bodies, by element name, in OpenVINO's order; `indent`: of these elements."""
    content = layer.content
    texts: dict[str, str] = {}
    if content.raw:
        texts["data"] = f"<data{_attributes(content.raw, style.quote)}{style.empty}"
    if content.rt_info:
        texts["rt_info"] = _rows_text("rt_info", [("attribute", row) for row in content.rt_info], style, indent)
    for name, rows in content.mapping.items():
        texts[name] = _rows_text(name, rows, style, indent)
    for name, ports in (("input", content.inputs), ("output", content.outputs)):
        if ports:
            texts[name] = _side_text(name, ports, style, indent)
    return texts


def _side_text(name: str, ports: Sequence[Port], style: Style, indent: str) -> str:
    """Return `<input>` or `<output>`."""
    return element_text(name, {}, [port_text(port, style, indent + style.unit) for port in ports], style, indent)


def text_of_form(layer: NewSource, layer_id: int, style: Style, indent: str) -> str:
    """Return the text of a layer that was made of a form, and not changed since."""
    quote, pieces = style.quote, _form_pieces(layer.form, style, indent)
    own = [f"<layer id={quote}{layer_id}{quote} name={quote}{escape(layer.name, quote)}{quote}"]
    if layer.form.has_offset:
        own.append(str(layer.offset))
    for port in layer.form.content.outputs:
        names = layer.names.get(port.id)
        own.append(_attributes({"names": join_names(names)}, quote) if names else "")
    return "".join(chain.from_iterable(zip(own, pieces, strict=True)))


@lru_cache(1 << 10)
def _form_pieces(form: LayerForm, style: Style, indent: str) -> tuple[str, ...]:
    """Return the text of the layers of a form, in pieces: what is behind the name, the offset, and each tensor name."""
    content, quote, inside = form.content, style.quote, indent + style.unit
    before, made = lead(style, inside), [_attributes({"type": form.type, "version": form.version}, quote)]
    if not (content.raw or content.inputs or content.outputs):
        return (made[0] + style.empty,)
    made[0] += ">"
    if content.raw:
        made[0] += f"{before}<data"
        for name, text in content.raw.items():
            if name == "offset" and form.has_offset:
                made[0] += _before_value(name) + quote
                made.append(quote)
            else:
                made[-1] += _attributes({name: text}, quote)
        made[-1] += style.empty
    if content.inputs:
        made[-1] += before + _side_text("input", content.inputs, style, inside)
    if content.outputs:
        made[-1] += f"{before}<output>"
        for port in content.outputs:
            start, end = _port_ends(port.id, port.precision, port.dims, style, inside + style.unit)
            made[-1] += lead(style, inside + style.unit) + start
            made.append(end)
        made[-1] += f"{before}</output>"
    return (*made[:-1], f"{made[-1]}{lead(style, indent)}</layer>")


def _rows_text(name: str, rows: Sequence[tuple[str, Mapping[str, str]]], style: Style, indent: str) -> str:
    """Return an element whose children have attributes only: a port map, an rt_info."""
    return render(Node(name, children=[Node(tag, attributes) for tag, attributes in rows]), style, indent)


def port_text(port: Port, style: Style, indent: str) -> str:
    """Return the text of a `<port>`."""
    start, end = _port_ends(port.id, port.precision, port.dims, style, indent)
    if not port.names:
        return start + end
    names = _attributes({"names": join_names(port.names)}, style.quote)
    return f"{start}{names}{end}"


@lru_cache(1 << 10)
def _port_ends(number: int, precision: str | None, dims: tuple[int, ...], style: Style, indent: str) -> tuple[str, str]:
    """Return what is before the names of a port and behind them, once for layers alike, of which there are many."""
    attributes = {"id": str(number)}
    if precision is not None:
        attributes["precision"] = precision
    start = render(Node("port", attributes), style._replace(empty=""), indent)
    return start, render(Node("port", children=dim_texts(dims)), style, indent).removeprefix("<port")


def dim_texts(dims: Iterable[int]) -> list[str]:
    """Return `<dim>`s."""
    return [f"<dim>{dim}</dim>" for dim in dims]


def edge_text(source: int, start: int, reader: int, end: int, style: Style) -> str:
    """Return the text of an `<edge>` from port `start` of layer `source` to port `end` of layer `reader`."""
    quote = style.quote
    return (
        f"<edge from-layer={quote}{source}{quote} from-port={quote}{start}{quote}"
        f" to-layer={quote}{reader}{quote} to-port={quote}{end}{quote}{style.empty}"
    )


def _attributes(attributes: Mapping[str, str], quote: str) -> str:
    """Return the text of attributes, each with a blank before it."""
    return "".join([f"{_before_value(name)}{quote}{escape(text, quote)}{quote}" for name, text in attributes.items()])


@lru_cache(1 << 10)
def _before_value(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise WriteError(f"'{name}' is not a name for an attribute in XML")
    return f" {name}="
