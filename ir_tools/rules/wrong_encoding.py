"""The bytes are not text in the encoding of the file, or that encoding is not known.

Why: names come out wrong, and tools disagree about them; a bare byte 0xff in a name makes the runtime fail later, when
somebody asks for that name.

Bad:
    <?xml version="1.0" encoding="klingon"?>

Good:
    <?xml version="1.0" encoding="utf-8"?>
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR003", "wrong-encoding", Severity.ERROR, __doc__)
