"""From layers, ports and maps to the text of XML, for what is new in a document."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ir_tools.errors import WriteError
from ir_tools.format.content import join_names
from ir_tools.graph import Layer, Port
from ir_tools.source import Style
from ir_tools.types import whole_number

__all__ = ["Node", "content_nodes", "dim_nodes", "edge_text", "escape", "lead", "port_text", "render", "tag_of"]

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
    text: str = ""


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
    text = f"<{node.tag}" + "".join([_attribute(*pair, style.quote) for pair in node.attributes.items()])
    if node.text:
        return f"{text}>{escape(node.text)}</{node.tag}>"
    if not node.children:
        return text + style.empty
    deeper = indent + style.unit
    before = lead(style, deeper)
    inner = before.join([child if isinstance(child, str) else render(child, style, deeper) for child in node.children])
    return f"{text}>{before}{inner}{lead(style, indent)}</{node.tag}>"


def lead(style: Style, indent: str) -> str:
    """Return what precedes an element: a new line and its indentation; nothing if the file is one line."""
    return style.newline + indent if style.newline else ""


def tag_of(layer: Layer, layer_id: int) -> dict[str, str]:
    """Return the attributes of a layer's tag, `id` first if it is new."""
    known = whole_number(layer.tag.get("id")) == layer_id
    return layer.tag if known else {"id": str(layer_id), **layer.tag, **{"id": str(layer_id)}}


def content_nodes(layer: Layer, style: Style, indent: str) -> dict[str, Node]:
    """Return what a layer holds except bodies, by element name, in OpenVINO's order; `indent`: of these elements."""
    content = layer.content
    nodes: dict[str, Node] = {}
    if content.raw:
        nodes["data"] = Node("data", content.raw)
    if content.rt_info:
        nodes["rt_info"] = _rows_node("rt_info", [("attribute", row) for row in content.rt_info])
    for name, rows in content.mapping.items():
        nodes[name] = _rows_node(name, rows)
    for name, ports in (("input", content.inputs), ("output", content.outputs)):
        if ports:
            nodes[name] = Node(name, children=[port_text(port, style, indent + style.unit) for port in ports])
    return nodes


def _rows_node(name: str, rows: Sequence[tuple[str, Mapping[str, str]]]) -> Node:
    """Return an element whose children have attributes only: a port map, an rt_info."""
    return Node(name, children=[Node(tag, attributes) for tag, attributes in rows])


def port_text(port: Port, style: Style, indent: str) -> str:
    """Return the text of a `<port>`."""
    return _port_text(port.id, port.precision, port.dims, port.names, style, indent)


@lru_cache(1 << 10)
def _port_text(
    number: int, precision: str | None, dims: tuple[int, ...], names: tuple[str, ...], style: Style, indent: str
) -> str:
    """Written once for layers alike, of which there are many."""
    attributes = {"id": str(number)}
    if precision is not None:
        attributes["precision"] = precision
    if names:
        attributes["names"] = join_names(names)
    return render(Node("port", attributes, dim_nodes(dims)), style, indent)


def dim_nodes(dims: Iterable[int]) -> list[Node]:
    """Return `<dim>`s."""
    return [Node("dim", text=str(dim)) for dim in dims]


def edge_text(source: int, start: int, reader: int, end: int, style: Style) -> str:
    """Return the text of an `<edge>` from port `start` of layer `source` to port `end` of layer `reader`."""
    quote = style.quote
    return (
        f"<edge from-layer={quote}{source}{quote} from-port={quote}{start}{quote}"
        f" to-layer={quote}{reader}{quote} to-port={quote}{end}{quote}{style.empty}"
    )


@lru_cache(1 << 12)
def _attribute(name: str, value: str, quote: str) -> str:
    if not _NAME.fullmatch(name):
        raise WriteError(f"'{name}' is not a name for an attribute in XML")
    return f" {name}={quote}{escape(value, quote)}{quote}"
