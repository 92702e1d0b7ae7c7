"""An input has an element type that the operation does not take, another one than the input beside it, or none.

Why: the runtime refuses the layer when it reads or compiles the model.

Bad:
    <layer id="1" name="both" type="LogicalAnd" version="opset1">
    ...
    <input>
    <port id="0" precision="FP32">

Good:
    <layer id="1" name="both" type="LogicalAnd" version="opset1">
    ...
    <input>
    <port id="0" precision="BOOL">
"""

import re
from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.graph import Layer, Located
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile
from ir_tools.rules._survey import surveyed

__all__ = ["RULE"]


REFUSED = {
    "dynamic": "has no element type: the runtime cannot run it",
    "u1": "has element type u1, which the CPU plugin does not take",
}
"""Types that an input of the model cannot have, though one of a body can."""
WRITTEN = re.compile(rb"[\"'](?:%s)[\"']" % "|".join(REFUSED).encode(), re.IGNORECASE)
"""One of them in the text of a file: most have none, and need no look at each input."""


def check(file: IrFile) -> Iterator[Finding]:
    """Types that are found wrong, and inputs of the model that leave theirs open, as those of a body may."""
    yield from surveyed("wrong-element-type")(file)
    if not WRITTEN.search(file.document.text):
        return
    for layer in file.model.graph.layers():
        kind = (layer.raw.get("element_type") or "").lower() if layer.type == "Parameter" else ""
        if kind in REFUSED:
            place = file.place(Located("", layer, file.model.graph), "data", attribute="element_type")
            severity = Severity.WARNING if kind == "dynamic" and _is_open(layer) else None
            message, remedy = f"an input of the model {REFUSED[kind]}", 'write another, as in element_type="f32"'
            yield Finding(place, message, remedy, severity)


def _is_open(layer: Layer) -> bool:
    """Whether the shape is open, too: then whoever runs the model completes both."""
    return any(size < 0 for port in layer.outputs for size in port.dims) or "..." in layer.raw.get("shape", "")


RULE = Rule("IR211", "wrong-element-type", Severity.ERROR, __doc__, check)
