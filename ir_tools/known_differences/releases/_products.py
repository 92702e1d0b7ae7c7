"""Products of matrices, Einsum, convolutions and deconvolutions."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from math import prod

import numpy as np
from numpy.typing import DTypeLike

from ir_tools.known_differences._model import (
    LINE,
    PLANE,
    Call,
    Feed,
    Fixed,
    Given,
    converted,
    counted,
    floats,
    index,
    number,
    whole,
)
from ir_tools.known_differences.releases._predicates import assumed
from ir_tools.known_differences.releases._row import ReleaseDifference, ends, not_compiled, not_read
from ir_tools.known_differences.releases._samples import quantized
from ir_tools.known_differences.releases.seen import FIRST_VERSION, Pattern, Seen
from ir_tools.ops import Array
from ir_tools.ops.convolution_shapes import reach, windows_of
from ir_tools.processors import Processor
from ir_tools.releases.measured import State
from ir_tools.releases.table import PARAMETERS_OF_10
from ir_tools.types import Dim, is_static

__all__ = ["ROWS"]

CHANNELS_FIRST, CHANNELS_LAST = (0, 3, 1, 2), (0, 2, 3, 1)
ONE_GROUP = {"group": "1", "deformable_group": "1"}


def _compressed(summed: int) -> Call:
    """Return a MatMul whose weights are held in 8 bits."""
    steps = np.arange(16 * summed)
    held = Fixed((steps * 37 % 251 - 125).astype(np.int8).reshape(16, summed))
    scale = Fixed((0.01 + np.arange(16) / 1600).astype(np.float32).reshape(16, 1))
    weights = Call("Multiply-1", (converted(held, "f32"), scale))
    data = np.sin(np.arange(2 * summed)).astype(np.float32).reshape(2, summed)
    return Call("MatMul-1", (data, weights), {"transpose_b": "true"})


def _in_bytes_behind(type: str, *more: Array) -> Call:
    """Return a product of quantized data behind a layer with weights that are held in 8 bits."""
    data = quantized(np.sin(counted(4, 16)), Fixed(floats(1)), levels=255)
    version, raw = (8, {}) if type == "Slice" else (3, {"mode": "numpy"})
    rows = Call(f"{type}-{version}", (data, *map(Fixed, more)), raw)
    weights = _compressed(16).inputs[1]
    return Call("MatMul-1", (rows, weights), {"transpose_b": "true"})


def _turned(data: Feed, before: Sequence[int], behind: Sequence[int]) -> Call:
    """Return a convolution of data by stored filters of one element, with a Transpose in front and one behind.

    None is there if its order is empty; in the place of one that has less than four axes is a Reshape to one row.
    """
    if before:
        data = Call("Transpose-1", (data, Fixed(whole(*before))))
    held = (np.arange(20) * 37 % 251 - 125).astype(np.int8).reshape(5, 4, 1, 1)
    filters = Call("Multiply-1", (converted(Fixed(held), "f32"), Fixed(floats(0.01).reshape(1, 1, 1, 1))))
    found = Call("Convolution-1", (data, filters), PLANE)
    if len(behind) == 1:
        return Call("Reshape-1", (found, Fixed(whole(1, -1))), {"special_zero": "false"})
    return Call("Transpose-1", (found, Fixed(whole(*behind)))) if behind else found


def _is_multiplied(seen: Seen, *, pattern: Pattern) -> bool:
    """Return whether a convolution is part of a pattern, and its data are not those of a FakeQuantize."""
    return seen.has(pattern) and not seen.has(Pattern.QUANTIZED)


def _has_moved_strides(seen: Seen, *, pattern: str) -> bool:
    """Return whether a convolution has strides, and is part of a pattern."""
    return (seen.attrs is None or any(stride > 1 for stride in seen.attrs.strides)) and seen.has(pattern)


def _is_of_vectors(seen: Seen, *, rows: bool) -> bool:
    """Return whether constants multiply a vector, or a constant vector `rows` of one dimension or more."""
    is_row, is_vector = seen.rank() == 1, seen.rank(1) == 1
    return 1 in seen.constant and (is_vector and not is_row if rows else is_row and seen.rank(1) < 3)


def _is_matrix_in_axes_of_one(seen: Seen) -> bool:
    """Return whether one matrix is multiplied by one constant one with more axes, of one element each."""
    batch = (seen.inputs[1].dims or ())[:-2]
    return 1 in seen.constant and seen.rank() == 2 and {*batch} == {1}


def _has_more_dimensions(seen: Seen) -> bool:
    """Return whether an input has more than 4 dimensions, and the second is not one constant matrix."""
    batch = (seen.inputs[1].dims or ())[:-2]
    return max(seen.rank(0), seen.rank(1)) > 4 and not (1 in seen.constant and {*batch} <= {1})


def _extends_far(seen: Seen, *, pattern: str = Pattern.BIASED, known: bool = True) -> bool:
    """Return whether a convolution in a pattern extends beyond its rows by more than is computed at a time.

    Groups of up to 3 channels are computed in 28 elements of a row at a time, others in 6 or more. `known`: whether the
    sizes of the rows are.
    """
    shapes = [fact.shape for fact in (*seen.inputs[:2], *seen.outputs[:1])]
    if not seen.has(pattern) or not is_static(shapes[1]) or seen.attrs is None:
        return False
    data, filters, output = (shape or () for shape in shapes)
    if len(data) < 3 or not output or data[-1].static is not known:
        return False
    windows, given = windows_of(seen.attrs, len(data) - 2), max(output[-1].lo, 1)
    stride, extent = windows.strides[-1], reach(filters[-1], windows.dilations[-1]).lo
    begin, end = windows.begin[-1], windows.end[-1]
    over = (given - 1) * stride + extent - data[-1].lo if known else begin + end
    if seen.attrs.auto_pad in {"same_upper", "same_lower"}:
        over = over if known else extent - 1
        begin = over // 2 if seen.attrs.auto_pad == "same_upper" else over - over // 2
    together = min(given, 28 if filters[1 - len(data)].lo < 4 else 6)
    return max(begin, over - begin - given % together * stride) > together


def _channels(seen: Seen) -> tuple[int, int, int]:
    """Return how many groups a convolution by groups has at least, and how many channels one gives and reads."""
    groups, out, into = (dim.lo for dim in (seen.inputs[1].shape or ())[:3])
    return groups, out, into


def _has_groups_of_few(seen: Seen, most: int) -> bool:
    """Return whether a convolution by groups has several groups of so many channels or fewer, and not one by one."""
    groups, out, into = _channels(seen)
    return groups != 1 and into <= most and out * into != 1


def _is_in_blocks(seen: Seen) -> bool:
    """Return whether channels of a convolution are computed in blocks: all, or those of each group by 8."""
    if seen.op.type == "Convolution":
        return True
    groups, out, into = _channels(seen)
    return groups == 1 or (out % 8 == 0 and (into == 1 or into % 8 == 0))


def _by_groups(sizes: str) -> Call:
    """Return a convolution of two groups with one row of 64 elements and a bias."""
    raw = {"strides": "1,1", "dilations": "1,1", "pads_begin": "0,30", "pads_end": "0,30"}
    data, filters = Given(counted(1, 2, 1, 64), sizes), Fixed(counted(2, 2, 1, 1, 61) / 99)
    return Call("Add-1", (Call("GroupConvolution-1", (data, filters), raw), Fixed(counted(1, 4, 1, 1))))


def _summed(op: str, filters: Array) -> Call:
    """Return the sum of a convolution of two channels and a computed tensor, for rows of unknown size."""
    data, channels = counted(1, 2, 1, 1), prod(filters.shape[:-3])
    raw = {"strides": "1,1", "dilations": "1,1", "pads_begin": "0,2", "pads_end": "0,2"}
    found = Call(op, (Given(data, "1,2,1,?"), Fixed(filters / 99)), raw)
    return Call("Add-1", (found, Given(counted(1, channels, 1, 1), f"1,{channels},1,?")))


def _strided(data: Call | Array, pads_begin: str = "0,0") -> Call:
    """Return a convolution of every other element, behind a ReLU of data of one channel."""
    raw = {"strides": "2,2", "dilations": "1,1", "pads_begin": pads_begin, "pads_end": "0,0"}
    return Call("Convolution-1", (Call("ReLU-1", (data,)), Fixed(counted(1, 1, 1, 1) + 1)), raw)


def _letters(seen: Seen) -> tuple[list[str], str]:
    """Return the letters of each input of an Einsum, and those of its output."""
    if seen.attrs is None:
        return [], ""
    terms, _, result = seen.attrs.equation.replace(" ", "").partition("->")
    return terms.split(","), result


def _confuses_dots(seen: Seen) -> bool:
    """Return whether an Einsum aligns wrongly what `...` stands for.

    It multiplies the first input by the last one, and puts the product behind the others. If that adds up no letter,
    and the first one has a letter of its own behind `...`, several dimensions of the last one are misplaced.
    """
    terms, result = _letters(seen)
    left = [
        (term.replace("...", "."), 0 if fact.shape is None or "." not in term else len(fact.shape) - len(term) + 3)
        for term, fact in zip(terms, seen.inputs, strict=False)
    ]
    while len(left) > 1:
        (first, before), (last, behind) = left.pop(0), left.pop()
        kept = {".", *result}.union(*(term for term, _ in left))
        own = {*first.partition(".")[2]} & kept - {*last}
        if own and {*first} & {*last} <= kept and behind > 0 and max(before, behind) > 1:
            return True
        product = "".join(letter for letter in dict.fromkeys(first + last) if letter in kept)
        left.append((product, max(before, behind)))
    return False


def _keeps_all(seen: Seen) -> bool:
    """Return whether an Einsum gives its one input as it is."""
    terms, result = _letters(seen)
    return terms == [result]


def _kinds_of_letters(seen: Seen) -> Iterator[tuple[int, int, int, int]]:
    """Yield numbers of letters for each constant input of an Einsum but the first.

    Those that it shares and are kept, that it shares and are added up, that it has alone, that it lacks and are kept.
    """
    if seen.attrs is None:
        return
    given, result = _letters(seen)
    kept, terms = {*result}, [{*term} for term in given]
    for place in {*seen.constant} - {0}:
        term, others = terms[place], set().union(*terms[:place], *terms[place + 1 :])
        yield len(term & kept & others), len(term & others - kept), len(term - others), len(kept - term)


def _has_constant_vectors(seen: Seen) -> bool:
    """Return whether a constant input of an Einsum of known sizes is a vector in each of one kind of batches."""
    kinds = _kinds_of_letters(seen)
    return seen.has_known_sizes and any(kept == 1 and summed and not own for kept, summed, own, _ in kinds)


def _has_constant_of_all_letters(seen: Seen) -> bool:
    """Return whether a constant input of an Einsum of unknown sizes has all letters of the output, and others."""
    if seen.has_known_sizes:
        return False
    return any(kept and summed and not rest for kept, summed, _, rest in _kinds_of_letters(seen))


def _has_other_than_a_matrix(seen: Seen) -> bool:
    """Return whether the constant one of two inputs of an Einsum is not a matrix, with which unknown sizes add up."""
    if len(seen.inputs) > 2:
        return False
    other = any(
        summed and (max(summed, own, rest) > 1 or (kept and not own))
        for kept, summed, own, rest in _kinds_of_letters(seen)
    )
    return other and _adds_up_unknown_sizes(seen)


def _adds_up_unknown_sizes(seen: Seen) -> bool:
    """Return whether a letter of both inputs, but not of the output, has an unknown size in the first one."""
    (term, second), result = _letters(seen)
    sizes = zip(term, seen.inputs[0].shape or (), strict=False)
    return any(letter in second and letter not in result and not dim.static for letter, dim in sizes)


def _sizes_of_letters(seen: Seen) -> dict[str, set[int]]:
    """Return the known sizes of each letter of an Einsum, in inputs without `...`."""
    sizes: dict[str, set[int]] = {}
    for term, fact in zip(_letters(seen)[0], seen.inputs, strict=False):
        for letter, dim in zip(term, fact.shape or (), strict=False):
            if "." not in term and dim.static:
                sizes.setdefault(letter, set()).add(dim.size)
    return sizes


def _is_kept(seen: Seen) -> bool:
    """Return whether an input of the graph keeps its element type, which in IR v10 most do."""
    return seen.version != FIRST_VERSION or seen.inputs[0].dtype.name not in PARAMETERS_OF_10


def _is_one_group(seen: Seen) -> bool:
    """Return whether a deconvolution by groups is known to have one, of more than one channel."""
    shape = seen.inputs[1].shape
    return shape is not None and shape[0].hi == 1 and any(size.hi != 1 for size in shape[1:3])


def _is_spread_over_matrices(seen: Seen, *, by_rank: bool) -> bool:
    """Return whether one matrix of unknown size is multiplied by each of several constant ones, along one axis.

    `by_rank`: whether it lacks this axis.
    """
    data, held = (fact.shape for fact in seen.inputs)
    if 1 not in seen.constant or data is None or held is None or is_static(data):
        return False
    several = len(held) == 3 and held[0].lo > 1
    return several and (len(data) == 2 if by_rank else len(data) == 3 and data[0].hi == 1)


def _is_by_thin_matrices(seen: Seen, *, rank: int = 0) -> bool:
    """Return whether data are multiplied by several constant matrices of two sizes beyond 1, batches among them.

    `rank`: of the constants, with data that have no more dimensions and as many batches as known; 0: any.
    """
    data, held = (fact.shape for fact in seen.inputs)
    if 1 not in seen.constant or data is None or held is None or not is_static(held) or len(data) < 2:
        return False
    sizes = [dim.lo for dim in held]
    several = prod(sizes[:-2]) > 1 and sum(size > 1 for size in sizes) <= 2
    return several and (not rank or (rank == len(sizes) >= len(data) and (len(data) < rank or data[0].static)))


def _is_by_thin_matrices_alone(seen: Seen) -> bool:
    """Return whether that is so, and the data are one matrix with a batch."""
    data = seen.inputs[0].shape or ()
    return _is_by_thin_matrices(seen, rank=3) and len(data) == 3 and data[0].hi == 1


def _is_of_scaled_weights(seen: Seen, *, least: int, but: str = "") -> bool:
    """Return whether floats of several dimensions are multiplied by scaled constants of 8 or 4 bits.

    Quantized ones of 8 bits, `but` those of this pattern or by u8 with zero points, are computed as they are, and all
    for sums of fewer products than `least`, for one output without groups, or by several matrices.
    """
    data, weights = seen.inputs[0], seen.inputs[1].shape
    if any(size.lo > 1 for size in (weights or ())[:-2]):
        return False
    if seen.attrs is not None and weights is not None and len(weights) == 2:
        outputs, summed = weights if seen.attrs.transpose_b else weights[::-1]
        if summed.lo < least or (outputs.hi == 1 and seen.is_behind({"Multiply"}, 1)):
            return False
    scaled = bool(seen.held & {"u8", "i8", "u4", "i4"} and seen.held & {"f32", "f16", "bf16"})
    several = data.shape is None or len(data.shape) > 1
    in_bytes = seen.has(Pattern.QUANTIZED) and not seen.has(Pattern.LESS_OF_UNSIGNED) and not (but and seen.has(but))
    taken = not in_bytes or not seen.held.isdisjoint({"u4", "i4"})
    return scaled and data.dtype.is_float and several and taken


def _may_lose_padding(seen: Seen) -> bool:
    """Return whether auto_pad is absent, and there is padding, or sizes of the output are given."""
    padded = seen.attrs is None or any((*seen.attrs.pads_begin, *seen.attrs.pads_end))
    return "auto_pad" in seen.absent and (padded or len(seen.inputs) > 2)


def _is_sized_by_guess(seen: Seen, *, words: Collection[str]) -> bool:
    """Return whether sizes that a deconvolution to given ones may be compiled for are none that its input can have.

    They are computed back from those of the output and the padding of the attributes: of 64 where these are not known.
    `words`: what `auto_pad` has to be.
    """
    attrs, shapes = seen.attrs, [fact.shape for fact in (*seen.inputs[:2], *seen.outputs[:1])]
    if attrs is None or attrs.auto_pad not in words or len(seen.inputs) < 3 or None in shapes:
        return False
    windows = windows_of(attrs, len(attrs.strides))
    data, weights, output = ((shape or ())[-len(windows.strides) :] for shape in shapes)
    added = [begin + end - more for begin, end, more in zip(windows.begin, windows.end, windows.more, strict=True)]
    sizes = zip(data, weights, output, windows.strides, windows.dilations, added, strict=False)
    for dim, kernel, given, stride, dilation, more in sizes:
        least = assumed(given) + more - reach(kernel, dilation).lo
        fits = (
            least + 1 in dim or (least + 1 < -1 and dim.hi is None)
            if stride == 1
            else least >= 0 and least // stride + 1 in dim
        )
        if not dim.static and not fits:
            return True
    return False


def _in_groups_without_auto_pad() -> Call:
    """Return a padded deconvolution of two groups, of unknown sizes."""
    data = Given(counted(1, 4, 6, 5), "1,4,?,?")
    settings = {"strides": "1,1", "dilations": "1,1", "pads_begin": "1,1", "pads_end": "1,1", "output_padding": "0,0"}
    return Call("GroupConvolutionBackpropData-1", (data, Fixed(counted(2, 2, 2, 3, 3))), settings)


def _bent(*sizes: int) -> Call:
    """Return a PReLU of a deconvolution in two groups, with a slope for each channel; `sizes`: of the filters."""
    data, filters = np.sin(counted(1, 2 * sizes[0], 5, 5)), np.cos(counted(2, *sizes, 3, 3))
    slopes = np.linspace(0.5, 2, 2 * sizes[1], dtype=np.float32)
    return Call("PReLU-1", (Call("GroupConvolutionBackpropData-1", (data, Fixed(filters)), PLANE), Fixed(slopes)))


def _is_bent_in_groups(seen: Seen) -> bool:
    """Return whether several groups of several channels, of images or volumes, are followed by slopes for channels."""
    filters = seen.inputs[1].dims
    return seen.has(Pattern.BENT_BY_CHANNEL) and len(filters) > 4 and filters[0] > 1 and filters[1:3] != (1, 1)


def _missing(seen: Seen) -> Iterator[tuple[int, Dim, int]]:
    """Yield how far filters extend beyond the data that a convolution is compiled for, with their size and stride."""
    attrs, (data, filters) = seen.attrs, [fact.shape for fact in seen.inputs[:2]]
    if attrs is None or data is None or filters is None or attrs.auto_pad not in {"explicit", "valid"}:
        return
    if not 2 < len(data) <= len(filters):
        return
    windows = windows_of(attrs, len(data) - 2)
    axes = zip(data[2:], filters[2 - len(data) :], windows.dilations, windows.begin, windows.end, strict=True)
    for stride, (size, extent, dilation, begin, end) in zip(windows.strides, axes, strict=True):
        if not size.static:
            yield reach(extent, dilation).lo - assumed(size) - begin - end, extent, stride


def _deconvolution(kind: DTypeLike) -> Call:
    data, weights = np.ones((1, 3, 4, 4)).astype(kind), np.ones((1, 3, 2, 2, 2)).astype(kind)
    return Call("GroupConvolutionBackpropData-1", (data, Fixed(weights)), PLANE)


ROWS = (
    *(
        row(
            name=f"MatMul of {what}",
            span="2021.2 to 2021.2",
            ops=("MatMul-1",),
            reason=reason,
            model=Call("MatMul-1", (counted(*data), Fixed(counted(*constant)))),
            applies=partial(_is_of_vectors, rows=rows),
        )
        for row, what, reason, data, constant, rows in (
            (
                ends,
                "matrices and a constant vector",
                "The process ends while the model is compiled.",
                (2, 3),
                (3,),
                True,
            ),
            (
                not_compiled,
                "a vector and constants",
                "A vector is not multiplied by constants: the model is read but not compiled.",
                (3,),
                (3, 2),
                False,
            ),
        )
    ),
    not_compiled(
        name="MatMul of a matrix and a constant one with more dimensions",
        span="2021.2 to 2021.4",
        ops=("MatMul-1",),
        reason="One matrix is not multiplied by a constant one with further axes of one element.",
        model=Call("MatMul-1", (counted(2, 3), Fixed(counted(1, 3, 4)))),
        applies=_is_matrix_in_axes_of_one,
    ),
    not_compiled(
        name="MatMul of more than 4 dimensions",
        span="2021.2 to 2021.3",
        ops=("MatMul-1",),
        reason="It is compiled for 4 dimensions at most, unless the second input is a constant matrix.",
        model=Call("MatMul-1", (counted(1, 2, 1, 2, 3), counted(1, 2, 1, 3, 2))),
        applies=_has_more_dimensions,
    ),
    ReleaseDifference(
        name="convolutions of i8",
        span="2022.2 to 2026.4",
        ops=("Convolution-1", "GroupConvolution-1"),
        reason="For i8 data that is not quantized, the results are wrong.",
        types="i8",
        model=Call(
            "Convolution-1",
            (np.array([[[1, 2, 3]]], np.int8), Fixed(np.ones((1, 1, 2), np.int8))),
            LINE,
        ),
        processor=Processor.NO_AVX512,
    ),
    *(
        ReleaseDifference(
            name=f"convolutions that extend far beyond the data, {name}",
            span=span,
            ops=ops,
            reason=(
                f"If an Add {of} follows, and filters extend beyond the last axis by more elements than the output "
                "has there, or than are computed at a time, sums begin with arbitrary numbers."
            ),
            sometimes=True,
            model=model,
            applies=applies,
            processor=Processor.AVX512,
        )
        for name, span, ops, of, model, applies in (
            (
                "before sums by channel",
                "2022.2 to 2023.0",
                ("GroupConvolution-1",),
                "by constants of each channel",
                _by_groups("1,2,1,64"),
                lambda seen: seen.has_known_sizes and _extends_far(seen) and _has_groups_of_few(seen, 16),
            ),
            (
                "before sums by channel of unknown sizes",
                "2023.0 to 2023.0",
                ("GroupConvolution-1",),
                "by constants of each channel",
                _by_groups("?,2,1,64"),
                lambda seen: not seen.has_known_sizes and _extends_far(seen) and _has_groups_of_few(seen, 16),
            ),
            (
                "before sums",
                "2022.1 to 2022.3",
                ("Convolution-1", "GroupConvolution-1"),
                "of a computed tensor",
                _summed("Convolution-1", counted(5, 2, 1, 5)),
                lambda seen: _extends_far(seen, pattern=Pattern.SUMMED, known=False) and _is_in_blocks(seen),
            ),
            (
                "before sums of groups of few channels",
                "2023.0 to 2023.0",
                ("GroupConvolution-1",),
                "of a computed tensor",
                _summed("GroupConvolution-1", counted(2, 3, 1, 1, 5)),
                lambda seen: _extends_far(seen, pattern=Pattern.SUMMED, known=False) and _has_groups_of_few(seen, 8),
            ),
        )
    ),
    *(
        ReleaseDifference(
            name=f"MatMul with weights of 8 and 4 bits, {span}",
            span=span,
            ops=("MatMul-1",),
            reason=(
                f"With weights of 8 or 4 bits the other input is also quantized for sums of {least} products or more, "
                "which changes the third digit; DYNAMIC_QUANTIZATION_GROUP_SIZE=0 disables this."
            ),
            sometimes=True,
            model=_compressed(least),
            applies=partial(_is_of_scaled_weights, least=least),
            processor=Processor.VNNI,
        )
        for span, least in (("2024.3 to 2025.1", 4), ("2024.3 to 2026.0", 16), ("2024.3 to 2026.4", 32))
    ),
    *(
        ReleaseDifference(
            name=f"MatMul of quantized data behind a {type} with weights of 8 bits",
            span=span,
            ops=("MatMul-1",),
            reason=f"Behind a {type} quantized data are floats, which are also quantized with other scales.",
            sometimes=True,
            model=_in_bytes_behind(type, *more),
            applies=partial(_is_of_scaled_weights, least=4, but=pattern),
            processor=Processor.VNNI,
        )
        for type, span, pattern, more in (
            ("Slice", "2024.3 to 2024.4", Pattern.CUT, (whole(0), whole(2), whole(1), whole(0))),
            ("Broadcast", "2024.3 to 2024.3", Pattern.SPREAD_OUT, (whole(2, 4, 16),)),
        )
    ),
    ReleaseDifference(
        name="strides of a padded convolution that move before other layers",
        span="2022.1 to 2026.4",
        ops=("Convolution-1",),
        reason=(
            "Strides of filters of one element move before the elementwise layers or the convolution in front, but "
            "the padding does not."
        ),
        model=_strided(counted(1, 1, 4, 4), pads_begin="1,1"),
        applies=partial(_has_moved_strides, pattern=Pattern.PADDED),
    ),
    *(
        ReleaseDifference(
            name=f"strides of a convolution that move before {what}",
            span="2022.1 to 2026.4",
            ops=("Convolution-1",),
            state=state,
            reason=(
                "Strides of filters of one element move before the elementwise layers in front, where the first output "
                f"of the layer before is taken, whichever is read{more}."
            ),
            model=_strided(call),
            applies=partial(_has_moved_strides, pattern=pattern),
        )
        for what, state, call, pattern, more in (
            (
                "a later output",
                State.DIFFERS,
                Call("Split-1", (counted(1, 2, 4, 4), Fixed(index(1))), {"num_splits": "2"}, gives=1),
                Pattern.LATER,
                "",
            ),
            (
                "an output of a TopK, VariadicSplit or LSTMSequence",
                State.UNCOMPILED,
                Call("VariadicSplit-1", (counted(1, 2, 4, 4), Fixed(index(1)), Fixed(whole(1, 1)))),
                Pattern.UNCHOSEN,
                "; a TopK, VariadicSplit or LSTMSequence has none",
            ),
        )
    ),
    *(
        ReleaseDifference(
            name=f"MatMul by several constant matrices of one row or column{what}",
            span=span,
            ops=("MatMul-1",),
            state=state,
            reason="Several constant matrices of one row or one column are taken for one matrix.",
            model=Call("MatMul-1", (counted(*sizes), Fixed(counted(2, 4, 1)))),
            applies=applies,
        )
        for what, span, state, sizes, applies in (
            ("", "2022.1 to 2022.3", State.DIFFERS, (2, 3, 4), partial(_is_by_thin_matrices, rank=3)),
            (
                ", 2021",
                "2021.2 to 2021.4",
                State.UNCOMPILED,
                (2, 3, 4),
                lambda seen: _is_by_thin_matrices(seen) and not _is_by_thin_matrices_alone(seen),
            ),
            (", of one matrix", "2021.2 to 2022.3", State.DIFFERS, (1, 3, 4), _is_by_thin_matrices_alone),
        )
    ),
    *(
        ReleaseDifference(
            name=f"MatMul of {what} of unknown size by several constant ones",
            span="2025.4 to 2026.4",
            ops=("MatMul-1",),
            state=state,
            reason=f"{what.capitalize()} of unknown size cannot be multiplied by several constant matrices.",
            model=Call("MatMul-1", (Given(counted(*sizes), shape), Fixed(counted(3, 4, 5)))),
            applies=partial(_is_spread_over_matrices, by_rank=by_rank),
        )
        for what, state, sizes, shape, by_rank in (
            ("one matrix", State.FAILS, (1, 6, 4), "1,?,4", False),
            ("a matrix without batch", State.UNCOMPILED, (6, 4), "?,4", True),
        )
    ),
    ReleaseDifference(
        name="DeformableConvolution with unequal dilations",
        span="2021.4 to 2022.1",
        ops=("DeformableConvolution-1", "DeformableConvolution-8"),
        reason="The dilations of height and width are swapped.",
        model=Call(
            "DeformableConvolution-1",
            (counted(1, 1, 6, 6), np.zeros((1, 8, 5, 4), np.float32), counted(1, 1, 2, 2)),
            PLANE | {"dilations": "1,2", **ONE_GROUP},
        ),
        applies=lambda seen: seen.attrs is not None and len({*seen.attrs.dilations}) > 1,
    ),
    not_compiled(
        name="Einsum by constants that are vectors in each of several batches",
        span="2022.1 to 2022.3",
        ops=("Einsum-7",),
        reason="A constant with one kept letter, summed letters, and no letter of its own is not compiled.",
        model=Call("Einsum-7", (counted(2, 3), Fixed(counted(2, 3))), {"equation": "ca,ca->c"}),
        applies=_has_constant_vectors,
    ),
    not_compiled(
        name="Einsum of unknown sizes by constants with all letters of the output",
        span="2022.1 to 2023.2",
        ops=("Einsum-7",),
        reason="If sizes are unknown, a constant with all letters of the output and other letters is not compiled.",
        model=Call("Einsum-7", (Given(counted(2, 3), "?,?"), Fixed(counted(2, 3))), {"equation": "ca,ca->c"}),
        applies=_has_constant_of_all_letters,
    ),
    ReleaseDifference(
        name="Einsum of unknown sizes by constants",
        span="2022.1 to 2022.1",
        ops=("Einsum-7",),
        reason="Sums along axes of unknown size have wrong values if the constant is not a matrix.",
        model=Call("Einsum-7", (Given(counted(2, 3, 4), "?,?,?"), Fixed(counted(4))), {"equation": "cab,b->ca"}),
        applies=_has_other_than_a_matrix,
    ),
    not_read(
        name="Einsum with two sizes for a letter",
        span="2021.4 to 2025.0",
        ops=("Einsum-7",),
        reason="A letter whose size is 1 in one input and larger in another is not supported: the model is not read.",
        model=Call("Einsum-7", (counted(2, 1), counted(3, 4)), {"equation": "ab,bc->ac"}),
        applies=lambda seen: any(len(sizes) > 1 for sizes in _sizes_of_letters(seen).values()),
    ),
    not_read(
        name="Einsum whose last input is a number",
        span="2021.4 to 2025.1",
        ops=("Einsum-7",),
        reason="A last input without letters is ignored.",
        model=Call("Einsum-7", (counted(2), number(3.0)), {"equation": "a,->a"}),
        applies=lambda seen: not all(_letters(seen)[0][-1:]),
    ),
    not_compiled(
        name="Einsum with a letter twice in one input",
        span="2021.4 to 2025.0",
        ops=("Einsum-7",),
        reason="A letter that occurs twice in an input, or `...`, is not compiled.",
        model=Call("Einsum-7", (counted(2, 2, 3),), {"equation": "aab->ab"}),
        applies=lambda seen: any(len({*term}) < len(term) for term in _letters(seen)[0]),
    ),
    not_compiled(
        name="Einsum of dots for several dimensions",
        span="2021.4 to 2026.4",
        ops=("Einsum-7",),
        reason=(
            "If a product of two inputs adds up no letter, and the first one has a letter of its own after `...`, "
            "several dimensions that `...` stands for are misplaced, and do not match."
        ),
        model=Call("Einsum-7", (counted(2, 3, 4, 5), counted(3, 4)), {"equation": "...db,...c->...dcb"}),
        applies=_confuses_dots,
    ),
    *(
        ends(
            name=f"Einsum that changes nothing, {span}",
            span=span,
            ops=("Einsum-7",),
            reason=(
                "An Einsum that reads one input of the model and keeps the order of its letters crashes the process."
            ),
            model=Call("Einsum-7", (counted(2, 3).astype(dtype),), {"equation": "ab->ab"}),
            applies=applies,
        )
        for span, dtype, applies in (
            ("2021.4 to 2021.4", np.float16, lambda seen: _keeps_all(seen) and seen.first),
            ("2022.1 to 2023.2", np.float32, lambda seen: _keeps_all(seen) and seen.first and _is_kept(seen)),
        )
    ),
    ReleaseDifference(
        name="deconvolution of groups without auto_pad",
        span="2023.0 to 2025.4",
        ops=("GroupConvolutionBackpropData-1",),
        reason="What stands for an absent auto_pad is not set, so that the padding is lost at random.",
        sometimes=True,
        model=_in_groups_without_auto_pad(),
        applies=_may_lose_padding,
    ),
    ReleaseDifference(
        name="deconvolution of groups before a PReLU with several slopes",
        span="2022.2 to 2024.1",
        ops=("GroupConvolutionBackpropData-1",),
        reason="It is compiled with the PReLU, whose slopes are read wrongly for some numbers of channels in a group.",
        sometimes=True,
        model=_bent(2, 2),
        applies=_is_bent_in_groups,
    ),
    *(
        not_compiled(
            name=f"deconvolution of one group{types and f' in {types}'}",
            span=f"{first} to 2026.4",
            ops=("GroupConvolutionBackpropData-1",),
            reason="One group of several channels is read but not compiled.",
            model=_deconvolution(kind),
            types=types,
            applies=_is_one_group,
        )
        for first, kind, types in (("2024.2", np.float32, ""), ("2022.1", np.int8, "i8"))
    ),
    *(
        not_compiled(
            name=f"deconvolution to a size for an input of unknown size, auto_pad {' or '.join(words)}",
            span=f"2022.1 to {last}",
            ops=("ConvolutionBackpropData-1", "GroupConvolutionBackpropData-1"),
            reason="The size of the input is computed back from that of the output, and may be impossible.",
            model=Call(
                "ConvolutionBackpropData-1",
                (Given(counted(1, 2, 4), "1,2,4.."), Fixed(counted(2, 2, 1)), Fixed(whole(3))),
                LINE | {"auto_pad": words[0]},
            ),
            applies=partial(_is_sized_by_guess, words=words),
        )
        for words, last in ((("explicit", "valid"), "2026.4"), (("same_upper", "same_lower"), "2023.0"))
    ),
    *(
        not_compiled(
            name=f"convolution of data of unknown size with filters that extend over more than 64 elements{spread}",
            span=span,
            ops=("Convolution-1", "GroupConvolution-1"),
            reason=(
                "Filters that span more than the assumed size of the data (64 elements if it is unknown) are not "
                "compiled."
            ),
            model=Call(
                "Convolution-1",
                (Given(counted(1, 1, 74), "1,1,?"), Fixed(counted(1, 1, kernel))),
                LINE | {"dilations": dilation},
            ),
            applies=applies,
        )
        for spread, span, kernel, dilation, applies in (
            (
                "",
                "2022.1 to 2022.2",
                65,
                "1",
                lambda seen: any(more > 0 and extent.lo > 64 for more, extent, _ in _missing(seen)),
            ),
            (
                " by dilation",
                "2022.1 to 2025.1",
                34,
                "2",
                lambda seen: any(
                    more > 0 and extent.lo <= 64 and (more > 2 or stride > 1) for more, extent, stride in _missing(seen)
                ),
            ),
            (
                " by dilation, one or two elements",
                "2022.1 to 2026.4",
                33,
                "2",
                lambda seen: any(
                    0 < more < 3 and extent.lo <= 64 and stride == 1 for more, extent, stride in _missing(seen)
                ),
            ),
        )
    ),
    not_compiled(
        name="deconvolution of i8 with computed weights",
        span="2021.4 to 2024.1",
        ops=("ConvolutionBackpropData-1",),
        reason="Weights that are not constants are read but not compiled.",
        model=Call(
            "ConvolutionBackpropData-1",
            (np.ones((1, 4, 8, 8), np.int8), np.ones((4, 3, 3, 3), np.int8)),
            PLANE,
        ),
        types="i8",
        applies=lambda seen: 1 not in seen.constant,
    ),
    *(
        ReleaseDifference(
            name=f"convolutions by stored filters of one element {what}, {span}",
            span=span,
            ops=("Convolution-1",),
            state=state,
            reason=f"A MatMul takes the place of {reason}.",
            model=model,
            applies=partial(_is_multiplied, pattern=pattern),
        )
        for what, span, state, pattern, reason, model in (
            (
                "between Transposes",
                "2026.1 to 2026.3",
                State.DIFFERS,
                Pattern.MULTIPLIED,
                "the layer and those around it, whatever axes these move, and without strides and padding",
                _turned(counted(1, 3, 5, 4), CHANNELS_FIRST, (0, 1, 3, 2)),
            ),
            (
                "of other axes",
                "2026.1 to 2026.3",
                State.UNCOMPILED,
                Pattern.MULTIPLIED_OTHERWISE,
                "the layer and those around it, though other axes than the channels are last",
                _turned(counted(1, 4, 3, 5), (0, 1, 3, 2), CHANNELS_LAST),
            ),
            (
                "before a Reshape",
                "2026.1 to 2026.2",
                State.DIFFERS,
                Pattern.MULTIPLIED_IN_ORDER,
                "the layer and the Transpose in front; what a Reshape behind reads has its channels last",
                _turned(counted(1, 3, 5, 4), CHANNELS_FIRST, (0,)),
            ),
            (
                "of one batch",
                "2026.2 to 2026.2",
                State.DIFFERS,
                Pattern.MULTIPLIED_AT_ONCE,
                "the layer and the Transposes around it, in which rows and columns are one axis",
                _turned(counted(1, 3, 5, 4), CHANNELS_FIRST, CHANNELS_LAST),
            ),
            (
                "before a Transpose",
                "2026.4 to 2026.4",
                State.DIFFERS,
                Pattern.MULTIPLIED_LATE,
                "the layer and the one behind it, whatever axes that moves, and without strides and padding",
                _turned(counted(1, 4, 3, 5), (), (0, 3, 2, 1)),
            ),
            (
                "behind a Transpose",
                "2026.4 to 2026.4",
                State.DIFFERS,
                Pattern.MULTIPLIED_DATA_LATE,
                "the layer and the one in front of it, whatever axes that moves, and without strides and padding",
                _turned(counted(1, 3, 5, 4), (0, 3, 2, 1), ()),
            ),
            (
                "of other axes",
                "2026.4 to 2026.4",
                State.UNCOMPILED,
                Pattern.MULTIPLIED_OTHERWISE_LATE,
                "the layer and those around it, though other axes than the channels are last",
                _turned(counted(1, 4, 3, 5), (0, 1, 3, 2), ()),
            ),
        )
    ),
    *(
        ReleaseDifference(
            name=f"DeformableConvolution-1 of several groups, {span}",
            span=span,
            ops=("DeformableConvolution-1",),
            state=state,
            reason="Several groups are not supported.",
            model=Call(
                "DeformableConvolution-1",
                (counted(1, 4, 3, 3), Given(counted(1, 8, 2, 2) * 0, "1,8,2,2"), Fixed(counted(2, 2, 2, 2))),
                PLANE | {"group": "2", "deformable_group": "1"},
            ),
            applies=lambda seen: seen.attrs is not None and seen.attrs.group > 1,
        )
        for span, state in (("2021.2 to 2021.3", State.UNREAD), ("2021.4 to 2021.4", State.UNCOMPILED))
    ),
)
"""The rows."""
