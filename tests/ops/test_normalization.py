"""Normalisations against the installed runtime: faults and values."""

import numpy as np
import pytest

from ir_tools.ops import normalization
from tests.ops.layer_support import faults_of
from tests.ops.math_support import (
    Case,
    runtime_shapes,
    shape_difference,
)
from tests.ops.single import Slot

BY_NAME = {str(op): op for op in normalization.OPS}
WITH_AXES = {
    "MVN-6": {"eps": "0.1", "normalize_variance": "true", "eps_mode": "inside_sqrt"},
    "LRN-1": {"size": "3", "alpha": "1", "beta": "1", "bias": "1"},
    "NormalizeL2-1": {"eps": "1", "eps_mode": "add"},
}
ALONE = {"MVN-1": {"eps": "0.1"}, "GRN-1": {"bias": "1"}}


# --- faults and types -------------------------------------------------------------------------------------------

F32: Slot = ("f32", "1,4,8,8")
FOUR: Slot = ("f32", "4")
GROUPS = {"num_groups": "2", "epsilon": "0.1"}


@pytest.mark.parametrize(
    ("name", "raw", "slots", "message"),
    [
        (
            "BatchNormInference-5",
            {"epsilon": "0.1"},
            [F32, FOUR, FOUR, FOUR, ("f32", "5")],
            "of rank 1 and equal length",
        ),
        ("BatchNormInference-5", {"epsilon": "0.1"}, [F32, *[("f32", "3")] * 4], "3 values, but the data has 4"),
        ("BatchNormInference-5", {"epsilon": "-1"}, [F32, *[FOUR] * 4], "at least 0"),
        ("BatchNormInference-1", {"epsilon": "0.1"}, [F32, *[FOUR] * 4], "at least rank 2"),
        ("MVN-6", WITH_AXES["MVN-6"], [F32, np.array([4])], "names axis 4"),
        ("MVN-6", WITH_AXES["MVN-6"], [F32, np.array(1)], "is []; expected a list"),
        ("MVN-6", {"eps_mode": "inside"}, [F32, np.array([1])], "inside_sqrt, outside_sqrt"),
        ("LRN-1", WITH_AXES["LRN-1"], [F32, np.array([7])], "names axis 7"),
        ("LRN-1", WITH_AXES["LRN-1"], [F32, np.zeros(0, np.int64)], "the runtime crashes"),
        ("LRN-1", {**WITH_AXES["LRN-1"], "size": "-1"}, [F32, np.array([1])], "at least 1"),
        ("NormalizeL2-1", WITH_AXES["NormalizeL2-1"], [F32, np.array([9])], "names axis 9"),
        ("GRN-1", ALONE["GRN-1"], [("f32", "4")], "rank 2, 3 or 4"),
        ("GroupNormalization-12", {**GROUPS, "num_groups": "3"}, [F32, FOUR, FOUR], "not a multiple"),
        ("GroupNormalization-12", GROUPS, [("f32", "1,0,8"), ("f32", "0"), ("f32", "0")], "not a multiple"),
        ("GroupNormalization-12", {**GROUPS, "num_groups": "0"}, [F32, FOUR, FOUR], "at least 1"),
        ("GroupNormalization-12", GROUPS, [F32, FOUR, ("f32", "2")], "2 values, but the data has 4"),
        ("GroupNormalization-12", {"epsilon": "0.1"}, [F32, FOUR, FOUR], "is missing"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_faults(name: str, raw: dict[str, str], slots: list[Slot], message: str) -> None:
    """Each is rejected by the runtime on reading or compiling, or kills it."""
    (fault,) = faults_of(BY_NAME[name], raw, slots)
    assert message in fault.message


@pytest.mark.parametrize(
    "case",
    [
        Case(BY_NAME["LRN-1"], WITH_AXES["LRN-1"], [("f32", "2,3"), ("i64", "1")]),
        Case(BY_NAME["NormalizeL2-1"], WITH_AXES["NormalizeL2-1"], [("f32", "2,3"), ("i64", "")]),
        Case(BY_NAME["GroupNormalization-12"], GROUPS, [("f32", "1,4,3"), FOUR, FOUR]),
    ],
    ids=str,
)
def test_what_is_right_at_the_edge(case: Case) -> None:
    assert shape_difference(case, *runtime_shapes([case])) is None
