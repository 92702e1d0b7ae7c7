"""The id of a port is missing, or is not an integer from 0 to 2^63 - 1.

Why: edges name ports by id.

Bad:
    <port id="one" precision="FP32" names="r">

Good:
    <port id="1" precision="FP32" names="r">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR111", "bad-port-id", Severity.ERROR, __doc__)
