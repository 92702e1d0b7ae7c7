"""An attribute of rt_info has no name or version, stands there twice, or has a value that cannot be read.

Why: the runtime knows them by name and version, and takes one of two. It rejects the file for a layout, an order of
dimensions or an element type that it cannot read.

Bad:
    <attribute name="layout" version="0" layout="[N," />

Good:
    <attribute name="layout" version="0" layout="[N,C,H,W]" />
"""

import re
from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile
from ir_tools.source import Element
from ir_tools.types import type_in_file

__all__ = ["RULE"]


LAYOUT = re.compile(r"\s*(?:\[\s*(?:[A-Za-z0-9_?.]+\s*(?:,\s*[A-Za-z0-9_?.]+\s*)*)?\]|[A-Za-z0-9?.]*)\s*")
NUMBERS = re.compile(r"\s*-?\d+\s*(?:,\s*-?\d+\s*)*")


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for each attribute; only rt_info of layers and ports is read."""
    of_model = sum(1 for _ in file.document.root.iterchildren("rt_info"))
    if file.document.plain and file.document.text.count(b"<rt_info") == of_model:
        return
    for info in file.document.root.iter("rt_info"):
        if next(info.iterancestors("layer"), None) is not None and len(info):
            seen: set[tuple[str, str]] = set()
            for attribute in info.iterchildren("attribute"):
                for message, remedy in _faults(attribute, seen):
                    yield Finding(file.place_of(attribute), message, remedy)


def _faults(attribute: Element, seen: set[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    name, version = attribute.get("name"), attribute.get("version")
    if not name:
        yield "an attribute of rt_info has no name: it is lost", "name it, or delete it"
        return
    if version is None:
        yield f"the attribute '{name}' of rt_info has no version: it is lost", 'write version="0"'
        return
    if (name, version) in seen:
        yield f"there is an attribute '{name}' in this rt_info already", "delete one of the two"
    seen.add((name, version))
    layout, value = attribute.get("layout"), attribute.get("value")
    if name == "layout" and layout is not None and not LAYOUT.fullmatch(layout):
        yield f"'{layout[:60]}' is no layout", 'write one as in layout="[N,C,H,W]"'
    elif name == "layout" and (twice := _twice(layout or "")):
        yield f"the layout {layout} has a dimension {twice} twice", "name every dimension once, or write ?"
    elif name == "old_api_map_order" and value and not NUMBERS.fullmatch(value):
        yield f"'{value[:60]}' is no order of dimensions", "write whole numbers with commas between them"
    elif name == "old_api_map_element_type" and value is not None and type_in_file(value) is None:
        yield f"'{value[:60]}' is no element type", 'write one as in value="f16"'


def _twice(layout: str) -> str | None:
    """The name that a layout gives to two dimensions, whatever its case; `?` may come any number of times."""
    inner = layout.strip()
    names = inner[1:-1].split(",") if inner.startswith("[") else list(inner)
    words = [name.strip().upper() for name in names]
    return next((word for word in words if words.count(word) > 1 and word not in {"?", "."}), None)


RULE = Rule("IR161", "bad-rt-info", Severity.ERROR, __doc__, check)
