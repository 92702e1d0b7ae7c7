"""The file is an IR of version 2 to 7, as releases up to 2020 wrote them.

Why: no release from 2021 on reads it ("The support of IR v5 has been removed from the product").

Bad:
    <net name="model" version="7">

Good:
    <net name="model" version="11">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR008", "legacy-ir-version", Severity.ERROR, __doc__)
