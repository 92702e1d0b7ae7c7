"""Layers beside the rows of tensors without elements."""

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, counted, index, whole
from tests.releases.beside import Beside, Feed, beside

NONE = np.zeros(0, np.int64)


def _multiplied(first: Feed, second: Feed) -> Call:
    return Call("MatMul-1", (first, second))


def _gathered(data: Feed, places: Feed, axis: int = 0) -> Call:
    return Call("Gather-8", (data, places, Fixed(index(axis))))


def _repeated(data: Feed, *sizes: int, mode: str = "numpy") -> Call:
    return Call("Broadcast-3", (data, Fixed(whole(*sizes))), {"mode": mode})


def _counted_up(kind: str, stop: int = 5) -> Call:
    return Call("Range-4", (Fixed(index(5)), Fixed(index(stop)), Fixed(index(1))), {"output_type": kind})


BESIDE: list[Beside] = [
    *beside(
        "products of nothing",
        falling=[
            _multiplied(counted(2, 0, 3), counted(2, 3, 4)),
            _multiplied(counted(2, 0), counted(0, 4)),
            _multiplied(counted(2, 0, 3), Fixed(counted(2, 3, 4))),
            _multiplied(counted(2, 0), Fixed(counted(0))),
        ],
        others=[
            _multiplied(counted(0, 3), Fixed(counted(3, 4))),
            _multiplied(counted(0, 2, 3), Fixed(counted(1, 3, 4))),
            _multiplied(Given(counted(0, 3), "?,3"), Given(counted(3, 4), "?,4")),
        ],
    ),
    *beside(
        "products of nothing by several matrices",
        falling=[
            _multiplied(counted(2, 5, 0), Fixed(counted(2, 0, 4))),
            _multiplied(np.ones((0, 3), np.int32), np.ones((3, 4), np.int32)),
        ],
        others=[
            _multiplied(counted(2, 0, 3), counted(2, 3, 4)),
            _multiplied(counted(0, 2, 3), Fixed(counted(0, 3, 4))),
        ],
    ),
    *beside(
        "products by a matrix that sum nothing",
        falling=[_multiplied(counted(2, 5, 0), Fixed(counted(0, 4)))],
        others=[_multiplied(counted(2, 3), Fixed(counted(3, 0))), _multiplied(counted(0, 3), Fixed(counted(3, 4)))],
    ),
    *beside(
        "Gather of nothing",
        falling=[_gathered(counted(2, 0), whole(0, 1)), _gathered(counted(2, 3), NONE, 1)],
        others=[
            _gathered(Given(counted(2, 0), "2,?"), whole(0, 1)),
            _gathered(counted(2, 3), Given(NONE, "?")),
            _gathered(counted(2, 3), whole(0, 1)),
        ],
    ),
    *beside(
        "Broadcast of nothing",
        falling=[
            _repeated(counted(0, 3), 0, 3),
            _repeated(counted(2, 0), 2, 2, 0, mode="bidirectional"),
            Call("Abs-1", (_repeated(Call("ReLU-1", (counted(0),)), 2, 0),)),
        ],
        others=[
            _repeated(Given(counted(0), "0..4"), 2, 0),
            Call("Broadcast-3", (counted(0), whole(2, 0)), {"mode": "numpy"}),
            _repeated(counted(1), 2, 0),
            _repeated(counted(0, 3), 1, 3, mode="bidirectional"),
        ],
    ),
    *beside(
        "Broadcast both ways to nothing",
        falling=[_repeated(counted(1, 3), 0, 1, mode="bidirectional")],
        others=[_repeated(counted(1, 3), 0, 3)],
    ),
    *beside(
        "outputs of i64 that are constants without elements",
        falling=[Call("Convert-1", (Fixed(np.zeros(0, np.int32)),), {"destination_type": "i64"})],
        others=[
            _counted_up("i32"),
            _counted_up("i64", 6),
            Call("Convert-1", (counted(0),), {"destination_type": "i64"}),
        ],
    ),
    *beside(
        "what is made of no elements",
        falling=[
            Call(
                "ROIPooling-1",
                (counted(1, 4, 0, 8), counted(2, 5) * 0),
                {"pooled_h": "2", "pooled_w": "2", "spatial_scale": "1"},
            )
        ],
        others=[Call("GridSample-9", (counted(1, 0, 8, 8), counted(1, 5, 5, 2)))],
    ),
]
