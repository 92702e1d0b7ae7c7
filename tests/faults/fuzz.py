"""Coverage-guided fuzzing of the reader and the rules: `python -m tests.faults.fuzz FOLDER [options of libFuzzer]`.

It needs `atheris` (`pip install atheris`). FOLDER gets `corpus/` (inputs that reach something new) and `crashes/` (one
file for each different exception, with what was raised beside it). Only diagnostics may come out of `validate`; `read`
may raise ReadError, and nothing else.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import random
import sys
import time
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from tests.faults.base_models import bases
from tests.faults.catalogue import FAULTS, mutants
from tests.faults.markup import Node, parse, render
from tests.faults.sweep import BROKEN, one_of_each_family

__all__ = ["mutated", "split"]

SECONDS = 2.0
NUMBERS = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "64",
    "255",
    "1.5",
    "-0",
    "+3",
    "1e9",
    "2147483648",
    "9223372036854775807",
    "18446744073709551616",
    "nan",
    "inf",
    "abc",
    "?",
    "1..4",
    "4..1",
]
LISTS = ("", ",", "1,1", "0,0", "2,2,2", "-1,-1", "1, 1", "1,?,3..5", "4294967296,4294967296", "[1,2]")
TYPES = [
    "f32",
    "f16",
    "bf16",
    "i64",
    "i32",
    "u8",
    "boolean",
    "string",
    "i4",
    "u1",
    "f8e4m3",
    "nf4",
    "dynamic",
    "FP32",
    "I64",
    "BOOL",
    "UNSPECIFIED",
]
TEXTS = ("", " ", "\n", "\u00e4", "a" * 300, "true", "false", "numpy", "explicit", "same_upper", "ceil_torch", "x,y")
TAGS = [
    "layer",
    "data",
    "port",
    "dim",
    "input",
    "output",
    "edge",
    "body",
    "then_body",
    "else_body",
    "port_map",
    "back_edges",
    "rt_info",
    "attribute",
    "layers",
    "edges",
]


def split(data: bytes) -> tuple[bytes, bytes | None]:
    """An input of the fuzzer as text and weights: its first byte chooses the `.bin`, its second what is done to it."""
    if len(data) < 2:
        return data, b""
    weights = bytearray(_weights()[data[0] % len(_weights())])
    how = data[1]
    if how == 255:
        return data[2:], None
    if how > 200 and weights:
        rng = random.Random(how)
        for _ in range(8):
            weights[rng.randrange(len(weights))] = rng.choice((0, 1, 127, 255))
        if how > 240:
            del weights[rng.randrange(len(weights)) :]
    return data[2:], bytes(weights)


@cache
def _weights() -> tuple[bytes, ...]:
    return tuple(base.weights for base in bases().values())


@cache
def _kinds() -> tuple[tuple[str, str], ...]:
    """Types and versions that exist."""
    found = {
        (node.get("type"), node.get("version"))
        for base in bases().values()
        for node in base.root.walk()
        if node.tag == "layer"
    }
    return tuple(sorted(found))


# --- mutations of the tree ----------------------------------------------------------------------------------------


def mutated(text: bytes, rng: random.Random) -> bytes:
    """The document after a few random edits of its elements; unreadable text comes back as it is."""
    try:
        root = parse(text)
    except (ParseError, ValueError, LookupError, RecursionError):
        return text
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        rng.choice(EDITS)(root, rng)
    return render(root).encode("utf-8", "surrogatepass")


def _some(root: Node, rng: random.Random) -> Node:
    return rng.choice(list(root.walk()))


def _value(rng: random.Random) -> str:
    return rng.choice(
        (rng.choice(NUMBERS), rng.choice(LISTS), rng.choice(TYPES), rng.choice(TEXTS), str(rng.randrange(40)))
    )


def _edit_value(root: Node, rng: random.Random) -> None:
    nodes = [node for node in root.walk() if node.attrs]
    if nodes:
        node = rng.choice(nodes)
        node.set(rng.choice(node.attrs)[0], _value(rng))


def _edit_part_of_value(root: Node, rng: random.Random) -> None:
    nodes = [node for node in root.walk() if node.tag == "data" and node.attrs]
    if nodes:
        node = rng.choice(nodes)
        name, old = rng.choice(node.attrs)
        parts = old.split(",")
        parts[rng.randrange(len(parts))] = rng.choice(NUMBERS)
        node.set(name, ",".join(parts))


def _edit_dim(root: Node, rng: random.Random) -> None:
    dims = [node for node in root.walk() if node.tag == "dim"]
    if dims:
        rng.choice(dims).text = rng.choice((rng.choice(NUMBERS), str(rng.randrange(9)))).replace("<", "")


def _drop_attribute(root: Node, rng: random.Random) -> None:
    node = _some(root, rng)
    if node.attrs:
        del node.attrs[rng.randrange(len(node.attrs))]


def _rename_attribute(root: Node, rng: random.Random) -> None:
    node, other = _some(root, rng), _some(root, rng)
    if node.attrs and other.attrs:
        node.rename(rng.choice(node.attrs)[0], rng.choice(other.attrs)[0])


def _copy_attributes(root: Node, rng: random.Random) -> None:
    node, other = _some(root, rng), _some(root, rng)
    for name, value in other.attrs:
        node.set(name, value)


def _drop(root: Node, rng: random.Random) -> None:
    node = _some(root, rng)
    if node.children:
        del node.children[rng.randrange(len(node.children))]


def _repeat(root: Node, rng: random.Random) -> None:
    node = _some(root, rng)
    if node.children:
        child = rng.choice(node.children)
        node.children.insert(rng.randrange(len(node.children) + 1), child if isinstance(child, str) else child.copy())


def _move(root: Node, rng: random.Random) -> None:
    source, target = _some(root, rng), _some(root, rng)
    if source.children and sum(1 for _ in root.walk()) < 3000:
        child = rng.choice(source.children)
        target.children.append(child if isinstance(child, str) else child.copy())


def _shuffle(root: Node, rng: random.Random) -> None:
    rng.shuffle(_some(root, rng).children)


def _retag(root: Node, rng: random.Random) -> None:
    _some(root, rng).tag = rng.choice(TAGS)


def _retype(root: Node, rng: random.Random) -> None:
    layers = [node for node in root.walk() if node.tag == "layer"]
    if layers:
        layer = rng.choice(layers)
        kind, version = rng.choice(_kinds())
        layer.set("type", kind)
        if rng.random() < 0.7:
            layer.set("version", version)


def _restamp(root: Node, rng: random.Random) -> None:
    layers = [node for node in root.walk() if node.tag == "layer"]
    if layers:
        rng.choice(layers).set("version", f"opset{rng.randrange(1, 18)}")


def _rewire(root: Node, rng: random.Random) -> None:
    edges = [node for node in root.walk() if node.tag == "edge"]
    if len(edges) > 1:
        one, two = rng.sample(edges, 2)
        name = rng.choice(("from", "to"))
        for part in ("layer", "port"):
            one.set(f"{name}-{part}", two.get(f"{name}-{part}"))


def _transplant(root: Node, rng: random.Random) -> None:
    """A layer of another model."""
    other = rng.choice(list(bases().values())).root
    donors = [node for node in other.walk() if node.tag == "layer"]
    homes = [node for node in root.walk() if node.tag == "layers"]
    if homes:
        layer = rng.choice(donors).copy()
        if rng.random() < 0.5:
            layer.set("id", str(rng.randrange(500)))
        rng.choice(homes).children.append(layer)


def _replace(root: Node, rng: random.Random) -> None:
    """A layer keeps its id and ports, and becomes one of another model otherwise."""
    layers = [node for node in root.walk() if node.tag == "layer"]
    other = rng.choice(list(bases().values())).root
    donors = [node for node in other.walk() if node.tag == "layer"]
    if layers:
        layer, donor = rng.choice(layers), rng.choice(donors)
        layer.set("type", donor.get("type"))
        layer.set("version", donor.get("version"))
        layer.children = [child for child in layer.children if isinstance(child, str) or child.tag != "data"]
        data = donor.find("data")
        if data:
            layer.children.insert(0, data.copy())


EDITS: tuple[Callable[[Node, random.Random], None], ...] = (
    _edit_value,
    _edit_value,
    _edit_part_of_value,
    _edit_part_of_value,
    _edit_dim,
    _drop_attribute,
    _rename_attribute,
    _copy_attributes,
    _drop,
    _repeat,
    _move,
    _shuffle,
    _retag,
    _retype,
    _restamp,
    _rewire,
    _transplant,
    _replace,
    _replace,
)  # fmt: skip


# --- the target ---------------------------------------------------------------------------------------------------


class Target:
    """Validates an input, and keeps what may not happen."""

    def __init__(self, crashes: Path) -> None:
        import ir_tools
        from ir_tools.errors import ReadError

        self._validate, self._read, self._read_error = ir_tools.validate, ir_tools.read, ReadError
        self._crashes = crashes
        self._seen: set[str] = {path.stem for path in crashes.glob("*.txt")}
        crashes.mkdir(parents=True, exist_ok=True)

    def __call__(self, data: bytes) -> None:
        text, weights = split(data)
        start = time.process_time()
        try:
            for finding in self._validate(text, weights):
                if BROKEN in finding.message:
                    self._keep(text, weights, RuntimeError(f"{finding.code}: {finding.message}"))
        except Exception as why:
            self._keep(text, weights, why)
        seconds = time.process_time() - start
        if seconds > SECONDS:
            self._keep(text, weights, TimeoutError(f"{seconds:.1f} s"))
        try:
            self._read(text, weights)
        except self._read_error:
            pass
        except Exception as why:
            self._keep(text, weights, why)

    def _keep(self, text: bytes, weights: bytes | None, why: Exception) -> None:
        frames = traceback.extract_tb(why.__traceback__)
        last = frames[-1] if frames else None
        said = "".join(letter for letter in str(why) if letter.isalpha())[:100]
        place = f"{Path(last.filename).stem}-{last.lineno}" if last else hashlib.sha1(said.encode()).hexdigest()[:8]
        name = f"{type(why).__name__}-{place}"
        if name in self._seen:
            return
        self._seen.add(name)
        (self._crashes / f"{name}.xml").write_bytes(text)
        (self._crashes / f"{name}.bin").write_bytes(weights or b"")
        (self._crashes / f"{name}.txt").write_text("".join(traceback.format_exception(why)))


def _seeds(folder: Path) -> None:
    """Base models and one mutant of each family, where the corpus is empty."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        return
    names = list(bases())
    for number, base in enumerate(bases().values()):
        (folder / f"base_{base.name}").write_bytes(bytes((number, 0)) + render(base.root, base.style).encode())
    for mutant in mutants(1, 1, one_of_each_family()):
        (folder / mutant.kind.replace("/", "-")).write_bytes(bytes((names.index(mutant.base), 0)) + mutant.xml)


def main() -> None:
    """Fuzzes until stopped, or as long as the options of libFuzzer say."""
    parser = argparse.ArgumentParser(description="Fuzz ir_tools.validate and ir_tools.read.")
    parser.add_argument("folder", type=Path)
    chosen, rest = parser.parse_known_args()
    atheris: Any = importlib.import_module("atheris")
    bases()
    _seeds(chosen.folder / "corpus")
    assert FAULTS
    for name in [name for name in sys.modules if name.split(".")[0] == "ir_tools"]:
        del sys.modules[name]
    with atheris.instrument_imports(include=["ir_tools"]):
        importlib.import_module("ir_tools.validation")
        importlib.import_module("ir_tools.format.read")
        importlib.import_module("ir_tools.api")
    target = Target(chosen.folder / "crashes")

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.15:
            made: bytes = atheris.Mutate(data, len(data) + 16)
            return made[:most]
        head = bytes((data[0], rng.randrange(256) if rng.random() < 0.05 else data[1])) if len(data) > 1 else b"\0\0"
        return (head + mutated(data[2:], rng))[:most]

    options = [
        sys.argv[0],
        str(chosen.folder / "corpus"),
        "-max_len=120000",
        "-timeout=30",
        "-rss_limit_mb=3000",
        *rest,
    ]
    atheris.Setup(options, target, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
