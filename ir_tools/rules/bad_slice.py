"""A row of a port map cuts its tensor into no parts, unequal ones, or as many as no other row.

Why: the number of parts is how often the body runs. stride="0" and part_size="0" kill the runtime's process.

Bad:
    <input external_port_id="0" internal_layer_id="0" axis="1" part_size="0" />

Good:
    <input external_port_id="0" internal_layer_id="0" axis="1" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR149", "bad-slice", Severity.ERROR, __doc__, surveyed("bad-slice"))
