"""`validate --baseline`: known findings are left out wherever they move, everything else is not."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, pooling_xml

BAD = pooling_xml().replace('exclude-pad="true"', 'exclude_pad="false"')


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> Path:
    """Two files with one error each, both of them known."""
    (tmp_path / "models").mkdir()
    for name in ("a", "b"):
        (tmp_path / "models" / f"{name}.xml").write_text(BAD)
    monkeypatch.chdir(tmp_path)
    assert cli("validate", "models", "--write-baseline", "known.json").code == 0
    return tmp_path


def codes(cli: Cli, *words: object) -> list[str]:
    document = cli("validate", *words, "--json").document
    return [finding["code"] for entry in document["files"] for finding in entry["findings"]]


def test_known_findings_are_left_out(cli: Cli, project: Path) -> None:
    assert codes(cli, "models") == ["IR204", "IR204"]
    outcome = cli("validate", "models", "--baseline", "known.json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == "\nNothing found in 2 files, and 2 known findings.\n"


def test_lines_may_move_and_the_command_may_run_anywhere(
    cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project / "models" / "a.xml"
    path.write_text(BAD.replace("<layers>", "<!-- one\n\n\ntwo -->\n<layers>"))
    assert codes(cli, "models", "--baseline", "known.json") == []
    monkeypatch.chdir(project / "models")
    assert codes(cli, "a.xml", "--baseline", "../known.json") == []
    assert codes(cli, path, "--baseline", "../known.json") == []


def test_new_findings_are_shown(cli: Cli, project: Path) -> None:
    path = project / "models" / "a.xml"
    path.write_text(BAD.replace('strides="2,2"', 'strides="2"'))
    assert codes(cli, "models", "--baseline", "known.json") == ["IR212"]
    path.write_text(BAD.replace('name="pool"', 'name="other"'))
    assert codes(cli, "models", "--baseline", "known.json") == ["IR204"]
    (project / "models" / "c.xml").write_text(BAD)
    assert codes(cli, "models/c.xml", "--baseline", "known.json") == ["IR204"]


def test_more_of_a_known_finding_are_all_shown(cli: Cli, project: Path) -> None:
    twice = BAD.replace("<layers>", "<layers><unknown/><unknown/>")
    (project / "models" / "a.xml").write_text(twice)
    assert cli("validate", "models", "--write-baseline", "known.json").code == 0
    assert codes(cli, "models", "--baseline", "known.json") == []
    (project / "models" / "a.xml").write_text(twice.replace("<unknown/>", "<unknown/><unknown/>", 1))
    assert len(codes(cli, "models", "--baseline", "known.json")) == 3


def test_entries_that_are_gone_are_reported(cli: Cli, project: Path) -> None:
    (project / "models" / "a.xml").write_text(pooling_xml())
    (project / "models" / "b.xml").unlink()
    outcome = cli("validate", "models", "--baseline", "known.json")
    assert outcome.code == 0
    assert outcome.err == "known.json: 2 entries are no longer found; update the baseline with --write-baseline\n"
    document = cli("validate", "models", "--baseline", "known.json", "--json").document
    first, second = document["baseline"]["gone"]
    assert (first["file"], first["code"], first["layer"]) == ("models/a.xml", "IR204", "pool")
    assert second == {"file": "models/b.xml"}
    assert cli("validate", "models", "--baseline", "known.json", "--quiet").err == ""


@pytest.mark.parametrize("words", [["models/a.xml", "--select", "IR1"], ["models/c.xml"], ["models/a.xml"]])
def test_what_was_not_looked_for_is_not_gone(cli: Cli, project: Path, words: list[str]) -> None:
    (project / "models" / "c.xml").write_text(pooling_xml())
    assert cli("validate", *words, "--baseline", "known.json").err == ""


def test_findings_of_the_runtime_are_gone_only_if_it_was_asked(cli: Cli, project: Path) -> None:
    document = json.loads((project / "known.json").read_text())
    document["files"]["models/a.xml"].append({"code": "RUN101", "layer": "pool", "message": "m", "count": 1})
    (project / "known.json").write_text(json.dumps(document))
    assert cli("validate", "models", "--baseline", "known.json").err == ""
    assert "1 entry is" in cli("validate", "models", "--baseline", "known.json", "--runtime").err


def test_writing_again_keeps_the_entries_of_other_files(cli: Cli, project: Path) -> None:
    (project / "models" / "a.xml").write_text(pooling_xml())
    outcome = cli("validate", "models/a.xml", "--write-baseline", "known.json")
    assert outcome.out == "\nWrote known.json: 0 findings in 1 file.\n"
    assert list(json.loads((project / "known.json").read_text())["files"]) == ["models/b.xml"]
    (project / "models" / "b.xml").unlink()
    cli("validate", "models/a.xml", "--write-baseline", "known.json")
    assert json.loads((project / "known.json").read_text())["files"] == {}


def test_it_is_written_the_same_each_time(cli: Cli, project: Path) -> None:
    before = (project / "known.json").read_bytes()
    cli("validate", "models/b.xml", "models/a.xml", "--write-baseline", "known.json")
    assert (project / "known.json").read_bytes() == before


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"files": []}', '{"files": {"a": [{}]}}', '{"files": {"a": [{"code": []}]}}', "\udcff"]
)
def test_what_is_no_baseline_is_refused(cli: Cli, project: Path, text: str) -> None:
    (project / "known.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    for option in ("--baseline", "--write-baseline"):
        outcome = cli("validate", "models", option, "known.json")
        assert outcome.code == 2
        assert outcome.err == "ir-tools: known.json is not a baseline; create one with --write-baseline\n"


def test_a_baseline_is_not_written_over(cli: Cli, project: Path) -> None:
    before = (project / "known.json").read_bytes()
    for words in (["--output-file", "known.json"], ["--write-baseline", "./known.json"]):
        outcome = cli("validate", "models", "--baseline", "known.json", *words)
        assert outcome.code == 2
        assert "is read by this command" in outcome.err
        assert (project / "known.json").read_bytes() == before
