"""A back edge does not lead from a Result of the body to a Parameter of it.

Why: it carries a value from one round to the next. The runtime rejects one from nowhere, and reads past one to nowhere:
every round then starts from the same value.

Bad:
    <edge from-layer="2" to-layer="9" />

Good:
    <edge from-layer="2" to-layer="0" />
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]

RULE = Rule("IR148", "bad-back-edge", Severity.ERROR, __doc__, surveyed("bad-back-edge"))
