"""Reductions, running sums and segments against the installed runtime: known values, faults, values."""

from collections.abc import Callable

import numpy as np
import pytest

from ir_tools.known_differences import named
from ir_tools.ops import Array, Bounds, Op, reduction
from ir_tools.ops.definition import UNBOUNDED
from ir_tools.ops.fields import Attrs
from ir_tools.runtime.client import RuntimeClient
from tests.ops.layer_support import fact_of, faults_of
from tests.ops.math_support import (
    AMOUNTS,
    INTEGERS,
    Case,
    kinds,
    random_array,
    value_difference,
    values_agree,
)
from tests.ops.single import Between, Slot, attrs_of, computed, single_text, slots_of

*REDUCTIONS, CUM_SUM, SEGMENT_MAX = reduction.OPS


# --- values before running --------------------------------------------------------------------------------------


KNOWN: dict[str, Slot] = {
    "bounds": Between("i64", ((2, 2), (3, 5), (4, None))),
    "zero": Between("i64", ((0, 0), (3, 5), (4, None))),
    "sizes": np.array([2, 3, -4]),
    "uneven": np.array([2, 3, 3]),
    "floats": np.array([1.5, 2], np.float32),
}


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("op", [op for op in REDUCTIONS if "Logical" not in op.type], ids=str)
def test_values_before_running(op: Op, name: str, client: RuntimeClient) -> None:
    """What is known of the result before anything runs is what the runtime knows."""
    slots = [KNOWN[name], np.array([0])]
    ((_, _, wanted),) = client.ask(*single_text(op.type, op.version, {"keep_dims": "false"}, slots), "op")
    assert op.shape is not None
    attrs = attrs_of(op, {"keep_dims": "false"})
    found = op.shape(attrs, [fact_of(slot) for slot in slots])[0].value
    assert _plain(found) == (None if wanted is None else tuple(map(tuple, wanted)))


def _plain(bounds: Bounds | None) -> tuple[tuple[float, ...], ...] | None:
    """Lower and upper bounds; the runtime writes its largest number where there is none."""
    if bounds is None:
        return None
    assert np.iinfo(np.int64).max == UNBOUNDED
    return tuple(bounds.lower.ravel().tolist()), tuple(bounds.upper.ravel().tolist())


# --- faults and types -------------------------------------------------------------------------------------------

F32 = ("f32", "2,3,4")
SUM = REDUCTIONS[0]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (Case(SUM, {}, [F32, np.array([5])]), "names axis 5, but the data [2,3,4] has rank 3"),
        (Case(SUM, {}, [F32, np.array([[0]])]), "is [1,1]; expected a number or a list"),
        (Case(SUM, {}, [F32, np.array([1.0])]), "has element type f64; expected integers"),
        (Case(CUM_SUM, {}, [F32, np.array([1])]), "is [1]; expected a single number"),
        (Case(CUM_SUM, {}, [F32, np.array(3)]), "names axis 3"),
        (Case(CUM_SUM, {}, [F32]), "is missing"),
        (Case(SEGMENT_MAX, {}, [("f32", "3,2"), np.array([0, 2, 1])]), "are not in ascending order"),
        (Case(SEGMENT_MAX, {}, [("f32", "3,2"), np.array([0, 1])]), "has 2 numbers, but the data has 3 rows"),
        (Case(SEGMENT_MAX, {}, [("f32", "0,2"), np.zeros(0, np.int64)]), "the number of segments is not defined"),
        (Case(SEGMENT_MAX, {}, [("f32", "1,9"), np.array([10**12])]), "do not fit into memory"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_faults(case: Case, message: str) -> None:
    """Each is rejected by the runtime on reading, compiling or running, or kills it."""
    (fault,) = faults_of(case.op, case.raw, case.slots)
    assert message in fault.message


# --- values -----------------------------------------------------------------------------------------------------

LEFT_OUT = named(
    "ReduceL2-4 of integers",
    "SegmentMax-16 of nothing",
    "maxima of NaN",
    "reductions along no axis",
    "reductions of 8 bits that leave them",
    "reductions of i64 beyond i32",
    "reductions of integers beyond 2^24",
)
"""Layers that are not generated."""


def reduction_values(rng: np.random.Generator, op: Op) -> tuple[Case, list[Array]]:
    others = ("f16", "bf16", "f64", *(INTEGERS if op.type != "ReduceL2" else ()))
    kind = "boolean" if "Logical" in op.type else kinds(rng, *others)
    sizes = rng.integers(1, 6, rng.integers(0, 5))
    rank = len(sizes)
    narrow = kind in {"i8", "u8"}
    most = 2 if "Prod" in op.type or "L2" in op.type or narrow else 4
    data = random_array(rng, kind, np.minimum(sizes, 2) if narrow else sizes, 1 if narrow and rank > 3 else most)
    data = np.minimum(data, 1) if "Prod" in op.type and narrow else data
    axes = rng.integers(-rank, rank, rng.integers(1, 4)) if rank else np.zeros(0, np.int64)
    keep = "true" if rng.random() < 0.5 or not rank else "false"
    arrays = [data, axes.astype(str(rng.choice(["int64", "int32"])))]
    return Case(op, {"keep_dims": keep}, slots_of(arrays, [1])), arrays


def sum_values(rng: np.random.Generator) -> tuple[Case, list[Array]]:
    sizes = rng.integers(1, 7, rng.integers(1, 5))
    kind = kinds(rng, "f16", "bf16", "f64", *INTEGERS)
    arrays = [random_array(rng, kind, sizes, 2), np.array(rng.integers(-len(sizes), len(sizes)))]
    raw = {name: str(rng.choice(["true", "false"])) for name in ("exclusive", "reverse")}
    return Case(CUM_SUM, raw, slots_of(arrays, [1] if rng.random() < 0.7 else [])), arrays


def segment_values(rng: np.random.Generator) -> tuple[Case, list[Array]]:
    rows, fill = int(rng.integers(1, 8)), str(rng.choice(["ZERO", "LOWEST"]))
    kind = kinds(rng, "i32", "bf16", *([] if fill == "LOWEST" else ["f16", "f64", *INTEGERS]))
    segments = np.sort(rng.integers(0, 6, rows)).astype(str(rng.choice(["int64", "int32"])))
    arrays = [random_array(rng, kind, [rows, *rng.integers(1, 4, rng.integers(0, 3))], 9), segments]
    if rng.random() < 0.5:
        arrays.append(np.array(rng.integers(1, 9)).astype(segments.dtype))
    return Case(SEGMENT_MAX, {"fill_mode": fill}, slots_of(arrays, [1, 2])), arrays


@pytest.mark.parametrize("count", AMOUNTS)
@pytest.mark.parametrize("op", REDUCTIONS, ids=str)
def test_values_of_reductions(op: Op, count: int) -> None:
    values_agree(lambda rng: reduction_values(rng, op), count, least=1)


@pytest.mark.parametrize("count", AMOUNTS)
@pytest.mark.parametrize("make", [sum_values, segment_values])
def test_values(make: Callable[[np.random.Generator], tuple[Case, list[Array]]], count: int) -> None:
    values_agree(make, count, least=1)


@pytest.mark.parametrize("kind", ["f32", "i32"])
@pytest.mark.parametrize("op", [op for op in REDUCTIONS if "Logical" not in op.type], ids=str)
def test_reductions_of_nothing(op: Op, kind: str) -> None:
    arrays = [random_array(rng=np.random.default_rng(0), kind=kind, shape=[2, 0]), np.array([1])]
    assert value_difference(Case(op, {"keep_dims": "false"}, slots_of(arrays, [1])), arrays) is None


@pytest.mark.parametrize(("segments", "largest"), [([-1, 0, 1], [3, 4]), ([0, 1, 2], [5, 3]), ([-2, -1, 7], [0, 0])])
def test_rows_of_segments_that_are_not_there_are_left_out(segments: list[int], largest: list[int]) -> None:
    """The runtime writes outside of its memory."""
    arrays = [np.array([5, 3, 4], np.float32), np.array(segments), np.array(2)]
    (found,) = computed(SEGMENT_MAX, Attrs({"fill_mode": "zero"}), arrays)
    assert found.tolist() == largest
