"""What stands inside one `<layer>`: from the tree to ports, attributes and maps, when it is asked for."""

import re
from collections.abc import Sequence
from typing import NoReturn, cast

from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.errors import ReadError
from ir_tools.graph import Graph, LayerContent, Port
from ir_tools.source import Document, Element
from ir_tools.types import whole_number

__all__ = [
    "MAPS",
    "ElementSource",
    "SourceFile",
    "attributes_of",
    "ends_of",
    "fail",
    "join_names",
    "split_names",
    "whole",
]

MAPS = ("port_map", "back_edges", "then_port_map", "else_port_map")
"""The elements whose rows tie a layer to its bodies."""

_COMMA = re.compile(r"(?<!\\),")


class ElementSource:
    """A `<layer>` of a document."""

    __slots__ = ("bodies", "document", "element", "id")

    def __init__(self, document: Document, element: Element, layer_id: int) -> None:
        """`element` belongs to `document`; the reader adds the names of its bodies."""
        self.id = layer_id
        self.bodies: tuple[str, ...] = ()
        self.document = document
        self.element = element

    @property
    def line(self) -> int:
        """The line on which the layer starts, counted from 1."""
        return self.document.line(self.element)

    def tag(self) -> dict[str, str]:
        """The attributes of the tag."""
        return attributes_of(self.element)

    def get(self, name: str) -> str | None:
        """One attribute of the tag."""
        return self.element.get(name)

    def content(self) -> LayerContent:
        """Everything inside but the bodies; of elements that occur twice, the first, as for the runtime.

        Raises:
            ReadError: a port without a usable id, or a dimension that is no number.
        """
        first: dict[str, Element] = {}
        for child in self.element:
            first.setdefault(child.tag, child)
        content = LayerContent()
        if "data" in first:
            content.raw = attributes_of(first["data"])
        content.inputs, content.outputs = self._ports(first.get("input")), self._ports(first.get("output"))
        if "rt_info" in first:
            content.rt_info = [attributes_of(child) for child in first["rt_info"].iterchildren("attribute")]
        for name, child in first.items():
            if name in MAPS:
                content.mapping[name] = [(str(row.tag), attributes_of(row)) for row in child]
        return content

    def _ports(self, side: Element | None) -> list[Port]:
        return [] if side is None else [self._port(element) for element in side.iterchildren("port")]

    def _port(self, element: Element) -> Port:
        port_id = whole(self.document, element, "id")
        names = element.get("names")
        dims = tuple(self._dim(dim) for dim in element.iterchildren("dim"))
        return Port(port_id, element.get("precision"), dims, split_names(names) if names else ())

    def _dim(self, element: Element) -> int:
        text = element.text or ""
        try:
            if "_" not in text:
                return int(text)
        except ValueError:
            pass
        fail(self.document, element, "IR009", f"a dimension is '{text[:40]}'", "write a whole number, -1 for any size")


class SourceFile:
    """The document of a model."""

    def __init__(self, document: Document) -> None:
        """`document`: the whole file."""
        self.document = document

    def line_of(self, graph: Graph, layer_id: int) -> int | None:
        """The line on which the layer starts in this document; None for a layer that is not in it."""
        source = graph.layer(layer_id).source
        return source.line if isinstance(source, ElementSource) and source.document is self.document else None


def whole(document: Document, element: Element, name: str) -> int:
    """An attribute that holds an id.

    Raises:
        ReadError: it is missing or no whole number.
    """
    number, text = whole_number(element.get(name)), element.get(name)
    if number is not None:
        return number
    message = f"<{element.tag}> has {name} '{text[:40]}'" if text else f"<{element.tag}> has no {name}"
    fail(document, element, "IR007", message, f"{name} is a whole number")


def ends_of(document: Document, edge: Element) -> tuple[tuple[int, int], tuple[int, int]]:
    """From which layer and port to which an `<edge>` goes.

    Raises:
        ReadError: one is missing or no whole number.
    """
    start = whole(document, edge, "from-layer"), whole(document, edge, "from-port")
    return start, (whole(document, edge, "to-layer"), whole(document, edge, "to-port"))


def fail(document: Document, element: Element, code: str, message: str, remedy: str | None = None) -> NoReturn:
    """Say that an element cannot be read, with its line and the layer around it.

    Raises:
        ReadError: always.
    """
    layer = element if element.tag == "layer" else next(element.iterancestors("layer"), None)
    raise ReadError(
        Diagnostic(
            code=code,
            severity=Severity.ERROR,
            message=message,
            file=document.file,
            line=document.line(element),
            layer_id=None if layer is None else whole_number(layer.get("id")),
            layer_name=None if layer is None else layer.get("name"),
            help=remedy,
        )
    )


def split_names(text: str) -> tuple[str, ...]:
    r"""`a\,b,c` -> `("a,b", "c")`."""
    return tuple(name.replace("\\,", ",") for name in _COMMA.split(text) if name)


def join_names(names: tuple[str, ...]) -> str:
    r"""`("a,b", "c")` -> `a\,b,c`."""
    return ",".join(name.replace(",", "\\,") for name in names)


def attributes_of(element: Element) -> dict[str, str]:
    """The attributes of an element as text."""
    return dict(cast(Sequence[tuple[str, str]], element.items()))
