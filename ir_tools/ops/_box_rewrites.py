"""Boxes, regions and what is sorted or sought, in the operation versions of other opsets."""

from collections.abc import Callable, Sequence

import numpy as np

from ir_tools.ops._layers import I64, Layers, composed, held
from ir_tools.ops._prior_boxes import number_of_priors, priors
from ir_tools.ops._versions import as_it_is, versions
from ir_tools.ops.definition import Attrs, Fact, Ref, Refused, Rewrite, Step

__all__ = [
    "migrate_bag_offsets",
    "migrate_bag_packed",
    "migrate_bincount",
    "migrate_detection_output",
    "migrate_multiclass_nms_9",
    "migrate_nms",
    "migrate_prior_box_8",
    "migrate_roi_align_9",
    "migrate_search_sorted",
    "migrate_top_k",
]

# --- TopK -------------------------------------------------------------------------------------------------------


def migrate_top_k(version: int) -> Step:
    """TopK between versions: 11 may keep the order of equal values; 1 takes fewer types of k."""

    def change(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
        if version == 11 and attrs.stable:
            return Refused(f"TopK-{wanted} may give equal values in any order", "stable")
        if wanted > 1 or layers.inputs[1].dtype.name in {"i8", "i32", "i64"}:
            return None
        return as_it_is(layers, "TopK", wanted, attrs, Ref(None), layers.to_type(Ref(None, 1), I64))

    return versions("TopK", version, change)


# --- suppression ------------------------------------------------------------------------------------------------


def migrate_nms(version: int) -> Step:
    """NonMaxSuppression between versions: 5 and 9 list scores and a count, 1 to 4 boxes alone, in i64 at first."""

    def change(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
        type = "NonMaxSuppression"
        if (version < 5) != (wanted < 5):
            return Refused(f"{type}-{wanted} has other outputs")
        if version > 4:
            return None
        typed = Attrs({"output_type": I64, **attrs})
        before, after = (held(type, one).outputs_of(typed, layers.inputs) for one in (version, wanted))
        if before is None or after is None or before[0].shape != after[0].shape:
            return Refused(f"{type}-{wanted} makes room for another number of boxes")
        if wanted > 1 or typed.output_type == I64:
            return None
        as_it_is(layers, type, wanted, attrs)
        layers.to_type(Ref(0), typed.output_type)
        return layers.rewrite("another element type behind it", f"{type}-1 gives i64, which Convert makes i32")

    return versions("NonMaxSuppression", version, change)


def _multiclass(layers: Layers, attrs: Attrs, wanted: int) -> Refused | None:
    del attrs
    return Refused(f"MulticlassNms-{wanted} has no input roisnum") if len(layers.inputs) > 2 else None


migrate_multiclass_nms_9 = versions("MulticlassNms", 9, _multiclass)

# --- prior boxes, detections, regions ---------------------------------------------------------------------------


def _prior_box(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
    first = priors(Attrs({**attrs, "min_max_aspect_ratios_order": True}))
    own = priors(attrs)
    if own == first:
        return None
    count = number_of_priors(attrs)
    if len(own) != count or len(first) != count:
        return Refused("it makes another number of boxes than it has room for", "min_max_aspect_ratios_order")
    as_it_is(layers, "PriorBox", wanted, attrs)
    order = [first.index(one) for one in own]
    apart = layers.call("Reshape", Ref(0), np.array([2, -1, count, 4]), special_zero=False)
    sorted_ = layers.gather(apart, order, 2)
    layers.call("Reshape", sorted_, np.array([2, -1]), special_zero=False)
    return layers.rewrite("boxes in another order", "each place has the same boxes")


migrate_prior_box_8 = versions("PriorBox", 8, _prior_box)


def migrate_detection_output(version: int, classes_of: Callable[[Attrs, Sequence[Fact]], tuple[int, int]]) -> Step:
    """DetectionOutput between versions: 1 has the number of classes as an attribute, 8 works it out.

    `classes_of`: returns the number that version 8 works out, 0 if it is not known, and that of prior boxes.
    """

    def change(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
        unsaid = Attrs({name: attrs[name] for name in attrs if name != "num_classes"})
        classes, _ = classes_of(unsaid, layers.inputs)
        if version == 1:
            return None if classes == attrs.num_classes else Refused("the shapes give no such number", "num_classes")
        if not classes:
            return Refused("DetectionOutput-1 needs the number of classes, which the shapes do not give")
        return as_it_is(layers, "DetectionOutput", wanted, Attrs({**attrs, "num_classes": classes}))

    return versions("DetectionOutput", version, change)


def _roi_align(layers: Layers, attrs: Attrs, wanted: int) -> Refused | None:
    del layers
    if attrs.aligned_mode == "asymmetric":
        return None
    return Refused(f"ROIAlign-{wanted} takes no region narrower than one element", "aligned_mode")


migrate_roi_align_9 = versions("ROIAlign", 9, _roi_align)

# --- embeddings, searching --------------------------------------------------------------------------------------


def _mean_type(layers: Layers) -> Refused | None:
    kind = layers.inputs[0].dtype
    return None if kind.is_float else Refused(f"its table is of type {kind}, whose mean is cut off", "reduction")


@composed(15, "the sum of each bag, for a mean divided by its number of indices")
def migrate_bag_offsets(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """EmbeddingBagOffsets as EmbeddingBagOffsetsSum."""
    given = [Ref(None, number) for number in range(len(layers.inputs))]
    total = layers.call("EmbeddingBagOffsetsSum", *given)
    wrong = None if attrs.reduction == "sum" else _mean_type(layers)
    if attrs.reduction == "sum" or wrong:
        return wrong or total
    starts = layers.to_type(Ref(None, 2), I64)
    end = layers.gather(layers.shape_of(Ref(None, 1)), [0])
    one = np.array([1])
    later = layers.call("StridedSlice", starts, one, one, one, begin_mask=(0,), end_mask=(1,))
    ends = layers.call("Concat", later, end, axis=0)
    sizes = layers.call("Maximum", layers.call("Subtract", ends, starts), one)
    pattern = np.array([-1, *[1] * (layers.rank(total) - 1)])
    column = layers.call("Reshape", sizes, pattern, special_zero=False)
    return layers.call("Divide", total, layers.to_type(column, layers.inputs[0].dtype))


@composed(15, "the sum of each bag, for a mean divided by its number of indices")
def migrate_bag_packed(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """EmbeddingBagPacked as EmbeddingBagPackedSum."""
    given = [Ref(None, number) for number in range(len(layers.inputs))]
    total = layers.call("EmbeddingBagPackedSum", *given)
    wrong = None if attrs.reduction == "sum" else _mean_type(layers)
    if attrs.reduction == "sum" or wrong:
        return wrong or total
    shape = layers.inputs[1].shape
    if shape is not None and shape[1].static:
        return layers.call("Divide", total, layers.number(shape[1].lo, total))
    size = layers.gather(layers.shape_of(Ref(None, 1)), 1)
    return layers.call("Divide", total, layers.to_type(size, layers.inputs[0].dtype))


@composed(15, "how many elements of the sorted row are smaller, or not greater")
def migrate_search_sorted(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """SearchSorted as a number of comparisons that hold."""
    rows, values = Ref(None), Ref(None, 1)
    own = layers.rank(rows) > 1
    last = np.array(-1)
    left = layers.call("Unsqueeze", rows, np.array(-2)) if own else rows
    right = layers.call("Unsqueeze", values, last)
    hits = layers.call("LessEqual" if attrs.right_mode else "Less", left, right)
    return layers.call("ReduceSum", layers.to_type(hits, attrs.output_type), last, keep_dims=False)


@composed(17, "how often, or with which weights, each integer from 0 on is equal to an element")
def migrate_bincount(layers: Layers, attrs: Attrs) -> Ref:
    """Bincount as comparisons with every integer that there may be."""
    first, none = np.array(0), np.array([-1])
    data = layers.call("Concat", layers.to_type(Ref(None), I64), none, axis=0)
    largest = layers.call("Maximum", layers.call("ReduceMax", data, first), np.array(attrs.minlength - 1))
    bins = layers.count_to(layers.call("Add", largest, np.array(1)))
    equal = layers.call("Equal", layers.call("Unsqueeze", bins, np.array(1)), layers.call("Unsqueeze", data, first))
    if len(layers.inputs) == 1:
        return layers.call("ReduceSum", layers.to_type(equal, I64), np.array(1))
    zero = layers.number(0, Ref(None, 1))
    weights = layers.call("Unsqueeze", layers.call("Concat", Ref(None, 1), zero.reshape(1), axis=0), first)
    return layers.call("ReduceSum", layers.call("Select", equal, weights, zero), np.array(1))
