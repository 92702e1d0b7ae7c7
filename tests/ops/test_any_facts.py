"""Whatever is known or not known of inputs: checks and shape rules find fault or an answer, and never break."""

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest

from ir_tools.errors import ShapeError
from ir_tools.infer import SURPRISES
from ir_tools.ops import (
    FAMILIES,
    Bounds,
    Fact,
    Op,
    convolution,
    matrix,
    normalization,
    patches,
    quantization,
    reduction,
)
from ir_tools.ops.definition import UNBOUNDED
from ir_tools.ops.fields import Attrs
from ir_tools.types import ELEMENT_TYPES, Dim, element_type

VERBS = {"is", "are", "has", "holds", "names", "makes", "leaves", "reaches", "spans", "and", "changes", "begins"}
"""How a message begins after the name that it is about."""
CAREFUL = (convolution, patches, matrix, reduction, normalization, quantization)
OPS = [op for family in CAREFUL for op in family.OPS]
WORDS = (
    *("0", "1", "2", "-1", "1,1", "2,2", "0,0", "1,1,1", "3,3", "-1,2", "1000000000,1", "true", "false", "valid"),
    *("same_upper", "explicit", "ab,bc->ac", "...a,b->a", "->", "", "a,a->a", "1.5", "256", "1e9", "inf", "nan"),
    *("xnor-popcount", "f8e4m3", "zero", "numpy", "none", "pdpd", "add", "max", "inside_sqrt"),
)


def any_dim(rng: np.random.Generator) -> Dim:
    low = int(rng.choice([0, 1, 2, 3, 4, 8, 1000000]))
    return [Dim.of(low), Dim.of(low), Dim(), Dim(low), Dim(low, low + int(rng.integers(0, 5)))][rng.integers(5)]


def any_fact(rng: np.random.Generator) -> Fact:
    kinds = [*ELEMENT_TYPES] if rng.random() < 0.3 else ["f32", "i64", "dynamic", "boolean"]
    kind = element_type(str(rng.choice(kinds)))
    if rng.random() < 0.15:
        return Fact(kind, None)
    if rng.random() < 0.5:
        return Fact(kind, tuple(any_dim(rng) for _ in range(rng.integers(0, 6))))
    sizes = [(), (int(rng.integers(0, 5)),), (1, 2)][rng.integers(3)]
    lower = np.asarray(rng.integers(-5, 6, sizes))
    upper = (
        np.full(sizes, UNBOUNDED) if rng.random() < 0.1 else lower + rng.integers(0, 3, sizes) * (rng.random() < 0.4)
    )
    dtype = np.float32 if kind.is_float else np.int64
    return Fact(kind, tuple(map(Dim.of, sizes)), Bounds(lower.astype(dtype), np.asarray(upper).astype(dtype)))


def any_attributes(rng: np.random.Generator, op: Op) -> Attrs | None:
    """What some words give for the attributes; None where the layer then has no meaning."""
    raw = {}
    for name, field in op.attrs.items():
        for word in rng.permutation(WORDS)[: 0 if rng.random() < 0.15 else None]:
            try:
                field.parse(str(word))
            except ValueError:
                continue
            raw[field.xml or name] = str(word)
            break
    return op.read(raw, [])


@pytest.mark.parametrize("op", OPS, ids=str)
def test_nothing_breaks(op: Op) -> None:
    rng = np.random.default_rng(7)
    needed = sum(not slot.optional for slot in op.inputs)
    most = 3 if op.inputs[-1].many else len(op.inputs)
    assert op.shape is not None
    for _ in range(150):
        attrs = any_attributes(rng, op)
        if attrs is None:
            continue
        facts = [any_fact(rng) for _ in range(rng.integers(needed, most + 1))]
        faults = list(op.check(attrs, facts))
        try:
            out = op.shape(attrs, facts)
        except ShapeError:
            continue
        assert len(out) == len(op.outputs)
        assert all(fault.message for fault in faults)


def faults_of(op: Op, attrs: Attrs, facts: list[Fact]) -> Iterator[tuple[str | None, str]]:
    """The attribute and the text of all that is wrong with a layer; rules of some families break over nonsense."""
    with suppress(*SURPRISES):
        try:
            for fault in op.check(attrs, facts):
                yield fault.attribute, fault.text
            op.outputs_of(attrs, facts)
        except ShapeError as why:
            yield why.attribute, str(why)


@pytest.mark.parametrize("op", [op for family in FAMILIES for op in family.OPS], ids=str)
def test_what_is_wrong_names_its_attribute_as_data(op: Op) -> None:
    rng = np.random.default_rng(3)
    attributes = op.fields.keys()
    needed = sum(not slot.optional for slot in op.inputs)
    most = 3 if op.inputs and op.inputs[-1].many else len(op.inputs)
    for _ in range(60):
        attrs = any_attributes(rng, op)
        if attrs is None:
            continue
        for attribute, text in faults_of(op, attrs, [any_fact(rng) for _ in range(rng.integers(needed, most + 1))]):
            named = attributes | {slot.name for slot in op.inputs}
            assert attribute in named if attribute else text.split()[0] not in attributes | VERBS, text
