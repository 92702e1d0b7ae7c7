"""Other spellings of numbers, flags, types and shapes: some mean the same to the runtime, some it refuses."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator

from tests.faults.attribute_facts import ATTRIBUTES
from tests.faults.define import Case, CaseLayer, Expect, Fault, Guilt, NotHere, always, pick
from tests.faults.markup import Node

__all__ = ["FAULTS"]

FAULTS: list[Fault] = []
Target = tuple[Node, str, list[CaseLayer]]
"""An element, the name of one of its attributes (empty for its text), and the layers to blame if it is wrong."""
Targets = Callable[[Case], Iterator[Target]]


def _layer_ids(case: Case) -> Iterator[Target]:
    for place in case.places():
        yield place.node, "id", [place]


def _edge_ends(case: Case) -> Iterator[Target]:
    for edge, start, end in case.edges():
        for name in ("from-layer", "from-port", "to-layer", "to-port"):
            yield edge, name, [start, end]


def _port_ids(case: Case) -> Iterator[Target]:
    for place, port in case.ports():
        yield port, "id", [place]


def _dims(case: Case) -> Iterator[Target]:
    for place, port in case.ports():
        for dim in port.all("dim"):
            if dim.text.isdigit():
                yield dim, "", [place]


def _attribute(name: str, places: Callable[[Case], Iterable[CaseLayer]]) -> Targets:
    def targets(case: Case) -> Iterator[Target]:
        return ((place.data, name, [place]) for place in places(case) if place.data and place.data.get(name))

    return targets


def _in_consts(name: str) -> Targets:
    return _attribute(name, Case.consts)


def _parameters(name: str) -> Targets:
    return _attribute(name, lambda case: case.places("Parameter"))


def _named(name: str) -> Targets:
    return _attribute(name, Case.places)


def _of_kind(*kinds: str) -> Targets:
    """Attributes of these kinds in layers whose operation is described."""

    def targets(case: Case) -> Iterator[Target]:
        for place in case.places():
            for name, fact in ATTRIBUTES.get((place.type, place.node.get("version")), {}).items():
                if fact.kind in kinds and place.data and place.data.get(name):
                    yield place.data, name, [place]

    return targets


def _precisions(case: Case) -> Iterator[Target]:
    for place, port in case.ports():
        if port.has("precision"):
            yield port, "precision", [place]


def _stamps(case: Case) -> Iterator[Target]:
    for place in case.places():
        yield place.node, "version", [place]


def _net_version(case: Case) -> Iterator[Target]:
    yield case.root, "version", []


def _spelled(kind: str, targets: Targets, group: str, expect: Expect, make: Callable[[str], str]) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        node, name, offending = pick(rng, list(targets(case)))
        old = node.get(name) if name else node.text
        new = make(old)
        if new == old:
            raise NotHere
        if name:
            node.set(name, new)
        else:
            node.text = new
        if expect == "valid":
            return Guilt()
        owner = [place.node for place in offending if node.tag == "edge"]
        ports = [
            port
            for place in offending
            for side in ("input", "output")
            for port in place.ports(side)
            if node in port.children
        ]
        return Guilt([place.spot for place in offending], at=[node, *owner, *ports])

    name = f"valid-{kind}" if expect == "valid" else f"spelling-{kind}"
    FAULTS.append(Fault(name, "valid" if expect == "valid" else group, expect, change))


def _first_number(make: Callable[[str], str]) -> Callable[[str], str]:
    return lambda old: re.sub(r"\d+", lambda match: make(match[0]), old, count=1)


NUMBERS: dict[str, tuple[Targets, str]] = {
    "layer-id": (_layer_ids, "layers"),
    "edge-end": (_edge_ends, "edges"),
    "port-id": (_port_ids, "edges"),
    "const-offset": (_in_consts("offset"), "constants"),
    "const-size": (_in_consts("size"), "constants"),
    "ir-version": (_net_version, "structure"),
}
for _name, (_targets, _group) in NUMBERS.items():
    _spelled(f"{_name}-plus-sign", _targets, _group, "valid", lambda old: f"+{old}")
    _spelled(f"{_name}-leading-zeros", _targets, _group, "valid", lambda old: f"00{old}")
    _spelled(f"{_name}-leading-space", _targets, _group, "valid", lambda old: f" {old}")
    _spelled(f"{_name}-trailing-space", _targets, _group, "error", lambda old: f"{old} ")
    _spelled(f"{_name}-with-point", _targets, _group, "error", lambda old: f"{old}.0")
    _spelled(f"{_name}-with-comma", _targets, _group, "error", lambda old: f"{old},")
    _spelled(f"{_name}-two-signs", _targets, _group, "error", lambda old: f"+-{old}")
    _spelled(f"{_name}-with-letter", _targets, _group, "error", lambda old: f"{old}abc")
    _spelled(f"{_name}-in-words", _targets, _group, "error", lambda old: "zero")
    _spelled(
        f"{_name}-other-digits", _targets, _group, "error", lambda old: "".join(chr(0x660 + int(one)) for one in old)
    )
    _spelled(f"{_name}-underscore", _targets, _group, "error", lambda old: f"{old}_0")
    _spelled(f"{_name}-5000-digits", _targets, _group, "error", lambda old: "9" * 5000)
    _spelled(f"{_name}-superscript", _targets, _group, "error", lambda old: "\u00b2")
    _spelled(
        f"{_name}-full-width", _targets, _group, "error", lambda old: "".join(chr(0xFF10 + int(one)) for one in old)
    )
    _spelled(f"{_name}-space-that-does-not-break", _targets, _group, "error", lambda old: f"\u00a0{old}")
    _spelled(f"{_name}-exponent", _targets, _group, "error", lambda old: f"{old}e0")
    _spelled(f"{_name}-hexadecimal", _targets, _group, "error", lambda old: hex(int(old)))
    _spelled(f"{_name}-only-sign", _targets, _group, "error", lambda old: "-")
    _spelled(f"{_name}-2-to-64-and-more", _targets, _group, "error", lambda old: str(2**64 + int(old)))
    _spelled(f"{_name}-quoted", _targets, _group, "error", lambda old: f"'{old}'")
    _spelled(f"{_name}-semicolon", _targets, _group, "error", lambda old: f"{old};")

_spelled("dim-with-spaces", _dims, "shapes", "valid", lambda old: f" {old} ")
_spelled("dim-with-newlines", _dims, "shapes", "valid", lambda old: f"\n{old}\n")
_spelled("dim-leading-zero", _dims, "shapes", "valid", lambda old: f"0{old}")
_spelled("dim-plus-sign", _dims, "shapes", "valid", lambda old: f"+{old}")
_spelled("dim-in-cdata", _dims, "shapes", "valid", lambda old: f"<![CDATA[{old}]]>")
_spelled("dim-by-reference", _dims, "shapes", "valid", lambda old: "".join(f"&#{ord(one)};" for one in old))
_spelled("dim-with-comment", _dims, "shapes", "valid", lambda old: f"<!-- wide -->{old}")

_spelled("dim-5000-digits", _dims, "shapes", "error", lambda old: "9" * 5000)
_spelled("dim-superscript", _dims, "shapes", "error", lambda old: "\u00b3")
_spelled("dim-full-width", _dims, "shapes", "error", lambda old: "".join(chr(0xFF10 + int(one)) for one in old))
_spelled("dim-hexadecimal", _dims, "shapes", "error", lambda old: hex(int(old)))
_spelled("dim-underscore", _dims, "shapes", "error", lambda old: f"{old}_0")
_spelled("dim-only-sign", _dims, "shapes", "error", lambda old: "-")
_spelled("dim-interval", _dims, "shapes", "error", lambda old: f"{old}..{old}9")

INTS = _of_kind("ints")
_spelled("list-5000-digits", INTS, "operations", "error", _first_number(lambda one: "9" * 5000))
_spelled("list-superscript", INTS, "operations", "error", _first_number(lambda one: "\u00b2"))
_spelled("list-full-width", INTS, "operations", "error", _first_number(lambda one: chr(0xFF10 + int(one[0]))))
_spelled("list-of-100000", INTS, "operations", "error", lambda old: ",".join(["1"] * 100_000))
_spelled("int-5000-digits", _of_kind("int"), "operations", "error", lambda old: "9" * 5000)
_spelled("int-superscript", _of_kind("int"), "operations", "error", lambda old: "\u00b2")
_spelled("int-underscore", _of_kind("int"), "operations", "error", lambda old: f"{old}_0")
_spelled("float-5000-digits-behind-e", _of_kind("float"), "operations", "error", lambda old: "1e" + "9" * 5000)
_spelled("float-superscript", _of_kind("float"), "operations", "error", lambda old: "\u00b2")
_spelled("float-underscore", _of_kind("float"), "operations", "error", lambda old: "1_0")
_spelled("float-full-width", _of_kind("float"), "operations", "error", lambda old: "\uff11")
_spelled(
    "list-spaces-before-commas",
    INTS,
    "operations",
    "valid",
    lambda old: re.sub(r" *, *", " , ", old) if "," in old else old,
)
_spelled("list-leading-space", INTS, "operations", "valid", lambda old: f" {old}")
_spelled("list-trailing-space", INTS, "operations", "valid", lambda old: f"{old} ")
_spelled("list-leading-zero", INTS, "operations", "valid", _first_number(lambda one: f"0{one}"))
_spelled("list-plus-sign", INTS, "operations", "error", _first_number(lambda one: f"+{one}"))
_spelled("list-two-commas", INTS, "operations", "error", lambda old: old.replace(",", ",,") if "," in old else old)
_spelled("list-leading-comma", INTS, "operations", "error", lambda old: f",{old}")
_spelled("list-in-parentheses", INTS, "operations", "error", lambda old: f"({old})")
_spelled("list-in-words", INTS, "operations", "error", _first_number(lambda one: "two"))
_spelled("list-other-minus", INTS, "operations", "error", _first_number(lambda one: f"\u2212{one}"))

FLOATS = _of_kind("float")
_spelled("float-plus-sign", FLOATS, "operations", "valid", lambda old: old if old[0] == "-" else f"+{old}")
_spelled("float-trailing-space", FLOATS, "operations", "valid", lambda old: f"{old} ")
_spelled("float-leading-space", FLOATS, "operations", "valid", lambda old: f" {old}")
_spelled("float-with-exponent", FLOATS, "operations", "valid", lambda old: old if "e" in old else f"{old}e0")
_spelled("float-with-capital-exponent", FLOATS, "operations", "valid", lambda old: old if "e" in old else f"{old}E+00")
_spelled("float-1e400", FLOATS, "operations", "error", lambda old: "1e400")
_spelled("float-two-exponents", FLOATS, "operations", "error", lambda old: "1e5e5")
_spelled("float-f-behind", FLOATS, "operations", "error", lambda old: f"{old}f")
_spelled("float-with-unit", FLOATS, "operations", "error", lambda old: f"{old}%")

FLAGS = _of_kind("flag")
_spelled("flag-in-capitals", FLAGS, "operations", "valid", str.upper)
_spelled(
    "flag-mixed-case",
    FLAGS,
    "operations",
    "valid",
    lambda old: old[0] + old[1].upper() + old[2:] if len(old) > 2 else old,
)
for _word in ("t", "on", "y", "1.0", "01", "truefalse", "!true", "none", "null"):
    _spelled(f"flag-{_word}", FLAGS, "operations", "error", always(_word))

_spelled("type-in-capitals", _parameters("element_type"), "element types", "valid", str.upper)
_spelled("destination-type-in-capitals", _named("destination_type"), "element types", "valid", str.upper)
_spelled("type-trailing-space", _parameters("element_type"), "element types", "error", lambda old: f"{old} ")
_spelled("type-leading-space", _parameters("element_type"), "element types", "error", lambda old: f" {old}")
_spelled("const-type-trailing-space", _in_consts("element_type"), "element types", "error", lambda old: f"{old} ")
_spelled(
    "type-as-ports-say",
    _parameters("element_type"),
    "element types",
    "error",
    lambda old: {"f32": "FP32", "f16": "FP16", "boolean": "BOOL"}.get(old, f"{old}_t"),
)
_spelled(
    "precision-in-lower-case",
    _precisions,
    "element types",
    "error",
    lambda old: old.lower() if old in ("FP32", "FP16", "BOOL") else old,
)
_spelled("precision-trailing-space", _precisions, "element types", "error", lambda old: f"{old} ")
_spelled(
    "precision-as-attributes-say",
    _precisions,
    "element types",
    "valid",
    lambda old: {"FP32": "f32", "FP16": "f16", "I64": "i64", "BOOL": "boolean"}.get(old, old),
)
for _word in ("UNSPECIFIED", "undefined", "dynamic"):
    _spelled(f"precision-{_word}", _precisions, "element types", "valid", always(_word))

_spelled("auto-pad-mixed-case", _named("auto_pad"), "pooling", "valid", str.title)
for _word in (
    "NOTSET",
    "notset",
    "SAME",
    "same",
    "same-upper",
    " explicit",
    "explicit ",
    "explict",
    "none",
    "zero",
    "full",
    "VALID_PAD",
):
    _spelled(f"auto-pad-{_word}", _named("auto_pad"), "pooling", "error", always(_word))
for _word in ("round", "ceiling", "flor", "up", "ceil torch", "ceiltorch", " ceil"):
    _spelled(f"rounding-{_word}", _named("rounding_type"), "pooling", "error", always(_word))

SHAPES = _parameters("shape")
_spelled("shape-in-brackets", SHAPES, "shapes", "valid", lambda old: f"[{old}]")
_spelled(
    "shape-with-spaces", SHAPES, "shapes", "valid", lambda old: " , ".join(part.strip() for part in old.split(","))
)
_spelled("shape-leading-zero", SHAPES, "shapes", "valid", _first_number(lambda one: f"0{one}"))
_spelled(
    "shape-interval-of-one",
    SHAPES,
    "shapes",
    "valid",
    lambda old: old if ".." in old else _first_number(lambda one: f"{one}..{one}")(old),
)
_spelled("shape-question-mark-as-minus-one", SHAPES, "shapes", "valid", lambda old: old.replace("?", "-1"))
_spelled("shape-in-parentheses", SHAPES, "shapes", "error", lambda old: f"({old})")
_spelled("shape-in-braces", SHAPES, "shapes", "error", lambda old: f"{{{old}}}")
_spelled("shape-trailing-comma", SHAPES, "shapes", "error", lambda old: f"{old},")
_spelled(
    "shape-plus-sign",
    SHAPES,
    "shapes",
    "error",
    lambda old: old if ".." in old else _first_number(lambda one: f"+{one}")(old),
)
_spelled("shape-with-x", SHAPES, "shapes", "error", lambda old: old.replace(",", "x"))
_spelled("shape-bracket-open", SHAPES, "shapes", "error", lambda old: f"[{old}")
_spelled("shape-5000-digits", SHAPES, "shapes", "error", _first_number(lambda one: "9" * 5000))
_spelled("shape-superscript", SHAPES, "shapes", "error", _first_number(lambda one: "\u00b2"))
_spelled("shape-of-100000-dims", SHAPES, "shapes", "error", lambda old: ",".join(["1"] * 100_000))
_spelled("shape-underscore", SHAPES, "shapes", "error", _first_number(lambda one: f"{one}_0"))
_spelled("shape-interval-of-5000-digits", SHAPES, "shapes", "error", _first_number(lambda one: "1.." + "9" * 5000))
_spelled("const-shape-5000-digits", _in_consts("shape"), "constants", "error", _first_number(lambda one: "9" * 5000))
_spelled("const-shape-superscript", _in_consts("shape"), "constants", "error", _first_number(lambda one: "\u00b2"))
_spelled("const-shape-of-100000-dims", _in_consts("shape"), "constants", "error", lambda old: ",".join(["2"] * 100_000))
_spelled("const-shape-in-brackets", _in_consts("shape"), "constants", "error", lambda old: f"[{old}]")
_spelled("const-shape-plus-sign", _in_consts("shape"), "constants", "error", _first_number(lambda one: f"+{one}"))

for _word in (
    "OPSET1",
    "Opset1",
    "opset01",
    "opset1 ",
    " opset1",
    "opset+1",
    "opset1,2",
    "opset_1",
    "opset 1",
    "opset-8",
    "opset1.1",
    "opset1e1",
):
    _spelled(f"opset-{_word}", _stamps, "layers", "error", always(_word))
