"""Every rule of the code table on its own files: `bad.xml` and `good.xml` in the folder called like its module.

`expected.txt` holds what is found in `bad.xml`, one finding a line: `12: layer 3 'pool': error IR103: message (help)`.
The fragments of XML in the rule's documentation stand in those files, so that what `explain` shows is what was run.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ir_tools import rules
from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.rules import RULES, Finding, IrFile, Rule
from ir_tools.rules._listing import listing
from ir_tools.validation import validate
from tests.conftest import ROOT

FOLDER = Path(__file__).parent
MODULES = sorted(path.stem for path in Path(rules.__file__).parent.glob("[a-z]*.py") if path.stem not in {"__init__"})

STATIC = [rule for rule in RULES if not rule.code.startswith("RUN")]
UNSHOWN = {"unreadable-file", "unreadable-weights", "too-large-file"}
"""Rules about what no file of this folder can be; `test_no_files` has them."""
SHOWN = [rule for rule in STATIC if rule.name not in UNSHOWN]

UNPARSED = {"malformed-xml", "wrong-encoding", "foreign-encoding", "document-type", "empty-file", "git-lfs-pointer"}
"""Rules about a line or a file as a whole: there is no element to blame."""
OF_AN_ATTRIBUTE = {
    *("unknown-attribute", "unreadable-attribute", "attribute-out-of-range", "ignored-attribute"),
    *("contradicting-layer", "suspect-setting", "kernel-larger-than-input", "pads-cover-kernel"),
    *("window-in-padding", "full-kernel-divisor"),
}
"""Rules whose messages begin with the one attribute that is wrong."""


def folder_of(rule: Rule) -> Path:
    return FOLDER / rule.name.replace("-", "_")


def told(diagnostic: Diagnostic) -> str:
    """The finding without the name of the file."""
    return str(diagnostic).removeprefix(diagnostic.file or "").removeprefix(":")


def words(text: str) -> str:
    """The text with one blank between any two words."""
    return " ".join(text.split())


def fragment(rule: Rule, heading: str) -> list[str]:
    """The lines of XML under `Bad:` or `Good:`."""
    match = re.search(rf"^{heading}:\n((?:(?: {{4}}.*)?\n)+)", rule.doc, re.MULTILINE)
    assert match, f"{rule.name} has no {heading}:"
    return [words(line) for line in match[1].splitlines() if line.strip() not in {"", "..."}]


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.name)
def test_the_bad_file_has_the_finding(rule: Rule) -> None:
    found = "\n".join(map(told, validate(folder_of(rule) / "bad.xml", select=[rule.code])))
    assert found == (folder_of(rule) / "expected.txt").read_text(encoding="utf-8").rstrip("\n")
    assert rule.code in found


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
    for found in validate(path, select=[rule.code]):
        assert found.line
        assert found.column
        assert found.end_column
        text = lines[found.line - 1][found.column - 1 : found.end_column - 1]
        attribute = re.escape(found.message.partition(" ")[0])
        assert re.fullmatch(f'{attribute}="[^"]*"' if rule.name in OF_AN_ATTRIBUTE else "<[^<>]+>.*", text), text


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.name)
def test_the_good_file_has_no_finding(rule: Rule) -> None:
    assert list(map(told, validate(folder_of(rule) / "good.xml"))) == []


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.name)
@pytest.mark.parametrize("heading", ["Bad", "Good"])
def test_the_documentation_shows_what_was_run(rule: Rule, heading: str) -> None:
    text = words((folder_of(rule) / f"{heading.lower()}.xml").read_bytes().decode("utf-8", "replace"))
    for line in fragment(rule, heading):
        for part in line.split(" ... "):
            assert part.strip(". ") in text, f"{rule.name}: {part}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_documentation_is_whole(rule: Rule) -> None:
    assert re.search(r"^Bad:\n    \S", rule.doc, re.MULTILINE) or rule.code.startswith("IR0")
    assert re.search(r"^Good:\n    \S", rule.doc, re.MULTILINE) or rule.code.startswith("IR0")
    assert re.match(r"[A-Z].*\.\n", rule.doc)
    assert "\nWhy: " in rule.doc


def test_the_table_is_in_order_and_complete() -> None:
    codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes))
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert sorted(rule.name.replace("-", "_") for rule in STATIC) == MODULES


def test_the_page_is_up_to_date() -> None:
    """`docs/rules.md` is made from the table: `python -m ir_tools.rules._listing > docs/rules.md`."""
    assert (ROOT / "docs" / "rules.md").read_text(encoding="utf-8") == listing()


def test_a_rule_that_breaks_keeps_no_other_from_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(file: IrFile) -> Iterator[Finding]:
        raise ZeroDivisionError("no luck")

    wrong = Rule("IR999", "broken-rule", Severity.ERROR, "A rule.", broken)
    monkeypatch.setattr("ir_tools.validation.RULES", (wrong, *RULES))
    codes = {found.code: found for found in validate(FOLDER / "duplicate_layer_id" / "bad.xml")}
    assert "ZeroDivisionError: no luck" in codes.pop("IR999").message
    assert codes
