"""Convolutions by stored filters of one element, which releases from 2026.1 on compile as a MatMul of the last axis.

The MatMul takes the place of a Transpose or Reshape in front and of one behind as well, whatever these do. Measured.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ir_tools.graph import Graph, Layer, Model
from ir_tools.known_differences.neighbours import integers, made_from, numbers_of, producer_of, readers_of
from ir_tools.known_differences.packed_weights import KINDS, SCALING, SHAPING, PackedWeights
from ir_tools.known_differences.releases.seen import CONVOLUTIONS, ELEMENTWISE, Pattern
from ir_tools.ops import Role, role_of

__all__ = ["of_single_elements"]

RANK = 4
SINGLE = (1, 1)
CHANNELS_FIRST, CHANNELS_LAST = [0, 3, 1, 2], [0, 2, 3, 1]


class Change(NamedTuple):
    """What a layer in front or behind does with the shape.

    Attributes:
        type: `Transpose`, `Reshape`, or empty for any other layer. A Transpose that moves single elements alone is a
            Reshape.
        order: of a Transpose.
    """

    type: str = ""
    order: Sequence[int] = ()


def of_single_elements(
    model: Model, graph: Graph, convolution: Layer, origins: dict[int, Layer | None]
) -> Iterator[Pattern]:
    """Yield what is true of a convolution by stored filters of one element; `origins`: of `PackedWeights`."""
    data, filters = [*(port.dims for port in convolution.common.inputs), (), ()][:2]
    if filters[2:] != SINGLE or len(data) != RANK:
        return
    if not _is_stored(model, graph, producer_of(graph, convolution, 1), origins):
        return
    source = producer_of(graph, convolution)
    before = Change() if source is None else _change(model, graph, source)
    behind = [_change(model, graph, one) for one in _behind(graph, convolution)]
    after = behind[0] if len(behind) == 1 else Change()
    pads = _pads(convolution)
    if data[2:] == SINGLE and not pads:
        if before == Change("Reshape") and (after == Change() or list(after.order) not in ([], CHANNELS_LAST)):
            yield Pattern.MULTIPLIED_OTHERWISE_LATE
        return
    steps = any(step > 1 for step in numbers_of(convolution, "strides"))
    stepping = pads or (steps and not _gives_steps(graph, source))
    if before.type == "Transpose":
        for one in behind:
            yield from _early(data, before, one, stepping=stepping)
    yield from _late(before, after, stepping=stepping)


def _early(data: Sequence[int], before: Change, after: Change, *, stepping: bool) -> Iterator[Pattern]:
    """Yield what is true up to 2026.3, between a Transpose and such a layer or a Reshape."""
    if not after.type:
        return
    if before.order[1] != RANK - 1:
        yield Pattern.MULTIPLIED_OTHERWISE
    elif stepping or not (_is_back(before, after) if after.type == "Transpose" else _is_plain(before)):
        yield Pattern.MULTIPLIED
    elif after.type == "Reshape":
        yield Pattern.MULTIPLIED_IN_ORDER
    elif data[0] == 1 and data[before.order.index(1)] != 1:
        yield Pattern.MULTIPLIED_AT_ONCE


def _late(before: Change, after: Change, *, stepping: bool) -> Iterator[Pattern]:
    """Yield what is true of 2026.4, which leaves two Transposes that do not fit as they are."""
    if before.type != "Transpose":
        turned = after.type == "Transpose" and list(after.order) != CHANNELS_LAST
        yield from [Pattern.MULTIPLIED_LATE] * (bool(after.type) and (stepping or turned))
    elif after.type != "Transpose" or _is_back(before, after):
        if before.order[1] != RANK - 1:
            yield Pattern.MULTIPLIED_OTHERWISE_LATE
        elif stepping or (after.type != "Transpose" and not _is_plain(before)):
            yield Pattern.MULTIPLIED_DATA_LATE


def _is_plain(before: Change) -> bool:
    """Return whether a Transpose moves the channels from the last axis to the second, and nothing else."""
    return list(before.order) == CHANNELS_FIRST


def _is_back(before: Change, after: Change) -> bool:
    """Return whether one Transpose moves the axes to where they were before another."""
    return [before.order[axis] for axis in after.order] == [*range(RANK)]


def _is_stored(model: Model, graph: Graph, filters: Layer | None, origins: dict[int, Layer | None]) -> bool:
    """Return whether filters in their shape are integers of few bits, scaled, and shifted by such ones alone."""
    held = made_from(graph, filters, SHAPING | SCALING)
    if held is None or role_of(held) is not Role.CONSTANT or held.common.outputs[0].dims[-2:] != SINGLE:
        return False
    weights = PackedWeights.of(model, graph, held, origins)
    return weights is not None and weights.scale is not None and weights.zero in KINDS | {""}


def _pads(convolution: Layer) -> bool:
    """Return whether a convolution by filters of one element pads its data."""
    if convolution.common.raw.get("auto_pad", "explicit").lower() not in {"explicit", "notset"}:
        return False
    return any(pad for name in ("pads_begin", "pads_end") for pad in numbers_of(convolution, name))


def _gives_steps(graph: Graph, source: Layer | None) -> bool:
    """Return whether strides move in front of the layer that gives the data."""
    return source is not None and source.type in ELEMENTWISE | CONVOLUTIONS and len(readers_of(graph, source)) == 1


def _behind(graph: Graph, convolution: Layer) -> list[Layer]:
    """Return the layers that read what a convolution gives, behind a sum with a constant and a Convert."""
    layer = convolution
    for type in ("Add", "Convert"):
        readers = readers_of(graph, layer)
        if len(readers) == 1 and readers[0].type == type:
            others = [graph.layer(source.layer) for source in graph.sources(readers[0].id).values()]
            if all(one is layer or role_of(one) is Role.CONSTANT for one in others):
                layer = readers[0]
    return readers_of(graph, layer)


def _change(model: Model, graph: Graph, layer: Layer) -> Change:
    """Return what a layer does with the shape of what it reads."""
    order = integers(model, graph, layer, 1)
    if layer.type not in {"Reshape", "Transpose"} or order is None or not layer.common.inputs:
        return Change()
    axes, sizes = order.tolist(), layer.common.inputs[0].dims
    if layer.type == "Reshape":
        return Change("Reshape")
    if len(sizes) != RANK or sorted(axes) != [*range(RANK)]:
        return Change()
    moved = [axis for axis in axes if sizes[axis] != 1]
    return Change("Reshape" if all(one < other for one, other in pairwise(moved)) else "Transpose", axes)
