"""Two inputs of a layer, or two outputs, have the same id.

Why: an edge to that id means both; the runtime says "has incorrect input" or "node index is out of range".

Bad:
    <port id="0" precision="FP16">

Good:
    <port id="0" precision="FP32">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR112", "duplicate-port-id", Severity.ERROR, __doc__)
