"""`ir-tools compare`."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

import ir_tools
from ir_tools.comparison import Comparison
from tests.cli.conftest import Cli, pooling_xml

KEYS = {
    "command", "ir_tools", "file", "other", "ok", "mode", "runtime", "device", "precision", "seed", "first_difference",
    "layers", "outputs", "replay",
}  # fmt: skip


def test_in_place(cli: Cli, model: Path) -> None:
    outcome = cli("compare", model, "--layers", "--seed", "3", "--json")
    assert outcome.code == 0
    found = outcome.document
    assert set(found) == KEYS
    assert (found["mode"], found["precision"], found["first_difference"]) == ("in place", "f32", None)
    (layer,) = found["layers"]
    assert (layer["path"], layer["op"], layer["status"]) == ("pool", "AvgPool-1", "ok")
    assert layer["difference"]["elements"] == 32
    words = shlex.split(found["replay"])
    assert cli(*words[1:], "--json").document == found


def test_two_models(cli: Cli, model: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.xml"
    settings = 'kernel="4,4" strides="2,2" pads_begin="1,1" pads_end="1,1" exclude-pad="true"'
    other.write_text(pooling_xml(settings))
    assert cli("compare", model, model).code == 0
    outcome = cli("compare", model, other)
    assert outcome.code == 1
    assert "The first difference is 'pooled': expected" in outcome.out
    document = cli("compare", model, other, "--json").document
    assert document["first_difference"]["name"] == "pooled"
    assert document["outputs"][0]["difference"]["max_abs"] > 0
    assert cli("compare", model, other, "--tolerance", "100").code == 0


def test_the_first_layer_that_differs_is_named(cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = ir_tools.compare

    def compare(*arguments: object, **options: object) -> Comparison:
        found = real(*arguments, **options)  # type: ignore[arg-type] # passes on whatever it gets
        layers = tuple(replace(entry, status="differs", reason="it was made to") for entry in found.layers)
        return replace(found, layers=layers)

    monkeypatch.setattr("ir_tools.compare", compare, raising=False)
    outcome = cli("compare", model)
    assert outcome.code == 1
    assert "The first difference is 'pool'" in outcome.out
    assert "it was made to" in outcome.out


def test_wrong_arguments(cli: Cli, model: Path) -> None:
    for words, says in (
        (["--layers", model], "leave out OTHER"),
        (["--device", "NOTHING"], "NOTHING"),
        (["--input", "nobody=x.npy"], "x.npy"),
        (["--tolerance", "-1"], "--tolerance"),
        ([model.with_name("nowhere.xml")], "nowhere.xml"),
    ):
        outcome = cli("compare", model, *words)
        assert outcome.code == 2, words
        assert says in outcome.err, words
        assert outcome.err.count("\n") == 1, words
