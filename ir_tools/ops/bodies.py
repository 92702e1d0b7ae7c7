"""Layers that hold graphs of their own, their bodies: how the two belong together, as `Op.bodies` describes it.

A body is propagated and run through a callback, so that nothing here knows how a graph is walked.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ir_tools.errors import ShapeError
from ir_tools.graph import Layer
from ir_tools.ops.definition import Array, Fact
from ir_tools.types import Dim, Shape

__all__ = ["Bodies", "BodyFacts", "BodyRule", "BodyRun", "Execute", "Maps", "PortMap", "PortMapRow"]
__all__ += ["check_slices", "port_maps"]


@dataclass(frozen=True, slots=True)
class PortMapRow:
    """One row of a port map. `port` of the layer, `layer` of the body; `axis` where the tensor is cut or joined."""

    port: int
    layer: int
    axis: int | None = None
    start: int = 0
    end: int = -1
    stride: int = 1
    part_size: int = 1
    purpose: str = ""


def part_count(start: int, end: int, part_size: int, size: int) -> int:
    """Return how many parts the runtime counts on an axis of this size, to which `start` and `end` both belong."""
    first, last = (edge + size if edge < 0 else edge for edge in (start, end))
    return (abs(last - first) + 1) // part_size


@dataclass(frozen=True, slots=True)
class PortMap:
    """How ports of the layer and layers of one body belong together; `back_edges`: body Parameter -> body Result."""

    inputs: tuple[PortMapRow, ...]
    outputs: tuple[PortMapRow, ...]
    back_edges: Mapping[int, int]

    def purpose(self, word: str) -> PortMapRow | None:
        """Return the row with this purpose: `current_iteration`, `execution_condition`."""
        return next((row for row in (*self.inputs, *self.outputs) if row.purpose == word), None)


Maps = Mapping[str, PortMap]
"""By body: `body`, or `then_body` and `else_body`."""


@dataclass(frozen=True, slots=True)
class BodyFacts:
    """What is known in a body: facts of what its Results are given, by layer id.

    `passed`: for a Result that is fed by a Parameter directly, that Parameter's id.
    """

    results: Mapping[int, Fact]
    passed: Mapping[int, int]


def port_maps(layer: Layer) -> Maps:
    """Return the port maps of a layer with bodies, as its file has them.

    Raises:
        ShapeError: a number in them cannot be read.
    """
    mapping = layer.content.mapping
    out = {}
    for body in layer.bodies:
        sliced = body == "body"
        rows = mapping.get(f"{body.removesuffix('body')}port_map", [])
        edges = mapping.get("back_edges", [])
        try:
            results = tuple(_row(raw, sliced) for kind, raw in rows if kind == "output")
            out[body] = PortMap(
                tuple(_row(raw, sliced) for kind, raw in rows if kind == "input"),
                results if sliced else _by_order(results, layer),
                {int(raw["to-layer"]): int(raw["from-layer"]) for _, raw in edges},
            )
        except (KeyError, ValueError) as why:
            raise ShapeError(f"its port map is invalid: {why}") from None
    return out


def _by_order(results: Sequence[PortMapRow], layer: Layer) -> tuple[PortMapRow, ...]:
    """Return the output rows of a branch with the ports that they give: only the order of their numbers counts."""
    ordered = sorted(results, key=lambda row: row.port)
    return tuple(replace(row, port=port.id) for row, port in zip(ordered, layer.outputs, strict=False))


def _row(raw: Mapping[str, str], sliced: bool) -> PortMapRow:
    """Return a row of a port map; those of an If are not sliced, whatever they say."""

    def number(name: str, default: int) -> int:
        return int(raw.get(name) or default)

    axis = int(raw["axis"]) if sliced and raw.get("axis") else None
    if axis is not None and axis < 0:
        raise ValueError(f"axis is {axis}; the runtime does not support negative axes here")
    return PortMapRow(
        port=int(raw["external_port_id"]),
        layer=int(raw["internal_layer_id"]),
        axis=axis,
        start=number("start", 0),
        end=number("end", -1),
        stride=number("stride", 1),
        part_size=number("part_size", 1),
        purpose=raw.get("purpose", ""),
    )


class BodyRun(Protocol):
    """Propagates facts through a body, given facts for some of its Parameters."""

    def __call__(self, body: str, parameters: Mapping[int, Fact]) -> BodyFacts:
        """Run a body; Parameters that are not given, and dynamic types, stay as their attributes say."""
        ...


BodyRule = Callable[[Maps, Mapping[int, Fact], BodyRun], dict[int, Fact]]
"""`(port maps, facts by input port, run) -> facts by output port`."""


def check_slices(
    ports: PortMap, inputs: Mapping[int, Fact], results: Mapping[int, Fact], iterations: int | None
) -> Iterator[tuple[PortMapRow, str, str]]:
    """Yield rows that the runtime compiles or runs with an error: row, message, what to do.

    Args:
        ports: of the body.
        inputs: facts by port of the layer.
        results: facts by Result of the body.
        iterations: how often the body runs, where that is certain.
    """
    for row in ports.inputs:
        size = _along(row, inputs[row.port].shape if row.axis is not None else None)
        if (
            size is not None
            and size.hi is not None
            and iterations is not None
            and iterations > size.hi // max(row.part_size, 1)
        ):
            message = (
                f"input port {row.port} has {size} elements along axis {row.axis}, but {iterations} iterations "
                f"read {row.part_size} elements each"
            )
            yield row, message, f"give it {iterations * row.part_size} elements along axis {row.axis}"
    for row in ports.outputs:
        size = _along(row, results[row.layer].shape)
        if size is not None and size.static and size.size != row.part_size:
            message = (
                f"part_size is {row.part_size}, but the output of the body has {size} elements along axis {row.axis}"
            )
            yield row, message, f'write part_size="{size}", and the same for stride'


def _along(row: PortMapRow, shape: Shape) -> Dim | None:
    """Return the dimension that a row cuts or joins; None where there is none, or it is not known."""
    if row.axis is None or not shape or not -len(shape) <= row.axis < len(shape):
        return None
    return shape[row.axis]


Execute = Callable[[str, Mapping[int, Array]], dict[int, Array]]
"""`(body, arrays by Parameter) -> arrays by Result`."""
BodyKernel = Callable[[Maps, Mapping[int, Array], Execute], dict[int, Array]]
"""`(port maps, arrays by input port, execute) -> arrays by output port`."""


@dataclass(frozen=True, slots=True)
class Bodies:
    """What an operation does with its bodies.

    Attributes:
        shape: facts of the outputs, given those of the inputs and a way to propagate facts through a body.
        kernel: the outputs, given the inputs and a way to run a body.
        own_types: whether Parameters of a body keep the element types of their attributes, whatever they are given.
    """

    shape: BodyRule
    kernel: BodyKernel
    own_types: bool = False
