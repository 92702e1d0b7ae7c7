"""AveragePool of every version on the runtime, against what the specifications say."""

import pytest

from ir_tools.importers.onnx.average_pool import disputed
from ir_tools.onnx import average_pool
from ir_tools.ops._equivalence import equal_plans
from tests.importers.onnx.models import deviations


@pytest.mark.parametrize(("dynamic", "count"), [(False, 80), (True, 20)], ids=["static", "dynamic"])
def test_a_translated_node_gives_what_onnx_says(dynamic: bool, count: int) -> None:
    assert deviations(5, count, dynamic=dynamic, batch=40 if not dynamic else 10) == []


@pytest.mark.parametrize("kind", ["f16", "bf16", "f64"])
def test_element_types(kind: str) -> None:
    assert deviations(7, 40, kind=kind, batch=20) == []


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["f16", "bf16", "f64"])
def test_random_settings_of_other_types(kind: str) -> None:
    assert deviations(70, 400, kind=kind, batch=20) == []


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(105))
def test_random_static_settings(seed: int) -> None:
    assert deviations(1000 + seed, 240) == []


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(23))
def test_random_dynamic_settings(seed: int) -> None:
    assert deviations(2000 + seed, 90, dynamic=True, batch=15) == []


@pytest.mark.parametrize("word", ["SAME_UPPER", "SAME_LOWER"])
def test_windows_of_the_same_size_are_counted_alike_with_ceil_mode(word: str) -> None:
    given = {"kernel_shape": [3], "strides": [2], "auto_pad": word}
    assert average_pool({**given, "ceil_mode": 1}) == average_pool(given)
    assert average_pool({"kernel_shape": [3], "ceil_mode": 1}) != average_pool({"kernel_shape": [3]})


@pytest.mark.parametrize("pads", [[0, 0], [1, 0], [0, 1]])
@pytest.mark.parametrize("word", ["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])
def test_pads_are_said_to_be_ignored_beside_a_word_for_them(word: str, pads: list[int]) -> None:
    """They are, if the windows are those without pads."""
    given = {"kernel_shape": [3], "auto_pad": word}
    plans = [average_pool(each).plan([9]) for each in (given, {**given, "pads": pads})]
    ignored = any(pads) and equal_plans(*plans) is None
    told = [*disputed({**given, "pads": pads})]
    assert told == (["both auto_pad and pads are set; pads are ignored"] if ignored else [])
