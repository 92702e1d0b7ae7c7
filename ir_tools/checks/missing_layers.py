"""Graphs without layers."""

from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.format.problems import ElementProblem
from ir_tools.rules.structure import MISSING_LAYERS
from ir_tools.types import closest

__all__ = ["CHECK"]


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each graph; none where a misspelled element may be the one that is missing."""
    for net in file.nets:
        layers = net.element.find("layers")
        if layers is not None and not len(layers):
            what = "<layers> is empty"
            yield ElementProblem(MISSING_LAYERS, layers, what, "export the model again")
        elif layers is None and not any(closest(str(child.tag), ["layers"]) for child in net.element):
            yield ElementProblem(
                MISSING_LAYERS, net.element, f"<{net.element.tag}> has no <layers>", "export the model again"
            )


CHECK = Check(find, (MISSING_LAYERS,))
