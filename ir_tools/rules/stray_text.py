"""There is text where only elements belong.

Why: the runtime reads past it; it is left over from an edit, or an element lost its brackets.

Bad:
    <layers> left over

Good:
    <layers>
"""

import re
from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._elements import CHILDREN, NOTES
from ir_tools.rules._file import IrFile
from ir_tools.source import Element

__all__ = ["RULE"]


MARKUP = re.compile(r"=\s*[\"']|/?>")


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for each element that holds text, at the text; elements that nobody reads may hold any."""
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
                place = file.place_of(element)._replace(line=line)
                if MARKUP.search(words):
                    yield Finding(place, message, "an element lost its bracket: write <")
                else:
                    yield Finding(place, message, "delete it", Severity.WARNING)


def _last_line(file: IrFile, element: Element) -> int:
    return file.document.line_at(file.document.span(element).end)


RULE = Rule("IR135", "stray-text", Severity.ERROR, __doc__, check)
