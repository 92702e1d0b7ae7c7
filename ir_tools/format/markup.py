"""From layers, ports and maps to the text of XML, for what is new in a document."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ir_tools.errors import WriteError
from ir_tools.format.content import join_names
from ir_tools.graph import Layer, Port
from ir_tools.source import Style
from ir_tools.types import whole_number

__all__ = ["Node", "content_nodes", "edge_node", "escape", "lead", "port_node", "render", "rows_node", "tag_of"]

_ESCAPES = {"&": "&amp;", "<": "&lt;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;", '"': "&quot;", "'": "&apos;"}
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_NAME = re.compile(r"[^\W\d][\w.:-]*")


@dataclass(slots=True)
class Node:
    """An element that is to be written; a child that is text is an element whose text is known."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: "Sequence[Node | str]" = ()
    text: str = ""


def escape(value: object, quote: str = '"') -> str:
    """The text of an attribute's value between `quote`s.

    Raises:
        WriteError: XML cannot hold one of the characters.
    """
    text = str(value)
    if bad := _FORBIDDEN.search(text):
        raise WriteError(f"XML cannot hold the character U+{ord(bad[0]):04X} of {text!r}; remove it")
    return re.sub(rf"[&<\t\n\r{quote}]", lambda found: _ESCAPES[found[0]], text)


def render(node: Node, style: Style, indent: str) -> str:
    """The text of an element whose first line stands behind `indent` already."""
    text = f"<{node.tag}" + "".join(
        f" {_checked(name)}={style.quote}{escape(value, style.quote)}{style.quote}"
        for name, value in node.attributes.items()
    )
    if node.text:
        return f"{text}>{escape(node.text)}</{node.tag}>"
    if not node.children:
        return text + style.empty
    parts = [text, ">"]
    for child in node.children:
        inner = child if isinstance(child, str) else render(child, style, indent + style.unit)
        parts += [lead(style, indent + style.unit), inner]
    parts += [lead(style, indent), f"</{node.tag}>"]
    return "".join(parts)


def lead(style: Style, indent: str) -> str:
    """What stands before an element: a new line and its indentation; nothing where all stands on one line."""
    return style.newline + indent if style.newline else ""


def tag_of(layer: Layer, layer_id: int) -> dict[str, str]:
    """The attributes of a layer's tag, `id` first where it is new."""
    known = whole_number(layer.tag.get("id")) == layer_id
    return layer.tag if known else {"id": str(layer_id), **layer.tag, **{"id": str(layer_id)}}


def content_nodes(layer: Layer) -> dict[str, Node]:
    """What stands inside a layer but its bodies, by element name, in OpenVINO's order."""
    content = layer.content
    nodes: dict[str, Node] = {}
    if content.raw:
        nodes["data"] = Node("data", content.raw)
    if content.rt_info:
        nodes["rt_info"] = rows_node("rt_info", [("attribute", row) for row in content.rt_info])
    for name, rows in content.mapping.items():
        nodes[name] = rows_node(name, rows)
    for name, ports in (("input", content.inputs), ("output", content.outputs)):
        if ports:
            nodes[name] = Node(name, children=[port_node(port) for port in ports])
    return nodes


def rows_node(name: str, rows: Sequence[tuple[str, Mapping[str, str]]]) -> Node:
    """An element whose children have attributes only: a port map, an rt_info."""
    return Node(name, children=[Node(tag, attributes) for tag, attributes in rows])


def port_node(port: Port) -> Node:
    """A `<port>`."""
    attributes = {"id": str(port.id)}
    if port.precision is not None:
        attributes["precision"] = port.precision
    if port.names:
        attributes["names"] = join_names(port.names)
    return Node("port", attributes, [Node("dim", text=str(dim)) for dim in port.dims])


def edge_node(source: int, start: int, reader: int, end: int) -> Node:
    """An `<edge>` from port `start` of layer `source` to port `end` of layer `reader`."""
    names = ("from-layer", "from-port", "to-layer", "to-port")
    return Node("edge", dict(zip(names, map(str, (source, start, reader, end)), strict=True)))


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise WriteError(f"'{name}' is no name for an attribute in XML")
    return name
