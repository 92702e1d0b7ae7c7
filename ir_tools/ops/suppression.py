"""Boxes that overlap better ones are dropped: (Matrix, Multiclass, rotated) NonMaxSuppression of all versions.

Specification: `sort/`.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ir_tools.ops._box_rewrites import (
    as_many_as_counted,
    boxes_of_later_version,
    migrate_multiclass_nms,
    migrate_nms,
    no_boxes,
)
from ir_tools.ops._class_suppression import Found, matrix, multiclass
from ir_tools.ops._numbers import widened
from ir_tools.ops._overlaps import overlaps
from ir_tools.ops._requirements import agreed, require, require_one, require_rank, require_size
from ir_tools.ops._rotated import rotated_overlaps
from ir_tools.ops._suppression import Rule, Settings, corners, selected
from ir_tools.ops._values import dim, known_number, times
from ir_tools.ops.definition import Array, Fact, Folding, Input, Op, Output, Violation, ViolationKind
from ir_tools.ops.fields import (
    LIMIT,
    NOT_NEGATIVE,
    OVERLAP,
    POSITIVE,
    SCORE,
    Attrs,
    Field,
    Flag,
    Float,
    IndexType,
    Int32,
    OneOf,
)
from ir_tools.types import Dim, element_type

__all__ = ["OPS"]

F32, I64 = element_type("f32"), element_type("i64")
BOX_TYPES = "f16 bf16 f32"
"""The runtime takes no boxes and scores of other types."""
SETTINGS = ("max_output_boxes_per_class", "iou_threshold", "score_threshold", "soft_nms_sigma")

# --- NonMaxSuppression ------------------------------------------------------------------------------------------


def _boxes_and_scores(inputs: Sequence[Fact], columns: int = 4, *, only_scalars: bool = True) -> tuple[Fact, Fact]:
    boxes, scores, *settings = inputs
    require_rank(boxes, 3, "boxes")
    require_rank(scores, 3, "scores")
    if boxes.shape is not None and scores.shape is not None:
        agreed((boxes.shape[0], scores.shape[0]), "batch size")
        agreed((boxes.shape[1], scores.shape[2]), "number of boxes")
    require_size(boxes, 2, (columns,), "boxes")
    for fact, name in zip(settings, SETTINGS, strict=False):
        require_one(fact, name, only_scalar=only_scalars)
    return boxes, scores


def _limit(inputs: Sequence[Fact]) -> int | None:
    """Return the most boxes of a class where that is known; none where the input is missing."""
    number = known_number(inputs[2]) if len(inputs) > 2 else 0
    return None if number is None else max(int(number), 0)


def check_nms(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for a number of boxes that is not negative; without one, or with 0, no box comes out."""
    limit = known_number(inputs[2]) if len(inputs) > 2 else 0
    if limit is not None and limit < 0:
        yield Violation(SETTINGS[0], f"is {limit:g}; expected a number of boxes")
    elif limit == 0:
        how = "is 0" if len(inputs) > 2 else "is missing"
        yield Violation(SETTINGS[0], f"{how}, so no box is selected", kind=ViolationKind.SUSPECT)


def nms_1_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return triples of batch, class and box: `[boxes, 3]`, as many as one image may have."""
    boxes, scores = _boxes_and_scores(inputs)
    limit = _limit(inputs)
    chosen = Dim()
    if boxes.shape is not None and limit is not None:
        total = times(Dim.of(limit), Dim.of(1) if scores.shape is None else scores.shape[1])
        if boxes.shape[1].static and total.static:
            chosen = Dim.of(min(boxes.shape[1].size, total.size))
    return (Fact(attrs.get("output_type", I64), (chosen, Dim.of(3))),)


def nms_4_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return triples of batch, class and box: `[boxes, 3]`, as many as there may be."""
    boxes, scores = _boxes_and_scores(inputs)
    limit = _limit(inputs)
    chosen = Dim()
    if boxes.shape is not None and scores.shape is not None:
        if boxes.shape[1].static and limit is not None:
            chosen = Dim.of(min(boxes.shape[1].size, limit))
        chosen = _in_all(chosen, scores.shape)
    return (Fact(attrs.output_type, (chosen, Dim.of(3))),)


def _in_all(each: Dim, scores: tuple[Dim, ...]) -> Dim:
    """Return how many boxes there may be in all batches and classes, of `each` in one."""
    batches, classes = (Dim() if size.hi is None else Dim.of(size.hi) for size in scores[:2])
    return times(times(each, batches), classes)


def nms_5_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return triples of batch, class and box, the same with scores, and how many there are."""
    return _selected(attrs, inputs, 4)


def non_max_suppression(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return triples of image, class and box, the same with scores, and how many there are."""
    boxes, scores = _wide(inputs)
    return _listed(attrs, inputs, corners(boxes, attrs.box_encoding), scores, Rule(overlaps, np.greater_equal))


def rotated_suppression(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Do the same for rotated boxes."""
    boxes, scores = _wide(inputs)
    if not attrs.clockwise:
        boxes = boxes * np.array([1, 1, 1, 1, -1], boxes.dtype)
    return _listed(attrs, inputs, boxes, scores, Rule(rotated_overlaps, np.greater))


def _wide(inputs: Sequence[Array]) -> list[Array]:
    return [*map(widened, inputs[:2])]


def _listed(attrs: Attrs, inputs: Sequence[Array], boxes: Array, scores: Array, rule: Rule) -> tuple[Array, ...]:
    found = selected(boxes, scores, Settings.of(inputs[2:]), attrs.sort_result_descending, rule)
    dtype = attrs.get("output_type", I64).dtype
    rows = np.concatenate([found.places[:, :2], found.scores[:, None]], axis=1).astype(np.float32)
    return found.places.astype(dtype), rows, np.array([len(rows)], dtype)


def only_places(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return triples of image, class and box."""
    return non_max_suppression(attrs, inputs)[:1]


def nms_rotated_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return triples of batch, class and box, the same with scores, and how many there are."""
    return _selected(attrs, inputs, 5)


def _selected(attrs: Attrs, inputs: Sequence[Fact], columns: int) -> tuple[Fact, ...]:
    boxes, scores = _boxes_and_scores(inputs, columns, only_scalars=False)
    limit = _limit(inputs) if len(inputs) > 2 else None
    most = Dim()
    if boxes.shape is not None and scores.shape is not None:
        each = boxes.shape[1].hi
        most = Dim() if each is None or limit is None else Dim(0, min(each, limit))
        most = _in_all(most, scores.shape)
    triples = (most, Dim.of(3))
    return Fact(attrs.output_type, triples), Fact(F32, triples), Fact(attrs.output_type, (Dim.of(1),))


NMS_ATTRS: dict[str, Field] = {
    "box_encoding": OneOf(words=("corner", "center"), default="corner"),
    "sort_result_descending": Flag(default=True),
}
SELECTED = (Output("selected_indices"), Output("selected_scores"), Output("valid_outputs"))


def _nms_inputs(count: int, thresholds: str = "float") -> tuple[Input, ...]:
    settings = (
        Input(name, optional=True, type=thresholds if number else "integer float", usual=usual)
        for number, (name, usual) in enumerate(
            zip(SETTINGS[:count], (None, OVERLAP, SCORE, NOT_NEGATIVE), strict=False)
        )
    )
    return (Input("boxes", type=BOX_TYPES), Input("scores", type=BOX_TYPES), *settings)


NMS_1 = Op(
    type="NonMaxSuppression",
    version=1,
    folding=Folding.FAILS,
    inputs=_nms_inputs(3),
    attrs=NMS_ATTRS,
    check=check_nms,
    shape=nms_1_shape,
    kernel=only_places,
    sets=(0,),
    migrate=migrate_nms(1),
    substitute=boxes_of_later_version,
)
NMS_3 = NMS_1.at(
    3,
    attrs={"output_type": IndexType(default=I64)},
    readers={"output_type": "shape kernel migrate substitute"},
    migrate=migrate_nms(3),
)
NMS_4 = NMS_3.at(4, shape=nms_4_shape, migrate=migrate_nms(4))
NMS_5 = NMS_4.at(
    5,
    inputs=_nms_inputs(4, BOX_TYPES),
    outputs=SELECTED,
    shape=nms_5_shape,
    kernel=non_max_suppression,
    sets=(0, 1),
    migrate=migrate_nms(5),
    substitute=as_many_as_counted,
    readers={"output_type": "shape kernel migrate substitute"},
)
NMS_9 = NMS_5.at(9, migrate=migrate_nms(9))

NMS_ROTATED_13 = Op(
    type="NMSRotated",
    version=13,
    migrate=no_boxes(13),
    folding=Folding.FAILS,
    inputs=(
        Input("boxes", type="float"),
        Input("scores", type="float"),
        Input("max_output_boxes_per_class", type="integer"),
        Input("iou_threshold", type="float", usual=OVERLAP),
        Input("score_threshold", type="float", usual=SCORE),
    ),
    outputs=SELECTED,
    attrs={
        "sort_result_descending": Flag(default=True),
        "output_type": IndexType(default=I64),
        "clockwise": Flag(default=True),
    },
    check=check_nms,
    shape=nms_rotated_shape,
    kernel=rotated_suppression,
)

# --- suppression of all classes ---------------------------------------------------------------------------------

PER_IMAGE = (Output("selected_outputs"), Output("selected_indices"), Output("selected_num"))
CLASS_ATTRS: dict[str, Field] = {
    "sort_result_type": OneOf(words=("classid", "score", "none"), default="none"),
    "output_type": IndexType(default=I64),
    "nms_top_k": Int32(default=-1, minimum=-1, usual=LIMIT),
    "keep_top_k": Int32(default=-1, minimum=-1, usual=LIMIT),
    "sort_result_across_batch": Flag(default=False),
    "score_threshold": Float(default=0.0, usual=SCORE),
    "background_class": Int32(default=-1, minimum=-1),
    "normalized": Flag(default=True),
}


def _at_most(size: Dim, limit: int) -> Dim:
    """Return the largest size where there is a limit; the runtime knows nothing where the size has no upper bound."""
    if limit < 0:
        return size
    return Dim() if size.hi is None else Dim.of(min(size.hi, limit))


def _found(attrs: Attrs, dtype: Fact, boxes: Dim, images: Dim) -> tuple[Fact, ...]:
    return (
        Fact(dtype.dtype, (boxes, Dim.of(6))),
        Fact(attrs.output_type, (boxes, Dim.of(1))),
        Fact(attrs.output_type, (images,)),
    )


def matrix_nms_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return boxes with class and score `[.., 6]`, their numbers `[.., 1]`, and counts `[N]`.

    A count is how many boxes there are of an image.
    """
    _boxes_and_scores(inputs)
    boxes, scores = inputs
    if boxes.shape is None:
        return _found(attrs, boxes, Dim(), Dim())
    found = Dim()
    if scores.shape is not None:
        found = _at_most(times(_at_most(boxes.shape[1], attrs.nms_top_k), scores.shape[1]), attrs.keep_top_k)
        found = Dim(0, times(found, scores.shape[0]).hi)
    return _found(attrs, boxes, found, boxes.shape[0])


def matrix_nms(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return boxes with class and score, their numbers, and how many there are of each image."""
    return _typed(attrs, matrix(attrs, *_wide(inputs)), inputs[0])


def _typed(attrs: Attrs, found: Found, boxes: Array) -> tuple[Array, ...]:
    dtype = attrs.output_type.dtype
    return found.rows.astype(boxes.dtype), found.places.astype(dtype), found.counts.astype(dtype)


def check_matrix_nms(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for room for a box.

    Over an image without one the CPU plugin crashes, or leaves its count as it was (measured).
    """
    for name in ("nms_top_k", "keep_top_k"):
        if attrs[name] == 0:
            message = "is 0, so no box is selected, and the runtime may crash"
            yield Violation(name, message, kind=ViolationKind.SUSPECT)


MATRIX_NMS_8 = Op(
    type="MatrixNms",
    version=8,
    migrate=no_boxes(8),
    folding=Folding.FAILS,
    inputs=(Input("boxes", type="T"), Input("scores", type="T")),
    outputs=PER_IMAGE,
    types={"T": BOX_TYPES},
    attrs={
        **CLASS_ATTRS,
        "decay_function": OneOf(words=("gaussian", "linear"), default="linear"),
        "gaussian_sigma": Float(default=2.0, usual=POSITIVE),
        "post_threshold": Float(default=0.0, usual=SCORE),
    },
    check=check_matrix_nms,
    shape=matrix_nms_shape,
    kernel=matrix_nms,
)


def multiclass_nms_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return boxes with class and score `[.., 6]`, their numbers `[.., 1]`, and counts `[N]`.

    A count is how many boxes there are of an image.
    """
    boxes, scores, *counts = inputs
    require(
        boxes.shape is None or scores.shape is not None,
        "the rank of the scores is not known, which the runtime does not support",
    )
    if not counts:
        _boxes_and_scores(inputs)
    else:
        require_rank(boxes, 3, "boxes")
        require_rank(scores, 2, "scores")
        require_rank(counts[0], 1, "roisnum")
        agreed((dim(boxes, 0), dim(scores, 0)), "number of classes")
        agreed((dim(boxes, 1), dim(scores, 1)), "number of boxes")
        require_size(boxes, 2, (4,), "boxes")
    if any(fact.shape is None for fact in inputs):
        return _found(attrs, boxes, Dim(), Dim())
    classes = dim(boxes, 0) if counts else dim(scores, 1)
    images = dim(counts[0], 0) if counts else dim(scores, 0)
    found = times(_at_most(dim(boxes, 1), attrs.nms_top_k), classes)
    if attrs.keep_top_k > -1 and found.hi is not None and attrs.keep_top_k < found.hi:
        found = Dim.of(attrs.keep_top_k)
    found = Dim(0, times(found, images).hi)
    return _found(attrs, boxes, found, dim(counts[0], 0) if counts else dim(boxes, 0))


def multiclass_nms(attrs: Attrs, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return boxes with class and score, their numbers, and how many there are of each image."""
    return _typed(attrs, multiclass(attrs, *_wide(inputs), *inputs[2:]), inputs[0])


MULTICLASS_NMS_8 = Op(
    type="MulticlassNms",
    version=8,
    folding=Folding.FAILS,
    inputs=(Input("boxes", type="T"), Input("scores", type="T")),
    outputs=PER_IMAGE,
    types={"T": BOX_TYPES},
    attrs={
        **CLASS_ATTRS,
        "iou_threshold": Float(default=0.0, usual=OVERLAP),
        "nms_eta": Float(default=1.0, minimum=0, maximum=1),
    },
    shape=multiclass_nms_shape,
    kernel=multiclass_nms,
    migrate=migrate_multiclass_nms(8),
)
MULTICLASS_NMS_9 = MULTICLASS_NMS_8.at(
    9,
    inputs=(*MULTICLASS_NMS_8.inputs, Input("roisnum", optional=True, type="i32 i64")),
    migrate=migrate_multiclass_nms(9),
)

OPS = (NMS_1, NMS_3, NMS_4, NMS_5, NMS_9, NMS_ROTATED_13, MATRIX_NMS_8, MULTICLASS_NMS_8, MULTICLASS_NMS_9)
