"""A layer has more outputs than its operation gives.

Why: the runtime refuses the file with a number that is out of some range and without the layer.

Bad:
    <layer id="1" name="relu" type="ReLU" version="opset1">
    <output>
    <port id="1" precision="FP32">
    <port id="2" precision="FP32">
    </output>

Good:
    <layer id="1" name="relu" type="ReLU" version="opset1">
    <output>
    <port id="1" precision="FP32">
    </output>
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR210", "wrong-number-of-outputs", Severity.ERROR, __doc__, surveyed("wrong-number-of-outputs"))
