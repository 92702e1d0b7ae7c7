"""A layer has an attribute that another one makes meaningless.

Why: the runtime ignores it; whoever reads the file may not.

Bad:
    <data ... pads_begin="1, 1" pads_end="1, 1" ... auto_pad="valid" ... />

Good:
    <data ... pads_begin="0, 0" pads_end="0, 0" ... auto_pad="valid" ... />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR406", "ignored-attribute", Severity.WARNING, __doc__, surveyed("ignored-attribute"))
