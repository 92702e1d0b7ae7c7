"""A Const names bytes that lie beyond the end of the `.bin`.

Why: the file was cut off, belongs to another model, or the offset is wrong; the runtime says "Incorrect weights in bin
file!" and names no layer.

Bad:
    <data element_type="f32" shape="1" offset="8" size="4" />

Good:
    <data element_type="f32" shape="1" offset="0" size="4" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR012", "constant-outside-weights", Severity.ERROR, __doc__)
