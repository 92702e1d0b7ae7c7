"""A layer gives a tensor that no memory holds.

Why: the runtime reads and compiles the model, and dies when it runs it.

Bad:
    <data shape="1,3,1048576,1048576" element_type="f32" />

Good:
    <data shape="1,3,1024,1024" element_type="f32" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR306", "huge-output", Severity.ERROR, __doc__, surveyed("huge-output"))
