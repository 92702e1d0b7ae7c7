"""The opset that a layer names does not hold its operation: not yet, or not any more.

Why: the runtime looks the operation up in that opset only, and refuses the file.

Bad:
    <layer id="1" name="soft" type="SoftPlus" version="opset3">

Good:
    <layer id="1" name="soft" type="SoftPlus" version="opset4">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR203", "operation-not-in-opset", Severity.ERROR, __doc__, surveyed("operation-not-in-opset"))
