"""`ir-tools runtimes`."""

import sys
from pathlib import Path

import pytest

import ir_tools
from ir_tools.releases.table import RELEASES
from ir_tools.runtime.environments import Installation
from tests.cli.conftest import Cli

NAME = "inference-engine-2020.1"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of environments without any; what is installed is an empty interpreter."""
    monkeypatch.setenv("IR_TOOLS_RUNTIMES", str(tmp_path / "runtimes"))
    monkeypatch.setattr(Installation, "make", _make)
    return tmp_path / "runtimes"


def _make(planned: Installation) -> Path:
    python = planned.folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    return python


def pythons(cli: Cli) -> dict[str, str | None]:
    return {row["name"]: row["python"] for row in cli("runtimes", "--json").document["runtimes"]}


def test_list(cli: Cli, folder: Path) -> None:
    outcome = cli("runtimes", "--json")
    assert outcome.document["folder"] == str(folder)
    assert [row["name"] for row in outcome.document["runtimes"]] == [
        "openvino",
        *(release.name for release in RELEASES),
    ]
    assert outcome.document["runtimes"][1]["reads"] == [2, 7]
    lines = cli("runtimes").out.splitlines()
    assert lines[0].split() == ["name", "reads", "where"]
    assert lines[1].endswith(sys.executable)
    assert lines[3].split() == ["openvino-2021.2", "IR", "v10", "not", "installed"]
    assert lines[-1].startswith(f"environments are in {folder}; ")


def test_add_and_remove(cli: Cli, folder: Path) -> None:
    outcome = cli("runtimes", "--add", NAME)
    assert outcome.code == 0
    assert outcome.err.startswith(f"ir-tools: installing Inference Engine 2020.1 into {folder / NAME}: opencv-python-")
    assert outcome.err.endswith("about 200 MB (55 MB to download)\n")
    assert outcome.out.splitlines()[-1] == f"Made {folder / NAME / 'bin' / 'python'}"
    assert pythons(cli)[NAME] == str(folder / NAME / "bin" / "python")
    assert cli("runtimes", "--add", NAME).err == (
        f"ir-tools: {folder / NAME} exists already; remove it first with: ir-tools runtimes --remove {NAME}\n"
    )
    outcome = cli("runtimes", "--remove", NAME)
    assert (outcome.code, outcome.out.splitlines()[-1]) == (0, f"Removed {folder / NAME}")
    assert pythons(cli)[NAME] is None
    assert cli("runtimes", "--remove", NAME).code == 2


@pytest.mark.parametrize("words", [("--add", "openvino"), ("--add", NAME, "--remove", NAME)], ids=" ".join)
def test_wrong_usage(cli: Cli, words: tuple[str, ...]) -> None:
    outcome = cli("runtimes", *words)
    assert outcome.is_one_line


def test_in_python(folder: Path) -> None:
    python = folder / NAME / "bin" / "python"
    assert ir_tools.runtimes(add=NAME)[1].python == python
    assert f"{NAME} (IR v2 to v7): {python}" in repr(ir_tools.runtimes()).splitlines()
    assert ir_tools.runtimes(remove=NAME)[1].python is None
    with pytest.raises(ir_tools.UsageError, match="two calls"):
        ir_tools.runtimes(add=NAME, remove=NAME)
