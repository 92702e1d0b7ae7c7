"""Releases of OpenVINO on the command line: `--runtime`, `--against`, and `migrate --for` with `--verify`."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import ir_tools
from ir_tools import RuntimeFailure
from ir_tools.releases.table import find_release
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.environments import release_python
from ir_tools.runtime.release import ReleaseClient
from tests.cli.conftest import Cli
from tests.importers.onnx.models import Row, model_of
from tests.runtime.releases import client_of, small


@pytest.fixture(scope="module", autouse=True)
def releases() -> None:
    """The releases of these tests are here."""
    for version in ("2021.4", "2022.3", "2024.6"):
        client_of(version)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "small.xml"
    path.write_bytes(small())
    return path


@pytest.fixture
def gelu(tmp_path: Path) -> Path:
    """A model with a Gelu that 2022.3 and later read, and that 2021.4 does not, of IR v10."""
    path = tmp_path / "gelu.xml"
    path.write_bytes(small(layer='type="SoftSign" version="opset9"'))
    return path


def test_a_python_that_does_not_start_is_no_fault_of_a_layer(cli: Cli, model: Path) -> None:
    python = model.with_name("python")
    python.write_text("#!/bin/sh\nexit 3\n")
    python.chmod(0o755)
    release = ("--runtime", "openvino-2022.3", "--runtime-python", python)
    for words in (("run", model), ("validate", model, "--jobs", "1"), ("validate", model.parent, "--jobs", "2")):
        outcome = cli(*words, *release)
        assert outcome.code == 2
        assert outcome.out == ""
        assert outcome.err.startswith("ir-tools: OpenVINO 2022.3 crashed (exit code 3) while starting")
        assert "layer" not in outcome.err


def linked(source: str, target: str) -> None:
    """Make a hard link, or a copy on another file system."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def damaged(version: str, folder: Path) -> Path:
    """Return the Python of a copy of a release's environment, whose CPU plugin is cut."""
    release = find_release(f"openvino-{version}")
    python = release_python(release)
    copy = folder / release.name
    shutil.copytree(python.parent.parent, copy, symlinks=True, copy_function=linked)
    (plugin,) = copy.rglob("libopenvino_intel_cpu_plugin.so")
    start = plugin.read_bytes()[:1000]
    plugin.unlink()
    plugin.write_bytes(start)
    return copy / "bin" / "python"


def test_damaged_files_of_a_release_are_no_fault_of_a_layer(
    cli: Cli, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = damaged("2022.3", tmp_path / "runtimes")
    for words in (("run", model), ("compare", model), ("validate", model)):
        outcome = cli(*words, "--runtime", "openvino-2022.3", "--runtime-python", python)
        assert outcome.is_one_line
        assert "a model of one ReLU fails as well, so files of the runtime are damaged; name another" in outcome.err
        assert "layer" not in outcome.err
    monkeypatch.setenv("IR_TOOLS_RUNTIMES", str(tmp_path / "runtimes"))
    outcome = cli("run", model, "--runtime", "openvino-2022.3")
    assert "damaged; recreate it with: ir-tools runtimes --remove openvino-2022.3 && " in outcome.err
    (found,) = ir_tools.compat(model, ["openvino-2022.3"], check=True)
    assert (str(found.answer), found.checked) == ("runs", "missing")


def test_two_releases_layer_by_layer(cli: Cli, model: Path) -> None:
    outcome = cli("compare", model, "--runtime", "openvino-2021.4", "--against", "openvino-2024.6", "--json")
    assert outcome.code == 0, outcome.err
    found = outcome.document
    assert found["mode"] == "runtime against runtime"
    assert found["sides"]["layers"] == {"expected": "OpenVINO 2021.4: CPU, f32", "actual": "OpenVINO 2024.6: CPU, f32"}
    assert [(row["path"], row["status"]) for row in found["layers"]] == [
        (name, "ok") for name in ("relu", "twice", "sum")
    ]
    assert "--runtime openvino-2021.4" in found["replay"]
    assert "--against openvino-2024.6" in found["replay"]


def test_several_releases_at_once(cli: Cli, model: Path) -> None:
    words = ("compare", model, "--against", "openvino-2021.4", "--against", "openvino-2024.6", "--outputs-only")
    found = cli(*words, "--json").document
    assert [one["second"] for one in found["comparisons"]] == ["OpenVINO 2021.4: CPU, f32", "OpenVINO 2024.6: CPU, f32"]
    report = model.with_suffix(".html")
    outcome = cli(*words, "--report", report)
    assert (outcome.code, outcome.out.count("No difference")) == (0, 2)
    *_, heading, first, second, wrote, again = outcome.out.splitlines()
    assert heading.split() == ["against", "needs", "first", "difference", "result"]
    assert [first[:24], second[:24]] == ["OpenVINO 2021.4: CPU, f3", "OpenVINO 2024.6: CPU, f3"]
    assert [line.split()[-1] for line in (first, second)] == ["ok", "ok"]
    assert (wrote, again.count("--against")) == (f"wrote {report}", 2)
    page = report.read_text()
    assert page.count("<iframe") == page.count("about:srcdoc") == 2
    assert page.count("<!DOCTYPE html>") == 1
    assert page.count("&lt;!DOCTYPE html&gt;") == 2


def test_other_model_on_the_other_release(cli: Cli, model: Path) -> None:
    other = model.with_name("other.xml")
    other.write_bytes(small(layer='type="Abs" version="opset1"'))
    outcome = cli("compare", model, other, "--runtime", "openvino-2021.4", "--against", "openvino-2024.6", "--json")
    assert outcome.code == 1
    assert outcome.document["sides"]["layers"]["actual"] == f"OpenVINO 2024.6: {other}"
    assert [row["name"] for row in outcome.document["outputs"] if row["difference"]["needed"] > 1e-3] == ["sum"]


def test_difference_starts_where_a_release_differs(cli: Cli, tmp_path: Path) -> None:
    """Until 2023.1 the two numbers of a byte are swapped."""
    builder = ir_tools.Builder()
    table = builder.constant(np.array([0x21, 0x43], np.uint8), "table", "i4", [4])
    wide = builder.call("Convert", table, name="wide", destination_type="f32")
    builder.result(builder.call("Add", builder.parameter("x", [4]), wide, name="sum"))
    ir_tools.write(builder.model, tmp_path / "nibbles.xml")
    words = ("compare", tmp_path / "nibbles.xml", "--runtime", "openvino-2022.3", "--against", "openvino-2024.6")
    outcome = cli(*words, "--json")
    assert outcome.code == 1, outcome.err
    assert outcome.document["first_difference"]["path"] == "wide"
    assert [(row["release"], row["path"]) for row in outcome.document["known"]] == [("openvino-2022.3", "table")]
    shown = cli(*words, "--report", tmp_path / "report.html").out
    assert "known of openvino-2022.3: &#39;table&#39; (line " in (tmp_path / "report.html").read_text()
    values = "2 from OpenVINO 2022.3: CPU, f32, 1 from OpenVINO 2024.6: CPU, f32, at [0]"
    assert f"The output differs. The first difference is 'wide': {values}" in shown
    assert "known of openvino-2022.3: 'table'" in shown


def test_known_of_one_release_and_not_seen(cli: Cli, tmp_path: Path) -> None:
    """Both numbers of a byte are the same; only the earlier release takes one for the other."""
    builder = ir_tools.Builder()
    table = builder.constant(np.array([0x11, 0x33], np.uint8), "table", "i4", [4])
    wide = builder.call("Convert", table, destination_type="f32")
    builder.result(builder.call("Add", builder.parameter("x", [4]), wide))
    ir_tools.write(builder.model, tmp_path / "nibbles.xml")
    words = ("compare", tmp_path / "nibbles.xml", "--runtime", "openvino-2022.3", "--against")
    outcome = cli(*words, "openvino-2024.6")
    assert outcome.code == 0
    assert "known of openvino-2022.3, which this comparison does not show: 'table' (line " in outcome.out
    assert cli(*words, "openvino-2022.2", "--json").document["known"] == []


def test_run(cli: Cli, model: Path) -> None:
    found = cli("run", model, "--runtime", "openvino-2021.4", "--json").document
    assert (found["engine"], found["release"]) == ("runtime", "openvino-2021.4")
    assert [(row["name"], row["type"]) for row in found["outputs"]] == [("sum", "f32"), ("twice", "i32")]
    outcome = cli("run", model, "--runtime", "openvino-2021.4", "--engine", "reference")
    assert (outcome.code, outcome.out) == (2, "")


def test_validate_asks_the_release(cli: Cli, gelu: Path) -> None:
    outcome = cli("validate", "--runtime", "openvino-2021.4", gelu, "--format", "concise")
    assert outcome.code == 1
    assert "RUN101: layer 2 'relu': OpenVINO 2021.4 rejects" in outcome.out
    newer = gelu.with_name("newer.xml")
    newer.write_bytes(small(11))
    outcome = cli("validate", "--runtime", "openvino-2021.4", newer)
    assert "error RUN101: OpenVINO 2021.4 does not read IR v11" in outcome.out
    assert "migrate it: ir-tools migrate MODEL --for openvino-2021.4 -o OUT.xml" in outcome.out
    for words in (("--runtime", gelu), (gelu, "--runtime"), ("--runtime=openvino-2024.6", gelu)):
        assert cli("validate", *words).code == 0


def test_rejected_layer_is_named(cli: Cli, gelu: Path) -> None:
    lines = enumerate(gelu.read_text().splitlines(), 1)
    at = next(number for number, line in lines if 'name="relu"' in line)
    for words in (("compare", "--against"), ("run", "--runtime")):
        outcome = cli(words[0], gelu, words[1], "openvino-2021.4")
        assert outcome.is_one_line
        assert "OpenVINO 2021.4 rejects it: " in outcome.err
        assert f"; the layer is 'relu' (line {at}); ir-tools compat lists the layers that it does not" in outcome.err
        assert "; migrate the model for it with: ir-tools migrate MODEL --for openvino-2021.4 -o OUT.xml" in outcome.err


def test_a_failure_that_the_tables_do_not_know_gives_no_advice(
    cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a migration, or of a file that the release reads as all others do."""
    monkeypatch.setattr(ReleaseClient, "infer", out_of_order)
    outcome = cli("run", model, "--runtime", "openvino-2021.4")
    assert outcome.is_one_line
    assert "OpenVINO 2021.4 rejects it: no" in outcome.err
    assert "migrate" not in outcome.err


def out_of_order(*_: object, **__: object) -> None:
    """Reject whatever is run."""
    raise RuntimeFailure("OpenVINO 2021.4 rejects it: no", kind="rejected", stage="running the model")


def test_ir_version_that_a_release_does_not_read(cli: Cli, model: Path) -> None:
    model.write_bytes(small(11))
    outcome = cli("compare", model, "--against", "openvino-2021.4")
    assert outcome.is_one_line
    assert "OpenVINO 2021.4 does not read IR v11; migrate the model for it" in outcome.err


def test_migration_is_verified_on_its_release(cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model.write_bytes(small(11))
    words = ("migrate", model, "--for", "openvino-2021.4", "--verify", "-o", model.with_name("new.xml"))
    found = cli(*words, "--json").document["verified"]
    assert found["ok"]
    assert found["new"] == "OpenVINO 2021.4: the migrated model"
    monkeypatch.setenv("IR_TOOLS_RUNTIMES", str(model.parent / "none"))
    model.with_name("new.xml").unlink()
    outcome = cli(*words)
    assert outcome.is_one_line
    assert "OpenVINO 2021.4 is not installed; add it with: ir-tools runtimes --add openvino-2021.4" in outcome.err
    assert not model.with_name("new.xml").exists()


def test_onnx_is_verified_on_the_release(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "pool.onnx"
    path.write_bytes(model_of([Row({"kernel_shape": [2, 2]}, (1, 2, 6, 6))], 11).SerializeToString())
    words = ("migrate", path, "--for", "openvino-2021.4", "--verify", "-o", tmp_path / "new.xml")
    found = cli(*words, "--json").document["verified"]
    assert (found["ok"], found["release"]["new"]) == (True, "OpenVINO 2021.4: the migrated model")
    assert found["release"]["old"] == f"{RuntimeClient().title}: the migrated model"
    assert "OpenVINO 2021.4: the migrated model, against OpenVINO 2026.4" in cli(*words).out
    words = ("migrate", path, "--runtime", "openvino-2022.3", "--verify", "-o", tmp_path / "new.xml")
    found = cli(*words, "--json").document["verified"]
    assert (found["ok"], found["release"]["new"]) == (True, "OpenVINO 2022.3: the migrated model")
    outcome = cli(*words, "--for", "openvino-2021.4")
    assert "OpenVINO 2021.4: the migrated model, against OpenVINO 2022.3" in outcome.out
    monkeypatch.setattr(ReleaseClient, "infer", rejecting)
    outcome = cli(*words)
    assert (outcome.code, outcome.out.splitlines()[-2]) == (4, "Not verified: too old. Nothing was written.")


def rejecting(*_: object, **__: object) -> None:
    """Reject whatever is asked."""
    raise RuntimeFailure("too old", kind="rejected")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("compare", "--against", "openvino-2021.1"),
            "there is no release 'openvino-2021.1'; expected inference-engine-2020.1 or openvino-2021.2 to ",
        ),
        (("compare", "--against", "2022.3"), "there is no release '2022.3'; did you mean 'openvino-2022.3'?"),
        (
            ("compare", "--against", "openvino-2024"),
            "there is no release 'openvino-2024'; did you mean 'openvino-2024.6'?",
        ),
        (
            ("compare", "--against", "inference-engine-2020.1"),
            "runs models of IR v2 to v7, only in compare and migrate",
        ),
        (("compare", "--runtime", "inference-engine-2020.1"), "runs models of IR v2 to v7, but this one is IR v10"),
        (("run", "--runtime", "openvino-2022.9"), "there is no release"),
        (
            ("run", "--runtime", "openvino"),
            "there is no release 'openvino'; openvino is the installed one, which is the default; expected inference-",
        ),
        (("run", "--runtime", "inference-engine-2020.1"), "name a release of OpenVINO"),
        (("run", "--install"), "--runtime-python and --install need a release; name it with --runtime"),
        (("validate", "--install"), "need a release; name it with --runtime"),
        (("validate", "--runtime=openvino-20"), "there is no release"),
        (("compare", "--runtime", "openvino-2023.3"), "add it with: ir-tools runtimes --add openvino-2023.3"),
    ],
)
def test_wrong_usage(
    cli: Cli, model: Path, words: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IR_TOOLS_RUNTIMES", str(model.parent / "none"))
    outcome = cli(words[0], model, *words[1:])
    assert outcome.is_one_line
    assert message in outcome.err


def test_python_takes_releases_by_the_same_words(model: Path, gelu: Path) -> None:
    found = ir_tools.compare(model, runtime="openvino-2021.4", against="openvino-2024.6")
    assert (found.ok, found.layer_sides.actual) == (True, "OpenVINO 2024.6: CPU, f32")
    with ir_tools.Session(model, engine="runtime", runtime="openvino-2021.4") as session:
        outputs = session.run({"x": np.ones((2, 3), np.float32), "n": np.array([1, 2])})
    assert outputs["twice"].dtype == np.int32
    same = ir_tools.run(model, {"x": np.ones((2, 3), np.float32), "n": np.array([1, 2])}, runtime="openvino-2021.4")
    assert same["twice"].dtype == np.int32
    findings = ir_tools.validate(gelu, select="RUN", runtime="openvino-2021.4")
    assert [finding.path for finding in findings] == ["relu"]


def test_packed_elements_are_fed_to_a_release(cli: Cli, tmp_path: Path) -> None:
    builder = ir_tools.Builder(opset=13)
    builder.result(builder.call("Convert", builder.parameter("x", (13,), "u4"), destination_type="f32"), "out")
    ir_tools.write(builder.model, tmp_path / "packed.xml")
    outcome = cli("run", tmp_path / "packed.xml", "--runtime", "openvino-2024.6", "--json")
    assert outcome.code == 0, outcome.err
    text = (tmp_path / "packed.xml").read_text()
    (tmp_path / "packed.xml").write_text(text.replace('shape="13"', 'shape="?"').replace("<dim>13<", "<dim>-1<"))
    outcome = cli("run", tmp_path / "packed.xml", "--runtime", "openvino-2024.6")
    assert "input 'x' takes u4, packed into bytes, and a static shape" in outcome.err
