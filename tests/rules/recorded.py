"""What is found in many small files with one or two changes, so that tests know it without a runtime.

`python -m tests.rules.recorded` asks the runtime about each file, and writes `recorded.json`: of the files that it does
not run and that have errors, and of those that it runs and that have none but those of `RUNS`, where and what the
findings are. It takes minutes, and is needed after a change that means to find something else, or of the files of a
rule. `--places` asks nobody, and keeps what is recorded with the same codes: for a change of places, attributes, names,
numbers in messages.

Of legacy files nobody is asked: the runtime does not read them.
"""

import copy
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from zlib import crc32

import numpy as np
from lxml import etree

from ir_tools.builder import Builder
from ir_tools.diagnostics import Diagnostic
from ir_tools.format.write import render
from ir_tools.graph import Model
from ir_tools.types import element_type
from ir_tools.validation import validate
from tests.faults.handmade import HANDMADE
from tests.faults.oracle import Oracle
from tests.legacy.makers import case
from tests.made.models import model_of
from tests.tables import load, save

FOLDER = Path(__file__).parent
FILE = FOLDER / "recorded.json"
MAX_CHANGES, TWICE, SEED = {"good": 28, "bad": 8}, 42, 21
"""Kinds of changes to each file, drawn at random, of others than those of the rules as many at two places; the seed."""
NUMBER = re.compile(r"[+-]?\d+")
FACTS = re.compile(r"'[^']*'|\d+")
"""What a message is about: names and numbers; its wording may change."""
NUMBERS = ("x", "", "-1", "0007", "99999999999999999999")
NOT_THE_FORMAT = "the runtime's parser takes what the standard of XML or the format forbid"
TWO_MEANINGS = "a part of the file says something else than what the runtime computes"
LOST = "the runtime does not read a part of the file without which it means something else"
UNDEFINED = "what the runtime computes is in no specification"
RUNS = {
    **dict.fromkeys(("IR002", "IR003", "IR004", "IR005"), NOT_THE_FORMAT),
    **dict.fromkeys(("IR113", "IR303", "IR304", "IR305"), TWO_MEANINGS),
    **dict.fromkeys(("IR131", "IR133", "IR134", "IR135", "IR137", "IR145", "IR146", "IR148"), LOST),
    **dict.fromkeys(("IR013", "IR017", "IR207"), UNDEFINED),
}
"""Errors in files that the runtime runs, and why they are errors."""
ERROR = re.compile(r"(IR\d+)e\d")
LEGACY = ("Convolution", "FullyConnected", "BatchNormalization", "Concat", "Eltwise", "LSTMSequence")
Change = Callable[[etree._Element], object]


def names() -> list[str]:
    """The files that are changed, as `bad_edge/good`."""
    return [*files()]


@cache
def files() -> dict[str, tuple[bytes, bytes | None]]:
    """The files of the rules that are XML in UTF-8 throughout, some with bodies, made ones and legacy ones."""
    found: dict[str, tuple[bytes, bytes | None]] = {}
    for path in sorted(FOLDER.glob("*/*.xml")):
        text = path.read_bytes()
        if _is_plain(text):
            found[f"{path.parent.name}/{path.stem}"] = text, _weights(text.decode())
    found |= {f"handmade/{name}": (text.encode(), weights) for name, (text, weights) in HANDMADE.items()}
    for seed in range(6):
        found[f"made/{seed}"] = _written(model_of(seed))
    found |= {"made/states": _states(), "made/shared": _shared()}
    for seed, name in enumerate(LEGACY):
        legacy = case(name, seed)
        found[f"legacy/{name}"] = legacy.xml.encode(), legacy.weights
    return found


def found(made: Mapping[str, tuple[bytes, bytes | None]]) -> dict[str, str]:
    """What is found in each file: code, severity and place of all findings, and a digest of what else they name."""
    return {label: _shown(*pair) for label, pair in made.items()}


def changed(name: str) -> dict[str, tuple[bytes, bytes | None]]:
    """The files, each with its weights, that a file becomes, by what was done to it."""
    text, weights = files()[name]
    root, kind = etree.fromstring(text), name.partition("/")[2]
    changes, draw = dict(_changes(root)), random.Random(f"{SEED}/{name}")
    count = MAX_CHANGES.get(kind, TWICE)
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for label in changes:
        alike[label.partition(" ")[2]].append(label)
    chosen: list[tuple[str, ...]] = [
        (draw.choice(labels),) for labels in draw.sample([*alike.values()], min(count, len(alike)))
    ]
    if kind not in MAX_CHANGES:
        pairs = [labels for labels in alike.values() if len(labels) > 1]
        chosen += [tuple(draw.sample(labels, 2)) for labels in draw.sample(pairs, min(count // 2, len(pairs)))]
        chosen += [tuple(draw.sample(sorted(changes), 2)) for _ in range(count // 2)]
    made = {" and ".join(labels): _applied(root, {label: changes[label] for label in labels}) for labels in chosen}
    others = _other_weights(weights) if weights else {}
    return {**{label: (each, weights) for label, each in made.items()}, **{key: (text, others[key]) for key in others}}


def _shared() -> tuple[bytes, bytes]:
    """Constants of several types that have the same bytes."""
    builder = Builder(name="shared")
    for kind in ("f16", "bf16", "f32"):
        dtype = element_type(kind).dtype
        assert dtype is not None
        made = builder.constant(np.ones(8, np.float16).view(dtype), f"{kind}_bytes")
        builder.result(builder.call("Convert", made, destination_type="f64"), kind)
    return _written(builder.model)


def _states() -> tuple[bytes, bytes]:
    """Variables: one that is stored twice, two whose values nothing reads, one that nothing stores."""
    builder = Builder(name="states", opset=6)
    data = builder.parameter("x", "1,2", "f32")
    kinds = {"variable_shape": "1,2", "variable_type": "f32"}
    values = {name: builder.call("ReadValue", data, variable_id=name, **kinds, name=name) for name in "abcd"}
    total = builder.call("Add", builder.call("Multiply", values["a"], values["d"]), data)
    builder.result(total, "y")
    for number, name in enumerate("abca"):
        builder.call("Assign", total if number else data, variable_id=name, name=f"store{number}")
    return _written(builder.model)


def _written(model: Model) -> tuple[bytes, bytes]:
    file = BytesIO()
    model.weights.save(file)
    return bytes(render(model)), file.getvalue()


def _is_plain(text: bytes) -> bool:
    try:
        etree.fromstring(text.decode().encode())
    except (UnicodeDecodeError, etree.XMLSyntaxError):
        return False
    return True


def _weights(text: str) -> bytes | None:
    """As many bytes as the constants of a file name."""
    rows = re.findall(r'offset="(\d+)" size="(\d+)"', text)
    return bytes(max(int(offset) + int(size) for offset, size in rows)) if rows else None


def _other_weights(weights: bytes) -> dict[str, bytes | None]:
    """What can be wrong with a `.bin`; what is not a number or infinite as f32 or f16."""
    half = len(weights) // 2 // 4 * 4
    return {
        "weights lost": None,
        "weights cut off": weights[:-1],
        "weights of half the size": weights[:half],
        "weights and more": weights + bytes(range(1, 100)),
        "weights and zeros": weights + bytes(63),
        "weights of no numbers": b"\xff" * len(weights),
        "weights of infinities": b"\0\0\x80\x7f" * (len(weights) // 4),
        "weights half of infinities": weights[:half] + b"\0\xfc" * ((len(weights) - half) // 2),
    }


def _applied(root: etree._Element, changes: Mapping[str, Change]) -> bytes:
    twin = copy.deepcopy(root)
    elements = list(twin.iter(etree.Element))
    for label, change in changes.items():
        change(elements[int(label.partition(" ")[0])])
    return etree.tostring(twin, encoding="utf-8")


@cache
def _words() -> dict[tuple[str, str], list[str]]:
    """The values of the attributes of each element in the files of the rules."""
    words: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for text in (text for name, (text, _) in files().items() if name.partition("/")[2] in MAX_CHANGES):
        for element in etree.fromstring(text).iter(etree.Element):
            for key, value in element.attrib.items():
                words[str(element.tag), str(key)].add(str(value))
    return {place: sorted(values) for place, values in words.items()}


def _changes(root: etree._Element) -> Iterator[tuple[str, Change]]:
    """Other numbers and words, capitals, blanks; what is misspelled, lost, empty, twice, moved, or renumbered."""
    for number, element in enumerate(root.iter(etree.Element)):
        tag = str(element.tag)
        for name, text in [(str(key), str(text)) for key, text in element.attrib.items()]:
            for label, value in _other_texts(text, _words().get((tag, name), ())):
                yield f"{number} {tag} {name} {label}", partial(_set, name, value)
            if text != text.upper():
                yield f"{number} {tag} {name} in capitals", partial(_set, name, text.upper())
            yield f"{number} {tag} {name} blank", partial(_set, name, " ")
            yield f"{number} {tag} {name} lost", partial(_drop, name)
            yield f"{number} {tag} {name} misspelled", partial(_misspell, name)
        for label, value in _other_texts(element.text or "", ()) if tag == "dim" else ():
            yield f"{number} {tag} {label}", partial(_write, value)
        for name in ("mine", "nams", "output_name"):
            yield f"{number} {tag} with an attribute {name}", partial(_set, name, "1")
        yield f"{number} {tag} with another element", lambda one: etree.SubElement(one, "mine")
        if len(element):
            yield f"{number} {tag} emptied", _empty
            yield f"{number} {tag} with text", partial(_write, "left over")
        if element.getparent() is not None:
            yield f"{number} {tag} before text", lambda one: setattr(one, "tail", "\nleft over = '1'")
            yield f"{number} {tag} misspelled", lambda one: setattr(one, "tag", f"{one.tag}x")
            yield f"{number} {tag} lost", lambda one: _parent(one).remove(one)
            yield f"{number} {tag} twice", lambda one: one.addnext(copy.deepcopy(one))
            yield f"{number} {tag} first", lambda one: _parent(one).insert(0, one)
        for text in NUMBERS if tag == "layer" else ():
            yield f"{number} layer is {text}", partial(_renumber, text)


def _set(name: str, value: str, element: etree._Element) -> None:
    element.set(name, value)


def _drop(name: str, element: etree._Element) -> None:
    del element.attrib[name]


def _misspell(name: str, element: etree._Element) -> None:
    element.set(f"{name}x", element.attrib.pop(name))


def _renumber(text: str, layer: etree._Element) -> None:
    """Give a layer another number, there and in the edges."""
    old = layer.get("id")
    layer.set("id", text)
    for edge in _parent(_parent(layer)).iterfind("edges/edge"):
        for name in ("from-layer", "to-layer"):
            if edge.get(name) == old:
                edge.set(name, text)


def _empty(element: etree._Element) -> None:
    for child in [*element]:
        element.remove(child)


def _write(value: str, element: etree._Element) -> None:
    element.text = value


def _parent(element: etree._Element) -> etree._Element:
    parent = element.getparent()
    assert parent is not None
    return parent


def _other_texts(text: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for place, label in ((0, "first"), (-1, "last")):
        places = list(NUMBER.finditer(text))
        if places:
            at = places[place]
            for label_of, value in (("+1", int(at[0]) + 1), ("-1", int(at[0]) - 1), ("-2", int(at[0]) - 2), ("=0", 0)):
                yield f"{label}{label_of}", f"{text[: at.start()]}{value}{text[at.end() :]}"
    for word in words:
        yield f"={word}", word


def _shown(text: bytes, weights: bytes | None) -> str:
    return " ".join(map(_words_of, validate(text, weights)))


def _words_of(one: Diagnostic) -> str:
    facts = one.layer_id, one.path, one.attribute, one.end_column, FACTS.findall(f"{one.message} {one.help or ''}")
    return f"{one.code}{str(one.severity)[0]}{one.line}:{one.column}#{crc32(repr(facts).encode()) & 0xFFFF:04x}"


def main() -> None:
    """Write what the runtime agrees with."""
    table: dict[str, dict[str, str]] = {}
    kept, places = load(FILE), "--places" in sys.argv
    with Oracle() as oracle:
        for name in names():
            made = changed(name)
            findings = found(made)
            table[name] = {
                label: words
                for label, words in findings.items()
                if (
                    _codes(words) == _codes(kept.get(name, {}).get(label, "none"))
                    if places
                    else name.startswith("legacy/") or _agrees(words, oracle.run(*made[label]).ok)
                )
            }
            print(name, len(table[name]), len(findings), flush=True)
    save(FILE, table)


def _agrees(words: str, runs: bool) -> bool:
    """Return whether a file that has these findings should run, or not."""
    errors = {*ERROR.findall(words)}
    return errors <= RUNS.keys() if runs else bool(errors)


def _codes(words: str) -> list[str]:
    return [word.partition(":")[0] for word in words.split()]


if __name__ == "__main__":
    main()
