"""Layers beside the rows of resizing, patches and color."""

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, counted, whole
from tests.releases.beside import beside

BESIDE = [
    *beside(
        "Interpolate-1 to fewer elements",
        others=[
            Call(
                "Interpolate-1",
                (counted(2, 2, 6, 4), Fixed(whole(12, 8))),
                {"mode": "nearest", "axes": "2,3", "align_corners": "false", "antialias": "false"},
            ),
        ],
    ),
    *beside(
        "Interpolate-1 to the nearest element of other sizes",
        falling=[
            Call(
                "Interpolate-1",
                (counted(2, 2, 6, 4), Fixed(whole(12, 8))),
                {"mode": "nearest", "axes": "2,3", "align_corners": "true", "antialias": "false"},
            ),
        ],
        others=[
            Call(
                "Interpolate-1",
                (counted(2, 2, 6, 4), Fixed(whole(12, 8))),
                {"mode": "nearest", "axes": "2,3", "align_corners": "false", "antialias": "false"},
            ),
            Call(
                "Interpolate-1",
                (counted(2, 2, 6, 4), Fixed(whole(9, 7))),
                {"mode": "linear", "axes": "2,3", "align_corners": "true", "antialias": "false"},
            ),
        ],
    ),
    *beside(
        "NV12toBGR-8 of one plane of a least height",
        falling=[
            Call("NV12toBGR-8", (Given(counted(1, 3, 4, 1), "1,3..,4,1"),)),
        ],
        others=[
            Call("NV12toBGR-8", (Given(counted(1, 3, 4, 1), "1,2..,4,1"),)),
            Call("NV12toBGR-8", (Given(counted(1, 6, 4, 1), "1,6,4..,1"),)),
            Call("NV12toBGR-8", (Given(counted(1, 4, 4, 1), "1,4..,4,1"), Given(counted(1, 2, 2, 2), "1,2..,2,2"))),
        ],
    ),
    *beside(
        "spectra of a computed size",
        others=[
            Call("RDFT-9", (counted(2, 4), Fixed(whole(1)), Fixed(whole(3)))),
            Call("RDFT-9", (Given(counted(2, 4), "?,4"), Fixed(whole(1)), whole(3))),
        ],
    ),
    *beside(
        "Interpolate-1 with pads beside its axes, in 2021.4",
        falling=[
            Call(
                "Interpolate-1",
                (counted(1, 1, 2, 2), Fixed(whole(4))),
                {"mode": "nearest", "axes": "3", "align_corners": "false", "antialias": "false", "pads_end": "0,0,1"},
            ),
        ],
        others=[
            Call(
                "Interpolate-1",
                (counted(1, 1, 2, 2), Fixed(whole(5))),
                {
                    "mode": "nearest",
                    "axes": "3",
                    "align_corners": "false",
                    "antialias": "false",
                    "pads_begin": "0,0,0,1",
                },
            ),
        ],
    ),
    *beside(
        "cubic Interpolate of five dimensions, 2021.2 to 2021.3",
        others=[
            Call(
                "Interpolate-4",
                (counted(1, 1, 5, 5), Fixed(whole(4, 4)), Fixed(np.array([1.0, 1.0], np.float32)), Fixed(whole(2, 3))),
                {"mode": "cubic", "shape_calculation_mode": "sizes"},
            ),
        ],
    ),
    *beside(
        "cubic Interpolate of five dimensions, 2021.4 to 2021.4",
        others=[
            Call(
                "Interpolate-4",
                (
                    counted(1, 1, 3, 5, 5),
                    Fixed(whole(4, 4, 4)),
                    Fixed(np.array([1.0, 1.0, 1.0], np.float32)),
                    Fixed(whole(2, 3, 4)),
                ),
                {"mode": "nearest", "shape_calculation_mode": "sizes"},
            ),
        ],
    ),
    *beside(
        "Interpolate of a constant by sizes of i32, 2021.3 to 2021.4",
        others=[
            Call(
                "Interpolate-4",
                (
                    counted(1, 1, 3, 3),
                    Fixed(np.array([5, 5], np.int32)),
                    Fixed(np.array([1.0, 1.0], np.float32)),
                    Fixed(whole(2, 3)),
                ),
                {"mode": "linear_onnx", "shape_calculation_mode": "sizes"},
            ),
        ],
    ),
    *beside(
        "Col2Im by computed sizes",
        others=[
            Call(
                "Col2Im-15",
                (Given(counted(1, 4, 4), "1,?,4"), whole(3, 3), Fixed(whole(2, 2))),
                {"strides": "1,1", "dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0"},
            ),
        ],
    ),
    *beside(
        "Interpolate of batch or channels",
        falling=[
            Call(
                "Interpolate-1",
                (counted(2, 2, 6, 4), Fixed(whole(3))),
                {"mode": "linear", "axes": "0", "align_corners": "false", "antialias": "false"},
            ),
            Call(
                "Interpolate-1",
                (counted(2, 2, 6, 4), Fixed(whole(3))),
                {"mode": "linear", "axes": "1", "align_corners": "false", "antialias": "false"},
            ),
        ],
        others=[
            Call(
                "Interpolate-4",
                (counted(3, 4), Fixed(whole(4, 5)), Fixed(np.array([1.0, 1.0], np.float32)), Fixed(whole(0, 1))),
                {"mode": "nearest", "shape_calculation_mode": "sizes"},
            ),
        ],
    ),
    *beside(
        "Interpolate of channels, height and width",
        others=[
            Call(
                "Interpolate-4",
                (
                    counted(1, 1, 3, 5, 5),
                    Fixed(whole(4, 4, 4)),
                    Fixed(np.array([1.0, 1.0, 1.0], np.float32)),
                    Fixed(whole(2, 3, 4)),
                ),
                {"mode": "nearest", "shape_calculation_mode": "sizes"},
            ),
            Call(
                "Interpolate-4",
                (counted(2, 2, 6, 4), Fixed(whole(3, 4)), Fixed(np.array([1.0, 1.0], np.float32)), Fixed(whole(1, 2))),
                {"mode": "nearest", "shape_calculation_mode": "sizes"},
            ),
        ],
    ),
    *beside(
        "cubic Interpolate of channels, height and width",
        others=[
            Call(
                "Interpolate-11",
                (counted(2, 2, 6, 4), Fixed(whole(3, 4, 5)), Fixed(whole(1, 2, 3))),
                {"mode": "nearest", "shape_calculation_mode": "sizes"},
            ),
        ],
    ),
    *beside(
        "Interpolate-1 of 2021.2",
        falling=[
            Call(
                "Interpolate-1",
                (counted(2, 2, 6, 4), Fixed(whole(3, 3))),
                {"mode": "linear", "axes": "2,3", "align_corners": "true", "antialias": "true"},
            ),
        ],
    ),
    *beside(
        "Interpolate-1 whose corners are not aligned",
        falling=[
            Call(
                "Interpolate-1",
                (counted(2, 2, 6, 4), Fixed(whole(3, 3))),
                {"mode": "cubic", "axes": "2,3", "align_corners": "false", "antialias": "false"},
            ),
        ],
        others=[
            Call(
                "Interpolate-1",
                (counted(2, 2, 6, 4), Fixed(whole(3))),
                {"mode": "linear", "axes": "2", "align_corners": "false", "antialias": "false"},
            ),
        ],
    ),
    *beside(
        "ExtractImagePatches with more padding than data, 2021.4 to 2025.2",
        others=[
            Call(
                "ExtractImagePatches-3",
                (counted(1, 1, 5, 2),),
                {"sizes": "2,3", "strides": "2,1", "rates": "1,2", "auto_pad": "same_lower"},
            ),
        ],
    ),
]
