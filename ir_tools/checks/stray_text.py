"""Text between elements."""

import re
from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.elements import CHILDREN, NOTES
from ir_tools.checks.file import IrFile
from ir_tools.diagnostics import Severity
from ir_tools.format.problems import ElementProblem, place_of
from ir_tools.rules.structure import STRAY_TEXT
from ir_tools.source import Element

__all__ = ["CHECK"]


MARKUP = re.compile(r"=\s*[\"']|/?>")


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each element that holds text, at the text; elements that nobody reads may hold any."""
    if file.usual.texts:
        return
    for element in file.document.root.iter():
        tag = str(element.tag)
        if tag not in CHILDREN or next(element.iterancestors(*NOTES), None) is not None:
            continue
        texts = [("" if tag == "dim" else element.text, file.document.line(element))] if element.text else []
        texts += [(tail, _last_line(file, child)) for child in element if (tail := child.tail or "").strip()]
        for text, line in texts:
            words = (text or "").strip()
            if words:
                line += (text or "")[: (text or "").index(words[0])].count("\n")
                message = f"there is text in <{tag}>: '{words[:40]}'"
                place = place_of(file.document, element)._replace(line=line)
                if MARKUP.search(words):
                    yield ElementProblem(STRAY_TEXT, place, message, "an element lost its bracket: write <")
                else:
                    yield ElementProblem(STRAY_TEXT, place, message, "delete it", Severity.WARNING)


def _last_line(file: IrFile, element: Element) -> int:
    return file.document.line_at(file.document.span(element).end)


CHECK = Check(find, (STRAY_TEXT,))
