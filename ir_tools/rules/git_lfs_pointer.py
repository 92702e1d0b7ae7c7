"""The `.xml` or the `.bin` is a pointer of Git LFS, not the file itself.

Why: the repository was cloned without Git LFS, or large files were left out. The runtime does not say so: it calls the
format of the `.xml` unknown and the `.bin` too short.

Bad:
    version https://git-lfs.github.com/spec/v1

Good:
    <net name="model" version="11">
"""

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Rule

__all__ = ["RULE"]

RULE = Rule("IR021", "git-lfs-pointer", Severity.ERROR, __doc__)
