"""The text is not well-formed XML: tags that do not match, attributes twice, forbidden characters, a second root.

Why: the runtime's parser lets much of it pass, and reads something else than other tools do; what it rejects, it
rejects with an offset in bytes.

Bad:
    <port id="0" precision="FP32" precision="FP16">

Good:
    <port id="0" precision="FP32">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR002", "malformed-xml", Severity.ERROR, __doc__)
