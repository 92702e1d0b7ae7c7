"""Where a text that is no XML is broken: which tag is to blame, and which layer is around it.

The parser stops where it cannot go on: for a forgotten end tag that may be far behind the element. Here the tags up to
that place are read once more, as far as they look like tags.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ir_tools.source.grammar import GRAMMAR
from ir_tools.types import id_number

__all__ = ["HIDDEN_ENDS", "broken_place"]

_TOKEN = re.compile(
    rb"(?P<hidden><!--|<!\[CDATA\[|<\?)"
    rb"|<(?P<end>/?)(?P<name>[A-Za-z_][\w:.-]*+)(?P<rest>(?:[^<>\"']|\"[^\"<]*+\"|'[^'<]*+')*+)>"
)
HIDDEN_ENDS = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
"""What opens a comment, CDATA or a processing instruction, and what closes it."""
_AROUND = {
    child.encode(): tuple(parent.encode() for parent, tag in GRAMMAR.items() if child in tag.children)
    for child in (*GRAMMAR, "rt_info")
}
"""In what an element may be."""
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
    end: int
    rest: bytes


class _Misplaced(NamedTuple):
    """A start tag inside an element that holds no such: how many are open, what it is, and what is before it."""

    depth: int
    name: bytes
    gap: int
    last_end: int


def broken_place(text: bytes, line: int, column: int) -> BrokenPlace:
    """Return what is to blame where the parser stopped, on `line` and in `column` (of characters or bytes, from 1)."""
    return _Search(text, line, column).place()


class _Search:
    """The tags up to the place where the parser stopped."""

    def __init__(self, text: bytes, line: int, column: int) -> None:
        self.text = text
        self.line = line
        self.start = _line_start(text, line)
        self.stopped = min(self.start + max(column - 1, 0), len(text))
        self.opened: list[_Tag] = []
        self.misplaced: _Misplaced | None = None
        self.last_end = 0

    def place(self) -> BrokenPlace:
        """Return what is to blame."""
        opened = self.opened
        for token in _tags(self.text, self.stopped):
            name = token["name"]
            if name is None:
                return self._inside(token.start())._replace(message=f"{token[0].decode()} has no end")
            if not token["end"]:
                self._open(name, token)
            elif opened and opened[-1].name == name:
                opened.pop()
                if self.misplaced and self.misplaced.depth > len(opened):
                    self.misplaced = None
            elif token.end() >= self.start:
                return self._unmatched(name, token)
            else:
                break
            self.last_end = token.end()
        return self._inside(self.start)

    def _open(self, name: bytes, token: re.Match[bytes]) -> None:
        around = self.opened[-1].name if self.opened else b""
        if self.misplaced is None and around and around not in _AROUND.get(name, (around,)):
            self.misplaced = _Misplaced(len(self.opened), name, self._gap(token.start()), self.last_end)
        if not token["rest"].endswith(b"/"):
            self.opened.append(_Tag(name, token.start(), token.end(), token["rest"]))

    def _gap(self, at: int) -> int:
        """Return where a tag is missing between the one before and `at`: at a text or empty line, if there is one."""
        between = self.text[self.last_end : at]
        if between.strip():
            return self.last_end + len(between) - len(between.lstrip())
        lines = between.split(b"\n")
        return at if len(lines) < 3 else self.last_end + len(lines[0]) + 1

    def _unmatched(self, name: bytes, token: re.Match[bytes]) -> BrokenPlace:
        """Judge an end tag that is not that of the innermost element: it is wrong, or another tag is missing."""
        opened, misplaced = self.opened, self.misplaced
        depths = [depth for depth, tag in enumerate(opened) if tag.name == name]
        end = f"</{name.decode(errors='replace')}>"
        if misplaced and name in _AROUND[misplaced.name] and (not depths or depths[-1] != misplaced.depth - 2):
            del opened[misplaced.depth :]
            where, remedy = f"{end} on line {self._line(token.start())}", f"write <{end[2:-1]} ...>"
            misspelt = opened[-1]
            if misspelt.name not in _AROUND:
                message = f"{where} ends <{misspelt.name.decode(errors='replace')}>"
                return self._inside(misspelt.start)._replace(message=message, help=remedy)
            message = f"{where} ends nothing"
            return self._inside(misplaced.gap)._replace(message=message, help=f"{remedy} where it begins")
        if not depths:
            remedy = f"<{opened[-1].name.decode(errors='replace')}> is open here" if opened else "delete it"
            return self._inside(token.start())._replace(message=f"{end} ends nothing", help=remedy)
        after = next(_tags(self.text, len(self.text), token.end()), None)
        if after and after["end"] and after["name"] == opened[-2].name:
            called = opened[-1].name.decode(errors="replace")
            return self._inside(token.start())._replace(message=f"{end} ends <{called}>", help=f"write </{called}>")
        gap, last_end = self._gap(token.start()), self.last_end
        if misplaced:
            del opened[misplaced.depth :]
            gap, last_end = misplaced.gap, misplaced.last_end
        tag = opened[-1]
        if tag.end == last_end:
            gap = tag.start
        called = tag.name.decode(errors="replace")
        message = f"<{called}> of line {self._line(tag.start)} has no end"
        return self._inside(gap)._replace(message=message, help=f"write </{called}> at its end")

    def _line(self, at: int) -> int:
        return self.text.count(b"\n", 0, at) + 1

    def _inside(self, at: int) -> BrokenPlace:
        """Return a place inside the elements that are open there."""
        opened, line = self.opened, self._line(at)
        layers = [place for place, tag in enumerate(opened) if tag.name == b"layer"]
        if not layers:
            return BrokenPlace(line)
        words: list[str] = []
        for place in layers:
            words.append(_attribute(opened[place].rest, "name") or "")
            if place != layers[-1] and place + 1 < len(opened):
                words.append(opened[place + 1].name.decode(errors="replace"))
        number = id_number(_attribute(opened[layers[-1]].rest, "id"))
        return BrokenPlace(line, number, words[-1], "/".join(words))


def _tags(text: bytes, stopped: int, at: int = 0) -> Iterator[re.Match[bytes]]:
    """Yield every tag that starts before `stopped`; last, a comment that has no end."""
    while (token := _TOKEN.search(text, at)) and token.start() < stopped:
        at = token.end()
        if token["hidden"]:
            at = text.find(HIDDEN_ENDS[token["hidden"]], at)
            if at < 0:
                yield token
                return
        else:
            yield token


def _attribute(rest: bytes, name: str) -> str | None:
    found = re.search(_ATTRIBUTE % name, rest.decode(errors="replace"))
    return None if found is None else found[1] if found[1] is not None else found[2]


def _line_start(text: bytes, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = text.find(b"\n", at) + 1
    return at
