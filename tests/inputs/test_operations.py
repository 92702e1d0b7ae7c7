"""Values for every operation on its own: the runtime runs whatever is made up for its inputs."""

import numpy as np
import pytest

import ir_tools
from ir_tools.inputs import plan_inputs
from ir_tools.inputs._consumers import CONSUMERS
from ir_tools.known_differences import TABLE, DifferenceKind
from ir_tools.ops import FAMILIES, Array, Op, Role
from ir_tools.ops.definition import Oracle
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import from_dtype
from tests.ops.samples import sample, sample_of
from tests.ops.single import Slot, single_text
from tests.outcomes import works

ENDS = {Role.PARAMETER, Role.CONSTANT, Role.RESULT}
OPS = [op for family in FAMILIES for op in family.OPS if op.role not in ENDS]


def runs(client: RuntimeClient, op: Op, model: tuple[bytes, bytes], fed: dict[str, Array]) -> bool:
    return works(client.infer, *model, fed, keep=str(op) not in ENDED_BY_A_SECOND_INFERENCE)


def as_parameter(slot: Slot) -> Slot:
    return (from_dtype(slot.dtype).name, ",".join(map(str, slot.shape))) if isinstance(slot, np.ndarray) else slot


NOT_RUN = {
    *("RGBtoNV12-17", "BGRtoNV12-17", "AdaptiveMaxPool-8"),  # not by this release
    *("ReadValue-3", "ReadValue-6"),  # not without a variable
    *("HardSigmoid-1", "Selu-1"),  # not with computed parameters
    "BinaryConvolution-1",  # not with computed filters
}
ENDED_BY_A_SECOND_INFERENCE = {"PriorBox-1", "PriorBox-8"}
"""Without boxes, as those of the samples, 2026.4.1 ends its process."""
DEADLY = {name for row in TABLE if row.kind is DifferenceKind.DIES for name in row.ops}


@pytest.mark.parametrize("op", [op for op in OPS if sample_of(op)], ids=str)
def test_the_runtime_runs_what_is_made_up(client: RuntimeClient, op: Op) -> None:
    sample = sample_of(op)
    assert sample is not None
    model = single_text(op.type, op.version, sample.raw, sample.slots, len(op.outputs))
    made = plan_inputs(ir_tools.read(*model)).arrays()
    expected = op.oracle is Oracle.RUNTIME and str(op) not in NOT_RUN
    assert runs(client, op, model, made) == expected


@pytest.mark.parametrize("op", [op for op in OPS if str(op) not in DEADLY], ids=str)
def test_the_runtime_runs_what_is_made_up_for_constants(client: RuntimeClient, op: Op) -> None:
    """What a constant of the sample says is made up in its place."""
    given = sample_of(op) or sample("")
    for number, constant in enumerate(given.slots):
        if not isinstance(constant, np.ndarray):
            continue
        slots = [as_parameter(slot) if index == number else slot for index, slot in enumerate(given.slots)]
        model = single_text(op.type, op.version, given.raw, slots, len(op.outputs))
        plan = plan_inputs(ir_tools.read(*model))
        made = plan.arrays()
        if runs(client, op, model, {**made, f"in{number}": constant}):
            assert runs(client, op, model, made), f"{plan.inputs}"


def test_the_table_names_inputs_of_operations() -> None:
    known = {(op.type, slot.name) for op in OPS for slot in op.inputs}
    assert set(CONSUMERS) <= known


ANY = {"BitwiseLeftShift": "a", "BitwiseRightShift": "a", "Bincount": "data", "StringTensorUnpack": "data"}
"""Inputs of integers or texts that may hold anything."""


def test_the_table_has_every_input_of_integers() -> None:
    numbers = {"float", "any", "boolean", "f16", "bf16", "f32", "f64"}
    slots = {(op.type, slot.name): set(op.types.get(slot.type, slot.type).split()) for op in OPS for slot in op.inputs}
    integers = {key for key, words in slots.items() if words and not words & numbers}
    indices = {(op.type, slot.name) for op in OPS for slot in op.inputs if slot.indexes}
    assert not indices & set(CONSUMERS)
    assert integers - indices - set(CONSUMERS) == set(ANY.items())
