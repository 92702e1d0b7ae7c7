"""What is found in many small files with one change each, so that tests know it without a runtime.

`python -m tests.rules.recorded` asks the runtime about each file, and writes `recorded.json`: of the files that it does
not run and that have errors, and of those that it runs and that have none, where and what the findings are. It takes
minutes, and is needed after a change that means to find something else, or of the files of a rule.
"""

import copy
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

from lxml import etree

from ir_tools.validation import validate
from tests.faults.oracle import Oracle

FOLDER = Path(__file__).parent
FILE = FOLDER / "recorded.json"
MOST, SEED = {"good": 28, "bad": 8}, 21
"""Changes to each file, drawn at random; and the seed."""
NUMBER = re.compile(r"[+-]?\d+")
Change = Callable[[etree._Element], object]


def names() -> list[str]:
    """The files of the rules that are XML in UTF-8 throughout, as `bad_edge/good`."""
    return sorted(f"{path.parent.name}/{path.stem}" for path in FOLDER.glob("*/*.xml") if _root(path) is not None)


def found(name: str) -> dict[str, str]:
    """What is found in each file: code, severity and place of all findings."""
    weights = _weights(name)
    return {label: _shown(text, weights) for label, text in changed(name).items()}


def changed(name: str) -> dict[str, bytes]:
    """The files that a file becomes, by what was done to it."""
    root = _root(FOLDER / f"{name}.xml")
    assert root is not None
    changes = dict(_changes(root))
    count = min(MOST[name.partition("/")[2]], len(changes))
    chosen = random.Random(f"{SEED}/{name}").sample(sorted(changes), count)
    return {label: _applied(root, int(label.partition(" ")[0]), changes[label]) for label in chosen}


def load() -> dict[str, dict[str, str]]:
    """What was recorded, by file and change."""
    table: dict[str, dict[str, str]] = json.loads(FILE.read_text())
    return table


def _root(path: Path) -> etree._Element | None:
    try:
        return etree.fromstring(path.read_text("utf-8").encode())
    except (UnicodeDecodeError, etree.XMLSyntaxError):
        return None


def _weights(name: str) -> bytes | None:
    """As many bytes as the constants of a file name."""
    rows = re.findall(r'offset="(\d+)" size="(\d+)"', (FOLDER / f"{name}.xml").read_text("utf-8"))
    return bytes(max(int(offset) + int(size) for offset, size in rows)) if rows else None


def _applied(root: etree._Element, number: int, change: Change) -> bytes:
    twin = copy.deepcopy(root)
    change(list(twin.iter(etree.Element))[number])
    return etree.tostring(twin, encoding="utf-8")


@cache
def _words() -> dict[tuple[str, str], list[str]]:
    """The values of the attributes of each element in all files."""
    words: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for name in names():
        root = _root(FOLDER / f"{name}.xml")
        for element in () if root is None else root.iter(etree.Element):
            for key, text in element.attrib.items():
                words[str(element.tag), str(key)].add(str(text))
    return {place: sorted(values) for place, values in words.items()}


def _changes(root: etree._Element) -> Iterator[tuple[str, Change]]:
    """Numbers by one more or less, 0 or none; other words; attributes and elements that are lost, twice or moved."""
    for number, element in enumerate(root.iter(etree.Element)):
        tag = str(element.tag)
        for name, text in [(str(key), str(text)) for key, text in element.attrib.items()]:
            for label, value in _other_texts(text, _words()[tag, name]):
                yield f"{number} {tag} {name} {label}", partial(_set, name, value)
            yield f"{number} {tag} {name} lost", partial(_drop, name)
        for label, value in _other_texts(element.text or "", ()) if tag == "dim" else ():
            yield f"{number} {tag} {label}", partial(_write, value)
        if element.getparent() is not None:
            yield f"{number} {tag} lost", lambda one: _parent(one).remove(one)
            yield f"{number} {tag} twice", lambda one: one.addnext(copy.deepcopy(one))
            yield f"{number} {tag} first", lambda one: _parent(one).insert(0, one)


def _set(name: str, value: str, element: etree._Element) -> None:
    element.set(name, value)


def _drop(name: str, element: etree._Element) -> None:
    del element.attrib[name]


def _write(value: str, element: etree._Element) -> None:
    element.text = value


def _parent(element: etree._Element) -> etree._Element:
    parent = element.getparent()
    assert parent is not None
    return parent


def _other_texts(text: str, words: list[str] | tuple[()]) -> Iterator[tuple[str, str]]:
    for place, label in ((0, "first"), (-1, "last")):
        places = list(NUMBER.finditer(text))
        if places:
            at = places[place]
            for label_of, value in (("+1", int(at[0]) + 1), ("-1", int(at[0]) - 1), ("-2", int(at[0]) - 2), ("=0", 0)):
                yield f"{label}{label_of}", f"{text[: at.start()]}{value}{text[at.end() :]}"
    for word in words:
        yield f"={word}", word


def _shown(text: bytes, weights: bytes | None) -> str:
    rows = (f"{one.code}{str(one.severity)[0]}{one.line}:{one.column}" for one in validate(text, weights))
    return " ".join(rows)


def main() -> None:
    """Write what the runtime agrees with."""
    table: dict[str, dict[str, str]] = {}
    with Oracle() as oracle:
        for name in names():
            texts, weights, findings = changed(name), _weights(name), found(name)
            sound = {label for label, words in findings.items() if not re.search(r"\w+e\d", words)}
            table[name] = {
                label: words
                for label, words in findings.items()
                if oracle.run(texts[label], weights).ok == (label in sound)
            }
            print(name, len(table[name]), len(findings), flush=True)
    FILE.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
