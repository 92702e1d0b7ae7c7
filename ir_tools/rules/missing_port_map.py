"""A layer has a body, and no table that ties its ports to it.

Why: the body gets no input and its results go nowhere.

Bad:
    <back_edges />

Good:
    <port_map>
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._bodies import bodies
from ir_tools.rules._define import Rule
from ir_tools.rules._groups import part_of

__all__ = ["RULE"]

RULE = Rule("IR143", "missing-port-map", Severity.ERROR, __doc__, part_of(bodies, "missing-port-map"))
