"""An attribute that is true or false says something else.

Why: the runtime takes everything but `false` and `0` for true, `no` and `off` included.

Bad:
    <data ... exclude-pad="no" ... />

Good:
    <data ... exclude-pad="false" ... />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR208", "misread-attribute", Severity.WARNING, __doc__, surveyed("misread-attribute"))
