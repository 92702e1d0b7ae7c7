"""The pads of an average pooling that does not count padding are as large as its window.

Why: some windows would lie in the padding wholly and average nothing; the runtime refuses the layer.

Bad:
    <data ... pads_begin="2, 2" pads_end="0, 0" exclude-pad="true" ... />

Good:
    <data ... pads_begin="1, 1" pads_end="1, 1" exclude-pad="true" ... />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR403", "pads-cover-kernel", Severity.ERROR, __doc__, surveyed("pads-cover-kernel"))
