"""A row of a port map lacks a number, or has one that cannot be read.

Why: the runtime rejects the file and gives an offset in bytes.

Bad:
    <input external_port_id="0" axis="1" />

Good:
    <input external_port_id="0" internal_layer_id="0" axis="1" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._bodies import bodies
from ir_tools.rules._define import Rule
from ir_tools.rules._groups import part_of

__all__ = ["RULE"]

RULE = Rule("IR144", "bad-port-map-row", Severity.ERROR, __doc__, part_of(bodies, "bad-port-map-row"))
