"""A layer has a body, or a table that ties one to it, and an operation that takes none.

Why: the runtime does not read it.

Bad:
    <then_port_map />

Good:
    <port_map>
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR142", "unexpected-body", Severity.WARNING, __doc__)
