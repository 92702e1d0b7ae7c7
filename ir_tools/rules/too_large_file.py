"""The `.xml` has more than 1 GiB.

Why: a model of a million layers has half of it; what is larger is not a model.
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR015", "too-large-file", Severity.ERROR, __doc__)
