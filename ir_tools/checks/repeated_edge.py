"""Edges that exist twice."""

from collections.abc import Iterator
from functools import partial

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.format.nets import EdgeState
from ir_tools.format.problems import ElementProblem
from ir_tools.rules.structure import REPEATED_EDGE

__all__ = ["CHECK"]


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each edge that says what an earlier one said."""
    for net in file.nets:
        for edge in (edge.element for edge in net.left_out if edge.state is EdgeState.REPEATED):
            message = "the edge from layer {} port {} to layer {} port {} exists already".format(
                *(edge.get(name) for name in ("from-layer", "from-port", "to-layer", "to-port"))
            )
            yield ElementProblem(REPEATED_EDGE, edge, message, "delete it", layer=partial(net.layer_at, edge))


CHECK = Check(find, (REPEATED_EDGE,))
