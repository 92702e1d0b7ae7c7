"""One layer of an IR and its ports, with the text of the file kept as it was read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ir_tools.graph.graph import Graph

__all__ = ["Layer", "LayerContent", "Port"]


@dataclass(slots=True)
class Port:
    """A port as the file records it.

    Attributes:
        id: unique among all ports of its layer.
        precision: `FP32` and the like; input ports of Model Optimizer's files have none.
        dims: recorded sizes, -1 for dynamic. Empty for a scalar and for an unknown rank alike: the file cannot tell.
        names: tensor names of an output port.
    """

    id: int
    precision: str | None = None
    dims: tuple[int, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(slots=True)
class LayerContent:
    """What stands inside a `<layer>`: read on first use, written back only where it was changed.

    `mapping` holds the rows of `<port_map>` and `<back_edges>` of a layer with bodies, as
    `{"port_map": [("input", {...}), ("output", {...})], "back_edges": [("edge", {...})]}`
    (for If: `then_port_map`, `else_port_map`).
    """

    raw: dict[str, str] = field(default_factory=dict)
    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)
    rt_info: list[dict[str, str]] = field(default_factory=list)
    mapping: dict[str, list[tuple[str, dict[str, str]]]] = field(default_factory=dict)


class Layer:
    """A layer: its tag's attributes at once, its content when first asked for.

    `tag` holds all attributes of the `<layer>` tag as text (id, name, type, version, and any other).
    """

    __slots__ = ("_content", "_load", "bodies", "id", "tag")

    def __init__(
        self,
        id: int,
        tag: dict[str, str],
        content: LayerContent | None = None,
        load: Callable[[], LayerContent] | None = None,
        bodies: dict[str, Graph] | None = None,
    ) -> None:
        """A new layer has `content`; one that was read has `load` instead. `bodies`: by element name (`then_body`)."""
        self.id = id
        self.tag = tag
        self.bodies: dict[str, Graph] = bodies if bodies is not None else {}
        self._content = content if content is not None or load is not None else LayerContent()
        self._load = load

    @property
    def name(self) -> str:
        """The layer's name; empty where the file has none."""
        return self.tag.get("name", "")

    @property
    def type(self) -> str:
        """The operation type, `AvgPool`."""
        return self.tag.get("type", "")

    @property
    def version(self) -> str:
        """The opset stamp, `opset8`; empty where the file has none."""
        return self.tag.get("version", "")

    @property
    def loaded(self) -> bool:
        """Whether the content was asked for already; if not, it is as in the file."""
        return self._content is not None

    @property
    def content(self) -> LayerContent:
        """Everything inside the layer, loaded now if need be."""
        if self._content is None:
            assert self._load is not None
            self._content = self._load()
        return self._content

    @property
    def raw(self) -> dict[str, str]:
        """The attributes of `<data>` as text."""
        return self.content.raw

    @property
    def inputs(self) -> list[Port]:
        """Input ports in the order of the file."""
        return self.content.inputs

    @property
    def outputs(self) -> list[Port]:
        """Output ports in the order of the file."""
        return self.content.outputs

    @property
    def rt_info(self) -> list[dict[str, str]]:
        """One dict per `<attribute>` of the layer's `<rt_info>`."""
        return self.content.rt_info

    def port(self, port_id: int) -> Port:
        """The port with this id, input or output.

        Raises:
            KeyError: there is none.
        """
        for port in (*self.inputs, *self.outputs):
            if port.id == port_id:
                return port
        raise KeyError(f"layer '{self.name}' has no port {port_id}")

    def __repr__(self) -> str:
        """`Layer(7, 'pool', AvgPool opset14)`."""
        return f"Layer({self.id}, {self.name!r}, {self.type} {self.version})"
