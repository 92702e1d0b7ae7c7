"""Find the place of a failure of the runtime in the file, as far as its message names one."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ir_tools.source import Document, Element
from ir_tools.types import whole_number

__all__ = ["FailurePlace", "mentioned", "named", "place_of"]

_OFFSET = re.compile(r" at offset (\d+)$")
_NUMBERED = re.compile(r"layer (?P<name>.*) id:(?P<id>\d+) from")
_NAMED = re.compile(r"'([^']+)'|in layer (.+)$")


class FailurePlace(NamedTuple):
    """A place in the words of a diagnostic, and what is known where there is no one layer."""

    line: int | None = None
    layer_id: int | None = None
    layer_name: str | None = None
    path: str | None = None
    note: str = ""


def place_of(document: Document, layer: Element, paths: Mapping[Element, str], line: int | None = None) -> FailurePlace:
    """Return the place of a `<layer>`, or of a line in it. `paths`: of the layers that could be read."""
    name = layer.get("name")
    return FailurePlace(line or document.line(layer), whole_number(layer.get("id")), name, paths.get(layer, name))


def named(document: Document, message: str, paths: Mapping[Element, str]) -> FailurePlace | None:
    """Return the place that a message names beyond doubt: an offset in the file, or a layer by name and id."""
    layers = list(document.root.iter("layer"))
    if found := _OFFSET.search(message):
        offset = int(found[1])
        before = [layer for layer in layers if document.start(layer) <= offset]
        around = [layer for layer in before if offset < document.span(layer).end]
        line = document.line_at(min(offset, len(document.text)))
        return place_of(document, around[-1], paths, line) if around else FailurePlace(line)
    if found := _NUMBERED.search(message):
        both = found["name"], found["id"]
        return _only(document, (layer for layer in layers if (layer.get("name"), layer.get("id")) == both), paths)
    return None


def mentioned(document: Document, message: str, paths: Mapping[Element, str]) -> FailurePlace | None:
    """Return the place of the only layer that a message names with a name that is in the file."""
    words = {quoted or last for quoted, last in _NAMED.findall(message)}
    return _only(document, (layer for layer in document.root.iter("layer") if layer.get("name") in words), paths)


def _only(document: Document, layers: Iterable[Element], paths: Mapping[Element, str]) -> FailurePlace | None:
    found = list(layers)
    return place_of(document, found[0], paths) if len(found) == 1 else None
