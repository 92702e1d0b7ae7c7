"""One layer of an IR and its ports; unchanged text of the file is kept as it was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self

from ir_tools.display import brief, brief_fields, shortened
from ir_tools.types import id_number

if TYPE_CHECKING:
    from ir_tools.graph.graph import Graph

__all__ = [
    "Layer",
    "LayerContent",
    "LayerForm",
    "LayerSource",
    "NewSource",
    "Port",
    "find_port",
    "output_name",
    "port_place",
]


MANY_PORTS = 64
"""Longer lists of ports are not searched from the front each time."""
MAX_PLACES = 8
"""Long lists of ports whose places are kept."""


@dataclass(slots=True)
class Port:
    """A port, as the file records it.

    Attributes:
        id: the id, unique among all ports of the layer.
        precision: the element type as the file names it (`FP32`); None for input ports in files of Model Optimizer.
        dims: the recorded sizes, -1 for a dynamic one. Empty for a scalar and for an unknown rank, which the file does
            not distinguish.
        names: the tensor names of an output port.

    Example:
        >>> ir_tools.Port(0, "FP32", (1, 2, 8, 8))
        Port(id=0, precision='FP32', dims=(1, 2, 8, 8))
    """

    id: int
    precision: str | None = None
    dims: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    __repr__ = brief_fields


_PLACES: dict[int, tuple[Sequence[Port], dict[int, int]]] = {}
"""Long lists of ports by `id`, each with the indices of its ports by the ids that they had."""


def output_name(layer: Layer, number: int) -> str:
    """Return the name of an output that has no tensor name: that of the layer, with the number if there are several."""
    return layer.name if len(layer.common.outputs) < 2 else f"{layer.name}.{number}"


def port_place(ports: Sequence[Port], port_id: int) -> int | None:
    """Return the index of the port with this id; None if there is none.

    Ids mostly increase by one, so the index that follows from this is tried first.
    """
    place = port_id - ports[0].id if ports else 0
    if 0 <= place < len(ports) and ports[place].id == port_id:
        return place
    if len(ports) > MANY_PORTS:
        return _place_among_many(ports, port_id)
    return next((place for place, port in enumerate(ports) if port.id == port_id), None)


def _place_among_many(ports: Sequence[Port], port_id: int) -> int | None:
    """Return the index of a port of a long list by the ids that it had when it was looked at last, if they hold."""
    places = _PLACES.get(id(ports), (ports, {}))[1]
    place = places.get(port_id)
    if place is None or place >= len(ports) or ports[place].id != port_id:
        if len(_PLACES) >= MAX_PLACES:
            _PLACES.clear()
        places = {port.id: place for place, port in reversed([*enumerate(ports)])}
        _PLACES[id(ports)] = ports, places
        place = places.get(port_id)
    return place


def find_port(ports: Sequence[Port], port_id: int) -> Port | None:
    """Return the port with this id; None if there is none."""
    place = port_place(ports, port_id)
    return None if place is None else ports[place]


@dataclass(slots=True)
class LayerContent:
    """The content of a `<layer>` without its bodies. It is read on first use, and written back only if it was changed.

    Attributes:
        raw: the attributes of `<data>` as text.
        inputs, outputs: the ports.
        rt_info: one dict per `<attribute>` of `<rt_info>`.
        mapping: for a layer with bodies, the rows of `<port_map>` and `<back_edges>`:
            `{"port_map": [("input", {...}), ("output", {...})], "back_edges": [("edge", {...})]}`
            (for If: `then_port_map`, `else_port_map`).
        blobs: for a layer of IR v2 to v7, the attributes of `<weights>`, `<biases>` and `<custom>`, which are the
            offset and size of each in the `.bin`, in bytes.

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
        """Return the content without the tensor names, as a hashable tuple."""
        return (
            tuple(self.raw.items()),
            tuple([(port.id, port.precision, port.dims) for port in self.inputs]),
            tuple([(port.id, port.precision, port.dims) for port in self.outputs]),
            tuple([tuple(entry.items()) for entry in self.rt_info]),
            tuple([(name, kind, *row.items()) for name, rows in self.mapping.items() for kind, row in rows]),
            tuple([(name, *blob.items()) for name, blob in self.blobs.items()]),
        )

    def copy(self) -> LayerContent:
        """Return a copy that shares no mutable object with the original."""
        return LayerContent(
            {**self.raw},
            [Port(port.id, port.precision, port.dims, port.names) for port in self.inputs],
            [Port(port.id, port.precision, port.dims, port.names) for port in self.outputs],
            [{**entry} for entry in self.rt_info],
            {name: [(kind, {**row}) for kind, row in rows] for name, rows in self.mapping.items()},
            {name: {**blob} for name, blob in self.blobs.items()},
        )


class LayerSource(Protocol):
    """What a layer was read from, or made of. It never changes, so copies of a layer share it."""

    @property
    def stamp(self) -> str:
        """The version of the layer's type if its tag has none: `legacy` in a file of IR v2 to v7, else empty."""
        ...

    def tag(self) -> dict[str, str]:
        """Return the attributes of the tag, as read."""
        ...

    def get(self, name: str) -> str | None:
        """Return one attribute of the tag, as read."""
        ...

    def text(self) -> tuple[object, int | None] | None:
        """Return the text of the layer without its id, names and constant offset, and that offset; None if unknown.

        Equal texts are one object. Layers with equal text are equal except for id, names and offset.
        """
        ...

    def content(self) -> LayerContent:
        """Return the content, as read; a new object with each call."""
        ...

    def common(self) -> LayerContent | None:
        """Return the content of a layer with the same text, which must not be changed; None if no text is known."""
        ...


class LayerForm:
    """What new layers have in common that differ in nothing but id, name, tensor names and a constant's offset.

    Attributes:
        type, version: those of the tag.
        content: that of one of these layers, without tensor names; not to be changed.
        has_offset: whether each of them has an offset of its own.
    """

    __slots__ = ("content", "has_offset", "type", "version")

    def __init__(self, type: str, version: str, content: LayerContent, *, has_offset: bool = False) -> None:
        """`content` is taken over, and nobody else may change it."""
        self.type = type
        self.version = version
        self.content = content
        self.has_offset = has_offset


class NewSource:
    """What a new layer was made of: its form, and what it does not share with others of that form.

    Attributes:
        form: what it shares.
        name: the name of the layer.
        offset: where the bytes of a constant start, if each layer of the form has its own.
        names: the tensor names of its outputs, by the id of the port.
    """

    __slots__ = ("form", "name", "names", "offset")

    stamp = ""

    def __init__(
        self, form: LayerForm, name: str, offset: int | None = None, names: Mapping[int, tuple[str, ...]] | None = None
    ) -> None:
        """Make it of its parts."""
        self.form = form
        self.name = name
        self.offset = offset
        self.names = {} if names is None else names

    def tag(self) -> dict[str, str]:
        """Return the attributes of the tag, without the id."""
        return {"name": self.name, "type": self.form.type, "version": self.form.version}

    def get(self, name: str) -> str | None:
        """Return one attribute of the tag."""
        return self.form.version if name == "version" else self.tag().get(name)

    def text(self) -> tuple[LayerForm, int | None]:
        """Return what equal layers share, and the offset of a constant."""
        return self.form, self.offset

    def common(self) -> LayerContent:
        """Return the content of a layer of this form; it must not be changed."""
        return self.form.content

    def content(self) -> LayerContent:
        """Return the content of the layer; a new object with each call."""
        content = self.form.content.copy()
        if self.offset is not None:
            content.raw["offset"] = str(self.offset)
        for port in content.outputs if self.names else ():
            port.names = self.names.get(port.id, ())
        return content


class Layer:
    """A layer. A layer that was read from a file gets its tag and content from there on first use.

    Attributes:
        id: the id, which is the layer's node in its graph.
        bodies: the graphs of its bodies, by element name: `body`, or `then_body` and `else_body`.
        source: what it was read from, or made of; None for a layer that was made with its content.

    Example:
        >>> pool = ir_tools.read("model.xml").graph.layer(1)
        >>> pool
        Layer(1, 'pool', AvgPool opset1)
        >>> pool.raw["kernel"], pool.port(1).dims
        ('2,2', (1, 2, 4, 4))
        >>> ir_tools.Layer(7, {"name": "relu", "type": "ReLU", "version": "opset1"})
        Layer(7, 'relu', ReLU opset1)
    """

    __slots__ = ("_content", "_name", "_tag", "_type", "bodies", "id", "source")

    def __init__(
        self,
        id: int,
        tag: dict[str, str] | None = None,
        content: LayerContent | None = None,
        *,
        source: LayerSource | None = None,
        bodies: dict[str, Graph] | None = None,
    ) -> None:
        """Make a layer.

        Args:
            id: the id, which no other layer of its graph may have.
            tag: all attributes of the `<layer>` tag as text: `name`, `type`, `version` and any other.
            content: attributes of `<data>`, ports and rt_info; by default empty.
            source: the part of a document, or the form, from which tag and content are read on first use.
            bodies: the graphs of its bodies, by element name.
        """
        self.id = id
        self.source = source
        self.bodies: dict[str, Graph] = {} if bodies is None else bodies
        self._tag = tag
        self._name: str | None = None
        self._type: str | None = None
        self._content = content

    @classmethod
    def of_form(cls, id: int, form: LayerForm, name: str, offset: int | None = None) -> Self:
        """Make a layer of a form, whose content is shared until one of its layers is changed."""
        layer = cls(id, source=NewSource(form, name, offset))
        layer._name, layer._type = name, form.type
        return layer

    @property
    def tag(self) -> dict[str, str]:
        """All attributes of the `<layer>` tag as text; its `id` is ignored in favour of `Layer.id`."""
        if self._tag is None:
            self._tag = self.source.tag() if self.source else {}
        return self._tag

    @property
    def name(self) -> str:
        """The name of the layer; empty if the file has none."""
        if self._tag is not None:
            return self._tag.get("name", "")
        if self._name is None:
            self._name = self.attribute("name")
        return self._name

    @property
    def type(self) -> str:
        """The operation type, `AvgPool`."""
        if self._tag is not None:
            return self._tag.get("type", "")
        if self._type is None:
            self._type = self.attribute("type")
        return self._type

    @property
    def version(self) -> str:
        """The `version` of the layer, `opset8`; `legacy` for IR v2 to v7; empty if the file has none."""
        return self.attribute("version") or (self.source.stamp if self.source else "")

    @property
    def loaded(self) -> bool:
        """Whether the content was read already; if not, it is as in the file."""
        return self._content is not None

    @property
    def tag_loaded(self) -> bool:
        """Whether the tag was read already; if not, it is as in the file."""
        return self._tag is not None

    @property
    def text(self) -> tuple[object, int | None] | None:
        """The text in the file, as `LayerSource.text` returns it; None if the tag or the content may have changed."""
        changed = self._content is not None or self._tag is not None or self.bodies
        return None if changed or self.source is None else self.source.text()

    @property
    def content(self) -> LayerContent:
        """The content of the layer without its bodies.

        Raises:
            ReadError: a port in the file has no id, or a dimension that is not a number.
        """
        if self._content is None:
            self._content = self.source.content() if self.source else LayerContent()
        return self._content

    @property
    def common(self) -> LayerContent:
        """The content of this layer, or of a layer with the same text; it must not be changed.

        Tensor names and the offset of a constant may be those of the other layer. Reading it does not load this layer,
        which is still written as a copy of its text.
        """
        if self._content is not None:
            return self._content
        known = None if self.source is None else self.source.common()
        return self.content if known is None else known

    @property
    def raw(self) -> dict[str, str]:
        """The attributes of `<data>` as text."""
        return self.content.raw

    @property
    def inputs(self) -> list[Port]:
        """The input ports, in the order of the file."""
        return self.content.inputs

    @property
    def outputs(self) -> list[Port]:
        """The output ports, in the order of the file."""
        return self.content.outputs

    @property
    def rt_info(self) -> list[dict[str, str]]:
        """One dict per `<attribute>` of the layer's `<rt_info>`."""
        return self.content.rt_info

    def port(self, port_id: int) -> Port:
        """Return the input or output port with this id.

        Raises:
            KeyError: there is no such port.
        """
        content = self.content
        port = find_port(content.inputs, port_id) or find_port(content.outputs, port_id)
        if port is None:
            raise KeyError(f"layer '{self.name}' has no port {port_id}")
        return port

    @property
    def offset(self) -> int | None:
        """Where the bytes of a constant start; None if that cannot be read. Reading it does not load this layer."""
        text = self.text
        return id_number(self.common.raw.get("offset")) if text is None or text[1] is None else text[1]

    @property
    def new(self) -> NewSource | None:
        """What the layer was made of, if that still says all about it."""
        source = self.source
        if self._content is None and self._tag is None and isinstance(source, NewSource) and not self.bodies:
            return source
        return None

    def rename(self, name: str) -> None:
        """Give the layer another name; `Graph.rename` also keeps the names of its graph."""
        made = self.new
        if made is None:
            self.tag["name"] = name
        else:
            self.source = NewSource(made.form, name, made.offset, made.names)
            self._name = name

    def tensor_names(self, port_id: int) -> tuple[str, ...]:
        """Return the tensor names of an output port.

        Raises:
            KeyError: there is no such port.
        """
        made = self.new
        if made is None or find_port(made.form.content.outputs, port_id) is None:
            return self.port(port_id).names
        return made.names.get(port_id, ())

    def add_tensor_name(self, port_id: int, name: str) -> None:
        """Add a tensor name to those of an output port, unless it has it.

        Raises:
            KeyError: there is no such port.
        """
        names = self.tensor_names(port_id)
        if name not in names:
            self.set_tensor_names(port_id, (*names, name))

    def set_tensor_names(self, port_id: int, names: tuple[str, ...]) -> None:
        """Give an output port other tensor names.

        Raises:
            KeyError: there is no such port.
        """
        if names == self.tensor_names(port_id):
            return
        made = self.new
        if made is None:
            self.port(port_id).names = names
        else:
            self.source = NewSource(made.form, made.name, made.offset, {**made.names, port_id: names})

    def attribute(self, name: str) -> str:
        """Return an attribute of the `<layer>` tag; empty if it is absent. Reading it does not load the tag."""
        if self._tag is not None:
            return self._tag.get(name, "")
        return (self.source.get(name) if self.source else None) or ""

    def copy(self, id: int | None = None) -> Layer:
        """Return a copy of the layer with its tag, content and bodies; parts that are not loaded are not read for it.

        Args:
            id: the id of the copy; by default that of the layer.
        """
        twin = Layer(
            self.id if id is None else id,
            None if self._tag is None else {**self._tag},
            None if self._content is None else self._content.copy(),
            source=self.source,
            bodies={name: body.clone() for name, body in self.bodies.items()} if self.bodies else None,
        )
        twin._name, twin._type = self._name, self._type
        return twin

    def __copy__(self) -> Layer:
        """Return `copy()`."""
        return self.copy()

    def __deepcopy__(self, memo: dict[int, object]) -> Layer:
        """Return `copy()`. Algorithms of networkx that copy the data of nodes call it; the copy shares the source."""
        return self.copy()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle tag, content and bodies, without the document that they were read from."""
        return Layer, (self.id, self.tag, self.content), (None, {"bodies": self.bodies})

    def __repr__(self) -> str:
        """Return `Layer(7, 'pool', AvgPool opset14)`."""
        stamp = shortened(f"{self.type} {self.version}", 60).strip()
        return f"Layer({self.id}, {brief(self.name)}, {stamp})"
