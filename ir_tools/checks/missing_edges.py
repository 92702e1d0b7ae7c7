"""Graphs without edges."""

from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.format.problems import ElementProblem
from ir_tools.rules.structure import MISSING_EDGES
from ir_tools.types import closest

__all__ = ["CHECK"]


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each graph of several inputs, unless a misspelled element may be the missing one.

    In legacy IR, the port map feeds the layers of a body, so that it may need no edges.
    """
    for net in file.nets[:1] if file.model.is_legacy else file.nets:
        edges = net.element.find("edges")
        if not net.inputs or (edges is not None and (len(edges) or sum(map(len, net.inputs.values())) == 1)):
            continue
        if edges is not None:
            yield ElementProblem(
                MISSING_EDGES, edges, "<edges> is empty, so no input is connected", "export the model again"
            )
        elif not any(closest(str(child.tag), ["edges"]) for child in net.element):
            message = f"<{net.element.tag}> has no <edges>, so no input is connected"
            yield ElementProblem(MISSING_EDGES, net.element, message, "export the model again")


CHECK = Check(find, (MISSING_EDGES,))
