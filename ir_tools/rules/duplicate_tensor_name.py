"""Two output ports have the same tensor name.

Why: tensor names are how a program finds inputs and outputs; the runtime renames one of the two or finds the other.

Bad:
    <port id="1" precision="FP32" names="same">

Good:
    <port id="1" precision="FP32" names="other">
"""

import re
from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.format.content import split_names
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile
from ir_tools.source import Element

__all__ = ["RULE"]


NAMES = re.compile(rb"[ \t\r\n]names\s*=\s*[\"']([^\"']*)")


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for every port but the first of a name, in each graph."""
    texts = NAMES.findall(file.document.text)
    if len(set(texts)) == len(texts) and not any(b"," in text for text in texts):
        return
    for net in file.nets:
        first: dict[str, Element] = {}
        for layer in net.layers.values():
            for port in layer.iterfind("output/port"):
                for name in dict.fromkeys(split_names(port.get("names") or "")):
                    other = first.setdefault(name, layer)
                    if other is not layer or port.getparent() is not layer.find("output"):
                        message = f"the tensor name '{name}' belongs to layer '{other.get('name', '')}' already"
                        yield Finding(file.place_of(port), message, "take it from one of the two ports")


RULE = Rule("IR105", "duplicate-tensor-name", Severity.WARNING, __doc__, check)
