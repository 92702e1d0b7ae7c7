"""An element that may occur once occurs twice.

Why: the runtime reads the first one, and what is in the second is lost.

Bad:
    <data auto_broadcast="numpy" />
    <data auto_broadcast="none" />

Good:
    <data auto_broadcast="numpy" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._elements import repeated_elements

__all__ = ["RULE"]

RULE = Rule("IR133", "repeated-element", Severity.ERROR, __doc__, repeated_elements)
