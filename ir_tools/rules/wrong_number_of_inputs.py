"""A layer has more or fewer inputs than its operation takes.

Why: the runtime refuses the file, mostly by a number that is out of some range and without the layer.

Bad:
    <layer id="1" name="relu" type="ReLU" version="opset1">
    <input>
    <port id="0" precision="FP32">
    <port id="1" precision="FP32">
    </input>

Good:
    <layer id="1" name="relu" type="ReLU" version="opset1">
    <input>
    <port id="0" precision="FP32">
    </input>
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR209", "wrong-number-of-inputs", Severity.ERROR, __doc__, surveyed("wrong-number-of-inputs"))
