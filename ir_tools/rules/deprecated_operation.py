"""The operation is an old one, and another is meant to take its place.

Why: later opsets do not hold it any more, or runtimes drop it sooner than others.

Bad:
    <layer id="2" name="either" type="Xor" version="opset1">

Good:
    <layer id="2" name="either" type="LogicalXor" version="opset1">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR501", "deprecated-operation", Severity.INFO, __doc__, surveyed("deprecated-operation"))
