"""Layers feed each other in a circle.

Why: none of them can be computed first; the runtime says "Attempt to access node that not in graph".

Bad:
    <edge from-layer="1" from-port="1" to-layer="1" to-port="0" />

Good:
    <edge from-layer="0" from-port="0" to-layer="1" to-port="0" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR124", "circular-layers", Severity.ERROR, __doc__)
