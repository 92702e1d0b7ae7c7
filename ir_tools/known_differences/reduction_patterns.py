"""What reductions are part of: means of squares, normalizations, and reductions behind reductions."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.known_differences.neighbours import (
    COMPARISONS,
    MOVED,
    VIEWS,
    integers,
    number_of,
    producer_of,
    readers_of,
    sources_of,
    walked,
)
from ir_tools.known_differences.releases.seen import ELEMENTWISE, Pattern

__all__ = ["extremes_of_parts", "mean_squares", "merged_reductions", "misshaped", "normalizes", "spread"]

SPREADING = ELEMENTWISE | COMPARISONS | {"Broadcast", "Select"}
"""Types of layers that combine a number with a tensor."""
ADDING = frozenset({"Reshape", "Unsqueeze"})
"""Types of layers that give the dimensions of their first input, and others of 1."""
SPATIAL = 4
"""How many dimensions 2021 gives tensors of fewer."""
EXTREMES = frozenset({"ReduceMax", "ReduceMin"})
PARTS = 2
"""Types of reductions, and of how many parts of a Concat, that are taken for elementwise layers. Measured."""
DIVIDING = frozenset({"Divide", "Multiply"})
"""Types of layers that divide, by a number or by its inverse."""


def merged_reductions(model: Model, graph: Graph, reduction: Layer) -> Iterator[str]:
    """Yield `BY_NUMBER`, `REPEATED` and `SHIFTED` as far as they are true of a reduction behind one of its type.

    Releases write the axes of both in one list, as they are, if the dimensions of the data stay, or if the axes of the
    first are behind those of the second.
    """
    before = producer_of(graph, reduction)
    if before is None or before.type != reduction.type:
        return
    kept = [(layer.common.raw.get("keep_dims") or "false").lower() for layer in (before, reduction)]
    first, second = (integers(model, graph, layer, 1) for layer in (before, reduction))
    if kept[0] != kept[1] or first is None or second is None or not before.common.inputs[0].dims:
        return
    rank = len(before.common.inputs[0].dims)
    left = rank if kept[0] == "true" else rank - first.size
    axes = [int(axis) % rank for axis in first.flat]
    own = [int(axis) % max(left, 1) for axis in second.flat]
    if kept[0] != "true" and max(own, default=-1) >= min(axes, default=0):
        return
    if first.ndim == 0 or second.ndim == 0 or first.dtype != second.dtype:
        yield Pattern.BY_NUMBER
    written = [int(axis) % rank for axis in (*first.flat, *second.flat)]
    if kept[0] != "true" and len({*written}) < len(written):
        yield Pattern.REPEATED
    elif {*written} != {*axes, *own}:
        yield Pattern.SHIFTED


def misshaped(model: Model, graph: Graph, reduction: Layer) -> Iterator[str]:
    """Yield what is true of a reduction of constant axes behind or before layers that move dimensions of 1. Measured.

    Releases exchange them, and lose dimensions or reduce others.
    """
    axes = integers(model, graph, reduction, 1)
    before = producer_of(graph, reduction)
    if axes is None or before is None or not reduction.common.inputs[0].dims or not reduction.common.outputs:
        return
    read, given = reduction.common.inputs[0].dims, reduction.common.outputs[0].dims
    reduced = {int(axis) % len(read) for axis in axes.flat}
    if before.type in ADDING and graph.reads(before.id, before.common.outputs[0].id) == 1:
        yield from _expanded(before, reduction, [*map(int, axes.flat)])
    if len(read) == len(given):
        return
    order = integers(model, graph, before, 1) if before.type == "Transpose" else None
    if order is not None and order.size == len(read):
        reduced = {int(order.flat[axis]) for axis in reduced}
        rest = tuple(size for axis, size in enumerate(before.common.inputs[0].dims) if axis not in reduced)
        if -1 not in rest and _moves_a_one(rest, given, reduced):
            yield Pattern.TRANSPOSED_TO_REDUCE
    for reader in walked(readers_of(graph, reduction), partial(_views_of, graph)):
        found = reader.common.outputs[0].dims if reader.type in {*VIEWS, "Transpose"} else ()
        left = [axis for axis, size in enumerate(found) if size != 1 or axis not in reduced]
        if _moves_a_one(given, found, reduced) and (reader.type == "Transpose" or len(left) == 1):
            yield Pattern.RESHAPED_AFTER
            return


def _views_of(graph: Graph, layer: Layer) -> list[Layer]:
    return readers_of(graph, layer) if layer.type in VIEWS else []


def _moves_a_one(before: Sequence[int], after: Sequence[int], reduced: Collection[int]) -> bool:
    """Return whether dimensions differ in that a 1, now at an axis of `reduced`, is moved across one other one."""
    if len(before) != len(after):
        return False
    places = [axis for axis, sizes in enumerate(zip(before, after, strict=True)) if len({*sizes}) == 2]
    first, last = (places[0], places[-1]) if len(places) == 2 else (0, 0)
    between = {*after[first + 1 : last]}
    return first < last and between <= {1} and any(after[axis] == 1 and axis in reduced for axis in places)


def _expanded(view: Layer, reduction: Layer, axes: Sequence[int]) -> Iterator[str]:
    """Yield what is true of a reduction of data that alone a view of more dimensions gives, none of them reduced."""
    data, dims, added = view.common.inputs[0].dims, view.common.outputs[0].dims, _added(view)
    reduced = {axis % len(dims) for axis in axes}
    if not added or -1 in (*data, *dims) or not reduced.isdisjoint(added):
        return
    if len(dims) - len(added) < len(data):
        yield Pattern.EXPANDED_TO_REDUCE
    own = {axis: axis % len(dims) - sum(one < axis % len(dims) for one in added) for axis in axes if axis < 0}
    if any(axis < -len(data) for axis in own):
        yield Pattern.REDUCED_BEFORE_THE_FIRST
    elif any(axis % len(data) != place for axis, place in own.items()):
        yield Pattern.REDUCED_FROM_THE_END
    wanted = [1 if axis in reduced else size for axis, size in enumerate(dims)]
    found = [size for axis, size in enumerate(wanted) if axis not in added]
    for axis in added:
        found.insert(axis - sum(one < axis for one in reduced), 1)
    if len(reduction.common.outputs[0].dims) == len(dims) and found != wanted:
        yield Pattern.UNSQUEEZED_AND_KEPT if view.type == "Unsqueeze" else Pattern.EXPANDED_AND_KEPT


def _added(view: Layer) -> list[int]:
    """Return the axes of 1 that a view of more dimensions than its data have gives beside these, in their order."""
    left, added = [*view.common.inputs[0].dims], list[int]()
    if len(left) >= len(view.common.outputs[0].dims):
        return []
    for axis, size in enumerate(view.common.outputs[0].dims):
        if left and left[0] == size:
            left.pop(0)
        elif size == 1:
            added.append(axis)
        else:
            return []
    return added


def extremes_of_parts(model: Model, graph: Graph, reduction: Layer) -> Iterator[str]:
    """Yield `PAIRED` or `UNPAIRED` if a reduction is of two parts that a Concat joins along its axis.

    Releases do not see it if the Concat counts its axis from the last one, and are right for parts of one element.
    """
    joined = producer_of(graph, reduction)
    if reduction.type not in EXTREMES or joined is None or joined.type != "Concat":
        return
    text, axes = joined.common.raw.get("axis", ""), integers(model, graph, reduction, 1)
    parts, rank = [port.dims for port in joined.common.inputs], len(joined.common.outputs[0].dims)
    if len(parts) != PARTS or axes is None or axes.size != 1 or text not in map(str, range(rank)):
        return
    axis = int(text)
    if any(len(dims) != rank for dims in parts) or int(axes.flat[0]) % rank != axis:
        return
    sizes = {dims[axis] for dims in parts}
    if sizes != {1}:
        yield Pattern.UNPAIRED if len(sizes) == PARTS and min(sizes) > 1 else Pattern.PAIRED


def mean_squares(model: Model, graph: Graph, mean: Layer, constants: Collection[int]) -> Iterator[str]:
    """Yield `MEAN_SQUARE` or `NEWER_MEAN_SQUARE` if a ReduceMean along the last axis shows it.

    Until 2026.1 the axis is -1, and data are divided by a Sqrt, or multiplied by what 1 divided by it or its power -1
    gives. 2026.2 takes an axis from the front, and a power -0.5 in place of the Sqrt, for the same. Data less their
    mean are normalized by one layer in most of these forms, which is compiled first.
    """
    squares = producer_of(graph, mean) if mean.type == "ReduceMean" else None
    axes, rank = integers(model, graph, mean, 1), len(mean.common.inputs[0].dims) if mean.common.inputs else 0
    if (
        squares is None
        or not _is_square(model, graph, squares)
        or axes is None
        or axes.size != 1
        or int(axes.flat[0]) not in (-1, rank - 1)
    ):
        return
    centered = normalizes(model, graph, mean)
    data = next(iter(sources_of(graph, squares)), None)
    if data is None:
        return
    readers = readers_of(graph, mean)
    readers += [one for view in readers if view.type in MOVED for one in readers_of(graph, view)]
    for added in filter(lambda one: one.type == "Add" and _has_constant(graph, one, constants), readers):
        for root in readers_of(graph, added):
            exponent = _exponent(model, graph, root)
            if (root.type == "Sqrt" or exponent == -0.5) and any(
                _scales_last(graph, behind, constants)
                for divided in _divided(model, graph, root, data, constants)
                if not (centered and _is_known_division(graph, divided))
                for behind in readers_of(graph, divided)
            ):
                yield Pattern.MEAN_SQUARE if exponent is None and int(axes.flat[0]) == -1 else Pattern.NEWER_MEAN_SQUARE
                return


def spread(graph: Graph, reduction: Layer) -> Iterator[str]:
    """Yield `SPREAD` if it is true of a reduction to a number."""

    def combined(layer: Layer) -> Iterator[Layer]:
        """Yield the elementwise layers that read a number."""
        if not any(port.dims for port in layer.common.outputs):
            yield from (one for one in readers_of(graph, layer) if one.type in SPREADING)

    behind = (one for one in walked([reduction], combined) if one is not reduction)
    if any(0 < len(port.dims) < SPATIAL for one in behind for port in one.common.outputs[:1]):
        yield Pattern.SPREAD


def normalizes(model: Model, graph: Graph, mean: Layer) -> bool:
    """Return whether a mean, along the last axis and others or not, is one of a normalization that is written out.

    It is subtracted from data, or is that of the squares of the differences, which are divided by its root.
    """
    axes, rank = integers(model, graph, mean, 1), len(mean.common.inputs[0].dims) if mean.common.inputs else 0
    squares = producer_of(graph, mean)
    if squares is None or axes is None or rank - 1 not in axes.ravel() % max(rank, 1):
        return False
    differences = [producer_of(graph, squares)] if _is_square(model, graph, squares) else readers_of(graph, mean)
    centered = (one for one in differences if one is not None and _is_centered(graph, one))
    readers = [one for difference in centered for one in readers_of(graph, difference)]
    squared = [one for one in readers if _is_square(model, graph, one)]
    return bool(squared) and any(_is_known_division(graph, one) for one in readers if one not in squared)


def _is_square(model: Model, graph: Graph, layer: Layer) -> bool:
    """Return whether a layer computes squares as releases know them: by a Power."""
    return _exponent(model, graph, layer) == 2


def _is_centered(graph: Graph, difference: Layer) -> bool:
    """Return whether a layer subtracts from data their mean."""
    mean = producer_of(graph, difference, 1) if difference.type == "Subtract" else None
    return (
        mean is not None
        and mean.type == "ReduceMean"
        and sources_of(graph, mean)[:1] == sources_of(graph, difference)[:1]
    )


def _divided(model: Model, graph: Graph, root: Layer, data: Source, constants: Collection[int]) -> Iterator[Layer]:
    """Yield the layers that divide data by a root, or multiply them by its inverse; a Power is such an inverse."""
    inverses = {root.id} if root.type == "Power" else set[int]()
    for behind in readers_of(graph, root) if root.type == "Sqrt" else ():
        by_number = behind.type == "Divide" and _has_constant(graph, behind, constants)
        if by_number or _exponent(model, graph, behind) == -1:
            inverses.add(behind.id)
    readers = (one for number in {root.id, *inverses} for one in readers_of(graph, graph.layer(number)))
    for one in (reader for reader in readers if reader.type in DIVIDING):
        sources = sources_of(graph, one)
        others = {source.layer for source in sources if source is not None and source != data}
        if data in sources and (
            (one.type == "Divide" and others == {root.id}) or (one.type == "Multiply" and others <= inverses)
        ):
            yield one


def _is_known_division(graph: Graph, layer: Layer) -> bool:
    """Return whether a layer divides as releases know it: by a tensor, or by the power -1 of a Sqrt. Measured."""
    factors = [graph.layer(source.layer) for source in sources_of(graph, layer) if source is not None]
    roots = [producer_of(graph, one) for one in factors if one.type == "Power"]
    return layer.type == "Divide" or (layer.type == "Multiply" and any(one and one.type == "Sqrt" for one in roots))


def _has_constant(graph: Graph, layer: Layer, constants: Collection[int]) -> bool:
    return any(source is not None and source.layer in constants for source in sources_of(graph, layer))


def _exponent(model: Model, graph: Graph, layer: Layer) -> float | None:
    """Return the exponent of a Power, if it is a constant number."""
    return number_of(model, graph, layer, 1) if layer.type == "Power" else None


def _scales_last(graph: Graph, layer: Layer, constants: Collection[int]) -> bool:
    """Return whether a layer multiplies by a constant number, or by one for each element of the last axis."""
    if layer.type != "Multiply":
        return False
    held = (
        port.dims
        for port, source in zip(layer.common.inputs, sources_of(graph, layer), strict=True)
        if source is not None and source.layer in constants
    )
    return any({*dims[:-1]} <= {1} for dims in held)
