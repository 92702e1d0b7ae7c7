"""Quantization: FakeQuantize, after whatever layer, and FakeConvert."""

from collections.abc import Callable, Sequence, Set
from functools import partial
from math import prod

import numpy as np
from numpy.typing import DTypeLike

from ir_tools.known_differences._model import LINE, PLANE, Call, Fixed, Given, converted, counted, floats, number, whole
from ir_tools.known_differences.releases._predicates import ELEMENTWISE, ELEMENTWISE_ALONE, assumed, has_rank, has_value
from ir_tools.known_differences.releases._row import ReleaseDifference, ends, not_compiled, not_run
from ir_tools.known_differences.releases._samples import WINDOWS, attention, quantized
from ir_tools.known_differences.releases.seen import CONVOLUTIONS, Pattern, Seen
from ir_tools.ops import Array
from ir_tools.ops.convolution_shapes import windows_of
from ir_tools.processors import Processor
from ir_tools.releases.measured import State
from ir_tools.types import Dim, element_type, is_static

__all__ = ["ROWS"]

SCALING = frozenset({"Add", "Divide", "Multiply", "Subtract"})
FUNCTIONS_ALONE = (ELEMENTWISE | ELEMENTWISE_ALONE) - SCALING
NORMALIZING = frozenset({"Interpolate", "NormalizeL2"})
EXTREMES = frozenset({"ReduceMax", "ReduceMin"})
REDUCING = frozenset({"ReduceMean", "ReduceSum", "ReduceProd", "ReduceL1", "ReduceL2"})
SUMMING = frozenset({"AvgPool", "ConvolutionBackpropData", "GroupConvolutionBackpropData", "MatMul"})
"""Types of layers that are compiled with a FakeQuantize behind them, each in another way."""
FOUR_ROWS = counted(1, 3, 4, 2)
ANY_IMAGES = Given(FOUR_ROWS, "?,3,4,2")
IMAGES, BY_CHANNEL = counted(1, 2, 2, 2), Fixed(counted(1, 2, 1, 1))
LAST = Fixed(np.arange(2, 6, dtype=np.float32))
TILE, FEW = 64, 16
"""How many bytes of a row AMX multiplies at a time, and of how many rows."""
FILTERS = (np.arange(6) * 37 % 127).reshape(3, 2, 1, 1)
LARGEST = {"kernel": "2,2", "strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0"}
MEANS = WINDOWS | {"kernel": "2,2", "pads_begin": "0,0"}
EARLIER, EARLY = ("2021.3 to 2021.3", State.DIES), ("2021.4 to 2022.3", State.UNCOMPILED)
BACK, GROUP_BACK = "ConvolutionBackpropData", "GroupConvolutionBackpropData"
IN_GROUPS = 2, 2, 2, 2, 2
"""Sizes of weights of two groups."""
FEWEST, NARROW = 15, 255
"""Odd numbers of levels that releases compute with in bytes."""
WIDEST = 3
"""Strides of the last axis with which releases compute a transposed convolution in 8 bits, if filters are as wide."""
LOW = 3
"""Up to how many dimensions a product has that releases compile as a fully connected layer."""
CONVOLUTION, GROUPED = ("Convolution-1",), ("GroupConvolution-1",)
PRODUCTS = (*CONVOLUTION, "ConvolutionBackpropData-1", "MatMul-1")
TAKING_ANY = CONVOLUTIONS | {"MatMul"}
"""Types of layers that multiply bytes whatever their zero point is."""
CONVOLVING = (*CONVOLUTION, *GROUPED, "ConvolutionBackpropData-1", "GroupConvolutionBackpropData-1")
MANY_AXES = counted(2, 1, 1, 1, 1, 1)
SMALL_IMAGE = np.abs(np.sin(counted(1, 2, 3, 4)))
VARIANCE = {"eps": "0.01", "eps_mode": "inside_sqrt", "normalize_variance": "true"}


def _has_two_levels(seen: Seen) -> bool:
    """Return whether a FakeQuantize of a matrix or more is to two levels, by constants for all or for each channel."""
    rank = seen.rank()
    shapes = [fact.shape for fact in seen.inputs[1:]]
    by_channel = all(
        shape is not None and all(dim.hi == 1 or axis == 1 for axis, dim in enumerate(shape, rank - len(shape)))
        for shape in shapes
    )
    return by_channel and has_value("levels", 2)(seen) and rank > 1 and {1, 2, 3, 4} <= {*seen.constant}


def _is_removed(seen: Seen) -> bool:
    """Return whether a FakeQuantize to 65536 levels has constant limits, and output limits that may be the input's."""
    known = [fact.exact for fact in seen.inputs[1:5]]
    kept = (
        low is None or high is None or np.array_equal(low, high) for low, high in zip(known[:2], known[2:], strict=True)
    )
    return has_value("levels", 65536)(seen) and {1, 2, 3, 4} <= {*seen.constant} and all(kept)


def _has_limits_of_heads(seen: Seen) -> bool:
    """Return whether a FakeQuantize of an attention has constant limits that differ along axis 1 or 2."""
    return seen.is_behind({"ScaledDotProductAttention"}) and (_has_limits_along(seen, 1) or _has_limits_along(seen, 2))


def _limits_rows(behind: Set[str], *, known: bool = True) -> Callable[[Seen], bool]:
    """Return whether constant limits of a FakeQuantize differ along axis 2, behind a layer of one of these types.

    Unless `known`, the size of its data is not known.
    """
    return lambda seen: (
        seen.is_behind(behind) and _has_limits_along(seen, 2) and (known or not is_static(seen.inputs[0].shape))
    )


def _limits_rows_behind_others(seen: Seen) -> bool:
    """Return whether constant limits of a FakeQuantize differ along axis 2, behind a layer of no type named here."""
    named = FUNCTIONS_ALONE | NORMALIZING | CONVOLUTIONS | EXTREMES | SUMMING | {"MVN"}
    return not seen.is_behind(named) and _has_limits_along(seen, 2)


def _limits_product(seen: Seen, pattern: Pattern, *, low: bool | None, square: bool) -> bool:
    """Return whether limits of a product differ along axis 1 of three or more axes, and along no other.

    `low`: of three axes, or of more, if given; `square`: axis 1 is as long as the last one.
    """
    if not seen.has(pattern) or not _has_limits_along(seen, 1) or low not in {None, has_rank(seen, 3)}:
        return False
    shape = seen.outputs[0].shape or ()
    alike = len(shape) > 1 and shape[1].hi is not None and shape[1].hi == shape[-1].hi
    return set().union(*_axes_of_limits(seen)) == {1} and len(shape) > 2 and alike is square


OF_PRODUCT, OF_MATRICES = Pattern.OF_PRODUCT, Pattern.OF_MATRICES


def _limited_product(sizes: tuple[int, ...], *matrices: int) -> Call:
    """Return quantized products of rows of eight numbers by six columns, with limits along axis 1."""
    weights, high = np.sin(counted(*matrices, 8, 6)), counted(1, sizes[1], *(1 for _ in sizes[1:])) + 1
    plain = {"transpose_a": "false", "transpose_b": "false"}
    data = Call("MatMul-1", (np.sin(counted(*sizes, 8)), Fixed(weights)), plain)
    return Call("FakeQuantize-1", (data, *(Fixed(one) for one in (-high, high, -high, high))), {"levels": "256"})


def _has_unknown_sizes(seen: Seen, pattern: Pattern) -> bool:
    """Return whether a size of the data of a layer that is part of a pattern is not known."""
    return seen.has(pattern) and not is_static(seen.inputs[0].shape)


def _is_low_product(seen: Seen) -> bool:
    """Return whether the layer before is a MatMul that gives three dimensions."""
    return seen.is_behind({"MatMul"}) and has_rank(seen, 3)


def _has_limits_along(seen: Seen, axis: int) -> bool:
    return _has_constant_limits(seen) and any(axis in axes for axes in _axes_of_limits(seen))


def _axes_of_limits(seen: Seen) -> list[set[int]]:
    """Return along which axes of its data each of the limits of a FakeQuantize differs."""
    rank = seen.rank()
    shapes = [fact.shape or () for fact in seen.inputs[1:]]
    return [{axis for axis, dim in enumerate(shape, rank - len(shape)) if dim.lo > 1} for shape in shapes]


def _has_limits_behind_channels(seen: Seen) -> bool:
    """Return whether constant limits of a FakeQuantize differ along an axis behind the channels."""
    return any(_has_limits_along(seen, axis) for axis in range(2, seen.rank()))


def _has_low_limits_behind_channels(seen: Seen) -> bool:
    """Return whether constant limits are lists for the last of several axes, or such ones behind a sum or product."""
    rank, shapes = seen.rank(), [fact.shape or () for fact in seen.inputs[1:]]
    listed = rank > 1 and any(len(shape) == 1 and shape[0].lo > 1 for shape in shapes)
    return (listed and _has_constant_limits(seen)) or (seen.is_behind(SCALING) and _has_limits_behind_channels(seen))


def _has_uneven_outputs(seen: Seen) -> bool:
    """Return whether one of the constant limits of the output is a number, and the other one is several."""
    counts = {prod(dim.hi or 0 for dim in fact.shape or ()) for fact in seen.inputs[3:5]}
    return _is_of_quantized_levels(seen) and len(counts) > 1 and 1 in counts


def _has_limits_of_images(seen: Seen) -> bool:
    """Return whether constant limits differ along axis 0 of three, or of data that an elementwise layer computes."""
    return _has_limits_along(seen, 0) and (has_rank(seen, 3) or seen.is_behind(ELEMENTWISE | ELEMENTWISE_ALONE))


def _is_given_product(seen: Seen) -> bool:
    """Return whether quantized data are scaled by constants, and only outputs or Transposes read the result."""
    scaled = seen.is_behind({"FakeQuantize"}) and {*seen.constant} == {*range(1, len(seen.inputs))}
    swapped = seen.op.type == "Multiply" and seen.is_behind({"FakeQuantize"}, 1) and {*seen.constant} == {0}
    return (scaled or swapped) and seen.readers in {((0, "Result"),), ((0, "Transpose"),)}


def _is_scaled_by_channel(seen: Seen) -> bool:
    """Return whether a product of images, one of them quantized, is multiplied by a constant for each channel."""
    computed = not seen.constant and any(seen.is_behind({"FakeQuantize"}, number) for number in range(2))
    scaled = seen.readers in {((0, "Multiply"),), ((0, "Divide"),)} and 1 in seen.scaled
    return computed and scaled and max(seen.rank(0), seen.rank(1)) > 3


def _limits_as_channels(seen: Seen) -> bool:
    """Return whether a convolution before a FakeQuantize gives as many channels as there are limits along axis 2."""
    shape = seen.inputs[0].shape or ()
    return _limits_rows(CONVOLUTIONS)(seen) and shape[1:2] == shape[2:3]


def _is_in_bytes(seen: Seen, *, known: bool) -> bool:
    """Return whether a convolution of sizes that are `known`, or not, is of data and constant weights in bytes."""
    unsuited = seen.has(Pattern.ZERO_BETWEEN_LEVELS) or seen.has(Pattern.FEW_LEVELS)
    quantized = seen.has(Pattern.QUANTIZED) and _has_scaled(seen, {"i8"}) and not unsuited
    return quantized and seen.has_known_sizes is known


def _has_code_for_groups(seen: Seen) -> bool:
    """Return whether a convolution has no groups, or such of one channel or of multiples of four, in and out."""
    filters = seen.inputs[1].dims[1:3]
    return seen.op.type == "Convolution" or filters == (1, 1) or not any(size % 4 for size in filters)


def _has_quantized_weights(seen: Seen) -> bool:
    return 1 in seen.constant and (seen.is_behind({"FakeQuantize"}, 1) or "i8" in seen.held)


def _is_scaled_apart(seen: Seen) -> bool:
    """Return whether quantized products of unknown size are scaled for each reader apart."""
    known = all(is_static(fact.shape) for fact in seen.outputs)
    return seen.has(Pattern.SCALED_APART) and not known and _has_quantized_weights(seen)


def _is_unshifted_apart(seen: Seen) -> bool:
    """Return whether that is so of data without a zero point."""
    return _is_scaled_apart(seen) and not seen.has(Pattern.WITH_ZERO_POINT)


def _is_by_scaled(seen: Seen, *, pattern: str, kinds: Set[str]) -> bool:
    """Return whether data in a pattern are multiplied by scaled constants of these types, or by quantized ones.

    Those of a transposed convolution have to begin at 0.
    """
    return seen.has(pattern) and _has_scaled(seen, kinds) and (seen.op.type in TAKING_ANY or seen.has(Pattern.UNSIGNED))


def _has_scaled(seen: Seen, kinds: Set[str]) -> bool:
    """Return whether the weights are scaled constants of these types, or quantized ones."""
    scaled = not seen.held.isdisjoint(kinds) and not seen.held.isdisjoint({"f32", "f16", "bf16"})
    return 1 in seen.constant and (scaled or seen.is_behind({"FakeQuantize"}, 1))


def _is_in_groups(seen: Seen, *, pattern: str) -> bool:
    """Return whether groups of several channels, whose data have a zero point, are in a pattern."""
    several = any(dim.hi != 1 for dim in (seen.inputs[1].shape or ())[1:3])
    return several and _has_quantized_weights(seen) and seen.has(Pattern.WITH_ZERO_POINT) and seen.has(pattern)


def _is_negated(seen: Seen, *, pattern: str) -> bool:
    """Return whether a quantized product is negated in a pattern, but for one of four axes or more by channel."""
    high = seen.op.type == "MatMul" and seen.rank() > LOW and seen.has(Pattern.NEGATED_BY_CHANNEL)
    return seen.has(pattern) and _has_quantized_weights(seen) and not high


def _has_rows_of_tiles(seen: Seen) -> bool:
    """Return whether a convolution of quantized data and weights takes rows of its filters as one, in several tiles.

    It does if these follow upon each other without padding, and their elements fill tiles as channels alone do not.
    """
    data, filters = (fact.shape for fact in seen.inputs[:2])
    if seen.attrs is None or data is None or not is_static(filters) or not seen.has(Pattern.QUANTIZED):
        return False
    windows, (width, channels) = windows_of(seen.attrs, len(data) - 2), ((filters or ())[place].lo for place in (-1, 1))
    in_a_row = windows.strides[-1] == width and windows.dilations[-1] == 1 and windows.begin[-1] == windows.end[-1] == 0
    whole_rows = not data[-1].static or data[-1].lo % width == 0
    tiles = width * channels % TILE == 0 and width * channels > TILE and channels % TILE > 0
    return in_a_row and whole_rows and tiles and _has_quantized_weights(seen)


def _columns(seen: Seen) -> tuple[int, int]:
    """Return by how many quantized columns quantized rows are multiplied, and of how many elements; zeros if not so."""
    shape = (seen.inputs[1].shape or ()) if seen.has(Pattern.QUANTIZED) else ()
    if (
        seen.attrs is None
        or len(shape) < 2
        or seen.rank() > 3
        or not is_static(shape)
        or any(dim.hi != 1 for dim in shape[:-2])
    ):
        return 0, 0
    length, count = (dim.lo for dim in (shape[:-3:-1] if seen.attrs.transpose_b else shape[-2:]))
    return (count, length) if _has_quantized_weights(seen) else (0, 0)


def _rows(seen: Seen, size: Callable[[Dim], int]) -> int:
    """Return the number of rows of data by how each unknown size counts."""
    shape = seen.inputs[0].shape or ()
    transposed = seen.attrs is not None and bool(seen.attrs.transpose_a)
    return prod(map(size, (*shape[:-2], shape[-1]) if transposed else shape[:-1]))


def _has_square_weights(seen: Seen) -> bool:
    """Return whether as many columns as rows are multiplied by."""
    sizes = (seen.inputs[1].shape or ())[-2:]
    return len({dim.lo for dim in sizes}) == 1


def _has_uneven_columns(seen: Seen) -> bool:
    """Return whether quantized rows are multiplied by quantized columns of a length that 16 may not divide.

    It may be one row or column, if the rows have no negative numbers.
    """
    count, length = _columns(seen)
    is_vector = count == 1 or _rows(seen, lambda dim: dim.hi or 0) == 1
    return length % 16 > 0 and not (is_vector and seen.has(Pattern.UNSIGNED))


def _may_have_few_rows(seen: Seen) -> bool:
    """Return whether few columns multiply rows that may be few, though the layer is compiled for more."""
    sizes = _columns(seen)
    return 0 < max(sizes) <= TILE and _rows(seen, lambda dim: max(dim.lo, 1)) <= FEW < _rows(seen, assumed)


def _is_by_unsigned(seen: Seen, *, pattern: str) -> bool:
    """Return whether rows quantized without a zero point are multiplied by one matrix of u8 constants, in a pattern."""
    batch = (seen.inputs[1].shape or ())[:-2]
    one = seen.rank() in {2, 3} and all(dim.hi == 1 for dim in batch)
    return one and seen.has(Pattern.UNSHIFTED) and seen.has(Pattern.UNSIGNED_WEIGHTS) and seen.has(pattern)


def _is_by_columns_less_a_float(seen: Seen) -> bool:
    """Return whether quantized rows are multiplied by one transposed matrix of several outputs that floats shift."""
    weights = seen.inputs[1].shape or ()
    rows = seen.attrs is None or seen.attrs.transpose_b
    return seen.has(Pattern.COLUMNS_LESS_A_FLOAT) and rows and seen.rank() <= LOW and weights[:1] != (Dim(1, 1),)


def _is_less_bytes(seen: Seen) -> bool:
    """Return whether weights have a scale and zero points in bytes, and are i8 unless the layer takes u8 as well."""
    any_kind = seen.op.type in {"MatMul", "GroupConvolutionBackpropData"}
    return seen.has(Pattern.LESS_BYTES) and not seen.has(Pattern.LESS_BYTES_ALONE) and (any_kind or "i8" in seen.held)


def _has_wide_limits(seen: Seen) -> bool:
    """Return whether constant limits of quantized constants differ along several axes, or one behind the third."""
    axes = {axis for found in _axes_of_limits(seen) for axis in found}
    return {0, 1, 2, 3, 4} <= {*seen.constant} and (len(axes) > 1 or max(axes, default=0) > 2)


def _limits_weights_of(seen: Seen, *, reader: str, axes: Set[int]) -> bool:
    """Return whether limits of the constants that a layer of this type reads differ along these axes, or several."""
    found = {axis for axes in _axes_of_limits(seen) for axis in axes}
    given = {0, 1, 2, 3, 4} <= {*seen.constant} and any(type == reader for _, type in seen.readers)
    return given and (found == axes if axes else len(found) > 1)


def _has_odd_levels(seen: Seen, *, even: bool) -> bool:
    """Return whether levels of images that are scaled apart are 255 with `even` limits, or an odd number otherwise."""
    is_even = has_value("levels", NARROW)(seen) and seen.has(Pattern.EVEN_LEVELS)
    odd = is_even or has_value("levels", NARROW)(seen) or has_value("levels", FEWEST)(seen)
    return seen.has(Pattern.SCALED_LEVELS) and seen.rank() > LOW and odd and is_even is even


def _is_vector_by_bytes(seen: Seen) -> bool:
    """Return whether a quantized vector is multiplied by several scaled columns of 8 bits."""
    several = all(dim.hi != 1 for fact in seen.outputs for dim in fact.shape or ())
    return seen.rank() == 1 and seen.has(Pattern.BYTE_COLUMNS) and several


def _has_constant_limits(seen: Seen) -> bool:
    """Return whether all limits of a FakeQuantize are constants."""
    return {1, 2, 3, 4} <= {*seen.constant}


def _is_of_quantized_levels(seen: Seen) -> bool:
    """Return whether a FakeQuantize has constant limits, and as many levels as types of 4 or 8 bits."""
    return _has_constant_limits(seen) and seen.attrs is not None and seen.attrs.levels in {15, 16, 255, 256}


def _converted(value: float, kind: str) -> Call:
    """Return the rounding of a number to a type of 8 bits."""
    return Call("FakeConvert-13", (floats(value), Fixed(floats(1)), Fixed(floats(0))), {"destination_type": kind})


def _limited_rows(data: Array | Given | Call) -> Call:
    """Return data of four rows quantized between limits for each row."""
    return quantized(data, Fixed(np.arange(2, 6, dtype=np.float32).reshape(1, 1, 4, 1)))


def _convolved(channels: int) -> Call:
    """Return data of four rows from a convolution that changes nothing."""
    weights = np.eye(channels, dtype=np.float32).reshape(channels, channels, 1, 1)
    return Call("Convolution-1", (counted(1, channels, 4, 2), Fixed(weights)), PLANE)


def _scaled_bytes(*sizes: int) -> Call:
    """Return constants of 8 bits that a number scales."""
    held = (np.arange(prod(sizes)) * 37 % 251 - 125).astype(np.int8).reshape(sizes)
    scale = np.full((1,) * len(sizes), 0.01, np.float32)
    return Call("Multiply-1", (converted(Fixed(held), "f32"), Fixed(scale)))


def _multiplied(rows: Array | Given) -> Call:
    """Return a product of quantized rows and columns of eight elements."""
    data = quantized(rows, Fixed(floats(1)), levels=255)
    return Call("MatMul-1", (data, _scaled_bytes(16, 8)), {"transpose_b": "true"})


def _by_columns(kind: DTypeLike, *sizes: int, low: float = -1) -> Call:
    """Return quantized data times constants of 8 bits with a scale for each of five outputs."""
    held = (np.arange(5 * 8) * 37 % 127).astype(kind).reshape(5, 8)
    weights = Call("Multiply-1", (converted(Fixed(held), "f32"), Fixed(counted(5, 1) / 99 + 0.01)))
    levels, high = (255, 1) if low == -1 else (256, 1.02 + low)
    return Call("MatMul-1", (_in_levels(np.sin(counted(*sizes)), low, high, levels), weights), {"transpose_b": "true"})


def _less_a_float() -> Call:
    """Return quantized rows times transposed weights of u8 less one float, with a scale for each of five outputs."""
    held = converted(Fixed((np.arange(5 * 8) * 37 % 251).astype(np.uint8).reshape(5, 8)), "f32")
    shifted = Call("Subtract-1", (held, Fixed(number(127))))
    weights = Call("Multiply-1", (shifted, Fixed(counted(5, 1) / 99 + 0.01)))
    return Call("MatMul-1", (_in_levels(np.sin(counted(2, 8)), -1, 1, 255), weights), {"transpose_b": "true"})


def _by_levels(*sizes: int) -> Call:
    """Return quantized rows times weights of such sizes, quantized to other levels for each column."""
    high = Fixed(floats(*range(10, 10 + sizes[1])) / 10)
    data = quantized(np.sin(counted(2, sizes[0])), Fixed(floats(1)), levels=255)
    return Call("MatMul-1", (data, quantized(Fixed(np.sin(counted(*sizes))), high, levels=255)))


def _with_zero_point() -> Call:
    """Return four rows of eight numbers whose bytes have a zero point."""
    return _in_levels(np.sin(counted(4, 8)), -0.25, 0.75)


def _deconvolved() -> Call:
    """Return what a quantized transposed convolution gives, quantized between other numbers."""
    data = quantized(np.sin(counted(1, 8, 4, 4)), Fixed(floats(1)), levels=255)
    found = Call("ConvolutionBackpropData-1", (data, _scaled_bytes(8, 8, 2, 2)), PLANE)
    return _in_levels(found, -5, 10.9375)


def _of_limits(held: Fixed, sizes: Sequence[int], low: float, levels: int = 255) -> Call:
    """Return quantized constants with several limits, or one, from about `low` on."""
    steps = np.linspace(1, 1.5, prod(sizes), dtype=np.float32).reshape(sizes)
    limits = [Fixed((steps * limit).astype(np.float32)) for limit in (low, 1)]
    return Call("FakeQuantize-1", (held, *limits, *limits), {"levels": str(levels)})


def _by_limited(sizes: Sequence[int], low: float, levels: int = 255) -> Call:
    """Return a quantized convolution whose weights have limits of such sizes, in two groups if they have five axes."""
    data = quantized(np.sin(counted(1, 4, 4, 4)), Fixed(floats(1)), levels=255)
    groups = len(sizes) == len(IN_GROUPS)
    held = Fixed(np.sin(counted(*(IN_GROUPS if groups else (4, 4, 2, 2)))))
    weights = _of_limits(held, sizes, low, levels)
    return Call(f"{'Group' * groups}Convolution-1", (data, weights), PLANE)


def _limited_back(type: str, sizes: Sequence[int]) -> Call:
    """Return a transposed convolution whose weights have limits of such sizes, in two groups if they have five axes."""
    held = Fixed(np.sin(counted(*(IN_GROUPS if type == GROUP_BACK else (4, 4, 2, 2)))))
    return Call(f"{type}-1", (np.sin(counted(1, 4, 4, 4)), _of_limits(held, sizes, -1)), PLANE)


def _scaled_beside(levels: int) -> Call:
    """Return an image of such levels, scaled, and added to a function of it."""
    data = _in_levels(np.sin(counted(1, 2, 3, 3)), -1, 1, levels)
    return Call("Add-1", (Call("Multiply-1", (data, Fixed(number(0.7)))), Call("Tanh-1", (data,))))


def _less_for_filters() -> Call:
    """Return a quantized convolution of two groups along one axis, whose filters have zero points."""
    data = quantized(np.sin(counted(1, 4, 6)), Fixed(floats(1)), levels=255)
    held = converted(Fixed((np.arange(24) * 5 - 55).astype(np.int8).reshape(2, 2, 2, 3)), "f32")
    shifted = Call("Subtract-1", (held, Fixed(floats(1, 2, 3, 4).reshape(2, 2, 1, 1))))
    weights = Call("Multiply-1", (shifted, Fixed(counted(2, 2, 1, 1) / 99)))
    return Call("GroupConvolution-1", (data, weights), LINE)


def _less_a_part() -> Call:
    """Return a quantized convolution of weights of i8 less a number that is no integer."""
    data = quantized(np.sin(counted(1, 2, 4, 4)), Fixed(floats(1)), levels=255)
    held = converted(Fixed(np.arange(-20, 44, 4).astype(np.int8).reshape(2, 2, 2, 2)), "f32")
    shifted = Call("Subtract-1", (held, Fixed(np.full((1, 1, 1, 1), 2.4, np.float32))))
    weights = Call("Multiply-1", (shifted, Fixed(np.full((1, 1, 1, 1), 0.02, np.float32))))
    return Call("Convolution-1", (data, weights), PLANE)


def _largest() -> Call:
    """Return the largest numbers along the last of three axes."""
    return Call("ReduceMax-1", (np.sin(counted(1, 4, 6)) - 0.5, Fixed(whole(2))), {"keep_dims": "true"})


def _by_few() -> Call:
    """Return quantized rows times weights of 16 levels."""
    weights = _of_limits(Fixed(np.sin(counted(4, 8))), (1, 1), -1, 16)
    return Call("MatMul-1", (_in_levels(np.sin(counted(2, 8)), -1, 1, 255), weights), {"transpose_b": "true"})


def _less_bytes(*, scale: bool = True) -> Call:
    """Return quantized rows times weights of i8 less zero points of i8."""
    held = converted(Fixed((np.arange(4 * 8) * 37 % 127).astype(np.int8).reshape(4, 8)), "f32")
    weights = Call("Subtract-1", (held, converted(Fixed(np.arange(4, dtype=np.int8).reshape(4, 1)), "f32")))
    if scale:
        weights = Call("Multiply-1", (weights, Fixed(counted(4, 1) / 99 + 0.01)))
    return Call("MatMul-1", (_in_levels(np.sin(counted(2, 8)), -1, 1, 255), weights), {"transpose_b": "true"})


def _less_zero_points() -> Call:
    """Return a quantized transposed convolution whose weights of i8 less a zero point leave their type."""
    data = quantized(np.sin(counted(1, 2, 4, 4)), Fixed(floats(1)), levels=255)
    held = Fixed(np.linspace(-128, 127, 16).astype(np.int8).reshape(2, 2, 2, 2))
    shifted = Call("Subtract-1", (converted(held, "f32"), Fixed(number(5))))
    weights = Call("Multiply-1", (shifted, Fixed(np.full((1, 1, 1, 1), 0.02, np.float32))))
    return Call("ConvolutionBackpropData-1", (data, weights), PLANE)


def _convolved_unsigned() -> Call:
    """Return a quantized convolution of data with a zero point and of filters of u8."""
    weights = converted(Fixed(FILTERS.astype(np.uint8)), "f32"), Fixed(np.full((1, 1, 1, 1), 0.01, np.float32))
    return Call("Convolution-1", (_in_levels(SMALL_IMAGE, -0.2, 0.82), Call("Multiply-1", weights)), PLANE)


def _in_groups() -> Call:
    """Return a quantized convolution of two groups of two channels, with a zero point."""
    data = _in_levels(np.abs(np.sin(counted(1, 4, 3, 4))), -0.2, 0.82)
    return Call("GroupConvolution-1", (data, _scaled_bytes(2, 2, 2, 1, 1)), PLANE)


def _negated(product: Call, scale: Array) -> Call:
    """Return a function of rectified numbers that others, which may be negative, multiply."""
    return Call("Tanh-1", (Call("Multiply-1", (Call("ReLU-1", (product,)), Fixed(scale))),))


def _read_twice(product: Call) -> Call:
    """Return the sum of what two layers make of a product."""
    return Call("Add-1", (Call("ReLU-1", (product,)), Call("Tanh-1", (product,))))


def _convolved_bytes(data: Call, ops: Sequence[str] = ("Convolution-1",)) -> Call:
    """Return the first of such convolutions of two quantized channels."""
    sizes = (2, 1, 1, 1, 1) if ops == GROUPED else (3, 2, 1, 1)
    return Call(ops[0], (data, _scaled_bytes(*sizes)), PLANE)


def _convolved_lines(data: Call, step: int = 1, width: int = 2) -> Call:
    """Return a transposed convolution of two quantized channels along one axis."""
    return Call("ConvolutionBackpropData-1", (data, _scaled_bytes(2, 3, width)), LINE | {"strides": str(step)})


def _is_line_in_bytes(seen: Seen) -> bool:
    """Return whether a transposed convolution along one axis is computed in 8 bits, which wide strides prevent."""
    filters = seen.inputs[1].shape
    if seen.rank() != 3 or seen.attrs is None or not filters or not _has_scaled(seen, {"i8"}):
        return False
    return seen.has(Pattern.UNSHIFTED) and seen.attrs.strides[-1] <= min(filters[-1].lo, WIDEST)


def _in_levels(data: Array | Given | Call, low: float, high: float, levels: int = 256) -> Call:
    """Return data quantized to so many levels between two numbers."""
    limits = Fixed(floats(low)), Fixed(floats(high))
    return Call("FakeQuantize-1", (data, *limits, *limits), {"levels": str(levels)})


def _in_tiles() -> Call:
    """Return a quantized convolution of one row whose strides are as wide as its filters."""
    data = quantized(np.sin(counted(1, 96, 1, 40)), Fixed(floats(1)), levels=255)
    raw = {"strides": "1,2", "dilations": "1,1", "pads_begin": "0,0", "pads_end": "0,0"}
    return Call("Convolution-1", (data, _scaled_bytes(8, 96, 1, 2)), raw)


LIMITED_ROWS: Sequence[tuple[str, State, Call, Callable[[Seen], bool], Sequence[str]]] = (
    (
        "of an input",
        State.UNCOMPILED,
        _limited_rows(FOUR_ROWS),
        _limits_rows({"", *SCALING}),
        ("2022.1 to 2022.3",),
    ),
    (
        "of an input of unknown size",
        State.UNCOMPILED,
        _limited_rows(ANY_IMAGES),
        _limits_rows({"", *SCALING}, known=False),
        ("2022.1 to 2026.4",),
    ),
    (
        "after a function",
        State.DIFFERS,
        _limited_rows(Call("Abs-1", (FOUR_ROWS,))),
        _limits_rows(FUNCTIONS_ALONE),
        ("2022.1 to 2022.3",),
    ),
    (
        "after a function of unknown size",
        State.DIFFERS,
        _limited_rows(Call("Abs-1", (ANY_IMAGES,))),
        _limits_rows(FUNCTIONS_ALONE, known=False),
        ("2022.1 to 2026.4",),
    ),
    (
        "after another layer",
        State.UNCOMPILED,
        _limited_rows(Call("SoftMax-1", (FOUR_ROWS,))),
        _limits_rows_behind_others,
        ("2022.1 to 2022.2",),
    ),
    (
        "after another layer of unknown size",
        State.UNCOMPILED,
        _limited_rows(Call("SoftMax-1", (ANY_IMAGES,))),
        lambda seen: (
            _limits_rows_behind_others(seen) and not seen.is_behind(REDUCING) and not is_static(seen.inputs[0].shape)
        ),
        ("2022.1 to 2026.4",),
    ),
    (
        "after a maximum",
        State.DIFFERS,
        _limited_rows(Call("ReduceMax-1", (FOUR_ROWS, Fixed(whole(1))), {"keep_dims": "true"})),
        _limits_rows(EXTREMES),
        ("2022.1 to 2024.1", "2024.4 to 2026.4"),
    ),
    (
        "after a maximum of unknown size",
        State.DIFFERS,
        _limited_rows(Call("ReduceMax-1", (ANY_IMAGES, Fixed(whole(1))), {"keep_dims": "true"})),
        _limits_rows(EXTREMES, known=False),
        ("2022.1 to 2026.4",),
    ),
    (
        "after a reduction",
        State.DIFFERS,
        _limited_rows(Call("ReduceMean-1", (FOUR_ROWS, Fixed(whole(1))), {"keep_dims": "true"})),
        _limits_rows(REDUCING),
        ("2024.4 to 2026.4",),
    ),
    *(
        (
            "after a reduction of unknown size",
            state,
            _limited_rows(Call("ReduceMean-1", (ANY_IMAGES, Fixed(whole(1))), {"keep_dims": "true"})),
            _limits_rows(REDUCING, known=False),
            spans,
        )
        for state, spans in (
            (State.UNCOMPILED, ("2022.1 to 2023.0",)),
            (State.DIFFERS, ("2023.1 to 2026.4",)),
        )
    ),
    (
        "after an MVN",
        State.DIFFERS,
        _limited_rows(Call("MVN-6", (FOUR_ROWS, Fixed(whole(3))), VARIANCE)),
        _limits_rows({"MVN"}),
        ("2022.1 to 2022.3",),
    ),
    (
        "after an MVN of unknown size or three dimensions",
        State.DIFFERS,
        quantized(Call("MVN-6", (counted(1, 3, 4), Fixed(whole(2))), VARIANCE), LAST),
        lambda seen: _limits_rows({"MVN"})(seen) and (has_rank(seen, 3) or not is_static(seen.inputs[0].shape)),
        ("2022.1 to 2026.4",),
    ),
    (
        "after a normalization",
        State.DIFFERS,
        _limited_rows(Call("NormalizeL2-1", (FOUR_ROWS, Fixed(whole(1))), {"eps": "1", "eps_mode": "add"})),
        _limits_rows(NORMALIZING),
        ("2022.1 to 2026.4",),
    ),
    (
        "for each channel of a convolution",
        State.DIFFERS,
        _limited_rows(_convolved(4)),
        _limits_as_channels,
        ("2022.1 to 2026.4",),
    ),
    (
        "after a convolution",
        State.DIFFERS,
        _limited_rows(_convolved(3)),
        _limits_rows(CONVOLUTIONS),
        ("2022.1 to 2022.2",),
    ),
    (
        "after a convolution",
        State.UNCOMPILED,
        _limited_rows(_convolved(3)),
        lambda seen: _limits_rows(CONVOLUTIONS)(seen) and not _limits_as_channels(seen),
        ("2022.3 to 2026.4",),
    ),
    (
        "after a product of three dimensions",
        State.DIFFERS,
        quantized(Call("MatMul-1", (counted(2, 3, 4), Fixed(np.eye(4, dtype=np.float32)))), LAST),
        lambda seen: _is_low_product(seen) and _has_limits_along(seen, 2),
        ("2022.1 to 2022.2",),
    ),
    (
        "after a product or mean",
        State.UNCOMPILED,
        _limited_rows(Call("AvgPool-1", (FOUR_ROWS,), WINDOWS | {"pads_begin": "0,0"})),
        lambda seen: _limits_rows(SUMMING)(seen) and not _is_low_product(seen),
        ("2022.1 to 2026.4",),
    ),
)
"""FakeQuantizes with limits along axis 2: where they are, what is done with them, an example, and the releases."""
CHANNELS = Call("Convolution-1", (Given(IMAGES, "?,2,?,?"), Fixed(np.sin(counted(2, 2, 1, 1)))), PLANE)
SHIFTED = Call("Add-1", (CHANNELS, Fixed(floats(-3, 3).reshape(1, 2, 1, 1))))
SHIFTED = Call("FakeQuantize-1", (SHIFTED, *(Fixed(floats(one)) for one in (-20, 20, -20, 20))), {"levels": "256"})
SIZES = Call("ShapeOf-3", (SHIFTED,), {"output_type": "i64"})
MORE_ROWS = Call("Add-1", (Call("Gather-8", (SIZES, Fixed(whole(2)), Fixed(whole(0)))), Fixed(whole(2))))
MORE_ROWS = Call("Concat-1", (Fixed(whole(-1)), MORE_ROWS), {"axis": "0"})
ROWS = (
    *(
        ReleaseDifference(
            name=f"FakeQuantize with limits along axis 1 of {what}, {span}",
            span=span,
            ops=("FakeQuantize-1",),
            state=state,
            reason=f"Limits along axis 1 {'are taken for others' if state is State.DIFFERS else 'are not compiled'}.",
            model=model,
            applies=partial(_limits_product, pattern=pattern, low=low, square=square),
        )
        for what, pattern, low, square, span, state, model in (
            ("a product", OF_PRODUCT, True, False, "2022.1 to 2022.2", State.DIFFERS, _limited_product((1, 5))),
            ("a product", OF_PRODUCT, True, False, "2022.3 to 2024.3", State.UNCOMPILED, _limited_product((1, 5))),
            ("a square product", OF_PRODUCT, True, True, "2022.1 to 2024.3", State.DIFFERS, _limited_product((1, 6))),
            ("products", OF_PRODUCT, False, False, "2023.0 to 2024.3", State.UNCOMPILED, _limited_product((1, 5, 3))),
            (
                "square products",
                OF_PRODUCT,
                False,
                True,
                "2023.0 to 2024.3",
                State.DIFFERS,
                _limited_product((1, 6, 3)),
            ),
            (
                "matrices",
                OF_MATRICES,
                None,
                False,
                "2023.0 to 2026.4",
                State.UNCOMPILED,
                _limited_product((1, 5, 3), 1, 5),
            ),
            (
                "square ones",
                OF_MATRICES,
                None,
                True,
                "2023.0 to 2026.4",
                State.DIFFERS,
                _limited_product((1, 6, 3), 1, 6),
            ),
        )
    ),
    *(
        ReleaseDifference(
            name=f"FakeQuantize of shifted channels of a convolution {what}",
            span=span,
            ops=("FakeQuantize-1",),
            reason="If a size is unknown, sums compiled with the FakeQuantize shift all channels as the first.",
            model=model,
            applies=partial(_has_unknown_sizes, pattern=pattern),
        )
        for what, span, pattern, model in (
            (
                "that others read",
                "2023.0 to 2026.4",
                Pattern.SHIFTED_AND_READ,
                Call("Concat-1", (SHIFTED, CHANNELS), {"axis": "1"}),
            ),
            (
                "whose sizes are combined",
                "2023.2 to 2024.2",
                Pattern.SHIFTED_AND_SIZED,
                Call("Reshape-1", (SHIFTED, MORE_ROWS), {"special_zero": "false"}),
            ),
        )
    ),
    ReleaseDifference(
        name="FakeQuantize with one limit of the output for all and several others",
        span="2022.1 to 2026.4",
        ops=("FakeQuantize-1",),
        reason="If one of the last two inputs is a number and the other one is not, others are taken for the limits.",
        model=Call(
            "FakeQuantize-1",
            (counted(1, 2, 3) - 2, *(Fixed(floats(*one)) for one in ((-4,), (4,), (-4,), (4, 8, 16)))),
            {"levels": "256"},
        ),
        applies=_has_uneven_outputs,
    ),
    not_compiled(
        name="FakeQuantize to 65536 levels",
        span="2026.1 to 2026.4",
        ops=("FakeQuantize-1",),
        reason="A layer with equal constant limits of input and output is removed, which fails or gives other values.",
        model=quantized(floats(-5.2, 1.8), Fixed(floats(3.6)), levels=65536),
        applies=_is_removed,
    ),
    ReleaseDifference(
        name="FakeConvert of small numbers",
        span="2023.3 to 2024.6",
        ops=("FakeConvert-13",),
        reason=(
            "Magnitudes below 2^-6 are not rounded to the nearest f8e4m3 value, but sometimes down and sometimes up."
        ),
        sometimes=True,
        measured=True,
        folded=True,
        model=_converted(0.015, "f8e4m3"),
        applies=has_value("destination_type", "f8e4m3"),
    ),
    *(
        ReleaseDifference(
            name=f"FakeConvert of large numbers to {kind}",
            span=f"{first} to 2025.0",
            ops=("FakeConvert-13",),
            reason=f"Numbers outside the range of {kind} become {found}, instead of the largest number.",
            sometimes=True,
            folded=kind == "f8e5m2",
            model=_converted(1e6, kind),
            applies=has_value("destination_type", kind),
        )
        for kind, first, found in (("f8e5m2", "2023.3", "infinite"), ("f8e4m3", "2025.0", "nan"))
    ),
    *(
        ReleaseDifference(
            name=f"FakeQuantize to two levels with limits for all or for each channel, {span}",
            span=span,
            ops=("FakeQuantize-1",),
            state=state,
            reason="Two levels with constant limits for all elements or per channel are not supported.",
            model=Call("FakeQuantize-1", (counted(5, 5), *map(Fixed, floats(0.5, 2.5, 0.5, 2.5))), {"levels": "2"}),
            applies=_has_two_levels,
        )
        for span, state in (("2021.3 to 2021.4", State.DIES), ("2022.1 to 2022.3", State.UNCOMPILED))
    ),
    *(
        not_compiled(
            name=f"FakeQuantize of {kinds.split()[0]} to the levels of quantized models, {span}",
            span=span,
            ops=("FakeQuantize-1",),
            reason=(
                "The layer is treated as the start of a quantized subgraph, which is not compiled for this element "
                "type."
            ),
            model=Call(
                "FakeQuantize-1",
                (
                    np.arange(20, dtype=element_type(kinds.split()[0]).dtype).reshape(4, 5),
                    *(Fixed(np.array([limit], element_type(kinds.split()[0]).dtype)) for limit in (0, 5, 0, 5)),
                ),
                {"levels": "16"},
            ),
            types=kinds,
            instead=tuple(kinds.split()),
            applies=applies,
        )
        for kinds, span, applies in (
            ("i32 i16 u16 u32 u64", "2023.0 to 2026.4", _is_of_quantized_levels),
            ("i64", "2023.0 to 2023.2", _is_of_quantized_levels),
            ("f64", "2023.3 to 2026.4", _is_of_quantized_levels),
            ("u8 i8", "2023.0 to 2023.1", _has_constant_limits),
        )
    ),
    *(
        not_compiled(
            name=f"FakeQuantize of {kind} with computed limits",
            span=f"2022.1 to {last}",
            ops=("FakeQuantize-1",),
            reason=f"{kind} data with limits that are not constants is read but not compiled.",
            model=Call(
                "FakeQuantize-1",
                tuple(
                    array.astype(element_type(kind).dtype)
                    for array in (counted(1, 2, 3, 3), *map(floats, (0, 2, 0, 2)))
                ),
                {"levels": "3"},
            ),
            types=kind,
            applies=lambda seen: not _has_constant_limits(seen),
            processor=processor,
        )
        for kind, last, processor in (
            ("u8", "2026.4", Processor.ANY),
            ("i8", "2026.4", Processor.ANY),
            ("bf16", "2023.3", Processor.AVX512),
        )
    ),
    *(
        ReleaseDifference(
            name=f"FakeQuantize with limits along axis 2 {what}, {span}",
            span=span,
            ops=("FakeQuantize-1",),
            state=state,
            reason="If limits differ along axis 2, fusing with the producer fails, or the wrong limits are used.",
            model=model,
            applies=applies,
        )
        for what, state, model, applies, spans in LIMITED_ROWS
        for span in spans
    ),
    not_compiled(
        name="quantized data that are scaled for an output",
        span="2021.2 to 2021.4",
        ops=("Multiply-1", "Divide-1", "Negative-1"),
        reason="A product of a FakeQuantize by a constant is not compiled if it is an output, transposed or not.",
        model=Call("Multiply-1", (quantized(counted(2, 3), Fixed(floats(2))), Fixed(floats(2)))),
        applies=_is_given_product,
    ),
    not_compiled(
        name="FakeQuantize with limits along an axis after the channels",
        span="2021.2 to 2021.2",
        ops=("FakeQuantize-1",),
        reason="Limits that differ along an axis after the channels are not compiled.",
        model=_limited_rows(FOUR_ROWS),
        applies=_has_limits_behind_channels,
    ),
    not_compiled(
        name="FakeQuantize with a list of limits for the last axis, or after a sum",
        span="2021.2 to 2021.3",
        ops=("FakeQuantize-1",),
        reason=(
            "Limits that differ along the last axis and are lists, or along an axis after the channels and after a "
            "sum or product, are not compiled."
        ),
        model=quantized(FOUR_ROWS, Fixed(floats(2, 3))),
        applies=_has_low_limits_behind_channels,
    ),
    not_compiled(
        name="FakeQuantize with constant limits along several axes",
        span="2021.2 to 2021.2",
        ops=("FakeQuantize-1",),
        reason="Constant limits that differ along more than one axis are not compiled.",
        model=quantized(counted(2, 3), Fixed(counted(2, 3) + 1)),
        applies=lambda seen: _has_constant_limits(seen) and any(len(axes) > 1 for axes in _axes_of_limits(seen)),
    ),
    ReleaseDifference(
        name="FakeQuantize with computed limits for each channel of each image",
        span="2022.1 to 2022.2",
        ops=("FakeQuantize-1",),
        reason="Computed limits that differ along axes 0 and 1 are used as those of channels.",
        sometimes=True,
        model=Call(
            "FakeQuantize-1",
            (counted(2, 3, 4), *(counted(2, 3, 1) + limit for limit in (0, 1)), *map(Fixed, floats(0, 255))),
            {"levels": "256"},
        ),
        applies=lambda seen: not _has_constant_limits(seen) and {0, 1} in _axes_of_limits(seen) and seen.rank() > 2,
    ),
    ReleaseDifference(
        name="FakeQuantize with limits for each image",
        span="2021.2 to 2021.4",
        ops=("FakeQuantize-1",),
        reason="Limits that differ along axis 0 of three, or after an elementwise layer, are confused with others.",
        model=quantized(counted(2, 3, 4), Fixed(floats(2, 3).reshape(2, 1, 1))),
        applies=_has_limits_of_images,
    ),
    *(
        not_compiled(
            name=f"FakeQuantize with limits for the heads of an attention, {first} to 2026.4",
            span=f"{first} to 2026.4",
            ops=("FakeQuantize-1",),
            reason=(
                "Limits that differ along axis 1 or 2 are not compiled if the producer is a ScaledDotProductAttention."
            ),
            model=_limited_rows(attention()),
            applies=_has_limits_of_heads,
            processor=processor,
        )
        for first, processor in (("2024.1", Processor.AVX512), ("2023.3", Processor.NO_AVX512))
    ),
    not_compiled(
        name="quantized convolutions",
        span="2023.0 to 2023.0",
        ops=("Convolution-1", "GroupConvolution-1"),
        reason="Convolutions of quantized data with quantized weights are not compiled; in groups, if these are of "
        "one channel or of multiples of four.",
        model=Call(
            "Convolution-1",
            (
                quantized(counted(1, 3, 4, 4), Fixed(floats(48)), levels=256),
                quantized(Fixed(counted(2, 3, 1, 1)), Fixed(floats(6).reshape(1, 1, 1, 1)), levels=255),
            ),
            PLANE,
        ),
        applies=lambda seen: _is_in_bytes(seen, known=True) and _has_code_for_groups(seen),
        processor=Processor.AMD_AVX512,
    ),
    not_run(
        name="quantized convolutions in groups, of unknown sizes",
        span="2023.0 to 2023.0",
        ops=("GroupConvolution-1",),
        reason="Convolutions in groups of quantized data of unknown sizes with quantized weights do not run.",
        model=_convolved_bytes(_in_levels(Given(np.sin(counted(1, 2, 3, 4)), "?,2,3,4"), 0, 1), GROUPED),
        applies=partial(_is_in_bytes, known=False),
        processor=Processor.AMD_AVX512,
    ),
    ends(
        name="products of quantized images that are scaled by channel",
        span="2022.1 to 2022.1",
        ops=("Multiply-1", "Divide-1"),
        reason=(
            "Compiling it ends the process if one of two computed factors is quantized and a constant for each channel "
            "multiplies the product, unless certain layers follow."
        ),
        model=Call("Multiply-1", (Call("Multiply-1", (IMAGES, quantized(IMAGES, Fixed(floats(4))))), BY_CHANNEL)),
        applies=_is_scaled_by_channel,
    ),
    ReleaseDifference(
        name="quantized convolutions of quantized transposed ones",
        span="2022.1 to 2022.2",
        ops=("Convolution-1",),
        reason="If levels of what a transposed convolution gives begin below 0, a convolution of them is wrong.",
        model=Call("Convolution-1", (_deconvolved(), _scaled_bytes(3, 8, 1, 1)), PLANE),
        applies=lambda seen: seen.has(Pattern.DECONVOLVED) and _has_quantized_weights(seen),
    ),
    not_compiled(
        name="quantized transposed convolutions along one axis",
        span="2021.4 to 2023.3",
        ops=("ConvolutionBackpropData-1",),
        reason="No memory layout is found for weights of i8 if bytes without a zero point stand for the data.",
        model=_convolved_lines(_in_levels(np.sin(counted(1, 2, 4)), 0, 1)),
        applies=_is_line_in_bytes,
    ),
    ends(
        name="quantized products of columns that 16 does not divide",
        span="2022.1 to 2022.1",
        ops=("MatMul-1",),
        reason="Running it ends the process if data with negative numbers, and constants, are quantized to 8 bits.",
        model=_multiplied(np.sin(counted(2, 8))),
        applies=_has_uneven_columns,
        processor=Processor.AMX,
    ),
    not_run(
        name="quantized products of rows that are fewer than the layer is compiled for",
        span="2022.3 to 2023.0",
        ops=("MatMul-1",),
        reason="Up to 64 columns of up to 64 elements, compiled for more than 16 rows, cannot multiply up to 16 rows.",
        model=_multiplied(Given(np.sin(counted(2, 8)), "?,8")),
        applies=_may_have_few_rows,
        processor=Processor.AMX,
    ),
    not_compiled(
        name="quantized products of weights of u8",
        span="2022.3 to 2022.3",
        ops=("MatMul-1",),
        reason="Rows and u8 weights without zero points are not multiplied if the product is scaled at once.",
        model=_by_columns(np.uint8, 2, 8),
        applies=partial(_is_by_unsigned, pattern=Pattern.SCALED_AT_ONCE),
    ),
    ReleaseDifference(
        name="quantized products of weights of u8 with a bias",
        span="2023.0 to 2023.0",
        ops=("MatMul-1",),
        reason="If data and u8 weights have no zero points, numbers that are added for each column become others.",
        model=Call("Add-1", (_by_columns(np.uint8, 2, 8), Fixed(counted(5)))),
        applies=partial(_is_by_unsigned, pattern=Pattern.BIASED),
    ),
    ReleaseDifference(
        name="quantized products of columns of u8 less a float",
        span="2023.3 to 2023.3",
        ops=("MatMul-1",),
        state=State.DIES,
        reason=(
            "Compiling ends the process if equal floats, or a number of less than two axes, are subtracted from u8 "
            "weights with a scale for each output."
        ),
        model=_less_a_float(),
        applies=_is_by_columns_less_a_float,
    ),
    ReleaseDifference(
        name="quantized transposed convolutions of weights with zero points",
        span="2022.1 to 2026.4",
        ops=("ConvolutionBackpropData-1",),
        reason="Weights of 8 bits less their zero points become other numbers if they do not fit into their type.",
        model=_less_zero_points(),
        applies=lambda seen: seen.has(Pattern.BEYOND_BYTES) and not seen.has(Pattern.WITH_ZERO_POINT),
    ),
    *(
        ReleaseDifference(
            name=f"quantized {what} by weights whose zero is between two levels",
            span=span,
            ops=ops,
            reason="A range of weights that holds 0 is moved so that one of their levels is 0.",
            model=model,
            applies=lambda seen: seen.has(Pattern.ZERO_BETWEEN_LEVELS),
        )
        for what, span, ops, model in (
            ("convolutions", "2021.2 to 2026.4", CONVOLUTION, _by_limited((4, 1, 1, 1), -0.905)),
            ("convolutions in groups", "2023.0 to 2026.4", GROUPED, _by_limited((2, 2, 1, 1, 1), -0.905)),
        )
    ),
    *(
        ReleaseDifference(
            name=f"quantized {what} by weights of few levels",
            span=span,
            ops=ops,
            reason="Weights with 15 levels, or 16 with 0 between two of them, become others.",
            model=model,
            applies=lambda seen: seen.has(Pattern.FEW_LEVELS),
        )
        for what, span, ops, model in (
            ("convolutions", "2022.1 to 2023.0", CONVOLUTION, _by_limited((1, 1, 1, 1), -1, 15)),
            ("convolutions in groups", "2023.0 to 2023.0", GROUPED, _by_limited((1, 1, 1, 1, 1), -1, 15)),
        )
    ),
    *(
        ReleaseDifference(
            name=f"quantized products by weights of few levels, {span}",
            span=span,
            ops=("MatMul-1",),
            state=state,
            reason=f"A product of data of 255 or 256 levels by weights of 15 or 16 {state.words}.",
            model=_by_few(),
            applies=lambda seen: seen.has(Pattern.FEW_LEVELS),
        )
        for span, state in (("2021.2 to 2021.3", State.DIES), ("2021.4 to 2021.4", State.UNCOMPILED))
    ),
    not_compiled(
        name="quantized convolutions in groups that have a scale for each group",
        span="2023.0 to 2026.4",
        ops=GROUPED,
        reason=(
            "Weights with a scale, or limits of their levels, for each group of filters, or for each filter of all "
            "groups, are not multiplied."
        ),
        model=_by_limited((2, 1, 1, 1, 1), -1),
        applies=lambda seen: seen.has(Pattern.SCALED_IN_PART),
    ),
    ReleaseDifference(
        name="quantized products by weights whose zero points are no integers",
        span="2021.3 to 2026.4",
        ops=(*CONVOLUTION, *GROUPED, "MatMul-1", f"{BACK}-1", f"{GROUP_BACK}-1"),
        reason="Zero points of weights are rounded to integers.",
        model=_less_a_part(),
        applies=lambda seen: seen.has(Pattern.ZEROS_BETWEEN_BYTES),
    ),
    not_compiled(
        name="quantized convolutions in groups with zero points for filters, along one axis or three",
        span="2023.0 to 2026.4",
        ops=GROUPED,
        reason="Zero points of the filters of a group are not taken along one axis or three.",
        model=_less_for_filters(),
        applies=lambda seen: seen.has(Pattern.ZEROS_OF_FILTERS) and not has_rank(seen, 4),
    ),
    ReleaseDifference(
        name="quantized convolutions by weights with limits for each channel of the data",
        span="2021.4 to 2022.3",
        ops=CONVOLUTION,
        reason="Limits of weights for each channel of the data are taken for those of filters.",
        model=_by_limited((1, 4, 1, 1), -1),
        applies=lambda seen: seen.has(Pattern.LEVELS_OF_INPUTS),
    ),
    not_compiled(
        name="quantized convolutions by weights with limits along several axes",
        span="2021.4 to 2022.3",
        ops=(*CONVOLUTION, "ConvolutionBackpropData-1"),
        reason="Limits of weights that differ along several axes, or along those of a filter, are not compiled.",
        model=_by_limited((4, 4, 1, 1), -1),
        applies=lambda seen: seen.has(Pattern.LEVELS_ALONG_MORE),
    ),
    not_compiled(
        name="quantized products by weights less zero points in bytes",
        span="2021.3 to 2021.3",
        ops=("MatMul-1", "GroupConvolutionBackpropData-1", "GroupConvolution-1", "ConvolutionBackpropData-1"),
        reason="Zero points of weights that are held in 8 bits are not converted.",
        model=_less_bytes(),
        applies=_is_less_bytes,
    ),
    ReleaseDifference(
        name="quantized products by weights less zero points in bytes without a scale",
        span="2021.3 to 2021.4",
        ops=("MatMul-1",),
        state=State.DIES,
        reason="Compiling ends the process if weights without a scale have zero points that are held in 8 bits.",
        model=_less_bytes(scale=False),
        applies=lambda seen: seen.has(Pattern.LESS_BYTES_ALONE),
    ),
    *(
        ReleaseDifference(
            name=f"FakeQuantize of weights of {what}, {span}",
            span=span,
            ops=("FakeQuantize-1",),
            state=state,
            reason=f"Limits of the weights of a {reader} are taken for others, or not at all, but along axis 0.",
            model=_limited_back(reader, sizes),
            applies=partial(_limits_weights_of, reader=reader, axes=axes),
        )
        for reader, what, span, state, sizes, axes in (
            (BACK, "transposed convolutions", "2021.2 to 2021.3", State.DIFFERS, (1, 4, 1, 1), {1}),
            (BACK, "transposed convolutions with limits along several axes", *EARLIER, (4, 4, 1, 1), set[int]()),
            (GROUP_BACK, "transposed groups", "2021.2 to 2021.4", State.DIFFERS, (1, 2, 1, 1, 1), {1}),
            (GROUP_BACK, "transposed groups", "2021.2 to 2022.3", State.DIFFERS, (1, 1, 2, 1, 1), {2}),
            (GROUP_BACK, "transposed groups with limits along several axes", *EARLIER, (2, 1, 2, 1, 1), set[int]()),
            (GROUP_BACK, "transposed groups with limits along several axes", *EARLY, (2, 1, 2, 1, 1), set[int]()),
        )
    ),
    *(
        ReleaseDifference(
            name=f"quantized products by weights with limits for each column, {span}",
            span=span,
            ops=("MatMul-1",),
            state=state,
            reason=f"A product of quantized data by weights that have as many limits as columns {state.words}.",
            model=_by_levels(8, 5),
            applies=lambda seen: seen.has(Pattern.MISPLACED_LEVELS) and seen.has(Pattern.LEVELS_OF_INPUTS),
        )
        for span, state in (EARLIER, EARLY)
    ),
    ReleaseDifference(
        name="quantized convolutions by weights with limits without axes",
        span="2021.3 to 2021.3",
        ops=CONVOLUTION,
        state=State.DIES,
        reason="Compiling ends the process if the limits of weights are numbers without axes.",
        model=_by_limited((), -1),
        applies=lambda seen: seen.has(Pattern.LEVELS_WITHOUT_AXES),
    ),
    *(
        ReleaseDifference(
            name=f"FakeQuantize of a maximum or minimum along axes that stays in bytes, {span}",
            span=span,
            ops=("FakeQuantize-1",),
            reason="Bytes of a ReduceMax or ReduceMin that is compiled with the FakeQuantize are wrong.",
            model=Call("Transpose-1", (_in_levels(_largest(), -1, 1, NARROW), Fixed(whole(0, 2, 1)))),
            applies=lambda seen: seen.has(Pattern.EXTREME_LEVELS),
        )
        for span in ("2022.1 to 2024.1", "2024.4 to 2026.4")
    ),
    *(
        ReleaseDifference(
            name=f"FakeQuantize to {what} levels that constants scale beside another reader",
            span=span,
            ops=("FakeQuantize-1",),
            reason="Levels of an odd number are moved by up to a half of one if they are scaled apart.",
            model=_scaled_beside(levels),
            applies=partial(_has_odd_levels, even=levels == NARROW),
        )
        for what, span, levels in (
            ("15 or uneven", "2022.1 to 2026.4", FEWEST),
            ("255", "2022.1 to 2025.0", NARROW),
        )
    ),
    not_compiled(
        name="FakeQuantize of constants with limits along several axes",
        span="2022.1 to 2022.3",
        ops=("FakeQuantize-1",),
        reason="Limits of quantized constants that differ along several axes, or along one behind the third, fail.",
        model=Call("Add-1", (counted(1, 2, 2, 3), _of_limits(Fixed(counted(1, 2, 2, 3)), (1, 1, 1, 3), -1))),
        applies=_has_wide_limits,
    ),
    not_compiled(
        name="FakeQuantize of constants of six dimensions or more",
        span="2022.1 to 2022.3",
        ops=("FakeQuantize-1",),
        reason="Quantized constants of more than five dimensions are not compiled.",
        model=Call("Add-1", (MANY_AXES, quantized(Fixed(MANY_AXES), Fixed(floats(1)), levels=255))),
        applies=lambda seen: 0 in seen.constant and seen.rank() > 5,
    ),
    not_compiled(
        name="quantized products of weights of u8 that are quantized again",
        span="2022.3 to 2022.3",
        ops=("MatMul-1",),
        reason="Rows with a zero point and u8 weights without one are not multiplied if the product is quantized.",
        model=_in_levels(_by_columns(np.uint8, 2, 8, low=-0.2), 0, 1.02),
        applies=lambda seen: (
            seen.has(Pattern.UNSIGNED_WEIGHTS) and seen.has(Pattern.WITH_ZERO_POINT) and seen.has(Pattern.REQUANTIZED)
        ),
    ),
    not_compiled(
        name="quantized products of weights quantized along their last axis",
        span="2022.1 to 2022.3",
        ops=("MatMul-1",),
        reason="Limits along the last axis of the weights are taken for limits along another one, of another size.",
        model=_by_levels(8, 5),
        applies=lambda seen: seen.has(Pattern.MISPLACED_LEVELS) and not _has_square_weights(seen),
    ),
    ReleaseDifference(
        name="quantized products of square weights quantized along their last axis",
        span="2022.1 to 2022.3",
        ops=("MatMul-1",),
        reason="Limits along the last axis of the weights are taken for limits along another one.",
        model=_by_levels(16, 16),
        applies=lambda seen: seen.has(Pattern.MISPLACED_LEVELS) and _has_square_weights(seen),
    ),
    not_compiled(
        name="quantized products of four axes that are quantized again",
        span="2022.3 to 2022.3",
        ops=("MatMul-1",),
        reason="Products of four axes or more, with a scale for each output, are not quantized at once.",
        model=_in_levels(_by_columns(np.int8, 1, 1, 2, 8), 0, 1.02),
        applies=lambda seen: (
            seen.has(Pattern.REQUANTIZED_BY_CHANNEL) and seen.rank() > LOW and not seen.has(Pattern.WITH_ZERO_POINT)
        ),
    ),
    not_compiled(
        name="quantized convolutions of weights of u8 that are quantized again",
        span="2025.2 to 2026.4",
        ops=(*CONVOLUTION, *GROUPED),
        reason=(
            "Data with a zero point and u8 weights without one are not multiplied if the product is quantized and a "
            "layer computes with it in bytes."
        ),
        model=Call("MaxPool-1", (_in_levels(_convolved_unsigned(), 0, 1),), LARGEST),
        applies=lambda seen: seen.has(Pattern.LEFT_IN_BYTES) and seen.has(Pattern.WITH_ZERO_POINT),
    ),
    *(
        ReleaseDifference(
            name=f"quantized convolutions of groups {name}",
            span=span,
            ops=GROUPED,
            reason=f"Groups of several channels of data with a zero point are wrong if {reason}.",
            model=model,
            applies=applies,
            processor=Processor.AMX,
        )
        for name, span, reason, model, applies in (
            (
                "before constants for each channel",
                "2025.1 to 2026.4",
                "a PReLU with several slopes follows, or constants for each channel behind a function",
                Call("PReLU-1", (_in_groups(), Fixed(floats(0.1, 0.2, 0.3, 0.4)))),
                lambda seen: (
                    _is_in_groups(seen, pattern=Pattern.ADJUSTED)
                    and not _is_in_groups(seen, pattern=Pattern.ADJUSTED_LATER)
                ),
            ),
            (
                "with one scale before constants for each channel",
                "2023.0 to 2026.4",
                "a number scales the weights, and constants for each channel follow behind a function",
                Call("Add-1", (Call("Sigmoid-1", (_in_groups(),)), Fixed(counted(1, 4, 1, 1)))),
                partial(_is_in_groups, pattern=Pattern.ADJUSTED_LATER),
            ),
            (
                "with a bias before a function",
                "2023.0 to 2023.0",
                "a bias and a function follow, and the weights have one scale or a scale follows",
                Call("ReLU-1", (Call("Add-1", (_in_groups(), Fixed(counted(1, 4, 1, 1)))),)),
                lambda seen: (
                    _is_in_groups(seen, pattern=Pattern.ACTIVATED_BIAS)
                    and not _is_in_groups(seen, pattern=Pattern.ADJUSTED_LATER)
                ),
            ),
        )
    ),
    *(
        ReleaseDifference(
            name=f"quantized {name}",
            span=span,
            ops=ops,
            reason="Negative scales move before a ReLU or PReLU.",
            model=model,
            applies=applies,
        )
        for name, span, ops, model, applies in (
            (
                "products whose rectified values are negated",
                "2022.3 to 2022.3",
                PRODUCTS,
                Call("Negative-1", (Call("ReLU-1", (_multiplied(np.sin(counted(2, 8))),)),)),
                partial(_is_negated, pattern=Pattern.NEGATED),
            ),
            (
                "products without a bias whose rectified values are negated",
                "2023.0 to 2026.4",
                (*PRODUCTS, *GROUPED),
                _negated(_convolved_bytes(_in_levels(SMALL_IMAGE, 0, 1), GROUPED), floats(-2)),
                partial(_is_negated, pattern=Pattern.NEGATED_UNBIASED),
            ),
            (
                "products of four axes whose rectified values are negated",
                "2023.0 to 2023.3",
                ("MatMul-1",),
                _negated(_multiplied(np.sin(counted(1, 1, 2, 8))), floats(*[-1, 1] * 8)),
                lambda seen: (
                    seen.has(Pattern.NEGATED_UNBIASED)
                    and not seen.has(Pattern.WITH_ZERO_POINT)
                    and _has_quantized_weights(seen)
                    and not _is_negated(seen, pattern=Pattern.NEGATED_UNBIASED)
                ),
            ),
        )
    ),
    not_compiled(
        name="quantized data with a zero point times vectors of 8 bits",
        span="2023.0 to 2023.3",
        ops=("MatMul-1",),
        reason="Sizes of a vector that a number scales are read before their beginning.",
        sometimes=True,
        model=Call("MatMul-1", (_with_zero_point(), _scaled_bytes(8)), {"transpose_b": "false"}),
        applies=lambda seen: (
            seen.rank(1) == 1 and seen.has(Pattern.WITH_ZERO_POINT) and seen.has(Pattern.BYTES_BY_NUMBER)
        ),
    ),
    not_run(
        name="quantized vectors times weights of 8 bits",
        span="2023.0 to 2023.2",
        ops=("MatMul-1",),
        reason="Scales for each output are not applied to a product that has one dimension.",
        model=_by_columns(np.int8, 8),
        applies=_is_vector_by_bytes,
    ),
    ReleaseDifference(
        name="quantized convolutions whose strides are as wide as their filters",
        span="2023.1 to 2023.3",
        ops=("Convolution-1",),
        reason="Values are wrong if the elements of a row of a filter fill tiles of 64 bytes, but the channels do not.",
        sometimes=True,
        model=_in_tiles(),
        applies=_has_rows_of_tiles,
        processor=Processor.AMX,
    ),
    *(
        ReleaseDifference(
            name=f"quantized {name} of unknown size that are scaled for each reader",
            span=span,
            ops=ops,
            reason=(
                "If several layers read what quantized data and weights give, and a scale moves behind one of them, "
                "all get wrong scales."
            ),
            model=_read_twice(product),
            applies=applies,
        )
        for name, span, ops, product, applies in (
            (
                "convolutions",
                "2023.0 to 2026.4",
                CONVOLVING,
                _convolved_bytes(_in_levels(Given(SMALL_IMAGE, "?,2,?,4"), 0, 1)),
                _is_unshifted_apart,
            ),
            (
                "convolutions, with a zero point,",
                "2023.1 to 2026.4",
                (*CONVOLUTION, *GROUPED),
                _convolved_bytes(_in_levels(Given(SMALL_IMAGE, "?,2,?,4"), -0.2, 0.82)),
                lambda seen: _is_scaled_apart(seen) and not _is_unshifted_apart(seen),
            ),
            (
                "products",
                "2023.1 to 2024.6",
                ("MatMul-1",),
                _multiplied(Given(np.sin(counted(2, 8)), "?,8")),
                lambda seen: _is_unshifted_apart(seen) and seen.rank() <= LOW,
            ),
            (
                "products of four dimensions or more",
                "2023.0 to 2023.3",
                ("MatMul-1",),
                _multiplied(Given(np.sin(counted(1, 1, 2, 8)), "?,?,?,8")),
                lambda seen: _is_unshifted_apart(seen) and seen.rank() > LOW,
            ),
        )
    ),
    *(
        ReleaseDifference(
            name=f"{name}, {span}",
            span=span,
            ops=ops,
            reason=reason,
            model=model,
            applies=partial(_is_by_scaled, pattern=pattern, kinds=kinds),
        )
        for name, pattern, kinds, reason, data, spans in (
            (
                "quantized convolutions of data whose 0 is between two bytes",
                Pattern.BETWEEN_BYTES,
                {"i8", "u8"},
                "The zero point of quantized data is rounded to a byte.",
                _in_levels(SMALL_IMAGE, -0.505, 0.545, 16),
                {"2022.1 to 2026.4": CONVOLUTION, "2023.0 to 2026.4": GROUPED},
            ),
            (
                "quantized convolutions of data whose 0 is between two bytes",
                Pattern.BETWEEN_EARLY_BYTES,
                {"i8", "u8"},
                "The zero point of quantized data is rounded to a byte.",
                _in_levels(SMALL_IMAGE, -0.505, 0.545),
                {"2021.3 to 2026.4": CONVOLUTION},
            ),
            (
                "quantized products of averages",
                Pattern.AVERAGED,
                {"i8"},
                "Averages of quantized data are rounded to bytes.",
                Call("AvgPool-1", (_in_levels(SMALL_IMAGE, 0, 1),), MEANS),
                {"2022.1 to 2026.4": PRODUCTS, "2023.0 to 2026.4": GROUPED},
            ),
            (
                "quantized products of data of 255 or 15 levels",
                Pattern.RESCALED,
                {"i8", "u8"},
                "Levels of quantized data that are not 256 or 16, nor lie on both sides of 0 alike, become others.",
                _in_levels(SMALL_IMAGE, 0, 1, 255),
                {"2022.1 to 2026.4": PRODUCTS, "2023.0 to 2026.4": GROUPED},
            ),
        )
        for span, ops, model in ((span, ops, _convolved_bytes(data, ops)) for span, ops in spans.items())
    ),
    *(
        ReleaseDifference(
            name=f"quantized convolutions {what}of data of 255 levels, {span}",
            span=span,
            ops=ops,
            reason="The 255 levels of quantized data become others.",
            model=_convolved_bytes(_in_levels(SMALL_IMAGE, -1, 1, 255), ops),
            applies=partial(_is_by_scaled, pattern=Pattern.NARROW, kinds={"i8", "u8"}),
            processor=processor,
        )
        for what, span, ops, processor in (
            ("", "2022.1 to 2022.1", CONVOLUTION, Processor.ANY),
            ("", "2022.3 to 2026.4", CONVOLUTION, Processor.NO_AMX),
            ("in groups ", "2023.1 to 2026.4", GROUPED, Processor.NO_AMX),
        )
    ),
)
"""The rows."""
