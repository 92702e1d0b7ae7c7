"""A layer lacks an attribute without which it has no meaning, or says it under a name that the runtime does not read.

Why: the runtime refuses the layer, often without its name, or computes with another value than the one that is written.

Bad:
    <data kernel="2, 2" pads_begin="0, 0" ... />

Good:
    <data kernel="2, 2" strides="2, 2" pads_begin="0, 0" ... />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR204", "missing-attribute", Severity.ERROR, __doc__, surveyed("missing-attribute"))
