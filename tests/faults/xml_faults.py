"""Bytes and XML: files that no XML parser should take, or that a careful one refuses."""

from __future__ import annotations

import gzip
import io
import random
import re
import zipfile
from collections.abc import Callable
from xml.parsers import expat

from tests.faults.define import Expect, Fault, pick

__all__ = ["FAULTS"]

GROUP = "xml"
FAULTS: list[Fault] = []
Finish = Callable[[str, random.Random], tuple[bytes, list[int]]]
START = re.compile(r"<(layer|data|port|edge|net|input|output|dim|layers|edges)\b[^>]*>")


def _where(data: bytes) -> list[int]:
    """The line on which a parser gives up."""
    parser = expat.ParserCreate()
    try:
        parser.Parse(data, True)
    except expat.ExpatError as why:
        return [why.lineno]
    return []


def _line(text: str, at: int) -> int:
    return len(re.findall(r"\r\n|\n|\r(?!\n)", text[:at])) + 1


def _add(kind: str, expect: Expect = "error", *, lines: bool = True) -> Callable[[Finish], Finish]:
    def register(finish: Finish) -> Finish:
        def finished(text: str, rng: random.Random) -> tuple[bytes, list[int]]:
            data, found = finish(text, rng)
            return data, sorted({*found, *_where(data)}) if lines and found else []

        FAULTS.append(Fault(kind, GROUP, expect, None, finished))
        return finish

    return register


# --- whole files --------------------------------------------------------------------------------------------------


def _whole(kind: str, make: Callable[[str, random.Random], bytes]) -> None:
    FAULTS.append(Fault(kind, GROUP, "error", None, lambda text, rng: (make(text, rng), [])))


def _zipped(text: str) -> bytes:
    store = io.BytesIO()
    with zipfile.ZipFile(store, "w") as archive:
        archive.writestr(zipfile.ZipInfo("model.xml"), text)
    return store.getvalue()


_whole("empty-file", lambda text, rng: b"")
_whole("only-white-space", lambda text, rng: b" \n\t\n")
_whole("only-declaration", lambda text, rng: b'<?xml version="1.0"?>\n')
_whole("only-comment", lambda text, rng: b'<?xml version="1.0"?><!-- nothing -->')
_whole("json-file", lambda text, rng: b'{"net": {"name": "x", "version": 11}}')
_whole("zero-bytes", lambda text, rng: bytes(4096))
_whole("random-bytes", lambda text, rng: rng.randbytes(2000))
_whole("gzipped", lambda text, rng: gzip.compress(text.encode(), mtime=0))
_whole("zipped", lambda text, rng: _zipped("<net/>"))
_whole("plain-text", lambda text, rng: b"See the documentation of the model.\n")
_whole("html-page", lambda text, rng: b"<html><body><h1>404</h1></body></html>")
_whole("git-lfs-pointer", lambda text, rng: b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n")
_whole("merge-conflict", lambda text, rng: (text[:300] + "\n<<<<<<< HEAD\n" + text[300:]).encode())
_whole("utf-16-cut-in-a-character", lambda text, rng: text.encode("utf-16")[:-1])
_whole("random-half-lost", lambda text, rng: text.encode()[: rng.randrange(40, len(text) // 2)])
_whole("beginning-lost", lambda text, rng: text.encode()[rng.randrange(30, len(text) // 2) :])
_whole("middle-lost", lambda text, rng: _without_middle(text, rng))
_whole("two-files-in-one", lambda text, rng: text.encode() * 2)
_whole("unclosed-comment-at-start", lambda text, rng: text.replace("<net", "<!-- <net", 1).encode())
_whole("encoding-unknown", lambda text, rng: _declared(text, "klingon"))
_whole("encoding-declared-utf-16", lambda text, rng: _declared(text, "UTF-16"))
_whole("space-before-declaration", lambda text, rng: b" " + text.encode())
_whole("blank-line-before-declaration", lambda text, rng: b"\n" + text.encode())
_whole("declaration-twice", lambda text, rng: b'<?xml version="1.0"?>\n' + text.encode())
_whole(
    "declaration-without-version",
    lambda text, rng: re.sub(r"<\?xml[^>]*\?>", '<?xml encoding="utf-8"?>', text).encode(),
)
_whole("deep-nesting", lambda text, rng: _deep(text, 100_000))
_whole("quite-deep-nesting", lambda text, rng: _deep(text, 5_000))


def _without_middle(text: str, rng: random.Random) -> bytes:
    start = rng.randrange(len(text) // 4, len(text) // 2)
    data = (text[:start] + text[start + rng.randrange(200, 500) :]).encode()
    return data if _where(data) else text[:start].encode()


def _declared(text: str, encoding: str) -> bytes:
    return re.sub(r"<\?xml[^>]*\?>", f'<?xml version="1.0" encoding="{encoding}"?>', text).encode()


def _deep(text: str, depth: int) -> bytes:
    return text.replace("</net>", "<a>" * depth + "</a>" * depth + "</net>").encode()


# --- a place in the text ------------------------------------------------------------------------------------------


def _at(kind: str, pattern: str, new: str | Callable[[re.Match[str], random.Random], str]) -> None:
    """Replaces one random match of a pattern; the line of the match is the offending one."""

    def finish(text: str, rng: random.Random) -> tuple[bytes, list[int]]:
        match = pick(rng, list(re.finditer(pattern, text)))
        replaced = match.expand(new) if isinstance(new, str) else new(match, rng)
        changed = text[: match.start()] + replaced + text[match.end() :]
        data = changed.encode("utf-8", "surrogateescape")
        return data, [_line(text, match.start()), _line(text, match.end())]

    _add(kind)(finish)


NAME = r"layers|layer|data|port|edges|edge|input|output|net"
_at("end-tag-misspelled", r"</(layer|port|input|output|dim)>", lambda m, rng: f"</{m[1]}{rng.choice('sxX1')}>")
_at("end-tag-of-another", r"</(port|dim|input|output)>", "</layer>")
_at("end-tag-in-capitals", r"</(layer|port|dim)>", lambda m, rng: m[0].upper())
_at("end-tag-lost", r"</(port|dim|layer|input|output|layers|edges|net)>", "")
_at("end-tag-twice", r"</(port|dim|layer|input|output|layers|edges)>", r"\g<0>\g<0>")
_at("end-tag-with-space", r"</(port|layer)>", r"</ \1>")
_at("start-tag-lost", r"<(port|layer|input|output|layers)\b[^>]*[^/]>", "")
_at("not-closed", r" ?/>", ">")
_at("bracket-lost", r"<(dim|port|layer|edge|data)\b", r"\1")
_at("closing-bracket-lost", r"(<(?:layer|port|edge)\b[^>]*)>", r"\1")
_at("opening-quote-lost", r'(<(?:layer|data|port|edge)\b[^>]*?=)"', r"\1")
_at("closing-quote-lost", r'(<(?:layer|data|port|edge)\b[^>]*?="[^"]*)"', r"\1")
_at("value-without-quotes", r'(<(?:layer|data|port|edge)\b[^>]*?=)"([\w.]+)"', r"\1\2")
_at("attribute-without-value", r"(<(?:layer|data|port|edge)\b)", r"\1 optional")
_at("attribute-without-equals", r'(<(?:layer|data|port|edge)\b[^>]*?\w)="', r'\1 "')
_at("no-space-between-attributes", r'(<(?:layer|edge)\b[^>]*?")\s(?=\w)', r"\1")
_at("less-in-a-value", r'(<layer\b[^>]*? name=")', r"\1a<b")
_at("ampersand-in-a-value", r'(<layer\b[^>]*? name=")', r"\1a & b")
_at("ampersand-in-text", r"<dim>", "<dim>&")
_at("undefined-entity-in-a-value", r'(<layer\b[^>]*? name=")', r"\1&nbsp;")
_at("undefined-entity-in-text", r"<(layers|edges|input|output)>", r"\g<0>&foo;")
_at("entity-without-semicolon", r'(<layer\b[^>]*? name=")', r"\1&amp x")
_at("reference-to-null", r'(<layer\b[^>]*? name=")', r"\1&#0;")
_at("reference-to-a-control-character", r'(<layer\b[^>]*? name=")', r"\1&#x1F;")
_at("reference-to-a-surrogate", r'(<layer\b[^>]*? name=")', r"\1&#xD800;")
_at("reference-too-large", r'(<layer\b[^>]*? name=")', r"\1&#x110000;")
_at("reference-without-number", r'(<layer\b[^>]*? name=")', r"\1&#;")
_at("null-in-a-name", r'(<layer\b[^>]*? name=")', "\\1\x00")
_at("null-between-elements", r"<(layer|edge|port)\b", "\x00\\g<0>")
_at("control-character-in-a-name", r'(<layer\b[^>]*? name=")', "\\1\x01")
_at("bell-between-elements", r"<(layer|edge|port)\b", "\x07\\g<0>")
_at("escape-in-text", r"<dim>", "<dim>\x1b")
_at("non-character-in-a-name", r'(<layer\b[^>]*? name=")', "\\1\uffff")
_at("utf-8-cut", r'(<layer\b[^>]*? name=")', lambda m, rng: m[0] + b"\xe2\x82".decode("utf-8", "surrogateescape"))
_at(
    "utf-8-lone-continuation",
    r'(<layer\b[^>]*? name=")',
    lambda m, rng: m[0] + b"\x80".decode("utf-8", "surrogateescape"),
)
_at("utf-8-overlong", r'(<layer\b[^>]*? name=")', lambda m, rng: m[0] + b"\xc0\xaf".decode("utf-8", "surrogateescape"))
_at(
    "utf-8-surrogate",
    r'(<layer\b[^>]*? name=")',
    lambda m, rng: m[0] + b"\xed\xa0\x80".decode("utf-8", "surrogateescape"),
)
_at(
    "utf-8-beyond-unicode",
    r'(<layer\b[^>]*? name=")',
    lambda m, rng: m[0] + b"\xf5\x80\x80\x80".decode("utf-8", "surrogateescape"),
)
_at("latin-1-letter", r'(<layer\b[^>]*? name=")', lambda m, rng: m[0] + b"\xe4".decode("utf-8", "surrogateescape"))
_at(
    "invalid-utf-8-between-elements",
    r"<(layer|edge|port)\b",
    lambda m, rng: b"\xff".decode("utf-8", "surrogateescape") + m[0],
)
_at("tag-name-starts-with-digit", r"<(layer|edge|data)\b", r"<1\1")
_at("tag-name-after-space", r"<(layer|edge|data)\b", r"< \1")
_at("comment-with-dashes", r"<(layer|edge|port)\b", r"<!-- a -- b -->\g<0>")
_at("comment-ends-with-dash", r"<(layer|edge|port)\b", r"<!-- a --->\g<0>")
_at("comment-not-closed", r"<(layer|edge|port)\b", r"<!-- a \g<0>")
_at("comment-inside-a-tag", r"<(layer|edge|port)\b", r"\g<0> <!-- a -->")
_at("instruction-not-closed", r"<(layer|edge|port)\b", r"<?a \g<0>")
_at("cdata-not-closed", r"<(layer|edge|port)\b", r"<![CDATA[ \g<0>")
_at("cdata-end-in-text", r"<(layers|edges)>", r"\g<0>]]>")
_at("declaration-inside", r"<(layers|edges)>", r'<?xml version="1.0"?>\g<0>')
_at("doctype-inside", r"<(layers|edges)>", r"<!DOCTYPE net>\g<0>")
_at("attribute-twice-same-value", r"(<(?:layer|data|port|edge|net)\b[^>]*?)( [\w-]+=\"[^\"]*\")", r"\1\2\2")
_at("attribute-twice-other-value", r"(<(?:layer|data|port|edge|net)\b[^>]*?)( [\w-]+=\")([^\"]*\")", r'\1\2\3\g<2>9"')
_at("layer-id-twice-in-a-tag", r"(<layer\b)([^>]*? id=\"\d+\")", r'\1 id="7"\2')
_at("layer-type-twice-in-a-tag", r"(<layer\b)([^>]*? type=\"\w+\")", r'\1 type="Relu"\2')
_at("data-attribute-twice", r"(<data\b)( [\w-]+=\"[^\"]*\")", r"\1\2\2")
_at("edge-attribute-twice", r"(<edge\b)( [\w-]+=\"[^\"]*\")", r"\1\2\2")
_at("unbound-prefix", r"<(layer)\b([^>]*[^/]>)", r"<ov:\1\2")


# --- before and after the root ------------------------------------------------------------------------------------


def _around(kind: str, before: str = "", after: str = "", root: str = "<net") -> None:
    def finish(text: str, rng: random.Random) -> tuple[bytes, list[int]]:
        at = text.index(root)
        changed = text[:at] + before + text[at:].rstrip("\n") + after + "\n"
        line = _line(changed, at if before else len(changed) - len(after) - 1)
        return changed.encode(), [line, *range(line, _line(changed, len(changed) - 1) + 1)] if after else [line]

    _add(kind)(finish)


BOMB = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
_around("doctype", "<!DOCTYPE net>\n")
_around("doctype-with-system-id", '<!DOCTYPE net SYSTEM "net.dtd">\n')
_around("doctype-from-the-network", '<!DOCTYPE net PUBLIC "-//x//y" "http://localhost:9/net.dtd">\n')
_around("doctype-with-entity", '<!DOCTYPE net [<!ENTITY a "b">]>\n')
_around("entity-bomb", f'<!DOCTYPE net [<!ENTITY a0 "aaaaaaaaaa">{BOMB}]>\n', "&a9;")
_around("external-entity", '<!DOCTYPE net [<!ENTITY a SYSTEM "file:///etc/hostname">]>\n')
_around("parameter-entity", '<!DOCTYPE net [<!ENTITY % a SYSTEM "file:///etc/hostname"> %a;]>\n')
_around("doctype-with-element-rules", "<!DOCTYPE net [<!ELEMENT net ANY>]>\n")
_around("lower-case-doctype", "<!doctype net>\n")
_around("text-before-root", "hello\n")
_around("text-after-root", "", "\nhello")
_around("entity-after-root", "", "\n&amp;")
_around("cdata-after-root", "", "\n<![CDATA[x]]>")
_around("second-root", "", '\n<net name="b" version="11"><layers/><edges/></net>')
_around("second-empty-root", "", "\n<net/>")
_around("other-element-after-root", "", "\n<meta_data/>")
_around("element-before-root", "<meta/>\n")
_around("end-tag-after-root", "", "</net>")
_around("null-after-root", "", "\x00")


@_add("invalid-utf-8-after-root")
def _invalid_tail(text: str, rng: random.Random) -> tuple[bytes, list[int]]:
    return text.encode() + b"<!-- \xff -->", [_line(text, len(text))]


@_add("invalid-utf-8-in-a-comment")
def _invalid_comment(text: str, rng: random.Random) -> tuple[bytes, list[int]]:
    at = text.index("<layers>")
    return text[:at].encode() + b"<!-- \xfe\xff -->" + text[at:].encode(), [_line(text, at)]


@_add("ascii-declared-with-other-letters")
def _not_ascii(text: str, rng: random.Random) -> tuple[bytes, list[int]]:
    changed = re.sub(r"<\?xml[^>]*\?>", '<?xml version="1.0" encoding="US-ASCII"?>', text)
    at = pick(rng, [match.end() for match in re.finditer(r'<layer\b[^>]*? name="', changed)])
    return (changed[:at] + "\u00e4" + changed[at:]).encode(), [_line(changed, at)]
