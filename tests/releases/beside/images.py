"""Layers beside the rows of resizing, patches and color."""

from collections.abc import Sequence

import numpy as np

from ir_tools.known_differences._model import PLANE, Call, Fixed, Given, counted, floats, whole
from ir_tools.ops import Array
from tests.releases.beside import Beside, beside

IMAGE = (2, 2, 6, 4)


def first(mode: str, axes: str, *sizes: int, shape: Sequence[int] = IMAGE, flags: str = "", **pads: str) -> Call:
    """Interpolate-1 to sizes; `flags`: those that are set."""
    words = {name: str(name in flags.split()).lower() for name in ("align_corners", "antialias")}
    return Call("Interpolate-1", (counted(*shape), Fixed(whole(*sizes))), {"mode": mode, "axes": axes, **words, **pads})


def scaled(
    sizes: Sequence[int], to: Array, axes: Sequence[int], mode: str = "nearest", *, shape: str = "", **pads: str
) -> Call:
    """Interpolate-4 to sizes, with scales of 1, of data of sizes, which `shape` may leave unknown."""
    data = Given(counted(*sizes), shape) if shape else counted(*sizes)
    inputs = (Fixed(to), Fixed(floats(*[1] * len(axes))), Fixed(whole(*axes)))
    return Call("Interpolate-4", (data, *inputs), {"mode": mode, "shape_calculation_mode": "sizes", **pads})


LINES = (1, 3, 4)
SIZES = {"mode": "nearest", "shape_calculation_mode": "sizes"}
PIXELS = (1, 1, 2, 2)
CELLS = (1, 1, 3, 5, 5)
BESIDE = [
    *beside(
        "spectra along no axes, 2026.4 to 2026.4",
        falling=[Call("IDFT-7", (Given(counted(2, 4, 2), "?,4,2"), Fixed(whole())))],
        others=[Call("DFT-7", (counted(2, 4, 2), Fixed(whole(0))))],
    ),
    *beside("Interpolate-1 to fewer elements", others=[first("nearest", "2,3", 12, 8)]),
    *beside(
        "Interpolate-1 to the nearest element of other sizes",
        falling=[first("nearest", "2,3", 12, 8, flags="align_corners")],
        others=[first("nearest", "2,3", 12, 8), first("linear", "2,3", 9, 7, flags="align_corners")],
    ),
    *beside(
        "NV12toBGR-8 of one plane of a least height",
        falling=[Call("NV12toBGR-8", (Given(counted(1, 3, 4, 1), "1,3..,4,1"),))],
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
        falling=[first("nearest", "3", 4, shape=PIXELS, pads_end="0,0,1")],
        others=[first("nearest", "3", 5, shape=PIXELS, pads_begin="0,0,0,1")],
    ),
    *beside(
        "cubic Interpolate of five dimensions, 2021.2 to 2021.3",
        others=[scaled((1, 1, 5, 5), whole(4, 4), (2, 3), "cubic")],
    ),
    *beside(
        "cubic Interpolate of five dimensions, 2021.4 to 2021.4",
        others=[scaled(CELLS, whole(4, 4, 4), (2, 3, 4))],
    ),
    *beside(
        "Interpolate of a constant by sizes of i32, 2021.3 to 2021.4",
        others=[scaled((1, 1, 3, 3), np.array([5, 5], np.int32), (2, 3), "linear_onnx")],
    ),
    *beside(
        "Col2Im by computed sizes",
        others=[
            Call(
                "Col2Im-15",
                (Given(counted(1, 4, 4), "1,?,4"), whole(3, 3), Fixed(whole(2, 2))),
                PLANE,
            ),
        ],
    ),
    *beside(
        "Interpolate of batch or channels",
        falling=[first("linear", "0", 3), first("linear", "1", 3)],
        others=[scaled((3, 4), whole(4, 5), (0, 1))],
    ),
    *beside(
        "Interpolate of channels, height and width",
        falling=[
            scaled(LINES, whole(6, 8), (1, 2)),
            scaled(LINES, whole(2, 6), (0, 1)),
            scaled(IMAGE, whole(2, 5, 3, 3), (0, 1, 2, 3)),
            scaled(IMAGE, whole(5, 3, 3), (1, 2, 3)),
        ],
        others=[
            scaled(CELLS, whole(4, 4, 4), (2, 3, 4)),
            scaled(IMAGE, whole(3, 4), (1, 2)),
            scaled(IMAGE, whole(2, 2, 5, 7), (0, 1, 2, 3)),
            scaled(LINES, whole(6), (1,)),
            scaled(LINES, whole(3, 8), (1, 2)),
        ],
    ),
    *beside(
        "Interpolate of channels, height and width of unknown sizes",
        falling=[scaled(IMAGE, whole(4, 6, 6), (1, 2, 3), shape="?,?,?,?")],
        others=[
            scaled(LINES, whole(8), (2,), shape="1,?,?"),
            scaled(LINES, whole(6), (1,), shape="1,?,?"),
            scaled(IMAGE, whole(6, 6), (2, 3), shape="?,?,?,?"),
        ],
    ),
    *beside(
        "cubic Interpolate of channels, height and width",
        falling=[scaled(LINES, whole(2, 6), (0, 1), "cubic")],
        others=[
            scaled(LINES, whole(6, 8), (1, 2), "cubic"),
            Call(
                "Interpolate-11",
                (counted(*IMAGE), Fixed(whole(3, 4, 5)), Fixed(whole(1, 2, 3))),
                {"mode": "nearest", "shape_calculation_mode": "sizes"},
            ),
        ],
    ),
    *beside(
        "Interpolate with pads of batch or channels",
        falling=[
            scaled(IMAGE, whole(9), (0,), pads_end="0,1"),
            scaled(IMAGE, whole(9, 9), (3, 1), pads_begin="0,0,0,1"),
            scaled(LINES, whole(9), (1,), "linear", pads_end="0,0,1"),
            scaled(CELLS, whole(9, 9), (1, 4), pads_begin="0,0,2"),
        ],
        others=[
            scaled(IMAGE, whole(9, 9), (1, 3), pads_begin="0,0,0,1"),
            scaled(IMAGE, whole(9), (1,), pads_begin="2"),
            scaled(IMAGE, whole(9, 9), (2, 3), pads_begin="0,2", pads_end="0,0,1"),
            scaled(IMAGE, whole(2, 2, 7, 9), (0, 1, 2, 3), pads_end="0,0,1,1"),
        ],
    ),
    *beside(
        "Interpolate of lines with pads beside them",
        others=[
            scaled(LINES, whole(9), (2,), pads_begin="0,0,1"),
            scaled(LINES, whole(9), (2,), pads_end="1,2"),
        ],
    ),
    *(
        Beside("Interpolate of integers along computed axes", falls, Call("Interpolate-11", (data, sizes, axes), SIZES))
        for falls, data, sizes, axes in (
            (True, np.ones((1, 2, 2, 2), np.int64), whole(4, 4), whole(2, 3)),
            (False, np.ones((1, 2, 2, 2), np.int32), whole(4, 4), Fixed(whole(2, 3))),
            (False, np.ones((1, 2, 2, 2), np.int32), Fixed(whole(1, 2, 4, 4)), Fixed(whole(0, 1, 2, 3))),
            (False, np.ones((1, 2, 2, 2), np.int8), whole(4, 4), whole(2, 3)),
        )
    ),
    *(
        Beside(f"IRDFT along computed axes, {span}", falls, Call("IRDFT-9", inputs))
        for span in ("2022.2 to 2023.2", "2023.3 to 2026.4")
        for falls, inputs in (
            (True, (counted(2, 4, 2), whole(0, 1))),
            (True, (Call("ReLU-1", (counted(2, 4, 2),)), whole(0))),
            (False, (Given(counted(2, 4, 2), "2,?,2"), whole(1))),
            (False, (Given(counted(2, 4, 2), "1..2,4,2"), whole(0, 1), whole(2, 5))),
            (False, (counted(2, 4, 2), Given(whole(1), "?"))),
            (False, (counted(2, 4, 2), Fixed(whole(1)))),
        )
    ),
    *beside(
        "IRDFT along any number of axes",
        falling=[Call("IRDFT-9", (Given(counted(2, 4, 2), "?,?,?"), Given(whole(0, 1), "?")))],
        others=[Call("IRDFT-9", (counted(2, 4, 2), Fixed(whole(1))))],
    ),
    *beside("Interpolate-4 of three dimensions", others=[scaled((3, 4), whole(4, 5), (0, 1))]),
    *beside("Interpolate-1 of 2021.2", falling=[first("linear", "2,3", 3, 3, flags="align_corners antialias")]),
    *beside(
        "Interpolate-1 whose corners are not aligned",
        falling=[first("cubic", "2,3", 3, 3)],
        others=[first("linear", "2", 3)],
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
