"""The texts of layers, taken from the bytes all at once: those that say the same need to be looked at once."""

from collections.abc import Mapping
from typing import NamedTuple

from ir_tools.source import Document, Element

__all__ = ["Text", "texts_of"]

_TAG = b"<layer "
_CONST = b' type="Const"'
MAX_DIGITS = 18
"""Of a number below 2^63."""


class Text(NamedTuple):
    """A layer as it is written, up to the next one.

    Attributes:
        form: without id, name, tensor names and a constant's offset. Layers of one form differ in nothing else, but for
            what is in their bodies.
        offset: where a constant's bytes start; None for other layers, and where `form` still says it.
    """

    form: bytes
    offset: int | None


def texts_of(document: Document) -> Mapping[Element, Text]:
    """The texts of the layers that are written as nearly all are: with id and name first, in double quotes.

    Empty for a document with prefixes, or with comments or CDATA in or behind its layers.
    """
    before, *pieces = document.text.split(_TAG)
    if not document.plain or document.text.find(b"<!", len(before)) >= 0:
        return {}
    elements = list(document.root.iter("layer"))
    if len(elements) != len(pieces):
        return {}
    return {element: text for element, piece in zip(elements, pieces, strict=True) if (text := _text(piece))}


def _text(piece: bytes) -> Text | None:
    """What follows `<layer `; None where it does not start with a plain id and a name."""
    parts = piece.split(b'"', 4)
    if len(parts) < 5 or parts[0] != b"id=" or parts[2] != b" name=" or not parts[3] or not _is_plain(parts[1]):
        return None
    form = parts[4]
    if b"'" in form:
        return Text(form, None)
    if b' names="' in form:
        first, *named = form.split(b' names="')
        form = first + b"".join([rest.partition(b'"')[2] for rest in named])
    return _of_constant(form) if form.startswith(_CONST) else Text(form, None)


def _of_constant(form: bytes) -> Text:
    """A constant, without the `offset` in its `<data>`."""
    before, tag, behind = form.partition(b"<data ")
    data, end, rest = behind.partition(b">")
    first, _, behind = data.partition(b'offset="')
    offset, quote, last = behind.partition(b'"')
    if not quote or not _is_plain(offset):
        return Text(form, None)
    return Text(b"".join((before, tag, first, last, end, rest)), int(offset))


def _is_plain(number: bytes) -> bool:
    """Whether this is a number that anybody can read."""
    return number.isdigit() and len(number) <= MAX_DIGITS
