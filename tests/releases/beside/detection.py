"""Layers beside the rows of boxes."""

from dataclasses import replace

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, counted, floats, index, number, whole
from ir_tools.ops import Array
from tests.releases.beside import beside

BOXES = floats([[0, 0, 1, 1], [0, 2, 1, 3], [0, 4, 1, 5]])
WAVES = np.sin(counted(1, 6, 2, 2))
PRIORS = floats([[0, 0, 0.5, 0.5, 0.4, 0.4, 1, 1], [0.1] * 8])
YOLO = {"coords": "4", "classes": "2", "num": "2", "axis": "1", "end_axis": "3", "anchors": "1,2,3,4"}
CLUSTERED = {"offset": "0.5", "width": "4,8", "height": "4,8"}


def suppressed(
    op: str, boxes: str = "1,3,4", scores: str = "1,2,3", *, count: Array | Fixed | None = None, above: float = 0.1
) -> Call:
    """The three boxes of two classes."""
    limits = (Fixed(index(3)) if count is None else count, Fixed(number(0.5)), Fixed(number(above)))
    return Call(op, (Given(BOXES, boxes), Given(counted(1, 2, 3), scores), *limits))


def by_classes(gives: int = 0, results: tuple[int, ...] | None = None) -> Call:
    """The same boxes suppressed in each class."""
    inputs = (Given(BOXES, "1,3,4"), Given(counted(1, 2, 3), "1,2,3"))
    return Call("MulticlassNms-8", inputs, gives=gives, results=results)


def negative(data: Call) -> Call:
    return Call("Negative-1", (data,))


def detected(keep_top_k: int, top_k: int) -> Call:
    raw = {
        "keep_top_k": str(keep_top_k),
        "top_k": str(top_k),
        "nms_threshold": "0.5",
        "normalized": "true",
        "num_classes": "2",
        "background_label_id": "0",
    }
    return Call("DetectionOutput-1", (counted(1, 8) * 0, floats([0.1, 0.9, 0.2, 0.8]), Fixed(PRIORS)), raw)


def decayed(sigma: Array | Fixed) -> Call:
    """Five boxes of which some overlap."""
    boxes = floats([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1]])
    limits = (Fixed(index(5)), Fixed(number(0.5)), Fixed(number(0)), sigma)
    return Call(
        "NonMaxSuppression-5",
        (boxes, floats([[0.9, 0.75, 0.6, 0.95, 0.5]]), *limits),
        {"box_encoding": "corner", "sort_result_descending": "true", "output_type": "i64"},
    )


BESIDE = [
    *beside(
        "RegionYolo of boxes without coordinates",
        falling=[Call("RegionYolo-1", (WAVES,), {**YOLO, "coords": "0", "do_softmax": "true", "mask": "0,1"})],
        others=[Call("RegionYolo-1", (counted(1, 8, 2, 2),), {**YOLO, "coords": "1", "do_softmax": "true"})],
    ),
    *beside(
        "NonMaxSuppression-9 of at most no box",
        others=[
            suppressed("NonMaxSuppression-9", count=Fixed(index(1))),
            replace(suppressed("NonMaxSuppression-9", count=Fixed(index(0))), results=(0, 1)),
        ],
    ),
    *beside(
        "MatrixNms of at most no box",
        others=[replace(by_classes(), op="MatrixNms-8", raw={"keep_top_k": "1"})],
    ),
    *beside(
        "NonMaxSuppression-3 of an unknown number of images",
        falling=[negative(suppressed("NonMaxSuppression-3", scores="?,2,3"))],
        others=[negative(suppressed("NonMaxSuppression-3", "?,3,4", "?,?,3"))],
    ),
    *beside("DetectionOutput that keeps all boxes", falling=[detected(0, 4)]),
    *beside(
        "PriorBoxClustered without four variances",
        falling=[Call("PriorBoxClustered-1", (Fixed(whole(4, 4)), Fixed(whole(32, 32))), CLUSTERED)],
        others=[
            Call(
                "PriorBoxClustered-1",
                (Fixed(whole(4, 4)), Fixed(whole(32, 32))),
                {"offset": "0.5", "variance": "0.1,0.1,0.2,0.2", "width": "4,8", "height": "4,8"},
            ),
        ],
    ),
    *beside("DetectionOutput of all boxes", others=[detected(4, 0)]),
    *beside(
        "PriorBox in the order of aspect ratios",
        others=[
            Call(
                "PriorBox-8",
                (Fixed(whole(2, 2)), Fixed(whole(20, 20))),
                {"min_size": "5", "offset": "0.5", "min_max_aspect_ratios_order": "false"},
            ),
            Call("PriorBox-8", (whole(2, 2), whole(20, 20)), {"min_size": "5", "offset": "0.5"}),
        ],
    ),
    *beside(
        "RegionYolo without SoftMax and without a mask, read",
        others=[
            Call("RegionYolo-1", (counted(1, 14, 2, 2),), {**YOLO, "do_softmax": "true"}),
            Call("RegionYolo-1", (counted(1, 14, 2, 2),), {**YOLO, "do_softmax": "false", "mask": "0,1"}),
        ],
    ),
    *beside(
        "ReorgYolo of images of bounded size",
        others=[
            Call("ReorgYolo-1", (Given(counted(1, 4, 6, 6), "1,4,?,?"),), {"stride": "2"}),
            Call("ReorgYolo-1", (Given(counted(1, 4, 6, 6), "1,1..7,6,6"),), {"stride": "2"}),
        ],
    ),
    *beside(
        "DeformablePSROIPooling with unequal bins",
        others=[
            Call(
                "DeformablePSROIPooling-1",
                (counted(1, 2, 4, 8), floats([0, 0, 2, 20, 12])),
                {
                    "output_dim": "2",
                    "group_size": "1",
                    "spatial_scale": "0.25",
                    "mode": "bilinear_deformable",
                    "spatial_bins_x": "2",
                    "spatial_bins_y": "2",
                    "trans_std": "0",
                    "part_size": "1",
                },
            ),
        ],
    ),
    *beside(
        "MulticlassNms-8 before other layers",
        falling=[negative(by_classes(gives=1))],
        others=[by_classes(), negative(by_classes(gives=2))],
    ),
    *beside(
        "MulticlassNms-8 before other layers and outputs of the model",
        others=[negative(by_classes(results=(0,))), by_classes()],
    ),
    *beside(
        "NonMaxSuppression-1 of a known number of boxes",
        others=[negative(suppressed("NonMaxSuppression-1", count=index(3)))],
    ),
    *beside(
        "suppression of boxes with an unknown number of coordinates",
        others=[negative(suppressed("NonMaxSuppression-3", "?,?,4", "?,2,?"))],
    ),
    *beside("NonMaxSuppression-5 with few boxes", others=[suppressed("NonMaxSuppression-5", above=2.5)]),
    *beside("boxes whose scores decay", falling=[decayed(number(1))], others=[decayed(Fixed(number(0)))]),
]
