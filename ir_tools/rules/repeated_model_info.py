"""An entry of the model's rt_info occurs twice.

Why: the runtime keeps one of the two.

Bad:
    <framework value="onnx" />
    <framework value="pytorch" />

Good:
    <framework value="onnx" />
"""

from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile

__all__ = ["RULE"]


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for every second entry."""
    info = file.document.root.find("rt_info")
    seen: set[str] = set()
    for entry in () if info is None else info:
        tag = str(entry.tag)
        if tag in seen and tag != "info":
            yield Finding(file.place_of(entry), f"there is an entry <{tag}> already", "delete one of the two")
        seen.add(tag)


RULE = Rule("IR162", "repeated-model-info", Severity.WARNING, __doc__, check)
