"""Settings of `validate` in files: where they are found, what they change, and what is wrong with them."""

from dataclasses import fields
from pathlib import Path

import pytest

from ir_tools.cli.configuration import EXCLUDED, SETTINGS, Configuration
from tests.cli.conftest import Cli, pooling_xml

BAD = (
    pooling_xml()
    .replace('exclude-pad="true"', 'exclude_pad="false"')
    .replace('pads_end="0,0"', 'pads_end="0,0" colour="red"')
)
"""An error, IR204 missing-attribute, and a warning, IR206."""
BOTH = ["IR204", "IR206"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `a.xml`, `b/b.xml` and `b/c/c.xml`, each with an error and a warning."""
    for name in ("a.xml", "b/b.xml", "b/c/c.xml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(BAD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(cli: Cli, *words: object) -> dict[str, list[str]]:
    """The codes that are found in each file."""
    document = cli("validate", *words, "--json").document
    return {entry["file"]: [finding["code"] for finding in entry["findings"]] for entry in document["files"]}


def test_the_nearest_file_above_each_model_counts(cli: Cli, project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.ir-tools]\nignore = ["IR204"]\n')
    (project / "b" / "c" / "ir-tools.toml").write_text('ignore = ["unknown-attribute"]\n')
    (project / "b" / "pyproject.toml").write_text('[project]\nname = "other"\n')
    assert found(cli, ".") == {"a.xml": ["IR206"], "b/b.xml": ["IR206"], "b/c/c.xml": ["IR204"]}
    assert found(cli, project / "b" / "c" / "c.xml") == {str(project / "b" / "c" / "c.xml"): ["IR204"]}
    assert found(cli, ".", "--isolated") == {"a.xml": BOTH, "b/b.xml": BOTH, "b/c/c.xml": BOTH}
    assert list(found(cli, ".", "--config", "b/c/ir-tools.toml").values()) == [["IR204"]] * 3


def test_of_two_files_in_one_folder_ir_tools_toml_counts(cli: Cli, project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.ir-tools]\nignore = ["IR204"]\n')
    (project / "ir-tools.toml").write_text('ignore = ["IR206"]\n')
    assert found(cli, "a.xml") == {"a.xml": ["IR204"]}


@pytest.mark.parametrize(
    ("settings", "words", "codes"),
    [
        ('select = ["IR204"]', [], ["IR204"]),
        ('select = ["missing-attribute"]', [], ["IR204"]),
        ('select = ["IR1"]\nextend-select = ["IR206"]', [], ["IR206"]),
        ('extend-select = ["IR206"]', [], BOTH),
        ('ignore = ["IR2"]', [], []),
        ('ignore = ["IR2"]\nselect = ["IR204"]', [], ["IR204"]),
        ('ignore = ["IR204"]\nselect = ["IR204"]', [], []),
        ('ignore = ["ALL"]\nextend-select = ["IR206"]', [], ["IR206"]),
        ('extend-ignore = ["IR204"]', [], ["IR206"]),
        ('ignore = ["IR204"]', ["--ignore", "IR206"], []),
        ('ignore = ["IR204"]', ["--select", "IR204"], ["IR204"]),
        ('select = ["IR1"]', ["--select", "IR206"], ["IR206"]),
        ('select = ["IR1"]', ["--extend-select", "IR206"], ["IR206"]),
        ('[per-file-ignores]\n"*.xml" = ["IR206"]', [], ["IR204"]),
        ('[per-file-ignores]\n"a.xml" = ["IR2"]', ["--select", "IR204"], []),
        ('[per-file-ignores]\n"b/*" = ["IR2"]', [], BOTH),
        ('[per-file-ignores]\n"*" = []', [], BOTH),
        ("select = []", [], []),
        ('select = []\nextend-select = ["IR204"]', [], ["IR204"]),
    ],
)
def test_rules_are_selected(cli: Cli, project: Path, settings: str, words: list[str], codes: list[str]) -> None:
    (project / "ir-tools.toml").write_text(settings)
    assert found(cli, "a.xml", *words) == {"a.xml": codes}


def test_patterns_are_relative_to_the_file(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "ir-tools.toml").write_text('[per-file-ignores]\n"b/**" = ["IR204"]\n"b/c/*.xml" = ["IR206"]\n')
    wanted = [BOTH, ["IR206"], []]
    assert list(found(cli, ".").values()) == wanted
    monkeypatch.chdir(project / "b")
    assert list(found(cli, "..").values()) == wanted
    assert list(found(cli, "..", "--config", "../ir-tools.toml").values()) == wanted


def test_files_are_left_out(cli: Cli, project: Path) -> None:
    assert list(found(cli, ".", "--exclude", "c")) == ["a.xml", "b/b.xml"]
    assert list(found(cli, ".", "--exclude", "b/*.xml,a.xml")) == ["b/c/c.xml"]
    (project / "ir-tools.toml").write_text('exclude = ["b"]\n')
    assert list(found(cli, ".")) == ["a.xml"]
    assert list(found(cli, ".", "--extend-exclude", "a.xml")) == []
    assert list(found(cli, ".", "--exclude", "c")) == ["a.xml", "b/b.xml"]
    assert list(found(cli, "b/b.xml")) == ["b/b.xml"]
    assert list(found(cli, "b/b.xml", "b", "--force-exclude")) == []
    assert list(found(cli, "b")) == ["b/b.xml", "b/c/c.xml"]
    (project / "ir-tools.toml").write_text('exclude = ["b"]\nforce-exclude = true\n')
    assert list(found(cli, "b/c/c.xml", "a.xml")) == ["a.xml"]


@pytest.mark.parametrize("name", EXCLUDED)
def test_some_folders_are_never_searched(cli: Cli, project: Path, name: str) -> None:
    (project / "b" / name).mkdir()
    (project / "b" / name / "d.xml").write_text(BAD)
    assert list(found(cli, ".")) == ["a.xml", "b/b.xml", "b/c/c.xml"]
    assert list(found(cli, f"b/{name}")) == [f"b/{name}/d.xml"]
    (project / "ir-tools.toml").write_text("exclude = []\n")
    assert f"b/{name}/d.xml" in found(cli, ".")


def test_one_file_extends_another(cli: Cli, project: Path) -> None:
    (project / "base.toml").write_text('ignore = ["IR204"]\nextend-select = ["IR206"]\nfail-on = "warning"\n')
    (project / "b" / "ir-tools.toml").write_text('extend = "../base.toml"\n[per-file-ignores]\n"c.xml" = ["IR206"]\n')
    assert found(cli, "b") == {"b/b.xml": ["IR206"], "b/c/c.xml": []}
    assert cli("validate", "b/b.xml").code == 1
    (project / "base.toml").write_text('extend = "b/ir-tools.toml"\n')
    outcome = cli("validate", "b")
    assert outcome.code == 2
    assert "extend forms a cycle with" in outcome.err


@pytest.mark.parametrize(
    ("settings", "words", "code"),
    [
        ("", [], 1),
        ('fail-on = "never"', [], 0),
        ('fail-on = "never"', ["--fail-on", "error"], 1),
        ("", ["--select", "IR206"], 0),
        ("", ["--select", "IR206", "--fail-on", "warning"], 1),
        ('fail-on = "info"', ["--select", "IR206"], 1),
    ],
)
def test_what_fails(cli: Cli, project: Path, settings: str, words: list[str], code: int) -> None:
    (project / "ir-tools.toml").write_text(settings)
    outcome = cli("validate", "a.xml", *words, "--json")
    assert (outcome.code, outcome.document["ok"]) == (code, code == 0)


def test_format_and_baseline_are_those_of_the_current_folder(cli: Cli, project: Path) -> None:
    assert cli("validate", "a.xml", "--write-baseline", "known.json").code == 0
    (project / "ir-tools.toml").write_text('format = "concise"\nbaseline = "known.json"\n')
    outcome = cli("validate", "a.xml", "b/b.xml")
    assert [line.partition(": ")[0] for line in outcome.out.splitlines()[:2]] == ["b/b.xml:9:4", "b/b.xml:9:69"]
    assert outcome.out.splitlines()[-1] == "1 error, 1 warning in 2 files, and 2 known findings."
    assert cli("validate", "a.xml", "--format", "github").out == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selct = ["IR1"]', "there is no setting 'selct'; did you mean select?"),
        ("colour = 1", "there is no setting 'colour'; the settings are extend, select"),
        ('select = "IR1"', "select is 'IR1'; expected a list of strings"),
        ("select = [1]", "select is [1]; expected a list of strings"),
        ('ignore = ["IR999"]', "ignore: there is no rule 'IR999'"),
        ('ignore = [""]', "ignore: there is no rule ''"),
        ('exclude = ["!a.xml"]', "exclude: '!a.xml' is not a pattern"),
        ('per-file-ignores = {"" = ["IR1"]}', "per-file-ignores: '' is not a pattern"),
        ('extend-select = ["missing-atribute"]', "did you mean missing-attribute?"),
        ('per-file-ignores = ["a"]', "expected a table of patterns and lists of codes"),
        ('[per-file-ignores]\n"a" = "IR1"', "per-file-ignores.\"a\" is 'IR1'; expected a list"),
        ("exclude = true", "exclude is True; expected a list of strings"),
        ("force-exclude = 1", "force-exclude is 1; expected true or false"),
        ('fail-on = "errors"', "fail-on is 'errors'; expected one of error, warning, info, never"),
        ("baseline = 3", "baseline is 3; expected a path"),
        ('baseline = "none.json"', "none.json, which does not exist; create it with --write-baseline"),
        ('extend = "none.toml"', "extend is 'none.toml', but there is no file"),
        ("select = ", "not valid TOML: Invalid value (at end of document)"),
        ("\udcff", "not valid TOML"),
    ],
)
def test_wrong_settings_are_told_in_one_line(cli: Cli, project: Path, text: str, message: str) -> None:
    (project / "ir-tools.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    outcome = cli("validate", "a.xml")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert message in outcome.err
    assert f"{project}/ir-tools.toml" in outcome.err
    assert cli("validate", "a.xml", "--isolated").code == 1


def test_settings_behind_a_broken_link_are_not_left_out(cli: Cli, project: Path) -> None:
    (project / "ir-tools.toml").symlink_to("elsewhere.toml")
    outcome = cli("validate", "a.xml")
    assert (outcome.code, outcome.err) == (2, f"ir-tools: {project}/ir-tools.toml: No such file or directory\n")
    assert cli("validate", "a.xml", "--isolated").code == 1


def test_the_table_of_a_pyproject_is_checked(cli: Cli, project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool]\nir-tools = 3\n")
    assert "tool.ir-tools is 3; expected a table" in cli("validate", "a.xml").err
    (project / "pyproject.toml").write_text('tool = "none"\n')
    assert cli("validate", "a.xml").code == 1


def test_a_configuration_is_not_written_over(cli: Cli, project: Path) -> None:
    settings = project / "ir-tools.toml"
    settings.write_text("")
    outcome = cli("validate", "a.xml", "--output-file", "ir-tools.toml")
    assert (outcome.code, settings.read_text()) == (2, "")
    assert "is read by this command" in outcome.err


def test_every_setting_has_a_place() -> None:
    names = {entry.name.replace("_", "-") for entry in fields(Configuration)}
    assert {*SETTINGS} - {"extend"} == names - {"file"}
