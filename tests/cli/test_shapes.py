"""`ir-tools shapes`."""

from pathlib import Path

import numpy as np
import openvino
import pytest

import ir_tools
from ir_tools.builder import Builder
from tests.cli.conftest import Cli, pooling_xml

KEYS = {
    "command",
    "ir_tools",
    "file",
    "ok",
    "reshaped",
    "ports",
    "origins",
    "endpoints",
    "mismatches",
    "warnings",
    "written",
}


def test_agreement(cli: Cli, model: Path) -> None:
    outcome = cli("shapes", model, "--json")
    assert outcome.code == 0
    assert set(outcome.document) == KEYS
    assert outcome.document["ports"] == 4
    assert outcome.document["origins"] == {"rule": 4}
    assert "All ports agree." in cli("shapes", model).out


def test_difference(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "wrong.xml"
    path.write_text(pooling_xml(recorded=(1, 2, 5, 4)))
    outcome = cli("shapes", path, "--json")
    assert outcome.code == 1
    first = outcome.document["mismatches"][0]
    assert (first["path"], first["layer_id"], first["line"], first["port"]) == ("pool", 1, 8, 1)
    assert (first["what"], first["recorded"], first["computed"]) == ("dims", "1,2,5,4", "1,2,4,4")
    shown = cli("shapes", path)
    assert shown.code == 1
    assert "1,2,5,4   1,2,4,4" in shown.out


def test_corrected_model_agrees(cli: Cli, tmp_path: Path) -> None:
    path, fixed = tmp_path / "wrong.xml", tmp_path / "fixed.xml"
    path.write_text(pooling_xml(recorded=(1, 2, 5, 4)))
    assert cli("shapes", path, "-o", fixed).code == 1
    assert cli("shapes", fixed).code == 0
    assert fixed.read_text() == pooling_xml()


@pytest.mark.parametrize("shape", ["4,2,16,10", "?,2,16..64,?"])
def test_reshape_is_what_the_runtime_makes_of_it(cli: Cli, model: Path, tmp_path: Path, shape: str) -> None:
    target = tmp_path / "reshaped.xml"
    outcome = cli("shapes", model, "--set", f"data={shape}", "-o", target, "--json")
    assert outcome.code == 0
    expected = openvino.Core().read_model(model)
    expected.reshape(shape)
    written = openvino.Core().read_model(target)
    assert written.inputs[0].partial_shape == expected.inputs[0].partial_shape
    assert written.outputs[0].partial_shape == expected.outputs[0].partial_shape
    computed = outcome.document["endpoints"][1]["shape"]
    assert openvino.PartialShape(f"[{computed}]") == expected.outputs[0].partial_shape


def test_one_input_needs_no_name(cli: Cli, model: Path) -> None:
    named, alone = (cli("shapes", model, "--set", text).out for text in ("data=4,2,16,10", "4,2,16,10"))
    assert alone == named


def test_a_layer_that_cannot_take_the_shape(cli: Cli, model: Path, tmp_path: Path) -> None:
    outcome = cli("shapes", model, "--set", "data=1,2,1,1", "-o", tmp_path / "no.xml")
    assert outcome.code == 1
    assert "pool" in outcome.out
    assert not (tmp_path / "no.xml").exists()
    assert cli("shapes", model, "--set", "data=1,2,1,1", "--json").document["ok"] is False


def test_every_port(cli: Cli, model: Path) -> None:
    rows = cli("shapes", model, "--all", "--json").document["all"]
    assert [(row["path"], row["port"], row["shape"], row["origin"]) for row in rows] == [
        ("data", 0, "1,2,8,8", "rule"),
        ("pool", 0, "1,2,8,8", "rule"),
        ("pool", 1, "1,2,4,4", "rule"),
        ("result", 0, "1,2,4,4", "rule"),
    ]
    assert cli("shapes", model, "--all").out.count("rule") >= 4


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--set", "=1,2"], "expected [NAME=]SHAPE"),
        (["--set", "data"], "'data'"),
        (["--set", "1,2,8,8", "--set", "data=1,2,8,8"], "two shapes"),
        (["--set", "data=1,x"], "'x'"),
        (["--set", "nobody=1,2,8,8"], "data"),
        (["--set", "data=8..2"], "8..2"),
        (
            ["--set", "data=9223372036854775807,2,8,8"],
            "[9223372036854775807,2,8,8], whose 1180591620717411303296 elements",
        ),
        (["-o", "out.onnx"], ".xml"),
        (["-o", "nowhere/out.xml"], "nowhere"),
    ],
    ids=lambda value: "_".join(value) if isinstance(value, list) else None,
)
def test_wrong_arguments(cli: Cli, model: Path, words: list[str], says: str) -> None:
    outcome = cli("shapes", model, *words)
    assert outcome.code == 2
    assert says in outcome.err
    assert outcome.err.count("\n") == 1


def test_old_values_of_a_pattern_that_gave_way_are_not_written(cli: Cli, tmp_path: Path) -> None:
    builder = Builder()
    data, weights = builder.parameter("x", "1,2,3,3"), builder.constant(np.ones((18, 4), np.float32))
    rows = builder.call("Reshape", data, np.array([1, 18]), special_zero=False)
    builder.result(builder.call("MatMul", rows, weights), "y")
    model, reshaped = tmp_path / "m.xml", tmp_path / "out.xml"
    ir_tools.write(builder.model, model)
    assert cli("shapes", model, "--set", "x=3,2,3,3", "-o", reshaped).code == 0
    assert reshaped.with_suffix(".bin").stat().st_size == model.with_suffix(".bin").stat().st_size
    assert not ir_tools.validate(reshaped)
    (found,) = ir_tools.run(ir_tools.read(reshaped), {"x": np.ones((3, 2, 3, 3), np.float32)}).values()
    assert (found == np.full((3, 4), 18, np.float32)).all()
