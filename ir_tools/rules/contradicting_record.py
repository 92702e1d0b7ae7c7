"""A layer gives something else than the file records, for the layer and for all who read it.

Why: one of both is wrong: the attributes of the layer, or the dimensions of everything behind it.

Bad:
    <data kernel="2, 2" strides="1, 1" ... />

Good:
    <data kernel="2, 2" strides="2, 2" ... />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR305", "contradicting-record", Severity.ERROR, __doc__, surveyed("contradicting-record"))
