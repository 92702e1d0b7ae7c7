"""`ir-tools migrate`."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest

import ir_tools
from ir_tools import comparison
from ir_tools.comparison import Comparison
from ir_tools.errors import RuntimeFailure, WriteError
from ir_tools.rewrite.migration import Migration
from ir_tools.rewrite.steps import RefusedStep
from ir_tools.runtime.client import STAGES
from tests.cli.conftest import Cli
from tests.runtime.releases import client_of

KEYS = {"command", "ir_tools", "file", "ok", "steps", "refused", "remaining", "notes", "int8", "verified", "written"}


def test_migrates_and_writes(cli: Cli, dilated: Path, tmp_path: Path) -> None:
    target = tmp_path / "migrated.xml"
    outcome = cli("migrate", dilated, "-o", target, "--verify", "--json")
    assert outcome.code == 0
    found = outcome.document
    assert set(found) == KEYS
    (step,) = found["steps"]
    assert (step["path"], step["line"], step["before"]) == ("pool", 8, "AvgPool-16")
    assert step["proof"]
    assert found["verified"]["ok"] is True
    assert found["written"] == str(target)
    types = {op.get_type_name() for op in openvino.Core().read_model(target).get_ops()}
    assert "AvgPool" not in types


def test_text_shows_steps_proofs_and_what_was_written(cli: Cli, model: Path, tmp_path: Path) -> None:
    shown = cli("migrate", model, "-o", tmp_path / "migrated.xml").out
    assert "AvgPool opset8" in shown
    assert "why the result is the same" in shown
    assert shown.splitlines()[1].split()[:3] == ["pool", "AvgPool-1", "AvgPool"]
    assert f"Migrated 1 layer; wrote {tmp_path / 'migrated.xml'} (IR v11)." in shown
    assert 'version="opset8"' in (tmp_path / "migrated.xml").read_text()


def test_dry_run_writes_nothing(cli: Cli, model: Path) -> None:
    before = model.read_bytes()
    outcome = cli("migrate", model, "--dry-run")
    assert outcome.code == 0
    assert "nothing was written" in outcome.out
    assert [path.name for path in model.parent.iterdir()] == ["model.xml"]
    assert model.read_bytes() == before


@pytest.fixture
def folder(model: Path, dilated: Path) -> Path:
    """A folder with a model, another one in a folder below, a file that breaks off, and one that is not an IR."""
    found = model.parent / "models"
    (found / "below").mkdir(parents=True)
    for path, name in ((model, "model.xml"), (dilated, "below/dilated.xml")):
        (found / name).write_bytes(path.read_bytes())
    (found / "broken.xml").write_text('<net name="n" version="11"><layers>')
    (found / "settings.xml").write_text("<settings/>")
    return found


def test_models_of_a_folder_keep_their_names_in_another(cli: Cli, folder: Path, tmp_path: Path) -> None:
    client_of("2022.3")
    out = tmp_path / "out"
    outcome = cli("migrate", folder, "--for", "openvino-2022.3", "-o", out, "--verify")
    assert outcome.code == 2
    below, broken, model, _, summary = outcome.out.splitlines()
    assert below == f"{folder / 'below/dilated.xml'}: 1 layer migrated, verified, written"
    assert broken.startswith(f"{folder / 'broken.xml'}:1: error IR002")
    assert model == f"{folder / 'model.xml'}: no layer had to be changed, verified, written"
    assert summary == "2 of 3 models migrated."
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*.xml")) == ["below/dilated.xml", "model.xml"]
    (folder / "broken.xml").unlink()
    outcome = cli("migrate", folder, "--for", "openvino-2022.3", "--dry-run", "--json")
    assert (outcome.code, outcome.document["ok"]) == (0, True)
    assert [len(row["steps"]) for row in outcome.document["files"]] == [1, 0]
    assert cli("migrate", folder, "--to", "opset8", "-o", folder).code == 0
    assert "AvgPool" not in (folder / "below/dilated.xml").read_text()


def test_the_output_of_a_folder_may_be_in_it(cli: Cli, folder: Path) -> None:
    (folder / "broken.xml").unlink()
    for _ in range(2):
        outcome = cli("migrate", folder, "--to", "opset8", "-o", folder / "below/out")
        assert (outcome.code, outcome.out.splitlines()[-1]) == (0, "2 of 2 models migrated.")
    assert {path.name for path in (folder / "below/out").rglob("*.xml")} == {"model.xml", "dilated.xml"}
    for name in ("model.xml", "below/dilated.xml"):
        (folder / name).unlink()
    outcome = cli("migrate", folder, "--to", "opset8", "-o", folder / "below/out")
    assert (outcome.code, f"{folder} has no IR except those in" in outcome.err) == (2, True)


def test_a_refused_model_of_a_folder_does_not_stop_the_others(cli: Cli, folder: Path, tmp_path: Path) -> None:
    (folder / "broken.xml").unlink()
    text = (
        (folder / "model.xml").read_text().replace('type="AvgPool" version="opset1"', 'type="Unique" version="opset10"')
    )
    (folder / "model.xml").write_text(text)
    outcome = cli("migrate", folder, "--for", "openvino-2022.1", "-o", tmp_path / "out")
    assert outcome.code == 3
    assert f"{folder / 'model.xml'}: refused: layer" in outcome.out
    assert [path.name for path in (tmp_path / "out").rglob("*.xml")] == ["dilated.xml"]


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("-o", "one.xml"), "name a folder with -o"),
        (("-o", "out", "--all"), "--all is for one model"),
        (("-o", "out", "--for", "openvino-2019.1"), "there is no release"),
        ((), "name the file to write with -o"),
    ],
)
def test_what_a_folder_cannot_have(cli: Cli, folder: Path, words: tuple[str, ...], wrong: str) -> None:
    outcome = cli("migrate", folder, *words)
    assert outcome.code == 2
    assert wrong in outcome.err


def test_the_output_of_a_file_is_a_file(cli: Cli, model: Path, tmp_path: Path) -> None:
    outcome = cli("migrate", model, "-o", tmp_path / "folder")
    assert outcome.code == 2
    assert "does not end in .xml" in outcome.err


def test_the_output_may_name_the_input(cli: Cli, model: Path) -> None:
    assert cli("migrate", model, "-o", model).code == 0
    assert 'version="opset8"' in model.read_text()
    assert cli("migrate", model, "-o", model, "--json").document["steps"] == []


def test_refused_writes_nothing(cli: Cli, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: ir_tools.Model, **_: object) -> Migration:
        step = RefusedStep(
            path="pool", layer_id=1, line=8, before="AvgPool-16", reason="no exact form", attribute="pads"
        )
        return Migration(model=source, refused=(step,))

    monkeypatch.setattr("ir_tools.migrate", refuse, raising=False)
    target = tmp_path / "migrated.xml"
    outcome = cli("migrate", model, "-o", target, "--verify")
    assert outcome.code == 3
    assert "pads: no exact form" in outcome.out
    assert "nothing was written" in outcome.out
    assert not target.exists()
    assert cli("migrate", model, "-o", target, "--json").document["ok"] is False


def test_a_difference_on_the_runtime_writes_nothing(
    cli: Cli, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = ir_tools.read(model)
    wrong.graph.layer(1).raw.update(kernel="4,4", pads_begin="1,1", pads_end="1,1")
    monkeypatch.setattr(ir_tools, "migrate", lambda *words, **options: Migration(model=wrong))
    target = tmp_path / "migrated.xml"
    outcome = cli("migrate", model, "-o", target, "--verify")
    assert outcome.code == 4
    words = r"ot verified: output 'pooled' differs by [\d.]+, which needs a tolerance of [\d.]+, but 1.0e-04 is allowed"
    assert re.search(rf"N{words}\. Nothing was written\.", outcome.out)
    assert not target.exists()
    (tmp_path / "models").mkdir()
    shutil.copy(model, tmp_path / "models")
    outcome = cli("migrate", tmp_path / "models", "-o", tmp_path / "out", "--verify")
    assert outcome.code == 4
    assert re.search(rf"model.xml: n{words}$", outcome.out, re.MULTILINE)
    assert cli("migrate", model, "-o", target, "--verify", "--tolerance", "1.5").code == 0
    assert target.exists()


@pytest.mark.parametrize("wrong", ["The original model fails", "computes wrong values for the original model"])
def test_an_original_that_the_runtime_does_not_run_as_it_should_is_compared_by_the_reference(
    cli: Cli, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    real = comparison.compare

    def compare(before: ir_tools.Model, after: ir_tools.Model | None = None, **options: Any) -> Comparison:
        if after and wrong == "The original model fails":
            raise RuntimeFailure("the runtime crashed", kind="crashed")
        if after:
            before = before.copy()
            before.graph.layer(1).raw.update(kernel="4,4", pads_begin="1,1", pads_end="1,1")
        return real(before, after, **options)

    monkeypatch.setattr("ir_tools.comparison.compare", compare)
    outcome = cli("migrate", model, "-o", tmp_path / "migrated.xml", "--verify")
    assert outcome.code == 0, outcome.out
    assert wrong in outcome.out
    assert "compared with the reference" in outcome.out
    assert (tmp_path / "migrated.xml").exists()


def test_a_full_disk_is_no_answer_about_the_model(
    cli: Cli, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compare(*_: object, **__: object) -> Comparison:
        raise WriteError("draft cannot be written: no space")

    monkeypatch.setattr("ir_tools.comparison.compare", compare)
    outcome = cli("migrate", model, "-o", tmp_path / "migrated.xml", "--verify")
    assert (outcome.code, outcome.err) == (2, "ir-tools: draft cannot be written: no space\n")


@pytest.mark.parametrize("stage", STAGES)
def test_a_runtime_that_fails_writes_nothing(
    cli: Cli, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    """Other inputs are no help to a model that the runtime does not even compile."""

    def compare(*_: object, **__: object) -> Comparison:
        raise RuntimeFailure("the runtime rejects the model", kind="rejected", stage=stage)

    monkeypatch.setattr("ir_tools.comparison.compare", compare)
    outcome = cli("migrate", model, "-o", tmp_path / "migrated.xml", "--verify", "--json")
    assert outcome.code == 4
    assert outcome.document["verified"]["error"] == "the runtime rejects the model"
    shown = cli("migrate", model, "-o", tmp_path / "migrated.xml", "--verify")
    assert shown.code == 4
    assert "Not verified: the runtime rejects the model. Nothing was written." in shown.out
    assert ("--input" in shown.out) == (stage not in STAGES[:2])
    assert "differs" not in shown.out
    assert not (tmp_path / "migrated.xml").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "-o OUT.xml"),
        (["--dry-run", "--to", "opset99"], "opset99"),
        (["--dry-run", "--to", "ir7"], "ir7"),
        (["--dry-run", "--pass", "nonsense"], "nonsense"),
        (["-o", "migrated"], ".xml"),
        (["-o", "nowhere/migrated.xml"], "nowhere"),
        (["--dry-run", "--seed", "-1"], "--seed"),
        (["--dry-run", "--seed", "3"], "--seed is for --verify, which runs the models; add it"),
        (["--dry-run", "--runtime", "openvino-2022.3"], "--runtime is for --verify"),
        (["--dry-run", "--mean", "3"], "--mean is for --verify"),
        (["--dry-run", "--layers"], "--layers is for --verify"),
        (["--dry-run", "--tolerance", "0"], "--tolerance is for --verify"),
        (["--dry-run", "--verify", "--layers"], "--layers is for models of IR v2 to v7, but this one is IR v11"),
        (["--dry-run", "--set", "x=1,3,8,8"], "--set is only for the inputs of --verify"),
    ],
    ids=lambda value: "_".join(value) or "none" if isinstance(value, list) else None,
)
def test_wrong_arguments(cli: Cli, model: Path, words: list[str], says: str) -> None:
    outcome = cli("migrate", model, *words)
    assert outcome.code == 2
    assert says in outcome.err
    assert outcome.err.count("\n") == 1


def test_an_input_is_reshaped_by_any_of_its_old_names_in_a_file_that_has_others(cli: Cli, tmp_path: Path) -> None:
    builder = ir_tools.Builder(name="named")
    data = builder.parameter("x", "?,3")
    builder.result(builder.call("ReLU", data, name="relu"), "y")
    builder.graph.rename(data.layer, "data")
    ir_tools.write(builder.model, tmp_path / "named.xml")
    words = ["--to", "ir10", "--verify", "--set", "data=2,3", "-o", tmp_path / "ten.xml", "--json"]
    outcome = cli("migrate", tmp_path / "named.xml", *words)
    assert (outcome.code, outcome.document["verified"]["ok"]) == (0, True)
    assert [end.names for end in ir_tools.read(tmp_path / "ten.xml").inputs] == [("x",)]


def _means(numbers: Sequence[int]) -> ir_tools.Model:
    """A mean over the last of three axes plus numbers by channel: the installed OpenVINO adds those of others."""
    builder = ir_tools.Builder(name="means")
    mean = builder.call("ReduceMean", builder.parameter("x", "2,16,20"), np.array([2]), keep_dims=False, name="mean")
    builder.result(builder.call("Add", mean, np.array(numbers, np.float32)))
    return builder.model


def test_a_wrong_migration_of_what_the_runtime_computes_wrongly_is_not_written(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new model runs as the reference computes it, but the reference computes something else of the original."""
    ir_tools.write(_means(range(16)), tmp_path / "means.xml")
    other = ir_tools.migrate(_means(range(1, 17)), to="openvino-2026.4")
    monkeypatch.setattr(ir_tools, "migrate", lambda *words, **options: other)
    outcome = cli("migrate", tmp_path / "means.xml", "--for", "openvino-2026.4", "--verify", "-o", tmp_path / "new.xml")
    assert outcome.code == 4
    assert not (tmp_path / "new.xml").exists()


@pytest.mark.parametrize("numbers", [range(16), [1] * 16], ids=["by-channel", "alike"])
def test_what_the_runtime_computes_wrongly_is_migrated_and_compared_with_the_reference(
    cli: Cli, tmp_path: Path, numbers: Sequence[int]
) -> None:
    ir_tools.write(_means(numbers), tmp_path / "means.xml")
    outcome = cli("migrate", tmp_path / "means.xml", "--for", "openvino-2026.4", "--verify", "-o", tmp_path / "new.xml")
    assert outcome.code == 0
    differs = len({*numbers}) > 1
    assert ("compared with the reference" in outcome.out) is differs
    assert ir_tools.compare(tmp_path / "new.xml").ok
    assert ir_tools.compare(tmp_path / "means.xml").ok is not differs


def test_inputs_of_packed_elements_are_verified(cli: Cli, tmp_path: Path) -> None:
    builder = ir_tools.Builder(opset=13)
    builder.result(builder.call("Convert", builder.parameter("x", (13,), "u4"), destination_type="f32"), "out")
    ir_tools.write(builder.model, tmp_path / "packed.xml")
    outcome = cli("migrate", tmp_path / "packed.xml", "--verify", "-o", tmp_path / "new.xml")
    assert outcome.code == 0, outcome.err
