"""A layer is of no opset: an operation of a package, or of a time before opsets.

Why: nothing is known of its attributes, types and shapes, so none are checked; those in the file are believed.

Bad:
    <layer id="1" name="own" type="Own" version="extension">

Good:
    <layer id="1" name="own" type="ReLU" version="opset1">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR302", "unknown-shapes", Severity.INFO, __doc__, surveyed("unknown-shapes"))
