"""Prior boxes of single-shot detectors: which boxes are at each place of a feature map, and their coordinates."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ir_tools.ops.definition import Array
from ir_tools.ops.fields import Attrs
from ir_tools.ops.limits import MAX_DENSITY

__all__ = ["clustered_boxes", "number_of_priors", "prior_boxes", "priors"]


class Prior(NamedTuple):
    """A box: where its centre is from that of its place, half its width and height, and whether it is cut off.

    `cut`: the left and top edges at 0, the right and bottom ones at 1.
    """

    x: float
    y: float
    width: float
    height: float
    cut: bool = False


def aspect_ratios(attrs: Attrs) -> tuple[float, ...]:
    """Return the different ratios of width and height, 1 first.

    Those of the attribute, with `flip` their inverses too.
    """
    found = [1.0]
    for ratio in attrs.aspect_ratio:
        if all(abs(ratio - seen) >= 1e-6 for seen in found):
            found += [ratio, 1 / ratio] if attrs.flip and ratio else [ratio]
    return tuple(found)


def number_of_priors(attrs: Attrs) -> int:
    """Return how many boxes are at each place, as the runtime counts them for the shape of the output."""
    ratios = len(aspect_ratios(attrs))
    count = ratios + len(attrs.min_size) - 1
    if attrs.scale_all_sizes:
        count = ratios * len(attrs.min_size) + len(attrs.max_size)
    if attrs.fixed_size:
        count = ratios * len(attrs.fixed_size)
    for density in attrs.density:
        whole = int(density) if abs(density) <= MAX_DENSITY else 0
        count += (len(attrs.fixed_ratio) or ratios) * (whole**2 - 1)
    return count


def priors(attrs: Attrs, scale: float = 1.0) -> list[Prior]:
    """Return the boxes at each place, in the order of the output; `scale` enlarges the minimal sizes."""
    out: list[Prior] = []
    for size, density in zip(attrs.fixed_size, attrs.density, strict=False):
        out += _dense(attrs, size, int(density))
    sizes = [size * scale for size in attrs.min_size]
    for number, size in enumerate(sizes):
        out += _of_size(attrs, sizes, number, size)
    return out


def _dense(attrs: Attrs, size: float, density: int) -> Iterator[Prior]:
    """Yield several boxes of one fixed size, evenly over their place.

    Half of the size is rounded down, as where the runtime works the boxes out before running; where it does not, the
    plugin takes the exact half.
    """
    if density < 1:
        return
    shift = int(size / density)
    start = shift / 2 - int(size) // 2
    halves = [(_root(ratio), size / 2) for ratio in attrs.fixed_ratio]
    if not attrs.fixed_ratio:
        halves = [(1.0, int(size) / 2)]
        halves += [(_root(ratio), size / 2) for ratio in aspect_ratios(attrs) if abs(ratio - 1) >= 1e-6]
    for root, half in halves:
        for row in range(density):
            for column in range(density):
                yield Prior(start + column * shift, start + row * shift, half * root, half / root, cut=True)


def _root(value: float) -> float:
    """Return the square root; NaN of what has none, as for the runtime."""
    return value**0.5 if value >= 0 else float("nan")


def _of_size(attrs: Attrs, sizes: Sequence[float], number: int, size: float) -> list[Prior]:
    """Return the box of a minimal size, that between it and its maximal size, and those of other ratios."""
    between: list[Prior] = []
    if number < len(attrs.max_size):
        half = _root(size * attrs.max_size[number]) / 2
        between = [Prior(0, 0, half, half)]
    others: list[Prior] = []
    if attrs.scale_all_sizes or number == len(sizes) - 1:
        half = (size if attrs.scale_all_sizes else sizes[0]) / 2
        roots = [_root(ratio) for ratio in aspect_ratios(attrs) if abs(ratio - 1) >= 1e-6]
        others = [Prior(0, 0, half * root, half / root) for root in roots]
    first = [Prior(0, 0, size / 2, size / 2)]
    if attrs.get("min_max_aspect_ratios_order", True):
        return first + between + others
    return first + others + between


def prior_boxes(attrs: Attrs, sizes: Array, image: Array) -> Array:
    """Return `[2, 4 * height * width * boxes]`: corners from 0 to 1 of the image, and variances."""
    height, width = (int(size) for size in image[:2])
    rows, columns = (int(size) for size in sizes)
    step, scale = attrs.step, 1.0
    if not attrs.scale_all_sizes:
        step, scale = height / rows if step == -1 else step * height, float(height)
    x, y = (attrs.offset + np.arange(columns)) * step, (attrs.offset + np.arange(rows)) * step
    if step == 0:
        x, y = (np.arange(columns) + 0.5) * width / columns, (np.arange(rows) + 0.5) * height / rows
    wanted = max(number_of_priors(attrs), 0)
    table = np.array(priors(attrs, scale)[:wanted], np.float64).reshape(-1, 5)
    boxes = _corners(x, y, table, width, height)
    cut = table[:, 4] > 0
    boxes[..., :2] = np.where(cut[:, None], np.maximum(boxes[..., :2], 0), boxes[..., :2])
    boxes[..., 2:] = np.where(cut[:, None], np.minimum(boxes[..., 2:], 1), boxes[..., 2:])
    missing = np.zeros((rows, columns, wanted - len(table), 4))
    return _with_variances(attrs, np.concatenate([boxes, missing], axis=2))


def clustered_boxes(attrs: Attrs, sizes: Array, image: Array) -> Array:
    """Return `[2, 4 * height * width * boxes]`: corners from 0 to 1 of the image, and variances."""
    height, width = (int(size) for size in image[:2])
    rows, columns = (int(size) for size in sizes)
    step_x, step_y = attrs.step_w or attrs.step, attrs.step_h or attrs.step
    if step_x == 0 and step_y == 0:
        step_x, step_y = width / columns, height / rows
    x, y = (attrs.offset + np.arange(columns)) * step_x, (attrs.offset + np.arange(rows)) * step_y
    halves = np.array([attrs.width, attrs.height], np.float64).T.reshape(-1, 2) / 2
    table = np.pad(halves, ((0, 0), (2, 1)))
    return _with_variances(attrs, _corners(x, y, table, width, height))


def _corners(x: Array, y: Array, table: Array, width: int, height: int) -> Array:
    """Return `[rows, columns, boxes, 4]`: left, top, right, bottom as parts of the image."""
    shape = (len(y), len(x), len(table))
    centre_x = np.broadcast_to(x[None, :, None] + table[:, 0], shape)
    centre_y = np.broadcast_to(y[:, None, None] + table[:, 1], shape)
    half_x, half_y = np.broadcast_to(table[:, 2], shape), np.broadcast_to(table[:, 3], shape)
    edges = (centre_x - half_x, centre_y - half_y, centre_x + half_x, centre_y + half_y)
    corners: Array = np.stack(edges, axis=-1) / np.array([width, height, width, height])
    return corners


def _with_variances(attrs: Attrs, boxes: Array) -> Array:
    if attrs.clip:
        boxes = np.clip(boxes, 0, 1)
    variance = attrs.variance or (0.1,)
    out = np.stack([boxes, np.broadcast_to(np.array(variance), boxes.shape)])
    flat: Array = out.reshape(2, -1).astype(np.float32)
    return flat
