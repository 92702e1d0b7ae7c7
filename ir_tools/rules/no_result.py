"""The model has no Result: nothing that it computes can be asked for.

Why: the runtime reads it, throws away every layer that no Result depends on, and computes nothing.

Bad:
    <layer id="2" name="abs" type="Abs" version="opset1">

Good:
    <layer id="2" name="result" type="Result" version="opset1">
"""

from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.format.nets import Net
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile

__all__ = ["RULE"]


ENDS = {"Result", "Assign"}


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for each graph; none where a layer without outputs may be a Result whose type is wrong."""
    for net in file.nets:
        if net.layers and not _has_end(net):
            words = "the body" if net.element.tag != "net" else "the model"
            yield Finding(file.place_of(net.element), f"{words} has no Result", "add one for each output")


def _has_end(net: Net) -> bool:
    layers = reversed(net.layers.values())
    return (
        net.unsure
        or bool(net.odd)
        or any(layer.get("type") in ENDS or layer.find("output") is None for layer in layers)
    )


RULE = Rule("IR137", "no-result", Severity.ERROR, __doc__, check)
