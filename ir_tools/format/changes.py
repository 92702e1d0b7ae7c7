"""What was changed in a model since it was read, as edits of its document: everything else keeps its bytes.

Changes are found by comparing what was loaded with the source once more, so it does not matter how a caller made them.
"""

import re
from bisect import bisect
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter

from ir_tools.errors import WriteError
from ir_tools.format.content import ElementSource, attributes_of, ends_of, join_names
from ir_tools.format.markup import (
    Node,
    content_texts,
    dim_texts,
    edge_text,
    element_text,
    escape,
    lead,
    port_text,
    render,
    tag_of,
    text_of_form,
)
from ir_tools.graph import Graph, Layer, LayerContent, LayerForm, Port
from ir_tools.source import Document, Element, Patch, Span, Style, Wiring
from ir_tools.source.grammar import MAPS
from ir_tools.types import id_number

__all__ = ["Changes", "layer_text", "net_nodes"]

PARTS = ("data", "rt_info", *MAPS, "input", "output")
"""What a `<layer>` holds besides bodies, in the order of OpenVINO's files."""
_CLOSING = re.compile(rb"\s*/>")


def layers_of(graph: Graph) -> Iterator[tuple[int, Layer]]:
    """Return every node with its layer.

    Raises:
        WriteError: a node is not a number or has no layer.
    """
    for node, layer in graph.nodes(data="layer"):
        if not isinstance(layer, Layer) or not isinstance(node, int):
            raise WriteError(f"node {node!r} of the graph has no layer; add layers with Graph.add")
        yield node, layer


def wiring_of(graph: Graph) -> Wiring:
    """Return what feeds each input, in the order of the graph's edges.

    Raises:
        WriteError: an edge has no ports, or none that its layers have, or two feed one port.
    """
    wiring: Wiring = {}
    for source, consumers in graph.adjacency():
        for consumer, keys in consumers.items():
            for key in keys:
                if not (isinstance(key, tuple) and len(key) == 2):
                    raise WriteError(
                        f"the edge from {source} to {consumer} has no ports; connect layers with Graph.connect"
                    )
                start = source, key[0]
                if wiring.setdefault((consumer, key[1]), start) is not start:
                    raise WriteError(
                        f"input port {key[1]} of layer {consumer} has two edges; connect layers with Graph.connect"
                    )
    _check(graph, wiring)
    return wiring


def _check(graph: Graph, wiring: Wiring) -> None:
    """Hold the ports of layers that may have been changed against the edges.

    Raises:
        WriteError: two ports of one side have the same id, or an edge has no port.
    """
    ports: dict[int, tuple[Collection[int], Collection[int]]] = {}
    of_forms: dict[LayerForm, tuple[Collection[int], Collection[int]]] = {}
    for layer_id, layer in layers_of(graph):
        made = layer.new
        if made is not None:
            known = of_forms.get(made.form)
            if known is None:
                known = of_forms[made.form] = _port_ids(layer)
            ports[layer_id] = known
        elif layer.loaded or not isinstance(layer.source, ElementSource):
            ports[layer_id] = _port_ids(layer)
    for (consumer, end), (source, start) in wiring.items() if ports else ():
        if consumer in ports and end not in ports[consumer][0]:
            raise WriteError(f"layer '{graph.layer(consumer).name}' has no input port {end}, but an edge leads to it")
        if source in ports and start not in ports[source][1]:
            raise WriteError(
                f"layer '{graph.layer(source).name}' has no output port {start}, but an edge comes from it"
            )


def _port_ids(layer: Layer) -> tuple[Collection[int], Collection[int]]:
    """Return the ids of the ports of both sides of a layer.

    Raises:
        WriteError: two of one side are equal.
    """
    content = layer.common
    return _distinct(layer, content.inputs), _distinct(layer, content.outputs)


def _distinct(layer: Layer, ports: Sequence[Port]) -> Collection[int]:
    if len(ports) < 2:
        return [port.id for port in ports]
    found = {port.id for port in ports}
    if len(found) < len(ports):
        raise WriteError(f"layer '{layer.name}' has two ports with the same id")
    return found


def net_nodes(graph: Graph, style: Style, indent: str) -> list[Node]:
    """Return `<layers>` and `<edges>` of a graph whose element is new; `indent` is that of the two."""
    inner = indent + style.unit
    layers = [layer_text(layer, layer_id, style, inner) for layer_id, layer in layers_of(graph)]
    return [Node("layers", children=layers), Node("edges", children=_edge_texts(wiring_of(graph), style))]


def layer_text(layer: Layer, layer_id: int, style: Style, indent: str) -> str:
    """Return the text of a new layer; one that was read elsewhere keeps its bytes except for what was changed."""
    source = layer.source
    if isinstance(source, ElementSource):
        changes = Changes(source.document)
        changes.layer(layer, source, layer_id)
        span = source.document.span(source.element)
        return changes.patch.apply(source.document.text, span.start, span.end).decode()
    made = layer.new
    if made is not None:
        return text_of_form(made, layer_id, style, indent)
    inside = indent + style.unit
    children = [*content_texts(layer, style, inside).values()]
    for name, body in layer.bodies.items():
        children.append(render(Node(name, children=net_nodes(body, style, inside + style.unit)), style, inside))
    return element_text("layer", tag_of(layer, layer_id), children, style, indent)


class Changes:
    """The edits of one document."""

    def __init__(self, document: Document) -> None:
        """No changes yet."""
        self.document = document
        self.patch = Patch()
        self._indents: dict[Element, str] = {}
        self._alike: dict[object, list[tuple[int, int, int, bytes]]] = {}

    @cached_property
    def style(self) -> Style:
        """The style of the document, for what is new in it."""
        return Style.of(self.document.text)

    def header(self, name: str, version: int) -> None:
        """Change the name and version of the model."""
        root = self.document.root
        wanted = attributes_of(root)
        if name != wanted.get("name", ""):
            wanted["name"] = name
        if version != id_number(wanted["version"]):
            wanted["version"] = str(version)
        self._attributes(root, wanted)

    # --- graphs -------------------------------------------------------------------------------------------------

    def net(self, element: Element, graph: Graph) -> None:
        """Change the layers and edges of `<net>` or of a body."""
        layers, edges = element.find("layers"), element.find("edges")
        new: list[Node] = []
        if layers is not None:
            self._layers(layers, graph)
        elif len(graph):
            new.append(net_nodes(graph, self.style, self._inside(element))[0])
        if edges is not None:
            self._edges(edges, graph)
        elif wanted := wiring_of(graph):
            new.append(Node("edges", children=_edge_texts(wanted, self.style)))
        self._insert(element, layers, self._texts(element, new))

    def _layers(self, layers: Element, graph: Graph) -> None:
        left = dict.fromkeys(layers.iterchildren("layer"))
        anchor: Element | None = None
        new: dict[Element | None, list[str]] = {}
        for layer_id, layer in layers_of(graph):
            source = layer.source
            if isinstance(source, ElementSource) and source.element in left:
                anchor = source.element
                del left[anchor]
                if layer.loaded or layer.tag_loaded or layer.bodies or source.bodies or source.id != layer_id:
                    self.layer(layer, source, layer_id)
            else:
                new.setdefault(anchor, []).append(layer_text(layer, layer_id, self.style, self._inside(layers)))
        self._cut([*left])
        for anchor, texts in new.items():
            self._insert(layers, anchor, texts)

    def _edges(self, edges: Element, graph: Graph) -> None:
        wanted, known = wiring_of(graph), self.document.wiring[edges]
        if wanted == known:
            return
        changed = {end for end, start in known.items() if wanted.get(end) != start}
        consumers = {consumer for consumer, _ in changed}
        last = None
        for element in edges.iterchildren("edge"):
            text = element.get("to-layer") or ""
            end = None if text.isdecimal() and int(text) not in consumers else ends_of(element)[1]
            if end is None or end not in changed:
                last = element
            elif end in wanted:
                last = element
                new = dict(zip(("from-layer", "from-port"), map(str, wanted[end]), strict=True))
                self._attributes(element, {**attributes_of(element), **new})
            else:
                self._cut([element])
        added = {end: start for end, start in wanted.items() if end not in known}
        self._insert(edges, last, _edge_texts(added, self.style))

    # --- layers -------------------------------------------------------------------------------------------------

    def layer(self, layer: Layer, source: ElementSource, layer_id: int) -> None:
        """Everything that was changed in one layer, its bodies included.

        Layers of one form that are changed to the same get the same edits.
        """
        place = source.place
        if (
            place is None
            or place.offset is not None
            or place.form.layers == 1
            or not _is_like_others(layer, source, layer_id)
        ):
            self._layer(layer, source, layer_id)
            return
        key = place.form, tuple([*layer.tag.items()][2:]), layer.content.key()
        edits, pieces = self._alike.get(key), place.pieces()
        if edits is None:
            known = len(self.patch)
            self._layer(layer, source, layer_id)
            made = self.patch.behind(known)
            numbers = [bisect(pieces, start, key=itemgetter(0)) - 1 for start, _, _ in made]
            if all(end <= pieces[number][1] for number, (_, end, _) in zip(numbers, made, strict=True)):
                self._alike[key] = [
                    (number, start - pieces[number][0], end - pieces[number][0], new)
                    for number, (start, end, new) in zip(numbers, made, strict=True)
                ]
            return
        for number, start, end, new in edits:
            first = pieces[number][0]
            self.patch.replace(first + start, first + end, new)

    def _layer(self, layer: Layer, source: ElementSource, layer_id: int) -> None:
        element = source.element
        if layer.tag_loaded or source.id != layer_id:
            self._attributes(element, tag_of(layer, layer_id))
        if not len(element):
            texts = self._contents(layer, element).values() if layer.loaded else ()
            self._insert(element, None, [*texts, *self._body_texts(element, layer.bodies)])
            return
        if layer.loaded:
            self._content(layer, element, source.as_read())
        if layer.bodies or source.bodies:
            self._bodies(layer, element, source.bodies)

    def _content(self, layer: Layer, element: Element, old: LayerContent) -> None:
        """Change the children of a `<layer>`, except bodies, in the order of OpenVINO's files."""
        before, now = _parts(old), _parts(layer.content)
        if before == now:
            return
        for place, name in enumerate(PARTS):
            if before.get(name) == now.get(name):
                continue
            child = element.find(name)
            if child is None:
                anchor = next((one for one in reversed(element) if one.tag in PARTS[:place]), None)
                self._insert(element, anchor, [self._contents(layer, element)[name]])
            elif name in now or (name == "data" and len(child)):
                self._part(child, name, old, layer.content)
            else:
                self._cut([child])

    def _part(self, child: Element, name: str, old: LayerContent, new: LayerContent) -> None:
        """Change one child of a `<layer>`."""
        if name == "data":
            self._attributes(child, new.raw)
        elif name == "rt_info":
            self._rows(child, "attribute", [("attribute", row) for row in new.rt_info])
        elif name in MAPS:
            self._rows(child, None, new.mapping.get(name, []))
        else:
            ports = (old.inputs, new.inputs) if name == "input" else (old.outputs, new.outputs)
            self._ports(child, *ports)

    def _contents(self, layer: Layer, element: Element) -> dict[str, str]:
        return content_texts(layer, self.style, self._inside(element))

    def _bodies(self, layer: Layer, element: Element, known: Sequence[str]) -> None:
        for name in known:
            body = element.find(name)
            assert body is not None
            if name in layer.bodies:
                self.net(body, layer.bodies[name])
            else:
                self._cut([body])
        new = {name: body for name, body in layer.bodies.items() if name not in known}
        self._insert(element, element[-1], self._body_texts(element, new))

    def _body_texts(self, element: Element, bodies: Mapping[str, Graph]) -> list[str]:
        inner = self._inside(element) + self.style.unit
        nodes = [Node(name, children=net_nodes(body, self.style, inner)) for name, body in bodies.items()]
        return self._texts(element, nodes)

    def _rows(self, parent: Element, tag: str | None, wanted: Sequence[tuple[str, Mapping[str, str]]]) -> None:
        """Children that have attributes only; the n-th one now was the n-th one before."""
        old = list(parent.iterchildren(tag) if tag else parent)
        last, same = None, 0
        for element, (kind, attributes) in zip(old, wanted, strict=False):
            if element.tag != kind:
                break
            self._attributes(element, attributes)
            last, same = element, same + 1
        self._cut(old[same:])
        self._insert(parent, last, self._texts(parent, [Node(*row) for row in wanted[same:]]))

    def _ports(self, side: Element, old: Sequence[Port], new: Sequence[Port]) -> None:
        """Change the ports of one side; those with the same id as before, in the same order, stay where they are."""
        places = {port.id: index for index, port in enumerate(old)}
        elements = list(side.iterchildren("port"))
        kept: set[int] = set()
        last = -1
        added: dict[Element | None, list[str]] = {}
        for port in new:
            index = places.get(port.id, -1)
            if index > last:
                last = index
                kept.add(index)
                self._port(elements[index], old[index], port)
            else:
                text = port_text(port, self.style, self._inside(side))
                added.setdefault(elements[last] if last >= 0 else None, []).append(text)
        self._cut([element for index, element in enumerate(elements) if index not in kept])
        for anchor, texts in added.items():
            self._insert(side, anchor, texts)

    def _port(self, element: Element, old: Port, new: Port) -> None:
        if (new.precision, new.names) != (old.precision, old.names):
            attributes = attributes_of(element)
            if new.precision != old.precision:
                _set(attributes, "precision", new.precision)
            if new.names != old.names:
                _set(attributes, "names", join_names(new.names))
            self._attributes(element, attributes)
        dims = list(element.iterchildren("dim"))
        for dim, before, now in zip(dims, old.dims, new.dims, strict=False):
            if before != now:
                self._text(dim, str(now))
        self._cut(dims[len(new.dims) :])
        more = self._texts(element, dim_texts(new.dims[len(dims) :]))
        self._insert(element, dims[-1] if dims else None, more)

    # --- bytes --------------------------------------------------------------------------------------------------

    def _attributes(self, element: Element, wanted: Mapping[str, str]) -> None:
        """Change, remove and add attributes of a start tag; the others keep their place and their quotes."""
        old = attributes_of(element)
        if old == wanted:
            return
        places = self.document.attributes(element)
        found = [place for name, place in places.items() if name != b"xmlns" and not name.startswith(b"xmlns:")]
        for match, (name, value) in zip(found, old.items(), strict=True):
            group = 2 if match[2] is not None else 3
            if name not in wanted:
                self.patch.replace(match.start(), match.end(), b"")
            elif wanted[name] != value:
                text = escape(wanted[name], '"' if group == 2 else "'")
                self.patch.replace(match.start(group), match.end(group), text.encode())
        added = {name: value for name, value in wanted.items() if name not in old}
        if added:
            start = self.document.start(element)
            end = found[-1].end() if found else start + 1 + len(str(element.tag).encode())
            text = render(Node("", added), self.style._replace(empty=""), "")[1:]
            self.patch.replace(end, end, text.encode())

    def _text(self, element: Element, text: str) -> None:
        span = self.document.span(element)
        if self._empty(span):
            self._fill(element, span, text)
        else:
            self.patch.replace(span.tag_end, self.document.text.rindex(b"</", span.tag_end, span.end), text.encode())

    def _cut(self, elements: Sequence[Element]) -> None:
        """Remove elements, in the order of the document, each with the white space before it."""
        document = self.document
        nothing_hidden = bool(elements) and document.hidden_until <= document.start(elements[0])
        pieces: list[tuple[Element, Element]] = []
        for element in elements:
            if pieces and nothing_hidden and _touch(pieces[-1][1], element):
                pieces[-1] = pieces[-1][0], element
            else:
                pieces.append((element, element))
        for first, last in pieces:
            span = document.span(last)
            start = span.start if first is last else document.start(first)
            self.patch.replace(start - len(self._white(start)), span.end, b"")

    def _insert(self, parent: Element, after: Element | None, texts: Collection[str]) -> None:
        """Put new elements behind a child, or first."""
        if not texts:
            return
        indent = self._inside(parent)
        text = "".join(lead(self.style, indent) + text for text in texts)
        span = self.document.span(parent)
        if self._empty(span):
            self._fill(parent, span, text + lead(self.style, self._indent(span.start)))
        else:
            place = span.tag_end if after is None else self.document.span(after).end
            self.patch.replace(place, place, text.encode())

    def _fill(self, element: Element, span: Span, text: str) -> None:
        """Open an empty element: `<a/>` becomes `<a>text</a>`."""
        tail = next(
            match
            for match in _CLOSING.finditer(self.document.text, span.start, span.tag_end)
            if match.end() == span.end
        )
        self.patch.replace(tail.start(), tail.end(), f">{text}</{element.tag}>".encode())

    def _empty(self, span: Span) -> bool:
        return span.tag_end == span.end and self.document.text[span.end - 2] == ord("/")

    def _texts(self, parent: Element, nodes: Collection[Node | str]) -> list[str]:
        indent = self._inside(parent) if nodes else ""
        return [node if isinstance(node, str) else render(node, self.style, indent) for node in nodes]

    def _inside(self, parent: Element) -> str:
        """Return the indentation of an element's children: that of the first one, if there is one."""
        found = self._indents.get(parent)
        if found is None:
            first = next(parent.iterchildren(), None)
            start = self.document.start(parent if first is None else first)
            found = self._indents[parent] = self._indent(start) + (self.style.unit if first is None else "")
        return found

    def _indent(self, start: int) -> str:
        return self._white(start).rpartition(b"\n")[2].decode()

    def _white(self, start: int) -> bytes:
        """Return the white space before an offset."""
        size = 1 << 8
        while True:
            before = self.document.text[max(start - size, 0) : start]
            rest = before.rstrip(b" \t\r\n")
            if rest or size >= start:
                return before[len(rest) :]
            size *= 2


def _edge_texts(wiring: Wiring, style: Style) -> list[str]:
    """Return `<edge>`s in the order of OpenVINO's files."""
    return [edge_text(*start, *end, style) for start, end in sorted([(start, end) for end, start in wiring.items()])]


def _touch(before: Element, element: Element) -> bool:
    """Return whether an element follows another with nothing but white space between them, or what is hidden."""
    return before.getnext() is element and not (before.tail or "").strip()


def _is_like_others(layer: Layer, source: ElementSource, layer_id: int) -> bool:
    """Return whether nothing but what is behind the name of a layer in its form can have been changed."""
    if source.bodies or layer.bodies or source.id != layer_id or not len(source.element):
        return False
    if [*layer.tag.items()][:2] != [("id", source.get("id")), ("name", source.get("name"))]:
        return False
    ports = (*layer.inputs, *layer.outputs)
    assert source.place is not None
    return tuple([join_names(port.names).encode() for port in ports if port.names]) == source.place.names


def _parts(content: LayerContent) -> dict[str, object]:
    """Return the parts of a content that are not empty, by element name."""
    parts = {"data": content.raw, "rt_info": content.rt_info, "input": content.inputs, "output": content.outputs}
    return {**{name: part for name, part in parts.items() if part}, **content.mapping}


def _set(attributes: dict[str, str], name: str, value: str | None) -> None:
    if value:
        attributes[name] = value
    else:
        attributes.pop(name, None)
