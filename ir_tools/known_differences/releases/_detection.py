"""Boxes: suppression, regions, prior boxes, pooling of regions."""

from dataclasses import replace

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, counted, floats, index, number, whole
from ir_tools.known_differences.releases._predicates import gives_alone, has_value
from ir_tools.known_differences.releases._row import ReleaseDifference, ends, not_compiled, not_read, not_run
from ir_tools.known_differences.releases.seen import FIRST_VERSION, Seen
from ir_tools.releases.measured import State

__all__ = ["ROWS"]

SUPPRESSIONS = ("NonMaxSuppression-1", "NonMaxSuppression-3", "NonMaxSuppression-4")


def _region_yolo(coords: int = 4, *, softened: bool = False) -> Call:
    sizes = {"coords": str(coords), "classes": "2", "num": "2", "axis": "1", "end_axis": "3", "anchors": "1,2,3,4"}
    data = np.sin(counted(1, 2 * (coords + 3), 2, 2))
    return Call("RegionYolo-1", (data,), {**sizes, "do_softmax": str(softened).lower()})


def _selects_nothing(seen: Seen) -> bool:
    """Return whether a suppression selects no box of a class, and its number of boxes is read."""
    at_most = seen.inputs[2].integers() if len(seen.inputs) > 2 else [0]
    return at_most == [0] and any(number == 2 for number, _ in seen.readers)


def _is_read(seen: Seen) -> bool:
    """Return whether another layer than a Result reads an output."""
    return any(type != "Result" for _, type in seen.readers)


def _is_computed_with(seen: Seen) -> bool:
    """Return whether another layer than a Result reads an output, and any layer one of the first two outputs."""
    return _is_read(seen) and any(number < 2 for number, _ in seen.readers)


def _gives_more(seen: Seen) -> bool:
    """Return whether another layer than a Result reads an output, and an output but the first is one of the model."""
    results = {number for number, type in seen.readers if type == "Result"}
    return _is_read(seen) and not results.issubset({0})


def _has_known_rows(seen: Seen) -> bool:
    """Return whether the numbers of boxes and images limit a suppression to a known number of rows."""
    return _has_known_boxes(seen) and all(fact.shape is not None and fact.shape[0].static for fact in seen.inputs[:2])


def _has_known_boxes(seen: Seen) -> bool:
    """Return whether the numbers of boxes, classes and rows of each are known."""
    shapes = [fact.shape for fact in seen.inputs[:2]]
    return 2 in seen.constant and all(shape is not None and shape[1].static for shape in shapes)


def _has_rows_of_none(seen: Seen) -> bool:
    """Return whether rows of -1 come out of a suppression, and are not cut off behind the number of boxes."""
    of_boxes = {type for number, type in seen.readers if number < 2}
    cut = of_boxes == {"StridedSlice"} and (2, "StridedSlice") in seen.readers
    return _has_known_rows(seen) and (_is_read(seen) or seen.version == FIRST_VERSION) and not cut


def _has_rows_of_no_box(seen: Seen) -> bool:
    """Return whether boxes of a known number come out of a MatrixNms with those that are not selected."""
    known = all(fact.shape is not None and fact.shape[0].static and fact.shape[1].static for fact in seen.inputs)
    read = {number for number, _ in seen.readers}
    given = seen.version == FIRST_VERSION and read != {0} and min(read, default=2) < 2
    return known and (given or _is_computed_with(seen))


def _nms(op: str, *results: int, least: float = 0.1, most: int = 3, images: str = "1", coordinates: str = "4") -> Call:
    """Return a suppression among three boxes of two classes.

    `results`: outputs that are those of the model, if any; `least`: the least score; `most`: of how many boxes of a
    class; `images`, `coordinates`: how many images, and coordinates of a box, in the file.
    """
    boxes = np.array([[[0, 0, 1, 1], [0, 2, 1, 3], [0, 4, 1, 5]]], np.float32)
    if op == "NMSRotated-13":
        boxes, coordinates = np.pad(boxes, [(0, 0), (0, 0), (0, 1)]), "5"
    limits = () if op.startswith("M") else map(Fixed, (index(most), floats(0.5)[0], floats(least)[0]))
    data = Given(boxes, f"{images},3,{coordinates}"), Given(counted(1, 2, 3), f"{images},2,3")
    return Call(op, (*data, *limits), results=results or None)


def _has_sigma(seen: Seen) -> bool:
    """Return whether scores may decay."""
    if len(seen.inputs) < 6:
        return False
    exact = seen.inputs[5].exact
    return exact is None or bool(exact.any())


def _detections(**settings: str) -> Call:
    """Return a DetectionOutput of two boxes and two classes."""
    raw = {"keep_top_k": "4", "top_k": "4", "nms_threshold": "0.5", "normalized": "true", "num_classes": "2"}
    boxes = np.array([[[0, 0, 0.5, 0.5, 0.4, 0.4, 1, 1], [0.1] * 8]], np.float32)
    inputs = np.zeros((1, 8), np.float32), np.array([[0.1, 0.9, 0.2, 0.8]], np.float32), Fixed(boxes)
    return Call("DetectionOutput-1", inputs, {**raw, "background_label_id": "0", **settings})


ROWS = (
    not_compiled(
        name="DetectionOutput of all boxes",
        span="2021.2 to 2021.2",
        ops=("DetectionOutput-1",),
        reason="A top_k below 0 is read but not compiled.",
        measured=True,
        model=_detections(top_k="-1"),
        applies=lambda seen: seen.attrs is not None and seen.attrs.top_k < 0,
    ),
    not_read(
        name="DetectionOutput that keeps all boxes",
        span="2021.2 to 2021.2",
        ops=("DetectionOutput-1",),
        reason="A keep_top_k below 1 is not read.",
        model=_detections(keep_top_k="-1"),
        applies=lambda seen: seen.attrs is not None and any(kept < 1 for kept in seen.attrs.keep_top_k),
    ),
    not_compiled(
        name="PriorBox in the order of aspect ratios",
        span="2022.3 to 2026.4",
        ops=("PriorBox-8",),
        reason='`min_max_aspect_ratios_order="false"` is not compiled unless the size of the output is known.',
        model=Call(
            "PriorBox-8",
            (whole(2, 2), whole(20, 20)),
            {"min_size": "5", "offset": "0.5", "min_max_aspect_ratios_order": "false"},
        ),
        applies=lambda seen: 0 not in seen.constant and has_value("min_max_aspect_ratios_order", False)(seen),
    ),
    ReleaseDifference(
        name="boxes whose scores decay",
        span="2022.1 to 2022.1",
        ops=("NonMaxSuppression-5",),
        reason="With a `soft_nms_sigma` above 0 the wrong boxes are selected, in the wrong order.",
        sometimes=True,
        model=Call(
            "NonMaxSuppression-5",
            (
                floats([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1]]),
                floats([[0.9, 0.75, 0.6, 0.95, 0.5]]),
                *map(Fixed, (index(5), number(0.5), number(0), number(1))),
            ),
            {"box_encoding": "corner", "sort_result_descending": "true", "output_type": "i64"},
        ),
        applies=_has_sigma,
    ),
    ReleaseDifference(
        name="ROIAlign by maximum",
        span="2021.3 to 2021.4",
        ops=("ROIAlign-3",),
        reason="The maximum of the four neighbours is taken before they are weighted, instead of after.",
        measured=True,
        model=Call(
            "ROIAlign-3",
            (counted(1, 1, 8, 8), floats([0, 0, 6, 6]), np.array([0], np.int32)),
            {"pooled_h": "2", "pooled_w": "2", "sampling_ratio": "2", "spatial_scale": "0.5", "mode": "max"},
        ),
        applies=has_value("mode", "max"),
    ),
    ReleaseDifference(
        name="PriorBoxClustered without four variances",
        span="2021.3 to 2021.4",
        ops=("PriorBoxClustered-1",),
        reason="If one or no variance is given, the others are read from memory after it.",
        applies=lambda seen: seen.attrs is not None and len(seen.attrs.variance) < 4,
        model=Call(
            "PriorBoxClustered-1",
            (Fixed(whole(4, 4)), Fixed(whole(32, 32))),
            {"offset": "0.5", "variance": "0.1", "width": "4,8", "height": "4,8"},
        ),
    ),
    *(
        ReleaseDifference(
            name=f"RegionYolo without SoftMax and without a mask{read}",
            span=span,
            ops=("RegionYolo-1",),
            state=state,
            reason=f'With do_softmax="false" a mask is required; without one it is not {what}.',
            model=_region_yolo(),
            applies=lambda seen: seen.attrs is not None and not seen.attrs.do_softmax and not seen.attrs.mask,
        )
        for read, span, state, what in (
            ("", "2021.2 to 2023.1", State.UNREAD, "read"),
            (", read", "2023.2 to 2023.2", State.UNCOMPILED, "compiled"),
        )
    ),
    not_run(
        name="ReorgYolo of images of bounded size",
        span="2022.1 to 2023.0",
        ops=("ReorgYolo-1",),
        reason="An upper bound of the image size is used as the size.",
        model=Call("ReorgYolo-1", (Given(counted(1, 4, 6, 6), "1,4,?,1..7"),), {"stride": "2"}),
        applies=lambda seen: any(not dim.static and dim.hi is not None for dim in (seen.inputs[0].shape or ())[2:]),
    ),
    ReleaseDifference(
        name="RegionYolo of boxes without coordinates",
        span="2021.3 to 2026.4",
        ops=("RegionYolo-1",),
        reason="Other elements than those of the classes go through the activation.",
        model=_region_yolo(coords=0, softened=True),
        applies=lambda seen: seen.attrs is not None and not seen.attrs.coords and seen.attrs.do_softmax,
    ),
    *(
        ReleaseDifference(
            name=f"{op} of at most no box",
            span="2023.3 to 2026.4",
            ops=(op,),
            reason="The number of selected boxes, which is 0, is uninitialized.",
            sometimes=True,
            model=replace(_nms(op, most=0), raw=raw),
            applies=applies,
        )
        for ops, raw, applies in (
            (("NonMaxSuppression-5", "NonMaxSuppression-9", "NMSRotated-13"), {}, _selects_nothing),
            (("MulticlassNms-8", "MulticlassNms-9"), {"nms_top_k": "0"}, has_value("nms_top_k", 0)),
        )
        for op in ops
    ),
    ends(
        name="MatrixNms of at most no box of a class",
        span="2023.3 to 2026.4",
        ops=("MatrixNms-8",),
        reason="If it takes no box of a class, it ends the process.",
        model=replace(_nms("MatrixNms-8"), raw={"nms_top_k": "0"}),
        applies=has_value("nms_top_k", 0),
    ),
    not_run(
        name="MatrixNms of at most no box",
        span="2025.1 to 2026.4",
        ops=("MatrixNms-8",),
        reason="It fails if it selects no box.",
        model=replace(_nms("MatrixNms-8"), raw={"keep_top_k": "0"}),
        applies=has_value("keep_top_k", 0),
    ),
    *(
        ReleaseDifference(
            name=f"{op} before other layers",
            span=f"{first} to 2022.3",
            ops=(op,),
            reason="Layers that read an output get wrong values.",
            model=Call("Negative-1", (_nms(op),)),
            applies=_is_computed_with,
        )
        for op, first in (("MulticlassNms-8", "2022.1"), ("MulticlassNms-9", "2022.2"))
    ),
    *(
        not_compiled(
            name=f"{op} before other layers and outputs of the model",
            span=f"{first} to 2022.2",
            ops=(op,),
            reason=(
                "The second or third output cannot be an output of the model if other layers read one of the outputs."
            ),
            model=Call("Negative-1", (_nms(op, 1),)),
            applies=_gives_more,
        )
        for op, first in (("MatrixNms-8", "2022.1"), ("MulticlassNms-8", "2022.1"), ("MulticlassNms-9", "2022.2"))
    ),
    *(
        not_compiled(
            name=f"{op} that gives an output of the model",
            span="2022.1 to 2023.2",
            ops=(op,),
            reason="It is compiled only if it does not produce an output of the model.",
            measured=True,
            model=_nms(op),
            applies=lambda seen: gives_alone(seen, 0),
        )
        for op in SUPPRESSIONS
    ),
    *(
        ReleaseDifference(
            name=f"{op} with few boxes",
            span=f"{first} to 2022.3",
            ops=(op,),
            reason=(
                "If the numbers of boxes and images are known, the output has rows of -1 for boxes that are not "
                "selected."
            ),
            sometimes=True,
            model=Call("Negative-1", (_nms(op, least=2.5),)),
            applies=applies,
        )
        for op, first, applies in (
            *((op, "2022.1", _has_known_rows) for op in SUPPRESSIONS),
            ("NonMaxSuppression-5", "2022.1", _has_rows_of_none),
            ("NonMaxSuppression-9", "2022.2", _has_rows_of_none),
        )
    ),
    ReleaseDifference(
        name="MatrixNms with few boxes",
        span="2022.1 to 2022.3",
        ops=("MatrixNms-8",),
        reason="With a known number of boxes and images, the output also has rows for boxes that are not selected.",
        sometimes=True,
        model=Call("Negative-1", (replace(_nms("MatrixNms-8"), raw={"score_threshold": "2.5"}),)),
        applies=_has_rows_of_no_box,
    ),
    *(
        not_compiled(
            name=f"{op} of {what}",
            span=f"{first} to 2023.2",
            ops=(op,),
            reason=f"It is not compiled for {what}.",
            model=Call("Negative-1", (_nms(op, images=images),)),
            applies=applies,
        )
        for op, what, first, images, applies in (
            *((op, "a known number of boxes", "2023.0", "1", _has_known_rows) for op in SUPPRESSIONS),
            *(
                (
                    op,
                    "an unknown number of images",
                    first,
                    "?",
                    lambda seen: _has_known_boxes(seen) and not _has_known_rows(seen),
                )
                for op, first in (("NonMaxSuppression-1", "2023.1"), ("NonMaxSuppression-3", "2022.1"))
            ),
        )
    ),
    not_compiled(
        name="suppression of boxes with an unknown number of coordinates",
        span="2022.1 to 2026.4",
        ops=SUPPRESSIONS,
        reason="It is compiled only if the number of coordinates of a box is known to be four.",
        model=Call("Negative-1", (_nms("NonMaxSuppression-1", coordinates="?"),)),
        applies=lambda seen: not all(size.static for size in (seen.inputs[0].shape or ())[-1:]),
    ),
    ReleaseDifference(
        name="DeformablePSROIPooling with unequal bins",
        span="2021.2 to 2021.3",
        ops=("DeformablePSROIPooling-1",),
        types="f32 f16 bf16",
        reason="The numbers of horizontal and vertical bins are swapped.",
        model=Call(
            "DeformablePSROIPooling-1",
            (counted(1, 2, 4, 8), floats([0, 0, 2, 20, 12])),
            {
                **{"output_dim": "2", "group_size": "1", "spatial_scale": "0.25", "mode": "bilinear_deformable"},
                **{"spatial_bins_x": "3", "spatial_bins_y": "2", "trans_std": "0", "part_size": "1"},
            },
        ),
        applies=lambda seen: seen.attrs is not None and seen.attrs.spatial_bins_x != seen.attrs.spatial_bins_y,
    ),
)
"""The rows."""
