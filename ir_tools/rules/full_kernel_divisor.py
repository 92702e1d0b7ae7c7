"""The last window of an average pooling reaches beyond the padding, and the padding counts.

Why: the runtime divides such a window by the whole kernel; ONNX and PyTorch divide by what of it lies in the padded
input.

Bad:
    <data kernel="3, 3" strides="2, 2" ... exclude-pad="false" ... rounding_type="ceil" />

Good:
    <data kernel="3, 3" strides="2, 2" ... exclude-pad="true" ... rounding_type="ceil" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR405", "full-kernel-divisor", Severity.WARNING, __doc__, surveyed("full-kernel-divisor"))
