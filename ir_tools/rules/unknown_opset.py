"""The version of a layer is not an opset.

Why: the runtime compares the stamp letter by letter, and refuses a layer without one.

Bad:
    <layer id="1" name="pool" type="AvgPool" version="Opset1">

Good:
    <layer id="1" name="pool" type="AvgPool" version="opset1">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR202", "unknown-opset", Severity.ERROR, __doc__, surveyed("unknown-opset"))
