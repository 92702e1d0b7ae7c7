"""`ir-tools run`."""

from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset13 as ops
import pytest

import ir_tools
from tests.cli.conftest import Cli


@pytest.fixture
def array(tmp_path: Path) -> Path:
    path = tmp_path / "data.npy"
    np.save(path, np.arange(128, dtype=np.float32).reshape(1, 2, 8, 8))
    return path


@pytest.mark.parametrize("engine", ["reference", "runtime"])
def test_values(cli: Cli, model: Path, array: Path, tmp_path: Path, engine: str) -> None:
    target = tmp_path / "out.npz"
    outcome = cli("run", model, "--input", f"data={array}", "--engine", engine, "-o", target, "--json")
    assert outcome.code == 0
    (entry,) = outcome.document["outputs"]
    assert entry["shape"] == [1, 2, 4, 4]
    assert entry["first"] == [4.5, 6.5, 8.5, 10.5, 20.5]
    assert (entry["min"], entry["max"], entry["nan"]) == (4.5, 122.5, 0)
    with np.load(target) as saved:
        expected = np.load(array).reshape(1, 2, 4, 2, 4, 2).mean(axis=(3, 5))
        np.testing.assert_array_equal(saved[entry["name"]], expected)


def test_the_seed_decides(cli: Cli, model: Path) -> None:
    values = [cli("run", model, "--seed", seed, "--json").document["outputs"][0]["first"] for seed in (1, 1, 2)]
    assert values[0] == values[1] != values[2]


def test_text(cli: Cli, model: Path, array: Path) -> None:
    shown = cli("run", model, "--input", f"data={array}").out
    assert "4.5 6.5 8.5 10.5 20.5" in shown
    assert "1,2,4,4" in shown


def test_a_boolean_output(cli: Cli, tmp_path: Path) -> None:
    data = ops.parameter([2], np.float32)
    target = tmp_path / "signs.xml"
    ov.save_model(ov.Model([ops.greater(data, np.float32(0))], [data]), target)
    path = tmp_path / "signs.npy"
    np.save(path, np.array([1, -1], dtype=np.float32))
    told = "run", target, "--input", f"{ir_tools.read(target).inputs[0].name}={path}"
    shown = cli(*told)
    assert (shown.code, "True False" in shown.out) == (0, True)
    assert cli(*told, "--json").document["outputs"][0]["first"] == [True, False]


def test_not_a_number_is_text_in_json(cli: Cli, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "nan.npy"
    np.save(path, np.full((1, 2, 8, 8), np.nan, dtype=np.float32))
    (entry,) = cli("run", model, "--input", f"data={path}", "--json").document["outputs"]
    assert (entry["nan"], entry["min"], entry["first"][0]) == (32, None, "nan")


def test_wrong_arguments(cli: Cli, model: Path, array: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "several.npz", a=np.zeros(1), b=np.zeros(1))
    np.save(tmp_path / "small.npy", np.zeros((1, 2), dtype=np.float32))
    np.save(tmp_path / "wide.npy", np.zeros((1, 2, 8, 8)))
    (tmp_path / "text.npy").write_text("no array")
    cases: list[tuple[list[object], str]] = [
        (["--input", "data"], "NAME=FILE"),
        (["--input", "data=nowhere.npy"], "nowhere.npy"),
        (["--input", f"data={tmp_path / 'text.npy'}"], "text.npy"),
        (["--input", f"data={tmp_path / 'several.npz'}"], "several"),
        (["--input", f"data={tmp_path / 'small.npy'}"], "data"),
        (["--input", f"data={tmp_path / 'wide.npy'}"], "f32"),
        (["--input", f"other={array}"], "other"),
        (["--engine", "gpu"], "gpu"),
        (["-o", tmp_path / "nowhere" / "out.npz"], "nowhere"),
    ]
    for words, says in cases:
        outcome = cli("run", model, *words)
        assert outcome.code == 2, words
        assert says in outcome.err, words
        assert outcome.err.count("\n") == 1, words


def test_a_layer_without_a_kernel_is_named(cli: Cli, model: Path) -> None:
    model.write_text(model.read_text().replace('type="AvgPool"', 'type="Mystery"'))
    outcome = cli("run", model)
    assert outcome.code == 2
    assert "Mystery" in outcome.err
    assert outcome.err.count("\n") == 1
