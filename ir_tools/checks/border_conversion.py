"""Inputs and outputs that the runtime shows with another element type than the file."""

from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.display import some
from ir_tools.format.problems import ElementProblem
from ir_tools.graph import Endpoint
from ir_tools.releases.table import PARAMETERS_OF_10, RESULTS_OF_10
from ir_tools.rules.compatibility import BORDER_CONVERSION
from ir_tools.types import precision_in_file

__all__ = ["CHECK"]

REMEDY = "pass arrays of these types; ir-tools migrate --to ir11 writes a file that records them"


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for the file, with every input and output that changes."""
    model = file.model
    if model.version != 10:
        return
    shown = [
        *_shown("input", model.inputs, PARAMETERS_OF_10, file),
        *_shown("output", model.outputs, RESULTS_OF_10, file),
    ]
    if shown:
        message = f"the file is IR v10, for which the runtime exposes {some(shown, 5)}"
        yield ElementProblem(BORDER_CONVERSION, file.document.root, message, REMEDY)


def _shown(side: str, ends: list[Endpoint], table: dict[str, str], file: IrFile) -> Iterator[str]:
    for end in ends:
        port = end.record
        for source in file.model.graph.sources(end.layer.id).values():
            port = file.model.graph.layer(source.layer).port(source.port)
        kind = precision_in_file(port.precision or "")
        if kind is not None and kind.name in table:
            yield f"{side} '{end.name}' ({kind}) as {table[kind.name]}"


CHECK = Check(find, (BORDER_CONVERSION,))
