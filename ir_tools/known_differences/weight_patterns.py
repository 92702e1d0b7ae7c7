"""Constants that multiply quantized data, as they decide about how releases compute with both in bytes."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from math import prod

import numpy as np

from ir_tools.graph import Graph, Layer, Model
from ir_tools.known_differences.follower_patterns import BETWEEN, held_sizes
from ir_tools.known_differences.fusing_patterns import SUMS
from ir_tools.known_differences.neighbours import (
    FAR,
    VIEWS,
    made_from,
    numbers_of,
    producer_of,
    readers_of,
    values_of,
)
from ir_tools.known_differences.packed_weights import SCALING, SHAPING, PackedWeights
from ir_tools.known_differences.releases.seen import NUMBER, Pattern
from ir_tools.known_differences.scale_patterns import REDUCED, axis_left
from ir_tools.ops import Array, Role, role_of

__all__ = ["BYTES", "of_weights"]

SCALED_LATER = frozenset({"Pad", "Split", "StridedSlice", "VariadicSplit"})
"""Types of layers that a scale moves behind, as behind reductions. Measured."""
SCALED_LATER_BY_NUMBER = SCALED_LATER | {"Clamp", "MVN", "NormalizeL2"}
"""Those that a number moves behind. Measured."""
MOVED_BEHIND_BY_NUMBER = VIEWS | {"Transpose"}
IN_BYTES = frozenset({"i8", "u8"})
BYTES = frozenset({255, 256})
"""Of how many levels all bytes stand for one, and all but one."""
FEWEST, FEW = 15, 16
"""How many levels weights have that releases compute with in bytes. Measured."""


def of_weights(
    model: Model, graph: Graph, product: Layer, constants: Collection[int], origins: dict[int, Layer | None]
) -> Iterator[str]:
    """Yield what is true of a product of quantized data as its weights decide; `origins`: of `PackedWeights`."""
    source = producer_of(graph, product, 1)
    if source is None or source.id not in constants:
        return
    if source.type == "FakeQuantize":
        yield from _of_levels(model, graph, product, source)
        return
    held = made_from(graph, source, SHAPING | SCALING)
    weights = None
    if held is not None and role_of(held) is Role.CONSTANT:
        weights = PackedWeights.of(model, graph, held, origins)
    if weights is None or weights.kind not in IN_BYTES:
        return
    if product.type == "GroupConvolution" and weights.scale is not None and _is_for_part(product, weights.scale):
        yield Pattern.SCALED_IN_PART
    if product.type == "GroupConvolution" and weights.zero and _sizes_of_groups(product, weights.zeros)[1] > 1:
        yield Pattern.ZEROS_OF_FILTERS
    if _has_zeros_between(weights):
        yield Pattern.ZEROS_BETWEEN_BYTES
    if weights.zero in IN_BYTES:
        yield Pattern.LESS_BYTES
        yield from [Pattern.LESS_BYTES_ALONE] * (weights.scale is None)
    scaled = weights.zero and weights.scale is not None
    if scaled and product.type == "ConvolutionBackpropData" and _leaves_bytes(weights):
        yield Pattern.BEYOND_BYTES
    if product.type == "MatMul":
        yield from _of_columns(model, graph, product, constants, weights)


def _of_levels(model: Model, graph: Graph, product: Layer, levels: Layer) -> Iterator[Pattern]:
    """Yield what is true of a product whose weights a FakeQuantize gives."""
    axes = {axis for port in levels.common.inputs[1:] for axis in _axes_of(levels, port.dims)}
    if product.type == "GroupConvolution" and any(
        _is_for_part(product, port.dims) for port in levels.common.inputs[1:]
    ):
        yield Pattern.SCALED_IN_PART
    if not any(port.dims for port in levels.common.inputs[1:]):
        yield Pattern.LEVELS_WITHOUT_AXES
    if axes == {1}:
        yield Pattern.LEVELS_OF_INPUTS
    elif len(axes) > 1 or max(axes, default=0) > 1:
        yield Pattern.LEVELS_ALONG_MORE
    low, high = (values_of(model, graph, levels, place) for place in (3, 4))
    counts = numbers_of(levels, "levels")
    count, between = (counts or [0])[0], True
    with suppress(ValueError):
        between = low is None or high is None or _has_zero_between(low, high, count)
    if count in BYTES and between:
        yield Pattern.ZERO_BETWEEN_LEVELS
    elif count == FEWEST or (count == FEW and (between or product.type == "MatMul")):
        yield Pattern.FEW_LEVELS


def _axes_of(levels: Layer, sizes: Sequence[int]) -> Iterator[int]:
    """Yield along which axes of the data limits differ that have such sizes."""
    rank = len(levels.common.inputs[0].dims)
    yield from (axis for axis, size in enumerate(sizes, rank - len(sizes)) if size != 1)


def _sizes_of_groups(product: Layer, sizes: Sequence[int]) -> tuple[int, int]:
    """Return for how many groups, and filters of a group, numbers of such sizes differ."""
    groups, filters, *_ = (*(1,) * (len(product.common.inputs[1].dims) - len(sizes)), *sizes, 1, 1)
    return groups, filters


def _is_for_part(product: Layer, sizes: Sequence[int]) -> bool:
    """Return whether numbers of such sizes are one for each group of filters, or one for each filter of all groups."""
    return 1 < prod(_sizes_of_groups(product, sizes)) < prod(product.common.inputs[1].dims[:2])


def _has_zero_between(lows: Array, highs: Array, count: int) -> bool:
    """Return whether the number 0 is between two levels, of those of so many between the limits.

    Raises:
        ValueError: the sizes of the limits do not fit.
    """
    low, high = lows.astype(np.float64), highs.astype(np.float64)
    with np.errstate(all="ignore"):
        places = -low * (count - 1) / (high - low)
        between = np.abs(places - np.round(places)) > BETWEEN
    return bool((between & (low < 0) & (high > 0)).any())


def _has_zeros_between(weights: PackedWeights) -> bool:
    """Return whether a zero point is no integer."""
    shifts = weights.shifts
    return shifts is not None and bool((np.abs(shifts - np.round(shifts)) > BETWEEN).any())


def _leaves_bytes(weights: PackedWeights) -> bool:
    """Return whether weights less their zero points may be beyond the range of their type."""
    shifts, stored = weights.shifts, weights.stored
    if shifts is None or stored is None:
        return True
    with suppress(ValueError):
        left, limits = stored.astype(np.float64) - shifts.astype(np.float64), np.iinfo(stored.dtype)
        return bool(((left < limits.min) | (left > limits.max)).any())
    return False


def _of_columns(
    model: Model, graph: Graph, product: Layer, constants: Collection[int], weights: PackedWeights
) -> Iterator[str]:
    """Yield what is true of a MatMul by weights of 8 bits."""
    scaling = weights.scaling(product)
    shifts = weights.shifts
    if weights.zero and (shifts is None or shifts.any()):
        if weights.kind == "u8" and scaling in {"output", "number"}:
            as_floats = weights.zero != "u8" or len(weights.zeros) < 2
            yield from [Pattern.LESS_OF_UNSIGNED] * (as_floats or weights.shifting(product) in {"output", "number"})
            equal = shifts is None or bool((shifts == shifts.flat[0]).all())
            yield from [Pattern.COLUMNS_LESS_A_FLOAT] * (as_floats and equal and scaling == "output")
        return
    if scaling == "output" and all(one.type not in VIEWS for one in readers_of(graph, product)):
        yield Pattern.BYTE_COLUMNS
    elif scaling == "number":
        yield Pattern.BYTES_BY_NUMBER
    if weights.kind == "u8" and scaling in {"output", "number"}:
        yield Pattern.UNSIGNED_WEIGHTS
        if _is_scaled_at_once(model, graph, product, constants, by_number=scaling == "number"):
            yield Pattern.SCALED_AT_ONCE
        if _is_biased(graph, product, constants):
            yield Pattern.BIASED


def _is_for_columns(sizes: tuple[int, ...], product: Layer) -> bool:
    """Return whether constants are one for each column of a product."""
    columns = [port.dims[-1] for port in product.common.outputs[:1] if port.dims]
    return columns == [*sizes[-1:]] == [prod(sizes)]


def _is_before(model: Model, graph: Graph, reader: Layer, *, by_number: bool) -> bool:
    """Return whether the scale of a product moves behind a layer: a number, or one for each column."""
    if reader.type in REDUCED:
        axis = NUMBER if by_number else len(reader.common.inputs[0].dims) - 1
        return any(True for _ in axis_left(model, graph, reader, axis))
    return reader.type in (SCALED_LATER_BY_NUMBER if by_number else SCALED_LATER)


def _is_scaled_at_once(
    model: Model, graph: Graph, product: Layer, constants: Collection[int], *, by_number: bool
) -> bool:
    """Return whether no layer behind a product is computed before it is scaled but what is compiled with it."""
    layer, activated = product, False
    for _ in range(FAR):
        readers = readers_of(graph, layer)
        if len(readers) != 1:
            shifted = not by_number and layer.type in SUMS
            return (
                shifted
                or any(_scales(graph, one, constants) for one in readers)
                or not any(
                    one.type in SUMS | {"ReLU"} or _is_before(model, graph, one, by_number=by_number) for one in readers
                )
            )
        sizes = held_sizes(graph, readers[0], constants)
        if sizes is not None:
            by_column = prod(sizes) > 1 and _is_for_columns(sizes, product)
            scaled = readers[0].type not in SUMS
            if activated or not (by_column or (prod(sizes) == 1 and (scaled or not by_number))):
                return False
        elif readers[0].type == "ReLU":
            activated = True
        elif not (by_number and readers[0].type in MOVED_BEHIND_BY_NUMBER):
            return not _is_before(model, graph, readers[0], by_number=by_number)
        layer = readers[0]
    return False


def _scales(graph: Graph, reader: Layer, constants: Collection[int]) -> bool:
    """Return whether a layer scales by constants."""
    return reader.type not in SUMS and held_sizes(graph, reader, constants) is not None


def _is_biased(graph: Graph, product: Layer, constants: Collection[int]) -> bool:
    """Return whether constants for each column shift a product, scaled by constants or not.

    They do if several layers read it, one of which scales it.
    """
    layer = product
    for _ in range(FAR):
        readers = readers_of(graph, layer)
        biased = any(
            one.type in SUMS and _is_for_columns(held_sizes(graph, one, constants) or (), product) for one in readers
        )
        scaling = [one for one in readers if _scales(graph, one, constants)]
        if biased or len(readers) != 1 or not scaling:
            return biased and (len(readers) == 1 or bool(scaling))
        layer = scaling[0]
    return False
