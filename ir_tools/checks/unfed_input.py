"""Inputs that no edge leads to."""

from collections import defaultdict
from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.diagnostics import Severity
from ir_tools.format.nets import EdgeState, Net
from ir_tools.format.problems import ElementProblem
from ir_tools.rules.structure import UNFED_INPUT
from ir_tools.source import Element
from ir_tools.types import id_number

__all__ = ["CHECK"]


ENDS = {"result", "assign"}
ELSEWHERE = (EdgeState.UNREADABLE, EdgeState.NO_CONSUMER)
"""States of edges that may be the one that is missing somewhere else."""


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each input, unless a faulty edge may be the one that is missing."""
    for net in file.nets:
        legacy = file.model.is_legacy
        unfed = net.unfed() - (_mapped(net) if legacy else set())
        tables = list(net.element.iterchildren("edges"))
        if not unfed or any(net.ends(*ELSEWHERE)) or len(tables) != 1 or tables[0] in net.unusual:
            continue
        if not len(tables[0]) and len(unfed) > 1:
            continue
        misdirected = {layer_id for layer_id, _ in net.ends(EdgeState.SECOND, EdgeState.NO_INPUT)}
        needed, ports = {*net.layers} if legacy else _needed(net), dict[int, dict[int | None, Element]]()
        for layer_id, port_id in sorted(unfed):
            if layer_id in misdirected or layer_id in net.repeated_ids:
                continue
            layer = net.layers[layer_id]
            message = f"no edge leads to input port {port_id}"
            remedy = "add an edge to it, or delete the port"
            severity = None if layer_id in needed else Severity.WARNING
            if layer_id not in ports:
                found = reversed(list(layer.iterfind("input/port")))
                ports[layer_id] = {id_number(port.get("id")): port for port in found}
            yield ElementProblem(UNFED_INPUT, ports[layer_id][port_id], message, remedy, severity)


def _mapped(net: Net) -> set[tuple[int, int]]:
    """Return the inputs of a legacy body that the port map of its layer feeds: it has no Parameters."""
    owner = net.element.getparent()
    rows = [] if owner is None else owner.iterfind("port_map/input")
    ends = [(id_number(row.get("internal_layer_id")), id_number(row.get("internal_port_id"))) for row in rows]
    return {(layer, port) for layer, port in ends if layer is not None and port is not None}


def _needed(net: Net) -> set[int]:
    """Return the layers that a Result or an Assign depends on, and those."""
    producers: dict[int, list[int]] = defaultdict(list)
    for (consumer, _), (producer, _) in net.wiring.items():
        producers[consumer].append(producer)
    todo = [layer_id for layer_id, layer in net.layers.items() if (layer.get("type") or "").lower() in ENDS]
    needed = set(todo)
    while todo:
        new = set(producers[todo.pop()]) - needed
        needed |= new
        todo += new
    return needed


CHECK = Check(find, (UNFED_INPUT,))
