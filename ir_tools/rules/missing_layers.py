"""There is no <layers>, or it is empty.

Why: the runtime reads a model without layers, and computes nothing.

Bad:
    <layers />

Good:
    <layers>
"""

from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile
from ir_tools.types import closest

__all__ = ["RULE"]


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for each graph; none where a misspelled element may be the one that is missing."""
    for net in file.nets:
        layers = net.element.find("layers")
        if layers is not None and not len(layers):
            what = "<layers> is empty"
            yield Finding(file.place_of(layers), what, "export the model again")
        elif layers is None and not any(closest(str(child.tag), ["layers"]) for child in net.element):
            yield Finding(file.place_of(net.element), f"<{net.element.tag}> has no <layers>", "export the model again")


RULE = Rule("IR131", "missing-layers", Severity.ERROR, __doc__, check)
