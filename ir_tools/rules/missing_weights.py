"""Constants have bytes in the `.bin`, and there is none.

Why: the values are not known; the runtime says "Empty weights data in bin file or bin file cannot be found!".

Bad:
    <data element_type="f32" shape="1" offset="0" size="4" />

Good:
    <data auto_broadcast="numpy" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR011", "missing-weights", Severity.ERROR, __doc__)
