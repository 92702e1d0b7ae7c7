"""A file as the checks see it: the document, its layers with their places, the model as far as it can be made."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TypeVar, cast

from ir_tools.format.constants import Constant
from ir_tools.format.content import ElementSource
from ir_tools.format.nets import Net
from ir_tools.format.problems import ElementProblem
from ir_tools.format.read import Reading, model_of, tolerant
from ir_tools.format.usual import Usual
from ir_tools.graph import Layer, Model
from ir_tools.infer import ConsistencyCheck
from ir_tools.source import Document, Element
from ir_tools.weights import Weights

__all__ = ["IrFile", "data_of", "element_of", "notes_read"]

T = TypeVar("T")


class IrFile:
    """One `.xml` with its `.bin`. What checks share is worked out once, when the first of them asks.

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
    def unread(self) -> list[ElementProblem]:
        """What could not be read."""
        return self._reading.problems

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out of `model`, so that it is what `read` gives; only errors leave something out."""
        wrong = any(problem.is_error for problem in self.unread)
        return not wrong and all(len(net.graph) == len(net.layers) for net in self.nets)

    def whole_model(self) -> Model:
        """Return what `read` gives.

        Raises:
            ReadError: the model cannot be read.
        """
        return self.model if self.is_whole else model_of(self.document, self.weights, self.path)

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
        """Return what is wrong with the model's layers and contradicts itself in them."""
        return ConsistencyCheck(self.model)

    @cached_property
    def _reading(self) -> Reading:
        return tolerant(self.document, self.weights, self.path, thorough=True)

    def once(self, work: Callable[[IrFile], T]) -> T:
        """Return what a function makes of the file; it is called when first asked for."""
        if work not in self._done:
            self._done[work] = work(self)
        return cast(T, self._done[work])


def notes_read(file: IrFile) -> Element | None:
    """Return the `<meta_data>` that the runtime reads: that of a model of IR v10 and later without `<rt_info>`."""
    root = file.document.root
    return None if file.model.is_legacy or root.find("rt_info") is not None else root.find("meta_data")


def element_of(layer: Layer) -> Element:
    """Return the `<layer>` that a layer was read from."""
    source = layer.source
    assert isinstance(source, ElementSource)
    return source.element


def data_of(layer: Layer) -> Element:
    """Return the `<data>` of a layer; the layer itself if there is none."""
    element = element_of(layer)
    data = element.find("data")
    return element if data is None else data
