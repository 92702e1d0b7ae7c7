"""Attributes in files: what the runtime writes is read here, and what is written here is read by the runtime."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import openvino as ov
import pytest

from ir_tools.ops import Op
from ir_tools.ops.checks import check_attributes
from ir_tools.ops.definition import Violation
from ir_tools.ops.fields import (
    ExactWord,
    Field,
    Flag,
    Float,
    Floats,
    IndexType,
    Int,
    Ints,
    OneOf,
    ShapeText,
    Text,
    Type,
    Words,
)
from tests.ops.samples import Sample, sample_of
from tests.ops.single import several, single
from tests.ops.test_table import OLDER, RELEASED, key_of

SAMPLED = [op for op in RELEASED if sample_of(op)]
TEXTS: Mapping[type[Field], tuple[str, ...]] = {
    Flag: ("true", "FALSE", "1"),
    IndexType: ("i32", "I64"),
    Type: ("f16", "I64", "u4", "nf4", "f8e4m3", "boolean"),
    Int: ("0", "1", "2", "7", "-1"),
    Float: ("0.25", "1e-5", "3", "-1.5"),
    Ints: ("1", "2", "0,1", "1, 1", "2, 2", "1,2,3"),
    Floats: ("0.5", "0.25, 1e-5", "1,2,3,4"),
    Words: ("relu", "Sigmoid, TANH", "tanh,sigmoid,relu", "de,ef->df"),
    ShapeText: ("2,3", "?,3", "1..4,3", "..."),
    Text: ("a", "b c"),
}
"""Texts of attributes in the spellings that files have; the tests leave out those that a layer cannot have."""

REWRITTEN: Mapping[str, str] = {
    "Broadcast-1 mode": "with two inputs the runtime writes numpy, with three none",
    "Interpolate-4 pads_begin": "the runtime writes as many values as there are axes",
    "Interpolate-4 pads_end": "the runtime writes as many values as there are axes",
    "Interpolate-11 pads_begin": "the runtime writes as many values as there are axes",
    "Interpolate-11 pads_end": "the runtime writes as many values as there are axes",
    "MaxPool-8 axis": "the runtime counts it from the front",
    "MaxPool-14 axis": "the runtime counts it from the front",
    "MVN-1 reduction_axes": "the runtime writes each axis once",
    "OneHot-1 axis": "the runtime counts it from the front",
    "OneHot-16 axis": "the runtime counts it from the front",
    "ROIPooling-1 output_size": "the runtime writes pooled_h and pooled_w under this name too",
    "ROIPooling-1 output_roi": "the runtime writes pooled_h and pooled_w under this name too",
}
"""Attributes that the runtime writes with other values than it has read."""

FATAL: Mapping[str, str] = {
    "Interpolate-1 axes": "of lists of another length the runtime reads memory that is not its own"
}
"""Attributes of which other values end the process."""


def texts_of(spec: Field) -> Iterator[str]:
    if isinstance(spec, OneOf) and not isinstance(spec, IndexType):
        yield from (*spec.words, *spec.synonyms)
        if not isinstance(spec, ExactWord):
            yield spec.words[-1].upper()
        return
    kind = next(kind for kind in type(spec).__mro__ if kind in TEXTS)
    yield from TEXTS[kind]


def variants(op: Op, key: str, spec: Field) -> Iterator[Sample]:
    """Yield the sample with other values of one attribute, as far as the runtime reads and the table allows them."""
    sample = sample_of(op)
    assert sample is not None
    extra = {"auto_broadcast": "pdpd"} if key.startswith("auto_broadcast.") else {}
    extra |= {"mode": "pdpd"} if key.startswith("mode.") else {}
    for text in texts_of(spec):
        raw = {**sample.raw, **extra, key: text}
        if op.read(raw, []) is None or f"{op} {key}" in FATAL:
            continue
        with suppress(RuntimeError):
            single(op.type, opset_of(op), raw, sample.slots)
            yield Sample(raw, sample.slots)


def opset_of(op: Op) -> int:
    """The opset that an operation is read from."""
    return 2 if str(op) in OLDER else op.version


def written(model: ov.Model, folder: Path) -> list[dict[str, str]]:
    """The attributes that the runtime writes for each of the layers of a model of `many`."""
    ov.serialize(model, folder / "m.xml", folder / "m.bin")
    layers = {layer.get("name"): layer.find("data") for layer in ElementTree.parse(folder / "m.xml").iter("layer")}
    found = (layers[f"{number}/op"] for number in range(len(model.get_results())))
    return [{} if data is None else dict(data.attrib) for data in found]


def attributes(model: ov.Model) -> list[dict[str, Any]]:
    """The attributes that the runtime says each of the layers of a model of `many` has."""
    nodes = {node.get_friendly_name(): node for node in model.get_ops()}
    return [dict(nodes[f"{number}/op"].get_attributes()) for number in range(len(model.get_results()))]


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal; floats as f32, which is what the runtime holds many of them in."""
    values = np.asarray(one)
    return (
        np.array_equal(values.astype(np.float32), np.asarray(other, np.float32))
        if values.dtype.kind == "f"
        else bool(one == other)
    )


@pytest.mark.parametrize("op", [op for op in SAMPLED if op.attrs], ids=str)
def test_both_ways(op: Op, tmp_path: Path) -> None:
    """Attributes that the runtime writes are known, and have the values that they were given; and the other way round.

    The runtime reads a value as it is rendered here just as it reads the text that the value was read from.
    """
    tried = [
        (name, sample)
        for name, spec in op.attrs.items()
        for sample in islice(variants(op, key_of(name, spec), spec), None if isinstance(spec, OneOf) else 2)
    ]
    at_once = 1 if "variable_id" in op.attrs else 100
    for start in range(0, len(tried), at_once):
        check_both_ways(op, tried[start : start + at_once], tmp_path)


def check_both_ways(op: Op, tried: Sequence[tuple[str, Sample]], folder: Path) -> None:
    """Check the attribute that each of some samples is about; the samples are read as one model."""
    rendered = []
    for name, sample in tried:
        attrs, spec = op.read(sample.raw, []), op.attrs[name]
        assert attrs is not None
        rendered.append({**sample.raw, key_of(name, spec): spec.render(attrs[name], ", ")})
    slots = [sample.slots for _, sample in tried]
    given, again = (
        several([(op.type, opset_of(op), *each) for each in zip(raws, slots, strict=True)])
        for raws in ([sample.raw for _, sample in tried], rendered)
    )
    for (name, sample), raw in zip(tried, written(given, folder), strict=True):
        key = key_of(name, op.attrs[name])
        wanted, (found, faults) = op.read(sample.raw, []), check_attributes(op, raw)
        assert wanted is not None
        assert found is not None
        assert [fault for fault in faults if fault.attribute not in sample.raw] == []
        assert same(wanted[name], found[name]) or f"{op} {key}" in REWRITTEN, (key, sample.raw[key])
    for raw, before, after in zip(rendered, attributes(given), attributes(again), strict=True):
        assert after == before, raw


@pytest.mark.parametrize(
    "op", [op for op in SAMPLED if any(isinstance(spec, Flag) for spec in op.attrs.values())], ids=str
)
@pytest.mark.parametrize("text", ["yes", "2", ""])
def test_flags_that_are_neither_true_nor_false(op: Op, text: str) -> None:
    """A flag with another text is for the runtime what it is for the rules and kernels.

    Without `normalized` the sample of DetectionOutput does not fit.
    """
    sample = sample_of(op)
    assert sample is not None
    for name, spec in op.attrs.items():
        if isinstance(spec, Flag) and not (op.type == "DetectionOutput" and name == "normalized"):
            key = key_of(name, spec)
            model = several([(op.type, opset_of(op), {**sample.raw, key: text}, sample.slots)])
            node = next(node for node in model.get_ops() if node.get_friendly_name() == "0/op")
            assert node.get_attributes()[key] == spec.parse(text), key


def test_most_attributes_vary() -> None:
    """The test above sees several values of nearly every attribute, as a part of them shows."""
    keys = [(op, key_of(name, spec), spec) for op in SAMPLED for name, spec in op.attrs.items()][::7]
    vary = [len({sample.raw[key].lower() for sample in variants(op, key, spec)}) > 1 for op, key, spec in keys]
    assert sum(vary) > 0.9 * len(vary)


LISTS = [
    pytest.param(op, name, id=f"{op}-{name}")
    for op in SAMPLED
    for name, spec in op.attrs.items()
    if isinstance(spec, Ints | Floats) and spec.blank
]


@pytest.mark.parametrize(("op", "name"), LISTS)
def test_a_blank_list_is_refused(op: Op, name: str) -> None:
    """An empty list is none; a blank one is no list, for the runtime too."""
    sample = sample_of(op)
    assert sample is not None
    key = key_of(name, op.attrs[name])
    raw = {**sample.raw, key: " "}
    with pytest.raises(RuntimeError):
        single(op.type, op.version, raw, sample.slots)
    violations: list[Violation] = []
    assert op.read(raw, violations) is None
    assert violations[-1].attribute == key
    assert "is blank" in violations[-1].message


SPELLED: Mapping[str, tuple[str, ...]] = {
    "Elu-1 alpha": (
        "inf",
        "-inf",
        "nan",
        "+inf",
        "INF",
        "Inf",
        "NaN",
        "-nan",
        "infinity",
        "1e39",
        "1e309",
        "+1",
        "+.5",
    ),
    "PriorBox-1 min_size": ("inf", "nan", "+inf", "Inf", "NaN", "1e38", "1e39", "+1", "+.5"),
    "SoftMax-8 axis": ("1", " 1", "+1", "-1", "01", "--1"),
    "Proposal-4 base_size": ("1", " 1", "+1", "01", "--1"),
}
"""Texts of numbers that may be read or not."""


@pytest.mark.parametrize(("attribute", "text"), [(key, text) for key, texts in SPELLED.items() for text in texts])
def test_the_same_spellings_are_numbers(attribute: str, text: str) -> None:
    """A text is a number here if it is one for the runtime."""
    name, key = attribute.split()
    op = next(op for op in SAMPLED if str(op) == name)
    sample = sample_of(op)
    assert sample is not None
    raw = {**sample.raw, key: text}
    read = op.read(raw, []) is not None
    with nullcontext() if read else pytest.raises(RuntimeError):
        single(op.type, op.version, raw, sample.slots)
