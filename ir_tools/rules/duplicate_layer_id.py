"""Two layers of one graph have the same id.

Why: edges name layers by id; the runtime silently joins such layers and computes something else.

Bad:
    <layer id="3" name="abs" type="Abs" version="opset1">
    <layer id="3" name="relu" type="ReLU" version="opset1">

Good:
    <layer id="3" name="abs" type="Abs" version="opset1">
    <layer id="4" name="relu" type="ReLU" version="opset1">
"""

from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile

__all__ = ["RULE"]


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for every layer whose id belongs to an earlier one."""
    for layers in file.document.root.iter("layers"):
        first: dict[str, str] = {}
        for layer in layers.iterchildren("layer"):
            layer_id, name = (layer.get("id") or "").strip(), layer.get("name") or ""
            if layer_id in first:
                message = f"the layer id {layer_id} belongs to layer '{first[layer_id]}' already"
                yield Finding(file.place_of(layer), message, "renumber one of the two, and the edges that mean it")
            elif layer_id:
                first[layer_id] = name


RULE = Rule("IR103", "duplicate-layer-id", Severity.ERROR, __doc__, check)
