"""The same edge exists twice.

Why: the runtime counts one input too many: "has incorrect input with index 1!".

Bad:
    <edge from-layer="1" from-port="1" to-layer="2" to-port="0" />
    <edge from-layer="1" from-port="1" to-layer="2" to-port="0" />

Good:
    <edge from-layer="1" from-port="1" to-layer="2" to-port="0" />
"""

from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile

__all__ = ["RULE"]


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for each edge that says what an earlier one said."""
    for net in file.nets:
        for edge in net.repeated:
            message = "the edge from layer {} port {} to layer {} port {} exists already".format(
                *(edge.get(name) for name in ("from-layer", "from-port", "to-layer", "to-port"))
            )
            yield Finding(file.place_of(edge, net.layer_at(edge)), message, "delete it")


RULE = Rule("IR125", "repeated-edge", Severity.ERROR, __doc__, check)
