"""Misspelled words."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

__all__ = ["closest"]

CLOSE = 0.75
"""Twice the letters that two words share, in order, divided by all of theirs: a misspelling has at least as many."""


def closest(word: str, words: Iterable[str]) -> str | None:
    """Return the one of `words` that `word` may be a misspelling of."""
    return _closest(word, tuple(words))


@lru_cache(1024)
def _closest(word: str, words: tuple[str, ...]) -> str | None:
    known, plain = _known(words), _plain(word)
    if plain in known:
        return known[plain]
    letters = _letters(plain)
    size = len(plain)
    similar = [
        word
        for word, own, length, shared in _similar_length(words, size)
        if size - (letters & ~own).bit_count() >= shared and length - (own & ~letters).bit_count() >= shared
    ]
    if not similar:
        return None
    from difflib import get_close_matches

    found = get_close_matches(plain, similar, 1, CLOSE)
    return known[found[0]] if found else None


@lru_cache(64)
def _known(words: tuple[str, ...]) -> Mapping[str, str]:
    """Return the words by the form in which they are compared."""
    return {_plain(word): word for word in words}


@lru_cache(1024)
def _similar_length(words: tuple[str, ...], size: int) -> Sequence[tuple[str, int, int, float]]:
    """Return the words that are not too long or short to be close to one of this length.

    Each has its letters, its length, and how many letters, in any order, the two have to share: most words are not
    alike, which these numbers show quickly.
    """
    known = ((word, _letters(word), len(word), CLOSE * (size + len(word)) / 2) for word in _known(words))
    return [(word, letters, length, shared) for word, letters, length, shared in known if min(size, length) >= shared]


def _letters(word: str) -> int:
    """Return the letters as bits; letters that share a bit are taken for the same."""
    bits = 0
    for letter in set(word):
        bits |= 1 << (ord(letter) & 63)
    return bits


def _plain(word: str) -> str:
    """Return a word as it is compared: case, dashes and underscores make no difference."""
    return word.lower().replace("-", "").replace("_", "")
