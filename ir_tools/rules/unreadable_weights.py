"""The `.bin` is there and cannot be opened: it is a folder, or may not be read.

Why: the runtime says that it "cannot be found".
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR010", "unreadable-weights", Severity.ERROR, __doc__)
