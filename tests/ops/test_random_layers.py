"""Layers that move elements, against the runtime: shapes, values before running, values, on random settings."""

import numpy as np
import pytest

from ir_tools.runtime.client import RuntimeClient
from tests.ops import gathering_makers, generation_makers, layout_makers, padding_makers, slicing_makers
from tests.ops.layer_support import SettingMaker, compare_shapes, compare_values, settings
from tests.ops.single import Fed, Maker

FAMILIES = {
    "gathering": gathering_makers,
    "generation": generation_makers,
    "layout": layout_makers,
    "padding": padding_makers,
    "slicing": slicing_makers,
}
SETTINGS = [
    pytest.param(make, id=f"{name}-{make.__name__}") for name, family in FAMILIES.items() for make in family.SETTINGS
]
CALLS = [pytest.param(make, id=f"{name}-{make.__name__}") for name, family in FAMILIES.items() for make in family.CALLS]


@pytest.mark.parametrize("make", SETTINGS)
def test_shapes_and_values_before_running(make: SettingMaker, client: RuntimeClient) -> None:
    taken = [compare_shapes(client, setting) for setting in settings(make, np.random.default_rng(7), 25)]
    assert sum(taken) > 3


@pytest.mark.sweep
@pytest.mark.parametrize("make", SETTINGS)
def test_many_shapes_and_values_before_running(make: SettingMaker, client: RuntimeClient) -> None:
    for setting in settings(make, np.random.default_rng(8), 250):
        compare_shapes(client, setting)


def tolerance(call: Fed) -> float:
    """Sums and products of floats are rounded on the way; what only moves is equal."""
    rounds = call.raw.get("reduction", "none") != "none"
    return {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5}.get(call.arrays[0].dtype.name, 0.0) if rounds else 0.0


def compare_calls(client: RuntimeClient, make: Maker, count: int, seed: int) -> None:
    """Assert that random calls of a maker give what the runtime gives."""
    rng = np.random.default_rng(seed)
    compare_values(client, [make(rng) for _ in range(count)], tolerance)


@pytest.mark.parametrize("make", CALLS)
def test_values(make: Maker, client: RuntimeClient) -> None:
    compare_calls(client, make, 10, seed=9)


@pytest.mark.sweep
@pytest.mark.parametrize("make", CALLS)
def test_many_values(make: Maker, client: RuntimeClient) -> None:
    compare_calls(client, make, 200, seed=10)
