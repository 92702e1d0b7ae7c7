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
from ir_tools.format.nets import Net
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile
from ir_tools.source import Element

__all__ = ["RULE"]


NAMES = re.compile(rb" names=\"([^\"]*)")


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for each graph, at the first port with a name that an earlier one has; converters repeat many."""
    texts = NAMES.findall(file.document.text)
    all_found = len(texts) == file.document.text.count(b"names")
    if all_found and len(set(texts)) == len(texts) and not any(b"," in text for text in texts):
        return
    for net in file.nets:
        repeated = list(_repeated(net))
        for name, port, other in repeated[:1]:
            message = f"the tensor name '{name}' belongs to layer '{other.get('name', '')}' already"
            more = f"; {len(repeated) - 1} more names are repeated" if len(repeated) > 1 else ""
            yield Finding(file.place_of(port), message + more, "take it from one of the two ports")


def _repeated(net: Net) -> Iterator[tuple[str, Element, Element]]:
    """Each name that an earlier port has: the name, the port, and the layer of the earlier one."""
    first: dict[str, tuple[Element, Element]] = {}
    for layer in net.layers.values():
        for port in layer.iterfind("output/port"):
            for name in dict.fromkeys(split_names(port.get("names") or "")):
                known = first.setdefault(name, (port, layer))
                if known[0] is not port:
                    yield name, port, known[1]


RULE = Rule("IR105", "duplicate-tensor-name", Severity.WARNING, __doc__, check)
