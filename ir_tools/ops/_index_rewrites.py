"""Rewrite Gather, GatherND, OneHot and Scatter*Update to other versions."""

from collections.abc import Sequence

import numpy as np

from ir_tools.errors import ShapeError
from ir_tools.ops._layers import I64, Layers, by_formula, held
from ir_tools.ops._segment_rewrites import combined_elements, combined_tuples, counts_rows
from ir_tools.ops._values import element_count, known_axis, normal_axis
from ir_tools.ops._versions import VersionStep
from ir_tools.ops.definition import Array, Fact, Ref, Refused, Rewrite, Step
from ir_tools.ops.fields import Attrs
from ir_tools.types import is_static

__all__ = [
    "migrate_gather",
    "migrate_gather_nd",
    "migrate_one_hot_16",
    "migrate_scatter_elements_12",
    "migrate_scatter_nd_15",
    "unchanged",
    "without_one_batch",
]

FROM_FRONT, BELOW_ZERO = "non-negative indices", "a negative index i means element i + size"
"""How and why of versions that take negative indices in those that were not made for them."""

# --- Gather -----------------------------------------------------------------------------------------------------


def migrate_gather(version: int) -> Step:
    """Gather between versions: 8 counts negative indices from the end, where 1 and 7 give zeros; 1 has no batches."""

    def change(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
        batches = _batches(layers.inputs[1], attrs)
        indices: Ref | Array = Ref(None, 1)
        if (version >= 8) != (wanted >= 8) and not _never_negative(layers.inputs[1]):
            if wanted >= 8:
                return (
                    None
                    if _is_one_from_the_end(*layers.inputs[:3])
                    else Refused("its indices may be negative, and only Gather-8 counts those from the end")
                )
            indices = _from_the_front(layers)
        if wanted == 1 and batches:
            return _without_batches(layers, indices, batches)
        if isinstance(indices, Ref) and indices.layer is None:
            return None
        inputs = Ref(None), indices, Ref(None, 2)
        if wanted > 1:
            layers.call("Gather", *inputs, version=wanted, batch_dims=batches)
        else:
            layers.call("Gather", *inputs, version=wanted)
        return layers.rewrite(FROM_FRONT, BELOW_ZERO)

    return VersionStep("Gather", version, change)


def _batches(indices: Fact, attrs: Attrs) -> int:
    batches: int = attrs.batch_dims if "batch_dims" in attrs else 0
    return batches + len(indices.shape) if batches < 0 and indices.shape is not None else batches


def _never_negative(indices: Fact) -> bool:
    return indices.dtype.name.startswith("u") or (indices.value is not None and bool((indices.value.lower >= 0).all()))


def _is_one_from_the_end(data: Fact, indices: Fact, axis: Fact) -> bool:
    """Return whether Gather-1 and -7 count a negative index from the end, too: one alone, along the first long axis."""
    axes = axis.integers()
    if element_count(indices.shape) != 1 or axes is None:
        return False
    first = axes[0] if data.shape is None else normal_axis(axes[0], len(data.shape))
    return first == 0 or (data.shape is not None and element_count(data.shape[:first]) == 1)


def _from_the_front(layers: Layers) -> Ref | Array:
    """Return the indices without negative ones; those out of range become ones behind the end."""
    axes = layers.inputs[2].integers()
    if axes is None:
        chosen = layers.call("Gather", layers.shape_of(Ref(None)), Ref(None, 2), np.array(0), version=1)
        size: Ref | Array = layers.reshape(chosen, np.array([], np.int64))
    else:
        size = _size(layers, axes[0])
    places = _counted(layers, size)
    if isinstance(places, Ref):
        return layers.call("Select", layers.call("Less", places, 0), size, places)
    assert not isinstance(size, Ref)
    return np.where(places < 0, size, places).astype(layers.dtype(Ref(None, 1)))


def _size(layers: Layers, axis: int) -> Ref | Array:
    """Return the size of the data along an axis, as a number if it is known."""
    shape = layers.inputs[0].shape
    if shape is None and axis < 0:
        raise ShapeError("the rank of the data is not known")
    if shape is None or not shape[normal_axis(axis, len(shape))].static:
        return layers.gather(layers.shape_of(Ref(None)), axis if shape is None else normal_axis(axis, len(shape)))
    return np.array(shape[axis].lo)


def _counted(layers: Layers, size: Ref | Array) -> Ref | Array:
    """Return the second input, indices, counted from the front: i below 0 becomes i + size."""
    exact = layers.inputs[1].exact
    if exact is not None and not isinstance(size, Ref):
        return np.where(exact < 0, exact + size, exact).astype(layers.dtype(Ref(None, 1)))
    places = layers.to_type(Ref(None, 1), I64)
    return layers.call("Select", layers.call("Less", places, 0), layers.call("Add", places, size), places)


def _counted_tuples(layers: Layers, first: int) -> Ref | Array:
    """Return the second input, tuples of indices of the axes from `first` on, counted from the front."""
    indices = layers.inputs[1]
    if _never_negative(indices):
        return Ref(None, 1)
    if not indices.shape or not indices.shape[-1].static:
        raise ShapeError("its indices may be negative, and the number of axes that they index is not known")
    axes = range(first, first + indices.shape[-1].lo)
    dims = None if layers.inputs[0].shape is None else [layers.inputs[0].shape[axis] for axis in axes]
    if dims is not None and all(dim.static for dim in dims):
        return _counted(layers, np.array([dim.lo for dim in dims], np.int64))
    return _counted(layers, layers.gather(layers.shape_of(Ref(None)), axes))


def _without_batches(layers: Layers, indices: Ref | Array, batches: int) -> Rewrite | Refused:
    """Gather along one axis that holds all batches after each other."""
    data, given = layers.inputs[0].shape, layers.inputs[1].shape
    axis = None if data is None else known_axis(layers.inputs[2], len(data))
    if data is None or given is None or axis is None:
        return Refused("the ranks of its inputs or its axis are not known", "batch_dims")
    sizes = [dim.lo for dim in data[:batches]]
    if not all(dim.static for dim in (*data[:batches], data[axis])):
        return Refused("the sizes of the batches or of the axis are not known", "batch_dims")
    rest = [dim for place, dim in enumerate(data) if place >= batches and place != axis]
    if sum(not dim.static for dim in rest) > 1:
        return Refused("more than one size of the other axes is not known", "batch_dims")
    count, size = int(np.prod(sizes)), data[axis].lo
    order = [*range(batches), axis, *(place for place in range(batches, len(data)) if place != axis)]
    flat = Ref(None) if order == [*range(len(data))] else layers.call("Transpose", Ref(None), np.array(order))
    flat = layers.call(
        "Reshape", flat, np.array([count * size, *(dim.lo if dim.static else -1 for dim in rest)]), special_zero=False
    )
    places = layers.as_i64(indices)
    starts = (np.arange(count) * size).reshape(*sizes, *[1] * (len(given) - batches))
    inside = layers.call("LogicalAnd", *(layers.call(word, places, np.array(n)) for word, n in _inside(size)))
    places = layers.call("Select", inside, layers.call("Add", places, starts), np.array(count * size))
    out = layers.call("Gather", flat, places, np.array(0), version=1)
    inner, before = len(given) - batches, axis - batches
    if inner and before:
        tail = range(batches + inner + before, layers.rank(out))
        middle = range(batches + inner, batches + inner + before)
        back = [*range(batches), *middle, *range(batches, batches + inner), *tail]
        layers.call("Transpose", out, np.array(back))
    return layers.rewrite("batches merged into one axis", "batch b of indices reads the elements from b * size on")


def without_one_batch(version: int) -> Step:
    """Return what leaves out the batches of a Gather if there is one of them."""

    @by_formula("with one batch, batch_dims has no effect")
    def gathered(layers: Layers, attrs: Attrs) -> Ref | Refused:
        data, batches = layers.inputs[0].shape, _batches(layers.inputs[1], attrs)
        if not batches or data is None or any(dim.hi != 1 for dim in data[:batches]):
            return Refused("the number of batches is not known to be 1", "batch_dims")
        places = layers.call("Squeeze", Ref(None, 1), np.arange(batches))
        return layers.call("Gather", Ref(None), places, Ref(None, 2), version=version, batch_dims=0)

    return gathered


def _inside(size: int) -> tuple[tuple[str, int], ...]:
    return ("GreaterEqual", 0), ("Less", size)


# --- GatherND ---------------------------------------------------------------------------------------------------


def migrate_gather_nd(version: int, older: Step) -> Step:
    """Rewrite GatherND between versions: 5 merges the batch dimensions of the output; `older`: before version 5."""

    def change(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
        batches = attrs.batch_dims
        if wanted > version:
            return Refused("it merges the batch dimensions", "batch_dims") if batches > 1 else None
        if batches < 2 and _never_negative(layers.inputs[1]):
            return None
        outputs = held("GatherND", version).outputs_of(attrs, layers.inputs)
        places = _counted_tuples(layers, batches)
        found = layers.call("GatherND", Ref(None), places, version=wanted, batch_dims=batches)
        if batches < 2:
            return layers.rewrite(FROM_FRONT, BELOW_ZERO)
        shape = None if outputs is None else outputs[0].shape
        if is_static(shape):
            layers.call("Reshape", found, np.array([dim.lo for dim in shape], np.int64), special_zero=False)
        else:
            rest = np.arange(1, layers.rank(found))
            sizes = [layers.gather(layers.shape_of(Ref(None)), range(batches))]
            sizes += [layers.gather(layers.shape_of(found), rest.tolist())] if rest.size else []
            layers.call("Reshape", found, layers.call("Concat", *sizes, axis=0), special_zero=False)
        return layers.rewrite(
            "batches split again", f"GatherND-{wanted} merges the batch dimensions and is otherwise the same"
        )

    return VersionStep("GatherND", version, change, older)


# --- OneHot -----------------------------------------------------------------------------------------------------


def _one_hot(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
    if attrs.negative_indices_mode == "ignore_negative":
        return None
    indices, depth = layers.to_type(Ref(None), I64), layers.to_type(Ref(None, 1), I64)
    counted = layers.call("Add", indices, depth)
    places = layers.call("Select", layers.call("Less", indices, 0), counted, indices)
    layers.call("OneHot", places, Ref(None, 1), Ref(None, 2), Ref(None, 3), version=wanted, axis=attrs.axis)
    return layers.rewrite("non-negative indices", "a negative index i means i + depth")


migrate_one_hot_16 = VersionStep("OneHot", 16, _one_hot)

# --- ScatterElementsUpdate, ScatterNDUpdate -----------------------------------------------------------------------


def unchanged(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused:
    """Rewrite an update without updates as its data: releases before 2022.3 may write one nevertheless, or end."""
    if 0 not in inputs[2].dims:
        return Refused("it has updates")
    layers = Layers(inputs, target)
    layers.copy(Ref(None))
    return layers.rewrite("the data", "there are no updates")


@by_formula("the least number, written to all places that are updated, counts for none of the updates")
def maxima_of_updates(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite maxima without the data: OpenVINO 2023.1 and 2023.2 begin with the least positive number."""
    data, _, updates, _ = (Ref(None, number) for number in range(4))
    if attrs.reduction != "max" or attrs.use_init_val or not layers.fact(data).dtype.is_float:
        return Refused("it gives no maxima of floats without the data")
    least = np.array(-np.inf).astype(layers.dtype(data))
    written = layers.call("Broadcast", least, layers.sizes(updates))
    place, axis = Ref(None, 1), Ref(None, 3)
    empty = layers.call("ScatterElementsUpdate", data, place, written, axis, version=12, reduction="none")
    return layers.call("ScatterElementsUpdate", empty, place, updates, axis, version=12, reduction="max")


COMBINED = {"sum": "Add", "sub": "Subtract", "prod": "Multiply", "min": "Minimum", "max": "Maximum"}
EXACT = {"f16", "bf16", "f32", "f64", "i32", "i64"}
"""Types in which one layer and a reduction of two numbers round and wrap alike."""


def _scatter_elements(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
    reduction, keeps = attrs.reduction, attrs.use_init_val
    data, indices, _, axes = layers.inputs
    if reduction == "none":
        if _never_negative(indices):
            return None
        chosen = axes.integers()
        if chosen is None:
            return Refused("its indices may be negative, and its axis is not known")
        places = _counted(layers, _size(layers, chosen[0]))
        layers.call("ScatterElementsUpdate", Ref(None), places, Ref(None, 2), Ref(None, 3), version=wanted)
        return layers.rewrite(FROM_FRONT, BELOW_ZERO)
    axis = None if data.shape is None else known_axis(axes, len(data.shape))
    size = None if data.shape is None or axis is None else data.shape[axis]
    exact = indices.exact
    rows = None if exact is None else _normal(exact, None if size is None or not size.static else [size.lo])
    if axis is None:
        return Refused("the rank of the data or its axis is not known", "reduction")
    if rows is None or not _different(np.moveaxis(np.sort(rows, axis), axis, -1)):
        places = _counted(layers, _size(layers, axis))
        return _met(layers, reduction, combined_elements(layers, attrs, places, axis))
    front = rows.astype(layers.dtype(Ref(None, 1)))
    if not keeps:
        layers.call("ScatterElementsUpdate", Ref(None), front, Ref(None, 2), Ref(None, 3), version=wanted)
        return layers.rewrite("the updates replace the elements", "no element is updated twice")
    wrong = _inexact(layers, reduction)
    if wrong:
        return wrong
    tuples = [rows if number == axis else each for number, each in enumerate(np.indices(rows.shape))]
    elements = layers.call("GatherND", Ref(None), np.stack(tuples, axis=-1).astype(np.int64), batch_dims=0)
    found = _reduced(layers, reduction, elements)
    layers.call("ScatterElementsUpdate", Ref(None), front, found, Ref(None, 3), version=wanted)
    return layers.rewrite("updates combined with the data first", "no element is updated twice")


def _scatter_nd(layers: Layers, attrs: Attrs, wanted: int) -> Rewrite | Refused | None:
    reduction = attrs.reduction
    data, indices = layers.inputs[:2]
    if reduction == "none":
        if _never_negative(indices):
            return None
        layers.call("ScatterNDUpdate", Ref(None), _counted_tuples(layers, 0), Ref(None, 2), version=wanted)
        return layers.rewrite(FROM_FRONT, BELOW_ZERO)
    exact = indices.exact
    if exact is not None and data.shape is not None:
        dims = data.shape[: exact.shape[-1]]
        exact = _normal(exact, [dim.lo for dim in dims] if all(dim.static for dim in dims) else None)
    if exact is None or len(np.unique(exact.reshape(-1, exact.shape[-1]), axis=0)) < exact[..., 0].size:
        if layers.target >= 12 and reduction != "sub" and counts_rows(indices.shape):
            return _by_elements(layers, reduction)
        return _met(layers, reduction, combined_tuples(layers, attrs, _counted_tuples(layers, 0)))
    wrong = _inexact(layers, reduction)
    if wrong:
        return wrong
    rows = exact.astype(layers.dtype(Ref(None, 1)))
    found = _reduced(layers, reduction, layers.call("GatherND", Ref(None), rows, batch_dims=0))
    layers.call("ScatterNDUpdate", Ref(None), rows, found, version=wanted)
    return layers.rewrite("updates combined with the data first", "no element is updated twice")


def _by_elements(layers: Layers, reduction: str) -> Rewrite:
    """Update whole rows element by element, with ScatterElementsUpdate-12."""
    updates = layers.rank(Ref(None, 2))
    if updates == 1:
        places = layers.call("Squeeze", Ref(None, 1), np.array([1]))
    else:
        columns = layers.call("Reshape", Ref(None, 1), np.array([-1, *[1] * (updates - 1)]), special_zero=False)
        places = layers.call("Broadcast", columns, layers.shape_of(Ref(None, 2)))
    layers.call("ScatterElementsUpdate", Ref(None), places, Ref(None, 2), np.array(0), version=12, reduction=reduction)
    return layers.rewrite("an update of single elements", "each index applies to all elements of its row")


def _met(layers: Layers, reduction: str, found: Ref | Refused) -> Rewrite | Refused:
    """Return layers that combine updates that may meet, unless their type forbids them."""
    wrong = found if isinstance(found, Refused) else _inexact(layers, reduction)
    if wrong:
        return wrong
    assert isinstance(found, Ref)
    layers.to_type(found, layers.inputs[0].dtype)
    return layers.rewrite(
        "updates of one element combined first",
        "for finite numbers, a comparison of indices finds all updates of an element",
    )


def _normal(indices: Array, sizes: Sequence[int] | None) -> Array | None:
    """Return non-negative indices; None if some are not, and the sizes are not known."""
    if sizes is None:
        return None if (indices < 0).any() else indices
    return np.where(indices < 0, indices + np.array(sizes), indices)


def _different(rows: Array) -> bool:
    """Return whether no number comes twice in a row; rows are in order."""
    return bool((rows[..., 1:] != rows[..., :-1]).all())


def _inexact(layers: Layers, reduction: str) -> Refused | None:
    kind = layers.inputs[0].dtype
    if kind.name not in EXACT or (reduction == "mean" and not kind.is_float):
        return Refused(f"no layer combines elements of type {kind} in the same way", "reduction")
    return None


def _reduced(layers: Layers, reduction: str, elements: Ref) -> Ref:
    if reduction == "mean":
        total = layers.call("Add", elements, Ref(None, 2))
        return layers.call("Divide", total, 2)
    return layers.call(COMBINED[reduction], elements, Ref(None, 2))


def migrate_scatter_elements_12(older: Step) -> Step:
    """Rewrite ScatterElementsUpdate-12 as version 3, and by another step before that."""
    return VersionStep("ScatterElementsUpdate", 12, _scatter_elements, older)


def migrate_scatter_nd_15(older: Step) -> Step:
    """Rewrite ScatterNDUpdate-15 as version 4, and by another step before that."""
    return VersionStep("ScatterNDUpdate", 15, _scatter_nd, older)
