"""Misspelled words."""

from collections.abc import Iterable
from functools import lru_cache

__all__ = ["closest"]


def closest(word: str, words: Iterable[str]) -> str | None:
    """That of `words` which `word` may be a misspelling of."""
    return _closest(word, tuple(words))


@lru_cache(1024)
def _closest(word: str, words: tuple[str, ...]) -> str | None:
    from difflib import get_close_matches

    known = {_plain(other): other for other in words}
    exact = known.get(_plain(word))
    if exact is not None:
        return exact
    found = get_close_matches(_plain(word), known, 1, 0.75)
    return known[found[0]] if found else None


def _plain(word: str) -> str:
    """A word as it is compared: case, dashes and underscores make no difference."""
    return word.lower().replace("-", "").replace("_", "")
