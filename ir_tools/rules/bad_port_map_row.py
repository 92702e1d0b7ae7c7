"""A row of a port map lacks a number, or has one that cannot be read.

Why: the runtime rejects the file and gives an offset in bytes.

Bad:
    <input external_port_id="0" axis="1" />

Good:
    <input external_port_id="0" internal_layer_id="0" axis="1" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR144", "bad-port-map-row", Severity.ERROR, __doc__)
