"""A layer has an attribute that its operation does not have.

Why: the runtime drops it silently: a misspelled attribute leaves the default in its place.

Bad:
    <data ... auto-pad="valid" ... />

Good:
    <data ... auto_pad="valid" ... />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR206", "unknown-attribute", Severity.WARNING, __doc__, surveyed("unknown-attribute"))
