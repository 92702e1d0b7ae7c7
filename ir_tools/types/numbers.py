"""Whole numbers as files write them."""

__all__ = ["whole_number"]

MAX_DIGITS = 20
"""Of a 64-bit number."""


def whole_number(text: str | None) -> int | None:
    """The number of a text of ASCII digits, blanks around them welcome; None for any other, or one beyond 64 bits."""
    word = (text or "").strip()
    return int(word) if word.isascii() and word.isdecimal() and len(word) <= MAX_DIGITS else None
