"""The file is empty, or holds nothing but blanks.

Why: it was cut off, or never written.

Bad:

Good:
    <net name="model" version="11">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR009", "empty-file", Severity.ERROR, __doc__)
