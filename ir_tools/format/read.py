"""Reading IR: XML to a `Model` whose layers load their content when it is asked for.

What cannot be read is left out and noted. `read` and `model_of` refuse a document with such a problem; the checks of
`ir_tools.checks` go on with the rest.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, NamedTuple

from ir_tools.collection import gc_paused
from ir_tools.diagnostics import Diagnostic
from ir_tools.errors import ReadError
from ir_tools.files import locked
from ir_tools.format.bodies import body_problems, has_all_ends
from ir_tools.format.constants import Constant, constants_of, stored_problems
from ir_tools.format.content import SourceFile, blobs
from ir_tools.format.nets import MAX_NESTING, Net, nets_of
from ir_tools.format.problems import ElementProblem, read_error
from ir_tools.format.texts import SharedText, Text
from ir_tools.format.usual import Usual
from ir_tools.graph import Model
from ir_tools.rules import Rule
from ir_tools.rules.storage import (
    CONSTANT_OUTSIDE_WEIGHTS,
    MISSING_WEIGHTS,
    NO_IR,
    TOO_LARGE_FILE,
    UNKNOWN_IR_VERSION,
    UNREADABLE_FILE,
)
from ir_tools.source import MAX_SIZE, Document, Element, may_begin_so
from ir_tools.source.grammar import BODIES, LEGACY_VERSIONS
from ir_tools.types import id_number
from ir_tools.weights import Weights

__all__ = [
    "MAX_NESTING",
    "VERSIONS",
    "Reading",
    "load",
    "model_of",
    "open_files",
    "read",
    "reread",
    "stream_content",
    "tolerant",
    "weights_of",
]

VERSIONS = (*LEGACY_VERSIONS, 10, 11)
"""The versions of IR that are read."""
CONTENT_MISSING = {MISSING_WEIGHTS, CONSTANT_OUTSIDE_WEIGHTS}
"""Rules that a constant may break and keep its shape."""
CHUNK = 1 << 20
MAX_CHUNKS = MAX_SIZE // CHUNK + 1
"""How many chunks are read from a pipe or device: one more than `Document` takes, since some never end."""
_EXPORT = "export the model again, or check that the path is right"


class Reading(NamedTuple):
    """What a document holds, and what in it could not be read.

    Attributes:
        model: without the layers and edges that are faulty.
        nets: `<net>` and every body that was read.
        problems: in no order.
        usual: what need not be looked at element by element.
        texts: of the layers.
        constants: those whose attributes can be read; none unless the reading is thorough.
    """

    model: Model
    nets: list[Net]
    problems: list[ElementProblem]
    usual: Usual
    texts: Mapping[Element, Text]
    constants: list[Constant]


def read(source: str | Path | bytes, weights: bytes | str | Path | None = None) -> Model:
    """Read a model from a path or from the bytes of its `.xml`.

    Args:
        source: path of the `.xml`, or its content.
        weights: path or content of the `.bin`; by default the file beside the `.xml`.

    Raises:
        ReadError: there is no such file, also of weights that are named, or it is not an IR; with
            file, line and remedy.
    """
    with gc_paused():
        return model_of(*open_files(source, weights))


def open_files(
    source: str | Path | bytes, weights: bytes | str | Path | None = None
) -> tuple[Document, Weights, Path | None]:
    """Return document, weights and path of a model; both files from one write, if a program of ours writes them now.

    Raises:
        ReadError: a file cannot be read, or the document is not XML.
    """
    if isinstance(source, bytes):
        document = Document(source, None)
        return document, weights_of(weights, None), None
    path = Path(source)
    with locked(path.parent, shared=True):
        data = load(path)
        found = weights_of(weights, path)
    document = Document(data, str(path))
    return document, found, path


def model_of(document: Document, weights: Weights, path: Path | None) -> Model:
    """Return the model in a document.

    Raises:
        ReadError: the document is not an IR of a known version, or layers, ports or edges of it cannot be read.
    """
    reading = tolerant(document, weights, path)
    if reading.problems:
        raise read_error(document, reading.problems)
    layers = [layer for net in reading.nets for layer in net.layers.values()]
    weights.needed = cache(partial(_extent, layers, reading.texts))
    return reading.model


def reread(data: bytes, weights: Weights, path: Path | None) -> Model:
    """Read a model that was pickled: the bytes of its `.xml`, its weights and its path."""
    with gc_paused():
        document = Document(data, None if path is None else str(path))
        return model_of(document, weights, path)


def tolerant(document: Document, weights: Weights, path: Path | None, *, thorough: bool = False) -> Reading:
    """Return what can be read of a document.

    Args:
        document: an IR.
        weights: its `.bin`.
        path: of the `.xml`.
        thorough: look at once at what is otherwise read when it is asked for: dimensions, constants, bodies; and open
            circles.

    Raises:
        ReadError: the document is not an IR of a known version.
    """
    version = _version(document)
    nets, problems, usual, texts = nets_of(document, thorough=thorough)
    constants: list[Constant] = []
    if thorough:
        constants, unreadable = constants_of(nets, texts)
        found = [*unreadable, *stored_problems(constants, weights), *body_problems(nets, texts)]
        _leave_out(nets, found)
        problems += found
    name, origin = document.root.get("name") or "", SourceFile(document)
    model = Model(nets[0].graph, name=name, version=version, weights=weights, origin=origin, path=path)
    return Reading(model, nets, problems, usual, texts, constants)


def _leave_out(nets: Sequence[Net], problems: Iterable[ElementProblem]) -> None:
    """Take layers with errors out of their graphs, and those whose bodies lack an end by that.

    A constant that lies outside the `.bin` keeps its shape.
    """
    offending: set[Element] = set()
    for problem in problems:
        element = problem.element
        if problem.is_error and problem.rule not in CONTENT_MISSING and isinstance(element, Element):
            offending.update(islice(chain([element], element.iterancestors("layer")), 2))
    for net in nets if offending else ():
        net.graph.remove_nodes_from([layer_id for layer_id, layer in net.layers.items() if layer in offending])
    for net in reversed(nets):
        bodied = set(net.bodied)
        ids = [layer_id for layer_id, layer in net.layers.items() if layer in bodied and layer_id in net.graph]
        net.graph.remove_nodes_from([layer_id for layer_id in ids if not has_all_ends(net.graph.layer(layer_id))])


def weights_of(weights: bytes | str | Path | None, path: Path | None) -> Weights:
    """Return the weights that are given, else the `.bin` beside the `.xml`.

    Raises:
        ReadError: the `.bin` is there and cannot be opened, or is named and not there.
    """
    if isinstance(weights, bytes):
        return Weights.from_bytes(weights)
    if weights is not None and not os.path.lexists(weights):
        raise _error(UNREADABLE_FILE, Path(weights), "there is no such file", "check the path")
    beside = None if path is None else path.with_suffix(".bin")
    return Weights.open(beside if weights is None else weights)


def load(path: Path) -> bytes:
    """Return the bytes of a file, or what comes through a pipe that is open already (`/dev/stdin`).

    Raises:
        ReadError: there is no such file, it is too large, a device that does not end, or a pipe on disk, which nobody
            may ever write to.
    """
    try:
        if Path(os.path.realpath(path)).is_fifo():
            raise _error(
                UNREADABLE_FILE, path, "is a named pipe", "copy its content to a file, or pass it as standard input"
            )
        size = path.stat().st_size
        if size > MAX_SIZE and path.is_file():
            raise _error(TOO_LARGE_FILE, path, f"the XML has {size} bytes; at most {MAX_SIZE} are read")
        with path.open("rb") as file:
            if path.is_file():
                return file.read()
            first = file.read(CHUNK)
            if path.is_char_device() and len(first) == CHUNK and not file.isatty():
                raise _error(UNREADABLE_FILE, path, "is a device without an end", "name a file")
            return stream_content(file, first)
    except FileNotFoundError:
        if path.is_symlink():
            raise _error(
                UNREADABLE_FILE, path, f"is a link to {path.readlink()}, which does not exist", "correct the link"
            ) from None
        raise _error(UNREADABLE_FILE, path, "there is no such file", "check the path") from None
    except IsADirectoryError:
        raise _error(UNREADABLE_FILE, path, "is a folder", "name the .xml file in it") from None
    except (OSError, ValueError) as why:
        reason = getattr(why, "strerror", None) or why
        raise _error(UNREADABLE_FILE, path, f"cannot be read: {reason}", "check the path and its permissions") from None


def stream_content(file: IO[bytes], first: bytes = b"") -> bytes:
    """Return what comes through a pipe; its first characters if no document begins so, since some pipes never end.

    `first`: what was read already.
    """
    first += file.read(CHUNK - len(first))
    if len(first) == CHUNK and not may_begin_so(first):
        return first[: -next((back for back in range(1, 5) if first[-back] & 0xC0 != 0x80), 1)]
    return b"".join((first, *islice(iter(partial(file.read, CHUNK), b""), MAX_CHUNKS)))


def _error(rule: Rule, path: Path, message: str, remedy: str | None = None) -> ReadError:
    return ReadError(Diagnostic(code=rule.code, severity=rule.severity, message=message, file=str(path), help=remedy))


def _version(document: Document) -> int:
    root = document.root
    if root.tag != "net":
        raise _refused(document, NO_IR, f"the root element is <{root.tag}>; expected <net>", _EXPORT)
    text = root.get("version") or ""
    if not text.strip():
        raise _refused(document, UNKNOWN_IR_VERSION, "<net> has no version", 'write version="11" or version="10"')
    version = id_number(text)
    if version is None:
        remedy = 'write version="11" or version="10"'
        raise _refused(document, UNKNOWN_IR_VERSION, f"the IR version '{text[:40]}' is not a number", remedy)
    if version not in VERSIONS:
        raise _refused(
            document, UNKNOWN_IR_VERSION, f"IR version {version} is not known; expected 2 to 7, 10 or 11", _EXPORT
        )
    return version


def _refused(document: Document, rule: Rule, message: str, remedy: str) -> ReadError:
    return read_error(document, [ElementProblem(rule, document.root, message, remedy)])


def _extent(layers: Iterable[Element], texts: Mapping[Element, Text]) -> int:
    """Return how many bytes of weights the constants among these layers ask for.

    Constants of one form are as large as each other: only the one that starts last is looked at.
    """
    last: dict[SharedText, tuple[int, Element]] = {}
    rest = list[Element]()
    for layer in layers:
        text = texts.get(layer)
        if text is None:
            rest.append(layer)
        elif text.form not in last or (text.offset or 0) > last[text.form][0]:
            last[text.form] = text.offset or 0, layer
    looked_at = chain(rest, (layer for _, layer in last.values()))
    parts = (part for layer in looked_at for part in layer if part.tag not in BODIES)
    return max((offset + size for part in parts for offset, size in blobs(part)), default=0)
