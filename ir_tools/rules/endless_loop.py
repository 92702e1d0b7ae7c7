"""A Loop never ends: its condition is constant, and its number of trips is negative or out of all proportion.

Why: a negative number of trips means no limit. The runtime hangs.

Bad:
    <data element_type="i64" shape="" offset="0" size="8" />

Good:
    <data element_type="i64" shape="" offset="8" size="8" />
"""

from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.errors import IrToolsError
from ir_tools.graph import Graph, Layer
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile
from ir_tools.weights import Weights, constant

__all__ = ["RULE"]


MANY = 1 << 31
"""Trips that no machine makes in a day."""


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for each Loop whose number of trips and condition are constants."""
    if b"execution_condition" not in file.document.text:
        return
    for located in file.model.walk():
        layer, graph = located.layer, located.graph
        if layer.type.lower() != "loop" or not layer.inputs or "body" not in layer.bodies:
            continue
        trips = _value(graph, layer.id, layer.inputs[0].id, file.weights)
        if trips is not None and (trips < 0 or trips >= MANY) and _goes_on(layer, file.weights):
            words = "no limit" if trips < 0 else f"{trips} trips"
            message = f"the number of trips is {trips} ({words}), and the condition of the body is always true"
            yield Finding(file.place(located), message, "limit the number of trips, or compute the condition")


def _goes_on(layer: Layer, weights: Weights) -> bool:
    """Whether the condition of the body is a constant that is true."""
    rows = layer.content.mapping.get("port_map", [])
    wanted = [row.get("internal_layer_id") for _, row in rows if row.get("purpose") == "execution_condition"]
    body = layer.bodies["body"]
    for result in body.layers():
        if wanted and str(result.id) == (wanted[0] or "").strip() and result.inputs:
            return bool(_value(body, result.id, result.inputs[0].id, weights))
    return False


def _value(graph: Graph, layer_id: int, port_id: int, weights: Weights) -> int | None:
    """The number that a constant feeds to an input; None where it is no constant, or one that cannot be read."""
    source = graph.sources(layer_id).get(port_id)
    maker = None if source is None else graph.layer(source.layer)
    if maker is None or maker.type.lower() != "const":
        return None
    try:
        value = constant(maker.raw, weights)
    except IrToolsError:
        return None
    return int(value.reshape(-1)[0]) if value.size == 1 and value.dtype.kind in "iub" else None


RULE = Rule("IR151", "endless-loop", Severity.ERROR, __doc__, check)
