"""A file as the rules see it: the document, its layers with their places, the model as far as it can be made."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ir_tools.format.content import ElementSource
from ir_tools.format.read import model_of
from ir_tools.graph import Located, Model
from ir_tools.source import Document, Element
from ir_tools.types import whole_number
from ir_tools.weights import Weights

__all__ = ["IrFile", "Place"]


class Place(NamedTuple):
    """Where something is wrong, in the words of a diagnostic. `line` counts from 1."""

    line: int | None
    layer_id: int | None = None
    layer_name: str | None = None
    path: str | None = None


class IrFile:
    """One `.xml` with its `.bin`. What rules share is worked out once, when the first of them asks.

    Attributes:
        document: the bytes and the tree.
        weights: the `.bin`; it may be missing.
        path: of the `.xml`, where it has one.
    """

    def __init__(self, document: Document, weights: Weights, path: Path | None = None) -> None:
        """See `ir_tools.validation`, which opens files."""
        self.document = document
        self.weights = weights
        self.path = path

    @cached_property
    def model(self) -> Model:
        """The model as far as it can be made: without the layers, ports and edges that are faulty themselves."""
        return model_of(self.document, self.weights, self.path)

    @cached_property
    def layers(self) -> dict[Element, Located]:
        """The layers of the model, bodies included, by their element."""
        return {element_of(located): located for located in self.model.walk()}

    def place(self, located: Located, part: str = "layer", port: int | None = None, dim: int | None = None) -> Place:
        """The place of a layer, of the first `part` in it (`data`, `rt_info`), or of a port or one of its dims.

        Args:
            located: a layer of `model`.
            part: name of an element inside the layer; the layer itself where there is none.
            port: id of a port.
            dim: number of a dimension of the port, counted from 0; the port where it has no such.
        """
        element = found = element_of(located)
        if port is not None:
            ports = (entry for side in ("output", "input") for entry in element.iterfind(f"{side}/port"))
            found = next((entry for entry in ports if whole_number(entry.get("id")) == port), element)
            dims = list(found.iterchildren("dim"))
            if dim is not None and dim < len(dims):
                found = dims[dim]
        elif part != "layer":
            inner = element.find(part)
            found = element if inner is None else inner
        layer = located.layer
        return Place(self.document.line(found), layer.id, layer.name, located.path)

    def place_of(self, element: Element) -> Place:
        """The place of any element of the document: its line, and the layer around it, where there is one."""
        line = self.document.line(element)
        layer = element if element.tag == "layer" else next(element.iterancestors("layer"), None)
        if layer is None:
            return Place(line)
        return Place(line, whole_number(layer.get("id")), layer.get("name"), self._path(layer))

    def _path(self, layer: Element) -> str:
        """`Loop_3/body/Add_7`, by the names that stand there."""
        located = self.layers.get(layer)
        if located is not None:
            return located.path
        words = [layer.get("name") or ""]
        for body in layer.iterancestors():
            outer = body.getparent()
            if outer is not None and outer.tag == "layer":
                words += [str(body.tag), outer.get("name") or ""]
        return "/".join(reversed(words))


def element_of(located: Located) -> Element:
    """The `<layer>` that a layer was read from."""
    source = located.layer.source
    assert isinstance(source, ElementSource)
    return source.element
