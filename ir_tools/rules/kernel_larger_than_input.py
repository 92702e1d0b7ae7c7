"""The window of a pooling does not fit into its padded input.

Why: the runtime refuses the layer.

Bad:
    <data kernel="9, 9" strides="2, 2" ... />

Good:
    <data kernel="8, 8" strides="2, 2" ... />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR402", "kernel-larger-than-input", Severity.ERROR, __doc__, surveyed("kernel-larger-than-input"))
