"""The precision of a port is not an element type, or an output port has none.

Why: the runtime rejects such an output; of an input it reads no precision, and so its record says nothing.

Bad:
    <port id="1" precision="FP33" names="r">

Good:
    <port id="1" precision="FP32" names="r">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR114", "unknown-precision", Severity.ERROR, __doc__)
