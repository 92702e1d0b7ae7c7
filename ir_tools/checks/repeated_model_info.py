"""Entries in the rt_info of the model that exist twice."""

from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.format.problems import ElementProblem
from ir_tools.rules.structure import REPEATED_MODEL_INFO

__all__ = ["CHECK"]


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for every second entry."""
    info = file.document.root.find("rt_info")
    seen: set[str] = set()
    for entry in () if info is None else info:
        tag = str(entry.tag)
        if tag in seen and tag != "info":
            yield ElementProblem(
                REPEATED_MODEL_INFO, entry, f"rt_info already has an entry <{tag}>", "delete one of the two"
            )
        seen.add(tag)


CHECK = Check(find, (REPEATED_MODEL_INFO,))
