"""An XML document: its bytes, the tree that lxml makes of them, and where each element is.

lxml's `sourceline` is wrong past line 65535 and it has no byte offsets. A well-formed document holds `<name` only in
start tags, comments, CDATA and processing instructions; so the n-th `<name` outside the latter three is the n-th
element of that name in the tree. Places are worked out that way, and only when somebody asks.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from lxml import etree

from ir_tools.diagnostics import Diagnostic
from ir_tools.errors import ReadError
from ir_tools.lfs import pointer_problem
from ir_tools.rules import Rule
from ir_tools.rules.storage import DOCUMENT_TYPE, EMPTY_FILE, MALFORMED_XML, NESTED_TOO_DEEP, TOO_LARGE_FILE
from ir_tools.source.broken import HIDDEN_ENDS, broken_place
from ir_tools.source.encoding import MAX_SIZE, decode, encode
from ir_tools.source.grammar import LEGACY_VERSIONS
from ir_tools.types import id_number

__all__ = ["Document", "Element", "Span", "Wiring"]

Element = etree._Element
Wiring = dict[tuple[int, int], tuple[int, int]]
"""Reader and its input port -> producer and its output port."""
_PROLOG = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s|<\?.*?\?>|<!--.*?-->)*+(<!DOCTYPE)?", re.DOTALL)
_NAME = re.compile(rb"[^\s/>]+")
_ELEMENT = re.compile(rb"<[^\s/!?]")
_TAG = rb"<[^\s/>]++(?:[^\"'>]++|\"[^\"]*+\"|'[^']*+')*+>"
_START_TAG = re.compile(_TAG)
_LEAF = re.compile(b"(" + _TAG + rb")(?:(?<=/>)|[^<]*+</[^>]*+>)")
"""An element with text alone; its group is the start tag."""
ATTRIBUTE = re.compile(rb"\s+([^\s=/>]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
"""An attribute in a start tag: its name, its text between double quotes or else between single ones."""
BLOCK = 1 << 12
FEW = 32
"""Names that are searched for one by one; for more than that all elements are found at once."""
FIRST_FOUND = frozenset({"net", "layer", "edges"})
"""Elements whose first one inside is found behind their start tags."""
SHARE, SEARCH = 4, 1 << 10
"""Layers are searched for elements of one name until that is this part of the document; then all of it is.

As how many bytes more each search counts.
"""
LONG = 1 << 10
"""Bytes of a start tag whose end is kept, not looked for again."""
_DTD_REMEDY = "delete it; IR has no DTD, and ir_tools does not expand entities"


class Span(NamedTuple):
    """Where an element is: byte offsets of its start tag, behind that tag, and behind its end."""

    start: int
    tag_end: int
    end: int


class Document:
    """A document that was read. Neither bytes nor tree are ever changed.

    Attributes:
        data: the bytes of the file.
        text: the same as UTF-8; places are offsets into it.
        root: the tree, without comments and processing instructions.
        file: what to call it in messages.
        plain: there are no namespaces.
        codec: the encoding of the bytes, as Python calls it.
        wiring: the note of who read the model to be written: what each `<edges>` says.
    """

    def __init__(self, data: bytes, file: str | None = None) -> None:
        """Parse `data`; no DTD, no entity, no network.

        Raises:
            ReadError: it is not well-formed XML, is a pointer of Git LFS, or is more than `MAX_SIZE`; with the line.
        """
        self.file = file
        self.data = data
        if not data.strip():
            raise self._error(EMPTY_FILE, "the file is empty", 1, "export the model again")
        pointer = pointer_problem(data, file)
        if pointer is not None:
            raise ReadError(pointer)
        if len(data) > MAX_SIZE:
            raise self._error(TOO_LARGE_FILE, f"the XML has {len(data)} bytes; at most {MAX_SIZE} are read", 1)
        self.text, self.codec = decode(data, file)
        self.plain = b"xmlns" not in self.text
        self.root = self._parse()
        self.wiring: dict[Element, Wiring] = {}
        self._starts: dict[Element, int] = {}
        self._asked: Counter[str] = Counter()
        self._spans: dict[Element, Span] = {}
        self._tag_ends: dict[int, int] = {}
        self._attributes: tuple[int, dict[bytes, re.Match[bytes]]] | None = None
        self._counted = 0, 1

    def encode(self, text: bytes) -> bytes:
        """Return UTF-8 text in the encoding of the document."""
        return encode(text, self.codec)

    def line(self, element: Element) -> int:
        """Return the line on which an element starts, counted from 1."""
        return self.line_at(self.start(element))

    def line_at(self, offset: int) -> int:
        """Return the line of a byte of the text, counted from 1; it is counted on from the last one, if behind it."""
        before, line = self._counted
        if offset < before:
            return int(self._newlines.searchsorted(offset)) + 1
        line += self.text.count(b"\n", before, offset)
        self._counted = offset, line
        return line

    def columns(self, element: Element, attribute: str | None = None) -> tuple[int, int]:
        """Return where an element's start tag (with its text, if it has nothing else) begins and ends on its line.

        Counted in characters from 1; the end is the one behind the last. With an `attribute` of the tag, its place.
        """
        start = self.start(element)
        end = self._tag_end(start)
        named = self.attributes(element).get(attribute.encode()) if attribute else None
        if named is not None:
            begin, end = named.start(1), named.end()
        else:
            begin = start
            if element.text and not len(element):
                end = self._end(element, start, end)
        number = self.line_at(start) - 1
        first = int(self._newlines[number - 1]) + 1 if number else 0
        last = int(self._newlines[number]) if number < len(self._newlines) else len(self.text)
        if not start <= begin <= last:
            begin = start
        end = min(end, last)
        if self.text[last - 1 : last] == b"\r":
            end = min(end, last - 1)
        before = self._characters(first)
        return self._characters(begin) - before + 1, self._characters(end) - before + 1

    def attributes(self, element: Element) -> Mapping[bytes, re.Match[bytes]]:
        """Return the attributes in a start tag by name, prefix included; see `ATTRIBUTE` for the groups."""
        start = self.start(element)
        if self._attributes is None or self._attributes[0] != start:
            found = ATTRIBUTE.finditer(self.text, start, self._tag_end(start))
            self._attributes = start, {match[1]: match for match in found}
        return self._attributes[1]

    def _characters(self, offset: int) -> int:
        """Return how many characters are before a byte of the text."""
        if self._begins is None:
            return offset
        begins, blocks = self._begins
        block = offset // BLOCK
        return int(blocks[block] + np.count_nonzero(begins[block * BLOCK : offset]))

    @cached_property
    def _begins(
        self,
    ) -> "tuple[np.ndarray[tuple[int], np.dtype[np.bool_]], np.ndarray[tuple[int], np.dtype[np.int64]]] | None":
        """Which bytes begin a character, and how many do before each block; None if all of them do."""
        if self.text.isascii():
            return None
        begins = (np.frombuffer(self.text, np.uint8) & 0xC0) != 0x80
        counts = np.add.reduceat(begins, np.arange(0, len(begins), BLOCK), dtype=np.int64)
        return begins, np.concatenate(([0], np.cumsum(counts)))

    def start(self, element: Element) -> int:
        """Return the offset of an element's `<`."""
        known = self._starts.get(element)
        if known is not None:
            return known
        parent = element.getparent()
        if element.getprevious() is None and (parent is None or parent.tag in FIRST_FOUND):
            begin = 0 if parent is None else self._tag_end(self.start(parent))
            return next(self._outside(_ELEMENT, begin, len(self.text)))
        if len(self._asked) > FEW:
            self.note_starts(self.root.iter(etree.Element), self._outside(_ELEMENT, 0, len(self.text)))
        else:
            tag = element.tag
            whole = tag == "layer" or self._asked[tag] > len(self.text) // SHARE
            anchor = None if whole else next(element.iterancestors("layer"), None)
            self._look_for(tag, anchor)
        return self._starts[element]

    def note_starts(self, elements: Iterable[Element], starts: Iterable[int]) -> None:
        """Take note of the offsets of elements."""
        self._starts.update(zip(elements, starts, strict=True))

    def span(self, element: Element) -> Span:
        """Return where an element is."""
        found = self._spans.get(element)
        if found is None:
            start = self.start(element)
            leaf = None if len(element) else _LEAF.match(self.text, start)
            if leaf:
                return Span(start, leaf.end(1), leaf.end())
            tag_end = self._tag_end(start)
            found = self._spans[element] = Span(start, tag_end, self._end(element, start, tag_end))
        return found

    def _parse(self) -> Element:
        prolog = _PROLOG.match(self.text)
        if prolog and prolog[1]:
            line = self.text.count(b"\n", 0, prolog.start(1)) + 1
            raise self._error(DOCUMENT_TYPE, "the file has a DOCTYPE", line, _DTD_REMEDY)
        parser = etree.XMLParser(
            encoding="utf-8",
            resolve_entities=False,
            load_dtd=False,
            no_network=True,
            huge_tree=True,
            collect_ids=False,
            remove_blank_text=True,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            root = etree.fromstring(self.text, parser)
        except etree.XMLSyntaxError as why:
            raise self._malformed(" ".join(str(why.msg or "it cannot be parsed").split()), *why.position) from None
        if not self.plain:
            _drop_namespaces(root)
        return root

    def _malformed(self, message: str, line: int, column: int) -> ReadError:
        """Return what the parser says, at the place that is to blame."""
        if "depth" in message.lower():
            return self._error(NESTED_TOO_DEEP, "the elements are nested too deeply", max(line, 1))
        message = re.sub(r",? line \d+, column \d+.*$", "", message)
        place = broken_place(self.text, max(line, 1), column)
        found = Diagnostic(
            code=MALFORMED_XML.code,
            severity=MALFORMED_XML.severity,
            message=f"not well-formed XML: {place.message or message}",
            file=self.file,
            line=place.line,
            layer_id=place.layer_id,
            layer_name=place.layer_name,
            path=place.path,
            help=place.help,
        )
        return ReadError(found)

    def _look_for(self, tag: str, anchor: Element | None) -> None:
        """Find all elements called `tag`, whatever their prefix, in the document or in one layer."""
        local = tag.rpartition("}")[2]
        begin, end = (0, len(self.text)) if anchor is None else self.span(anchor)[::2]
        self._asked[tag] += end - begin + SEARCH
        scope = self.root if anchor is None else anchor
        self.note_starts(scope.iter(local if self.plain else "{*}" + local), self._find(local, begin, end))

    def _find(self, local: str, begin: int, end: int) -> Iterator[int]:
        """Yield the offsets of all start tags `<local`, `<prefix:local`."""
        prefix = b"" if self.plain else rb"(?:[^\s<>/:!?]+:)?"
        return self._outside(re.compile(b"<" + prefix + re.escape(local.encode()) + rb"(?=[\s/>])"), begin, end)

    def _outside(self, pattern: re.Pattern[bytes], begin: int, end: int) -> Iterator[int]:
        """Yield the offsets of what fits a pattern outside comments, CDATA and processing instructions."""
        found = (match.start() for match in pattern.finditer(self.text, begin, end))
        return found if begin >= self.hidden_until else (at for at in found if not self._hidden(at))

    def _tag_end(self, start: int) -> int:
        end = self._tag_ends.get(start)
        if end is None:
            tag = _START_TAG.match(self.text, start)
            assert tag
            end = tag.end()
            if end - start > LONG:
                self._tag_ends[start] = end
        return end

    def _end(self, element: Element, start: int, tag_end: int) -> int:
        """Return the offset behind an element: behind the end tag that closes it."""
        text = self.text
        if text[tag_end - 2] == ord("/"):
            return tag_end
        depth, name = 0, _NAME.match(text, start + 1)
        assert name
        nested = next(element.iterdescendants(element.tag), None) is not None
        pattern = _end_tags(name[0], nested)
        for tag in pattern.finditer(text, tag_end):
            if self._hidden(tag.start()):
                continue
            if not tag[1]:
                depth += text[self._tag_end(tag.start()) - 2] != ord("/")
            elif depth:
                depth -= 1
            else:
                return text.index(b">", tag.end()) + 1
        raise AssertionError("a well-formed document closes every element")

    def _hidden(self, offset: int) -> bool:
        """Return whether a byte is in a comment, CDATA or processing instruction."""
        if offset >= self.hidden_until:
            return False
        starts, ends = self._hiding
        index = bisect_right(starts, offset) - 1
        return index >= 0 and offset < ends[index]

    @cached_property
    def is_legacy(self) -> bool:
        """Whether the version of the root is that of an IR v2 to v7."""
        return id_number(self.root.get("version")) in LEGACY_VERSIONS

    @cached_property
    def hidden_until(self) -> int:
        """Return the offset behind the last comment, CDATA or processing instruction."""
        return self._hiding[1][-1] if self._hiding[1] else 0

    @cached_property
    def _hiding(self) -> tuple[list[int], list[int]]:
        starts, ends, at = [], [], 0
        opening = re.compile(rb"<(?:!--|!\[CDATA\[|\?)")
        while found := opening.search(self.text, at):
            closing = HIDDEN_ENDS[found[0]]
            at = self.text.index(closing, found.end()) + len(closing)
            starts.append(found.start())
            ends.append(at)
        return starts, ends

    @cached_property
    def _newlines(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.flatnonzero(np.frombuffer(self.text, np.uint8) == ord("\n"))

    def _error(self, rule: Rule, message: str, line: int, remedy: str | None = None) -> ReadError:
        return ReadError(
            Diagnostic(code=rule.code, severity=rule.severity, message=message, file=self.file, line=line, help=remedy)
        )


@lru_cache
def _end_tags(name: bytes, nested: bool) -> re.Pattern[bytes]:
    """Return what finds end tags of a name; if elements of that name are nested, start tags too."""
    return re.compile((b"<(/?)" if nested else b"<(/)") + re.escape(name) + rb"(?=[\s/>])")


def _drop_namespaces(root: Element) -> None:
    """Call elements without a prefix by their plain names, as the runtime does, which knows no namespaces."""
    for element in root.iter():
        if element.prefix is None:
            element.tag = element.tag.rpartition("}")[2]
