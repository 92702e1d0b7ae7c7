"""An attribute of a Const is missing or cannot be read: element_type, shape, offset or size.

Why: its value is not known. The runtime reads integers without a sign; of 1.5 in a shape it silently takes the 1.

Bad:
    <data element_type="f33" shape="1" offset="0" size="4" />

Good:
    <data element_type="f32" shape="1" offset="0" size="4" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR014", "bad-constant", Severity.ERROR, __doc__)
