"""Normalizations and SoftMax."""

from functools import partial
from math import prod

import ml_dtypes
import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, counted, floats, index, number, whole
from ir_tools.known_differences.releases._predicates import axes_of, has_rank
from ir_tools.known_differences.releases._row import ReleaseDifference, not_compiled, not_read, not_run
from ir_tools.known_differences.releases.seen import Pattern, Seen
from ir_tools.ops import Array
from ir_tools.processors import Processor
from ir_tools.releases.measured import State
from ir_tools.types import element_type, is_static

__all__ = ["ROWS"]

MIN_EPS = 1e-7
"""From here on an eps counts among numbers of the size of 1."""
BYTES = tuple(Fixed(floats(limit)) for limit in (0, 12.75, 0, 12.75))
"""The limits of a FakeQuantize."""
VARIANCE = {"eps": "0.001", "eps_mode": "inside_sqrt", "normalize_variance": "true"}


def _normalizes_an_output(seen: Seen, *, several: bool) -> bool:
    """Return whether an output is normalized in place, in several groups or not."""
    if not seen.has(Pattern.GIVEN_IN_ANOTHER_SHAPE) or seen.attrs is None:
        return False
    return (seen.attrs.num_groups > 1) is several


def _of_an_output() -> Call:
    """Return a MVN of all elements of what is an output."""
    given = Call("ReLU-1", (counted(1, 3, 4),), results=(0,))
    flat = Call("Reshape-1", (given, Fixed(whole(1, -1))), {"special_zero": "false"})
    return Call("MVN-6", (flat, Fixed(whole(1))), VARIANCE)


def _gives_blocks_to_topk(seen: Seen) -> bool:
    """Return whether a TopK reads a SoftMax of three dimensions over channels that are kept in blocks of 8."""
    shape = seen.inputs[0].shape
    if shape is None or len(shape) != 3 or seen.attrs is None or (0, "TopK") not in seen.readers:
        return False
    return seen.attrs.axis in {1, -2} and shape[1].static and shape[1].lo % 16 == 8 and shape[2].hi != 1


def _is_of_one_channel(seen: Seen) -> bool:
    """Return whether several images of known size have one channel, with a constant scale or bias."""
    shape = seen.inputs[0].shape
    one = shape is not None and is_static(shape) and shape[0].hi != 1 == shape[1].hi
    return one and not {1, 2}.isdisjoint(seen.constant)


def _takes_all_but_the_first(seen: Seen) -> bool:
    """Return whether a NormalizeL2 is known to be over all axes but the first."""
    return axes_of(seen) == [*range(1, seen.rank())]


def _takes_unknown_axes(seen: Seen) -> bool:
    """Return whether no size of the axes that the second input names is known."""
    shape, axes = seen.inputs[0].shape or (), axes_of(seen)
    return bool(axes) and not any(shape[axis].static for axis in axes or ())


def _needs_other_axes(seen: Seen) -> bool:
    """Return whether an LRN is neither over the channels alone nor over all axes behind them, or the data have none."""
    axes, rank = axes_of(seen), seen.rank()
    return axes is not None and (rank == 1 or (rank > 1 and axes != [1] and not {*range(2, rank)} <= {*axes}))


def _takes_more_than_places(seen: Seen) -> bool:
    """Return whether an LRN is over all axes behind the channels, and over others."""
    axes, behind = axes_of(seen), [*range(2, seen.rank())]
    return bool(axes) and seen.rank() > 1 and axes not in ([1], behind) and {*behind} <= {*(axes or ())}


def _takes_places_of_unknown_channels(seen: Seen) -> bool:
    """Return whether an LRN of four dimensions is over the last two, and nothing limits the number of channels."""
    shape, axes = seen.inputs[0].shape, axes_of(seen)
    return shape is not None and has_rank(seen, 4) and {2, 3} <= {*(axes or ())} and shape[1].hi is None


def _is_whole(value: float) -> bool:
    """Return whether a number is an integer of 32 bits."""
    return value.is_integer() and abs(value) < 1 << 31


def _local(data: Array | Given, *axes: int, bias: str = "1") -> Call:
    """Return an LRN over some axes."""
    return Call("LRN-1", (data, Fixed(whole(*axes))), {"alpha": "0.5", "beta": "0.75", "bias": bias, "size": "3"})


def _takes_the_last_axes(seen: Seen) -> bool:
    """Return whether an MVN is over all axes from 1 or 2 on, or over the only one."""
    rank = seen.rank()
    return axes_of(seen) in ([*range(min(1, rank - 1), rank)], [*range(2, rank)])


def _leaves_bytes(seen: Seen) -> bool:
    """Return whether four do not divide the number of elements that an MVN takes of a channel, or it is not known.

    All elements of a matrix that it takes together count as one channel.
    """
    shape, is_old = seen.inputs[0].shape or (), seen.op.version == 1
    if not is_old and not _takes_the_last_axes(seen):
        return False
    across = not is_old or seen.attrs is None or seen.attrs.across_channels
    sizes = shape[-1:] if across and len(shape) < 3 else shape[2:]
    return not (is_static(sizes) and prod(dim.lo for dim in sizes) % 4 == 0)


def _has_large_eps(seen: Seen, *, least: int) -> bool:
    """Return whether a NormalizeL2 over all axes but the first, `least` or more, adds an eps that counts."""
    if seen.attrs is None or seen.attrs.eps < MIN_EPS:
        return False
    return _takes_all_but_the_first(seen) and seen.rank() > least


def _adds_eps_to_more_rows(seen: Seen) -> bool:
    """Return whether a NormalizeL2 along the last of three axes adds an eps, of more rows than channels."""
    shape = seen.inputs[0].shape
    if seen.attrs is None or seen.attrs.eps_mode != "add" or shape is None or len(shape) != 3 or axes_of(seen) != [2]:
        return False
    return shape[0].hi is None or shape[0].hi > shape[1].lo


def _names_axes_otherwise(seen: Seen) -> bool:
    """Return whether the axes of a NormalizeL2 are not given as `1` or as all from 1 on, in this order."""
    return seen.inputs[1].integers() not in _channels(seen)


def _names_other_axes(seen: Seen) -> bool:
    """Return whether the axes of a NormalizeL2 are not given as `1` or as all from 1 on, in whatever order."""
    return sorted(seen.inputs[1].integers() or []) not in _channels(seen)


def _channels(seen: Seen) -> tuple[list[int], list[int]]:
    """Return the axis of the channels, and all axes from there on."""
    return [1], [*range(1, seen.rank())]


def _has_size_of_1(seen: Seen) -> bool:
    """Return whether the first input is known to have a size of 1."""
    return any(dim.lo == dim.hi == 1 for dim in seen.inputs[0].shape or ())


def _is_along_the_middle_axis(seen: Seen) -> bool:
    """Return whether an MVN is along the second of three axes of several images, and divides by the variance."""
    shape, attrs = seen.inputs[0].shape, seen.attrs
    several = has_rank(seen, 3) and shape is not None and shape[0].hi != 1
    return several and axes_of(seen) == [1] and attrs is not None and bool(attrs.normalize_variance)


ROWS = (
    not_compiled(
        name="SoftMax of more than five dimensions",
        span="2021.2 to 2021.2",
        ops=("SoftMax-1",),
        reason="Data of rank 6 and more is read but not compiled.",
        model=Call("SoftMax-1", (counted(1, 1, 2, 1, 2, 3),), {"axis": "2"}),
        applies=lambda seen: seen.rank() > 5,
    ),
    not_compiled(
        name="MVN-1 of more than five dimensions",
        span="2021.3 to 2026.4",
        ops=("MVN-1",),
        reason="Data of rank 6 and more is read but not compiled.",
        model=Call("MVN-1", (counted(1, 1, 1, 1, 2, 3),), {"eps": "0.1", "normalize_variance": "true"}),
        applies=lambda seen: seen.rank() > 5,
    ),
    *(
        not_compiled(
            name=f"normalizations of {types.replace(' ', ', ')} over computed axes, 2022.1 to {last}",
            span=f"2022.1 to {last}",
            ops=("MVN-6", "NormalizeL2-1"),
            reason=f"For {types.replace(' ', ', ')}, computed axes are read but not compiled.",
            model=Call("MVN-6", (counted(2, 3).astype(element_type(types.split()[0]).dtype), whole(1)), VARIANCE),
            types=types,
            applies=lambda seen: 1 not in seen.constant,
            processor=processor,
        )
        for types, last, processor in (
            ("bf16", "2026.4", Processor.AVX512),
            ("bf16", "2023.0", Processor.NO_AVX512),
            ("i8 u8 boolean", "2026.4", Processor.ANY),
        )
    ),
    *(
        not_compiled(
            name=f"{call.op} with sizes of 1 over computed axes",
            span=span,
            ops=(call.op,),
            reason="If a dimension of the data is 1, axes that are not constants are read but not compiled.",
            model=call,
            instead=("input 1",),
            applies=lambda seen: 1 not in seen.constant and _has_size_of_1(seen),
        )
        for call, span in (
            (Call("MVN-6", (counted(1, 3), whole(1)), VARIANCE), "2022.1 to 2023.2"),
            (Call("NormalizeL2-1", (counted(1, 3), whole(1)), {"eps": "0.001", "eps_mode": "add"}), "2023.0 to 2023.2"),
        )
    ),
    ReleaseDifference(
        name="MVN of an output in another shape",
        span="2023.1 to 2023.2",
        ops=("MVN-1", "MVN-6"),
        reason="The output of the model is overwritten by what is normalized.",
        model=_of_an_output(),
        applies=lambda seen: seen.has(Pattern.GIVEN_IN_ANOTHER_SHAPE),
    ),
    *(
        ReleaseDifference(
            name=f"GroupNormalization of an output, {what}",
            span=f"2023.1 to {last}",
            ops=("GroupNormalization-12",),
            reason="The output of the model is overwritten by what is normalized.",
            model=Call(
                "GroupNormalization-12",
                (Call("ReLU-1", (counted(1, 4, 4),), results=(0,)), Fixed(floats(1, 1, 1, 1)), Fixed(counted(4))),
                {"num_groups": str(groups), "epsilon": "0.1"},
            ),
            applies=partial(_normalizes_an_output, several=groups > 1),
        )
        for what, groups, last in (("in groups", 2, "2023.2"), ("as a whole", 1, "2023.1"))
    ),
    ReleaseDifference(
        name="MVN of quantized data",
        span="2022.3 to 2022.3",
        ops=("MVN-1", "MVN-6"),
        reason="Behind a FakeQuantize it is computed of bytes, wrongly unless four divides the elements of a channel.",
        model=Call(
            "MVN-6",
            (Call("FakeQuantize-1", (floats([1, 2, 3, 5, 7]), *BYTES), {"levels": "256"}), Fixed(whole(-1))),
            VARIANCE | {"eps": "1e-6"},
        ),
        applies=lambda seen: seen.has(Pattern.QUANTIZED) and _leaves_bytes(seen),
    ),
    not_compiled(
        name="LRN over other axes than the channels or all behind them",
        span="2021.2 to 2026.4",
        ops=("LRN-1",),
        reason="It is read but not compiled unless it is over axis 1 alone, or over all axes behind that.",
        model=_local(counted(1, 3, 4, 4), 1, 2),
        applies=_needs_other_axes,
    ),
    ReleaseDifference(
        name="LRN over all axes behind the channels and others",
        span="2021.2 to 2026.4",
        ops=("LRN-1",),
        reason="It is computed over the axes behind the channels alone.",
        model=_local(counted(1, 3, 4, 4), 1, 2, 3),
        applies=_takes_more_than_places,
    ),
    not_run(
        name="LRN over places of an unknown number of channels",
        span="2022.1 to 2026.4",
        ops=("LRN-1",),
        reason="Over the last two axes of four it fails at run time if the number of channels is not known.",
        model=_local(Given(counted(1, 3, 4, 4), "1,?,4,4"), 2, 3),
        applies=_takes_places_of_unknown_channels,
    ),
    ReleaseDifference(
        name="GRN of channels that a Transpose moves",
        span="2022.3 to 2026.4",
        ops=("GRN-1",),
        reason="The Transpose moves behind it, so that it is over another axis.",
        model=Call("GRN-1", (Call("Transpose-1", (counted(1, 3, 4, 4), Fixed(whole(0, 2, 3, 1)))),), {"bias": "1"}),
        applies=lambda seen: seen.has(Pattern.TRANSPOSED_BEFORE),
    ),
    ReleaseDifference(
        name="LRN with a fractional bias",
        span="2021.2 to 2026.4",
        ops=("LRN-1",),
        reason="The bias is cut to an integer of 32 bits.",
        model=_local(counted(1, 3, 4, 4), 1, bias="1.5"),
        applies=lambda seen: seen.attrs is not None and not _is_whole(seen.attrs.bias),
    ),
    *(
        ReleaseDifference(
            name=f"LRN of more than five dimensions, {span}",
            span=span,
            ops=("LRN-1",),
            state=state,
            reason=f"Data of more than five dimensions are {found}.",
            model=_local(counted(1, 3, 1, 1, 4, 4), 1),
            applies=lambda seen: seen.rank() > 5,
        )
        for span, state, found in (
            ("2021.3 to 2021.3", State.DIFFERS, "computed wrongly"),
            ("2021.4 to 2026.4", State.UNCOMPILED, "read but not compiled"),
        )
    ),
    not_compiled(
        name="LRN of other than four dimensions",
        span="2021.2 to 2021.2",
        ops=("LRN-1",),
        reason="Data of other than four dimensions are read but not compiled.",
        model=_local(counted(1, 3, 4), 1),
        applies=lambda seen: not has_rank(seen, 4),
    ),
    not_run(
        name="LRN over axes of unknown size",
        span="2022.1 to 2026.4",
        ops=("LRN-1",),
        reason="Over axes whose sizes are all unknown it fails at run time.",
        model=Call(
            "LRN-1",
            (Given(counted(2, 3, 4, 5), "2,?,4,5"), Fixed(whole(1))),
            {"alpha": "0.5", "beta": "0.75", "bias": "1", "size": "5"},
        ),
        applies=_takes_unknown_axes,
        processor=Processor.NO_AVX512,
    ),
    not_compiled(
        name="MVN of booleans over other axes than those after the batch or the channels",
        span="2021.3 to 2026.4",
        ops=("MVN-6",),
        reason="Booleans are compiled only over all axes from 1 or from 2 on.",
        model=Call("MVN-6", (np.array([[True, False]]), Fixed(whole(0))), VARIANCE),
        types="boolean",
        applies=lambda seen: 1 in seen.constant and not _takes_the_last_axes(seen),
    ),
    ReleaseDifference(
        name="MVN along the middle axis",
        span="2022.1 to 2022.2",
        ops=("MVN-6",),
        reason="For several images of rank 3, all but the first are divided by a wrong variance.",
        model=Call("MVN-6", (counted(2, 3, 4), Fixed(whole(1))), VARIANCE),
        applies=_is_along_the_middle_axis,
    ),
    ReleaseDifference(
        name="NormalizeL2 over some axes",
        span="2021.2 to 2021.3",
        ops=("NormalizeL2-1",),
        reason="If axes are not all axes but the first, the wrong elements are added.",
        measured=True,
        model=Call("NormalizeL2-1", (counted(2, 3, 4, 4), Fixed(whole(1))), {"eps": "0.001", "eps_mode": "add"}),
        applies=lambda seen: not _takes_all_but_the_first(seen),
    ),
    *(
        ReleaseDifference(
            name=f"NormalizeL2 over all axes but the first with a large eps, {span}",
            span=span,
            ops=("NormalizeL2-1",),
            reason=f"An eps that is not tiny has a larger or smaller effect than in the specification{where}.",
            model=Call(
                "NormalizeL2-1",
                (floats([1, 2], [3, 4])[None], Fixed(whole(1, 2))),
                {"eps": "0.5", "eps_mode": mode},
            ),
            applies=partial(_has_large_eps, least=least),
        )
        for span, mode, least, where in (
            ("2021.2 to 2021.3", "max", 1, ""),
            ("2021.2 to 2022.2", "add", 2, " with more than two dimensions"),
        )
    ),
    ReleaseDifference(
        name="NormalizeL2 along the last of three axes with more rows than channels",
        span="2022.1 to 2022.2",
        ops=("NormalizeL2-1",),
        reason="Wrong numbers are added to the norms of the last rows, instead of the eps.",
        model=Call("NormalizeL2-1", (counted(3, 2, 4), Fixed(whole(2))), {"eps": "0.001", "eps_mode": "add"}),
        applies=_adds_eps_to_more_rows,
    ),
    not_compiled(
        name="NormalizeL2 of more than 4 dimensions",
        span="2021.2 to 2021.4",
        ops=("NormalizeL2-1",),
        reason="It is compiled for 4 dimensions at most.",
        model=Call("NormalizeL2-1", (counted(1, 2, 1, 2, 2), Fixed(whole(1))), {"eps": "0.001", "eps_mode": "add"}),
        applies=lambda seen: seen.rank() > 4,
    ),
    not_compiled(
        name="NormalizeL2 over other axes than the channels",
        span="2021.4 to 2021.4",
        ops=("NormalizeL2-1",),
        reason="Axes must be 1, or all axes from 1 on in ascending order.",
        model=Call("NormalizeL2-1", (counted(2, 3, 4, 4), Fixed(whole(2, 3))), {"eps": "0.001", "eps_mode": "add"}),
        applies=_names_axes_otherwise,
    ),
    not_compiled(
        name="NormalizeL2 of integers over the channels",
        span="2022.1 to 2026.4",
        ops=("NormalizeL2-1",),
        reason=("Integers are not compiled if the axes are constants and are 1, all axes from 1 on, or empty."),
        instead=("i32", "i64", "u32", "u64", "i16", "u16"),
        model=Call(
            "NormalizeL2-1", (np.array([[3, 4]], np.int32), Fixed(whole(1))), {"eps": "0.001", "eps_mode": "add"}
        ),
        types="i32 i64 u32 u64 i16 u16",
        applies=lambda seen: 1 in seen.constant and (axes_of(seen) == [] or not _names_other_axes(seen)),
    ),
    not_compiled(
        name="NormalizeL2 of boolean over other axes than the channels",
        span="2022.1 to 2026.4",
        ops=("NormalizeL2-1",),
        reason=("Booleans are not compiled if the axes are constants other than 1 or all axes from 1 on."),
        model=Call("NormalizeL2-1", (np.array([[True, False]]), Fixed(whole(0))), {"eps": "0.001", "eps_mode": "add"}),
        types="boolean",
        applies=lambda seen: 1 in seen.constant and axes_of(seen) != [] and _names_other_axes(seen),
    ),
    not_compiled(
        name="GroupNormalization of two dimensions",
        span="2023.1 to 2024.0",
        ops=("GroupNormalization-12",),
        reason="Data of rank 2 is read but not compiled.",
        model=Call(
            "GroupNormalization-12",
            (counted(2, 6), counted(6), counted(6)),
            {"num_groups": "3", "epsilon": "0.01"},
        ),
        applies=lambda seen: has_rank(seen, 2),
    ),
    not_compiled(
        name="GroupNormalization of bf16",
        span="2024.1 to 2026.4",
        ops=("GroupNormalization-12",),
        reason="bf16 is compiled only for data of unknown size.",
        types="bf16",
        model=Call(
            "GroupNormalization-12",
            (*(counted(*sizes).astype(ml_dtypes.bfloat16) for sizes in ((2, 4, 3), (4,), (4,))),),
            {"num_groups": "2", "epsilon": "0.1"},
        ),
        instead=("bf16",),
        applies=lambda seen: is_static(seen.inputs[0].shape),
        processor=Processor.AVX512,
    ),
    not_read(
        name="SoftMax of a single number",
        span="2021.2 to 2026.0",
        ops=("SoftMax-1", "SoftMax-8", "LogSoftmax-5"),
        reason="A scalar is not supported: the model is not read.",
        model=Call("SoftMax-1", (number(1.5),), {"axis": "0"}),
        applies=lambda seen: has_rank(seen, 0),
    ),
    ReleaseDifference(
        name="SoftMax of 8 channels of a row before a TopK",
        span="2022.1 to 2024.3",
        ops=("SoftMax-1", "SoftMax-8"),
        reason="A TopK along 8, 24 or 40 channels of three dimensions reads wrong elements of a SoftMax over them.",
        model=Call(
            "TopK-3",
            (Call("SoftMax-1", (np.sin(counted(1, 8, 4)),), {"axis": "1"}), Fixed(index(1))),
            {"axis": "1", "mode": "max", "sort": "value"},
            (0,),
        ),
        applies=_gives_blocks_to_topk,
        processor=Processor.AVX512,
    ),
    ReleaseDifference(
        name="GroupNormalization of one channel",
        span="2024.1 to 2025.0",
        ops=("GroupNormalization-12",),
        reason="For several images of one channel, of known size, all but the first have wrong values.",
        model=Call(
            "GroupNormalization-12",
            (counted(3, 1, 8), Fixed(floats(1)), Fixed(floats(0))),
            {"num_groups": "1", "epsilon": "0.001"},
        ),
        applies=_is_of_one_channel,
    ),
    not_compiled(
        name="GroupNormalization of a matrix of unknown size",
        span="2023.1 to 2026.4",
        ops=("GroupNormalization-12",),
        reason="Data of rank 2 is compiled only for known sizes.",
        model=Call(
            "GroupNormalization-12",
            (Given(counted(2, 4), "?,4"), Fixed(floats(1, 2, 3, 4)), Fixed(floats(0, 1, 2, 3))),
            {"num_groups": "2", "epsilon": "0.001"},
        ),
        applies=lambda seen: seen.rank() == 2 and not is_static(seen.inputs[0].shape),
    ),
)
"""The rows."""
