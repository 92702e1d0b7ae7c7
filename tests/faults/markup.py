"""A tree of XML that can hold what XML forbids, and knows on which line each element was written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

__all__ = ["MODEL_OPTIMIZER", "OPENVINO", "Node", "Style", "parse", "render"]


class Node:
    """An element. Attributes are a list of pairs, so that one can stand there twice; a `str` child is raw text.

    `line` and `last_line` are set by `render`.
    """

    __slots__ = ("attrs", "children", "last_line", "line", "tag")

    def __init__(self, tag: str, attrs: list[tuple[str, str]], children: list[Node | str] | None = None) -> None:
        self.tag = tag
        self.attrs = attrs
        self.children: list[Node | str] = children or []
        self.line = self.last_line = 0

    def get(self, name: str, default: str = "") -> str:
        return next((value for key, value in self.attrs if key == name), default)

    def has(self, name: str) -> bool:
        return any(key == name for key, _ in self.attrs)

    def set(self, name: str, value: str | None) -> None:
        """Give an attribute a value; None: take it away."""
        if value is None:
            self.drop(name)
        elif self.has(name):
            self.attrs = [(key, value if key == name else old) for key, old in self.attrs]
        else:
            self.attrs.append((name, value))

    def drop(self, name: str) -> None:
        self.attrs = [pair for pair in self.attrs if pair[0] != name]

    def rename(self, name: str, new: str) -> None:
        self.attrs = [(new if key == name else key, value) for key, value in self.attrs]

    def all(self, tag: str) -> list[Node]:
        return [child for child in self.children if isinstance(child, Node) and child.tag == tag]

    def drop_all(self, tag: str) -> None:
        """Take all children of that name away, and all text."""
        self.children = [child for child in self.children if isinstance(child, Node) and child.tag != tag]

    def find(self, *tags: str) -> Node | None:
        """The first child of that name, and the first of the next name in it."""
        found: Node | None = self
        for tag in tags:
            found = next(iter(found.all(tag)), None) if found else None
        return found

    def need(self, *tags: str) -> Node:
        found = self.find(*tags)
        assert found is not None, (self.tag, tags)
        return found

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    @property
    def text(self) -> str:
        return "".join(child for child in self.children if isinstance(child, str))

    @text.setter
    def text(self, text: str) -> None:
        self.children = [text]

    def copy(self) -> Node:
        children = [child if isinstance(child, str) else child.copy() for child in self.children]
        return Node(self.tag, list(self.attrs), children)


@dataclass(frozen=True, slots=True)
class Style:
    """How a file is written."""

    declaration: str = '<?xml version="1.0"?>\n'
    indent: str = "\t"
    newline: str = "\n"
    quote: str = '"'
    close: str = " />"
    tail: str = "\n"


OPENVINO = Style()
MODEL_OPTIMIZER = Style(declaration='<?xml version="1.0" ?>\n', close="/>", tail="")


def parse(text: str | bytes) -> Node:
    return _node(ElementTree.fromstring(text))


def _node(element: ElementTree.Element) -> Node:
    children: list[Node | str] = [_node(child) for child in element]
    if not children and element.text and element.text.strip():
        children = [escape(element.text)]
    return Node(element.tag, list(element.attrib.items()), children)


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def render(root: Node, style: Style = OPENVINO) -> str:
    """The text; every node gets the lines of its first and last character."""
    pen = _Pen(style)
    pen.put(style.declaration)
    pen.element(root, 0)
    pen.put(style.tail)
    return "".join(pen.parts)


class _Pen:
    def __init__(self, style: Style) -> None:
        self.style = style
        self.parts: list[str] = []
        self.line = 1

    def put(self, text: str) -> None:
        self.parts.append(text)
        if "\n" in text or "\r" in text:
            self.line += len(re.findall(r"\r\n|\n|\r(?!\n)", text))

    def element(self, node: Node, depth: int) -> None:
        node.line = self.line
        self.put(f"<{node.tag}" + "".join(f" {name}={self.quoted(value)}" for name, value in node.attrs))
        if not node.children:
            self.put(self.style.close)
        else:
            self.put(">")
            self.inside(node, depth)
            self.put(f"</{node.tag}>")
        node.last_line = self.line

    def inside(self, node: Node, depth: int) -> None:
        spread = any(isinstance(child, Node) for child in node.children)
        for child in node.children:
            if spread:
                self.put(self.style.newline + self.style.indent * (depth + 1))
            if isinstance(child, str):
                self.put(child)
            else:
                self.element(child, depth + 1)
        if spread:
            self.put(self.style.newline + self.style.indent * depth)

    def quoted(self, value: str) -> str:
        quote = self.style.quote
        return (
            quote + escape(value).replace(quote, "&quot;" if quote == '"' else "&apos;").replace("\n", "&#10;") + quote
        )
