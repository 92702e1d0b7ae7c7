"""Every rule of the code table on its own files: `bad.xml` and `good.xml` in the folder that has its name.

`expected.txt` holds what is found in `bad.xml`, one finding a line: `12: layer 3 'pool': error IR103: message (help)`.
The fragments of XML in the rule's documentation stand in those files, so that what `explain` shows is what was run.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from ir_tools import checks, rules
from ir_tools.checks import CHECKS, Check, IrFile
from ir_tools.diagnostics import Diagnostic
from ir_tools.format.problems import ElementProblem
from ir_tools.rules import RULES, Rule
from ir_tools.rules._listing import listing
from ir_tools.rules.operations import WRONG_NUMBER_OF_INPUTS
from ir_tools.rules.storage import OVERLAPPING_CONSTANTS, UNREAD_WEIGHTS
from ir_tools.rules.structure import DUPLICATE_LAYER_ID, INPUT_FED_TWICE, UNFED_INPUT
from ir_tools.validation import validate
from tests.conftest import ROOT

FOLDER = Path(__file__).parent

STATIC = [rule for rule in RULES if not rule.code.startswith("RUN")]
UNSHOWN = {"unreadable-file", "unreadable-weights", "too-large-file"}
"""Rules about what no file of this folder can be; `test_no_files` has them."""
SHOWN = [rule for rule in STATIC if rule.name not in UNSHOWN]

UNPARSED = {"malformed-xml", "wrong-encoding", "foreign-encoding", "document-type", "empty-file", "git-lfs-pointer"}
"""Rules about a line or a file as a whole: there is no element to blame."""
OF_AN_ATTRIBUTE = {
    *("unknown-attribute", "unreadable-attribute", "attribute-out-of-range", "ignored-attribute"),
    *("contradicting-layer", "suspect-setting", "kernel-larger-than-input", "pads-cover-kernel"),
    *("window-in-padding", "full-kernel-divisor", "unknown-rank-input"),
}
"""Rules about one attribute that is there."""
BESIDE = {
    DUPLICATE_LAYER_ID.code: {INPUT_FED_TWICE.code},
    OVERLAPPING_CONSTANTS.code: {UNREAD_WEIGHTS.code},
    UNFED_INPUT.code: {WRONG_NUMBER_OF_INPUTS.code},
}
"""Rules whose bad file breaks another one with the same fault."""


def folder_of(rule: Rule) -> Path:
    return FOLDER / rule.name.replace("-", "_")


def told(diagnostic: Diagnostic) -> str:
    """The finding without the name of the file."""
    return str(diagnostic).removeprefix(diagnostic.file or "").removeprefix(":")


def words(text: str) -> str:
    """The text with one blank between any two words."""
    return " ".join(text.split())


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.name)
def test_the_bad_file_has_the_finding(rule: Rule) -> None:
    found = "\n".join(map(told, validate(folder_of(rule) / "bad.xml", select=[rule.code])))
    assert found == (folder_of(rule) / "expected.txt").read_text(encoding="utf-8").rstrip("\n")
    assert rule.code in found


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.name)
def test_the_bad_file_has_no_finding_of_another_rule(rule: Rule) -> None:
    codes = {finding.code for finding in validate(folder_of(rule) / "bad.xml")}
    assert codes == {rule.code, *BESIDE.get(rule.code, ())}


def test_findings_are_in_the_order_of_the_lines() -> None:
    crossed = 0
    for rule in SHOWN:
        found = [(one.line or 0, one.code) for one in validate(folder_of(rule) / "bad.xml")]
        assert found == sorted(found)
        crossed += [code for _, code in found] != sorted(code for _, code in found)
    assert crossed


@pytest.mark.parametrize("rule", [rule for rule in SHOWN if rule.name not in UNPARSED], ids=lambda rule: rule.name)
def test_columns_are_those_of_the_element_or_of_its_attribute(rule: Rule) -> None:
    path = folder_of(rule) / "bad.xml"
    lines = path.read_text(encoding="utf-8").split("\n")
    findings = validate(path, select=[rule.code])
    assert findings
    for found in findings:
        assert found.line
        assert found.column
        assert found.end_column
        text = lines[found.line - 1][found.column - 1 : found.end_column - 1]
        attribute = f'{re.escape(found.attribute or "")}="[^"]*"'
        assert re.fullmatch(attribute if rule.name in OF_AN_ATTRIBUTE else "<[^<>]+>.*", text), text


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.name)
def test_the_good_file_has_no_finding(rule: Rule) -> None:
    assert list(map(told, validate(folder_of(rule) / "good.xml"))) == []


def test_the_documentation_shows_what_was_run() -> None:
    for rule in SHOWN:
        for kind, shown in (("bad", rule.bad), ("good", rule.good)):
            text = words((folder_of(rule) / f"{kind}.xml").read_bytes().decode("utf-8", "replace"))
            for part in re.split(r"\.\.\.|\n", shown):
                assert words(part) in text, (rule.name, kind)


def test_the_documentation_is_whole() -> None:
    for rule in RULES:
        assert (rule.bad and rule.good) or rule.code.startswith("IR0"), rule.name
        assert re.match(r"[A-Z].*\.", rule.what), rule.name
        assert rule.why, rule.name


def test_the_table_is_in_order_and_complete() -> None:
    codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes))
    constants = {name for table in (*vars(rules).values(),) if isinstance(table, ModuleType) for name in vars(table)}
    assert {rule.name.upper().replace("-", "_") for rule in RULES} <= constants


def test_every_module_of_checks_is_in_the_table() -> None:
    modules = {path.stem for path in Path(checks.__file__).parent.glob("[a-z]*.py")} - {"define", "file"}
    assert modules == {check.find.__module__.rpartition(".")[2] for check in CHECKS}


def test_the_page_is_up_to_date() -> None:
    """`docs/rules.md` is made from the table: `python -m ir_tools.rules._listing > docs/rules.md`."""
    assert (ROOT / "docs" / "rules.md").read_text(encoding="utf-8") == listing()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.find.__module__.rpartition(".")[2])
def test_a_check_that_breaks_says_so_and_keeps_no_other_from_looking(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is a defect of the check, and none of the file: a warning, whatever the rule is."""

    def broken(file: IrFile) -> Iterator[ElementProblem]:
        yield from check.find(file)
        raise ZeroDivisionError("no luck")

    path = FOLDER / "disordered_ports" / "bad.xml"
    usual = validate(path)
    others = [Check(broken, check.rules) if one is check else one for one in CHECKS]
    monkeypatch.setattr("ir_tools.validation.CHECKS", others)
    found = validate(path)
    more = [one for one in found if one not in usual]
    assert [one for one in found if one in usual] == usual
    assert [(one.code, str(one.severity)) for one in more] == [(check.rules[0].code, "warning")]
    assert "ZeroDivisionError: no luck" in more[0].message
