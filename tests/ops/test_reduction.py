"""Reductions, running sums and segments against the installed runtime: known values, faults, values."""

import numpy as np
import pytest

from ir_tools.ops import Bounds, Op, reduction
from ir_tools.ops.definition import UNBOUNDED
from ir_tools.ops.fields import Attrs
from ir_tools.runtime.client import RuntimeClient
from tests.ops.layer_support import compare_values, fact_of, faults_of
from tests.ops.math_support import Case
from tests.ops.single import Between, Fed, Slot, attrs_of, computed, single_text

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


@pytest.mark.parametrize("kind", ["float32", "int32"])
@pytest.mark.parametrize("op", [op for op in REDUCTIONS if "Logical" not in op.type], ids=str)
def test_reductions_of_nothing(op: Op, kind: str, client: RuntimeClient) -> None:
    arrays = [np.ones((2, 0), kind), np.array([1])]
    compare_values(client, [Fed(op, {"keep_dims": "false"}, arrays, [1])], 1e-4)


@pytest.mark.parametrize(("segments", "largest"), [([-1, 0, 1], [3, 4]), ([0, 1, 2], [5, 3]), ([-2, -1, 7], [0, 0])])
def test_rows_of_segments_that_are_not_there_are_left_out(segments: list[int], largest: list[int]) -> None:
    """The runtime writes outside of its memory."""
    arrays = [np.array([5, 3, 4], np.float32), np.array(segments), np.array(2)]
    (found,) = computed(SEGMENT_MAX, Attrs({"fill_mode": "zero"}), arrays)
    assert found.tolist() == largest
