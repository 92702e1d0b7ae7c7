"""Attributes in rt_info that the runtime loses or cannot read."""

import re
from collections import Counter
from collections.abc import Iterator

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.diagnostics import Severity
from ir_tools.display import quoted
from ir_tools.format.problems import ElementProblem
from ir_tools.rules.structure import BAD_RT_INFO
from ir_tools.source import Element
from ir_tools.types import id_number, type_in_file

__all__ = ["CHECK"]


ENTRY = r"(?:_*[A-Za-z0-9]\w*|\?|\.\.\.)"
LAYOUT = re.compile(
    rf"\s*(?:\[\s*{ENTRY}\s*(?:,\s*{ENTRY}\s*)*+\]|(?:[A-Za-z0-9?]|\.\.\.)*+|\*\*SCALAR\*\*)\s*", re.ASCII
)
OF_BORDERS = "old_api_map_"
"""How the names of attributes begin that change types and dimensions of inputs and outputs."""
SHORT = {"BATCH": "N", "B": "N", "CHANNELS": "C", "CHANNEL": "C", "DEPTH": "D", "HEIGHT": "H", "WIDTH": "W"}
"""Names of dimensions that the runtime takes for others; all pairs of letters and words were tried."""
NUMBERS = re.compile(r"\s*\d+\s*(?:,\s*\d+\s*)*")


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each attribute; only rt_info of layers and ports is read."""
    of_model = sum(1 for _ in file.document.root.iterchildren("rt_info"))
    if file.document.plain and file.document.text.count(b"<rt_info") == of_model:
        return
    for info in file.document.root.iter("rt_info"):
        if next(info.iterancestors("layer"), None) is not None and len(info):
            seen: set[tuple[str, str]] = set()
            for attribute in info.iterchildren("attribute"):
                for message, remedy in _faults(attribute, seen):
                    severity = Severity.WARNING if _is_note(attribute) else None
                    yield ElementProblem(BAD_RT_INFO, attribute, message, remedy, severity)
                if attribute.get("name") == "layout":
                    yield from _unfit_layout(file, attribute, info)


def _is_note(attribute: Element) -> bool:
    """Return whether the runtime loses an attribute, and nothing of the model changes its meaning by that."""
    name = attribute.get("name")
    return not name or (attribute.get("version") is None and not name.startswith(OF_BORDERS))


def _faults(attribute: Element, seen: set[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    name, version = attribute.get("name"), attribute.get("version")
    if not name:
        yield "an attribute of rt_info has no name, so the runtime ignores it", "add a name, or delete the attribute"
        return
    if version is None:
        yield (
            f"the attribute '{quoted(name)}' of rt_info has no version, so the runtime ignores it",
            'write version="0"',
        )
        return
    if (name, version) in seen:
        yield f"this rt_info already has an attribute '{quoted(name)}'", "delete one of the two"
    seen.add((name, version))
    layout, value = attribute.get("layout"), attribute.get("value")
    if name == "layout" and layout is not None and not LAYOUT.fullmatch(layout):
        yield f"'{layout[:60]}' is not a layout", 'write a layout such as layout="[N,C,H,W]"'
    elif name == "layout" and layout and (twice := _twice(layout)):
        yield f"the layout {layout[:60]} has a dimension {twice} twice", "name each dimension once, or write ?"
    elif name == "old_api_map_order" and value and not NUMBERS.fullmatch(value):
        yield f"'{value[:60]}' is not an order of dimensions", "write integers separated by commas"
    elif name == "old_api_map_element_type" and value is not None and type_in_file(value) is None:
        yield f"'{value[:60]}' is not an element type", 'write an element type such as value="f16"'


def _unfit_layout(file: IrFile, attribute: Element, info: Element) -> Iterator[ElementProblem]:
    """Find a layout for another rank than its output port has, which inputs and outputs of the model cannot have."""
    layout, port = (attribute.get("layout") or "").strip(), info.getparent()
    side = None if port is None else port.getparent()
    if port is None or side is None or side.tag != "output" or not LAYOUT.fullmatch(layout) or not layout:
        return
    rank, names = sum(1 for _ in port.iterchildren("dim")), _names(layout)
    open_ended = "..." in names
    count = 0 if layout == "**SCALAR**" else len(names) - open_ended
    if not rank or count == rank or (open_ended and count < rank):
        return
    message = f"the layout {layout} has {count} dimensions, but the port has {rank}"
    severity = None if _is_border(file, port) else Severity.WARNING
    yield ElementProblem(BAD_RT_INFO, attribute, message, "name each dimension of the port", severity)


def _is_border(file: IrFile, port: Element) -> bool:
    """Return whether a port is an input of the model, or one of its outputs."""
    layer = next(port.iterancestors("layer"))
    layer_id = id_number(layer.get("id"))
    is_inside = layer_id is not None and file.nets[0].layers.get(layer_id) is layer
    return layer.get("type") == "Parameter" or (is_inside and (layer_id, id_number(port.get("id"))) in file.once(_ends))


def _ends(file: IrFile) -> set[tuple[int, int]]:
    """Return the layers and output ports that give the outputs of the model."""
    net = file.nets[0]
    return {producer for (reader, _), producer in net.wiring.items() if net.layers[reader].get("type") == "Result"}


def _names(layout: str) -> list[str]:
    """Return the names of a layout's dimensions, as they are written."""
    names = layout[1:-1].split(",") if layout.startswith("[") else re.findall(r"\.\.\.|.", layout)
    return [name.strip() for name in names]


def _twice(layout: str) -> str | None:
    """Return a dimension that a layout names twice, as it names it; `?` may come any number of times."""
    words = [] if layout.strip() == "**SCALAR**" else _names(layout.strip())
    counts = Counter(map(_known_as, words))
    found = next((name for name, count in counts.items() if count > 1 and name != "?"), None)
    if found is None:
        return None
    return " or ".join(dict.fromkeys(word[:60] for word in words if _known_as(word) == found))


def _known_as(word: str) -> str:
    """Return the name by which the runtime knows a dimension."""
    return SHORT.get(word.upper(), word.upper())


CHECK = Check(find, (BAD_RT_INFO,))
