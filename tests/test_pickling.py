"""Models and results are copied and pickled, also into other processes; weights stay in their file."""

import copy
import multiprocessing
import os
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest
from openvino import opset13, opset16

import ir_tools
from ir_tools.format.write import render
from tests.cli.conftest import pooling_xml
from tests.format.sample_models import MODELS, serialize

Copier = Callable[[Any], Any]
COPIERS: dict[str, Copier] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
}
DATA = {"data": np.linspace(0, 1, 4096, dtype=np.float32).reshape(1, 64, 8, 8)}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Convolution with 147 kB of weights, and an AvgPool-16 that becomes several layers in opset8."""
    path = tmp_path_factory.mktemp("pickling") / "model.xml"
    data = opset13.parameter([1, 64, 8, 8], np.float32, name="data")
    kernel = np.random.default_rng(0).normal(size=(64, 64, 3, 3)).astype(np.float32)
    node = opset13.convolution(data, kernel, [1, 1], [1, 1], [1, 1], [1, 1], name="conv")
    node = opset16.avg_pool(node, [1, 1], [0, 0], [0, 0], [2, 2], True, dilations=[2, 2], name="pool")
    model = openvino.Model([opset13.result(node, name="result")], [data], "pickled")
    model.outputs[0].set_names({"pooled"})
    openvino.save_model(model, path, compress_to_fp16=False)
    return path


@pytest.fixture(params=COPIERS)
def copier(request: pytest.FixtureRequest) -> Copier:
    return COPIERS[request.param]


def test_a_model_means_and_writes_the_same(path: Path, copier: Copier, tmp_path: Path) -> None:
    model = ir_tools.read(path)
    twin = copier(model)
    assert render(twin) == path.read_bytes()
    np.testing.assert_array_equal(ir_tools.run(twin, DATA)["pooled"], ir_tools.run(model, DATA)["pooled"])
    assert (twin.name, twin.version, twin.path) == (model.name, model.version, model.path)
    assert twin.line_of(twin.graph, 3) == model.line_of(model.graph, 3)
    ir_tools.write(twin, tmp_path / "out.xml")
    assert (tmp_path / "out.bin").read_bytes() == path.with_suffix(".bin").read_bytes()


def test_a_copy_can_be_changed_alone(path: Path, copier: Copier) -> None:
    model = ir_tools.read(path)
    twin = copier(model)
    twin.graph.rename(0, "renamed")
    twin.graph.layer(0).outputs[0].names = ("other",)
    twin.graph.remove(len(twin.graph) - 1)
    twin.weights.append(b"1234")
    assert render(model) == path.read_bytes()
    assert not model.weights.pending


@pytest.mark.parametrize("make", MODELS)
def test_models_with_bodies(make: Callable[[], Any], copier: Copier, tmp_path: Path) -> None:
    serialize(make(), str(tmp_path / "model.xml"))
    model = ir_tools.read(tmp_path / "model.xml")
    twin = copier(model)
    assert render(twin) == render(model)
    assert [(path, layer.type) for path, layer, _ in twin.walk()] == [
        (path, layer.type) for path, layer, _ in model.walk()
    ]


def test_a_changed_model_keeps_its_changes(path: Path) -> None:
    """Also constants that a migration added behind those of the file."""
    migrated = ir_tools.migrate(path, to="opset8").model
    assert migrated.weights.pending
    twin = pickle.loads(pickle.dumps(migrated))
    assert render(twin) == render(migrated)
    np.testing.assert_array_equal(ir_tools.run(twin, DATA)["pooled"], ir_tools.run(migrated, DATA)["pooled"])


def test_models_that_were_never_a_file(copier: Copier) -> None:
    made = ir_tools.ngraph.to_model(ir_tools.ngraph.avg_pool([2, 2]), "1,64,8,8")
    twin = copier(made)
    np.testing.assert_array_equal(ir_tools.run(twin, DATA)["AvgPool"], ir_tools.run(made, DATA)["AvgPool"])
    data = opset13.parameter([1, 64, 8, 8], np.float32, name="data")
    added = opset13.add(data, np.full((1, 64, 8, 8), 2.0, np.float32), name="sum")
    twin = copier(ir_tools.read(openvino.Model([added], [data], "memory")))
    (found,) = ir_tools.run(twin, DATA).values()
    np.testing.assert_array_equal(found, DATA["data"] + 2)


def test_weights_are_not_pickled(path: Path) -> None:
    assert len(pickle.dumps(ir_tools.read(path))) < path.stat().st_size + 2000


def test_weights_that_have_changed_since_are_refused(path: Path, tmp_path: Path) -> None:
    xml, weights = tmp_path / "model.xml", tmp_path / "model.bin"
    xml.write_bytes(path.read_bytes())
    weights.write_bytes(path.with_suffix(".bin").read_bytes())
    pickled = pickle.dumps(ir_tools.read(xml))
    other = tmp_path / "other.bin"
    other.write_bytes(bytes(weights.stat().st_size))
    os.utime(other, ns=(weights.stat().st_atime_ns, weights.stat().st_mtime_ns + 1))
    other.replace(weights)
    with pytest.raises(ir_tools.ReadError, match=r"model.bin.*has changed since the model was pickled"):
        pickle.loads(pickled)
    weights.unlink()
    with pytest.raises(ir_tools.ReadError, match=r"model.bin.*has changed since the model was pickled"):
        pickle.loads(pickled)


def test_weights_that_changed_before_are_those_that_were_read(path: Path, tmp_path: Path) -> None:
    xml, weights = tmp_path / "model.xml", tmp_path / "model.bin"
    xml.write_bytes(path.read_bytes())
    weights.write_bytes(path.with_suffix(".bin").read_bytes())
    model = ir_tools.read(xml)
    other = tmp_path / "other.bin"
    other.write_bytes(bytes(weights.stat().st_size))
    other.replace(weights)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(ir_tools.run(twin, DATA)["pooled"], ir_tools.run(path, DATA)["pooled"])


def test_a_model_without_its_weights_stays_one(path: Path, tmp_path: Path) -> None:
    xml = tmp_path / "alone.xml"
    xml.write_bytes(path.read_bytes())
    twin = pickle.loads(pickle.dumps(ir_tools.read(xml)))
    assert twin.weights.missing
    with pytest.raises(ir_tools.ReadError, match=r"alone.bin"):
        twin.weights.append(b"1")


# --- results ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def results(path: Path) -> dict[str, Any]:
    """One of each kind of object that a script gets."""
    model = ir_tools.read(path)
    broken = pooling_xml().replace('exclude-pad="true"', 'exclude_pad="false"').encode()
    migration = ir_tools.migrate(path, to="opset8")
    comparison = ir_tools.compare(model)
    report = ir_tools.propagate_shapes(model)
    findings = ir_tools.validate(broken)
    return {
        "Graph": model.graph,
        "Layer": model.graph.layer(1),
        "LayerContent": model.graph.layer(1).content,
        "Port": model.graph.layer(0).outputs[0],
        "Endpoint": model.inputs[0],
        "Weights": model.weights,
        "Diagnostic": findings[0],
        "Findings": findings,
        "Migration": migration,
        "MigrationStep": migration.steps[0],
        "ShapeReport": report,
        "Comparison": comparison,
        "LayerComparison": comparison.layers[0],
        "OutputComparison": comparison.outputs[0],
        "InputPlan": ir_tools.plan_inputs(model),
        "Dim": ir_tools.Dim(1, 3),
        "PoolingSpec": ir_tools.ngraph.avg_pool([2, 2]),
    }


def test_results_are_copied(results: dict[str, Any], copier: Copier) -> None:
    for name, found in results.items():
        twin = copier(found)
        assert type(twin).__name__ == type(found).__name__ == name
        assert repr(twin) == repr(found)


def echo(value: object) -> tuple[object, str]:
    return value, repr(value)


def test_results_cross_processes(results: dict[str, Any]) -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        for found, (twin, text) in zip(results.values(), pool.map(echo, results.values()), strict=True):
            assert text == repr(found) == repr(twin)


def test_what_a_report_says_is_pickled(results: dict[str, Any]) -> None:
    report = results["ShapeReport"]
    twin = pickle.loads(pickle.dumps(report))
    assert (twin.shapes, twin.origins, twin.mismatches) == (report.shapes, report.origins, report.mismatches)
    values = [(fact.value, twin.facts[key].value) for key, fact in report.facts.items() if fact.value is not None]
    assert values
    for first, second in values:
        np.testing.assert_array_equal(first.lower, second.lower)
        np.testing.assert_array_equal(first.upper, second.upper)
