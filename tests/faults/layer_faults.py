"""Layers: ids, names, types and versions."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.faults.define import Case, CaseLayer, Expect, Fault, Guilt, NotHere, fault, pick
from tests.faults.markup import Node

__all__ = ["FAULTS"]

GROUP = "layers"
FAULTS: list[Fault] = []


def _touching(place: CaseLayer) -> list[Node]:
    number = place.node.get("id")
    edges = place.graph.find("edges")
    return (
        [edge for edge in edges.all("edge") if number in (edge.get("from-layer"), edge.get("to-layer"))]
        if edges
        else []
    )


# --- ids ----------------------------------------------------------------------------------------------------------


def _id(kind: str, make: Callable[[str], str | None]) -> None:
    """Another id in the tag, while the edges keep the old one."""

    def change(case: Case, rng: random.Random) -> Guilt:
        place = pick(rng, case.places())
        edges, old = _touching(place), place.spot
        ends = [end.spot for edge, start, end in case.edges() if any(edge is one for one in edges)]
        new = make(place.node.get("id"))
        place.node.drop("id")
        if new is not None:
            place.node.attrs.insert(0, ("id", new))
        return Guilt([place.spot, old, *ends], at=[place.node, *edges])

    FAULTS.append(Fault(f"layer-id-{kind}", GROUP, "error", change))


_id("missing", lambda old: None)
_id("empty", lambda old: "")
_id("text", lambda old: "abc")
_id("negative", lambda old: f"-{int(old) + 1}")
_id("fraction", lambda old: f"{old}.5")
_id("with-letter", lambda old: f"{old}a")
_id("hexadecimal", lambda old: hex(int(old) + 16))
_id("exponent", lambda old: "1e3")
_id("beyond-64-bits", lambda old: "99999999999999999999999")
_id("wrapping", lambda old: str(int(old) + 2**64))
_id("list", lambda old: f"{old},1")
_id("unknown-to-edges", lambda old: str(int(old) + 5000))


def _both_ids(kind: str, make: Callable[[str], str]) -> None:
    """Another id in the tag and in the edges."""

    def change(case: Case, rng: random.Random) -> Guilt:
        place = pick(rng, [place for place in case.main()])
        old = place.node.get("id")
        touching = _touching(place)
        for edge in touching:
            for name in ("from-layer", "to-layer"):
                if edge.get(name) == old:
                    edge.set(name, make(old))
        place.node.set("id", make(old))
        return Guilt([place.spot], at=[place.node, *touching])

    FAULTS.append(Fault(f"layer-id-everywhere-{kind}", GROUP, "error", change))


_both_ids("text", lambda old: f"layer{old}")
_both_ids("negative", lambda old: str(-1 - int(old)))
_both_ids("fraction", lambda old: f"{old}.5")


@fault(FAULTS, GROUP, "error")
def duplicate_layer_id(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, case.places())
    other = pick(rng, [one for one in case.places() if one.graph is place.graph and one.node is not place.node])
    old = other.spot
    other.node.set("id", place.node.get("id"))
    return Guilt([place.spot, other.spot, old], at=[place.node, other.node])


@fault(FAULTS, GROUP, "error")
def layer_copied_with_its_id(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, case.places())
    copy = place.node.copy()
    copy.set("name", place.node.get("name") + "_copy")
    place.graph.need("layers").children.append(copy)
    return Guilt([place.spot, CaseLayer(copy, place.graph, place.prefix).spot], at=[place.node, copy])


@fault(FAULTS, GROUP, "error")
def duplicate_layer_id_with_leading_zero(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, case.places())
    other = pick(rng, [one for one in case.places() if one.graph is place.graph and one.node is not place.node])
    old = other.spot
    other.node.set("id", "0" + place.node.get("id"))
    return Guilt([place.spot, other.spot, old], at=[place.node, other.node, *_touching(place)])


# --- names and types ----------------------------------------------------------------------------------------------


def _attribute(kind: str, name: str, value: str | None, expect: Expect = "error") -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        place = pick(rng, case.places())
        old = place.spot
        if value is None:
            place.node.drop(name)
        else:
            place.node.set(name, value)
        return Guilt([place.spot, old], at=[place.node])

    FAULTS.append(Fault(kind, GROUP, expect, change))


_attribute("layer-type-missing", "type", None)
_attribute("layer-type-empty", "type", "")
_attribute("layer-type-a-space", "type", " ")
_attribute("layer-version-missing", "version", None)
_attribute("layer-version-empty", "version", "")
_attribute("layer-name-missing", "name", None)
for _version in (
    "opset0",
    "opset18",
    "opset99",
    "opset",
    "opset-1",
    "opset1.0",
    "1",
    "v1",
    "opse1",
    "opset 1",
    "opset1x",
    "custom",
    "ops1",
):
    _attribute(f"layer-version-{_version}".replace(" ", "-space-"), "version", _version)


def _typo(
    kind: str, edit: Callable[[str, random.Random], str], only: tuple[str, ...] = (), never: tuple[str, ...] = ()
) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        fitting = [place for place in case.places() if (not only or place.type in only) and place.type not in never]
        place = pick(rng, fitting)
        new = edit(place.type, rng)
        if new.lower() in KNOWN or not new:
            raise NotHere
        place.node.set("type", new)
        return Guilt([place.spot], at=[place.node])

    FAULTS.append(Fault(f"type-{kind}", GROUP, "error", change))


KNOWN = {
    "add",
    "abs",
    "elu",
    "exp",
    "mod",
    "pad",
    "cos",
    "sin",
    "log",
    "erf",
    "sign",
    "if",
    "loop",
    "less",
    "tan",
    "relu",
    "selu",
    "prelu",
    "acos",
    "asin",
    "atan",
    "cosh",
    "sinh",
    "tanh",
    "power",
    "floor",
}
"""Names that a small edit of another name could hit."""


def _at(text: str, rng: random.Random) -> int:
    return rng.randrange(1, len(text))


_typo("letter-lost", lambda t, r: (lambda i: t[:i] + t[i + 1 :])(_at(t, r)))
_typo("letter-doubled", lambda t, r: (lambda i: t[:i] + t[i] + t[i:])(_at(t, r)))
_typo("letter-replaced", lambda t, r: (lambda i: t[:i] + "q" + t[i + 1 :])(_at(t, r)))
_typo("letter-inserted", lambda t, r: (lambda i: t[:i] + "z" + t[i:])(_at(t, r)))
_typo("letters-swapped", lambda t, r: _swapped(t, r))
_typo("plural", lambda t, r: t + "es")
_typo("with-2d", lambda t, r: t + "2D", never=("Const",))
_typo("with-number", lambda t, r: t + "1")
_typo("space-before", lambda t, r: " " + t)
_typo("space-after", lambda t, r: t + " ")
_typo("underscores", lambda t, r: "_".join(t))
_typo("with-namespace", lambda t, r: "opset1::" + t)
_typo(
    "of-another-framework",
    lambda t, r: {
        "Convolution": "Conv",
        "MatMul": "Gemm",
        "Const": "Constant",
        "Parameter": "Input",
        "SoftMax": "Activation",
        "AvgPool": "AveragePool",
        "MaxPool": "Pooling",
        "Add": "Eltwise",
        "Multiply": "Mul",
        "Subtract": "Sub",
        "Reshape": "Flatten",
        "Transpose": "Permute",
        "ReduceMean": "Mean",
        "BatchNormInference": "BatchNormalization",
    }.get(t, "Identity42"),
)
_typo("digits", lambda t, r: "123")
_typo("result-lost-letter", lambda t, r: "Resul", only=("Result",))
_typo("result-swapped", lambda t, r: "Resutl", only=("Result",))
_typo("result-lower-case", lambda t, r: "result", only=("Result",))
_typo("result-upper-case", lambda t, r: "RESULT", only=("Result",))
_typo("result-as-output", lambda t, r: "Output", only=("Result",))
_typo("parameter-as-input", lambda t, r: "Input", only=("Parameter",))
_typo("parameter-lost-letter", lambda t, r: "Paramter", only=("Parameter",))
_typo("const-as-constant", lambda t, r: "Constant", only=("Const",))


def _swapped(text: str, rng: random.Random) -> str:
    found = [i for i in range(len(text) - 1) if text[i].lower() != text[i + 1].lower()]
    i = pick(rng, found)
    return text[:i] + text[i + 1] + text[i] + text[i + 2 :]


def _real_type(kind: str, old: str, new: str) -> None:
    """Another type that exists, but takes other inputs or attributes."""

    def change(case: Case, rng: random.Random) -> Guilt:
        place = pick(rng, case.places(old))
        place.node.set("type", new)
        return Guilt([place.spot], at=[place.node, *([place.data] if place.data else [])], within=place.ports_within())

    FAULTS.append(Fault(f"type-exchanged-{kind}", GROUP, "error", change))


for _old, _new in (
    ("Convolution", "GroupConvolution"),
    ("Concat", "Split"),
    ("Reshape", "Relu"),
    ("Relu", "Convolution"),
    ("MatMul", "Convolution"),
    ("Add", "Concat"),
    ("Parameter", "Const"),
    ("AvgPool", "ReduceMean"),
    ("Split", "VariadicSplit"),
    ("Gather", "GatherND"),
    ("SoftMax", "MatMul"),
    ("Transpose", "MatMul"),
    ("TensorIterator", "Relu"),
    ("Loop", "TensorIterator"),
    ("If", "Loop"),
    ("LSTMSequence", "GRUSequence"),
    ("Select", "Add"),
    ("ReduceMean", "Clamp"),
    ("Squeeze", "Concat"),
):
    _real_type(f"{_old}-{_new}", _old, _new)


BORN = {
    "Assign": 3,
    "ReadValue": 3,
    "NonZero": 3,
    "ScatterElementsUpdate": 3,
    "ScatterNDUpdate": 3,
    "CumSum": 3,
    "GRUCell": 3,
    "RNNSequence": 5,
    "HSwish": 4,
    "Mish": 4,
    "Swish": 4,
    "LSTMSequence": 5,
    "GRUSequence": 5,
    "Loop": 5,
    "HSigmoid": 5,
    "LogSoftmax": 5,
    "GatherND": 5,
    "GatherElements": 6,
    "If": 8,
    "Slice": 8,
    "AdaptiveAvgPool": 8,
    "AdaptiveMaxPool": 8,
    "Gelu": 2,
}
"""The first opset of some types."""


@fault(FAULTS, GROUP, "error")
def type_younger_than_its_opset(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, [place for place in case.places() if place.type in BORN])
    place.node.set("version", f"opset{rng.randrange(1, BORN[place.type])}")
    return Guilt([place.spot], at=[place.node])


def _younger(kind: str, born: int) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        place = pick(rng, case.places(kind))
        place.node.set("version", f"opset{born - 1}")
        return Guilt([place.spot], at=[place.node])

    FAULTS.append(Fault(f"{kind}-before-opset{born}", GROUP, "error", change))


for _type, _first in BORN.items():
    _younger(_type, _first)


@fault(FAULTS, GROUP, "error")
def pooling_in_opset17(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, case.places("AvgPool"))
    place.node.set("version", "opset17")
    return Guilt([place.spot], at=[place.node])


@fault(FAULTS, GROUP, "warning")
def unknown_layer_that_nobody_reads(case: Case, rng: random.Random) -> Guilt:
    node = Node("layer", [("id", "9000"), ("name", "strange"), ("type", "Strange"), ("version", "opset1")])
    node.children = [Node("output", [], [Node("port", [("id", "0"), ("precision", "FP32")], [Node("dim", [], ["1"])])])]
    case.root.need("layers").children.append(node)
    return Guilt([CaseLayer(node, case.root, "").spot], at=[node])
