"""Layers beside the rows of layers that move, repeat, cut or pad data."""

from ir_tools.known_differences._model import Call, Fixed, Given, counted, floats, whole
from tests.releases.beside import beside


def _cut(shape: str, start: int, end: int, step: int = 1, axis: int = 1) -> Call:
    """A Slice of data of eight rows of nine numbers."""
    return Call("Slice-8", (Given(counted(8, 9), shape), *(Fixed(whole(one)) for one in (start, end, step, axis))))


def _filled(tensor: Call) -> Call:
    """A tensor of ones of the size of another."""
    size = Call("ShapeOf-3", (tensor,), {"output_type": "i64"})
    return Call("Broadcast-3", (Fixed(floats(1)[0]), size), {"mode": "numpy"})


def _corner(shape: str, end: int) -> Call:
    """A Slice of data of 30 rows of 31 numbers along both axes."""
    return Call("Slice-8", (Given(counted(30, 31), shape), *(Fixed(whole(one, one)) for one in (0, end, 1))))


def _flat(tensor: Call) -> Call:
    return Call("Reshape-1", (tensor, Fixed(whole(-1))), {"special_zero": "false"})


BESIDE = [
    *beside(
        "Slice of the only unknown size",
        falling=[_cut("8,?", 0, -1), _cut("8,2..", 0, -2, 3), _cut("?,9", 0, -2, axis=0), _cut("1..9,?", 0, -2)],
        others=[
            *(_cut("8,?", *limits) for limits in ((0, 5), (1, -2), (-5, -2), (-1, -6, -1), (5, 0, -1))),
            *(_cut(shape, 0, -2) for shape in ("8,9", "8,2..30", "?,?")),
        ],
    ),
    *beside(
        "Slice backwards of the only unknown size",
        falling=[_cut("8,?", -3, 0, -1), _cut("8,2..", -1, 0, -2), _cut("1..9,?", -1, 0, -1)],
        others=[
            *(_cut("8,?", *limits) for limits in ((-2, 1, -1), (5, 0, -1), (0, 5), (-1, -6, -1))),
            *(_cut(shape, -2, 0, -1) for shape in ("8,9", "8,2..30", "?,?")),
        ],
    ),
    *beside(
        "Slice between limits from both ends",
        falling=[_cut("8,2..30", *limits) for limits in ((-3, 20), (-9, 7, 2), (20, -9, -1), (0, -10, -2))],
        others=[
            *(_cut("8,2..30", *limits) for limits in ((3, 20), (-9, -2), (20, 2, -1), (-1, -6, -2))),
            *(_cut(shape, -3, 20) for shape in ("8,9", "8,?", "8,2..", "8,3..12")),
        ],
    ),
    *beside(
        "Slice to an index from the end whose size is read",
        falling=[
            _filled(_cut("?,?", 0, -1)),
            _filled(Call("ReLU-1", (_cut("?,?", 0, -2, axis=0),))),
            Call(
                "Reshape-1", (floats(*range(63)), Call("ShapeOf-1", (_cut("?,?", 0, -2),))), {"special_zero": "false"}
            ),
        ],
        others=[
            _filled(_cut("?,?", 0, 4)),
            _filled(_cut("?,?", 1, -2)),
            _filled(Call("Transpose-1", (Given(counted(8, 9), "?,?"), Fixed(whole(1, 0))))),
            Call("ReLU-1", (_cut("?,?", 0, -2),)),
            Call("ShapeOf-3", (_cut("?,?", 0, -2),), {"output_type": "i64"}),
            _flat(_cut("?,?", 0, -2)),
        ],
    ),
    *beside(
        "Slice of two unknown sizes that is reshaped",
        falling=[_flat(_corner("?,?", -3)), _flat(Call("Abs-1", (_corner("?,?", -3),)))],
        others=[_flat(_corner("?,?", 3)), _corner("?,?", -3), _flat(_corner("30,31", -3)), _flat(_cut("?,?", 0, -3))],
    ),
]
