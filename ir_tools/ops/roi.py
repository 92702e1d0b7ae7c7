"""Regions of interest: Proposal, GenerateProposals, ROIPooling, ROIAlign, ROIAlignRotated, (Deformable)PSROIPooling.

Specification: `detection/`, a section for each of them (`detection/roi-align-9`). Kernels follow the CPU plugin where
the specification leaves a choice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import ClassVar

import numpy as np

from ir_tools.ops._box_rewrites import migrate_roi_align, no_boxes
from ir_tools.ops._numbers import in_working_type, in_working_types, widened
from ir_tools.ops._proposals import generated, proposals
from ir_tools.ops._regions import (
    aligned,
    bilinear_points,
    deformed,
    maxima,
    position_averages,
    position_points,
    rotated,
)
from ir_tools.ops._requirements import agreed, require, require_rank, require_size
from ir_tools.ops._values import dim, element_count, is_empty, outside, times
from ir_tools.ops._versions import VersionStep, no_step
from ir_tools.ops.definition import (
    Array,
    Bounds,
    Check,
    Fact,
    Folding,
    Input,
    Op,
    Output,
    ShapeRule,
    Violation,
    ViolationKind,
)
from ir_tools.ops.fields import (
    COUNT,
    NOT_NEGATIVE,
    OVERLAP,
    POSITIVE,
    Attrs,
    ExactWord,
    Field,
    Flag,
    Float,
    Floats,
    IndexType,
    Int32,
    Ints,
    OneOf,
    Usual,
)
from ir_tools.ops.limits import MAX_BINS, MAX_BOXES, check_output_size, check_samples
from ir_tools.types import Dim, element_type

__all__ = ["OPS"]

I64 = element_type("i64")


# --- proposals --------------------------------------------------------------------------------------------------


def proposal_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map probabilities `[N, 2 * anchors, H, W]`, offsets `[N, 4 * anchors, H, W]` and the image `[3 or 4]` to boxes.

    The boxes are `[N * post_nms_topn, 5]` (`detection/proposal-1`).

    Raises:
        ShapeError: a rank is wrong, or the numbers of anchors or the batch sizes differ.
    """
    return (Fact(inputs[0].dtype, (_proposed(attrs, inputs), Dim.of(5))),)


def proposal_4_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return boxes as Proposal-1, and their probabilities `[N * post_nms_topn]` (`detection/proposal-4`)."""
    count = _proposed(attrs, inputs)
    return Fact(inputs[0].dtype, (count, Dim.of(5))), Fact(inputs[0].dtype, (count,))


def _proposed(attrs: Attrs, inputs: Sequence[Fact]) -> Dim:
    """Return the number of boxes, `N * post_nms_topn`; raises as `proposal_shape`."""
    scores, deltas, image = inputs
    for fact, rank, name in zip(inputs, (4, 4, 1), ("class_probs", "bbox_deltas", "image_shape"), strict=True):
        require_rank(fact, rank, name)
    if scores.shape is not None and deltas.shape is not None:
        twice = times(scores.shape[1], Dim.of(2))
        agreed(
            (deltas.shape[1], twice), "number of anchors ('bbox_deltas' must have twice the channels of 'class_probs')"
        )
    if image.shape is not None and image.shape[0].static:
        require_size(image, 0, (3, 4), "image_shape")
    batch = agreed((dim(scores, 0), dim(deltas, 0)), "batch size")
    return times(batch, Dim.of(attrs.post_nms_topn))


SCALE = replace(POSITIVE, maximum=1e6, above="which moves every region outside the data")
SAMPLES = Usual(minimum=0, below="with which the layer samples no points")
MIN_BOXES = 8
"""The CPU plugin crashes (SIGSEGV) where there are fewer boxes before suppression (measured on 2026.4.1, AVX2)."""


def check_proposal(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for an image without height or width, too few boxes before suppression, and an output that is too large.

    With fewer than `MIN_BOXES` boxes the runtime crashes (measured).
    """
    image = inputs[2].exact
    if image is not None and not (image.ravel()[:2] > 0).all():
        yield Violation("image_shape", "holds a height or width that is not positive")
    shape = inputs[0].shape
    count = element_count(shape[1:]) if shape is not None and len(shape) == 4 else None
    boxes = attrs.pre_nms_topn if count is None else min(attrs.pre_nms_topn, count // 2)
    if 0 < boxes < MIN_BOXES:
        message = f"leaves {boxes} boxes before suppression; with fewer than {MIN_BOXES} the runtime crashes"
        yield Violation("pre_nms_topn", message, kind=ViolationKind.FATAL)
    for name in ("base_size", "pre_nms_topn"):
        if attrs[name] < 0:
            yield Violation(name, f"is {attrs[name]}; expected at least 1", kind=ViolationKind.RANGE)
    yield from check_output_size("post_nms_topn", proposal_shape)(attrs, inputs)


def proposal(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the best boxes of each image, `[N * post_nms_topn, 5]`.

    A row that starts with -1, and zeros, follow the last box.
    """
    return proposal_4(attrs, inputs)[:1]


def proposal_4(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the best boxes of each image as Proposal-1, and their probabilities."""
    return in_working_types(lambda *arrays: proposals(attrs, *arrays), *inputs)


PROPOSAL_1 = Op(
    type="Proposal",
    version=1,
    experimental=True,
    inputs=(
        Input("class_probs", type="float"),
        Input("bbox_deltas", type="float"),
        Input("image_shape", type="float"),
    ),
    attrs={
        "base_size": Int32(runtime_default=0, usual=COUNT),
        "pre_nms_topn": Int32(runtime_default=0, usual=COUNT),
        "post_nms_topn": Int32(minimum=1),
        "nms_thresh": Float(runtime_default=0.0, usual=OVERLAP),
        "feat_stride": Int32(runtime_default=1, minimum=1),
        "min_size": Int32(runtime_default=1, usual=NOT_NEGATIVE),
        "ratio": Floats(runtime_default=(), usual=POSITIVE),
        "scale": Floats(runtime_default=(), usual=POSITIVE),
        "clip_before_nms": Flag(default=True),
        "clip_after_nms": Flag(default=False),
        "normalize": Flag(default=False),
        "box_size_scale": Float(default=1.0, usual=POSITIVE),
        "box_coordinate_scale": Float(default=1.0, usual=POSITIVE),
        "framework": ExactWord(words=("", "tensorflow"), default=""),
    },
    check=check_proposal,
    shape=proposal_shape,
    kernel=proposal,
    migrate=VersionStep("Proposal", 1),
)
PROPOSAL_4 = PROPOSAL_1.at(
    4,
    outputs=(Output("proposals"), Output("probabilities")),
    shape=proposal_4_shape,
    kernel=proposal_4,
    migrate=VersionStep("Proposal", 4),
)

GENERATED = ("im_info", "anchors", "boxesdeltas", "scores")


def generate_proposals_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return boxes `[0..N * post_nms_count, 4]`, their scores, and how many each image has, `[N]`.

    Args:
        attrs: of the layer.
        inputs: images `[N, 3 or 4]`, anchors `[H, W, A, 4]`, offsets `[N, 4 * A, H, W]`, scores `[N, A, H, W]`
            (`detection/generate-proposals-9`).

    Raises:
        ShapeError: a rank is wrong, or sizes do not fit.
    """
    image, anchors, deltas, scores = inputs
    for fact, rank, name in zip(inputs, (2, 4, 4, 4), GENERATED, strict=True):
        require_rank(fact, rank, name)
    require_size(image, 1, (3, 4), "im_info")
    require_size(anchors, 3, (4,), "anchors")
    if deltas.shape is not None and scores.shape is not None:
        agreed((deltas.shape[1], times(scores.shape[1], Dim.of(4))), "number of anchors times 4")
        for axis, what in ((2, "height"), (3, "width")):
            agreed((deltas.shape[axis], scores.shape[axis]), what)
        for fact in (scores, image):
            agreed((deltas.shape[0], dim(fact, 0)), "batch size")
    for axis, other, what in ((0, 2, "height"), (1, 3, "width"), (2, 1, "number of anchors")):
        agreed((dim(anchors, axis), dim(scores, other)), what)
    batch = dim(image, 0)
    for fact in (deltas, scores):
        batch = batch.meet(dim(fact, 0)) or batch
    boxes = Dim(0, times(batch, Dim.of(attrs.post_nms_count)).hi)
    dtype = inputs[0].dtype
    return Fact(dtype, (boxes, Dim.of(4))), Fact(dtype, (boxes,)), Fact(attrs.roi_num_type, (batch,))


def generate_proposals(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the best boxes, their scores, and how many each image has; half floats are computed in f32."""
    wide = [*map(widened, inputs)]
    found = generated(attrs, *wide)
    dtype = inputs[0].dtype
    return found.boxes.astype(dtype), found.scores.astype(dtype), found.counts.astype(attrs.roi_num_type.dtype)


GENERATE_PROPOSALS_9 = Op(
    type="GenerateProposals",
    version=9,
    migrate=no_boxes(9),
    folding=Folding.FAILS,
    inputs=tuple(Input(name, type="float") for name in GENERATED),
    outputs=(Output("rpn_rois"), Output("rpn_roi_probs"), Output("rpn_roi_num")),
    attrs={
        "min_size": Float(runtime_default=0.0, usual=NOT_NEGATIVE),
        "nms_threshold": Float(runtime_default=0.0, usual=OVERLAP),
        "post_nms_count": Int32(minimum=1, maximum=MAX_BOXES),
        "pre_nms_count": Int32(minimum=1),
        "normalized": Flag(default=True),
        "nms_eta": Float(default=1.0, minimum=1, maximum=1),
        "roi_num_type": IndexType(default=I64),
    },
    shape=generate_proposals_shape,
    kernel=generate_proposals,
)

# --- pooling of regions -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Ints):
    """A field of two numbers. An empty text does not count as absent: the runtime crashes on it."""

    blank: ClassVar[bool] = False


def pooled_size(attrs: Attrs) -> tuple[int, ...]:
    """Return height and width of the output of ROIPooling, from `pooled_h` and `pooled_w` or from the lists."""
    listed = attrs.output_roi or attrs.output_size or (0, 0)
    return (
        listed[0] if attrs.pooled_h is None else attrs.pooled_h,
        listed[-1] if attrs.pooled_w is None else attrs.pooled_w,
    )


def roi_pooling_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map data `[N, C, H, W]` and regions `[boxes, 5]` to `[boxes, C, pooled_h, pooled_w]` (`detection/roi-pooling-1`).

    Raises:
        ShapeError: a rank or the number of columns is wrong, or the pooled size is not positive.
    """
    data, rois = inputs
    _regions(data, rois)
    size = pooled_size(attrs)
    require(min(size) > 0, f"the pooled size is {size[0]}x{size[1]}; expected positive numbers")
    return (Fact(data.dtype, (dim(rois, 0), dim(data, 1), *map(Dim.of, size))),)


def _regions(data: Fact, rois: Fact, columns: int = 5) -> None:
    """Require data of rank 4 and regions with so many columns.

    Raises:
        ShapeError: they are not so.
    """
    require_rank(data, 4, "data")
    require_rank(rois, 2, "rois")
    require_size(rois, 1, (columns,), "rois")


def check_scale(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for a `spatial_scale` that is not a positive finite number."""
    if not 0 < attrs.spatial_scale < inf:
        yield Violation("spatial_scale", f"is {attrs.spatial_scale}; expected a positive number")


def check_roi_pooling(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for a `spatial_scale` that is not positive, and an output that does not fit into memory."""
    yield from check_scale(attrs, inputs)
    yield from check_output_size("pooled_h", roi_pooling_shape)(attrs, inputs)


def roi_pooling(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the maximum, or one interpolated point, of each part of a region, `[boxes, C, pooled_h, pooled_w]`."""
    height, width = pooled_size(attrs)

    def pool(data: Array, rois: Array) -> Array:
        if attrs.method == "max":
            return maxima(data, rois, (height, width), attrs.spatial_scale)
        return bilinear_points(data, rois, (height, width))

    return (in_working_type(pool, *inputs),)


ROI_POOLING_1 = Op(
    type="ROIPooling",
    version=1,
    inputs=(Input("data", type="T"), Input("rois", type="T")),
    types={"T": "float"},
    attrs={
        "output_size": Pair(default=(), counts=(2,)),
        "output_roi": Pair(default=(), counts=(2,)),
        "pooled_h": Int32(default=None),
        "pooled_w": Int32(default=None),
        "spatial_scale": Float(usual=SCALE),
        "method": OneOf(words=("max", "bilinear"), default="max"),
    },
    check=check_roi_pooling,
    shape=roi_pooling_shape,
    kernel=roi_pooling,
)


def roi_align_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map data `[N, C, H, W]`, regions `[boxes, 4]` and images `[boxes]` to `[boxes, C, pooled_h, pooled_w]`.

    The section is `detection/roi-align-9`.

    Raises:
        ShapeError: a rank or the number of columns is wrong, or the numbers of regions differ.
    """
    return _aligned(attrs, inputs, 4)


def roi_align_rotated_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map data `[N, C, H, W]`, regions `[boxes, 5]` and images `[boxes]` to `[boxes, C, pooled_h, pooled_w]`.

    The section is `detection/roi-align-rotated-15`; raises as `roi_align_shape`.
    """
    return _aligned(attrs, inputs, 5)


def _aligned(attrs: Attrs, inputs: Sequence[Fact], columns: int) -> tuple[Fact, ...]:
    """Return the output of ROIAlign for regions with so many columns; raises as `roi_align_shape`."""
    data, rois, batches = inputs
    _regions(data, rois, columns)
    require_rank(batches, 1, "batch_indices")
    boxes = agreed((dim(rois, 0), dim(batches, 0)), "number of regions")
    size = (Dim.of(attrs.pooled_h), Dim.of(attrs.pooled_w))
    return (Fact(data.dtype, (boxes, dim(data, 1), *size)),)


def _check_images(inputs: Sequence[Fact], stops: bool) -> Iterator[Violation]:
    """Check for indices of images that do not exist.

    `stops`: whether the runtime stops at the first index that is -1 (measured).
    """
    data, batches = inputs[0], inputs[2]
    known = batches.exact
    if known is None or is_empty(data):
        return
    ends = np.flatnonzero(known.ravel() == -1) if stops else np.empty(0, int)
    read = known.ravel()[: ends[0]] if len(ends) and ends[0] else known.ravel()
    image = outside(replace(batches, value=Bounds.exactly(read)), [dim(data, 0)], negative=False)
    if image is not None:
        yield Violation("batch_indices", f"holds {image}, but the batch has {dim(data, 0)} images", input=2)
    elif len(read) < known.size:
        message = f"holds -1 for region {len(read)}: the runtime skips this region and all that follow"
        yield Violation("batch_indices", message, None, ViolationKind.SUSPECT, 2)


def check_aligned(shape: ShapeRule) -> Check:
    """Return the check of a version: images exist, and sampling points and output fit into memory."""

    def check(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
        yield from check_samples(attrs.pooled_h * attrs.pooled_w, attrs.sampling_ratio)
        yield from _check_images(inputs, shape is roi_align_shape)
        yield from check_output_size("pooled_h", shape)(attrs, inputs)

    return check


def check_rotated(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check as `check_aligned`, and for bf16: the CPU plugin reads the f32 that it made of the regions as bf16."""
    if inputs[0].dtype.name == "bf16":
        message = "has element type bf16, for which the runtime reads outside the input"
        yield Violation("data", message, "convert the inputs to f32", ViolationKind.FATAL, 0)
    yield from check_aligned(roi_align_rotated_shape)(attrs, inputs)


ALIGN_ATTRS: dict[str, Field] = {
    "pooled_h": Int32(runtime_default=0, minimum=0, usual=COUNT),
    "pooled_w": Int32(runtime_default=0, minimum=0, usual=COUNT),
    "sampling_ratio": Int32(runtime_default=0, usual=SAMPLES),
    "spatial_scale": Float(runtime_default=0.0, usual=SCALE),
}
ALIGN_INPUTS = (Input("data", type="T"), Input("rois", type="T"), Input("batch_indices", type="integer"))


def roi_align(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the mean or maximum of the points sampled in each part of a region, `[boxes, C, pooled_h, pooled_w]`.

    Half floats are computed in f32.
    """
    data, rois, images = inputs
    size, align = (attrs.pooled_h, attrs.pooled_w), attrs.get("aligned_mode", "asymmetric")

    def pool(data: Array, rois: Array) -> Array:
        return aligned(data, rois, images, size, attrs.sampling_ratio, attrs.spatial_scale, attrs.mode, align)

    return (in_working_type(pool, data, rois),)


def roi_align_rotated(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the mean of the points sampled in each part of a rotated region, `[boxes, C, pooled_h, pooled_w]`."""
    data, rois, images = inputs
    size, turn = (attrs.pooled_h, attrs.pooled_w), attrs.clockwise_mode

    def pool(data: Array, rois: Array) -> Array:
        return rotated(data, rois, images, size, attrs.sampling_ratio, attrs.spatial_scale, turn)

    return (in_working_type(pool, data, rois),)


ROI_ALIGN_3 = Op(
    type="ROIAlign",
    version=3,
    inputs=ALIGN_INPUTS,
    types={"T": "float"},
    attrs={**ALIGN_ATTRS, "mode": OneOf(words=("avg", "max"), runtime_default="avg")},
    check=check_aligned(roi_align_shape),
    shape=roi_align_shape,
    kernel=roi_align,
    migrate=migrate_roi_align(3),
)
ROI_ALIGN_9 = ROI_ALIGN_3.at(
    9,
    attrs={
        "aligned_mode": OneOf(words=("asymmetric", "half_pixel_for_nn", "half_pixel"), default="asymmetric"),
    },
    readers={"aligned_mode": "kernel migrate"},
    migrate=migrate_roi_align(9),
)
ROI_ALIGN_ROTATED_15 = Op(
    type="ROIAlignRotated",
    version=15,
    migrate=no_step(15, "no older operation supports rotated regions"),
    inputs=ALIGN_INPUTS,
    types={"T": "float"},
    attrs={
        **ALIGN_ATTRS,
        "sampling_ratio": Int32(runtime_default=0, minimum=0),
        "clockwise_mode": Flag(runtime_default=False),
    },
    check=check_rotated,
    shape=roi_align_rotated_shape,
    kernel=roi_align_rotated,
)

# --- position-sensitive pooling ---------------------------------------------------------------------------------


def psroi_pooling_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map data `[N, C, H, W]` and regions `[boxes, 5]` to `[boxes, output_dim, group_size, group_size]`.

    C is `output_dim` times the number of parts, or of bins if the mode is bilinear (`detection/psroi-pooling-1`).

    Raises:
        ShapeError: a rank or a number of columns or channels is wrong, or there are no bins.
    """
    data, rois = inputs
    _regions(data, rois)
    parts = attrs.group_size**2
    if attrs.mode == "bilinear":
        require(
            attrs.spatial_bins_x > 0 and attrs.spatial_bins_y > 0,
            f"and spatial_bins_y are {attrs.spatial_bins_x} and {attrs.spatial_bins_y}; expected positive numbers",
            attribute="spatial_bins_x",
        )
        parts = attrs.spatial_bins_x * attrs.spatial_bins_y
    channels = dim(data, 1)
    require(
        data.shape is None or attrs.output_dim * parts in channels,
        f"the input has {channels} channels; expected {attrs.output_dim * parts}",
    )
    return _by_group(attrs, data, rois)


def _by_group(attrs: Attrs, data: Fact, rois: Fact) -> tuple[Fact, ...]:
    """Return `[boxes, output_dim, group_size, group_size]`."""
    size = Dim.of(attrs.group_size)
    return (Fact(data.dtype, (dim(rois, 0), Dim.of(attrs.output_dim), size, size)),)


def psroi_pooling(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the mean of each part of a region, or of points in its bins; each part or bin has its own channels."""

    def pool(data: Array, rois: Array) -> Array:
        outputs, size, scale = attrs.output_dim, attrs.group_size, attrs.spatial_scale
        if attrs.mode == "average":
            return position_averages(data, rois, outputs, size, scale)
        return position_points(data, rois, outputs, size, scale, (attrs.spatial_bins_x, attrs.spatial_bins_y))

    return (in_working_type(pool, *inputs),)


PSROI_POOLING_1 = Op(
    type="PSROIPooling",
    version=1,
    inputs=(Input("data", type="float"), Input("rois", type="float")),
    attrs={
        "output_dim": Int32(runtime_default=0, minimum=0, usual=COUNT),
        "group_size": Int32(minimum=1),
        "spatial_scale": Float(usual=SCALE),
        "mode": ExactWord(words=("average", "bilinear")),
        "spatial_bins_x": Int32(default=0),
        "spatial_bins_y": Int32(default=0),
    },
    check=check_scale,
    shape=psroi_pooling_shape,
    kernel=psroi_pooling,
)


def deformable_psroi_pooling_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map data `[N, C, H, W]`, regions `[boxes, 5]` and offsets to `[boxes, output_dim, group_size, group_size]`.

    The section is `detection/deformable-psroi-pooling-1`.

    Raises:
        ShapeError: a rank is wrong.
    """
    data, rois, *offsets = inputs
    require_rank(data, 4, "data")
    require_rank(rois, 2, "rois")
    if offsets:
        require_rank(offsets[0], 4, "offsets")
    return _by_group(attrs, data, rois)


def check_deformable(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for a scale that is not finite, and an output that does not fit into memory.

    Also for channels and offsets that do not exist: the runtime reads beyond its memory, or crashes (measured).
    """
    channels = attrs.output_dim * attrs.group_size**2
    if not channels <= (dim(inputs[0], 1).hi or channels):
        message = f"and group_size read {channels} channels, but the data has {dim(inputs[0], 1)}"
        yield Violation("output_dim", message, kind=ViolationKind.FATAL)
    if len(inputs) > 2:
        sizes = [size.hi for size in (dim(inputs[2], 2), dim(inputs[2], 3)) if size.hi is not None]
        last = (attrs.group_size - 1) * attrs.part_size // attrs.group_size
        if sizes and not 0 <= last < min(sizes):
            message = f"is {attrs.part_size}, which reads offset {last}, but there are {min(sizes)} offsets"
            yield Violation("part_size", message, kind=ViolationKind.FATAL)
    if not isfinite(attrs.spatial_scale):
        yield Violation(
            "spatial_scale", f"is {attrs.spatial_scale}; expected a finite number", kind=ViolationKind.RANGE
        )
    yield from check_output_size("group_size", deformable_psroi_pooling_shape)(attrs, inputs)


def deformable_psroi_pooling(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the mean of points in each part of a region; offsets move the parts."""

    def pool(data: Array, rois: Array, offsets: Array | None = None) -> Array:
        shape, bins = (attrs.output_dim, attrs.group_size), (attrs.spatial_bins_x, attrs.spatial_bins_y)
        return deformed(data, rois, offsets, shape, bins, attrs.spatial_scale, attrs.trans_std, attrs.part_size)

    return (in_working_type(pool, *inputs),)


DEFORMABLE_PSROI_POOLING_1 = Op(
    type="DeformablePSROIPooling",
    version=1,
    inputs=(Input("data"), Input("rois"), Input("offsets", optional=True)),
    attrs={
        "output_dim": Int32(minimum=1, usual=COUNT),
        "spatial_scale": Float(runtime_default=0.0, usual=SCALE),
        "group_size": Int32(default=1, minimum=1),
        "mode": ExactWord(words=("bilinear_deformable",), default="bilinear_deformable"),
        "spatial_bins_x": Int32(default=1, minimum=1, maximum=MAX_BINS),
        "spatial_bins_y": Int32(default=1, minimum=1, maximum=MAX_BINS),
        "trans_std": Float(default=1.0),
        "part_size": Int32(default=1),
    },
    check=check_deformable,
    shape=deformable_psroi_pooling_shape,
    kernel=deformable_psroi_pooling,
)

OPS = (
    PROPOSAL_1,
    PROPOSAL_4,
    GENERATE_PROPOSALS_9,
    ROI_POOLING_1,
    ROI_ALIGN_3,
    ROI_ALIGN_9,
    ROI_ALIGN_ROTATED_15,
    PSROI_POOLING_1,
    DEFORMABLE_PSROI_POOLING_1,
)
