"""Layers beside those that show the rows of releases, and which of them a row is about, too."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ir_tools.known_differences._model import Call, Feed

__all__ = ["Beside", "Feed", "beside"]


class Beside(NamedTuple):
    """A model that is like that of a row, and whether a layer of it falls under the row."""

    row: str
    falls: bool
    model: Call


def beside(row: str, *, falling: Sequence[Call] = (), others: Sequence[Call] = ()) -> Iterator[Beside]:
    """Yield models with a layer that falls under a row, and others."""
    for falls, models in ((True, falling), (False, others)):
        yield from (Beside(row, falls, model) for model in models)
