"""The bytes of a string constant are not laid out as strings, or are not as many as the shape says.

Why: they are a table (how many, where each begins, where the last ends) and the text; a table that is wrong leads out
of the constant.

Bad:
    <data element_type="string" shape="3" offset="0" size="21" />

Good:
    <data element_type="string" shape="2" offset="0" size="21" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR017", "bad-string-constant", Severity.ERROR, __doc__)
