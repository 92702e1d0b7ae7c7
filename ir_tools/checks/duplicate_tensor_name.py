"""Tensor names that several ports have."""

import re
from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.display import plural, quoted
from ir_tools.format.content import split_names
from ir_tools.format.nets import Net
from ir_tools.format.problems import ElementProblem, name_of
from ir_tools.rules.structure import DUPLICATE_TENSOR_NAME
from ir_tools.source import Element

__all__ = ["CHECK"]


REMEDY = "keep it at the port that programs ask for, and remove it from the other or rename it there"
NAMES = re.compile(rb" names=\"([^\"]*)")


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each graph, at the first port with a name that an earlier one has."""
    texts = NAMES.findall(file.document.text)
    all_found = len(texts) == file.document.text.count(b"names")
    if all_found and len(set(texts)) == len(texts) and not any(b"," in text for text in texts):
        return
    for net in file.nets:
        repeated = list(_repeated(net))
        for name, port, other in repeated[:1]:
            message = f"the tensor name '{quoted(name)}' already belongs to layer '{name_of(other)}'"
            more = f"; {plural(len(repeated) - 1, 'more name')} repeated" if len(repeated) > 1 else ""
            yield ElementProblem(DUPLICATE_TENSOR_NAME, port, message + more, REMEDY)


def _repeated(net: Net) -> Iterator[tuple[str, Element, Element]]:
    """Yield each name that an earlier port has: the name, the port, and the layer of the earlier one."""
    first: dict[str, tuple[Element, Element]] = {}
    for layer in net.layers.values():
        for port in layer.iterfind("output/port"):
            for name in dict.fromkeys(split_names(port.get("names") or "")):
                known = first.setdefault(name, (port, layer))
                if known[0] is not port:
                    yield name, port, known[1]


CHECK = Check(find, (DUPLICATE_TENSOR_NAME,))
