"""A layer has no name, type or version.

Why: the runtime needs all three; without one it says "missing mandatory attribute" and an offset in bytes.

Bad:
    <layer id="1" name="relu" version="opset1">

Good:
    <layer id="1" name="relu" type="ReLU" version="opset1">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR103", "missing-layer-attribute", Severity.ERROR, __doc__)
