"""A row of a port map names a port that the layer lacks, or a layer of the body that is not a Parameter or Result.

Why: inputs go to Parameters, outputs come from Results. The runtime says "unordered_map::at"; an output port that is
not there it accepts, and counts. Of an input it takes the id as its number. The current iteration of a Loop comes from
no port (`external_port_id="-1"`).

Bad:
    <output external_port_id="9" internal_layer_id="2" axis="1" />

Good:
    <output external_port_id="1" internal_layer_id="2" axis="1" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR145", "wrong-port-map-row", Severity.ERROR, __doc__, surveyed("wrong-port-map-row"))
