"""Places are told by expat, which works them out in another way."""

import bz2
import codecs
import encodings
import gzip
import lzma
import re
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from xml.parsers import expat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_tools.errors import ReadError
from ir_tools.source import Document, Element, Patch, Style

RULES = Path(__file__).parents[1] / "rules"


def expat_starts(text: bytes) -> list[tuple[str, int, int]]:
    """Every element of a document: name, offset of its `<`, and line."""
    parser, found = expat.ParserCreate(), []

    def start(name: str, attributes: dict[str, str]) -> None:
        found.append((name, parser.CurrentByteIndex, parser.CurrentLineNumber))

    parser.StartElementHandler = start
    parser.Parse(text, True)
    return found


def elements(document: Document) -> list[Element]:
    return list(document.root.iter())


def assert_places(text: bytes) -> None:
    document = Document(text)
    ours = [(str(e.tag), document.start(e), document.line(e)) for e in elements(document)]
    assert ours == expat_starts(text)
    for element in elements(document):
        span = document.span(element)
        part = text[span.start : span.end]
        assert part.startswith(b"<" + str(element.tag).encode())
        again = Document(part).root
        assert [e.tag for e in again.iter()] == [e.tag for e in element.iter()]
        assert text[span.start : span.tag_end].endswith(b">")


def test_places_of_the_corpus(corpus_model: Path) -> None:
    text = corpus_model.read_bytes()
    document = Document(text)
    starts = expat_starts(text)
    ours = [(str(e.tag), document.start(e), document.line(e)) for e in elements(document)]
    assert ours == starts


TRICKY = {
    "comments": b'<net><!-- <layer> --><layers><layer id="1"/><!--<layer id="2">--><layer></layer></layers></net>',
    "cdata": b'<net><layers><![CDATA[<layer> ]] > </layer>]]><layer id="3"> <a/></layer></layers></net>',
    "instructions": b"<?xml version='1.0'?>\n<?x <layer> ?><net><layer><?y </layer> ?></layer><?z?></net>\n",
    "greater than in a value": b'<net><layer a=\'x>y/>\' b="\'/>"/><layer a="</layer>"."/></net>'.replace(
        b'</layer>".', b"&lt;/layer>"
    ),
    "similar names": b"<net><layers><layer><layering/><layer2/></layer></layers></net>",
    "nested": b"<net><layer><body><layer/><layer><layer></layer></layer></body></layer><layer/></net>",
    "line ends": b"<net>\r\n<layer\r\n a='1'\n/>\r\n<layer\t>\n</layer\n>\n</net>",
    "byte order mark": b"\xef\xbb\xbf<net>\n<layer/></net>",
    "non-ASCII": "<net name='ä€𝄞'>\n<layer name='ö'/><layer/></net>".encode(),
}


@pytest.mark.parametrize("text", TRICKY.values(), ids=TRICKY)
def test_places_of(text: bytes) -> None:
    assert_places(text)


NAMES = st.sampled_from(["layer", "layers", "port", "data"])
HIDDEN = st.sampled_from(["<!-- <layer> -->", "<![CDATA[</layer><port>]]>", "<?pi <data> ?>", "\n", " text "])
TREES = st.recursive(
    st.one_of(HIDDEN, NAMES.map(lambda name: f"<{name} a='/>'\n/>")),
    lambda inner: st.tuples(NAMES, st.lists(inner, max_size=4)).map(lambda t: f"<{t[0]}>{''.join(t[1])}</{t[0]}>"),
    max_leaves=25,
)


@given(st.lists(TREES, max_size=4))
def test_places_of_any_tree(parts: list[str]) -> None:
    assert_places(f"<net>{''.join(parts)}</net>".encode())


@pytest.mark.parametrize("namespace", ["", ' xmlns:p="n"'])
def test_many_names_are_searched_for_at_once(namespace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    outside = Document._outside

    def counted(document: Document, pattern: re.Pattern[bytes], begin: int, end: int) -> Iterator[int]:
        searched.append(begin)
        return outside(document, pattern, begin, end)

    monkeypatch.setattr(Document, "_outside", counted)
    prefix = "p:" if namespace else ""
    names = "".join(f"<!--<a0/>--><{prefix}a{number}/>\n<?p <a1/>?><b/>" for number in range(500))
    text = f"<net{namespace}>{names}</net>".encode()
    document = Document(text)
    assert [(document.start(e), document.line(e)) for e in elements(document)] == [
        (start, line) for _, start, line in expat_starts(text)
    ]
    assert len(searched) < 100


def test_lines_past_65535() -> None:
    text = b"<net>" + b"\n" * 70_000 + b"<layer/>\n<layer/></net>"
    document = Document(text)
    assert [document.line(e) for e in document.root] == [70_001, 70_002]


def test_elements_with_a_prefix_are_not_those_without() -> None:
    """As for the runtime, which reads names as they stand there."""
    document = Document(
        b'<net xmlns="urn:a" xmlns:b="urn:b">\n<layers><b:layer id="0"/>\n<layer id="1"/></layers></net>'
    )
    assert document.root.tag == "net"
    assert [document.line(e) for e in document.root.iter("layer")] == [3]
    assert [document.line(e) for e in document.root.iter("{*}layer")] == [2, 3]


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "iso-8859-1", "cp1251", "us-ascii"])
def test_other_encodings_are_read_and_kept(codec: str) -> None:
    name = {"iso-8859-1": "Größe", "cp1251": "слой", "us-ascii": "plain"}.get(codec, "层")
    text = f'<?xml version="1.0" encoding="{codec}"?>\n<net name="{name}"/>'
    data = text.encode(codec)
    document = Document(data)
    assert document.root.get("name") == name
    assert document.encode(document.text) == data


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE], ids=["le", "be"])
def test_a_byte_order_mark_counts_whatever_is_declared(mark: bytes) -> None:
    codec = "utf-16-le" if mark == codecs.BOM_UTF16_LE else "utf-16-be"
    data = mark + '<?xml version="1.0" encoding="iso-8859-1"?><net name="层"/>'.encode(codec)
    document = Document(data)
    assert document.root.get("name") == "层"
    assert document.encode(document.text) == data


@pytest.mark.parametrize("declared", ["utf-8", "iso-8859-1", "us-ascii", "utf-16"])
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_without_a_byte_order_mark_what_is_declared_has_to_be_so(codec: str, declared: str) -> None:
    data = f'<?xml version="1.0" encoding="{declared}"?><net name="a"/>'.encode(codec)
    right = declared == "utf-16"
    with nullcontext() if right else pytest.raises(expat.ExpatError, match="encoding"):
        expat.ParserCreate().Parse(data, True)
    with (
        nullcontext()
        if right
        else pytest.raises(ReadError, match=f"{codec.upper()}, but its first line says {declared}")
    ):
        Document(data)


@pytest.mark.parametrize("codec", sorted({*encodings.aliases.aliases.values(), "utf_8_sig", "cp65001"}))
def test_every_encoding_is_kept_or_refused(codec: str) -> None:
    """The file stays as it is byte by byte, if it is read at all; what says UTF-8 in other words is."""
    text = f'<?xml version="1.0" encoding="{codec}"?><net name="a"/>'
    try:
        data = text.encode(codec)
    except (LookupError, UnicodeError):
        data = text.encode()
    for written in (data, text.encode()):
        with suppress(ReadError):
            document = Document(written)
            assert document.encode(document.text) == written
    if codec in {"utf_8", "utf_8_sig"}:
        assert Document(text.encode()).root.get("name") == "a"


BROKEN = {
    "empty": (b"", 1, "empty"),
    "blank": (b" \n ", 1, "empty"),
    "no XML": (b"\x00\x01\x02", 1, "not well-formed"),
    "text": (b"hello\n", 1, "not well-formed"),
    "unclosed": (b"<net>\n<layers>\n</net>", 2, "<layers> of line 2 has no end"),
    "end of nothing": (b"<net>\n<layers>\n</layer>\n</layers></net>", 3, "</layer> ends nothing"),
    "second root": (b"<net/>\n<net/>", 2, "not well-formed"),
    "text behind the root": (b"<net/>\nmore", 2, "not well-formed"),
    "duplicate attribute": (b"<net>\n<a b='1' b='2'/></net>", 2, "redefined"),
    "undefined entity": (b"<net>\n\n<a>&foo;</a></net>", 3, "foo"),
    "cut off": (b"<net>\n<layers", 2, "not well-formed"),
    "DTD": (b"<?xml version='1.0'?>\n<!-- x -->\n<!DOCTYPE net>\n<net/>", 3, "DOCTYPE"),
    "entities": (b'<!DOCTYPE a [<!ENTITY b "c">]>\n<net>&b;</net>', 1, "DOCTYPE"),
    "not UTF-8": (b"<net>\n<a b='\xff'/></net>", 2, "not UTF-8"),
    "not as declared": (b"<?xml version='1.0' encoding='us-ascii'?>\n<net a='\xc3\xa4'/>", 2, "not ASCII"),
    "unknown encoding": (b"<?xml version='1.0' encoding='klingon'?>\n<net/>", 1, "klingon"),
    "an encoding that is none": (b"<?xml version='1.0' encoding='base64'?>\n<net/>", 1, "base64"),
    "too deep": (b"<net>" + b"<a>" * 5000 + b"</a>" * 5000 + b"</net>", 1, "too deep"),
}


@pytest.mark.parametrize(("data", "line", "words"), BROKEN.values(), ids=BROKEN)
def test_what_is_no_document_is_told_with_its_line(data: bytes, line: int, words: str) -> None:
    with pytest.raises(ReadError) as error:
        Document(data, "x.xml")
    [diagnostic] = error.value.diagnostics
    assert (diagnostic.file, diagnostic.line) == ("x.xml", line)
    assert words in diagnostic.message


def test_entities_of_files_are_never_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    with pytest.raises(ReadError, match="DOCTYPE"):
        Document(f'<!DOCTYPE a [<!ENTITY b SYSTEM "file://{secret}">]><net>&b;</net>'.encode())


@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with suppress(ReadError):
        Document(data)


def test_edits_leave_the_rest_alone() -> None:
    patch = Patch()
    assert not patch
    patch.replace(4, 6, b"XY")
    patch.replace(3, 3, b"3")
    patch.replace(2, 3, b"")
    patch.replace(2, 2, b"2")
    patch.replace(2, 2, b"1")
    assert patch
    assert patch.apply(b"abcdefgh") == b"ab213dXYgh"
    assert patch.apply(b"abcdefgh", 2, 7) == b"213dXYg"


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_a_tag_of_two_lines_ends_with_the_first(newline: bytes) -> None:
    document = Document(b'<net name="a"' + newline + b'\tversion="11"/>')
    assert document.columns(document.root) == (1, len('<net name="a"') + 1)


@pytest.mark.parametrize(
    ("data", "message", "remedy"),
    [
        (b"PK\x03\x04\x14\0\xed", "the file is a zip archive", "unpack it"),
        (gzip.compress(b"<net/>"), "the file is compressed by gzip", "unpack it"),
        (bz2.compress(b"<net/>"), "the file is compressed by bzip2", "unpack it"),
        (lzma.compress(b"<net/>"), "the file is compressed by xz", "unpack it"),
        (np.ones(3, np.float32).tobytes() + b"\xff", "the file is not text", "name the .xml of a model"),
        (b"<net name='\xff'/>", "byte 11 (0xff) is not UTF-8 text", "save the file as UTF-8"),
    ],
    ids=["zip", "gzip", "bzip2", "xz", "weights", "text"],
)
def test_what_is_not_text_is_told(data: bytes, message: str, remedy: str) -> None:
    with pytest.raises(ReadError) as raised:
        Document(data)
    (found,) = raised.value.diagnostics
    assert (found.code, found.message) == ("IR003", message)
    assert found.help is not None
    assert found.help.startswith(remedy)


def test_text_that_its_encoding_writes_in_two_ways_is_refused() -> None:
    """UTF-7 may write a letter as it is, or as here; the bytes that were read could not be written again."""
    with pytest.raises(ReadError, match="changes when it is decoded and encoded again"):
        Document(b'<?xml version="1.0" encoding="utf-7"?><net name="+AGE-"/>')


@pytest.mark.parametrize("path", sorted(RULES.glob("*/good.xml")), ids=lambda path: path.parent.name)
def test_places_do_not_depend_on_the_line_ends(path: Path) -> None:
    text = path.read_bytes()
    one, other = Document(text), Document(text.replace(b"\n", b"\r\n"))
    for mine, theirs in zip(elements(one), elements(other), strict=True):
        for name in (None, *map(str, mine.attrib)):
            assert one.columns(mine, name) == other.columns(theirs, name)


STYLES = {
    "OpenVINO": (b'<?xml version="1.0"?>\n<net name="a">\n\t<layers>\n\t\t<layer />', Style()),
    "Model Optimizer": (b'<net>\n\t<layers>\n\t\t<layer x="1"/>', Style(empty="/>")),
    "two blanks, CRLF": (b'<net name="a">\r\n  <layers>\r\n    <layer/>', Style("\r\n", "  ", '"', "/>")),
    "comment": (b"<!-- <net a='b'/> -->\n<net name=\"a\">\n  <layers>\n    <layer />", Style(unit="  ")),
    "declaration": (
        b"<?xml version='1.0' ?>\n<?more />?>\n<net><layers>\n <layer x='1'/>",
        Style(unit=" ", empty="/>"),
    ),
    "lines further inside": (b"<net><layers><layer>\n<data/>", Style("\n", "", '"', "/>")),
    "one line": (b"<net a='b'><layers><layer/></layers></net>", Style("", "", "'", "/>")),
}


@pytest.mark.parametrize(("text", "style"), STYLES.values(), ids=STYLES)
def test_style_of(text: bytes, style: Style) -> None:
    assert Style.of(text) == style
