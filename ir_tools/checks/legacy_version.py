"""Files of IR v2 to v7, which releases since 2021 do not read."""

from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.format.problems import ElementProblem
from ir_tools.rules.storage import LEGACY_IR_VERSION, UNKNOWN_IR_VERSION

__all__ = ["CHECK"]


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for a legacy file; an error if its layers have opsets, which legacy IR does not know."""
    if not file.model.is_legacy:
        return
    root, says = file.document.root, f"this is IR v{file.model.version}"
    if any(layer.get("version") for layer in file.nets[0].layers.values()):
        message = f"{says} by its version, but its layers have opsets, which exist since IR v10"
        yield ElementProblem(UNKNOWN_IR_VERSION, root, message, 'write version="11" or version="10"')
    else:
        message = f"{says}, which no release since 2021 reads"
        yield ElementProblem(LEGACY_IR_VERSION, root, message, "ir-tools migrate converts it to IR v11")


CHECK = Check(find, (LEGACY_IR_VERSION, UNKNOWN_IR_VERSION))
