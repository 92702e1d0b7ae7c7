"""An element is misspelled, or is in a place where the runtime does not look for it.

Why: the runtime reads past it silently; what is in it is lost.

Bad:
    <dat auto_broadcast="numpy" />

Good:
    <data auto_broadcast="numpy" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._elements import unknown_elements

__all__ = ["RULE"]

RULE = Rule("IR134", "unknown-element", Severity.ERROR, __doc__, unknown_elements)
