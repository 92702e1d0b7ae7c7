"""Reductions, and what is compiled with them."""

from functools import partial
from math import prod

import numpy as np
from numpy.typing import DTypeLike

from ir_tools.known_differences._model import Call, Feed, Fixed, Given, counted, floats, index, number, whole
from ir_tools.known_differences.releases._predicates import axes_of
from ir_tools.known_differences.releases._row import ReleaseDifference, ends, not_compiled, not_read, not_run
from ir_tools.known_differences.releases.seen import NUMBER, Pattern, Seen
from ir_tools.ops import Array
from ir_tools.processors import Processor
from ir_tools.releases.measured import State
from ir_tools.types import element_type, is_static

__all__ = ["ROWS"]

LIMITS = [Fixed(number(limit)) for limit in (0, 255, 0, 255)]
BF16 = element_type("bf16").dtype
BY_CHANNEL = ((3, (0,)), (3, (2,)))
BY_CHANNEL_UNTIL_2024 = ((2, (0,)), (3, (0, 2)))
"""Ranks and axes of reductions that are scaled along another axis than that of the channels."""
SIGNED = "i8 i16 u16 i32 u32 i64 u64"
INTEGERS = f"u8 {SIGNED}"
REDUCTIONS = ("ReduceMax-1", "ReduceMin-1", "ReduceMean-1", "ReduceSum-1", "ReduceProd-1", "ReduceL1-4", "ReduceL2-4")
ANY = (*REDUCTIONS, "ReduceLogicalAnd-1", "ReduceLogicalOr-1")


OF_ROUNDED = {(3, (1,)), (4, (1,)), (5, (1,)), (5, (1, 2))}
OF_ROUNDED_SIGNED = {(2, (1,)), (3, (1, 2)), (4, (2,)), (4, (3,)), (4, (1, 2)), (4, (2, 3))}
"""Ranks of levels and axes of their sums, whether these are kept or not; of levels of which some are negative."""


def _is_part_of(seen: Seen, *, pattern: str) -> bool:
    return seen.has(pattern)


def _is_counted_from_the_end(seen: Seen, *, but: int = 0) -> bool:
    """Return whether a constant is reduced along an axis that is counted from the end, of others but one."""
    axes = seen.inputs[1].exact
    return 0 in seen.constant and axes is not None and any(int(axis) < 0 and axis != but for axis in axes.flat)


def _has_fewer_elements(seen: Seen) -> bool:
    """Return whether the output may have fewer elements than the first input."""
    before, after = seen.inputs[0].shape, seen.outputs[0].shape
    if before is None or after is None or not is_static(before) or not is_static(after):
        return True
    return prod(dim.lo for dim in before) > prod(dim.lo for dim in after)


def _reduced(seen: Seen) -> tuple[int, tuple[int, ...]]:
    """Return the rank of the data of a reduction, and the axes that it reduces; `-1, ()` if they are not known."""
    shape, axes = seen.inputs[0].shape, axes_of(seen)
    return (-1, ()) if shape is None or axes is None else (len(shape), tuple(sorted({*axes})))


def _keeps_axes(seen: Seen) -> bool:
    return seen.attrs is not None and bool(seen.attrs["keep_dims"])


def _ends_within_a_block(seen: Seen) -> bool:
    """Return whether a last axis of 2 to 15 elements is reduced, in 16 rows or more of one image."""
    shape, (rank, axes) = seen.inputs[0].shape, _reduced(seen)
    if shape is None or not shape or (axes and rank - 1 not in axes) or shape[-1].lo > 15 or shape[-1].hi == 1:
        return False
    rows = [dim.hi for dim in shape[rank > 3 : -1]]
    return None in rows or prod(filter(None, rows)) > 15


def _has_nothing(seen: Seen) -> bool:
    """Return whether an axis of size 0 is reduced to something, or may be."""
    shape, (rank, axes) = seen.inputs[0].shape, _reduced(seen)
    reduced = [] if shape is None else [shape[axis] for axis in (axes if rank > -1 else range(len(shape)))]
    given = seen.outputs[0].shape
    return any(dim.hi == 0 for dim in reduced) and (given is None or all(dim.hi != 0 for dim in given))


def _has_short_rows(seen: Seen, *, patterns: tuple[str, ...], least: int, beyond: int) -> bool:
    """Return whether a mean of squares is of `least` or more elements, and of fewer than a number that it takes."""
    if not any(map(seen.has, patterns)):
        return False
    shape = seen.inputs[0].shape or ()
    return len(shape) > 1 and least <= shape[-1].lo < beyond and shape[-1].static


def _largest(shape: str, count: int, *, keep: bool) -> Call:
    """Return the largest elements of four joined with others."""
    first = Call("Abs-1", (Given(counted(2, 4, 5), shape),))
    second = Call("Tanh-1", (first,)) if count == 4 else counted(2, count, 5) / 7
    joined = Call("Concat-1", (first, second), {"axis": "1"})
    return Call("ReduceMax-1", (joined, Fixed(whole(1))), {"keep_dims": str(keep).lower()})


def _is_of_parts(seen: Seen, *, kept: bool = False, known: bool = True, others: bool | None = None) -> bool:
    """Return whether a reduction of two parts keeps its axis, or whether its size is known and all others are."""
    if not seen.has(Pattern.PAIRED) or _keeps_axes(seen) is not kept:
        return False
    shape, axes = seen.inputs[0].shape, axes_of(seen)
    if not shape or not axes:
        return False
    axis = axes[0] % len(shape)
    rest = (*shape[:axis], *shape[axis + 1 :])
    return kept or (shape[axis].static is known and others in {None, is_static(rest)})


def _scales_middle(seen: Seen) -> bool:
    """Return whether one number scales or shifts a reduction along the middle axis of three, or the last two."""
    return NUMBER in seen.scaled and _reduced(seen) in {(3, (1,)), (3, (1, 2))}


def _scales_more_rows(seen: Seen) -> bool:
    """Return whether one number scales or shifts a reduction of three axes along one of the last two, of more rows."""
    shape = seen.outputs[0].shape
    if NUMBER not in seen.scaled or _reduced(seen) not in {(3, (1,)), (3, (2,))} or not shape:
        return False
    return shape[1].hi is not None and (shape[0].hi is None or shape[0].hi > shape[1].lo)


def _scales_rows_of_images(seen: Seen) -> bool:
    """Return whether one number scales or shifts a reduction of four axes or more, the first without the second."""
    (rank, axes), shape = _reduced(seen), seen.outputs[0].shape
    if NUMBER not in seen.scaled or rank < 4 or 0 not in axes or 1 in axes or _keeps_axes(seen):
        return False
    return shape is not None and len(shape) > 1 and (shape[0].hi is None or shape[0].hi > shape[1].lo)


def _scales_channels(seen: Seen, *reduced: tuple[int, tuple[int, ...]]) -> bool:
    """Return whether constants scale or shift, by channel, a reduction of data of a rank along axes, of those given."""
    rank, axes = _reduced(seen)
    channel = 1 if _keeps_axes(seen) or 0 not in axes else 0
    return channel in seen.scaled and (rank, axes) in reduced


def _scales_second_axis(seen: Seen) -> bool:
    """Return whether constants scale or shift, along axis 1, a reduction that leaves other channels there."""
    rank, axes = _reduced(seen)
    if _keeps_axes(seen):
        return _scales_channels(seen, *BY_CHANNEL, *BY_CHANNEL_UNTIL_2024)
    return 1 in seen.scaled and (rank == 3 or not {0, 1}.isdisjoint(axes))


def _rounds_its_mean(seen: Seen, *, newer: bool) -> bool:
    """Return whether a sum of levels is of a rank and along axes that are measured; `newer`: on 2021.3 and later."""
    if not seen.has(Pattern.OF_LEVELS):
        return False
    reduced = _reduced(seen)
    if not newer:
        return reduced in {(4, (2,)), (4, (3,)), (4, (2, 3))}
    kept = reduced in {(2, (1,)), (3, (1, 2))} and _keeps_axes(seen)
    left = reduced in {(4, (2,)), (4, (3,)), (4, (1, 2)), (4, (2, 3))} and not _keeps_axes(seen)
    return (
        kept or left or reduced in OF_ROUNDED or (reduced in OF_ROUNDED_SIGNED and seen.has(Pattern.OF_SIGNED_LEVELS))
    )


def _scaled_sum(
    shape: tuple[int, ...], axis: int, numbers: object, kind: DTypeLike = np.float32, keep: bool = False
) -> Call:
    """Return a sum of ones along one axis, plus constant numbers."""
    total = Call("ReduceSum-1", (np.ones(shape, kind), Fixed(whole(axis))), {"keep_dims": str(keep).lower()})
    return Call("Add-1", (total, Fixed(np.array(numbers, kind))))


def _subtracted_sum(shape: tuple[int, ...], axis: int) -> Call:
    """Return 9 minus a sum of ones, i32."""
    total = Call("ReduceSum-1", (np.ones(shape, np.int32), Fixed(whole(axis))), {"keep_dims": "true"})
    return Call("Subtract-1", (np.full((1,), 9, np.int32), total))


def _axes_of_scalar(seen: Seen) -> list[int]:
    """Return the axes of a scalar as they are written; empty if it is not one, or if they are not known."""
    scalar = len(seen.inputs) > 1 and seen.inputs[0].shape == ()
    return seen.inputs[1].integers() or [] if scalar else []


def _in_a_row(first: Array, second: Array) -> Call:
    """Return two sums of data of three dimensions, one of the other."""
    axes, raw = (Fixed(first), Fixed(second)), {"keep_dims": "false"}
    return Call("ReduceSum-1", (Call("ReduceSum-1", (counted(2, 3, 4), axes[0]), raw), axes[1]), raw)


def _divided_by_root(axis: int, count: int) -> Call:
    """Return rows of elements that are divided by the root of their mean square, and scaled."""
    data, numpy = Call("Abs-1", (counted(2, count),)), {"auto_broadcast": "numpy"}
    squares = Call("Power-1", (data, Fixed(number(2))), numpy)
    mean = Call("ReduceMean-1", (squares, Fixed(whole(axis))), {"keep_dims": "true"})
    root = Call("Sqrt-1", (Call("Add-1", (mean, Fixed(number(1e-6))), numpy),))
    divided = Call("Divide-1", (data, root), {**numpy, "m_pythondiv": "true"})
    return Call("Multiply-1", (divided, Fixed(counted(count))), numpy)


def _summed(data: Feed, *axes: int, keep: str = "false") -> Call:
    return Call("ReduceSum-1", (data, Fixed(whole(*axes))), {"keep_dims": keep})


def _unsqueezed(data: Feed, axis: int) -> Call:
    return Call("Unsqueeze-1", (data, Fixed(whole(axis))))


def _shaped(data: Feed, *sizes: int) -> Call:
    return Call("Reshape-1", (data, Fixed(whole(*sizes))), {"special_zero": "false"})


ROWS = (
    *(
        ReleaseDifference(
            name=f"reductions {name}",
            span=span,
            state=state,
            ops=ANY,
            reason=reason,
            model=model,
            applies=partial(_is_part_of, pattern=pattern),
        )
        for name, span, state, pattern, model, reason in (
            (
                "whose output is moved across a dimension of 1",
                "2024.5 to 2026.4",
                State.DIFFERS,
                Pattern.RESHAPED_AFTER,
                _shaped(_summed(counted(1, 3, 2), 1), 2, 1),
                "A layer behind it that moves a dimension of 1 to an axis that was reduced is removed.",
            ),
            (
                "of data that are moved across a dimension of 1",
                "2024.5 to 2026.4",
                State.DIFFERS,
                Pattern.TRANSPOSED_TO_REDUCE,
                _summed(Call("Transpose-1", (counted(1, 3, 4, 5), Fixed(whole(3, 2, 1, 0)))), 1, 2),
                "The Transpose before it is removed if it moves one dimension of what is left, and that is 1.",
            ),
            *(
                (
                    f"of data with more dimensions of 1 in front, {span}",
                    span,
                    state,
                    Pattern.EXPANDED_TO_REDUCE,
                    _summed(_shaped(counted(3, 1, 1), 1, 1, 3, 1), 3),
                    "The output has as many dimensions more as are not found behind the others in the data.",
                )
                for span, state in (("2022.3 to 2023.2", State.FAILS), ("2023.3 to 2026.4", State.DIFFERS))
            ),
            (
                "along axes from the end, behind more dimensions of 1",
                "2022.3 to 2026.4",
                State.DIFFERS,
                Pattern.REDUCED_FROM_THE_END,
                _summed(_unsqueezed(counted(2, 5), 2), -2),
                "Another axis is reduced: it is counted from the end of fewer dimensions.",
            ),
            (
                "along axes from the end, behind more dimensions of 1 than are before them",
                "2022.3 to 2026.4",
                State.UNCOMPILED,
                Pattern.REDUCED_BEFORE_THE_FIRST,
                _summed(_unsqueezed(counted(2, 5), 2), -3),
                "An axis is not found, as it is counted from the end of fewer dimensions.",
            ),
            *(
                (
                    f"that keep dimensions in front of {which} of 1",
                    span,
                    State.DIFFERS,
                    pattern,
                    _summed(data, 0, keep="true"),
                    "Dimensions of 1 are put back in front of where they were.",
                )
                for which, span, pattern, data in (
                    ("unsqueezed ones", "2023.2 to 2026.4", Pattern.UNSQUEEZED_AND_KEPT, _unsqueezed(counted(2, 5), 2)),
                    ("others", "2022.3 to 2026.4", Pattern.EXPANDED_AND_KEPT, _shaped(counted(2, 5), 2, 5, 1)),
                )
            ),
        )
    ),
    ReleaseDifference(
        name="reductions of nothing",
        span="2023.3 to 2024.5",
        ops=ANY,
        reason="What is reduced along an axis of size 0 is not set.",
        model=Call("ReduceSum-1", (np.zeros((300, 0), np.float32), Fixed(whole(1)))),
        applies=_has_nothing,
    ),
    *(
        ReleaseDifference(
            name=f"sum of quantized data, {span}",
            span=span,
            ops=("ReduceSum-1",),
            reason="It is the number of elements times their mean, which is rounded to a level.",
            sometimes=True,
            model=Call(
                "ReduceSum-1",
                (Call("FakeQuantize-1", (counted(2, 3, 4, 5) % 7, *LIMITS), {"levels": "256"}), Fixed(whole(axis))),
                {"keep_dims": keep},
            ),
            applies=partial(_rounds_its_mean, newer=newer),
        )
        for span, axis, keep, newer in (
            ("2021.2 to 2021.2", 2, "true", False),
            ("2021.3 to 2021.4", 1, "false", True),
        )
    ),
    not_read(
        name="reductions of constants along axes from the end",
        span="2021.2 to 2021.2",
        ops=REDUCTIONS,
        reason="Axes of a constant must be counted from the start.",
        model=Call("Add-1", (counted(2), Call("ReduceMax-1", (Fixed(counted(2, 3)), Fixed(whole(-1)))))),
        applies=lambda seen: _is_counted_from_the_end(seen, but=-seen.rank()),
    ),
    not_compiled(
        name="logical reductions of constants along axes from the end",
        span="2021.2 to 2021.3",
        ops=("ReduceLogicalAnd-1", "ReduceLogicalOr-1"),
        reason="It is not compiled of a constant, nor computed before, unless the axes are counted from the start.",
        folded=True,
        model=Call(
            "LogicalAnd-1",
            (np.array([True, False]), Call("ReduceLogicalAnd-1", (Fixed(counted(2, 3) > 0), Fixed(whole(-1))))),
        ),
        applies=_is_counted_from_the_end,
    ),
    not_compiled(
        name="CumSum of more than 5 dimensions",
        span="2021.2 to 2021.2",
        ops=("CumSum-3",),
        reason="It is compiled for 5 dimensions at most.",
        model=Call("CumSum-3", (counted(1, 1, 1, 1, 1, 3), Fixed(index(5)))),
        applies=lambda seen: seen.rank() > 5,
    ),
    *(
        ReleaseDifference(
            name=f"{op} of integers along a short last axis",
            span="2022.1 to 2022.2",
            ops=(op,),
            reason="Integers of 16 bits or more are reduced wrongly along a last axis of 2 to 15 elements.",
            types="i16 u16 i32 u32 i64 u64",
            sometimes=True,
            model=Call(op, (counted(32, 4).astype(np.int32) + 1, Fixed(whole(1))), {"keep_dims": "true"}),
            applies=_ends_within_a_block,
        )
        for op in ("ReduceMax-1", "ReduceMin-1", "ReduceSum-1", "ReduceProd-1", "ReduceL1-4")
    ),
    not_run(
        name="numbers that reductions give, combined with tensors",
        span="2021.4 to 2021.4",
        ops=ANY,
        reason="A model does not run if such a number is combined with a tensor of one to three dimensions.",
        model=Call(
            "Add-1", (Call("ReduceSum-1", (counted(2, 3), Fixed(whole(0, 1))), {"keep_dims": "false"}), counted(3))
        ),
        applies=lambda seen: seen.has(Pattern.SPREAD) and seen.inputs[0].shape != () and seen.outputs[0].shape == (),
    ),
    not_compiled(
        name="reductions of one element to a number",
        span="2021.2 to 2021.3",
        ops=("ReduceMax-1", "ReduceMean-1", "ReduceSum-1"),
        reason="Without `keep_dims`, a reduction of a single element along all axes is read but not compiled.",
        model=Call("ReduceMax-1", (counted(1, 1), Fixed(whole(0, 1))), {"keep_dims": "false"}),
        applies=lambda seen: seen.outputs[0].shape == () and not _has_fewer_elements(seen),
    ),
    not_compiled(
        name="reductions along no axis",
        span="2022.1 to 2026.4",
        ops=(*REDUCTIONS, "ReduceLogicalAnd-1", "ReduceLogicalOr-1"),
        reason="Without axes and without `keep_dims`, a reduction is read but not compiled.",
        model=Call(
            "ReduceSum-1", (Call("Add-1", (counted(2, 3), Fixed(floats(1)))), Fixed(whole())), {"keep_dims": "false"}
        ),
        applies=lambda seen: (
            axes_of(seen) == [] and seen.rank() != 1 and seen.inputs[0].shape != () and not _keeps_axes(seen)
        ),
    ),
    ReleaseDifference(
        name="means of integers",
        span="2022.1 to 2024.3",
        ops=("ReduceMean-1",),
        reason="Means of integers along constant axes are rounded to the nearest integer, instead of truncated.",
        sometimes=True,
        measured=True,
        model=Call("ReduceMean-1", (np.array([1, 2], np.int32), Fixed(whole(0)))),
        types="u8 i8 u16 i16 u32 i32 u64 i64",
        applies=lambda seen: 1 in seen.constant and _has_fewer_elements(seen),
    ),
    not_compiled(
        name="reductions along computed axes",
        span="2022.1 to 2024.0",
        ops=REDUCTIONS,
        reason="Axes that are not constants are not compiled without `keep_dims`.",
        model=Call("ReduceMax-1", (counted(2, 3), whole(0))),
        instead=("input 1",),
        applies=lambda seen: 1 not in seen.constant and not (seen.attrs and seen.attrs["keep_dims"]),
    ),
    *(
        not_compiled(
            name=f"reductions of {what} along computed axes, {ops[0]} and others",
            span=f"2022.1 to {last}",
            ops=ops,
            reason=f"Axes that are not constants are not compiled for {what}.",
            model=Call(ops[0], (np.array([[1, 2]]).astype(kind), whole(1)), {"keep_dims": "true"}),
            types=types,
            applies=lambda seen: 1 not in seen.constant,
            processor=Processor.AVX512 if types == "bf16" else Processor.ANY,
        )
        for what, kind, types, last, ops in (
            ("i8 and u8", np.uint8, "u8 i8", "2022.3", ("ReduceMax-1", "ReduceMin-1")),
            ("i8 and u8", np.uint8, "u8 i8", "2026.4", ("ReduceSum-1", "ReduceMean-1", "ReduceProd-1", "ReduceL1-4")),
            (
                "bf16",
                BF16,
                "bf16",
                "2026.4",
                ("ReduceSum-1", "ReduceMean-1", "ReduceProd-1", "ReduceMax-1", "ReduceMin-1"),
            ),
            ("integers", np.int32, "u8 i8 u16 i16 u32 i32 u64 i64", "2026.4", ("ReduceL2-4",)),
        )
    ),
    *(
        ReleaseDifference(
            name=f"reductions along the middle axis scaled by a number, {what}",
            span=span,
            ops=REDUCTIONS,
            reason=(
                "Elementwise layers after a reduction of the second of three axes, and scales of quantized data, scale "
                "by wrong numbers."
            ),
            model=_scaled_sum((2, 3, 4), 1, 3, *form),
            types=types,
            applies=applies,
        )
        for what, span, form, types, applies in (
            (
                "kept",
                "2022.1 to 2022.2",
                (np.float32, True),
                "",
                lambda seen: _scales_middle(seen) and _keeps_axes(seen),
            ),
            ("2022.2", "2022.2 to 2022.2", (), "", _scales_middle),
            ("of integers", "2022.2 to 2026.4", (np.int32,), INTEGERS, _scales_middle),
        )
    ),
    *(
        ReleaseDifference(
            name=f"reductions of three axes with more rows than channels, scaled by a number{what}",
            span=span,
            ops=REDUCTIONS,
            reason="Elementwise layers after it, and scales of quantized data, scale the last rows by wrong numbers.",
            model=model,
            types=types,
            applies=_scales_more_rows,
        )
        for what, span, types, model in (
            ("", "2022.1 to 2022.2", "f16 bf16 f32 f64 u8", _scaled_sum((5, 2, 4), 2, 3)),
            (", of integers", "2022.1 to 2026.4", SIGNED, _subtracted_sum((5, 2, 4), 2)),
        )
    ),
    ReleaseDifference(
        name="reductions of four axes with more rows than channels, scaled by a number",
        span="2022.1 to 2022.1",
        ops=REDUCTIONS,
        reason="Elementwise layers after it scale or shift the last rows by wrong numbers.",
        model=_scaled_sum((2, 3, 2, 2), 0, 3),
        applies=_scales_rows_of_images,
    ),
    *(
        ReleaseDifference(
            name=f"reductions of {len(shape)} dimensions scaled by channel",
            span=span,
            ops=REDUCTIONS,
            reason="Elementwise layers after it, and scales of quantized data, scale by the numbers of other channels.",
            model=_scaled_sum(shape, 0, numbers),
            applies=applies,
        )
        for span, shape, numbers, applies in (
            ("2022.1 to 2022.1", (2, 3, 4, 5), [[1], [2], [3], [4]], _scales_second_axis),
            ("2022.2 to 2026.4", (2, 3, 4), [[1], [2], [3]], lambda seen: _scales_channels(seen, *BY_CHANNEL)),
            ("2022.2 to 2024.1", (2, 3), [1, 2, 3], lambda seen: _scales_channels(seen, *BY_CHANNEL_UNTIL_2024)),
        )
    ),
    not_compiled(
        name="reductions in a row by numbers",
        span="2022.2 to 2023.3",
        ops=ANY,
        reason="A reduction of what one of its type gives is made one with it, which takes lists of axes of one type.",
        model=_in_a_row(index(1), index(0)),
        applies=lambda seen: seen.has(Pattern.BY_NUMBER),
    ),
    *(
        ReleaseDifference(
            name=f"reductions in a row, {what}, {span}",
            span=span,
            ops=ANY,
            state=state,
            reason=(
                "A reduction of what one of its type gives is made one with it; axes that are counted from the end"
                " are counted from another one."
            ),
            model=_in_a_row(whole(-1), whole(own)),
            applies=partial(Seen.has, pattern=pattern),
        )
        for what, own, pattern, span, state in (
            ("one axis twice", -1, Pattern.REPEATED, "2022.2 to 2023.2", State.FAILS),
            ("one axis twice", -1, Pattern.REPEATED, "2023.3 to 2025.4", State.DIFFERS),
            ("other axes", -2, Pattern.SHIFTED, "2022.2 to 2025.4", State.DIFFERS),
        )
    ),
    *(
        ends(
            name=f"root mean squares of fewer than {beyond} elements, {span}",
            span=span,
            ops=("ReduceMean-1",),
            reason=(
                f"The layers that divide data by the root of their mean square become one, which ends the process if "
                f"the last axis has fewer than {beyond} elements."
            ),
            model=_divided_by_root(axis, beyond - 1),
            processor=processor,
            applies=partial(_has_short_rows, patterns=patterns, least=least, beyond=beyond),
        )
        for span, axis, patterns, least, beyond, processor in (
            ("2024.4 to 2026.2", -1, (Pattern.MEAN_SQUARE,), 0, 8, Processor.ANY),
            ("2024.4 to 2026.2", -1, (Pattern.MEAN_SQUARE,), 8, 16, Processor.AVX512),
            ("2024.4 to 2024.4", -1, (Pattern.MEAN_SQUARE,), 8, 32, Processor.NO_AVX512),
            ("2024.4 to 2024.4", -1, (Pattern.MEAN_SQUARE,), 16, 64, Processor.AVX512),
            ("2026.2 to 2026.2", 1, (Pattern.NEWER_MEAN_SQUARE,), 0, 8, Processor.ANY),
            ("2026.2 to 2026.2", 1, (Pattern.NEWER_MEAN_SQUARE,), 8, 16, Processor.AVX512),
        )
    ),
    not_read(
        name="last axis of a scalar",
        span="2021.2 to 2026.0",
        ops=(*ANY, "Squeeze-1", "Squeeze-15"),
        reason="A scalar has no axis that is counted from the end.",
        model=Call("ReduceL1-4", (number(3), Fixed(whole(-1))), {"keep_dims": "false"}),
        applies=lambda seen: min(_axes_of_scalar(seen), default=0) < 0,
    ),
    ends(
        name="first axis of a scalar",
        span="2021.2 to 2021.4",
        ops=("ReduceSum-1", "ReduceMax-1", "ReduceMean-1"),
        reason="The process ends.",
        model=Call("ReduceSum-1", (number(3), Fixed(whole(0))), {"keep_dims": "false"}),
        applies=lambda seen: 0 in _axes_of_scalar(seen),
    ),
    *(
        ReleaseDifference(
            name=f"largest elements of two joined parts, {what}",
            span=span,
            ops=("ReduceMax-1", "ReduceMin-1"),
            state=state,
            reason="The Concat and the reduction are taken for the elementwise Maximum or Minimum of the two parts.",
            model=_largest(shape, count, keep=what == "kept"),
            applies=applies,
        )
        for what, span, state, shape, count, applies in (
            ("kept", "2022.1 to 2026.0", State.DIFFERS, "2,4,5", 4, partial(_is_of_parts, kept=True)),
            ("not kept", "2022.1 to 2024.2", State.UNCOMPILED, "2,4,5", 4, partial(_is_of_parts, others=True)),
            ("dynamic", "2022.3 to 2024.2", State.UNCOMPILED, "?,4,5", 4, partial(_is_of_parts, others=False)),
            ("dynamic, 2022", "2022.1 to 2022.2", State.DIFFERS, "?,4,5", 4, partial(_is_of_parts, others=False)),
            ("not kept, newer", "2024.3 to 2026.0", State.DIFFERS, "2,4,5", 4, _is_of_parts),
            ("of unknown size", "2022.1 to 2026.0", State.FAILS, "2,?,5", 4, partial(_is_of_parts, known=False)),
            ("unequal", "2022.1 to 2026.0", State.UNCOMPILED, "2,4,5", 3, lambda seen: seen.has(Pattern.UNPAIRED)),
        )
    ),
)
"""The rows."""
