"""Edits of a text that leave every other byte alone."""

from operator import itemgetter

__all__ = ["Patch"]


class Patch:
    """Replacements of parts of one text. At one place, they take effect in the order in which they were made."""

    def __init__(self) -> None:
        """No edits."""
        self._edits: list[tuple[int, int, bytes]] = []

    def replace(self, start: int, end: int, new: bytes) -> None:
        """Put `new` in place of the bytes from `start` to `end`; nothing is cut where both are the same."""
        self._edits.append((start, end, new))

    def __len__(self) -> int:
        """Return how many edits there are."""
        return len(self._edits)

    def behind(self, number: int) -> list[tuple[int, int, bytes]]:
        """Return the edits but for the first `number`."""
        return self._edits[number:]

    def apply(self, text: bytes, start: int = 0, end: int | None = None) -> bytes:
        """Return the text, or its part from `start` to `end`, with the edits made."""
        parts, at = [], start
        for first, last, new in sorted(self._edits, key=itemgetter(0, 1)):
            assert first >= at, "edits overlap"
            parts += [text[at:first], new]
            at = last
        parts.append(text[at:end])
        return b"".join(parts)
