"""Whether a document is written as nearly all are: one look at its bytes spares looking at every element."""

import re
from collections.abc import Mapping
from functools import cached_property

from ir_tools.format.texts import Text
from ir_tools.source import Document, Element
from ir_tools.source.grammar import GRAMMAR
from ir_tools.types import precision_in_file

__all__ = ["Usual"]

_INFO = rb"(?:\s*<rt_info>(?:\s*<attribute [^<>]*/>)*+\s*</rt_info>)?"
_DIMS = rb">(?:\s*<dim>(?:\d{1,18}|-1)</dim>)*+" + _INFO + rb"\s*</port>"
_PORT = re.compile(
    rb"<port id=\"\d{1,18}\"(?: precision=\"[A-Za-z0-9]+\"| names=\"[^\"<]*\")*+(?: ?/>|" + _DIMS + rb")"
)
_PRECISION = re.compile(rb"<port id=\"\d{1,18}\"(?: names=\"[^\"<]*\")?+ precision=\"([A-Za-z0-9]+)\"")
_LAYER = re.compile(
    b'<layer id="\\d{1,18}"%b(?: %b="[^"<]*")? ?/?>'
    % (
        b"".join(b' %b="[^"<]+"' % name.encode() for name in GRAMMAR["layer"].attributes if name != "id"),
        GRAMMAR["layer"].optional.encode(),
    )
)
_TEXT = re.compile(rb">\s*+[^<](?<!<dim>.)")


class Usual:
    """What of a document has only the elements, attributes and texts that it should, in the usual order."""

    def __init__(self, document: Document, texts: Mapping[Element, Text]) -> None:
        """Start with nothing looked at. `texts`: of the layers; of those that say the same one is looked at."""
        self._document = document
        self._texts = texts

    @cached_property
    def ports(self) -> bool:
        """Whether every `<port>` has id, precision and names, and nothing inside but dimensions that can be read."""
        return self._all(_PORT, b"<port")

    @cached_property
    def layers(self) -> bool:
        """Whether every `<layer>` has id, name, type and version, and none of them is empty."""
        return self._all(_LAYER, b"<layer")

    @cached_property
    def texts(self) -> bool:
        """Whether there is text in dimensions only."""
        return self._document.plain and not _TEXT.search(self._written)

    @cached_property
    def precisions(self) -> bool:
        """Whether every port has an element type that can be read."""
        words = _PRECISION.findall(self._written) if self.ports else []
        full = len(words) == self._count(b"<port")
        return full and all(precision_in_file(word.decode()) for word in set(words))

    @cached_property
    def _written(self) -> bytes:
        """The bytes of the document; where all layers have a text, with one layer of each form."""
        text, layers = self._document.text, sum(1 for _ in self._document.root.iter("layer"))
        if not layers or len(self._texts) != layers:
            return text
        forms = {one.form for one in self._texts.values()}
        return text[: text.index(b"<layer ")] + b"".join([b'<layer id="0" name="layer"' + form.text for form in forms])

    def _all(self, pattern: re.Pattern[bytes], tag: bytes) -> bool:
        return self._document.plain and len(pattern.findall(self._written)) == self._count(tag)

    def _count(self, tag: bytes) -> int:
        """Return how many start tags there are of a name, whatever follows it: attributes may be on other lines."""
        count = self._written.count(tag + b" ")
        if count == self._written.count(tag):
            return count
        return count + sum(self._written.count(tag + end) for end in (b"\n", b"\r", b"\t", b">", b"/"))
