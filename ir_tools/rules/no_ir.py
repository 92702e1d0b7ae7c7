"""The root element is not <net>.

Why: the file is not an IR, or was wrapped by another tool.

Bad:
    <model name="model" version="11">

Good:
    <net name="model" version="11">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR006", "no-ir", Severity.ERROR, __doc__)
