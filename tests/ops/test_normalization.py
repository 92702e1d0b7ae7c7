"""Normalisations against the installed runtime: faults and values."""

import numpy as np
import pytest

from ir_tools.known_differences import named
from ir_tools.ops import Array, Op, normalization
from tests.ops.layer_support import faults_of
from tests.ops.math_support import (
    AMOUNTS,
    Case,
    kinds,
    random_array,
    runtime_shapes,
    shape_difference,
    values_agree,
)
from tests.ops.single import Slot, slots_of

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


# --- values -----------------------------------------------------------------------------------------------------

LEFT_OUT = named("LRN-1 with a fraction in bias", "NormalizeL2-1 of integers")
"""Layers that are not generated; nor are integers, which are outside the specifications."""

HALVES = ("f16", "bf16", "f64")


def sizes_of(rng: np.random.Generator, least: int, most: int) -> list[int]:
    return [int(size) for size in rng.integers(1, 9, rng.integers(least, most + 1))]


def one_of(rng: np.random.Generator, *words: str) -> str:
    return str(rng.choice(words))


def batch_norm_values(rng: np.random.Generator, op: Op) -> tuple[Case, list[Array]]:
    kind, sizes = kinds(rng, *HALVES), sizes_of(rng, 2, 5)
    lists = [random_array(rng, kind, [sizes[1]]) for _ in range(4)]
    lists[3] = np.abs(lists[3])
    place = 2 if op.version == 1 else 0
    arrays = [*lists[:place], random_array(rng, kind, sizes), *lists[place:]]
    constants = [index for index in range(5) if index != place] if rng.random() < 0.7 else []
    return Case(op, {"epsilon": one_of(rng, "0.001", "1e-5", "0.1")}, slots_of(arrays, constants)), arrays


def mvn_6_values(rng: np.random.Generator, op: Op) -> tuple[Case, list[Array]]:
    sizes = sizes_of(rng, 1, 5)
    rank = len(sizes)
    axes = np.unique(rng.integers(-rank, rank, rng.integers(1, rank + 1)))
    axes = np.arange(rng.integers(1, 3), rank) if rank > 2 and rng.random() < 0.7 else axes
    arrays = [random_array(rng, kinds(rng, *HALVES), sizes), axes]
    raw = {
        "eps": one_of(rng, "0.001", "1e-6", "0.5"),
        "normalize_variance": one_of(rng, "true", "true", "false"),
        "eps_mode": one_of(rng, "INSIDE_SQRT", "OUTSIDE_SQRT"),
    }
    return Case(op, raw, slots_of(arrays, [1])), arrays


def mvn_1_values(rng: np.random.Generator, op: Op) -> tuple[Case, list[Array]]:
    arrays = [random_array(rng, kinds(rng, *HALVES), sizes_of(rng, 3, 5))]
    raw = {"eps": one_of(rng, "0.001", "0.5")}
    raw |= {name: one_of(rng, "true", "false") for name in ("normalize_variance", "across_channels")}
    return Case(op, raw, slots_of(arrays)), arrays


def lrn_values(rng: np.random.Generator, op: Op) -> tuple[Case, list[Array]]:
    sizes = sizes_of(rng, 3, 4)
    axes = np.array([1]) if rng.random() < 0.6 else np.arange(2, len(sizes))
    arrays = [random_array(rng, kinds(rng, *HALVES), sizes), axes]
    raw = {
        "alpha": one_of(rng, "0.0001", "0.5", "2"),
        "beta": one_of(rng, "0.75", "0.5", "1", "1.3"),
        "bias": one_of(rng, "1", "2"),
        "size": one_of(rng, "1", "2", "3", "4", "5", "7"),
    }
    return Case(op, raw, slots_of(arrays, [1])), arrays


def l2_values(rng: np.random.Generator, op: Op) -> tuple[Case, list[Array]]:
    sizes = sizes_of(rng, 2, 4)
    rank = len(sizes)
    axes = [np.array([1]), np.arange(1, rank), rng.integers(-rank, rank, 2)][rng.integers(0, 3)]
    arrays = [random_array(rng, kinds(rng, *HALVES), sizes), axes]
    raw = {"eps": one_of(rng, "1e-6", "0.5", "2"), "eps_mode": one_of(rng, "add", "max")}
    return Case(op, raw, slots_of(arrays, [1])), arrays


def grn_values(rng: np.random.Generator, op: Op) -> tuple[Case, list[Array]]:
    arrays = [random_array(rng, kinds(rng, *HALVES), sizes_of(rng, 2, 4))]
    return Case(op, {"bias": one_of(rng, "0.001", "1")}, slots_of(arrays)), arrays


def group_norm_values(rng: np.random.Generator, op: Op) -> tuple[Case, list[Array]]:
    kind, groups, sizes = kinds(rng, "f16", "f64"), int(rng.integers(1, 5)), sizes_of(rng, 2, 5)
    sizes[1] = groups * int(rng.integers(1, 4))
    arrays = [random_array(rng, kind, sizes), *(random_array(rng, kind, [sizes[1]]) for _ in range(2))]
    raw = {"num_groups": str(groups), "epsilon": one_of(rng, "0.001", "0.1")}
    return Case(op, raw, slots_of(arrays, [1, 2] if rng.random() < 0.5 else [])), arrays


MAKERS = {
    "BatchNormInference-1": batch_norm_values,
    "BatchNormInference-5": batch_norm_values,
    "MVN-1": mvn_1_values,
    "MVN-6": mvn_6_values,
    "LRN-1": lrn_values,
    "NormalizeL2-1": l2_values,
    "GRN-1": grn_values,
    "GroupNormalization-12": group_norm_values,
}


@pytest.mark.parametrize("count", AMOUNTS)
@pytest.mark.parametrize("op", normalization.OPS, ids=str)
def test_values(op: Op, count: int) -> None:
    values_agree(lambda rng: MAKERS[str(op)](rng, op), count, least=1)
