"""A <dim> holds something else than an integer.

Why: the runtime reads 3.5 as 3 and `4 4` as 4 silently, and rejects a text, an empty one, and all below -1.

Bad:
    <dim>3.5</dim>

Good:
    <dim>8</dim>
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR113", "bad-dimension", Severity.ERROR, __doc__)
