"""The values of tensors that are made of constants alone."""

from ir_tools.errors import IrToolsError
from ir_tools.graph import Graph, Model, Source, port_place
from ir_tools.ops import Array, Role, find_op, role_of
from ir_tools.weights import values

__all__ = ["folded"]

DEEPEST = 12
"""Layers between a tensor and its constants."""
LARGEST = 1 << 24
"""Elements of a constant that is computed with."""


def folded(model: Model, graph: Graph, source: Source, depth: int = DEEPEST) -> Array | None:
    """Return the value of a tensor; None if it depends on an input, or is not worth computing."""
    layer = graph.layer(source.layer)
    try:
        if role_of(layer) is Role.CONSTANT:
            found = values(layer.raw, model.weights)
            return found if found.size <= LARGEST else None
        op = find_op(layer.type, layer.version)
        sources = graph.sources(layer.id)
        if op is None or op.kernel is None or role_of(layer) is Role.PARAMETER or not depth or not sources:
            return None
        arrays = [folded(model, graph, sources[port.id], depth - 1) for port in layer.inputs]
        attrs = op.read(layer.raw, [])
        if attrs is None or any(array is None for array in arrays):
            return None
        outputs = op.kernel(attrs, [array for array in arrays if array is not None])
        place = port_place(layer.outputs, source.port)
        return None if place is None else outputs[place]
    except (IrToolsError, ArithmeticError, LookupError, TypeError, ValueError):
        return None
