"""Texts that lack one tag: the place that is told is the line where the tag was, and the layer around it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ir_tools.diagnostics import Diagnostic
from ir_tools.errors import ReadError
from ir_tools.source import Document

FOLDER = Path(__file__).parent.parent / "rules"
TEXTS = {name: (FOLDER / name / "good.xml").read_text() for name in ("repeated_element", "bad_back_edge")}
LINE = re.compile(r"^\t+<(?P<end>/?)(?P<name>\w+)\b[^<]*[^/<]>$")
"""A line that holds one start tag or one end tag and nothing else."""


def lines_of(text: str, *, ends: bool) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        match = LINE.match(line)
        if match and bool(match["end"]) == ends and match["name"] != "net":
            yield number, match["name"]


def without(text: str, number: int) -> bytes:
    lines = text.split("\n")
    lines[number - 1] = ""
    return "\n".join(lines).encode()


def layer_at(text: str, number: int) -> str:
    """The name of the innermost layer that is open at the end of a line."""
    opened: list[str] = []
    for line in text.split("\n")[:number]:
        start = re.search(r"<layer [^>]*name=\"(\w+)\"", line)
        if start:
            opened.append(start[1])
        elif "</layer>" in line:
            opened.pop()
    return opened[-1] if opened else ""


def told(text: bytes) -> Diagnostic:
    with pytest.raises(ReadError) as error:
        Document(text)
    [diagnostic] = error.value.diagnostics
    assert diagnostic.code == "IR002"
    return diagnostic


@pytest.mark.parametrize("name", TEXTS)
def test_an_end_tag_that_is_lost(name: str) -> None:
    text = TEXTS[name]
    for number, tag in lines_of(text, ends=True):
        diagnostic = told(without(text, number))
        assert diagnostic.line == number, (number, tag, str(diagnostic))
        assert (diagnostic.layer_name or "") == layer_at(text, number - 1), (number, tag, str(diagnostic))


@pytest.mark.parametrize("name", TEXTS)
def test_a_start_tag_that_is_lost(name: str) -> None:
    text = TEXTS[name]
    for number, tag in lines_of(text, ends=False):
        if tag == "port_map":  # what is in it may stand in a layer too
            continue
        diagnostic = told(without(text, number))
        assert diagnostic.line == number, (number, tag, str(diagnostic))


@pytest.mark.parametrize("name", TEXTS)
def test_a_misspelt_start_tag(name: str) -> None:
    text = TEXTS[name]
    for number, tag in lines_of(text, ends=False):
        lines = text.split("\n")
        lines[number - 1] = lines[number - 1].replace(f"<{tag}", f"<{tag}z", 1)
        diagnostic = told("\n".join(lines).encode())
        assert diagnostic.line == number, (number, tag, str(diagnostic))


@pytest.mark.parametrize("name", TEXTS)
def test_an_end_tag_of_another(name: str) -> None:
    text = TEXTS[name]
    for number, tag in lines_of(text, ends=True):
        if tag in {"port", "input", "output"}:
            lines = text.split("\n")
            lines[number - 1] = lines[number - 1].replace(tag, "layer")
            diagnostic = told("\n".join(lines).encode())
            assert diagnostic.line == number, (number, tag, str(diagnostic))
            assert diagnostic.layer_name == layer_at(text, number)


def test_an_end_that_is_lost_before_another_of_the_same_name_opens() -> None:
    """The next tag is that of the element around it, but opens one: no end tag was written in place of another."""
    text = (
        '<net>\n<layers><layer id="0" name="x">\n<input>\n<port>\n<dim>1{}\n</port>\n'
        "<port>\n</port></input></layer></layers></net>"
    )
    Document(text.format("</dim>").encode())
    found = told(text.format("").encode())
    assert (found.line, found.message) == (5, "not well-formed XML: <dim> of line 5 has no end")


def test_what_opens_and_never_ends() -> None:
    assert told(b"<net>\n<layers>\n<!-- a\n<layer/></layers></net>").line == 3
    assert told(b"<net>\n<layers><![CDATA[\n</layers></net>").line == 2


def test_thousands_of_comments_that_never_end_take_no_time() -> None:
    assert told(b"<net>" + b"<!-- " * 200_000).line == 1
