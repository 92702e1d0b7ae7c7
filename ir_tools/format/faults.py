"""What is wrong in a document: one fault with the code of its rule, and its place in the words of a diagnostic."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.errors import ReadError
from ir_tools.source import Document, Element
from ir_tools.types import id_number

__all__ = ["Fault", "Place", "body_path", "is_layer", "place_of", "refused", "told"]


MOST = 1000
"""How many faults are told when a file cannot be read."""


class Place(NamedTuple):
    """Where something is wrong, in the words of a diagnostic. `line` and columns count from 1."""

    line: int | None
    layer_id: int | None = None
    layer_name: str | None = None
    path: str | None = None
    column: int | None = None
    end_column: int | None = None


class Fault(NamedTuple):
    """Something that is wrong in the document itself: the code of the rule that tells of it, and the offending element.

    `layer`: the one to name, where the element stands in none, as an edge.
    """

    code: str
    element: Element
    message: str
    help: str | None = None
    layer: Element | None = None
    severity: Severity = Severity.ERROR


def refused(document: Document, faults: Iterable[Fault]) -> ReadError:
    """The error that tells of the faults, in the order of their lines; of very many, the first."""
    found = told(document, islice(faults, MOST))
    return ReadError(*sorted(found, key=lambda diagnostic: (diagnostic.line or 0, diagnostic.code)))


def told(document: Document, faults: Iterable[Fault]) -> Iterator[Diagnostic]:
    """The faults with their places."""
    for fault in faults:
        yield Diagnostic(
            code=fault.code,
            severity=fault.severity,
            message=fault.message,
            file=document.file,
            help=fault.help,
            **place_of(document, fault.element, fault.layer)._asdict(),
        )


def place_of(document: Document, element: Element, layer: Element | None = None, attribute: str | None = None) -> Place:
    """The place of any element of the document: its line, and the layer, if none is given the one around it.

    `attribute`: of the element, if it alone is wrong; the columns are then its own, if the element has it.
    """
    line, columns = document.line(element), document.columns(element, attribute)
    if layer is None:
        layer = element if is_layer(element) else next(filter(is_layer, element.iterancestors("layer")), None)
    if layer is None:
        return Place(line, None, None, None, *columns)
    name = layer.get("name") or ""
    return Place(line, id_number(layer.get("id")), layer.get("name"), body_path(layer) + name, *columns)


def is_layer(element: Element) -> bool:
    """Whether an element is a layer; without id and name it is another one that is misspelled."""
    return element.tag == "layer" and (element.get("id") is not None or element.get("name") is not None)


def body_path(element: Element) -> str:
    """The way to the body around an element, `Loop_3/body/`; empty in the main graph."""
    words: list[str] = []
    for body in element.iterancestors():
        outer = body.getparent()
        if outer is not None and outer.tag == "layer":
            words += [str(body.tag), outer.get("name") or ""]
    return "".join(f"{word}/" for word in reversed(words))
