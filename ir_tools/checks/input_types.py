"""Inputs of the model, and of bodies of TensorIterators, whose element type the runtime refuses."""

from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile, data_of
from ir_tools.diagnostics import Severity
from ir_tools.format.problems import ElementProblem
from ir_tools.graph import Layer
from ir_tools.ops import Role, role_of
from ir_tools.rules.compatibility import UNCOMPILED_LAYER
from ir_tools.rules.operations import WRONG_ELEMENT_TYPE

__all__ = ["CHECK"]


REFUSED = {
    "dynamic": "has no element type, so the runtime cannot run the model",
    "u1": "has element type u1, which the CPU plugin does not accept",
}
"""Types that an input of the model cannot have, though one of a body can."""


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each Parameter; most files name no such type, and need no look at each."""
    text = file.document.text.lower()
    if not any(word.encode() in text for word in REFUSED):
        return
    for layer in file.model.graph.layers():
        kind = (layer.common.raw.get("element_type") or "").lower() if role_of(layer) is Role.PARAMETER else ""
        if kind in REFUSED:
            severity = Severity.WARNING if kind == "dynamic" and _is_open(layer) else None
            message, remedy = f"an input of the model {REFUSED[kind]}", 'write another type, such as element_type="f32"'
            yield ElementProblem(
                WRONG_ELEMENT_TYPE, data_of(layer), message, remedy, severity, attribute="element_type"
            )
    for _, layer in file.model.owners():
        if layer.type == "TensorIterator":
            yield from _untyped(layer)


def _untyped(iterator: Layer) -> Iterator[ElementProblem]:
    """Yield one problem for each input of a body that has no element type; a Loop passes on that of its own inputs."""
    message = "an input of the body of a TensorIterator has no element type, so the runtime does not compile the model"
    for body in iterator.bodies.values():
        for layer in body.layers():
            if role_of(layer) is Role.PARAMETER and layer.common.raw.get("element_type", "").lower() == "dynamic":
                remedy = "write the type of what the TensorIterator passes to it"
                yield ElementProblem(
                    UNCOMPILED_LAYER, data_of(layer), message, remedy, Severity.WARNING, attribute="element_type"
                )


def _is_open(layer: Layer) -> bool:
    """Return whether the shape is open, too: then whoever runs the model completes both."""
    return any(size < 0 for port in layer.common.outputs for size in port.dims) or "..." in layer.common.raw.get(
        "shape", ""
    )


CHECK = Check(find, (WRONG_ELEMENT_TYPE, UNCOMPILED_LAYER))
