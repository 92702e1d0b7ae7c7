"""The three judges, in Python and on the command line."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ir_tools
from ir_tools.comparison import onnx as onnx_comparison
from ir_tools.errors import RuntimeFailure
from tests.cli.conftest import Cli, cli
from tests.comparison.onnx.conftest import Make

__all__ = ["cli"]

pytest.importorskip("onnxruntime")
ENGINES = ["ir_tools", "openvino", "onnxruntime"]


@pytest.fixture
def without_onnxruntime(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise RuntimeFailure("onnxruntime is not installed", kind="missing")

    monkeypatch.setattr(onnx_comparison, "run_onnxruntime", missing)


def test_agreement(plain: Path) -> None:
    found = ir_tools.compare_onnx(plain)
    assert found.ok
    assert [engine.name for engine in found.engines if engine.ran] == ENGINES
    assert [len(entry.pairs) for entry in found.outputs] == [3]
    assert found.outputs[0].verdict == "all agree"
    assert found.isolated is not None
    assert [entry.status for entry in found.isolated.layers] == ["ok"]


def test_the_importer_deviates_from_the_other_two(overhanging: Path) -> None:
    found = ir_tools.compare_onnx(overhanging, {"x": np.array([[[1, 2, 3]]], np.float32)})
    assert not found.ok
    assert found.outputs[0].deviates == ("openvino",)
    assert found.supports_ours


def test_onnxruntime_deviates_by_its_shape(pooling: Make) -> None:
    path = pooling([1, 1, 5], kernel_shape=[2], dilations=[3], auto_pad="SAME_UPPER")
    found = ir_tools.compare_onnx(path)
    assert found.outputs[0].verdict == "onnxruntime deviates"
    assert any(pair.reason for pair in found.outputs[0].pairs)


def test_what_onnxruntime_refuses_is_a_reason(pooling: Make) -> None:
    found = ir_tools.compare_onnx(pooling([1, 1, 4], kernel_shape=[2], dilations=[3], pads=[2, 2]))
    assert found.ok
    reason = found.engines[2].reason
    assert reason is not None
    assert "Pad should be smaller than kernel" in reason


@pytest.mark.usefixtures("without_onnxruntime")
def test_two_judges_only_differ(overhanging: Path) -> None:
    found = ir_tools.compare_onnx(overhanging)
    assert found.outputs[0].verdict == "ir_tools and openvino differ"


def test_dynamic_dims_are_fed(pooling: Make) -> None:
    found = ir_tools.compare_onnx(pooling(["n", 2, "h"], 11, kernel_shape=[3], pads=[1, 1]))
    assert found.ok
    assert found.inputs["x"].shape == (1, 2, 32)


def test_facade_does_not_load_openvino() -> None:
    code = "import sys, ir_tools; ir_tools.onnx.read; assert 'openvino' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_python_names_take_onnx(overhanging: Path) -> None:
    assert [end.name for end in ir_tools.read(overhanging).outputs] == ["y"]
    migrated = ir_tools.migrate(overhanging)
    assert [(step.before, step.line) for step in migrated.steps] == [("AveragePool", None)]
    result = ir_tools.compare(overhanging)
    assert result.ok


def test_compare_command(cli: Cli, overhanging: Path) -> None:
    found = cli("compare", overhanging, "--json")
    assert found.code == 1
    assert [entry["name"] for entry in found.document["engines"]] == ENGINES
    assert found.document["outputs"][0]["deviates"] == ["openvino"]
    assert "openvino deviates" in cli("compare", overhanging).out


def test_inspect_command(cli: Cli, plain: Path) -> None:
    found = cli("inspect", plain, "--json")
    assert found.code == 0
    assert found.document["onnx"]["opsets"] == {"ai.onnx": 11}
    assert [row["op"] for row in found.document["poolings"]] == ["AvgPool-1"]
    assert "opset ai.onnx 11" in cli("inspect", plain).out


def test_migrate_command_asks_both_judges(cli: Cli, overhanging: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.xml"
    found = cli("migrate", overhanging, "-o", out, "--verify", "--json")
    assert found.code == 0
    assert out.is_file()
    assert found.document["verified"]["outputs"][0]["deviates"] == ["openvino"]
    assert cli("compare", overhanging, out).code == 0
    assert cli("shapes", out).code == 0


@pytest.mark.usefixtures("without_onnxruntime")
def test_migrate_command_says_that_the_only_judge_deviates(cli: Cli, overhanging: Path, tmp_path: Path) -> None:
    found = cli("migrate", overhanging, "-o", tmp_path / "out.xml", "--verify")
    assert found.code == 4
    assert "known to deviate" in found.out
    assert not (tmp_path / "out.xml").exists()


def test_migrate_command_refuses(cli: Cli, pooling: Make, tmp_path: Path) -> None:
    path = pooling(None, kernel_shape=[3], strides=[2], pads=[0, 1], ceil_mode=1, count_include_pad=1, dilations=[2])
    found = cli("migrate", path, "-o", tmp_path / "out.xml")
    assert found.code == 3
    assert "rank" in found.out
    assert not (tmp_path / "out.xml").exists()


@pytest.mark.parametrize("command", ["inspect", "shapes", "run", "compare", "migrate"])
def test_a_broken_file_is_one_line(cli: Cli, tmp_path: Path, command: str) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"\x08\x07\xff\xff no model")
    found = cli(command, path, *(["--dry-run"] if command == "migrate" else []))
    assert found.code == 2
    assert found.err.count("\n") == 1
    assert "broken.onnx" in found.err


def test_options_about_layers_sides_and_files_are_honoured(cli: Cli, plain: Path, tmp_path: Path) -> None:
    """The model converted here is compared as an IR is."""
    page, dump = tmp_path / "report.html", tmp_path / "dump"
    found = cli("compare", plain, "--report", page, "--dump", dump, "--type", "AvgPool", "--json").document
    assert (found["mode"], [layer["op"] for layer in found["layers"]]) == ("isolated", ["AvgPool-1"])
    assert page.stat().st_size > 1000
    assert list(dump.iterdir())
    for options, mode in {
        ("--mode", "cumulative"): "cumulative",
        ("--outputs-only",): "cumulative",
        ("--against", "CPU"): "runtime against runtime",
    }.items():
        found = cli("compare", plain, *options, "--json").document
        assert found["mode"] == mode
        assert options[0] in found["replay"]
