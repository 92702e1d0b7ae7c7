"""A layer lacks an attribute without which it has no meaning.

Why: the runtime refuses the layer, often without its name, or takes a value of its own, as it does for `exclude-pad`.

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
