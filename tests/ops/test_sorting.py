"""TopK of known numbers, of the limits of integers and of elements that rounding may exchange."""

import numpy as np
import pytest

from ir_tools.ops import sorting
from ir_tools.runtime.client import RuntimeClient
from tests.ops.around import ops_by_name
from tests.ops.layer_support import Setting, compare_shapes
from tests.ops.single import Between, attrs_of

OPS = ops_by_name(sorting.OPS)

TOP = {"axis": "1", "mode": "max", "sort": "value", "index_element_type": "i32"}
THREE = np.array(3, np.int64)


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


@pytest.mark.parametrize(("mode", "far"), [("min", 8.0), ("max", -8.0)])
def test_elements_within_twice_the_error_may_change_places(mode: str, far: float) -> None:
    """Each of two neighbours may be off by the error times the largest magnitude: here by 0.001."""
    data = np.array([[0, 0.0005, 0.002, 0.0045, 0.0445, far]], np.float32)
    attrs = attrs_of(OPS["TopK-11"], {"axis": "1", "mode": mode, "sort": "value"})
    found = sorting.nearly_tied(attrs, [data, np.array(6)], 0.001 / 8)
    assert found is not None
    assert sorted(found[0].tolist()) == [False] * 3 + [True] * 3
    assert found[0, 1 if mode == "min" else 3]
