"""The formats of `validate` for CI systems, read back as those systems read them."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from ir_tools.cli.checking import Checked, Task
from ir_tools.cli.configuration import FAIL_ON, FORMATS
from ir_tools.cli.formats import RENDERERS
from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.rules import RULES
from tests.cli.conftest import Cli, pooling_xml

SARIF = json.loads(Path(__file__).with_name("sarif-schema-2.1.0.json").read_text())
EVIL = "a%b,c:d::e]]>&<\"'\r\n::error::forged\x1b[31m\x00\u202e\ufffe\udcff"
"""What may be in a name: line ends, commands, control characters, text that turns, and what XML cannot hold."""
FINDINGS = [
    Diagnostic(
        code=rule.code,
        severity=rule.severity,
        message=f"message {EVIL}",
        file=f"models/{EVIL.replace(chr(0), '')}.xml",
        line=number or None,
        column=4 if number % 2 else None,
        end_column=9 if number % 3 else None,
        layer_id=number if number % 5 else None,
        layer_name=EVIL if number % 7 else None,
        path=f"Loop/body/{EVIL}" if number % 11 else None,
        help=f"do {EVIL}" if number % 13 else None,
    )
    for number, rule in enumerate(RULES)
]


def checked(findings: Sequence[Diagnostic] = FINDINGS, fail_on: str = "error") -> list[Checked]:
    """A file with all findings, twice, and one without any."""
    evil, good = (Task(file=Path(name), codes=(), failing=FAIL_ON[fail_on]) for name in (f"{EVIL[:9]}.xml", "good.xml"))
    return [Checked(evil, [*findings, *findings]), Checked(good, [])]


def printed(text: str) -> bool:
    """Whether a text is one line without characters that are not printed."""
    return text.isprintable()


# --- GitHub -----------------------------------------------------------------------------------------------------


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """What the runner of GitHub Actions makes of lines: command, properties, data."""
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"::(\w+) (.*?)::(.*)", line)
        assert match, line
        pairs = [pair.partition("=") for pair in match[2].split(",")]
        found.append((match[1], {key: unescaped(value) for key, _, value in pairs}, unescaped(match[3])))
    return found


def unescaped(text: str) -> str:
    for escape, letter in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, letter)
    return text


def test_github() -> None:
    found = commands(RENDERERS["github"](checked()))
    assert len(found) == 2 * len(FINDINGS)
    for (command, properties, data), finding in zip(found, [*FINDINGS, *FINDINGS], strict=True):
        assert command == {"error": "error", "warning": "warning", "info": "notice"}[finding.severity]
        assert properties["title"] == f"ir-tools ({finding.code})"
        assert properties["file"].startswith("models/a%b,c:d::e")
        assert properties.get("line") == (str(finding.line) if finding.line else None)
        assert ("col" in properties) == bool(finding.line and finding.column)
        assert set(properties) <= {"title", "file", "line", "endLine", "col", "endColumn"}
        assert "message a%b,c:d::e" in data
        assert printed(data)


def test_the_words_of_github_in_one_line(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a,b.xml").write_text(pooling_xml(name="50%").replace('exclude-pad="true"', 'exclude_pad="false"'))
    (finding,) = cli("validate", "a,b.xml", "--json").document["files"][0]["findings"]
    assert cli("validate", "a,b.xml", "--format", "github").out == (
        "::error title=ir-tools (IR204),file=a%2Cb.xml,line=9,endLine=9,col=4,endColumn=91"
        f"::layer 1 '50%25': {finding['message']}; {finding['help']}\n"
    )


# --- GitLab -----------------------------------------------------------------------------------------------------


def test_gitlab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CI_PROJECT_DIR", raising=False)
    found: list[dict[str, Any]] = json.loads(RENDERERS["gitlab"](checked()))
    assert len(found) == 2 * len(FINDINGS)
    assert len({issue["fingerprint"] for issue in found}) == len(found)
    for issue, finding in zip(found, [*FINDINGS, *FINDINGS], strict=True):
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["check_name"] == finding.code
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert issue["location"]["path"].startswith("models/")
        assert issue["location"]["lines"] == {"begin": finding.line or 1}
        assert printed(issue["description"])
    monkeypatch.setenv("CI_PROJECT_DIR", str(tmp_path))
    issue = json.loads(RENDERERS["gitlab"](checked([FINDINGS[0]])))[0]
    assert issue["location"]["path"] == (Path.cwd() / str(FINDINGS[0].file)).as_posix()


def test_fingerprints_do_not_depend_on_lines() -> None:
    first, second = (
        json.loads(
            RENDERERS["gitlab"](checked([Diagnostic(code="IR1", severity=Severity.ERROR, message="m", line=line)]))
        )
        for line in (1, 7)
    )
    assert [issue["fingerprint"] for issue in first] == [issue["fingerprint"] for issue in second]


# --- JUnit ------------------------------------------------------------------------------------------------------

SUITE = {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname", "package", "id"}
"""The attributes that both the schema of Jenkins and that of Ant know; Ant asks for all of them."""


@pytest.mark.parametrize("fail_on", FAIL_ON)
def test_junit(fail_on: str) -> None:
    root = ElementTree.fromstring(RENDERERS["junit"](checked(fail_on=fail_on)).encode("utf-8"))
    failing = [finding for finding in FINDINGS if finding.severity in FAIL_ON[fail_on]]
    assert (root.tag, root.attrib) == ("testsuites", {})
    evil, good = root
    assert [suite.attrib["failures"] for suite in root] == [str(2 * len(failing)), "0"]
    for number, suite in enumerate(root):
        assert set(suite.attrib) == SUITE
        assert (suite.attrib["id"], suite.attrib["errors"], suite.attrib["skipped"]) == (str(number), "0", "0")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.attrib["timestamp"])
        assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
        assert [child.tag for child in suite if child.tag != "testcase"] == ["properties", "system-out", "system-err"]
        assert max(Counter(case.attrib["name"] for case in suite.findall("testcase")).values()) == 1
        assert all(set(case.attrib) == {"name", "classname", "time"} for case in suite.findall("testcase"))
    failures = evil.findall("testcase/failure")
    assert [failure.attrib["type"] for failure in failures] == [finding.code for finding in failing] * 2
    assert all(printed(text) for failure in failures for text in (failure.attrib["message"], failure.text or ""))
    assert [case.attrib["name"] for case in good.findall("testcase")] == ["valid"]
    assert len((evil.findtext("system-out") or "").splitlines()) == 2 * (len(FINDINGS) - len(failing))


# --- SARIF and all of them ----------------------------------------------------------------------------------------


def test_sarif() -> None:
    log = json.loads(RENDERERS["sarif"](checked()))
    jsonschema.Draft7Validator(SARIF).validate(log)
    assert len(log["runs"][0]["results"]) == 2 * len(FINDINGS)


@pytest.mark.parametrize("style", RENDERERS)
def test_nothing_found(style: str) -> None:
    text = RENDERERS[style](checked([]))
    found: object = text
    if style == "junit":
        found = ElementTree.fromstring(text.encode()).findall(".//failure")
    elif style != "github":
        document = json.loads(text)
        found = document["runs"][0]["results"] if style == "sarif" else document
    assert not found


@pytest.mark.parametrize("style", FORMATS)
def test_a_file_holds_what_is_printed(style: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ä.xml").write_text(
        pooling_xml(name="ü").replace('exclude-pad="true"', 'exclude_pad="false"'), encoding="utf-8"
    )
    wanted = cli("validate", "ä.xml", "--format", style)
    outcome = cli("validate", "ä.xml", "--format", style, "--output-file", "found")
    assert (wanted.code, wanted.err, outcome) == (1, "", (1, "", ""))
    times = re.compile(r'timestamp="[^"]*"')
    assert times.sub("", Path("found").read_text(encoding="utf-8")) == times.sub("", wanted.out)


@pytest.mark.parametrize("style", FORMATS)
def test_names_that_are_not_utf_8(style: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("\udcff.xml").write_text(pooling_xml().replace('exclude-pad="true"', 'exclude_pad="false"'))
    assert cli("validate", "\udcff.xml", "--format", style, "--output-file", "found").code == 1
    assert Path("found").read_bytes()


def test_a_failing_write_leaves_what_was_there(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.xml").write_text(pooling_xml())
    Path("found").write_text("old")
    for words, text in (
        (["--output-file", "a.xml"], "a.xml"),
        (["--output-file", "no/found"], "there is no such folder"),
        (["--output-file", "found", "--no-clobber"], "found exists already"),
        (["--output-file", "found", "--json"], "use --format json"),
    ):
        outcome = cli("validate", "a.xml", *words)
        assert outcome.code == 2
        assert text in outcome.err
    assert Path("found").read_text() == "old"
