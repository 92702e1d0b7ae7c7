"""The size of a Const is not what its shape and element type take.

Why: the runtime rejects a size that is too small; one that is too large it accepts, and uses the first bytes only.

Bad:
    <data element_type="f32" shape="1" offset="0" size="8" />

Good:
    <data element_type="f32" shape="1" offset="0" size="4" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR013", "wrong-constant-size", Severity.ERROR, __doc__)
