"""From the bytes of a file to UTF-8 and back, with an answer for files that are not text in their encoding."""

import codecs
import re
from typing import NamedTuple

from ir_tools.diagnostics import Diagnostic
from ir_tools.errors import ReadError
from ir_tools.rules.storage import WRONG_ENCODING

__all__ = ["MAX_SIZE", "decode", "encode", "may_begin_so"]

MAX_SIZE = 1 << 30
"""The largest document that is read, in bytes; more than a million layers."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"<\0?\0", "utf-16-le"),
    (b"\0<\0?", "utf-16-be"),
)
_BEGINNING = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe(?:\0\0)?|\xfe\xff|\0\0\xfe\xff)?(?:\0{0,3}[ \t\r\n])*+\0{0,3}(?:<|\Z)"
)
"""A byte order mark, blanks and the first `<`, in UTF-8, UTF-16 or UTF-32."""
_DECLARED = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([^\"'>]*)[\"']")
_SAID = re.compile("<\\?xml[^>]*?encoding\\s*=\\s*[\"']([^\"'>]*)[\"']")
_NONE_OF_FILES = {"idna", "punycode", "undefined", "unicode-escape", "unicode_escape", "raw-unicode-escape", "mbcs"}
_ARCHIVES = (
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "compressed by gzip"),
    (b"BZh", "compressed by bzip2"),
    (b"\xfd7zXZ\0", "compressed by xz"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
)
"""How files begin that hold other files."""
_REMEDY = "save the file as UTF-8"


class Encoded(NamedTuple):
    """A document as UTF-8 (a byte order mark stays its first character), and the codec that it is written in."""

    text: bytes
    codec: str


def decode(data: bytes, file: str | None) -> Encoded:
    """Return the document as UTF-8 text; the very same object if it is that already.

    Raises:
        ReadError: unknown encoding, or bytes that do not belong to it, with their line.
    """
    codec = _codec(data, file)
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as why:
        if not may_begin_so(data):
            archive = next((kind for beginning, kind in _ARCHIVES if data.startswith(beginning)), None)
            message = f"the file is {archive or 'not text'}"
            remedy = "unpack it, and name the .xml in it" if archive else "name the .xml of a model"
            raise _error(message, file, 1, remedy) from None
        line = data.count(b"\n", 0, why.start) + 1
        message = f"byte {why.start} (0x{data[why.start]:02x}) is not {codec.upper()} text"
        raise _error(message, file, line, "save the file as UTF-8, or correct the encoding in its first line") from None
    except (LookupError, ValueError):
        raise _error(f"'{codec}' is not a text encoding", file, 1, _REMEDY) from None
    if codec in {"utf-8", "ascii"}:
        return Encoded(data, codec)
    said = _SAID.match(text)
    if said and codec.startswith("utf-16") and not said[1].lower().startswith("utf-16"):
        raise _error(f"the text is {codec.upper()}, but its first line says {said[1][:40]}", file, 1, _REMEDY)
    if text.encode(codec) != data:
        raise _error(f"the {codec.upper()} text changes when it is decoded and encoded again", file, 1, _REMEDY)
    return Encoded(text.encode(), codec)


def encode(text: bytes, codec: str) -> bytes:
    """UTF-8 text in the encoding of its document; characters that it lacks become `&#...;`."""
    return text if codec == "utf-8" else text.decode().encode(codec, "xmlcharrefreplace")


def may_begin_so(beginning: bytes) -> bool:
    """Return whether a document that `decode` takes may begin with these bytes: up to `<` it has nothing but blanks."""
    return _BEGINNING.match(beginning) is not None


def _codec(data: bytes, file: str | None) -> str:
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return codec
    declared = _DECLARED.match(data)
    name = declared[1].decode("ascii", "replace") if declared else "utf-8"
    try:
        codec = codecs.lookup(name).name
    except (LookupError, ValueError):
        raise _error(f"the encoding '{name[:40]}' is not known", file, 1, _REMEDY) from None
    if codec in _NONE_OF_FILES:
        raise _error(f"'{codec}' is not a text encoding", file, 1, _REMEDY)
    if codec.startswith(("utf-16", "utf-32")):
        raise _error(f"the first line says {name}, but the text is not {codec.upper()}", file, 1, _REMEDY)
    return "utf-8" if codec == "utf-8-sig" else codec


def _error(message: str, file: str | None, line: int, remedy: str) -> ReadError:
    return ReadError(
        Diagnostic(
            code=WRONG_ENCODING.code,
            severity=WRONG_ENCODING.severity,
            message=message,
            file=file,
            line=line,
            help=remedy,
        )
    )
