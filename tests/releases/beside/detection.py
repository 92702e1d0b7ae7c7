"""Layers beside the rows of boxes."""

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, counted, whole
from tests.releases.beside import beside

BESIDE = [
    *beside(
        "NonMaxSuppression-3 of an unknown number of images",
        falling=[
            Call(
                "Negative-1",
                (
                    Call(
                        "NonMaxSuppression-3",
                        (
                            Given(
                                np.array(
                                    [[[0.0, 0.0, 1.0, 1.0], [0.0, 2.0, 1.0, 3.0], [0.0, 4.0, 1.0, 5.0]]], np.float32
                                ),
                                "1,3,4",
                            ),
                            Given(counted(1, 2, 3), "?,2,3"),
                            Fixed(np.array(3, np.int64)),
                            Fixed(np.array(0.5, np.float32)),
                            Fixed(np.array(0.1, np.float32)),
                        ),
                    ),
                ),
            ),
        ],
        others=[
            Call(
                "Negative-1",
                (
                    Call(
                        "NonMaxSuppression-3",
                        (
                            Given(
                                np.array(
                                    [[[0.0, 0.0, 1.0, 1.0], [0.0, 2.0, 1.0, 3.0], [0.0, 4.0, 1.0, 5.0]]], np.float32
                                ),
                                "?,3,4",
                            ),
                            Given(counted(1, 2, 3), "?,?,3"),
                            Fixed(np.array(3, np.int64)),
                            Fixed(np.array(0.5, np.float32)),
                            Fixed(np.array(0.1, np.float32)),
                        ),
                    ),
                ),
            ),
        ],
    ),
    *beside(
        "DetectionOutput that keeps all boxes",
        falling=[
            Call(
                "DetectionOutput-1",
                (
                    counted(1, 8) * 0,
                    np.array([[0.1, 0.9, 0.2, 0.8]], np.float32),
                    Fixed(
                        np.array(
                            [[[0.0, 0.0, 0.5, 0.5, 0.4, 0.4, 1.0, 1.0], [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]]],
                            np.float32,
                        )
                    ),
                ),
                {
                    "keep_top_k": "0",
                    "top_k": "4",
                    "nms_threshold": "0.5",
                    "normalized": "true",
                    "num_classes": "2",
                    "background_label_id": "0",
                },
            ),
        ],
    ),
    *beside(
        "PriorBoxClustered without four variances",
        falling=[
            Call(
                "PriorBoxClustered-1",
                (Fixed(whole(4, 4)), Fixed(whole(32, 32))),
                {"offset": "0.5", "width": "4,8", "height": "4,8"},
            ),
        ],
        others=[
            Call(
                "PriorBoxClustered-1",
                (Fixed(whole(4, 4)), Fixed(whole(32, 32))),
                {"offset": "0.5", "variance": "0.1,0.1,0.2,0.2", "width": "4,8", "height": "4,8"},
            ),
        ],
    ),
    *beside(
        "DetectionOutput of all boxes",
        others=[
            Call(
                "DetectionOutput-1",
                (
                    counted(1, 8) * 0,
                    np.array([[0.1, 0.9, 0.2, 0.8]], np.float32),
                    Fixed(
                        np.array(
                            [[[0.0, 0.0, 0.5, 0.5, 0.4, 0.4, 1.0, 1.0], [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]]],
                            np.float32,
                        )
                    ),
                ),
                {
                    "keep_top_k": "4",
                    "top_k": "0",
                    "nms_threshold": "0.5",
                    "normalized": "true",
                    "num_classes": "2",
                    "background_label_id": "0",
                },
            ),
        ],
    ),
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
            Call(
                "RegionYolo-1",
                (counted(1, 14, 2, 2),),
                {
                    "coords": "4",
                    "classes": "2",
                    "num": "2",
                    "axis": "1",
                    "end_axis": "3",
                    "anchors": "1,2,3,4",
                    "do_softmax": "true",
                },
            ),
            Call(
                "RegionYolo-1",
                (counted(1, 14, 2, 2),),
                {
                    "coords": "4",
                    "classes": "2",
                    "num": "2",
                    "axis": "1",
                    "end_axis": "3",
                    "anchors": "1,2,3,4",
                    "do_softmax": "false",
                    "mask": "0,1",
                },
            ),
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
                (counted(1, 2, 4, 8), np.array([[0.0, 0.0, 2.0, 20.0, 12.0]], np.float32)),
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
        falling=[
            Call(
                "Negative-1",
                (
                    Call(
                        "MulticlassNms-8",
                        (
                            Given(
                                np.array(
                                    [[[0.0, 0.0, 1.0, 1.0], [0.0, 2.0, 1.0, 3.0], [0.0, 4.0, 1.0, 5.0]]], np.float32
                                ),
                                "1,3,4",
                            ),
                            Given(counted(1, 2, 3), "1,2,3"),
                        ),
                        gives=1,
                    ),
                ),
            ),
        ],
        others=[
            Call(
                "MulticlassNms-8",
                (
                    Given(
                        np.array([[[0.0, 0.0, 1.0, 1.0], [0.0, 2.0, 1.0, 3.0], [0.0, 4.0, 1.0, 5.0]]], np.float32),
                        "1,3,4",
                    ),
                    Given(counted(1, 2, 3), "1,2,3"),
                ),
            ),
            Call(
                "Negative-1",
                (
                    Call(
                        "MulticlassNms-8",
                        (
                            Given(
                                np.array(
                                    [[[0.0, 0.0, 1.0, 1.0], [0.0, 2.0, 1.0, 3.0], [0.0, 4.0, 1.0, 5.0]]], np.float32
                                ),
                                "1,3,4",
                            ),
                            Given(counted(1, 2, 3), "1,2,3"),
                        ),
                        gives=2,
                    ),
                ),
            ),
        ],
    ),
    *beside(
        "MulticlassNms-8 before other layers and outputs of the model",
        others=[
            Call(
                "Negative-1",
                (
                    Call(
                        "MulticlassNms-8",
                        (
                            Given(
                                np.array(
                                    [[[0.0, 0.0, 1.0, 1.0], [0.0, 2.0, 1.0, 3.0], [0.0, 4.0, 1.0, 5.0]]], np.float32
                                ),
                                "1,3,4",
                            ),
                            Given(counted(1, 2, 3), "1,2,3"),
                        ),
                        results=(0,),
                    ),
                ),
            ),
            Call(
                "MulticlassNms-8",
                (
                    Given(
                        np.array([[[0.0, 0.0, 1.0, 1.0], [0.0, 2.0, 1.0, 3.0], [0.0, 4.0, 1.0, 5.0]]], np.float32),
                        "1,3,4",
                    ),
                    Given(counted(1, 2, 3), "1,2,3"),
                ),
            ),
        ],
    ),
    *beside(
        "NonMaxSuppression-1 of a known number of boxes",
        others=[
            Call(
                "Negative-1",
                (
                    Call(
                        "NonMaxSuppression-1",
                        (
                            Given(
                                np.array(
                                    [[[0.0, 0.0, 1.0, 1.0], [0.0, 2.0, 1.0, 3.0], [0.0, 4.0, 1.0, 5.0]]], np.float32
                                ),
                                "1,3,4",
                            ),
                            Given(counted(1, 2, 3), "1,2,3"),
                            np.array(3, np.int64),
                            Fixed(np.array(0.5, np.float32)),
                            Fixed(np.array(0.1, np.float32)),
                        ),
                    ),
                ),
            ),
        ],
    ),
    *beside(
        "suppression of boxes with an unknown number of coordinates",
        others=[
            Call(
                "Negative-1",
                (
                    Call(
                        "NonMaxSuppression-3",
                        (
                            Given(
                                np.array(
                                    [[[0.0, 0.0, 1.0, 1.0], [0.0, 2.0, 1.0, 3.0], [0.0, 4.0, 1.0, 5.0]]], np.float32
                                ),
                                "?,?,4",
                            ),
                            Given(counted(1, 2, 3), "?,2,?"),
                            Fixed(np.array(3, np.int64)),
                            Fixed(np.array(0.5, np.float32)),
                            Fixed(np.array(0.1, np.float32)),
                        ),
                    ),
                ),
            ),
        ],
    ),
    *beside(
        "NonMaxSuppression-5 with few boxes",
        others=[
            Call(
                "NonMaxSuppression-5",
                (
                    Given(
                        np.array([[[0.0, 0.0, 1.0, 1.0], [0.0, 2.0, 1.0, 3.0], [0.0, 4.0, 1.0, 5.0]]], np.float32),
                        "1,3,4",
                    ),
                    Given(counted(1, 2, 3), "1,2,3"),
                    Fixed(np.array(3, np.int64)),
                    Fixed(np.array(0.5, np.float32)),
                    Fixed(np.array(2.5, np.float32)),
                ),
            ),
        ],
    ),
    *beside(
        "boxes whose scores decay",
        falling=[
            Call(
                "NonMaxSuppression-5",
                (
                    np.array(
                        [
                            [
                                [0.0, 0.0, 1.0, 1.0],
                                [0.0, 0.1, 1.0, 1.1],
                                [0.0, -0.1, 1.0, 0.9],
                                [0.0, 10.0, 1.0, 11.0],
                                [0.0, 10.1, 1.0, 11.1],
                            ]
                        ],
                        np.float32,
                    ),
                    np.array([[[0.9, 0.75, 0.6, 0.95, 0.5]]], np.float32),
                    Fixed(np.array(5, np.int64)),
                    Fixed(np.array(0.5, np.float32)),
                    Fixed(np.array(0.0, np.float32)),
                    np.array(1.0, np.float32),
                ),
                {"box_encoding": "corner", "sort_result_descending": "true", "output_type": "i64"},
            ),
        ],
        others=[
            Call(
                "NonMaxSuppression-5",
                (
                    np.array(
                        [
                            [
                                [0.0, 0.0, 1.0, 1.0],
                                [0.0, 0.1, 1.0, 1.1],
                                [0.0, -0.1, 1.0, 0.9],
                                [0.0, 10.0, 1.0, 11.0],
                                [0.0, 10.1, 1.0, 11.1],
                            ]
                        ],
                        np.float32,
                    ),
                    np.array([[[0.9, 0.75, 0.6, 0.95, 0.5]]], np.float32),
                    Fixed(np.array(5, np.int64)),
                    Fixed(np.array(0.5, np.float32)),
                    Fixed(np.array(0.0, np.float32)),
                    Fixed(np.array(0.0, np.float32)),
                ),
                {"box_encoding": "corner", "sort_result_descending": "true", "output_type": "i64"},
            ),
        ],
    ),
]
