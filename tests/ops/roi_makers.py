"""Random settings of proposals and of pooling of regions."""

import numpy as np

from ir_tools.known_differences import named
from ir_tools.ops import roi
from tests.ops.around import ops_by_name
from tests.ops.kernel_settings import flag, floats, listed, one_of
from tests.ops.single import Fed, Maker

OPS = ops_by_name(roi.OPS)
LEFT_OUT = named("Proposal of few boxes", "Proposal of small boxes")
"""Layers that are not generated."""
Rng = np.random.Generator


def maps(rng: Rng, channels: int = 0, least: int = 1) -> np.ndarray:
    count, some, height, width = rng.integers([1, 1, least, least], [3, 9, 9, 9])
    return floats(rng.normal(size=(count, channels or some, height, width)))


def corners(rng: Rng, count: int, width: float, height: float) -> np.ndarray:
    """Left, top, right, bottom of boxes."""
    found = np.sort(rng.uniform(0, 1, (count, 2, 2)), axis=1).reshape(count, 4)
    return floats(found * np.array([width, height, width, height]))


def with_images(rng: Rng, boxes: np.ndarray, images: int) -> np.ndarray:
    return floats(np.concatenate([rng.integers(0, images, (len(boxes), 1)), boxes], axis=1))


def pooled(rng: Rng) -> dict[str, str]:
    sizes = {name: str(rng.integers(1, 5)) for name in ("pooled_h", "pooled_w")}
    return {**sizes, "spatial_scale": one_of(rng, 0.0625, 0.25, 1)}


def roi_pooling(rng: Rng) -> Fed:
    """Regions inside and partly outside; those behind one of image -1 do not count."""
    raw, data = {**pooled(rng), "method": one_of(rng, "max", "bilinear")}, maps(rng)
    scale = float(raw["spatial_scale"])
    width, height = (1, 1) if raw["method"] == "bilinear" else (data.shape[3] / scale, data.shape[2] / scale)
    rois = with_images(rng, corners(rng, int(rng.integers(1, 6)), width, height) * rng.choice([1, 1.2]), len(data))
    if rng.random() < 0.2:
        rois[rng.integers(0, len(rois)), 0] = -1
    return Fed(OPS["ROIPooling-1"], raw, [data, rois])


def roi_align(rng: Rng) -> Fed:
    version, data = int(rng.choice([3, 9])), maps(rng)
    raw = {**pooled(rng), "mode": one_of(rng, "avg", "max"), "sampling_ratio": str(rng.integers(0, 4))}
    if version == 9:
        raw["aligned_mode"] = one_of(rng, "asymmetric", "half_pixel_for_nn", "half_pixel")
    scale = float(raw["spatial_scale"])
    rois = corners(rng, int(rng.integers(1, 6)), data.shape[3] / scale, data.shape[2] / scale)
    rois = floats(rois * rng.choice([1, 1.2]) - rng.choice([0, 2]))
    return Fed(OPS[f"ROIAlign-{version}"], raw, [data, rois, rng.integers(0, len(data), len(rois))])


def roi_align_rotated(rng: Rng) -> Fed:
    data, count = maps(rng), int(rng.integers(1, 6))
    raw = {**pooled(rng), "sampling_ratio": str(rng.integers(0, 4)), "clockwise_mode": flag(rng)}
    size = np.array([data.shape[3], data.shape[2]]) / float(raw["spatial_scale"])
    parts = (
        rng.uniform(0, 1, (count, 2)) * size,
        rng.uniform(0.1, 1, (count, 2)) * size,
        rng.uniform(-4, 4, (count, 1)),
    )
    rois = floats(np.concatenate(parts, axis=1))
    return Fed(OPS["ROIAlignRotated-15"], raw, [data, rois, rng.integers(0, len(data), count)])


def psroi_pooling(rng: Rng) -> Fed:
    mode, scale = one_of(rng, "average", "bilinear"), float(rng.choice([0.0625, 0.25, 1]))
    outputs, size, across, down = (int(number) for number in rng.integers(1, 4, 4))
    data = maps(rng, outputs * (size * size if mode == "average" else across * down), least=2)
    width, height = (1, 1) if mode == "bilinear" else (data.shape[3], data.shape[2])
    rois = with_images(rng, corners(rng, int(rng.integers(1, 6)), width, height) / np.float32(scale), len(data))
    raw = {
        "output_dim": str(outputs),
        "group_size": str(size),
        "spatial_scale": str(scale),
        "mode": mode,
        "spatial_bins_x": str(across),
        "spatial_bins_y": str(down),
    }
    return Fed(OPS["PSROIPooling-1"], raw, [data, rois])


def proposal(rng: Rng) -> Fed:
    ratios, scales = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    anchors, count, height, width = (
        ratios * scales,
        int(rng.integers(1, 3)),
        int(rng.integers(3, 6)),
        int(rng.integers(3, 6)),
    )
    raw = {
        "base_size": one_of(rng, 4, 8, 16),
        "pre_nms_topn": one_of(rng, 9, 20, 100),
        "post_nms_topn": one_of(rng, 3, 10, 30),
        "nms_thresh": one_of(rng, 0.3, 0.5, 0.7),
        "feat_stride": one_of(rng, 4, 8, 16),
        "min_size": "0",
        "ratio": listed(rng.choice([0.5, 1, 2, 0.7], ratios, replace=False)),
        "scale": listed(rng.choice([1, 2, 3.5], scales, replace=False)),
        "clip_before_nms": flag(rng),
        "clip_after_nms": flag(rng),
        "normalize": flag(rng),
        "box_size_scale": one_of(rng, 1, 5),
        "box_coordinate_scale": one_of(rng, 1, 10),
        "framework": one_of(rng, "", "tensorflow"),
    }
    image = [*rng.integers(30, 70, 2), 1.0, *([1.0] if rng.random() < 0.4 else [])]
    scores, deltas = (
        rng.uniform(0.01, 1, (count, 2 * anchors, height, width)),
        rng.normal(size=(count, 4 * anchors, height, width)),
    )
    arrays = [floats(scores), floats(deltas * 0.3), floats(image)]
    return Fed(OPS[f"Proposal-{rng.choice([1, 4])}"], raw, arrays)


def generate_proposals(rng: Rng) -> Fed:
    anchors, count, height, width = (int(size) for size in rng.integers([1, 1, 3, 3], [4, 3, 6, 6]))
    raw = {
        "min_size": one_of(rng, 0, 2),
        "nms_threshold": one_of(rng, 0.3, 0.7),
        "pre_nms_count": one_of(rng, 9, 30, 200),
        "post_nms_count": one_of(rng, 3, 20),
        "normalized": flag(rng),
        "roi_num_type": one_of(rng, "i32", "i64"),
    }
    shape = (height, width, anchors, 2)
    centre, half = rng.uniform(0, 50, shape), rng.uniform(2, 12, shape)
    image = np.concatenate([rng.integers(30, 60, (count, 2)), np.ones((count, rng.integers(1, 3)))], axis=1)
    arrays = [floats(image), floats(np.concatenate([centre - half, centre + half], axis=-1))]
    arrays += [floats(rng.normal(size=(count, 4 * anchors, height, width)) * 0.3)]
    arrays += [floats(rng.uniform(0, 1, (count, anchors, height, width)))]
    return Fed(OPS["GenerateProposals-9"], raw, arrays)


def deformable_psroi_pooling(rng: Rng) -> Fed:
    """With and without offsets, which several outputs may share."""
    outputs, size, across, down = (int(number) for number in rng.integers(1, 4, 4))
    scale, parts = float(rng.choice([0.0625, 0.25, 1])), int(rng.integers(1, 4))
    data = maps(rng, outputs * size * size, least=2)
    boxes = corners(rng, int(rng.integers(1, 6)), data.shape[3] / scale, data.shape[2] / scale)
    raw = {
        "output_dim": str(outputs),
        "group_size": str(size),
        "spatial_scale": str(scale),
        "mode": "bilinear_deformable",
        "spatial_bins_x": str(across),
        "spatial_bins_y": str(down),
        "trans_std": one_of(rng, 0.1, 1),
        "part_size": str(parts),
    }
    arrays = [data, with_images(rng, boxes, len(data))]
    if rng.random() < 0.7:
        classes = int(rng.choice([number for number in range(1, outputs + 1) if outputs % number == 0]))
        arrays.append(floats(rng.normal(size=(len(boxes), 2 * classes, parts, parts)) * 0.3))
    return Fed(OPS["DeformablePSROIPooling-1"], raw, arrays)


MAKERS: tuple[Maker, ...] = (
    roi_pooling,
    roi_align,
    roi_align_rotated,
    psroi_pooling,
    deformable_psroi_pooling,
    proposal,
    generate_proposals,
)
