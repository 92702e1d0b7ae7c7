"""Detectors of IR v2 to v7: prior boxes, regions, proposals, detections and pooling of regions.

Source: measured on Inference Engine 2020.1.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ir_tools.graph import Source
from ir_tools.ops.definition import Array, Input, Output, Refused
from ir_tools.ops.fields import Attrs, Float, Floats, Int, Ints, OneOf, Text
from ir_tools.ops.legacy._tensors import as_declared, declared_sizes, reshaped
from ir_tools.ops.legacy.definition import LEFTOVERS, LegacyFlag, LegacyLayer, legacy_type

__all__ = ["OPS"]

IMAGE = (Input("data"), Input("image"))
"""Inputs of prior boxes, of which only the sizes count."""
CODE_TYPES = ("caffe.priorboxparameter.corner", "caffe.priorboxparameter.center_size")
REGIONS = (Input("data"), Input("regions"))
LOWEST = float(np.finfo(np.float32).min)
"""The threshold of confidences where none is given: all pass."""
VARIANCE = 0.1
"""The variance of boxes where none is given."""


def prior_box(layer: LegacyLayer) -> tuple[Source, ...] | Refused:
    """Return PriorBox for the sizes of the two inputs; a constant where `scale_all_sizes` is 0."""
    attrs = layer.attrs
    feature, image = (layer.sizes(tensor)[2:] for tensor in layer.inputs)
    if attrs.fixed_size and (len(attrs.fixed_ratio) > 1 or len(attrs.density) != len(attrs.fixed_size)):
        return Refused(
            "Inference Engine 2020.1 writes another number of boxes than the output has room for", "fixed_size"
        )
    variance = attrs.variance or (VARIANCE,)
    if not attrs.scale_all_sizes:
        boxes = _boxes_of_first_size(attrs, feature, image)
        rows = np.stack([boxes, np.resize(np.array(variance, np.float32), boxes.size)])
        return (layer.constant(rows[None]),)
    numbers: dict[str, Any] = {**attrs, "variance": variance}
    found = layer.call("PriorBox", *(_spatial_sizes(layer, tensor) for tensor in layer.inputs), **numbers)
    return (layer.call("Unsqueeze", found, [0]),)


def _boxes_of_first_size(attrs: Attrs, feature: Sequence[int], image: Sequence[int]) -> Array:
    """Return boxes of all sizes with ratio 1, and of the first size with the other ratios."""
    squares = [(size, size) for size in attrs.min_size]
    for index, size in enumerate(attrs.max_size[: len(squares)]):
        side = math.sqrt(attrs.min_size[index] * size)
        squares.insert(2 * index + 1, (side, side))
    others = [ratio for ratio in _ratios(attrs) if abs(ratio - 1) >= 1e-6]
    first = attrs.min_size[0]
    sides = np.array(
        [*squares, *((first * math.sqrt(ratio), first / math.sqrt(ratio)) for ratio in others)], np.float32
    )
    steps = [attrs.step or size / cells for size, cells in zip(image, feature, strict=True)]
    offset = attrs.offset if attrs.step else 0.5
    y, x = ((np.arange(cells) + offset) * step for cells, step in zip(feature, steps, strict=True))
    centers = np.stack(np.broadcast_arrays(x, y[:, None]), -1)[:, :, None]
    boxes = np.concatenate([centers - sides / 2, centers + sides / 2], -1) / np.array([*image[::-1]] * 2)
    return np.asarray(np.clip(boxes, 0, 1) if attrs.clip else boxes).astype(np.float32).ravel()


def _ratios(attrs: Attrs) -> list[float]:
    """Return the different ratios, 1 first; with `flip`, each is followed by its inverse."""
    found = [1.0]
    for ratio in attrs.aspect_ratio:
        if all(abs(ratio - other) >= 1e-6 for other in found):
            found += [ratio, 1 / ratio] if attrs.flip else [ratio]
    return found


def _spatial_sizes(layer: LegacyLayer, tensor: Source) -> Source:
    """Return height and width of a tensor, which follow it if it is given another shape."""
    return layer.call("Gather", layer.call("ShapeOf", tensor, output_type="i64"), [2, 3], 0)


def prior_box_clustered(layer: LegacyLayer) -> tuple[Source, ...] | Refused:
    """Return PriorBoxClustered for the sizes of the two inputs; `img_h` and `img_w` stand for those of the second."""
    attrs = layer.attrs
    feature, image = (layer.sizes(tensor)[2:] for tensor in layer.inputs)
    if len(attrs.variance) != 4:
        return Refused("without four values, Inference Engine 2020.1 leaves variances unwritten", "variance")
    given = (attrs.img_h or image[0], attrs.img_w or image[1])
    size = given if attrs.img_h or attrs.img_w else _spatial_sizes(layer, layer.inputs[1])
    steps = [attrs.step_h or attrs.step, attrs.step_w or attrs.step]
    if not any(steps):
        steps = [length / cells for length, cells in zip(given, feature, strict=True)]
    numbers = {name: attrs[name] for name in ("width", "height", "clip", "offset", "variance")}
    numbers |= {"step": 0.0, "step_h": steps[0], "step_w": steps[1]}
    found = layer.call("PriorBoxClustered", _spatial_sizes(layer, layer.inputs[0]), size, **numbers)
    return (layer.call("Unsqueeze", found, [0]),)


def detection_output(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return DetectionOutput; sizes of the input that are not known count as 1."""
    numbers = {name: value for name, value in layer.attrs.items() if name not in {"num_classes", "clip"}}
    sizes = {name: max(numbers[name], 1) for name in ("input_height", "input_width")}
    code = "CENTER_SIZE" if numbers["code_type"].endswith("center_size") else "CORNER"
    written = {"code_type": f"caffe.PriorBoxParameter.{code}", "keep_top_k": [numbers["keep_top_k"]]}
    written["clip_before_nms"] = numbers["clip_before_nms"] or layer.attrs.clip
    return (layer.call("DetectionOutput", *layer.inputs, **numbers | sizes | written),)


def proposal(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the boxes of Proposal; the size of the image is a list."""
    scores, deltas, image = layer.inputs
    size = layer.call("Reshape", image, [math.prod(layer.sizes(image))], special_zero=False)
    numbers = {**layer.attrs, "framework": "tensorflow" if layer.attrs.framework == "tensorflow" else ""}
    return layer.outputs("Proposal", scores, deltas, size, **numbers)[: len(layer.declared)]


def region_yolo(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return RegionYolo in the declared sizes; without softmax and mask, the input."""
    if not (layer.attrs.do_softmax or layer.attrs.mask):
        return (reshaped(layer, layer.inputs[0], declared_sizes(layer)),)
    return (as_declared(layer, layer.call("RegionYolo", layer.inputs[0], **layer.attrs)),)


def reorg_yolo(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return ReorgYolo."""
    return (layer.call("ReorgYolo", layer.inputs[0], stride=[layer.attrs.stride]),)


def psroi_pooling(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return PSROIPooling."""
    return (layer.call("PSROIPooling", *layer.inputs, **layer.attrs),)


def roi_pooling(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return ROIPooling."""
    return (layer.call("ROIPooling", *layer.inputs, **layer.attrs),)


PRIORS = {
    "clip": LegacyFlag(default=False),
    "offset": Float(),
    "step": Float(default=0.0),
    "variance": Floats(default=()),
}
OPS = (
    legacy_type(
        "PriorBox",
        prior_box,
        inputs=IMAGE,
        attrs={
            **PRIORS,
            "min_size": Floats(default=()),
            "max_size": Floats(default=()),
            "aspect_ratio": Floats(default=()),
            "density": Floats(default=()),
            "fixed_ratio": Floats(default=()),
            "fixed_size": Floats(default=()),
            "flip": LegacyFlag(default=False),
            "scale_all_sizes": LegacyFlag(default=True),
        },
    ),
    legacy_type(
        "PriorBoxClustered",
        prior_box_clustered,
        inputs=IMAGE,
        attrs={
            **PRIORS,
            "width": Floats(),
            "height": Floats(),
            "step_w": Float(default=0.0),
            "step_h": Float(default=0.0),
            "img_w": Int(default=0),
            "img_h": Int(default=0),
        },
        leftovers={**LEFTOVERS, "flip": ".*"},
    ),
    legacy_type(
        "DetectionOutput",
        detection_output,
        inputs=(
            *(Input(name) for name in ("locations", "confidences", "priors")),
            *(Input(name, optional=True) for name in ("refined_confidences", "refined_locations")),
        ),
        attrs={
            "num_classes": Int(minimum=1),
            "background_label_id": Int(default=0),
            "top_k": Int(default=-1),
            "keep_top_k": Int(default=-1),
            "share_location": LegacyFlag(default=True),
            "variance_encoded_in_target": LegacyFlag(default=False),
            "code_type": OneOf(words=CODE_TYPES, default=CODE_TYPES[0]),
            "nms_threshold": Float(minimum=0.0),
            "confidence_threshold": Float(default=LOWEST),
            "normalized": LegacyFlag(default=True),
            "input_height": Int(default=1),
            "input_width": Int(default=1),
            "clip": LegacyFlag(default=False),
            "clip_before_nms": LegacyFlag(default=False),
            "clip_after_nms": LegacyFlag(default=False),
            "decrease_label_id": LegacyFlag(default=False),
            "objectness_score": Float(default=0.0),
        },
        leftovers={**LEFTOVERS, **dict.fromkeys(("eta", "visualize", "visualize_threshold", "save_file"), ".*")},
    ),
    legacy_type(
        "Proposal",
        proposal,
        inputs=tuple(Input(name) for name in ("scores", "deltas", "image")),
        outputs=(Output("boxes"), Output("scores")),
        attrs={
            "base_size": Int(),
            "feat_stride": Int(minimum=1),
            "min_size": Int(),
            "ratio": Floats(),
            "scale": Floats(),
            "pre_nms_topn": Int(),
            "post_nms_topn": Int(minimum=1),
            "nms_thresh": Float(),
            "box_coordinate_scale": Float(default=1.0),
            "box_size_scale": Float(default=1.0),
            "framework": Text(default=""),
            "normalize": LegacyFlag(default=False),
            "clip_before_nms": LegacyFlag(default=True),
            "clip_after_nms": LegacyFlag(default=False),
        },
    ),
    legacy_type(
        "RegionYolo",
        region_yolo,
        attrs={
            "classes": Int(),
            "coords": Int(),
            "num": Int(minimum=1),
            "do_softmax": LegacyFlag(default=True),
            "mask": Ints(default=()),
            "axis": Int(default=1),
            "end_axis": Int(default=3),
            "anchors": Floats(default=()),
        },
    ),
    legacy_type("ReorgYolo", reorg_yolo, attrs={"stride": Int(minimum=1)}),
    legacy_type(
        "PSROIPooling",
        psroi_pooling,
        inputs=REGIONS,
        attrs={
            "output_dim": Int(),
            "group_size": Int(minimum=1),
            "spatial_scale": Float(),
            "mode": OneOf(words=("average", "bilinear"), default="average"),
            "spatial_bins_x": Int(default=1),
            "spatial_bins_y": Int(default=1),
        },
    ),
    legacy_type(
        "ROIPooling",
        roi_pooling,
        inputs=REGIONS,
        attrs={
            "pooled_h": Int(minimum=1),
            "pooled_w": Int(minimum=1),
            "spatial_scale": Float(),
            "method": OneOf(words=("max", "bilinear"), default="max"),
        },
    ),
)
