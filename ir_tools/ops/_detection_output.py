"""Compute DetectionOutput as the CPU plugin: decode boxes, drop overlapping ones, keep the best."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ir_tools.ops._overlaps import greedy
from ir_tools.ops.definition import Array, IntArray
from ir_tools.ops.fields import Attrs

__all__ = ["CENTER_SIZE", "detections"]

CENTER_SIZE = "caffe.PriorBoxParameter.CENTER_SIZE"


@dataclass(frozen=True, slots=True)
class Found:
    """Boxes of one class in one image, the best first: their prior boxes, scores and corners."""

    label: int
    priors: IntArray
    scores: Array
    boxes: Array


def detections(attrs: Attrs, inputs: Sequence[Array]) -> Array:
    """Return `[1, 1, rows, 7]`.

    Image, class, score and corners of each box, then a row that starts with -1, then zeros.
    """
    size = 4 if attrs.normalized else 5
    count = inputs[2].shape[-1] // size
    scores = _scores(attrs, inputs, count)
    images, classes = scores.shape[:2]
    if not images:
        return np.zeros((1, 1, 0, 7), scores.dtype)
    boxes = _boxes(attrs, inputs, count, classes)
    rows = [row for image in range(images) for row in _of_image(attrs, inputs, image, scores[image], boxes[image])]
    each = count * classes
    if attrs.keep_top_k[0] > 0:
        each = attrs.keep_top_k[0]
    elif attrs.keep_top_k[0] == -1 and attrs.top_k > 0:
        each = attrs.top_k * classes
    out = np.zeros((images * each, 7), boxes.dtype)
    table = np.concatenate([np.zeros((0, 7), boxes.dtype), *rows])[: len(out)]
    out[: len(table)] = table
    if len(table) < len(out):
        out[len(table), 0] = -1
    return out[None, None]


def _scores(attrs: Attrs, inputs: Sequence[Array], count: int) -> Array:
    """Return `[images, classes, prior boxes]`; what is not an object by the additional scores is background."""
    images, columns = inputs[1].shape
    scores = inputs[1].reshape(images, count, columns // count).transpose(0, 2, 1)
    if len(inputs) < 5:
        return scores
    nothing = inputs[3].reshape(len(inputs[3]), count, 2)[:, None, :, 1] < attrs.objectness_score
    background = (np.arange(scores.shape[1]) == attrs.background_label_id)[None, :, None]
    return np.where(nothing, background.astype(scores.dtype), scores)


# --- boxes ------------------------------------------------------------------------------------------------------


def _boxes(attrs: Attrs, inputs: Sequence[Array], count: int, classes: int) -> Array:
    """Return `[images, 1 or classes, prior boxes, 4]`: the corners that the offsets make of the prior boxes."""
    locations = 1 if attrs.share_location else classes
    priors, variances = _priors(attrs, inputs[2], count)
    shape = (len(inputs[0]), count, locations, 4)
    if len(inputs) == 5:
        priors = _decoded(attrs, priors, inputs[4].reshape(shape).transpose(0, 2, 1, 3), variances)
    return _decoded(attrs, priors, inputs[0].reshape(shape).transpose(0, 2, 1, 3), variances)


def _priors(attrs: Attrs, proposals: Array, count: int) -> tuple[Array, Array]:
    """Return corners and variances of the prior boxes, `[1 or images, 1, prior boxes, 4]`."""
    table = proposals.reshape(len(proposals), -1)
    size = table.shape[1] // (1 if attrs.variance_encoded_in_target else 2)
    corners = table[:, :size].reshape(len(table), 1, count, -1)[..., -4:]
    if attrs.variance_encoded_in_target:
        return corners, np.ones((), corners.dtype)
    return corners, table[:, size : size + 4 * count].reshape(len(table), 1, count, 4)


def _decoded(attrs: Attrs, priors: Array, offsets: Array, variances: Array) -> Array:
    if not attrs.normalized:
        priors = priors / np.array([attrs.input_width, attrs.input_height] * 2, priors.dtype)
    scaled = variances * offsets
    if attrs.code_type == CENTER_SIZE:
        sides = priors[..., 2:] - priors[..., :2]
        centre = scaled[..., :2] * sides + (priors[..., :2] + priors[..., 2:]) / 2
        half = np.exp(scaled[..., 2:]) * sides / 2
        corners = np.concatenate([centre - half, centre + half], axis=-1)
    else:
        corners = priors + scaled
    return np.clip(corners, 0, 1) if attrs.clip_before_nms else corners


def _number_of_priors(attrs: Attrs, proposals: Array, image: int, count: int) -> int:
    """Return how many prior boxes there are: those that are not normalized end where one says -1 for its image."""
    if attrs.normalized:
        return count
    marks = proposals.reshape(len(proposals), -1)[min(image, len(proposals) - 1), : 5 * count : 5] == -1
    return int(marks.argmax()) if marks.any() else count


# --- choice -----------------------------------------------------------------------------------------------------


def _of_image(attrs: Attrs, inputs: Sequence[Array], image: int, scores: Array, boxes: Array) -> list[Array]:
    """Return the rows of one image, class by class."""
    count = _number_of_priors(attrs, inputs[2], image, scores.shape[1])
    choose = _best_per_box if attrs.decrease_label_id else _all_above
    found = [
        _kept(attrs, label, places, scores[label], boxes[0 if attrs.share_location else label])
        for label, places in choose(attrs, scores[:, :count])
    ]
    return [_rows(attrs, image, each) for each in _best_of_image(attrs, found)]


def _best_first(scores: Array, places: IntArray) -> IntArray:
    """Return places by falling score; of equal scores the first."""
    return places[np.lexsort((places, -scores[places]))]


def _all_above(attrs: Attrs, scores: Array) -> list[tuple[int, IntArray]]:
    """Return all boxes of each class but the background above the threshold, at most `top_k`."""
    out = []
    for label, row in enumerate(scores):
        if label != attrs.background_label_id:
            places = _best_first(row, np.flatnonzero(row > attrs.confidence_threshold))
            out.append((label, places if attrs.top_k == -1 else places[: attrs.top_k]))
    return out


def _best_per_box(attrs: Attrs, scores: Array) -> list[tuple[int, IntArray]]:
    """Return the best class of each box but the first, at most `top_k` boxes of all classes together."""
    classes, count = scores.shape
    if classes < 2:
        return []
    labels = scores[1:].argmax(axis=0) + 1
    best = scores[labels, np.arange(count)]
    places = np.flatnonzero((best >= attrs.confidence_threshold) & (best > -1))
    places = places[np.lexsort((places, labels[places], -best[places]))]
    chosen = places if attrs.top_k == -1 else places[: attrs.top_k]
    return [(label, chosen[labels[chosen] == label]) for label in range(1, classes)]


def _kept(attrs: Attrs, label: int, places: IntArray, scores: Array, boxes: Array) -> Found:
    kept = places[greedy(boxes[places], attrs.nms_threshold)]
    return Found(label, kept, scores[kept], boxes[kept])


def _best_of_image(attrs: Attrs, found: list[Found]) -> list[Found]:
    """Return the best `keep_top_k` boxes of all classes, where there are more."""
    maximum, total = attrs.keep_top_k[0], sum(len(each.priors) for each in found)
    if not -1 < maximum < total:
        return found
    scores = np.concatenate([each.scores for each in found])
    priors = np.concatenate([each.priors for each in found])
    owner = np.repeat(np.arange(len(found)), [len(each.priors) for each in found])
    boxes = np.concatenate([each.boxes for each in found])
    chosen = np.lexsort((owner, priors, -scores))[:maximum]
    out = []
    for number, each in enumerate(found):
        own = chosen[owner[chosen] == number]
        out.append(Found(each.label, priors[own], scores[own], boxes[own]))
    return out


def _rows(attrs: Attrs, image: int, found: Found) -> Array:
    """Return `[boxes, 7]`."""
    label = found.label - 1 if attrs.decrease_label_id else found.label
    boxes = np.clip(found.boxes, 0, 1) if attrs.clip_after_nms else found.boxes
    head = np.broadcast_to(np.array([image, label], boxes.dtype), (len(boxes), 2))
    return np.concatenate([head, found.scores[:, None], boxes], axis=1).astype(boxes.dtype)
