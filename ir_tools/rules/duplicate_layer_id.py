"""Two layers of one graph have the same id.

Why: edges name layers by id; the runtime silently joins such layers and computes something else.

Bad:
    <layer id="3" name="abs" type="Abs" version="opset1">
    <layer id="3" name="relu" type="ReLU" version="opset1">

Good:
    <layer id="3" name="abs" type="Abs" version="opset1">
    <layer id="4" name="relu" type="ReLU" version="opset1">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]


RULE = Rule("IR102", "duplicate-layer-id", Severity.ERROR, __doc__)
