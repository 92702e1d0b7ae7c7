"""Patterns of paths in settings: `old/**`, `*.int8.xml`, `third_party`."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ir_tools.errors import UsageError

__all__ = ["Pattern"]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern as in `.gitignore`, without `!`.

    `*` and `?` stand for characters of one name, `**` for any folders. A pattern without a slash is compared with names
    alone, any other (`/old`, `old/a.xml`) with paths below `root`.

    Attributes:
        text: the pattern.
        root: the folder that it is relative to.
    """

    text: str
    root: Path

    def __post_init__(self) -> None:
        """Raise UsageError if the pattern can match nothing."""
        if not self.text.strip("/") or self.text.startswith("!"):
            raise UsageError(f"{self.text!r} is not a pattern; expected one such as 'old/**' or '*.int8.xml'")

    def matches(self, path: Path) -> bool:
        """Return whether the pattern matches this very path, which is absolute."""
        text = self.text.rstrip("/")
        if "/" not in text:
            return bool(_regex(text).fullmatch(path.name))
        below = text.removeprefix("./").removeprefix("/")
        return path.is_relative_to(self.root) and bool(_regex(below).fullmatch(path.relative_to(self.root).as_posix()))

    def covers(self, path: Path) -> bool:
        """Return whether the pattern matches a path or a folder below `root` that it is in."""
        return self.matches(path) or any(self.matches(up) for up in path.parents if up.is_relative_to(self.root))


@cache
def _regex(glob: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]*\])", glob)
    return re.compile("".join(_WILD.get(part) or _class(part) or re.escape(part) for part in parts), re.DOTALL)


_WILD = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _class(part: str) -> str:
    """Return `[a-z]` or `[!a-z]` as a class of a regular expression; nothing for other text."""
    if len(part) < 3 or part[0] != "[" or part[-1] != "]":
        return ""
    negated = part[1] == "!"
    inner = part[1 + negated : -1].replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]").replace("^", r"\^")
    return f"(?!/)[{'^' if negated else ''}{inner}]"
