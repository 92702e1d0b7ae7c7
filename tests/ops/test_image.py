"""Interpolate by random factors, of nothing, for no size, and what runs and is not meant."""

import numpy as np
import pytest

from ir_tools.known_differences._model import floats, whole
from ir_tools.ops import image
from ir_tools.ops._interpolate import COORDINATES, ROUNDINGS, TAPS, Resizing, resize
from ir_tools.ops.definition import ViolationKind
from ir_tools.runtime.client import RuntimeClient
from tests.ops.around import Case, ops_by_name
from tests.ops.layer_support import Setting, compare_shapes, fact_of, faults_of
from tests.ops.single import Slot, attrs_of

OPS = ops_by_name(image.OPS)


DATA: Slot = ("f32", "1,2,4,5")
NEW = {
    "mode": "nearest",
    "shape_calculation_mode": "sizes",
    "coordinate_transformation_mode": "half_pixel",
    "nearest_mode": "round_prefer_floor",
    "antialias": "false",
    "pads_begin": "0,0,0,0",
    "pads_end": "0,0,0,0",
    "cube_coeff": "-0.75",
}
SCALES = {**NEW, "shape_calculation_mode": "scales"}
CASES = {
    "Interpolate-4-scales": Case(OPS["Interpolate-4"], SCALES, (DATA, whole(8, 10), floats(2.3, 0.7), whole(2, 3))),
    "Interpolate-11": Case(OPS["Interpolate-11"], NEW, (DATA, whole(8, 10), whole(3, 2))),
    "Interpolate-11-scales": Case(OPS["Interpolate-11"], SCALES, (DATA, floats(0.4, 3.1), whole(2, 3))),
    "Interpolate-11-two": Case(OPS["Interpolate-11"], NEW, (DATA, whole(1, 2, 8, 10))),
}


FACTORS = (0.1, 0.5, 0.3333333, 1, 1.5, 2, 2.9999998, 3.7)


@pytest.mark.parametrize("name", ["Interpolate-4-scales", "Interpolate-11-scales"])
def test_random_factors(name: str, client: RuntimeClient) -> None:
    rng, case = np.random.default_rng(3), CASES[name]
    for _ in range(40):
        given = floats(*rng.choice([*FACTORS, rng.uniform(0.05, 9)], 2))
        high, low = rng.integers(3, 99, 2)
        data: Slot = ("f32", f"1,2,{high},3..{low}")
        compare_shapes(client, Setting(case.op, [data, *case.slots[1:-2], given, case.slots[-1]], case.raw))


@pytest.mark.parametrize(
    ("name", "data", "target", "warned"),
    [
        ("Interpolate-11-two", "0,2,4,5", whole(3, 2, 4, 5), True),
        ("Interpolate-11-two", "1,2,0,5", whole(1, 2, 4, 5), True),
        ("Interpolate-11-two", "0..1,2,4,5", whole(1, 2, 4, 5), False),
        ("Interpolate-11-two", "1,0,4,5", whole(3, 0, 8, 5), False),
        ("Interpolate-11-two", "0,2,4,5", whole(0, 2, 8, 5), False),
        ("Interpolate-11", "0,2,4,5", whole(8, 10), False),
        ("Interpolate-11", "1,2,4,5", whole(8, 10, 3), True),
    ],
)
def test_what_runs_and_is_not_meant_is_warned_of(name: str, data: str, target: Slot, warned: bool) -> None:
    """Elements made of none hold what was in memory; sizes behind those of the axes are not read."""
    case = CASES[name]
    facts = map(fact_of, [("f32", data), target, *case.slots[2:]])
    kinds = [fault.kind for fault in case.op.check(attrs_of(case.op, case.raw), [*facts])]
    assert kinds == [ViolationKind.SUSPECT] * warned


@pytest.mark.parametrize("mode", TAPS)
@pytest.mark.parametrize("shape", [(1, 1, 2, 3, 4), (1, 1, 0, 3, 4)])
def test_nothing_is_made_of_nothing_and_for_no_size(mode: str, shape: tuple[int, ...]) -> None:
    """Also by a factor of 0, in all ways to find places and to round them."""
    for coordinates in COORDINATES:
        for nearest in (*ROUNDINGS, "simple"):
            how = Resizing(mode=mode, coordinates=coordinates, nearest=nearest, antialias=True)
            found = resize(how, np.ones(shape, np.float32), {2: 0, 3: 5}, {2: 0.0, 3: 5 / 3})
            assert found.shape == (1, 1, 0, 5, 4)
            assert found.dtype == np.float32
    filled = resize(Resizing(mode=mode, coordinates="asymmetric"), np.ones((1, 0), np.float32), {1: 2}, {1: 2.0})
    assert filled.tolist() == [[0, 0]]


@pytest.mark.parametrize("name", ["Interpolate-1", "Interpolate-4"])
def test_negative_sizes_are_refused(name: str) -> None:
    """The runtime rejects them, ends or does not, by what they are."""
    raw = {"axes": "2,3", "mode": "nearest"} if name == "Interpolate-1" else NEW
    slots = [DATA, whole(-1, 3), floats(2, 2), whole(2, 3)]
    faults = faults_of(OPS[name], raw, slots[: len(OPS[name].inputs)])
    assert [fault.message for fault in faults] == ["holds -1; expected sizes of at least 1"]
