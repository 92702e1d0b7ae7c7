"""Encodings that the runtime does not know."""

from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.format.problems import DocumentPlace, ElementProblem
from ir_tools.rules.storage import FOREIGN_ENCODING

__all__ = ["CHECK"]


KNOWN = ("utf-8", "utf-16", "utf-32", "ascii", "iso8859-1")


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for the file."""
    codec = file.document.codec
    if not codec.startswith(KNOWN) and not file.document.text.isascii():
        message = f"the runtime does not support the encoding {codec} and reads names as UTF-8"
        yield ElementProblem(
            FOREIGN_ENCODING,
            DocumentPlace(1),
            message,
            "save the file as UTF-8, and write encoding='utf-8' in its first line",
        )


CHECK = Check(find, (FOREIGN_ENCODING,))
