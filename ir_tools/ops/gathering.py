"""Select elements by index: Gather-1/-7/-8, GatherElements-6, GatherND-5/-8, GatherTree-1, OneHot-1/-16.

The rules are those of OpenVINO's core (*_shape_inference.hpp), measured.

Specification: `movement/`, `sequence/`.
"""

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._index_rewrites import migrate_gather, migrate_gather_nd, migrate_one_hot_16, without_one_batch
from ir_tools.ops._moving_rewrites import migrate_gather_elements, moved
from ir_tools.ops._numbers import in_axis
from ir_tools.ops._requirements import check_tuples, require_integers, require_one, require_rank, same_type
from ir_tools.ops._values import carried, dim, element_count, normal_axis, outside, sizes_of, times, with_size
from ir_tools.ops._versions import VersionStep
from ir_tools.ops.definition import Array, Elements, Fact, Input, Op, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, Int, OneOf
from ir_tools.ops.limits import too_large
from ir_tools.types import Dim, Shape, shape_text

__all__ = ["OPS"]

# --- Gather -----------------------------------------------------------------------------------------------------


def gather_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Replace one axis of the data's shape by the shape of the indices; batch dimensions occur once."""
    data, indices, axis_fact = inputs
    require_integers(indices, "indices")
    require_integers(axis_fact, "axis")
    require_one(axis_fact, "axis")
    shape = _gathered(data.shape, indices.shape, axis_fact, attrs.get("batch_dims", 0))
    return carried(gather, attrs, inputs, [Fact(data.dtype, shape)])


def _gathered(data: Shape, indices: Shape, axis_fact: Fact, batch_dims: int) -> Shape:
    """Return the output shape.

    Raises:
        ShapeError: axis, batches and ranks contradict each other.
    """
    batches = batch_dims + len(indices) if batch_dims < 0 and indices is not None else batch_dims
    values = axis_fact.integers()
    axis = values[0] if values else None
    if axis is not None and data is not None:
        axis = normal_axis(axis, len(data))
    if axis is not None and 0 <= axis < batches:
        raise ShapeError(f"is {batch_dims}, but must not exceed axis, which is {axis}", attribute="batch_dims")
    if indices is not None and not 0 <= batches <= len(indices):
        raise ShapeError(f"is {batch_dims}, but the indices have rank {len(indices)}", attribute="batch_dims")
    if data is None or indices is None:
        return None
    common = [data[i].meet(indices[i]) for i in range(min(batches, len(data)))]
    if None in common or batches > len(data):
        raise ShapeError(
            f"the first {batches} dimensions of {shape_text(data)} and {shape_text(indices)} are not equal"
        )
    first = tuple(dim for dim in common if dim is not None)
    if axis is None:
        if len(data) + len(indices) - 1 - batches < batches:
            raise ShapeError(f"data of rank {len(data)} has no axis besides its {batches} batch dimensions")
        return (*first, *(Dim(),) * (len(data) + len(indices) - 1 - 2 * batches))
    return (*first, *data[batches:axis], *indices[batches:], *data[axis + 1 :])


def check_gather(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for indices outside the data, and for settings that crash the runtime."""
    data, indices, axis_fact = inputs
    axes, batches = axis_fact.integers(), attrs.get("batch_dims", 0)
    if data.shape is None or not axes or not -len(data.shape) <= axes[0] < len(data.shape):
        return
    axis = normal_axis(axes[0], len(data.shape))
    bad = outside(indices, data.shape[axis : axis + 1])
    if bad is not None:
        message = f"holds {bad}, but the axis has {data.shape[axis]} elements; the runtime returns zeros for it"
        yield Violation("indices", message, kind=ViolationKind.SUSPECT)
    if batches and element_count(data.shape[:axis]) == 1:
        message = f"is {batches}, but the batch has size 1, for which the runtime may crash"
        yield Violation(
            "batch_dims",
            message,
            "remove the batch dimension from the indices, and set batch_dims to 0",
            ViolationKind.SUSPECT,
        )


def gather_forward(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Gather as Gather-8 does, except that negative ones among several indices are out of range and give zeros.

    A single index along the first axis with several elements counts from the end, as converters write it into a
    constant; measured for axes whose size is known before the model runs.
    """
    data, indices, axis = arrays
    if indices.size == 1 and prod(data.shape[: normal_axis(int(axis.ravel()[0]), data.ndim)]) == 1:
        return gather(attrs, arrays)
    return gather(attrs, (data, np.where(indices < 0, np.iinfo(indices.dtype).max, indices), axis))


def gather(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the slices of the data at the indices along one axis; negative indices count from the end.

    An index out of range gives zeros. The runtime folds constants like this in all versions.
    """
    data, indices, axis_value = arrays
    axis = normal_axis(int(axis_value.ravel()[0]), data.ndim)
    batches = attrs.get("batch_dims", 0)
    batches += indices.ndim if batches < 0 else 0
    size = data.shape[axis]
    places = indices.astype(np.int64)
    places = np.where(places < 0, places + size, places)
    outside = (places < 0) | (places >= size)
    safe = np.where(outside, 0, places)
    out = _take(data, safe, axis, batches) if size else np.zeros(_taken_shape(data, safe, axis, batches), data.dtype)
    if size and outside.any():
        shape = (
            *outside.shape[:batches],
            *(1,) * (axis - batches),
            *outside.shape[batches:],
            *(1,) * (data.ndim - axis - 1),
        )
        out = np.where(outside.reshape(shape), data.dtype.type(0), out)
    return (out,)


def _taken_shape(data: Array, places: Array, axis: int, batches: int) -> tuple[int, ...]:
    return (*data.shape[:axis], *places.shape[batches:], *data.shape[axis + 1 :])


def _take(data: Array, places: Array, axis: int, batches: int) -> Array:
    if not batches:
        return np.take(data, places, axis)
    count, inner = prod(data.shape[:batches]), places.shape[batches:]
    others = (*data.shape[batches:axis], *data.shape[axis + 1 :])
    moved = np.moveaxis(data, axis, batches).reshape(count, data.shape[axis], prod(others))
    picked = moved[np.arange(count)[:, None], places.reshape(count, prod(inner))]
    picked = picked.reshape(*data.shape[:batches], *inner, *others)
    start = batches + len(inner)
    middle = range(start, start + axis - batches)
    rest = range(start + axis - batches, picked.ndim)
    return picked.transpose(*range(batches), *middle, *range(batches, start), *rest)


def gather_elements_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the indices, which outside the axis is that of the data."""
    data, indices = inputs
    if data.shape is None or indices.shape is None:
        shape = indices.shape
        if data.shape is not None and indices.shape is None:
            axis = normal_axis(attrs.axis, len(data.shape))
            shape = with_size(data.shape, axis, Dim())
        return (Fact(data.dtype, shape),)
    if len(data.shape) != len(indices.shape):
        raise ShapeError(
            f"has rank {len(indices.shape)}, but the input has rank {len(data.shape)}", attribute="indices"
        )
    axis = normal_axis(attrs.axis, len(data.shape))
    out = []
    for index, (own, size) in enumerate(zip(data.shape, indices.shape, strict=True)):
        met = size if index == axis else own.meet(size)
        if met is None:
            raise ShapeError(f"has {size} elements in dimension {index}, but the input has {own}", attribute="indices")
        out.append(met)
    return (Fact(data.dtype, tuple(out)),)


def check_gather_elements(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for indices that the data does not have."""
    data, indices = inputs
    size = dim(data, attrs.axis)
    bad = outside(indices, [size])
    if bad is not None:
        yield Violation("indices", f"holds {bad}, but the axis has {size} elements")


def gather_elements(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return for each index the element at the same position, with the index as its position along the axis."""
    data, indices = arrays
    axis = normal_axis(attrs.axis, data.ndim)
    return (np.take_along_axis(data, in_axis(indices, data.shape[axis]), axis),)


# --- GatherND ---------------------------------------------------------------------------------------------------


def gather_nd_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the batches, the shape of the indices but for their last dimension, and the rest of the data.

    The rest are the dimensions that the indices do not name.
    """
    data, indices = inputs
    require_integers(indices, "indices")
    return (Fact(data.dtype, _gathered_nd(data.shape, indices.shape, attrs.batch_dims)),)


def gather_nd_5_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of GatherND-8 with all batches merged into one dimension."""
    (out,) = gather_nd_shape(attrs, inputs)
    batches = attrs.batch_dims
    if batches > 1 and out.shape is not None:
        joined = Dim.of(1)
        for dim in out.shape[:batches]:
            joined = times(joined, dim)
        out = Fact(out.dtype, (joined, *out.shape[batches:]))
    return (out,)


def _gathered_nd(data: Shape, indices: Shape, batches: int) -> Shape:
    for name, shape in (("data", data), ("indices", indices)):
        if shape is not None and len(shape) <= batches:
            raise ShapeError(f"is {batches}, but {name} has rank {len(shape)}", attribute="batch_dims")
    if data is None or indices is None or not indices[-1].static:
        return None
    length = indices[-1].lo
    if length + batches > len(data):
        raise ShapeError(
            f"index {length} axes after {batches} batch dimensions, but the input has rank {len(data)}",
            attribute="indices",
        )
    common = [data[i].meet(indices[i]) for i in range(batches)]
    if None in common:
        raise ShapeError(f"the first {batches} dimensions of data and indices are not equal")
    return (*(dim for dim in common if dim is not None), *indices[batches:-1], *data[batches + length :])


def check_gather_nd(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for indices outside the data, for which the runtime reads beyond its end."""
    data, indices = inputs
    if data.shape is None or indices.shape is None or not indices.shape or not indices.shape[-1].static:
        return
    sizes = data.shape[attrs.batch_dims : attrs.batch_dims + indices.shape[-1].lo]
    if len(sizes) == indices.shape[-1].lo:
        yield from check_tuples(indices, sizes)


def gather_nd(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the slices of the data at tuples of indices."""
    data, indices = arrays
    batches = attrs.batch_dims
    length = indices.shape[-1]
    count, named = prod(data.shape[:batches]), data.shape[batches : batches + length]
    rest = data.shape[batches + length :]
    flat = data.reshape(count, *named, prod(rest))
    tuples = in_axis(indices, named).reshape(count, prod(indices.shape[batches:-1]), length)
    batch = np.broadcast_to(np.arange(count)[:, None], tuples.shape[:2])
    picked = flat[(batch, *np.moveaxis(tuples, -1, 0))]
    return (picked.reshape((*data.shape[:batches], *indices.shape[batches:-1], *rest)),)


def gather_nd_5(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Gather as GatherND-8, with all batches merged into one dimension."""
    (out,) = gather_nd(attrs, arrays)
    batches = attrs.batch_dims
    return (out.reshape(prod(out.shape[:batches]), *out.shape[batches:]) if batches > 1 else out,)


# --- GatherTree -------------------------------------------------------------------------------------------------


def gather_tree_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[steps, batch, beams]`, the shape of the ids and of the parents."""
    ids, parents, lengths, end = inputs
    dtype = same_type(inputs)
    shape: Shape = ids.shape
    for fact, name, rank in ((ids, "step_ids", 3), (parents, "parent_idx", 3), (lengths, "max_seq_len", 1)):
        require_rank(fact, rank, name)
    require_one(end, "end_token", only_scalar=True)
    if ids.shape is not None and parents.shape is not None:
        met = [a.meet(b) for a, b in zip(ids.shape, parents.shape, strict=True)]
        if None in met:
            raise ShapeError("and parent_idx have different shapes", attribute="step_ids")
        shape = tuple(dim for dim in met if dim is not None)
    elif parents.shape is not None:
        shape = parents.shape
    if lengths.shape is not None and shape is not None:
        batch = shape[1].meet(lengths.shape[0])
        if batch is None:
            raise ShapeError(f"has {lengths.shape[0]} values, but the batch is {shape[1]}", attribute="max_seq_len")
        shape = (shape[0], batch, shape[2])
    return (Fact(dtype, shape),)


def gather_tree(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the beams from their ends back to their beginnings.

    After the end token, and after the length, the end token.
    """
    ids, parents, lengths, end = arrays
    steps, batch, beams = ids.shape
    out = np.full_like(ids, end)
    rows = np.arange(batch)[:, None]
    lengths = lengths.astype(np.int64)[:, None]
    beam = np.broadcast_to(np.arange(beams), (batch, beams))
    for step in reversed(range(steps)):
        active = step < lengths
        out[step] = np.where(active, ids[step][rows, beam], out[step])
        beam = np.where(active, parents[step].astype(np.int64)[rows, beam], beam)
    return (np.where(np.logical_or.accumulate(out == end), end, out),)


# --- OneHot -----------------------------------------------------------------------------------------------------


def one_hot_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the indices with a dimension of `depth` at the axis."""
    indices, depth, on, off = inputs
    require_integers(indices, "indices")
    require_integers(depth, "depth")
    dtype = same_type((on, off))
    for fact, name in ((depth, "depth"), (on, "on_value"), (off, "off_value")):
        if element_count(fact.shape) is not None:
            require_one(fact, name, only_scalar=True)
    if indices.shape is None:
        return (Fact(dtype, None),)
    axis = normal_axis(attrs.axis, len(indices.shape) + 1)
    sizes = depth.integers()
    if sizes is not None and sizes[0] < 0:
        raise ShapeError(f"is {sizes[0]}, which is negative", attribute="depth")
    (size,) = sizes_of(depth, "depth") or (Dim(),)
    return carried(one_hot, attrs, inputs, [Fact(dtype, (*indices.shape[:axis], size, *indices.shape[axis:]))], ())


def one_hot(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return `on_value` at the indices and `off_value` elsewhere; only `off_value` for an index out of range."""
    indices, depth, on, off = arrays
    size = int(depth.ravel()[0])
    axis = normal_axis(attrs.axis, indices.ndim + 1)
    places = indices.astype(np.int64)
    if attrs.get("negative_indices_mode") == "normalize":
        places = np.where(places < 0, places + size, places)
    range_shape = [1] * (indices.ndim + 1)
    range_shape[axis] = size
    hit = np.expand_dims(places, axis) == np.arange(size).reshape(range_shape)
    return (np.where(hit, on, off),)


def check_one_hot(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for a depth whose output does not fit into memory."""
    try:
        (out,) = one_hot_shape(attrs, inputs)
    except ShapeError:
        return
    yield from too_large("depth", out.shape)


def gathered_axis(attrs: Attrs, inputs: Sequence[Fact]) -> int | None:
    """Return the axis that a Gather works on, if it is known."""
    axes = inputs[2].integers() or ()
    return axes[0] if len(axes) == 1 else None


# --- the operations ---------------------------------------------------------------------------------------------

DATA = Input("data", elements=Elements.MOVED)
INDICES = Input("indices", type="integer")

GATHER_1 = Op(
    type="Gather",
    version=1,
    strings=True,
    inputs=(DATA, Input("indices", type="integer", indexes=gathered_axis), Input("axis", type="integer")),
    check=check_gather,
    shape=gather_shape,
    kernel=gather_forward,
    migrate=migrate_gather(1),
)
GATHER_7 = GATHER_1.at(
    7,
    attrs={"batch_dims": Int(default=0)},
    readers={"batch_dims": "check shape kernel migrate substitute"},
    migrate=migrate_gather(7),
    substitute=without_one_batch(7),
)
GATHER_8 = GATHER_7.at(8, kernel=gather, migrate=migrate_gather(8), substitute=without_one_batch(8))
GATHER_ELEMENTS = Op(
    type="GatherElements",
    version=6,
    migrate=migrate_gather_elements,
    inputs=(DATA, Input("indices", type="i32 i64", indexes=lambda attrs, inputs: attrs.axis)),
    attrs={"axis": Int(runtime_default=0)},
    check=check_gather_elements,
    shape=gather_elements_shape,
    kernel=gather_elements,
)
GATHER_ND_5 = Op(
    type="GatherND",
    version=5,
    inputs=(DATA, INDICES),
    attrs={"batch_dims": Int(default=0, minimum=0)},
    check=check_gather_nd,
    shape=gather_nd_5_shape,
    kernel=gather_nd_5,
    migrate=migrate_gather_nd(5, moved(5, gather_nd_5)),
)
GATHER_ND_8 = GATHER_ND_5.at(
    8, shape=gather_nd_shape, kernel=gather_nd, migrate=migrate_gather_nd(8, moved(5, gather_nd))
)
GATHER_TREE = Op(
    type="GatherTree",
    version=1,
    inputs=tuple(Input(name, type="T") for name in ("step_ids", "parent_idx", "max_seq_len", "end_token")),
    types={"T": "float integer"},
    shape=gather_tree_shape,
    kernel=gather_tree,
)
ONE_HOT_1 = Op(
    type="OneHot",
    version=1,
    inputs=(INDICES, Input("depth", type="integer"), Input("on_value", type="T"), Input("off_value", type="T")),
    attrs={"axis": Int(runtime_default=0)},
    types={"T": "any"},
    check=check_one_hot,
    shape=one_hot_shape,
    kernel=one_hot,
    migrate=VersionStep("OneHot", 1),
)
ONE_HOT_16 = ONE_HOT_1.at(
    16,
    attrs={"negative_indices_mode": OneOf(words=("ignore_negative", "normalize"), default="ignore_negative")},
    readers={"negative_indices_mode": "check shape kernel migrate"},
    migrate=migrate_one_hot_16,
)

OPS = (
    GATHER_1,
    GATHER_7,
    GATHER_8,
    GATHER_ELEMENTS,
    GATHER_ND_5,
    GATHER_ND_8,
    GATHER_TREE,
    ONE_HOT_1,
    ONE_HOT_16,
)
