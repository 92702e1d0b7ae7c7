"""Random legacy layers of detectors: prior boxes, regions, detections."""

import numpy as np

from ir_tools.ops.fields import listed
from tests.legacy.activation import number
from tests.legacy.net import Array, LegacyCase, Maker, Net, Rng, Tensor, chance, optional, pick, single

VARIANCES = ("0.1,0.1,0.2,0.2", "0.10000000149011612,0.10000000149011612,0.20000000298023224,0.20000000298023224")


def _feature_and_image(net: Net) -> tuple[Tensor, Tensor]:
    rng = net.rng
    height, width = (int(size) for size in rng.integers(1, 6, 2))
    factor = int(rng.integers(3, 20))
    image = (1, 3, height * factor + int(rng.integers(0, 4)), width * factor + int(rng.integers(0, 4)))
    return net.input(net.values(1, 4, height, width)), net.input(net.values(*image))


def _several(rng: Rng, low: float, high: float, most: int) -> list[float]:
    return [round(float(size), 3) for size in rng.uniform(low, high, int(rng.integers(1, most + 1)))]


def _ratios(ratios: list[float], flip: int) -> int:
    """Count the different ratios, 1 among them, as the old runtime does."""
    found = [1.0]
    for ratio in ratios:
        if all(abs(ratio - other) >= 1e-6 for other in found):
            found += [ratio, 1 / ratio] if flip else [ratio]
    return len(found)


def prior_box(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    feature, image = _feature_and_image(net)
    sizes = _several(rng, 4, 40, 2)
    largest = [size + round(float(rng.uniform(1, 30)), 3) for size in sizes] if chance(rng, 0.6) else []
    ratios = pick(rng, [2.0], [2.0, 3.0], [1.0, 2.0], [0.5])
    flip, clip = int(chance(rng, 0.7)), int(chance(rng, 0.3))
    data: dict[str, object] = {
        "min_size": listed(sizes),
        "max_size": listed(largest),
        "aspect_ratio": listed(ratios),
        "flip": flip,
        "clip": clip,
        "offset": pick(rng, "0.5", "0.5", "0.0", number(rng, 0, 1)),
        "step": pick(rng, "16.0", "0", "0.0", number(rng, 2, 20)),
        "variance": pick(rng, *VARIANCES, "0.1", number(rng, 0.1, 0.9)),
        "scale_all_sizes": pick(rng, 1, 1, 1, 0),
    }
    data = optional(rng, data, scale_all_sizes=1, max_size="")
    if chance(rng, 0.1):
        del data["variance"]
    count = _ratios(ratios, flip)
    priors = count * len(sizes) + len(largest)
    if data.get("scale_all_sizes", 1) == 0:
        priors = count + len(sizes) - 1 + len(largest)
    return _priors(net, "PriorBox", feature, image, data, priors)


def _priors(
    net: Net, kind: str, feature: Tensor, image: Tensor, data: dict[str, object], priors: int, undefined: str = ""
) -> LegacyCase:
    out = (1, 2, feature.shape[2] * feature.shape[3] * priors * 4)
    net.layer(kind, [feature, image], [out], data)
    return net.case(undefined=undefined)


def prior_box_density(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    feature, image = _feature_and_image(net)
    sizes = _several(rng, 4, 40, 3)
    densities = [float(rng.integers(1, 4)) for _ in sizes]
    data: dict[str, object] = {
        "min_size": "",
        "max_size": "",
        "aspect_ratio": "",
        "fixed_size": listed(sizes),
        "density": listed(densities),
        "fixed_ratio": pick(rng, "1.0", "2.0"),
        "flip": 0,
        "clip": int(chance(rng, 0.3)),
        "offset": "0.5",
        "step": pick(rng, "16.0", "0", number(rng, 2, 20)),
        "variance": pick(rng, *VARIANCES),
    }
    priors = sum(int(density) ** 2 for density in densities)
    return _priors(net, "PriorBox", feature, image, data, priors)


def prior_box_clustered(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    feature, image = _feature_and_image(net)
    widths = _several(rng, 4, 60, 4)
    heights = [round(float(size), 3) for size in rng.uniform(4, 60, len(widths))]
    variance = pick(rng, *VARIANCES, *VARIANCES, number(rng, 0.1, 0.9))
    data: dict[str, object] = {
        "width": listed(widths),
        "height": listed(heights),
        "flip": 1,
        "clip": int(chance(rng, 0.3)),
        "offset": pick(rng, "0.5", number(rng, 0, 1)),
        "variance": variance,
    }
    steps = pick(
        rng, {"step": "16.0"}, {"step_w": "12.0", "step_h": "9.5"}, {"step": "0"}, {"step_w": "0", "step_h": "0"}
    )
    data |= steps
    if chance(rng, 0.3):
        data |= {"img_w": pick(rng, 0, 100), "img_h": pick(rng, 0, 77)}
    why = "" if "," in variance else "with one variance, three quarters of the second row are unwritten memory"
    return _priors(net, "PriorBoxClustered", feature, image, data, len(widths), why)


def _boxes(rng: Rng, count: int) -> Array:
    corner = rng.uniform(0, 0.7, (count, 2))
    size = rng.uniform(0.05, 0.3, (count, 2))
    return np.concatenate([corner, corner + size], 1).astype(np.float32)


def detection_output(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    priors, classes = int(rng.integers(2, 20)), int(rng.integers(2, 5))
    batch = pick(rng, 1, 1, 2)
    normalized = int(chance(rng, 0.85))
    shared = int(chance(rng, 0.8))
    encoded = int(chance(rng, 0.2))
    keep, top = pick(rng, priors * classes, 5, 200), pick(rng, 400, 400, 10, 3)
    data: dict[str, object] = {
        "num_classes": classes,
        "background_label_id": pick(rng, 0, 0, 0, 1),
        "top_k": top,
        "keep_top_k": keep,
        "share_location": shared,
        "variance_encoded_in_target": encoded,
        "code_type": f"caffe.PriorBoxParameter.{pick(rng, 'CENTER_SIZE', 'CENTER_SIZE', 'CORNER')}",
        "nms_threshold": pick(rng, "0.45", "0.3", "0.7"),
        "confidence_threshold": pick(rng, "0.01", "0.3", "0.009999999776482582"),
        "normalized": normalized,
        "input_height": pick(rng, 1, -1) if normalized else 90,
        "input_width": pick(rng, 1, -1) if normalized else 120,
        pick(rng, "clip", "clip_before_nms", "clip_after_nms"): int(chance(rng, 0.3)),
        "eta": "1.0",
        "visualize": "False",
    }
    defaults = {
        "background_label_id": 0,
        "share_location": 1,
        "variance_encoded_in_target": 0,
        "normalized": 1,
        "clip": 0,
    }
    data = optional(rng, data, **defaults, input_height=-1, input_width=-1)
    locations = net.input(net.values(batch, priors * 4 * (1 if shared else classes), scale=0.3))
    scores = rng.permutation(batch * priors * classes) + rng.uniform(0.1, 0.9, batch * priors * classes)
    confidences = (scores / scores.size).astype(np.float32).reshape(batch, -1)
    boxes = _boxes(rng, priors)
    if not normalized:
        boxes *= np.array([120, 90, 120, 90], np.float32)
        boxes = np.concatenate([np.zeros((priors, 1), np.float32), boxes], 1)
    rows = [boxes.reshape(-1)]
    if not encoded:
        variances = np.tile(np.array([0.1, 0.1, 0.2, 0.2], np.float32), priors)
        rows.append(np.pad(variances, (0, boxes.size - variances.size)))
    table = np.stack(rows)[None]
    out = (1, 1, batch * keep, 7)
    net.layer("DetectionOutput", [locations, net.input(confidences), net.input(table)], [out], data)
    return net.case(boxes=True)


def proposal(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    height, width = (int(size) for size in rng.integers(3, 9, 2))
    ratios = pick(rng, [0.5, 1, 2], [1], [0.5, 1, 2, 0.33])
    scales = pick(rng, [8, 16, 32], [4], [2, 4, 8, 16])
    anchors = len(ratios) * len(scales)
    kept = int(rng.integers(2, 20))
    data: dict[str, object] = {
        "feat_stride": 16,
        "base_size": 16,
        "min_size": pick(rng, 1, 8, 16),
        "ratio": listed(ratios),
        "scale": listed(scales),
        "pre_nms_topn": pick(rng, 6000, 50, 10),
        "post_nms_topn": kept,
        "nms_thresh": pick(rng, "0.7", "0.5", "0.699999988079071"),
    }
    if chance(rng, 0.2):
        data |= {"framework": "tensorflow", "box_coordinate_scale": "10.0", "box_size_scale": "5.0"}
    if chance(rng, 0.3):
        data |= {"normalize": int(chance(rng, 0.5)), "clip_before_nms": 1, "clip_after_nms": int(chance(rng, 0.5))}
    scores = (rng.permutation(2 * anchors * height * width) / (2 * anchors * height * width)).astype(np.float32)
    image = np.array([[height * 16, width * 16, 1, 1][: pick(rng, 3, 4)]], np.float32)
    inputs = [
        net.input(scores.reshape(1, 2 * anchors, height, width)),
        net.input((rng.normal(0, 0.2, (1, 4 * anchors, height, width))).astype(np.float32)),
        net.input(image),
    ]
    net.layer("Proposal", inputs, [(kept, 5)], data)
    return net.case()


def region_yolo(rng: Rng, version: int) -> LegacyCase:
    classes, coords, regions = int(rng.integers(1, 8)), 4, int(rng.integers(1, 5))
    softmax = chance(rng, 0.5)
    mask = list(range(regions))
    total = regions if softmax else regions + int(rng.integers(0, 3))
    cells = int(rng.integers(1, 7)), int(rng.integers(1, 7))
    channels = regions * (classes + coords + 1)
    data: dict[str, object] = {
        "classes": classes,
        "coords": coords,
        "num": total,
        "do_softmax": int(softmax),
        "axis": 1,
        "end_axis": 3,
        "mask": listed(mask),
    }
    data = optional(rng, data, do_softmax=1)
    if chance(rng, 0.5 if softmax else 0.1):
        del data["mask"]
    batch = int(rng.integers(1, 3))
    flat = (batch, channels * cells[0] * cells[1])
    out = flat if softmax else pick(rng, flat, (batch, channels, *cells))
    return single(rng, version, "RegionYolo", (batch, channels, *cells), data, out)


def reorg_yolo(rng: Rng, version: int) -> LegacyCase:
    stride = pick(rng, 1, 2, 2, 3)
    channels = int(rng.integers(1, 4)) * stride * stride
    cells = [int(size) * stride for size in rng.integers(1, 4, 2)]
    batch = int(rng.integers(1, 3))
    out = (batch, channels * stride * stride, cells[0] // stride, cells[1] // stride)
    return single(rng, version, "ReorgYolo", (batch, channels, *cells), {"stride": stride}, out)


def _rois(rng: Rng, batch: int, count: int, size: float) -> Array:
    boxes = _boxes(rng, count) * np.float32(size)
    return np.concatenate([rng.integers(0, batch, (count, 1)).astype(np.float32), boxes], 1)


def psroi_pooling(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    mode = pick(rng, "average", "average", "bilinear")
    out_channels, group = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    bins = (int(rng.integers(1, 4)), int(rng.integers(1, 4))) if mode == "bilinear" else (1, 1)
    pooled = group if mode == "average" else pick(rng, group, 3)
    channels = out_channels * (group * group if mode == "average" else bins[0] * bins[1])
    scale = "0.0625" if mode == "average" else "1"
    data: dict[str, object] = {
        "output_dim": out_channels,
        "group_size": pooled,
        "spatial_scale": scale,
        "mode": mode,
        "spatial_bins_x": bins[1],
        "spatial_bins_y": bins[0],
    }
    data = optional(rng, data, mode="average", spatial_bins_x=1, spatial_bins_y=1)
    batch, count = int(rng.integers(1, 3)), int(rng.integers(1, 6))
    source = net.input(net.values(batch, channels, *(int(size) for size in rng.integers(4, 12, 2))))
    rois = net.input(_rois(rng, batch, count, 160 if mode == "average" else 1))
    net.layer("PSROIPooling", [source, rois], [(count, out_channels, pooled, pooled)], data)
    return net.case()


def roi_pooling(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    method = pick(rng, "max", "max", "bilinear")
    low = 2 if method == "bilinear" else 1
    pooled = [int(size) for size in rng.integers(low, 6, 2)]
    scale, size = ("0.0625", 160) if method == "max" else ("1.0", 1)
    data: dict[str, object] = {"pooled_h": pooled[0], "pooled_w": pooled[1], "spatial_scale": scale, "method": method}
    batch, count, channels = int(rng.integers(1, 3)), int(rng.integers(1, 6)), pick(rng, 1, 3, 8, 17)
    source = net.input(net.values(batch, channels, *(int(size) for size in rng.integers(4, 12, 2))))
    rois = net.input(_rois(rng, batch, count, size))
    net.layer("ROIPooling", [source, rois], [(count, channels, *pooled)], optional(rng, data, method="max"))
    return net.case()


MAKERS: dict[str, Maker] = {
    "PriorBox": prior_box,
    "PriorBoxDensity": prior_box_density,
    "PriorBoxClustered": prior_box_clustered,
    "DetectionOutput": detection_output,
    "Proposal": proposal,
    "RegionYolo": region_yolo,
    "ReorgYolo": reorg_yolo,
    "PSROIPooling": psroi_pooling,
    "ROIPooling": roi_pooling,
}
