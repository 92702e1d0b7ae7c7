"""A layer of type TensorIterator, Loop or If has no body.

Why: there is nothing to compute; the runtime says "TensorIterator has no body", whatever the type.

Bad:
    <body />

Good:
    <body>
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR141", "missing-body", Severity.ERROR, __doc__)
