"""A layer lacks an attribute that its specification requires, and the runtime takes a value of its own.

Why: the specification has no such value, so that other readers of the file may refuse it or take another one.

Bad:
    <data ... pads_begin="0, 0" exclude-pad="true" auto_pad="valid" ... />

Good:
    <data ... pads_begin="0, 0" pads_end="0, 0" exclude-pad="true" auto_pad="valid" ... />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR205", "assumed-attribute", Severity.WARNING, __doc__, surveyed("assumed-attribute"))
