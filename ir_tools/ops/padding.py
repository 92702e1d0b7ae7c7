"""Enlarge or reduce tensors: Pad-1/-12, Tile-1, Broadcast-1/-3, SpaceToBatch-2, BatchToSpace-2.

The rules are those of OpenVINO's core (*_shape_inference.hpp), measured.

Specification: `movement/`.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import prod

import numpy as np

from ir_tools.display import plural
from ir_tools.errors import ShapeError
from ir_tools.ops._broadcast import broadcast, first_axis
from ir_tools.ops._moving_rewrites import moved
from ir_tools.ops._requirements import require_integers, require_list, require_one, require_sizes, same_type
from ir_tools.ops._shape_rewrites import (
    by_ones,
    migrate_broadcast,
    migrate_pad_12,
    one_side_after_the_other,
    with_sizes_in_front,
    without_single_elements,
)
from ir_tools.ops._values import carried, divided, intervals, shifted, sizes_of, times
from ir_tools.ops._versions import VersionStep, first_of
from ir_tools.ops.definition import UNBOUNDED, Array, Elements, Fact, Infinity, Input, Op, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, Int, OneOf
from ir_tools.ops.limits import MAX_WINDOW, too_large
from ir_tools.types import Dim, Shape, format_shape, shape_text

__all__ = ["OPS"]

ONE = Dim.of(1)
# --- Pad --------------------------------------------------------------------------------------------------------


def pad_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return every dimension with the pads before and after it; negative pads remove elements."""
    data, begin, end = inputs[:3]
    for fact, name in ((begin, "pads_begin"), (end, "pads_end")):
        require_integers(fact, name)
        require_list(fact, name)
    if attrs.pad_mode == "constant" and len(inputs) > 3:
        require_one(inputs[3], "pad_value", only_scalar=True)
        _require_same_type(data, inputs[3])
    if data.shape is None:
        return (Fact(data.dtype, None),)
    rank = len(data.shape)
    for fact, name in ((begin, "pads_begin"), (end, "pads_end")):
        if fact.shape is not None and fact.shape[0].lo > rank:
            raise ShapeError(f"has {fact.shape[0]} values, but the input has rank {rank}", attribute=name)
    before, after = intervals(begin), intervals(end)
    if before is None or after is None:
        return (Fact(data.dtype, (Dim(),) * rank),)
    for pads, name in ((before, "pads_begin"), (after, "pads_end")):
        if len(pads) != rank:
            raise ShapeError(f"has {plural(len(pads), 'value')}, but the input has rank {rank}", attribute=name)
    dims = [_padded(attrs.pad_mode, axis, *row) for axis, row in enumerate(zip(data.shape, before, after, strict=True))]
    return carried(pad, attrs, inputs, [Fact(data.dtype, tuple(dims))], bounded=(0, 3))


def _require_same_type(data: Fact, value: Fact) -> None:
    if "dynamic" not in (data.dtype.kind, value.dtype.kind) and data.dtype != value.dtype:
        raise ShapeError(f"has element type {value.dtype}, but the input has {data.dtype}", attribute="pad_value")


def _padded(mode: str, axis: int, dim: Dim, begin: tuple[int, int], end: tuple[int, int]) -> Dim:
    """Return one dimension with its pads, which are intervals."""
    low, high = begin[0] + end[0], begin[1] + end[1]
    if dim.static:
        _require_room(mode, axis, dim.lo, begin, end)
        if dim.lo + high < 0:
            return Dim()
    unbounded = dim.hi is None or max(begin[1], end[1]) >= UNBOUNDED
    return Dim(max(dim.lo + low, 0), None if unbounded or dim.hi is None else max(dim.hi + high, 0))


def _require_room(mode: str, axis: int, size: int, begin: tuple[int, int], end: tuple[int, int]) -> None:
    """Require enough elements to repeat or mirror.

    Raises:
        ShapeError: there are not.
    """
    largest = max(begin[0], end[0])
    if mode == "edge" and size < 1 and largest > 0:
        raise ShapeError(f"is edge, but dimension {axis} is empty", attribute="pad_mode")
    if mode == "reflect" and largest >= size:
        raise ShapeError(
            (
                f"is reflect, which allows pads of at most {max(size - 1, 0)} for dimension {axis} with {size} "
                f"elements, but a pad is {largest}"
            ),
            attribute="pad_mode",
        )
    if mode == "symmetric" and largest > size:
        raise ShapeError(
            (
                f"is symmetric, which allows pads of at most {size} for dimension {axis} with {size} elements, but "
                f"a pad is {largest}"
            ),
            attribute="pad_mode",
        )


def pad(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Add elements before and after the data; then negative pads remove elements.

    Raises:
        ShapeError: there are not enough elements to repeat, mirror or remove.
    """
    data = arrays[0]
    pads = [(int(begin), int(end)) for begin, end in zip(*arrays[1:3], strict=True)]
    for axis, (size, (begin, end)) in enumerate(zip(data.shape, pads, strict=True)):
        _require_room(attrs.pad_mode, axis, size, (begin, begin), (end, end))
        if size + begin + end < 0:
            raise ShapeError(
                f"and pads_end remove {-begin - end} of the {size} elements of dimension {axis}", attribute="pads_begin"
            )
    widths = _widths(pads)
    if attrs.pad_mode == "constant":
        value = arrays[3].ravel()[0] if len(arrays) > 3 else data.dtype.type(0)
        out = np.full([size + sum(width) for size, width in zip(data.shape, widths, strict=True)], value, data.dtype)
        out[tuple(slice(width[0], width[0] + size) for size, width in zip(data.shape, widths, strict=True))] = data
    else:
        out = np.pad(data, widths, mode=attrs.pad_mode) if widths else data
    return (_cut(out, pads),)


def _widths(pads: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return how many elements are added before and after each axis."""
    return [(max(begin, 0), max(end, 0)) for begin, end in pads]


def _cut(padded: Array, pads: Sequence[tuple[int, int]]) -> Array:
    """Remove the elements that negative pads remove."""
    cuts = (slice(max(-begin, 0), size - max(-end, 0)) for (begin, end), size in zip(pads, padded.shape, strict=True))
    return padded[tuple(cuts)]


def check_pad(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for pads that no tensor can have, whose output does not fit into memory, or that remove too many elements.

    The runtime reads the latter as any size, and fails at run time.
    """
    begin, end = inputs[1].integers(), inputs[2].integers()
    for name, pads in (("pads_begin", begin), ("pads_end", end)):
        largest = max(pads or (0,), key=abs)
        if abs(largest) > MAX_WINDOW:
            yield Violation(
                name, f"holds {largest}, for which the runtime runs out of memory", kind=ViolationKind.FATAL
            )
            return
    yield from _check_size("pads_begin", PAD_1, attrs, inputs)
    for axis, (dim, first, last) in enumerate(zip(inputs[0].shape or (), begin or (), end or (), strict=False)):
        if dim.hi is not None and dim.hi + first + last < 0:
            message = f"and pads_end remove {-first - last} of the {dim} elements of dimension {axis}"
            yield Violation("pads_begin", message, "reduce them")
    if attrs.pad_mode == "constant" and len(inputs) > 3 and begin and end and not inputs[3].constant:
        message = "is not a constant, but the pads are constants: the CPU plugin then pads with zeros"
        yield Violation("pad_value", message, "make it a constant", ViolationKind.SUSPECT)


# --- Tile -------------------------------------------------------------------------------------------------------


def tile_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return every dimension times its repeats; the shorter list is extended by ones in front."""
    data, repeats = inputs
    require_integers(repeats, "repeats")
    require_sizes(repeats, "repeats")
    by = _repeats(repeats)
    shape: Shape = None
    if data.shape is not None and by is not None:
        rank = max(len(data.shape), len(by))
        shape = tuple(map(times, _filled(data.shape, rank), _filled(by, rank)))
    elif data.shape is not None and repeats.shape is not None and repeats.shape[0].static:
        shape = (Dim(),) * max(len(data.shape), repeats.shape[0].lo)
    return carried(tile, attrs, inputs, [Fact(data.dtype, shape)])


def _repeats(fact: Fact) -> tuple[Dim, ...] | None:
    values = fact.integers()
    return sizes_of(fact, "repeats") if values is None else tuple(Dim.of(max(value, 0)) for value in values)


def _filled(dims: Sequence[Dim], rank: int) -> tuple[Dim, ...]:
    return (*(ONE,) * (rank - len(dims)), *dims)


def tile(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the elements repeated along every axis."""
    data, repeats = arrays
    return (np.tile(data, [max(int(count), 0) for count in repeats]),)


def check_tile(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for repeats whose output does not fit into memory, and for an empty list."""
    if inputs[1].integers() == []:
        yield Violation(
            "repeats", "is empty, for which the runtime leaves the output uninitialized", kind=ViolationKind.SUSPECT
        )
    minimum = tuple(dim if dim.static else Dim.of(max(dim.lo, 1)) for dim in inputs[0].shape or ())
    data = Fact(inputs[0].dtype, None if inputs[0].shape is None else minimum)
    yield from _check_size("repeats", TILE, attrs, (data, inputs[1]))


def _check_size(name: str, op: Op, attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    try:
        outputs = op.outputs_of(attrs, inputs) or ()
    except ShapeError:
        return
    yield from too_large(name, outputs[0].shape)


# --- Broadcast --------------------------------------------------------------------------------------------------


def broadcast_1_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape as for Broadcast-3; without a mapping of axes, mode explicit is numpy.

    Raises:
        ShapeError: mode pdpd has no `axes_mapping`, which the runtime requires although it ignores it.
    """
    if attrs.mode == "pdpd" and len(inputs) == 2:
        raise ShapeError("is pdpd, but the layer has no axes_mapping, which the runtime requires", attribute="mode")
    return _broadcast_facts(_mode(attrs, inputs), attrs, inputs)


def broadcast_3_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the target shape; in modes bidirectional and pdpd, the shape to which it and the input broadcast."""
    if (len(inputs) > 2) != (attrs.mode == "explicit"):
        what = "is missing, but required in" if attrs.mode == "explicit" else "has no effect in"
        raise ShapeError(f"{what} mode {attrs.mode}", attribute="axes_mapping")
    return _broadcast_facts(attrs.mode, attrs, inputs)


def _mode(attrs: Attrs, inputs: Sequence[object]) -> str:
    mode: str = attrs.mode
    return "numpy" if mode == "explicit" and len(inputs) == 2 else mode


def _broadcast_facts(mode: str, attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    data, target = inputs[:2]
    require_integers(target, "target_shape")
    require_sizes(target, "target_shape")
    if mode == "explicit":
        require_integers(inputs[2], "axes_mapping")
        require_list(inputs[2], "axes_mapping")
    dims = sizes_of(target, "target_shape")
    shape: Shape = dims
    if dims is None:
        length = target.shape[0] if target.shape else Dim()
        shape = (Dim(),) * length.lo if length.static else None
    if mode == "explicit":
        _require_mapping(data.shape, target.shape, inputs[2], dims)
    elif mode == "numpy" and dims is not None:
        _require_broadcast(data.shape, dims)
    elif mode == "pdpd" and dims is not None:
        shape = _broadcast_from_axis(attrs.axis, data.shape, dims)
    elif mode == "bidirectional":
        shape = broadcast(data.shape, shape)
    out = Fact(data.dtype, shape)
    if dims is None or (mode != "bidirectional" and not all(dim.static for dim in dims)):
        return (out,)
    return carried(broadcast_to, attrs, inputs, [out])


def _require_broadcast(data: Shape, target: tuple[Dim, ...]) -> None:
    """Require what mode numpy does: dimensions of 1 or equal ones, counted from the last.

    Raises:
        ShapeError: there are others.
    """
    if data is None:
        return
    fits = len(data) <= len(target) and all(
        dim in {ONE, size} or not (dim.static and size.static)
        for dim, size in zip(reversed(data), reversed(target), strict=False)
    )
    if not fits:
        raise ShapeError(
            f"is {shape_text(target)}, to which {shape_text(data)} cannot be broadcast", attribute="target_shape"
        )


def _broadcast_from_axis(axis: int, data: Shape, target: tuple[Dim, ...]) -> Shape:
    """Broadcast in mode pdpd: the input begins at an axis of the target, and ones of the target are stretched too."""
    if data is None:
        return (Dim(),) * len(target)
    start = first_axis(axis, len(target), len(data), whole=True)
    out = [
        size if dim == ONE else dim if size == ONE else dim.meet(size)
        for dim, size in zip(data, target[start:], strict=True)
    ]
    if None in out:
        raise ShapeError(
            f"is {shape_text(target)}, to which {shape_text(data)} cannot be broadcast", attribute="target_shape"
        )
    return (*target[:start], *(dim for dim in out if dim is not None))


def _require_mapping(data: Shape, target: Shape, mapping: Fact, dims: tuple[Dim, ...] | None) -> None:
    """Require what mode explicit does: one axis of the target for every axis of the input, in their order.

    Raises:
        ShapeError: there are other axes, or dimensions do not fit.
    """
    if data is None or target is None or mapping.shape is None or not mapping.shape[0].static:
        return
    count = mapping.shape[0].lo
    rank = 1 if not data and count else len(data)
    if count != rank:
        raise ShapeError(f"has {plural(count, 'value')}, but the input has rank {rank}", attribute="axes_mapping")
    axes = mapping.integers()
    if dims is None or axes is None:
        return
    if axes != sorted(axes) or any(not 0 <= axis < len(dims) for axis in axes):
        raise ShapeError(
            f"is {','.join(map(str, axes))}; expected ascending axes of {len(dims)}", attribute="axes_mapping"
        )
    for axis, dim in zip(axes, data or (ONE,), strict=False):
        if (1 not in dim and dims[axis].meet(dim) is None) or (not data and 1 not in dims[axis]):
            raise ShapeError(f"has {dims[axis]} at axis {axis}, but the input has {dim}", attribute="target_shape")


def broadcast_to(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the elements repeated along dimensions of 1; a view that must not be written to."""
    data = arrays[0]
    sizes = [int(size) for size in arrays[1]]
    if _mode(attrs, arrays) == "explicit":
        places = dict(zip((int(axis) for axis in arrays[2]), data.shape, strict=False))
        data = data.reshape([places.get(axis, 1) for axis in range(len(sizes))])
    if attrs.mode == "pdpd":
        first_axis(attrs.axis, len(sizes), data.ndim, whole=True)
    if attrs.mode in {"pdpd", "bidirectional"}:
        sizes = list(np.broadcast_shapes(data.shape, tuple(1 if size == -1 else size for size in sizes)))
    return (np.broadcast_to(data, sizes),)


def check_broadcast(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for a target that does not fit into memory."""
    yield from _check_size("target_shape", BROADCAST_3, attrs, inputs)


# --- SpaceToBatch, BatchToSpace ---------------------------------------------------------------------------------


def _block_values(inputs: Sequence[Fact], names: Sequence[str]) -> list[list[int] | None]:
    """Return the values of block, begin and end as far as they are known.

    Raises:
        ShapeError: they are not lists with one value for each dimension.
    """
    data, lists = inputs[0].shape, inputs[1:]
    common = Dim()
    for fact, name in zip(lists, names, strict=True):
        require_integers(fact, name)
        require_list(fact, name)
        met = common.meet(fact.shape[0]) if fact.shape is not None else common
        if met is None:
            raise ShapeError(f"has {format_shape(fact.shape)} values; expected {common}", attribute=name)
        common = met
    if data is not None and len(data) < 2:
        raise ShapeError(f"has rank {len(data)}; expected at least 2", attribute="data")
    if data is not None and common.static and common.lo != len(data):
        raise ShapeError(f"has {common} values, but the input has rank {len(data)}", attribute=names[0])
    values = [fact.integers() for fact in lists]
    if values[0] is not None and min(values[0][1:], default=1) < 1:
        raise ShapeError(f"holds {min(values[0][1:])}; expected at least 1", attribute=names[0])
    return values


def space_to_batch_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map `[N, sizes...]` to `[N * blocks, (size + pads) / block...]`."""
    data = inputs[0]
    blocks, begin, end = _block_values(inputs, ("block_shape", "pads_begin", "pads_end"))
    if data.shape is None:
        return (Fact(data.dtype, None),)
    dims = [Dim()] * len(data.shape)
    if blocks is not None:
        dims[0] = times(data.shape[0], Dim.of(prod(blocks)))
    if blocks is not None and begin is not None and end is not None:
        for axis in range(1, len(dims)):
            padded, block = shifted(data.shape[axis], begin[axis] + end[axis]), blocks[axis]
            part = divided(padded, block)
            if padded.hi is None:
                part = Dim(-(-padded.lo // block))
            if part is None:
                raise ShapeError(
                    f"is {block}, which does not divide the {padded} elements of dimension {axis} with its pads",
                    attribute="block_shape",
                )
            dims[axis] = part
    return (Fact(data.dtype, tuple(dims)),)


def _of_the_batch(names: Sequence[str], lists: Sequence[Fact]) -> Iterator[Violation]:
    """Yield what a block or pads of the batch itself violate; the CPU plugin computes wrong values for them."""
    for name, fact, meant in zip(names, lists, (1, 0, 0), strict=True):
        values = fact.integers() or []
        if values and values[0] != meant:
            yield Violation(
                name, f"begins with {values[0]}; expected {meant} for the batch dimension", kind=ViolationKind.SUSPECT
            )


def check_space_to_batch(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for blocks and pads of the batch itself, and positions in a block that contain only padding.

    The CPU plugin computes wrong values for them. Also for negative pads, which the specification does not have.
    """
    yield from _of_the_batch(("block_shape", "pads_begin", "pads_end"), inputs[1:])
    data = inputs[0].shape or ()
    blocks, begin, end = (fact.integers() or [] for fact in inputs[1:])
    for name, pads in (("pads_begin", begin), ("pads_end", end)):
        if min(pads[1:], default=0) < 0:
            message = f"holds {min(pads[1:])}, which removes elements"
            yield Violation(name, message, "use a Slice layer before this one", ViolationKind.SUSPECT)
    for axis, (dim, block, before, after) in enumerate(zip(data, blocks, begin, end, strict=False)):
        if axis and dim.static and block > dim.lo and before + after > 0:
            message = (
                f"holds {block} for dimension {axis} with {dim} elements and padding, for which the CPU plugin "
                "computes wrong values"
            )
            yield Violation("block_shape", message, "use a Pad layer for the padding", ViolationKind.SUSPECT)


def _blocks_and_borders(arrays: Sequence[Array]) -> list[list[int]]:
    """Return the values of the three lists.

    Raises:
        ShapeError: they change the batch itself.
    """
    lists = [[int(value) for value in array] for array in arrays]
    if [values[0] for values in lists] != [1, 0, 0]:
        found = ", ".join(str(values[0]) for values in lists)
        raise ShapeError(
            f"and the two inputs behind it begin with {found}; expected 1, 0, 0 for the batch dimension",
            attribute="block_shape",
        )
    return lists


def space_to_batch(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Move the positions in a block to the batch; the position in the block counts before the batch.

    Negative pads remove elements.
    """
    data = arrays[0]
    blocks, begin, end = _blocks_and_borders(arrays[1:])
    pads = list(zip(begin, end, strict=True))
    padded = _cut(np.pad(data, _widths(pads)), pads)
    sizes = [size // block for size, block in zip(padded.shape, blocks, strict=True)]
    split = padded.reshape([part for pair in zip(sizes, blocks, strict=True) for part in pair])
    rank = data.ndim
    order = [*range(1, 2 * rank, 2), *range(0, 2 * rank, 2)]
    return (split.transpose(order).reshape(prod(blocks) * sizes[0], *sizes[1:]),)


def batch_to_space_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Map `[N * blocks, sizes...]` to `[N, size * block - crops...]`."""
    data = inputs[0]
    same_type(inputs[1:])
    blocks, begin, end = _block_values(inputs, ("block_shape", "crops_begin", "crops_end"))
    if min(*(begin or [0]), *(end or [0]), *(size - 1 for size in blocks or [1])) < 0:
        raise ShapeError("and crops_end must be at least 0, and block_shape at least 1", attribute="crops_begin")
    if data.shape is None:
        return (Fact(data.dtype, None),)
    dims = [Dim()] * len(data.shape)
    if blocks is not None:
        batch = divided(data.shape[0], prod(blocks))
        if batch is None:
            raise ShapeError(
                f"divides the batch by {prod(blocks)}, but the batch is {data.shape[0]}, which is not a multiple of it",
                attribute="block_shape",
            )
        dims[0] = batch
    if begin is not None and end is not None:
        for axis in range(1, len(dims)):
            joined = times(data.shape[axis], Dim(1) if blocks is None else Dim.of(blocks[axis]))
            crop = begin[axis] + end[axis]
            if joined.static and crop > joined.lo:
                raise ShapeError(
                    f"and crops_end remove {crop} of the {joined} elements of dimension {axis}", attribute="crops_begin"
                )
            dims[axis] = shifted(joined, -crop)
    return (Fact(data.dtype, tuple(dims)),)


def check_batch_to_space(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for blocks and crops of the batch itself, which the CPU plugin ignores or computes wrong values for."""
    yield from _of_the_batch(("block_shape", "crops_begin", "crops_end"), inputs[1:])


def batch_to_space(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Move batches to the positions in a block; then crop."""
    data = arrays[0]
    blocks, begin, end = _blocks_and_borders(arrays[1:])
    rank = data.ndim
    split = data.reshape(*blocks, data.shape[0] // prod(blocks), *data.shape[1:])
    order = [axis for index in range(rank) for axis in (rank + index, index)]
    sizes = [size * block for size, block in zip(split.shape[rank:], blocks, strict=True)]
    joined = split.transpose(order).reshape(sizes)
    return (joined[tuple(slice(b, size - e) for b, e, size in zip(begin, end, sizes, strict=True))],)


# --- the operations ---------------------------------------------------------------------------------------------

DATA = Input("data", elements=Elements.MOVED)
PADDED = Input("data", elements=Elements.LIKE)

PAD_1 = Op(
    type="Pad",
    version=1,
    infinity=Infinity.BOUND,
    inputs=(
        PADDED,
        Input("pads_begin", type="integer"),
        Input("pads_end", type="integer"),
        Input("pad_value", optional=True),
    ),
    attrs={"pad_mode": OneOf(words=("constant", "edge", "reflect", "symmetric"), runtime_default="constant")},
    check=check_pad,
    shape=pad_shape,
    kernel=pad,
    migrate=VersionStep("Pad", 1),
    substitute=first_of(one_side_after_the_other, without_single_elements),
)
PAD_12 = PAD_1.at(12, migrate=migrate_pad_12, substitute=one_side_after_the_other)
TILE = Op(
    type="Tile",
    version=1,
    inputs=(DATA, Input("repeats", type="integer")),
    check=check_tile,
    shape=tile_shape,
    kernel=tile,
    substitute=with_sizes_in_front,
)
BROADCAST_1 = Op(
    type="Broadcast",
    version=1,
    inputs=(DATA, Input("target_shape", type="integer"), Input("axes_mapping", optional=True)),
    attrs={
        "mode": OneOf(words=("explicit", "numpy", "pdpd"), synonyms={"none": "explicit"}, default="explicit"),
        "axis": Int(xml="mode.auto_broadcast_axis", default=0),
    },
    check=check_broadcast,
    shape=broadcast_1_shape,
    kernel=broadcast_to,
    migrate=migrate_broadcast(1),
    substitute=by_ones(1),
)
BROADCAST_3 = BROADCAST_1.at(
    3,
    attrs={
        "mode": OneOf(
            words=("numpy", "explicit", "pdpd", "bidirectional"), synonyms={"none": "explicit"}, default="numpy"
        ),
        "axis": Int(xml="mode.mode.axis", default=0),
    },
    shape=broadcast_3_shape,
    migrate=migrate_broadcast(3),
    substitute=by_ones(3),
)
SPACE_TO_BATCH = Op(
    type="SpaceToBatch",
    version=2,
    migrate=moved(2, space_to_batch),
    inputs=(
        PADDED,
        Input("block_shape", type="integer"),
        Input("pads_begin", type="integer"),
        Input("pads_end", type="integer"),
    ),
    check=check_space_to_batch,
    shape=space_to_batch_shape,
    kernel=space_to_batch,
)
BATCH_TO_SPACE = Op(
    type="BatchToSpace",
    version=2,
    migrate=moved(2, batch_to_space),
    inputs=(
        DATA,
        Input("block_shape", type="T_INT"),
        Input("crops_begin", type="T_INT"),
        Input("crops_end", type="T_INT"),
    ),
    types={"T_INT": "integer"},
    check=check_batch_to_space,
    shape=batch_to_space_shape,
    kernel=batch_to_space,
)

OPS = (PAD_1, PAD_12, TILE, BROADCAST_1, BROADCAST_3, SPACE_TO_BATCH, BATCH_TO_SPACE)
