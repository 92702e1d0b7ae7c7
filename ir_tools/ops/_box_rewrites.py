"""Rewrite operations on boxes and regions, and sorting, to the versions of other opsets."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ir_tools.ops._layers import DATA, I64, Layers, held
from ir_tools.ops._prior_boxes import number_of_priors, priors
from ir_tools.ops._sampling_rewrites import align_regions
from ir_tools.ops._versions import VersionStep, as_it_is, no_step
from ir_tools.ops.definition import Array, Fact, Lowering, Ref, Refused, Rewrite, Step
from ir_tools.ops.fields import Attrs
from ir_tools.types import element_type

__all__ = [
    "as_many_as_counted",
    "best_before_an_axis",
    "best_by_value",
    "boxes_of_later_version",
    "long_places",
    "migrate_detection_output",
    "migrate_multiclass_nms",
    "migrate_nms",
    "migrate_prior_box_8",
    "migrate_roi_align",
    "migrate_top_k",
    "no_boxes",
]

# --- TopK -------------------------------------------------------------------------------------------------------


def migrate_top_k(version: int) -> Step:
    """Rewrite TopK between versions: 11 may keep the order of equal values; 1 takes fewer types of k."""

    def change(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
        if version == 11 and attrs.stable and attrs.sort == "value":
            return _in_stable_order(layers, attrs, wanted)
        if wanted > 1 or layers.inputs[1].dtype.name in {"i8", "i32", "i64"}:
            return None
        return as_it_is(layers, "TopK", wanted, attrs, Ref(None), layers.to_type(Ref(None, 1), I64))

    return VersionStep("TopK", version, change)


def best_before_an_axis(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite TopK of one element of the last axis as one of the last but one: two releases of 2022 do not end."""
    layers, shape = Layers(inputs, target), inputs[0].shape
    if shape is None or inputs[1].integers() != [1] or attrs.axis % len(shape) != len(shape) - 1:
        return Refused("it does not take one element of the last axis")
    behind, version = np.array([len(shape)]), held("TopK", target).version
    kept = {"mode": attrs.mode, "sort": _order(attrs), "index_element_type": attrs.index_element_type}
    wider = layers.call("Unsqueeze", Ref(None), behind)
    found = layers.outputs("TopK", wider, Ref(None, 1), version=version, axis=len(shape) - 1, **kept)
    narrow = [layers.call("Squeeze", one, behind) for one in found]
    return layers.rewrite("an axis of size 1 added at the end", "it changes neither the values nor their order", narrow)


def best_by_value(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite TopK without an order as the reference gives it, by value: 2021 returns the elements by position."""
    if attrs.sort != "none":
        return Refused("its output is sorted already")
    layers = Layers(inputs, target)
    return as_it_is(layers, "TopK", held("TopK", target).version, Attrs({**attrs, "sort": _order(attrs)}))


def long_places(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite TopK with indices of i64 as one with those of i32 and a Convert: 2021 takes them for i32."""
    if attrs.index_element_type != I64:
        return Refused("its indices are not of i64")
    layers, version = Layers(inputs, target), held("TopK", target).version
    kept = {"axis": attrs.axis, "mode": attrs.mode, "sort": _order(attrs), "index_element_type": element_type("i32")}
    found = layers.outputs("TopK", DATA, Ref(None, 1), version=version, **kept)
    return layers.rewrite("indices in i32", "every index fits into i32", (found[0], layers.to_type(found[1], I64)))


def _order(attrs: Attrs) -> str:
    return "value" if attrs.sort == "none" else str(attrs.sort)


def _in_stable_order(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite:
    """Take the values of another TopK, and look up their places: the n-th of those that are equal, the n-th place."""
    data, rank = Ref(None), layers.rank(Ref(None))
    axis = attrs.axis % rank
    k = layers.to_type(Ref(None, 1), I64)
    settings = {"mode": attrs.mode, "sort": "value", "index_element_type": I64}
    values = layers.call("TopK", data, k, version=wanted, axis=axis, **settings)
    of_each, others = (layers.call("Unsqueeze", values, np.array(at)) for at in (axis + 1, axis))
    better = layers.call("Greater" if attrs.mode == "max" else "Less", others, of_each)
    first = layers.total(better, axis + 1, I64)
    equal = layers.call("Equal", layers.call("Unsqueeze", data, np.array(axis)), of_each)
    before = layers.call("CumSum", layers.to_type(equal, I64), np.array(axis + 1), exclusive=True)
    turn = layers.call("Add", before, layers.call("Unsqueeze", first, np.array(axis + 1)))
    same_turn = layers.call("Equal", turn, _along(layers, values, axis, more=1))
    found = layers.call("LogicalAnd", equal, same_turn)
    places = layers.call("Select", found, _along(layers, data, axis), np.array(0))
    place = layers.total(places, axis + 1, attrs.index_element_type)
    proof = (
        "the new TopK returns the values in the requested order, and elements with equal values in the order of "
        "their indices"
    )
    return layers.rewrite("indices of equal values in order", proof, (values, place))


def _along(layers: Layers, data: Ref, axis: int, more: int = 0) -> Ref | Array:
    """Add the numbers of the elements along an axis, which broadcast to the data with `more` axes at its end."""
    places, behind = layers.places(data, axis), np.arange(1, layers.rank(data) - axis + more)
    if not behind.size:
        return places
    return layers.call("Unsqueeze", places, behind) if isinstance(places, Ref) else np.expand_dims(places, [*behind])


# --- suppression ------------------------------------------------------------------------------------------------


def migrate_nms(version: int) -> Step:
    """Rewrite NonMaxSuppression between versions: 5 and 9 list scores and a count, 1 to 4 only boxes, at first i64."""

    def change(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
        type = "NonMaxSuppression"
        if (version < 5) != (wanted < 5):
            return Refused(f"{type}-{wanted} has different outputs")
        if version > 4:
            return None
        typed = Attrs({"output_type": I64, **attrs})
        before, after = (held(type, one).outputs_of(typed, layers.inputs) for one in (version, wanted))
        if before is None or after is None or before[0].shape != after[0].shape:
            return Refused(f"{type}-{wanted} has another number of output rows")
        if wanted > 1 or typed.output_type == I64:
            return None
        as_it_is(layers, type, wanted, attrs)
        layers.to_type(Ref(0), typed.output_type)
        return layers.rewrite(
            "the older version, followed by a Convert", f"{type}-1 returns i64, and the Convert makes it i32"
        )

    return VersionStep("NonMaxSuppression", version, change)


def boxes_of_later_version(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite NonMaxSuppression-1, -3 and -4 as the first output of a later version."""
    if target < 5:
        return NO_COUNT
    layers = Layers(inputs, target)
    boxes, _ = _chosen(layers, {"output_type": I64, **attrs}, 0)
    return layers.rewrite("the first output of a later version", "later versions select the same boxes", (boxes,))


def as_many_as_counted(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite NonMaxSuppression-5 and -9 as one behind which the rows that it does not count are cut off."""
    if target < 5:
        return NO_COUNT
    layers = Layers(inputs, target)
    scores, boxes, count = _chosen(layers, attrs, 1, 0)
    return layers.rewrite(
        "output cut to the number of selected boxes",
        "the third output is the number of selected boxes",
        (boxes, scores, count),
    )


NO_COUNT = Refused("versions before opset5 do not output the number of selected boxes")


def _chosen(layers: Layers, attrs: Mapping[str, Any], *numbers: int) -> tuple[Ref, ...]:
    """Return these outputs of a NonMaxSuppression that counts boxes, as long as it counts, and the count.

    The Reshape is for 2022.1 and 2022.2, which know no size behind a StridedSlice to a computed end.
    """
    *rows, count = layers.outputs("NonMaxSuppression", *layers.given, **attrs)
    start, step = np.zeros(1, layers.dtype(count)), np.ones(1, layers.dtype(count))
    cut = partial(layers.call, "StridedSlice", begin_mask=(0,), end_mask=(0,))
    return *(layers.reshape(cut(rows[number], start, count, step), ROWS_OF_THREE) for number in numbers), count


ROWS_OF_THREE = np.array([-1, 3])
"""The shape of what a NonMaxSuppression selects."""


def migrate_multiclass_nms(version: int) -> Step:
    """Rewrite MulticlassNms between versions: 9 may count the regions of each image."""

    def change(layers: Layers, attrs: Attrs, wanted: int) -> Refused | None:
        return Refused(f"MulticlassNms-{wanted} has no input roisnum") if len(layers.inputs) > 2 else None

    return VersionStep("MulticlassNms", version, change, no_boxes(8))


def no_boxes(version: int) -> Lowering:
    """Return the step of an operation that begins with `version` and selects boxes as no older ones do."""
    return no_step(version, "no composition of older operations is known that selects the same boxes in the same order")


# --- prior boxes, detections, regions ---------------------------------------------------------------------------


def _prior_box(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
    ordered = Attrs({**attrs, "min_max_aspect_ratios_order": True})
    first, own = ([*map(str, priors(each))] for each in (ordered, attrs))  # as text, NaN is equal to itself
    if own == first:
        return None
    count = number_of_priors(attrs)
    if len(own) != count or len(first) != count:
        return Refused(
            "the number of boxes differs from the size of the output of the older version",
            "min_max_aspect_ratios_order",
        )
    as_it_is(layers, "PriorBox", wanted, attrs)
    order = [first.index(one) for one in own]
    apart = layers.call("Reshape", Ref(0), np.array([2, -1, count, 4]), special_zero=False)
    sorted_ = layers.gather(apart, order, 2)
    layers.call("Reshape", sorted_, np.array([2, -1]), special_zero=False)
    return layers.rewrite("boxes in another order", "each position has the same boxes")


migrate_prior_box_8 = VersionStep("PriorBox", 8, _prior_box)


def migrate_detection_output(version: int, classes_of: Callable[[Attrs, Sequence[Fact]], tuple[int, int]]) -> Step:
    """Rewrite DetectionOutput between versions: 1 has the number of classes as an attribute, 8 works it out.

    `classes_of`: returns the number that version 8 works out, 0 if it is not known, and that of prior boxes.
    """

    def change(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
        unsaid = Attrs({name: attrs[name] for name in attrs if name != "num_classes"})
        classes, _ = classes_of(unsaid, layers.inputs)
        if version == 1:
            return (
                None if classes == attrs.num_classes else Refused("the shapes imply a different number", "num_classes")
            )
        if not classes:
            return Refused("DetectionOutput-1 needs the number of classes, which the shapes do not determine")
        return as_it_is(layers, "DetectionOutput", wanted, Attrs({**attrs, "num_classes": classes}))

    return VersionStep("DetectionOutput", version, change)


def migrate_roi_align(version: int) -> Step:
    """Rewrite ROIAlign between versions: 3 takes no region narrower than one element."""

    def change(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
        if wanted > version or attrs.aligned_mode == "asymmetric":
            return None
        return align_regions(attrs, layers.inputs, layers.target)

    return VersionStep("ROIAlign", version, change, align_regions)
