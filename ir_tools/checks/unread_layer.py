"""Layers that nothing reads; in legacy IR, those with inputs are the outputs."""

from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.format.nets import EdgeState, Net
from ir_tools.format.problems import ElementProblem
from ir_tools.ops import find_op
from ir_tools.rules.structure import UNREAD_LAYER
from ir_tools.source import Element

__all__ = ["CHECK"]

ENDS = {"result", "assign"}
SOURCES = {"input", "const"}
"""Layers of legacy IR without inputs; any other one that nothing reads is an output of the model."""


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each layer of a graph whose edges are all as they should be, or else they are the cause."""
    legacy = file.model.is_legacy
    for net in file.nets:
        if _has_faulty_edges(net) or net.unfed():
            continue
        read = {producer for producer, _ in net.wiring.values()}
        unread = [layer for layer_id, layer in net.layers.items() if layer_id not in read and _gives(net, layer_id)]
        ends = legacy or any(_type(layer) in ENDS for layer in net.layers.values())
        for layer in unread if ends else ():
            kind = _type(layer)
            if legacy and kind not in SOURCES:
                continue
            if kind in {"parameter", "input"} and net.element.tag == "net":
                yield ElementProblem(
                    UNREAD_LAYER, layer, "no layer reads this input of the model", "connect it, or delete it"
                )
            elif kind not in {"parameter", *ENDS}:
                yield ElementProblem(
                    UNREAD_LAYER,
                    layer,
                    "no layer reads the output of this layer",
                    "add an edge or a Result, or delete the layer",
                )


def _gives(net: Net, layer_id: int) -> bool:
    """Return whether a layer gives anything, with or without a port for it; of unknown ones the ports alone say so."""
    layer = net.layers[layer_id]
    return layer_id in net.outputs or find_op(layer.get("type") or "", layer.get("version") or "") is not None


def _has_faulty_edges(net: Net) -> bool:
    """Return whether an edge that cannot be followed may be the one that reads a layer."""
    tables = list(net.element.iterchildren("edges"))
    is_lost = any(edge.state is not EdgeState.REPEATED for edge in net.left_out)
    return is_lost or net.has_unclear_ids or len(tables) != 1 or tables[0] in net.unusual


def _type(layer: Element) -> str:
    return (layer.get("type") or "").lower()


CHECK = Check(find, (UNREAD_LAYER,))
