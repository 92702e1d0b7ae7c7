"""The ExperimentalDetectron operations of opset6, for Faster and Mask R-CNN.

The shape rules are those of OpenVINO's core (experimental_detectron_*_shape_inference.hpp), measured.

Specification: `detection/`, `sort/`.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ir_tools.ops._box_rewrites import no_boxes
from ir_tools.ops._numbers import in_working_types
from ir_tools.ops._proposals import of_one_image
from ir_tools.ops._requirements import agreed, require_rank, require_size
from ir_tools.ops._values import dim, times
from ir_tools.ops._versions import no_step
from ir_tools.ops.definition import Array, Fact, Input, Op, Output, Violation, ViolationKind
from ir_tools.ops.fields import COUNT, OVERLAP, POSITIVE, SCORE, Attrs, Flag, Float, Floats, Int, Ints
from ir_tools.ops.limits import MAX_BOXES, check_output_size, check_samples
from ir_tools.types import Dim, element_type

__all__ = ["OPS"]

FOUR = Dim.of(4)


def detection_output_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[detections, 4]` boxes, `[detections]` classes and scores, as many as are asked for."""
    rois, deltas, scores, image = inputs
    lasts = ((rois, 4, "rois"), (deltas, attrs.num_classes * 4, "deltas"), (scores, attrs.num_classes, "scores"))
    for fact, last, name in lasts:
        require_rank(fact, 2, name)
        require_size(fact, 1, (last,), name)
    require_rank(image, 2, "image_size")
    require_size(image, 0, (1,), "image_size")
    require_size(image, 1, (3,), "image_size")
    if None not in {rois.shape, deltas.shape, scores.shape}:
        agreed((dim(fact, 0) for fact in (rois, deltas, scores)), "number of regions")
    count = Dim.of(attrs.max_detections_per_image)
    dtype = rois.dtype
    return Fact(dtype, (count, FOUR)), Fact(element_type("i32"), (count,)), Fact(dtype, (count,))


def proposals_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[proposals, 4]` regions and `[proposals]` scores."""
    image, anchors, deltas, scores = inputs
    require_rank(image, 1, "image_size")
    require_size(image, 0, (3,), "image_size")
    require_rank(anchors, 2, "anchors")
    require_size(anchors, 1, (4,), "anchors")
    for fact, name in ((deltas, "deltas"), (scores, "scores")):
        require_rank(fact, 3, name)
    for axis, name in ((1, "height"), (2, "width")):
        agreed((dim(fact, axis) for fact in (deltas, scores)), name)
    count = Dim.of(attrs.post_nms_count)
    return Fact(image.dtype, (count, FOUR)), Fact(image.dtype, (count,))


def grid_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[height * width * priors, 4]`, or `[height, width, priors, 4]`."""
    priors, features, image = inputs
    require_rank(priors, 2, "priors")
    require_size(priors, 1, (4,), "priors")
    require_rank(features, 4, "feature_map")
    require_rank(image, 4, "image")
    agreed((dim(features, 0), dim(image, 0)), "batch")
    height, width, count = dim(features, 2), dim(features, 3), dim(priors, 0)
    if not attrs.flatten:
        return (Fact(priors.dtype, (height, width, count, FOUR)),)
    known = priors.shape is not None and features.shape is not None
    return (Fact(priors.dtype, (times(times(height, width), count) if known else Dim(), FOUR)),)


def features_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[regions, channels, size, size]`, and the regions."""
    rois, *layers = inputs
    require_rank(rois, 2, "rois")
    require_size(rois, 1, (4,), "rois")
    for layer in layers:
        require_rank(layer, 4, "features")
        require_size(layer, 0, (1,), "features")
    channels = agreed((dim(layer, 1) for layer in layers), "number of channels")
    size = Dim.of(attrs.output_size)
    count = dim(rois, 0)
    return Fact(rois.dtype, (count, channels, size, size)), Fact(rois.dtype, (count, FOUR))


def check_features(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check that sampling points and output fit into memory."""
    yield from check_samples(attrs.output_size**2, attrs.sampling_ratio)
    yield from check_output_size("output_size", features_shape)(attrs, inputs)


def best_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[max_rois, 4]`."""
    rois, scores = inputs
    require_rank(rois, 2, "rois")
    require_size(rois, 1, (4,), "rois")
    require_rank(scores, 1, "probabilities")
    agreed((dim(rois, 0), dim(scores, 0)), "number of regions")
    return (Fact(rois.dtype, (Dim.of(attrs.max_rois), FOUR)),)


# --- kernels ------------------------------------------------------------------------------------------------------


def grid(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the priors moved to the middle of every cell; cells beyond `h` and `w` stay 0."""
    priors, features, image = arrays
    height, width = features.shape[2:]
    rows, columns = attrs.h or height, attrs.w or width
    down = attrs.stride_y or image.shape[2] / max(rows, 1)
    right = attrs.stride_x or image.shape[3] / max(columns, 1)
    out = np.zeros((rows, columns, len(priors), 4), np.float32)
    out[..., 0::2] = ((np.arange(columns) + 0.5) * right)[:, None, None]
    out[..., 1::2] = ((np.arange(rows) + 0.5) * down)[:, None, None, None]
    out += priors.astype(np.float32)
    full = np.zeros((height * width * len(priors), 4), np.float32)
    full[: out.size // 4] = out.reshape(-1, 4)
    shape = (-1, 4) if attrs.flatten else (height, width, len(priors), 4)
    return (full.reshape(shape).astype(priors.dtype),)


def unwritten_cells(attrs: Attrs, arrays: Sequence[Array]) -> npt.NDArray[np.bool_] | None:
    """Return what the runtime leaves as it was, since `h` and `w` ask for fewer cells than there are."""
    priors, features, _ = arrays
    height, width = features.shape[2:]
    made = (attrs.h or height) * (attrs.w or width) * len(priors)
    behind: npt.NDArray[np.bool_] = np.arange(height * width * len(priors)) >= made
    return behind.reshape((-1, 1) if attrs.flatten else (height, width, len(priors), 1))


def unwritten_rois(attrs: Attrs, arrays: Sequence[Array]) -> npt.NDArray[np.bool_] | None:
    """Return what the runtime leaves as it was, where there are fewer regions than asked for."""
    behind: npt.NDArray[np.bool_] = np.arange(attrs.max_rois)[:, None] >= len(arrays[0])
    return behind


def check_grid(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for no more cells than the feature map has: the runtime writes beyond its memory (measured)."""
    for name, axis in (("h", 2), ("w", 3)):
        size = dim(inputs[1], axis)
        if size.hi is not None and attrs[name] > size.hi:
            message = f"is {attrs[name]}, but the feature map has size {size}; the runtime writes outside the output"
            yield Violation(name, message, f'write {name}="0"', ViolationKind.FATAL)


def proposed(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the best regions of one image and their scores, then zeros."""
    return in_working_types(lambda *wide: of_one_image(attrs, *wide), *arrays)


def best(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the most probable regions, the best first."""
    rois, scores = arrays
    order = np.argsort(-scores.astype(np.float32), kind="stable")[: attrs.max_rois]
    out = np.zeros((attrs.max_rois, 4), rois.dtype)
    out[: order.size] = rois[order]
    return (out,)


# --- the operations ---------------------------------------------------------------------------------------------

TYPES = {"T": "float"}

DETECTION_OUTPUT = Op(
    type="ExperimentalDetectronDetectionOutput",
    version=6,
    migrate=no_boxes(6),
    experimental=True,
    inputs=tuple(Input(name, type="T") for name in ("rois", "deltas", "scores", "image_size")),
    outputs=(Output("boxes"), Output("classes"), Output("scores")),
    attrs={
        "score_threshold": Float(minimum=0, runtime_default=0.0, usual=SCORE),
        "nms_threshold": Float(minimum=0, runtime_default=0.0, usual=OVERLAP),
        "num_classes": Int(minimum=0),
        "post_nms_count": Int(minimum=0, runtime_default=0, usual=COUNT),
        "max_detections_per_image": Int(minimum=0, runtime_default=0, usual=COUNT),
        "class_agnostic_box_regression": Flag(default=False),
        "max_delta_log_wh": Float(runtime_default=0.0, usual=POSITIVE),
        "deltas_weights": Floats(minimum=0, usual=POSITIVE),
    },
    types=TYPES,
    check=check_output_size("max_detections_per_image", detection_output_shape),
    shape=detection_output_shape,
)
GENERATE_PROPOSALS = Op(
    type="ExperimentalDetectronGenerateProposalsSingleImage",
    version=6,
    migrate=no_boxes(6),
    experimental=True,
    inputs=tuple(Input(name, type="T") for name in ("image_size", "anchors", "deltas", "scores")),
    outputs=(Output("rois"), Output("scores")),
    attrs={
        "min_size": Float(minimum=0, runtime_default=0.0),
        "nms_threshold": Float(minimum=0, runtime_default=0.0, usual=OVERLAP),
        "pre_nms_count": Int(minimum=0, runtime_default=0, usual=COUNT),
        "post_nms_count": Int(minimum=0, maximum=MAX_BOXES, usual=COUNT),
    },
    types=TYPES,
    check=check_output_size("post_nms_count", proposals_shape),
    shape=proposals_shape,
    kernel=proposed,
)
PRIOR_GRID_GENERATOR = Op(
    type="ExperimentalDetectronPriorGridGenerator",
    version=6,
    migrate=no_step(6, "no composition of older operations is known to compute the same grid"),
    experimental=True,
    inputs=tuple(Input(name, type="T") for name in ("priors", "feature_map", "image")),
    attrs={
        "flatten": Flag(default=True, runtime_default=False),
        "h": Int(minimum=0, default=0),
        "w": Int(minimum=0, default=0),
        "stride_x": Float(minimum=0, default=0.0),
        "stride_y": Float(minimum=0, default=0.0),
    },
    types=TYPES,
    check=check_grid,
    shape=grid_shape,
    kernel=grid,
    undefined_mask=unwritten_cells,
)
ROI_FEATURE_EXTRACTOR = Op(
    type="ExperimentalDetectronROIFeatureExtractor",
    version=6,
    migrate=no_step(6, "no older operation selects the feature map of a region by its size"),
    experimental=True,
    inputs=(Input("rois", type="T"), Input("features", type="T", many=True)),
    outputs=(Output("features"), Output("rois")),
    attrs={
        "output_size": Int(minimum=0, runtime_default=0, usual=COUNT),
        "sampling_ratio": Int(minimum=0, runtime_default=0),
        "pyramid_scales": Ints(minimum=1),
        "aligned": Flag(default=False),
    },
    types=TYPES,
    check=check_features,
    shape=features_shape,
)
TOP_K_ROIS = Op(
    type="ExperimentalDetectronTopKROIs",
    version=6,
    migrate=no_boxes(6),
    experimental=True,
    inputs=(Input("rois", type="T"), Input("probabilities", type="T")),
    attrs={"max_rois": Int(minimum=0, runtime_default=0, usual=COUNT)},
    types=TYPES,
    check=check_output_size("max_rois", best_shape),
    shape=best_shape,
    kernel=best,
    undefined_mask=unwritten_rois,
)

OPS = (DETECTION_OUTPUT, GENERATE_PROPOSALS, PRIOR_GRID_GENERATOR, ROI_FEATURE_EXTRACTOR, TOP_K_ROIS)
