"""No row of the port map feeds a Parameter of the body, takes its Result, or gives an output of the layer.

Why: a Parameter without a value cannot be computed with, and an output that nothing gives has no shape. A Result that
neither a row nor a back edge takes is a warning: the runtime computes it in vain.

Bad:
    <layer id="0" name="slice" type="Parameter" version="opset1">

Good:
    <input external_port_id="0" internal_layer_id="0" axis="1" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR147", "unmapped-port", Severity.ERROR, __doc__)
