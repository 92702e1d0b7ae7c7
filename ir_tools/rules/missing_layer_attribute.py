"""A layer has no name, type or version.

Why: the runtime needs all three; without one it says "missing mandatory attribute" and an offset in bytes. A layer with
an empty name gets one that is not in the file.

Bad:
    <layer id="1" name="relu" version="opset1">

Good:
    <layer id="1" name="relu" type="ReLU" version="opset1">
"""

from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile
from ir_tools.source import Element

__all__ = ["RULE"]


REMEDIES = {
    "name": "give it a name that no other layer has",
    "type": 'write the operation, as in type="ReLU"',
    "version": 'write the opset that the operation was born in, as in version="opset1"',
}


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for each attribute."""
    if file.usual.layers:
        return
    for net in file.nets:
        for layer in net.element.iterfind("layers/layer"):
            yield from _of_layer(file, layer)


def _of_layer(file: IrFile, layer: Element) -> Iterator[Finding]:
    for name, remedy in REMEDIES.items():
        text = layer.get(name)
        if text is None or not text.strip():
            message = f"the layer has no {name}" if text is None else f"the {name} of the layer is empty"
            severity = Severity.WARNING if name == "name" and text is not None else None
            yield Finding(file.place_of(layer), message, remedy, severity)


RULE = Rule("IR103", "missing-layer-attribute", Severity.ERROR, __doc__, check)
