"""The text of an attribute is not a value of its type.

Why: the runtime refuses it, or reads something else silently: `2.5` and `2abc` as 2, `no` as true.

Bad:
    <data kernel="2, 2" strides="2.5, 2" ... />

Good:
    <data kernel="2, 2" strides="2, 2" ... />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR207", "unreadable-attribute", Severity.ERROR, __doc__, surveyed("unreadable-attribute"))
