"""Integers as files write them."""

from collections.abc import Iterable

__all__ = ["id_number", "product", "whole_number"]

MAX_DIGITS = 20
"""Of a 64-bit number."""
SURE_DIGITS = 19
"""A number of fewer digits is below 2^63."""
LARGEST_PRODUCT = 1 << 1024
"""More elements than any tensor has; a product of very many sizes is not worked out any further."""


def whole_number(text: str | None) -> int | None:
    """Return the number of a text of ASCII digits, blanks around them welcome.

    None for any other, or one beyond 64 bits.
    """
    word = (text or "").strip()
    return int(word) if word.isascii() and word.isdecimal() and len(word) <= MAX_DIGITS else None


def id_number(text: str | None) -> int | None:
    """Return the number of a layer, a port or a byte.

    As `whole_number`, but as exact as the runtime, which takes no more.

    Blanks and a plus sign may precede it, nothing may follow it, and it is below 2^63.
    """
    if text is None:
        return None
    if len(text) < SURE_DIGITS and text.isdecimal() and text.isascii():
        return int(text)
    word = text.lstrip(" \t\r\n").removeprefix("+")
    if not (word.isascii() and word.isdecimal() and len(word) <= MAX_DIGITS):
        return None
    number = int(word)
    return number if number < 1 << 63 else None


def product(sizes: Iterable[int]) -> int:
    """Return the product of sizes, `LARGEST_PRODUCT` if it is as much or more."""
    found = 1
    for size in sizes:
        if size != 1:
            found = min(found * size, LARGEST_PRODUCT)
    return found
