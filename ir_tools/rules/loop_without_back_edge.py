"""A Loop or TensorIterator lacks a back edge, so that its iterations do not add up to anything.

Why: every iteration begins with the same values. That is as intended if each reads another slice and all outputs are
joined, or if a Loop ends at the first hit; otherwise all iterations but the last are in vain.

Bad:
    <back_edges />

Good:
    <back_edges>
    <edge from-layer="2" to-layer="0" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR151", "loop-without-back-edge", Severity.WARNING, __doc__)
