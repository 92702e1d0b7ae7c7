"""A setting crashes the runtime, hangs it, or exhausts memory.

Why: the process dies with whatever else runs in it; AvgPool of opset16 without `dilations` is such a case.

Bad:
    <layer id="1" name="pool" type="AvgPool" version="opset16">
    <data kernel="2, 2" ... rounding_type="floor" />

Good:
    <layer id="1" name="pool" type="AvgPool" version="opset16">
    <data kernel="2, 2" ... rounding_type="floor" dilations="1, 1" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR213", "fatal-setting", Severity.ERROR, __doc__, surveyed("fatal-setting"))
