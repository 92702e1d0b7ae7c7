"""Layers beside the rows of reductions."""

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, counted, number, whole
from ir_tools.ops import Array
from tests.releases.beside import beside

NUMBERS = counted(2, 3, 4)
ONE, NONE, END = whole(1), whole(0), whole(-1)


def _number(value: int) -> Array:
    return number(value, np.int64)


def _reduced(data: Array | Call, axes: Array, op: str = "ReduceSum-1", keep: str = "false") -> Call:
    return Call(op, (data, Fixed(axes)), {"keep_dims": keep})


def _twice(first: Array, second: Array, op: str = "ReduceSum-1", keep: str = "false") -> Call:
    return _reduced(_reduced(NUMBERS, first, op, keep), second, op, keep)


BESIDE = [
    *beside(
        "reductions in a row by numbers",
        falling=[
            _twice(_number(2), NONE),
            _twice(ONE, _number(0), "ReduceL2-4"),
            _twice(_number(0), _number(1), keep="true"),
        ],
        others=[
            _twice(ONE, NONE),
            _twice(_number(0), _number(0)),
            _reduced(_reduced(NUMBERS, _number(1), "ReduceMax-1"), _number(0)),
            _reduced(_reduced(NUMBERS, _number(1), keep="true"), _number(0)),
            _reduced(Call("Abs-1", (_reduced(NUMBERS, _number(1)),)), _number(0)),
        ],
    ),
    *beside(
        "reductions in a row, one axis twice, 2023.3 to 2025.4",
        falling=[_twice(END, END), _twice(whole(2), END, "ReduceL1-4"), _twice(ONE, whole(-2), "ReduceProd-1")],
        others=[
            _twice(END, END, keep="true"),
            _twice(NONE, END),
            _twice(ONE, END),
            _twice(END, NONE),
            _reduced(_reduced(NUMBERS, END, "ReduceMax-1"), END),
            _reduced(_reduced(NUMBERS, END, keep="true"), END),
            _reduced(Call("Abs-1", (_reduced(NUMBERS, END),)), END),
        ],
    ),
    *beside(
        "reductions in a row, other axes, 2022.2 to 2025.4",
        falling=[_twice(END, whole(-2)), _twice(whole(2), whole(-2), "ReduceMean-1")],
        others=[_twice(whole(-2), whole(-2), keep="true"), _twice(END, NONE), _twice(NONE, whole(-2))],
    ),
    *beside(
        "last axis of a scalar",
        falling=[_reduced(number(3), END, "ReduceMin-1"), Call("Squeeze-1", (number(3), Fixed(END)))],
        others=[_reduced(number(3), NONE, "ReduceMin-1"), _reduced(counted(1), END, "ReduceMin-1")],
    ),
]
