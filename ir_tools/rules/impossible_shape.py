"""A layer cannot take inputs of these shapes.

Why: the runtime refuses the model when it reads it, often without the layer's name.

Bad:
    <data shape="1,3,8,7" element_type="f32" />

Good:
    <data shape="1,3,8,8" element_type="f32" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR301", "impossible-shape", Severity.ERROR, __doc__, surveyed("impossible-shape"))
