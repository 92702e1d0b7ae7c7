"""What is wrong with a layer's attributes, ports and element types, told once and with what was meant."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pytest

from ir_tools.errors import ShapeError
from ir_tools.ops import FAMILIES, Array, checks, find_op
from ir_tools.ops.checks import check_attributes, check_ports, check_settings, check_types, require_known_kinds
from ir_tools.ops.definition import Fact, Op, Violation, ViolationKind
from ir_tools.ops.fields import REQUIRED, Float, Floats
from ir_tools.types import closest, element_type, parse_shape
from tests.ops.layer_support import fact_of
from tests.ops.samples import sample_of
from tests.ops.single import Slot

POOL = {
    "kernel": "2,2",
    "strides": "2,2",
    "pads_begin": "0,0",
    "pads_end": "0,0",
    "exclude-pad": "true",
    "rounding_type": "floor",
    "auto_pad": "explicit",
}


def op_of(type_: str, version: str = "opset1") -> Op:
    op = find_op(type_, version)
    assert op
    return op


def faults(op: Op, raw: Mapping[str, str], slots: Iterable[Slot]) -> list[Violation]:
    attrs, found = check_attributes(op, raw)
    return found if attrs is None else [*found, *check_settings(op, raw, attrs, [*map(fact_of, slots)])]


def test_very_many_unknown_attributes_are_summed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(checks, "closest", lambda word, words: asked.append(word))
    _, found = check_attributes(op_of("AvgPool"), POOL | {f"more{number}": "1" for number in range(5000)})
    assert len(found) == len(asked) + 1 == 101
    assert (found[-1].kind, found[-1].attribute) == (ViolationKind.UNKNOWN, "more100")
    assert "the layer has 5000 unknown attributes" in found[-1].message


@pytest.mark.parametrize("op", [op for family in FAMILIES for op in family.OPS if sample_of(op)], ids=str)
def test_each_misspelling_is_reported_once(op: Op) -> None:
    """With the required attribute that it stands for, else with the word itself, also if its absence is reported."""
    base = sample_of(op)
    assert base is not None
    for name, spec in op.fields.items():
        required = spec.default is REQUIRED
        if required and name not in base.raw:
            continue
        raw = {key: text for key, text in base.raw.items() if key != name}
        raw[f"{name}z"] = base.raw.get(name) or spec.render(spec.default, ",")
        found = [one for one in check_attributes(op, raw)[1] if f"{name}z" in one.attribute + one.message]
        assert [one.attribute for one in found] == [name if required else f"{name}z"]


@pytest.mark.parametrize(
    ("eps", "found"), [("-1e-6", 1), ("0", 0), ("1e-6", 0), ("1e-60", 1), ("1", 0), ("1.5", 1), ("inf", 1), ("nan", 1)]
)
def test_an_epsilon_that_hides_the_data(eps: str, found: int) -> None:
    raw = {"eps": eps, "eps_mode": "inside_sqrt", "normalize_variance": "true"}
    found_kinds = [fault.kind for fault in faults(op_of("MVN", "opset6"), raw, [("f32", "1,2,3"), ("i64", "1")])]
    assert found_kinds == [ViolationKind.SUSPECT] * found


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e39"])
def test_no_attribute_takes_infinities_silently(text: str) -> None:
    """All operations at once: it takes no longer than one. Bounds may be infinite."""
    silent, asked = [], 0
    for op in (op for family in FAMILIES for op in family.OPS):
        sample = sample_of(op)
        for name, spec in op.attrs.items() if sample is not None else ():
            if sample is not None and isinstance(spec, Float | Floats) and not (spec.usual.infinite and text != "nan"):
                found = faults(op, {**sample.raw, name: text}, sample.slots)
                silent += [(str(op), name)] * (name not in {fault.attribute for fault in found})
                asked += 1
    assert asked > 50
    assert not silent


@pytest.mark.parametrize(
    ("type", "version", "name", "absurd", "sensible"),
    [
        ("Clamp", 1, "min", "1", "-inf"),
        ("DetectionOutput", 8, "confidence_threshold", "1.5", "-1"),
        ("DetectionOutput", 8, "nms_threshold", "-0.5", "1"),
        ("DetectionOutput", 8, "top_k", "0", "-1"),
        ("Elu", 1, "alpha", "-1", "0"),
        ("FakeQuantize", 1, "levels", "65537", "65536"),
        ("LSTMCell", 4, "clip", "-1", "0"),
        ("MatrixNms", 8, "gaussian_sigma", "0", "0.5"),
        ("MulticlassNms", 9, "score_threshold", "2", "0.5"),
        ("PriorBoxClustered", 1, "width", "-4,8", "4,8"),
        ("LRN", 1, "bias", "2147483647", "2"),
        ("ROIAlign", 9, "spatial_scale", "0", "0.0625"),
        ("ROIAlignRotated", 15, "spatial_scale", "1e30", "1"),
    ],
)
def test_numbers_that_make_no_sense_are_reported_once(
    type: str, version: int, name: str, absurd: str, sensible: str
) -> None:
    op = op_of(type, f"opset{version}")
    sample = sample_of(op)
    assert sample is not None
    for text, count in ((absurd, 1), (sensible, 0)):
        found = faults(op, dict(sample.raw) | {name: text}, sample.slots)
        assert [fault.kind for fault in found if fault.attribute == name] == [ViolationKind.SUSPECT] * count


@pytest.mark.parametrize(("type", "version"), [("PriorBox", 1), ("PriorBox", 8), ("PriorBoxClustered", 1)])
def test_positions_without_end_are_fatal_even_without_boxes(type: str, version: int) -> None:
    """The runtime goes through all of them; it takes 19 s for 2^32."""
    sizes = [np.array([1 << 20, 1 << 20]), np.array([32, 32])]
    (found,) = faults(op_of(type, f"opset{version}"), {"offset": "0.5"}, sizes)
    assert (found.attribute, found.kind) == ("output_size", ViolationKind.FATAL)


def test_misspelled_steps_of_one_are_the_assumed_ones() -> None:
    raw = {"Strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0", "dilations": "1,1"}
    op = op_of("Convolution")
    assert [fault.kind for fault in check_attributes(op, raw)[1]] == [ViolationKind.ASSUMED]
    assert [fault.kind for fault in check_attributes(op, raw | {"Strides": "2,2"})[1]] == [ViolationKind.MISSING]


def test_nothing_is_wrong_with_a_whole_layer() -> None:
    attrs, found = check_attributes(op_of("AvgPool"), POOL)
    assert attrs is not None
    assert not found


@pytest.mark.parametrize(
    ("changes", "kind", "attribute", "words"),
    [
        ({"kernel": None}, ViolationKind.MISSING, "kernel", "is missing"),
        ({"kernel": None, "Kernel": "2,2"}, ViolationKind.MISSING, "kernel", "ignores the spelling 'Kernel'"),
        ({"strides": None, "stride": "2,2"}, ViolationKind.MISSING, "strides", "ignores the spelling 'stride'"),
        ({"exclude-pad": None}, ViolationKind.ASSUMED, "exclude-pad", "the runtime assumes 'true'"),
        (
            {"exclude-pad": None, "exclude_pad": "true"},
            ViolationKind.ASSUMED,
            "exclude-pad",
            "ignores the spelling 'exclude_pad'",
        ),
        (
            {"exclude-pad": None, "exclude_pad": "false"},
            ViolationKind.MISSING,
            "exclude-pad",
            "ignores the spelling 'exclude_pad'",
        ),
        ({"pads_end": None, "padds_end": "0,0"}, ViolationKind.ASSUMED, "pads_end", "ignores the spelling 'padds_end'"),
        ({"pads_end": None, "padds_end": "0,1"}, ViolationKind.MISSING, "pads_end", "ignores the spelling 'padds_end'"),
        ({"pads_end": None, "auto_pad": "same_upper"}, ViolationKind.ASSUMED, "pads_end", "is missing"),
        ({"auto_pad": None, "auto-pad": "valid"}, ViolationKind.UNKNOWN, "auto-pad", "did you mean auto_pad?"),
        ({"colour": "red"}, ViolationKind.UNKNOWN, "colour", "is not an attribute of AvgPool-1"),
        ({"strides": "2.5,2"}, ViolationKind.UNREADABLE, "strides", "'2.5'"),
        ({"strides": "2abc,2"}, ViolationKind.UNREADABLE, "strides", "'2abc'"),
        ({"strides": "2 2"}, ViolationKind.UNREADABLE, "strides", "'2 2'"),
        ({"strides": "99999999999999999999,2"}, ViolationKind.RANGE, "strides", "64 bits"),
        ({"rounding_type": "flor"}, ViolationKind.UNREADABLE, "rounding_type", "'flor'"),
        ({"exclude-pad": "no"}, ViolationKind.UNREADABLE, "exclude-pad", "reads as true"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_attributes(changes: dict[str, str | None], kind: ViolationKind, attribute: str, words: str) -> None:
    raw = {name: text for name, text in {**POOL, **changes}.items() if text is not None}
    _, (found,) = check_attributes(op_of("AvgPool"), raw)
    assert (found.kind, found.attribute) == (kind, attribute)
    assert words in found.message


@pytest.mark.parametrize("text", ["2, 2", " 2,2 ", "2,2,", "-0,2"])
def test_what_the_runtime_reads_is_read(text: str) -> None:
    attrs, found = check_attributes(op_of("AvgPool"), {**POOL, "strides": text})
    assert attrs is not None
    assert not found


@pytest.mark.parametrize(
    ("type_", "inputs", "outputs", "kinds"),
    [
        ("Add", 2, 1, []),
        ("Add", 1, 1, [ViolationKind.INPUTS]),
        ("Add", 3, 1, [ViolationKind.INPUTS]),
        ("Add", 2, 2, [ViolationKind.OUTPUTS]),
        ("Concat", 5, 1, []),
        ("Concat", 0, 1, [ViolationKind.INPUTS]),
        ("Result", 1, 0, []),
        ("Result", 1, 1, [ViolationKind.OUTPUTS]),
        ("Split", 2, 7, []),
    ],
)
def test_ports(type_: str, inputs: int, outputs: int, kinds: list[ViolationKind]) -> None:
    assert [found.kind for found in check_ports(op_of(type_), inputs, outputs)] == kinds


@pytest.mark.parametrize(
    ("type_", "types", "offending"),
    [
        ("Add", "f32 f32", []),
        ("Add", "f32 i32", [1]),
        ("Add", "dynamic i32", []),
        ("LogicalAnd", "boolean f32", [1]),
        ("Concat", "u8 u8 i8 u8", [2]),
        ("ShapeOf", "string", []),
    ],
)
def test_types(type_: str, types: str, offending: list[int]) -> None:
    facts = [Fact(element_type(name), parse_shape("1,2")) for name in types.split()]
    assert [found.input for found in check_types(op_of(type_), facts)] == offending


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("exclude_pad", "exclude-pad"),
        ("Strides", "strides"),
        ("stride", "strides"),
        ("kernl", "kernel"),
        ("colour", None),
        ("pads_begn", "pads_begin"),
    ],
)
def test_misspellings(word: str, meant: str | None) -> None:
    assert closest(word, POOL) == meant


def refused_input(op: Op, arrays: Sequence[Array]) -> str | None:
    try:
        require_known_kinds(op, arrays)
    except ShapeError as why:
        return why.attribute
    return None


def test_kinds_that_were_taken_before_decide_about_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each input alone, of kinds that few operations take."""
    known = set[tuple[str | int, ...]]()
    monkeypatch.setattr(checks, "_KNOWN_KINDS", known)
    count = 0
    for op in (op for family in FAMILIES for op in family.OPS):
        base = sample_of(op)
        facts = [] if base is None else [*map(fact_of, base.slots)]
        usual: list[Array] = [np.zeros(1, fact.dtype.held_dtype or np.object_) for fact in facts]
        for place in range(len(usual)):
            for kind in (np.bool_, np.float32, np.object_):
                arrays = [*usual[:place], np.zeros(1, kind), *usual[place + 1 :]]
                known.clear()
                alone = refused_input(op, arrays)
                known.clear()
                require_known_kinds(op, usual)
                assert refused_input(op, arrays) == alone, (str(op), place, kind)
                count += alone is not None
    assert count > 100
