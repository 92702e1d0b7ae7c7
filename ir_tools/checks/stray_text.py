"""Text between elements."""

import re
from collections.abc import Iterator
from functools import partial

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.diagnostics import Severity
from ir_tools.format.problems import ElementProblem, Place, place_of
from ir_tools.rules.structure import STRAY_TEXT
from ir_tools.source import Document, Element
from ir_tools.source.grammar import GRAMMAR, NOTES

__all__ = ["CHECK"]


MARKUP = re.compile(r"=\s*[\"']|/?>")


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each element that holds text, at the text; elements that nobody reads may hold any."""
    if file.usual.texts:
        return
    for element in file.document.root.iter():
        tag = str(element.tag)
        if tag not in GRAMMAR or next(element.iterancestors(*NOTES), None) is not None:
            continue
        before = [] if tag == "dim" or not element.text else [(element.text, None)]
        for text, child in before + [(tail, child) for child in element if (tail := child.tail)]:
            words = text.strip()
            if words:
                message = f"there is text in <{tag}>: '{words[:40]}'"
                place = partial(_place, file.document, element, child, text[: text.index(words[0])].count("\n"))
                if MARKUP.search(words):
                    yield ElementProblem(STRAY_TEXT, place, message, "an element lost its bracket: write <")
                else:
                    yield ElementProblem(STRAY_TEXT, place, message, "delete it", Severity.WARNING)


def _place(document: Document, element: Element, child: Element | None, lines: int) -> Place:
    """Return the place of a text in an element, so many lines after its start or the end of its child."""
    start = document.line(element) if child is None else document.line_at(document.span(child).end)
    return place_of(document, element)._replace(line=start + lines)


CHECK = Check(find, (STRAY_TEXT,))
