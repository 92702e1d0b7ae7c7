"""Layers with the name of another."""

from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.diagnostics import Severity
from ir_tools.display import quoted
from ir_tools.format.problems import ElementProblem
from ir_tools.rules.structure import DUPLICATE_LAYER_NAME

__all__ = ["CHECK"]


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for every layer but the first of a name."""
    for net in file.nets:
        legacy = file.model.is_legacy and net is file.nets[0]
        texts = [layer.get("name") for layer in net.layers.values()]
        if len(set(texts)) == len(texts):
            continue
        first: dict[str, int] = {}
        for layer_id, layer in net.layers.items():
            name = layer.get("name")
            if name and first.setdefault(name, layer_id) != layer_id:
                both = all(one.find("output") is not None for one in (net.layers[first[name]], layer))
                severity = Severity.ERROR if legacy and both else Severity.WARNING
                message = f"layer {first[name]} is also called '{quoted(name)}'"
                yield ElementProblem(
                    DUPLICATE_LAYER_NAME, layer, message, "rename one of the two layers", severity=severity
                )


CHECK = Check(find, (DUPLICATE_LAYER_NAME,))
