"""Products of quantized data, and with weights of 8 bits, as it decides about how releases scale them."""

from collections.abc import Collection, Iterator
from math import isclose, prod

from ir_tools.graph import Graph, Layer, Model, Source
from ir_tools.known_differences.follower_patterns import (
    BETWEEN,
    QUANTIZED_ON,
    count_of_scales,
    followed,
    held_sizes,
    is_to_bytes,
)
from ir_tools.known_differences.fusing_patterns import FACTORS, SUMS
from ir_tools.known_differences.neighbours import (
    FAR,
    integers,
    interpolates,
    number_of,
    readers_of,
    sources_of,
    uniform_of,
)
from ir_tools.known_differences.releases.seen import CONVOLUTIONS, Pattern
from ir_tools.known_differences.scale_patterns import CHANNEL, REDUCED, axis_left
from ir_tools.known_differences.weight_patterns import BYTES, of_weights

__all__ = ["in_bytes"]

QUANTIZED_LATE = frozenset({"BatchToSpace", "Broadcast", "Concat", "Gather", "Slice", "SpaceToBatch", "Unsqueeze"})
"""Those of `QUANTIZED_ON` that releases before 2022.1 do not compute with in bytes."""
BEHIND = {"AvgPool": Pattern.AVERAGED, "Broadcast": Pattern.SPREAD_OUT, "Slice": Pattern.CUT}
"""What is true of a layer of quantized data behind some of them."""
NARROW = 255
"""How many levels bytes have that stand for numbers and their opposites."""
LAST_BYTE = 255
SHIFTED = CONVOLUTIONS | {"MatMul"}
"""Types of layers that zero points of quantized data are made for of numbers added to these. Measured."""
SCALED_BEHIND = frozenset(
    {
        *("AdaptiveAvgPool", "AvgPool", "BatchNormInference", "Broadcast", "FakeQuantize", "Gather", "MaxPool"),
        *("Negative", "PReLU", "ReLU", "ShuffleChannels", "Split", "StridedSlice", "Unsqueeze"),
        "VariadicSplit",
    }
)
"""Types of layers that a scale moves behind if others read what is scaled, too. Measured."""
SCALED_BEHIND_BY_NUMBER = REDUCED | {
    *("BatchToSpace", "Clamp", "DepthToSpace", "Reshape", "Slice", "SpaceToBatch", "Squeeze"),
    "Transpose",
}
"""Those that only a number surely moves behind. Measured."""


def in_bytes(
    model: Model, graph: Graph, product: Layer, constants: Collection[int], origins: dict[int, Layer | None]
) -> Iterator[str]:
    """Yield what is true of a layer of quantized data; `origins`: of `PackedWeights`."""
    found = [*_quantized(model, graph, product, constants)]
    yield from found
    if not found or product.type == "MVN":
        return
    if _is_scaled_apart(model, graph, product, constants):
        yield Pattern.SCALED_APART
    yield from followed(model, graph, product, constants)
    yield from of_weights(model, graph, product, constants, origins)


def _quantized(model: Model, graph: Graph, product: Layer, constants: Collection[int]) -> Iterator[Pattern]:
    """Yield `QUANTIZED` and what of it is true of a product, but not what its weights decide."""
    kinds = set[str]()
    found = _quantized_before(model, graph, product, constants, kinds)
    limits = {(shift, *(number_of(model, graph, one, place) for place in range(1, 5))) for one, shift in found}
    if len(limits) != 1:
        return
    shift, *_, low, high = limits.pop()
    if low is None or high is None:
        yield from [Pattern.QUANTIZED] * (not shift)
        return
    zeros = [_zero_of(one, low, high, shift or 0) for one, _ in found]
    if not (all(0 <= round(zero) <= LAST_BYTE for zero, _ in zeros) if shift else low <= 0 <= high):
        return
    yield Pattern.QUANTIZED
    unsigned = all(isclose(zero, 0, abs_tol=1e-4) for zero, _ in zeros)
    if unsigned:
        yield Pattern.UNSIGNED
    yield from (BEHIND[kind] for kind in kinds if kind in BEHIND)
    narrow = {levels for _, levels in zeros if levels % 2}
    if narrow == {NARROW} and isclose(low, -high, rel_tol=1e-4):
        yield from [Pattern.NARROW] * (not shift)
    elif narrow:
        yield Pattern.RESCALED
    if unsigned or all(isclose(zero, levels // 2, rel_tol=1e-4) for zero, levels in zeros):
        yield Pattern.UNSHIFTED
    elif "ReLU" not in kinds or shift:
        yield Pattern.WITH_ZERO_POINT
        if any(abs(zero - round(zero)) > BETWEEN for zero, _ in zeros):
            yield Pattern.BETWEEN_BYTES
            early = not kinds & QUANTIZED_LATE and BYTES.issuperset(levels for _, levels in zeros)
            yield from [Pattern.BETWEEN_EARLY_BYTES] * early


def _quantized_before(
    model: Model, graph: Graph, product: Layer, constants: Collection[int], kinds: set[str]
) -> list[tuple[Layer, float]]:
    """Return the FakeQuantize whose outputs a product reads in bytes, and what is added to each before it is scaled.

    Several between the same numbers may be joined by a Concat. The types of layers in between are added to `kinds`.
    """
    waiting, passed = [(source, 1.0, 0.0) for source in sources_of(graph, product)[:1]], set[int]()
    found = list[tuple[Layer, float]]()
    while waiting and len(passed) < FAR:
        source, factor, shift = waiting.pop()
        if source is None:
            return []
        layer = graph.layer(source.layer)
        if is_to_bytes(graph, layer, constants):
            found.append((layer, shift / factor))
        elif (by_number := _by_number(model, graph, layer)) is not None:
            before, scale, number = by_number
            if number and (product.type not in SHIFTED or "ReLU" in kinds):
                return []
            waiting.append((before, factor * scale, factor * number + shift))
        elif layer.type not in QUANTIZED_ON or interpolates(layer):
            return []
        elif layer.id not in passed:
            kinds.add(layer.type)
            sources = sources_of(graph, layer)
            waiting += [(one, factor, shift) for one in (sources if layer.type == "Concat" else sources[:1])]
        passed.add(layer.id)
    return [] if waiting else found


def _by_number(model: Model, graph: Graph, layer: Layer) -> tuple[Source | None, float, float] | None:
    """Return what a layer scales by a positive number or shifts by a number, and these; None if it does not."""
    if layer.type not in FACTORS:
        return None
    sources = sources_of(graph, layer)
    numbers = [uniform_of(model, graph, layer, place) for place in range(len(sources))]
    match layer.type, numbers:
        case "Multiply", [None, float(factor)] | [float(factor), None] if factor > 0:
            scale, shift = factor, 0.0
        case "Divide", [None, float(divisor)] if divisor > 0:
            scale, shift = 1 / divisor, 0.0
        case "Add", [None, float(number)] | [float(number), None]:
            scale, shift = 1.0, number
        case "Subtract", [None, float(number)]:
            scale, shift = 1.0, -number
        case "Subtract", [float(number), None]:
            scale, shift = -1.0, number
        case _:
            return None
    return sources[numbers.index(None)], scale, shift


def _zero_of(quantized: Layer, low: float, high: float, shift: float) -> tuple[float, int]:
    """Return at which of how many levels between two numbers that are shifted, counted from 0, the number 0 is."""
    levels = int(quantized.common.raw["levels"])
    low, high = low + shift, high + shift
    return low and low * (levels - 1) / (low - high), levels


def _is_scaled_apart(model: Model, graph: Graph, product: Layer, constants: Collection[int]) -> bool:
    """Return whether several inputs read a product, and a scale of its weights moves behind a layer of one of them."""
    count, layer, readers = count_of_scales(graph, product), product, list[Layer]()
    for _ in range(FAR if count else 0):
        readers = [one for one in readers_of(graph, layer) if one.type != "ShapeOf"]
        sizes = held_sizes(graph, readers[0], constants) if len(readers) == 1 else None
        if sizes is None or readers[0].type in SUMS or prod(sizes) != max(sizes, default=1):
            break
        count, layer = max(count, prod(sizes)), readers[0]
    by_number = count == 1
    return len(readers) > 1 and any(
        _moves_behind(model, graph, layer, reader, constants, by_number=by_number) for reader in readers
    )


def _moves_behind(
    model: Model, graph: Graph, product: Layer, reader: Layer, constants: Collection[int], *, by_number: bool
) -> bool:
    """Return whether a scale of a product moves behind a layer that reads it; by channel, unless it is a number."""
    kind, sources = reader.type, sources_of(graph, reader)
    fixed = [source is not None and source.layer in constants for source in sources]
    if kind in SUMS:
        return not any(fixed) or (kind == "Subtract" and fixed[0])
    if kind in FACTORS:
        return any(fixed) or (kind == "Multiply" and len({*sources}) == 1)
    if kind in SCALED_BEHIND or (by_number and kind in SCALED_BEHIND_BY_NUMBER):
        return True
    if kind in REDUCED:
        return bool([*axis_left(model, graph, reader, CHANNEL)])
    if kind == "Transpose":
        order = integers(model, graph, reader, 1)
        return order is None or [*order[:2]] == [0, 1]
    if kind == "Reshape":
        before, after = (port.dims for layer in (product, reader) for port in layer.common.outputs[:1])
        return before[1:2] == after[1:2]
    if kind == "Pad":
        return number_of(model, graph, reader, 3) in {None, 0}
    return kind == "Interpolate" and not interpolates(reader)
