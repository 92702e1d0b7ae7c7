"""Every attribute has a meaning: the shape rule or the kernel reads it, or the table says why neither does."""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import pytest

from ir_tools.errors import IrToolsError, ShapeError
from ir_tools.ops import FAMILIES, Array, Op, Role
from ir_tools.ops.definition import PARTS
from ir_tools.ops.fields import Field, Flag, Int, Label, ObservedAttrs, OneOf
from ir_tools.types import ELEMENT_TYPES
from tests.ops import table_makers
from tests.ops.layer_support import fact_of
from tests.ops.recorded import right_outputs
from tests.ops.single import Slot

OPS = [op for family in FAMILIES for op in family.OPS if op.attrs]
BY_NAME = {str(op): op for op in OPS}
COMPUTED = [op for op in OPS if op.kernel or op.role in {Role.PARAMETER, Role.CONSTANT}]
"""Without a kernel, only the runtime knows what an attribute does."""
RANDOM = 25
"""How many random layers of each operation are looked at."""
Case = tuple[Mapping[str, str], Sequence[Array]]


def words(field: Field) -> Sequence[str]:
    if isinstance(field, Flag):
        return ("true", "false")
    return field.words if isinstance(field, OneOf) else ()


def array_of(slot: Slot, rng: np.random.Generator) -> Array:
    assert not isinstance(slot, tuple) or len(slot) == 2
    if not isinstance(slot, tuple):
        assert isinstance(slot, np.ndarray)
        return slot
    kind, shape = ELEMENT_TYPES[slot[0]], [int(size) for size in slot[1].split(",") if size]
    if kind.is_float:
        return rng.random(shape).astype(kind.dtype)
    return rng.integers(0, 2, shape).astype(kind.dtype)


def samples(op: Op) -> Iterator[Case]:
    """The samples of an operation, with every word of every attribute, and random layers."""
    rng = np.random.default_rng(0)
    for given in table_makers.samples(op):
        raws = [given.raw]
        raws += [{**given.raw, field.xml or name: word} for name, field in op.attrs.items() for word in words(field)]
        for raw in raws:
            yield raw, [array_of(slot, rng) for slot in given.slots]
    if op in table_makers.OPS and op.kernel:
        layers = table_makers.layers(op, RANDOM, seed=3)
        yield from ((layer.raw, layer.arrays) for layer in layers if right_outputs(layer) is not None)


def arguments(part: str, inputs: Sequence[Array]) -> Iterator[tuple[Any, ...]]:
    """What a part takes behind the attributes."""
    facts = [fact_of(array) for array in inputs]
    if part in {"migrate", "substitute"}:
        yield from ((facts, target) for target in range(1, 17, 3))
    elif part in {"check", "shape"}:
        yield (facts,)
    elif part == "ill_conditioned":
        yield inputs, 1e-5
    else:
        yield (inputs,)


@cache
def reads(op: Op) -> Mapping[str, set[str]]:
    """The attributes that each part of an operation reads, of layers that are valid."""
    found = defaultdict[str, set[str]](set)
    for raw, inputs in samples(op):
        attrs = op.read(raw, [])
        try:
            assert attrs is not None
            with np.errstate(all="ignore"):
                op.outputs_of(attrs, [fact_of(array) for array in inputs])
        except (AssertionError, ShapeError):
            continue
        for part in (part for part in PARTS if getattr(op, part)):
            for given in arguments(part, inputs):
                observed = ObservedAttrs(attrs)
                with suppress(IrToolsError, ValueError, IndexError, KeyError), np.errstate(all="ignore"):
                    result = getattr(op, part)(observed, *given)
                    deque(result if isinstance(result, Iterator) else (), maxlen=0)
                    found[part] |= observed.names_read
    return found


def has_one_value(field: Field) -> bool:
    least, most = getattr(field, "minimum", None), getattr(field, "maximum", None)
    return len(getattr(field, "words", ())) == 1 or (least is not None and least == most)


def labels(op: Op) -> set[str]:
    return {name for name, field in op.attrs.items() if isinstance(field, Label)}


@pytest.mark.parametrize("op", COMPUTED, ids=str)
def test_every_attribute_is_read_or_has_a_reason(op: Op) -> None:
    found = reads(op)
    unread = set(op.attrs) - found.get("shape", set()) - found.get("kernel", set())
    assert {name for name in unread if not has_one_value(op.attrs[name])} == set(op.unread)


@pytest.mark.parametrize("op", [op for op in COMPUTED if labels(op)], ids=str)
def test_nothing_but_rewrites_reads_a_label(op: Op) -> None:
    """Layers that differ in nothing but labels are looked at once."""
    found = reads(op)
    assert all(labels(op).isdisjoint(found[part]) for part in found.keys() - {"migrate", "substitute"})
    assert labels(op) <= set(op.unread)


@pytest.mark.parametrize("op", [op for op in OPS if op.readers], ids=str)
def test_inherited_parts_read_what_is_claimed(op: Op) -> None:
    read = reads(op)
    found = {name: {part for part in PARTS if name in read.get(part, ())} for name in op.readers}
    assert {name: set(parts.split()) for name, parts in op.readers.items()} == found


def test_a_later_version_says_who_reads_what_it_adds() -> None:
    op = BY_NAME["AvgPool-16"]
    with pytest.raises(TypeError, match=r"adds made_up: list in `readers` .*\(check, shape, kernel"):
        op.at(17, attrs={"made_up": Int(default=0)})


def test_a_claim_that_is_not_true_is_noticed() -> None:
    op = BY_NAME["AvgPool-16"].at(17, attrs={"made_up": Int(default=0)}, readers={"made_up": "kernel"})
    with pytest.raises(AssertionError):
        test_inherited_parts_read_what_is_claimed(op)
    with pytest.raises(AssertionError):
        test_every_attribute_is_read_or_has_a_reason(op)
