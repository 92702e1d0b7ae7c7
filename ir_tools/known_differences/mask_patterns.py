"""Masks: tensors that become booleans, and whose elements are 0 and 1."""

from ir_tools.graph import Graph, Layer, Model
from ir_tools.known_differences.neighbours import FAR, interpolates, number_of, sources_of
from ir_tools.ops import Role, find_op, role_of
from ir_tools.types import precision_in_file

__all__ = ["is_mask"]

CARRYING = frozenset(
    {
        *("Broadcast", "Convert", "Gather", "Interpolate", "Reshape", "Slice", "Squeeze", "StridedSlice"),
        *("Tile", "Transpose", "Unsqueeze"),
    }
)
"""Types of layers that give elements of their first input alone."""
COMBINING = frozenset({"Concat", "Maximum", "Minimum", "Multiply"})
"""Types of layers that give 0 and 1 of such inputs."""


def is_mask(model: Model, graph: Graph, conversion: Layer) -> bool:
    """Return whether what a layer converts is made of numbers of 0 or 1, booleans, and integers that models are given.

    The latter are 0 and 1 if they become booleans; what it reads at once is looked at elsewhere.
    """
    waiting, passed = [(conversion, [0])], {conversion.id}
    while waiting and len(passed) < FAR:
        layer, numbers = waiting.pop()
        sources = sources_of(graph, layer)
        for number in numbers:
            source = sources[number] if number < len(sources) else None
            if source is None:
                return False
            before = graph.layer(source.layer)
            given = role_of(before) is Role.PARAMETER and graph is model.graph and layer is not conversion
            if number_of(model, graph, layer, number) in {0, 1} or _holds_bits(before, given):
                continue
            if before.type not in CARRYING | COMBINING or interpolates(before):
                return False
            if before.id not in passed:
                passed.add(before.id)
                count = 1 if before.type in CARRYING else len(before.common.inputs)
                waiting.append((before, [*range(count)]))
    return not waiting


def _holds_bits(layer: Layer, given: bool) -> bool:
    """Return whether a layer gives booleans, integers that a model is `given`, or what is limited to 0 and 1."""
    kinds = [precision_in_file(port.precision or "") for port in layer.common.outputs[:1]]
    if layer.type == "Clamp":
        op = find_op(layer.type, layer.version)
        limits = None if op is None else op.read(layer.common.raw, [])
        return limits is not None and limits["min"] >= 0 and limits["max"] <= 1
    return any(kind is not None and (kind.kind == "boolean" or (given and kind.is_integer)) for kind in kinds)
