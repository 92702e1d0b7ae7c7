"""There is no such file, it is a folder, or it may not be read.

Why: nothing can be said about it.
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR001", "unreadable-file", Severity.ERROR, __doc__)
