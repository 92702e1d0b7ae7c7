"""Compute how much rotated boxes overlap."""

import numpy as np

from ir_tools.ops.definition import Array

__all__ = ["rotated_overlaps"]

CORNERS = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])


def rotated_overlaps(box: Array, boxes: Array) -> Array:
    """Return intersection over union of one box with others, `[boxes, 5]`.

    A box is centre, width, height and angle in radians.

    Angles turn from x, to the right, to y, downwards: clockwise.

    The common part of two boxes is convex: its corners are those of each box in the other, and where edges cross.
    """
    wide = boxes.astype(np.float64)
    own, others = _corners(box[None].astype(np.float64)), _corners(wide)
    own = np.broadcast_to(own, others.shape)
    points = np.concatenate([own, others, _crossings(own, others)[0]], axis=1)
    valid = np.concatenate([_inside(own, others), _inside(others, own), _crossings(own, others)[1]], axis=1)
    common = _area(points, valid)
    size, sizes = float(box[2]) * float(box[3]), wide[:, 2] * wide[:, 3]
    with np.errstate(all="ignore"):
        out: Array = common / (size + sizes - common)
    return np.where(common > 0, out, 0).astype(boxes.dtype)


def _corners(boxes: Array) -> Array:
    """Return `[boxes, 4, 2]`, around the box."""
    cosine, sine = np.cos(boxes[:, 4:5]), np.sin(boxes[:, 4:5])
    x, y = CORNERS[:, 0] * boxes[:, 2:3], CORNERS[:, 1] * boxes[:, 3:4]
    turned = np.stack([x * cosine - y * sine, x * sine + y * cosine], axis=-1)
    out: Array = turned + boxes[:, None, :2]
    return out


def _cross(left: Array, right: Array) -> Array:
    out: Array = left[..., 0] * right[..., 1] - left[..., 1] * right[..., 0]
    return out


def _inside(points: Array, others: Array) -> Array:
    """Return `[boxes, 4]`: whether each corner lies in the other box, its edge included."""
    edges = np.roll(others, -1, axis=1) - others
    sides = _cross(edges[:, None], points[:, :, None] - others[:, None])
    tolerance = 1e-9 * np.abs(edges).max(axis=(1, 2), initial=1)[:, None]
    out: Array = (sides >= -tolerance[..., None]).all(axis=2) | (sides <= tolerance[..., None]).all(axis=2)
    return out


def _crossings(own: Array, others: Array) -> tuple[Array, Array]:
    """Return `[boxes, 16, 2]` points where an edge of one meets one of the other, and whether they do."""
    first, second = (np.roll(corners, -1, axis=1) - corners for corners in (own, others))
    apart = others[:, None] - own[:, :, None]
    along, beside = first[:, :, None], second[:, None]
    turn = _cross(along, beside)
    safe = np.where(turn == 0, 1, turn)
    here, there = _cross(apart, beside) / safe, _cross(apart, along) / safe
    meet = (turn != 0) & (here >= 0) & (here <= 1) & (there >= 0) & (there <= 1)
    points = own[:, :, None] + here[..., None] * along
    return points.reshape(len(own), 16, 2), meet.reshape(len(own), 16)


def _area(points: Array, valid: Array) -> Array:
    """Return the area of the convex shape whose corners are the valid points."""
    count = np.maximum(valid.sum(axis=1), 1)
    centre = (points * valid[..., None]).sum(axis=1) / count[:, None]
    # Points that are none fall together with the centre's neighbour and add nothing.
    first = points[np.arange(len(points)), valid.argmax(axis=1)]
    around = np.where(valid[..., None], points, first[:, None]) - centre[:, None]
    order = np.argsort(np.arctan2(around[..., 1], around[..., 0]), axis=1)
    ring = np.take_along_axis(around, order[..., None], axis=1)
    out: Array = np.abs(_cross(ring, np.roll(ring, -1, axis=1)).sum(axis=1)) / 2
    return out
