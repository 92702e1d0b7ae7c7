"""Where a text that is no XML is broken: which tag is to blame, and which layer stands around it.

The parser stops where it cannot go on: for a forgotten end tag that may be far behind the element. Here the tags up to
that place are read once more, as far as they look like tags.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["HIDDEN_ENDS", "BrokenPlace", "broken_place"]

_TOKEN = re.compile(
    rb"(?P<hidden><!--|<!\[CDATA\[|<\?)"
    rb"|<(?P<end>/?)(?P<name>[A-Za-z_][\w:.-]*+)(?P<rest>(?:[^<>\"']|\"[^\"<]*+\"|'[^'<]*+')*+)>"
)
HIDDEN_ENDS = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
"""What opens a comment, CDATA or a processing instruction, and what closes it."""
_ATTRIBUTE = r"(?<![\w:.-])%s\s*=\s*(?:\"([^\"]*)\"|'([^']*)')"


class BrokenPlace(NamedTuple):
    """The place of a fault of XML in the words of a diagnostic; `message` where it is clearer than the parser's."""

    line: int
    layer_id: int | None = None
    layer_name: str | None = None
    path: str | None = None
    message: str | None = None
    help: str | None = None


class _Tag(NamedTuple):
    name: bytes
    start: int
    rest: bytes


def broken_place(text: bytes, line: int, column: int) -> BrokenPlace:
    """What is to blame where the parser stopped, on `line` and in `column` (of characters or bytes, from 1)."""
    start = _line_start(text, line)
    stopped = min(start + max(column - 1, 0), len(text))
    opened: list[_Tag] = []
    for token in _tags(text, stopped):
        name = token["name"]
        if not token["end"]:
            opened.append(_Tag(name, token.start(), token["rest"]))
        elif opened and opened[-1].name == name:
            opened.pop()
        elif token.end() >= start:
            return _unmatched(text, opened, name, token.start())
        else:
            break
    return _inside(text, opened, line)


def _tags(text: bytes, stopped: int) -> Iterator[re.Match[bytes]]:
    """Every tag that starts before `stopped`, but for those without content."""
    at = 0
    while (token := _TOKEN.search(text, at)) and token.start() < stopped:
        at = token.end()
        if token["hidden"]:
            at = text.find(HIDDEN_ENDS[token["hidden"]], at)
            if at < 0:
                return
        elif not token["rest"].endswith(b"/"):
            yield token


def _unmatched(text: bytes, opened: list[_Tag], name: bytes, at: int) -> BrokenPlace:
    """An end tag that is not that of the innermost element."""
    line = text.count(b"\n", 0, at) + 1
    end = f"</{name.decode(errors='replace')}>"
    if not any(tag.name == name for tag in opened):
        last = opened[-1].name.decode(errors="replace") if opened else None
        remedy = f"<{last}> is open here" if last else "delete it"
        return _inside(text, opened, line)._replace(message=f"{end} ends nothing", help=remedy)
    tag = opened[-1]
    first = text.count(b"\n", 0, tag.start) + 1
    called = tag.name.decode(errors="replace")
    message = f"<{called}> has no end before {end} on line {line}"
    return _inside(text, opened, first)._replace(message=message, help=f"write </{called}> where it ends")


def _inside(text: bytes, opened: list[_Tag], line: int) -> BrokenPlace:
    """A place inside the elements that are open there."""
    layers = [place for place, tag in enumerate(opened) if tag.name == b"layer"]
    if not layers:
        return BrokenPlace(line)
    words: list[str] = []
    for place in layers:
        words.append(_attribute(opened[place].rest, "name") or "")
        if place != layers[-1] and place + 1 < len(opened):
            words.append(opened[place + 1].name.decode(errors="replace"))
    number = _attribute(opened[layers[-1]].rest, "id") or ""
    layer_id = int(number) if number.isascii() and number.isdecimal() and len(number) < 19 else None
    return BrokenPlace(line, layer_id, words[-1], "/".join(words))


def _attribute(rest: bytes, name: str) -> str | None:
    found = re.search(_ATTRIBUTE % name, rest.decode(errors="replace"))
    return None if found is None else found[1] if found[1] is not None else found[2]


def _line_start(text: bytes, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = text.find(b"\n", at) + 1
        if not at:
            return len(text)
    return at
