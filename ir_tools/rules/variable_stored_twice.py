"""Two Assigns store into one variable.

Why: nobody can tell which of the two values the next inference reads; the runtime refuses such a model.

Bad:
    <layer id="3" name="store" type="Assign" version="opset6">
    ...
    <layer id="5" name="again" type="Assign" version="opset6">
    <data variable_id="memory" />

Good:
    <layer id="3" name="store" type="Assign" version="opset6">
    <data variable_id="memory" />
"""

from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.graph import Layer
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile

__all__ = ["RULE"]


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for every further Assign of a variable in one graph."""
    if "assign" not in file.consistency.types:
        return
    first: dict[tuple[int, str], Layer] = {}
    for place in file.model.walk():
        name = place.layer.raw.get("variable_id") if place.layer.type.lower() == "assign" else None
        if name is None:
            continue
        other = first.setdefault((id(place.graph), name), place.layer)
        if other is not place.layer:
            message = f"layer '{other.name}' stores into the variable '{name[:80]}' already"
            yield Finding(file.place(place, "data"), message, "delete one of the two, or give it a variable of its own")


RULE = Rule("IR215", "variable-stored-twice", Severity.ERROR, __doc__, check)
