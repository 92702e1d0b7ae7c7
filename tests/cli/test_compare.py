"""`ir-tools compare`."""

import json
import os
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest

import ir_tools
from ir_tools.builder import Builder
from ir_tools.comparison import Comparison
from ir_tools.releases.table import OPENVINO
from tests import stateful
from tests.cli.conftest import Cli, pooling_xml
from tests.comparison.networks import break_reference_in_f32

KEYS = {
    "command", "ir_tools", "file", "other", "ok", "mode", "runtime", "device", "precision", "instead", "second",
    "sides", "seed", "inputs",
    "samples", "needed", "weak", "first_difference", "layers", "outputs", "int8", "known", "replay",
}  # fmt: skip


def test_isolated(cli: Cli, model: Path) -> None:
    outcome = cli("compare", model, "--layers", "--seed", "3", "--json")
    assert outcome.code == 0
    found = outcome.document
    assert set(found) == KEYS
    assert (found["mode"], found["precision"], found["first_difference"]) == ("isolated", "f32", None)
    (layer,) = found["layers"]
    assert (layer["path"], layer["op"], layer["status"]) == ("pool", "AvgPool-1", "ok")
    assert layer["difference"]["elements"] == 32
    words = shlex.split(found["replay"])
    assert cli(*words[1:], "--json").document == found


@pytest.mark.parametrize(
    "name", ["two\nlines.xml", "\x1b[31mred.xml", "it's.xml", "'\\\n\\x41é.xml", os.fsdecode(b"\xff1.xml")]
)
def test_the_printed_command_is_one_line_that_bash_runs(cli: Cli, model: Path, name: str) -> None:
    for path in (model, model.with_suffix(".bin")):
        if path.exists():
            path.with_name(name).with_suffix(path.suffix).write_bytes(path.read_bytes())
    outcome = cli("compare", model.with_name(name))
    (again,) = [line for line in outcome.out.splitlines() if line.startswith("again: ")]
    line = again.removeprefix("again: ir-tools")
    words = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True).stdout
    assert words.split(b"\0")[1] == os.fsencode(model.with_name(name))


def strided_xml(folder: Path) -> Path:
    """A convolution of every other element, behind the sum of the halves of the input."""
    made = Builder(opset=8)
    halves = made.outputs("Split", made.parameter("x", "1,2,4,4"), np.array(1), num_splits=2)
    windows = {"strides": (2, 2), "dilations": (1, 1), "pads_begin": (0, 0), "pads_end": (0, 0)}
    found = made.call(
        "Convolution", made.call("Add", *halves), np.ones((1, 1, 1, 1), np.float32), name="wide", **windows
    )
    made.result(found, "y")
    ir_tools.write(made.model, folder / "strided.xml")
    return folder / "strided.xml"


@pytest.mark.parametrize("mode", ["isolated", "cumulative"])
def test_what_is_known_of_the_installed_runtime_is_named_where_something_differs(
    cli: Cli, model: Path, tmp_path: Path, mode: str
) -> None:
    outcome = cli("compare", strided_xml(tmp_path), "--mode", mode)
    assert outcome.code == 1
    assert f"known of {OPENVINO[-1].name}: 'wide' (line " in outcome.out
    assert cli("compare", model, "--json").document["known"] == []


def test_samples_are_compared_and_repeated(cli: Cli, model: Path, tmp_path: Path) -> None:
    found = cli("compare", model, "--samples", 2, "--json").document
    assert (found["samples"], found["weak"]) == (2, {})
    assert cli(*shlex.split(found["replay"])[1:], "--json").document == found
    assert cli("compare", model, "--samples", 2, "--dump", tmp_path / "dump").code == 2


def test_outputs_that_prove_nothing_are_named(cli: Cli, model: Path) -> None:
    found = cli("compare", model, "--input", "zeros")
    assert found.code == 0
    assert "proves little: all 32 elements are 0 on both sides" in found.out
    assert "No output proves anything" in found.out


def test_table_json_and_report_say_who_is_closer_to_f64(
    cli: Cli, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_reference_in_f32(monkeypatch, "pool")
    page = tmp_path / "report.html"
    outcome = cli("compare", model, "--report", page, "--json")
    assert outcome.code == 1
    assert outcome.document["layers"][0]["f64"]["closer"] == "actual"
    assert "<th>closer to f64</th>" in page.read_text(encoding="utf-8")
    text = cli("compare", model).out
    assert "closer to f64" in text
    assert "pool: computed in f64, reference is off by" in text


def test_the_printed_command_repeats_a_run_on_an_npz(cli: Cli, model: Path, tmp_path: Path) -> None:
    arrays = tmp_path / "it's.npz"
    np.savez(arrays, data=np.ones((1, 2, 8, 8), np.float32))
    found = cli("compare", model, "--input", arrays, "--json").document
    assert cli(*shlex.split(found["replay"])[1:], "--json").document == found


@pytest.mark.parametrize(
    "options",
    [
        ("--layers", "--outputs-only"),
        ("--layers", "--type", "AvgPool"),
        ("--type", "AvgPool", "--outputs-only"),
        ("--mode", "isolated", "--outputs-only"),
        ("--mode", "cumulative", "--against", "CPU"),
    ],
    ids="".join,
)
def test_options_that_contradict_each_other_are_refused(cli: Cli, model: Path, options: tuple[str, ...]) -> None:
    found = cli("compare", model, *options)
    assert found.code == 2
    assert all(option in found.err for option in options if option.startswith("--"))


def test_two_models(cli: Cli, model: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.xml"
    settings = 'kernel="4,4" strides="2,2" pads_begin="1,1" pads_end="1,1" exclude-pad="true"'
    other.write_text(pooling_xml(settings))
    assert cli("compare", model, model).code == 0
    outcome = cli("compare", model, other)
    assert outcome.code == 1
    assert "The first difference is 'pool': " in outcome.out
    document = cli("compare", model, other, "--json").document
    assert document["first_difference"]["path"] == "pool"
    (row,) = document["layers"]
    assert row["status"] == "differs"
    assert document["outputs"][0]["difference"]["max_abs"] > 0
    assert cli("compare", model, other, "--tolerance", "100").code == 0


def test_two_models_whose_inputs_differ_in_shape(cli: Cli, model: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.xml"
    other.write_text(pooling_xml(dims=(1, 2, 8, 9)))
    found = cli("compare", model, other)
    assert (found.code, found.err.count("\n")) == (2, 1)
    assert "input 'data' has shape [1, 2, 8, 8], but 'data' of the other model has [1,2,8,9]" in found.err


def test_the_first_layer_that_differs_is_named(cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = ir_tools.comparison.compare

    def compare(*arguments: Any, **options: Any) -> Comparison:
        found = real(*arguments, **options)
        layers = tuple(replace(entry, status="differs", reason="it was made to") for entry in found.layers)
        return replace(found, layers=layers)

    monkeypatch.setattr("ir_tools.comparison.compare", compare)
    outcome = cli("compare", model)
    assert outcome.code == 1
    assert "The first difference is 'pool'" in outcome.out
    assert "it was made to" in outcome.out


def test_wrong_arguments(cli: Cli, model: Path) -> None:
    for words, says in (
        (["--layers", "--outputs-only"], "cannot be combined"),
        ([model, "--against", "CPU:bf16"], "not both"),
        ([model, "--bisect", "part.xml"], "leave out OTHER"),
        (["--device", "NOTHING"], "NOTHING"),
        (["--input", "nobody=x.npy"], "x.npy"),
        (["--tolerance", "-1"], "--tolerance"),
        ([model.with_name("nowhere.xml")], "nowhere.xml"),
    ):
        outcome = cli("compare", model, *words)
        assert outcome.code == 2, words
        assert says in outcome.err, words
        assert outcome.err.count("\n") == 1, words


def test_the_page_is_written(cli: Cli, model: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    outcome = cli("compare", model, "--report", page)
    assert outcome.code == 0
    assert f"wrote {page}" in outcome.out
    text = page.read_text(encoding="utf-8")
    assert "<svg" in text
    assert "http://" not in text
    assert "https://" not in text
    assert cli("compare", model, "--report", tmp_path / "no" / "report.html").code == 2


def test_tensors_are_dumped(cli: Cli, model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tensors"
    assert cli("compare", model, "--dump", folder).code == 0
    (row,) = json.loads((folder / "tensors.json").read_text())
    assert row["layer"] == "pool"
    np.testing.assert_allclose(np.load(folder / row["expected"]), np.load(folder / row["actual"]), rtol=1e-5)


def test_another_precision(cli: Cli, model: Path) -> None:
    document = cli("compare", model, "--against", "CPU:f32", "--json").document
    assert (document["mode"], document["second"], document["ok"]) == ("runtime against runtime", "CPU, f32", True)


def test_the_printed_command_can_be_run(cli: Cli, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dashed = Path("-d.xml")
    dashed.write_bytes(model.read_bytes())
    first = cli("compare", f"./{dashed}", f"./{dashed}", "--set", "2,2,8,8", "--report", "r.html")
    again = cli(*shlex.split(first.out.partition("again: ")[2])[1:])
    assert again.out.splitlines()[-1] == first.out.splitlines()[-1]
    assert again.code == first.code == 0


def test_the_smallest_part_is_written_with_all_of_its_inputs(cli: Cli, tmp_path: Path) -> None:
    builder, path, part = ir_tools.Builder(), tmp_path / "model.xml", tmp_path / "part.xml"
    builder.result(builder.call("Power", *(builder.parameter(name, "64,64", "f32") for name in "ab")))
    ir_tools.write(builder.model, path)
    found = cli("compare", path, "--bisect", part, "--tolerance", "0", "--seed", "2", "--json").document
    assert found["ok"] is False
    assert found["part"]["layers"] == 1
    assert sorted(found["part"]["inputs"].values()) == [str(tmp_path / f"part.{number}.npy") for number in range(2)]
    again = cli(*shlex.split(found["part"]["replay"])[1:], "--json").document
    assert again["ok"] is False


def test_a_stateful_model_after_some_steps(cli: Cli, tmp_path: Path) -> None:
    path, kept = tmp_path / "model.xml", tmp_path / "states.npz"
    ov.serialize(stateful.accumulator(), path)
    np.save(tmp_path / "x.npy", np.array([[5, 7]], np.float32))
    given = ["--input", f"x={tmp_path / 'x.npy'}"]
    assert cli("run", path, *given, "--steps", 3, "--engine", "runtime", "-o", kept).code == 0
    outcome = cli(
        "compare", path, *given, "--state", kept, "--mode", "cumulative", "--dump", tmp_path / "dump", "--json"
    )
    assert (outcome.code, shlex.quote(f"{kept}") in outcome.document["replay"]) == (0, True)
    tensors = json.loads((tmp_path / "dump" / "tensors.json").read_text())
    assert "ReadValue" in tensors[0]["layer"]
    for side in ("expected", "actual"):
        assert np.load(tmp_path / "dump" / tensors[0][side]).tolist() == [[3 + 3 * 5, 3 + 3 * 7]]
    assert "--bisect compares parts" in cli("compare", path, "--state", kept, "--bisect", tmp_path / "part.xml").err
