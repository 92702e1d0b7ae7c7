"""A pooling has windows that lie in the padding wholly.

Why: what they give is arbitrary, and differs between versions of the runtime and devices.

Bad:
    <data kernel="1, 1" strides="3, 3" ... rounding_type="ceil" />

Good:
    <data kernel="1, 1" strides="3, 3" ... rounding_type="floor" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR404", "window-in-padding", Severity.WARNING, __doc__, surveyed("window-in-padding"))
