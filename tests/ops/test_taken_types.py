"""Element types: what the runtime runs is not refused. Detection, regions, suppression, sorting, recurrence, images."""

from dataclasses import replace

import numpy as np
import pytest

from ir_tools.ops import Op, detection, image, recurrent, roi, sorting, suppression
from ir_tools.ops.checks import check_types
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import element_type
from tests.ops.around import Case, runs
from tests.ops.layer_support import fact_of
from tests.ops.samples import sample_of
from tests.ops.single import Between, Slot

FAMILIES = (detection.OPS, image.OPS, recurrent.OPS, roi.OPS, sorting.OPS, suppression.OPS)
WEIGHTS = frozenset({"W", "R", "B", "P"})
"""Inputs of recurrent operations that are constants, as they are in networks: computed ones have more types."""


def case_of(op: Op) -> Case:
    """The sample of an operation, with weights that are constants."""
    sample = sample_of(op)
    assert sample is not None
    slots = zip(op.inputs, sample.slots, strict=False)
    return Case(op, sample.raw, [_zeros(slot) if given.name in WEIGHTS else slot for given, slot in slots])


def _zeros(slot: Slot) -> Slot:
    assert isinstance(slot, tuple)
    return np.zeros([int(size) for size in slot[1].split(",")], np.float32)


CASES = {str(op): case_of(op) for family in FAMILIES for op in family}
TYPES = ("f32", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "boolean")


def typed(slot: Slot, kind: str) -> Slot:
    """The input with another element type."""
    assert not isinstance(slot, Between)
    if isinstance(slot, tuple):
        return kind, slot[1]
    converted: np.ndarray = slot.astype(element_type(kind).dtype)
    return converted


def compare_types(client: RuntimeClient, case: Case, kinds: tuple[str, ...]) -> None:
    """Each input alone, and all that are floats together, in each type."""
    floats = [number for number, slot in enumerate(case.slots) if fact_of(slot).dtype.name == "f32"]
    for places in ([number] for number in range(len(case.slots))):
        _check_places(client, case, places, kinds)
    _check_places(client, case, floats, kinds)


def _check_places(client: RuntimeClient, case: Case, places: list[int], kinds: tuple[str, ...]) -> None:
    for kind in kinds:
        slots = [typed(slot, kind) if number in places else slot for number, slot in enumerate(case.slots)]
        faults = list(check_types(case.op, [fact_of(slot) for slot in slots]))
        if faults:
            assert not runs(client, replace(case, slots=slots)), (str(case), places, kind)


@pytest.mark.parametrize("name", ["DetectionOutput-8", "NonMaxSuppression-9", "TopK-3", "LSTMCell-4", "Interpolate-4"])
def test_what_runs_is_taken(name: str, client: RuntimeClient) -> None:
    compare_types(client, CASES[name], ("f16", "i32", "boolean"))


@pytest.mark.sweep
@pytest.mark.parametrize("name", CASES)
def test_what_runs_is_taken_everywhere(name: str, client: RuntimeClient) -> None:
    compare_types(client, CASES[name], TYPES)
