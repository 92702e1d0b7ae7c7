"""Change the shape of a tensor, or the order of its elements.

Reshape-1, Squeeze-1/-15, Unsqueeze-1, Transpose-1, ShuffleChannels-1, DepthToSpace-1, SpaceToDepth-1, Reverse-1,
ReverseSequence-1, Roll-7. The rules are those of OpenVINO's core (*_shape_inference.hpp), measured.

Specification: `shape/`, `movement/`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from ir_tools.errors import ShapeError
from ir_tools.ops._requirements import require_integers, require_list, require_sizes
from ir_tools.ops._shape_rewrites import (
    migrate_squeeze_15,
    of_computed_data,
    with_known_axes,
    with_listed_axis,
    with_maximum_behind,
)
from ir_tools.ops._values import carried, divided, element_count, intervals, known_axes, normal_axis, times
from ir_tools.ops._versions import VersionStep
from ir_tools.ops.definition import UNBOUNDED, Array, Elements, Fact, Input, Op, Violation
from ir_tools.ops.fields import Attrs, Flag, Int, OneOf
from ir_tools.types import Dim, Shape, product, shape_text

__all__ = ["OPS"]

ONE = Dim.of(1)

# --- Reshape ----------------------------------------------------------------------------------------------------


def reshape_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the pattern: 0 is copied from the input (`special_zero`), -1 is computed from the rest."""
    data, pattern = inputs
    require_integers(pattern, "shape")
    require_sizes(pattern, "shape")
    bounds = intervals(pattern)
    if bounds is not None:
        shape = reshaped(data.shape, bounds, attrs.special_zero)
    else:
        length = pattern.shape[0] if pattern.shape else Dim()
        shape = (Dim(),) * length.lo if length.static else None
    return carried(reshape, attrs, inputs, [Fact(data.dtype, shape)])


def reshaped(data: Shape, bounds: Sequence[tuple[int, int]], special_zero: bool) -> Shape:
    """Return the output shape for a pattern with known bounds.

    Raises:
        ShapeError: the number of elements differs, or the pattern is not valid.
    """
    pattern = [_pattern_dim(pair) for pair in bounds]
    rest = [index for index, pair in enumerate(bounds) if pair == (-1, -1)]
    if len(rest) > 1:
        raise ShapeError(f"holds -1 {len(rest)} times; expected at most one", attribute="shape")
    copied = [index for index, dim in enumerate(pattern) if special_zero and dim == Dim.of(0)]
    rank = len(pattern) if data is None else len(data)
    if any(index >= rank for index in copied):
        raise ShapeError(f"has 0 for dimension {max(copied)}, but the input has rank {rank}", attribute="shape")
    for index in copied:
        pattern[index] = Dim() if data is None else data[index]
    skipped = copied if data is None else [*copied, *rest]
    before = [dim for index, dim in enumerate(data or ()) if index not in copied]
    after = [dim for index, dim in enumerate(pattern) if index not in skipped]
    taken, made = _products(before, after, Dim() if data is None and copied else ONE)
    if rest:
        pattern[rest[0]] = _left_over(taken, made)
    counts = element_count(data), element_count(tuple(pattern))
    if not rest and not copied and None not in counts and counts[0] != counts[1]:
        sizes = f"{shape_text(data)} to {shape_text(tuple(pattern))}"
        raise ShapeError(
            f"changes the number of elements, from {counts[0]} to {counts[1]} ({sizes})", attribute="shape"
        )
    return tuple(pattern)


def _pattern_dim(pair: tuple[int, int]) -> Dim:
    """Return a dimension that lies between two bounds; -1 at the lower end is any size."""
    low, high = pair
    if low <= -2 and high <= -1:
        raise ShapeError(f"holds {low}; expected 0, -1 or a size", attribute="shape")
    if low < -1 or high == -1:
        return Dim()
    return Dim(max(low, 0), None if high >= UNBOUNDED else high)


def _products(before: Sequence[Dim], after: Sequence[Dim], unknown: Dim) -> tuple[tuple[int, Dim], tuple[int, Dim]]:
    """Return static and dynamic part of the elements taken and made, without the sizes that both have."""
    taken_dims, made_dims = Counter(before), Counter(after)
    shared = Counter({dim: count for dim, count in (taken_dims & made_dims).items() if dim.static and dim.lo})
    left, right = ((dims - shared).elements() for dims in (taken_dims, made_dims))
    (taken, some), (made, others) = _product([*left], unknown), _product([*right], unknown)
    if taken != made:
        some, others = times(some, Dim.of(taken)), times(others, Dim.of(made))
    return (taken, some), (made, others)


def _product(dims: Sequence[Dim], start: Dim) -> tuple[int, Dim]:
    dynamic = start
    for dim in dims:
        if not dim.static:
            dynamic = times(dynamic, dim)
    return product(dim.lo for dim in dims if dim.static), dynamic


def _left_over(taken: tuple[int, Dim], made: tuple[int, Dim]) -> Dim:
    """Return what -1 stands for."""
    if made[0] == 0 and taken[0] != 0:
        raise ShapeError("holds -1 beside a size of 0, but the input has elements", attribute="shape")
    some, others = taken[1], made[1]
    if some.static and others.static:
        out = divided(some, others.lo)
    else:
        high = None if some.hi is None or others.lo == 0 else some.hi // others.lo
        low = some.lo if others.hi == 0 else (some.lo > 0) if others.hi is None else -(-some.lo // others.hi)
        out = None if high is not None and high < low else Dim(int(low), high)
    if out is None:
        raise ShapeError(f"has no size for -1: {some} elements are not a multiple of {others}", attribute="shape")
    return out


def reshape(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the elements in another shape; a view."""
    data, pattern = arrays
    pairs = [(int(size), int(size)) for size in pattern.ravel()]
    shape = reshaped(tuple(map(Dim.of, data.shape)), pairs, attrs.special_zero)
    sizes = [dim.size for dim in shape or ()]
    if prod(sizes) != data.size:
        raise ShapeError(f"changes the number of elements, from {data.size} to {prod(sizes)}", attribute="shape")
    return (data.reshape(sizes),)


def check_reshape(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for lost elements beside copied dimensions, which the runtime reports only at run time."""
    data, pattern = inputs
    bounds = intervals(pattern)
    if data.shape is None or bounds is None or not pattern.shape:
        return
    try:
        shape = reshaped(data.shape, bounds, attrs.special_zero)
    except ShapeError:
        return
    counts = element_count(data.shape), element_count(shape)
    if None not in counts and counts[0] != counts[1]:
        yield Violation("shape", f"changes the number of elements, from {counts[0]} to {counts[1]}")


# --- Squeeze, Unsqueeze -----------------------------------------------------------------------------------------


def squeeze_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the input without some or all of its dimensions of 1."""
    data = inputs[0]
    if len(inputs) > 1:
        _require_axes(inputs[1])
    shape = squeezed(data.shape, inputs[1] if len(inputs) > 1 else None, attrs.get("allow_axis_skip"))
    return carried(squeeze, attrs, inputs, [Fact(data.dtype, shape)])


def squeezed(data: Shape, axes: Fact | None, skips: bool | None) -> Shape:
    """Return the output shape. `skips`: whether a dimension of unknown size makes the rank unknown.

    None for Squeeze-1.
    """
    if data is None:
        return None
    chosen = [] if axes is None else known_axes(axes, max(len(data), 1))
    if chosen is None:
        if axes is None or element_count(axes.shape) != 1 or not data:
            return None
        if not any(1 in dim for dim in data):
            return data
        return (Dim(),) * (len(data) - 1) if skips is None else None
    maybe_one = [index for index, dim in enumerate(data) if 1 in dim and not dim.static]
    if not chosen:
        return None if maybe_one else tuple(dim for dim in data if dim != ONE)
    if skips and any(index in chosen for index in maybe_one):
        return None
    return tuple(dim for index, dim in enumerate(data) if index not in chosen or 1 not in dim)


def _require_axes(axes: Fact) -> None:
    if axes.shape is not None and len(axes.shape) > 1:
        raise ShapeError(f"is {shape_text(axes.shape)}; expected a list", attribute="axes")


def squeeze(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the elements without some or all dimensions of 1; a view."""
    data = arrays[0]
    axes = {int(axis) % max(data.ndim, 1) for axis in arrays[1].ravel()} if len(arrays) > 1 else set()
    chosen = axes or range(data.ndim)
    return (data.reshape([size for axis, size in enumerate(data.shape) if size != 1 or axis not in chosen]),)


def unsqueeze_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the input with dimensions of 1 at the places that they have in the output."""
    data, axes = inputs
    _require_axes(axes)
    values = axes.integers()
    shape: Shape = None
    if values is not None and data.shape is not None:
        if not values:
            raise ShapeError("is empty; expected at least one axis", attribute="axes")
        shape = tuple(_with_ones(list(data.shape), values, ONE))
    return carried(unsqueeze, attrs, inputs, [Fact(data.dtype, shape)])


def _with_ones(dims: list[Any], axes: Sequence[int], one: Any) -> list[Any]:
    """Return dimensions with ones put in; an axis that is named twice, as -1 and 3 perhaps, counts once."""
    different = set(axes)
    rank = len(dims) + len(different)
    for axis in sorted({normal_axis(axis, rank, "axes") for axis in different}):
        dims.insert(axis, one)
    return dims


def unsqueeze(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the elements with more dimensions of 1; a view."""
    data, axes = arrays
    return (data.reshape(_with_ones(list(data.shape), [int(axis) for axis in axes.ravel()], 1)),)


# --- Transpose --------------------------------------------------------------------------------------------------


def transpose_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the dimensions in the order of the second input; reversed if it is empty."""
    data, order = inputs
    require_list(order, "order")
    values = order.integers()
    rank = None if data.shape is None else len(data.shape)
    if rank is not None and order.shape and not (rank in order.shape[0] or order.shape[0] == Dim.of(0)):
        raise ShapeError(f"has {order.shape[0]} values, but the input has rank {rank}", attribute="order")
    shape: Shape
    if data.shape is None:
        shape = None if values is None else (Dim(),) * len(values)
    elif values is None:
        shape = (Dim(),) * len(data.shape)
    else:
        values = values or list(reversed(range(len(data.shape))))
        if sorted(values) != list(range(len(data.shape))):
            raise ShapeError(
                f"{','.join(map(str, values))} is not a permutation of {len(data.shape)} axes", attribute="order"
            )
        shape = tuple(data.shape[axis] for axis in values)
    return carried(transpose, attrs, inputs, [Fact(data.dtype, shape)])


def transpose(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the elements with their dimensions in another order; a view."""
    data, order = arrays
    return (data.transpose([int(axis) for axis in order] or None),)


# --- channels and blocks ----------------------------------------------------------------------------------------


def shuffle_channels_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the input, whose channels are a multiple of the groups."""
    (data,) = inputs
    if data.shape is not None:
        if not data.shape:
            raise ShapeError("is a scalar; expected data with channels", attribute="data")
        dim = data.shape[normal_axis(attrs.axis, len(data.shape))]
        if dim.static and dim.lo % attrs.group:
            raise ShapeError(f"is {attrs.group}, but the {dim} channels are not a multiple of it", attribute="group")
    return carried(shuffle_channels, attrs, inputs, [Fact(data.dtype, data.shape)], bounded=())


def shuffle_channels(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Put channel `g * n + c` of `group` groups of n at `c * group + g`."""
    (data,) = arrays
    axis = normal_axis(attrs.axis, data.ndim)
    size = data.shape[axis]
    split = data.reshape(*data.shape[:axis], attrs.group, size // attrs.group, *data.shape[axis + 1 :])
    return (split.swapaxes(axis, axis + 1).reshape(data.shape),)


def _require_blocks(data: Fact) -> None:
    if data.shape is not None and len(data.shape) < 3:
        raise ShapeError(f"is {shape_text(data.shape)}; expected at least rank 3", attribute="data")


def _part(dim: Dim, by: int, name: str) -> Dim:
    out = divided(dim, by)
    if out is None:
        raise ShapeError(f"requires that {name} is a multiple of {by}, but it is {dim}", attribute="block_size")
    return out


def depth_to_space_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map `[N, C * b^k, spatial...]` to `[N, C, spatial * b...]`."""
    (data,) = inputs
    _require_blocks(data)
    block, shape = attrs.block_size, data.shape
    if shape is not None:
        channels = _part(shape[1], block ** (len(shape) - 2), "the number of channels")
        shape = (shape[0], channels, *(times(dim, Dim.of(block)) for dim in shape[2:]))
    return (Fact(data.dtype, shape),)


def depth_to_space(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Move channels to positions in blocks; with `blocks_first` the position in the block counts before the channel."""
    (data,) = arrays
    block, count, sizes = attrs.block_size, data.ndim - 2, data.shape[2:]
    channels = data.shape[1] // block**count
    first = attrs.mode == "blocks_first"
    inner = (*(block,) * count, channels) if first else (channels, *(block,) * count)
    split = data.reshape(data.shape[0], *inner, *sizes)
    channel, blocks = (count + 1, 1) if first else (1, 2)
    pairs = [axis for index in range(count) for axis in (count + 2 + index, blocks + index)]
    joined = split.transpose(0, channel, *pairs)
    return (joined.reshape(data.shape[0], channels, *(size * block for size in sizes)),)


def space_to_depth_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map `[N, C, spatial * b...]` to `[N, C * b^k, spatial...]`."""
    (data,) = inputs
    _require_blocks(data)
    block, shape = attrs.block_size, data.shape
    if shape is not None:
        channels = times(shape[1], Dim.of(block ** (len(shape) - 2)))
        shape = (shape[0], channels, *(_part(dim, block, "every spatial size") for dim in shape[2:]))
    return (Fact(data.dtype, shape),)


def space_to_depth(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Move positions in blocks to channels, the inverse of `depth_to_space`."""
    (data,) = arrays
    block, count = attrs.block_size, data.ndim - 2
    sizes = [size // block for size in data.shape[2:]]
    split = data.reshape(*data.shape[:2], *(part for size in sizes for part in (size, block)))
    spatial, blocks = range(2, 2 + 2 * count, 2), range(3, 3 + 2 * count, 2)
    order = (*blocks, 1) if attrs.mode == "blocks_first" else (1, *blocks)
    return (split.transpose(0, *order, *spatial).reshape(data.shape[0], data.shape[1] * block**count, *sizes),)


# --- the operations ---------------------------------------------------------------------------------------------

DATA = Input("data", elements=Elements.MOVED)
ORDERED = Input("data", elements=Elements.IN_ORDER)
BLOCK_SIZE = Int(minimum=1)

RESHAPE = Op(
    type="Reshape",
    version=1,
    strings=True,
    inputs=(ORDERED, Input("shape", type="integer")),
    attrs={"special_zero": Flag(runtime_default=False)},
    check=check_reshape,
    shape=reshape_shape,
    kernel=reshape,
    substitute=of_computed_data,
)
SQUEEZE_1 = Op(
    type="Squeeze",
    version=1,
    strings=True,
    inputs=(ORDERED, Input("axes", optional=True, type="integer float")),
    shape=squeeze_shape,
    kernel=squeeze,
    migrate=VersionStep("Squeeze", 1),
    substitute=with_known_axes,
)
SQUEEZE_15 = SQUEEZE_1.at(
    15,
    attrs={"allow_axis_skip": Flag(default=False)},
    readers={"allow_axis_skip": "shape migrate"},
    migrate=migrate_squeeze_15,
)
UNSQUEEZE = Op(
    type="Unsqueeze",
    version=1,
    strings=True,
    inputs=(ORDERED, Input("axes", type="integer float")),
    shape=unsqueeze_shape,
    kernel=unsqueeze,
    substitute=with_listed_axis,
)
TRANSPOSE = Op(
    type="Transpose",
    version=1,
    strings=True,
    inputs=(DATA, Input("order", type="integer")),
    shape=transpose_shape,
    kernel=transpose,
    substitute=with_maximum_behind,
)
SHUFFLE_CHANNELS = Op(
    type="ShuffleChannels",
    version=1,
    absent_opsets=(2,),
    inputs=(DATA,),
    attrs={"axis": Int(default=1), "group": Int(default=1, minimum=1)},
    shape=shuffle_channels_shape,
    kernel=shuffle_channels,
)
DEPTH_TO_SPACE = Op(
    type="DepthToSpace",
    version=1,
    strings=True,
    inputs=(DATA,),
    attrs={
        "mode": OneOf(words=("blocks_first", "depth_first"), runtime_default="blocks_first"),
        "block_size": BLOCK_SIZE,
    },
    shape=depth_to_space_shape,
    kernel=depth_to_space,
)
SPACE_TO_DEPTH = Op(
    type="SpaceToDepth",
    version=1,
    strings=True,
    inputs=(DATA,),
    attrs=DEPTH_TO_SPACE.attrs,
    shape=space_to_depth_shape,
    kernel=space_to_depth,
)
OPS = (
    RESHAPE,
    SQUEEZE_1,
    SQUEEZE_15,
    UNSQUEEZE,
    TRANSPOSE,
    SHUFFLE_CHANNELS,
    DEPTH_TO_SPACE,
    SPACE_TO_DEPTH,
)
