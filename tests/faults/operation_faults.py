"""Attributes of every operation: missing, misspelled, unreadable, out of range, and what the runtime would ignore."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from tests.faults.attribute_facts import ATTRIBUTES, A
from tests.faults.define import Case, CaseLayer, Expect, Fault, Guilt, NotHere, always, pick

__all__ = ["FAULTS"]

GROUP = "operations"
FAULTS: list[Fault] = []
Edit = Callable[[str, random.Random], str | None]
"""The old text to the new one, or None for no attribute at all."""
PADS = ("pads_begin", "pads_end")
"""Of no use unless auto_pad is explicit: what may then be wrong with them is open to dispute."""


def _with_attribute(case: Case, op: tuple[str, str], name: str) -> list[CaseLayer]:
    """The layers of a version that have an attribute."""
    return [one for one in case.places(op[0]) if one.node.get("version") == op[1] and one.data and one.data.has(name)]


def _add(
    op: tuple[str, str], name: str, kind: str, edit: Edit, expect: Expect = "error", *, ports: bool = False
) -> None:
    """A fault of one attribute. `ports`: the recorded dims may be what contradicts the new value."""

    def change(case: Case, rng: random.Random) -> Guilt:
        found = _with_attribute(case, op, name)
        if name in PADS and kind in ("missing", "empty", "below-range", "far-below-range"):
            found = [one for one in found if one.need_data().get("auto_pad") == "explicit"]
        place = pick(rng, found)
        data = place.need_data()
        new = edit(data.get(name), rng)
        if new is None:
            data.drop(name)
        elif new == data.get(name):
            raise NotHere
        else:
            data.set(name, new)
        return Guilt(
            [place.spot],
            at=[data, *([place.node] if not data.attrs else [])],
            within=place.ports_within() if ports else [],
        )

    family = f"{ATTRIBUTES[op][name].kind}-{kind}"
    FAULTS.append(Fault(f"{op[0]}-{op[1][5:]}.{name}-{kind}", GROUP, expect, change, family=family))


def _rename(op: tuple[str, str], name: str, kind: str, new: Callable[[str], str], expect: Expect) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        found = _with_attribute(case, op, name)
        if name in PADS:
            found = [one for one in found if one.need_data().get("auto_pad") == "explicit"]
        place = pick(rng, found)
        if place.need_data().has(new(name)):
            raise NotHere
        place.need_data().rename(name, new(name))
        return Guilt([place.spot], at=[place.need_data()], within=place.ports_within())

    family = f"{ATTRIBUTES[op][name].kind}-{kind}"
    FAULTS.append(Fault(f"{op[0]}-{op[1][5:]}.{name}-{kind}", GROUP, expect, change, family=family))


def _each(make: Callable[[str], str]) -> Edit:
    """Changes one number of a list."""

    def edit(old: str, rng: random.Random) -> str:
        parts = [part.strip() for part in old.split(",")]
        if not parts[0]:
            raise NotHere
        index = rng.randrange(len(parts))
        parts[index] = make(parts[index])
        return ",".join(parts)

    return edit


def _list(make: Callable[[list[str]], str]) -> Edit:
    def edit(old: str, rng: random.Random) -> str:
        parts = [part.strip() for part in old.split(",")]
        if not parts[0]:
            raise NotHere
        return make(parts)

    return edit


def _to(text: str) -> Edit:
    return lambda old, rng: text


NUMBERS: dict[str, str] = {"a-word": "abc", "fraction": "1.5", "with-letters": "2abc", "nan": "nan",
"2-to-64": str(2**64), "hexadecimal": "0x1", "exponent": "1e0", "two-points": "1.2.3"}  # fmt: skip


def _integers(op: tuple[str, str], name: str, fact: A) -> None:
    for kind, text in NUMBERS.items():
        _add(op, name, kind, _each(always(text)))
    _add(op, name, "2-to-63", _each(lambda old: str(2**63)))
    if fact.least is not None:
        _add(op, name, "below-range", _each(lambda old: str((fact.least or 0) - 1)), ports=True)
        _add(op, name, "far-below-range", _each(lambda old: str(-(10**9))), ports=True)
    if fact.most is not None:
        _add(op, name, "beyond-range", _each(lambda old: str((fact.most or 0) + 1)), ports=True)


def _ints(op: tuple[str, str], name: str, fact: A) -> None:
    _integers(op, name, fact)
    _add(op, name, "empty-item", _list(lambda parts: ",".join([*parts, ""]) + ","))
    _add(op, name, "separated-by-semicolons", _list(lambda parts: ";".join([*parts, parts[0]])))
    _add(op, name, "separated-by-spaces", _list(lambda parts: " ".join([*parts, parts[0]])))
    _add(op, name, "in-brackets", _list(lambda parts: f"[{','.join(parts)}]"))
    if fact.sized:
        _add(op, name, "too-long", _list(lambda parts: ",".join([*parts, parts[-1]])), ports=True)
        _add(op, name, "much-too-long", _list(lambda parts: ",".join(parts * 3)), ports=True)
        _add(op, name, "too-short", _list(_short), ports=True)
    if fact.required and fact.sized:
        _add(op, name, "empty", _to(""), _without(op, name))


def _short(parts: list[str]) -> str:
    if len(parts) < 2:
        raise NotHere
    return ",".join(parts[:-1])


def _int(op: tuple[str, str], name: str, fact: A) -> None:
    _integers(op, name, fact)
    _add(op, name, "empty", _to(""), _without(op, name))
    _add(op, name, "a-list", _each(lambda old: f"{old},1"))
    _add(op, name, "true", _to("true"))


def _float(op: tuple[str, str], name: str, fact: A) -> None:
    for kind, text in {
        "a-word": "abc",
        "with-letters": "1.5x",
        "two-points": "1.2.3",
        "comma": "1,5",
        "empty": "",
        "two-signs": "--1",
        "true": "true",
    }.items():
        _add(op, name, kind, _to(text))


def _floats(op: tuple[str, str], name: str, fact: A) -> None:
    for kind, text in {"a-word": "abc", "with-letters": "1.5x", "two-points": "1.2.3"}.items():
        _add(op, name, kind, _each(always(text)))
    _add(op, name, "separated-by-semicolons", _list(lambda parts: ";".join([*parts, parts[0]])))


def _flag(op: tuple[str, str], name: str, fact: A) -> None:
    for kind, text in {
        "yes": "yes",
        "a-word": "maybe",
        "2": "2",
        "misspelled": "ture",
        "empty": "",
        "minus-one": "-1",
    }.items():
        _add(op, name, kind, _to(text))


def _word(op: tuple[str, str], name: str, fact: A) -> None:
    _add(op, name, "letter-lost", lambda old, rng: old[:-2] + old[-1:])
    _add(op, name, "another-word", _to("something"))
    _add(op, name, "empty", _to(""), _without(op, name))
    _add(op, name, "a-number", _to("1"))
    _add(op, name, "space-inside", lambda old, rng: f" {old} x")
    _add(op, name, "two-words", lambda old, rng: f"{old},{old}")
    _add(op, name, "hyphens", lambda old, rng: old[:1] + "-" + old[1:])


def _words(op: tuple[str, str], name: str, fact: A) -> None:
    _add(op, name, "unknown-word", _each(lambda old: "sigmoidal"))
    _add(op, name, "a-number", _each(lambda old: "1"))
    _add(op, name, "too-short", _list(_short))
    _add(op, name, "separated-by-semicolons", _list(lambda parts: ";".join([*parts, parts[0]])))


def _type(op: tuple[str, str], name: str, fact: A) -> None:
    for kind, text in {
        "unknown": "f33",
        "numpy-name": "float32",
        "empty": "",
        "a-number": "32",
        "c-name": "int",
        "a-list": "i32,i64",
    }.items():
        _add(op, name, kind, _to(text))
    if fact.words:
        _add(op, name, "not-allowed", _to("f16"))
    _add(
        op,
        name,
        "contradicts-port",
        lambda old, rng: rng.choice([one for one in (fact.words or ("f16", "i8", "f64", "i64")) if one != old]),
        ports=True,
    )


def _shape(op: tuple[str, str], name: str, fact: A) -> None:
    for kind, text in {"a-word": "abc", "fraction": "1,2.5", "semicolons": "1;3", "backwards": "1,9..3"}.items():
        _add(op, name, kind, _to(text))
    _add(op, name, "contradicts-port", _to("1,4"), ports=True)


def _text(op: tuple[str, str], name: str, fact: A) -> None:
    """The id of a variable: with one of the two renamed, either may be wrong."""

    def change(case: Case, rng: random.Random) -> Guilt:
        place = pick(rng, [one for one in case.places(op[0]) if one.node.get("version") == op[1]])
        place.need_data().set(name, "somebody else")
        users = [*case.places("ReadValue"), *case.places("Assign")]
        return Guilt([one.spot for one in users], at=[one.need_data() for one in users])

    FAULTS.append(Fault(f"{op[0]}-{op[1][5:]}.{name}-of-nobody", GROUP, "error", change, family="text-of-nobody"))


MAKERS = {"ints": _ints, "int": _int, "float": _float, "floats": _floats, "flag": _flag, "word": _word,
"words": _words, "type": _type, "shape": _shape, "text": _text}  # fmt: skip


def _without(op: tuple[str, str], name: str) -> Expect:
    """Return how bad it is that an attribute is absent: what the runtime takes instead deserves a warning."""
    return "error" if ATTRIBUTES[op][name].needed else "warning"


def _typos(name: str) -> Iterator[tuple[str, Callable[[str], str]]]:
    yield "called-in-capitals", lambda name: name.upper()
    yield "letter-lost-in-name", lambda name: name[:-2] + name[-1]
    yield (
        "called-with-other-joint",
        lambda name: name.replace("_", "-") if "_" in name else name.replace("-", "_") if "-" in name else name + "s",
    )


for _op, _facts in ATTRIBUTES.items():
    for _name, _fact in _facts.items():
        MAKERS[_fact.kind](_op, _name, _fact)
        if _fact.required:
            _add(_op, _name, "missing", lambda old, rng: None, _without(_op, _name), ports=True)
        for _kind, _new in _typos(_name):
            _rename(_op, _name, _kind, _new, _without(_op, _name))


# --- attributes that nobody reads ---------------------------------------------------------------------------------


def _unknown(kind: str, name: str, value: str, fits: Callable[[CaseLayer], bool]) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        place = pick(rng, [one for one in case.places() if one.data and fits(one) and not one.data.has(name)])
        place.need_data().set(name, value)
        return Guilt([place.spot], at=[place.need_data()])

    FAULTS.append(Fault(f"unknown-attribute-{kind}", GROUP, "warning", change))


_unknown("of-convolution", "group", "2", lambda one: one.type == "Convolution")
_unknown("kernel-of-convolution", "kernel", "3,3", lambda one: one.type == "Convolution")
_unknown(
    "dilations-of-old-average",
    "dilations",
    "2,2",
    lambda one: one.type == "AvgPool" and one.node.get("version") != "opset16",
)
_unknown(
    "dilations-of-old-maximum",
    "dilations",
    "2,2",
    lambda one: one.type == "MaxPool" and one.node.get("version") == "opset1",
)
_unknown("exclude-pad-of-maximum", "exclude-pad", "true", lambda one: one.type == "MaxPool")
_unknown("exclude_pad-beside-exclude-pad", "exclude_pad", "false", lambda one: one.type == "AvgPool")
_unknown("pool-method", "pool-method", "avg", lambda one: one.type == "AvgPool")
_unknown("ceil-mode", "ceil_mode", "1", lambda one: one.type in ("AvgPool", "MaxPool"))
_unknown("axis-of-matmul", "axis", "1", lambda one: one.type == "MatMul")
_unknown("nonsense", "foo", "bar", lambda one: one.type not in ("Const", "Parameter"))
_unknown("nonsense-in-parameter", "foo", "bar", lambda one: one.type == "Parameter")
_unknown("keepdims", "keepdims", "1", lambda one: one.type.startswith("Reduce"))
_unknown("alpha-of-relu-like", "alpha", "0.1", lambda one: one.type in ("Clamp", "SoftMax"))
_unknown("value-of-pad", "pad_value", "1.0", lambda one: one.type == "Pad")


# --- numbers in range that cannot be meant ------------------------------------------------------------------------


def _number(op_type: str, name: str, kind: str, make: Callable[[str], str], *, expect: Expect = "error") -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        place = pick(rng, [one for one in case.places(op_type) if one.data and one.data.has(name)])
        data = place.need_data()
        new = _each(make)(data.get(name), rng) or ""
        if new == data.get(name).replace(" ", ""):
            raise NotHere
        data.set(name, new)
        return Guilt([place.spot], at=[data], within=place.ports_within())

    FAULTS.append(Fault(f"{op_type}.{name}-{kind}", GROUP, expect, change))


_number("Concat", "axis", "another", lambda old: "0")
_number("Split", "num_splits", "one-more", lambda old: str(int(old) + 1))
_number("Split", "num_splits", "2-to-40", lambda old: str(2**40))
_number("ShuffleChannels", "group", "no-divisor", lambda old: "3")
_number("DepthToSpace", "block_size", "no-divisor", lambda old: "3")
_number("SpaceToDepth", "block_size", "no-divisor", lambda old: "3")
_number("LSTMSequence", "hidden_size", "other", lambda old: str(int(old) + 1))
_number("GRUSequence", "hidden_size", "other", lambda old: str(int(old) + 1))
_number("GRUCell", "hidden_size", "other", lambda old: str(int(old) + 1))
_number("LSTMCell", "hidden_size", "other", lambda old: str(int(old) + 1))
_number("RNNCell", "hidden_size", "other", lambda old: str(int(old) + 1))
_number("GroupConvolution", "dilations", "10-to-9", lambda old: str(10**9))
_number("Convolution", "pads_begin", "10-to-9", lambda old: str(10**9))
_number("ConvolutionBackpropData", "strides", "10-to-9", lambda old: str(10**9))
_number("ConvolutionBackpropData", "output_padding", "10-to-9", lambda old: str(10**9))
_number("GatherND", "batch_dims", "too-large", lambda old: "2")
_number("Gather", "batch_dims", "too-large", lambda old: "3")
_number("FakeQuantize", "levels", "1", lambda old: "1")
_number("FakeQuantize", "levels", "0", lambda old: "0")
_number("Clamp", "min", "above-max", lambda old: "100")
_number("Interpolate", "pads_begin", "10-to-9", lambda old: str(10**9))
