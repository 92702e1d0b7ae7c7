"""The file has an encoding that the runtime does not know, and letters beyond ASCII.

Why: the runtime knows UTF-8, UTF-16, UTF-32 and ISO-8859-1, and takes the bytes of any other for UTF-8.

Bad:
    <?xml version="1.0" encoding="cp1251"?>

Good:
    <?xml version="1.0" encoding="utf-8"?>
"""

from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile, Place

__all__ = ["RULE"]


KNOWN = ("utf-8", "utf-16", "utf-32", "ascii", "iso8859-1")


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for the file."""
    codec = file.document.codec
    if not codec.startswith(KNOWN) and not file.document.text.isascii():
        message = f"the runtime does not know the encoding {codec}, and takes names for UTF-8"
        yield Finding(Place(1), message, "save the file as UTF-8, and say so in its first line")


RULE = Rule("IR016", "foreign-encoding", Severity.WARNING, __doc__, check)
