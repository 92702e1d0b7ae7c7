"""Express sums of segments, and counting, by comparisons with every number, for older opsets."""

from math import prod

import numpy as np

from ir_tools.ops._layers import DATA, I64, Layers, composed, not_added_up
from ir_tools.ops._numbers import lowest
from ir_tools.ops._values import known_axis
from ir_tools.ops.definition import Array, Ref, Refused
from ir_tools.ops.fields import Attrs
from ir_tools.types import ElementType, Shape, is_static

__all__ = [
    "bag_offsets_sum",
    "bag_packed_sum",
    "combined_elements",
    "combined_tuples",
    "counts_rows",
    "cumulative_sum",
    "migrate_bag_offsets",
    "migrate_bag_packed",
    "migrate_bincount",
    "migrate_bucketize",
    "migrate_search_sorted",
    "segment_max_by_numbers",
    "segments_sum",
]


# --- along an axis ----------------------------------------------------------------------------------------------


@composed(3, "for each element, the sum of all elements up to it", wide=True)
def cumulative_sum(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite CumSum-3: every element of a row beside every place of the result."""
    data = layers.working(0)
    rank = layers.rank(data)
    axis = None if len(layers.inputs) < 2 else known_axis(layers.inputs[1], max(rank, 1))
    if axis is None:
        return Refused("its axis is not known")
    if wrong := not_added_up(layers.inputs[0].dtype):
        return wrong
    if not rank:
        return layers.call("Multiply", data, not attrs.exclusive)
    places = layers.places(data, axis)
    here, there = (layers.call("Unsqueeze", places, np.array(own)) for own in (1, 0))
    type = ("Greater" if attrs.reverse else "Less") + ("" if attrs.exclusive else "Equal")
    mask = layers.call(type, there, here)
    if axis < rank - 1:
        mask = layers.call("Unsqueeze", mask, np.arange(2, rank - axis + 1))
    spread = layers.call("Unsqueeze", data, np.array(axis))
    parts = layers.call("Select", mask, spread, 0)
    return layers.call("ReduceSum", parts, np.array(axis + 1))


@composed(3, "the number of boundaries that are smaller than the element (or not greater)")
def migrate_bucketize(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite Bucketize-3."""
    data, buckets = layers.inputs
    if data.dtype != buckets.dtype:
        return Refused(f"the data has element type {data.dtype}, but buckets has {buckets.dtype}")
    return _number_before(layers, Ref(None, 1), DATA, attrs.output_type, equal=not attrs.with_right_bound)


@composed(15, "the number of elements of the sorted row that are smaller than the value (or not greater)")
def migrate_search_sorted(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite SearchSorted-15."""
    rows = layers.call("Unsqueeze", DATA, np.array(-2)) if layers.rank(DATA) > 1 else DATA
    return _number_before(layers, rows, Ref(None, 1), attrs.output_type, equal=attrs.right_mode)


def _number_before(layers: Layers, rows: Ref, values: Ref, dtype: ElementType, *, equal: bool) -> Ref:
    """Add how many elements of a row are less than a value, or `equal` to it."""
    hits = layers.call("LessEqual" if equal else "Less", rows, layers.call("Unsqueeze", values, np.array(-1)))
    return layers.total(hits, -1, dtype)


# --- rows with the same number ----------------------------------------------------------------------------------


@composed(16, "for finite numbers, the maximum of the rows of each segment")
def segment_max_by_numbers(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite SegmentMax-16."""
    dtype = layers.dtype(DATA)
    if dtype.kind == "b":
        return Refused("no older operation computes the maximum of booleans")
    ids = layers.to_type(Ref(None, 1), I64)
    if len(layers.inputs) > 2:
        count = layers.reshape(layers.to_type(Ref(None, 2), I64), np.array([], np.int64))
    else:
        count = layers.call("Add", layers.call("ReduceMax", ids, np.array(0)), 1)
    same = _same(layers, layers.count_to(count), ids)
    none = np.array(lowest(dtype) if dtype.kind in "iu" else -np.inf, dtype)
    largest = layers.call("ReduceMax", _parts(layers, same, DATA, none), np.array(1))
    empty = np.array(0 if attrs.fill_mode == "zero" else lowest(dtype), dtype)
    return _filled(layers, same, largest, empty)


def _same(layers: Layers, left: Ref, right: Ref) -> Ref:
    """Add whether numbers of two lists are equal: `[left, right]`."""
    return layers.call("Equal", layers.call("Unsqueeze", left, np.array(1)), right)


def _parts(layers: Layers, mask: Ref, rows: Ref, other: Array) -> Ref:
    """Add the rows where a mask `[bags, rows]` holds: `[bags, rows, ...]`."""
    wide = layers.call("Unsqueeze", mask, np.arange(2, layers.rank(rows) + 1)) if layers.rank(rows) > 1 else mask
    return layers.call("Select", wide, rows, other)


def _filled(layers: Layers, mask: Ref, rows: Ref, other: Ref | Array) -> Ref:
    """Replace the rows of bags without any."""
    any_ = layers.call("ReduceLogicalOr", mask, np.array(1))
    rank = layers.rank(rows)
    wide = layers.call("Unsqueeze", any_, np.arange(1, rank)) if rank > 1 else any_
    return layers.call("Select", wide, rows, other)


# --- several updates of one element -----------------------------------------------------------------------------

COMBINED = {"sum": "Add", "sub": "Add", "prod": "Multiply", "min": "Minimum", "max": "Maximum", "mean": "Add"}
REDUCED = {"sum": "Sum", "sub": "Sum", "prod": "Prod", "min": "Min", "max": "Max", "mean": "Sum"}
OTHERS = {"min": "Max", "max": "Min"}
"""What of all updates changes none of their smallest and largest ones."""
MAX_PAIRS = 1 << 26
"""Pairs of an element and an update that are held in memory."""
UNKNOWN_PAIRS, TOO_MANY_PAIRS = (
    Refused(f"one element may be updated several times, and {why}", "reduction")
    for why in ("the sizes are not known", "there are too many updates to compare all of them")
)


def combined_elements(layers: Layers, attrs: Attrs, places: Ref | Array, axis: int) -> Ref | Refused:
    """Add what ScatterElementsUpdate-12 makes of updates that may meet; `places`: counted from the front."""
    data, indices = (layers.inputs[number].shape for number in range(2))
    if not is_static(data) or not is_static(indices):
        return UNKNOWN_PAIRS
    if any(one != other for number, (one, other) in enumerate(zip(data, indices, strict=True)) if number != axis):
        return Refused(
            "one element may be updated several times, and the updates cover only a part of the data", "reduction"
        )
    if prod(dim.size for dim in data) * indices[axis].size > MAX_PAIRS:
        return TOO_MANY_PAIRS
    rank, column = len(data), np.array(axis)
    every = np.arange(data[axis].size).reshape(-1, *[1] * (rank - axis))
    own = layers.as_i64(places)
    mask = layers.call("Equal", layers.call("Unsqueeze", own, column), every)
    updates = layers.call("Unsqueeze", layers.working(2), column)
    return _met(layers, attrs, mask, updates, layers.working(0), axis + 1)


def combined_tuples(layers: Layers, attrs: Attrs, places: Ref | Array) -> Ref | Refused:
    """Add what ScatterNDUpdate-15 makes of updates that may meet; `places`: counted from the front."""
    data, indices = (layers.inputs[number].shape for number in range(2))
    if not is_static(data) or not is_static(indices):
        if data and counts_rows(indices) and attrs.reduction in {"sum", "sub"} and layers.inputs[0].dtype.is_float:
            return _summed_rows(layers, attrs, places)
        return UNKNOWN_PAIRS
    sizes, length = [dim.size for dim in data], indices[-1].size
    count, rest = prod(dim.size for dim in indices[:-1]), prod(sizes[length:])
    if prod(sizes) * count > MAX_PAIRS or not length:
        return TOO_MANY_PAIRS
    strides = np.array([prod(sizes[number + 1 : length]) for number in range(length)])
    own = layers.as_i64(places)
    lines = layers.call("ReduceSum", layers.call("Multiply", own, strides), np.array(-1))
    flat = layers.call("Reshape", lines, np.array([1, count, 1]), special_zero=False)
    mask = layers.call("Equal", flat, np.arange(prod(sizes[:length])).reshape(-1, 1, 1))
    rows, updates = (
        layers.call("Reshape", layers.working(number), np.array(shape), special_zero=False)
        for number, shape in ((0, [-1, rest]), (2, [1, count, rest]))
    )
    found = _met(layers, attrs, mask, updates, rows, 1)
    return layers.call("Reshape", found, np.array(sizes), special_zero=False)


def counts_rows(indices: Shape) -> bool:
    """Return whether tuples of indices are a list, of one index each."""
    return indices is not None and len(indices) == 2 and indices[1].hi == 1 == indices[1].lo


def _summed_rows(layers: Layers, attrs: Attrs, places: Ref | Array) -> Ref:
    """Add or subtract rows in any number, by a product with a matrix that says which of them meet in a row of the data.

    A row of zeros for no row of the data comes after them, as the product of empty matrices is not one of zeros on all
    releases.
    """
    data, updates, rank = layers.working(0), layers.working(2), layers.rank(DATA)
    one, own = np.array([1]), layers.reshape(places, np.array([-1]))
    sizes = (
        layers.call("Concat", one, layers.gather(layers.shape_of(DATA), range(1, rank)), axis=0) if rank > 1 else one
    )
    nothing = layers.call("Broadcast", layers.number(0, updates), sizes)
    rows = layers.call("Concat", updates, nothing, axis=0)
    lines = layers.reshape(rows, np.array([0, -1] if rank > 1 else [-1, 1]))
    numbers = layers.call("Concat", layers.to_type(own, I64), np.array([-1]), axis=0)
    every = layers.reshape(layers.places(DATA, 0), np.array([-1, 1]))
    mask = layers.to_type(layers.call("Equal", every, numbers), layers.fact(data).dtype)
    total = layers.reshape(layers.call("MatMul", mask, lines), layers.shape_of(DATA))
    return layers.call("Add" if attrs.reduction == "sum" else "Subtract", data, total)


def _met(layers: Layers, attrs: Attrs, mask: Ref, updates: Ref, data: Ref, axis: int) -> Ref:
    """Combine all updates where a mask holds along an axis with the data; what has none stays."""
    reduction, column = attrs.reduction, np.array(axis)
    keeps = attrs.get("use_init_val", True)
    none: Ref | Array = layers.number(1 if reduction == "prod" else 0, data)
    if reduction in OTHERS:
        whole = layers.call(f"Reduce{OTHERS[reduction]}", updates, column, keep_dims=True)
        none = layers.call("Unsqueeze", data, column) if keeps else whole
    elif reduction == "sub":
        updates = layers.call("Negative", updates)
    parts = layers.call("Select", mask, updates, none)
    total = layers.call(f"Reduce{REDUCED[reduction]}", parts, column)
    found = layers.call(COMBINED[reduction], data, total) if keeps else total
    if reduction == "mean":
        hits = layers.call("ReduceSum", layers.to_type(mask, layers.fact(data).dtype), column)
        one = layers.number(1, data)
        found = layers.call("Divide", found, layers.call("Add" if keeps else "Maximum", hits, one))
    return found if keeps else layers.call("Select", layers.call("ReduceLogicalOr", mask, column), found, data)


# --- bags of rows of a table ------------------------------------------------------------------------------------

MEAN = "the sum of each bag; for a mean, divided by the number of its indices"


@composed(3, "the sum of the rows of each bag, multiplied by their weights", wide=True)
def bag_packed_sum(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite EmbeddingBagPackedSum-3."""
    if wrong := not_added_up(layers.inputs[0].dtype):
        return wrong
    return layers.call("ReduceSum", _rows(layers, 2), np.array(1))


@composed(3, "the sum of the rows of each bag, multiplied by their weights", wide=True)
def bag_offsets_sum(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite EmbeddingBagOffsetsSum-3."""
    starts, ends = (layers.call("Unsqueeze", place, np.array(1)) for place in _bounds(layers))
    places = layers.places(Ref(None, 1), 0)
    later, before = layers.call("GreaterEqual", places, starts), layers.call("Less", places, ends)
    return _sums(layers, layers.call("LogicalAnd", later, before), 3)


@composed(3, "the sum of the rows of each segment, multiplied by their weights", wide=True)
def segments_sum(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite EmbeddingSegmentsSum-3."""
    ids, count = (layers.to_type(Ref(None, number), I64) for number in (2, 3))
    return _sums(layers, _same(layers, layers.count_to(count), ids), 4)


def _sums(layers: Layers, mask: Ref, filling: int) -> Ref | Refused:
    """Add up the rows of each bag; `filling`: number of the input with the index of the row of empty bags."""
    if wrong := not_added_up(layers.inputs[0].dtype):
        return wrong
    rows = _rows(layers, filling + 1)
    zero = layers.number(0, rows)
    total = layers.call("ReduceSum", _parts(layers, mask, rows, zero), np.array(1))
    if len(layers.inputs) <= filling:
        return total
    index = layers.to_type(Ref(None, filling), I64)
    place = layers.call("Maximum", index, 0)
    row = layers.call("Gather", layers.working(0), place, np.array(0))
    given = layers.call("GreaterEqual", index, 0)
    return _filled(layers, mask, total, layers.call("Select", given, row, zero))


def _rows(layers: Layers, weights: int) -> Ref:
    """Add the rows of the table, times the weights of input number `weights` if there is one."""
    rows = layers.call("Gather", layers.working(0), Ref(None, 1), np.array(0))
    if len(layers.inputs) <= weights:
        return rows
    given, rank = layers.working(weights), layers.rank(rows)
    axes = np.arange(layers.rank(given), rank)
    return layers.call("Multiply", rows, layers.call("Unsqueeze", given, axes) if axes.size else given)


def _bounds(layers: Layers) -> tuple[Ref, Ref]:
    """Add where each bag of indices begins and ends."""
    starts = layers.to_type(Ref(None, 2), I64)
    end = layers.gather(layers.shape_of(Ref(None, 1)), [0])
    one = np.array([1])
    later = layers.call("StridedSlice", starts, one, one, one, begin_mask=(0,), end_mask=(1,))
    return starts, layers.call("Concat", later, end, axis=0)


@composed(15, MEAN)
def migrate_bag_offsets(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite EmbeddingBagOffsets as EmbeddingBagOffsetsSum."""
    filling = layers.inputs[3].integers() if len(layers.inputs) == 4 else None
    total = layers.call("EmbeddingBagOffsetsSum", *layers.given[: 3 if filling and filling[0] < 0 else None])
    wrong = None if attrs.reduction == "sum" else _mean_type(layers)
    if attrs.reduction == "sum" or wrong:
        return wrong or total
    starts, ends = _bounds(layers)
    sizes = layers.call("Maximum", layers.call("Subtract", ends, starts), np.array([1]))
    pattern = np.array([-1, *[1] * (layers.rank(total) - 1)])
    column = layers.call("Reshape", sizes, pattern, special_zero=False)
    return layers.call("Divide", total, layers.to_type(column, layers.inputs[0].dtype))


@composed(15, MEAN)
def migrate_bag_packed(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite EmbeddingBagPacked as EmbeddingBagPackedSum."""
    total = layers.call("EmbeddingBagPackedSum", *layers.given)
    wrong = None if attrs.reduction == "sum" else _mean_type(layers)
    if attrs.reduction == "sum" or wrong:
        return wrong or total
    shape = layers.inputs[1].shape
    if shape is not None and shape[1].static:
        return layers.call("Divide", total, shape[1].lo)
    size = layers.gather(layers.shape_of(Ref(None, 1)), 1)
    return layers.call("Divide", total, layers.to_type(size, layers.inputs[0].dtype))


def _mean_type(layers: Layers) -> Refused | None:
    kind = layers.inputs[0].dtype
    return (
        None
        if kind.is_float
        else Refused(f"the element type of its table is {kind}, whose mean is truncated", "reduction")
    )


# --- counting ---------------------------------------------------------------------------------------------------


@composed(17, "the count (or the sum of the weights) of the elements that are equal to each integer from 0 on")
def migrate_bincount(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite Bincount as comparisons with every integer that there may be."""
    first, none = np.array(0), np.array([-1])
    data = layers.call("Concat", layers.to_type(Ref(None), I64), none, axis=0)
    largest = layers.call("Maximum", layers.call("ReduceMax", data, first), np.array(attrs.minlength - 1))
    bins = layers.count_to(layers.call("Add", largest, 1))
    equal = layers.call("Equal", layers.call("Unsqueeze", bins, np.array(1)), layers.call("Unsqueeze", data, first))
    if len(layers.inputs) == 1:
        return layers.call("ReduceSum", layers.to_type(equal, I64), np.array(1))
    zero = layers.number(0, Ref(None, 1))
    weights = layers.call("Unsqueeze", layers.call("Concat", Ref(None, 1), zero.reshape(1), axis=0), first)
    return layers.call("ReduceSum", layers.call("Select", equal, weights, zero), np.array(1))
