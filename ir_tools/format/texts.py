"""The texts of layers, taken from the bytes all at once: those that say the same need to be looked at once.

The invariant: layers of one form differ in nothing but id, name, tensor names, a constant's offset and what is in
their bodies. So reading takes ports and contents from the first layer of a form (`nets`, `content`), the checks of
spelling look at one (`usual`), facts and plans are worked out once (`LayerSignatures`), and layers that are changed
alike get the same edits (`changes`). Without the last, migrating 5,000 of 20,000 layers took 1.25 of the processor time
of OpenVINO's read and save, in place of about 0.95 (`tests/benchmarks/test_files_speed.py`).
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ir_tools.graph import LayerContent, Port
from ir_tools.source import Document, Element

__all__ = ["SharedText", "Text", "texts_of"]

_TAG = re.compile(rb'<layer(?=[\s/>])( id="(?:0|[1-9]\d{0,17})" name="[^"]+")?')
"""The start of a layer; with a group, if it starts with a plain id and a name."""
_CONST = b' type="Const"'
_OFFSET = re.compile(rb'[^<]*<data (?:[^<>]*?\s)?offset="(0|[1-9]\d{0,17})"')
_NAMES = re.compile(rb' names="([^"]*)"')
_NO_NAMES = b' names=""'
_EMPTY = re.compile(_NO_NAMES)


class SharedText:
    """What all layers that differ in nothing but id, names and offset have in common; one object for each such text.

    Attributes:
        text: without id, name, tensor names and a constant's offset.
        content: of the first of them that was read; not to be changed.
        named: the ports in `content` that have tensor names, inputs first; None if `content` fits no other layer.
        gaps: the places in `text` where tensor names were.
        ports: those without tensor names that were read of all layers of the document, by the text of their side and
            the precision of those that record none; not to be changed.
        layers: how many have it in the document.
    """

    __slots__ = ("content", "gaps", "layers", "named", "ports", "text")

    def __init__(self, text: bytes, gaps: tuple[int, ...], ports: dict[tuple[bytes, str | None], list[Port]]) -> None:
        """No layer of it was read yet."""
        self.text = text
        self.gaps = gaps
        self.ports = ports
        self.content: LayerContent | None = None
        self.named: tuple[int, ...] | None = None
        self.layers = 0

    def side(self, name: bytes) -> bytes | None:
        """Return the text of the `<input>` or `<output>` of the layer.

        None with tensor names, if there may be another such element in it, and of a layer that has others inside.
        """
        last = self.text.find(b"</layer>")
        start, end = self.text.find(b"<%b>" % name), self.text.find(b"</%b>" % name, 0, max(last, 0))
        found = self.text[start:end] if 0 <= start < end else None
        if found is None or b"names" in found or self.text.count(b"<%b" % name, 0, last) > 1:
            return None
        return found


class Text(NamedTuple):
    """A layer as it is written, up to the next one.

    Attributes:
        start: where its form begins in the document: behind the name.
        form: layers of one form differ in nothing but id, names and offset, and in what is in their bodies.
        offset: where a constant's bytes start; None for other layers, and if `form` still says it.
        names: the tensor names of its ports, as they are written.
    """

    start: int
    form: SharedText
    offset: int | None
    names: tuple[bytes, ...]

    def pieces(self) -> list[tuple[int, int]]:
        """Return where in the document the pieces of the form begin and end, between which are the tensor names.

        Not for constants whose offset is left out of the form.
        """
        found, at, last = list[tuple[int, int]](), self.start, 0
        for gap, names in zip(self.form.gaps, self.names, strict=True):
            found.append((at, at + gap - last))
            at, last = found[-1][1] + len(names), gap
        return [*found, (at, at + len(self.form.text) - last)]


def texts_of(document: Document) -> Mapping[Element, Text]:
    """Return the texts of the layers that are written as nearly all are: with id and name first, in double quotes.

    Empty for a document with prefixes, or with comments, CDATA or processing instructions in or behind its layers.
    """
    text, tags = document.text, list(_TAG.finditer(document.text)) if document.plain else []
    if not tags or document.hidden_until > tags[0].start():
        return {}
    elements = document.root.findall("layers/layer")
    if len(elements) != len(tags):
        elements = list(document.root.iter("layer"))
    starts = [tag.start() for tag in tags]
    document.note_starts(elements, starts)
    forms: dict[tuple[bytes, bool], SharedText] = {}
    ports: dict[tuple[bytes, str | None], list[Port]] = {}
    ends = [*starts[1:], len(text)]
    return {
        element: _text(tag.end(), text[tag.end() : end], forms, ports)
        for element, tag, end in zip(elements, tags, ends, strict=True)
        if tag[1]
    }


def _text(
    start: int,
    form: bytes,
    forms: dict[tuple[bytes, bool], SharedText],
    ports: dict[tuple[bytes, str | None], list[Port]],
) -> Text:
    """Return the text of a layer.

    Args:
        start: where it begins in the document.
        form: what is behind the name of the layer.
        forms: those that are known, by text and whether an offset is left out of it.
        ports: as in `SharedText`.
    """
    names, offset = tuple[bytes, ...](), None
    if b"'" not in form:
        pieces = _NAMES.split(form)
        if len(pieces) > 1:
            form, names = _NO_NAMES.join(pieces[::2]), tuple(pieces[1::2])
        if form.startswith(_CONST):
            form, offset = _without_offset(form)
    key = form, offset is not None
    known = forms.get(key)
    if known is None:
        gaps = [place.end() - 1 for place in _EMPTY.finditer(form)] if names else []
        known = forms[key] = SharedText(form, tuple(gaps), ports)
    known.layers += 1
    return Text(start, known, offset, names)


def _without_offset(form: bytes) -> tuple[bytes, int | None]:
    """Return a constant without the `offset` in its `<data>`, and that."""
    found = _OFFSET.match(form)
    return (form, None) if found is None else (form[: found.start(1)] + form[found.end(1) :], int(found[1]))
