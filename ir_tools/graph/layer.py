"""One layer of an IR and its ports, with the text of the file kept as it was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ir_tools.display import brief, brief_fields, shortened

if TYPE_CHECKING:
    from ir_tools.graph.graph import Graph

__all__ = ["Layer", "LayerContent", "LayerSource", "Port", "find_port", "port_place"]


@dataclass(slots=True)
class Port:
    """A port as the file records it.

    Attributes:
        id: unique among all ports of its layer.
        precision: `FP32` and the like; input ports of Model Optimizer's files have none.
        dims: recorded sizes, -1 for dynamic. Empty for a scalar and for an unknown rank, alike in the file.
        names: tensor names of an output port.

    Example:
        >>> ir_tools.Port(0, "FP32", (1, 2, 8, 8))
        Port(id=0, precision='FP32', dims=(1, 2, 8, 8))
    """

    id: int
    precision: str | None = None
    dims: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    __repr__ = brief_fields


def port_place(ports: Sequence[Port], port_id: int) -> int | None:
    """Return the place of the port with this id; as ids mostly rise by one, that place is looked at first."""
    place = port_id - ports[0].id if ports else 0
    if 0 <= place < len(ports) and ports[place].id == port_id:
        return place
    return next((place for place, port in enumerate(ports) if port.id == port_id), None)


def find_port(ports: Sequence[Port], port_id: int) -> Port | None:
    """Return the port with this id."""
    place = port_place(ports, port_id)
    return None if place is None else ports[place]


@dataclass(slots=True)
class LayerContent:
    """Everything inside a `<layer>` but its bodies: read on first use, written back only if it was changed.

    `mapping` holds the rows of `<port_map>` and `<back_edges>` of a layer with bodies, as
    `{"port_map": [("input", {...}), ("output", {...})], "back_edges": [("edge", {...})]}`
    (for If: `then_port_map`, `else_port_map`).

    Attributes:
        raw: the attributes of `<data>` as text.
        inputs, outputs: the ports.
        rt_info: one dict per `<attribute>` of `<rt_info>`.
        mapping: see above.
        blobs: of a legacy layer: the attributes of `<weights>`, `<biases>`, `<custom>`: bytes of the `.bin`.

    Example:
        >>> ir_tools.LayerContent({"axis": "1"}, [ir_tools.Port(0, "FP32")], [ir_tools.Port(1, "FP32")])
        LayerContent(raw={'axis': '1'}, inputs=[Port(id=0, precision='FP32')], outputs=[Port(id=1, precision='FP32')])
    """

    raw: dict[str, str] = field(default_factory=dict)
    inputs: list[Port] = field(default_factory=list)
    outputs: list[Port] = field(default_factory=list)
    rt_info: list[dict[str, str]] = field(default_factory=list)
    mapping: dict[str, list[tuple[str, dict[str, str]]]] = field(default_factory=dict)
    blobs: dict[str, dict[str, str]] = field(default_factory=dict)

    __repr__ = brief_fields

    def key(self) -> tuple[object, ...]:
        """Return everything but the tensor names as something that can be hashed."""
        return (
            tuple(self.raw.items()),
            tuple([(port.id, port.precision, port.dims) for port in self.inputs]),
            tuple([(port.id, port.precision, port.dims) for port in self.outputs]),
            tuple([tuple(entry.items()) for entry in self.rt_info]),
            tuple([(name, kind, *row.items()) for name, rows in self.mapping.items() for kind, row in rows]),
            tuple([(name, *blob.items()) for name, blob in self.blobs.items()]),
        )

    def copy(self) -> LayerContent:
        """Return the same content, sharing nothing that can change."""
        return LayerContent(
            {**self.raw},
            [Port(port.id, port.precision, port.dims, port.names) for port in self.inputs],
            [Port(port.id, port.precision, port.dims, port.names) for port in self.outputs],
            [{**entry} for entry in self.rt_info],
            {name: [(kind, {**row}) for kind, row in rows] for name, rows in self.mapping.items()},
            {name: {**blob} for name, blob in self.blobs.items()},
        )


class LayerSource(Protocol):
    """The place in a document that a layer was read from; several layers may share one, since it never changes."""

    @property
    def line(self) -> int:
        """The line on which the layer starts, counted from 1."""
        ...

    @property
    def stamp(self) -> str:
        """The version of the layer's type where its tag has none: `legacy` in a file of IR v2 to v7, else nothing."""
        ...

    def tag(self) -> dict[str, str]:
        """Return the attributes of the tag, as read."""
        ...

    def get(self, name: str) -> str | None:
        """Return one attribute of the tag, as read."""
        ...

    def text(self) -> tuple[object, int | None] | None:
        """Return the text of the layer without id, names and a constant's offset, and that offset; None if not known.

        One object for equal texts. Equal text is an equal layer but for these.
        """
        ...

    def content(self) -> LayerContent:
        """Return the content, as read, new with each call."""
        ...

    def common(self) -> LayerContent:
        """Return the content of some layer with the same text, which is not to be changed."""
        ...


class Layer:
    """A layer; one that was read takes tag and content from its source when they are first asked for.

    Attributes:
        id: the layer's node in its graph.
        bodies: by element name, `body`, `then_body`.
        source: where it was read; None for a new layer.

    Example:
        >>> pool = ir_tools.read("model.xml").graph.layer(1)
        >>> pool
        Layer(1, 'pool', AvgPool opset1)
        >>> pool.raw["kernel"], pool.port(1).dims
        ('2,2', (1, 2, 4, 4))
        >>> ir_tools.Layer(7, {"name": "relu", "type": "ReLU", "version": "opset1"})
        Layer(7, 'relu', ReLU opset1)
    """

    __slots__ = ("_content", "_tag", "_type", "bodies", "id", "source")

    def __init__(
        self,
        id: int,
        tag: dict[str, str] | None = None,
        content: LayerContent | None = None,
        *,
        source: LayerSource | None = None,
        bodies: dict[str, Graph] | None = None,
    ) -> None:
        """`tag`: all attributes of the `<layer>` tag as text (name, type, version, and any other)."""
        self.id = id
        self.source = source
        self.bodies: dict[str, Graph] = {} if bodies is None else bodies
        self._tag = tag
        self._type: str | None = None
        self._content = content

    @property
    def tag(self) -> dict[str, str]:
        """All attributes of the `<layer>` tag as text; `id` is overruled by the layer's node."""
        if self._tag is None:
            self._tag = self.source.tag() if self.source else {}
        return self._tag

    @property
    def name(self) -> str:
        """The layer's name; empty where the file has none."""
        return self._attribute("name")

    @property
    def type(self) -> str:
        """The operation type, `AvgPool`."""
        if self._tag is not None:
            return self._tag.get("type", "")
        if self._type is None:
            self._type = self._attribute("type")
        return self._type

    @property
    def version(self) -> str:
        """The opset stamp, `opset8`; `legacy` in a file of IR v2 to v7, else empty where the file has none."""
        return self._attribute("version") or (self.source.stamp if self.source else "")

    @property
    def loaded(self) -> bool:
        """Whether the content was asked for already; if not, it is as in the file."""
        return self._content is not None

    @property
    def tag_loaded(self) -> bool:
        """Whether the tag was asked for already; if not, it is as in the file."""
        return self._tag is not None

    @property
    def text(self) -> tuple[object, int | None] | None:
        """The text in the file, as `LayerSource.text` returns it; None if the tag or the content may be another now."""
        return None if self._content is not None or self._tag is not None or self.source is None else self.source.text()

    @property
    def content(self) -> LayerContent:
        """Everything inside the layer but its bodies.

        Raises:
            ReadError: a port of the file has no id, or a dimension that is not a number.
        """
        if self._content is None:
            self._content = self.source.content() if self.source else LayerContent()
        return self._content

    @property
    def common(self) -> LayerContent:
        """The content of this layer or of one with the same text, to look at: not to be changed.

        Tensor names and the offset of a constant may be those of the other one. The layer is not loaded by it, so it
        stays as fast to write and to look at again.
        """
        if self._content is None and self.source is not None and self.source.text() is not None:
            return self.source.common()
        return self.content

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
        """Return the port with this id, input or output.

        Raises:
            KeyError: there is none.
        """
        port = find_port(self.inputs, port_id) or find_port(self.outputs, port_id)
        if port is None:
            raise KeyError(f"layer '{self.name}' has no port {port_id}")
        return port

    def _attribute(self, name: str) -> str:
        if self._tag is None and self.source:
            return self.source.get(name) or ""
        return self.tag.get(name, "")

    def copy(self, id: int | None = None) -> Layer:
        """Return a layer of its own with the same tag, content and bodies; what is not loaded stays so.

        `id`: of the copy, where it is to live beside the original.
        """
        return Layer(
            self.id if id is None else id,
            None if self._tag is None else {**self._tag},
            None if self._content is None else self._content.copy(),
            source=self.source,
            bodies={name: body.clone() for name, body in self.bodies.items()} if self.bodies else None,
        )

    def __copy__(self) -> Layer:
        """Return `copy()`."""
        return self.copy()

    def __deepcopy__(self, memo: dict[int, object]) -> Layer:
        """Return `copy()`, also for algorithms of networkx that copy the data of nodes; the source stays shared."""
        return self.copy()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle tag, content and bodies, without the document that they were read from."""
        return Layer, (self.id, self.tag, self.content), (None, {"bodies": self.bodies})

    def __repr__(self) -> str:
        """Return `Layer(7, 'pool', AvgPool opset14)`."""
        stamp = shortened(f"{self.type} {self.version}", 60).strip()
        return f"Layer({self.id}, {brief(self.name)}, {stamp})"
