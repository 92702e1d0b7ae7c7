"""Layers beside the rows of reductions."""

from collections.abc import Sequence

import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, converted, counted, index, number, whole
from ir_tools.known_differences.releases._reduction import _shaped, _unsqueezed
from ir_tools.known_differences.releases._samples import quantized
from ir_tools.ops import Array
from tests.releases.beside import Beside, Feed, beside

NUMBERS = counted(2, 3, 4)
ONE, NONE, END = whole(1), whole(0), whole(-1)


def _reduced(data: Feed, axes: Array, op: str = "ReduceSum-1", keep: str = "false") -> Call:
    return Call(op, (data, Fixed(axes)), {"keep_dims": keep})


def _in_bytes(data: Array, limit: Sequence[object] = (1,), *, levels: int = 255) -> Call:
    """Quantized data, of which a limit is for all or for some of the elements."""
    return quantized(data, Fixed(np.array(limit, np.float32) * 24), levels=levels)


def _in_columns(data: Array, scale: Sequence[object]) -> Call:
    """Quantized data times three rows of i8 constants, which these numbers scale."""
    held = converted(Fixed((np.arange(12) * 37 % 251 - 125).astype(np.int8).reshape(3, 4)), "f32")
    weights = Call("Multiply-1", (held, Fixed(np.array(scale, np.float32))))
    return Call("MatMul-1", (_in_bytes(data), weights), {"transpose_b": "true"})


PARTS = "largest elements of two joined parts, "
JOINED = Call("Concat-1", (Call("Abs-1", (NUMBERS,)), NUMBERS), {"axis": "1"})


def _largest(
    shape: str, count: int = 4, axis: int = 1, along: int = 1, op: str = "ReduceMax-1", keep: str = "true"
) -> Call:
    """The largest elements of a tensor and another one of so many rows."""
    rows = 1 if shape == "2,1,5" else 4
    first = Call("Abs-1", (Given(counted(2, rows, 5), shape),))
    second = Call("Tanh-1", (first,)) if count == rows else counted(2, count, 5) / 7
    joined = Call("Concat-1", (first, second), {"axis": str(axis)})
    return _reduced(joined, whole(along), op, keep)


def _added(data: Call) -> Call:
    return Call("Add-1", (counted(1), data), {"auto_broadcast": "numpy"})


def _logically(axes: Array) -> Call:
    data = _reduced(Fixed(NUMBERS > 1), axes, "ReduceLogicalOr-1", keep="true")
    return Call("LogicalAnd-1", (np.ones(4, np.bool_), data), {"auto_broadcast": "numpy"})


def _twice(first: Array, second: Array, op: str = "ReduceSum-1", keep: str = "false") -> Call:
    return _reduced(_reduced(NUMBERS, first, op, keep), second, op, keep)


def _along(op: str, data: Feed, *axes: int, keep: bool = False) -> Call:
    return _reduced(data, whole(*axes), op, str(keep).lower())


def _scaled(data: Call, numbers: object) -> Call:
    return Call("Add-1", (data, Fixed(np.array(numbers, np.float32))))


def _sloped(slopes: object) -> Call:
    """A PReLU behind a sum of three dimensions."""
    return Call(
        "PReLU-1",
        (_along("ReduceSum-1", -np.ones((2, 3, 4), np.float32), 0, keep=True), Fixed(np.array(slopes, np.float32))),
    )


def _divided(data: Call, root: Call) -> Call:
    return Call("Divide-1", (data, root), {"m_pythondiv": "true"})


def _inverse(root: Call) -> Call:
    return Call("Divide-1", (Fixed(number(1)), root), {"m_pythondiv": "true"})


def _mean_square(
    count: int = 7,
    *,
    axis: int = -1,
    exponent: float = 2,
    rank: int = 3,
    gamma: tuple[int, ...] | None = None,
    how: str = "/",
    half: bool = False,
    centered: bool = False,
) -> Call:
    """Data that are divided by the root of their mean square, in one of several forms, and scaled."""
    data = Call("Abs-1", (counted(*(2, 5, 3, count)[-rank:]),))
    held = Fixed(number(exponent).astype(np.float16)) if half else Fixed(number(exponent))
    if centered:
        data = Call("Subtract-1", (data, _along_of(data, axis)))
    squares = Call("Power-1", (data, converted(held, "f32") if half else held))
    mean = _along_of(squares, axis, keep=how != "unsqueezed")
    if how == "unsqueezed":
        mean = Call("Unsqueeze-1", (mean, Fixed(whole(axis))))
    total = Call("Add-1", (mean, Fixed(number(1e-6))))
    return Call("Multiply-1", (_by_root(data, total, how), Fixed(counted(*((count,) if gamma is None else gamma)))))


def _by_root(data: Call, total: Call, how: str) -> Call:
    """Data that are divided by the root of a sum, in one of several forms."""
    root = Call("Sqrt-1", (total,))
    forms = {
        "/": lambda: _divided(data, root),
        "* 1/": lambda: Call("Multiply-1", (data, _inverse(root))),
        "/ 1/": lambda: _divided(data, _inverse(root)),
        "* 2*": lambda: Call("Multiply-1", (data, Call("Multiply-1", (root, Fixed(number(2)))))),
        "1/ *": lambda: Call("Multiply-1", (_inverse(root), data)),
        "* ^-1": lambda: Call("Multiply-1", (data, Call("Power-1", (root, Fixed(number(-1)))))),
        "* ^-0.5": lambda: Call("Multiply-1", (data, Call("Power-1", (total, Fixed(number(-0.5)))))),
        "/ ^0.5": lambda: _divided(data, Call("Power-1", (total, Fixed(number(0.5))))),
        "unsqueezed": lambda: _divided(data, root),
        "other": lambda: _divided(Call("Tanh-1", (data,)), root),
    }
    return forms[how]()


def _normalized(*sizes: int, axis: int = -1, spread: bool = False, squares: str = "^2", how: str = "/") -> Call:
    """Data less their mean, divided by the root of the mean square of that; the root alone if the `spread` is asked."""
    data = Call("Abs-1", (counted(*sizes),))
    mean = _along_of(data, axis)
    centered = Call("Subtract-1", (data, mean))
    forms = {
        "^2": Call("Power-1", (centered, Fixed(number(2)))),
        "^4": Call("Power-1", (centered, Fixed(number(4)))),
        "*": Call("Multiply-1", (centered, centered)),
        "-": Call("SquaredDifference-1", (data, mean)),
    }
    total = Call("Add-1", (_along_of(forms[squares], axis), Fixed(number(1e-6))))
    return Call("Sqrt-1", (total,)) if spread else _by_root(centered, total, how)


def _total() -> Call:
    return _along("ReduceSum-1", counted(2, 3), 0, 1)


def _combined(other: Array, passed: str | None = None) -> Call:
    """The product of a tensor and a sum, which another layer may read first."""
    return Call("Multiply-1", (other, _total() if passed is None else Call(passed, (_total(),))))


def _shifted(step: Feed) -> Call:
    """Sums along the second of three axes, shifted by a number that a Broadcast repeats to a computed shape."""
    repeated = Call("Broadcast-3", (step, whole(5, 2)), {"mode": "numpy"})
    return Call("Add-1", (repeated, _along("ReduceSum-1", counted(5, 7, 2), 1)))


def _along_of(data: Call, axis: int, *, keep: bool = True) -> Call:
    return Call("ReduceMean-1", (data, Fixed(whole(axis))), {"keep_dims": str(keep).lower()})


SUM = _along("ReduceSum-1", counted(2, 3, 4), 1, keep=True)
MOVED = (
    Call("Transpose-1", (SUM, Fixed(whole(1, 2, 0)))),
    Call("Reshape-1", (SUM, Fixed(whole(-1))), {"special_zero": "false"}),
    Call("Squeeze-1", (SUM, Fixed(whole(1)))),
    Call("Unsqueeze-1", (Call("Unsqueeze-1", (SUM, Fixed(whole(0)))), Fixed(whole(0)))),
    Call("Broadcast-3", (SUM, Fixed(whole(2, 2, 1, 4))), {"mode": "numpy"}),
)
CUT = (
    Call("Tile-1", (SUM, Fixed(whole(1, 2, 1)))),
    Call("StridedSlice-1", (SUM, *map(Fixed, (whole(0), whole(1), whole(1)))), {"begin_mask": "0", "end_mask": "0"}),
)
SHORT_AXIS = "ReduceMax-1 of integers along a short last axis"
MORE_ROWS = "reductions of three axes with more rows than channels, scaled by a number"
MIDDLE = "reductions along the middle axis scaled by a number, kept"


def _of_levels(data: Array, *axes: int, keep: bool = False, low: int = 0, levels: int = 256) -> Call:
    """The sum of quantized data."""
    limits = [Fixed(number(limit)) for limit in (low, 255, low, 255)]
    quantized = Call("FakeQuantize-1", (data, *limits), {"levels": str(levels)})
    return Call("ReduceSum-1", (quantized, Fixed(whole(*axes))), {"keep_dims": str(keep).lower()})


def _turned(data: Feed, *order: int) -> Call:
    return Call("Transpose-1", (data, Fixed(whole(*order))))


LINES = _unsqueezed(counted(2, 5), 2)
ROW = _reduced(counted(1, 3, 2), ONE)
"""Sums along the second axis, of [1,2]."""


BESIDE = [
    *(
        Beside("means of integers", falls, Call("ReduceMean-1", (integers, axis), {"keep_dims": keep}))
        for integers in [np.array([[1, 4], [2, 7]], np.int32)]
        for falls, axis, keep in (
            (True, Fixed(whole(0)), "true"),
            (False, whole(0), "true"),
            (False, whole(1), "false"),
            (False, Given(whole(0), "?"), "true"),
        )
    ),
    *beside(
        "reductions whose output is moved across a dimension of 1",
        falling=[
            _turned(ROW, 1, 0),
            Call("Unsqueeze-1", (Call("Squeeze-1", (ROW, Fixed(NONE))), Fixed(ONE))),
            _shaped(_reduced(Given(counted(1, 3, 2), "?,3,2"), ONE, "ReduceL2-4"), 2, 1),
            _shaped(_reduced(counted(2, 2, 3, 1, 1), whole(0, 2)), 1, 2, 1),
            _turned(_reduced(counted(3, 2, 1, 1), NONE), 1, 0, 2),
            _turned(_reduced(_turned(counted(1, 3, 4, 5), 0, 3, 1, 2), whole(2, 3)), 1, 0),
        ],
        others=[
            _shaped(Call("ReLU-1", (ROW,)), 2, 1),
            _shaped(ROW, 2),
            _shaped(ROW, 1, 2, 1),
            _shaped(_reduced(counted(1, 3, 2), ONE, keep="true"), 2, 1, 1),
            _turned(_reduced(counted(5, 1, 2), NONE), 1, 0),
            _turned(_reduced(counted(2, 3, 3, 1), NONE), 2, 1, 0),
            _shaped(_reduced(counted(3, 5, 1, 1), NONE), 1, 5, 1),
        ],
    ),
    *beside(
        "reductions of data that are moved across a dimension of 1",
        falling=[
            _reduced(_turned(counted(3, 5, 1), 0, 2, 1), NONE),
            _reduced(_turned(counted(1, 2, 5), 2, 1, 0), ONE, "ReduceMax-1"),
        ],
        others=[
            _reduced(_turned(counted(1, 3, 4, 5), 3, 2, 1, 0), whole(1, 2), keep="true"),
            _reduced(_turned(Given(counted(1, 3, 4, 5), "?,3,4,5"), 3, 2, 1, 0), whole(1, 2)),
            _reduced(_turned(counted(1, 5, 3), 1, 0, 2), whole(2)),
            _reduced(_turned(counted(1, 3, 4, 5), 0, 3, 1, 2), whole(2, 3)),
        ],
    ),
    *beside(
        "reductions of data with more dimensions of 1 in front, 2023.3 to 2026.4",
        falling=[_reduced(_shaped(counted(5, 2, 1), 5, 1, 1, 2), whole(3), "ReduceMax-1")],
        others=[
            _reduced(_shaped(counted(3, 1, 1), 1, 1, 3, 1), ONE),
            _reduced(_shaped(counted(3, 1, 1), 3, 1, 1, 1), whole(3)),
            _reduced(_shaped(counted(5, 5, 1), 5, 1, 5), NONE, keep="true"),
        ],
    ),
    *beside(
        "reductions along axes from the end, behind more dimensions of 1",
        falling=[
            _reduced(_shaped(counted(2, 5), 2, 5, 1), whole(-2), "ReduceMax-1", keep="true"),
            _reduced(_unsqueezed(counted(2, 3, 4), 3), whole(-3), "ReduceMean-1", keep="true"),
        ],
        others=[
            _reduced(_unsqueezed(counted(2, 5), 0), whole(-2)),
            _reduced(_unsqueezed(counted(2, 5), 1), END),
            _reduced(_unsqueezed(counted(2, 5), 2), ONE),
            _reduced(_unsqueezed(counted(2, 5), 2), END),
            _reduced(Call("ReLU-1", (_unsqueezed(counted(2, 5), 2),)), whole(-2)),
            _reduced(_unsqueezed(Given(counted(2, 5), "?,5"), 2), whole(-2)),
            Call("Add-1", (_reduced(LINES, whole(-2), keep="true"), LINES)),
        ],
    ),
    *beside(
        "reductions along axes from the end, behind more dimensions of 1 than are before them",
        falling=[_reduced(_shaped(counted(2, 5), 2, 1, 5), whole(-3), "ReduceL1-4", keep="true")],
        others=[_reduced(_unsqueezed(counted(2, 5), 0), whole(-3))],
    ),
    *beside(
        "reductions that keep dimensions in front of unsqueezed ones of 1",
        falling=[
            _reduced(_unsqueezed(counted(2, 5), -1), NONE, "ReduceMax-1", keep="true"),
            Call("ReLU-1", (_reduced(_unsqueezed(counted(2, 3, 2), 2), NONE, keep="true"),)),
        ],
        others=[
            _reduced(_unsqueezed(counted(2, 5), 2), NONE),
            _reduced(_unsqueezed(counted(2, 5), 0), ONE, keep="true"),
            _reduced(_unsqueezed(Given(counted(2, 5), "?,5"), 2), NONE, keep="true"),
            Call("Add-1", (_reduced(LINES, NONE, keep="true"), LINES)),
        ],
    ),
    *beside(
        "reductions that keep dimensions in front of others of 1",
        falling=[_reduced(_shaped(counted(3, 3, 3), 3, 3, 1, 3), whole(0, 3), keep="true")],
        others=[_reduced(_shaped(counted(2, 5), 1, 2, 5), ONE, keep="true")],
    ),
    *beside(
        "root mean squares of fewer than 8 elements, 2024.4 to 2026.2",
        falling=[
            _mean_square(),
            _mean_square(1),
            _mean_square(how="* 1/"),
            _mean_square(how="1/ *"),
            _mean_square(how="* ^-1"),
            _mean_square(half=True),
            _mean_square(rank=2),
            _mean_square(rank=4),
            _mean_square(gamma=()),
            _mean_square(gamma=(1, 1, 7)),
            _mean_square(gamma=(1, 1, 1, 7)),
            _mean_square(how="unsqueezed"),
            _mean_square(how="* 1/", centered=True),
        ],
        others=[
            _mean_square(64),
            _mean_square(exponent=3),
            _mean_square(how="/ ^0.5"),
            _mean_square(how="other"),
            _mean_square(gamma=(3, 7)),
            _mean_square(gamma=(3, 1)),
            _mean_square(gamma=(2, 1, 1, 7)),
            _mean_square(how="/ 1/"),
            _mean_square(how="* 2*"),
            _mean_square(axis=1),
            _mean_square(rank=1),
            _mean_square(centered=True),
            _mean_square(how="* ^-1", centered=True),
        ],
    ),
    *beside(
        "root mean squares of fewer than 8 elements, 2026.2 to 2026.2",
        falling=[
            _mean_square(axis=2),
            _mean_square(how="* ^-0.5"),
            _mean_square(how="* ^-0.5", centered=True),
            _mean_square(axis=2, how="* 1/", centered=True),
        ],
        others=[
            _mean_square(64, axis=2),
            _mean_square(axis=1),
            _mean_square(how="/ ^0.5"),
            _mean_square(axis=2, centered=True),
            _mean_square(axis=2, how="* ^-1", centered=True),
        ],
    ),
    *beside(
        "reductions of four axes with more rows than channels, scaled by a number",
        falling=[
            _scaled(_along("ReduceSum-1", counted(5, 4, 3, 2), 0, 2), [3]),
            _scaled(_along("ReduceMax-1", counted(2, 5, 3, 2, 2), 0), [3]),
        ],
        others=[
            _scaled(_along("ReduceSum-1", counted(2, 3, 4, 5), 0), [3]),
            _scaled(_along("ReduceSum-1", counted(2, 3, 5, 2), 0, 1), [3]),
            _scaled(_along("ReduceSum-1", counted(5, 4, 3, 2), 0, keep=True), [3]),
            _scaled(_along("ReduceSum-1", counted(5, 4, 3, 2), 0, 2, 3), [3]),
            Call("ReLU-1", (_along("ReduceSum-1", counted(5, 4, 3, 2), 0),)),
        ],
    ),
    Beside(SHORT_AXIS, True, _along("ReduceMax-1", counted(16, 4).astype(np.int32) + 1, 1, keep=True)),
    Beside(SHORT_AXIS, False, _along("ReduceMax-1", counted(15, 4).astype(np.int32) + 1, 1, keep=True)),
    Beside(SHORT_AXIS, False, _along("ReduceMax-1", counted(2, 2, 4, 4).astype(np.int32) + 1, 3, keep=True)),
    Beside(MORE_ROWS, False, _scaled(_along("ReduceSum-1", np.ones((2, 2, 4), np.float32), 2), 3)),
    Beside(MORE_ROWS, True, _scaled(_along("ReduceSum-1", counted(5, 2, 3), 2), [[2]])),
    Beside(MORE_ROWS, False, _scaled(_along("ReduceSum-1", counted(5, 2, 3), 2), [[[2]]])),
    Beside(MORE_ROWS, False, _scaled(_along("ReduceSum-1", counted(5, 2, 3), 2), [[[2]], [[3]]])),
    *beside(
        "numbers that reductions give, combined with tensors",
        falling=[
            _combined(counted(2, 3, 4)),
            _combined(counted(1), "ReLU-1"),
            Call(
                "Add-1",
                (Call("Broadcast-3", (_total(), Fixed(whole(2, 3))), {"mode": "numpy"}), counted(2, 3)),
            ),
        ],
        others=[
            _combined(counted(1, 2, 3, 4)),
            _combined(np.array(2, np.float32)),
            Call("Unsqueeze-1", (_total(), Fixed(whole(0)))),
            Call("Add-1", (_along("ReduceSum-1", counted(2, 3), 0, 1, keep=True), counted(3))),
        ],
    ),
    *(Beside(MIDDLE, True, _scaled(one, 3)) for one in MOVED),
    *(Beside(MIDDLE, False, _scaled(one, 3)) for one in CUT),
    Beside(MORE_ROWS, True, _shifted(Fixed(number(3)))),
    Beside(MORE_ROWS, False, _shifted(number(3))),
    *(Beside(MORE_ROWS, False, _normalized(5, 2, 4, how=how)) for how in ("/", "/ ^0.5", "* ^-1")),
    *(Beside(MORE_ROWS, True, _normalized(5, 2, 4, how=how)) for how in ("* ^-0.5", "* 1/", "1/ *")),
    *(Beside(MORE_ROWS, True, _normalized(5, 2, 4, squares=how)) for how in ("^4", "*", "-")),
    Beside(MORE_ROWS, True, _normalized(5, 2, 4, spread=True)),
    Beside(MIDDLE, True, _normalized(2, 3, 4, axis=1)),
    Beside(MIDDLE, True, _normalized(2, 3, 4, axis=1, spread=True)),
    Beside(
        "reductions of 3 dimensions scaled by channel",
        True,
        _scaled(_along("ReduceSum-1", np.ones((2, 3, 4), np.float32), 0, keep=True), [[1], [2], [3]]),
    ),
    Beside(
        "reductions of 4 dimensions scaled by channel",
        True,
        _scaled(_along("ReduceSum-1", np.ones((2, 3, 4), np.float32), 2), [1, 2, 3]),
    ),
    Beside(
        "reductions of 3 dimensions scaled by channel",
        False,
        _scaled(_along("ReduceSum-1", np.ones((2, 3, 4), np.float32), 0), counted(3, 4)),
    ),
    Beside(
        f"{MORE_ROWS}, of integers",
        True,
        Call(
            "Subtract-1",
            (Fixed(np.full((2,), 9, np.int32)), _along("ReduceSum-1", np.ones((5, 2, 4), np.int32), 2, keep=False)),
        ),
    ),
    *beside(
        MIDDLE,
        falling=[
            _along("ReduceMean-1", _in_bytes(NUMBERS), 1, keep=True),
            _along("ReduceMin-1", _in_bytes(NUMBERS, levels=16), 1, keep=True),
            _along("ReduceSum-1", Call("ReLU-1", (_in_bytes(NUMBERS),)), 1, keep=True),
            _along("ReduceSum-1", Call("Divide-1", (_in_bytes(NUMBERS), Fixed(number(0.5)))), 1, keep=True),
            _along("ReduceSum-1", Call("Add-1", (_in_bytes(NUMBERS), NUMBERS)), 1, keep=True),
            _along("ReduceSum-1", _in_columns(NUMBERS, [0.1]), 1, keep=True),
            _along("ReduceSum-1", Call("Add-1", (_in_columns(NUMBERS, [0.1]), Fixed(counted(3)))), 1, keep=True),
        ],
        others=[
            _along("ReduceL1-4", _in_bytes(NUMBERS), 1, keep=True),
            _along("ReduceSum-1", _in_bytes(NUMBERS, levels=100), 1, keep=True),
            _along("ReduceSum-1", _in_bytes(NUMBERS, [[[1], [2], [3]]]), 1, keep=True),
            _along("ReduceSum-1", Call("Exp-1", (_in_bytes(NUMBERS),)), 1, keep=True),
            _along("ReduceSum-1", Call("Multiply-1", (_in_bytes(NUMBERS), Fixed(counted(4)))), 1, keep=True),
            _along("ReduceSum-1", Call("Add-1", (_in_bytes(NUMBERS), Fixed(counted(4)))), 1, keep=True),
            _along("ReduceSum-1", Call("Multiply-1", (_in_bytes(NUMBERS), _in_bytes(NUMBERS))), 1, keep=True),
            _along("ReduceSum-1", _in_columns(NUMBERS, [[0.1], [0.2], [0.3]]), 1, keep=True),
        ],
    ),
    *beside(
        "reductions of 2 dimensions scaled by channel",
        falling=[
            _along("ReduceSum-1", _in_columns(NUMBERS[0], [[0.1], [0.2], [0.3]]), 0, keep=True),
            _along("ReduceMax-1", _in_columns(NUMBERS[0], [[0.1], [0.2], [0.3]]), 0),
            _along("ReduceMean-1", Call("ReLU-1", (_in_columns(NUMBERS[0], [[0.1], [0.2], [0.3]]),)), 0),
            _along("ReduceSum-1", _in_bytes(NUMBERS[0], [1, 2, 3, 4]), 0),
        ],
        others=[
            _along("ReduceSum-1", _in_columns(NUMBERS[0], [[0.1], [0.2], [0.3]]), 1, keep=True),
            _along("ReduceSum-1", _in_columns(NUMBERS[0], [0.1]), 0, keep=True),
            _along("ReduceSum-1", _in_bytes(NUMBERS[0], [[1], [2], [3]]), 0),
        ],
    ),
    *beside(
        "reductions of 3 dimensions scaled by channel",
        falling=[_along("ReduceSum-1", _in_bytes(NUMBERS, [[[1], [2], [3]]]), axis) for axis in (0, 2)],
        others=[_along("ReduceSum-1", _in_bytes(NUMBERS, [1, 2, 3, 4]), 0)],
    ),
    *beside(
        "reductions of 3 dimensions scaled by channel",
        falling=[_sloped([1, 2, 3]), _sloped([[[1], [2], [3]]])],
        others=[_sloped([[1, 2, 3, 4]])],
    ),
    Beside("reductions along no axis", False, _along("ReduceSum-1", number(3))),
    *beside(
        "reductions in a row by numbers",
        falling=[
            _twice(index(2), NONE),
            _twice(ONE, index(0), "ReduceL2-4"),
            _twice(index(0), index(1), keep="true"),
            _twice(whole(2), NONE.astype(np.int32)),
            _twice(ONE.astype(np.int32), ONE, "ReduceMax-1", keep="true"),
        ],
        others=[
            _twice(ONE, NONE),
            _twice(NONE, NONE.astype(np.int32)),
            _twice(index(0), index(0)),
            _reduced(_reduced(NUMBERS, index(1), "ReduceMax-1"), index(0)),
            _reduced(_reduced(NUMBERS, index(1), keep="true"), index(0)),
            _reduced(Call("Abs-1", (_reduced(NUMBERS, index(1)),)), index(0)),
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
    *beside(
        "reductions of constants along axes from the end",
        falling=[_added(_reduced(Fixed(NUMBERS), whole(0, -2), "ReduceMean-1", keep="true"))],
        others=[
            _added(_reduced(Fixed(NUMBERS), whole(-3), keep="true")),
            _added(_reduced(Fixed(NUMBERS), ONE, keep="true")),
            _added(_reduced(NUMBERS, END, keep="true")),
        ],
    ),
    *beside(
        "logical reductions of constants along axes from the end",
        falling=[_logically(whole(-3)), _logically(whole(0, -1))],
        others=[_logically(ONE)],
    ),
    *beside(
        PARTS + "kept",
        falling=[
            _largest("2,4,5", op="ReduceMin-1"),
            _largest("2,4,5", along=-2),
            _largest("?,?,?"),
            _largest("2,4,5", count=1),
        ],
        others=[
            _largest("2,4,5", op="ReduceProd-1"),
            _largest("2,4,5", axis=-2),
            _largest("2,4,5", along=2),
            _largest("2,1,5", count=1),
            _reduced(JOINED, whole(1, 2), "ReduceMax-1", "true"),
            _reduced(Call("Concat-1", (NUMBERS, JOINED, NUMBERS), {"axis": "1"}), ONE, "ReduceMax-1", "true"),
        ],
    ),
    *beside(
        PARTS + "not kept", falling=[_largest("2,4,5", keep="false")], others=[_largest("2,1,5", count=1, keep="false")]
    ),
    *beside(PARTS + "dynamic", falling=[_largest("2,4,?", keep="false")]),
    *beside(PARTS + "dynamic, 2022", falling=[_largest("?,4,5", keep="false")]),
    *beside(PARTS + "not kept, newer", falling=[_largest("?,4,?", keep="false")]),
    *beside(PARTS + "of unknown size", falling=[_largest("?,?,?", keep="false")], others=[_largest("2,4,5")]),
    *beside(PARTS + "unequal", falling=[_largest("2,4,5", count=3, keep="false")], others=[_largest("2,4,5")]),
    *beside(
        "sum of quantized data, 2021.3 to 2021.4",
        falling=[
            _of_levels(counted(3, 4, 5), 1, keep=True),
            _of_levels(counted(3, 4, 5, 6) % 11, 2, 3),
            _of_levels(counted(3, 4, 5, 6) % 11, 2, 3, keep=True, low=-255),
            _of_levels(counted(3, 4), 1, keep=True),
        ],
        others=[
            _of_levels(counted(3, 4, 5, 6) % 11, 2, 3, keep=True),
            _of_levels(counted(3, 4, 5), 2),
            _of_levels(counted(3, 4, 5), 1, levels=100),
            _of_levels(counted(3, 4), 1),
        ],
    ),
]
