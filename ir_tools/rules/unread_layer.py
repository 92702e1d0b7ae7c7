"""Nothing reads what a layer gives.

Why: the runtime drops such a layer, and an input of the model that nothing reads changes no result. An edge may begin
at the wrong layer, or a Result may be missing. Parameters of bodies may go unread: a Loop gives more than a body needs.

Bad:
    <edge from-layer="0" from-port="0" to-layer="3" to-port="0" />
    <edge from-layer="0" from-port="0" to-layer="3" to-port="1" />

Good:
    <edge from-layer="0" from-port="0" to-layer="3" to-port="0" />
    <edge from-layer="1" from-port="0" to-layer="3" to-port="1" />
"""

from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.format.nets import Net
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile
from ir_tools.source import Element

__all__ = ["RULE"]

ENDS = {"result", "assign"}


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for each layer of a graph whose edges are all as they should be, or else they are the cause."""
    for net in file.nets:
        if _has_faulty_edges(net) or net.unfed():
            continue
        read = {maker for maker, _ in net.wiring.values()}
        unread = [layer for layer_id, layer in net.layers.items() if layer_id not in read and layer_id in net.outputs]
        ends = any(_type(layer) in ENDS for layer in net.layers.values())
        for layer in unread if ends else ():
            kind = _type(layer)
            if kind == "parameter" and net.element.tag == "net":
                yield Finding(file.place_of(layer), "nothing reads this input of the model", "read it, or delete it")
            elif kind not in {"parameter", *ENDS}:
                yield Finding(file.place_of(layer), "nothing reads what the layer gives", "add a Result, or delete it")


def _has_faulty_edges(net: Net) -> bool:
    """Whether an edge that cannot be followed may be the one that reads a layer."""
    tables = list(net.element.iterchildren("edges"))
    noted = (net.loose, net.unsure, net.missing, net.crowded, net.reached)
    return any(noted) or len(tables) != 1 or tables[0] in net.odd


def _type(layer: Element) -> str:
    return (layer.get("type") or "").lower()


RULE = Rule("IR127", "unread-layer", Severity.WARNING, __doc__, check)
