"""What openvino's exceptions say, without the C++ around it: the one place that reads the texts of the runtime."""

import re
from collections.abc import Mapping

__all__ = ["breaks_child", "explain", "is_memory", "lacks_device", "remedy_for", "unknown_property"]

_NOISE = re.compile(r"(?:Exception from|failed at|at) [\w./\\+-]*src[/\\][\w./\\+-]+:\d+:?[ \t]*")
_CHECK = re.compile(r"Check '(?P<condition>.*)' failed at [\w./\\+-]+:\d+:?[ \t]*")
_VALIDATING = re.compile(
    r"While validating node '(?:\w+::)*(?P<type>\w+) .*? \((?P<inputs>.*)\) -> \(.*\)'"
    r" with friendly_name '(?P<name>.*)'"
)
_INPUT = re.compile(r"(?:^|, )(?:\w+::)*\w+ (?P<name>.+?)\[\d+\]:")
_MEMORY = re.compile(
    r"bad_alloc|bad allocation|Cannot allocate memory|MemoryError|Failed to allocate|out of memory", re.I
)
_LIBRARY = {
    "stoll": "an integer cannot be read or is too large",
    "stol": "an integer cannot be read or is too large",
    "stoi": "an integer cannot be read or is too large",
    "stoull": "an integer cannot be read or is too large",
    "stof": "a number cannot be read or is too large",
    "stod": "a number cannot be read or is too large",
    "map::at": "a name refers to something that does not exist",
    "unordered_map::at": "a name refers to something that does not exist",
}
"""What exceptions of the C++ library mean that get through as they are."""
_REMEDIES: Mapping[str, str] = {
    "unsupported opset: extension": "name its library with --extension, such as that of openvino-tokenizers",
    "Empty weights data in bin file": "copy the .bin beside the .xml, or name it with --bin",
}
"""By words about something that is missing and not in the file: what to do."""
_NO_DEVICE = re.compile(r"Cannot load library|Device with \"\w*\" name is not registered|No device", re.I)
_NO_PRIMITIVE = re.compile(r"could not create a primitive(?! descriptor)")
_NO_PROPERTY = re.compile(r"Unsupported property (\S+)")
_EMPTY = {"", "Converting input model", "FrontEnd API failed with GeneralFailure:"}


def is_memory(text: str) -> bool:
    """Return whether a message reports that memory ran out."""
    return bool(_MEMORY.search(text))


def breaks_child(text: str) -> bool:
    """Return whether a child that says so cannot compile other models from then on, as those of 2023.0. Measured."""
    return bool(_NO_PRIMITIVE.search(text))


def lacks_device(text: str) -> bool:
    """Return whether a message reports that there is no such device."""
    return bool(_NO_DEVICE.search(text))


def unknown_property(text: str) -> str | None:
    """Return the property that a device does not have, if a message reports one."""
    found = _NO_PROPERTY.search(text)
    return found[1] if found else None


def remedy_for(text: str) -> str | None:
    """Return what to do if a message is about something that is missing and not in the file."""
    return next((remedy for words, remedy in _REMEDIES.items() if words in text), None)


def explain(text: str) -> str:
    """Return the reason and the layer of an exception of openvino, on one line.

    "Check 'kernel > 0' failed at src/pool.cpp:3:", newline, "the kernel is 0" becomes "the kernel is 0".
    """
    condition = ""
    reasons: list[str] = []
    place = ""
    for raw in text.splitlines():
        check = _CHECK.search(raw)
        if check:
            condition = check["condition"]
            raw = raw[: check.start()] + raw[check.end() :]
        line = _NOISE.sub("", raw).strip()
        node = _VALIDATING.match(line)
        if node:
            place = _place(node)
            continue
        if line not in _EMPTY and line not in reasons:
            reasons.append(f"{_LIBRARY[line]} ({line})" if line in _LIBRARY else line.rstrip(":"))
    if not reasons:
        reasons = [f"it requires that {condition}" if condition and condition != "false" else "it gave no reason"]
    return f"{place}: {'; '.join(reasons)}" if place else "; ".join(reasons)


def _place(node: re.Match[str]) -> str:
    """Return the layer that was validated; while a file is read its name is made up yet, so say what it reads."""
    if not re.fullmatch(rf"{node['type']}_\d+", node["name"]):
        return f"{node['type']} '{node['name']}'"
    source = _INPUT.search(node["inputs"])
    return f"{node['type']} that reads '{source['name']}'" if source else node["type"]
