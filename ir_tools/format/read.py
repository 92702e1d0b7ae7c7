"""Reading IR v10 and v11: XML to a `Model` whose layers load their content when it is asked for."""

from itertools import chain, islice, repeat
from pathlib import Path
from typing import NamedTuple

from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.errors import ReadError
from ir_tools.format.content import ElementSource, SourceFile, ends_of, fail, whole
from ir_tools.graph import Graph, Layer, Model
from ir_tools.graph.collection import no_collection
from ir_tools.source import MAX_SIZE, Document, Element, Wiring
from ir_tools.types import whole_number
from ir_tools.weights import Weights

__all__ = ["MAX_NESTING", "VERSIONS", "load", "model_of", "read", "weights_of"]

VERSIONS = (10, 11)
"""The versions of IR that are read."""
LEGACY = range(2, 8)
MAX_NESTING = 64
"""How many bodies may stand inside each other."""

_EXPORT = "export the model again, or check that the path is right"


def read(source: str | Path | bytes, weights: bytes | str | Path | None = None) -> Model:
    """Read a model from a path or from the bytes of its `.xml`.

    Args:
        source: path of the `.xml`, or its content.
        weights: path or content of the `.bin`; by default the file beside the `.xml`.

    Raises:
        ReadError: there is no such file, or it is not an IR of version 10 or 11; with file, line and remedy.
    """
    path = None if isinstance(source, bytes) else Path(source)
    data = source if isinstance(source, bytes) else load(Path(source))
    with no_collection():
        document = Document(data, None if path is None else str(path))
        return model_of(document, weights_of(document, weights, path), path)


def model_of(document: Document, weights: Weights, path: Path | None) -> Model:
    """The model in a document.

    Raises:
        ReadError: the document is not an IR of version 10 or 11.
    """
    version = _version(document)
    name = document.root.get("name") or ""
    graph = _graphs(document)
    return Model(graph, name=name, version=version, weights=weights, origin=SourceFile(document), path=path)


def weights_of(document: Document, weights: bytes | str | Path | None, path: Path | None) -> Weights:
    """The weights of a document: those that are given, else the `.bin` beside the `.xml`.

    Raises:
        ReadError: the `.bin` is there and cannot be opened.
    """
    if isinstance(weights, bytes):
        return Weights.from_bytes(weights)
    beside = None if path is None else path.with_suffix(".bin")
    return Weights.open(beside if weights is None else weights, lambda: _extent(document.root))


def load(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        ReadError: there is no such file, or it is too large.
    """
    try:
        size = path.stat().st_size
        if size > MAX_SIZE and path.is_file():
            raise _error("IR002", path, f"{size} bytes of XML are more than are read ({MAX_SIZE})")
        return path.read_bytes()
    except FileNotFoundError:
        raise _error("IR001", path, "there is no such file", "check the path") from None
    except IsADirectoryError:
        raise _error("IR001", path, "is a folder", "name the .xml file in it") from None
    except (OSError, ValueError) as why:
        reason = getattr(why, "strerror", None) or why
        raise _error("IR001", path, f"cannot be read: {reason}", "check the path and its permissions") from None


def _error(code: str, path: Path, message: str, remedy: str | None = None) -> ReadError:
    return ReadError(Diagnostic(code=code, severity=Severity.ERROR, message=message, file=str(path), help=remedy))


def _version(document: Document) -> int:
    root = document.root
    if root.tag != "net":
        fail(document, root, "IR006", f"the root element is <{root.tag}> where an IR has <net>", _EXPORT)
    text = (root.get("version") or "").strip()
    if not text:
        fail(document, root, "IR006", "<net> has no version", 'an IR says version="11" or version="10"')
    version = whole_number(text)
    if version is None:
        fail(
            document, root, "IR006", f"the IR version '{text[:40]}' is no number", 'write version="11" or version="10"'
        )
    if version in LEGACY:
        remedy = "use IR v10 or v11, as OpenVINO 2020.1 and later write them"
        fail(document, root, "IR006", f"this is IR v{version}, and this version of ir_tools reads v10 and v11", remedy)
    if version not in VERSIONS:
        fail(document, root, "IR006", f"IR v{version} is not known; v10 and v11 are", _EXPORT)
    return version


class _Ports(NamedTuple):
    """Which ports there are, as `(layer id, port id)`."""

    inputs: set[tuple[int, int]]
    outputs: set[tuple[int, int]]


def _graphs(document: Document) -> Graph:
    """The main graph, with the graphs of all bodies hung into their layers."""
    root = document.root
    graphs: dict[Element, Graph] = {root: _graph(document, root)}
    depths = {root: 0}
    for layers in root.iter("layers"):
        body, owner, shelf, outer = islice(chain(layers.iterancestors(), repeat(None)), 4)
        if body is None or owner is None or outer is None or outer not in graphs or owner.tag != "layer":
            continue
        if not all(_is_first(element) for element in (layers, body, shelf)):
            continue
        depths[body] = depths[outer] + 1
        layer = graphs[outer].layer(whole(document, owner, "id"))
        if max(depths[body], len(layer.bodies) + 1) > MAX_NESTING:
            fail(document, body, "IR005", f"more than {MAX_NESTING} bodies stand inside each other or in one layer")
        graphs[body] = _graph(document, body)
        assert isinstance(layer.source, ElementSource)
        layer.bodies[str(body.tag)] = graphs[body]
        layer.source.bodies = tuple(layer.bodies)
    return graphs[root]


def _is_first(element: Element | None) -> bool:
    """Whether an element is the first one of its name in its parent: the one that the runtime reads."""
    return element is not None and next(element.itersiblings(element.tag, preceding=True), None) is None


def _graph(document: Document, net: Element) -> Graph:
    """The graph of `<net>` or of one body."""
    layers = net.find("layers")
    elements = [] if layers is None else list(layers.iterchildren("layer"))
    ids = _layer_ids(document, elements)
    ports = _all_ports(document, elements, ids)
    graph = Graph()
    for layer_id, element in zip(ids, elements, strict=True):
        graph.add_node(layer_id, layer=Layer(layer_id, source=ElementSource(document, element, layer_id)))
    for (reader, end), (source, start) in _edges(document, net.find("edges"), ids, ports).items():
        graph.add_edge(source, reader, key=(start, end))
    return graph


def _layer_ids(document: Document, elements: list[Element]) -> list[int]:
    ids = [whole(document, element, "id") for element in elements]
    if len(set(ids)) != len(ids):
        seen: dict[int, Element] = {}
        for layer_id, element in zip(ids, elements, strict=True):
            if layer_id in seen:
                first = f"layer '{seen[layer_id].get('name', '')}' on line {document.line(seen[layer_id])}"
                fail(document, element, "IR007", f"the layer id {layer_id} belongs to {first} already", "renumber one")
            seen[layer_id] = element
    return ids


def _all_ports(document: Document, elements: list[Element], ids: list[int]) -> _Ports:
    found: _Ports = _Ports(set(), set())
    numbers = _Numbers()
    sides = {"input": found.inputs, "output": found.outputs}
    for layer_id, element in zip(ids, elements, strict=True):
        seen: set[str] = set()
        for side in element:
            tag = side.tag
            if tag not in sides or tag in seen:
                continue
            seen.add(tag)
            known = sides[tag]
            before, count = len(known), 0
            try:
                for port in side.iterchildren("port"):
                    count += 1
                    known.add((layer_id, numbers[port.get("id")]))
            except KeyError:
                count = -1
            if len(known) - before != count:
                known.update((layer_id, port) for port in _careful_ids(document, side))
    return found


def _careful_ids(document: Document, side: Element) -> set[int]:
    """The port ids of one side of a layer, or an error that names the unusable or second one."""
    seen: set[int] = set()
    for port in side.iterchildren("port"):
        port_id = whole(document, port, "id")
        if port_id in seen:
            fail(document, port, "IR007", f"there are two {side.tag} ports {port_id}", "renumber one of them")
        seen.add(port_id)
    return seen


def _edges(document: Document, table: Element | None, ids: list[int], ports: _Ports) -> Wiring:
    """What feeds each input, once all edges are known to be good."""
    sources: Wiring = {}
    if table is None:
        return sources
    numbers, layers = _Numbers(), set(ids)
    for edge in table.iterchildren("edge"):
        get = edge.get
        try:
            start = numbers[get("from-layer")], numbers[get("from-port")]
            end = numbers[get("to-layer")], numbers[get("to-port")]
        except KeyError:
            start, end = ends_of(document, edge)
        if start not in ports.outputs:
            _loose_end(document, edge, start, "from", "output", layers)
        if end not in ports.inputs:
            _loose_end(document, edge, end, "to", "input", layers)
        if sources.setdefault(end, start) != start:
            other = "layer {} port {}".format(*sources[end])
            message = f"input port {end[1]} of layer {end[0]} is fed twice, also by {other}"
            fail(document, edge, "IR008", message, "delete one of the two edges")
    document.wiring[table] = sources
    return sources


class _Numbers(dict[str | None, int]):
    """Whole numbers by their text; KeyError where it is none."""

    def __missing__(self, text: str | None) -> int:
        number = whole_number(text)
        if number is None:
            raise KeyError(text)
        self[text] = number
        return number


def _loose_end(
    document: Document, edge: Element, place: tuple[int, int], word: str, side: str, layers: set[int]
) -> None:
    if place[0] not in layers:
        message = f"an edge goes {word} layer {place[0]}, which is not there"
    else:
        message = f"an edge goes {word} port {place[1]} of layer {place[0]}, which has no such {side} port"
    fail(document, edge, "IR008", message, "correct or delete the edge")


def _extent(root: Element) -> int:
    """How many bytes of weights the constants of the document ask for."""
    ends = [0]
    for data in root.iter("data"):
        offset, size = whole_number(data.get("offset")), whole_number(data.get("size"))
        if offset is not None and size:
            ends.append(offset + size)
    return max(ends)
