"""Random settings of NonMaxSuppression, NMSRotated, MatrixNms and MulticlassNms."""

import numpy as np

from ir_tools.known_differences import named
from ir_tools.ops import suppression
from tests.ops.around import ops_by_name
from tests.ops.kernel_settings import flag, floats, one_of
from tests.ops.single import Fed, Maker

OPS = ops_by_name(suppression.OPS)
LEFT_OUT = named("MatrixNms without boxes", "MulticlassNms without boxes", "NonMaxSuppression, most boxes 0")
"""Layers that are not generated. Boxes of one score come in any order: those rows are compared as a set."""
Rng = np.random.Generator


def boxes(rng: Rng, images: int, count: int, encoding: str) -> np.ndarray:
    """Boxes by two corners, of which either may come first, or by centre and size."""
    centre, half = rng.uniform(0, 1, (images, count, 2)), rng.uniform(0.02, 0.4, (images, count, 2))
    if encoding == "center":
        return floats(np.concatenate([centre, 2 * half], axis=-1))
    found = np.concatenate([centre - half, centre + half], axis=-1)
    return floats(found[..., [2, 3, 0, 1]] if rng.random() < 0.3 else found)


def non_max_suppression(rng: Rng) -> Fed:
    version = int(rng.choice([1, 3, 4, 5, 5, 9]))
    images, count, classes = (int(size) for size in rng.integers(1, [3, 12, 4]))
    encoding = one_of(rng, "corner", "center")
    raw = {"box_encoding": encoding, "sort_result_descending": flag(rng)}
    if version > 1:
        raw["output_type"] = one_of(rng, "i32", "i64")
    scores = rng.uniform(0, 1, (images, classes, count))
    settings = [np.array(rng.integers(1, count + 2), np.int64)]
    settings += [floats(rng.choice([0, 0.3, 0.5, 0.7])), floats(rng.choice([0, 0.2, 0.5]))]
    if version >= 5 and rng.random() < 0.5:
        settings.append(floats(rng.choice([0, 0.5, 0.1])))
    arrays = [boxes(rng, images, count, encoding), floats(scores), *settings]
    return Fed(OPS[f"NonMaxSuppression-{version}"], raw, arrays, constants=tuple(range(2, len(arrays))), rows=True)


def per_image(rng: Rng) -> dict[str, str]:
    return {
        "sort_result_type": one_of(rng, "classid", "score", "none"),
        "output_type": one_of(rng, "i32", "i64"),
        "nms_top_k": one_of(rng, -1, 3, 5),
        "keep_top_k": one_of(rng, -1, 2, 6),
        "sort_result_across_batch": flag(rng),
        "background_class": one_of(rng, -1, 0, 1),
        "normalized": flag(rng),
    }


def matrix_nms(rng: Rng) -> Fed:
    images, count, classes = (int(size) for size in rng.integers([1, 3, 2], [4, 9, 4]))
    raw = {
        **per_image(rng),
        "score_threshold": one_of(rng, 0, 0.1),
        "decay_function": one_of(rng, "linear", "gaussian"),
        "gaussian_sigma": one_of(rng, 2, 0.5),
        "post_threshold": one_of(rng, 0, 0.1),
    }
    arrays = [corners(rng, images, count), floats(rng.uniform(0.2, 1, (images, classes, count)))]
    return Fed(OPS["MatrixNms-8"], raw, arrays)


def multiclass_nms(rng: Rng) -> Fed:
    """Boxes of each image, or of each class with the number of boxes of each image."""
    images, count, classes = (int(size) for size in rng.integers([1, 3, 2], [4, 9, 4]))
    raw = {
        **per_image(rng),
        "score_threshold": one_of(rng, 0, 0.2, 0.5),
        "iou_threshold": one_of(rng, 0, 0.3, 0.6),
        "nms_eta": one_of(rng, 1, 0.5, 0.9),
    }
    if rng.random() < 0.3:
        counts = rng.multinomial(count, np.ones(images) / images)
        arrays = [corners(rng, classes, count), floats(rng.uniform(0, 1, (classes, count))), counts]
        return Fed(OPS["MulticlassNms-9"], raw, arrays)
    arrays = [corners(rng, images, count), floats(rng.uniform(0, 1, (images, classes, count)))]
    return Fed(OPS[f"MulticlassNms-{rng.choice([8, 9])}"], raw, arrays)


def corners(rng: Rng, images: int, count: int) -> np.ndarray:
    centre, half = rng.uniform(0, 1, (images, count, 2)), rng.uniform(0.02, 0.4, (images, count, 2))
    return floats(np.concatenate([centre - half, centre + half], axis=-1))


def nms_rotated(rng: Rng) -> Fed:
    images, count, classes = (int(size) for size in rng.integers(1, [3, 12, 4]))
    sizes = (rng.uniform(0, 1, (images, count, 2)), rng.uniform(0.05, 0.8, (images, count, 2)))
    turned = np.concatenate([*sizes, rng.uniform(-4, 4, (images, count, 1))], axis=-1)
    raw = {
        "sort_result_descending": flag(rng),
        "output_type": one_of(rng, "i32", "i64"),
        "clockwise": flag(rng),
    }
    settings = [floats(rng.choice([0, 0.2, 0.3, 0.5])), floats(rng.choice([0, 0.2, 0.5]))]
    most = np.array(rng.integers(1, count + 2), np.int64)
    arrays = [floats(turned), floats(rng.uniform(0, 1, (images, classes, count))), most, *settings]
    return Fed(OPS["NMSRotated-13"], raw, arrays, constants=(2, 3, 4), rows=True)


MAKERS: tuple[Maker, ...] = (non_max_suppression, matrix_nms, multiclass_nms, nms_rotated)
