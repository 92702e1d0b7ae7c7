"""Layers beside the rows of variables, and of layers that read them."""

import numpy as np

from ir_tools.known_differences._model import Call, Feed, Fixed, Given, counted, floats, whole
from ir_tools.known_differences.releases._variables import TENSOR, UNKNOWN, _grown, _summed, _variable, _zeros
from tests.releases.beside import beside

ZEROS = Fixed(np.zeros((1, 3), np.float32))
ROW = counted(1, 3)


def read(first: Feed, shape: str) -> Call:
    """A layer that reads a variable of these sizes."""
    return Call("ReadValue-6", (first,), {"variable_id": "v", "variable_type": "f32", "variable_shape": shape})


def keeping(state: Call, kept: Feed) -> Call:
    """The variable as an output, and what it keeps."""
    return Call("Abs-1", (state,), kept=kept)


def product(state: Feed, *, first: bool = False) -> Call:
    """A product with a variable, which keeps itself."""
    inputs = (state, counted(3, 2)) if first else (counted(2, 3), state)
    return Call("MatMul-1", inputs, {"transpose_a": "false", "transpose_b": "false"})


SQUARE = Fixed(np.zeros((3, 3), np.float32))
STATE = read(ZEROS, "1,3")
OPEN = read(ZEROS, "?,3")
BEGUN = _variable(_zeros(Given(TENSOR, UNKNOWN)))
DATA = Call("Exp-1", (Given(-TENSOR, UNKNOWN),))
CELL = Call(
    "GRUCell-3",
    (ROW, OPEN, Fixed(counted(9, 3) / 100), Fixed(counted(9, 3) / 100), Fixed(counted(9) / 100)),
    {"hidden_size": "3", "linear_before_reset": "false"},
)
INPUT = Call("Unsqueeze-1", (counted(3), Fixed(whole(0))))
TWICE = Call("Concat-1", (STATE, ROW), {"axis": "1"})
BEHIND = Call("Concat-1", (read(Fixed(np.zeros((2, 3), np.float32)), "2,3"), counted(2, 3)), {"axis": "1"})
LATEST = Call("Slice-8", (TWICE, Fixed(whole(3)), Fixed(whole(6)), Fixed(whole(1)), Fixed(whole(1))))

BESIDE = [
    *beside("variables of unknown sizes", others=[OPEN]),
    *beside(
        "variables that change their sizes to unknown ones",
        others=[_summed(Fixed(np.zeros((2, 3, 4), np.float32)), TENSOR)],
    ),
    *beside(
        "variables of unknown sizes that keep known ones",
        falling=[keeping(OPEN, counted(2, 3)), _summed(Given(TENSOR, UNKNOWN), TENSOR)],
        others=[
            _summed(Given(TENSOR, UNKNOWN), Given(TENSOR, UNKNOWN)),
            keeping(STATE, Call("Tanh-1", (ROW,))),
            Call("Abs-1", (CELL,), kept=CELL),
        ],
    ),
    *beside(
        "variables that grow from an initial value of their own",
        others=[_grown(_zeros(Given(TENSOR, UNKNOWN)), Given(TENSOR, UNKNOWN), "Abs-1")],
    ),
    *beside(
        "Concat of a variable with an initial value of its own",
        falling=[_grown(Call("Abs-1", (Given(TENSOR, "?,3,4"),)), Given(TENSOR, UNKNOWN))],
        others=[
            _grown(Given(TENSOR, UNKNOWN), Given(TENSOR, UNKNOWN)),
            _grown(_zeros(Given(TENSOR, UNKNOWN)), Given(TENSOR, UNKNOWN), "Tanh-1"),
        ],
    ),
    *beside(
        "variables that keep what does not depend on them",
        others=[Call("Add-1", (BEGUN, DATA), kept=Call("Add-1", (BEGUN, DATA)))],
    ),
    *beside(
        "variables that keep an input",
        falling=[Call("Subtract-1", (INPUT, STATE), kept=INPUT)],
        others=[
            keeping(STATE, INPUT),
            Call("Abs-1", (BEHIND,), kept=BEHIND),
            Call("Subtract-1", (INPUT, STATE), kept=Call("Tanh-1", (INPUT,))),
            Call("Abs-1", (TWICE,), kept=LATEST),
        ],
    ),
    *beside(
        "variables that keep what they begin with",
        others=[Call("Add-1", (BEGUN, DATA), kept=Call("Tanh-1", (DATA,)))],
    ),
    *beside(
        "products with a variable, 2023.1 to 2023.3",
        falling=[
            product(read(SQUARE, "3,3")),
            product(Call("Multiply-1", (Call("Tanh-1", (read(SQUARE, "3,3"),)), Fixed(floats(2))))),
        ],
        others=[
            product(read(SQUARE, "3,3"), first=True),
            product(read(counted(3, 3), "3,3")),
            product(Call("Add-1", (read(SQUARE, "3,3"), counted(3, 3)))),
        ],
    ),
]
