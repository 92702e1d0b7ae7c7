"""Elements or bodies are nested deeper than any model needs: more than 64 bodies inside each other.

Why: the runtime follows them by recursion and crashes when the stack is full.

Bad:
    <layer id="1" name="loop" type="TensorIterator" version="opset1">

Good:
    <layer id="1" name="relu" type="ReLU" version="opset1">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR005", "nested-too-deep", Severity.ERROR, __doc__)
