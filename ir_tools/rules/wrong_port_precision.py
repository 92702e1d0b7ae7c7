"""A port records an element type that its tensor does not have.

Why: the runtime recomputes it and never reads this one; other readers of the file, and people, believe it.

Bad:
    <port id="0" precision="I64">

Good:
    <port id="0" precision="FP32">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR304", "wrong-port-precision", Severity.ERROR, __doc__, surveyed("wrong-port-precision"))
