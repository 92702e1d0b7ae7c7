"""An Assign stores into a variable that no ReadValue of the model reads.

Why: the runtime takes type and shape of a variable from its ReadValue, and refuses the file without one.

Bad:
    <layer id="1" name="read" type="ReadValue" version="opset6">
    <data variable_id="memory" variable_type="f32" variable_shape="1,3" />
    ...
    <layer id="3" name="store" type="Assign" version="opset6">
    <data variable_id="memori" />

Good:
    <layer id="1" name="read" type="ReadValue" version="opset6">
    <data variable_id="memory" variable_type="f32" variable_shape="1,3" />
    ...
    <layer id="3" name="store" type="Assign" version="opset6">
    <data variable_id="memory" />
"""

from collections.abc import Collection, Iterator, Mapping

from ir_tools.diagnostics import Severity
from ir_tools.ops import opset_number
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile

__all__ = ["RULE"]


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for every Assign whose variable is unknown, or that nothing reads.

    The runtime finds those ReadValues alone that lead somewhere, and with an Assign of opset3 to opset5 none of opset6.
    """
    if "assign" not in file.consistency.types:
        return
    known: dict[str, set[bool]] = {}
    idle = set[str]()
    for _, layer, graph in file.model.walk():
        name = layer.raw.get("variable_id")
        if layer.type.lower() == "readvalue":
            if name is None:
                return
            read = any(graph.readers(layer.id, port.id) for port in layer.outputs)
            idle |= set() if read else {name}
            known.setdefault(name, set()).add(_is_old(layer.version))
    for place in file.model.walk():
        name, old = place.layer.raw.get("variable_id"), _is_old(place.layer.version)
        if place.layer.type.lower() != "assign" or name is None:
            continue
        message, remedy = _fault(name, old, known, idle)
        if message:
            yield Finding(file.place(place, "data"), message, remedy)


def _fault(name: str, old: bool, known: Mapping[str, Collection[bool]], idle: Collection[str]) -> tuple[str, str]:
    """What is wrong with the variable of an Assign, and what to do; empty where nothing is."""
    shown = name[:80]
    if name not in known:
        others = ", ".join(f"'{other}'" for other in sorted(known)) or "none"
        return f"no ReadValue reads the variable '{shown}'; the model reads {others}", "give both the same variable_id"
    if old and True not in known[name]:
        return f"the ReadValue of '{shown}' is of opset6, this Assign is not", "give both the same version"
    if name in idle:
        return f"nothing reads what the ReadValue of '{shown}' gives", "delete both, or read it"
    return "", ""


def _is_old(version: str | None) -> bool:
    """Whether a layer is of the first generation, opset3 to opset5, whose variables the second does not see."""
    number = opset_number(version or "")
    return number is not None and number < 6


RULE = Rule("IR214", "unread-variable", Severity.ERROR, __doc__, check)
