"""Proposal and GenerateProposals: boxes moved by what a network says, the best of them that do not overlap."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ir_tools.ops._overlaps import greedy
from ir_tools.ops.definition import Array
from ir_tools.ops.fields import Attrs

__all__ = ["generated", "of_one_image", "proposals"]


class Proposed(NamedTuple):
    """`[N * post_nms_topn, 5]`: image and corners; and `[N * post_nms_topn]` probabilities."""

    boxes: Array
    probabilities: Array


@dataclass(frozen=True, slots=True)
class Image:
    """Height and width of the image, and the least height and width of a box, in the plugin's own order of axes."""

    height: float
    width: float
    least_height: float
    least_width: float


def anchors(attrs: Attrs) -> Array:
    """Return `[anchors, 4]`: the corners of the boxes around a place, one for each ratio and scale."""
    tensorflow = attrs.framework == "tensorflow"
    offset, size = 0.0 if tensorflow else 1.0, float(attrs.base_size)
    out = []
    for ratio in attrs.ratio:
        width = np.sqrt(size * size / ratio)
        width = width if tensorflow else np.round(width)
        height = width * ratio if tensorflow else np.round(width * ratio)
        for scale in attrs.scale:
            half = np.array([width * scale - offset, height * scale - offset]) / 2
            centre = (size - offset) / 2 - (size / 2 if tensorflow else 0)
            out.append(np.concatenate([centre - half, centre + half]))
    return np.array(out).reshape(-1, 4)


def proposals(attrs: Attrs, scores: Array, deltas: Array, image: Array) -> Proposed:
    """Return the best boxes of each image.

    Args:
        attrs: of the layer.
        scores: `[N, 2 * anchors, H, W]`, of which the second half says how sure a box is.
        deltas: `[N, 4 * anchors, H, W]`.
        image: height, width, and its scale, once or for both.
    """
    swap = attrs.framework == "tensorflow"
    height, width = (float(image[1]), float(image[0])) if swap else (float(image[0]), float(image[1]))
    minimum = [attrs.min_size * float(image[2]), attrs.min_size * float(image[3 if len(image) > 3 else 2])]
    where = Image(height, width, *minimum)
    count = scores.shape[1] // 2
    out = np.zeros((len(scores), attrs.post_nms_topn, 5), scores.dtype)
    chances = np.zeros((len(scores), attrs.post_nms_topn), scores.dtype)
    for number in range(len(scores)):
        boxes = _moved(attrs, deltas[number], where)
        found = scores[number, count:].transpose(1, 2, 0).reshape(-1) * _large_enough(attrs, boxes, where)
        kept = _best(attrs, boxes, found)
        rows = _finished(attrs, boxes[kept], where)
        out[number, : len(kept)] = np.concatenate([np.full((len(kept), 1), number), rows], axis=1)
        chances[number, : len(kept)] = found[kept]
        if len(kept) < attrs.post_nms_topn:
            out[number, len(kept), 0] = -1
    return Proposed(out.reshape(-1, 5), chances.reshape(-1))


def _offset(attrs: Attrs) -> float:
    """Return what belongs to a box beyond its right and bottom edges."""
    return 0.0 if attrs.framework == "tensorflow" else 1.0


def _clipped(boxes: Array, image: Image, offset: float) -> Array:
    limits = np.array([image.width, image.height] * 2, boxes.dtype) - boxes.dtype.type(offset)
    out: Array = np.maximum(np.minimum(boxes, limits), 0)
    return out


def _moved(attrs: Attrs, deltas: Array, image: Image) -> Array:
    """Return `[H * W * anchors, 4]`: the anchors at each place, moved and stretched."""
    tensorflow, offset = attrs.framework == "tensorflow", _offset(attrs)
    base = anchors(attrs)
    rows, columns = deltas.shape[1:]
    y, x = np.meshgrid(np.arange(rows) * attrs.feat_stride, np.arange(columns) * attrs.feat_stride, indexing="ij")
    places = np.stack([y, x, y, x] if tensorflow else [x, y, x, y], axis=-1)
    boxes = (places[:, :, None] + base).astype(deltas.dtype)
    if tensorflow:
        boxes = _clipped(boxes, image, 0)
    moves = deltas.reshape(len(base), 4, rows, columns).transpose(2, 3, 0, 1)
    sides = boxes[..., 2:] - boxes[..., :2] + offset
    centre = moves[..., :2] / attrs.box_coordinate_scale * sides + boxes[..., :2] + sides / 2
    half = np.exp(moves[..., 2:] / attrs.box_size_scale) * sides / 2
    out = np.concatenate([centre - half, centre + half], axis=-1).reshape(-1, 4)
    return _clipped(out, image, offset) if attrs.clip_before_nms else out


def _large_enough(attrs: Attrs, boxes: Array, image: Image) -> Array:
    sides = boxes[:, 2:] - boxes[:, :2] + _offset(attrs)
    return (sides[:, 0] >= image.least_width) & (sides[:, 1] >= image.least_height)


def _best(attrs: Attrs, boxes: Array, scores: Array) -> Array:
    order = np.argsort(-scores, kind="stable")[: max(attrs.pre_nms_topn, 0)]
    kept: Array = order[greedy(boxes[order], attrs.nms_thresh, _offset(attrs), attrs.post_nms_topn)]
    return kept


def _finished(attrs: Attrs, boxes: Array, image: Image) -> Array:
    if attrs.clip_after_nms:
        boxes = _clipped(boxes, image, 0)
    if attrs.normalize:
        boxes = boxes / np.array([image.width, image.height] * 2, boxes.dtype)
    return boxes


# --- GenerateProposals ------------------------------------------------------------------------------------------

LARGEST = float(np.log(1000 / 16))
"""The most by which a box is stretched, as a logarithm."""


class Generated(NamedTuple):
    """`[boxes, 4]` corners, `[boxes]` scores, and `[N]` how many there are of each image."""

    boxes: Array
    scores: Array
    counts: Array


def generated(attrs: Attrs, image: Array, base: Array, deltas: Array, scores: Array) -> Generated:
    """Return the best boxes of each image, all images after each other.

    Args:
        attrs: of the layer.
        image: `[N, 3 or 4]`: height, width, and scale, once or for both.
        base: `[H, W, anchors, 4]`: the boxes before they are moved.
        deltas: `[N, 4 * anchors, H, W]`.
        scores: `[N, anchors, H, W]`.
    """
    boxes, chances, counts = [np.zeros((0, 4), deltas.dtype)], [np.zeros(0, scores.dtype)], []
    for info, moves, sure in zip(image, deltas, scores, strict=True):
        found, kept = _stretched(attrs, info, base, moves), sure.transpose(1, 2, 0).reshape(-1)
        order = np.argsort(-kept, kind="stable")[: attrs.pre_nms_count]
        offset = 0.0 if attrs.normalized else 1.0
        sides = found[order, 2:] - found[order, :2] + offset
        minimum = attrs.min_size * np.array([info[-1], info[2]])
        order = order[(sides >= minimum).all(axis=1)]
        order = order[greedy(found[order], attrs.nms_threshold, offset, attrs.post_nms_count)]
        boxes.append(found[order])
        chances.append(kept[order])
        counts.append(len(order))
    return Generated(np.concatenate(boxes), np.concatenate(chances), np.array(counts))


def of_one_image(attrs: Attrs, image: Array, base: Array, deltas: Array, scores: Array) -> tuple[Array, Array]:
    """Return `[post_nms_count, 4]` corners and `[post_nms_count]` scores, zeros behind the last.

    Boxes that are too small stay, with score 0. Edges belong to a box, and not where overlaps are counted (measured).

    Args:
        attrs: of the layer.
        image: height, width and scale.
        base: `[H * W * anchors, 4]`: the boxes before they are moved.
        deltas: `[4 * anchors, H, W]`.
        scores: `[anchors, H, W]`.
    """
    corners = base.reshape(*scores.shape[1:], len(scores), 4)
    found = _stretched(Attrs({**attrs, "normalized": False}), image, corners, deltas)
    large = (found[:, 2:] - found[:, :2] + 1 >= attrs.min_size * image[2]).all(axis=1)
    sure = scores.transpose(1, 2, 0).reshape(-1) * large
    order = np.argsort(-sure, kind="stable")[: attrs.pre_nms_count]
    order = order[greedy(found[order], attrs.nms_threshold, maximum=attrs.post_nms_count)]
    boxes, chances = np.zeros((attrs.post_nms_count, 4), base.dtype), np.zeros(attrs.post_nms_count, scores.dtype)
    boxes[: len(order)], chances[: len(order)] = found[order], sure[order]
    return boxes, chances


def _stretched(attrs: Attrs, info: Array, base: Array, deltas: Array) -> Array:
    """Return `[H * W * anchors, 4]` boxes within the image."""
    offset = 0.0 if attrs.normalized else 1.0
    moves = deltas.reshape(base.shape[2], 4, *base.shape[:2]).transpose(2, 3, 0, 1)
    sides = base[..., 2:] - base[..., :2] + offset
    centre = moves[..., :2] * sides + base[..., :2] + sides / 2
    half = np.exp(np.minimum(moves[..., 2:], LARGEST)) * sides / 2
    corners = np.concatenate([centre - half, centre + half - offset], axis=-1).reshape(-1, 4)
    limits = np.array([info[1], info[0]] * 2, corners.dtype) - offset
    out: Array = np.maximum(np.minimum(corners, limits), 0)
    return out.astype(deltas.dtype)
