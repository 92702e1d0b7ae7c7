"""A Loop has no output of its body with the purpose execution_condition.

Why: nothing says whether it goes on; the runtime gives its outputs no shape and cannot compile it.

Bad:
    <port_map>

Good:
    <output external_port_id="-1" internal_layer_id="5" purpose="execution_condition" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR150", "missing-execution-condition", Severity.ERROR, __doc__)
