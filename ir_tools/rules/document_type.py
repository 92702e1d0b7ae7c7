"""There is a DOCTYPE.

Why: IR has no document type, and what one may do (entities that grow without end, files of this machine that are read
into the model) has no place in the files of strangers.

Bad:
    <!DOCTYPE net [<!ENTITY size "8">]>

Good:
    <net name="model" version="11">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR004", "document-type", Severity.ERROR, __doc__)
