"""Text between elements."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile, notes_read
from ir_tools.diagnostics import Severity
from ir_tools.format.problems import MAX_IN_ELEMENT, DocumentPlace, ElementProblem, place_of
from ir_tools.rules.structure import STRAY_TEXT
from ir_tools.source import Document, Element
from ir_tools.source.grammar import GRAMMAR, NOTES

__all__ = ["CHECK"]

MARKUP = re.compile(r"=\s*[\"']|/?>")


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each text, at its place; elements that nobody reads may hold any, but not beside others."""
    if file.usual.texts:
        return
    notes = notes_read(file)
    mixed = (info for info in file.document.root.iter("rt_info") if len(info))
    for element in chain(file.document.root.iter(*GRAMMAR), () if notes is None else (notes,), mixed):
        texts = list(_texts(element))
        if not texts or next(element.iterancestors(*NOTES), None) is not None:
            continue
        for text, child in texts[:MAX_IN_ELEMENT]:
            words = text.strip()
            message = f"<{element.tag}> contains text: '{words[:40]}'"
            place = partial(_place, file.document, element, child, text[: text.index(words[0])].count("\n"))
            if MARKUP.search(words):
                yield ElementProblem(STRAY_TEXT, place, message, "write the missing < of the element")
            elif element is notes:
                yield ElementProblem(STRAY_TEXT, place, f"{message}; the runtime refuses the file", "delete it")
            else:
                yield ElementProblem(STRAY_TEXT, place, message, "delete it", Severity.WARNING)
        if len(texts) > MAX_IN_ELEMENT:
            message = f"<{element.tag}> contains {len(texts)} pieces of text; the first {MAX_IN_ELEMENT} are listed"
            yield ElementProblem(STRAY_TEXT, element, message, None, Severity.WARNING)


def _texts(element: Element) -> Iterator[tuple[str, Element | None]]:
    """Yield the texts between the elements in one, each with the child that it follows."""
    if element.text and element.tag != "dim" and not element.text.isspace():
        yield element.text, None
    for child in element:
        tail = child.tail
        if tail and not tail.isspace():
            yield tail, child


def _place(document: Document, element: Element, child: Element | None, lines: int) -> DocumentPlace:
    """Return the place of a text in an element, so many lines after its start or the end of its child."""
    start = document.line(element) if child is None else document.line_at(document.span(child).end)
    return place_of(document, element)._replace(line=start + lines)


CHECK = Check(find, (STRAY_TEXT,))
