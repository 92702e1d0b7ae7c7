"""How a document is laid out: line ends, indentation, quotes, and the end of an empty tag."""

import re
from typing import NamedTuple, Self

__all__ = ["Style"]


class Style(NamedTuple):
    r"""The defaults are those of OpenVINO's own files.

    Attributes:
        newline: what ends a line; empty if the whole document is on one.
        unit: one step of indentation.
        quote: around attribute values.
        empty: the end of a tag without content, ` />` or `/>`.
    """

    newline: str = "\n"
    unit: str = "\t"
    quote: str = '"'
    empty: str = " />"

    @classmethod
    def of(cls, text: bytes) -> Self:
        """Return the style of a document, as its first elements show it."""
        head = text[: 1 << 16].decode(errors="replace")
        head = re.sub(r"<!--.*?-->|<\?.*?\?>", "", head, flags=re.DOTALL)
        step = re.search(r"<(?:net|layers)\b[^>]*>\s*?(\r?\n)([ \t]*)<", head)
        empty = re.search(r"(\s*/>)", head)
        quote = re.search(r"<net\b[^>]*?=\s*([\"'])", head)
        return cls(
            newline=step[1] if step else "\n" if re.search(r">\s*\n\s*<", head) else "",
            unit=step[2] if step else "",
            quote=quote[1] if quote else '"',
            empty=empty[1] if empty else " />",
        )
