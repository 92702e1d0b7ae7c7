"""A layer is an operation of a library: the runtime needs openvino-tokenizers to read the file.

Why: its attributes, types and shapes are not checked; those in the file are believed.

Bad:
    <layer id="1" name="own" type="CaseFold" version="extension">

Good:
    <layer id="1" name="own" type="ReLU" version="opset1">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR302", "unknown-shapes", Severity.INFO, __doc__, surveyed("unknown-shapes"))
