"""Runs in files: written, compared, and refused where they are damaged."""

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest

import ir_tools
from ir_tools import UsageError
from ir_tools.comparison._differences import TOLERANCES
from ir_tools.comparison.saved import SavedRun, digest_of, save_run
from ir_tools.ops import Array
from ir_tools.runtime.client import Tap
from tests import stateful
from tests.cli.conftest import Cli
from tests.runtime.releases import client_of, small

X = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)
TABLE = (
    '{"format": "ir_tools run", "version": 1, "arrays": [], "runtime": "", "device": "", "setting": ["CPU", "f32"],'
    ' "precision": "f32", "shapes": {}, "seed": 0, "model": {"digest": ""}}'
)
ROW = '{"name": "input/x", "type": "f32", "shape": [2], "digest": "DIGEST"}'
INPUTS: dict[str, Array] = {"x": X, "n": np.array([1, 2])}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "small.xml"
    path.write_bytes(small(11))
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("made") / "run.irrun"
    ir_tools.compare(small(11), inputs=INPUTS, save=path)
    return path.read_bytes()


@pytest.fixture
def run(model: Path, made: bytes) -> Path:
    path = model.with_name("run.irrun")
    path.write_bytes(made)
    return path


def test_what_is_saved(run: Path, model: Path) -> None:
    found = SavedRun.open(run)
    (sample,) = found.samples
    assert {name: array.tolist() for name, array in sample.inputs.items()} == {"x": X.tolist(), "n": [1, 2]}
    assert {name: array.tolist() for name, array in sample.outputs.items()} == {
        "sum": (X + np.maximum(X, 0)).tolist(),
        "twice": [2, 4],
    }
    assert list(sample.tensors) == [Tap("relu"), Tap("twice"), Tap("sum")]
    assert (found.table.setting, found.table.precision) == (("CPU", "f32"), "f32")
    assert found.is_of(ir_tools.read(model))
    assert not found.is_of(ir_tools.read(small(11, 'type="Abs" version="opset1"')))


def added(value: float) -> ir_tools.Model:
    """A model with a constant that is in no file."""
    builder = ir_tools.Builder()
    builder.result(
        builder.call("Add", builder.parameter("x", "2"), builder.constant(np.array([value, 1], np.float32))), "y"
    )
    return builder.model


def test_a_model_with_other_weights_is_another_one_wherever_they_are(tmp_path: Path) -> None:
    assert digest_of(added(1)) != digest_of(added(2))
    ir_tools.write(added(1), tmp_path / "added.xml")
    assert digest_of(ir_tools.read(tmp_path / "added.xml")) == digest_of(added(1))


def test_numpy_reads_it(run: Path) -> None:
    with np.load(run) as arrays:
        assert arrays["output/twice"].tolist() == [2, 4]
        assert arrays["tensor/relu:0"].dtype == np.float32


def test_model_elsewhere_gives_the_same(run: Path, model: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "name.xml"
    other.parent.mkdir()
    model.rename(other)
    found = ir_tools.compare(other, golden=run)
    assert (found.ok, found.needed) == (True, 0)
    assert [(row.path, row.status) for row in found.layers] == [(name, "ok") for name in ("relu", "twice", "sum")]
    assert found.layer_sides.expected.endswith(f": CPU, f32 ({run})")


def test_precision_is_that_of_the_saved_run(cli: Cli, model: Path) -> None:
    run = model.with_name("narrow.irrun")
    assert f"--save {run}" in cli("compare", model, "--precision", "bf16", "--save", run, "--json").document["replay"]
    found = cli("compare", model, "--golden", run, "--json").document
    assert found["sides"]["outputs"]["actual"].endswith("CPU, bf16")
    assert "--precision bf16" in found["replay"]
    wide = cli("compare", model, "--golden", run, "--precision", "f32", "--json").document
    assert wide["sides"]["outputs"]["actual"].endswith("CPU, f32")
    allowed = {row["difference"]["tolerance"] for row in wide["outputs"] if row["element_type"] == "f32"}
    assert allowed == {TOLERANCES["bf16"]}, "of two precisions that of the coarser one counts"
    assert ir_tools.compare(model, golden=run).output_sides.actual.endswith("CPU, bf16")


def test_a_run_is_saved_beside_a_comparison_with_another_setting(cli: Cli, model: Path) -> None:
    path = model.with_name("beside.irrun")
    document = cli("compare", str(model), "--against", "CPU:bf16", "--save", str(path), "--json").document
    assert document["saved"] == str(path)
    assert SavedRun.open(path).table.setting == ("CPU", "f32")


def test_a_run_is_saved_once_beside_several_comparisons(cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, written = model.with_name("once.irrun"), list[Path]()

    def counted(path: Path, *given: Any, **named: Any) -> None:
        written.append(path)
        save_run(path, *given, **named)

    monkeypatch.setattr("ir_tools.comparison.saved.save_run", counted)
    sides = ("--against", "CPU:bf16", "--against", "CPU:f32")
    document = cli("compare", model, *sides, "--outputs-only", "--save", path, "--json").document
    assert written == [path]
    assert document["saved"] == str(path)
    assert len(document["comparisons"]) == len(sides) / 2


def test_layer_where_a_difference_starts(cli: Cli, run: Path, model: Path) -> None:
    model.write_bytes(small(11, 'type="Abs" version="opset1"'))
    outcome = cli("compare", model, "--golden", run, "--json")
    assert outcome.code == 1
    assert (outcome.document["first_difference"]["path"], outcome.document["same_model"]) == ("relu", False)
    assert outcome.document["first_difference"]["f64"] is None, "of two models both may be right"
    outcome = cli("compare", model, "--golden", run)
    assert "The first difference is 'relu': 0 from OpenVINO " in outcome.out
    assert "the bytes of the saved run's model differ" in outcome.out


def test_chosen_tensors(cli: Cli, model: Path) -> None:
    chosen, none = model.with_name("chosen.irrun"), model.with_name("none.irrun")
    assert cli("compare", model, "--type", "ReLU", "--save", chosen).code == 0
    assert cli("compare", model, "--outputs-only", "--save", none, "--json").document["saved"] == str(none)
    kept = [list(SavedRun.open(file).samples[0].tensors) for file in (chosen, none)]
    assert kept == [[Tap("relu")], []]
    rows = cli("compare", model, "--golden", chosen, "--json").document["layers"]
    assert {row["path"]: row["status"] for row in rows} == {"relu": "ok", "twice": "skipped", "sum": "skipped"}


def test_element_types_that_numpy_lacks(tmp_path: Path) -> None:
    builder = ir_tools.Builder(opset=15)
    data = builder.parameter("x", [3], "bf16")
    builder.result(builder.call("Convert", data, name="nibbles", destination_type="u4"))
    builder.result(builder.call("ReLU", data, name="above"))
    path = tmp_path / "narrow.irrun"
    inputs: dict[str, Array] = {"x": np.array([1, 2, 3], np.float32)}
    ir_tools.compare(builder.model, inputs=inputs, layers=False, save=path)
    assert ir_tools.compare(builder.model, layers=False, golden=path).ok
    assert SavedRun.open(path).samples[0].inputs["x"].astype(np.float32).tolist() == [1, 2, 3]


def test_release_against_another_later(cli: Cli, model: Path) -> None:
    for version in ("2022.3", "2024.6"):
        client_of(version)
    run = model.with_name("old.irrun")
    assert cli("compare", model, "--runtime", "openvino-2022.3", "--save", run).code == 0
    assert SavedRun.open(run).table.runtime.startswith("2022.3.")
    outcome = cli("compare", model, "--golden", run, "--runtime", "openvino-2024.6", "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.document["sides"]["outputs"]["actual"] == "OpenVINO 2024.6: CPU, f32"


def test_damaged_file_is_refused(cli: Cli, run: Path, model: Path) -> None:
    whole = run.read_bytes()
    places = [whole.index(b"output/twice"), whole.rindex(b'"digest"'), whole.index(X.tobytes()), whole.index(b"descr")]
    lacking = whole[40:], whole[:100] + whole[140:]
    for damaged in (whole[:-1], whole[:200], b"", *lacking, *(_flipped(whole, place) for place in places)):
        run.write_bytes(damaged)
        with pytest.raises(UsageError, match=r"run\.irrun is not a saved run, or is damaged: "):
            SavedRun.open(run)
    outcome = cli("compare", model, "--golden", run)
    assert outcome.is_one_line


def _flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def test_other_files_are_refused(model: Path) -> None:
    other = model.with_suffix(".npz")
    np.savez(other, a=X)
    with pytest.raises(UsageError, match=r"it has no run\.json; copy it again, or save the run again"):
        SavedRun.open(other)
    with zipfile.ZipFile(model.with_suffix(".zip"), "w") as archive:
        archive.writestr("run.json", '{"format": "ir_tools run", "version": 2}')
    with pytest.raises(UsageError, match=r"has version 2 of the format; expected 1"):
        SavedRun.open(model.with_suffix(".zip"))
    with pytest.raises(UsageError, match=r"/dev/zero is not a regular file"):
        SavedRun.open(Path("/dev/zero"))


@pytest.mark.parametrize(
    ("table", "kind", "message"),
    [
        ('{"format": "ir_tools run"}', zipfile.ZIP_DEFLATED, "it is compressed"),
        (TABLE.replace(": 0", ": 1e999"), zipfile.ZIP_STORED, "'seed' in run.json is Infinity; expected an integer"),
        (TABLE.replace("{", '{"samples": 1000000000000, ', 1), 0, "it has 0 arrays for 1000000000000 samples"),
        (TABLE.replace("{", '{"samples": 0, ', 1), 0, "'samples' in run.json is 0; expected 1 or more"),
        (TABLE.replace('["CPU", "f32"]', "null"), 0, "'setting' in run.json is null; expected a list"),
        (TABLE.replace('{"digest": ""}', "{}"), 0, "run.json lacks 'digest'"),
        (TABLE[:-1], 0, "run.json is not JSON"),
        (TABLE.replace("[]", "[1]"), 0, "an entry of 'arrays' in run.json is 1; expected an object"),
        (TABLE.replace("[]", f"[{ROW}]").replace("[2]", "[-2]"), 0, "expected integers from 0"),
        (TABLE.replace("[]", f"[{ROW}]").replace("f32", "f99", 1), 0, "the type of 'input/x' in run.json is 'f99'"),
        (TABLE.replace("[]", f"[{ROW}]").replace("f32", "i64", 1), 0, "in another memory order"),
        (TABLE.replace("[]", f"[{ROW}]").replace("/x", "/y"), 0, "it has no array 'input/y', which run.json lists"),
        (
            TABLE.replace("[]", f"[{ROW}]"),
            0,
            "in another memory order",
        ),
    ],
    ids=[
        *("compressed", "infinite", "samples", "no_samples", "no_setting", "no_digest", "no_json", "no_row"),
        *("negative_size", "unknown_type", "other_type", "no_array", "big_endian"),
    ],
)
def test_strange_files_are_refused(tmp_path: Path, table: str, kind: int, message: str) -> None:
    member = io.BytesIO()
    np.save(member, np.ones(2, ">f4"))
    path, data = tmp_path / "run.irrun", member.getvalue()
    with zipfile.ZipFile(path, "w", kind) as archive:
        archive.writestr("input/x.npy", data)
        archive.writestr("run.json", table.replace("DIGEST", hashlib.blake2b(data, digest_size=32).hexdigest()))
    with pytest.raises(UsageError, match=message) as caught:
        SavedRun.open(path)
    assert str(caught.value).startswith(f"{path} is not a saved run, or is damaged: ")
    assert str(caught.value).endswith("; copy it again, or save the run again with ir-tools compare --save")


def _changed(run: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Write a run again with another table."""
    members = _members(run)
    table = json.loads(members["run.json"])
    change(table)
    _write(run, {**members, "run.json": json.dumps(table).encode()})


def _members(run: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(run) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _write(run: Path, members: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(run, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def test_a_tensor_of_no_output_is_refused(run: Path) -> None:
    old, new = "tensor/relu:0", "tensor/relu:x"
    members = _members(run)
    _write(run, {name.replace(old, new): data.replace(old.encode(), new.encode()) for name, data in members.items()})
    with pytest.raises(UsageError, match="'tensor/relu:x' does not end in the number of an output"):
        SavedRun.open(run)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table["shapes"].update(z="1"), "is not a run of this model: there is no input 'z'"),
        (lambda table: table["shapes"].update(x="a"), "is not a run of this model: "),
        (lambda table: table["arrays"].pop(0), "is not a run of this model: it has no values for the input 'x'"),
        (lambda table: table["arrays"][0].update(shape=[4]), "the bytes of 'input/x' are not those of f32 \\[4\\]"),
        (lambda table: table.update(samples=2), "sample 2 has other inputs or outputs than sample 1"),
    ],
    ids=["unknown_input", "no_shape", "no_input", "other_size", "no_sample"],
)
def test_tables_that_do_not_fit_are_refused_with_the_name_of_the_file(
    cli: Cli, run: Path, model: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    _changed(run, change)
    outcome = cli("compare", model, "--golden", run)
    assert outcome.is_one_line
    assert re.match(rf"ir-tools: {re.escape(str(run))} .*{message}", outcome.err)
    with pytest.raises(UsageError, match=message):
        ir_tools.compare(model, golden=run)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--golden", "run.irrun", "--against", "CPU:bf16"), "--against cannot be combined with --golden"),
        (("--golden", "run.irrun", "--seed", "3"), "--seed cannot be combined with --golden"),
        (("--golden", "run.irrun", "--save", "new.irrun"), "--save cannot be combined with --golden"),
        (("--golden", "run.irrun", "--samples", "2"), "--samples cannot be combined with --golden"),
        (("--golden", "run.irrun", "--mean", "3"), "--mean cannot be combined with --golden"),
        (("--save", "new.txt"), "new.txt"),
        (("--save", "run.irrun", "--no-clobber"), "run.irrun exists already; nothing was written"),
    ],
    ids=["against", "seed", "save", "samples", "mean", "name", "no_clobber"],
)
def test_wrong_usage(
    cli: Cli, run: Path, model: Path, words: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run.parent)
    outcome = cli("compare", model, *words)
    assert outcome.is_one_line
    assert message in outcome.err


def test_several_samples_and_values_of_variables(cli: Cli, tmp_path: Path) -> None:
    path, states, run = tmp_path / "sum.xml", tmp_path / "state.npy", tmp_path / "run.irrun"
    ov.save_model(stateful.accumulator(), path)
    np.save(states, np.full((1, 2), 5, np.float32))
    assert cli("compare", path, "--save", run, "--samples", "3", "--seed", "7", "--state", f"sum={states}").code == 0
    found = SavedRun.open(run)
    assert found.table.seed == 7
    assert found.states["sum"].tolist() == [[5, 5]]
    first, second, third = (sample.inputs["x"] for sample in found.samples)
    assert not np.array_equal(first, second)
    assert not np.array_equal(second, third)
    outcome = cli("compare", path, "--golden", run, "--json").document
    assert (outcome["ok"], outcome["samples"], outcome["needed"]) == (True, 3, 0.0)
    assert {row["status"] for row in outcome["layers"]} == {"ok"}
    again = tmp_path / "again.irrun"
    ir_tools.compare(path, save=again, samples=3, seed=found.table.seed, states={"sum": np.full((1, 2), 5, np.float32)})
    assert [sample.outputs["y"].tolist() for sample in SavedRun.open(again).samples] == [
        sample.outputs["y"].tolist() for sample in found.samples
    ]


@pytest.mark.parametrize("name", ["sample1/input/n", "sample1/output/sum"])
def test_each_sample_has_the_inputs_and_outputs_of_the_first(model: Path, name: str) -> None:
    run = model.with_name("run.irrun")
    ir_tools.compare(model, save=run, samples=2)
    _changed(run, lambda table: table.update(arrays=[row for row in table["arrays"] if row["name"] != name]))
    with pytest.raises(UsageError, match="sample 2 has other inputs or outputs than sample 1"):
        SavedRun.open(run)


def test_a_file_that_is_not_an_archive_is_not_a_run(run: Path) -> None:
    run.write_bytes(b"not an archive" * 9)
    with pytest.raises(UsageError, match="is not a saved run, or is damaged: it is not a zip archive"):
        SavedRun.open(run)


def test_model_with_other_outputs(run: Path) -> None:
    with pytest.raises(UsageError, match=r"run\.irrun is not a run of this model: there is no input 'x'"):
        ir_tools.compare(stateful.decoder(layers=1), golden=run)
    with pytest.raises(UsageError, match=r"on its own inputs; leave out against, save, samples$"):
        ir_tools.compare(small(11), golden=run, against="CPU", save=run, samples=2)
    with pytest.raises(UsageError, match="its outputs are 'sum', 'twice', but those of the model are "):
        ir_tools.compare(small(11).replace(b'name="twice"', b'name="double"'), golden=run)


def test_a_run_of_more_outputs_than_the_model_has(run: Path) -> None:
    fewer = ir_tools.read(small(11))
    fewer.graph.remove(fewer.outputs[1].layer.id)
    with pytest.raises(UsageError, match="its outputs are 'sum', 'twice', but those of the model are 'sum'"):
        ir_tools.compare(fewer, golden=run)


@pytest.mark.parametrize("name", ["small.xml", "run.npz"])
def test_only_files_with_the_ending_of_a_run_are_written(model: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"expected a name that ends in \.irrun"):
        ir_tools.compare(model, inputs=INPUTS, save=model.with_name(name))
    assert model.read_bytes() == small(11)


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_run_never_replaces_the_model(model: Path, link: Callable[[Path, Path], None]) -> None:
    other = model.with_name("other.irrun")
    link(model, other)
    with pytest.raises(ir_tools.WriteError, match=r"is the same file as .*small\.xml"):
        ir_tools.compare(model, inputs=INPUTS, save=other)
    assert model.read_bytes() == small(11)
