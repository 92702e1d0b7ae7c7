"""Layers beside the rows of layers that move, repeat, cut or pad data."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ir_tools.known_differences._model import (
    Call,
    Fixed,
    Given,
    converted,
    counted,
    floats,
    index,
    number,
    sizes_of,
    whole,
)
from ir_tools.known_differences.releases._moving import AS_FEW, _in_blocks, _in_shape_of
from ir_tools.known_differences.releases._moving import FEW as KEYS
from ir_tools.known_differences.releases._samples import PLAIN
from ir_tools.ops import Array
from tests.releases.beside import Beside, Feed, beside


def _cut(shape: str, start: int, end: int, step: int = 1, axis: int = 1) -> Call:
    """A Slice of data of eight rows of nine numbers."""
    return Call("Slice-8", (Given(counted(8, 9), shape), *(Fixed(whole(one)) for one in (start, end, step, axis))))


def _sized(data: Feed, shape: Feed) -> Call:
    return Call("Reshape-1", (data, shape), {"special_zero": "false"})


def _of_parts(combined: Callable[[Call, Call], Call], shape: str = "4,3") -> Call:
    """What is computed of two parts of four rows."""
    first = Call("Split-1", (Given(counted(4, 3), shape), Fixed(index(0))), {"num_splits": "2"})
    return combined(first, replace(first, gives=1))


def _squared(data: Call) -> Call:
    return Call("Multiply-1", (data, data))


def _activated(data: Call) -> Call:
    return Call("Multiply-1", (_one_of(data), data))


def _one_of(data: Call) -> Call:
    return Call("Tanh-1", (data,))


def _scaled(data: Call) -> Call:
    return Call("Multiply-1", (data, Fixed(counted(2, 1))))


def _filled(tensor: Call, *axes: int) -> Call:
    """A tensor of ones of the size of another, or of the sizes of some of its axes."""
    size = Call("Gather-8", (sizes_of(tensor), Fixed(whole(*axes)), Fixed(index(0)))) if axes else sizes_of(tensor)
    return Call("Broadcast-3", (Fixed(floats(1)[0]), size), {"mode": "numpy"})


def _corner(shape: str, end: int) -> Call:
    """A Slice of data of 30 rows of 31 numbers along both axes."""
    return Call("Slice-8", (Given(counted(30, 31), shape), *(Fixed(whole(one, one)) for one in (0, end, 1))))


def _flat(tensor: Call) -> Call:
    return Call("Reshape-1", (tensor, Fixed(whole(-1))), {"special_zero": "false"})


def _strided(shape: str, **masks: str) -> Call:
    data = Given(counted(2, 3, 4), shape)
    return Call("StridedSlice-1", (data, *(Fixed(whole(one, one)) for one in (0, 1, 1))), masks)


def _product_and_sum(data: Call) -> Call:
    return Call("Add-1", (Call("Multiply-1", (data, Fixed(floats(2)))), Fixed(floats(2))))


def _repeated(*sizes: int) -> Call:
    """Ones of a rank, repeated along the axis before the last one, and combined with another tensor."""
    ones = counted(*(1 for _ in sizes[:-1]), sizes[-1])
    return Call("Add-1", (Call("Broadcast-1", (ones, Fixed(whole(*sizes))), {"mode": "numpy"}), Fixed(floats(2))))


def _lengths(axis: int, *lengths: int) -> Call:
    data = counted(2, 6)
    return Call("VariadicSplit-1", (data, Fixed(index(axis)), Fixed(whole(*lengths))), results=(0,))


def _halves(axis: int, *sizes: int, part: int = 1, shape: str = "") -> Call:
    data = Given(counted(*sizes), shape) if shape else counted(*sizes)
    return Call("Split-1", (data, Fixed(index(axis))), {"num_splits": "2"}, gives=part)


def _reshaped(part: Call, shape: Feed | None = None) -> Call:
    """Half of 48 elements in another shape, which may be computed."""
    return Call("Reshape-1", (part, Fixed(whole(4, 6)) if shape is None else shape), {"special_zero": "false"})


def _reduced(data: Call, op: str = "ReduceMax-1") -> Call:
    return Call(op, (data, Fixed(whole(1))), {"keep_dims": "false"})


def _joined(part: Call, other: Feed, axis: int) -> Call:
    return Call("Concat-1", (other, part), {"axis": str(axis)})


def _less_one() -> Call:
    """A slice to an end that is computed of the size of data, which the constant that is its axis scales."""
    data, axis = Call("ReLU-1", (Given(counted(2, 6), "2,?"),)), Fixed(whole(1))
    scaled = Call("Multiply-1", (data, Call("Convert-1", (axis,), {"destination_type": "f32"})))
    size = Call("Gather-8", (sizes_of(scaled), Fixed(whole(1)), Fixed(index(0))))
    return Call("Slice-8", (data, Fixed(whole(0)), Call("Subtract-1", (size, Fixed(whole(2)))), Fixed(whole(1)), axis))


def _quantized(*sizes: int) -> Call:
    limits = (Fixed(floats(limit)) for limit in (-1, 1, -1, 1))
    return Call("FakeQuantize-1", (np.sin(counted(*sizes)), *limits), {"levels": "256"})


CONVOLUTION = ("strides", "pads_begin", "pads_end", "dilations")
COLUMN = counted(1, 8, 1)


def _turned(data: Feed, *order: int) -> Call:
    return Call("Transpose-1", (data, Fixed(whole(*order))))


def _filtered(data: Feed, type: str = "Convolution", *, filters: Array | None = None) -> Call:
    """What a convolution gives, of filters of one element."""
    filters = counted(8, 8, 1) / 9 if filters is None else filters
    spatial = 3 if type == "GroupConvolution" else 2
    raw = {name: ",".join("0" if "pads" in name else "1" for _ in filters.shape[spatial:]) for name in CONVOLUTION}
    return Call(f"{type}-1", (data, Fixed(filters)), raw)


def _multiplied(first: Feed, second: Feed) -> Call:
    return Call("MatMul-1", (first, second), {"transpose_a": "false", "transpose_b": "false"})


def _linear(data: Feed) -> Call:
    return _multiplied(data, Fixed(counted(8, 8) / 9))


ROW = _turned(_filtered(COLUMN), 0, 2, 1)
"""What a convolution gives of one column, as a row."""


def _residual(source: Call, *order: int, joined: str = "Add-1", last: bool = False) -> Call:
    """The join of a transposed tensor with a product of it."""
    row = _turned(source, *order)
    return _together(*((_linear(row), row) if last else (row, _linear(row))), joined)


def _together(first: Feed, second: Feed, type: str = "Add-1") -> Call:
    return Call(type, (first, second), {"axis": "2"} if type == "Concat-1" else {})


REDUCED = "parts of a split that are reshaped and reduced"
INTERLEAVED = "parts of a split that are joined along an earlier axis"
TURNED = "an output that is transposed behind a FakeQuantize"
ONE_SHIFT = "Roll of several axes by one shift, 2022.2 to 2026.4"


def _backwards(shape: str, begin: Sequence[int], end: Sequence[int], strides: Sequence[int], end_mask: str) -> Call:
    """A StridedSlice of [2,3,5] whose begin is open where that is 0."""
    limits = (Fixed(whole(*numbers)) for numbers in (begin, end, strides))
    masks = {"begin_mask": ",".join(str(int(not number)) for number in begin), "end_mask": end_mask}
    return Call("StridedSlice-1", (Given(counted(2, 3, 5), shape), *limits), masks)


BACKWARDS = _backwards("2,?,5", (0, 0, 0), (0, 0, 0), (1, -1, 1), "1,1,1")
CUT_BEHIND = "StridedSlice that inserts an axis before one that it cuts"
REPEATED = "Broadcast-1 that repeats data before an elementwise layer"
MASKED = Call(
    "StridedSlice-1",
    (counted(2, 3), *(Fixed(whole(one, one)) for one in (0, 2, 1))),
    {"begin_mask": "0,0", "end_mask": "0,0", "shrink_axis_mask": "0,1"},
)
NEGATED, TWO = Call("Negative-1", (MASKED,)), Fixed(floats(2))
EVERYTHING = (1 << 31) - 1


def _rotated(
    *sizes: int, cut: int, axis: int = -1, joined: str = "-1", others: bool = False, scale: str = "Multiply-1"
) -> Call:
    """A rotary embedding whose first part has `cut` elements; `others`: another tensor is multiplied and added.

    `scale`: the layer that takes the tensor itself and constants.
    """
    data = Call("Tanh-1", (np.cos(counted(*sizes)).astype(np.float32),))
    start, middle, end, step, along = (Fixed(whole(one)) for one in (0, cut, EVERYTHING, 1, axis))
    parts = [Call("Slice-8", (data, begin, stop, step, along)) for begin, stop in ((middle, end), (start, middle))]
    turned = Call("Concat-1", (Call("Negative-1", (parts[0],)), parts[1]), {"axis": joined})
    scales = [Fixed(np.sin(counted(sizes[-1]) + number).astype(np.float32)) for number in (0, 1)]
    other = Call("Sigmoid-1", (data,)) if others else data
    return Call("Add-1", (Call(scale, (other, scales[0])), Call("Multiply-1", (turned, scales[1]))))


def _rotations(rank: int) -> Iterator[Beside]:
    sizes = (1, 2, 5)[: rank - 1]
    return beside(
        f"unequal parts that are turned, {rank} dimensions",
        falling=[_rotated(*sizes, 5, cut=2), _rotated(*sizes, 4, cut=1)],
        others=[
            _rotated(*sizes, 4, cut=2),
            _rotated(*sizes, 5, cut=2, joined=str(rank - 1)),
            _rotated(*sizes, 5, cut=2, others=True),
            _rotated(*sizes, 5, cut=2, scale="Add-1"),
            _rotated(1, *sizes, 5, cut=2, joined=str(rank)),
        ],
    )


def _sequence(
    *activations: str,
    steps: int = 5,
    rows: int = 3,
    own: bool = False,
    read: bool = False,
    sized: bool = False,
    shape: str = "",
) -> Call:
    """A sequence of transposed data; of the order of its own or of what swaps the axes of another tensor, too."""
    order, other = Fixed(whole(1, 0, 2)), Fixed(whole(1, 0, 2))
    numbers = counted(steps, rows, 4) / 9
    data = Call("Transpose-1", (Given(numbers, shape or f"{steps},{rows},4"), order), results=(0,) if read else None)
    for activation in activations:
        data = Call(activation, (data,))
    weights = (Fixed(counted(*sizes)) for sizes in ((1, 2, 4), (1, 2, 2), (1, 2)))
    given = Call(
        "RNNSequence-5",
        (data, Fixed(counted(rows, 1, 2)), Fixed(np.full(rows, steps)), *weights),
        {"hidden_size": "2", "direction": "forward", "activations": "tanh"},
    )
    swapped = Call("Transpose-1", (counted(steps, rows, 2), other if own else order))
    total = Call("Add-1", (Call("Squeeze-1", (given, Fixed(whole(1)))), swapped))
    if not sized:
        return total
    size = Call("ReduceProd-1", (sizes_of(data), Fixed(whole(0))), {"keep_dims": "true"})
    return Call("Add-1", (total, converted(size, "f32")))


def _scaled_twice(data: Array) -> Call:
    """Data that a number scales and a list shifts."""
    return Call("Add-1", (Call("Multiply-1", (data, Fixed(floats(2)))), Fixed(counted(4))))


FIRST = Call("ReLU-1", (counted(1, 2, 4),), results=(0,))
"""A tensor that is an output of the model."""
ALONE = Call("ReLU-1", (counted(1, 2, 4),))


def _shown(shape: str) -> Call:
    return Call("ReLU-1", (Given(counted(2, 3), shape, shown=True),))


GATHERED = "Slice before a GatherElements along another axis"


def _gathered(
    shape: str, start: int = 0, end: int = 3, step: int = 1, axis: int = 1, columns: int = 3, op: str = "Slice-8"
) -> Call:
    """Elements of some of five columns, gathered along an axis."""
    data = Given(counted(1, 6, 5), shape)
    if op == "Slice-8":
        limits, raw = [whole(one) for one in (start, end, step, 2)], dict[str, str]()
    else:
        limits = [whole(0, 0, start), whole(0, 0, end), whole(1, 1, step)]
        raw = {"begin_mask": "1,1,0", "end_mask": "1,1,0"}
    part = Call(op, (data, *map(Fixed, limits)), raw)
    return Call("GatherElements-6", (part, Fixed(np.zeros((1, 6, columns), np.int64))), {"axis": str(axis)})


def _limited(start: int = 0, least: int = 0) -> tuple[Call, Call]:
    """Rows of an unknown number, and as many columns of a tensor that has up to nine."""
    rows = Call("Tanh-1", (Given(counted(1, 2, 5, 6), "1,2,?,6"),))
    size = Call("Gather-8", (sizes_of(rows), Fixed(whole(2)), Fixed(index(0))))
    end = Call("Add-1", (size, Fixed(whole(1)))) if start else size
    limits = (Fixed(whole(start)), end, Fixed(whole(1)), Fixed(whole(3)))
    return rows, Call("Slice-8", (Given(counted(1, 2, 6, 7), f"1,2,?,{least}..9"), *limits))


def product_of_rows(first: Feed, second: Feed, transposed: str = "true") -> Call:
    return Call("MatMul-1", (first, second), {"transpose_a": transposed, "transpose_b": transposed})


def _half_as(data: Call) -> Call:
    """Return halves, as many as elements of data."""
    return Call("Broadcast-3", (Fixed(floats(0.5)), sizes_of(data)), {"mode": "numpy"})


ROWS, FEW = _limited()
DOUBLE_ROWS, HALVES = Call("Multiply-1", (ROWS, Fixed(floats(2)))), _half_as(ROWS)
COUNT = Call("Gather-8", (sizes_of(ROWS), Fixed(index(2)), Fixed(index(0))))
SHAPE = Call(
    "Concat-1", (Fixed(whole(1, 2)), Call("Unsqueeze-1", (COUNT, Fixed(whole(0)))), Fixed(whole(6))), {"axis": "0"}
)
OF_A_SIZE = _sized(Given(counted(1, 2, 5, 6), "1,2,?,6"), SHAPE)
"""Data in a shape that is computed of the size of the rows."""
PLACES = Call(
    "Tile-1",
    (
        Call(
            "Unsqueeze-1",
            (Call("Range-4", (Fixed(index(0)), COUNT, Fixed(index(1))), {"output_type": "f32"}), Fixed(whole(0, 1, 3))),
        ),
        Fixed(whole(1, 2, 1, 1)),
    ),
)
"""The numbers of the rows."""


def _concat(first: Feed, *others: Feed, axis: int = 1) -> Call:
    return Call("Concat-1", (first, *others), {"axis": str(axis)})


def _half_of(data: Call) -> Call:
    """Return the second half along axis 1."""
    return Call("Split-1", (data, Fixed(index(1))), {"num_splits": "2"}, gives=1)


def _probable(data: Call, rank: int = 3) -> Call:
    return Call("SoftMax-1", (data,), {"axis": str(rank - 1)})


def _normal(data: Call) -> Call:
    return Call("MVN-6", (data, Fixed(whole(-1))), {"eps": "1e-6", "eps_mode": "inside_sqrt"})


def _grown(data: Call) -> Call:
    return Call("GRN-1", (data,), {"bias": "0.1"})


def _in_shape(data: Call, *sizes: int) -> Call:
    return Call("Reshape-1", (data, Fixed(whole(*sizes))), {"special_zero": "false"})


def _added(data: Feed, normalized: Feed) -> Call:
    """The sum of a tensor and the mean of what is computed of it."""
    mean = Call("ReduceMean-1", (normalized, Fixed(whole(1))), {"keep_dims": "true"})
    return Call("Add-1", (data, mean))


def _updated(data: Call, row: int, rank: int = 3) -> Call:
    """Data with another number at the beginning of a row."""
    one = (1,) * rank
    numbers = (np.full(one, row), np.full(one, 9, np.float32), index(rank - 2))
    return Call("ScatterElementsUpdate-3", (data, *map(Fixed, numbers)))


def _of_rank_4(axis: int = 1) -> tuple[Call, Array]:
    """Two parts, of which the first is an output of the model."""
    sizes = (1, 2, 3, 2) if axis == 1 else (2, 2, 3, 2)
    return Call("ReLU-1", (counted(*sizes),), results=(0,)), counted(*sizes)


REST = counted(1, 3, 4)


def _padded(data: Feed, before: Feed, behind: Feed, op: str = "Pad-1", **more: str) -> Call:
    return Call(op, (data, before, behind), {"pad_mode": "constant"} | more)


LENGTH, SHORT, NONE = *(sizes_of(Given(counted(3), size)) for size in ("?", "..9")), Fixed(whole(0))
BOTH = Call("Concat-1", (NONE, LENGTH), {"axis": "0"})


def _both_ways(shape: Feed, mode: str = "bidirectional") -> Call:
    """A tensor repeated to a shape, and joined with another."""
    repeated = Call("Broadcast-3", (Call("ReLU-1", (counted(2, 1, 4),)), shape), {"mode": mode})
    return _concat(repeated, Fixed(counted(2, 3, 4)), axis=2)


def _own_shape(type: str, *others: Feed) -> Call:
    return Call(type, (Call("Broadcast-3", (counted(2, 3), Fixed(whole(2, 3))), {"mode": "numpy"}), *others))


THREE = _concat(Fixed(whole(1)), *(Fixed(whole(size)) for size in (3, 1)), axis=0)
WHOLE = _concat(Fixed(whole(2)), *(Fixed(whole(size)) for size in (3, 4)), axis=0)


def _moved(data: Call, *order: int, results: tuple[int, ...] | None = None) -> Call:
    """A Transpose, of the only axis if no order is given."""
    return Call("Transpose-1", (data, Fixed(whole(*(order or (0,))))), results=results)


LIST, TABLE = (Call("Abs-1", (counted(*sizes),)) for sizes in ((3,), (3, 3)))
GIVEN = replace(LIST, results=(0,))
PART = Call("Split-1", (counted(4), Fixed(index(0))), {"num_splits": "2"}, results=(1,))
BESIDE = [
    *beside(
        "Tile by no repeats, 2026.4 to 2026.4",
        falling=[
            Call("Tile-1", (Given(counted(2, 3), "?,?"), Fixed(whole()))),
            Call("Tile-1", (number(3), Fixed(whole()))),
        ],
        others=[Call("Tile-1", (counted(2, 3), Fixed(whole(1))))],
    ),
    *beside(
        "SpaceToBatch with pads below 0",
        falling=[_in_blocks(counted(1, 2, 6, 6), 0, 0, -2, -2)],
        others=[_in_blocks(counted(1, 2, 4, 4), 0, 0, 2, 0)],
    ),
    *beside(
        "SpaceToBatch with pads below 0 along an axis without blocks",
        falling=[_in_blocks(counted(1, 2, 4, 4), 0, 0, 0, 0, end=(0, -1, 0, 0))],
        others=[_in_blocks(counted(1, 2, 4, 4), 0, 1, 0, 0)],
    ),
    *beside(
        "a list that is given, and transposed in its only axis, 2021.2 to 2025.0",
        falling=[
            _moved(GIVEN),
            _moved(replace(GIVEN, inputs=(Given(counted(3), "?"),))),
            Call("Add-1", (_moved(GIVEN, results=(0,)), Fixed(floats(1)))),
        ],
        others=[
            Call("Add-1", (_moved(GIVEN), Fixed(floats(1)))),
            Call("Add-1", (_moved(LIST, results=(0,)), _moved(LIST))),
            _moved(LIST),
            _moved(replace(GIVEN, inputs=(counted(2, 3),)), 1, 0),
        ],
    ),
    *beside(
        "a list that others read, and transposed in its only axis",
        falling=[Call("Add-1", (_moved(LIST, results=(0,)), _moved(LIST)))],
        others=[
            Call("Add-1", (_moved(LIST), _moved(LIST))),
            Call("Negative-1", (_moved(LIST, results=(0,)),)),
            Call("Add-1", (_moved(TABLE, 1, 0, results=(0,)), Call("Tanh-1", (TABLE,)))),
            _moved(Call("Add-1", (LIST, LIST))),
        ],
    ),
    *beside(
        "a part that is transposed in its only axis, 2022.1 to 2025.0",
        falling=[
            _moved(PART),
            _moved(replace(PART, gives=1, results=None)),
            _moved(Call("TopK-11", (counted(4), Fixed(index(2))), {"axis": "0", "mode": "max", "sort": "value"})),
        ],
        others=[
            Call("Negative-1", (_moved(PART),)),
            _moved(replace(PART, inputs=(counted(4, 2), PART.inputs[1])), 1, 0),
        ],
    ),
    *beside(
        "Broadcast both ways to sizes",
        falling=[_both_ways(THREE)],
        others=[
            _both_ways(Fixed(whole(1, 3, 1))),
            _both_ways(_concat(Fixed(whole(1)), Fixed(whole(3, 1)), axis=0)),
            _both_ways(WHOLE),
            _both_ways(WHOLE, "numpy"),
            Call("Abs-1", _both_ways(THREE).inputs[:1]),
        ],
    ),
    *beside(
        "Broadcast of an input to its own shape",
        falling=[_own_shape("Abs-1")],
        others=[
            _own_shape("Add-1", counted(2, 3)),
            Call("Broadcast-3", (counted(2, 1), Fixed(whole(2, 3))), {"mode": "numpy"}),
            Call("Broadcast-3", (Call("ReLU-1", (counted(2, 3),)), Fixed(whole(2, 3))), {"mode": "numpy"}),
        ],
    ),
    *beside(
        "Reshape of constants to computed sizes",
        falling=[
            _sized(Call("Abs-1", (Fixed(counted(2, 3)),)), whole(3, 2)),
            _sized(Fixed(counted(6)), sizes_of(Given(counted(3, 2), "?,?"))),
        ],
        others=[
            _sized(counted(2, 3), whole(3, 2)),
            _sized(Fixed(counted(6)), sizes_of(counted(3, 2))),
            _sized(Call("Gather-8", (Fixed(counted(2, 3)), index(1), Fixed(index(0)))), whole(3, 1)),
        ],
    ),
    *beside(
        "Split whose parts are mistaken for each other",
        falling=[
            _of_parts(lambda first, second: Call("Add-1", (first, _squared(second)))),
            _of_parts(lambda first, second: Call("Multiply-1", (_activated(first), _activated(second)))),
            _of_parts(lambda first, second: Call("Add-1", (first, Call("Multiply-1", (_scaled(second), second))))),
        ],
        others=[
            _of_parts(lambda first, second: Call("Add-1", (_squared(first), second))),
            _of_parts(lambda first, second: Call("Add-1", (first, second))),
            _of_parts(lambda first, second: Call("Subtract-1", (first, _squared(second)))),
            _of_parts(lambda first, second: Call("Multiply-1", (first, Call("Multiply-1", (second, _one_of(second)))))),
            _of_parts(
                lambda first, second: Call("Add-1", (first, Call("Multiply-1", (Call("Sin-1", (second,)), second))))
            ),
            _of_parts(lambda first, second: Call("Add-1", (first, _squared(second))), "?,3"),
        ],
    ),
    *beside(
        "Pad by unlimited sizes on both sides",
        falling=[
            _padded(Fixed(counted(2)), LENGTH, LENGTH, "Pad-12"),
            _padded(counted(2), LENGTH, LENGTH, pad_mode="edge"),
            _padded(Given(counted(2), "1..9"), LENGTH, LENGTH),
            _padded(Given(counted(2, 4), "?,4"), BOTH, BOTH),
            _padded(counted(2), LENGTH, Call("Subtract-1", (LENGTH, Fixed(whole(1)))), "Pad-12"),
        ],
        others=[
            _padded(counted(2), LENGTH, NONE),
            _padded(counted(2), NONE, LENGTH),
            _padded(Given(counted(2), "?"), LENGTH, LENGTH),
            _padded(Given(counted(4, 2), "4,?"), BOTH, BOTH),
            _padded(counted(2), whole(1), whole(2)),
            _padded(counted(2), SHORT, SHORT),
        ],
    ),
    *_rotations(3),
    *_rotations(4),
    *beside(
        "VariadicSplit with an empty part",
        falling=[_lengths(1, 2, 0, 4), _lengths(-1, 6, 0)],
        others=[_lengths(0, 2, 0), _lengths(1, 2, 4)],
    ),
    *beside(
        REDUCED,
        falling=[
            _reduced(_reshaped(_halves(2, 2, 4, 6, part=0))),
            _reduced(_reshaped(_halves(0, 2, 4, 6)), "ReduceL2-4"),
            _reduced(_reshaped(_halves(1, 2, 4, 6)), "ReduceSum-1"),
        ],
        others=[
            _reshaped(_halves(2, 2, 4, 6)),
            _reduced(_halves(2, 2, 4, 6)),
            _reduced(Call("ReLU-1", (_reshaped(_halves(2, 2, 4, 6)),))),
            _reduced(Call("Unsqueeze-1", (_halves(2, 2, 4, 6), Fixed(whole(0))))),
            _reduced(_reshaped(_halves(2, 2, 4, 6), whole(4, 6))),
            _reduced(_reshaped(_halves(2, 2, 4, 6, shape="2,4,?"))),
        ],
    ),
    *beside(
        INTERLEAVED,
        falling=[
            _joined(_halves(2, 2, 4, 6, part=0), counted(2, 4, 3), 1),
            _joined(_halves(-1, 2, 4, 6), counted(2, 4, 3), -2),
            _joined(_halves(3, 2, 1, 3, 4), counted(2, 1, 3, 2), 1),
            Call("ReLU-1", (_joined(_halves(2, 2, 4, 6), Fixed(counted(2, 4, 3)), 1),)),
        ],
        others=[
            _joined(_halves(2, 1, 4, 6), counted(1, 4, 3), 1),
            _joined(_halves(2, 2, 1, 6), counted(2, 1, 3), 1),
            _joined(_halves(2, 2, 4, 6), counted(2, 4, 3), 0),
            _joined(_halves(2, 2, 4, 6), counted(2, 4, 3), 2),
            _joined(_halves(1, 2, 4, 6), counted(2, 2, 6), 2),
            _joined(Call("ReLU-1", (_halves(2, 2, 4, 6),)), counted(2, 4, 3), 1),
            Call("SoftMax-8", (_halves(2, 2, 4, 6),), {"axis": "1"}),
        ],
    ),
    *beside(
        TURNED,
        falling=[_turned(_quantized(2, 3), 1, 0), _turned(_quantized(1, 2, 3, 2), 0, 2, 3, 1)],
        others=[
            _turned(_quantized(2, 3), 0, 1),
            Call("ReLU-1", (_turned(_quantized(2, 3), 1, 0),)),
            _turned(Call("ReLU-1", (_quantized(2, 3),)), 1, 0),
        ],
    ),
    Beside(
        "Broadcast of a single element along given axes",
        True,
        Call("Broadcast-1", (counted(1, 3), Fixed(whole(2, 3)), Fixed(whole(0, 1))), {"mode": "explicit"}),
    ),
    *(
        Beside("Tile of four dimensions by computed repeats", falls, Call("Tile-1", (data, repeats)))
        for falls, data, repeats in (
            (True, Given(counted(2, 3, 4, 2), "?,?,?,?"), whole(2, 3, 2)),
            (False, counted(2, 3, 4, 2), whole(2, 3)),
            (False, Given(counted(2, 3, 2, 2, 2), "?,?,?,?,?"), whole(2, 3)),
            (False, counted(1, 4, 3, 2), whole(2, 2, 2, 3)),
        )
    ),
    Beside(
        "Unique elements along an axis, sorted",
        False,
        Call("Unique-10", (floats([1], [0]), Fixed(index(0))), {"sorted": "true"}),
    ),
    Beside(CUT_BEHIND, True, _strided("?,3,?", begin_mask="0,1", end_mask="0,0", new_axis_mask="1,0")),
    Beside(CUT_BEHIND, False, _strided("?,3,?", begin_mask="0,1", end_mask="0,1", new_axis_mask="1,0")),
    Beside(
        "StridedSlice before a product and a sum",
        True,
        _product_and_sum(
            Call(
                "StridedSlice-1",
                (counted(2, 3), *(Fixed(whole(one, one)) for one in (0, 2, 1))),
                {"begin_mask": "0,0", "end_mask": "0,0", "ellipsis_mask": "1,0"},
            )
        ),
    ),
    Beside(
        "StridedSlice before a product and a sum",
        False,
        Call(
            "Multiply-1",
            (
                Call(
                    "Reshape-1",
                    (Call("Add-1", (MASKED, Fixed(number(2)))), Fixed(whole(2, 1))),
                    {"special_zero": "false"},
                ),
                Fixed(floats(2)),
            ),
        ),
    ),
    *beside(
        "StridedSlice backwards of unknown size",
        falling=[
            BACKWARDS,
            _backwards("?,3,5", (0, 0, 3), (0, 0, 0), (1, 1, -2), "1,1,1"),
            _backwards("?,3,5", (0, 0, 0), (0, 0, 1), (1, 1, -1), "1,1,0"),
            replace(BACKWARDS, inputs=(*BACKWARDS.inputs[:3], whole(1, -1, 1))),
        ],
        others=[
            _backwards("?,3,5", (0, 0, 3), (0, 0, -5), (1, 1, -2), "1,1,0"),
            _backwards("?,3,5", (0, 0, 3), (0, 0, 1), (1, 1, -2), "1,1,0"),
            _backwards("2,3,5", (0, 0, 0), (0, 0, 0), (1, -1, 1), "1,1,1"),
            _backwards("?,3,5", (0, 0, 0), (0, 0, 0), (1, 2, 1), "1,1,1"),
            replace(BACKWARDS, inputs=BACKWARDS.inputs[:3]),
            replace(BACKWARDS, raw={**BACKWARDS.raw, "ellipsis_mask": "1,0,0"}),
        ],
    ),
    *beside(
        "StridedSlice before a product and a sum",
        falling=[
            Call("Subtract-1", (Call("Multiply-1", (MASKED, TWO)), floats(1, 5))),
            Call("Subtract-1", (NEGATED, TWO)),
            Call("Add-1", (Call("Unsqueeze-1", (NEGATED, Fixed(whole(0)))), TWO)),
            Call("Negative-1", (Call("Add-1", (MASKED, TWO)),)),
        ],
        others=[
            Call("Add-1", (TWO, Call("Multiply-1", (MASKED, TWO)))),
            Call("Subtract-1", (TWO, Call("Multiply-1", (MASKED, TWO)))),
            Call("Add-1", (NEGATED, TWO)),
            Call("Add-1", (Call("Negative-1", (Call("Multiply-1", (MASKED, TWO)),)), TWO)),
            Call("Add-1", (Call("Negative-1", (Call("Add-1", (MASKED, TWO)),)), TWO)),
            Call("Multiply-1", (Call("Add-1", (MASKED, TWO)), floats(1, 5))),
        ],
    ),
    Beside("ends of a Slice that depend on its own constants", False, _less_one()),
    Beside(REPEATED, True, _repeated(1, 1, 1, 1, 2, 3)),
    Beside(REPEATED, False, _repeated(1, 1, 1, 3)),
    *(
        Beside(
            "Concat of one batch after a constant",
            axis != 2,
            _joined(Call("Abs-1", (counted(1, 2, 3),)), Fixed(counted(1, 2, 3)), axis),
        )
        for axis in (1, -2, 2)
    ),
    Beside(REPEATED, True, _repeated(1, 1, 1, 1, 1, 2, 3)),
    Beside(
        "the shape of a number",
        True,
        Call("Abs-1", (Call("ShapeOf-3", (number(3),), {"output_type": "i64"}, (0,)),)),
    ),
    Beside(ONE_SHIFT, False, Call("Roll-7", (counted(3, 4), Fixed(index(1)), Fixed(whole(0))))),
    Beside(
        "Slice along computed axes",
        False,
        Call("Slice-8", (counted(2, 4, 4), whole(0), Fixed(whole(2)), Fixed(whole(1)), whole(1))),
    ),
    Beside(
        "SliceScatter by a computed step or axes",
        True,
        Call("SliceScatter-15", (counted(4), counted(2) + 9, Fixed(whole(0)), Fixed(whole(4)), whole(2))),
    ),
    Beside(
        "Split into three outputs of IR v10",
        False,
        Call("Split-1", (counted(2).astype(np.uint8), Fixed(index(0))), {"num_splits": "2"}),
    ),
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
            _filled(_cut("?,?", 0, -1), 1, 0),
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
            sizes_of(_cut("?,?", 0, -2)),
            Call("Broadcast-3", (sizes_of(_cut("?,?", 0, -2)), Fixed(whole(3, 2))), {"mode": "numpy"}),
            _flat(_cut("?,?", 0, -2)),
        ],
    ),
    *beside(
        "Slice of two unknown sizes that is reshaped",
        falling=[_flat(_corner("?,?", -3)), _flat(Call("Abs-1", (_corner("?,?", -3),)))],
        others=[_flat(_corner("?,?", 3)), _corner("?,?", -3), _flat(_corner("30,31", -3)), _flat(_cut("?,?", 0, -3))],
    ),
    *beside(
        "data of a sequence, transposed in an order that others read",
        falling=[_sequence(), _sequence(steps=2, rows=4), _sequence(sized=True)],
        others=[
            _sequence(own=True),
            _sequence(steps=1),
            _sequence(rows=1),
            _sequence(read=True),
            _sequence(shape="?,3,4"),
        ],
    ),
    *beside(
        "data of a sequence, transposed and activated in an order that others read",
        falling=[_sequence("ReLU-1"), _sequence("Sigmoid-1", sized=True)],
        others=[_sequence("ReLU-1", own=True), _sequence("Tanh-1", rows=1), _sequence("Tanh-1", read=True)],
    ),
    *beside(
        "Concat with a part that an update overwrites",
        falling=[
            _added(ALONE, _updated(_concat(ALONE, REST), 0)),
            _added(ALONE, _updated(_concat(REST, ALONE), 4)),
            _added(
                ALONE,
                Call(
                    "ScatterNDUpdate-4",
                    (_concat(ALONE, REST), Fixed(whole(0, 0).reshape(1, 2)), Fixed(np.ones((1, 4), np.float32))),
                ),
            ),
        ],
        others=[_added(ALONE, _in_shape(_updated(_in_shape(_concat(ALONE, REST), 5, 4), 0, 2), 1, 5, 4))],
    ),
    *beside(
        "Concat with a part that a normalization overwrites",
        falling=[
            _normal(_concat(FIRST, REST)),
            _grown(_concat(*_of_rank_4())),
            _probable(_in_shape(_concat(FIRST, REST), 1, 5, 2, 2), 4),
            _added(ALONE, _probable(_concat(_in_shape(ALONE, 1, 2, 4), REST))),
            _added(ALONE, _probable(_concat(REST, ALONE, REST))),
        ],
        others=[
            _probable(_concat(REST, FIRST)),
            _probable(_concat(ALONE, Call("Tanh-1", (ALONE,)), REST)),
            _probable(_concat(FIRST, counted(1, 2, 4), axis=2)),
            _normal(_concat(*_of_rank_4())),
            _normal(_in_shape(_concat(FIRST, REST), 5, 4)),
            _probable(Call("Tanh-1", (_concat(FIRST, REST),))),
            Call("Tanh-1", (_concat(FIRST, REST),)),
        ],
    ),
    *beside(
        "Concat with a part that a normalization overwrites, along the first axis",
        falling=[
            _probable(_concat(FIRST, counted(2, 2, 4), axis=0)),
            _probable(_concat(*_of_rank_4(0), axis=0), 4),
        ],
        others=[
            _probable(_concat(counted(2, 2, 4), FIRST, axis=0)),
            _normal(_concat(*_of_rank_4(0), axis=0)),
            _probable(_concat(*_of_rank_4(0)), 4),
        ],
    ),
    *beside(
        "Concat with a part that is an output and that a normalization overwrites",
        falling=[
            _normal(_concat(REST, FIRST)),
            _normal(_in_shape(_concat(FIRST, REST), 5, 4)),
            _grown(_in_shape(_concat(FIRST, REST), 1, 5, 2, 2)),
            _probable(_concat(Call("ReLU-1", (counted(1, 1, 4),), results=(0,)), counted(1, 1, 4), axis=2)),
        ],
        others=[
            _added(ALONE, _probable(_concat(ALONE, REST))),
            _probable(_concat(FIRST, counted(1, 2, 4), axis=2)),
            _normal(_concat(*_of_rank_4())),
            Call("Tanh-1", (_concat(FIRST, REST),)),
        ],
    ),
    *beside(
        "inputs that are outputs, of some unknown sizes",
        falling=[_shown("?,3"), _shown("..9,3"), _shown("1..2,?")],
        others=[_shown("2,3"), _shown("?,?"), Call("ReLU-1", (Given(counted(2, 3), "?,3"),))],
    ),
    *beside(
        "inputs that are outputs, of sizes of at least 1",
        falling=[_shown("2..,3"), _shown("2,1..4")],
        others=[_shown("?,1..4"), _shown("..9,3"), _shown("2,3"), Call("ReLU-1", (Given(counted(2, 3), "1..2,3"),))],
    ),
    *beside(
        GATHERED,
        falling=[_gathered("1,?,5"), _gathered("1,6,4..9"), _gathered("1,6,5", end=-2)],
        others=[
            _gathered("1,6,5", start=1, end=4),
            _gathered("1,6,5", end=5, step=2),
            _gathered("1,6,5", axis=2),
            _gathered("1,6,5", op="StridedSlice-1"),
        ],
    ),
    *beside(
        GATHERED + ", of unknown size",
        falling=[_gathered("?,?,?")],
        others=[_gathered("1,6,?", end=sys.maxsize, columns=5)],
    ),
    *beside(
        "Slice to a size of what is multiplied with it",
        falling=[
            product_of_rows(ROWS, Call("SoftMax-8", (FEW,), {"axis": "3"})),
            product_of_rows(ROWS, Call("Multiply-1", (FEW, Fixed(floats(2))))),
            product_of_rows(Call("MatMul-1", (ROWS, Fixed(counted(6, 6)))), FEW),
            product_of_rows(_turned(ROWS, 0, 1, 3, 2), _turned(FEW, 0, 1, 3, 2), "false"),
            _concat(ROWS, _turned(FEW, 0, 1, 3, 2), axis=3),
            product_of_rows(_concat(ROWS, ROWS), _concat(FEW, FEW)),
            product_of_rows(_half_of(ROWS), _half_of(FEW)),
        ],
        others=[
            product_of_rows(FEW, ROWS, "false"),
            product_of_rows(*_limited(start=1)),
            product_of_rows(*_limited(least=1)),
            product_of_rows(Fixed(counted(1, 2, 5, 6)), FEW),
            _concat(_turned(ROWS, 0, 1, 3, 2), FEW, axis=3),
        ],
    ),
    *beside(
        "Slice to a size of what is combined and multiplied with it",
        falling=[product_of_rows(HALVES, FEW), product_of_rows(OF_A_SIZE, FEW), product_of_rows(ROWS, FEW)],
        others=[
            product_of_rows(PLACES, FEW),
            _concat(FEW, Call("Slice-8", (Given(counted(1, 2, 6, 7), "1,2,?,..9"), *FEW.inputs[1:]))),
        ],
    ),
    *beside(
        "Slice to a size of what masks it",
        falling=[
            Call("ScaledDotProductAttention-13", (counted(1, 2, 3, 6), *[keys] * 2, AS_FEW), PLAIN)
            for keys in (Call("Abs-1", (KEYS,)), _half_as(KEYS))
        ],
    ),
    *beside(
        "a transposed convolution that is joined with its products, with AVX-512",
        falling=[
            _residual(_filtered(COLUMN), 0, 2, 1),
            _residual(_filtered(COLUMN), 0, 2, 1, joined="Concat-1"),
            _residual(Call("Multiply-1", (_filtered(COLUMN), Call("Abs-1", (COLUMN,)))), 0, 2, 1),
            _residual(_filtered(COLUMN, "GroupConvolution", filters=counted(8, 1, 1, 1)), 0, 2, 1),
            _residual(_filtered(_filtered(COLUMN)), 0, 2, 1),
            _residual(_filtered(Call("SoftMax-1", (COLUMN,), {"axis": "1"})), 0, 2, 1),
            _together(ROW, _multiplied(Fixed(floats([[2]])), ROW)),
            _together(_together(ROW, Call("Abs-1", (counted(1, 1, 8),))), _linear(ROW)),
        ],
        others=[
            _residual(_filtered(COLUMN), 0, 2, 1, last=True),
            _residual(_filtered(counted(1, 8, 2)), 0, 2, 1),
            _residual(_filtered(Given(counted(1, 8, 1), "1,8,?")), 0, 2, 1),
            _residual(Call("SoftMax-1", (_filtered(COLUMN),), {"axis": "1"}), 0, 2, 1),
            _residual(Call("Add-1", (_filtered(COLUMN), _filtered(COLUMN))), 0, 2, 1),
            _residual(Call("Abs-1", (COLUMN,)), 0, 2, 1),
            _residual(_filtered(counted(1, 8, 1, 1), filters=counted(8, 8, 1, 1) / 9), 0, 2, 3, 1),
            _together(ROW, Call("SoftMax-1", (ROW,), {"axis": "2"})),
            _together(ROW, _linear(Call("Tanh-1", (ROW,)))),
            _together(Call("Tanh-1", (ROW,)), _linear(ROW)),
        ],
    ),
    *beside(
        "data that a list scales, in another shape along the last axis",
        falling=[
            _in_shape_of(2, 3, 2, 2, scaling=_scaled_twice),
            _in_shape_of(2, 3, 2, 2, scaling=lambda data: Call("Divide-1", (data, Fixed(counted(4) + 1)))),
        ],
        others=[
            _in_shape_of(2, 3, 1, 4),
            _in_shape_of(6, 2, 2),
            _in_shape_of(2, 3, 2, 2, scaling=lambda data: Call("Multiply-1", (data, Fixed(counted(1, 1, 4))))),
            _in_shape_of(2, 3, 2, 2, scaling=lambda data: Call("Multiply-1", (Fixed(counted(4)), data))),
            _in_shape_of(2, 3, 2, 2, scaling=lambda data: Call("Add-1", (data, Fixed(counted(4))))),
            Call("ReLU-1", _in_shape_of(2, 3, 2, 2).inputs[:1]),
        ],
    ),
]
