"""Compute how much boxes overlap, and drop boxes that overlap a better one too much."""

import numpy as np

from ir_tools.ops.definition import Array, IntArray

__all__ = ["greedy", "overlaps"]


def overlaps(box: Array, boxes: Array, offset: float = 0.0, *, near: bool = False) -> Array:
    """Return intersection over union of one box with others, `[boxes, 4]` of left, top, right, bottom.

    `offset` is what belongs to a box beyond its right and bottom edges: 1 where they are pixels. With `near` boxes
    overlap whose edges are less than that apart.
    """
    common_sides = np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2])
    inner = common_sides + offset
    meet = ((inner > 0) & (near | (common_sides >= 0))).all(axis=1)
    common = np.where(meet, inner[:, 0] * inner[:, 1], 0).astype(boxes.dtype)
    own = _area(box[None], offset)
    out: Array = common / (own + _area(boxes, offset) - common)
    return np.where(common > 0, out, 0)


def _area(boxes: Array, offset: float) -> Array:
    sides: Array = boxes[:, 2:] - boxes[:, :2] + offset
    return sides[:, 0] * sides[:, 1]


def greedy(boxes: Array, threshold: float, offset: float = 0.0, maximum: int | None = None) -> IntArray:
    """Return the places of the boxes that stay, of `[boxes, 4]` in the order of preference.

    Each box drops all later ones that overlap it by more than `threshold`; at most `most` stay.
    """
    left = np.arange(len(boxes))
    kept: list[int] = []
    while left.size and (maximum is None or len(kept) < maximum):
        kept.append(int(left[0]))
        left = left[1:]
        left = left[~(overlaps(boxes[kept[-1]], boxes[left], offset) > threshold)]
    return np.array(kept, np.int64)
