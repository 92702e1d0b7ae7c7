"""Legacy models with another batch size: the sizes, and each sample, are what they are alone."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

import ir_tools
from ir_tools.ops.legacy._windows import end_pad
from ir_tools.rewrite import legacy
from ir_tools.rewrite.legacy_loops import _row
from tests.legacy.net import Array, Net

SMALL = ("landmarks-regression-retail-0009.FP32.v6", "vehicle-attributes-recognition-barrier-0039.FP32.v6")
OTHERS = (
    "landmarks-regression-retail-0009.FP32.v5",
    "one-class-anomaly-mobilenet.FP16.v4",
    "person-reidentification-retail-0031",
    "road-segmentation-adas-0001.FP16.v6",
)


def run(model: ir_tools.Model, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
    with ir_tools.Session(model, engine="runtime") as session:
        return session.run(inputs)


def test_windows_with_the_end_pad_are_as_many_as_declared() -> None:
    """More are cut off by less padding; the first windows do not reach the end if one more would fit."""
    for size, stride, reach, begin, output in product(range(1, 8), range(1, 4), range(1, 4), range(3), range(1, 9)):
        pad = end_pad(size, output, stride, reach, begin)
        assert (size + begin + pad - reach) // stride + 1 == output


@pytest.mark.parametrize("axis", [None, -1, 0, 1, 3])
def test_a_row_of_a_port_map_cuts_along_its_axis(axis: int | None) -> None:
    given = {"external_port_id": "0", "internal_layer_id": "1", "start": "0", "end": "-1", "part_size": "2"}
    found = _row(given | ({} if axis is None else {"axis": str(axis)}), 5, 7)
    cut = {} if axis is None or axis < 0 else {"axis": str(axis), "start": "0", "end": "-1", "part_size": "2"}
    assert found == {"external_port_id": "5", "internal_layer_id": "7"} | cut


def test_a_size_of_any_stays_open() -> None:
    """A Reshape to `0,-1` takes other sizes than those of the file, too."""
    net = Net(np.random.default_rng(0), 6)
    net.layer("Reshape", [net.input(net.values(2, 3, 4))], [(2, 12)], {"dim": "0,-1"})
    made = net.case()
    model = ir_tools.migrate(made.model()).model
    ir_tools.propagate_shapes(model, {"in0": "5,3,6"}, in_place=True)
    assert model.outputs[0].port.dims == (5, 18)


def test_a_model_is_migrated_only_for_sizes_that_are_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    upgraded = Mock(side_effect=legacy._upgraded)
    monkeypatch.setattr(legacy, "_upgraded", upgraded)
    net = Net(np.random.default_rng(0), 6)
    net.layer("Clamp", [net.input(net.values(2, 3))], [(2, 3)], {"min": "0", "max": "1"})
    made = net.case()
    model = made.model()
    assert not ir_tools.propagate_shapes(model).mismatches
    upgraded.assert_not_called()
    assert "migration" in ir_tools.propagate_shapes(model, {"in0": "5,3"}).origins.values()
    upgraded.assert_called_once_with(model)


@pytest.mark.parametrize("name", [*SMALL, *(pytest.param(name, marks=pytest.mark.sweep) for name in OTHERS)])
def test_a_batch_gives_each_sample_what_it_gets_alone(corpus: Path, name: str) -> None:
    paths = sorted(corpus.glob(f"models/{name}*.xml"))
    assert paths
    for path in paths:
        old, new = ir_tools.read(path), ir_tools.migrate(path).model
        [end] = old.inputs
        alone = {end.name: np.random.default_rng(0).uniform(0, 255, end.port.dims).astype(np.float32)}
        wanted = run(new, alone)
        batch = {end.name: np.repeat(alone[end.name], 3, axis=0)}
        sizes = {end.name: batch[end.name].shape}
        assert "unknown" not in ir_tools.propagate_shapes(old, sizes, in_place=True).origins.values()
        before = ir_tools.migrate(old)
        assert before.ok, before.refused
        ir_tools.propagate_shapes(new, sizes, in_place=True)
        for model in (before.model, new):
            for output, found in run(model, batch).items():
                expected = np.repeat(wanted[output], 3, axis=0)
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * np.abs(expected).max())
