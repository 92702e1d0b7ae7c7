"""A layer is of no opset, and of no library of operations that is known.

Why: the runtime refuses the file unless the library is loaded. With `--extension LIB` this is a remark only: nothing is
known of the attributes, types and shapes of the layer.

Bad:
    <layer id="1" name="own" type="Own" version="extension">

Good:
    <layer id="1" name="own" type="ReLU" version="opset1">
"""

from collections.abc import Iterator
from dataclasses import replace

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for each layer; a remark if a library is named that may have the operation."""
    for finding in surveyed("unknown-extension")(file):
        yield replace(finding, severity=Severity.INFO, help=None) if file.extensions else finding


RULE = Rule("IR216", "unknown-extension", Severity.ERROR, __doc__, check)
