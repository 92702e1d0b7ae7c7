"""Two layers of one graph have the same name.

Why: the runtime keeps both, and whoever asks for the layer by name gets one of them; IR v10 makes tensor names of layer
names.

Bad:
    <layer id="2" name="same" type="Abs" version="opset1">

Good:
    <layer id="2" name="other" type="Abs" version="opset1">
"""

from collections import Counter
from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile

__all__ = ["RULE"]


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for every layer but the first of a name."""
    for net in file.nets:
        texts = [layer.get("name") for layer in net.layers.values()]
        if len(set(texts)) == len(texts):
            continue
        names = Counter(texts)
        first: dict[str, int] = {}
        for layer_id, layer in net.layers.items():
            name = layer.get("name")
            if name and names[name] > 1 and first.setdefault(name, layer_id) != layer_id:
                message = f"layer {first[name]} is called '{name}' too"
                yield Finding(file.place_of(layer), message, "rename one of the two")


RULE = Rule("IR104", "duplicate-layer-name", Severity.WARNING, __doc__, check)
