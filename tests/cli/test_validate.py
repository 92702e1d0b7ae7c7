"""`ir-tools validate` and `ir-tools explain`, as people and programs use them."""

import errno
import io
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import numpy as np
import openvino
import pytest
from openvino import opset13

from ir_tools.rules import RULES
from tests.cli.conftest import Cli, pooling_xml
from tests.conftest import ROOT

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SCHEMA = Path(__file__).with_name("sarif-schema-2.1.0.json")
"""As published: https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json."""
CODE = next(rule.code for rule in RULES if rule.name == "duplicate-layer-id")
BAD = pooling_xml().replace('id="2" name="result"', 'id="1" name="result"')


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.xml"
    path.write_text(pooling_xml())
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.xml"
    path.write_text(BAD)
    return path


def test_a_good_file(cli: Cli, good: Path) -> None:
    outcome = cli("validate", good, "--ignore", "IR5")
    assert outcome.code == 0
    assert outcome.out == "\nNothing found in 1 file.\n"


def test_a_bad_file_shows_place_line_mark_and_remedy(cli: Cli, bad: Path) -> None:
    outcome = cli("validate", bad, "--select", CODE)
    line = next(number for number, text in enumerate(BAD.split("\n"), 1) if 'name="result"' in text)
    first, excerpt, mark, remedy, *_, counts = outcome.out.splitlines()
    assert outcome.code == 1
    assert first.startswith(f"{bad}:{line}:")
    assert f" error {CODE}: layer 1 'result': " in first
    assert excerpt == f"    {line} | {BAD.splitlines()[line - 1].strip()}"
    assert set(mark.split("|")[1]) == {" ", "^"}
    assert remedy.startswith("    help: ")
    assert counts == "1 error in 1 file."


def test_the_mark_stands_under_the_element(cli: Cli, bad: Path) -> None:
    _, excerpt, mark, *_ = cli("validate", bad, "--select", CODE).out.splitlines()
    assert excerpt[mark.index("^")] == "<"


def test_json_is_one_document(cli: Cli, bad: Path, good: Path) -> None:
    for words in (["--json"], ["--format", "json"]):
        document = cli("validate", bad, good, *words).document
        assert document["command"] == "validate"
        assert document["ok"] is False
        assert document["counts"]["error"] >= 1
        first, second = document["files"]
        assert (first["file"], second["file"]) == (str(bad), str(good))
        assert CODE in {finding["code"] for finding in first["findings"]}
        assert all(finding["severity"] != "error" for finding in second["findings"])


def test_sarif_is_valid_by_the_published_schema(cli: Cli, bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bad.parent)
    outcome = cli("validate", bad.name, "--format", "sarif")
    log = json.loads(outcome.out)
    jsonschema.Draft7Validator(json.loads(SCHEMA.read_text())).validate(log)
    (run,) = log["runs"]
    result = next(entry for entry in run["results"] if entry["ruleId"] == CODE)
    location = result["locations"][0]
    assert outcome.code == 1
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == CODE
    assert location["physicalLocation"]["artifactLocation"] == {"uri": "bad.xml", "uriBaseId": "SRCROOT"}
    assert location["physicalLocation"]["region"]["startLine"] > 1
    assert location["logicalLocations"][0]["name"] == "result"


def test_every_rule_makes_valid_sarif() -> None:
    from ir_tools.cli.formats.sarif import sarif_log
    from ir_tools.diagnostics import Diagnostic

    found = [Diagnostic(code=rule.code, severity=rule.severity, message="m", file="/x y.xml") for rule in RULES]
    log = sarif_log(found, version="1.0.0", root=Path("/somewhere"))
    jsonschema.Draft7Validator(json.loads(SCHEMA.read_text())).validate(log)


def test_a_folder_is_searched_for_ir(cli: Cli, bad: Path, good: Path) -> None:
    (bad.parent / "pom.xml").write_text("<project/>")
    files = [entry["file"] for entry in cli("validate", bad.parent, "--json").document["files"]]
    assert files == [str(bad), str(good)]


def test_other_xml_is_left_out_on_demand(cli: Cli, good: Path) -> None:
    other = good.with_name("pom.xml")
    other.write_text("<project/>")
    assert cli("validate", other).code == 1
    outcome = cli("validate", other, good, "--skip-others", "--json")
    assert [entry["file"] for entry in outcome.document["files"]] == [str(good)]


def test_one_bad_argument_keeps_no_other_from_being_checked(cli: Cli, bad: Path, good: Path) -> None:
    weights = good.with_name("weights.bin")
    weights.write_bytes(b"")
    missing = good.with_name("nothing.xml")
    outcome = cli("validate", missing, bad, weights, good, "--json")
    assert outcome.code == 2
    found = {entry["file"]: {row["code"] for row in entry["findings"]} for entry in outcome.document["files"]}
    assert found == {str(bad): found[str(bad)], str(good): set(), str(missing): {"IR001"}, str(weights): {"IR001"}}
    assert CODE in found[str(bad)]
    assert f"{missing}: error IR001: there is no such file or folder" in cli("validate", missing, good).out


def test_in_a_folder_capitals_and_links_that_lead_nowhere_count(cli: Cli, good: Path) -> None:
    capitals = good.rename(good.with_name("CAPITALS.XML"))
    below = good.parent / "below"
    below.mkdir()
    (below / "link.xml").symlink_to("nowhere.xml")
    outcome = cli("validate", good.parent, "--json")
    assert outcome.code == 1
    first, second = outcome.document["files"]
    assert first == {"file": str(capitals), "findings": []}
    assert second["file"] == str(below / "link.xml")
    assert [row["message"] for row in second["findings"]] == ["is a link to nowhere.xml, which does not exist"]


def test_in_a_folder_pointers_of_git_lfs_count(cli: Cli, good: Path) -> None:
    """A model that was not downloaded is not one that was checked."""
    pointer = good.with_name("pointer.xml")
    pointer.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0f\nsize 48\n")
    outcome = cli("validate", good.parent, "--format", "concise")
    assert outcome.code == 1
    assert f"{pointer}:1: error IR021: the file is a Git LFS pointer" in outcome.out


def test_a_folder_that_cannot_be_searched_is_reported(cli: Cli, good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by permissions: whoever runs the tests may be allowed everything."""
    locked, scandir = good.parent / "locked", os.scandir
    locked.mkdir()

    def scan(path: str) -> Iterator[os.DirEntry[str]]:
        if Path(path) == locked:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(locked))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scan)
    outcome = cli("validate", good.parent)
    assert outcome.code == 1
    assert f"{locked}: error IR001: the folder cannot be read: Permission denied" in outcome.out
    assert "in 2 files" in outcome.out


def test_several_processes_find_the_same(cli: Cli, bad: Path, good: Path) -> None:
    alone = cli("validate", bad, good, "--json").document
    assert cli("validate", bad, good, "--json", "--jobs", "2").document == alone


def test_select_and_ignore(cli: Cli, bad: Path) -> None:
    def codes(*words: str) -> set[str]:
        (entry,) = cli("validate", bad, "--json", *words).document["files"]
        return {finding["code"] for finding in entry["findings"]}

    assert codes("--select", CODE) == {CODE}
    assert codes("--select", "ir1,IR2") >= {CODE}
    assert CODE not in codes("--ignore", CODE)
    assert codes("--select", "IR1", "--ignore", "IR1") == set()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["nothing.xml"], "nothing.xml: there is no such file or folder"),
        (["goood.xml"], "did you mean good.xml?"),
        (["good.xml", ""], "the name of a file is empty"),
        (["good.xml", "--output-file", ""], "the name of a file is empty"),
        (["weights.bin"], "weights.bin: is not an IR"),
        (["good.xml", "--select", "XY1"], "there is no rule 'XY1'"),
        (["good.xml", "--jobs", "0"], "0 is not in the range"),
        (["empty"], "this folder has no IR"),
    ],
)
def test_wrong_usage_is_told_in_one_line(
    cli: Cli, good: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], text: str
) -> None:
    monkeypatch.chdir(good.parent)
    (good.parent / "empty").mkdir()
    (good.parent / "weights.bin").write_bytes(b"")
    outcome = cli("validate", *words)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert text in outcome.err


def test_explain_tells_what_why_bad_and_good(cli: Cli) -> None:
    for word in (CODE, CODE.lower(), "duplicate-layer-id"):
        text = cli("explain", word).out
        assert text.startswith(f"{CODE} duplicate-layer-id (error)")
        for heading in ("Why: ", "Bad:", "Good:"):
            assert f"\n{heading}" in text


def test_explain_lists_all_codes(cli: Cli) -> None:
    document = cli("explain", "--json").document
    assert [row["code"] for row in document["rules"]] == [rule.code for rule in RULES]
    assert all(rule.code in cli("explain").out for rule in RULES)


def test_explain_of_an_unknown_code(cli: Cli) -> None:
    outcome = cli("explain", "duplicate-layers-id")
    assert outcome.code == 2
    assert "did you mean duplicate-layer-id?" in outcome.err


@pytest.mark.parametrize("words", [["inspect"], ["shapes"], ["migrate", "--dry-run"], ["run"], ["compare"]])
def test_every_command_shows_the_findings_of_a_broken_file(cli: Cli, bad: Path, words: list[str]) -> None:
    found = cli("validate", bad, "--json").document["files"][0]["findings"]
    errors = [finding for finding in found if finding["severity"] == "error"]
    outcome = cli(*words, bad, "--json")
    assert outcome.code == 2
    assert outcome.document["diagnostics"] == errors
    assert errors[0]["message"] in outcome.err


def test_a_file_that_runs_with_an_error_is_told_so(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    path.write_text(pooling_xml(recorded=(1, 2, 4, 5)))
    outcome = cli("migrate", path, "--dry-run")
    assert outcome.code == 0
    assert "error IR3" in outcome.err
    assert [entry["code"][:3] for entry in cli("migrate", path, "--dry-run", "--json").document["diagnostics"]] == [
        "IR3"
    ]


def test_a_small_file_is_validated_at_once(good: Path) -> None:
    """The process that validates loads neither openvino nor onnx, and takes little of the processor."""
    code = (
        "import sys; from ir_tools.cli import main\n"
        f"try: main(['validate', {str(good)!r}])\n"
        "except SystemExit as end: print(end.code, sorted({'openvino', 'onnx', 'onnxruntime'} & set(sys.modules)))"
    )
    start = sum(os.times()[2:4])
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert told.splitlines()[-1] == "0 []"
    assert sum(os.times()[2:4]) - start < 20


def test_the_runtime_is_asked_on_demand(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "killer.xml"
    settings = 'kernel="2,2" strides="2,2" pads_begin="0,0" pads_end="0,0" exclude-pad="true"'
    path.write_text(pooling_xml(settings, version="opset16"))
    found = cli("validate", path, "--runtime", "--select", "RUN", "--json").document["files"][0]["findings"]
    assert [(finding["code"], finding["layer_name"]) for finding in found] == [("RUN104", "pool")]
    assert cli("validate", path, "--select", "RUN").code == 0


def test_a_file_cannot_steer_the_terminal(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "evil.xml"
    path.write_bytes(b'<net name="a" version="11\x1b]0;owned\x07\x1b[31m"><layers/></net>')
    for command in ("validate", "inspect"):
        outcome = cli(command, path)
        assert "\x1b" not in outcome.out + outcome.err
        assert "\x07" not in outcome.out + outcome.err
    name = "\u202ename\u202c"
    path.write_text(pooling_xml(recorded=(1, 2, 4, 5)).replace('name="pool"', f'name="{name}"'), encoding="utf-8")
    outcome = cli("validate", path)
    assert outcome.code == 1
    assert "\u202e" not in outcome.out


# --- what is checked, and how much is said ----------------------------------------------------------------------


@pytest.fixture
def convolved(tmp_path: Path) -> Path:
    """A model with weights, `model.xml` and `model.bin`."""
    path = tmp_path / "model.xml"
    data = opset13.parameter([1, 3, 8, 8], np.float32, name="data")
    kernel = np.ones((4, 3, 3, 3), np.float32)
    node = opset13.convolution(data, kernel, [1, 1], [1, 1], [1, 1], [1, 1], name="conv")
    openvino.save_model(openvino.Model([node], [data], "convolved"), path, compress_to_fp16=False)
    return path


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_standard_input(cli: Cli, bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = cli("validate", bad, "--format", "text")
    feed(monkeypatch, bad.read_bytes())
    outcome = cli("validate", "-", "--format", "text")
    assert (outcome.code, outcome.out) == (1, wanted.out.replace(str(bad), "-"))
    feed(monkeypatch, bad.read_bytes())
    named = cli("validate", "-", "--stdin-filename", bad.with_name("other.xml"))
    assert named.out == wanted.out.replace("bad.xml", "other.xml")


@pytest.mark.parametrize("word", ["y\n", "\u20ac", "\u20acab", "\0", "\U0001f600b"], ids=ascii)
def test_standard_input_without_an_end(cli: Cli, monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    """The finding is that for the same text in a file: the beginning ends with a whole character."""
    text = 400_000 * word.encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(_Endless(text))))
    (found,) = cli("validate", "-", "--json").document["files"][0]["findings"]
    feed(monkeypatch, text[: 12 * len(word.encode())])
    (wanted,) = cli("validate", "-", "--json").document["files"][0]["findings"]
    assert found == wanted


def test_standard_input_that_begins_with_many_blanks(cli: Cli, bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        text = (3_000_000 * " " + bad.read_text().partition("?>")[2]).encode(encoding)
        bad.write_bytes(text)
        feed(monkeypatch, text)
        answers = [cli("validate", path, "--json").document["files"][0]["findings"] for path in (bad, "-")]
        assert [one["code"] for one in answers[0]] == [one["code"] for one in answers[1]]


class _Endless(io.RawIOBase):
    """A text again and again; an error if more than a few megabytes of it are read."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        at = self.given % len(self.text)
        part = self.text[at : at + len(view)]
        view[: len(part)] = part
        self.given += len(part)
        assert self.given < 4 << 20
        return len(part)


def test_standard_input_that_is_closed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    outcome = cli("validate", "-")
    assert (outcome.code, outcome.err) == (1, "")
    assert "the file is empty" in outcome.out


def test_the_weights_of_standard_input(cli: Cli, convolved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def codes(*words: object) -> list[str]:
        feed(monkeypatch, convolved.read_bytes())
        document = cli("validate", "-", "--json", "--fail-on", "never", *words).document
        return [finding["code"] for finding in document["files"][0]["findings"]]

    assert codes() == ["IR011"]
    assert codes("--stdin-filename", convolved) == []
    assert codes("--stdin-filename", convolved.with_name("other.xml")) == ["IR011"]
    assert codes("--bin", convolved.with_suffix(".bin")) == []


def test_the_weights_of_a_file(cli: Cli, convolved: Path) -> None:
    weights = convolved.with_suffix(".bin").rename(convolved.with_name("other.bin"))
    assert cli("validate", convolved).code == 1
    assert cli("validate", convolved, "--bin", weights).code == 0


def test_weights_stand_for_the_model_beside_them(cli: Cli, convolved: Path, bad: Path) -> None:
    """As a hook gives them if nothing else has changed."""
    weights = convolved.with_suffix(".bin")
    assert [entry["file"] for entry in cli("validate", weights, convolved, "--json").document["files"]] == [
        str(convolved)
    ]
    weights.write_bytes(weights.read_bytes()[:40])
    assert cli("validate", weights).code == 1
    lonely = convolved.with_name("lonely.bin")
    lonely.write_bytes(b"x")
    assert cli("validate", lonely, "--skip-others").code == 0
    assert cli("validate", lonely, bad, "--skip-others").code == 1
    assert cli("validate", lonely).code == 2


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["-", "good.xml"], "- (standard input) cannot be combined"),
        (["good.xml", "--stdin-filename", "a.xml"], "needs the path -"),
        (["good.xml", "bad.xml", "--bin", "good.xml"], "--bin is for one file, but the paths contain 2"),
        (["good.xml", "--config", "none.toml"], "none.toml: there is no such file"),
        (["good.xml", "--config", "good.xml", "--isolated"], "--config and --isolated cannot be combined"),
        (
            ["good.xml", "--json", "--format", "sarif"],
            "--json means --format json; leave out --json or --format sarif",
        ),
        (["good.xml", "--statistics", "--format", "junit"], "--statistics supports --format text, concise and json"),
        (["good.xml", "--format", "xml"], "'xml' is not one of"),
        (["good.xml", "--fail-on", "errors"], "'errors' is not one of"),
        (["good.xml", "--extend-select", "IR9"], "there is no rule 'IR9'"),
        (["good.xml", "--select", "duplicate-layer-ids"], "did you mean duplicate-layer-id?"),
        (["good.xml", "--write-baseline", "known.xml"], "expected a name that ends in .json"),
        (["good.xml", "--baseline", "none.json"], "none.json: there is no such file"),
    ],
)
def test_options_that_contradict_each_other(
    cli: Cli, good: Path, bad: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], text: str
) -> None:
    monkeypatch.chdir(good.parent)
    outcome = cli("validate", *words)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert text in outcome.err


def test_concise_is_one_line_for_each_finding(cli: Cli, bad: Path) -> None:
    long, short = cli("validate", bad), cli("validate", bad, "--format", "concise")
    lines = [line for line in long.out.splitlines() if line.startswith(str(bad))]
    assert short.out.splitlines() == [*lines, "", long.out.splitlines()[-1]]


def test_quiet_shows_the_findings_alone(cli: Cli, good: Path, bad: Path) -> None:
    assert cli("validate", good, "--quiet").out == ""
    assert cli("validate", bad, "-q").out == cli("validate", bad).out.rpartition("\n\n")[0] + "\n"


def test_statistics(cli: Cli, bad: Path, good: Path) -> None:
    findings = [row for entry in cli("validate", bad, bad, "--json").document["files"] for row in entry["findings"]]
    counted = Counter(finding["code"] for finding in findings)
    rows = cli("validate", bad, "--json").document["statistics"]
    assert {row["code"]: row["count"] for row in rows} == counted
    heading, *lines, _, counts = cli("validate", bad, "--statistics").out.splitlines()
    assert heading.split() == ["count", "code", "severity", "rule"]
    assert [line.split()[:2] for line in lines] == [[str(row["count"]), row["code"]] for row in rows]
    assert counts == cli("validate", bad).out.splitlines()[-1]
    assert cli("validate", good, "--statistics", "-q").out == ""


def test_the_hook_of_pre_commit(cli: Cli, convolved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its entry runs, and its pattern takes a `.bin` alone."""
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    (entry,) = re.findall(r"entry: ir-tools (.*)", text)
    (files,) = re.findall(r"files: (.*)", text)
    assert all(re.search(files, f"models/a{ending}") for ending in (".xml", ".bin"))
    assert cli(*entry.split(), convolved.with_suffix(".bin")).code == 0
    convolved.with_suffix(".bin").write_bytes(b"")
    assert cli(*entry.split(), convolved.with_suffix(".bin")).code == 1
