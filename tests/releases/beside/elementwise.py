"""Layers beside the rows of elementwise layers."""

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, counted
from ir_tools.ops import Array
from tests.releases.beside import Beside


def as_pdpd(op: str, *inputs: Array | Fixed, axis: int = -1) -> Call:
    return Call(op, inputs, {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": str(axis)})


FEWER = "tests of fewer dimensions with pdpd, "
AT_THE_END = "Add-1 with pdpd, dimensions of 1 at the end"
SLOPE = "PReLU with a slope inside channels"
BESIDE = [
    Beside(SLOPE, False, Call("PReLU-1", (counted(2, 3, 1), Fixed(counted(3, 1))))),
    Beside(SLOPE, True, Call("PReLU-1", (counted(2, 3, 2), Fixed(counted(1, 2))))),
    *(
        Beside(FEWER + "if the second is repeated", falls, as_pdpd("Less-1", *inputs, axis=axis))
        for falls, axis, *inputs in (
            (True, -1, counted(2, 3), counted(3)),
            (True, 1, counted(2, 3, 1), Fixed(counted(3, 1))),
            (False, -1, counted(1, 3), counted(3)),
            (False, -1, counted(2, 3), counted(2, 3)),
            (False, -1, counted(2, 3).astype(np.int32), counted(3).astype(np.int32)),
        )
    ),
    *(
        Beside(FEWER + "if the axis is written", falls, as_pdpd("Greater-1", *inputs, axis=axis))
        for falls, axis, *inputs in (
            (True, 1, counted(2, 3), Fixed(counted(3))),
            (True, 2, counted(1, 1, 4), counted(4)),
            (True, 1, counted(3, 1), counted(1)),
            (False, 1, counted(3, 1), Fixed(counted(1))),
            (False, -1, counted(1, 3), counted(3)),
            (False, 0, counted(2, 3), counted(2, 3)),
            (False, 1, counted(2, 3).astype(np.int64), counted(3).astype(np.int64)),
        )
    ),
    Beside(AT_THE_END, False, as_pdpd("Add-1", counted(2, 2), Fixed(counted(1, 1)))),
    Beside(
        "SoftSign after one that is not compiled with it",
        True,
        Call("SoftSign-9", (Call("Abs-1", (counted(1, 1, 1, 1, 1, 2, 3),)),)),
    ),
    Beside(
        "SoftSign after one that is not compiled with it",
        False,
        Call("SoftSign-9", (Call("Abs-1", (counted(1, 1, 1, 1, 2, 3),)),)),
    ),
]
