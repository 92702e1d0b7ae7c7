"""Boxes from networks: PriorBox-1/-8, PriorBoxClustered-1, DetectionOutput-1/-8, RegionYolo-1, ReorgYolo-1.

Specification: `detection/`, a section for each of them (`detection/prior-box-8`).
"""

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from ir_tools.display import plural
from ir_tools.errors import ShapeError
from ir_tools.ops._box_rewrites import migrate_detection_output, migrate_prior_box_8
from ir_tools.ops._detection_output import CENTER_SIZE, detections
from ir_tools.ops._numbers import in_working_type, in_working_types, sigmoid
from ir_tools.ops._prior_boxes import clustered_boxes, number_of_priors, prior_boxes, priors
from ir_tools.ops._requirements import agreed, require, require_rank, require_size
from ir_tools.ops._values import dim, divided, normal_axis, times
from ir_tools.ops._versions import VersionStep
from ir_tools.ops.definition import Array, Fact, Input, Op, Violation, ViolationKind
from ir_tools.ops.fields import (
    COUNT,
    LENGTH,
    LIMIT,
    NOT_NEGATIVE,
    OVERLAP,
    POSITIVE,
    SCORE,
    Attrs,
    ExactWord,
    Flag,
    Float,
    Floats,
    Int32,
    Ints,
    Usual,
)
from ir_tools.ops.limits import MAX_DENSITY, MAX_ELEMENTS, check_output_size
from ir_tools.ops.records import bare_fact
from ir_tools.types import Dim, element_type, shape_text

__all__ = ["OPS"]

F32 = element_type("f32")
COORDINATES = Usual(minimum=2, below="but the layer takes the first two numbers of a region as those of its centre")
CLASSES = Usual(minimum=1, below="so the regions have no scores of classes")
CORNER = "caffe.PriorBoxParameter.CORNER"

# --- prior boxes ------------------------------------------------------------------------------------------------


def prior_box_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map the sizes of feature map `[2]` and image `[2]` to boxes and variances, `[2, 4 * height * width * boxes]`.

    The section is `detection/prior-box-8`; the output is f32.

    Raises:
        ShapeError: an input is not a list, or the feature map has other than 2 sizes.
    """
    return _priors(number_of_priors(attrs), inputs)


def clustered_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map the sizes of feature map `[2]` and image `[2]` to boxes and variances, `[2, 4 * height * width * boxes]`.

    The section is `detection/prior-box-clustered-1`; the output is f32.

    Raises:
        ShapeError: as for PriorBox, or there are not as many heights as widths.
    """
    widths, heights = len(attrs.width), len(attrs.height)
    require(widths == heights, f"has {plural(heights, 'value')}, but width has {widths}", attribute="height")
    return _priors(widths, inputs)


def _priors(count: int, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the output for so many boxes at each position; raises as `prior_box_shape`."""
    sizes, image = inputs
    for fact, name in ((sizes, "output_size"), (image, "image_size")):
        require_rank(fact, 1, name)
    if sizes.value is None:
        return (Fact(F32, (Dim.of(2), Dim())),)
    dims = sizes.value.dims()
    require(len(dims) == 2, f"has {len(dims)} values; expected 2", attribute="output_size")
    return (Fact(F32, (Dim.of(2), times(times(*dims), Dim.of(max(count, 0) * 4)))),)


def check_prior_box(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for settings that do not define as many boxes at each position as the output has room for.

    If they define more, the runtime writes beyond its memory.
    """
    yield from _broken_boxes(attrs)
    yield from _broken_variance(attrs)
    yield from _endless(inputs[0])
    yield from check_output_size("output_size", prior_box_shape)(attrs, inputs)


def _broken_boxes(attrs: Attrs) -> Iterator[Violation]:
    """Check for ratios and densities that are out of range, and for another number of boxes than the shape rule has."""
    ratios = (*attrs.aspect_ratio, *attrs.fixed_ratio)
    if any(not ratio > 0 for ratio in ratios):
        yield Violation(
            "aspect_ratio", "holds a ratio that is not positive; expected positive numbers", kind=ViolationKind.SUSPECT
        )
    elif any(not 1 <= density <= MAX_DENSITY for density in attrs.density):
        yield Violation("density", f"holds a number that is not between 1 and {MAX_DENSITY}")
    elif any(largest <= smallest for smallest, largest in zip(attrs.min_size, attrs.max_size, strict=False)):
        message = "holds a number that is not larger than that of min_size"
        yield Violation("max_size", message, kind=ViolationKind.SUSPECT)
    elif len(attrs.density) < len(attrs.fixed_size):
        counts = len(attrs.density), len(attrs.fixed_size)
        yield Violation("density", f"has {plural(counts[0], 'value')}, but fixed_size has {counts[1]}")
    else:
        made, wanted = len(priors(attrs)), number_of_priors(attrs)
        name = "fixed_ratio" if attrs.fixed_ratio else "max_size" if attrs.max_size else "min_size"
        message = f"defines {made} boxes per position, but the output has room for {max(wanted, 0)}"
        if made != wanted:
            yield Violation(name, message, kind=ViolationKind.CONTRADICTION if made > wanted else ViolationKind.SUSPECT)


def check_clustered(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for variances for some coordinates only, and for sizes that are too large."""
    yield from _broken_variance(attrs)
    yield from _endless(inputs[0])
    yield from check_output_size("output_size", clustered_shape)(attrs, inputs)


def _endless(size: Fact) -> Iterator[Violation]:
    """Check for more positions than the runtime can go through; it does so even if none has a box."""
    positions = prod(size.integers() or ())
    if positions > MAX_ELEMENTS:
        yield Violation(
            "output_size",
            f"holds {positions} positions, for which the runtime does not finish in any reasonable time",
            kind=ViolationKind.FATAL,
        )


def _broken_variance(attrs: Attrs) -> Iterator[Violation]:
    """Check for other than 0, 1 or 4 variances."""
    if len(attrs.variance) not in {0, 1, 4}:
        yield Violation("variance", f"has {len(attrs.variance)} values; expected none, 1 or 4")


def prior_box(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return boxes and their variances, f32 `[2, 4 * height * width * boxes]`."""
    return (prior_boxes(attrs, *inputs),)


def prior_box_clustered(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return boxes of the given widths and heights and their variances, f32 `[2, 4 * height * width * boxes]`."""
    return (clustered_boxes(attrs, *inputs),)


PRIOR_INPUTS = (Input("output_size", type="integer"), Input("image_size", type="integer"))

PRIOR_BOX_1 = Op(
    type="PriorBox",
    version=1,
    inputs=PRIOR_INPUTS,
    attrs={
        "min_size": Floats(default=(), usual=LENGTH),
        "max_size": Floats(default=(), usual=LENGTH),
        "aspect_ratio": Floats(default=()),
        "density": Floats(default=()),
        "fixed_ratio": Floats(default=()),
        "fixed_size": Floats(default=(), usual=LENGTH),
        "clip": Flag(default=False),
        "flip": Flag(default=False),
        "step": Float(default=0.0, usual=NOT_NEGATIVE),
        "offset": Float(runtime_default=0.0),
        "variance": Floats(default=(), usual=POSITIVE),
        "scale_all_sizes": Flag(default=True),
    },
    check=check_prior_box,
    shape=prior_box_shape,
    kernel=prior_box,
    migrate=VersionStep("PriorBox", 1),
)
PRIOR_BOX_8 = PRIOR_BOX_1.at(
    8,
    attrs={"min_max_aspect_ratios_order": Flag(default=True)},
    readers={"min_max_aspect_ratios_order": "check kernel migrate"},
    migrate=migrate_prior_box_8,
)

PRIOR_BOX_CLUSTERED_1 = Op(
    type="PriorBoxClustered",
    version=1,
    leftovers={"flip": ".*"},
    inputs=PRIOR_INPUTS,
    attrs={
        "width": Floats(default=(), usual=LENGTH),
        "height": Floats(default=(), usual=LENGTH),
        "clip": Flag(default=True),
        "step": Float(default=0.0, usual=NOT_NEGATIVE),
        "step_w": Float(default=0.0, usual=NOT_NEGATIVE),
        "step_h": Float(default=0.0, usual=NOT_NEGATIVE),
        "offset": Float(runtime_default=0.0),
        "variance": Floats(default=(), usual=POSITIVE),
    },
    check=check_clustered,
    shape=clustered_shape,
    kernel=prior_box_clustered,
)

# --- DetectionOutput --------------------------------------------------------------------------------------------


def detection_output_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[1, 1, images * boxes, 7]`; the number of boxes of an image is `keep_top_k`, or all that there may be.

    Args:
        attrs: of the layer.
        inputs: locations `[N, columns]`, confidences `[N, columns]`, prior boxes `[N or 1, 1 or 2, columns]`, and two
            more for ARM (`detection/detectionoutput-8`).

    Raises:
        ShapeError: a rank is wrong, or the sizes do not fit.
    """
    for fact, rank, name in zip(inputs, (2, 2, 3, 2, 2), DETECTION_NAMES, strict=False):
        require_rank(fact, rank, name)
    classes, priors = _counts(attrs, inputs)
    batch = _batch(inputs)
    if attrs.keep_top_k[0] > 0:
        boxes = Dim.of(attrs.keep_top_k[0])
    elif attrs.keep_top_k[0] == -1 and attrs.top_k > 0:
        boxes = times(Dim.of(attrs.top_k), Dim.of(classes) if classes else Dim())
    else:
        boxes = times(Dim.of(priors) if priors else Dim(), Dim.of(classes) if classes else Dim())
    one = Dim.of(1)
    return (Fact(inputs[0].dtype, (one, one, times(batch, boxes), Dim.of(7))),)


def _batch(inputs: Sequence[Fact]) -> Dim:
    """Return the number of images: that of the locations if it is known, else that of the confidences.

    Raises:
        ShapeError: the inputs have different numbers of images.
    """
    batch = dim(inputs[0], 0)
    scores = dim(inputs[1], 0)
    agreed((batch, scores), "number of images")
    if not batch.static and scores.static:
        batch = scores
    proposals = dim(inputs[2], 0)
    if 1 not in proposals:
        agreed((batch, proposals), "number of images (of proposals, also 1 for all)")
    if len(inputs) == 5:
        agreed((batch, dim(inputs[3], 0)), "number of images")
    return batch


def _counts(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[int, int]:
    """Return the number of classes and of prior boxes; 0 if it is not known.

    Raises:
        ShapeError: the columns of an input are not a multiple of these.
    """
    boxes, scores, priors = (dim(fact, axis) for fact, axis in zip(inputs[:3], (1, 1, 2), strict=True))
    require_size(inputs[2], 1, (1 if attrs.variance_encoded_in_target else 2,), "proposals")
    size = 4 if attrs.normalized else 5
    classes, count = attrs.get("num_classes", 0), 0
    if "num_classes" not in attrs:
        classes, count = _deduced(attrs, inputs, size)
    locations = 1 if attrs.share_location else classes
    if not count and boxes.static and inputs[0].shape is not None:
        count = _exactly(boxes.size, locations * 4, "box_logits", "4 times the number of classes with own locations")
    if count and locations and inputs[0].shape is not None:
        require(
            count * locations * 4 in boxes,
            f"has {boxes} columns; expected {count * locations * 4}",
            attribute="box_logits",
        )
    count = _matched(count, scores, classes, "class_preds") if classes else count
    count = _matched(count, priors, size, "proposals")
    if len(inputs) == 5:
        count = _additional(count, inputs)
    return classes, count


def _deduced(attrs: Attrs, inputs: Sequence[Fact], size: int) -> tuple[int, int]:
    """Return the number of classes and of prior boxes, from the sizes of the inputs alone (version 8)."""
    boxes, scores, priors = dim(inputs[0], 1), dim(inputs[1], 1), dim(inputs[2], 2)
    classes = count = 0
    if priors.static:
        count = _exactly(priors.size, size, "proposals", "the size of a prior box")
        require(count > 0, "holds no prior box", attribute="proposals")
    elif len(inputs) == 5 and dim(inputs[3], 1).static:
        count = _exactly(dim(inputs[3], 1).size, 2, "aux_class_preds", "2")
        require(count > 0, "is empty", attribute="aux_class_preds")
    if count and scores.static:
        classes = _exactly(scores.size, count, "class_preds", "the number of prior boxes")
    for place in (boxes, *((dim(inputs[4], 1),) if len(inputs) == 5 else ())):
        if not classes and count and place.static and not attrs.share_location:
            classes = _exactly(place.size, count * 4, "box_logits", "4 times the number of prior boxes")
    return classes, count


def _exactly(total: int, part: int, name: str, meant: str) -> int:
    """Return how many times `part` is in `total`.

    Raises:
        ShapeError: it is not a multiple; the message says what is `meant`.
    """
    require(
        part > 0 and total % part == 0, f"has {total} columns; expected a multiple of {part}: {meant}", attribute=name
    )
    return total // part


def _matched(count: int, columns: Dim, part: int, name: str) -> int:
    """Return the number of prior boxes, compared with the columns of an input, `part` for each of them."""
    if not columns.static:
        return count
    if not count:
        return _exactly(columns.size, part, name, "one for each prior box")
    require(columns.size == count * part, f"has {columns} columns; expected {count * part}", attribute=name)
    return count


def _additional(count: int, inputs: Sequence[Fact]) -> int:
    """Return the number of prior boxes, compared with the two additional inputs."""
    scores, boxes = inputs[3], inputs[4]
    columns = dim(scores, 1)
    if count and scores.shape is not None:
        require(count * 2 in columns, f"has {columns} columns; expected {count * 2}", attribute="aux_class_preds")
    if columns.static:
        count = columns.size // 2
    if boxes.shape is not None and inputs[0].shape is not None:
        for axis in (0, 1):
            if dim(boxes, axis).meet(dim(inputs[0], axis)) is None:
                raise ShapeError(
                    f"is {shape_text(boxes.shape)}, but box_logits is {shape_text(inputs[0].shape)}",
                    attribute="aux_box_preds",
                )
    return count


def check_detection_output(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for `keep_top_k` and label settings that the runtime rejects or crashes on.

    Also for four inputs, and for an output that does not fit into memory.
    """
    if not attrs.keep_top_k:
        yield Violation(
            "keep_top_k", "is empty, and the runtime crashes without a value; expected one", 'write keep_top_k="-1"'
        )
    elif attrs.keep_top_k[0] != -1 and attrs.keep_top_k[0] < 1:
        message = f"is {attrs.keep_top_k[0]}; expected a positive number, or -1 for all"
        level = ViolationKind.CONTRADICTION if attrs.keep_top_k[0] else ViolationKind.SUSPECT
        yield Violation("keep_top_k", message, 'write keep_top_k="-1"', level)
    elif len(attrs.keep_top_k) > 1:
        message = f"has {len(attrs.keep_top_k)} values, of which the runtime reads only the first"
        yield Violation("keep_top_k", message, "write one value", ViolationKind.SUSPECT)
    if attrs.decrease_label_id and attrs.background_label_id:
        message = "is true, which the runtime supports only if background_label_id is 0"
        yield Violation("decrease_label_id", message)
    if len(inputs) == 4:
        yield Violation("aux_box_preds", "is missing, but aux_class_preds is given", kind=ViolationKind.INPUTS)
    if attrs.keep_top_k:
        yield from check_output_size("keep_top_k", detection_output_shape)(attrs, inputs)


def detection_output(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the boxes that are kept, `[1, 1, images * boxes, 7]`; half floats are computed in f32."""
    return in_working_types(lambda *arrays: (detections(attrs, arrays),), *inputs)


DETECTION_NAMES = ("box_logits", "class_preds", "proposals", "aux_class_preds", "aux_box_preds")

DETECTION_OUTPUT_8 = Op(
    type="DetectionOutput",
    version=8,
    leftovers={"eta": ".*", "visualize": ".*"},
    inputs=(
        Input("box_logits", type="T"),
        Input("class_preds", type="T"),
        Input("proposals", type="float"),
        Input("aux_class_preds", optional=True, type="T"),
        Input("aux_box_preds", optional=True, type="T"),
    ),
    types={"T": "float"},
    attrs={
        "background_label_id": Int32(default=0),
        "top_k": Int32(default=-1, minimum=-1, usual=LIMIT),
        "variance_encoded_in_target": Flag(default=False),
        "keep_top_k": Ints(),
        "code_type": ExactWord(words=(CORNER, CENTER_SIZE), default=CORNER),
        "share_location": Flag(default=True),
        "nms_threshold": Float(runtime_default=0.0, usual=OVERLAP),
        "confidence_threshold": Float(default=0.0, usual=SCORE),
        "clip_after_nms": Flag(default=False),
        "clip_before_nms": Flag(default=False),
        "decrease_label_id": Flag(default=False),
        "normalized": Flag(default=False),
        "input_height": Int32(default=1, usual=COUNT),
        "input_width": Int32(default=1, usual=COUNT),
        "objectness_score": Float(default=0.0, usual=SCORE),
    },
    check=check_detection_output,
    shape=detection_output_shape,
    kernel=detection_output,
    sets=(0,),
    migrate=migrate_detection_output(8, _counts),
)
DETECTION_OUTPUT_1 = DETECTION_OUTPUT_8.at(
    1,
    attrs={"num_classes": Int32(minimum=1)},
    readers={"num_classes": "check shape migrate"},
    migrate=migrate_detection_output(1, _counts),
)

# --- YOLO -------------------------------------------------------------------------------------------------------


def region_yolo_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the data `[N, C, H, W]`, with the axes from `axis` to `end_axis` joined by `do_softmax`.

    Without it C becomes the channels of the regions of `mask` (`detection/region-yolo-1`).

    Raises:
        ShapeError: the rank is not 4, or an axis is out of range.
    """
    (data,) = inputs
    require_rank(data, 4, "data")
    if data.shape is None:
        return (Fact(data.dtype, None),)
    if not attrs.do_softmax:
        channels = Dim.of((attrs.classes + attrs.coords + 1) * len(attrs.mask))
        return (Fact(data.dtype, (data.shape[0], channels, *data.shape[2:])),)
    axis, last = (normal_axis(attrs[name], 4, name) for name in ("axis", "end_axis"))
    joined = data.shape[axis]
    for each in data.shape[axis + 1 : last + 1]:
        joined = times(joined, each)
    return (Fact(data.dtype, (*data.shape[:axis], joined, *data.shape[max(axis, last) + 1 :])),)


def check_region_yolo(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for axes that are out of range, for no region, and for regions of more channels than the data has.

    With more the runtime writes beyond its memory. Also for settings that define no usable boxes.
    """
    for name in ("axis", "end_axis"):
        if not -4 <= attrs[name] < 4:
            yield Violation(name, f"is {attrs[name]}, but the input has rank 4", kind=ViolationKind.RANGE)
    regions = attrs.num if attrs.do_softmax else len(attrs.mask)
    each = attrs.coords + attrs.classes + 1
    shape = inputs[0].shape
    name = "num" if attrs.do_softmax else "mask"
    if not regions:
        yield Violation("mask", "is empty, but do_softmax is false, so the layer has no region")
    elif shape is not None and len(shape) == 4 and regions * each not in shape[1]:
        message = f"defines {regions} regions of {each} channels, but the input has {shape[1]} channels"
        fits = shape[1].hi is None or shape[1].hi > regions * each
        yield Violation(name, message, kind=ViolationKind.SUSPECT if fits else ViolationKind.CONTRADICTION)
    yield from _unusable_regions(attrs)


def _unusable_regions(attrs: Attrs) -> Iterator[Violation]:
    """Check for axes that join nothing, and for regions that are not among those that the layer defines."""
    if attrs.do_softmax and -4 <= attrs.end_axis < 4 and attrs.end_axis % 4 < attrs.axis % 4:
        message = f"is {attrs.end_axis}, which is before axis {attrs.axis}, so no dimensions are joined"
        yield Violation("end_axis", message, kind=ViolationKind.SUSPECT)
    if not attrs.do_softmax and any(not 0 <= number < attrs.num for number in attrs.mask):
        message = f"holds numbers of regions that are not among the {attrs.num} of num"
        yield Violation("mask", message, kind=ViolationKind.SUSPECT)


def region_yolo(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the data with the sigmoid of the centre and of the confidence of each region, `[N, C, H, W]` or joined.

    Of the classes the softmax if `do_softmax` is set, else the sigmoid.
    """
    (data,) = inputs
    (shape,) = region_yolo_shape(attrs, [bare_fact(data)])
    regions = attrs.num if attrs.do_softmax else len(attrs.mask)
    return (in_working_type(lambda array: _regions(attrs, array, regions, _sizes(shape)), data),)


def _sizes(fact: Fact) -> list[int]:
    """Return the sizes of a fact of known shape."""
    return [each.size for each in fact.shape or ()]


def _regions(attrs: Attrs, data: Array, regions: int, shape: list[int]) -> Array:
    """Return `region_yolo` of floats as an array of this shape; `regions`: how many there are at each place."""
    each, area = attrs.coords + attrs.classes + 1, data.shape[2] * data.shape[3]
    flat = data.ravel()[: int(np.prod(shape))].copy()
    view = flat[: len(data) * regions * each * area].reshape(len(data), regions, each, area)
    view[:, :, :2] = sigmoid(view[:, :, :2])
    first, last = attrs.coords, attrs.coords + 1 + (0 if attrs.do_softmax else attrs.classes)
    view[:, :, first:last] = sigmoid(view[:, :, first:last])
    if attrs.do_softmax:
        classes = view[:, :, first + 1 :]
        powers = np.exp(classes - classes.max(axis=2, keepdims=True))
        view[:, :, first + 1 :] = powers / powers.sum(axis=2, keepdims=True)
    return flat.reshape(shape)


REGION_YOLO_1 = Op(
    type="RegionYolo",
    version=1,
    inputs=(Input("data", type="float"),),
    attrs={
        "anchors": Floats(default=(), usual=LENGTH),
        "axis": Int32(runtime_default=0),
        "coords": Int32(runtime_default=0, minimum=0, usual=COORDINATES),
        "classes": Int32(runtime_default=0, minimum=0, usual=CLASSES),
        "end_axis": Int32(runtime_default=0),
        "num": Int32(minimum=1),
        "do_softmax": Flag(default=True, runtime_default=False),
        "mask": Ints(default=()),
    },
    check=check_region_yolo,
    shape=region_yolo_shape,
    kernel=region_yolo,
    unread={"anchors": "only programs that decode the regions read it; the output does not depend on it"},
)


def reorg_yolo_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map `[N, C, H, W]` to `[N, C * stride^2, H / stride, W / stride]` (`detection/reorg-yolo-1`).

    Raises:
        ShapeError: the rank is not 4, C is below `stride^2`, or H or W is not a multiple of `stride`.
    """
    (data,) = inputs
    require_rank(data, 4, "data")
    if data.shape is None:
        return (Fact(data.dtype, None),)
    stride = attrs.stride[0]
    channels = data.shape[1]
    require(
        not channels.static or channels.size >= stride * stride,
        f"has {channels} channels; expected at least {stride * stride}, the square of stride",
        attribute="data",
    )
    sizes = [divided(each, stride) for each in data.shape[2:]]
    if None in sizes:
        raise ShapeError(
            f"is {stride}, which does not divide height and width of {shape_text(data.shape)}", attribute="stride"
        )
    spatial = [each for each in sizes if each is not None]
    return (Fact(data.dtype, (data.shape[0], times(channels, Dim.of(stride * stride)), *spatial)),)


def check_reorg_yolo(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for an empty `stride`."""
    if not attrs.stride:
        yield Violation("stride", "is empty")


def reorg_yolo(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Map `[N, C, H, W]` to `[N, C * stride^2, H / stride, W / stride]`, in Darknet's order.

    The elements are taken as those of `[N, C / stride^2, H * stride, W * stride]`, each square of which gives one
    element to each of its places.
    """
    (data,), stride = inputs, attrs.stride[0]
    count, channels, height, width = data.shape
    inner = channels // stride**2
    channel, row, column = np.ogrid[:channels, :height, :width]
    down, right = np.divmod(channel // inner, stride)
    places = (channel % inner * height * stride + row * stride + down) * width * stride + column * stride + right
    taken = np.take(data.reshape(count, channels * height * width), places.ravel(), axis=1, mode="clip")
    return (taken.reshape(count, channels * stride**2, height // stride, width // stride),)


REORG_YOLO_1 = Op(
    type="ReorgYolo",
    version=1,
    inputs=(Input("data"),),
    attrs={"stride": Ints(minimum=1)},
    check=check_reorg_yolo,
    shape=reorg_yolo_shape,
    kernel=reorg_yolo,
)

OPS = (
    PRIOR_BOX_1,
    PRIOR_BOX_8,
    PRIOR_BOX_CLUSTERED_1,
    DETECTION_OUTPUT_1,
    DETECTION_OUTPUT_8,
    REGION_YOLO_1,
    REORG_YOLO_1,
)
