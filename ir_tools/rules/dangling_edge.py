"""An edge leads to or from a layer or a port that is not there.

Why: what it carries comes from nowhere or is lost; the runtime rejects most of them, and reads past an edge to a layer
that is not there.

Bad:
    <edge from-layer="1" from-port="7" to-layer="2" to-port="0" />

Good:
    <edge from-layer="1" from-port="1" to-layer="2" to-port="0" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR122", "dangling-edge", Severity.ERROR, __doc__)
