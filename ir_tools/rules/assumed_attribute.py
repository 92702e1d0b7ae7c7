"""A layer lacks an attribute that its specification requires, though nothing depends on it here.

Why: other readers of the file may refuse it.

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
