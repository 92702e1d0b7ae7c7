"""A layer lacks an attribute that its specification requires, and the runtime takes a value of its own.

Why: other readers of the file take another value or refuse it, and nobody can tell what was meant.

Bad:
    <data ... pads_end="0, 0" auto_pad="explicit" ... />

Good:
    <data ... pads_end="0, 0" exclude-pad="true" auto_pad="explicit" ... />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR205", "assumed-attribute", Severity.WARNING, __doc__, surveyed("assumed-attribute"))
