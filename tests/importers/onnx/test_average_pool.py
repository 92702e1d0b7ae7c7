"""AveragePool of every version on the runtime, against what the specifications say."""

import pytest

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
