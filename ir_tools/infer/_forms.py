"""Layers by what stands in them: those that differ in nothing but names are looked at once."""

from __future__ import annotations

from ir_tools.graph import Layer, LayerContent, Port
from ir_tools.ops import find_op
from ir_tools.types import whole_number

__all__ = ["Form", "Forms"]


class Form:
    """A layer without its id and names. Not to be changed: many layers share it.

    Attributes:
        number: its own.
        type, version: of the operation.
        op: its operation, where the table has it.
        raw: attributes; a constant's `offset` is that of the first with this form.
        inputs, outputs: ports, without tensor names.
    """

    __slots__ = ("inputs", "number", "op", "outputs", "raw", "type", "version")

    def __init__(self, number: int, type: str, version: str, content: LayerContent) -> None:
        self.number = number
        self.type = type
        self.version = version
        self.op = find_op(type, version)
        self.raw = content.raw
        self.inputs: tuple[Port, ...] = tuple(content.inputs)
        self.outputs: tuple[Port, ...] = tuple(content.outputs)


class Forms:
    """The forms of a model's layers."""

    def __init__(self) -> None:
        self._forms: dict[object, Form] = {}
        self.types: set[str] = set()

    def of(self, layer: Layer) -> tuple[Form, int | None]:
        """The form of a layer, and where the bytes of a constant start; the layer is not loaded by it."""
        text = None if layer.loaded or layer.source is None else layer.source.text()
        if text is None:
            return self._of_content(layer)
        key, offset = text
        form = self._forms.get(key)
        if form is None:
            assert layer.source is not None
            form = self._forms[key] = self._new(layer, layer.source.content())
        return form, offset

    def _of_content(self, layer: Layer) -> tuple[Form, int | None]:
        content = layer.content
        ports = [
            tuple((port.id, port.precision, port.dims) for port in side) for side in (content.inputs, content.outputs)
        ]
        key = (layer.type, layer.version, tuple(content.raw.items()), *ports)
        form = self._forms.get(key)
        if form is None:
            form = self._forms[key] = self._new(layer, content.copy())
        return form, whole_number(content.raw.get("offset"))

    def _new(self, layer: Layer, content: LayerContent) -> Form:
        self.types.add(layer.type.lower())
        return Form(len(self._forms), layer.type, layer.version, content)
