"""The type of a layer is not one of OpenVINO's operations.

Why: the runtime knows no such layer and refuses the file, or, for a misspelled `Result`, loses the output without a
word.

Bad:
    <layer id="1" name="pool" type="AvgPol" version="opset1">

Good:
    <layer id="1" name="pool" type="AvgPool" version="opset1">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR201", "unknown-operation", Severity.ERROR, __doc__, surveyed("unknown-operation"))
