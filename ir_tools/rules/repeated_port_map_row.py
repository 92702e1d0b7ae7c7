"""Two rows of a port map feed one Parameter, or give one output.

Why: each has one value; the runtime takes one of them silently.

Bad:
    <input external_port_id="0" internal_layer_id="0" axis="1" />
    <input external_port_id="0" internal_layer_id="0" axis="1" />

Good:
    <input external_port_id="0" internal_layer_id="0" axis="1" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR146", "repeated-port-map-row", Severity.ERROR, __doc__)
