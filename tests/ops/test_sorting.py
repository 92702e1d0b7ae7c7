"""TopK and the decoders of connectionist classification against the runtime: shapes, and what it refuses."""

import numpy as np
import pytest

from ir_tools.ops import sorting
from ir_tools.runtime.client import RuntimeClient
from tests.ops.around import Case, ChanceTests, Change, ops_by_name
from tests.ops.layer_support import Setting, compare_shapes
from tests.ops.single import Between, Slot, attrs_of

OPS = ops_by_name(sorting.OPS)

TOP = {"axis": "1", "mode": "max", "sort": "value", "index_element_type": "i32"}
THREE = np.array(3, np.int64)


def ints(*values: int) -> Slot:
    return np.array(values, np.int32)


LABELS: tuple[Slot, ...] = (("f32", "2,6,5"), ints(6, 6), np.zeros((2, 6), np.int32), ints(2, 3), np.array(4, np.int32))
CASES = {
    "TopK-1": Case(OPS["TopK-1"], TOP, (("f32", "2,5,4"), THREE)),
    "TopK-3": Case(OPS["TopK-3"], TOP, (("f32", "2,5,4"), THREE)),
    "TopK-11": Case(OPS["TopK-11"], {**TOP, "stable": "false"}, (("f32", "2,5,4"), THREE)),
    "CTCGreedyDecoder-1": Case(OPS["CTCGreedyDecoder-1"], {}, (("f32", "6,2,5"), ("f32", "6,2"))),
    "CTCGreedyDecoderSeqLen-6": Case(
        OPS["CTCGreedyDecoderSeqLen-6"],
        {"classes_index_type": "i32"},
        (("f32", "2,6,5"), ("i32", "2"), np.array(0, np.int32)),
    ),
    "CTCGreedyDecoderSeqLen-6-two": Case(OPS["CTCGreedyDecoderSeqLen-6"], {}, (("f32", "2,6,5"), ("i32", "2"))),
    "CTCLoss-4": Case(OPS["CTCLoss-4"], {}, LABELS),
    "CTCLoss-4-four": Case(OPS["CTCLoss-4"], {}, LABELS[:4]),
}


@pytest.mark.parametrize("kind", ["int64", "int32", "float32", "float16", "uint8"])
@pytest.mark.parametrize("raw", [TOP, {**TOP, "mode": "min", "sort": "index", "index_element_type": "i64"}], ids=str)
def test_values_of_known_numbers(raw: dict[str, str], kind: str, client: RuntimeClient) -> None:
    """What is chosen of known values is known, in the types that the runtime sorts before running."""
    data = np.array([[3, 1, 2, 3], [5, 9, 7, 1]], kind)
    for slot in (data, ("i64", "2,4")):
        for k in (THREE, np.array(4, np.int64), Between("i64", ((1, 2),), scalar=True)):
            compare_shapes(client, Setting(OPS["TopK-3"], [slot, k], raw, 2))


@pytest.mark.parametrize("mode", ["max", "min"])
@pytest.mark.parametrize("kind", ["bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))])
def test_limits_of_integers_are_in_order(kind: str, mode: str) -> None:
    least, most = (0, 1) if kind == "bool" else (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
    numbers = [1, most, least, 0, most // 2, most // 2 + least % 2, most, most - 1, least + 1]
    attrs = attrs_of(OPS["TopK-3"], {**TOP, "axis": "0", "mode": mode})
    values, places = sorting.top_k(attrs, (np.array(numbers, kind), np.array(len(numbers))))
    sign = -1 if mode == "max" else 1
    assert places.tolist() == sorted(range(len(numbers)), key=lambda place: (sign * numbers[place], place))
    assert values.tolist() == sorted(numbers, key=lambda number: sign * number)


RUN: list[Change] = [
    *((name, {}, {}) for name in CASES),
    ("TopK-11", {"stable": "true"}, {}),
    ("TopK-3", {"mode": "MAX", "sort": None}, {}),
    ("TopK-3", {}, {1: np.array(5, np.int64)}),
    ("CTCGreedyDecoderSeqLen-6", {"classes_index_type": "u8"}, {}),
    ("CTCGreedyDecoderSeqLen-6", {}, {2: np.array(7, np.int32)}),
]
REFUSED: list[Change] = [
    ("TopK-3", {"mode": "foo"}, {}),
    ("TopK-3", {"index_element_type": "u8"}, {}),
    ("TopK-11", {"stable": "true", "sort": "none"}, {}),
    ("TopK-3", {"axis": "3"}, {}),
    ("TopK-3", {}, {1: np.array(6, np.int64)}),
    ("TopK-3", {}, {1: np.array(0, np.int64)}),
    ("TopK-3", {}, {1: np.array(-1, np.int64)}),
    ("TopK-3", {}, {1: np.array([3], np.int64)}),
    ("CTCGreedyDecoder-1", {}, {1: ("f32", "5,2")}),
    ("CTCGreedyDecoderSeqLen-6", {}, {1: ints(-9, 2)}),
]


UNPREDICTABLE: list[Change] = [
    ("CTCLoss-4", {}, {1: ints(7, 6)}),
    ("CTCLoss-4", {}, {3: ints(2, 7)}),
    ("CTCLoss-4", {}, {1: ints(2, 2)}),
    ("CTCLoss-4", {}, {3: ints(0, 3)}),
]


class TestSorting(ChanceTests):
    cases, run, refused, unpredictable = CASES, RUN, REFUSED, UNPREDICTABLE


@pytest.mark.parametrize(("mode", "far"), [("min", 8.0), ("max", -8.0)])
def test_elements_within_twice_the_error_may_change_places(mode: str, far: float) -> None:
    """Each of two neighbours may be off by the error times the largest magnitude: here by 0.001."""
    data = np.array([[0, 0.0005, 0.002, 0.0045, 0.0445, far]], np.float32)
    attrs = attrs_of(OPS["TopK-11"], {"axis": "1", "mode": mode, "sort": "value"})
    found = sorting.nearly_tied(attrs, [data, np.array(6)], 0.001 / 8)
    assert found is not None
    assert sorted(found[0].tolist()) == [False] * 3 + [True] * 3
    assert found[0, 1 if mode == "min" else 3]
