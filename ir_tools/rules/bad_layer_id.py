"""The id of a layer is missing, or is not an integer from 0 to 2^63 - 1.

Why: edges name layers by id.

Bad:
    <layer id="1.0" name="relu" type="ReLU" version="opset1">

Good:
    <layer id="1" name="relu" type="ReLU" version="opset1">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR101", "bad-layer-id", Severity.ERROR, __doc__)
