"""Text from files of strangers on the terminals of people and in the logs of CI systems: nothing in it is a command."""

import re

__all__ = ["escaped", "visible"]

_GITHUB = re.compile(r"^(\s*):(?=:[\w-]+( .*)?::)")
"""A line that GitHub Actions takes for a command: `::error file=a.xml::text`."""
_HASHES = re.compile(r"##(?=\w*\[)")
"""What other CI systems take for one, wherever it is: `##vso[task.complete]`, `##teamcity[`, `##[error]`."""

_STEERING = re.compile("(?<=#)#|[\\x7f-\\x9f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]")
"""In a JSON document: the second of two such signs, and characters that end lines, are invisible or turn the text."""


def escaped(document: str) -> str:
    """Return the JSON document with escapes for all that would steer a terminal or a CI system."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def visible(text: str) -> str:
    """Return the text on one line, with a dot for every character that is not printed or would begin a command."""
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() else " " if letter == "\t" else "·" for letter in text)
    return _HASHES.sub("#·", _GITHUB.sub(r"\1·", text)) if "::" in text or "##" in text else text
