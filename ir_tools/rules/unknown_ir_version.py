"""The <net> has no version, one that is not a number, or one that no release reads.

Why: the version says how everything else is to be read; releases from 2022.1 on read 10 and 11, 2021 reads 10.

Bad:
    <net name="model" version="12">

Good:
    <net name="model" version="11">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR007", "unknown-ir-version", Severity.ERROR, __doc__)
