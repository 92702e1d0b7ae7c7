"""Compute NonMaxSuppression and NMSRotated as the CPU plugin."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ir_tools.ops.definition import Array

__all__ = ["Rule", "Settings", "corners", "selected"]


class Rule(NamedTuple):
    """How much a box overlaps others, and which overlaps are too much for the threshold."""

    overlap: Callable[[Array, Array], Array]
    drops: Callable[[Array, float], Array]


class Settings(NamedTuple):
    """The most boxes of a class, thresholds, and how fast scores fall with overlap (0: boxes are dropped instead)."""

    maximum: int
    overlap: float
    score: float
    sigma: float = 0.0

    @classmethod
    def of(cls, inputs: Sequence[Array]) -> "Settings":
        """Read the inputs behind boxes and scores, as many as there are."""
        maximum, overlap, score, sigma = [*(float(array.ravel()[0]) for array in inputs), 0.0, 0.0, 0.0, 0.0][:4]
        return cls(int(maximum), overlap, score, sigma)


class Chosen(NamedTuple):
    """The boxes that stay: `[boxes, 3]` of image, class and box, and their scores."""

    places: Array
    scores: Array


def corners(boxes: Array, encoding: str) -> Array:
    """Return `[..., 4]` as two corners, the smaller coordinates first; their order among each other does not matter."""
    first, second = boxes[..., :2], boxes[..., 2:]
    if encoding == "center":
        return np.concatenate([first - second / 2, first + second / 2], axis=-1)
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=-1)


def selected(boxes: Array, scores: Array, settings: Settings, descending: bool, rule: Rule) -> Chosen:
    """Return the boxes of all images and classes that stay.

    Args:
        boxes: `[N, boxes, ...]`, as the rule takes them.
        scores: `[N, classes, boxes]`.
        settings: of the operation.
        descending: whether the result is sorted by score over all images and classes.
        rule: which boxes drop which.
    """
    places, values = [np.zeros((0, 3), np.int64)], [np.zeros(0, scores.dtype)]
    for image, classes in enumerate(scores):
        for label, row in enumerate(classes):
            kept, left = _of_class(boxes[image], row, settings, rule)
            head = np.broadcast_to(np.array([image, label]), (len(kept), 2))
            places.append(np.concatenate([head, kept[:, None]], axis=1))
            values.append(left)
    found = Chosen(np.concatenate(places), np.concatenate(values))
    if not descending:
        return found
    order = np.lexsort((*found.places.T[::-1], -found.scores))
    return Chosen(found.places[order], found.scores[order])


def _of_class(boxes: Array, scores: Array, settings: Settings, rule: Rule) -> tuple[Array, Array]:
    """Return the boxes of one class that stay, in the order in which they are chosen, and their scores then."""
    places = np.flatnonzero(scores > settings.score)
    left = scores[places]
    kept: list[int] = []
    values: list[Any] = []
    while places.size and len(kept) < settings.maximum:
        best = int(left.argmax())
        kept.append(int(places[best]))
        values.append(left[best])
        others = np.arange(len(places)) != best
        places, left = places[others], left[others]
        common = rule.overlap(boxes[kept[-1]], boxes[places])
        if settings.sigma > 0:
            left = left * np.exp(-0.5 / settings.sigma * common * common).astype(left.dtype)
            stays = left > settings.score
        else:
            stays = ~rule.drops(common, settings.overlap)
        places, left = places[stays], left[stays]
    return np.array(kept, np.int64), np.array(values, scores.dtype)
