"""What is where: NonZero-3, Unique-10, SearchSorted-15, Bucketize-3, Bincount-17, SparseFillEmptyRows-16.

The rules are those of OpenVINO's core (*_shape_inference.hpp, unique.cpp, non_zero.cpp), measured.

Specification: `condition/`, `movement/`, `sort/`, `sparse/`.
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Literal

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._requirements import require_list, same_type
from ir_tools.ops._segment_rewrites import migrate_bincount, migrate_bucketize, migrate_search_sorted
from ir_tools.ops._values import carried, element_count, normal_axis, plus, sizes_of, with_size
from ir_tools.ops._versions import no_step
from ir_tools.ops.definition import Array, Fact, Input, Op, Oracle, Output, Violation, ViolationKind
from ir_tools.ops.fields import Attrs, Flag, IndexType, Int
from ir_tools.types import Dim, Shape, element_type, format_shape, shape_text

__all__ = ["OPS"]

I64 = element_type("i64")
Side = Literal["left", "right"]

# --- NonZero ----------------------------------------------------------------------------------------------------


def non_zero_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return `[rank, elements that are not 0]`, which is known where the values are."""
    (data,) = inputs
    exact = data.exact
    if exact is not None:
        found = len(np.flatnonzero(exact))
        # Of a scalar 0 the runtime makes [0,0] before it runs, and [1,0] when it runs.
        rank = exact.ndim or found
        shape: Shape = (Dim.of(rank), Dim.of(found))
        if not rank:
            return (Fact(attrs.output_type, shape),)
        return carried(non_zero, attrs, inputs, [Fact(attrs.output_type, shape)], ())
    if not data.shape:
        return (Fact(attrs.output_type, (Dim(), Dim())),)
    most = 0 if Dim.of(0) in data.shape else None if any(d.hi is None for d in data.shape) else _most(data.shape)
    return (Fact(attrs.output_type, (Dim.of(len(data.shape)), Dim(0, most))),)


def _most(shape: tuple[Dim, ...]) -> int:
    return prod(dim.hi or 0 for dim in shape)


def non_zero(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the coordinates of all elements that are not 0, in order, `[rank, count]`."""
    data = np.atleast_1d(arrays[0])
    return (np.stack(np.nonzero(data)).astype(attrs.output_type.dtype),)


# --- Unique -----------------------------------------------------------------------------------------------------


def unique_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the different values (or slices), where each is first, which of them each element is, and their counts.

    A count is how often the value is there.
    """
    data = inputs[0]
    axis = _unique_axis(inputs)
    exact = data.exact
    if exact is not None:
        arrays = [exact] if axis is None else [exact, np.array(axis)]
        shapes: list[Shape] = [tuple(map(Dim.of, array.shape)) for array in unique(attrs, arrays)]
    else:
        shapes = _unique_shapes(data.shape, axis)
    kinds = (data.dtype, attrs.index_element_type, attrs.index_element_type, attrs.count_element_type)
    return tuple(Fact(kind, shape) for kind, shape in zip(kinds, shapes, strict=True))


def _unique_axis(inputs: Sequence[Fact]) -> int | None:
    if len(inputs) < 2:
        return None
    values = inputs[1].integers()
    if values is None:
        raise ShapeError("is not a constant; expected a constant", attribute="axis")
    if len(values) != 1:
        raise ShapeError(f"has {len(values)} values; expected one", attribute="axis")
    rank = None if inputs[0].shape is None else len(inputs[0].shape)
    return values[0] if rank is None else normal_axis(values[0], rank)


def _unique_shapes(shape: Shape, axis: int | None) -> list[Shape]:
    count = element_count(shape)
    some: Shape = (Dim(1, count) if count else Dim(),)
    every: Shape = (Dim.of(count) if count else Dim(),)
    if axis is None:
        return [some, some, every, some]
    if shape is None:
        return [None, some, every, some]
    dim = shape[axis]
    part = dim if dim in {Dim(), Dim.of(0)} else Dim(1, dim.hi)
    first: Shape = with_size(shape, axis, part)
    if dim == Dim.of(0):
        some = (Dim.of(0),)
    return [first, some, (dim,), some]


def unique(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the different values (or slices), where each is first, which of them each element is, and their counts.

    A count is how often the value is there.
    """
    data = arrays[0]
    axis = int(arrays[1].ravel()[0]) if len(arrays) > 1 else None
    values, first, which, counts = np.unique(
        data.ravel() if axis is None else data, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    if not attrs.sorted:
        order = np.argsort(first, kind="stable")
        values = np.take(values, order, 0 if axis is None else axis)
        first, counts = first[order], counts[order]
        which = np.argsort(order)[which]
    index, count = attrs.index_element_type.dtype, attrs.count_element_type.dtype
    return values, first.astype(index), which.ravel().astype(index), counts.astype(count)


# --- sorted lists -----------------------------------------------------------------------------------------------


def check_sorted(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for rows that are not in ascending order, for which the specification defines no result."""
    yield from _unsorted("sorted_sequence", inputs[0])


def search_sorted_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the values, which but for its last dimension is that of the sorted rows."""
    rows, values = inputs
    same_type(inputs)
    shape = values.shape
    if rows.shape == ():
        raise ShapeError("is a scalar; expected at least rank 1", attribute="sorted_sequence")
    if shape is None and rows.shape is not None and len(rows.shape) > 1:
        shape = (*rows.shape[:-1], Dim())
    if values.shape == () and rows.shape is not None and len(rows.shape) != 1:
        raise ShapeError(
            f"is a scalar, but sorted_sequence has rank {len(rows.shape)}; expected rank 1", attribute="values"
        )
    if rows.shape is not None and values.shape is not None and len(rows.shape) > 1:
        met = [a.meet(b) for a, b in zip(rows.shape[:-1], values.shape, strict=False)]
        if len(rows.shape) != len(values.shape) or None in met:
            raise ShapeError(
                f"is {shape_text(values.shape)}, but the rows are {shape_text(rows.shape)}", attribute="values"
            )
        shape = (*(dim for dim in met if dim is not None), values.shape[-1])
    return (Fact(attrs.output_type, shape),)


def search_sorted(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return where each value would be put into its sorted row, before equal ones or after them."""
    rows, values = arrays
    side: Side = "right" if attrs.right_mode else "left"
    if rows.ndim == 1:
        out = np.asarray(np.searchsorted(rows, values, side))
    else:
        count = prod(rows.shape[:-1])
        pairs = zip(rows.reshape(count, rows.shape[-1]), values.reshape(count, values.shape[-1]), strict=True)
        found = [np.searchsorted(row, some, side) for row, some in pairs]
        out = np.array(found, np.int64).reshape(values.shape)
    return (out.astype(attrs.output_type.dtype),)


def check_buckets(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for boundaries that are not in ascending order, for which the specification defines no result."""
    yield from _unsorted("buckets", inputs[1])


def _unsorted(name: str, fact: Fact) -> Iterator[Violation]:
    values = fact.exact
    if values is not None and values.ndim and (values[..., 1:] < values[..., :-1]).any():
        message = "is not in ascending order, in which the runtime searches it"
        yield Violation(name, message, "sort it", ViolationKind.SUSPECT)


def bucketize_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the data."""
    data, buckets = inputs
    require_list(buckets, "buckets")
    return (Fact(attrs.output_type, data.shape),)


def bucketize(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return which bucket each element is in; a bucket holds its right end, or its left one."""
    data, buckets = arrays
    side: Side = "left" if attrs.with_right_bound else "right"
    return (np.asarray(np.searchsorted(buckets, data, side)).astype(attrs.output_type.dtype),)


# --- Bincount ---------------------------------------------------------------------------------------------------


def bincount_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return as many counts as the largest value asks for, but `minlength` at least."""
    for fact, name in zip(inputs, ("data", "weights"), strict=False):
        require_list(fact, name)
    data = inputs[0]
    dtype = inputs[1].dtype if len(inputs) > 1 else I64
    if len(inputs) > 1 and not _same_length(data.shape, inputs[1].shape):
        lengths = format_shape(inputs[1].shape), format_shape(data.shape)
        raise ShapeError(f"has {lengths[0]} values, but there are {lengths[1]}", attribute="weights")
    values = data.integers()
    if values is None:
        return (Fact(dtype, (Dim(attrs.minlength),)),)
    if min(values, default=0) < 0:
        raise ShapeError(f"holds {min(values)}; expected values of at least 0", attribute="data")
    return (Fact(dtype, (Dim.of(max([attrs.minlength, *(value + 1 for value in values)])),)),)


def _same_length(left: Shape, right: Shape) -> bool:
    return left is None or right is None or left[0].meet(right[0]) is not None


def bincount(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Count how often each integer from 0 on comes in the data, or the sum of the weights of those places."""
    data = arrays[0].astype(np.int64)
    if len(arrays) == 1:
        return (np.bincount(data, minlength=attrs.minlength),)
    weights = arrays[1]
    out = np.zeros(max(int(data.max(initial=-1)) + 1, attrs.minlength), weights.dtype)
    np.add.at(out, data, weights)
    return (out,)


# --- SparseFillEmptyRows ----------------------------------------------------------------------------------------


def sparse_fill_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return indices and values with one more for each empty row, and which rows were empty."""
    values, dense, indices, default = inputs
    _require_sparse(values.shape, dense.shape, indices.shape, default.shape)
    dtype = same_type((values, default))
    index = same_type((dense, indices))
    sizes, places = dense.integers(), indices.integers()
    if sizes is not None and min(sizes) < 0:
        raise ShapeError(f"holds {min(sizes)}; expected sizes of at least 0", attribute="dense_shape")
    sizes_of(dense, "dense_shape")
    rows, count, filled = Dim(), Dim(), Dim()
    if sizes is not None:
        rows = Dim.of(sizes[0])
        if places is not None:
            used = _used_rows(places, sizes)
            if values.shape is None:
                raise ShapeError("has no known rank, but indices and dense_shape are known", attribute="values")
            count = Dim.of(len(places) // 2 + sizes[0] - used)
            filled = plus(values.shape[0], Dim.of(sizes[0] - used))
    return Fact(index, (count, Dim.of(2))), Fact(dtype, (filled,)), Fact(element_type("boolean"), (rows,))


def _require_sparse(values: Shape, dense: Shape, indices: Shape, default: Shape) -> None:
    if values is not None and len(values) != 1:
        raise ShapeError(f"is {shape_text(values)}; expected a list", attribute="values")
    if dense is not None and (len(dense) != 1 or 2 not in dense[0]):
        raise ShapeError(f"is {shape_text(dense)}; expected a list of 2", attribute="dense_shape")
    if indices is not None and (len(indices) != 2 or 2 not in indices[1]):
        raise ShapeError(f"is {shape_text(indices)}; expected pairs", attribute="indices")
    if indices is not None and values is not None and indices[0].meet(values[0]) is None:
        raise ShapeError(f"has {indices[0]} pairs, but there are {values[0]} values", attribute="indices")
    if default:
        raise ShapeError(f"is {shape_text(default)}; expected a scalar", attribute="default_value")


def _used_rows(places: Sequence[int], sizes: Sequence[int]) -> int:
    pairs = list(zip(places[::2], places[1::2], strict=True))
    for row, column in pairs:
        if not (0 <= row < sizes[0] and 0 <= column < sizes[1]):
            raise ShapeError(
                f"holds {row},{column}, which is outside the {sizes[0]} rows and {sizes[1]} columns",
                attribute="indices",
            )
    return len({row for row, _ in pairs})


def sparse_fill(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return elements in the order of rows and columns; a row without any gets the default in its column 0."""
    values, dense, indices, default = arrays
    rows = int(dense.ravel()[0])
    empty = np.ones(rows, bool)
    empty[indices[:, 0].astype(np.int64)] = False
    added = np.flatnonzero(empty)
    places = np.concatenate([indices, np.stack([added, np.zeros_like(added)], 1).astype(indices.dtype)])
    filled = np.concatenate([values, np.full(len(added), default, values.dtype)])
    order = np.lexsort((places[:, 1], places[:, 0]))
    return places[order], filled[order], empty


# --- the operations ---------------------------------------------------------------------------------------------

INDEX = IndexType(default=I64)

NON_ZERO = Op(
    type="NonZero",
    version=3,
    migrate=no_step(3, "no older operation finds the positions of elements by their values"),
    inputs=(Input("data"),),
    attrs={"output_type": INDEX},
    shape=non_zero_shape,
    kernel=non_zero,
)
UNIQUE = Op(
    type="Unique",
    version=10,
    migrate=no_step(10, "no composition of older operations is known that finds and numbers distinct values"),
    inputs=(Input("data"), Input("axis", optional=True, type="i32 i64")),
    outputs=(Output("output"), Output("indices"), Output("reverse_indices"), Output("counts")),
    attrs={"sorted": Flag(default=True), "index_element_type": INDEX, "count_element_type": INDEX},
    shape=unique_shape,
    kernel=unique,
)
SEARCH_SORTED = Op(
    type="SearchSorted",
    version=15,
    inputs=(Input("sorted_sequence", type="T"), Input("values", type="T")),
    attrs={"right_mode": Flag(default=False), "output_type": INDEX},
    types={"T": "float integer"},
    check=check_sorted,
    shape=search_sorted_shape,
    kernel=search_sorted,
    migrate=migrate_search_sorted,
)
BUCKETIZE = Op(
    type="Bucketize",
    version=3,
    migrate=migrate_bucketize,
    inputs=(Input("data", type="float integer"), Input("buckets", type="float integer")),
    attrs={"output_type": IndexType(), "with_right_bound": Flag(default=True)},
    check=check_buckets,
    shape=bucketize_shape,
    kernel=bucketize,
)
BINCOUNT = Op(
    type="Bincount",
    version=17,
    inputs=(Input("data", type="i32 i64 u8 u16 u32 u64"), Input("weights", optional=True, type="f32 f64 i32 i64")),
    attrs={"minlength": Int(default=0, minimum=0)},
    shape=bincount_shape,
    kernel=bincount,
    migrate=migrate_bincount,
    oracle=Oracle.SPECIFICATION,
)
SPARSE_FILL = Op(
    type="SparseFillEmptyRows",
    version=16,
    migrate=no_step(16, "no composition of older operations is known that inserts rows"),
    inputs=(
        Input("values", type="T"),
        Input("dense_shape", type="I"),
        Input("indices", type="I"),
        Input("default_value", type="T"),
    ),
    outputs=(Output("output_indices"), Output("output_values"), Output("empty_row_indicator")),
    types={"T": "any", "I": "i32 i64"},
    shape=sparse_fill_shape,
    kernel=sparse_fill,
)

OPS = (NON_ZERO, UNIQUE, SEARCH_SORTED, BUCKETIZE, BINCOUNT, SPARSE_FILL)
