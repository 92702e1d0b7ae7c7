"""Layers beside the rows of variables, and of layers that read them."""

import numpy as np

from ir_tools.known_differences._model import Call, Feed, Fixed, Given, counted, floats, whole
from ir_tools.known_differences.releases._variables import TENSOR, UNKNOWN, _grown, _shifted, _summed, _variable, _zeros
from tests.releases.beside import beside

ZEROS = Fixed(np.zeros((1, 3), np.float32))
ROW = counted(1, 3)


def read(first: Feed, shape: str) -> Call:
    """A layer that reads a variable of these sizes."""
    return Call("ReadValue-6", (first,), {"variable_id": "v", "variable_type": "f32", "variable_shape": shape})


def keeping(state: Call, kept: Feed) -> Call:
    """The variable as an output, and what it keeps."""
    return Call("Abs-1", (state,), kept={"v": kept})


def product(state: Feed, *, first: bool = False) -> Call:
    """A product with a variable, which keeps itself."""
    inputs = (state, counted(3, 2)) if first else (counted(2, 3), state)
    return Call("MatMul-1", inputs, {"transpose_a": "false", "transpose_b": "false"})


def crossed(kept: dict[str, Feed]) -> Call:
    """The difference of a row and a second variable."""
    return Call("Subtract-1", (ROW, OTHER), kept=kept)


def sized(kept: dict[str, Feed]) -> Call:
    """The sizes of the variable, which are known."""
    return Call("ShapeOf-3", (STATE,), {"output_type": "i64"}, kept=kept)


def softened(data: Feed, kept: dict[str, Feed]) -> Call:
    """A SoftMax along the second axis."""
    return Call("SoftMax-8", (data,), {"axis": "1"}, kept=kept)


def viewed(data: Feed) -> Call:
    """A tensor with an axis more, and without it."""
    return Call("Squeeze-1", (Call("Unsqueeze-1", (data, LEAD)), LEAD))


SQUARE = Fixed(np.zeros((3, 3), np.float32))
STATE = read(ZEROS, "1,3")
OPEN = read(ZEROS, "?,3")
EARLY_OPEN = Call("ReadValue-3", (Given(counted(2, 3), "?,3"),), {"variable_id": "v"})
EARLY = Call("ReadValue-3", (ZEROS,), {"variable_id": "v"})
OTHER = Call("ReadValue-6", (ZEROS,), {"variable_id": "w", "variable_type": "f32", "variable_shape": "1,3"})
FILLED = read(Fixed(ROW / 2), "1,3")
TURNED = Fixed(whole(1, 0))
LEAD = Fixed(whole(0))
SHIFTED = _shifted().kept["v"]
assert SHIFTED is not None
GROWN = _variable(Call("Exp-1", (Given(-TENSOR, UNKNOWN),)))
SUM: dict[str, Feed] = {"v": Call("Add-1", (GROWN, Call("Abs-1", (Given(TENSOR, UNKNOWN),))))}
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
        falling=[
            keeping(OPEN, counted(2, 3)),
            _summed(Given(TENSOR, UNKNOWN), TENSOR),
            keeping(EARLY_OPEN, Call("Add-1", (EARLY_OPEN, counted(2, 3)))),
        ],
        others=[
            _summed(Given(TENSOR, UNKNOWN), Given(TENSOR, UNKNOWN)),
            keeping(STATE, Call("Tanh-1", (ROW,))),
            Call("Abs-1", (CELL,), kept={"v": CELL}),
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
        "Assign-3 of what does not depend on its variable",
        falling=[keeping(EARLY, ROW), keeping(EARLY, Fixed(ROW))],
        others=[keeping(EARLY, Call("Maximum-1", (ROW, EARLY))), keeping(EARLY, EARLY)],
    ),
    *beside(
        "variables that keep what does not depend on them",
        others=[Call("Add-1", (BEGUN, DATA), kept={"v": Call("Add-1", (BEGUN, DATA))})],
    ),
    *beside(
        "variables that keep an input",
        falling=[Call("Subtract-1", (INPUT, STATE), kept={"v": INPUT})],
        others=[
            keeping(STATE, INPUT),
            Call("Abs-1", (BEHIND,), kept={"v": BEHIND}),
            Call("Subtract-1", (INPUT, STATE), kept={"v": Call("Tanh-1", (INPUT,))}),
            Call("Abs-1", (TWICE,), kept={"v": LATEST}),
        ],
    ),
    *beside(
        "variables that keep what they begin with",
        others=[Call("Add-1", (BEGUN, DATA), kept={"v": Call("Tanh-1", (DATA,))})],
    ),
    *beside(
        "variables that nothing keeps, 2024.1 to 2026.4",
        falling=[Call("Add-1", (STATE, ROW), kept={"v": None})],
        others=[Call("Add-1", (STATE, ROW))],
    ),
    *beside(
        "variables that keep what depends on others alone",
        falling=[crossed({"v": Call("Exp-1", (-ROW,)), "w": Call("Tanh-1", (STATE,))})],
        others=[
            crossed({"w": Call("Add-1", (STATE, OTHER))}),
            crossed({"v": Call("Exp-1", (-ROW,)), "w": Call("Tanh-1", (ROW,))}),
        ],
    ),
    *beside(
        "variables that only themselves depend on",
        falling=[
            sized({"v": Call("Transpose-1", (Call("Transpose-1", (STATE, TURNED)), TURNED))}),
            sized({"v": Call("Multiply-1", (STATE, Fixed(floats(1))))}),
        ],
        others=[sized({"v": Call("Multiply-1", (STATE, Fixed(floats(0.5))))}), Call("Abs-1", (STATE,))],
    ),
    *beside(
        "variables that only a normalization reads",
        falling=[
            Call("GRN-1", (FILLED,), {"bias": "1"}),
            softened(Call("Unsqueeze-1", (FILLED, Fixed(whole(2)))), {}),
            softened(FILLED, {"v": Call("Convert-1", (FILLED,), {"destination_type": "f32"})}),
        ],
        others=[
            softened(FILLED, {"v": Call("Tanh-1", (FILLED,))}),
            softened(Call("Transpose-1", (FILLED, TURNED)), {}),
            Call("Add-1", (softened(FILLED, {}), FILLED)),
            Call("LogSoftmax-5", (FILLED,), {"axis": "1"}),
        ],
    ),
    *beside(
        "variables that keep joined parts",
        falling=[
            Call("Abs-1", (SHIFTED,), kept={"v": Call("Squeeze-1", (Call("Unsqueeze-1", (SHIFTED, LEAD)), LEAD))})
        ],
        others=[Call("Abs-1", (SHIFTED,), kept={"v": Call("Maximum-1", (SHIFTED, SHIFTED))})],
    ),
    *beside(
        "normalized variables of unknown sizes",
        falling=[softened(viewed(GROWN), SUM)],
        others=[softened(Call("Tanh-1", (GROWN,)), SUM)],
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
