"""Elements put where indices say: ScatterUpdate-3, ScatterElementsUpdate-3/-12, ScatterNDUpdate-4/-15.

The rules are those of OpenVINO's core (*_shape_inference.hpp), measured.

Specification: `movement/`.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._index_rewrites import (
    maxima_of_updates,
    migrate_scatter_elements_12,
    migrate_scatter_nd_15,
    unchanged,
)
from ir_tools.ops._moving_rewrites import moved
from ir_tools.ops._numbers import in_axis, is_half
from ir_tools.ops._requirements import check_tuples, require_integers, require_one, same_type
from ir_tools.ops._values import carried, known_axis, outside
from ir_tools.ops._versions import VersionStep
from ir_tools.ops.definition import Array, Elements, Fact, Infinity, Input, Op, Violation
from ir_tools.ops.fields import Attrs, Flag, OneOf
from ir_tools.types import Dim, Shape, shape_text

__all__ = ["OPS"]

# --- shapes -----------------------------------------------------------------------------------------------------


def scatter_update_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the data; the updates have the shape of the indices in place of the axis."""
    data, indices, updates, axis_fact = inputs
    dtype = same_type((data, updates))
    require_integers(indices, "indices")
    require_integers(axis_fact, "axis")
    require_one(axis_fact, "axis")
    if data.shape is not None:
        if not data.shape:
            raise ShapeError("is a scalar; expected data with an axis", attribute="data")
        axis = known_axis(axis_fact, len(data.shape))
        if indices.shape is not None and updates.shape is not None:
            if len(updates.shape) != len(data.shape) + len(indices.shape) - 1:
                raise ShapeError(
                    f"has rank {len(updates.shape)}; expected {len(data.shape) + len(indices.shape) - 1}",
                    attribute="updates",
                )
            if axis is not None:
                _require_equal(updates.shape, (*data.shape[:axis], *indices.shape, *data.shape[axis + 1 :]))
    return carried(scatter_update, attrs, inputs, [Fact(dtype, data.shape)], bounded=(0, 2))


def _require_equal(updates: tuple[Dim, ...], wanted: tuple[Dim, ...]) -> None:
    if any(dim.meet(size) is None for dim, size in zip(updates, wanted, strict=True)):
        raise ShapeError(f"is {shape_text(updates)}; expected {shape_text(wanted)}", attribute="updates")


def scatter_elements_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the data; indices and updates have one shape, of the same rank."""
    data, indices, updates, axis_fact = inputs
    dtype = same_type((data, updates))
    require_integers(indices, "indices")
    require_integers(axis_fact, "axis")
    require_one(axis_fact, "axis")
    ranks = {name: len(fact.shape) for name, fact in (("data", data), ("indices", indices)) if fact.shape is not None}
    if len(set(ranks.values())) > 1:
        raise ShapeError(f"has rank {ranks['indices']}, but the input has rank {ranks['data']}", attribute="indices")
    if (
        indices.shape is not None
        and updates.shape is not None
        and (
            len(indices.shape) != len(updates.shape)
            or any(dim.meet(size) is None for dim, size in zip(indices.shape, updates.shape, strict=True))
        )
    ):
        raise ShapeError(
            f"is {shape_text(updates.shape)}, but indices is {shape_text(indices.shape)}", attribute="updates"
        )
    if data.shape is not None:
        known_axis(axis_fact, len(data.shape))
    return carried(scatter_elements, attrs, inputs, [Fact(dtype, data.shape)], bounded=(0, 2))


def scatter_nd_shape(attrs: Attrs, inputs: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the shape of the data; the updates are a slice of it for each tuple of indices."""
    data, indices, updates = inputs
    dtype = same_type((data, updates))
    require_integers(indices, "indices")
    _check_nd(data.shape, indices.shape, updates.shape)
    return carried(scatter_nd, attrs, inputs, [Fact(dtype, data.shape)], bounded=(0, 2))


def _check_nd(data: Shape, indices: Shape, updates: Shape) -> None:
    if data == () or indices == ():
        raise ShapeError("data or indices is a scalar; expected at least rank 1")
    if data is None or indices is None or not indices[-1].static:
        return
    length = indices[-1].lo
    if length > len(data):
        raise ShapeError(f"index {length} axes, but the input has rank {len(data)}", attribute="indices")
    wanted = (*indices[:-1], *data[length:])
    if updates is not None:
        if len(updates) != len(wanted):
            raise ShapeError(f"is {shape_text(updates)}; expected {shape_text(wanted)}", attribute="updates")
        _require_equal(updates, wanted)


# --- checks -----------------------------------------------------------------------------------------------------


def check_scatter_update(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for indices that the axis does not have; negative ones are none."""
    yield from _outside_axis(inputs, negative=False)


def check_scatter_elements(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for indices that the axis does not have."""
    yield from _outside_axis(inputs, negative=True)


def _outside_axis(inputs: Sequence[Fact], *, negative: bool) -> Iterator[Violation]:
    data, indices, axes = inputs[0].shape, inputs[1], inputs[3].integers()
    if data is None or not axes or not -len(data) <= axes[0] < len(data):
        return
    bad = outside(indices, [data[axes[0]]], negative=negative)
    if bad is not None:
        yield Violation("indices", f"holds {bad}, but the axis has {data[axes[0]]} elements")


def check_scatter_nd(attrs: Attrs, inputs: Sequence[Fact]) -> Iterator[Violation]:
    """Check for indices that the data does not have."""
    data, indices = inputs[0].shape, inputs[1].shape
    if not data or not indices or not indices[-1].static or indices[-1].lo > len(data):
        return
    yield from check_tuples(inputs[1], data[: indices[-1].lo])


# --- kernels ----------------------------------------------------------------------------------------------------


def scatter_update(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the data with slices along the axis replaced."""
    data, indices, updates, axis_value = arrays
    axis = int(axis_value.ravel()[0]) % data.ndim
    out = data.copy()
    rows = in_axis(indices, data.shape[axis], negative=False).ravel()
    blocks = updates.reshape(*data.shape[:axis], rows.size, *data.shape[axis + 1 :])
    out[(slice(None),) * axis + (rows,)] = blocks
    return (out,)


def scatter_nd(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the data with slices, or elements, replaced or combined with the updates."""
    data, indices, updates = arrays
    length = indices.shape[-1]
    tuples = tuple(np.moveaxis(in_axis(indices, data.shape[:length]), -1, 0)) if length else ()
    return (_combine(data, tuples, updates, attrs.get("reduction", "none")),)


def scatter_elements(attrs: Attrs, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Return the data with elements replaced or combined.

    Those at the same place but for the axis, where the index says.
    """
    data, indices, updates, axis_value = arrays
    axis = int(axis_value.ravel()[0]) % data.ndim
    places: list[Array] = list(np.indices(indices.shape, sparse=True))
    places[axis] = in_axis(indices, data.shape[axis])
    reduction = attrs.get("reduction", "none")
    start = data
    if reduction != "none" and not attrs.use_init_val:
        start = data.copy()
        start[tuple(places)] = _neutral(reduction, data.dtype)
    if reduction != "mean":
        return (_combine(start, tuple(places), updates, reduction),)
    return (_mean(start, tuple(places), updates, attrs.use_init_val),)


Combine = Callable[..., None]
COMBINE: dict[str, Combine] = {
    "sum": np.add.at,
    "sub": np.subtract.at,
    "prod": np.multiply.at,
    "min": np.minimum.at,
    "max": np.maximum.at,
}


def _combine(data: Array, places: tuple[Array, ...], updates: Array, reduction: str) -> Array:
    """Return the data with what the updates make of some places; half floats are combined in f32."""
    if reduction == "none":
        out = data.copy()
        out[places or ...] = updates
        return out
    wide = np.float32 if is_half(data.dtype) else np.int64 if data.dtype == np.bool_ else data.dtype
    out = data.astype(wide)
    COMBINE[reduction](out, places or ..., updates.astype(wide))
    return out.astype(data.dtype)


def _neutral(reduction: str, dtype: np.dtype) -> float | int:
    if reduction in {"sum", "sub", "mean"}:
        return 0
    if reduction == "prod":
        return 1
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return int(limits.max if reduction == "min" else limits.min)
    return float("inf") if reduction == "min" else float("-inf")


def _mean(start: Array, places: tuple[Array, ...], updates: Array, with_data: bool) -> Array:
    """Return the mean of the updates of each place, and of the data there; integers are cut off towards zero."""
    wide = np.float32 if is_half(start.dtype) else start.dtype
    out, counts = start.astype(wide), np.zeros(start.shape, np.int64)
    np.add.at(out, places, updates.astype(wide))
    np.add.at(counts, places, 1)
    counts = counts + with_data
    touched = counts > with_data
    number = np.maximum(counts, 1).astype(wide)
    whole = start.dtype.kind in "iu"
    mean = out // number + ((out < 0) & (out % number != 0)) if whole else out / number
    return np.where(touched, mean, out).astype(start.dtype)


# --- the operations ---------------------------------------------------------------------------------------------

DATA, UPDATES = (Input(name, type="T", elements=Elements.LIKE) for name in ("data", "updates"))
INDICES, AXIS = (Input(name, type="integer") for name in ("indices", "axis"))
TYPES = {"T": "any"}
MOVED = (0, 2)
"""Inputs whose elements are moved: data and updates."""

SCATTER_UPDATE = Op(
    type="ScatterUpdate",
    version=3,
    migrate=moved(3, scatter_update, MOVED),
    inputs=(DATA, INDICES, UPDATES, AXIS),
    types=TYPES,
    infinity=Infinity.BOUND,
    check=check_scatter_update,
    shape=scatter_update_shape,
    kernel=scatter_update,
)
SCATTER_ELEMENTS_3 = Op(
    type="ScatterElementsUpdate",
    version=3,
    inputs=(DATA, INDICES, UPDATES, AXIS),
    types=TYPES,
    infinity=Infinity.BOUND,
    check=check_scatter_elements,
    shape=scatter_elements_shape,
    kernel=scatter_elements,
    migrate=VersionStep("ScatterElementsUpdate", 3, older=moved(3, scatter_elements, MOVED)),
    substitute=unchanged,
)
SCATTER_ELEMENTS_12 = SCATTER_ELEMENTS_3.at(
    12,
    attrs={
        "reduction": OneOf(words=("none", "sum", "prod", "min", "max", "mean"), default="none"),
        "use_init_val": Flag(default=True),
    },
    readers={"reduction": "shape kernel migrate substitute", "use_init_val": "shape kernel migrate substitute"},
    migrate=migrate_scatter_elements_12(moved(3, scatter_elements, MOVED)),
    substitute=maxima_of_updates,
)
SCATTER_ND_4 = Op(
    type="ScatterNDUpdate",
    version=4,
    inputs=(DATA, Input("indices", type="i32 i64"), UPDATES),
    types=TYPES,
    infinity=Infinity.BOUND,
    check=check_scatter_nd,
    shape=scatter_nd_shape,
    kernel=scatter_nd,
    migrate=VersionStep("ScatterNDUpdate", 4, older=moved(4, scatter_nd, MOVED)),
    substitute=unchanged,
)
SCATTER_ND_15 = SCATTER_ND_4.at(
    15,
    attrs={"reduction": OneOf(words=("none", "sum", "sub", "prod", "min", "max"), default="none")},
    readers={"reduction": "shape kernel migrate"},
    migrate=migrate_scatter_nd_15(moved(4, scatter_nd, MOVED)),
    substitute=None,
)

OPS = (SCATTER_UPDATE, SCATTER_ELEMENTS_3, SCATTER_ELEMENTS_12, SCATTER_ND_4, SCATTER_ND_15)
