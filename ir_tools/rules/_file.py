"""A file as the rules see it: the document, its layers with their places, the model as far as it can be made."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TypeVar, cast

from ir_tools.format.constants import Constant
from ir_tools.format.content import ElementSource
from ir_tools.format.faults import Fault, Place, place_of
from ir_tools.format.nets import Net
from ir_tools.format.read import Reading, tolerant
from ir_tools.format.usual import Usual
from ir_tools.graph import Located, Model
from ir_tools.infer import ConsistencyCheck
from ir_tools.source import Document, Element
from ir_tools.types import id_number
from ir_tools.weights import Weights

__all__ = ["IrFile", "Place"]

T = TypeVar("T")


class IrFile:
    """One `.xml` with its `.bin`. What rules share is worked out once, when the first of them asks.

    Attributes:
        document: the bytes and the tree.
        weights: the `.bin`; it may be missing.
        path: of the `.xml`, where it has one.
        extensions: whether libraries are named whose operations the file may have.
    """

    def __init__(
        self, document: Document, weights: Weights, path: Path | None = None, *, extensions: bool = False
    ) -> None:
        """See `ir_tools.validation`, which opens files."""
        self.document = document
        self.weights = weights
        self.path = path
        self.extensions = extensions
        self._done: dict[object, object] = {}

    @property
    def model(self) -> Model:
        """The model as far as it can be made: without the layers and edges that are faulty themselves.

        So an input may have no source where the file has an edge. The content of every layer can be loaded; constants
        have a shape and a type that fit their size; layers with bodies have port maps that can be followed.
        """
        return self._reading.model

    @property
    def nets(self) -> list[Net]:
        """`<net>` and every body, with what in it could not be read."""
        return self._reading.nets

    @property
    def faults(self) -> list[Fault]:
        """What could not be read, by the codes of the rules that tell of it."""
        return self._reading.faults

    @property
    def constants(self) -> list[Constant]:
        """Every Const whose attributes can be read."""
        return self._reading.constants

    @property
    def usual(self) -> Usual:
        """What of the document need not be looked at element by element."""
        return self._reading.usual

    @cached_property
    def consistency(self) -> ConsistencyCheck:
        """What is wrong with the model's layers and contradicts itself in them."""
        return ConsistencyCheck(self.model)

    @cached_property
    def _reading(self) -> Reading:
        return tolerant(self.document, self.weights, self.path, thorough=True)

    def place(
        self,
        located: Located,
        part: str = "layer",
        port: int | None = None,
        dim: int | None = None,
        attribute: str | None = None,
    ) -> Place:
        """The place of a layer, of the first `part` in it (`data`, `rt_info`), or of a port or one of its dims.

        Args:
            located: a layer of `model`.
            part: name of an element inside the layer; the layer itself where there is none.
            port: id of a port; where an input and an output have it, the output's, unless `part` is `input`.
            dim: number of a dimension of the port, counted from 0; the port where it has no such.
            attribute: of the element that is found, where it alone is wrong.
        """
        element = found = element_of(located)
        if port is not None:
            sides = ("input", "output") if part == "input" else ("output", "input")
            ports = (entry for side in sides for entry in element.iterfind(f"{side}/port"))
            found = next((entry for entry in ports if id_number(entry.get("id")) == port), element)
            dims = list(found.iterchildren("dim"))
            if dim is not None and dim < len(dims):
                found = dims[dim]
        elif part != "layer":
            inner = element.find(part)
            found = element if inner is None else inner
        return place_of(self.document, found, attribute=attribute)

    def place_of(self, element: Element, layer: Element | None = None) -> Place:
        """The place of any element of the document: its line, and the layer, if none is given the one around it."""
        return place_of(self.document, element, layer)

    def once(self, work: Callable[[IrFile], T]) -> T:
        """What a function makes of the file, worked out when it is first asked for."""
        if work not in self._done:
            self._done[work] = work(self)
        return cast(T, self._done[work])


def element_of(located: Located) -> Element:
    """The `<layer>` that a layer was read from."""
    source = located.layer.source
    assert isinstance(source, ElementSource)
    return source.element
