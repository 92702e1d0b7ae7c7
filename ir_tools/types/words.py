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
    similar = [other for other, own in _similar_length(words, len(plain)) if _may_be_close(plain, letters, other, own)]
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
def _similar_length(words: tuple[str, ...], length: int) -> Sequence[tuple[str, int]]:
    """Return the words that are not too long or short to be close to one of this length, and their letters."""
    return [
        (word, _letters(word)) for word in _known(words) if 2 * min(length, len(word)) >= CLOSE * (length + len(word))
    ]


def _may_be_close(first: str, letters: int, second: str, others: int) -> bool:
    """Return whether two words share enough letters, in any order; quickly, since most words are not alike."""
    shared = min(len(first) - (letters & ~others).bit_count(), len(second) - (others & ~letters).bit_count())
    return 2 * shared >= CLOSE * (len(first) + len(second))


def _letters(word: str) -> int:
    """Return the letters as bits; letters that share a bit are taken for the same."""
    bits = 0
    for letter in set(word):
        bits |= 1 << (ord(letter) & 63)
    return bits


def _plain(word: str) -> str:
    """Return a word as it is compared: case, dashes and underscores make no difference."""
    return word.lower().replace("-", "").replace("_", "")
