"""There is no <edges>, or it is empty, and layers have inputs.

Why: nothing feeds any layer; the runtime says "Argument has 0 outputs (1 expected)".

Bad:
    <edges />

Good:
    <edges>
"""

from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile
from ir_tools.types import closest

__all__ = ["RULE"]


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for each graph of several inputs; none where a misspelled element may be the one that is missing."""
    for net in file.nets:
        edges = net.element.find("edges")
        if not net.inputs or (edges is not None and (len(edges) or sum(map(len, net.inputs.values())) == 1)):
            continue
        if edges is not None:
            yield Finding(file.place_of(edges), "<edges> is empty: nothing feeds any layer", "export the model again")
        elif not any(closest(str(child.tag), ["edges"]) for child in net.element):
            message = f"<{net.element.tag}> has no <edges>: nothing feeds any layer"
            yield Finding(file.place_of(net.element), message, "export the model again")


RULE = Rule("IR132", "missing-edges", Severity.ERROR, __doc__, check)
