"""Layers beside the rows of conversions."""

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, converted, floats, index, whole
from tests.releases.beside import Feed, beside

DATA = floats(0, 3, 1, 0)


def _boolean(data: Feed) -> Call:
    return converted(data, "boolean")


def _number(data: Feed, kind: str = "i32") -> Call:
    return converted(data, kind)


def _halves(gives: int, data: Feed = DATA) -> Call:
    return Call("Split-1", (data, Fixed(index(0))), {"num_splits": "2"}, gives=gives)


def _parts(gives: int, *lengths: int) -> Call:
    return Call("VariadicSplit-1", (DATA, Fixed(index(0)), Fixed(whole(*lengths))), gives=gives)


def _sorted(gives: int) -> Call:
    raw = {"axis": "0", "mode": "max", "sort": "value", "index_element_type": "i32"}
    return Call("TopK-3", (DATA, Fixed(index(3))), raw, gives=gives)


def _reshaped(data: Call) -> Call:
    return Call("Reshape-1", (data, Fixed(whole(2, -1))), {"special_zero": "false"})


TESTED = _boolean(Call("Abs-1", (DATA,)))
BESIDE = [
    *beside(
        "conversion of numbers of floats to boolean",
        falling=[
            _number(_reshaped(TESTED)),
            _number(Call("Concat-1", (TESTED, TESTED), {"axis": "0"}), "f16"),
            Call("Add-1", (_number(TESTED, "f32"), Call("Select-1", (TESTED, DATA, Fixed(floats(7)))))),
        ],
        others=[
            TESTED,
            _number(Call("LogicalNot-1", (TESTED,))),
            _number(Call("LogicalAnd-1", (TESTED, TESTED))),
            Call("Select-1", (TESTED, DATA, Fixed(floats(7)))),
        ],
    ),
    *beside(
        "conversion of numbers of integers to boolean", falling=[_number(_boolean(_number(TESTED.inputs[0], "u8")))]
    ),
    *beside(
        "conversion of a later output of floats to boolean",
        falling=[_boolean(_halves(1)), Call("ConvertLike-1", (_halves(1), Fixed(np.array(True))))],
        others=[_boolean(_halves(0)), _boolean(_reshaped(_halves(1))), _boolean(Call("ReLU-1", (_halves(1),)))],
    ),
    *beside(
        "conversion of a later output of integers to boolean",
        falling=[_boolean(_halves(1, _number(DATA, "u8")))],
        others=[_number(_halves(1, _number(DATA, "i64")))],
    ),
    *beside(
        "conversion of an output of a TopK, VariadicSplit or LSTMSequence of floats to boolean",
        falling=[_boolean(_parts(0, 4)), _boolean(_parts(0, 1, 3)), _boolean(_sorted(0))],
        others=[_boolean(_reshaped(_parts(1, 2, 2))), _boolean(Call("ReLU-1", (_sorted(0),)))],
    ),
    *beside(
        "conversion of an output of a TopK, VariadicSplit or LSTMSequence of integers to boolean",
        falling=[_boolean(_sorted(1))],
    ),
]
