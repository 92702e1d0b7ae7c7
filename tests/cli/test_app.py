"""What all commands share: help, errors in one line, exit codes, output for programs and for terminals."""

import fcntl
import json
import os
import platform
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from importlib import import_module, metadata
from pathlib import Path

import click
import pytest

import ir_tools
from ir_tools.cli import COMMANDS
from ir_tools.cli.help import GROUPS
from tests.cli.conftest import Cli, Outcome, pooling_xml
from tests.conftest import ROOT

EXTRA = {"migrate": ["--dry-run"]}
HEAVY = ("numpy", "networkx", "lxml", "rich", "openvino")


def assert_one_line(outcome: Outcome, *words: str) -> None:
    assert outcome.code == 2
    assert outcome.err.startswith("ir-tools: ")
    assert outcome.err.count("\n") == 1, outcome.err
    assert "Traceback" not in outcome.err
    for word in words:
        assert word in outcome.err


@pytest.mark.parametrize(
    ("words", "loaded"),
    [(["--version"], ()), (["--help"], ()), (["explain", "IR101"], ()), (["runtimes"], ("numpy", "rich"))],
)
def test_commands_that_read_no_model_load_little(words: list[str], loaded: Sequence[str]) -> None:
    program = (
        "import sys\nfrom ir_tools.cli import main\n"
        f"try:\n    main({words})\n"
        f"finally:\n    print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == f"{[*loaded]}"


def test_the_versions(cli: Cli) -> None:
    versions = (f"ir-tools {ir_tools.__version__}", f"OpenVINO {metadata.version('openvino')}")
    assert cli("--version").out.splitlines() == [*versions, f"Python {platform.python_version()}"]


def test_module_and_command_are_the_same() -> None:
    done = subprocess.run([sys.executable, "-m", "ir_tools", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"ir-tools {ir_tools.__version__}\n")


def test_the_version_of_a_missing_openvino(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(package: str) -> str:
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "version", version)
    assert cli("--version").out.splitlines()[1] == "OpenVINO not installed"


def test_no_command_shows_the_help(cli: Cli) -> None:
    outcome = cli()
    assert outcome.code == 2
    assert all(name in outcome.out for name in COMMANDS)


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_names_every_command(cli: Cli, option: str) -> None:
    outcome = cli(option)
    assert outcome.code == 0
    for name, module in COMMANDS.items():
        summary = getattr(import_module(module), name).get_short_help_str(limit=1000)
        text = r"\s+".join(map(re.escape, summary.split()))
        assert summary.endswith(".")
        assert re.search(rf"^  {name} +{text}$", outcome.out, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_of_a_command_has_an_example_that_is_for_it(cli: Cli, name: str, option: str) -> None:
    outcome = cli(name, option)
    assert outcome.code == 0
    assert f"Example:\n    ir-tools {name} " in outcome.out
    assert "--json" in outcome.out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_lists_every_option_once_and_many_under_headings(cli: Cli, name: str) -> None:
    command: click.Command = getattr(import_module(COMMANDS[name]), name)
    context = click.Context(command, **command.context_settings)
    options = [param.opts[-1] for param in command.get_params(context) if isinstance(param, click.Option)]
    text = cli(name, "-h").out
    listed = re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE)
    assert sorted(listed) == sorted(options)
    headings = [heading for heading in GROUPS if f"\n{heading}:\n" in text]
    assert bool(headings) == (len(options) > 11) == ("\nOptions:\n" not in text)
    assert not headings or {"Model", "Output"} <= set(headings)


PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_commands_names_every_option(name: str) -> None:
    shared, *sections = re.split(r"^## (?=[a-z]+$)", PAGE, flags=re.MULTILINE)
    (own,) = (section for section in sections if section.startswith(f"{name}\n"))
    command: click.Command = getattr(import_module(COMMANDS[name]), name)
    options = {param.opts[-1] for param in command.params if isinstance(param, click.Option)}
    assert sorted(options - {*OPTION.findall(shared), *OPTION.findall(own)}) == []


def test_every_option_that_the_page_of_commands_names_exists() -> None:
    commands: list[click.Command] = [getattr(import_module(module), name) for name, module in COMMANDS.items()]
    existing = {option for command in commands for param in command.params for option in param.opts}
    assert sorted({*OPTION.findall(PAGE)} - existing) == []


def test_every_option_of_a_group_exists() -> None:
    commands: list[click.Command] = [getattr(import_module(module), name) for name, module in COMMANDS.items()]
    existing = {option for command in commands for param in command.params for option in param.opts} | {"--help"}
    named = [option for options in GROUPS.values() for option in options]
    assert len(named) == len({*named})
    assert {*named} <= existing


def test_unknown_command_and_option_get_a_suggestion(cli: Cli) -> None:
    assert_one_line(cli("migrte", "x.xml"), "migrte", "Did you mean 'migrate'?")
    assert_one_line(cli("migrate", "x.xml", "--dryrun"), "--dryrun", "'--dry-run'")
    assert_one_line(cli("--jsn"), "--jsn")


MODEL_COMMANDS = [name for name in COMMANDS if name not in {"validate", "explain", "compat", "runtimes"}]
"""Those that take one MODEL; the others have tests of their own."""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "--input", ""), "--input '': expected a file or a generator such as uniform:0:255 as the value"),
        (("run", "--input", "data="), "--input 'data=': expected a file or a generator"),
        (("run", "--input", "ones", "--input", "zeros"), "input 'data' has 2 values; leave out all but one"),
        (("run", "--set", "data=?,3", "--set", "data=2,3"), "--set: input 'data' has 2 shapes; leave out all but one"),
        (("shapes", "--set", "?,3", "--set", "2,3"), "--set: the input has 2 shapes; leave out all but one"),
        (("run", "--set", ""), "--set '': expected [NAME=]SHAPE"),
        (("run", "--state", ""), "--state '': expected NAME=FILE"),
        (("run", "--mean", ""), "--mean '': expected [NAME=]NUMBERS"),
        (("run", "--extension", sys.executable), "cannot be loaded: "),
        (("migrate", "--dry-run", "--extension", sys.executable), "; expected a shared library with operations"),
        (("migrate", "-o", "/dev/full"), "/dev/full does not end in .xml; name an .xml, or for a folder of models"),
        (("migrate", "--dry-run", "--to", ""), "'' is not a target; expected opset1 to opset17"),
        (("migrate", "--dry-run", "--for", ""), "there is no release ''"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_values_that_are_empty_or_of_no_use(cli: Cli, model: Path, words: tuple[str, ...], message: str) -> None:
    assert_one_line(cli(words[0], model, *words[1:]), message)


@pytest.mark.parametrize("name", MODEL_COMMANDS)
def test_missing_argument(cli: Cli, name: str) -> None:
    assert_one_line(cli(name), "MODEL", f"ir-tools {name} --help")


BROKEN = {
    "missing": (None, "there is no such file"),
    "empty": ("", "empty"),
    "truncated": (pooling_xml()[:900], "truncated.xml:"),
    "no_xml": ("just text\n", "no_xml.xml:1"),
    "other_xml": ("<html></html>\n", "<net>"),
    "unknown": ('<net name="old" version="8">\n<layers></layers></net>\n', "IR version 8"),
    "future": ('<net name="new" version="99">\n<layers></layers></net>\n', "99"),
    "binary": ("\0\1\2\3" * 50, "binary.xml"),
    "loose_edge": (pooling_xml().replace('to-layer="2"', 'to-layer="7"'), "layer 7"),
    "bad_id": (pooling_xml().replace('<layer id="1"', '<layer id="one"'), "one"),
}


@pytest.mark.parametrize("name", MODEL_COMMANDS)
@pytest.mark.parametrize("kind", BROKEN)
def test_unreadable_files(cli: Cli, tmp_path: Path, name: str, kind: str) -> None:
    text, word = BROKEN[kind]
    path = tmp_path / f"{kind}.xml"
    if text is not None:
        path.write_text(text)
    outcome = cli(name, path, *EXTRA.get(name, []))
    assert_one_line(outcome, word, str(path))
    assert outcome.out == ""


@pytest.mark.parametrize("name", MODEL_COMMANDS)
def test_paths_that_are_no_models(cli: Cli, model: Path, name: str) -> None:
    extra = EXTRA.get(name, [])
    if name != "migrate":
        assert_one_line(cli(name, model.parent, *extra), "is a folder", "model.xml")
    assert_one_line(cli(name, model.with_name("modle.xml"), *extra), "did you mean", "model.xml")
    assert "did you mean" not in cli(name, model.with_name("nets.xml"), *extra).err
    assert_one_line(cli(name, "", *extra), "the name of a file is empty")
    model.with_suffix(".bin").write_bytes(b"")
    assert_one_line(cli(name, model.with_suffix(".bin"), *extra), "name the .xml")
    assert_one_line(cli(name, model.with_suffix(".onnx"), *extra), "there is no such file", "model.onnx")


def test_unreadable_by_permission(cli: Cli, model: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything, whatever the permissions")
    model.chmod(0)
    assert_one_line(cli("inspect", model), "ermission")


def test_errors_as_json(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "old.xml").write_text('<net name="old" version="8">\n<layers></layers></net>\n')
    outcome = cli("inspect", tmp_path / "old.xml", "--json")
    assert_one_line(outcome, "IR version 8")
    assert outcome.document["kind"] == "ReadError"
    assert outcome.document["command"] == "inspect"
    assert outcome.document["error"] in outcome.err
    assert outcome.document["diagnostics"][0]["line"] == 1
    assert cli("inspect", "--json").document["kind"] == "MissingParameter"
    assert cli("unknown", "--json").document["command"] is None


def test_an_unexpected_error_is_one_line_and_debug_shows_the_traceback(
    cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a fault\nof ours")

    monkeypatch.setattr("ir_tools.cli.inspect._facts", fail)
    assert_one_line(cli("inspect", model), "internal error", "a fault of ours", "--debug")
    shown = cli("inspect", model, "--debug")
    assert "Traceback" in shown.err
    assert shown.code == 2


@pytest.mark.parametrize(("ending", "code"), [(SystemExit(143), 143), (KeyboardInterrupt(), 130)])
def test_errors_of_tidying_up_after_a_signal_are_not_shown(
    cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch, ending: BaseException, code: int
) -> None:
    def fail(*_: object) -> None:
        try:
            raise ending
        finally:
            raise RuntimeError("cannot join thread before it is started")

    monkeypatch.setattr("ir_tools.cli.inspect._facts", fail)
    outcome = cli("inspect", model)
    assert (outcome.code, outcome.out, outcome.err) == (code, "", "")


def test_interrupt_is_quiet(cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ir_tools.cli.inspect._facts", interrupt)
    assert cli("inspect", model) == Outcome(130, "", "")


def test_a_reader_that_goes_away_is_no_error(model: Path) -> None:
    command = [sys.executable, "-m", "ir_tools", "inspect", str(model)]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def on_terminal(columns: int, *words: str, **environment: str) -> str:
    """What a terminal of that width shows."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    variables = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "NO_COLOR", "CI"}}
    process = subprocess.Popen(
        [sys.executable, "-m", "ir_tools", *words],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**variables, "TERM": "xterm-256color", **environment},
    )
    os.close(slave)
    shown = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            chunk = os.read(master, 65536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.close(master)
    assert process.wait(30) == 0
    return shown.decode()


def test_a_terminal_gets_colours_and_no_line_is_too_long(model: Path) -> None:
    shown = on_terminal(80, "inspect", str(model))
    assert "\x1b[1m" in shown
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown).splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("pool") and line.endswith("1,2,4,4") for line in lines)


def test_no_color_is_respected(model: Path) -> None:
    shown = on_terminal(80, "migrate", str(model), "--dry-run", NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", shown)


def test_a_pipe_gets_plain_text_on_unbroken_lines(cli: Cli, tmp_path: Path) -> None:
    name = "/".join(["a_rather_long_scope"] * 8)
    path = tmp_path / "long.xml"
    path.write_text(pooling_xml(name=name))
    outcome = cli("inspect", path)
    assert re.search(rf"^{name}  AvgPool-1 .*1,2,8,8 +1,2,4,4$", outcome.out, re.MULTILINE)
    assert outcome.out.isascii()
    assert "\x1b" not in outcome.out
    assert not re.search(r" $", outcome.out, re.MULTILINE)


@pytest.mark.parametrize("name", MODEL_COMMANDS)
def test_json_is_one_document(cli: Cli, model: Path, name: str) -> None:
    outcome = cli(name, model, *EXTRA.get(name, []), "--json")
    assert outcome.code == 0
    assert outcome.err == ""
    assert outcome.document["command"] == name
    assert outcome.document["file"] == str(model)
    assert json.loads(outcome.out)["ir_tools"] == ir_tools.__version__


# --- completion by shells -----------------------------------------------------------------------------------------


def completed(cli: Cli, monkeypatch: pytest.MonkeyPatch, *words: str) -> list[tuple[str, str]]:
    """What bash is offered for the last word: kind and text."""
    monkeypatch.setenv("_IR_TOOLS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(["ir-tools", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    outcome = cli()
    assert (outcome.code, outcome.err) == (0, "")
    kinds = (line.partition(",") for line in outcome.out.splitlines())
    return [(kind, text) for kind, _, text in kinds]


def test_shells_complete_commands_options_and_files(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert completed(cli, monkeypatch, "va") == [("plain", "validate")]
    assert completed(cli, monkeypatch, "validate", "--extend-s") == [("plain", "--extend-select")]
    assert completed(cli, monkeypatch, "validate", "--format", "gi") == [("plain", "github"), ("plain", "gitlab")]
    assert completed(cli, monkeypatch, "inspect", "mod") == [("file", "mod")]
    assert completed(cli, monkeypatch, "migrate", "none.xml", "-o", "ou") == [("file", "ou")]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_a_script(cli: Cli, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    monkeypatch.setenv("_IR_TOOLS_COMPLETE", f"{shell}_source")
    outcome = cli()
    assert outcome.code == 0
    assert "_IR_TOOLS_COMPLETE" in outcome.out
