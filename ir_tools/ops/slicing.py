"""Join and cut tensors: Concat-1, Split-1, VariadicSplit-1, Slice-8, SliceScatter-15.

The rules are those of OpenVINO's core (*_shape_inference.hpp, slice_shape_inference_utils.hpp), measured.

Specification: `movement/`.
"""

from collections.abc import Sequence

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._requirements import require_integers, require_one, require_sizes, same_type
from ir_tools.ops._shape_rewrites import (
    migrate_slice,
    migrate_slice_scatter,
    nothing,
    slice_by_own_constants,
    split_by_own_axis,
    split_by_slices,
    with_copied_parts,
    without_empty_parts,
)
from ir_tools.ops._slices import exact_slice, positions, sliced
from ir_tools.ops._values import carried, known_axes, known_axis, normal_axis, plus, with_size
from ir_tools.ops._versions import first_of
from ir_tools.ops.definition import Array, Elements, Fact, Input, Op, Output
from ir_tools.ops.fields import Attrs, Int, listed
from ir_tools.ops.limits import MAX_SIZES
from ir_tools.types import Dim, Shape, format_shape, shape_text

__all__ = ["OPS"]

# --- Concat -----------------------------------------------------------------------------------------------------


def concat_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the sum of the sizes along the axis; the other dimensions are the intersection of those of the inputs."""
    if not inputs:
        raise ShapeError("is missing; expected at least one input", attribute="data")
    shapes = [fact.shape for fact in inputs]
    dtype = same_type(inputs)
    first = next((shape for shape in shapes if shape is not None), None)
    if first is None:
        return (Fact(dtype, None),)
    if not first:
        raise ShapeError("has a scalar, which cannot be concatenated", attribute="data")
    axis = normal_axis(attrs.axis, len(first))
    out = list(first)
    out[axis] = Dim.of(0)
    for number, shape in enumerate(shapes):
        if shape is None:
            out[axis] = plus(out[axis], Dim())
            continue
        if len(shape) != len(first):
            raise ShapeError(f"input {number} is {shape_text(shape)}; expected rank {len(first)}")
        for index, dim in enumerate(shape):
            met = plus(out[axis], dim) if index == axis else out[index].meet(dim)
            if met is None:
                raise ShapeError(
                    f"input {number} is {shape_text(shape)}, which differs from the other inputs in dimension "
                    f"{index}; only dimension {axis} may differ"
                )
            out[index] = met
    return carried(concat, attrs, inputs, [Fact(dtype, tuple(out))], bounded=range(len(inputs)))


def concat(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the elements one after another along the axis."""
    return (np.concatenate(list(arrays), attrs.axis),)


# --- Split ------------------------------------------------------------------------------------------------------


def split_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `num_splits` outputs of equal size along the axis."""
    data, axis_fact = inputs
    require_integers(axis_fact, "axis")
    require_one(axis_fact, "axis", only_scalar=True)
    count = attrs.num_splits
    shape = data.shape
    if shape is not None:
        axis = known_axis(axis_fact, len(shape))
        shape = (Dim(),) * len(shape) if axis is None else with_size(shape, axis, _equal_part(shape[axis], count))
    return carried(split, attrs, inputs, [Fact(data.dtype, shape)] * count)


def _equal_part(dim: Dim, count: int) -> Dim:
    """Return one of `count` equal parts; the bounds of an interval are divided in f32 and rounded down."""
    if dim.static:
        if dim.lo % count:
            raise ShapeError(
                f"is {count}, which does not divide the {dim} elements along the axis", attribute="num_splits"
            )
        return Dim.of(dim.lo // count)
    if dim.hi is not None and dim.hi < count:
        raise ShapeError(f"is {count}, but the axis has {dim} elements", attribute="num_splits")
    part = np.float32(1) / np.float32(count)
    return Dim(int(np.float32(dim.lo) * part), None if dim.hi is None else int(np.float32(dim.hi) * part))


def split(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return parts of equal size along the axis; views."""
    data, axis = arrays
    return tuple(np.split(data, attrs.num_splits, int(axis.ravel()[0])))


def variadic_split_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return one output per length, none if their number is not known; -1 is the rest."""
    data, axis_fact, lengths = inputs
    require_integers(axis_fact, "axis")
    require_integers(lengths, "split_lengths")
    require_one(axis_fact, "axis")
    require_sizes(lengths, "split_lengths")
    if lengths.shape is None or not lengths.shape[0].static:
        return ()
    count, shape = lengths.shape[0].lo, data.shape
    axis = None if shape is None else known_axis(axis_fact, len(shape))
    if shape is None or axis is None:
        whole = None if shape is None else (Dim(),) * len(shape)
        return (Fact(data.dtype, whole),) * count
    values = lengths.integers()
    parts = [Dim()] * count if values is None else _parts(shape[axis], values)
    made = {part: Fact(data.dtype, with_size(shape, axis, part)) for part in {*parts}}
    outputs = [made[part] for part in parts]
    return carried(variadic_split, attrs, inputs, outputs)


def _parts(dim: Dim, lengths: Sequence[int]) -> list[Dim]:
    """Return the sizes of the parts of one dimension.

    Raises:
        ShapeError: they do not add up to it.
    """
    rests = lengths.count(-1)
    if min(lengths, default=0) < -1 or rests > 1:
        raise ShapeError(f"{listed(lengths)} has values below -1, or has -1 more than once", attribute="split_lengths")
    total = sum(lengths) + rests
    if dim.static and (total > dim.lo or (not rests and total != dim.lo)):
        message = f"{listed(lengths)} add up to {total}, but the axis has {dim} elements"
        raise ShapeError(message, attribute="split_lengths")
    rest = Dim.of(dim.lo - total) if dim.static else Dim()
    return [rest if length == -1 else Dim.of(length) for length in lengths]


def variadic_split(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return parts of these lengths along the axis; views."""
    data, axis_value, lengths = arrays
    axis = int(axis_value.ravel()[0])
    parts = _parts(Dim.of(data.shape[axis]), [int(length) for length in lengths])
    return tuple(np.split(data, np.cumsum([part.size for part in parts])[:-1], axis))


# --- Slice ------------------------------------------------------------------------------------------------------


def slice_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Cut from start to stop by step, along some axes or the first ones."""
    data = inputs[0]
    shape = _slice_dims(data.shape, inputs[1:])
    return carried(slice_, attrs, inputs, [Fact(data.dtype, shape)])


def _slice_dims(shape: Shape, bounds: Sequence[Fact]) -> Shape:
    """Return the shape of a slice; `bounds`: start, stop, step and perhaps axes."""
    for fact, name in zip(bounds, ("start", "stop", "step", "axes"), strict=False):
        require_integers(fact, name)
        require_sizes(fact, name)
        if shape is not None and fact.shape is not None and fact.shape[0].lo > len(shape):
            raise ShapeError(f"has {fact.shape[0]} values, but the input has rank {len(shape)}", attribute=name)
    common: Dim | None = Dim()
    for fact in bounds:
        common = common.meet(fact.shape[0]) if common is not None and fact.shape is not None else common
    if common is None:
        sizes = ", ".join(format_shape(fact.shape) for fact in bounds)
        raise ShapeError(f"start, stop, step and axes have different numbers of values: {sizes}")
    if shape is None:
        return None
    axes = _slice_axes(len(shape), bounds)
    if axes is None:
        return tuple(Dim(0, dim.hi) for dim in shape)
    starts, stops, steps = positions(bounds[0]), positions(bounds[1]), bounds[2].integers()
    out = list(shape)
    for index, axis in enumerate(axes):
        if starts is None or stops is None or steps is None:
            out[axis] = Dim(0, shape[axis].hi)
            continue
        if steps[index] == 0:
            raise ShapeError("holds 0", attribute="step")
        out[axis] = sliced(shape[axis], starts[index], stops[index], steps[index])
    return tuple(out)


def _slice_axes(rank: int, bounds: Sequence[Fact]) -> list[int] | None:
    if len(bounds) > 3:
        axes = known_axes(bounds[3], rank)
        if axes is not None and len(set(axes)) < len(axes):
            raise ShapeError(f"{','.join(map(str, axes))} has an axis more than once", attribute="axes")
        return axes
    length = bounds[0].shape[0] if bounds[0].shape is not None else Dim()
    return list(range(length.lo)) if length.static else None


def _slices(shape: Sequence[int], arrays: Sequence[Array]) -> tuple[slice, ...]:
    """Return slices for every axis; `arrays`: start, stop, step and perhaps axes."""
    starts, stops, steps = ([int(value) for value in array] for array in arrays[:3])
    axes = [int(axis) % len(shape) for axis in arrays[3]] if len(arrays) > 3 else range(len(starts))
    out = [slice(None)] * len(shape)
    for axis, start, stop, step in zip(axes, starts, stops, steps, strict=True):
        out[axis] = exact_slice(shape[axis], start, stop, step)
    return tuple(out)


def slice_(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Cut from start to stop by step; a view. Positions outside the data are moved to its ends."""
    return (arrays[0][_slices(arrays[0].shape, arrays[1:])],)


def slice_scatter_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the data; the updates must fit into the slice."""
    data, updates = inputs[:2]
    dtype = same_type(inputs[:2])
    shape = data.shape
    if shape is not None and updates.shape is not None and len(shape) != len(updates.shape):
        raise ShapeError(f"has rank {len(updates.shape)}, but the input has rank {len(shape)}", attribute="updates")
    if shape is None and updates.shape is not None:
        shape = (Dim(),) * len(updates.shape)
    if shape == ():
        raise ShapeError("is a scalar, which cannot be sliced", attribute="data")
    if 0 in (inputs[4].integers() or ()):
        raise ShapeError("holds 0", attribute="step")
    wanted = _slice_dims(shape, inputs[2:])
    if wanted is not None and updates.shape is not None:
        for dim, size in zip(updates.shape, wanted, strict=True):
            if dim.meet(size) is None:
                raise ShapeError(
                    f"is {shape_text(updates.shape)}, but the slice is {shape_text(wanted)}", attribute="updates"
                )
    return carried(slice_scatter, attrs, inputs, [Fact(dtype, shape)])


def slice_scatter(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the data with a slice of it replaced."""
    out = arrays[0].copy()
    out[_slices(out.shape, arrays[2:])] = arrays[1]
    return (out,)


# --- the operations ---------------------------------------------------------------------------------------------

DATA = Input("data", elements=Elements.MOVED)
CONCAT = Op(
    type="Concat",
    version=1,
    strings=True,
    inputs=(Input("data", type="T", many=True, elements=Elements.IN_ORDER),),
    attrs={"axis": Int(runtime_default=0)},
    types={"T": "any"},
    shape=concat_shape,
    kernel=concat,
    substitute=first_of(without_empty_parts, with_copied_parts),
)
SPLIT = Op(
    type="Split",
    version=1,
    strings=True,
    inputs=(DATA, Input("axis", type="integer")),
    outputs=(Output(many=True),),
    attrs={"num_splits": Int(minimum=1, maximum=MAX_SIZES)},
    shape=split_shape,
    kernel=split,
    substitute=split_by_slices,
)
VARIADIC_SPLIT = Op(
    type="VariadicSplit",
    version=1,
    inputs=(DATA, Input("axis", type="integer"), Input("split_lengths", type="integer")),
    outputs=(Output(many=True),),
    shape=variadic_split_shape,
    kernel=variadic_split,
    substitute=first_of(split_by_slices, split_by_own_axis),
)
SLICE_INPUTS = (Input("start", type="integer"), Input("stop", type="integer"), Input("step", type="integer"))
AXES = Input("axes", optional=True, type="integer")
SLICE = Op(
    type="Slice",
    version=8,
    inputs=(DATA, *SLICE_INPUTS, AXES),
    shape=slice_shape,
    kernel=slice_,
    migrate=migrate_slice,
    substitute=first_of(nothing("Slice"), slice_by_own_constants),
)
SLICE_SCATTER = Op(
    type="SliceScatter",
    version=15,
    inputs=(*(Input(name, type="T", elements=Elements.MOVED) for name in ("data", "updates")), *SLICE_INPUTS, AXES),
    types={"T": "any"},
    shape=slice_scatter_shape,
    kernel=slice_scatter,
    migrate=migrate_slice_scatter,
)
OPS = (CONCAT, SPLIT, VARIADIC_SPLIT, SLICE, SLICE_SCATTER)
