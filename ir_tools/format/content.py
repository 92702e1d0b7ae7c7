"""What stands inside one `<layer>`: from the tree to ports, attributes and maps, when it is asked for."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from ir_tools.diagnostics import Severity
from ir_tools.format.problems import ElementProblem, read_error
from ir_tools.format.texts import SharedText, Text
from ir_tools.graph import Graph, LayerContent, Model, Port
from ir_tools.rules import Rule
from ir_tools.rules.structure import (
    BAD_DIMENSION,
    BAD_PORT_ID,
    DUPLICATE_PORT_ID,
    MISSING_LAYER_ATTRIBUTE,
    UNKNOWN_PRECISION,
)
from ir_tools.source import Document, Element
from ir_tools.source.grammar import BLOBS, EDGE_ENDS, GRAMMAR, LEGACY, MAPS
from ir_tools.types import ELEMENT_TYPES, closest, id_number, precision_in_file, whole_number

__all__ = [
    "LEGACY_PARTS",
    "PARTS",
    "ElementSource",
    "SourceFile",
    "attributes_of",
    "blobs",
    "dim_problem",
    "ends_of",
    "join_names",
    "legacy_data",
    "number_problem",
    "port_problems",
    "precision_problem",
    "size_of",
    "split_names",
    "tag_problems",
]

NEEDED = {
    "name": "write a name that no other layer has",
    "type": 'write the operation, such as type="ReLU"',
    "version": 'write the opset of the operation, such as version="opset1"',
}
"""What the tag of a layer has besides its id, and what to do where it is missing."""

PARTS = GRAMMAR["layer"].children
"""The elements that a `<layer>` holds."""
LEGACY_PARTS = LEGACY["layer"].children
EARLY_DATA = re.compile("[a-z0-9_]+[_-]data|batch_norm|elementwise|fakequantize|fc|lrn|norm")
"""Names of the element with the attributes of a layer in files of IR v2, besides the type of the layer."""
FEW = 100
"""Attributes of one tag."""
_COMMA = re.compile(r"(?<!\\),")
_ENCODED = re.compile(r"[&\t\r\n]")
"""What may stand for another character in an attribute: entities, and line ends, which become blanks."""


def legacy_data(layer: Element) -> Element | None:
    """Return the element with the attributes of a legacy layer: `<data>`; `<pooling_data>` or `<fc>` in early files."""
    data = next(layer.iterchildren("data"), None)
    if data is not None:
        return data
    type = (layer.get("type") or "").lower()
    return next((child for child in layer if child.tag == type or EARLY_DATA.fullmatch(child.tag)), None)


class ElementSource:
    """A `<layer>` of a document."""

    __slots__ = ("bodies", "document", "element", "id", "place")

    def __init__(self, document: Document, element: Element, layer_id: int, text: Text | None = None) -> None:
        """`element` belongs to `document`; the reader of the file adds the names of its bodies."""
        self.id = layer_id
        self.place = text
        self.bodies: tuple[str, ...] = ()
        self.document = document
        self.element = element

    @property
    def line(self) -> int:
        """The line on which the layer starts, counted from 1."""
        return self.document.line(self.element)

    @property
    def stamp(self) -> str:
        """`legacy` in a file of IR v2 to v7, else nothing."""
        return "legacy" if self.document.is_legacy else ""

    def tag(self) -> dict[str, str]:
        """Return the attributes of the tag."""
        return attributes_of(self.element)

    def get(self, name: str) -> str | None:
        """Return one attribute of the tag."""
        return self.element.get(name)

    def text(self) -> tuple[SharedText, int | None] | None:
        """Return the form of the layer, and the offset of a constant; None if it has bodies, or is not known."""
        return None if self.bodies or self.place is None else (self.place.form, self.place.offset)

    def content(self) -> LayerContent:
        """Everything inside but the bodies; of elements that occur twice, the first, as for the runtime.

        Raises:
            ReadError: a dimension is not a number.
        """
        if self.place is None:
            return self._read()
        form = self.place.form
        return self._like(self._of_form(form, self.place.names), form.named) or self._read()

    def common(self) -> LayerContent | None:
        """Return the content of the first layer of this form that was read, which is not to be changed.

        None for a layer with bodies, and if the form is not known.

        Raises:
            ReadError: a dimension is not a number.
        """
        place = self.place
        return None if place is None or self.bodies else place.form.content or self._of_form(place.form, place.names)

    def as_read(self) -> LayerContent:
        """Return the content, with the names and the offset of this layer; not to be changed."""
        place = self.place
        own = place is None or self.bodies or place.names or place.offset is not None
        return (None if own else self.common()) or self.content()

    def _of_form(self, form: SharedText, names: Sequence[bytes]) -> LayerContent:
        """Return the content of the first layer of a form that was read, which may be this one with these names."""
        if form.content is None:
            form.content = self._read(form)
            ports = (*form.content.inputs, *form.content.outputs)
            named = tuple(place for place, port in enumerate(ports) if port.names)
            form.named = named if len(named) == len(names) else None
        return form.content

    def _like(self, content: LayerContent, named: tuple[int, ...] | None) -> LayerContent | None:
        """Return the content of a layer of this form, with its own names and offset; None if it has to be read."""
        assert self.place is not None
        names = [text.decode() for text in self.place.names]
        if named is None or any(not text or _ENCODED.search(text) for text in names):
            return None
        content = content.copy()
        for place, text in zip(named, names, strict=True):
            inputs = len(content.inputs)
            port = content.inputs[place] if place < inputs else content.outputs[place - inputs]
            port.names = split_names(text)
        if self.place.offset is not None:
            content.raw["offset"] = str(self.place.offset)
        return content

    def _read(self, form: SharedText | None = None) -> LayerContent:
        """Read the content from the tree; ports that layers of other forms have, too, are read once.

        Args:
            form: of the layer, if the content is to be shared; None if it may be changed.
        """
        first: dict[str, Element] = {}
        for child in self.element:
            first.setdefault(child.tag, child)
        content = LayerContent()
        if self.document.is_legacy:
            self._add_legacy(content, first)
        elif "data" in first:
            content.raw = attributes_of(first["data"])
        content.inputs, content.outputs = (self._side(first.get(name), name, form) for name in ("input", "output"))
        if "rt_info" in first:
            content.rt_info = [attributes_of(child) for child in first["rt_info"].iterchildren("attribute")]
        for name, child in first.items():
            if name in MAPS:
                content.mapping[name] = [(str(row.tag), attributes_of(row)) for row in child]
        return content

    def _add_legacy(self, content: LayerContent, first: Mapping[str, Element]) -> None:
        """Add the attributes and the blobs."""
        data = legacy_data(self.element)
        if data is not None:
            content.raw = attributes_of(data)
        for child in (*self.element, *first.get("blobs", ())):
            if child.tag in BLOBS:
                content.blobs.setdefault(child.tag, attributes_of(child))

    def _side(self, side: Element | None, name: str, form: SharedText | None) -> list[Port]:
        """Return the ports of one side: those of another layer, whose side has the same text, if they are shared."""
        if side is None:
            return []
        text = None if form is None else form.side(name.encode())
        if form is None or text is None:
            return self._ports(side)
        key = text, self._legacy_precision(side)
        known = form.ports.get(key)
        if known is None:
            known = form.ports[key] = self._ports(side)
        return known

    def _ports(self, side: Element) -> list[Port]:
        return [self._port(element) for element in side.iterchildren("port")]

    def _port(self, element: Element) -> Port:
        port_id = id_number(element.get("id"))
        assert port_id is not None, "ir_tools does not read a layer with such a port"
        names = element.get("names")
        precision = element.get("precision") or self._legacy_precision(element.getparent())
        dims = tuple(self._dim(dim) for dim in element.iterchildren("dim"))
        return Port(port_id, precision, dims, split_names(names) if names else ())

    def _legacy_precision(self, side: Element | None) -> str | None:
        """Return the precision of an output port without one, as in IR v2 to v6: that of its layer, or of the net."""
        if side is None or side.tag != "output" or not self.document.is_legacy:
            return None
        return self.element.get("precision") or self.document.root.get("precision")

    def _dim(self, element: Element) -> int:
        text = element.text or ""
        if text.isdecimal() and text.isascii() and len(text) < 19:
            return int(text)
        fault = dim_problem(element)
        if fault:
            raise read_error(self.document, [fault])
        return int(text)


class SourceFile:
    """The document of a model."""

    def __init__(self, document: Document) -> None:
        """`document`: the whole file."""
        self.document = document

    def line_of(self, graph: Graph, layer_id: int) -> int | None:
        """Return the line on which the layer starts in this document; None for a layer that is not in it."""
        source = graph.layer(layer_id).source
        return source.line if isinstance(source, ElementSource) and source.document is self.document else None

    def reduce(self, model: Model) -> tuple[object, ...]:
        """Return how to read what would be written, with an absolute path, for processes in another folder."""
        from ir_tools.format.read import reread
        from ir_tools.format.write import render

        return reread, (render(model), model.weights, None if model.path is None else model.path.absolute())


def blobs(root: Element) -> Iterator[tuple[int, int]]:
    """Yield offset and size of all bytes of the `.bin` that a document names."""
    for data in root.iter("data", *BLOBS):
        offset, size = whole_number(data.get("offset")), whole_number(data.get("size"))
        if offset is not None and size:
            yield offset, size


def ends_of(edge: Element) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return from which layer and port to which an `<edge>` goes; -1 for what cannot be read."""
    numbers = (id_number(edge.get(name)) for name in EDGE_ENDS)
    first, start, last, end = (-1 if number is None else number for number in numbers)
    return (first, start), (last, end)


def number_problem(
    rule: Rule, element: Element, name: str, layer: Callable[[], Element | None] | None = None
) -> ElementProblem:
    """Return the problem of an attribute that is missing or is not an integer."""
    text = element.get(name)
    meant = closest(name, map(str, element.attrib)) if text is None and len(element.attrib) else None
    message = f"<{element.tag}> has {name} '{text[:40]}'" if text else f"<{element.tag}> has no {name}"
    return ElementProblem(
        rule, element, message, f"rename {meant} to {name}" if meant else f"write {name} as an integer", layer=layer
    )


def port_problems(side: Element) -> Iterator[ElementProblem]:
    """Yield the problems of the port ids in `<input>` or `<output>`: unusable ones, and those that occur twice."""
    seen: set[int] = set()
    for port in side.iterchildren("port"):
        port_id = id_number(port.get("id"))
        if port_id is None:
            yield number_problem(BAD_PORT_ID, port, "id")
        elif port_id in seen:
            yield ElementProblem(
                DUPLICATE_PORT_ID, port, f"two {side.tag} ports have the id {port_id}", "give one of them another id"
            )
        else:
            seen.add(port_id)


def dim_problem(dim: Element) -> ElementProblem | None:
    """Return why a `<dim>` cannot be read, if so."""
    if size_of(dim) is not None:
        return None
    text = (dim.text or "").strip()[:40]
    return ElementProblem(
        BAD_DIMENSION, dim, f"a dimension is '{text}'; expected an integer", "write the size, or -1 for an unknown size"
    )


def precision_problem(port: Element, needed: bool) -> ElementProblem | None:
    """Return why the element type of a port cannot be read, if so; an input may have none."""
    text = port.get("precision")
    if text is None:
        remedy = 'write the precision of the tensor, such as precision="FP32"'
        return ElementProblem(UNKNOWN_PRECISION, port, "an output port has no precision", remedy) if needed else None
    if precision_in_file(text) is not None:
        return None
    known = [kind.precision for kind in ELEMENT_TYPES.values()]
    meant = closest(text, known)
    remedy = f"did you mean {meant}?" if meant else f"write one of {', '.join(known)}"
    return ElementProblem(UNKNOWN_PRECISION, port, f"'{text[:40]}' is not a precision", remedy)


def tag_problems(layer: Element, *, stamped: bool) -> Iterator[ElementProblem]:
    """Yield what is missing in the tag of a layer. The runtime gives a layer with an empty name another.

    `stamped`: whether it has to have a version, as since IR v10.
    """
    for name, remedy in NEEDED.items():
        if name == "version" and not stamped:
            continue
        text = layer.get(name)
        if text is None or not text.strip():
            message = f"the layer has no {name}" if text is None else f"the {name} of the layer is empty"
            meant = None if text is not None else closest(name, [str(word) for word in layer.attrib])
            mild = text is not None and name == "name"
            remedy = f"rename {meant} to {name}" if meant else remedy
            yield ElementProblem(MISSING_LAYER_ATTRIBUTE, layer, message, remedy, Severity.WARNING if mild else None)


def size_of(dim: Element) -> int | None:
    """Return the number in a `<dim>`, -1 for any size; None if it cannot be read."""
    text = (dim.text or "").strip()
    return -1 if text == "-1" else id_number(text)


def split_names(text: str) -> tuple[str, ...]:
    r"""Return `a\,b,c` -> `("a,b", "c")`."""
    return tuple(name.replace("\\,", ",") for name in _COMMA.split(text) if name)


def join_names(names: tuple[str, ...]) -> str:
    r"""Return `("a,b", "c")` -> `a\,b,c`."""
    return ",".join(name.replace(",", "\\,") for name in names)


def attributes_of(element: Element) -> dict[str, str]:
    """Return the attributes of an element as text.

    `items` of lxml looks for each attribute from the first on, which is faster for few and takes hours for a million.
    """
    if len(element.attrib) <= FEW:
        pairs: Any = element.items()
        return dict(pairs)
    found = cast(Sequence[Any], element.xpath("@*"))
    return {attribute.attrname: str(attribute) for attribute in found}
