"""How a layer type of IR v2 to v7 is described: as an operation of version 0, with what replaces its layers today."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from ir_tools.errors import ShapeError
from ir_tools.graph import Source
from ir_tools.ops.definition import Array, Fact, Input, Op, Output, Refused, Upgrade
from ir_tools.ops.fields import Attrs, Field

__all__ = [
    "LEFTOVERS",
    "LegacyFlag",
    "LegacyLayer",
    "LegacyStep",
    "Tensor",
    "legacy_type",
    "sizes_of",
    "unary",
    "unchanged",
]

LEFTOVERS = {"quantization_level": ".*", "originalLayersNames": ".*", "PrimitivesPriority": ".*"}
"""Attributes of any layer that say nothing about what it computes."""
Tensor = Source | Array | float | Sequence[int] | Sequence[float]
"""An input of a new layer: a tensor of the new graph, or numbers that become a constant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyFlag(Field):
    """True or false as Inference Engine 2020.1 reads them (measured): a word in any case, or a number.

    A number is true if the digits that it begins with are not 0; no text is false.
    """

    blank: ClassVar[bool] = False

    def parse(self, text: str) -> bool:
        """Parse `"True"` and `"1"` -> `True`."""
        word = text.lower()
        if word in {"true", "false", ""}:
            return word == "true"
        number = re.match(r"\s*[+-]?[0-9]+", text)
        if number is None:
            raise ValueError(f"is '{text}'; expected 1 or 0")
        return int(number[0]) != 0

    def render(self, value: Any, separator: str) -> str:
        """Render `True` -> `"true"`."""
        return "true" if value else "false"


LegacyStep = Callable[["LegacyLayer", Source], Source]
"""A function that adds layers which compute something of a tensor."""


class LegacyLayer(Protocol):
    """A layer of a legacy model, and the new graph that what replaces it is added to.

    New layers compute in f32, as Inference Engine did: inputs and weights of FP16 are f32 here. A layer that is added
    last takes the name of the legacy layer.
    """

    @property
    def type(self) -> str:
        """The name of its type, in the case of the file."""
        ...

    @property
    def attrs(self) -> Attrs:
        """The typed attributes."""
        ...

    @property
    def inputs(self) -> Sequence[Source]:
        """The tensors that the layer reads, in the new graph."""
        ...

    @property
    def declared(self) -> Sequence[Fact]:
        """What the file says of the outputs, which Inference Engine trusted: element types and sizes."""
        ...

    @property
    def input_range(self) -> tuple[float, float] | None:
        """The lowest and highest value of the first input, if the layer is to be quantized."""
        ...

    @property
    def readers(self) -> Set[str]:
        """The types of the layers that read its outputs, in lower case."""
        ...

    def fact(self, tensor: Source) -> Fact:
        """Return what is known of a tensor of the new graph; small constants with their values."""
        ...

    def numbers(self, tensor: Source) -> Array | None:
        """Return the numbers of a constant of the new graph, half floats as f32; None for any other tensor."""
        ...

    def sizes(self, tensor: Source) -> tuple[int, ...]:
        """Return the sizes of a tensor of the new graph; legacy models have no others than known ones."""
        ...

    def call(self, type: str, *inputs: Tensor, **attributes: object) -> Source:
        """Add an operation of opset8 and return its first output; attributes by their Python names."""
        ...

    def outputs(self, type: str, *inputs: Tensor, **attributes: object) -> tuple[Source, ...]:
        """Add an operation of opset8 and return all of its outputs."""
        ...

    def iterate(self) -> tuple[Source, ...] | Refused:
        """Add a TensorIterator with the migrated body of the layer and return its outputs."""
        ...

    def constant(self, numbers: Array | float | Sequence[int] | Sequence[float]) -> Source:
        """Add a constant: f32 for floats, i64 for integers; arrays keep their type."""
        ...

    def blob_size(self, name: str) -> int:
        """Return how many elements `weights`, `biases` or `custom` has; 0 if it is absent."""
        ...

    def blob(self, name: str, shape: Sequence[int] | None = None) -> Source:
        """Return a blob of the layer as an f32 tensor that takes its bytes from the `.bin`; by default a list."""
        ...

    def blob_values(self, name: str) -> Array:
        """Return the numbers of a blob, as a list; half floats as f32."""
        ...

    def blob_bytes(self, name: str) -> Array:
        """Return the bytes of a blob as u8: those of packed bits."""
        ...

    def note(self, text: str) -> None:
        """Tell the user something about the layer: a result of the old release that is not kept, and why."""
        ...


def legacy_type(
    type: str,
    upgrade: Upgrade | None,
    *,
    inputs: Sequence[Input] = (Input("data"),),
    outputs: Sequence[Output] = (Output(),),
    attrs: Mapping[str, Field] | None = None,
    **more: Any,
) -> Op:
    """Return the description of a layer type; without a `shape` rule, the sizes that the file declares are believed."""
    return Op(
        type=type,
        version=0,
        last_opset=0,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        attrs=attrs or {},
        upgrade=upgrade,
        **{"leftovers": LEFTOVERS} | more,
    )


def sizes_of(tensors: Sequence[Fact], number: int = 0, rank: int = 0) -> tuple[int, ...]:
    """Return the sizes that a file records of a tensor.

    Raises:
        ShapeError: it records none, negative ones, or fewer than `rank`.
    """
    sizes = tensors[number].dims if number < len(tensors) else ()
    if len(sizes) < rank or min(sizes, default=0) < 0:
        raise ShapeError(f"expected at least {rank} sizes")
    return sizes


def unary(type: str) -> LegacyStep:
    """Return a step that adds an operation of one input."""
    return lambda layer, data: layer.call(type, data)


def unchanged(layer: LegacyLayer) -> tuple[Source, ...] | Refused:
    """Return the input: the layer computes nothing."""
    return (layer.inputs[0],)
