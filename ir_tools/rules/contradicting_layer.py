"""The attributes and inputs of a layer contradict each other.

Why: the runtime refuses the layer, or computes something that nobody defined.

Bad:
    <data kernel="2, 2" strides="2" ... />

Good:
    <data kernel="2, 2" strides="2, 2" ... />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR212", "contradicting-layer", Severity.ERROR, __doc__, surveyed("contradicting-layer"))
