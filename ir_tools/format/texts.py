"""The texts of layers, taken from the bytes all at once: those that say the same need to be looked at once.

The invariant: layers of one form differ in nothing but id, name, tensor names, a constant's offset and what is in
their bodies. So reading takes ports and contents from the first layer of a form (`nets`, `content`), the checks of
spelling look at one (`usual`), facts and plans are worked out once (`LayerSignatures`), and layers that are changed
alike get the same edits (`changes`). Without the last, migrating 5,000 of 20,000 layers took 1.25 of the processor time
of OpenVINO's read and save, in place of about 0.95 (`tests/benchmarks/test_files_speed.py`).
"""

from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple

from ir_tools.graph import LayerContent
from ir_tools.source import Document, Element

__all__ = ["Form", "Text", "texts_of"]

_TAG = b"<layer "
_CONST = b' type="Const"'
_DATA = b"<data "
_NAMES = b' names="'
MAX_DIGITS = 18
"""Of a number below 2^63."""


class Form:
    """What all layers that differ in nothing but id, names and offset have in common; one object for each such text.

    Attributes:
        text: without id, name, tensor names and a constant's offset.
        content: of the first of them that was read; not to be changed.
        named: the ports in `content` that have tensor names, inputs first; None if `content` fits no other layer.
        common: how many bytes at the beginning of `text` are in the file as they are here.
    """

    __slots__ = ("common", "content", "named", "text")

    def __init__(self, text: bytes) -> None:
        """No layer of it was read yet."""
        self.text = text
        self.common = len(text.partition(_DATA if text.startswith(_CONST) else _NAMES)[0])
        self.content: LayerContent | None = None
        self.named: tuple[int, ...] | None = None


class Text(NamedTuple):
    """A layer as it is written, up to the next one.

    Attributes:
        start: where its form begins in the document: behind the name.
        form: layers of one form differ in nothing but id, names and offset, and in what is in their bodies.
        offset: where a constant's bytes start; None for other layers, and if `form` still says it.
        names: the tensor names of its ports, as they are written.
    """

    start: int
    form: Form
    offset: int | None
    names: tuple[bytes, ...]


def texts_of(document: Document) -> Mapping[Element, Text]:
    """Return the texts of the layers that are written as nearly all are: with id and name first, in double quotes.

    Empty for a document with prefixes, or with comments or CDATA in or behind its layers.
    """
    before, *pieces = document.text.split(_TAG)
    if not document.plain or document.text.find(b"<!", len(before)) >= 0:
        return {}
    elements = list(document.root.iter("layer"))
    if len(elements) != len(pieces):
        return {}
    starts = accumulate((len(_TAG) + len(piece) for piece in pieces), initial=len(before))
    places = dict(zip(elements, starts, strict=False))
    document.note_layers(places)
    forms: dict[bytes, Form] = {}
    return {
        element: text
        for (element, start), piece in zip(places.items(), pieces, strict=True)
        if (text := _text(start + len(_TAG), piece, forms))
    }


def _text(start: int, piece: bytes, forms: dict[bytes, Form]) -> Text | None:
    """Return the text after `<layer `; None if it does not start with a plain id and a name."""
    parts = piece.split(b'"', 4)
    if len(parts) < 5 or parts[0] != b"id=" or parts[2] != b" name=" or not parts[3] or not _is_plain(parts[1]):
        return None
    form, names, offset = parts[4], tuple[bytes, ...](), None
    start += len(piece) - len(form)
    if b"'" not in form:
        if _NAMES in form:
            form, names = _without_names(form)
        if form.startswith(_CONST):
            form, offset = _without_offset(form)
    known = forms.get(form)
    if known is None:
        known = forms[form] = Form(form)
    return Text(start, known, offset, names)


def _without_names(form: bytes) -> tuple[bytes, tuple[bytes, ...]]:
    """Return a layer with nothing between the quotation marks of its tensor names, and those."""
    first, *named = form.split(_NAMES)
    pairs = [rest.partition(b'"') for rest in named]
    return _NAMES.join([first, *[quote + rest for _, quote, rest in pairs]]), tuple([names for names, _, _ in pairs])


def _without_offset(form: bytes) -> tuple[bytes, int | None]:
    """Return a constant without the `offset` in its `<data>`, and that."""
    before, tag, behind = form.partition(_DATA)
    data, end, rest = behind.partition(b">")
    first, _, behind = data.partition(b'offset="')
    offset, quote, last = behind.partition(b'"')
    if not quote or not _is_plain(offset):
        return form, None
    return b"".join((before, tag, first, last, end, rest)), int(offset)


def _is_plain(number: bytes) -> bool:
    """Return whether this is a number that anybody can read and that is written in the usual way."""
    return number.isdigit() and len(number) <= MAX_DIGITS and (number == b"0" or not number.startswith(b"0"))
