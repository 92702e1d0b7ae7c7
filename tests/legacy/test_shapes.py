"""Legacy models with another batch size: the sizes, and each sample, are what they are alone."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import ir_tools
from tests.legacy.net import Array

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
