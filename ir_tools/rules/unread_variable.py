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

from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.ops import opset_number
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile

__all__ = ["RULE"]


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for every Assign whose variable is unknown."""
    if "assign" not in file.survey.types:
        return
    known: set[tuple[str | None, bool]] = set()
    for layer in file.document.root.iter("layer"):
        data = layer.find("data")
        if (layer.get("type") or "").lower() == "readvalue":
            known.add((None if data is None else data.get("variable_id"), _is_old(layer.get("version"))))
    if any(name is None for name, _ in known):
        return
    for place in file.model.walk():
        name, old = place.layer.raw.get("variable_id"), _is_old(place.layer.version)
        if place.layer.type.lower() != "assign" or name is None or (name, old) in known:
            continue
        others = ", ".join(f"'{other}'" for other in sorted({str(other) for other, _ in known})) or "none"
        message, remedy = f"no ReadValue reads the variable '{name[:80]}'; the model reads {others}", "variable_id"
        if (name, not old) in known:
            message, remedy = (
                f"the ReadValue of '{name[:80]}' is of opset{6 if old else 3}, this Assign is not",
                "version",
            )
        yield Finding(file.place(place, "data"), message, f"give both the same {remedy}")


def _is_old(version: str | None) -> bool:
    """Whether a layer is of the first generation, opset3 to opset5, whose variables the second does not see."""
    number = opset_number(version or "")
    return number is not None and number < 6


RULE = Rule("IR214", "unread-variable", Severity.ERROR, __doc__, check)
