"""A port records dimensions that its tensor does not have.

Why: the runtime computes its own and never looks at these; other readers of the file, and people, believe them.

Bad:
    <dim>9</dim>

Good:
    <layer id="2" name="relu" type="ReLU" version="opset1">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR303", "wrong-port-shape", Severity.ERROR, __doc__, surveyed("wrong-port-shape"))
