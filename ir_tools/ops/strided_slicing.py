"""StridedSlice-1: slices as Python writes them, with new, dropped and skipped axes.

The rules are those of OpenVINO's core (strided_slice_shape_inference.hpp), measured.

Specification: `movement/`.
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from ir_tools.display import plural
from ir_tools.errors import ShapeError
from ir_tools.ops._layers import Layers, by_formula
from ir_tools.ops._requirements import raise_first, require_integers, require_list
from ir_tools.ops._shape_rewrites import nothing
from ir_tools.ops._slices import Pair, exact_slice, positions, sliced
from ir_tools.ops._values import carried
from ir_tools.ops._versions import first_of
from ir_tools.ops.definition import UNBOUNDED, Array, Elements, Fact, Input, Op, Ref, Refused, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, Field, Ints
from ir_tools.types import Dim, is_static

__all__ = ["OPS"]

Cut = tuple[int, int, int, bool, bool]
"""Begin, end and stride of an axis, and whether begin and end are left open."""
WHOLE: Cut = (0, 0, 1, True, True)
SLICE_SINCE = 8
"""The opset that Slice came with."""
FAR = 2**31 - 1
"""Beyond all data, for a Slice."""
MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")


def check_strided_slice(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for masks of one length, dropped axes that have the element they keep."""
    uneven = list(_uneven_masks(attrs))
    yield from uneven
    data, begin = inputs[0].shape, inputs[1].integers()
    if uneven or data is None or begin is None:
        return
    for axis, place in _dropped_places(attrs, len(data), len(begin)):
        dim = data[place]
        if dim.hi is not None and not -dim.hi <= begin[axis] < dim.hi:
            message = f"holds {begin[axis]} for a dimension of {dim} elements that shrink_axis_mask removes"
            yield Violation("begin", message, kind=ViolationKind.CONTRADICTION if dim.static else ViolationKind.SUSPECT)


def _uneven_masks(attrs: Attrs) -> Iterator[Violation]:
    first = len(attrs.begin_mask)
    for name in MASKS:
        length = len(attrs[name])
        if length and length != first:
            yield Violation(name, f"has {plural(length, 'value')}, but begin_mask has {first}")


def _dropped_places(attrs: Attrs, rank: int, count: int) -> Iterator[tuple[int, int]]:
    """Yield the entries that drop an axis, each with the axis of the input."""
    new, dropped, dots = map(_marked, (attrs.new_axis_mask, attrs.shrink_axis_mask, attrs.ellipsis_mask))
    place = 0
    for axis in range(count):
        if axis in dots:
            place = max(place, rank - sum(other not in new for other in range(axis + 1, count)))
        elif axis not in new:
            if axis in dropped and place < rank:
                yield axis, place
            place += 1


def strided_slice_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Cut as Python's `data[begin:end:stride]`, with masks for new, dropped and skipped axes."""
    data = inputs[0]
    raise_first(_uneven_masks(attrs))
    for fact, name in zip(inputs[1:], ("begin", "end", "strides"), strict=False):
        require_integers(fact, name)
        require_list(fact, name)
    if data.shape is None:
        return (Fact(data.dtype, None),)
    begin, end = positions(inputs[1]), positions(inputs[2])
    strides = inputs[3].integers() if len(inputs) > 3 else None
    count = _axis_count(inputs, strides)
    if count is None:
        return (Fact(data.dtype, None),)
    if len(inputs) == 3:
        strides = [1] * count
    if sum(attrs.ellipsis_mask) > 1:
        raise ShapeError("has more than one 1; expected at most one", attribute="ellipsis_mask")
    new = sum(attrs.new_axis_mask)
    if not any(attrs.ellipsis_mask) and count > len(data.shape) + new:
        raise ShapeError(
            f"has {plural(count, 'value')}, but the input has rank {len(data.shape)}, with {new} new axes",
            attribute="begin",
        )
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
    """Return the output dimensions; `rows`: begin, end and strides as far as they are known.

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
    """Return how many axes begin, end and strides speak of; None where it is not known.

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
    """Return for each output axis its entry in begin and the input axis.

    Beside them: how many input axes come after them as they are.

    (None, axis) is copied, (entry, None) is new.
    """
    new, dropped, dots = map(_marked, (attrs.new_axis_mask, attrs.shrink_axis_mask, attrs.ellipsis_mask))
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
                raise ShapeError(f"has {count} values, more than the {rank} axes of the input", attribute="begin")
            if axis not in dropped:
                plan.append((axis, place))
            place += 1
    return plan, rank - place


def _marked(mask: Sequence[int]) -> set[int]:
    return {index for index, value in enumerate(mask) if value == 1}


def _strided_dim(attrs: Attrs, axis: int, dim: Dim, begin: Pair | None, end: Pair | None, stride: int | None) -> Dim:
    """Return one sliced dimension.

    Where begin or end is not known, the stride alone says how many elements there may be.
    """
    if stride == 0:
        raise ShapeError("holds 0", attribute="strides")
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
    """Cut as Python's `data[begin:end:stride]`, with masks for new, dropped and skipped axes; a view."""
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
            index.append(exact_slice(data.shape[place], *ends, step))
            place += 1
    return (data[tuple(index)],)


def _place(size: int, start: int) -> int:
    """Return the one element that a dropped axis keeps."""
    if not size:
        raise ShapeError("removes an axis that is empty", attribute="shrink_axis_mask")
    if not -size <= start < size:
        raise ShapeError(
            f"holds {start} for an axis of {size} elements that shrink_axis_mask removes", attribute="begin"
        )
    return start


@by_formula("Unsqueeze inserts the new axes; a removed axis is sliced to one element, and Squeeze removes it")
def with_limits_alone(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite a StridedSlice of known limits as one without masks for new, dropped and skipped axes."""
    shape, limits = layers.inputs[0].shape, [fact.integers() for fact in layers.inputs[1:]]
    if not shape or any(values is None for values in limits):
        return Refused("the limits of its slice are not known for any axis")
    begin, end, strides = (*(values or [] for values in limits), [1] * len(limits[0] or ()))[:3]
    rank, first, last = len(shape), _marked(attrs.begin_mask), _marked(attrs.end_mask)
    cut = [WHOLE] * rank
    plan, _ = _strided_plan(attrs, rank, len(begin))
    for axis, place in plan:
        if axis is not None and place is not None:
            cut[place] = begin[axis], end[axis], strides[axis], axis in first, axis in last
    dropped = [*_dropped_places(attrs, rank, len(begin))]
    for axis, place in dropped:
        cut[place] = begin[axis], begin[axis] + 1, 1, False, begin[axis] == -1
    backwards = layers.target >= SLICE_SINCE and any(step < 0 for *_, step, _, _ in cut) and not is_static(shape)
    found = (_slice if backwards else _strided_slice)(layers, cut)
    if dropped:
        found = layers.call("Squeeze", found, np.array([place for _, place in dropped]), version=1)
    new = [number for number, (_, place) in enumerate(plan) if place is None]
    return layers.call("Unsqueeze", found, np.array(new)) if new else found


def _strided_slice(layers: Layers, cut: Sequence[Cut]) -> Ref:
    *rows, begin_mask, end_mask = (np.array(row, np.int64) for row in zip(*cut, strict=True))
    masks = {name: [0] * len(cut) for name in MASK_FIELDS} | {
        "begin_mask": begin_mask.tolist(),
        "end_mask": end_mask.tolist(),
    }
    return layers.call("StridedSlice", Ref(None, 0), *rows, **masks)


def _slice(layers: Layers, cut: Sequence[Cut]) -> Ref:
    """Cut by a Slice, which takes numbers beyond the data for what a mask leaves open."""
    rows = []
    for axis, (begin, end, step, first, last) in enumerate(cut):
        low, high = (0, FAR) if step > 0 else (FAR, -FAR)
        if (step, first, last) != WHOLE[2:]:
            rows.append((low if first else begin, high if last else end, step, axis))
    return layers.call("Slice", Ref(None, 0), *(np.array(row, np.int64) for row in zip(*rows, strict=True)))


# --- the operation ----------------------------------------------------------------------------------------------


class Mask(Ints):
    """A mask; without text it marks nothing, which is how the runtime writes a mask without values."""

    blank: ClassVar[bool] = False


MASK = Mask(minimum=0, maximum=1, runtime_default=())
NO_MASK = Ints(minimum=0, maximum=1, default=())
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
        Input("data", elements=Elements.MOVED),
        Input("begin", type="integer"),
        Input("end", type="integer"),
        Input("strides", optional=True, type="integer"),
    ),
    attrs=MASK_FIELDS,
    check=check_strided_slice,
    shape=strided_slice_shape,
    kernel=strided_slice,
    substitute=first_of(nothing("StridedSlice"), with_limits_alone),
)

OPS = (STRIDED_SLICE,)
