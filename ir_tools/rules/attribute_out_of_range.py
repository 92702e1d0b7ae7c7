"""An attribute has a value, or a number of values, that the operation does not allow.

Why: the runtime refuses the layer, crashes on it, or computes something that nobody defined.

Bad:
    <data stride="0" />

Good:
    <data stride="2" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR208", "attribute-out-of-range", Severity.ERROR, __doc__, surveyed("attribute-out-of-range"))
