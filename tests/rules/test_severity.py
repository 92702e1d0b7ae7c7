"""`error` and `warning` mean the same for all rules; the definition is in `docs/rules.md`, and the runtime judges."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ir_tools.checks import IrFile
from ir_tools.diagnostics import MAX_LISTED, Severity
from ir_tools.errors import RuntimeFailure
from ir_tools.format.read import open_files
from ir_tools.ops import FAMILIES
from ir_tools.ops.checks import check_attributes
from ir_tools.ops.definition import ViolationKind
from ir_tools.ops.fields import REQUIRED
from ir_tools.rules import RULES, Rule
from ir_tools.rules.compatibility import UNKNOWN_RANK_INPUT
from ir_tools.rules.structure import STRAY_TEXT
from ir_tools.runtime.client import STAGES, RuntimeClient
from ir_tools.validation import errors_in, validate
from tests.ops.samples import sample_of
from tests.rules.recorded import RUNS, UNDEFINED
from tests.rules.test_rules import FOLDER, SHOWN, folder_of

UNCOMPILED = {UNKNOWN_RANK_INPUT}
"""Rules that warn of valid files which the newest OpenVINO does not compile."""
DATA = '<data auto_broadcast="numpy" />'
OPS = [op for family in FAMILIES for op in family.OPS]


def shown(severity: Severity) -> list[Rule]:
    """The rules of which the bad file has a finding of a severity."""
    found = {rule: (folder_of(rule) / "expected.txt").read_text() for rule in SHOWN}
    return [rule for rule, text in found.items() if f"{severity} {rule.code}: " in text]


@pytest.fixture(scope="module")
def client() -> Iterator[RuntimeClient]:
    with RuntimeClient(memory=3 << 30) as runtime:
        yield runtime


def failure(client: RuntimeClient, rule: Rule) -> str:
    """How the runtime fails over the bad file of a rule; empty if it runs it."""
    try:
        client.attempt(folder_of(rule) / "bad.xml", None, until=STAGES[3], seconds=20)
    except RuntimeFailure as why:
        return f"{why.kind}: {why.reason}"
    return ""


DECIDED = [rule for rule in shown(Severity.ERROR) if RUNS.get(rule.code) != UNDEFINED]
"""What is in no specification may kill the runtime or not."""


@pytest.mark.parametrize("rule", DECIDED, ids=lambda rule: rule.code)
def test_an_error_stops_the_runtime_or_has_no_single_meaning(client: RuntimeClient, rule: Rule) -> None:
    assert bool(failure(client, rule)) != (rule.code in RUNS)


@pytest.mark.parametrize("rule", shown(Severity.WARNING), ids=lambda rule: rule.code)
def test_a_file_with_a_warning_runs(client: RuntimeClient, rule: Rule) -> None:
    assert bool(failure(client, rule)) == (rule in UNCOMPILED)


def test_the_milder_severity_of_a_rule_is_milder() -> None:
    order = list(Severity)
    assert all([*rule.severities] == sorted(rule.severities, key=order.index) for rule in RULES)
    assert any(len(rule.severities) > 1 for rule in RULES)


@pytest.mark.parametrize("rule", SHOWN, ids=lambda rule: rule.code)
def test_findings_are_as_severe_as_their_rules_say(rule: Rule) -> None:
    """Commands that want errors alone leave out whole rules."""
    severities = {other.code: other.severities for other in RULES}
    for found in validate(folder_of(rule) / "bad.xml"):
        assert found.severity in severities[found.code]


@pytest.mark.parametrize(
    ("old", "new", "severity"),
    [
        (DATA, DATA * 2, "warning"),
        (DATA, f"{DATA}<data />", "warning"),
        (DATA, f'{DATA}<data auto_broadcast="none" />', "error"),
        ("</edges>", "</edges><edges></edges>", "warning"),
        ("<dim>1</dim>", '<dim>1</dim><note a="1" />', "warning"),
        ("<dim>1</dim>", "<dim>1</dim><size>1</size>", "error"),
        ("</layers>", '<node id="9" /></layers>', "error"),
        (DATA, f'{DATA}<rt_info><attribute version="0" value="a" /></rt_info>', "warning"),
        (DATA, f'{DATA}<rt_info><attribute name="fused_names_0" value="a" /></rt_info>', "warning"),
        (DATA, f'{DATA}<rt_info><attribute name="old_api_map_order_0" value="0" /></rt_info>', "error"),
    ],
)
def test_what_the_runtime_leaves_out_is_an_error_if_it_may_mean_something(
    client: RuntimeClient, tmp_path: Path, old: str, new: str, severity: str
) -> None:
    path = tmp_path / "model.xml"
    path.write_text((FOLDER / "repeated_element" / "good.xml").read_text().replace(old, new, 1))
    assert [str(found.severity) for found in validate(path)] == [severity]
    client.attempt(path, None, until=STAGES[3], seconds=20)


def test_an_attribute_that_the_runtime_assumes_is_a_warning() -> None:
    """For every attribute of every operation: absent, and misspelled with the value that is assumed or another."""
    for op, sample in [(op, sample) for op in OPS if (sample := sample_of(op))]:
        for key, spec in op.attrs.items():
            name = spec.xml or key
            raw = {other: text for other, text in sample.raw.items() if other != name}
            kinds = {found.kind for found in check_attributes(op, raw)[1] if found.attribute == name}
            if spec.needed or (spec.default is REQUIRED and spec.runtime_default is REQUIRED):
                assert kinds == {ViolationKind.MISSING}, (op, name)
            elif spec.runtime_default is not REQUIRED:
                assert kinds == {ViolationKind.ASSUMED}, (op, name)


@pytest.mark.parametrize(
    ("word", "value", "kind"),
    [
        ("exclude_pad", "true", ViolationKind.ASSUMED),
        ("exclude_pad", "false", ViolationKind.MISSING),
        ("exclude_pad", "yes?", ViolationKind.ASSUMED),
        ("pad_begin", "1,1", ViolationKind.MISSING),
        ("pad_begin", "one", ViolationKind.MISSING),
    ],
)
def test_a_misspelled_attribute_is_an_error_if_its_value_is_lost(word: str, value: str, kind: ViolationKind) -> None:
    op = next(op for op in OPS if str(op) == "AvgPool-1")
    name = "exclude-pad" if "pad" in word and "exclude" in word else "pads_begin"
    raw = {"kernel": "3,3", "strides": "2,2", "pads_begin": "0,0", "pads_end": "0,0", "exclude-pad": "true"}
    del raw[name]
    (found,) = check_attributes(op, {**raw, word: value})[1]
    assert (found.attribute, found.kind) == (name, kind)
    assert f"ignores the spelling '{word}'" in found.message


def test_the_bad_files_are_all_judged() -> None:
    assert {path.name for path in FOLDER.iterdir() if (path / "bad.xml").exists()} == {
        folder_of(rule).name for rule in SHOWN
    }


def test_errors_are_found_behind_very_many_warnings_of_their_rule() -> None:
    text = (FOLDER / "stray_text" / "good.xml").read_text()
    ports = "".join(f'<port id="{n}" precision="FP32"><dim>1</dim>left over</port>' for n in range(2, MAX_LISTED + 3))
    many = text.replace("</output>", f"{ports}</output>", 1)
    lost = many.replace("</edges>", 'edge from-layer="0" /></edges>')
    for each, errors in ((many, 0), (lost, 1)):
        found = errors_in(IrFile(*open_files(each.encode())))
        assert sum(one.code == STRAY_TEXT.code for one in found) == errors
