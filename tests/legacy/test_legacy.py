"""Single layers of IR v2 to v7: the file on Inference Engine 2020.1 against the migrated model.

A few cases of each type on the reference executor, which costs little; many on openvino.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

import ir_tools
from ir_tools.ops._windows import Pooling, WindowPlan, plan
from ir_tools.ops.legacy import pooling
from ir_tools.rules.storage import UNREAD_WEIGHTS
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.legacy import LegacyClient
from ir_tools.weights import values
from tests.legacy.makers import MAKERS, VERSIONS, case
from tests.legacy.net import Array, LegacyCase, Net

Engine = Callable[[ir_tools.Model, Mapping[str, Array]], Mapping[str, Array]]
"""Runs a migrated model."""
SWEEP = {"Pooling": 2000}
"""How many cases the sweep takes of a type; 200 of the others."""


@pytest.fixture(scope="module")
def old(legacy_python: Path) -> Iterator[LegacyClient]:
    with LegacyClient(legacy_python, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def openvino() -> Iterator[Engine]:
    with RuntimeClient(timeout=60, memory=6 << 30) as client:
        yield lambda model, inputs: client.infer_model(model, inputs).outputs


@pytest.mark.parametrize("name", MAKERS)
def test_migrated_layer_equals_the_old_one(name: str, old: LegacyClient) -> None:
    for seed in range(len(VERSIONS)):
        compare(case(name, seed), old, ir_tools.run)


@pytest.mark.parametrize("name", MAKERS)
def test_constants_read_all_bytes_of_the_migrated_weights(name: str, tmp_path: Path) -> None:
    for seed in (0, len(VERSIONS) - 1):
        made = case(name, seed)
        migration = ir_tools.migrate(made.model())
        if migration.ok:
            ir_tools.write(migration.model, tmp_path / "new.xml")
            assert not ir_tools.validate(tmp_path / "new.xml", select=[UNREAD_WEIGHTS.code])


def test_equal_poolings_are_proved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = list[object]()

    def planning(windows: Pooling, sizes: tuple[int, ...]) -> WindowPlan:
        planned.append(windows)
        return plan(windows, sizes)

    monkeypatch.setattr(pooling, "plan", planning)
    pooling._exclude_pad.cache_clear()
    net = Net(np.random.default_rng(0), 5)
    data = net.input(net.values(1, 2, 6, 6))
    windows = {"kernel": "3,3", "strides": "1,1", "pads_begin": "1,1", "pads_end": "1,1", "pool-method": "avg"}
    for number in range(6):
        raw = {**windows, "exclude-pad": "true" if number < 3 else "false"}
        data = net.layer("Pooling", [data], [(1, 2, 6, 6)], raw, name=f"pooled{number}")[0]
    made = net.case()
    model = ir_tools.migrate(made.model()).model
    found = [layer.raw["exclude-pad"] for layer in model.graph.layers() if layer.type == "AvgPool"]
    assert found == 3 * ["true"] + 3 * ["false"]
    assert len(planned) == 3, "one for the first three, and both for the others"


def test_layers_that_stay_as_they_are_have_no_step_and_others_have_one() -> None:
    net = Net(np.random.default_rng(0), 5)
    data = net.input(net.values(1, 2, 4, 4))
    clipped = net.layer("ReLU", [data], [(1, 2, 4, 4)], {"negative_slope": "0.0"}, name="clipped")[0]
    joined = net.layer("Concat", [clipped, net.const(net.values(1, 2, 4, 4))], [(1, 4, 4, 4)], {"axis": 1})[0]
    leaky = net.layer("ReLU", [joined], [(1, 4, 4, 4)], {"negative_slope": "0.5"}, name="leaky")[0]
    windows = {"kernel": "2,2", "strides": "2,2", "pads_begin": "0,0", "pads_end": "0,0", "pool-method": "max"}
    net.layer("Pooling", [leaky], [(1, 4, 2, 2)], windows, name="pool")
    made = net.case()
    migration = ir_tools.migrate(made.model())
    steps = [(step.path, step.after) for step in migration.steps]
    assert steps == [("in0", "Parameter"), ("leaky", "PReLU"), ("pool", "MaxPool")]


def test_numbers_that_several_layers_read_are_one_constant(old: LegacyClient) -> None:
    net = Net(np.random.default_rng(0), 5)
    data = net.input(net.values(1, 2, 4, 4))
    for number, (scale, shift) in enumerate((("2", "3"), ("3", "0"), ("2", "5"))):
        raw = {"power": "2", "scale": scale, "shift": shift}
        data = net.layer("Power", [data], [(1, 2, 4, 4)], raw, name=f"power{number}")[0]
    made = net.case()
    compare(made, old, ir_tools.run)
    model = ir_tools.migrate(made.model()).model
    constants = [layer for layer in model.graph.layers() if layer.type == "Const"]
    read = [(values(layer.raw, model.weights).item(), len([*model.graph.successors(layer.id)])) for layer in constants]
    assert sorted(read) == [(2, 5), (3, 2), (5, 1)]


@pytest.mark.sweep
@pytest.mark.parametrize("name", MAKERS)
def test_many_migrated_layers_equal_the_old_ones(name: str, old: LegacyClient, openvino: Engine) -> None:
    found = Counter(compare(case(name, seed), old, openvino) for seed in range(SWEEP.get(name, 200)))
    print(name, dict(found))


def compare(made: LegacyCase, old: LegacyClient, engine: Engine) -> str:
    """Check one case: the outputs are the same; if the old ones are undefined, a refusal or a note says so."""
    model = made.model()
    assert not errors(model), f"{errors(model)}\n{made.xml}"
    migration = ir_tools.migrate(model)
    if made.undefined:
        noted = any(step.notes for step in migration.steps)
        assert migration.refused or noted, f"migrated, though {made.undefined}\n{made.xml}"
        return "noted" if noted else "refused"
    assert not migration.refused, f"{migration.refused[0]}\n{made.xml}"
    assert not errors(migration.model), f"{errors(migration.model)}\n{made.xml}"
    wanted = old.infer(made.xml.encode(), made.weights, made.inputs)
    found = engine(migration.model, made.inputs)
    assert sorted(found) == sorted(wanted), made.xml
    for name, expected in wanted.items():
        assert_near(found[name], expected, made)
    return "equal"


def errors(model: ir_tools.Model) -> list[ir_tools.Diagnostic]:
    return [found for found in ir_tools.validate(model) if found.severity is ir_tools.Severity.ERROR]


def assert_near(found: Array, expected: Array, made: LegacyCase) -> None:
    """Check one output; what the old runtime left undefined is left out."""
    assert found.shape == expected.shape, made.xml
    if made.boxes:
        found, expected = _boxes(found), _boxes(expected)
        assert found.shape == expected.shape, made.xml
    if made.mask is not None:
        found, expected = np.where(made.mask, 0, found), np.where(made.mask, 0, expected)
    share = 2e-3 if "FP16" in made.xml else 1e-4
    largest = float(np.abs(expected).max(initial=0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=share * max(largest, 1e-6), err_msg=made.xml)


def _boxes(detections: Array) -> Array:
    """Return the rows of a DetectionOutput up to the one that ends them, in one order."""
    rows = detections.reshape(-1, 7)
    ended = np.flatnonzero(rows[:, 0] == -1)
    rows = rows[: ended[0]] if ended.size else rows
    return rows[np.lexsort(rows.T[::-1])]
