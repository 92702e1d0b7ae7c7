"""Constants against the `.bin`, and values of constants that no operation can use."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np

from tests.faults.define import Case, Expect, Fault, Guilt, NotHere, fault, pick
from tests.faults.markup import Node

__all__ = ["FAULTS"]

GROUP = "constants"
FAULTS: list[Fault] = []
Edit = Callable[[Node, Case, random.Random], None]


def _const(kind: str, edit: Edit, *, expect: Expect = "error", used: bool = False, plain: bool = True) -> None:
    """Edits the `<data>` of one constant. `used`: of one that matters. `plain`: not of strings."""

    def change(case: Case, rng: random.Random) -> Guilt:
        found = [place for place in case.consts() if not plain or place.need_data().get("element_type") != "string"]
        place = pick(rng, [one for one in found if case.used(one)] if used else found)
        edit(place.need_data(), case, rng)
        return Guilt([place.spot], at=[place.need_data()], within=place.ports_within())

    FAULTS.append(Fault(f"const-{kind}", GROUP, expect, change))


def _set(name: str, value: str) -> Edit:
    return lambda data, case, rng: data.set(name, value)


def _edited(edit: Callable[..., None], *arguments: str) -> Edit:
    return lambda data, case, rng: edit(data, *arguments)


def _append(data: Node, name: str, text: str) -> None:
    data.set(name, data.get(name) + text)


def _shifted(name: str, by: Callable[[Node, Case], int]) -> Edit:
    return lambda data, case, rng: data.set(name, str(int(data.get(name)) + by(data, case)))


for _name in ("offset", "size", "shape", "element_type"):
    _const(f"{_name}-missing", _edited(Node.drop, _name))
    _const(f"{_name}-called-{_name}s", _edited(Node.rename, _name, f"{_name}s"))
for _name in ("offset", "size"):
    _const(f"{_name}-empty", _set(_name, ""))
    _const(f"{_name}-text", _set(_name, "abc"))
    _const(f"{_name}-negative", _set(_name, "-4"))
    _const(f"{_name}-fraction", _set(_name, "4.5"))
    _const(f"{_name}-with-letter", _edited(_append, _name, "b"))
    _const(f"{_name}-hexadecimal", _set(_name, "0x10"))
    _const(f"{_name}-2-to-31", _set(_name, str(2**31)))
    _const(f"{_name}-2-to-63", _set(_name, str(2**63)))
    _const(f"{_name}-2-to-64", _set(_name, str(2**64)))
    _const(f"{_name}-2-to-64-less-4", _set(_name, str(2**64 - 4)))
    _const(f"{_name}-nan", _set(_name, "nan"))
_const("offset-beyond-the-end", lambda data, case, rng: data.set("offset", str(len(case.weights or b"") + 64)))
_const("offset-at-the-end", lambda data, case, rng: data.set("offset", str(len(case.weights or b""))))
_const(
    "offset-partly-beyond",
    lambda data, case, rng: data.set("offset", str(len(case.weights or b"") - int(data.get("size")) + 1)),
)
_const("size-one-less", _shifted("size", lambda data, case: -1))
_const("size-one-more", _shifted("size", lambda data, case: 1))
_const("size-doubled", _shifted("size", lambda data, case: int(data.get("size"))))
_const("size-halved", _shifted("size", lambda data, case: -(int(data.get("size")) + 1) // 2))
_const("size-zero", _set("size", "0"))
_const("size-beyond-the-end", lambda data, case, rng: data.set("size", str(len(case.weights or b"") + 4)))


def _dims(data: Node) -> list[str]:
    text = data.get("shape")
    if not text:
        raise NotHere
    return [part.strip() for part in text.split(",")]


def _one_dim(make: Callable[[int], object]) -> Edit:
    def edit(data: Node, case: Case, rng: random.Random) -> None:
        dims = _dims(data)
        index = rng.randrange(len(dims))
        dims[index] = str(make(int(dims[index])))
        data.set("shape", ",".join(dims))

    return edit


_const("shape-dim-one-more", _one_dim(lambda dim: dim + 1))
_const("shape-dim-doubled", _one_dim(lambda dim: dim * 2))
_const("shape-dim-large", _one_dim(lambda dim: dim + 1000))
_const("shape-dim-zero", _one_dim(lambda dim: 0))
_const("shape-dim-negative", _one_dim(lambda dim: -1))
_const("shape-dim-very-negative", _one_dim(lambda dim: -(2**40)))
_const("shape-dim-text", _one_dim(lambda dim: "n"))
_const("shape-dim-fraction", _one_dim(lambda dim: f"{dim}.5"))
_const("shape-dim-dynamic", _one_dim(lambda dim: "?"))
_const("shape-dim-interval", _one_dim(lambda dim: f"{dim}..{dim + 5}"))
_const("shape-dim-empty", _one_dim(lambda dim: ""))
_const("shape-2-to-63", _one_dim(lambda dim: 2**63))
_const("shape-2-to-62", _one_dim(lambda dim: 2**62))
_const("shape-overflowing-to-zero", _set("shape", "4294967296,4294967296"))
_const("shape-overflowing-to-small", _set("shape", "4294967297,4294967297,4"))
_const("shape-text", _set("shape", "abc"))
_const("shape-in-brackets", lambda data, case, rng: data.set("shape", f"[{','.join(_dims(data))}]"))
_const("shape-with-semicolons", lambda data, case, rng: data.set("shape", ";".join([*_dims(data), "1"])))
_const(
    "shape-empty-for-several",
    lambda data, case, rng: data.set("shape", "") if "".join(_dims(data)).strip("1") else _not_here(),
)
_const(
    "shape-dim-lost",
    lambda data, case, rng: (
        data.set("shape", ",".join(dims[1:])) if (dims := _dims(data))[0] != "1" and len(dims) > 1 else _not_here()
    ),
)
_const("shape-dim-added", lambda data, case, rng: data.set("shape", ",".join([*_dims(data), "3"])))
_const("shape-turned", lambda data, case, rng: data.set("shape", ",".join(_turned(_dims(data)))))


def _not_here() -> None:
    raise NotHere


def _turned(dims: list[str]) -> list[str]:
    if dims == dims[::-1]:
        raise NotHere
    return dims[::-1]


for _text in ("f31", "float", "int64", "", "FP32", "i65", "f32,f32", "undefined_", "32"):
    _const(f"element-type-{_text or 'empty'}", _set("element_type", _text))
_const("element-type-dynamic", _set("element_type", "dynamic"))
_const("element-type-wider", lambda data, case, rng: data.set("element_type", _other_width(data, wider=True)))
_const("element-type-narrower", lambda data, case, rng: data.set("element_type", _other_width(data, wider=False)))
_const("element-type-of-same-width", lambda data, case, rng: data.set("element_type", _same_width(data)))
_const("element-type-string", _set("element_type", "string"))
WIDTH = {"f16": 2, "bf16": 2, "f32": 4, "i32": 4, "i64": 8, "f64": 8, "u8": 1, "i8": 1, "boolean": 1}


def _other_width(data: Node, *, wider: bool) -> str:
    old = WIDTH.get(data.get("element_type"))
    if old is None or old == (8 if wider else 1):
        raise NotHere
    return {1: "u8", 2: "f16", 4: "f32", 8: "i64"}[old * 2 if wider else old // 2]


def _same_width(data: Node) -> str:
    old = data.get("element_type")
    found = {"f32": "i32", "i32": "f32", "i64": "f64", "f16": "bf16", "u8": "i8", "boolean": "u8"}.get(old)
    if found is None:
        raise NotHere
    return found


# --- the .bin -----------------------------------------------------------------------------------------------------


def _guilty_consts(case: Case, length: int) -> Guilt:
    """The constants that reach beyond `length` bytes."""
    found = []
    for place in case.consts():
        data = place.need_data()
        if int(data.get("offset")) + int(data.get("size")) > length:
            found.append(place)
    if not found:
        raise NotHere
    return Guilt([place.spot for place in found], at=[place.need_data() for place in found])


def _cut(kind: str, length: Callable[[int, random.Random], int]) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        assert case.weights is not None
        if not case.weights:
            raise NotHere
        case.weights = case.weights[: length(len(case.weights), rng)]
        return _guilty_consts(case, len(case.weights))

    FAULTS.append(Fault(f"bin-{kind}", GROUP, "error", change))


_cut("one-byte-short", lambda size, rng: size - 1)
_cut("half", lambda size, rng: size // 2)
_cut("cut-somewhere", lambda size, rng: rng.randrange(size))
_cut("empty", lambda size, rng: 0)
_cut("one-byte", lambda size, rng: 1)


@fault(FAULTS, GROUP, "error")
def bin_missing(case: Case, rng: random.Random) -> Guilt:
    guilt = _guilty_consts(case, 0)
    case.weights = None
    return Guilt(guilt.layers, at=[])


# --- strings ------------------------------------------------------------------------------------------------------


def _string(kind: str, edit: Callable[[bytearray, Node], None]) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        found = [place for place in case.consts() if place.need_data().get("element_type") == "string"]
        place = pick(rng, found)
        data = place.need_data()
        weights = bytearray(case.weights or b"")
        start = int(data.get("offset"))
        part = weights[start : start + int(data.get("size"))]
        edit(part, data)
        weights[start : start + len(part)] = part
        case.weights = bytes(weights)
        return Guilt([place.spot], at=[data], within=place.ports_within())

    FAULTS.append(Fault(f"strings-{kind}", GROUP, "error", change))


def _number(part: bytearray, index: int, value: int) -> None:
    part[4 * index : 4 * index + 4] = value.to_bytes(4, "little", signed=value < 0)


_string("count-too-large", lambda part, data: _number(part, 0, 4))
_string("count-huge", lambda part, data: _number(part, 0, 2**31 - 1))
_string("count-negative", lambda part, data: _number(part, 0, -1))
_string("count-zero", lambda part, data: _number(part, 0, 0))
_string("offset-beyond", lambda part, data: _number(part, 2, 1000))
_string("offset-negative", lambda part, data: _number(part, 2, -5))
_string("offsets-descending", lambda part, data: _number(part, 3, 1))
_string("last-offset-beyond", lambda part, data: _number(part, 4, 10_000))
_string("shape-huge", lambda part, data: data.set("shape", "1099511627776"))
_string("shape-negative", lambda part, data: data.set("shape", "-3"))
_string("shape-one-more", lambda part, data: data.set("shape", "4"))
_string("shape-one-less", lambda part, data: data.set("shape", "2"))
_string("shape-two-dims-huge", lambda part, data: data.set("shape", "2147483648,2147483648"))
_string("size-small", lambda part, data: data.set("size", "8"))
_string("size-below-header", lambda part, data: data.set("size", "3"))
_string("size-zero", lambda part, data: data.set("size", "0"))


# --- values that an operation cannot use --------------------------------------------------------------------------


def _value(type_: str, index: int, kind: str, values: Callable[[list[int]], Sequence[int]]) -> None:
    """Other numbers in the integer constant that feeds input `index` of an operation."""

    def change(case: Case, rng: random.Random) -> Guilt:
        rows = []
        for place in case.places(type_):
            ports = place.ports("input")
            found = case.source(place, ports[index]) if len(ports) > index else None
            known = all(dim.text != "-1" for dim in ports[0].all("dim")) or type_ != "Squeeze"
            if found and known and found[0].type == "Const":
                rows.append((place, found[0]))
        place, const = pick(rng, rows)
        data = const.need_data()
        if data.get("element_type") not in ("i64", "i32"):
            raise NotHere
        dtype = np.dtype(np.int64 if data.get("element_type") == "i64" else np.int32)
        start, size = int(data.get("offset")), int(data.get("size"))
        old = np.frombuffer(case.weights or b"", dtype, size // dtype.itemsize, start).tolist()
        new = np.asarray(values(old)).astype(dtype)
        if new.size != len(old) or new.tolist() == old:
            raise NotHere
        # A place of its own at the end: the old one may be shared with others.
        sharers = [one for one in case.consts() if one.need_data().get("offset") == data.get("offset")]
        users = [row for row in case.edges() if row[1].node is const.node]
        if len(users) > 1:
            raise NotHere
        assert sharers
        case.weights = (case.weights or b"") + new.tobytes()
        data.set("offset", str(len(case.weights) - size))
        at = [place.node, data, const.node, *([place.data] if place.data else [])]
        return Guilt([place.spot, const.spot], at=at, within=place.ports_within())

    FAULTS.append(Fault(f"value-{type_}-{index}-{kind}", "operations", "error", change))


_value("Transpose", 1, "twice-the-same-axis", lambda old: [old[0], *old[:-1]])
_value("Transpose", 1, "axis-beyond", lambda old: [len(old), *old[1:]])
_value("Transpose", 1, "negative-axis", lambda old: [-1, *old[1:]])
_value("Reshape", 1, "two-free-dims", lambda old: [-1] * len(old) if len(old) > 1 else old)
_value("Reshape", 1, "other-product", lambda old: [7] * len(old))
_value("Reshape", 1, "minus-two", lambda old: [-2, *old[1:]])
_value("Reshape", 1, "huge", lambda old: [2**62, *old[1:]])
_value("Split", 1, "axis-beyond", lambda old: [9])
_value("Split", 1, "axis-below", lambda old: [-9])
_value("VariadicSplit", 1, "axis-beyond", lambda old: [9])
_value("VariadicSplit", 2, "lengths-do-not-add-up", lambda old: [*old[:-1], old[-1] + 1])
_value("VariadicSplit", 2, "negative-length", lambda old: [-3, *old[1:]])
_value("ReduceMean", 1, "axis-beyond", lambda old: [9, *old[1:]])
_value("ReduceMean", 1, "axis-below", lambda old: [-9, *old[1:]])
_value("ReduceSum", 1, "axis-beyond", lambda old: [9, *old[1:]])
_value("ReduceMax", 1, "axis-beyond", lambda old: [9, *old[1:]])
_value("Squeeze", 1, "axis-beyond", lambda old: [9])
_value("Squeeze", 1, "axis-not-one", lambda old: [0])
_value("Unsqueeze", 1, "axis-beyond", lambda old: [9])
_value("Unsqueeze", 1, "axis-below", lambda old: [-9])
_value("Gather", 2, "axis-beyond", lambda old: [5])
_value("Gather", 2, "axis-below", lambda old: [-5])
_value("Slice", 3, "step-zero", lambda old: [0] * len(old))
_value("StridedSlice", 3, "stride-zero", lambda old: [0, *old[1:]])
_value("Tile", 1, "huge", lambda old: [2**40, *old[1:]])
_value("AdaptiveAvgPool", 1, "negative-size", lambda old: [-2, *old[1:]])
_value("AdaptiveAvgPool", 1, "size-2-to-40", lambda old: [2**40, *old[1:]])
_value("AdaptiveAvgPool", 1, "size-zero", lambda old: [0, *old[1:]])
_value("AdaptiveMaxPool", 1, "negative-size", lambda old: [-2, *old[1:]])
_value("AdaptiveMaxPool", 1, "size-2-to-40", lambda old: [2**40, *old[1:]])
_value("MVN", 1, "axis-beyond", lambda old: [7])
_value("NormalizeL2", 1, "axis-beyond", lambda old: [7])
_value("TopK", 1, "negative", lambda old: [-1])
_value("TopK", 1, "more-than-there-are", lambda old: [100])
_value("OneHot", 1, "negative-depth", lambda old: [-4])
_value("CumSum", 1, "axis-beyond", lambda old: [8])
_value("ScatterElementsUpdate", 3, "axis-beyond", lambda old: [8])
_value("Pad", 1, "huge-begin", lambda old: [2**40, *old[1:]])
_value("Pad", 1, "negative-beyond", lambda old: [-100, *old[1:]])
_value("Broadcast", 1, "huge", lambda old: [2**40, *old[1:]])
_value("LRN", 1, "axis-beyond", lambda old: [9])


# --- trips of loops -----------------------------------------------------------------------------------------------


def _trips(kind: str, count: int) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        rows = [
            (place, found) for place in case.places("Loop") if (found := case.source(place, place.ports("input")[0]))
        ]
        place, (const, _) = pick(rng, [row for row in rows if row[1][0].type == "Const"])
        case.weights = (case.weights or b"") + count.to_bytes(8, "little", signed=True)
        data = const.need_data()
        data.set("offset", str(len(case.weights) - 8))
        return Guilt([place.spot, const.spot], at=[place.node, data, const.node], within=place.ports_within())

    FAULTS.append(Fault(f"loop-trips-{kind}", "bodies", "error", change))


_trips("minus-5", -5)
_trips("2-to-40", 2**40)
_trips("2-to-62", 2**62)
