"""Well-formed edits whose meaning only the runtime knows.

Each edit leaves every text readable, so a file is wrong exactly when the runtime rejects it, or computes other types or
shapes than the file records. Validation must say the same of every file, in both directions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ir_tools.errors import IrToolsError, RuntimeFailure
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types.elements import ELEMENT_TYPES
from tests.faults.attribute_facts import ATTRIBUTES, A
from tests.faults.base_models import bases
from tests.faults.define import Base, Case, CaseLayer, Mutant, NotHere, connect, convert_input, pick
from tests.faults.markup import Node, render
from tests.faults.oracle import Oracle
from tests.faults.sweep import judge

__all__ = ["Difference", "differences"]

Edit = Callable[[Case, random.Random], CaseLayer]
"""Changes a case and returns the layer that it changed."""


def _facts(place: CaseLayer) -> dict[str, A]:
    found = ATTRIBUTES.get((place.type, place.node.get("version")), {})
    return {name: fact for name, fact in found.items() if place.data and place.data.has(name)}


def _with(case: Case, rng: random.Random, *kinds: str) -> tuple[CaseLayer, str, A]:
    rows = [
        (place, name, fact) for place in case.places() for name, fact in _facts(place).items() if fact.kind in kinds
    ]
    return pick(rng, rows)


def _other(old: str, new: str) -> str:
    if new.replace(" ", "") == old.replace(" ", ""):
        raise NotHere
    return new


def number(case: Case, rng: random.Random) -> CaseLayer:
    """Another number, in range, in a list or alone."""
    place, name, fact = _with(case, rng, "ints", "int")
    data = place.need_data()
    parts = [part.strip() for part in data.get(name).split(",")]
    if not parts[0]:
        raise NotHere
    least = 0 if fact.least is None else fact.least
    parts[rng.randrange(len(parts))] = str(rng.randrange(least, min(fact.most or 7, 7) + 1))
    data.set(name, _other(data.get(name), ",".join(parts)))
    return place


def word(case: Case, rng: random.Random) -> CaseLayer:
    """Another word of an enumeration."""
    place, name, fact = _with(case, rng, "word")
    place.need_data().set(name, _other(place.need_data().get(name), rng.choice(fact.words)))
    return place


def flag(case: Case, rng: random.Random) -> CaseLayer:
    """A flag turned round."""
    place, name, _ = _with(case, rng, "flag")
    data = place.need_data()
    data.set(name, "false" if data.get(name) == "true" else "true")
    return place


def optional_attribute(case: Case, rng: random.Random) -> CaseLayer:
    """An optional attribute left out."""
    rows = [(place, name) for place in case.places() for name, fact in _facts(place).items() if not fact.required]
    place, name = pick(rng, rows)
    place.need_data().drop(name)
    return place


def values(case: Case, rng: random.Random) -> CaseLayer:
    """Other numbers in a small integer constant that one layer reads."""
    found = [
        place
        for place in case.consts()
        if place.need_data().get("element_type") in ("i64", "i32") and int(place.need_data().get("size")) <= 64
    ]
    const = pick(rng, found)
    readers = [end for _, start, end in case.edges() if start.node is const.node]
    if len(readers) != 1:
        raise NotHere
    data = const.need_data()
    dtype = np.dtype(np.int64 if data.get("element_type") == "i64" else np.int32)
    start, size = int(data.get("offset")), int(data.get("size"))
    old = np.frombuffer(case.weights or b"", dtype, size // dtype.itemsize, start).tolist()
    old[rng.randrange(len(old))] = rng.choice((-9, -2, -1, 0, 1, 2, 3, 4, 5, 100))
    case.weights = (case.weights or b"") + np.asarray(old, dtype).tobytes()
    data.set("offset", str(len(case.weights) - size))
    return readers[0]


def type_of_attribute(case: Case, rng: random.Random) -> CaseLayer:
    """Another element type for what a layer gives."""
    place, name, fact = _with(case, rng, "type")
    place.need_data().set(
        name, _other(place.need_data().get(name), rng.choice(fact.words or ("f32", "i32", "i64", "f16", "u8")))
    )
    return place


SIMILAR = (
    ("Add", "Multiply", "Subtract", "Divide", "Maximum", "Minimum", "Power", "SquaredDifference", "FloorMod",
    "Mod", "Less", "Equal", "LogicalAnd"),
    ("Relu", "ReLU", "Sigmoid", "Tanh", "Sqrt", "Abs", "Exp", "Negative", "Floor", "LogicalNot", "Mish", "HSwish"),
    ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceProd", "ReduceL2", "ReduceLogicalOr"),
    ("Squeeze", "Unsqueeze", "Reshape", "Transpose", "Tile"),
)  # fmt: skip


def similar_type(case: Case, rng: random.Random) -> CaseLayer:
    """Another operation with as many inputs."""
    rows = [(place, group) for place in case.places() for group in SIMILAR if place.type in group]
    place, group = pick(rng, rows)
    place.node.set("type", _other(place.type, rng.choice(group)))
    place.node.set("version", "opset4" if place.type in ("Mish", "HSwish", "ReduceL2") else "opset1")
    if place.type in ("Reshape",):
        place.node.children.insert(0, Node("data", [("special_zero", "true")]))
    return place


def stamp(case: Case, rng: random.Random) -> CaseLayer:
    """Another opset."""
    place = pick(rng, case.places())
    place.node.set("version", _other(place.node.get("version"), f"opset{rng.randrange(1, 17)}"))
    return place


def rewired(case: Case, rng: random.Random) -> CaseLayer:
    """An input reads another output of an earlier layer."""
    edge, _, end = pick(rng, case.edges())
    later = case.reaches(end) | {end.node.get("id")}
    sources = [
        (place, port)
        for place in case.places()
        if place.graph is end.graph and place.node.get("id") not in later
        for port in place.ports("output")
    ]
    place, port = pick(rng, sources)
    if (place.node.get("id"), port.get("id")) == (edge.get("from-layer"), edge.get("from-port")):
        raise NotHere
    edge.set("from-layer", place.node.get("id"))
    edge.set("from-port", port.get("id"))
    return end


def parameter(case: Case, rng: random.Random) -> CaseLayer:
    """Another dim in a Parameter and its port."""
    place = pick(rng, [one for one in case.places("Parameter") if one.ports("output")[0].all("dim")])
    dims = place.ports("output")[0].all("dim")
    index = rng.randrange(len(dims))
    parts = [part.strip() for part in place.need_data().get("shape").split(",")]
    parts[index] = _other(parts[index], str(rng.randrange(1, 20)))
    place.need_data().set("shape", ",".join(parts))
    dims[index].text = parts[index]
    return place


def unsqueezed(case: Case, rng: random.Random) -> CaseLayer:
    """One dimension more in front of an input."""
    edge, start, end = pick(rng, case.edges())
    out = start.port("output", edge.get("from-port"))
    made, into = out.copy(), out.copy()
    for one, name in ((into, "0"), (made, "2")):
        one.set("id", name)
        one.drop("names")
    axis = Node("port", [("id", "1"), ("precision", "I64")], [Node("dim", [], ["1"])])
    made.children.insert(0, Node("dim", [], ["1"]))
    case.weights = (case.weights or b"") + bytes(8)
    const = Node("layer", [("id", "7100"), ("name", "axis_0"), ("type", "Const"), ("version", "opset1")])
    data = [("element_type", "i64"), ("shape", "1"), ("offset", str(len(case.weights) - 8)), ("size", "8")]
    const.children = [
        Node("data", list(data)),
        Node("output", [], [Node("port", [("id", "0"), ("precision", "I64")], [Node("dim", [], ["1"])])]),
    ]
    node = Node("layer", [("id", "7101"), ("name", "wider"), ("type", "Unsqueeze"), ("version", "opset1")])
    node.children = [Node("input", [], [into, axis]), Node("output", [], [made])]
    end.graph.need("layers").children += [const, node]
    connect(end.graph, start.node.get("id"), out.get("id"), 7101, 0)
    connect(end.graph, 7100, 0, 7101, 1)
    edge.set("from-layer", "7101")
    edge.set("from-port", "2")
    port = end.port("input", edge.get("to-port"))
    port.children = [dim.copy() if isinstance(dim, Node) else dim for dim in made.children]
    return end


def converted(case: Case, rng: random.Random) -> CaseLayer:
    """Another element type in front of an input."""
    edge, start, end = pick(rng, case.edges())
    to, precision = rng.choice(
        (("f32", "FP32"), ("i32", "I32"), ("i64", "I64"), ("boolean", "BOOL"), ("f16", "FP16"), ("u8", "U8"))
    )
    convert_input(edge, start, end, to, precision)
    return end


def input_taken(case: Case, rng: random.Random) -> CaseLayer:
    """The last input of a layer is gone, with its edge."""
    place = pick(
        rng,
        [
            place
            for place in case.places()
            if len(place.ports("input")) > 1 and place.type not in ("Loop", "If", "TensorIterator")
        ],
    )
    place.take_input(place.ports("input")[-1])
    return place


def input_added(case: Case, rng: random.Random) -> CaseLayer:
    """One more input, fed by what feeds the last one."""
    place = pick(
        rng,
        [
            place
            for place in case.places()
            if place.ports("input") and place.type not in ("Loop", "If", "TensorIterator")
        ],
    )
    last = place.ports("input")[-1]
    wire = next(
        edge for edge, _, end in case.edges() if end.node is place.node and edge.get("to-port") == last.get("id")
    ).copy()
    port = last.copy()
    port.set("id", "600")
    wire.set("to-port", "600")
    place.node.need("input").children.append(port)
    place.graph.need("edges").children.append(wire)
    return place


EDITS: tuple[Edit, ...] = (
    number, number, word, flag, optional_attribute, values, values, type_of_attribute, similar_type, stamp,
    rewired, parameter, unsqueezed,
    converted, converted, input_taken, input_added,
)  # fmt: skip


# --- what the runtime makes of it ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """A file of which runtime and validation say different things. `kind`: MISSED or FALSE ALARM."""

    kind: str
    edit: str
    base: str
    layer: str
    runtime: str
    validation: str
    mutant: Mutant

    def __str__(self) -> str:
        said = f"    runtime: {self.runtime}\n    validation: {self.validation}"
        return f"{self.kind} {self.edit} in {self.base} at {self.layer}\n{said}"


PRECISIONS = {kind.precision: kind.name for kind in ELEMENT_TYPES.values()}


def _recorded(root: Node, answer: dict[tuple[str, int], tuple[str, str]]) -> str:
    """The first port whose record is not what the runtime computes; empty where all agree."""
    case = Case(Base("", root, b""))
    case.root = root
    sources = {(id(end.node), edge.get("to-port")): (start, edge.get("from-port")) for edge, start, end in case.edges()}
    for place in case.places():
        rows = [(port, _computed(place, port, answer)) for port in place.ports("output")]
        for port in place.ports("input"):
            found = sources.get((id(place.node), port.get("id")))
            made = [out for out in found[0].ports("output") if out.get("id") == found[1]] if found else []
            rows += [(port, _computed(found[0], out, answer)) for out in made if found]
        for port, computed in rows:
            if computed and not _agrees(port, *computed):
                return f"{place.prefix}{place.node.get('name')} {port.attrs}: computed {computed}"
    return ""


def _computed(place: CaseLayer, port: Node, answer: dict[tuple[str, int], tuple[str, str]]) -> tuple[str, str] | None:
    return answer.get((place.prefix + place.node.get("name"), place.ports("output").index(port)))


def _agrees(port: Node, kind: str, dims: str) -> bool:
    if port.has("precision") and "dynamic" != kind != PRECISIONS.get(port.get("precision"), kind):
        return False
    if dims == "...":
        return True
    told = [dim.text for dim in port.all("dim")]
    wanted = [] if dims in ("[]", "") else ["-1" if "?" in dim or ".." in dim else dim for dim in dims.split(",")]
    return len(told) == len(wanted) and all("-1" in (a, b) or a == b for a, b in zip(told, wanted, strict=True))


class Runtime:
    """Reads, compiles and infers; says in words what is wrong, or nothing."""

    def __init__(self) -> None:
        self._client = RuntimeClient(timeout=10, memory=6 << 30)
        self._oracle = Oracle(10)

    def __call__(self, mutant: Mutant, root: Node) -> str:
        try:
            answer = self._client.shapes(mutant.xml, mutant.weights or None)
        except RuntimeFailure as why:
            return f"read: {why.kind}: {why}"
        wrong = _recorded(root, answer)
        if wrong:
            return f"record: {wrong}"
        found = self._oracle.run(mutant.xml, mutant.weights)
        return "" if found.ok else f"run: {found.kind}: {found.why}"


def differences(seed: int, count: int, folder: Path) -> Iterator[Difference | None]:
    """One item for each file; None where runtime and validation agree."""
    rng = random.Random(seed)
    runtime = Runtime()
    everything = list(bases().values())
    made = 0
    while made < count:
        base, edit = rng.choice(everything), rng.choice(EDITS)
        case = Case(base)
        try:
            place = edit(case, rng)
        except (NotHere, StopIteration):
            continue
        made += 1
        text = render(case.root, case.style).encode()
        spots = (place.spot,)
        mutant = Mutant(edit.__name__, "differential", "valid", base.name, text, case.weights, spots, frozenset())
        verdict = judge(mutant, folder)
        told = "; ".join(f"{one.code} {one.path}: {one.message}" for one in verdict.errors) or verdict.trouble
        try:
            said = runtime(mutant, case.root)
        except IrToolsError as why:
            said = f"other: {why}"
        layer = f"{place.prefix}{place.node.get('name')} ({place.type}, {place.node.get('version')})"
        if verdict.trouble or bool(told) != bool(said):
            kind = "TROUBLE" if verdict.trouble else "FALSE ALARM" if told else "MISSED"
            yield Difference(kind, edit.__name__, base.name, layer, said, told, mutant)
        else:
            yield None
