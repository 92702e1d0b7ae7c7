"""An input has an element type that the operation does not take, or another one than the input beside it.

Why: the runtime refuses the layer when it reads or compiles the model.

Bad:
    <layer id="1" name="both" type="LogicalAnd" version="opset1">
    ...
    <input>
    <port id="0" precision="FP32">

Good:
    <layer id="1" name="both" type="LogicalAnd" version="opset1">
    ...
    <input>
    <port id="0" precision="BOOL">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR211", "wrong-element-type", Severity.ERROR, __doc__, surveyed("wrong-element-type"))
