"""Graphs without a Result, which legacy IR does not have."""

from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.format.nets import Net
from ir_tools.format.problems import ElementProblem
from ir_tools.rules.structure import NO_RESULT

__all__ = ["CHECK"]


ENDS = {"Result", "Assign"}


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each graph; none where a layer without outputs may be a Result whose type is wrong."""
    for net in () if file.model.is_legacy else file.nets:
        if net.layers and not _has_end(net):
            words = "the body" if net.element.tag != "net" else "the model"
            yield ElementProblem(NO_RESULT, net.element, f"{words} has no Result", "add a Result for each output")


def _has_end(net: Net) -> bool:
    layers = reversed(net.layers.values())
    return (
        net.has_unclear_ids
        or any(element.tag == "layers" for element in net.unusual)
        or any(layer.get("type") in ENDS or layer.find("output") is None for layer in layers)
    )


CHECK = Check(find, (NO_RESULT,))
