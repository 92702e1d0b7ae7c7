"""MatrixNms and MulticlassNms: boxes of all classes of each image, the best of them, in the order asked for."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ir_tools.ops._overlaps import overlaps
from ir_tools.ops.definition import Array
from ir_tools.ops.fields import Attrs

__all__ = ["Found", "matrix", "multiclass"]


class Found(NamedTuple):
    """`[boxes, 6]` of class, score and corners; `[boxes, 1]` places of the boxes; `[images]` how many each has."""

    rows: Array
    places: Array
    counts: Array


class Candidates(NamedTuple):
    """Boxes of one image: class, score, number of the box, and corners."""

    labels: Array
    scores: Array
    boxes: Array
    corners: Array

    def take(self, order: Array) -> "Candidates":
        """Return some of them."""
        return Candidates(*(array[order] for array in self))


Choose = Callable[[Array, Array], tuple[Array, Array]]
"""`(corners [boxes, 4], scores [boxes]) -> ` the places of those that stay and their scores then."""

# --- one class --------------------------------------------------------------------------------------------------


def _best(scores: Array, places: Array, maximum: int) -> Array:
    """Return places by falling score, at most `most` of them (below 0: all)."""
    order = places[np.lexsort((places, -scores[places]))]
    return order if maximum < 0 else order[:maximum]


def _decayed(attrs: Attrs) -> Choose:
    """Let scores fall by how much a box overlaps better ones, and by how much those overlap better ones themselves."""

    def choose(corners: Array, scores: Array) -> tuple[Array, Array]:
        order = _best(scores, np.flatnonzero(scores > attrs.score_threshold), attrs.nms_top_k)
        offset = 0.0 if attrs.normalized else 1.0
        table = np.array([overlaps(corners[place], corners[order], offset) for place in order], scores.dtype)
        lower = np.tril(table.reshape(len(order), len(order)), -1)
        worst = lower.max(axis=1, initial=0)
        if attrs.decay_function == "gaussian":
            decay = np.exp((worst * worst - lower * lower) * attrs.gaussian_sigma)
        else:
            decay = (1 - lower) / (1 - worst + 1e-10)
        before = np.tri(len(order), k=-1, dtype=bool)
        left = scores[order] * np.where(before, decay, 1).min(axis=1, initial=1)
        stays = left > attrs.post_threshold
        return order[stays], left[stays].astype(scores.dtype)

    return choose


def _greedy(attrs: Attrs) -> Choose:
    """Let a box drop all later ones that overlap it; with `nms_eta` the threshold falls with each box that stays."""

    def choose(corners: Array, scores: Array) -> tuple[Array, Array]:
        left = _best(scores, np.flatnonzero(scores >= attrs.score_threshold), attrs.nms_top_k)
        kept: list[int] = []
        threshold, offset = attrs.iou_threshold, 0.0 if attrs.normalized else 1.0
        for place in left:
            if (overlaps(corners[place], corners[kept], offset, near=True) >= threshold).any():
                continue
            kept.append(int(place))
            if attrs.nms_eta < 1 and threshold > 0.5:
                threshold *= attrs.nms_eta
        places = np.array(kept, np.int64)
        return places, scores[places]

    return choose


# --- one image --------------------------------------------------------------------------------------------------


def _of_image(attrs: Attrs, choose: Choose, corners: Sequence[Array], scores: Array) -> Candidates:
    """Return the best boxes of all classes but the background; `corners` of each class."""
    parts = [Candidates(np.zeros(0, int), np.zeros(0, scores.dtype), np.zeros(0, int), np.zeros((0, 4), scores.dtype))]
    for label, row in enumerate(scores):
        if label != attrs.background_class:
            places, left = choose(corners[label], row)
            parts.append(Candidates(np.full(len(places), label), left, places, corners[label][places]))
    found = Candidates(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    order = np.lexsort((found.boxes, found.labels, -found.scores))
    return found.take(order if attrs.keep_top_k < 0 else order[: attrs.keep_top_k])


# --- all images -------------------------------------------------------------------------------------------------


def matrix(attrs: Attrs, boxes: Array, scores: Array) -> Found:
    """Take `boxes` `[N, boxes, 4]`, `scores` `[N, classes, boxes]`; of an image always the best first (measured)."""
    images = list(_shared(attrs, _decayed(attrs), boxes, scores))
    return _together(attrs, images, boxes.shape[1], within=False)


def multiclass(attrs: Attrs, boxes: Array, scores: Array, counts: Array | None = None) -> Found:
    """Return the same inputs.

    With `counts` of the boxes of each image, boxes are `[classes, boxes of all images, 4]`.
    """
    if counts is None:
        return _together(attrs, list(_shared(attrs, _greedy(attrs), boxes, scores)), boxes.shape[1])
    ends = np.cumsum(counts)
    images = []
    for begin, end in zip(ends - counts, ends, strict=True):
        found = _of_image(attrs, _greedy(attrs), list(boxes[:, begin:end]), scores[:, begin:end])
        images.append(found._replace(boxes=(found.boxes + begin) * len(boxes) + found.labels))
    return _together(attrs, images, 0)


def _shared(attrs: Attrs, choose: Choose, boxes: Array, scores: Array) -> Iterator[Candidates]:
    for corners, classes in zip(boxes, scores, strict=True):
        yield _of_image(attrs, choose, [corners] * len(classes), classes)


def _together(attrs: Attrs, images: list[Candidates], each: int, *, within: bool = True) -> Found:
    """Return the boxes of all images; `each` counts the boxes of an image, for places among those of all.

    Without `within` the boxes of one image are not sorted by class.
    """
    if not images:
        return Found(np.zeros((0, 6)), np.zeros((0, 1), np.int64), np.zeros(0, np.int64))
    counts = np.array([len(image.boxes) for image in images])
    owner = np.repeat(np.arange(len(images)), counts)
    found = Candidates(*(np.concatenate(arrays) for arrays in zip(*images, strict=True)))
    places = found.boxes + owner * each
    order = np.arange(len(owner))
    if attrs.sort_result_across_batch and attrs.sort_result_type == "score":
        order = np.lexsort((found.boxes, found.labels, owner, -found.scores))
    elif attrs.sort_result_across_batch and attrs.sort_result_type == "classid":
        order = np.lexsort((found.boxes, -found.scores, owner, found.labels))
    elif within and attrs.sort_result_type == "classid":
        order = np.lexsort((found.boxes, -found.scores, found.labels, owner))
    rows = np.concatenate([found.labels[:, None], found.scores[:, None], found.corners], axis=1)
    return Found(rows[order].astype(found.scores.dtype), places[order, None], counts)
