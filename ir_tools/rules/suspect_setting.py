"""A layer runs, but hardly as it was meant.

Why: the runtime does what is written silently, though nobody would write it on purpose.

Bad:
    <data strides="9, 9" ... />

Good:
    <data strides="3, 3" ... />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR401", "suspect-setting", Severity.WARNING, __doc__, surveyed("suspect-setting"))
