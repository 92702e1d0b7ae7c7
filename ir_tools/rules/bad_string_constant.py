"""The bytes of a string constant are not laid out as strings, or are not as many as the shape says.

Why: they are a table (how many, where each begins, where the last ends) and the text; a table that is wrong leads out
of the constant.

Bad:
    <data element_type="string" shape="2" offset="0" size="10" />

Good:
    <data element_type="f32" shape="1" offset="0" size="4" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._constants import constants
from ir_tools.rules._define import Rule
from ir_tools.rules._groups import part_of

__all__ = ["RULE"]

RULE = Rule("IR017", "bad-string-constant", Severity.ERROR, __doc__, part_of(constants, "bad-string-constant"))
