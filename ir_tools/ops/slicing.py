"""Tensors joined and cut: Concat-1, Split-1, VariadicSplit-1, StridedSlice-1, Slice-8, SliceScatter-15.

The rules are those of OpenVINO's core (*_shape_inference.hpp, slice_shape_inference_utils.hpp), measured.
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._define import UNBOUNDED, Array, Attrs, Fact, Field, Input, Int, Ints, Op, Output, Violation
from ir_tools.ops._numbers import same_type
from ir_tools.ops._values import (
    carried,
    intervals,
    known,
    known_axes,
    known_axis,
    normal_axis,
    plus,
    require_integers,
    require_list,
    require_one,
)
from ir_tools.types import Dim, Shape, format_shape

__all__ = ["OPS"]

Pair = tuple[int, int]

# --- Concat -----------------------------------------------------------------------------------------------------


def concat_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """The sum of the sizes along the axis; what the inputs have in common elsewhere."""
    if not inputs:
        raise ShapeError("data is missing: one input at least is meant")
    shapes = [fact.shape for fact in inputs]
    dtype = same_type(inputs)
    first = next((shape for shape in shapes if shape is not None), None)
    if first is None:
        return (Fact(dtype, None),)
    if not first:
        raise ShapeError("data holds a scalar, which cannot be joined")
    axis = normal_axis(attrs.axis, len(first))
    out = list(first)
    out[axis] = Dim.of(0)
    for number, shape in enumerate(shapes):
        if shape is None:
            out[axis] = plus(out[axis], Dim())
            continue
        if len(shape) != len(first):
            raise ShapeError(f"input {number} is [{format_shape(shape)}] where rank {len(first)} is meant")
        for index, dim in enumerate(shape):
            met = plus(out[axis], dim) if index == axis else out[index].meet(dim)
            if met is None:
                raise ShapeError(
                    f"input {number} is [{format_shape(shape)}], which differs from the others in dimension {index},"
                    f" and not only along axis {axis}"
                )
            out[index] = met
    return carried(concat, attrs, inputs, [Fact(dtype, tuple(out))], bounded=range(len(inputs)))


def concat(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """The elements one after another along the axis."""
    return (np.concatenate(list(arrays), attrs.axis),)


# --- Split ------------------------------------------------------------------------------------------------------


def split_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """`num_splits` outputs of equal size along the axis."""
    data, axis_fact = inputs
    require_integers(axis_fact, "axis")
    require_one(axis_fact, "axis", only_scalar=True)
    count = attrs.num_splits
    shape = data.shape
    if shape is not None:
        axis = known_axis(axis_fact, len(shape))
        shape = (Dim(),) * len(shape) if axis is None else _with(shape, axis, _equal_part(shape[axis], count))
    return carried(split, attrs, inputs, [Fact(data.dtype, shape)] * count)


def _with(shape: tuple[Dim, ...], axis: int, dim: Dim) -> tuple[Dim, ...]:
    return (*shape[:axis], dim, *shape[axis + 1 :])


def _equal_part(dim: Dim, count: int) -> Dim:
    """One of `count` equal parts; of an interval its bounds are divided as f32, and rounded down."""
    if dim.static:
        if dim.lo % count:
            raise ShapeError(f"num_splits is {count}, of which the {dim} elements along the axis are no multiple")
        return Dim.of(dim.lo // count)
    if dim.hi is not None and dim.hi < count:
        raise ShapeError(f"num_splits is {count} where the axis has {dim} elements")
    part = np.float32(1) / np.float32(count)
    return Dim(int(np.float32(dim.lo) * part), None if dim.hi is None else int(np.float32(dim.hi) * part))


def split(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Parts of equal size along the axis; views."""
    data, axis = arrays
    return tuple(np.split(data, attrs.num_splits, int(axis.ravel()[0])))


def variadic_split_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """As many outputs as there are lengths; -1 stands for what the others leave."""
    data, axis_fact, lengths = inputs
    require_integers(axis_fact, "axis")
    require_integers(lengths, "split_lengths")
    require_one(axis_fact, "axis")
    require_list(lengths, "split_lengths")
    if lengths.shape is None or not lengths.shape[0].static:
        return ()
    count, shape = lengths.shape[0].lo, data.shape
    axis = None if shape is None else known_axis(axis_fact, len(shape))
    if shape is None or axis is None:
        whole = None if shape is None else (Dim(),) * len(shape)
        return (Fact(data.dtype, whole),) * count
    values = known(lengths)
    parts = [Dim()] * count if values is None else _parts(shape[axis], values)
    outputs = [Fact(data.dtype, _with(shape, axis, part)) for part in parts]
    return carried(variadic_split, attrs, inputs, outputs)


def _parts(dim: Dim, lengths: Sequence[int]) -> list[Dim]:
    """The sizes of the parts of one dimension.

    Raises:
        ShapeError: they do not add up to it.
    """
    text = ",".join(map(str, lengths))
    if min(lengths, default=0) < -1 or lengths.count(-1) > 1:
        raise ShapeError(f"split_lengths {text} has values below -1, or -1 more than once")
    total = sum(length for length in lengths if length >= 0)
    if dim.static and (total > dim.lo or (-1 not in lengths and total != dim.lo)):
        raise ShapeError(f"split_lengths {text} makes {total} where the axis has {dim} elements")
    rest = Dim.of(dim.lo - total) if dim.static else Dim()
    return [rest if length == -1 else Dim.of(length) for length in lengths]


def variadic_split(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Parts of these lengths along the axis; views."""
    del attrs
    data, axis_value, lengths = arrays
    axis = int(axis_value.ravel()[0])
    parts = _parts(Dim.of(data.shape[axis]), [int(length) for length in lengths])
    return tuple(np.split(data, np.cumsum([part.size for part in parts])[:-1], axis))


# --- the size of a slice ----------------------------------------------------------------------------------------


def sliced(dim: Dim, start: Pair, stop: Pair, step: int) -> Dim:
    """The size of a slice whose start and stop lie between bounds, of a dimension that is an interval itself.

    Bounds that cross, as those of `[-1:3]` of 3 to 6 elements do, give any size, as in the runtime.
    """
    first, last = _start_bounds(start, dim), _start_bounds(stop, dim)
    high = UNBOUNDED if dim.hi is None else dim.hi
    if step > 0:
        low, top = _count(dim.lo, first[1], last[0], step), _count(high, first[0], last[1], step)
    else:
        low, top = _count(dim.lo, first[0], last[1], step), _count(high, first[1], last[0], step)
    low = max(low, 0)
    if top < 0 or top >= UNBOUNDED:
        return Dim(low)
    return Dim(low, top) if low <= top else Dim()


def _start_bounds(pair: Pair, dim: Dim) -> Pair:
    """Bounds of a position; one that may be negative or not lies at the beginning, or at the end, of the dimension."""
    low, high = pair
    if not low < 0 <= high:
        return pair
    if dim.hi is None:
        return 0, -1
    return (0 if low + dim.hi >= 0 else low), (-1 if high < dim.hi else high)


def _count(size: int, start: int, stop: int, step: int) -> int:
    """How many elements a slice has; -1 for any number. `size` may be unbounded."""
    back, unbounded, least = step < 0, size >= UNBOUNDED, np.iinfo(np.int64).min
    at_end = UNBOUNDED in (start, stop)
    if unbounded and ((start < 0) != (stop < 0) or at_end or start == least):
        low = 0
        if back:
            high = -1 if start < 0 or at_end else -1 - start
        elif start < 0 and start not in (UNBOUNDED, least):
            high = -start if stop == UNBOUNDED else stop
        else:
            high = -1
        if high == -1:
            return -1
    else:
        low = min(max(_from_front(start, size), 0), size - 1 if back else size)
        high = min(max(_from_front(stop, size), -1 if back else 0), size)
    count = min(0, high - low) if back else max(0, high - low)
    return len(range(0, count, step)) if count else 0


def _from_front(position: int, size: int) -> int:
    return position + size if position < 0 else position


# --- Slice ------------------------------------------------------------------------------------------------------


def slice_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """From start to stop by step, along some axes or the first ones."""
    data = inputs[0]
    shape = _slice_dims(data.shape, inputs[1:])
    return carried(slice_, attrs, inputs, [Fact(data.dtype, shape)])


def _slice_dims(shape: Shape, bounds: Sequence[Fact]) -> Shape:
    """The shape of a slice; `bounds`: start, stop, step and perhaps axes."""
    for fact, name in zip(bounds, ("start", "stop", "step", "axes"), strict=False):
        require_integers(fact, name)
        require_list(fact, name)
        if shape is not None and fact.shape is not None and fact.shape[0].lo > len(shape):
            raise ShapeError(f"{name} has {fact.shape[0]} values where the input has rank {len(shape)}")
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
    starts, stops, steps = intervals(bounds[0]), intervals(bounds[1]), known(bounds[2])
    out = list(shape)
    for index, axis in enumerate(axes):
        if starts is None or stops is None or steps is None:
            out[axis] = Dim(0, shape[axis].hi)
            continue
        if steps[index] == 0:
            raise ShapeError("step holds 0")
        out[axis] = sliced(shape[axis], starts[index], stops[index], steps[index])
    return tuple(out)


def _slice_axes(rank: int, bounds: Sequence[Fact]) -> list[int] | None:
    if len(bounds) > 3:
        axes = known_axes(bounds[3], rank)
        if axes is not None and len(set(axes)) < len(axes):
            raise ShapeError(f"axes {','.join(map(str, axes))} names an axis more than once")
        return axes
    length = bounds[0].shape[0] if bounds[0].shape is not None else Dim()
    return list(range(length.lo)) if length.static else None


def _slices(shape: Sequence[int], arrays: Sequence[Array]) -> tuple[slice, ...]:
    """Slices for every axis; `arrays`: start, stop, step and perhaps axes."""
    starts, stops, steps = ([int(value) for value in array] for array in arrays[:3])
    axes = [int(axis) % len(shape) for axis in arrays[3]] if len(arrays) > 3 else range(len(starts))
    out = [slice(None)] * len(shape)
    for axis, start, stop, step in zip(axes, starts, stops, steps, strict=True):
        out[axis] = _slice(shape[axis], start, stop, step)
    return tuple(out)


def _slice(size: int, start: int | None, stop: int | None, step: int) -> slice:
    """A slice that starts inside the dimension wherever it is told to start; None is the whole way."""
    back = step < 0
    first = (size if back else 0) if start is None else _from_front(start, size)
    last = (-1 if back else size) if stop is None else _from_front(stop, size)
    first = min(max(first, 0), size - 1 if back else size)
    last = min(max(last, -1 if back else 0), size)
    return slice(0, 0) if first < 0 else slice(first, None if last < 0 else last, step)


def slice_(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """From start to stop by step; a view. Positions beyond an end are at the end."""
    del attrs
    return (arrays[0][_slices(arrays[0].shape, arrays[1:])],)


def slice_scatter_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """The shape of the data; the updates must fit into the slice."""
    data, updates = inputs[:2]
    dtype = same_type(inputs[:2])
    shape = data.shape
    if shape is not None and updates.shape is not None and len(shape) != len(updates.shape):
        raise ShapeError(f"updates has rank {len(updates.shape)} where the input has rank {len(shape)}")
    if shape is None and updates.shape is not None:
        shape = (Dim(),) * len(updates.shape)
    if shape == ():
        raise ShapeError("data is a scalar, which has no slices")
    if 0 in (known(inputs[4]) or ()):
        raise ShapeError("step holds 0")
    wanted = _slice_dims(shape, inputs[2:])
    if wanted is not None and updates.shape is not None:
        for dim, size in zip(updates.shape, wanted, strict=True):
            if dim.meet(size) is None:
                raise ShapeError(
                    f"updates is [{format_shape(updates.shape)}] where the slice is [{format_shape(wanted)}]"
                )
    return carried(slice_scatter, attrs, inputs, [Fact(dtype, shape)])


def slice_scatter(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """The data with a slice of it replaced."""
    del attrs
    out = arrays[0].copy()
    out[_slices(out.shape, arrays[2:])] = arrays[1]
    return (out,)


# --- StridedSlice -----------------------------------------------------------------------------------------------

MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")


def check_strided_slice(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Masks of one length."""
    del inputs
    lengths = {name: len(attrs[name]) for name in MASKS if attrs[name]}
    first = len(attrs.begin_mask)
    for name, length in lengths.items():
        if length != first:
            yield Violation(name, f"has {length} values where begin_mask has {first}")


def strided_slice_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """As Python's `data[begin:end:stride]`, with masks for new, dropped and skipped axes."""
    data = inputs[0]
    for violation in check_strided_slice(attrs, inputs):
        raise ShapeError(f"{violation.attribute} {violation.message}")
    for fact, name in zip(inputs[1:], ("begin", "end", "strides"), strict=False):
        require_integers(fact, name)
        require_list(fact, name)
    if data.shape is None:
        return (Fact(data.dtype, None),)
    begin, end = intervals(inputs[1]), intervals(inputs[2])
    strides = known(inputs[3]) if len(inputs) > 3 else None
    count = _axis_count(inputs, strides)
    if count is None:
        return (Fact(data.dtype, None),)
    if len(inputs) == 3:
        strides = [1] * count
    if sum(attrs.ellipsis_mask) > 1:
        raise ShapeError("ellipsis_mask holds more than one 1")
    new = sum(attrs.new_axis_mask)
    if not any(attrs.ellipsis_mask) and count > len(data.shape) + new:
        raise ShapeError(f"begin has {count} values where the input has rank {len(data.shape)}, with {new} new axes")
    dims = _strided_dims(attrs, data.shape, count, (begin, end, strides))
    masks = enumerate((attrs.begin_mask, attrs.end_mask), start=1)
    bounded = (0, *(index for index, mask in masks if len(_marked(mask)) >= count))
    return carried(strided_slice, attrs, inputs, [Fact(data.dtype, dims)], bounded)


def _strided_dims(
    attrs: Attrs,
    shape: tuple[Dim, ...],
    count: int,
    rows: tuple[list[Pair] | None, list[Pair] | None, list[int] | None],
) -> tuple[Dim, ...]:
    """The output dimensions; `rows`: begin, end and strides as far as they are known.

    Where begin or end is not known, the runtime takes care that some dimension is not static: the last one sliced.
    """
    begin, end, strides = rows
    dims: list[Dim] = []
    last: tuple[int, Dim] | None = None
    plan, rest = _strided_plan(attrs, len(shape), count)
    for axis, place in plan:
        if place is None:
            dims.append(Dim.of(1))
        elif axis is None:
            dims.append(shape[place])
        else:
            stride = None if strides is None else strides[axis]
            last = len(dims), _at_most(shape[place], stride or 1)
            first, stop = (None if row is None else row[axis] for row in (begin, end))
            dims.append(_strided_dim(attrs, axis, shape[place], first, stop, stride))
    if last is not None and None in (begin, end) and all(dim.static for dim in dims):
        dims[last[0]] = last[1]
    return (*dims, *shape[len(shape) - rest :])


def _axis_count(inputs: Sequence[Fact], strides: Sequence[int] | None) -> int | None:
    """How many axes begin, end and strides speak of; None where it is not known.

    Raises:
        ShapeError: they do not agree.
    """
    counts = [fact.shape[0].lo for fact in inputs[1:3] if fact.shape is not None and fact.shape[0].static]
    if strides is not None:
        counts.append(len(strides))
    if len(set(counts)) > 1:
        raise ShapeError(f"begin, end and strides have different numbers of values: {', '.join(map(str, counts))}")
    return counts[0] if counts else None


def _strided_plan(attrs: Attrs, rank: int, count: int) -> tuple[list[tuple[int | None, int | None]], int]:
    """For each output axis its entry in begin and the input axis, and how many input axes come after them as they are.

    (None, axis) is copied, (entry, None) is new.
    """
    new, dropped, dots = (_marked(attrs[name]) for name in ("new_axis_mask", "shrink_axis_mask", "ellipsis_mask"))
    plan: list[tuple[int | None, int | None]] = []
    place = 0
    for axis in range(count):
        if axis in dots:
            after = sum(other not in new for other in range(axis + 1, count))
            while place < rank - after:
                plan.append((None, place))
                place += 1
        elif axis in new:
            plan.append((axis, None))
        else:
            if place >= rank:
                raise ShapeError(f"begin has {count} values, more than the {rank} axes of the input")
            if axis not in dropped:
                plan.append((axis, place))
            place += 1
    return plan, rank - place


def _marked(mask: Sequence[int]) -> set[int]:
    return {index for index, value in enumerate(mask) if value == 1}


def _strided_dim(attrs: Attrs, axis: int, dim: Dim, begin: Pair | None, end: Pair | None, stride: int | None) -> Dim:
    """One sliced dimension. Where begin or end is not known, the stride alone says how many elements there may be."""
    if stride == 0:
        raise ShapeError("strides holds 0")
    if stride is None:
        return Dim(0, dim.hi)
    size, back = UNBOUNDED if dim.hi is None else dim.hi, stride < 0
    if axis in _marked(attrs.begin_mask):
        begin = (size, size) if back else (0, 0)
    if axis in _marked(attrs.end_mask):
        end = (-1 - size, -1 - size) if back else (size, size)
    return _at_most(dim, stride) if begin is None or end is None else sliced(dim, begin, end, stride)


def _at_most(dim: Dim, stride: int) -> Dim:
    return Dim(0, None if dim.hi is None else -(-dim.hi // abs(stride)))


def strided_slice(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """As Python's `data[begin:end:stride]`, with masks for new, dropped and skipped axes; a view."""
    data = arrays[0]
    begin, end = ([int(value) for value in array] for array in arrays[1:3])
    strides = [int(value) for value in arrays[3]] if len(arrays) > 3 else [1] * len(begin)
    new, dropped, dots, first, last = (
        _marked(attrs[name])
        for name in ("new_axis_mask", "shrink_axis_mask", "ellipsis_mask", "begin_mask", "end_mask")
    )
    index: list[slice | int | None] = []
    place = 0
    for axis, (start, stop, step) in enumerate(zip(begin, end, strides, strict=True)):
        if axis in dots:
            hidden = data.ndim - place - sum(other not in new for other in range(axis + 1, len(begin)))
            index += [slice(None)] * hidden
            place += hidden
        elif axis in new:
            index.append(None)
        elif axis in dropped:
            index.append(_place(data.shape[place], start))
            place += 1
        else:
            ends = None if axis in first else start, None if axis in last else stop
            index.append(_slice(data.shape[place], *ends, step))
            place += 1
    return (data[tuple(index)],)


def _place(size: int, start: int) -> int:
    """The one element that a dropped axis keeps."""
    if not size:
        raise ShapeError("shrink_axis_mask drops an axis that is empty")
    if not -size <= start < size:
        raise ShapeError(f"begin holds {start} for an axis of {size} elements that shrink_axis_mask drops")
    return start


# --- the operations ---------------------------------------------------------------------------------------------

DATA = Input("data")


class Mask(Ints):
    """A mask; without text it marks nothing, which is how the runtime writes a mask without values."""

    blank: ClassVar[bool] = False


MASK = Mask(least=0, most=1, missing=())
NO_MASK = Ints(least=0, most=1, default=())

CONCAT = Op(
    type="Concat",
    version=1,
    inputs=(Input("data", type="T", many=True),),
    attrs={"axis": Int()},
    types={"T": "any"},
    shape=concat_shape,
    kernel=concat,
)
SPLIT = Op(
    type="Split",
    version=1,
    inputs=(DATA, Input("axis", type="integer")),
    outputs=(Output(many=True),),
    attrs={"num_splits": Int(least=1)},
    shape=split_shape,
    kernel=split,
)
VARIADIC_SPLIT = Op(
    type="VariadicSplit",
    version=1,
    inputs=(DATA, Input("axis", type="integer"), Input("split_lengths", type="integer")),
    outputs=(Output(many=True),),
    shape=variadic_split_shape,
    kernel=variadic_split,
)
SLICE_INPUTS = (Input("start", type="integer"), Input("stop", type="integer"), Input("step", type="integer"))
AXES = Input("axes", optional=True, type="integer")
SLICE = Op(
    type="Slice",
    version=8,
    inputs=(DATA, *SLICE_INPUTS, AXES),
    shape=slice_shape,
    kernel=slice_,
)
SLICE_SCATTER = Op(
    type="SliceScatter",
    version=15,
    inputs=(Input("data", type="T"), Input("updates", type="T"), *SLICE_INPUTS, AXES),
    types={"T": "any"},
    shape=slice_scatter_shape,
    kernel=slice_scatter,
)
MASK_FIELDS: dict[str, Field] = {
    "begin_mask": MASK,
    "end_mask": MASK,
    "new_axis_mask": NO_MASK,
    "shrink_axis_mask": NO_MASK,
    "ellipsis_mask": NO_MASK,
}
STRIDED_SLICE = Op(
    type="StridedSlice",
    version=1,
    inputs=(
        DATA,
        Input("begin", type="integer"),
        Input("end", type="integer"),
        Input("strides", optional=True, type="integer"),
    ),
    attrs=MASK_FIELDS,
    check=check_strided_slice,
    shape=strided_slice_shape,
    kernel=strided_slice,
)

OPS = (CONCAT, SPLIT, VARIADIC_SPLIT, SLICE, SLICE_SCATTER, STRIDED_SLICE)
