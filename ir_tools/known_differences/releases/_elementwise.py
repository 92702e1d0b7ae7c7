"""Arithmetic, activations and comparisons, element by element."""

from functools import partial
from math import prod
from typing import NamedTuple

import numpy as np

from ir_tools.known_differences._model import (
    PLANE,
    Call,
    Feed,
    Fixed,
    Given,
    converted,
    counted,
    floats,
    number,
    sizes_of,
    whole,
)
from ir_tools.known_differences.releases._predicates import ELEMENTWISE, ELEMENTWISE_ALONE, has_value
from ir_tools.known_differences.releases._row import ReleaseDifference, ends, not_compiled, not_read, not_run
from ir_tools.known_differences.releases._samples import attention, quantized
from ir_tools.known_differences.releases.seen import (
    COMBINING,
    CONVOLUTIONS,
    FIRST_VERSION,
    MULTIPLE,
    TAKEN,
    Pattern,
    Seen,
)
from ir_tools.ops import Array
from ir_tools.ops.definition import Fact
from ir_tools.processors import Processor
from ir_tools.releases.measured import State
from ir_tools.types import Dim, element_type, is_static

__all__ = ["ROWS"]

FUNCTIONS = (
    *("Exp-1", "Log-1", "Sqrt-1", "Erf-1", "Sin-1", "Cos-1", "Tan-1", "Sinh-1", "Cosh-1", "Tanh-1", "Asinh-4"),
    *(
        "Asin-1",
        "Atanh-4",
        "Acos-1",
        "Acosh-4",
        "Atan-1",
        "Sigmoid-1",
        "HSigmoid-5",
        "HSwish-4",
        "AvgPool-1",
        "MVN-1",
        "MVN-6",
    ),
    *("LRN-1", "GRN-1", "SoftMax-1", "LogSoftmax-5", "ReduceL2-4", "NormalizeL2-1"),
)
DOMAINS = ("Asin-1", "Acos-1", "Acosh-4", "Atanh-4")
"""Functions of which few integers are in the domain."""
LOGICAL = frozenset({"LogicalAnd", "LogicalOr", "LogicalNot", "LogicalXor"})
TESTS = (
    *("Equal-1", "NotEqual-1", "Greater-1", "GreaterEqual-1", "Less-1", "LessEqual-1"),
    *("LogicalAnd-1", "LogicalOr-1", "LogicalXor-1"),
)
TESTED = "boolean u8 i8 f16 bf16 f32 f64"
"""Element types that releases test as they are; others are converted."""
BYTES_AS_PDPD = ("Maximum-1", "Multiply-1", "Divide-1", "Power-1")
AS_IN_PDPD = {
    ("Add-1", "Multiply-1", "Divide-1", "Maximum-1", "Mod-1", "Greater-1", "Less-1"): "2021.2 to 2023.0",
    (
        *("Subtract-1", "Minimum-1", "Power-1", "SquaredDifference-1", "LessEqual-1"),
        *("LogicalAnd-1", "LogicalOr-1", "LogicalXor-1"),
    ): "2021.3 to 2023.0",
    ("Equal-1", "NotEqual-1", "GreaterEqual-1", "FloorMod-1"): "2022.1 to 2023.0",
}
"""Operations that broadcast as in pdpd, and the releases that do not stretch the first dimensions."""
BEFORE_2022 = (
    *("Add-1", "Subtract-1", "Multiply-1", "Divide-1", "Maximum-1", "Minimum-1", "Power-1", "FloorMod-1", "Mod-1"),
    "SquaredDifference-1",
    *TESTS,
)
SCALING = ("Subtract-1", "Divide-1")
"""These become sums and products of constants."""
IMAGES, ONE_PER_CHANNEL = counted(2, 2, 4, 4), Given(counted(2, 3, 1, 1), "?,3,1,1")
"""Images, and a number for each of three channels of as many images."""
RESIDUAL = np.arange(2 * 2 * 4 * 4, dtype=np.float32).reshape(2, 2, 4, 4)
NEAR = 1e-5
BITS = ("BitwiseAnd-13", "BitwiseOr-13", "BitwiseXor-13")


def _may_be_rounded(seen: Seen) -> bool:
    """Return whether quotients are not known to be integers."""
    if seen.is_behind({MULTIPLE}):
        return False
    data, divisor = (fact.exact for fact in seen.inputs)
    return data is None or divisor is None or not divisor.all() or bool((data % divisor).any())


def _adds_next_to_nothing(seen: Seen) -> bool:
    """Return whether a number close to 0 is added to what another layer gives, or subtracted from it."""
    for place, fact in enumerate(seen.inputs):
        found = fact.exact if place or seen.op.type == "Add" else None
        if found is not None and found.size and (found == found.flat[0]).all() and 0 < abs(found.flat[0]) < NEAR:
            return True
    return False


def _may_have_slopes_of_channels(seen: Seen) -> bool:
    """Return whether a list of slopes may be as long as the last of several axes, and channels are unknown."""
    data, slopes = (fact.shape for fact in seen.inputs[:2])
    if data is None or slopes is None or len(data) < 3 or len(slopes) != 1:
        return False
    count = slopes[0].lo
    return count > 1 and not data[1].static and count in data[-1]


def _has_slope_inside_channels(seen: Seen) -> bool:
    """Return whether a constant slope is neither one number nor one for each channel."""
    data, slope = (fact.shape for fact in seen.inputs)
    if 1 not in seen.constant or data is None or slope is None or len(data) < 2:
        return False
    if len(slope) == 1:
        return slope[0].lo not in {1, data[1].lo}
    at = len(data) - len(slope)
    return any(size.lo != 1 for axis, size in enumerate(slope, at) if axis != 1)


_is_as_pdpd = has_value("auto_broadcast", "pdpd")


def _broadcasts_as_pdpd(seen: Seen) -> bool:
    """Return whether inputs are broadcast as in pdpd, and not known to have sizes for the same number of dimensions."""
    if not _is_as_pdpd(seen):
        return False
    shapes = [fact.shape for fact in seen.inputs[:2]]
    return not all(map(is_static, shapes)) or len({len(shape or ()) for shape in shapes}) > 1


class _Pair(NamedTuple):
    """Two shapes that are broadcast as in pdpd, and the axis that is written."""

    large: tuple[Dim, ...]
    small: tuple[Dim, ...]
    axis: int


def _pair(seen: Seen) -> _Pair | None:
    """Return the first two shapes if they are broadcast as in pdpd and their ranks are known."""
    if seen.attrs is None or not _is_as_pdpd(seen):
        return None
    large, small = (fact.shape for fact in seen.inputs[:2])
    return None if large is None or small is None else _Pair(large, small, seen.attrs.auto_broadcast_axis)


def _has_ones_first(seen: Seen) -> bool:
    """Return whether pdpd stretches a dimension of the second input that is before one of more than 1."""
    pair = _pair(seen)
    if pair is None:
        return False
    large, small, axis = pair
    own = [size.lo if size.static else None for size in small]
    while own and own[-1] == 1:
        own.pop()
    start = len(large) - len(small) if axis == -1 else axis
    return any(size == 1 and there.lo > 1 for size, there in zip(own, large[start:], strict=False))


def _has_ones_last(seen: Seen, *, fewer: bool = False) -> bool:
    """Return whether pdpd stretches the last dimension of the second input; a constant of one number is as in numpy.

    Args:
        seen: the layer.
        fewer: whether to look for second inputs of fewer dimensions than the first, instead of as many.
    """
    large, small = _sizes_as_pdpd(seen)
    if not large or not small or (len(small) < len(large)) is not fewer:
        return False
    return small[-1] == 1 < large[-1] and not (1 in seen.constant and prod(small) == 1)


def _sizes_as_pdpd(seen: Seen) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the sizes of two inputs that are broadcast as in pdpd; empty if they are not, or not known."""
    pair = _pair(seen)
    if pair is None or not is_static(pair.large) or not is_static(pair.small):
        return (), ()
    return tuple(size.lo for size in pair.large), tuple(size.lo for size in pair.small)


def _tests_fewer_as_pdpd(seen: Seen, *, written: bool) -> bool:
    """Return whether the second input of a test has fewer dimensions, which pdpd aligns with the last ones.

    Args:
        seen: the layer.
        written: whether to look for those whose axis is written, instead of for those that are repeated.
    """
    large, small = _sizes_as_pdpd(seen)
    more = len(large) - len(small)
    if more <= 0 or seen.attrs is None or seen.attrs.auto_broadcast_axis not in {-1, more}:
        return False
    if written:
        return seen.attrs.auto_broadcast_axis == more and not (1 in seen.constant and prod(small) == 1)
    return prod(large[:more]) > 1 and prod(small) > 1


def _fits(seen: Seen) -> str:
    """Return how the sizes of two inputs fit, if pdpd aligns other dimensions than the last ones; else nothing.

    `throughout`: also with the last and with the first dimensions aligned, as far as they are known; `last`: with the
    last, not with the first; `as written`: not with the last. One number fits anywhere.
    """
    pair = _pair(seen)
    if pair is None:
        return ""
    large, small, axis = pair
    if all(size.hi == 1 for size in small) or axis in {-1, len(large) - len(small)}:
        return ""
    if not is_static(large) or not is_static(small):
        return "throughout"
    last, first = (
        all(size.lo in {1, there.lo} for there, size in zip(sizes, small, strict=False))
        for sizes in (large[len(large) - len(small) :], large)
    )
    return "as written" if not last else "throughout" if first else "last"


def _are_single_numbers(seen: Seen, *, mode: str, constant: int) -> bool:
    """Return whether both inputs have no dimensions, and one of them alone is constant, in this `auto_broadcast`."""
    if not has_value("auto_broadcast", mode)(seen) or {*seen.constant} != {constant}:
        return False
    return all(fact.shape is not None and len(fact.shape) == 0 for fact in seen.inputs[:2])


def _is_raised_by_a_number(seen: Seen) -> bool:
    """Return whether a constant of one element has more dimensions than what it is combined with, which has some."""
    return any(
        number in seen.constant
        and all(size.hi == 1 for size in seen.inputs[number].shape or ())
        and 0 < seen.rank(1 - number) < seen.rank(number)
        for number in (0, 1)
    )


def _has_elementwise_slope(seen: Seen, *, listed: bool) -> bool:
    """Return whether an elementwise layer computes the slope, of known size. `listed`: a list of several numbers."""
    shape = seen.inputs[1].shape
    is_list = shape is not None and len(shape) == 1 and shape[0].lo > 1
    known = is_static(seen.inputs[0].shape) and is_static(shape)
    return known and is_list is listed and seen.is_behind(ELEMENTWISE | ELEMENTWISE_ALONE, 1)


def _has_elementwise_slope_of_any_size(seen: Seen) -> bool:
    """Return whether an elementwise layer computes the slope, whose size is unknown, for data of as many dimensions.

    If the size of the data is unknown, too, it may be that of one of two tensors which give a slope of known size.
    """
    computed = seen.is_behind(ELEMENTWISE | ELEMENTWISE_ALONE, 1)
    unknown = not is_static(seen.inputs[1].shape)
    combined = seen.is_behind(COMBINING, 1) and not is_static(seen.inputs[0].shape)
    return computed and (unknown or combined) and seen.rank() == seen.rank(1)


def _is_elementwise(seen: Seen) -> bool:
    """Return whether an elementwise layer is before it."""
    return seen.is_behind(ELEMENTWISE | ELEMENTWISE_ALONE)


def _is_elementwise_alone(seen: Seen) -> bool:
    """Return whether an elementwise layer is before it with which 2023.0 and later do not compile it as one."""
    shape = seen.inputs[0].shape
    rare = shape is None or not is_static(shape) or len(shape) > 6
    return seen.is_behind(ELEMENTWISE_ALONE) or (rare and seen.is_behind(ELEMENTWISE))


def _joined_broadcast(type: str) -> Call:
    """Return a layer that combines rows that are repeated, and a Concat with these of what it gives."""
    repeated = Call("Broadcast-3", (counted(1, 3), Fixed(whole(2, 3))), {"mode": "numpy"})
    return Call("Concat-1", (repeated, Call(type, (counted(2, 3), repeated))), {"axis": "1"})


def _is_ones(fact: Fact) -> bool:
    """Return whether a tensor is known to be of ones, by which releases do not multiply or divide."""
    return fact.exact is not None and bool((fact.exact == 1).all())


def _is_convolved(seen: Seen) -> bool:
    """Return whether a convolution alone reads a product with constants that differ elsewhere than by channel."""
    shape, rank = seen.outputs[0].shape, len(seen.outputs[0].shape or ())
    constants = [seen.inputs[number] for number in seen.constant]
    factors = [fact.shape or () for fact in constants if not _is_ones(fact)]
    off_channels = any(
        size.lo != 1 for sizes in factors for axis, size in enumerate(sizes, rank - len(sizes)) if axis != 1
    )
    return shape is not None and off_channels and seen.readers in {((0, type),) for type in CONVOLUTIONS}


def _unlike(seen: Seen, *, second: bool) -> list[tuple[int, Dim, Dim]]:
    """Return the axes along which the size of a computed tensor is known that is added to what a convolution gives.

    No size of the convolution is known there, and other sizes of both may be equal. The sizes of both come next.

    Args:
        seen: the sum.
        second: whether that is of the convolution which gives its second input, or of the one that gives the first.
    """
    if not seen.has(Pattern.SECOND_CONVOLVED if second else Pattern.FIRST_CONVOLVED) or (not second) in seen.constant:
        return []
    own, other = (seen.inputs[number].shape or () for number in (second, not second))
    pairs = [*zip(own, other, strict=False)]
    if len(own) != len(other) or any(one.static and two.static and one != two for one, two in pairs):
        return []
    return [(axis, one, two) for axis, (one, two) in enumerate(pairs) if two.static and not one.static]


def _single(data: Feed, step: int = 1) -> Call:
    """Return a convolution of single elements of two channels."""
    return Call("Convolution-1", (data, Fixed(counted(2, 2, 1, 1) / 9)), PLANE | {"strides": f"{step},{step}"})


def _is_limited(seen: Seen) -> bool:
    """Return whether a tensor that is added to a convolution has a size that cannot be what is taken for its size."""
    if not seen.has(Pattern.UNLIMITED):
        return False
    other = seen.inputs[seen.has(Pattern.FIRST_CONVOLVED)].shape or ()
    return any(not size.static and (size.lo > TAKEN or (size.hi or TAKEN) < TAKEN) for size in other[2:])


def _repeated(seen: Seen, *, second: bool) -> list[tuple[int, Dim]]:
    """Return the axes of `_unlike` along which the computed tensor is repeated, with the sizes of the convolution."""
    return [(axis, one) for axis, one, two in _unlike(seen, second=second) if two.hi == 1]


def _shifts_activations(seen: Seen) -> bool:
    """Return whether the size of the batch of what a sum behind activations shifts, and all of images, are unknown."""
    if not seen.has(Pattern.ACTIVATED):
        return False
    sizes = next((fact.shape for number, fact in enumerate(seen.inputs) if number not in seen.constant), None) or ()
    return len(sizes) > 2 and not any(dim.static for dim in (sizes[0], *sizes[2:]))


def _repeats_more(seen: Seen, *, images: bool) -> bool:
    """Return whether a sum repeats a tensor to a convolution, in its first input, along an axis of two or more.

    `images`: whether sizes behind the batch that have no largest value count.
    """
    axes = _repeated(seen, second=False)
    return any(size.lo > 1 and (images or not axis or size.hi is not None) for axis, size in axes)


def _convolved(data: Given, other: Given, *, second: bool = False) -> Call:
    """Return the sum of a convolution and another tensor."""
    made = Call("Convolution-1", (data, Fixed(counted(3, 2, 1, 1))), PLANE)
    inputs = Call("ReLU-1", (other,)), made
    return Call("Add-1", inputs if second else inputs[::-1])


def _summed_in_bytes(sizes: str = "?,2,?,?", *, again: bool = False, known: bool = True, levels: bool = True) -> Call:
    """Return rows of the quantized sum of a convolution in 8 bits and of a quantized number for each channel.

    Args:
        sizes: of the data of the convolution.
        again: whether what that gives is quantized before, too.
        known: whether its weights are integers.
        levels: whether the numbers are quantized.
    """
    held = converted(Fixed((np.arange(6) * 37 % 127 - 60).astype(np.int8).reshape(3, 2, 1, 1)), "f32")
    weights = Call("Multiply-1", (held, Fixed(np.full((3, 1, 1, 1), 0.01, np.float32))))
    filters = weights if known else Fixed(np.sin(counted(3, 2, 1, 1)))
    made = Call("Convolution-1", (_in_bytes(Given(IMAGES, sizes), 12.8), filters), PLANE)
    other = _in_bytes(ONE_PER_CHANNEL, 1.28) if levels else ONE_PER_CHANNEL
    total = _in_bytes(Call("Add-1", (_in_bytes(made, 12.8) if again else made, other)), 12.8)
    return Call("Reshape-1", (total, Fixed(whole(0, 3, -1))), {"special_zero": "true"})


def _residual(
    op: str = "Add-1",
    *,
    sizes: str = "?,2,?,?",
    grouped: bool = False,
    channels: bool = False,
    mask: str = "",
    first: bool = True,
    last: bool = True,
    read: bool = False,
) -> Call:
    """Return the quantized sum of a quantized convolution in 8 bits and of a tensor of its sizes.

    Args:
        op: the sum, or a difference.
        sizes: of both.
        grouped: whether the convolution is in groups.
        channels: whether the levels of its output differ by channel.
        mask: an operation by which what the convolution gives, quantized, becomes other numbers.
        first: whether that is quantized.
        last: whether the sum is.
        read: whether the convolution reads the other tensor.
    """
    shape = (2, 1, 1, 1, 1) if grouped else (2, 2, 1, 1)
    held = converted(Fixed((np.arange(prod(shape)) * 37 % 127 - 60).astype(np.int8).reshape(shape)), "f32")
    weights = Call("Multiply-1", (held, Fixed(np.full((2, *(1 for _ in shape[1:])), 0.0123, np.float32))))
    data, other = (_in_bytes(Given(wave, sizes), 2.5) for wave in (np.sin(RESIDUAL), np.cos(RESIDUAL)))
    type = "GroupConvolution-1" if grouped else "Convolution-1"
    total = Call(type, (other if read else data, weights), PLANE)
    if first:
        total = _in_bytes(total, floats([[[0.7]], [[0.9]]]) if channels else 0.7)
    total = Call(op, (Call(mask, (total,)) if mask else total, other))
    return _in_bytes(total, 2.1) if last else total


def _is_unlimited(seen: Seen) -> bool:
    """Return whether a sum, or a difference of known sizes, is `RESIDUAL`, by numbers or by channel."""
    residual = seen.has(Pattern.RESIDUAL) or seen.has(Pattern.RESIDUAL_BY_CHANNEL)
    return residual and (seen.op.type == "Add" or seen.has_known_sizes)


def _is_uncompiled(seen: Seen) -> bool:
    """Return whether a difference of two quantized tensors is `RESIDUAL`."""
    return seen.has(Pattern.RESIDUAL) and all(seen.is_behind({"FakeQuantize"}, number) for number in range(2))


def _in_bytes(data: Feed, limit: float | Array) -> Call:
    """Return data quantized to levels of which one is 0, from a negative number on."""
    limits = (Fixed(np.asarray(one * limit, np.float32)) for one in (-1, 127 / 128, -1, 127 / 128))
    return Call("FakeQuantize-1", (data, *limits), {"levels": "256"})


def _by_remainder(data: Feed) -> Call:
    """Return data of twelve elements with a size that is the remainder of a division of sizes."""
    size = Call("Mod-1", (sizes_of(counted(5)), Fixed(whole(3))), {"auto_broadcast": "numpy"})
    sizes = Call("Concat-1", (size, Fixed(whole(-1))), {"axis": "0"})
    return Call("Reshape-1", (data, sizes), {"special_zero": "false"})


def _selects_as_pdpd(seen: Seen, *, rank: int = 0) -> bool:
    """Return whether a Select broadcasts floats or bytes of known sizes, and of so many dimensions, from axis 0 on."""
    if seen.attrs is None or not _is_as_pdpd(seen) or seen.attrs.auto_broadcast_axis != 0:
        return False
    data = seen.inputs[1]
    bytes_or_floats = data.dtype.is_float or data.dtype.name in {"u8", "i8", "boolean"}
    return bytes_or_floats and seen.has_known_sizes and len(data.shape or ()) >= rank


def _selects_of_other_sizes(seen: Seen) -> bool:
    """Return whether the inputs of a Select that broadcasts as in pdpd are known to have other sizes."""
    return _is_as_pdpd(seen) and len({fact.shape for fact in seen.inputs if is_static(fact.shape)}) > 1


def _arcsines(kind: str, *, inside: bool) -> Call:
    """Return arcsines of 1 and 9, converted before and behind if they are `inside`."""
    numbers = np.array([1, 9], np.int32 if inside else element_type(kind).dtype)
    if not inside:
        return Call("Asin-1", (numbers,))
    made = Call("Asin-1", (converted(numbers, kind),))
    return converted(made, "i32")


def _summed_rows() -> Call:
    """Return sums of rows of integers."""
    rows = np.array([[1, 3], [2, 2], [4, 4], [5, 6]], np.int32)
    return Call("ReduceSum-1", (rows, Fixed(whole(1))), {"keep_dims": "true"})


def _quotient(data: Feed) -> Call:
    """Return thirds of integers."""
    return Call("Divide-1", (data, Fixed(np.array(3, np.int32))))


LIMITED = Call("Abs-1", (Given(counted(1, 2, 7, 4), "1,2,1..14,4"),))
ODD = Call("Abs-1", (Given(counted(1, 2, 7, 8), "1,2,?,8"),))
"""Images of at most 14 rows, and of any number of rows, which is odd."""


def _shifted_product(data: Array, shift: Array) -> Call:
    """Return a product of five columns, and constants that shift it."""
    weights = Fixed(counted(5, data.shape[-1]) / 100)
    product = Call("MatMul-1", (data, weights), {"transpose_a": "false", "transpose_b": "true"})
    return Call("Add-1", (product, Fixed(shift)))


def _selects_an_input(seen: Seen) -> bool:
    """Return whether a constant has a Select always give an input of its graph, in the shape that it has."""
    condition = seen.inputs[0].exact
    if condition is None or not condition.size or condition.any() != condition.all():
        return False
    chosen = 1 if condition.any() else 2
    shape = seen.inputs[chosen].shape
    return seen.first and chosen not in seen.constant and is_static(shape) and shape == seen.outputs[0].shape


ROWS = (
    ReleaseDifference(
        name="functions of small integers",
        span="2021.2 to 2021.4",
        ops=FUNCTIONS,
        reason="Integers of 8 bits, 16 bits and u64 are computed and returned in f32, without rounding.",
        measured=True,
        model=Call("Exp-1", (np.array([1, 2], np.uint8),)),
        types="u8 i8 u16 i16 u64",
    ),
    ReleaseDifference(
        name="functions of booleans and of u32",
        span="2021.2 to 2021.4",
        ops=FUNCTIONS,
        reason="Booleans and u32 are computed and returned in f32, without rounding.",
        measured=True,
        model=Call("Exp-1", (converted(np.array([1, 2]), "u32"),)),
        types="boolean u32",
    ),
    ends(
        name="Select of many dimensions",
        span="2021.2 to 2022.3",
        ops=("Select-1",),
        reason="With more than five dimensions the process ends.",
        model=Call(
            "Select-1",
            (
                Call("Greater-1", (counted(1, 2, 1, 2, 1, 2), Fixed(number(0.5)))),
                counted(1, 2, 1, 2, 1, 2),
                Fixed(number(0)),
            ),
        ),
        applies=lambda seen: len(seen.outputs[0].shape or ()) > 5,
    ),
    ends(
        name="Select that always gives an input of the model",
        span="2022.3 to 2022.3",
        ops=("Select-1",),
        reason="A Select of an input by a constant that is true, or false, everywhere is removed; the process ends.",
        model=Call("Select-1", (Fixed(np.array(True)), counted(2, 3), counted(2, 3))),
        applies=_selects_an_input,
    ),
    ReleaseDifference(
        name="minimum of integers after a maximum",
        span="2021.2 to 2021.2",
        ops=("Minimum-1",),
        reason="The two layers are fused, and numbers below the lower limit become another one.",
        model=Call(
            "Minimum-1",
            (
                Call(
                    "Maximum-1",
                    (
                        converted(floats(-6, 1), "i32"),
                        Fixed(np.array(0, np.int32)),
                    ),
                ),
                Fixed(np.array(3, np.int32)),
            ),
        ),
        types="i16 i32 i64 u8 u16 u64",
        applies=partial(Seen.is_behind, types={"Maximum"}),
    ),
    not_read(
        name="Mod without auto_broadcast",
        span="2021.2 to 2021.3",
        ops=("Mod-1",),
        reason="Without `auto_broadcast` it takes inputs of one shape only.",
        model=Call("Mod-1", (counted(2, 3), counted(3))),
        applies=lambda seen: bool(seen.absent) and seen.inputs[0].shape != seen.inputs[1].shape,
    ),
    *(
        not_compiled(
            name=f"Broadcasts that others read, in front of {what}",
            span=span,
            ops=ops,
            reason="A Broadcast in front is removed for all that read it, whether they broadcast or not.",
            model=_joined_broadcast(ops[0]),
            applies=lambda seen: seen.has(Pattern.EXPANDED),
        )
        for what, span, ops in (
            ("sums and products", "2021.3 to 2021.4", ("Add-1", "Multiply-1", "Subtract-1", "Divide-1")),
            ("squared differences", "2021.4 to 2021.4", ("SquaredDifference-1",)),
        )
    ),
    not_compiled(
        name="remainders of sizes",
        span="2021.2 to 2021.4",
        ops=("Mod-1",),
        reason="The remainder of a size is known only when a device runs, so no other size may depend on it.",
        model=_by_remainder(counted(2, 6)),
        types="i32 i64",
        applies=lambda seen: seen.outputs[0].exact is not None and not seen.last,
    ),
    *(
        ReleaseDifference(
            name=f"remainders of sizes by which constants are {what}",
            span=span,
            ops=("Mod-1",),
            state=state,
            reason="The remainder is known only when a device runs, which computes with constants of known size alone.",
            model=Call("Add-1", (_by_remainder(Fixed(counted(2, 6))), counted(6))),
            types="i32 i64",
            applies=applies,
        )
        for what, span, state, applies in (
            (
                "reshaped",
                "2022.1 to 2022.2",
                State.DIFFERS,
                lambda seen: seen.outputs[0].exact is not None and seen.has(Pattern.LATE_SHAPES),
            ),
            (
                "cut or reshaped",
                "2022.3 to 2022.3",
                State.FAILS,
                lambda seen: seen.outputs[0].exact is not None and seen.has(Pattern.LATE_SIZES),
            ),
        )
    ),
    not_read(
        name="Clamp to one number",
        span="2021.2 to 2021.3",
        ops=("Clamp-1",),
        reason="A `min` that is not less than `max` is rejected.",
        model=Call("Clamp-1", (counted(2, 3),), {"min": "2", "max": "2"}),
        applies=lambda seen: seen.attrs is not None and seen.attrs.min >= seen.attrs.max,
    ),
    ReleaseDifference(
        name="sums with numbers next to 0",
        span="2021.2 to 2021.3",
        ops=("Add-1", "Subtract-1"),
        reason="Numbers between -0.00001 and 0.00001 are not added.",
        sometimes=True,
        model=Call("Sqrt-1", (Call("Add-1", (Call("Abs-1", (counted(2, 3) / 1e6,)), Fixed(number(9e-6)))),)),
        types="f32 f16",
        applies=_adds_next_to_nothing,
    ),
    ReleaseDifference(
        name="quotients of i32",
        span="2021.2 to 2021.2",
        ops=("Divide-1", "Mod-1"),
        reason="Quotients of integers are rounded to the nearest integer, instead of down.",
        sometimes=True,
        model=Call("Divide-1", (np.array([7, 9], np.int32), np.array([2, 2], np.int32))),
        types="i32 i64",
        applies=_may_be_rounded,
    ),
    *(
        ReleaseDifference(
            name=f"quotients of integers after {what}",
            span=span,
            ops=("Divide-1",),
            reason="The layers are fused, and quotients are rounded to the nearest integer, instead of down.",
            sometimes=True,
            model=_quotient(before),
            types="i16 i32 i64 u16 u32 u64",
            applies=partial(Seen.is_behind, types=types),
        )
        for what, span, before, types in (
            (
                "an elementwise layer",
                "2021.2 to 2022.2",
                Call("Add-1", (np.array([4, 7], np.int32), Fixed(np.array(1, np.int32)))),
                (ELEMENTWISE | ELEMENTWISE_ALONE).difference({"Abs", "Divide", "Maximum", "Minimum"}),
            ),
            (
                "a minimum",
                "2021.2 to 2021.4",
                Call("Minimum-1", (np.array([5, 8], np.int32), Fixed(np.array(9, np.int32)))),
                frozenset({"Minimum"}),
            ),
            ("an absolute value", "2021.4 to 2022.2", Call("Abs-1", (np.array([5, 8], np.int32),)), frozenset({"Abs"})),
        )
    ),
    ReleaseDifference(
        name="quotients of integers that are reduced",
        span="2022.1 to 2026.4",
        ops=("Divide-1",),
        reason=(
            "Reductions are fused with it: what they give is always the dividend, and quotients are rounded to the "
            "nearest integer, instead of down."
        ),
        sometimes=True,
        model=_quotient(_summed_rows()),
        types="i8 i16 i32 i64 u8 u16 u32 u64",
        applies=lambda seen: seen.has(Pattern.OF_REDUCTION),
    ),
    *(
        ReleaseDifference(
            name=f"quotients of 8 bits, {span}",
            span=span,
            ops=("Divide-1",),
            reason="Quotients of integers of 8 bits are rounded to the nearest integer, instead of down.",
            sometimes=True,
            measured=True,
            model=Call("Divide-1", (np.array([7, 9], np.uint8), np.array([2, 2], np.uint8))),
            types="u8 i8",
            processor=processor,
        )
        for span, processor in (("2021.2 to 2022.3", Processor.ANY), ("2023.0 to 2023.0", Processor.NO_AVX512))
    ),
    *(
        ReleaseDifference(
            name=f"Mod of {kinds} by {divisor} numbers",
            span=f"2021.2 to {last}",
            ops=("Mod-1",),
            state=state,
            reason=f"Integers of {bits} bits {what}.",
            model=Call("Mod-1", (np.array([5, 8], kind), by(np.array([3, 3], kind)))),
            types=kinds,
            applies=applies,
        )
        for kinds, kind, bits, last in (("u8 i8", np.int8, 8, "2021.3"), ("u16 i16", np.int16, 16, "2021.2"))
        for divisor, by, state, what, applies in (
            ("computed", np.array, State.DIFFERS, "give other values", lambda seen: 1 not in seen.constant),
            ("constant", Fixed, State.UNCOMPILED, "are not compiled", lambda seen: 1 in seen.constant),
        )
    ),
    ReleaseDifference(
        name="differences of unsigned integers",
        span="2021.2 to 2022.2",
        ops=("Subtract-1",),
        reason="The subtraction adds a wrong negation of the second number: 9 - 2 returns 255 in u8, or 519.",
        measured=True,
        model=Call("Subtract-1", (np.array([9, 7], np.uint8), np.array([2, 3], np.uint8))),
        types="u8 u16 u32 u64",
    ),
    ReleaseDifference(
        name="minima of unsigned integers",
        span="2021.2 to 2021.4",
        ops=("Minimum-1",),
        reason="The result may be a value that is in neither input.",
        measured=True,
        model=Call("Minimum-1", (np.array([9, 7], np.uint8), np.array([2, 30], np.uint8))),
        types="u8 u16 u32 u64",
    ),
    ReleaseDifference(
        name="unsigned results below 0",
        span="2022.1 to 2025.3",
        ops=("Subtract-1", "Sin-1", "Cos-1", "Tan-1", "LogSoftmax-5", "MVN-1", "MVN-6", "BitwiseNot-13"),
        reason="Negative results in u16, u32 and u64 become 0 at an output of the model, instead of wrapping around.",
        sometimes=True,
        measured=True,
        model=Call("Subtract-1", (np.array([1, 9], np.uint16), np.array([4, 2], np.uint16))),
        types="u16 u32 u64",
        applies=lambda seen: not seen.converted,
    ),
    *(
        ReleaseDifference(
            name=f"{kind} results that are not numbers, {where}",
            span=span,
            ops=DOMAINS,
            reason="Outside the domain of the function the result is not 0.",
            sometimes=True,
            folded=True,
            model=_arcsines(kind, inside=where in {"converted", "within a model"}),
            types=kind,
            applies=applies,
        )
        for kind, where, span, applies in (
            ("u16", "anywhere", "2022.1 to 2025.2", lambda seen: True),
            ("u64", "at an output", "2022.1 to 2025.3", lambda seen: not seen.converted),
            ("u64", "converted", "2022.1 to 2025.2", lambda seen: seen.converted),
            ("u32", "at an output", "2025.3 to 2025.3", lambda seen: not seen.converted),
            ("u32", "within a model", "2022.1 to 2025.2", lambda seen: not seen.border),
        )
    ),
    *(
        ReleaseDifference(
            name=f"{types} results that are not numbers, by {ops[0][:-2]}",
            span=span,
            ops=ops,
            reason="Outside the domain of the function the result is not the least number of the type.",
            sometimes=True,
            folded=True,
            model=Call(ops[0], (np.array(numbers, element_type(types.split()[0]).dtype),)),
            types=types,
        )
        for types, span, ops, numbers in (
            ("i32 i16 i64 i8", "2022.1 to 2025.2", ("Log-1", *DOMAINS), [1, -1]),
            ("u8", "2022.1 to 2025.2", DOMAINS, [1, 9]),
        )
    ),
    ReleaseDifference(
        name="Gelu-2 by tanh",
        span="2021.2 to 2021.3",
        ops=("Gelu-2",),
        types="f32 f64",
        reason="Gelu-2 is approximated with tanh, which changes the fourth digit.",
        sometimes=True,
        model=Call("Gelu-2", (floats(0.5, -1.5, 2.2),)),
    ),
    not_compiled(
        name="PReLU with a slope inside channels",
        span="2021.2 to 2021.3",
        ops=("PReLU-1",),
        reason="A constant slope that does not have one value per channel is read but not compiled.",
        measured=True,
        model=Call("PReLU-1", (counted(2, 3), Fixed(counted(2, 3)))),
        types="f32 f16",
        applies=_has_slope_inside_channels,
    ),
    not_read(
        name="PReLU with a slope of more dimensions than the data",
        span="2021.2 to 2021.2",
        ops=("PReLU-1",),
        reason="A slope with more dimensions than the data is not read.",
        model=Call("PReLU-1", (counted(2, 3), Fixed(floats(2).reshape(1, 1, 1)))),
        applies=lambda seen: seen.rank(1) > seen.rank() > 0,
    ),
    not_run(
        name="PReLU with slopes along the last axis, channels unknown",
        span="2022.1 to 2026.4",
        ops=("PReLU-1",),
        reason="A list of slopes is taken for those of channels whose number is not known, and does not fit others.",
        sometimes=True,
        model=Call("PReLU-1", (Given(counted(2, 3, 4), "2,?,4"), Fixed(counted(4)))),
        applies=_may_have_slopes_of_channels,
    ),
    ReleaseDifference(
        name="a number that adds dimensions",
        span="2021.2 to 2021.3",
        ops=("Add-1", "Subtract-1", "Multiply-1", "Divide-1"),
        types="f32 f16",
        reason="The output does not have the dimensions that a constant of one element adds to those of the data.",
        model=Call("Add-1", (counted(2, 3), Fixed(floats(2).reshape(1, 1, 1)))),
        applies=_is_raised_by_a_number,
    ),
    *(
        ReleaseDifference(
            name=f"PReLU with {what} that an elementwise layer computes, {span}",
            span=span,
            ops=("PReLU-1",),
            reason="An elementwise layer that computes the slope is fused as if it computed the data.",
            model=Call("PReLU-1", (data, Call("ReLU-1", (slope,)))),
            applies=applies,
            processor=processor,
        )
        for what, data, slope, applies, spans in (
            (
                "a slope",
                floats([-1, 2]),
                floats([1, 3]),
                partial(_has_elementwise_slope, listed=False),
                {"2021.2 to 2022.3": Processor.ANY, "2023.0 to 2023.0": Processor.NO_AVX512},
            ),
            (
                "a list of slopes",
                -counted(2, 3),
                floats(2, 3, 4),
                partial(_has_elementwise_slope, listed=True),
                {"2021.2 to 2021.3": Processor.ANY},
            ),
            (
                "a slope for each number of a list",
                floats(-1, -2),
                floats(3, 4),
                lambda seen: _has_elementwise_slope(seen, listed=True) and seen.rank() == 1,
                {"2022.1 to 2022.3": Processor.ANY},
            ),
            (
                "a slope of unknown size",
                floats([-1, -2]),
                Given(floats([3, 4]), "?,2"),
                _has_elementwise_slope_of_any_size,
                {"2022.1 to 2026.4": Processor.ANY},
            ),
        )
        for span, processor in spans.items()
    ),
    not_compiled(
        name="PReLU of one number",
        span="2022.1 to 2026.0",
        ops=("PReLU-1",),
        reason="A scalar is not compiled with a slope of rank 1.",
        model=Call("PReLU-1", (np.array(-1, np.float32), floats(2))),
        applies=lambda seen: seen.inputs[0].shape == () and seen.inputs[1].shape != (),
    ),
    *(
        ReleaseDifference(
            name=f"Select with pdpd, {what}, {span}",
            span=span,
            ops=("Select-1",),
            state=state,
            reason=f'`auto_broadcast="pdpd"` for {what} {state.words}.',
            model=Call(
                "Select-1",
                (condition, counted(*sizes), counted(*sizes)),
                {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": "0"},
            ),
            instead=("auto_broadcast=pdpd",),
            applies=applies,
        )
        for what, condition, sizes, applies, spans in (
            (
                "floats or bytes of known sizes",
                np.ones((2, 3), bool),
                (2, 3),
                _selects_as_pdpd,
                (("2023.3 to 2024.0", State.UNCOMPILED), ("2024.5 to 2026.4", State.UNCOMPILED)),
            ),
            (
                "floats or bytes of known sizes in three dimensions or more",
                np.ones((2, 3, 4), bool),
                (2, 3, 4),
                partial(_selects_as_pdpd, rank=3),
                (("2023.3 to 2026.4", State.UNCOMPILED),),
            ),
            (
                "inputs of other sizes",
                np.array([[True, False]]),
                (2, 2),
                _selects_of_other_sizes,
                (("2022.1 to 2023.0", State.UNREAD),),
            ),
        )
        for span, state in spans
    ),
    *(
        not_compiled(
            name=f"single numbers with {mode}, input {constant} of which is constant",
            span=span,
            ops=tuple(op for op in BEFORE_2022 if op not in SCALING),
            reason=f'With `auto_broadcast="{mode}"`, a scalar and a constant scalar are not compiled.',
            model=Call(
                "Add-1",
                (Fixed(number(2)), number(3)) if constant == 0 else (number(3), Fixed(number(2))),
                {"auto_broadcast": mode},
            ),
            types="f32 f16 bf16 f64 boolean u8 i8",
            applies=partial(_are_single_numbers, mode=mode, constant=constant),
        )
        for mode, constant, span in (
            ("pdpd", 0, "2023.0 to 2023.1"),
            ("pdpd", 1, "2023.2 to 2026.4"),
            ("none", 0, "2023.0 to 2026.4"),
            ("none", 1, "2023.0 to 2026.4"),
        )
    ),
    *(
        ReleaseDifference(
            name=f"SoftSign after {what}",
            span=span,
            ops=("SoftSign-9",),
            reason="A SoftSign that is the only consumer of an elementwise layer returns wrong values, such as 1.",
            model=Call("SoftSign-9", (model,)),
            applies=applies,
        )
        for what, span, model, applies in (
            (
                "an elementwise layer",
                "2022.2 to 2022.3",
                Call("Abs-1", (counted(2, 3),)),
                lambda seen: _is_elementwise(seen) and not seen.has(Pattern.FUSED),
            ),
            (
                "one that is not compiled with it",
                "2022.2 to 2025.3",
                Call("Mish-4", (counted(2, 3),)),
                lambda seen: _is_elementwise_alone(seen) and not seen.has(Pattern.FUSED),
            ),
            (
                "one that is compiled with nothing",
                "2022.2 to 2025.3",
                Call("Add-1", (_single(counted(1, 2, 2, 2)), counted(1, 2, 1, 1))),
                lambda seen: _is_elementwise(seen) and seen.has(Pattern.UNFUSED),
            ),
            (
                "a product whose rows have a constant each",
                "2022.2 to 2024.0",
                _shifted_product(counted(2, 4, 3), counted(1, 4, 1)),
                lambda seen: seen.has(Pattern.OF_ROWS) and _is_elementwise(seen),
            ),
            (
                "a product of four axes",
                "2024.0 to 2024.6",
                _shifted_product(counted(2, 4, 6, 3), counted(5)),
                lambda seen: seen.has(Pattern.OF_IMAGES) and _is_elementwise(seen),
            ),
        )
    ),
    *(
        ReleaseDifference(
            name=f"Erf that overwrites {what}",
            span=span,
            ops=("Erf-1",),
            reason="It overwrites what it reads before elementwise layers that are compiled with it read that.",
            sometimes=True,
            model=Call("Multiply-1", (model, Call("Erf-1", (model,)))),
            applies=partial(Seen.has, pattern=pattern),
        )
        for what, span, pattern, model in (
            (
                "what other layers read",
                "2022.3 to 2023.0",
                Pattern.OVERWRITING_READ,
                Call("SoftMax-8", (counted(2, 3),), {"axis": "1"}),
            ),
            (
                "what an elementwise layer gives others",
                "2022.3 to 2024.4",
                Pattern.OVERWRITING_JOINED,
                Call("Tanh-1", (counted(2, 3),)),
            ),
        )
    ),
    not_compiled(
        name="tests of numbers after an elementwise layer",
        span="2022.3 to 2022.3",
        ops=("IsFinite-10", "IsInf-10", "IsNaN-10"),
        reason="A layer that is the only consumer of an elementwise layer is not compiled.",
        model=Call("IsFinite-10", (Call("Abs-1", (counted(2, 3),)),)),
        applies=_is_elementwise,
    ),
    *(
        not_compiled(
            name=f"tests of numbers that a {type} reads",
            span=f"{release} to {release}",
            ops=("IsFinite-10", "IsInf-10", "IsNaN-10"),
            reason=reason,
            model=Call(f"{type}-1", (Call("IsFinite-10", (counted(2, 3),)),), raw),
            applies=applies,
        )
        for release, type, raw, reason, applies in (
            (
                "2022.3",
                "LogicalNot",
                {},
                "A logical layer after it is fused with it, and neither runs.",
                lambda seen: any(type in LOGICAL for _, type in seen.readers),
            ),
            (
                "2023.0",
                "Convert",
                {"destination_type": "f32"},
                "Only logical layers can read its booleans.",
                lambda seen: any(type not in LOGICAL | {"Result"} for _, type in seen.readers),
            ),
        )
    ),
    *(
        ReleaseDifference(
            name=f"{op} of numbers that are broadcast as in pdpd",
            span=f"2022.1 to {last}",
            ops=(op,),
            state=state,
            reason='`auto_broadcast="pdpd"` is compiled only for known sizes and inputs of equal rank.',
            model=Call(
                op, (counted(2, 3), counted(3)), {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": "-1"}
            ),
            types="f16 bf16 f32 f64",
            applies=_broadcasts_as_pdpd,
        )
        for op, last, state in (
            ("Mod-1", "2026.4", State.UNCOMPILED),
            ("SquaredDifference-1", "2023.3", State.UNCOMPILED),
        )
    ),
    *(
        not_read(
            name=f"{ops[0]} with pdpd, dimensions of 1 before others",
            span=span,
            ops=ops,
            reason='`auto_broadcast="pdpd"` is read only if dimensions of 1 are the last ones of the second input.',
            model=Call(ops[0], (counted(2, 3), counted(1, 3)), {"auto_broadcast": "pdpd"}),
            applies=_has_ones_first,
        )
        for ops, span in AS_IN_PDPD.items()
    ),
    *(
        ReleaseDifference(
            name=f"{ops[0]} with pdpd, dimensions of 1 at the end",
            span="2023.0 to 2023.1",
            ops=ops,
            reason='`auto_broadcast="pdpd"` aligns other dimensions if the last one of the second input is 1.',
            sometimes=True,
            model=Call(
                ops[0],
                (np.array([[11, 12], [14, 18]], kind), np.array([[3], [7]], kind)),
                {"auto_broadcast": "pdpd"},
            ),
            types=types,
            applies=_has_ones_last,
        )
        for ops, kind, types in (
            (
                tuple(sorted(op for ops in AS_IN_PDPD for op in ops if op not in SCALING)),
                np.float32,
                "boolean u8 i8 f16 f32",
            ),
            (("Divide-1",), np.uint8, "u8 i8"),
            (("Subtract-1",), np.uint8, "u8"),
        )
    ),
    ReleaseDifference(
        name="tests of fewer dimensions with pdpd, of 1 at the end",
        span="2023.0 to 2023.1",
        ops=TESTS,
        reason='`auto_broadcast="pdpd"` aligns other dimensions if the last one of the second input is 1.',
        sometimes=True,
        model=Call("Less-1", (floats(1, 5, 2, 6, 7, 0).reshape(2, 3), floats(3)), {"auto_broadcast": "pdpd"}),
        types=TESTED,
        applies=partial(_has_ones_last, fewer=True),
    ),
    *(
        not_compiled(
            name=f"tests of fewer dimensions with pdpd, {what}",
            span=span,
            ops=TESTS,
            reason=f'`auto_broadcast="pdpd"` is not compiled for inputs of different ranks, {what}.',
            model=Call(
                "Less-1",
                (counted(rows, 3), counted(3)),
                {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": axis},
            ),
            types=TESTED,
            applies=partial(_tests_fewer_as_pdpd, written=written),
        )
        for what, span, axis, rows, written in (
            ("if the second is repeated", "2023.0 to 2023.0", "-1", 2, False),
            ("if the axis is written", "2023.1 to 2026.4", "1", 1, True),
        )
    ),
    *(
        not_compiled(
            name=f"Subtract-1 of u8 as in pdpd, {what}",
            span=span,
            ops=("Subtract-1",),
            reason=f'`auto_broadcast="pdpd"` is not compiled for u8 of {what}.',
            model=Call(
                "Subtract-1",
                (Given(np.array([3, 4], np.uint8), shape), np.array([1, 2], np.uint8)),
                {"auto_broadcast": "pdpd"},
            ),
            types="u8",
            applies=applies,
        )
        for what, shape, span, applies in (
            ("any sizes", "2", "2022.3 to 2022.3", _is_as_pdpd),
            ("unknown sizes", "?", "2022.3 to 2023.1", _broadcasts_as_pdpd),
        )
    ),
    *(
        ReleaseDifference(
            name=f"{ops[0]} with pdpd from an axis on, sizes that fit {fits}, {span[:6]}",
            span=span,
            ops=ops,
            state=state,
            reason='`auto_broadcast="pdpd"` aligns the last dimensions and ignores the axis.',
            model=Call(
                ops[0],
                inputs,
                {**attributes, "auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": str(inputs[0].ndim - 2)},
            ),
            applies=partial(lambda seen, kinds: _fits(seen) in kinds, kinds=fits.split(" or ")),
        )
        for ops, inputs, attributes, fits, spans in (
            (
                BEFORE_2022,
                (counted(2, 2), counted(2)),
                {},
                "throughout or last",
                (("2021.2 to 2021.4", State.DIFFERS),),
            ),
            (BEFORE_2022, (counted(2, 3), counted(2)), {}, "as written", (("2021.2 to 2021.4", State.UNCOMPILED),)),
            (
                SCALING,
                (counted(2, 2), counted(2)),
                {},
                "throughout or last",
                (("2022.1 to 2026.4", State.DIFFERS),),
            ),
            (
                SCALING,
                (counted(2, 3), counted(2)),
                {},
                "as written",
                (("2022.1 to 2026.4", State.UNCOMPILED),),
            ),
            (
                TESTS,
                (counted(2, 2), counted(2)),
                {},
                "throughout",
                (
                    ("2022.1 to 2022.3", State.DIFFERS),
                    ("2023.0 to 2023.0", State.UNCOMPILED),
                    ("2023.1 to 2026.4", State.DIFFERS),
                ),
            ),
            (
                TESTS,
                (counted(1, 2, 2), counted(2)),
                {},
                "last",
                (("2022.1 to 2022.3", State.DIFFERS), ("2023.0 to 2026.4", State.UNCOMPILED)),
            ),
            (TESTS, (counted(2, 3), counted(2)), {}, "as written", (("2022.1 to 2026.4", State.UNCOMPILED),)),
            (
                BITS,
                (whole(1, 2, 3, 4).reshape(2, 2), whole(1, 3)),
                {},
                "throughout or last",
                (("2023.2 to 2026.4", State.DIFFERS),),
            ),
            (
                BITS,
                (whole(1, 2, 3, 4, 5, 6).reshape(2, 3), whole(1, 3)),
                {},
                "as written",
                (("2023.2 to 2023.2", State.DIFFERS), ("2023.3 to 2026.4", State.UNCOMPILED)),
            ),
            (
                ("FakeQuantize-1",),
                (counted(2, 3), floats(0, 0.2), floats(0.4, 0.8), floats(0, 0.2), floats(0.4, 0.8)),
                {"levels": "16"},
                "throughout or last or as written",
                (("2022.1 to 2026.4", State.DIFFERS),),
            ),
        )
        for span, state in spans
    ),
    *(
        not_compiled(
            name=f"bytes that are broadcast as in pdpd, {ops[0]}, {what}",
            span=f"2022.1 to {last}",
            ops=ops,
            reason=f'`auto_broadcast="pdpd"` is not compiled for i8 and u8 of {what}.',
            model=Call(
                ops[0],
                (Given(np.array([1, 2], np.uint8), shape), np.array([3, 4], np.uint8)),
                {"auto_broadcast": "pdpd"},
            ),
            types="u8 i8",
            applies=applies,
        )
        for what, shape, last, ops, applies in (
            ("any sizes", "2", "2022.3", (*BYTES_AS_PDPD, "Minimum-1"), _is_as_pdpd),
            ("unknown sizes", "?", "2026.4", BYTES_AS_PDPD, _broadcasts_as_pdpd),
        )
    ),
    *(
        ReleaseDifference(
            name=f"{kind} infinities, {span}",
            span=span,
            ops=("IsInf-10", "IsFinite-10"),
            reason=f"{kind} is converted to f32, and infinities become the largest number.",
            sometimes=True,
            model=Call("IsInf-10", (np.array([1, np.inf], dtype),)),
            types=kind,
            applies=lambda seen: not seen.first or seen.version != FIRST_VERSION,
            processor=processor,
        )
        for kind, dtype, span, processor in (
            ("f16", np.float16, "2022.3 to 2024.2", Processor.NO_AMX),
            ("f16", np.float16, "2022.3 to 2023.0", Processor.AMX),
            ("f16", np.float16, "2023.3 to 2024.2", Processor.AMX),
            ("f64", np.float64, "2022.3 to 2026.4", Processor.ANY),
        )
    ),
    not_compiled(
        name="SquaredDifference-1 of integers as in pdpd",
        span="2022.1 to 2026.4",
        ops=("SquaredDifference-1",),
        reason='`auto_broadcast="pdpd"` is not compiled for integers.',
        model=Call("SquaredDifference-1", (whole(1, 2), whole(3, 5)), {"auto_broadcast": "pdpd"}),
        types="i8 i16 i32 i64 u8 u16 u32 u64",
        applies=_is_as_pdpd,
    ),
    *(
        ReleaseDifference(
            name=f"Clamp after a FakeQuantize, {span}",
            span=span,
            ops=("Clamp-1",),
            reason="Values are clamped to the nearest levels of the FakeQuantize, which may be outside the limits.",
            sometimes=True,
            model=Call("Clamp-1", (quantized(counted(2, 3), Fixed(floats(2))),), {"min": "0.3", "max": "0.7"}),
            applies=lambda seen: seen.has(Pattern.BETWEEN_LEVELS),
        )
        for span in ("2022.1 to 2022.3", "2025.4 to 2026.4")
    ),
    *(
        ReleaseDifference(
            name=f"Clamp {name} after a FakeQuantize",
            span="2022.1 to 2026.4",
            ops=("Clamp-1",),
            reason="Values are clamped to the nearest levels of the FakeQuantize, which may be outside the limits.",
            sometimes=True,
            model=Call("Clamp-1", (quantized(data, Fixed(floats(2))),), {"min": "0.3", "max": "0.7"}),
            applies=applies,
        )
        for name, data, applies in (
            (
                "of unknown sizes",
                Given(counted(2, 3), "?,?"),
                lambda seen: seen.has(Pattern.BETWEEN_LEVELS) and not is_static(seen.inputs[0].shape),
            ),
            (
                "of a product",
                Call("MatMul-1", (counted(2, 3), Fixed(counted(3, 4)))),
                lambda seen: seen.has(Pattern.COMPILED_LEVELS),
            ),
        )
    ),
    *(
        ReleaseDifference(
            name=f"sums of convolutions of unknown sizes and a tensor of known ones, {what}",
            span=span,
            ops=("Add-1", "Subtract-1"),
            state=state,
            reason="The sum is compiled with the convolution, whose memory has other sizes.",
            model=model,
            applies=applies,
        )
        for what, span, state, model, applies in (
            (
                "either way",
                "2022.1 to 2022.2",
                State.UNCOMPILED,
                _convolved(Given(IMAGES, "?,2,?,?"), ONE_PER_CHANNEL),
                lambda seen: bool(_unlike(seen, second=False) or _unlike(seen, second=True)),
            ),
            (
                "before it",
                "2022.3 to 2023.3",
                State.FAILS,
                _convolved(Given(IMAGES, "?,2,?,?"), ONE_PER_CHANNEL, second=True),
                lambda seen: bool(_repeated(seen, second=True)),
            ),
            (
                "within limits",
                "2022.3 to 2023.3",
                State.FAILS,
                _convolved(Given(IMAGES, "?,2,2..9,2..9"), ONE_PER_CHANNEL),
                partial(_repeats_more, images=False),
            ),
            (
                "at least 2",
                "2023.0 to 2023.3",
                State.FAILS,
                _convolved(Given(IMAGES, "?,2,2..,2.."), ONE_PER_CHANNEL),
                partial(_repeats_more, images=True),
            ),
            (
                "by batch",
                "2022.3 to 2026.4",
                State.FAILS,
                _convolved(Given(IMAGES, "?,2,4,4"), Given(counted(1, 3, 4, 4), "1,3,4,4"), second=True),
                lambda seen: [axis for axis, _ in _repeated(seen, second=True)] == [0],
            ),
        )
    ),
    ReleaseDifference(
        name="sums of convolutions of unknown sizes in bytes and numbers that are repeated",
        span="2022.3 to 2023.3",
        ops=("Add-1", "Subtract-1"),
        reason="The sum is compiled with the convolution, whose bytes get the limits of the other tensor.",
        sometimes=True,
        model=_summed_in_bytes(),
        applies=lambda seen: seen.has(Pattern.SUMMED_IN_BYTES) and bool(_repeated(seen, second=False)),
    ),
    ReleaseDifference(
        name="quantized sums of quantized convolutions",
        span="2022.2 to 2022.2",
        ops=("Add-1", "Subtract-1"),
        reason="The sum is compiled with the convolution, whose FakeQuantize is left out with its limits.",
        sometimes=True,
        model=_residual(),
        applies=_is_unlimited,
    ),
    not_compiled(
        name="quantized differences of quantized convolutions",
        span="2022.3 to 2022.3",
        ops=("Subtract-1",),
        reason="The difference is compiled with the convolution, which is not possible if both tensors are quantized.",
        model=_residual("Subtract-1"),
        applies=_is_uncompiled,
    ),
    not_compiled(
        name="sums of convolutions of unlimited sizes and a tensor of limited ones",
        span="2022.1 to 2022.2",
        ops=("Add-1", "Subtract-1"),
        reason="The sum is compiled with the convolution, whose size is taken for 64, which the other one cannot have.",
        model=Call("Add-1", (LIMITED, _single(_single(LIMITED)))),
        applies=_is_limited,
    ),
    ReleaseDifference(
        name="sums of convolutions of single elements with strides",
        span="2022.3 to 2022.3",
        ops=("Add-1", "Subtract-1"),
        reason="The sum is compiled with the convolution, and is wrong if the stride does not divide a size.",
        model=Call("Add-1", (_single(ODD, 2), _single(ODD, 2))),
        processor=Processor.AVX512,
        applies=lambda seen: seen.has(Pattern.STEPPING),
    ),
    not_compiled(
        name="sums by channel behind activations of convolutions of unknown sizes",
        span="2022.1 to 2022.3",
        ops=("Add-1", "Subtract-1"),
        reason="A convolution, an activation and a sum by channel are one layer, which has to know a size.",
        model=Call(
            "Add-1",
            (
                Call("ReLU-1", (Call("Convolution-1", (Given(IMAGES, "?,2,?,?"), Fixed(counted(3, 2, 1, 1))), PLANE),)),
                Fixed(counted(1, 3, 1, 1)),
            ),
        ),
        applies=_shifts_activations,
    ),
    not_compiled(
        name="products by position before a convolution",
        span="2022.1 to 2024.3",
        ops=("Multiply-1", "Divide-1"),
        reason="Constants that differ along other axes than the channels are not compiled if a convolution follows.",
        model=Call(
            "Convolution-1",
            (Call("Multiply-1", (counted(1, 2, 4, 4), Fixed(counted(4)))), Fixed(counted(1, 2, 3, 3))),
            PLANE,
        ),
        applies=_is_convolved,
    ),
    *(
        not_compiled(
            name=f"Mish after an attention, {first} to 2026.4",
            span=f"{first} to 2026.4",
            ops=("Mish-4",),
            reason="A Mish that is the only consumer of a ScaledDotProductAttention is not compiled.",
            model=Call("Mish-4", (attention(),)),
            applies=lambda seen: seen.is_behind({"ScaledDotProductAttention"}),
            processor=processor,
        )
        for first, processor in (("2024.3", Processor.AVX512), ("2024.4", Processor.NO_AVX512))
    ),
)
"""The rows."""
