"""Two edges from different ports lead to one input.

Why: an input has one value; the runtime counts one input too many and rejects the layer.

Bad:
    <edge from-layer="0" from-port="0" to-layer="2" to-port="0" />

Good:
    <edge from-layer="1" from-port="1" to-layer="2" to-port="0" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR123", "input-fed-twice", Severity.ERROR, __doc__)
