"""Proposal as the CPU plugin computes it: anchors moved by what the network says, the best that do not overlap."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ir_tools.ops._define import Array, Attrs
from ir_tools.ops._overlaps import greedy

__all__ = ["Proposed", "proposals"]


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
    """`[anchors, 4]`: the corners of the boxes around a place, one for each ratio and scale."""
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
    """The best boxes of each image.

    Args:
        attrs: of the layer.
        scores: `[N, 2 * anchors, H, W]`, of which the second half says how sure a box is.
        deltas: `[N, 4 * anchors, H, W]`.
        image: height, width, and its scale, once or for both.
    """
    swap = attrs.framework == "tensorflow"
    height, width = (float(image[1]), float(image[0])) if swap else (float(image[0]), float(image[1]))
    least = [attrs.min_size * float(image[2]), attrs.min_size * float(image[3 if len(image) > 3 else 2])]
    where = Image(height, width, *least)
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
    """What belongs to a box beyond its right and bottom edges."""
    return 0.0 if attrs.framework == "tensorflow" else 1.0


def _clipped(boxes: Array, image: Image, offset: float) -> Array:
    limits = np.array([image.width, image.height] * 2, boxes.dtype) - boxes.dtype.type(offset)
    out: Array = np.maximum(np.minimum(boxes, limits), 0)
    return out


def _moved(attrs: Attrs, deltas: Array, image: Image) -> Array:
    """`[H * W * anchors, 4]`: the anchors at each place, moved and stretched."""
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
