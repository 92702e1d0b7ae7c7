"""Integers as files write them."""

__all__ = ["id_number", "whole_number"]

MAX_DIGITS = 20
"""Of a 64-bit number."""
SURE_DIGITS = 19
"""A number of fewer digits is below 2^63."""


def whole_number(text: str | None) -> int | None:
    """Return the number of a text of ASCII digits, blanks around them welcome.

    None for any other, or one beyond 64 bits.
    """
    word = (text or "").strip()
    return int(word) if word.isascii() and word.isdecimal() and len(word) <= MAX_DIGITS else None


def id_number(text: str | None) -> int | None:
    """Return the number of a layer, a port or a byte.

    As `whole_number`, but as exact as the runtime, which takes no more.

    Blanks and a plus sign may stand before it, nothing behind it, and it is below 2^63.
    """
    if text is not None and len(text) < SURE_DIGITS and text.isdecimal() and text.isascii():
        return int(text)
    word = (text or "").lstrip(" \t\r\n").removeprefix("+")
    if not (word.isascii() and word.isdecimal() and len(word) <= MAX_DIGITS):
        return None
    number = int(word)
    return number if number < 1 << 63 else None
