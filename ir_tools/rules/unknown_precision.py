"""The precision of a port is no element type, or an output port has none.

Why: the runtime rejects such an output; of an input it reads no precision, and so its record says nothing.

Bad:
    <port id="1" precision="FP33" names="r">

Good:
    <port id="1" precision="FP32" names="r">
"""

import re
from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile
from ir_tools.source import Element
from ir_tools.types import ELEMENT_TYPES, closest, precision_in_file

__all__ = ["RULE"]


WORDS = re.compile(rb"\bprecision=\"([^\"]*)\"")


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for each port."""
    if not _all_known(file):
        for net in file.nets:
            for layer in net.layers.values():
                for port in layer.iterfind("input/port"):
                    yield from _of_port(file, port, port.get("precision"), "FP32")
                for port in layer.iterfind("output/port"):
                    yield from _of_port(file, port, port.get("precision"), None)


def _all_known(file: IrFile) -> bool:
    """Whether one look at the bytes tells that every port has a precision that is known."""
    words = WORDS.findall(file.document.text) if file.usual.ports else []
    full = len(words) == file.document.text.count(b"<port")
    return full and all(precision_in_file(word.decode(errors="replace")) for word in set(words))


def _of_port(file: IrFile, port: Element, text: str | None, missing: str | None) -> Iterator[Finding]:
    """`missing`: the precision of a port that has none, where it needs none."""
    if text is None and missing is None:
        message = "an output port has no precision"
        yield Finding(file.place_of(port), message, 'write that of the tensor, as in precision="FP32"')
    elif text is not None and precision_in_file(text) is None:
        known = [kind.precision for kind in ELEMENT_TYPES.values()]
        meant = closest(text, known)
        remedy = f"did you mean {meant}?" if meant else f"write one of {', '.join(known)}"
        yield Finding(file.place_of(port), f"'{text[:40]}' is no precision", remedy)


RULE = Rule("IR114", "unknown-precision", Severity.ERROR, __doc__, check)
