"""Inputs of the model whose rank is unknown."""

from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile, data_of
from ir_tools.format.problems import ElementProblem
from ir_tools.ops import Role, role_of
from ir_tools.rules.compatibility import UNKNOWN_RANK_INPUT

__all__ = ["CHECK"]

UNKNOWN = {"...", "[...]"}


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each Parameter of the main graph."""
    for layer in file.model.graph.layers():
        if role_of(layer) is Role.PARAMETER and layer.common.raw.get("shape", "").strip() in UNKNOWN:
            message = "the input has an unknown rank, with which the CPU plugin cannot compile the model"
            remedy = "write its dimensions, with ? for unknown sizes, or set them with --set"
            yield ElementProblem(UNKNOWN_RANK_INPUT, data_of(layer), message, remedy, attribute="shape")


CHECK = Check(find, (UNKNOWN_RANK_INPUT,))
