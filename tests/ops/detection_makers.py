"""Random settings of prior boxes, DetectionOutput and YOLO."""

import numpy as np

from ir_tools.known_differences import named
from ir_tools.ops import detection
from tests.ops.around import ops_by_name
from tests.ops.kernel_settings import flag, floats, listed, one_of
from tests.ops.single import Fed, Maker

OPS = ops_by_name(detection.OPS)
Rng = np.random.Generator
LEFT_OUT = named("DetectionOutput keep_top_k=0", "PriorBox fixed_size", "PriorBox-8 min_max_aspect_ratios_order")
"""Layers that are not generated, or as constants only."""
VARIANCES = ("", "0.1", "0.1,0.1,0.2,0.2")


def image(rng: Rng) -> list[np.ndarray]:
    return [np.array(rng.integers(1, 6, 2)), np.array(rng.integers(20, 100, 2))]


def prior_box(rng: Rng) -> Fed:
    """Sizes with ratios, sizes relative to the image, or dense boxes of fixed sizes."""
    count, known = int(rng.integers(1, 4)), rng.random() < 0.5
    raw = {
        "min_size": listed(rng.uniform(5, 40, count)),
        "max_size": listed(rng.uniform(5, 60, rng.integers(0, count + 1))),
        "aspect_ratio": listed(rng.choice([2, 3, 0.5, 1, 1.5], rng.integers(0, 4), replace=False)),
        "flip": flag(rng),
        "clip": flag(rng, 0.3),
        "step": one_of(rng, 0, 16, 10.5),
        "offset": one_of(rng, 0, 0.5, 0.3),
        "variance": one_of(rng, *VARIANCES),
    }
    if raw["flip"] == "true":
        raw["aspect_ratio"] = listed(rng.choice([2, 3, 1, 1.5], rng.integers(0, 4), replace=False))
    kind = rng.integers(4)
    if kind == 1:
        sizes = listed(rng.uniform(0.05, 0.4, count))
        raw |= {"scale_all_sizes": "false", "max_size": "", "min_size": sizes, "step": one_of(rng, 0, 0.1, -1)}
    elif kind > 1:
        fixed = rng.uniform(4, 30, count) if known else 2 * rng.integers(2, 15, count)
        raw |= {
            "min_size": "",
            "max_size": "",
            "fixed_size": listed(fixed),
            "density": listed(rng.integers(1, 4, count)),
        }
    if kind == 3:
        raw |= {"aspect_ratio": "", "fixed_ratio": listed(rng.uniform(0.5, 2, 1))}
    version = int(rng.choice([1, 8]))
    if version == 8 and known:
        raw["min_max_aspect_ratios_order"] = flag(rng)
    return Fed(OPS[f"PriorBox-{version}"], raw, image(rng), constants=(0, 1) if known else ())


def clustered(rng: Rng) -> Fed:
    count = rng.integers(1, 5)
    raw = {
        "width": listed(rng.uniform(1, 40, count)),
        "height": listed(rng.uniform(1, 40, count)),
        "clip": flag(rng),
        "step": one_of(rng, 0, 16),
        "step_w": one_of(rng, 0, 10),
        "step_h": one_of(rng, 0, 12),
        "offset": one_of(rng, 0, 0.5),
        "variance": one_of(rng, *VARIANCES),
    }
    return Fed(OPS["PriorBoxClustered-1"], raw, image(rng))


def proposals(rng: Rng, raw: dict[str, str], images: int, count: int) -> np.ndarray:
    """Prior boxes, normalized or in pixels with the number of their image, and their variances."""
    centre, half = rng.uniform(0, 1, (images, count, 2)), rng.uniform(0.05, 0.3, (images, count, 2))
    boxes = np.concatenate([centre - half, centre + half], axis=-1)
    if raw["normalized"] == "false":
        numbers = np.zeros((images, count, 1))
        if rng.random() < 0.3:
            numbers[:, rng.integers(1, count) :] = -1
        boxes = np.concatenate([numbers, boxes * int(raw["input_height"])], axis=-1)
    flat = boxes.reshape(images, 1, -1)
    if raw["variance_encoded_in_target"] == "false":
        variances = np.zeros_like(flat)
        variances[:, :, : count * 4] = rng.choice([0.1, 0.2], count * 4)
        flat = np.concatenate([flat, variances], axis=1)
    return floats(flat)


def detection_output(rng: Rng) -> Fed:
    version, images = int(rng.choice([1, 8])), int(rng.integers(1, 3))
    count, classes = int(rng.integers(2, 30)), int(rng.integers(2, 5))
    raw = {
        "background_label_id": one_of(rng, 0, 0, 1, -1),
        "top_k": one_of(rng, -1, 5, 10, 40),
        "variance_encoded_in_target": flag(rng, 0.3),
        "keep_top_k": one_of(rng, -1, 3, 10, 50),
        "code_type": f"caffe.PriorBoxParameter.{one_of(rng, 'CORNER', 'CENTER_SIZE')}",
        "share_location": flag(rng, 0.6),
        "nms_threshold": one_of(rng, 0.3, 0.45, 0.7),
        "confidence_threshold": one_of(rng, 0, 0.1, 0.5),
        "clip_after_nms": flag(rng, 0.3),
        "clip_before_nms": flag(rng, 0.3),
        "decrease_label_id": flag(rng, 0.2),
        "normalized": flag(rng, 0.7),
        "input_height": one_of(rng, 1, 50),
        "input_width": one_of(rng, 1, 60),
        "objectness_score": one_of(rng, 0, 0.3),
    }
    if raw["decrease_label_id"] == "true":
        raw["background_label_id"] = "0"
    if version == 1:
        raw["num_classes"] = str(classes)
    columns = count * 4 * (1 if raw["share_location"] == "true" else classes)
    scores = rng.uniform(0, 1, (images, count * classes))
    arrays = [
        floats(rng.normal(size=(images, columns)) * 0.5),
        floats(np.round(scores, 1) if rng.random() < 0.3 else scores),
        proposals(rng, raw, int(rng.choice([1, images])), count),
    ]
    if rng.random() < 0.25:
        more = rng.normal(size=(images, columns)) * 0.5
        arrays += [floats(rng.uniform(0, 1, (images, count * 2))), floats(more)]
    return Fed(OPS[f"DetectionOutput-{version}"], raw, arrays)


def region_yolo(rng: Rng) -> Fed:
    count, coords, classes = int(rng.integers(1, 4)), int(rng.choice([4, 4, 2, 5])), int(rng.integers(1, 6))
    softmax, masks = flag(rng), int(rng.integers(1, 4))
    raw = {
        "anchors": "1,2",
        "axis": one_of(rng, 1, 1, 2),
        "end_axis": one_of(rng, 3, 3, 2),
        "coords": str(coords),
        "classes": str(classes),
        "num": str(count),
        "do_softmax": softmax,
        "mask": listed(np.arange(masks)),
    }
    regions = count if softmax == "true" else masks
    shape = (rng.integers(1, 3), regions * (coords + classes + 1), rng.integers(1, 5), rng.integers(1, 6))
    return Fed(OPS["RegionYolo-1"], raw, [floats(rng.normal(size=shape) * 3)])


def reorg_yolo(rng: Rng) -> Fed:
    stride = int(rng.integers(1, 4))
    count, channels, height, width = rng.integers(1, 4, 4)
    shape = (count, stride * stride * channels, stride * height, stride * width)
    return Fed(OPS["ReorgYolo-1"], {"stride": str(stride)}, [floats(rng.normal(size=shape))])


MAKERS: tuple[Maker, ...] = (prior_box, clustered, detection_output, region_yolo, reorg_yolo)
