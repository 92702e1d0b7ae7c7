"""Layers that move, repeat, cut or pad data."""

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import dropwhile, repeat, zip_longest
from math import prod

import numpy as np

from ir_tools.known_differences._model import Call, Feed, Fixed, Given, counted, floats, index, number, sizes_of, whole
from ir_tools.known_differences.releases._predicates import axes_of, has_rank, has_value
from ir_tools.known_differences.releases._row import ReleaseDifference, ends, not_compiled, not_read, not_run
from ir_tools.known_differences.releases._samples import PLAIN, READING_NOTHING, quantized
from ir_tools.known_differences.releases.seen import ANY_SEQUENCE, COMBINING, FIRST_VERSION, Pattern, Seen
from ir_tools.ops.definition import Array, Fact
from ir_tools.processors import Processor
from ir_tools.releases.measured import State
from ir_tools.types import Dim, element_type, is_static

__all__ = ["ROWS"]

MEMORY, UNBOUNDED = 16 << 33, (1 << 31) - 1
"""The bits of 16 GiB, and the least size that counts as unknown in a range."""
ONE_LIST = Call("Squeeze-1", (Call("Unsqueeze-1", (Fixed(whole(3, 2)), Fixed(index(0)))), Fixed(whole(0))))
"""Two sizes, a dimension added by one number and removed by a list."""
ROWS_OF_SIX, SECOND = Call("ReLU-1", (Given(counted(2, 6), "2,?"),)), Fixed(index(1))
"""Data, and the constant that is its second axis."""
SIX = Call("Gather-8", (sizes_of(ROWS_OF_SIX), SECOND, Fixed(index(0))))
REST = Call("Concat-1", (Call("FloorMod-1", (SIX, Fixed(whole(4)))), Fixed(whole(-1))), {"axis": "0"})
"""The size of the second axis, and two lengths of parts that its remainder decides."""
LIMITS = tuple(Fixed(floats(limit)) for limit in (-1, 1, -1, 1))
QUANTIZED_DATA = Call("FakeQuantize-1", (floats([[0.5, -2], [1, 0.25]]), *LIMITS), {"levels": "256"})
"""Data of three dimensions, quantized."""
FITTING = frozenset({"Concat", "ScatterElementsUpdate"})
"""Types of layers whose inputs have equal sizes, which are compared before those of computed shapes are known."""
FULL = Call("ReLU-1", (counted(2, 3, 4),))


def _sizes_of_one(data: Feed) -> Call:
    """Return the second size between ones."""
    size = Call("Gather-1", (sizes_of(data), Fixed(whole(1)), Fixed(index(0))))
    return Call("Concat-1", (Fixed(whole(1)), size, Fixed(whole(1))), {"axis": "0"})


EMPTY = Call(
    "StridedSlice-1",
    (FULL, Fixed(whole(0, 0, 4)), Fixed(whole(0, 0, 9)), Fixed(whole(1, 1, 1))),
    {
        **dict.fromkeys(("begin_mask", "end_mask"), "1,1,0"),
        **dict.fromkeys(("new_axis_mask", "shrink_axis_mask", "ellipsis_mask"), "0,0,0"),
    },
)
"""Four columns, and what a slice behind the last takes of them."""
LAST = Fixed(whole(1))
LESS = Call(
    "Subtract-1",
    (
        Call("Gather-8", (sizes_of(ROWS_OF_SIX), LAST, Fixed(index(0)))),
        Fixed(whole(2)),
    ),
)
"""A list of the second axis, and one less than the size of that by two."""

FEW = Call("Tanh-1", (Given(counted(1, 2, 5, 6), "1,2,?,6"),))
AS_FEW = Call(
    "Slice-8",
    (
        Given(counted(1, 2, 3, 7), "1,2,3,..9"),
        Fixed(whole(0)),
        Call("Gather-8", (sizes_of(FEW), Fixed(whole(2)), Fixed(index(0)))),
        *map(Fixed, map(whole, (1, 3))),
    ),
)
TURNED, TURNED_DOUBLE = (
    Call("MatMul-1", (rows, AS_FEW), {"transpose_a": "true", "transpose_b": "true"})
    for rows in (FEW, Call("Multiply-1", (FEW, Fixed(floats(2)))))
)
"""Rows of an unknown number, as many columns of a tensor that has up to nine, and products of them."""
AS_GIVEN = {"transpose_a": "false", "transpose_b": "false"}
FILTERS = {
    name: ",".join("0" if "pads" in name else "1") for name in ("strides", "pads_begin", "pads_end", "dilations")
}
FILTERED = Call("Convolution-1", (counted(1, 8, 1), Fixed(counted(8, 8, 1) / 9)), FILTERS)
ROW = Call("Transpose-1", (FILTERED, Fixed(whole(0, 2, 1))))
"""What a convolution gives of one column, as a row."""


LIST = Call("Abs-1", (floats(3, -1, 2),))
GIVEN = replace(LIST, results=(0,))
HALF = Call("Split-1", (counted(4), Fixed(index(0))), {"num_splits": "2"})
ALSO_GIVEN, A_PART = "a list that is given, and", "a part that is"
GIVEN_TYPES = "f16 f32 i32 i64 u8 i8 boolean"
"""Element types that some releases do not convert where they give them."""
GIVEN_AS = {
    State.DIFFERS: "the output of the model is uninitialized",
    State.FAILS: "the output of the model cannot be read",
}


def _in_blocks(data: Feed, *begin: int, end: Sequence[int] = (0, 0, 0, 0)) -> Call:
    """Return a SpaceToBatch by blocks of two rows and columns."""
    return Call("SpaceToBatch-2", (data, *map(Fixed, (whole(1, 1, 2, 2), whole(*begin), whole(*end)))))


def _cuts_blocks(seen: Seen, *, single: bool) -> bool:
    """Return whether a SpaceToBatch of four dimensions or more cuts; `single`: along an axis with blocks of one."""
    blocks, begins, ends = (fact.integers() for fact in seen.inputs[1:4])
    if blocks is None or begins is None or ends is None or len(blocks) < 4:
        return False
    cut = [block for block, begin, end in zip(blocks, begins, ends, strict=True) if min(begin, end) < 0]
    return bool(cut) and (1 in cut) is single


def _moves_a_given_list(seen: Seen, *, pattern: Pattern) -> bool:
    """Return whether a Transpose of a list is part of a pattern, by a constant order and without a change of type."""
    return seen.has(pattern) and 1 in seen.constant and _is_unconverted(seen)


def _beginning(shape: str) -> Call:
    """Return the first three of five columns."""
    return Call("Slice-8", (Given(counted(1, 6, 5), shape), *(Fixed(whole(one)) for one in (0, 3, 1, 2))))


def _is_gathered(seen: Seen, *, known: bool) -> bool:
    """Return whether a GatherElements reads the beginning of a tensor, and whether it is `known` to be a part of it."""
    if not seen.has(Pattern.GATHERED):
        return False
    start, stop, step = (fact.integers() or [-1] for fact in seen.inputs[1:4])
    before, after = (fact.shape or () for fact in (seen.inputs[0], seen.outputs[0]))
    if any(start) or {*step} != {1} or (min(stop) >= UNBOUNDED and not known):
        return False
    pairs = [(one, two) for one, two in zip(before, after, strict=False) if not one.static or one != two]
    apart = any(two.hi is not None and two.hi < one.lo for one, two in pairs)
    return apart if known else bool(pairs) and not apart


def _ends_at_a_size(seen: Seen, *, pattern: Pattern) -> bool:
    """Return whether a Slice from the first element may be as long as all of an axis of limited size."""
    start, step = (fact.integers() for fact in (seen.inputs[1], seen.inputs[3])) if seen.has(pattern) else ([], [])
    before, after = (fact.shape or () for fact in (seen.inputs[0], seen.outputs[0]))
    if start != [0] or step != [1]:
        return False
    axis = (axes_of(seen, 4) or [0])[0]
    limited = axis < len(after) and not before[axis].static and before[axis].hi is not None
    return limited and before[axis] == after[axis]


def _turned(data: Array) -> Call:
    """Return the sum of a tensor and what makes of it the end, negated, and the beginning of two elements."""
    whole_one = Call("Tanh-1", (data,))
    start, end, step, axis = (Fixed(whole(one)) for one in (0, 2, 1, -1))
    first = Call("Slice-8", (whole_one, start, end, step, axis))
    second = Call("Slice-8", (whole_one, end, Fixed(whole(UNBOUNDED)), step, axis))
    joined = Call("Concat-1", (Call("Negative-1", (second,)), first), {"axis": "-1"})
    scale = Fixed(counted(data.shape[-1]))
    return Call("Add-1", (Call("Multiply-1", (whole_one, scale)), Call("Multiply-1", (joined, scale))))


def _swapped(activated: str | None = None) -> Call:
    """Return what swaps the axes of a sequence and of its transposed data, which a layer may activate."""
    order = Fixed(whole(1, 0, 2))
    data = Call("Transpose-1", (counted(5, 3, 4) / 9, order))
    sizes = (3, 1, 2), (), (1, 2, 4), (1, 2, 2), (1, 2)
    state, lengths, *weights = (Fixed(counted(*size) if size else whole(5, 5, 5)) for size in sizes)
    rows = Call(
        "RNNSequence-5",
        (data if activated is None else Call(activated, (data,)), state, lengths, *weights),
        {"hidden_size": "2", "direction": "forward", "activations": "tanh"},
    )
    return Call("Transpose-1", (Call("Squeeze-1", (rows, Fixed(whole(1)))), order))


def _gives_sizes_back(seen: Seen) -> bool:
    """Return whether a Result gives an input of unknown sizes, of which something is known."""
    if not seen.has(Pattern.GIVEN_BACK) or is_static(seen.inputs[0].shape):
        return False
    return any(size.lo > 0 or size.hi is not None for size in seen.inputs[0].shape or ())


def _gives_least_sizes_back(seen: Seen) -> bool:
    """Return whether a Result gives an input of an unknown size that has a least one, and of a known size."""
    if not seen.has(Pattern.GIVEN_BACK):
        return False
    shape = seen.inputs[0].shape or ()
    return any(size.static for size in shape) and any(size.lo > 0 and not size.static for size in shape)


def _loses_its_order(seen: Seen, *, activated: bool) -> bool:
    """Return whether a Transpose swaps steps and rows of a sequence by an order that others read."""
    if not seen.has(Pattern.SHARED_ORDER) or any(type in ANY_SEQUENCE for _, type in seen.readers) is activated:
        return False
    return seen.inputs[1].integers() == [1, 0, 2] and 1 not in seen.inputs[0].dims[:2]


def _moves_a_list(seen: Seen, *, last: bool) -> bool:
    """Return whether a list that scales data moves behind a layer that gives them another shape from the third axis on.

    `last`: the size along the last axis changes.
    """
    if not seen.has(Pattern.SCALED_BY_A_LIST):
        return False
    before, after = seen.inputs[0].dims, seen.outputs[0].dims
    if not 1 < len(before) < 5 or len(after) < 2:
        return False
    return before[:2] == after[:2] and before != after and (not last or before[-1] != after[-1])


def _by_a_list(data: Array) -> Call:
    return Call("Multiply-1", (data, Fixed(counted(4))))


def _in_shape_of(*sizes: int, scaling: Callable[[Array], Call] = _by_a_list) -> Call:
    """Return data that constants scale, a list for one, in another shape, beside what is quantized."""
    data = Call("Reshape-1", (scaling(counted(2, 3, 4)), Fixed(whole(*sizes))), {"special_zero": "false"})
    levels = quantized(counted(*sizes), Fixed(floats(9)), levels=255)
    return Call("Add-1", (data, levels))


def _turns_unequal_parts(seen: Seen, *, rank: int) -> bool:
    if not seen.has(Pattern.UNEVEN):
        return False
    shapes = [fact.shape or () for fact in seen.inputs]
    return {len(shape) for shape in shapes} == {rank} and len({shape[-1] for shape in shapes}) > 1


def _is_infinite(fact: Fact) -> bool:
    """Return whether a number is known to be infinite or not a number."""
    return fact.exact is not None and not np.isfinite(fact.exact.astype(np.float64)).all()


def _is_alone(seen: Seen) -> bool:
    """Return whether a Transpose is between an input and outputs that nothing converts."""
    return seen.between and _is_unconverted(seen)


def _is_unconverted(seen: Seen) -> bool:
    """Return whether nothing converts inputs and outputs of the model that a layer reads and gives."""
    return not seen.converted or seen.inputs[0].dtype.name in {"f32", "i32"}


def _widens(seen: Seen) -> bool:
    """Return whether a Broadcast with given axes repeats what is there once along one of them."""
    data, target = seen.inputs[0].shape, seen.outputs[0].shape
    axes = seen.inputs[2].value if len(seen.inputs) > 2 else None
    if data is None or target is None or axes is None or axes.exact is None:
        return False
    return any(size != target[int(axis)] for size, axis in zip(data, axes.exact.ravel(), strict=False))


def _gives_its_shape(seen: Seen) -> bool:
    """Return whether a layer gives an input of known sizes in its own shape, not to be combined with another."""
    combined = {type for _, type in seen.readers} <= COMBINING
    return (
        seen.first
        and not combined
        and is_static(seen.inputs[0].shape)
        and seen.inputs[0].shape == seen.outputs[0].shape
    )


def _repeats_less(seen: Seen) -> bool:
    """Return whether a Broadcast both ways may give another shape than the one, made of sizes, that it is given."""
    readers = {type for _, type in seen.readers}
    if not seen.has(Pattern.OF_SIZES) or not has_value("mode", "bidirectional")(seen) or readers.isdisjoint(FITTING):
        return False
    return seen.inputs[1].integers() != [size.hi for size in seen.outputs[0].shape or ()]


def _touches_channels(seen: Seen) -> bool:
    """Return whether a change of blocks and batch is not known to leave axis 1 as it is."""
    values = [fact.exact for fact in seen.inputs[1:]]
    plain = [1, 0, 0]
    return any(value is None or value[1] != same for value, same in zip(values, plain, strict=True))


def _has_blocks_elsewhere(seen: Seen) -> bool:
    """Return whether the blocks of three dimensions are not there along the axis before theirs."""
    shape = seen.inputs[0].shape
    if shape is None or len(shape) != 3 or seen.attrs is None:
        return False
    block = seen.attrs.block_size
    depth = seen.op.type == "DepthToSpace"
    size, blocks = (shape[0].hi, block**2) if depth else (shape[1].hi, block)
    return size is None or bool(size % blocks)


def _has_other_repeats(seen: Seen) -> bool:
    """Return whether a Tile has more or fewer repeats than its data has dimensions."""
    data, repeats = seen.inputs[0].shape, seen.inputs[1].shape
    return data is not None and repeats is not None and repeats[0].lo != len(data)


def _may_be_tiled_wrongly(seen: Seen) -> bool:
    """Return whether three repeats or more are computed, for five dimensions or more, or for four with longer ones."""
    shape, repeats = seen.inputs[0].shape, seen.inputs[1].shape
    many = shape is None or len(shape) > 4 or (len(shape) == 4 and all(size.hi != 1 for size in shape[:3]))
    few = repeats is not None and repeats[0].hi is not None and repeats[0].hi < 3
    return 1 not in seen.constant and many and not few


def _has_unknown_input(seen: Seen) -> bool:
    return not seen.has_known_sizes


def _sorts_parts(seen: Seen) -> bool:
    """Return whether a Unique sorts parts of its input that may have several elements."""
    shape = seen.inputs[0].shape
    sorts = len(seen.inputs) > 1 and has_value("sorted", True)(seen)
    return sorts and (shape is None or sum(size.hi != 1 for size in shape) > 1)


def _has_no_axes(seen: Seen) -> bool:
    """Return whether the list of axes of a Reverse is known to be empty."""
    axes = seen.inputs[1].shape
    return axes is not None and len(axes) == 1 and axes[0].hi == 0


def _may_be_huge(seen: Seen) -> bool:
    """Return whether the largest sizes of an output that is not static are known, and are more than memory holds.

    Those from 2^31 - 1 on count as unknown.
    """
    fact = seen.outputs[0]
    largest = [UNBOUNDED if dim.hi is None else dim.hi for dim in fact.shape or (Dim(),)]
    return not is_static(fact.shape) and max(largest) < UNBOUNDED and prod(largest) * fact.dtype.bits > MEMORY


def _squeezes_several(seen: Seen) -> bool:
    """Return whether a Squeeze names an axis that is known not to be 1."""
    sizes = [] if len(seen.inputs) < 2 else [seen.inputs[0].size(axis) for axis in axes_of(seen) or ()]
    return any(size is not None and size != 1 for size in sizes)


def _cuts(seen: Seen) -> Iterator[tuple[Dim, int, int, int]]:
    """Yield the size of each axis that a Slice cuts, its start, end and step; nothing if they are not known."""
    shape, *bounds = (seen.inputs[0].shape, *(fact.integers() for fact in seen.inputs[1:4]))
    axes = seen.inputs[4].integers() if len(seen.inputs) > 4 else range(len(bounds[0] or ()))
    if shape is not None and axes is not None and None not in bounds:
        for axis, start, end, step in zip(axes, *(values or () for values in bounds), strict=False):
            yield shape[axis], start, end, step


def _cut_unbounded(seen: Seen, *, backwards: bool = False) -> int:
    """Return how many sizes without a largest value a Slice takes from the first element to an index from the end.

    Args:
        seen: the layer.
        backwards: whether to count those that it takes from an index from the end back to the first element.
    """
    return sum(
        _has_no_end(size) and (start < 0 == end and step < 0 if backwards else start == 0 > end and step > 0)
        for size, start, end, step in _cuts(seen)
    )


def _cuts_less_of_the_largest(seen: Seen) -> bool:
    """Return whether a Slice of a size within limits may have more elements than one of the largest size."""
    for size, start, end, step in _cuts(seen):
        if not size.static and size.hi is not None:
            telling = (abs(start), abs(start) + 1, abs(end), abs(end) - 1, size.lo)
            sizes = [size.hi, *(min(max(one, size.lo), size.hi) for one in telling)]
            largest, *others = (len(range(*slice(start, end, step).indices(one))) for one in sizes)
            if max(others) > largest:
                return True
    return False


def _has_no_end(dim: Dim) -> bool:
    """Return whether a size has no largest value."""
    return dim.hi is None or dim.hi >= UNBOUNDED


def _cuts_only_unbounded(seen: Seen, *, backwards: bool) -> bool:
    """Return whether a Slice does that, and all other sizes of its output have a largest value."""
    others = len(list(filter(_has_no_end, seen.outputs[0].shape or ()))) - 1
    return not others and _cut_unbounded(seen, backwards=backwards) > 0


def _slices_behind_new_axis(seen: Seen) -> bool:
    """Return whether a StridedSlice of data of unknown size inserts an axis before one that it cuts."""
    attrs = seen.attrs
    if attrs is None or is_static(seen.inputs[0].shape):
        return False
    masks = zip_longest(attrs.new_axis_mask, attrs.begin_mask, attrs.end_mask, fillvalue=0)
    behind = dropwhile(lambda masks: not masks[0], masks)
    return any(not new and not (begin and end) for new, begin, end in behind)


def _slices_backwards(seen: Seen) -> bool:
    """Return whether a StridedSlice of data of unknown size may cut an axis backwards, with an open limit."""
    attrs, steps = seen.attrs, seen.inputs[3].integers() if len(seen.inputs) > 3 else []
    if attrs is None or is_static(seen.inputs[0].shape) or any(attrs.ellipsis_mask):
        return False
    masks = zip_longest(attrs.begin_mask, attrs.end_mask, fillvalue=0)
    return any(
        any(limits) and step < 0 for limits, step in zip(masks, repeat(-1) if steps is None else steps, strict=False)
    )


def _is_masked_and_affine(seen: Seen) -> bool:
    """Return whether a StridedSlice with other masks than those of its limits is before a product and a sum."""
    attrs, old, new = seen.attrs, seen.inputs[0].shape, seen.outputs[0].shape
    if attrs is None or not seen.has(Pattern.AFFINE) or (old == new and is_static(old)):
        return False
    return bool(attrs.new_axis_mask or attrs.shrink_axis_mask or attrs.ellipsis_mask)


def _loses_the_first(seen: Seen) -> bool:
    """Return whether a Concat along axis 1 of one batch has a constant first, and others behind it."""
    attrs, whole = seen.attrs, seen.outputs[0].dims
    if attrs is None or len(whole) < 2 or attrs.axis % len(whole) != 1:
        return False
    return whole[0] == 1 and 0 in seen.constant and not seen.folded


def _overwritten(*others: Feed, axis: int = 1, update: bool = False) -> Call:
    """Return the sum of the first part of a Concat and of what a layer makes of that, or else its SoftMax.

    `others`: the other parts; with none, an output of the model is one.
    """
    part = Call("ReLU-1", (counted(1, 2, 4),), results=() if others else (0,))
    joined = Call("Concat-1", (part, *others) if others else (counted(1, 3, 4), part), {"axis": str(axis)})
    numbers = (Fixed(whole(0)), Fixed(-counted(1, 1, 4)), Fixed(index(1)))
    made = Call("ScatterUpdate-3", (joined, *numbers)) if update else Call("SoftMax-1", (joined,), {"axis": "2"})
    mean = Call("ReduceMean-1", (made, Fixed(whole(1))), {"keep_dims": "true"})
    return Call("Add-1", (part, mean)) if others else made


def _is_overwritten(seen: Seen, patterns: Collection[Pattern], read: Pattern, axes: Collection[int]) -> bool:
    """Return whether a Concat along one of some axes is overwritten, whose parts are in its place.

    `patterns`: by what; `read`: how the parts are read besides.
    """
    if not (any(map(seen.has, patterns)) and seen.has(read) and seen.has_known_sizes):
        return False
    sizes = seen.outputs[0].dims
    axis = seen.attrs.axis % len(sizes) if seen.attrs is not None and sizes else -1
    return axis in axes and {*sizes[:axis]} <= {1}


def _is_combined(seen: Seen) -> bool:
    """Return whether one layer alone reads the output, and combines it with another tensor element by element."""
    return len(seen.readers) == 1 and seen.readers[0][1] in COMBINING


def _is_repeated_and_combined(seen: Seen) -> bool:
    """Return whether a Broadcast by numpy's rules may repeat data, and its output is combined."""
    old, new = seen.inputs[0].shape, seen.outputs[0].shape
    same = 1 in seen.constant and old is not None and is_static(old) and old == new
    numpy = has_value("mode", "numpy")(seen) or (has_value("mode", "explicit")(seen) and len(seen.inputs) == 2)
    return _is_combined(seen) and numpy and not same


def _is_low(seen: Seen) -> bool:
    """Return whether the first input has two or three dimensions."""
    return has_rank(seen, 2) or has_rank(seen, 3)


def _rolls_by_one_shift(seen: Seen) -> bool:
    """Return whether a single shift applies to several axes of a Roll."""
    axes = seen.inputs[2].shape
    return seen.inputs[1].shape == () and bool(axes) and (axes or ())[0].hi not in {0, 1}


def _moves_axes(seen: Seen) -> bool:
    order = seen.inputs[1].integers()
    return order is None or order != [*range(len(order))]


def _is_padded_by_sizes(seen: Seen) -> bool:
    """Return whether a limited axis is padded on both sides by what has a smallest, but no largest value."""
    limits = [() if fact.value is None else fact.value.upper.ravel().tolist() for fact in seen.inputs[1:3]]
    unlimited = [[limit >= UNBOUNDED for limit in each] for each in limits]
    axes = zip(seen.inputs[0].shape or (), *unlimited, strict=False)
    return any(dim.hi is not None and before and behind for dim, before, behind in axes)


def _sum_of_squares(data: Feed) -> Call:
    """Return the sum of the squares of two parts of data."""
    first = Call("Split-1", (data, Fixed(index(0))), {"num_splits": "2"})
    return Call("Add-1", tuple(Call("Multiply-1", (part, part)) for part in (first, replace(first, gives=1))))


ANY_LENGTH = sizes_of(Given(counted(3), "?"))
ROWS = (
    *(
        ReleaseDifference(
            name=f"Roll of several axes by one shift, {span}",
            span=span,
            ops=("Roll-7",),
            state=state,
            reason=f"A single shift for several axes {state.words}.",
            model=Call("Roll-7", (counted(3, 4), Fixed(index(1)), Fixed(whole(0, 1)))),
            applies=_rolls_by_one_shift,
        )
        for span, state in (("2021.4 to 2022.1", State.DIFFERS), ("2022.2 to 2026.4", State.UNCOMPILED))
    ),
    ends(
        name="SliceScatter by a computed step or axes",
        span="2024.5 to 2026.4",
        ops=("SliceScatter-15",),
        reason="A computed `step` or `axes` is misread: elements outside the data are written.",
        model=Call("SliceScatter-15", (counted(3), counted(1) + 9, whole(0), whole(1), whole(1), whole(0))),
        instead=("input 5",),
        applies=lambda seen: not {4, 5}.intersection(range(len(seen.inputs))) <= {*seen.constant},
    ),
    ReleaseDifference(
        name="SliceScatter between computed bounds",
        span="2024.5 to 2026.4",
        ops=("SliceScatter-15",),
        reason="A computed `start` or `stop` is misread, and the data may not be updated.",
        sometimes=True,
        model=Call("SliceScatter-15", (counted(3), counted(1) + 9, Fixed(whole(0)), whole(1), Fixed(whole(1)))),
        applies=lambda seen: not {2, 3} <= {*seen.constant},
    ),
    *(
        ReleaseDifference(
            name=f"an input that is transposed in its only axis, {span}",
            span=span,
            ops=("Transpose-1",),
            state=state,
            reason=f"The layer is removed, and {GIVEN_AS[state]}.",
            model=Call("Transpose-1", (counted(3), Fixed(whole(0)))),
            applies=lambda seen: (
                seen.first and seen.last and _is_unconverted(seen) and seen.rank() < 2 and 1 in seen.constant
            ),
        )
        for span, state in (("2021.2 to 2025.0", State.DIFFERS), ("2025.1 to 2025.2", State.FAILS))
    ),
    *(
        ReleaseDifference(
            name=f"{what} transposed in its only axis, {span}",
            span=span,
            ops=("Transpose-1",),
            state=state,
            reason=f"The layer is removed, and {GIVEN_AS[state]}.",
            model=Call("Transpose-1", (given, Fixed(whole(0)))),
            sometimes=state is State.DIFFERS,
            types=types,
            applies=partial(_moves_a_given_list, pattern=pattern),
        )
        for what, pattern, given, span, types, state in (
            (ALSO_GIVEN, Pattern.GIVEN_MOVED, GIVEN, "2021.2 to 2025.0", GIVEN_TYPES, State.DIFFERS),
            (ALSO_GIVEN, Pattern.GIVEN_MOVED, GIVEN, "2025.1 to 2025.2", "", State.FAILS),
            (A_PART, Pattern.PART_MOVED, HALF, "2022.1 to 2025.0", GIVEN_TYPES, State.DIFFERS),
            (A_PART, Pattern.PART_MOVED, HALF, "2025.1 to 2025.2", "", State.FAILS),
        )
    ),
    ReleaseDifference(
        name="a list that others read, and transposed in its only axis",
        span="2021.2 to 2021.4",
        ops=("Transpose-1",),
        reason=f"The layer is removed, and {GIVEN_AS[State.DIFFERS]}.",
        sometimes=True,
        model=Call("Add-1", (Call("Transpose-1", (LIST, Fixed(whole(0))), results=(0,)), Call("Sigmoid-1", (LIST,)))),
        types=GIVEN_TYPES,
        applies=lambda seen: (
            (seen.last and not seen.first and seen.rank() < 2)
            and (seen.producers[0] == "" and 1 in seen.constant and _is_unconverted(seen))
        ),
    ),
    *(
        ReleaseDifference(
            name=f"a number or list that is transposed without an order, {span}",
            span=span,
            ops=("Transpose-1",),
            state=state,
            reason="The layer is removed within a model, and nothing writes its output.",
            model=Call("Transpose-1", (Call("Add-1", (number(3), Fixed(number(2)))), Fixed(whole()))),
            applies=lambda seen: not _is_alone(seen) and axes_of(seen) == [] and seen.rank() < 2,
        )
        for span, state in (("2024.3 to 2025.0", State.DIFFERS), ("2025.1 to 2025.2", State.FAILS))
    ),
    *(
        not_compiled(
            name=f"data that a list scales, in another shape{where}",
            span=span,
            ops=("Reshape-1", "Squeeze-1", "Unsqueeze-1"),
            reason=(
                "In a model with a FakeQuantize the list moves behind the layer, as if its axis were the second one of "
                "the data."
            ),
            model=_in_shape_of(*sizes),
            applies=partial(_moves_a_list, last=last),
        )
        for where, span, sizes, last in (
            ("", "2021.2 to 2021.3", (2, 3, 1, 4), False),
            (" along the last axis", "2021.2 to 2021.4", (2, 3, 2, 2), True),
        )
    ),
    *(
        not_compiled(
            name=f"data of a sequence, {what} in an order that others read",
            span=span,
            ops=("Transpose-1",),
            reason="The Transpose of the data of a sequence is removed with its order, though others read that.",
            model=_swapped(activation),
            applies=partial(_loses_its_order, activated=activation is not None),
        )
        for what, span, activation in (
            ("transposed", "2021.4 to 2022.2", None),
            ("transposed and activated", "2022.1 to 2022.2", "Tanh-1"),
        )
    ),
    *(
        ReleaseDifference(
            name=f"a transposed convolution that is joined with its products, {words} AVX-512",
            span=span,
            ops=("Transpose-1",),
            reason="The layer is removed, and what it gives is overwritten before the last layer reads it.",
            model=Call("Add-1", (ROW, Call("MatMul-1", (ROW, Fixed(counted(8, 8) / 9)), AS_GIVEN))),
            processor=processor,
            applies=lambda seen: seen.has(Pattern.OUTLIVING) and seen.inputs[1].integers() == [0, 2, 1],
        )
        for words, span, processor in (
            ("with", "2024.1 to 2024.3", Processor.AVX512),
            ("without", "2024.2 to 2024.3", Processor.NO_AVX512),
        )
    ),
    *(
        not_compiled(
            name=f"inputs that are outputs, {what}",
            span=span,
            ops=("Result-1",),
            reason="An input and an output of one name are taken to have other sizes.",
            model=Call("ReLU-1", (Given(counted(2, 3), shape, shown=True),)),
            applies=applies,
        )
        for what, span, shape, applies in (
            ("of some unknown sizes", "2022.1 to 2022.1", "?,3", _gives_sizes_back),
            ("of sizes of at least 1", "2023.3 to 2024.0", "1..2,3", _gives_least_sizes_back),
        )
    ),
    not_compiled(
        name="an output that is transposed behind a FakeQuantize",
        span="2021.2 to 2021.4",
        ops=("Transpose-1",),
        reason="The FakeQuantize and the Transpose behind it become one layer, and the output of the model is missing.",
        model=Call("Transpose-1", (QUANTIZED_DATA, Fixed(whole(0, 2, 1)))),
        applies=lambda seen: seen.is_behind({"FakeQuantize"}) and seen.last and _moves_axes(seen),
    ),
    ReleaseDifference(
        name="parts of a split that are joined along an earlier axis",
        span="2022.3 to 2023.0",
        ops=("Split-1", "VariadicSplit-1"),
        reason="A Concat of a part along an axis before that of the split takes elements of other parts.",
        model=Call(
            "Concat-1",
            (Call("Split-1", (counted(2, 3, 4), Fixed(index(2))), {"num_splits": "2"}, gives=1), counted(2, 3, 2)),
            {"axis": "1"},
        ),
        applies=lambda seen: seen.has(Pattern.INTERLEAVED),
    ),
    *(
        ReleaseDifference(
            name=f"unequal parts that are turned, {rank} dimensions",
            span=span,
            ops=("Concat-1",),
            reason=(
                "It negates the end of a tensor and joins it with the beginning, and its products and those of the "
                "tensor are added; releases take the two for halves of the same size."
            ),
            model=_turned(counted(*(2, 3)[: rank - 2], 4, 5)),
            applies=partial(_turns_unequal_parts, rank=rank),
        )
        for rank, span in ((4, "2024.3 to 2026.4"), (3, "2025.4 to 2026.4"))
    ),
    not_compiled(
        name="parts of a split that are reshaped and reduced",
        span="2022.3 to 2022.3",
        ops=("Split-1", "VariadicSplit-1"),
        reason="A reduction of what a Reshape to a constant shape makes of a part is not compiled.",
        model=Call(
            "ReduceMax-1",
            (
                Call(
                    "Reshape-1",
                    (
                        Call("Split-1", (counted(2, 3, 4), Fixed(index(2))), {"num_splits": "2"}, gives=1),
                        Fixed(whole(3, 4)),
                    ),
                    {"special_zero": "false"},
                ),
                Fixed(whole(1)),
            ),
            {"keep_dims": "false"},
        ),
        applies=lambda seen: seen.has(Pattern.REDUCED),
    ),
    not_compiled(
        name="Transpose of bytes between an input and an output of IR v10",
        only_v10=True,
        span="2022.2 to 2023.0",
        ops=("Transpose-1",),
        reason=(
            "A layer for 8-bit types between an input and an output of IR v10 is removed, and the output is missing."
        ),
        model=Call("Transpose-1", (counted(2, 3, 4).astype(np.uint8), Fixed(whole(2, 0, 1)))),
        types="u8 i8 boolean",
        applies=lambda seen: seen.between and seen.version == FIRST_VERSION and not has_rank(seen, 1),
    ),
    ReleaseDifference(
        name="Transpose without an order",
        span="2022.1 to 2024.2",
        ops=("Transpose-1",),
        reason="An empty order does not reverse the axes.",
        model=Call("Transpose-1", (Call("Abs-1", (counted(2, 3),)), Fixed(whole()))),
        applies=lambda seen: not _is_alone(seen) and axes_of(seen) == [] and seen.rank() > 1,
    ),
    not_run(
        name="StridedSlice that inserts an axis before one that it cuts",
        span="2023.0 to 2024.6",
        ops=("StridedSlice-1",),
        reason="For data of unknown size the wrong axis is sliced; the process may crash.",
        model=Call(
            "StridedSlice-1",
            (Given(counted(2, 3, 4), "?,3,?"), *(Fixed(whole(number, number)) for number in (0, 1, 1))),
            {"begin_mask": "0,0", "end_mask": "0,0", "new_axis_mask": "1,0"},
        ),
        applies=_slices_behind_new_axis,
    ),
    ReleaseDifference(
        name="StridedSlice backwards of unknown size",
        span="2023.0 to 2023.1",
        ops=("StridedSlice-1",),
        reason="Data of unknown size that are cut backwards, from or to an open end, give no elements.",
        model=Call(
            "StridedSlice-1",
            (Given(counted(2, 3), "?,3"), *(Fixed(whole(*numbers)) for numbers in ((0, 0), (0, 0), (1, -1)))),
            {"begin_mask": "1,1", "end_mask": "1,1"},
        ),
        instead=("? 1 input 1", "? 1 input 2", "? 1 input 3"),
        applies=_slices_backwards,
    ),
    not_compiled(
        name="StridedSlice before a product and a sum",
        span="2023.3 to 2023.3",
        ops=("StridedSlice-1",),
        reason="With masks other than begin_mask and end_mask it is not compiled before a product and a sum.",
        model=Call(
            "Add-1",
            (
                Call(
                    "Multiply-1",
                    (
                        Call(
                            "StridedSlice-1",
                            (counted(2, 3), *map(Fixed, (whole(0, 0), whole(1, 2), whole(1, 1)))),
                            {"begin_mask": "0,0", "end_mask": "0,0", "shrink_axis_mask": "0,0"},
                        ),
                        Fixed(floats(2)),
                    ),
                ),
                Fixed(floats(2)),
            ),
        ),
        applies=_is_masked_and_affine,
    ),
    *(
        ReleaseDifference(
            name=f"Tile by no repeats, {span}",
            span=span,
            ops=("Tile-1",),
            reason="The output, which is equal to the data, is uninitialized.",
            model=Call("Tile-1", (counted(2, 3), Fixed(whole()))),
            applies=lambda seen: seen.inputs[1].dims == (0,),
        )
        for span in READING_NOTHING
    ),
    ends(
        name="Tile by repeats below 0",
        span="2023.3 to 2026.0",
        ops=("Tile-1",),
        reason="A negative number of repeats ends the process.",
        model=Call("Tile-1", (counted(2, 3), Fixed(whole(-1, 1)))),
        applies=lambda seen: min(seen.inputs[1].integers() or [0]) < 0,
    ),
    not_read(
        name="StridedSlice with absent masks",
        span="2021.2 to 2021.2",
        ops=("StridedSlice-1",),
        reason="A StridedSlice is read only if the file contains all of its masks.",
        measured=True,
        model=Call(
            "StridedSlice-1",
            (counted(2, 3), *(Fixed(whole(number, number)) for number in (0, 2, 1))),
            {"begin_mask": "0,0", "end_mask": "0,0"},
        ),
        applies=lambda seen: bool(seen.absent),
    ),
    not_compiled(
        name="Reverse by a mask",
        span="2021.2 to 2022.1",
        ops=("Reverse-1",),
        reason="A mask is read but not compiled.",
        model=Call("Reverse-1", (counted(3), Fixed(np.array([True]))), {"mode": "mask"}),
        applies=has_value("mode", "mask"),
    ),
    *(
        not_compiled(
            name=f"Reverse of {types.split()[0]} by a mask",
            span=f"2022.1 to {last}",
            ops=("Reverse-1",),
            reason=f"A mask is read but not compiled for {', '.join(types.split())}.",
            model=Call("Reverse-1", (counted(2, 4).astype(dtype), Fixed(np.array([True, False]))), {"mode": "mask"}),
            types=types,
            applies=has_value("mode", "mask"),
        )
        for types, dtype, last in (("f16 i64 u64", np.float16, "2023.0"), ("f64 i16 u16 u32", np.float64, "2023.2"))
    ),
    ends(
        name="Slice to ends far beyond unknown sizes",
        span="2022.1 to 2022.3",
        ops=("Slice-8",),
        reason="The allocation of memory for the largest possible output fails.",
        model=Call(
            "Slice-8", (Given(counted(2, 40), "?,40"), *map(Fixed, (whole(0), whole(10**9), whole(1), whole(0))))
        ),
        applies=_may_be_huge,
    ),
    *(
        ends(
            name=f"Slice{way} of the only unknown size",
            span=f"2022.1 to {last}",
            ops=("Slice-8",),
            reason=f"Slices {what} get a wrong largest size, and memory for that is taken.",
            model=Call("Slice-8", (Given(counted(2, 8), "2,?"), *map(Fixed, map(whole, (*limits, 1))))),
            applies=partial(_cuts_only_unbounded, backwards=bool(way)),
        )
        for way, last, what, limits in (
            ("", "2022.2", "from the first element to an index from the end", (0, -2, 1)),
            (" backwards", "2022.3", "backwards from an index from the end to the first element", (-3, 0, -1)),
        )
    ),
    not_compiled(
        name="Slice to an index from the end whose size is read",
        span="2022.1 to 2022.2",
        ops=("Slice-8",),
        reason="The largest size of a slice from the first element is wrong; shapes that are made of it are refused.",
        model=Call(
            "Broadcast-3",
            (
                Fixed(floats(1)[0]),
                sizes_of(
                    Call(
                        "Slice-8",
                        (Given(counted(8, 9), "?,?"), *map(Fixed, map(whole, (0, -2, 1, 0)))),
                    )
                ),
            ),
            {"mode": "numpy"},
        ),
        applies=lambda seen: seen.has(Pattern.SIZING) and _cut_unbounded(seen) > 0,
    ),
    not_run(
        name="Slice between limits from both ends",
        span="2022.1 to 2026.4",
        ops=("Slice-8",),
        reason="The slice of the largest size is taken for the largest slice; longer ones fail.",
        model=Call("Slice-8", (Given(counted(2, 8), "2,2..30"), *map(Fixed, map(whole, (-3, 20, 1, 1))))),
        applies=_cuts_less_of_the_largest,
    ),
    not_run(
        name="Slice of two unknown sizes that is reshaped",
        span="2022.1 to 2022.2",
        ops=("Slice-8",),
        reason="Slices from the first element to an index from the end get wrong largest sizes, and a wrong product.",
        model=Call(
            "Reshape-1",
            (
                Call("Slice-8", (Given(counted(30, 31), "?,?"), *(Fixed(whole(one, one)) for one in (0, -7, 1)))),
                Fixed(whole(-1)),
            ),
            {"special_zero": "false"},
        ),
        applies=lambda seen: seen.has(Pattern.RESHAPED) and _cut_unbounded(seen) > 1,
    ),
    not_read(
        name="Squeeze of a scalar",
        span="2021.2 to 2022.2",
        ops=("Squeeze-1",),
        reason="A scalar has no axis to remove.",
        model=Call("Squeeze-1", (number(3), Fixed(whole(0)))),
        applies=lambda seen: len(seen.inputs) > 1 and seen.inputs[0].shape == (),
    ),
    not_read(
        name="Squeeze along an axis of several elements",
        span="2021.2 to 2024.2",
        ops=("Squeeze-1",),
        reason="An axis that is known not to be 1 cannot be removed; later releases leave all axes.",
        model=Call("Squeeze-1", (counted(5, 1), Fixed(whole(0, 1)))),
        applies=_squeezes_several,
    ),
    not_compiled(
        name="Squeeze that may leave axes, of an unknown size",
        span="2024.5 to 2026.4",
        ops=("Squeeze-15",),
        reason="With `allow_axis_skip` and an unknown size it is read but not compiled.",
        model=Call("Squeeze-15", (Given(counted(1, 2), "1,?"), Fixed(whole(0))), {"allow_axis_skip": "true"}),
        applies=lambda seen: has_value("allow_axis_skip", True)(seen) and not is_static(seen.inputs[0].shape),
    ),
    *(
        ReleaseDifference(
            name=f"Tile by more or fewer repeats than dimensions, {span}",
            span=span,
            ops=("Tile-1",),
            state=state,
            reason="The number of repeats must equal the rank of the data.",
            model=Call("Tile-1", (counted(2, 3), Fixed(whole(1, 1, 2)))),
            applies=_has_other_repeats,
        )
        for span, state in (("2021.2 to 2021.3", State.UNCOMPILED), ("2021.4 to 2021.4", State.FAILS))
    ),
    ReleaseDifference(
        name="Tile of four dimensions by computed repeats",
        span="2022.1 to 2026.4",
        ops=("Tile-1",),
        reason="Blocks are copied to the wrong positions if three or more dimensions are repeated.",
        sometimes=True,
        model=Call("Tile-1", (counted(3, 4, 3, 2), whole(2, 2, 2, 3))),
        applies=_may_be_tiled_wrongly,
    ),
    *(
        ReleaseDifference(
            name=f"Unique without its third output, not sorted, {span}",
            span=span,
            ops=("Unique-10",),
            state=state,
            reason=f"If nothing reads the third output, {what}.",
            model=Call("Unique-10", (floats(3, 1, 3),), {"sorted": "false"}, results=(0,)),
            applies=lambda seen: (
                len(seen.inputs) == 1 and has_value("sorted", False)(seen) and 2 not in dict(seen.readers)
            ),
        )
        for span, state, what in (
            ("2024.3 to 2024.6", State.DIES, "the process ends"),
            ("2025.0 to 2026.4", State.DIFFERS, "all elements are the first one, and all counts are 1"),
        )
    ),
    ReleaseDifference(
        name="Unique elements along an axis, sorted",
        span="2022.3 to 2023.0",
        ops=("Unique-10",),
        reason="Slices of several elements are not sorted.",
        sometimes=True,
        model=Call("Unique-10", (floats([1, 0], [0, 1]), Fixed(index(1))), {"sorted": "true"}),
        applies=_sorts_parts,
    ),
    *(
        ReleaseDifference(
            name=f"Roll of unknown sizes, {what}",
            span=span,
            ops=("Roll-7",),
            state=state,
            reason=reason,
            model=Call("Roll-7", (counted(2, 3), Given(whole(1), "?"), Given(whole(0), "?"))),
            applies=applies,
        )
        for what, span, state, reason, applies in (
            (
                "compiled",
                "2022.1 to 2022.1",
                State.UNCOMPILED,
                "An input of unknown size is read but not compiled.",
                _has_unknown_input,
            ),
            (
                "run",
                "2022.2 to 2024.6",
                State.FAILS,
                "If an input has an unknown size, axes that are not constants do not run.",
                lambda seen: 2 not in seen.constant and _has_unknown_input(seen),
            ),
        )
    ),
    ends(
        name="Slice along computed axes",
        span="2023.0 to 2026.4",
        ops=("Slice-8",),
        reason="Axes that are not constants crash the process if start, stop and step are constants.",
        model=Call("Slice-8", (counted(2, 4, 4), *map(Fixed, (whole(0), whole(2), whole(1))), whole(1))),
        instead=("input 4",),
        applies=lambda seen: len(seen.inputs) > 4 and 4 not in seen.constant and {1, 2, 3} <= {*seen.constant},
    ),
    *(
        ReleaseDifference(
            name=f"SpaceToBatch with pads below 0{along}",
            span="2022.1 to 2026.4",
            ops=("SpaceToBatch-2",),
            state=state,
            reason=f"Data of four dimensions or more that is cut along an axis before it is taken apart {what}.",
            model=_in_blocks(counted(1, 2, 4, 4), *pads),
            applies=partial(_cuts_blocks, single=single),
        )
        for along, state, what, pads, single in (
            ("", State.DIFFERS, "becomes other data", (0, 0, -2, 0), False),
            (" along an axis without blocks", State.FAILS, "does not run", (0, -1, 0, 0), True),
        )
    ),
    not_compiled(
        name="blocks in the channels",
        span="2021.2 to 2021.3",
        ops=("BatchToSpace-2", "SpaceToBatch-2"),
        reason="A block, padding or crop of axis 1 is read but not compiled.",
        model=Call(
            "SpaceToBatch-2",
            (counted(2, 4, 4, 4), *map(Fixed, (whole(1, 2, 1, 1), whole(0, 0, 0, 0), whole(0, 0, 0, 0)))),
        ),
        applies=_touches_channels,
    ),
    not_read(
        name="Broadcast of a single element along given axes",
        span="2021.2 to 2021.3",
        ops=("Broadcast-1", "Broadcast-3"),
        reason="The sizes along the given axes must be equal; a size of 1 is not broadcast.",
        model=Call("Broadcast-1", (counted(1), Fixed(whole(3)), Fixed(whole(0))), {"mode": "explicit"}),
        applies=lambda seen: has_value("mode", "explicit")(seen) and _widens(seen),
    ),
    not_read(
        name="Broadcast both ways to sizes",
        span="2021.2 to 2021.2",
        ops=("Broadcast-3",),
        reason="A shape that is made of single numbers is taken for that of the output, which does not fit then.",
        model=Call(
            "Concat-1",
            (Call("Broadcast-3", (FULL, _sizes_of_one(FULL)), {"mode": "bidirectional"}), FULL),
            {"axis": "2"},
        ),
        applies=_repeats_less,
    ),
    ends(
        name="Broadcast of an input to its own shape",
        span="2021.2 to 2021.3",
        ops=("Broadcast-3",),
        reason="The layer is removed, and the process ends while the model is compiled.",
        model=Call("Broadcast-3", (counted(2, 3), Fixed(whole(2, 3))), {"mode": "numpy"}),
        applies=_gives_its_shape,
    ),
    ends(
        name="Broadcast of a single number to no dimensions",
        span="2022.1 to 2026.4",
        ops=("Broadcast-3",),
        reason="If data and output have no dimensions, the process ends while the model is compiled.",
        model=Call("Broadcast-3", (number(2), sizes_of(number(3))), {"mode": "numpy"}),
        applies=lambda seen: bool(seen.inputs) and seen.inputs[0].shape == seen.outputs[0].shape == (),
    ),
    not_compiled(
        name="blocks of up to three dimensions of unknown size",
        span="2022.1 to 2022.3",
        ops=("BatchToSpace-2", "SpaceToBatch-2"),
        reason="Data of rank 2 or 3 is compiled only for known sizes.",
        model=Call(
            "SpaceToBatch-2", (Given(counted(4, 6), "?,?"), *map(Fixed, (whole(1, 2), whole(0, 0), whole(0, 0))))
        ),
        applies=lambda seen: _is_low(seen) and not is_static(seen.inputs[0].shape),
    ),
    *(
        not_read(
            name=f"{op} of three dimensions",
            span="2021.2 to 2021.2",
            ops=(op,),
            reason="For data of rank 3, the wrong axis is divided into blocks (the one before).",
            model=Call(op, (counted(*sizes),), {"mode": "blocks_first", "block_size": "3"}),
            applies=_has_blocks_elsewhere,
        )
        for op, sizes in (("DepthToSpace-1", (2, 6, 2)), ("SpaceToDepth-1", (9, 2, 6)))
    ),
    *(
        ends(
            name=f"Broadcast-1 {what} before an elementwise layer",
            span=span,
            ops=("Broadcast-1",),
            reason="The process crashes if the only consumer of the output combines it with another tensor.",
            model=Call("Add-1", (Call("Broadcast-1", (data, Fixed(target)), {"mode": "numpy"}), Fixed(floats(2)))),
            applies=applies,
        )
        for what, span, data, target, applies in (
            ("of any tensor", "2023.0 to 2023.1", counted(2, 3), whole(2, 3), _is_combined),
            ("that repeats data", "2023.0 to 2024.0", counted(1, 3), whole(2, 3), _is_repeated_and_combined),
        )
    ),
    *(
        not_compiled(
            name=f"blocks of up to three dimensions whose {what} are of unknown number",
            span=f"2022.1 to {last}",
            ops=ops,
            reason="For data of rank 2 or 3 the number of values of these inputs must be known.",
            model=Call("SpaceToBatch-2", (counted(4, 6), *inputs)),
            applies=applies,
        )
        for what, last, ops, inputs, applies in (
            (
                "sizes",
                "2026.4",
                ("BatchToSpace-2", "SpaceToBatch-2"),
                (Given(whole(1, 2), "?"), Fixed(whole(0, 0)), Fixed(whole(0, 0))),
                lambda seen: _is_low(seen) and not is_static(seen.inputs[1].shape),
            ),
            (
                "paddings",
                "2025.3",
                ("SpaceToBatch-2",),
                (Fixed(whole(1, 2)), Given(whole(0, 0), "?"), Fixed(whole(0, 0))),
                lambda seen: _is_low(seen) and not all(is_static(fact.shape) for fact in seen.inputs[2:]),
            ),
        )
    ),
    not_compiled(
        name="Squeeze of unknown sizes without axes",
        span="2022.1 to 2026.4",
        ops=("Squeeze-1", "Squeeze-15"),
        reason="Without a second input, Squeeze is compiled only for known sizes.",
        model=Call("Squeeze-1", (Given(counted(1, 2, 3), "1,?,3"),)),
        applies=lambda seen: len(seen.inputs) == 1 and not is_static(seen.inputs[0].shape),
    ),
    ReleaseDifference(
        name="Reverse along no axis",
        span="2022.1 to 2023.2",
        ops=("Reverse-1",),
        reason="With an empty list of axes the output is uninitialized.",
        model=Call("Reverse-1", (counted(2, 3), Fixed(whole())), {"mode": "index"}),
        applies=_has_no_axes,
    ),
    *(
        not_compiled(
            name=f"Pad of {kinds} with infinity or nan, {span}",
            span=span,
            ops=("Pad-1", "Pad-12"),
            reason="A constant that is infinite or not a number is not compiled as the value to pad with.",
            model=Call(
                "Pad-1",
                (
                    np.array([3, 4], element_type(kinds.split()[0]).dtype),
                    Fixed(whole(1)),
                    Fixed(whole(1)),
                    Fixed(np.array(np.inf, element_type(kinds.split()[0]).dtype)),
                ),
                {"pad_mode": "constant"},
            ),
            types=kinds,
            applies=lambda seen: len(seen.inputs) > 3 and _is_infinite(seen.inputs[3]),
        )
        for kinds, span in (
            ("f32 bf16", "2021.2 to 2021.3"),
            ("bf16", "2023.1 to 2024.2"),
        )
    ),
    not_read(
        name="Split into three outputs of IR v10",
        only_v10=True,
        span="2022.1 to 2022.1",
        ops=("Split-1", "VariadicSplit-1"),
        reason="Three or more parts that are outputs and converted get one name, and the model is not read.",
        model=Call("Split-1", (counted(3).astype(np.uint8), Fixed(index(0))), {"num_splits": "3"}),
        types="f16 bf16 f64 i8 i16 i64 u8 u16 u32 u64 boolean",
        applies=lambda seen: (
            seen.version == FIRST_VERSION
            and len({number for number, type in seen.readers if type in {"Result", "Convert"}}) > 2
        ),
    ),
    not_read(
        name="Squeeze without axes",
        span="2021.2 to 2021.3",
        ops=("Squeeze-1",),
        reason="A Squeeze is read only with an input of axes.",
        model=Call("Squeeze-1", (counted(2, 1, 3),)),
        applies=lambda seen: len(seen.inputs) < 2,
    ),
    *(
        ReleaseDifference(
            name=f"Concat with an empty part, {span}",
            span=span,
            ops=("Concat-1",),
            state=state,
            reason="Parts without elements are not supported.",
            model=Call("Concat-1", (FULL, EMPTY), {"axis": "2"}),
            applies=lambda seen: (
                any(0 in fact.dims for fact in seen.inputs) and 0 not in seen.outputs[0].dims and not has_rank(seen, 1)
            ),
        )
        for span, state in (("2021.2 to 2021.2", State.UNREAD), ("2021.3 to 2021.4", State.UNCOMPILED))
    ),
    not_compiled(
        name="VariadicSplit with an empty part",
        span="2021.3 to 2021.4",
        ops=("VariadicSplit-1",),
        reason="Along other axes than the first, parts without elements are not supported, even if nothing reads them.",
        model=Call("VariadicSplit-1", (counted(2, 6), SECOND, Fixed(whole(0, 2, 4))), results=(1, 2)),
        applies=lambda seen: axes_of(seen) != [0] and any(0 in fact.dims for fact in seen.outputs),
    ),
    ReleaseDifference(
        name="Concat of one batch after a constant",
        span="2021.4 to 2021.4",
        ops=("Concat-1",),
        reason="Along axis 1 of one batch, a constant that comes first is not copied: what is in its place is random.",
        model=Call("Concat-1", (Fixed(counted(1, 3, 4)), counted(1, 2, 4)), {"axis": "1"}),
        applies=_loses_the_first,
    ),
    *(
        ReleaseDifference(
            name=f"Concat with a part that {what}",
            span=span,
            ops=("Concat-1",),
            reason="Its parts are in its place, where the layer behind it writes before others read one of them.",
            sometimes=True,
            model=model,
            applies=partial(_is_overwritten, patterns=patterns, read=read, axes=axes),
        )
        for what, span, model, patterns, read, axes in (
            (
                "an update overwrites",
                "2021.2 to 2021.4",
                _overwritten(counted(1, 3, 4), update=True),
                [Pattern.UPDATED],
                Pattern.PART_READ,
                [1],
            ),
            (
                "a normalization overwrites",
                "2021.2 to 2023.0",
                _overwritten(counted(1, 3, 4)),
                [Pattern.NORMALIZED],
                Pattern.PART_READ,
                [1],
            ),
            (
                "a normalization overwrites, along the first axis",
                "2022.1 to 2023.0",
                _overwritten(counted(2, 2, 4), axis=0),
                [Pattern.NORMALIZED],
                Pattern.PART_READ,
                [0],
            ),
            (
                "is an output and that a normalization overwrites",
                "2023.1 to 2023.2",
                _overwritten(),
                [Pattern.NORMALIZED, Pattern.NORMALIZED_AS_OTHER],
                Pattern.PART_GIVEN,
                range(sys.maxsize),
            ),
        )
    ),
    ReleaseDifference(
        name="Reshape of constants to computed sizes",
        span="2022.1 to 2022.1",
        ops=("Reshape-1",),
        reason="If the data is constant and the shape is computed, the output is whatever is in memory.",
        model=Call("Reshape-1", (Fixed(counted(2, 3)), whole(3, 2)), {"special_zero": "false"}),
        applies=lambda seen: {*seen.constant} == {0},
    ),
    not_read(
        name="Tile of constants by repeats of i32",
        span="2021.2 to 2021.4",
        ops=("Tile-1",),
        reason="If the data is a constant or known from sizes, the repeats must be i64.",
        model=Call(
            "Reshape-1",
            (counted(2, 3), Call("Tile-1", (Fixed(whole(-1)), Fixed(np.array([1], np.int32))))),
            {"special_zero": "false"},
        ),
        applies=lambda seen: 0 in seen.constant and seen.inputs[1].dtype != element_type("i64"),
    ),
    not_read(
        name="Unsqueeze of constants by one number",
        span="2021.3 to 2021.4",
        ops=("Unsqueeze-1",),
        reason="If the data is a constant or known from sizes, the axes must be a list, even of one.",
        model=Call("Reshape-1", (counted(2, 3), ONE_LIST), {"special_zero": "false"}),
        applies=lambda seen: 0 in seen.constant and seen.inputs[1].shape == (),
    ),
    *(
        ReleaseDifference(
            name=f"Slice before a GatherElements along another axis{what}",
            span="2023.1 to 2026.4",
            ops=("Slice-8",),
            state=state,
            reason="The layer is removed, and the GatherElements needs as many elements along that axis as it gathers.",
            model=Call("GatherElements-6", (_beginning(shape), Fixed(np.zeros((1, 6, 3), np.int64))), {"axis": "1"}),
            applies=partial(_is_gathered, known=not what),
        )
        for what, state, shape in ((", of unknown size", State.FAILS, "1,6,?"), ("", State.UNCOMPILED, "1,6,5"))
    ),
    *(
        not_run(
            name=f"Slice to a size of what {what}",
            span=f"{first} to 2024.2",
            ops=("Slice-8",),
            reason=f"The axis is taken for as long as the slice of it that {what}, and the size for that of the axis.",
            model=model,
            applies=partial(_ends_at_a_size, pattern=pattern),
        )
        for what, first, model, pattern in (
            ("is multiplied with it", "2023.2", TURNED, Pattern.MATCHED),
            ("is combined and multiplied with it", "2024.1", TURNED_DOUBLE, Pattern.MATCHED_LATER),
            (
                "masks it",
                "2024.2",
                Call("ScaledDotProductAttention-13", (counted(1, 2, 3, 6), *[FEW] * 2, AS_FEW), PLAIN),
                Pattern.MASKING,
            ),
        )
    ),
    *(
        not_read(
            name=f"{name} that depend on its own constants",
            span="2022.1 to 2022.1",
            ops=(model.op,),
            reason="Limits that are computed from a constant that the layer also reads itself are not read.",
            model=model,
            applies=lambda seen: seen.has(Pattern.SHARED) and not is_static(seen.inputs[0].shape),
        )
        for name, model in (
            ("lengths of a VariadicSplit", Call("VariadicSplit-1", (ROWS_OF_SIX, SECOND, REST))),
            ("ends of a Slice", Call("Slice-8", (ROWS_OF_SIX, Fixed(whole(0)), LESS, Fixed(whole(1)), LAST))),
        )
    ),
    not_compiled(
        name="Split whose later parts are combined with unknown sizes",
        span="2022.1 to 2022.3",
        ops=("Split-1", "VariadicSplit-1"),
        reason="An elementwise layer of unknown sizes that reads a part after the first is read but not compiled.",
        model=Call(
            "Multiply-1",
            (Given(whole(2, 3), "?"), Call("Split-1", (whole(1, 2), Fixed(index(0))), {"num_splits": "2"}, gives=1)),
        ),
        applies=lambda seen: seen.has(Pattern.JOINED) and axes_of(seen) == [0] and is_static(seen.inputs[0].shape),
    ),
    ReleaseDifference(
        name="Split whose parts are mistaken for each other",
        span="2022.3 to 2022.3",
        ops=("Split-1", "VariadicSplit-1"),
        reason="Elementwise layers that read a part twice, after another one, read the other one in its place.",
        model=_sum_of_squares(counted(4, 3)),
        applies=lambda seen: seen.has(Pattern.MISTAKEN),
    ),
    not_run(
        name="Pad by unlimited sizes on both sides",
        span="2023.1 to 2023.1",
        ops=("Pad-1", "Pad-12"),
        reason="An axis of limited size that is padded on both sides by computed sizes without limits is not shaped.",
        model=Call("Pad-1", (counted(2), ANY_LENGTH, ANY_LENGTH), {"pad_mode": "constant"}),
        applies=_is_padded_by_sizes,
    ),
    not_read(
        name="reflecting Pad of an axis of one element",
        span="2021.2 to 2022.2",
        ops=("Pad-1",),
        reason='With pad_mode="reflect", all axes from the third on need two elements, even those without padding.',
        model=Call(
            "Pad-1",
            (counted(2, 8, 1), Fixed(whole(0, 3, 0)), Fixed(whole(0, 3, 0)), Fixed(np.array(0, np.float32))),
            {"pad_mode": "reflect"},
        ),
        applies=lambda seen: has_value("pad_mode", "reflect")(seen) and 1 in seen.inputs[0].dims[2:],
    ),
    not_read(
        name="Pad by a number of axes that is unknown",
        span="2023.0 to 2025.3",
        ops=("Pad-1", "Pad-12"),
        reason="The model is read only if the sizes of pads_begin and pads_end are known.",
        model=Call("Pad-1", (counted(2, 3), Fixed(whole(1, 1)), Given(whole(0, 1), "?")), {"pad_mode": "reflect"}),
        applies=lambda seen: not all(is_static(fact.shape) for fact in seen.inputs[1:3]),
    ),
)
"""The rows."""
