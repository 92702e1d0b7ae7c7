"""Differences against a loop over elements; comparison of isolated layers and model against model on small networks."""

import math
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ir_tools.comparison import TOLERANCES, LayerComparison, difference
from ir_tools.comparison._differences import DECADES, aligned, allowed, unlike
from ir_tools.comparison._outputs import Outputs
from ir_tools.ops import Array

SPECIAL = st.sampled_from([0.0, -0.0, 1.0, -1.0, 3.5, 1e30, math.inf, -math.inf, math.nan])
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


def worst_by_loop(expected: Array, actual: Array) -> float:
    """The largest absolute difference, element by element in Python."""
    worst = 0.0
    for wanted, found in zip(expected.ravel().tolist(), actual.ravel().tolist(), strict=True):
        if wanted == found or (math.isnan(wanted) and math.isnan(found)):
            continue
        gap = abs(wanted - found)
        worst = max(worst, math.inf if math.isnan(gap) else gap)
    return worst


@given(data=st.data(), shape=SHAPES)
def test_largest_difference_and_its_place(data: st.DataObject, shape: tuple[int, ...]) -> None:
    expected = data.draw(hnp.arrays(np.float64, shape, elements=SPECIAL))
    actual = data.draw(hnp.arrays(np.float64, shape, elements=SPECIAL))
    found = difference(expected, actual)
    assert found.max_abs == worst_by_loop(expected, actual)
    assert found.elements == expected.size
    if found.max_abs_at is None:
        assert found.ok
        assert found.needed == 0.0
    else:
        assert worst_by_loop(expected[found.max_abs_at], actual[found.max_abs_at]) == found.max_abs


def test_the_needed_tolerance_passes_and_a_smaller_one_does_not() -> None:
    expected = np.array([1.0, -8.0, 2.0], np.float32)
    actual = np.array([1.0, -8.0, 2.5], np.float32)
    needed = difference(expected, actual).needed
    assert needed == 0.5 / 8.0
    assert difference(expected, actual, tolerance=needed).ok
    assert not difference(expected, actual, tolerance=needed * 0.999).ok


def test_undefined_positions_are_counted_and_not_compared() -> None:
    expected, actual = np.zeros((2, 3)), np.zeros((2, 3))
    actual[1, 2] = np.nan
    mask = np.zeros((2, 3), dtype=bool)
    mask[1, 2] = True
    found = difference(expected, actual, undefined=mask)
    assert (found.ok, found.undefined, found.elements) == (True, 1, 5)
    assert not difference(expected, actual).ok


@pytest.mark.parametrize(
    ("dtype", "name"), [(np.float64, "f64"), (np.float32, "f32"), (np.float16, "f16"), (ml_dtypes.bfloat16, "bf16")]
)
def test_floats_have_the_tolerance_of_the_table(dtype: type, name: str) -> None:
    ones: Array = np.ones(3, dtype)
    assert difference(ones, ones).tolerance == TOLERANCES[name]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.bool_])
def test_whole_numbers_must_be_equal(dtype: type) -> None:
    expected: Array = np.array([0, 1, 1], dtype)
    assert difference(expected, expected).ok
    assert not difference(expected, np.array([0, 1, 0], dtype)).ok


def test_integers_beyond_the_precision_of_f64_still_differ() -> None:
    expected = np.array([2**62], np.int64)
    assert not difference(expected, expected + 1).ok


def test_texts_must_be_equal() -> None:
    expected = np.array(["a", "b"], dtype=object)
    assert difference(expected, expected.copy()).ok
    found = difference(expected, np.array(["a", "c"], dtype=object))
    assert not found.ok
    assert found.max_abs_at == (1,)
    assert (found.expected, found.actual) == ("b", "c")


@given(data=st.data(), rows=st.integers(1, 6), width=st.integers(1, 3))
def test_rows_of_a_set_are_matched_in_any_order(data: st.DataObject, rows: int, width: int) -> None:
    cells = st.integers(-3, 3).map(float)
    expected = data.draw(hnp.arrays(np.float32, (1, rows, width), elements=cells))
    order = data.draw(st.permutations(range(rows)))
    assert difference(expected, aligned(expected, expected[:, order])).ok


def test_a_row_too_many_is_not_matched_away() -> None:
    expected = np.array([[1.0, 2.0], [1.0, 2.0], [5.0, 6.0]])
    actual = np.array([[5.0, 6.0], [1.0, 2.0], [5.0, 6.0]])
    found = difference(expected, aligned(expected, actual))
    assert found.max_abs == 4.0


def test_one_missing_detection_takes_no_other_one_away() -> None:
    """A score at the threshold: the rows behind it move up, and only the missing one differs."""
    rng = np.random.default_rng(0)
    boxes = np.sort(rng.uniform(0, 1, (30, 4)), axis=1)
    rows = np.column_stack([np.zeros(30), rng.integers(0, 4, 30), np.linspace(0.9, 0.1, 30), boxes])
    expected = np.concatenate([rows, np.zeros((2, 7))]).astype(np.float32)
    actual = np.concatenate([rows[:4], rows[5:], np.zeros((3, 7))]).astype(np.float32)
    actual += rng.uniform(-1e-6, 1e-6, actual.shape).astype(np.float32)
    gap = np.abs(aligned(expected, actual) - expected).max(axis=1)
    assert np.flatnonzero(gap > 1e-4).tolist() == [4]


def test_a_row_that_belongs_to_none_takes_the_one_that_is_left() -> None:
    expected, actual = np.array([[np.nan], [1.0], [np.inf]]), np.array([[5.0], [7.0], [1.0]])
    assert aligned(expected, actual).tolist() == [[5.0], [1.0], [7.0]]


def test_tied_detections_in_another_order_are_the_same() -> None:
    corners = np.random.default_rng(1).uniform(0, 300, (12, 4))
    rows = np.column_stack([np.full(12, 0.5), corners]).astype(np.float32)
    assert difference(rows, aligned(rows, rows[::-1])).max_abs == 0


@pytest.mark.parametrize(("kind", "unit"), [("f16", 2**-10), ("bf16", 2**-7)])
def test_half_precisions_may_be_off_by_two_units_in_the_last_place(kind: str, unit: float) -> None:
    assert allowed(kind) == pytest.approx(2 * unit, rel=0.03)
    assert allowed("f32", precision=kind) == allowed(kind)


@pytest.mark.parametrize("kind", ["i32", "u8", "boolean", "string"])
@pytest.mark.parametrize("precision", ["f32", "f16", "bf16", "int8"])
def test_a_precision_of_floats_allows_nothing_to_other_types(kind: str, precision: str) -> None:
    assert allowed(kind, precision=precision) == 0.0


@pytest.mark.parametrize(
    ("needed", "tolerance", "share"), [(0, 0, 0), (0.5, 0, np.inf), (0, 0.5, 0), (0.5, 0.25, 2), (0.25, 0.5, 0.5)]
)
def test_the_share_of_a_tolerance_that_a_difference_needs(needed: float, tolerance: float, share: float) -> None:
    found = replace(unlike(tolerance), needed=needed)
    row = LayerComparison(path="", layer_id=0, line=None, op="", status="differs", difference=found)
    assert row.share == share
    assert replace(row, difference=None).share == np.inf
    assert replace(row, status="skipped").share == -1


def test_no_tolerance_is_enough_where_only_zeros_are_expected() -> None:
    found = difference(np.zeros(2, np.float32), np.array([0, 1e-30], np.float32))
    assert (found.needed, found.ok) == (np.inf, False)


def test_a_difference_at_the_border_of_two_decades_counts_above() -> None:
    expected = np.array([1.0, *np.zeros(len(DECADES))])
    found = difference(expected, np.array([1.0, *DECADES]))
    assert found.histogram == (1, 0, *[1] * len(DECADES))


def test_undefined_elements_do_not_widen_the_tolerance() -> None:
    expected, actual = np.array([1e9, 1, 2], np.float32), np.array([0, 1, 2.5], np.float32)
    found = difference(expected, actual, undefined=np.array([True, False, False]))
    assert (found.needed, found.ok) == (0.25, False)


def test_the_numbers_of_detections_are_named() -> None:
    """The row that ends them begins with -1."""
    two, one = np.zeros((1, 1, 4, 7), np.float32), np.zeros((1, 1, 4, 7), np.float32)
    two[0, 0, 1] = 0.5
    two[0, 0, 2, 0] = one[0, 0, 1, 0] = -1
    (row,) = Outputs("f32", None, frozenset({"boxes"}), {}).compared({"boxes": two}, {"boxes": one})
    assert (row.ok, row.reason) == (False, "expected 2 rows, found 1")
    (row,) = Outputs("f32", None, frozenset({"boxes"}), {}).compared({"boxes": one}, {"boxes": two})
    assert (row.ok, row.reason) == (False, "expected 1 row, found 2")
    (row,) = Outputs("f32", None, frozenset({"boxes"}), {}).compared({"boxes": two}, {"boxes": two})
    assert (row.ok, row.reason) == (True, "")


def test_the_mean_is_over_what_is_finite_on_both_sides() -> None:
    found = difference(np.array([1, 2, 3, 4, np.nan]), np.array([2, 2, 3, np.inf, 5]))
    assert found.mean_abs == pytest.approx(1 / 3)
    assert (found.nan, found.max_abs) == ((1, 0), math.inf)


def test_rows_are_the_same_relative_to_each_column() -> None:
    expected = np.array([[1000, 0.0012], [1000, 0.0010]], np.float32)
    actual = np.array([[1000, 0.0010], [1000, 5]], np.float32)
    assert aligned(expected, actual).tolist() == actual[::-1].tolist()


def test_a_signalling_nan_is_compared_silently() -> None:
    """Memory that the runtime does not write to may hold one, and numpy warns of it in a cast."""
    bits = np.array([[0x7FA00000, 0x3F800000]], np.uint32).view(np.float32)
    found = difference(bits, bits[:, ::-1])
    assert (found.max_abs, found.nan) == (np.inf, (1, 1))
    assert np.isnan(aligned(bits, bits)[0, 0])
