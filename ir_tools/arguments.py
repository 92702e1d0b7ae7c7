"""Checks of the words that callers pass to public functions; the command line takes the same words."""

from collections.abc import Collection, Sequence

from ir_tools.errors import UsageError
from ir_tools.types.words import closest

__all__ = ["check_word", "word_list"]


def check_word(name: str, value: object, words: Sequence[str]) -> None:
    """Raise UsageError unless `value` is one of `words`; `name`: of the argument."""
    if value in words:
        return
    similar = closest(value, words) if isinstance(value, str) else None
    hint = f"; did you mean '{similar}'?" if similar else ""
    raise UsageError(f"{name} {value!r} is not one of {', '.join(map(repr, words))}{hint}")


def word_list(words: str | Collection[str]) -> tuple[str, ...]:
    """Return several words as a tuple; one text holds words with commas between them, as on the command line."""
    if isinstance(words, str):
        return tuple(word.strip() for word in words.split(",") if word.strip())
    return tuple(words)
