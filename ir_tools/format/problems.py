"""What is wrong in a document: a problem with its rule and its element, and from there to a diagnostic."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple

from ir_tools.diagnostics import MAX_LISTED, Diagnostic, Severity
from ir_tools.display import quoted
from ir_tools.errors import ReadError
from ir_tools.rules import Rule
from ir_tools.source import Document, Element
from ir_tools.types import id_number

__all__ = ["MAX_IN_ELEMENT", "DocumentPlace", "ElementProblem", "diagnostic_of", "name_of", "place_of", "read_error"]

MAX_IN_ELEMENT = 100
"""How many problems of one kind are listed one by one in an element."""
MAX_NAME = 1000
"""Characters of the name of a layer that a diagnostic has."""


class DocumentPlace(NamedTuple):
    """Where something is wrong, in the words of a diagnostic. `line` and columns count from 1."""

    line: int | None
    layer_id: int | None = None
    layer_name: str | None = None
    path: str | None = None
    column: int | None = None
    end_column: int | None = None


class ElementProblem(NamedTuple):
    """Something that is wrong in a document; it becomes a `Diagnostic` when its place is worked out.

    Attributes:
        rule: that it breaks.
        element: the offending one; else a place, or what works it out if it is listed.
        message: what is wrong.
        help: what to do; or what works it out if it is listed.
        severity: if it is not the rule's own.
        layer: the one to name if the element is in none, as an edge is not; or what finds it.
        attribute: of the element, if it alone is wrong.
    """

    rule: Rule
    element: Element | DocumentPlace | Callable[[], DocumentPlace]
    message: str
    help: str | Callable[[], str | None] | None = None
    severity: Severity | None = None
    layer: Element | Callable[[], Element | None] | None = None
    attribute: str | None = None

    @property
    def is_error(self) -> bool:
        """Whether its severity is `error`."""
        return (self.severity or self.rule.severity) is Severity.ERROR


def read_error(document: Document, problems: Iterable[ElementProblem]) -> ReadError:
    """Return the error that lists the problems in the order of their lines; of very many, the first."""
    found = [diagnostic_of(document, problem) for problem in islice(problems, MAX_LISTED)]
    return ReadError(*sorted(found, key=lambda diagnostic: (diagnostic.line or 0, diagnostic.code)))


def diagnostic_of(document: Document, problem: ElementProblem) -> Diagnostic:
    """Return a problem with its place."""
    place = problem.element
    if isinstance(place, Element):
        layer = problem.layer() if callable(problem.layer) else problem.layer
        place = place_of(document, place, layer, problem.attribute)
    elif callable(place):
        place = place()
    return Diagnostic(
        code=problem.rule.code,
        severity=problem.severity or problem.rule.severity,
        message=problem.message,
        file=document.file,
        help=problem.help() if callable(problem.help) else problem.help,
        attribute=problem.attribute,
        **place._asdict(),
    )


def place_of(
    document: Document, element: Element, layer: Element | None = None, attribute: str | None = None
) -> DocumentPlace:
    """Return the place of any element of the document: its line, and the layer, if none is given the one around it.

    `attribute`: of the element, if it alone is wrong; the columns are then its own, if the element has it.
    """
    line, columns = document.line(element), document.columns(element, attribute)
    if layer is None:
        layer = element if is_layer(element) else next(filter(is_layer, element.iterancestors("layer")), None)
    if layer is None:
        return DocumentPlace(line, None, None, None, *columns)
    name = layer.get("name")
    path = body_path(layer) + (name or "")
    return DocumentPlace(line, id_number(layer.get("id")), name and name[:MAX_NAME], path[:MAX_NAME], *columns)


def name_of(layer: Element) -> str:
    """Return the name of a layer as messages quote it."""
    return quoted(layer.get("name") or "")


def is_layer(element: Element) -> bool:
    """Return whether an element is a layer; without id and name it is another one that is misspelled."""
    return element.tag == "layer" and (element.get("id") is not None or element.get("name") is not None)


def body_path(element: Element) -> str:
    """Return the way to the body around an element, `Loop_3/body/`; empty in the main graph."""
    words: list[str] = []
    for body in element.iterancestors():
        outer = body.getparent()
        if outer is not None and outer.tag == "layer":
            words += [str(body.tag), outer.get("name") or ""]
    return "".join(f"{word}/" for word in reversed(words))
