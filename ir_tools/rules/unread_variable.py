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
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile

__all__ = ["RULE"]


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for every Assign whose variable is unknown."""
    if "assign" not in file.survey.types:
        return
    known = set()
    for layer in file.document.root.iter("layer"):
        data = layer.find("data")
        if (layer.get("type") or "").lower() == "readvalue":
            known.add(None if data is None else data.get("variable_id"))
    if None in known:
        return
    for place in file.model.walk():
        name = place.layer.raw.get("variable_id")
        if place.layer.type.lower() == "assign" and name is not None and name not in known:
            others = ", ".join(f"'{other}'" for other in sorted(map(str, known))) or "none"
            message = f"no ReadValue reads the variable '{name[:80]}'; the model reads {others}"
            yield Finding(file.place(place, "data"), message, "give both the same variable_id")


RULE = Rule("IR214", "unread-variable", Severity.ERROR, __doc__, check)
