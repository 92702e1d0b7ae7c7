"""Layers by what stands in them: those that differ in nothing but names are looked at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from ir_tools.graph import Layer, LayerContent, Port
from ir_tools.ops import find_op
from ir_tools.ops.fields import Label
from ir_tools.types import whole_number

__all__ = ["LayerSignature", "LayerSignatures"]

MARK = "\0"
"""A character that no XML has."""


class LayerSignature:
    """A layer without its id and names. Not to be changed: many layers share it.

    Attributes:
        number: its own.
        kind: the number of the first that differs from it in nothing but labels.
        type, version: of the operation.
        op: its operation, where the table has it.
        raw: attributes; a constant's `offset` is that of the first with this signature.
        unlabelled: the attributes with `mark` of its name in place of each label.
        inputs, outputs: ports, without tensor names.
    """

    __slots__ = ("inputs", "kind", "number", "op", "outputs", "raw", "type", "unlabelled", "version")

    def __init__(self, number: int, type: str, version: str, content: LayerContent) -> None:
        self.number = self.kind = number
        self.type = type
        self.version = version
        self.op = find_op(type, version)
        self.raw = content.raw
        self.unlabelled = _unlabelled(type, version, self.raw)
        self.inputs: tuple[Port, ...] = tuple(content.inputs)
        self.outputs: tuple[Port, ...] = tuple(content.outputs)

    def with_labels(self, text: str) -> str:
        """Return a text with the labels of this layer in place of their marks."""
        if MARK in text:
            for name, label in self.raw.items():
                text = text.replace(_mark(name), label)
        return text


class LayerSignatures:
    """The signatures of a model's layers, which have to stay as they are until `forget` is called."""

    def __init__(self) -> None:
        self._signatures: dict[object, LayerSignature] = {}
        self._kinds: dict[object, int] = {}
        self._known: dict[Layer, tuple[LayerSignature, int | None]] = {}
        self.types: set[str] = set()

    def of(self, layer: Layer) -> tuple[LayerSignature, int | None]:
        """Return the signature of a layer, and where the bytes of a constant start; the layer is not loaded by it."""
        found = self._known.get(layer)
        if found is None:
            found = self._known[layer] = self._of(layer)
        return found

    def forget(self) -> None:
        """Look at the layers again: some have changed."""
        self._known.clear()

    def _of(self, layer: Layer) -> tuple[LayerSignature, int | None]:
        text = layer.text
        if text is None:
            return self._of_content(layer)
        key, offset = text
        signature = self._signatures.get(key)
        if signature is None:
            signature = self._signatures[key] = self._new(layer, layer.common)
        if offset is None and signature.type == "Const":  # it is part of the form
            offset = whole_number(signature.raw.get("offset"))
        return signature, offset

    def _of_content(self, layer: Layer) -> tuple[LayerSignature, int | None]:
        content, type = layer.content, layer.type
        raw = {**content.raw}
        offset = raw.pop("offset", None) if type == "Const" else None
        key = (type, layer.version, tuple(raw.items()), *_ports(content))
        signature = self._signatures.get(key)
        if signature is None:
            signature = self._signatures[key] = self._new(layer, content.copy())
        return signature, whole_number(offset)

    def _new(self, layer: Layer, content: LayerContent) -> LayerSignature:
        self.types.add(layer.type.lower())
        made = LayerSignature(len(self._signatures), layer.type, layer.version, content)
        if made.unlabelled is not made.raw:
            key = made.type, made.version, tuple(made.unlabelled.items()), *_ports(content)
            made.kind = self._kinds.setdefault(key, made.number)
        return made


def _ports(content: LayerContent) -> Iterator[tuple[tuple[object, ...], ...]]:
    """Yield the ports of each side without tensor names, to compare them."""
    for side in (content.inputs, content.outputs):
        yield tuple([(port.id, port.precision, port.dims) for port in side])


def _unlabelled(type: str, version: str, raw: Mapping[str, str]) -> Mapping[str, str]:
    """Return attributes with marks in place of labels; the attributes themselves if none is one."""
    given = {name: _mark(name) for name in _labels(type, version) if raw.get(name)}
    return {**raw, **given} if given else raw


@lru_cache(1 << 10)
def _labels(type: str, version: str) -> Sequence[str]:
    """Return the names of the attributes of an operation that are labels."""
    op = find_op(type, version)
    return [] if op is None else [spec.xml or name for name, spec in op.attrs.items() if isinstance(spec, Label)]


def _mark(name: str) -> str:
    return f"{MARK}{name}{MARK}"
