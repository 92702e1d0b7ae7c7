"""Products of quantized data and weights of 8 bits, as it decides about how releases scale them."""

from collections.abc import Collection, Iterator
from math import prod

from ir_tools.graph import Graph, Layer, Model
from ir_tools.known_differences.fusing_patterns import FACTORS, SUMS
from ir_tools.known_differences.neighbours import FAR, VIEWS, consumers_of, producer_of, readers_of, sources_of
from ir_tools.known_differences.packed_weights import SCALING, SHAPING, PackedWeights
from ir_tools.known_differences.releases.seen import Pattern
from ir_tools.ops import Role, role_of

__all__ = ["products_by_bytes"]

SCALED_LATER = frozenset({"Pad", "ReduceMin", "Split", "StridedSlice", "VariadicSplit"})
"""Types of layers that a scale moves behind. Measured."""
SCALED_LATER_BY_NUMBER = SCALED_LATER | {"Clamp", "MVN", "NormalizeL2", "ReduceMax", "ReduceMean", "ReduceSum"}
"""Those that a number moves behind. Measured."""
MOVED_BEHIND_BY_NUMBER = VIEWS | {"Transpose"}


def products_by_bytes(
    model: Model, graph: Graph, product: Layer, constants: Collection[int], origins: dict[int, Layer | None]
) -> Iterator[str]:
    """Yield what of `BYTE_COLUMNS`, `BYTES_BY_NUMBER`, `UNSIGNED_WEIGHTS`, `SCALED_AT_ONCE` and `BIASED` a MatMul is.

    `origins`: of `PackedWeights`.
    """
    held = _constant_of_weights(graph, product)
    weights = None if held is None else PackedWeights.of(model, graph, held, origins)
    if held is None or weights is None or weights.zero or weights.kind not in {"i8", "u8"}:
        return
    scaling = weights.scaling(product)
    if scaling == "output" and all(one.type not in VIEWS for one in readers_of(graph, product)):
        yield Pattern.BYTE_COLUMNS
    elif scaling == "number":
        yield Pattern.BYTES_BY_NUMBER
    if weights.kind == "u8" and scaling in {"output", "number"}:
        yield Pattern.UNSIGNED_WEIGHTS
        if _is_scaled_at_once(graph, product, constants, by_number=scaling == "number"):
            yield Pattern.SCALED_AT_ONCE
        if _is_biased(graph, product, constants):
            yield Pattern.BIASED


def _constant_of_weights(graph: Graph, product: Layer) -> Layer | None:
    """Return the constant that layers make the second factor of."""
    layer, passed = producer_of(graph, product, 1), 0
    while layer is not None and layer.type in SHAPING | SCALING and passed < FAR:
        layer, passed = producer_of(graph, layer), passed + 1
    return layer if layer is not None and role_of(layer) is Role.CONSTANT else None


def _held_sizes(graph: Graph, reader: Layer, constants: Collection[int]) -> tuple[int, ...] | None:
    """Return the sizes of the constant that a layer shifts or scales by; None if it does not."""
    if reader.type not in FACTORS:
        return None
    ports = zip(sources_of(graph, reader), reader.common.inputs, strict=True)
    sizes = [tuple(port.dims) for source, port in ports if source is not None and source.layer in constants]
    return sizes[0] if len(sizes) == 1 else None


def _is_for_columns(sizes: tuple[int, ...], product: Layer) -> bool:
    """Return whether constants are one for each column of a product."""
    columns = [port.dims[-1] for port in product.common.outputs[:1] if port.dims]
    return columns == [*sizes[-1:]] == [prod(sizes)]


def _is_scaled_at_once(graph: Graph, product: Layer, constants: Collection[int], *, by_number: bool) -> bool:
    """Return whether no layer behind a product is computed before it is scaled but what is compiled with it."""
    layer, activated, later = product, False, SCALED_LATER_BY_NUMBER if by_number else SCALED_LATER
    for _ in range(FAR):
        readers = readers_of(graph, layer)
        if len(readers) != 1:
            return all(one.type not in later | SUMS | {"ReLU"} for one in readers)
        sizes = _held_sizes(graph, readers[0], constants)
        if sizes is not None:
            by_column = prod(sizes) > 1 and _is_for_columns(sizes, product)
            scaled = readers[0].type not in SUMS
            if activated or not (by_column or (prod(sizes) == 1 and (scaled or not by_number))):
                return False
        elif readers[0].type == "ReLU":
            activated = True
        elif not (by_number and readers[0].type in MOVED_BEHIND_BY_NUMBER):
            return readers[0].type not in later
        layer = readers[0]
    return False


def _is_biased(graph: Graph, product: Layer, constants: Collection[int]) -> bool:
    """Return whether constants for each column shift a product, scaled by constants or not."""
    layer = product
    for _ in range(FAR):
        targets = consumers_of(graph, layer)
        if len(targets) != 1:
            return False
        reader = graph.layer(targets[0][0])
        sizes = _held_sizes(graph, reader, constants)
        if sizes is None or reader.type in SUMS:
            return sizes is not None and _is_for_columns(sizes, product)
        layer = reader
    return False
