"""Every operation on every element type: a result of the type that the shape rule gives, or an error in words.

What the runtime does not read is refused.
"""

from collections.abc import Mapping

import numpy as np
import pytest

from ir_tools import execute, read
from ir_tools.errors import IrToolsError, ShapeError
from ir_tools.graph import Model
from ir_tools.infer import propagate_shapes
from ir_tools.ops import COMPLETE_OPSETS, FAMILIES, Array, Op
from ir_tools.ops.checks import check_types
from ir_tools.ops.definition import Oracle
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import ELEMENT_TYPES, parse_shape
from tests.ops.layer_support import REJECTED, Setting, fact_of, faults_of, found_rows, wanted_rows
from tests.ops.samples import Sample, sample_of
from tests.ops.single import Slot, single_text
from tests.ops.test_table import in_group

OPS = [op for family in FAMILIES for op in family.OPS if sample_of(op) and op.kernel and op.type != "Result"]
KINDS = [kind for kind in ELEMENT_TYPES.values() if kind.kind != "dynamic"]
SOME = ("boolean", "string", "u4", "i4", "nf4", "f8e4m3", "u16", "f64")


def of_kind(slot: Slot, kind: str) -> Slot:
    """An input of a sample with another element type; constants become inputs, since some types have none."""
    if isinstance(slot, np.ndarray):
        return kind, ",".join(map(str, slot.shape))
    assert isinstance(slot, tuple)
    return kind, slot[1]


def fed(slot: Slot, was: Slot) -> Array:
    """What an input is fed: the values of the constant that it was, or ones."""
    assert isinstance(slot, tuple)
    kind = ELEMENT_TYPES[slot[0]]
    sizes = [dim.size for dim in parse_shape(slot[1]) or ()]
    values = was if isinstance(was, np.ndarray) else np.ones(sizes)
    if kind.kind == "string":
        return np.full(sizes, "text", dtype=object)
    return np.asarray(values).astype(kind.held_dtype)


def problem(op: Op, sample: Sample, indices: list[int], kind: str) -> str | None:
    """What is wrong with how the executor takes a layer whose inputs `indices` have another element type."""
    slots = [of_kind(slot, kind) if index in indices else slot for index, slot in enumerate(sample.slots)]
    text, weights = single_text(op.type, op.version, sample.raw, slots, outputs=sum(not out.many for out in op.outputs))
    model = read(text)
    model.weights = type(model.weights).from_bytes(weights)
    arrays = [fed(slot, was) for slot, was in zip(slots, sample.slots, strict=True) if isinstance(slot, tuple)]
    names = [endpoint.name for endpoint in model.inputs]
    try:
        found = execute.run(model, dict(zip(names, arrays, strict=True)))
    except IrToolsError as why:
        return f"{kind}: {why}" if "contradict each other" in str(why) else None
    return wrong_types(found, types_by_rule(model, len(found)), kind)


def types_by_rule(model: Model, count: int) -> list[str] | None:
    try:
        facts = propagate_shapes(model).facts
    except ShapeError:
        return None
    layer = next(layer for layer in model.graph.layers() if layer.name == "op")
    return [str(facts["op", port.id].dtype) for port in layer.outputs][:count]


def wrong_types(found: Mapping[str, Array], wanted: list[str] | None, kind: str) -> str | None:
    if wanted is None:
        return None  # kernels compute more than the runtime takes
    held = [ELEMENT_TYPES[name].held_dtype or np.dtype(object) for name in wanted]
    given = [array.dtype for array in found.values()]
    return None if held == given else f"{kind}: gives {given}, the rule {wanted}"


def problems(op: Op, kinds: list[str]) -> list[str]:
    sample = sample_of(op)
    assert sample is not None
    groups = in_group(op, sample)
    left = set(range(len(sample.slots))) - {index for group in groups.values() for index in group}
    found = []
    for indices in (*groups.values(), *([index] for index in sorted(left))):
        found += [f"{indices} {text}" for kind in kinds if (text := problem(op, sample, indices, kind))]
    return found


@pytest.mark.parametrize("op", OPS, ids=str)
def test_result_or_error(op: Op) -> None:
    assert problems(op, [*SOME]) == []


@pytest.mark.sweep
@pytest.mark.parametrize("op", OPS, ids=str)
def test_result_or_error_of_all_types(op: Op) -> None:
    assert problems(op, [kind.name for kind in KINDS]) == []


def unread(client: RuntimeClient, op: Op, kind: str) -> list[int]:
    """The inputs that the runtime refuses to read in an element type, and no check does."""
    sample = sample_of(op)
    assert sample is not None
    found = []
    for index, slot in enumerate(sample.slots):
        slots = [of_kind(slot, kind) if number == index else one for number, one in enumerate(sample.slots)]
        setting = Setting(op, slots, sample.raw, sum(not out.many for out in op.outputs))
        refused = found_rows(setting) == REJECTED or faults_of(op, sample.raw, slots)
        if not refused and not [*check_types(op, [*map(fact_of, slots)])]:
            found += [index] if wanted_rows(client, setting) == REJECTED else []
    return found


@pytest.mark.parametrize("kind", ["boolean", "f64", "f32", "i32", "string"])
def test_types_that_the_runtime_does_not_read_are_refused(kind: str, client: RuntimeClient) -> None:
    ops = [op for op in OPS if op.version <= COMPLETE_OPSETS and not any(out.many for out in op.outputs)]
    asked = [op for op in ops if op.oracle is not Oracle.SPECIFICATION]
    assert {str(op): found for op in asked if (found := unread(client, op, kind))} == {}
