"""What follows a product of quantized data, as far as releases compile it with the product, and a FakeQuantize."""

from collections.abc import Collection, Iterator, Sequence, Set
from itertools import dropwhile, takewhile
from math import isclose, prod

import numpy as np

from ir_tools.graph import Graph, Layer, Model
from ir_tools.known_differences.fusing_patterns import DECONVOLUTIONS, FACTORS, FUNCTIONS, SUMS
from ir_tools.known_differences.neighbours import (
    FAR,
    computed_sources,
    interpolates,
    made_from,
    number_of,
    numbers_of,
    producer_of,
    readers_of,
    sources_of,
    values_of,
    walked,
)
from ir_tools.known_differences.packed_weights import CARRYING, SHAPING
from ir_tools.known_differences.releases.seen import CONVOLUTIONS, Pattern
from ir_tools.known_differences.scale_patterns import REDUCED
from ir_tools.ops import Array

__all__ = [
    "BETWEEN",
    "OF_BYTES",
    "QUANTIZED_ON",
    "clamped_levels",
    "count_of_scales",
    "extreme_levels",
    "followed",
    "held_sizes",
    "is_bent_by_channel",
    "is_to_bytes",
    "scaled_levels",
]

OF_BYTES = CONVOLUTIONS | DECONVOLUTIONS | {"MatMul", "MVN"}
"""Types of layers whose data releases may leave in bytes."""
LEVELS = frozenset({"15", "16", "255", "256"})
"""Of a FakeQuantize that releases compute with in 8 bits. Measured."""
QUANTIZED_ON = CARRYING | {
    *("AvgPool", "BatchToSpace", "Broadcast", "Convert", "ConvertLike", "Interpolate", "Pad", "ReduceMax"),
    *("ReduceMin", "ShuffleChannels", "SpaceToBatch"),
}
"""Types of layers behind a FakeQuantize whose outputs releases keep in bytes. Measured."""
COMPILED_WITH_LEVELS = OF_BYTES | REDUCED | {"AvgPool", "GroupConvolutionBackpropData", "Interpolate", "NormalizeL2"}
"""Types of layers that are compiled with a FakeQuantize behind them. Measured."""
BETWEEN = 0.01
"""From which part of a level on a number lies between two of them."""
LINEAR = FACTORS | {"Negative"}
ACTIVATING = FUNCTIONS - {"Negative"} | {"PReLU"}
BENT = frozenset({"PReLU", "ReLU"})
"""Types of functions that a positive scale moves behind."""
SCALED_IN_BYTES = BENT | {"Clamp", "Divide", "Multiply", "Negative"}
"""Types of layers that a scale of bytes moves behind, and that do not need bytes themselves. Measured."""
NEGATED_BEHIND = (
    CONVOLUTIONS
    | SUMS
    | {
        *("AvgPool", "BatchNormInference", "Broadcast", "Interpolate", "MVN", "Pad", "ReduceMean", "ReduceSum"),
        *("Split", "StridedSlice", "Unsqueeze", "VariadicSplit"),
    }
)
"""Types of layers that a scale of either sign moves behind, or into. Measured."""


def is_bent_by_channel(graph: Graph, layer: Layer, constants: Collection[int]) -> bool:
    """Return whether a PReLU with several constant slopes is all that reads a layer, constant factors between."""
    for _ in range(FAR):
        readers = readers_of(graph, layer)
        if len(readers) != 1:
            return False
        (reader,) = readers
        if len(computed_sources(graph, reader, constants)) != 1:
            return False
        if reader.type == "PReLU":
            return producer_of(graph, reader) is layer and prod(reader.common.inputs[1].dims) > 1
        if reader.type != "Multiply":
            return False
        layer = reader
    return False


def followed(model: Model, graph: Graph, product: Layer, constants: Collection[int]) -> Iterator[str]:
    """Yield what is true of a product of quantized data by what is compiled with it."""
    chain = [*_chain_behind(graph, product, constants)]
    readers = readers_of(graph, chain[-1] if chain else product)
    levels = readers[0] if len(readers) == 1 and is_to_bytes(graph, readers[0], constants) else None
    if levels is not None:
        if all(one.type in FACTORS | {"ReLU"} for one in chain):
            yield Pattern.REQUANTIZED
            if _has_signed_weights(model, graph, product) and _is_by_channel(graph, product, chain, constants):
                yield Pattern.REQUANTIZED_BY_CHANNEL
        if _has_weights_of(graph, product, "u8") and any(_reads_bytes(graph, one) for one in readers_of(graph, levels)):
            yield Pattern.LEFT_IN_BYTES
    if product.type == "MatMul" and _has_misplaced_levels(graph, product, chain, constants):
        yield Pattern.MISPLACED_LEVELS
    yield from _adjusted(graph, product, chain, constants, levelled=levels is not None)
    if _has_signed_weights(model, graph, product):
        yield from _negated(model, graph, product, chain, constants)


def clamped_levels(model: Model, graph: Graph, clamp: Layer) -> Iterator[Pattern]:
    """Yield `BETWEEN_LEVELS` and `COMPILED_LEVELS` as far as they are true of a Clamp."""
    quantized = producer_of(graph, clamp)
    if quantized is None or quantized.type != "FakeQuantize":
        return
    low, high = (number_of(model, graph, quantized, place) for place in (3, 4))
    levels, limits = numbers_of(quantized, "levels"), _limits(clamp)
    if low is not None and high is not None and low < high:
        parts = [(limit - low) / (high - low) for limit in limits if low < limit < high]
        places = [part * (count - 1) for part in parts for count in levels]
        if all(isclose(place, round(place), abs_tol=BETWEEN) for place in places):
            return
    yield Pattern.BETWEEN_LEVELS
    before = made_from(graph, producer_of(graph, quantized), ACTIVATING | LINEAR)
    if before is not None and before.type in COMPILED_WITH_LEVELS:
        yield Pattern.COMPILED_LEVELS


def scaled_levels(model: Model, graph: Graph, quantized: Layer, constants: Collection[int]) -> Iterator[Pattern]:
    """Yield `SCALED_LEVELS` and `EVEN_LEVELS` as far as they are true of a FakeQuantize."""
    readers = readers_of(graph, quantized)
    scaling = [one for one in readers if _is_linear(graph, one, constants, LINEAR - SUMS)]
    if len(readers) == 1 and scaling:
        readers = readers_of(graph, scaling[0])
        scaling = [one for one in readers if one.type in OF_BYTES or _is_linear(graph, one, constants, LINEAR)]
    if len(readers) < 2 or not scaling:
        return
    yield Pattern.SCALED_LEVELS
    low, high = (values_of(model, graph, quantized, place) for place in (3, 4))
    if low is not None and high is not None and low.shape == high.shape and np.allclose(low, -high, rtol=1e-4):
        yield Pattern.EVEN_LEVELS


def extreme_levels(graph: Graph, quantized: Layer) -> bool:
    """Return whether a FakeQuantize of a maximum or minimum along axes is left in bytes by what reads it."""
    before = made_from(graph, producer_of(graph, quantized), ACTIVATING | LINEAR)
    extreme = before is not None and before.type in {"ReduceMax", "ReduceMin"}
    if not extreme or quantized.common.raw.get("levels") not in LEVELS:
        return False
    behind = walked(
        readers_of(graph, quantized), lambda one: readers_of(graph, one) if one.type in SCALED_IN_BYTES else ()
    )
    return any(
        one.type not in SCALED_IN_BYTES and (_reads_bytes(graph, one) or one.type in {"MVN", "NormalizeL2"})
        for one in behind
    )


def _is_linear(graph: Graph, reader: Layer, constants: Collection[int], types: Set[str]) -> bool:
    """Return whether a layer of one of these types has but one input that is not a constant."""
    sources = sources_of(graph, reader)
    computed = [source for source in sources if source is None or source.layer not in constants]
    return reader.type in types and len(computed) == 1


def _limits(clamp: Layer) -> list[float]:
    """Return the limits of a Clamp; none if they are not numbers."""
    try:
        return [float(clamp.common.raw.get(name, "nan")) for name in ("min", "max")]
    except ValueError:
        return []


def _chain_behind(graph: Graph, product: Layer, constants: Collection[int]) -> Iterator[Layer]:
    """Yield the functions, and shifts and scales by constants, each of which alone reads what is before."""
    layer = product
    for _ in range(FAR):
        readers = readers_of(graph, layer)
        if len(readers) != 1:
            return
        layer = readers[0]
        sizes = held_sizes(graph, layer, constants)
        if layer.type not in ACTIVATING | {"Negative"} and (sizes is None or prod(sizes) != max(sizes, default=1)):
            return
        yield layer


def _is_by_channel(graph: Graph, product: Layer, chain: Sequence[Layer], constants: Collection[int]) -> bool:
    """Return whether several numbers scale a product, and no constants shift what a ReLU makes of it."""
    shifted = any(one.type in SUMS for one in dropwhile(lambda one: one.type != "ReLU", chain))
    scales = [_count(graph, one, constants) for one in chain if one.type not in SUMS]
    return max(count_of_scales(graph, product), *scales, 1) > 1 and not shifted


def _has_misplaced_levels(graph: Graph, product: Layer, chain: Sequence[Layer], constants: Collection[int]) -> bool:
    """Return whether releases take limits along the last axis of quantized weights for those along another one.

    If the limits of inputs and outputs are along it, they do unless a scale follows, or, if it is summed, if scales for
    each column follow; if only the latter are, they do if a scale follows, or if it is summed.
    """
    levels = producer_of(graph, product, 1)
    if levels is None or levels.type != "FakeQuantize":
        return False
    along = [1 < prod(port.dims) == port.dims[-1] for port in levels.common.inputs[1:]]
    scales = [_count(graph, one, constants) for one in chain if one.type in {"Divide", "Multiply"}]
    summed = product.common.raw.get("transpose_b") == "true"
    if not any(along):
        return False
    if all(along):
        return max(scales, default=1) > 1 if summed else not scales
    return summed or bool(scales)


def _adjusted(
    graph: Graph, product: Layer, chain: Sequence[Layer], constants: Collection[int], *, levelled: bool
) -> Iterator[Pattern]:
    """Yield `ADJUSTED`, `ADJUSTED_LATER` and `ACTIVATED_BIAS` as far as they are true of a product.

    `levelled`: whether a FakeQuantize to bytes alone reads what the chain gives.
    """
    counts = [_count(graph, one, constants) for one in chain]
    first = next((place for place, one in enumerate(chain) if one.type in ACTIVATING), len(chain))
    before, behind = chain[:first], chain[first:]
    biases = [count for one, count in zip(before, counts, strict=False) if one.type in SUMS]
    last = len(chain) - levelled
    later = [
        place
        for place in range(first + 1, len(chain))
        if counts[place] > 1 and (chain[place].type == "PReLU" or place < last)
    ]
    if later == [first + 1] and chain[first + 1].type in {"Divide", "Multiply"} and chain[first].type in BENT:
        later *= bool(biases)
    sloped = any(one.type == "PReLU" and count > 1 for one, count in zip(chain, counts, strict=True))
    by_number = count_of_scales(graph, product) == 1
    moved = not biases and not by_number and [one.type in SUMS for one in behind[1:2]] == [True]
    if by_number and (later or (sloped and 1 in biases)):
        yield Pattern.ADJUSTED_LATER
    if later or sloped or (moved and behind[0].type in BENT and not levelled):
        yield Pattern.ADJUSTED
    numbers = zip(behind, counts[first:], strict=True)
    scaled = levelled or any(one.type in {"Divide", "Multiply"} and count == 1 for one, count in numbers)
    if behind and max(biases, default=0) > 1 and (scaled or by_number):
        yield Pattern.ACTIVATED_BIAS


def _negated(
    model: Model, graph: Graph, product: Layer, chain: Sequence[Layer], constants: Collection[int]
) -> Iterator[Pattern]:
    """Yield what of `NEGATED`, `NEGATED_UNBIASED` and `NEGATED_BY_CHANNEL` is true of a product."""
    before = [*takewhile(lambda one: one.type in LINEAR, chain)]
    bent, rest = chain[len(before) :], chain[len(before) + 1 :]
    if not bent or bent[0].type not in BENT:
        return
    signs = [*takewhile(lambda sign: sign is not None, (_signs(model, graph, one) for one in rest))]
    if not _is_negative(signs):
        return
    scales, rest = rest[: len(signs)], rest[len(signs) :]
    moving = [one for one in before if one.type not in SUMS]
    counts = [_count(graph, one, constants) for one in scales]
    if not _is_negative([_signs(model, graph, one) for one in moving]):
        counts += [count_of_scales(graph, product), *(_count(graph, one, constants) for one in moving)]
    by_channel = max(counts) > 1
    readers = readers_of(graph, scales[-1])
    if any(_moves_negated(model, graph, one, by_channel=by_channel) for one in readers):
        return
    if by_channel:
        yield Pattern.NEGATED_BY_CHANNEL
    yield Pattern.NEGATED
    fused = bool(rest) or [one.type for one in readers] == ["FakeQuantize"]
    if (by_channel or fused) and len(moving) == len(before):
        yield Pattern.NEGATED_UNBIASED


def _signs(model: Model, graph: Graph, layer: Layer) -> Array | None:
    """Return the signs of the number, or those for each channel, by which a layer multiplies; None if it does not."""
    if layer.type == "Negative":
        return np.full(1, -1)
    places = {"Multiply": (0, 1), "Divide": (1,)}.get(layer.type, ())
    found = [one for one in (values_of(model, graph, layer, place) for place in places) if one is not None]
    by_channel = len(found) == 1 and found[0].size == max(found[0].shape, default=1)
    return np.sign(found[0].ravel()) if by_channel else None


def _is_negative(signs: Sequence[Array | None]) -> bool:
    """Return whether a product of signs, each of a number or for each channel, is negative anywhere."""
    found = [one for one in signs if one is not None]
    if len({one.size for one in found} - {1}) > 1:
        return False
    return bool(found) and bool((np.prod(np.broadcast_arrays(*found), axis=0) < 0).any())


def _moves_negated(model: Model, graph: Graph, reader: Layer, *, by_channel: bool) -> bool:
    """Return whether a scale of either sign moves behind a layer that reads what is scaled."""
    if reader.type == "Multiply":
        return len({*sources_of(graph, reader)}) == 1
    if reader.type == "Pad":
        return number_of(model, graph, reader, 3) in {None, 0}
    if reader.type == "Clamp":
        return not by_channel
    return reader.type in NEGATED_BEHIND and not interpolates(reader)


def _count(graph: Graph, layer: Layer, constants: Collection[int]) -> int:
    """Return by how many numbers a layer shifts or scales, or how many slopes a PReLU has; 1 if it has none."""
    if layer.type == "PReLU":
        return max((prod(port.dims) for port in layer.common.inputs[1:]), default=1)
    return prod(held_sizes(graph, layer, constants) or ())


def _has_weights_of(graph: Graph, product: Layer, kind: str) -> bool:
    """Return whether the weights of a product are scaled constants of a type from which nothing is subtracted."""
    held = made_from(graph, producer_of(graph, product, 1), SHAPING | {"Multiply"})
    return held is not None and held.common.raw.get("element_type") == kind and count_of_scales(graph, product) > 0


def _has_signed_weights(model: Model, graph: Graph, product: Layer) -> bool:
    """Return whether weights of a product are scaled constants of i8, or quantized from negative numbers on."""
    levels = made_from(graph, producer_of(graph, product, 1), SHAPING)
    if levels is None or levels.type != "FakeQuantize":
        return _has_weights_of(graph, product, "i8")
    lowest = values_of(model, graph, levels, 3)
    return lowest is not None and bool((lowest < 0).any())


def _reads_bytes(graph: Graph, layer: Layer) -> bool:
    """Return whether releases leave quantized data that a layer reads in bytes."""
    return layer.type in QUANTIZED_ON | REDUCED or (layer.type in OF_BYTES and count_of_scales(graph, layer) > 0)


def count_of_scales(graph: Graph, product: Layer) -> int:
    """Return how many numbers scale the weights of a product, or limit the levels of them; 0 if none do."""
    layer = made_from(graph, producer_of(graph, product, 1), SHAPING)
    if layer is None or layer.type not in {"FakeQuantize", "Multiply"}:
        return 0
    sizes = [prod(port.dims) for port in layer.common.inputs]
    return max(sizes[1:], default=0) if layer.type == "FakeQuantize" else min(sizes, default=0)


def is_to_bytes(graph: Graph, layer: Layer, constants: Collection[int]) -> bool:
    """Return whether a layer is a FakeQuantize between constant numbers, to levels of 4 or 8 bits."""
    if layer.type != "FakeQuantize" or layer.common.raw.get("levels") not in LEVELS:
        return False
    limits = [source is not None and source.layer in constants for source in sources_of(graph, layer)[1:]]
    return all(limits) and {size for port in layer.common.inputs[1:] for size in port.dims} <= {1}


def held_sizes(graph: Graph, reader: Layer, constants: Collection[int]) -> tuple[int, ...] | None:
    """Return the sizes of the constant that a layer shifts or scales by; None if it does not."""
    if reader.type not in FACTORS:
        return None
    ports = zip(sources_of(graph, reader), reader.common.inputs, strict=True)
    sizes = [tuple(port.dims) for source, port in ports if source is not None and source.layer in constants]
    return sizes[0] if len(sizes) == 1 else None
