"""A layer has a body, and no table that ties its ports to it.

Why: the body gets no input and its results go nowhere.

Bad:
    <back_edges />

Good:
    <port_map>
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR143", "missing-port-map", Severity.ERROR, __doc__)
