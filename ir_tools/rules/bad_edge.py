"""An edge has no from-layer, from-port, to-layer or to-port, or one that is not an integer.

Why: it leads from nowhere or to nowhere.

Bad:
    <edge from-layer="0" from_port="0" to-layer="1" to-port="0" />

Good:
    <edge from-layer="0" from-port="0" to-layer="1" to-port="0" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR121", "bad-edge", Severity.ERROR, __doc__)
