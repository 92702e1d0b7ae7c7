"""Environments of other releases: found, made with venv and pip or uv, removed."""

import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from ir_tools import RuntimeFailure, UsageError
from ir_tools.display import LINES
from ir_tools.releases.table import RELEASES, Release, find_release
from ir_tools.runtime import _process, environments
from ir_tools.runtime._child import Child
from ir_tools.runtime._foreign_files import Files
from ir_tools.runtime.environments import (
    Installation,
    Runtime,
    Runtimes,
    environment,
    found_python,
    installation,
    release_python,
    remove,
)
from ir_tools.runtime.legacy import LegacyClient
from ir_tools.runtime.release import release_client

OLD = Release(
    name="old", title="Old 1.0", packages=("old==1.0",), pythons=("3.4", "3.5"), download=1, size=2, reads=(2, 7)
)
"""A release for versions of Python that nobody has."""
OWN = replace(
    OLD, name="own", title="Own 1.0", packages=(), pythons=(f"{sys.version_info.major}.{sys.version_info.minor}",)
)
"""A release that needs nothing but this Python."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of this machine is seen: a folder of environments, and others of Pythons, which are not there."""
    for name in ("IR_TOOLS_RUNTIMES", "PYENV_ROOT", "UV_PYTHON_INSTALL_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return tmp_path


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def made(folder: Path, release: Release) -> Path:
    return program(folder / "IR_TOOLS_RUNTIMES" / release.name / "bin" / "python", "")


def test_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("IR_TOOLS_RUNTIMES")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert environments.runtimes_folder() == tmp_path / "ir-tools" / "runtimes"


def test_python_that_is_named_or_in_the_folder(folder: Path) -> None:
    with pytest.raises(RuntimeFailure, match=r"Old 1.0 is not installed; add it with: ir-tools runtimes --add old"):
        release_python(OLD)
    assert environment(OLD) is None
    python = made(folder, OLD)
    assert release_python(OLD) == python
    assert release_python(OLD, Path(sys.executable)) == Path(sys.executable)
    with pytest.raises(UsageError, match="is not a program; name a Python that has Old"):
        release_python(OLD, folder)


def test_pythons_are_looked_for_in_order(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeFailure, match=r"Old 1.0 needs Python 3.4 or 3.5, and none was found"):
        installation(OLD)
    program(folder / "bin" / "uv", "")
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/bin")
    assert installation(OLD).python == "3.4", "uv downloads it"
    for place, version in (
        ("bin/python3.5", "3.5"),
        ("UV_PYTHON_INSTALL_DIR/cpython-3.4.2-linux/bin/python3.4", "3.4"),
        ("PYENV_ROOT/versions/3.4.9/bin/python3.4", "3.4"),
        ("PYENV_ROOT/versions/3.4.10/bin/python3.4", "3.4"),
    ):
        path = program(folder / place, f"echo {version}")
        assert installation(OLD).python == str(path)
    for number, text in enumerate(("exit 127", "echo 3.5")):
        program(folder / f"PYENV_ROOT/versions/3.4.{11 + number}/bin/python3.4", text)
    assert installation(OLD).python == str(path), "one that does not run, or is of another version, is passed over"
    assert installation(OWN).python == sys.executable


def test_uv_makes_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = program(folder / "python", f'echo "$@" >> {folder}/log')
    steps = f'echo "$@" >> {folder}/log; mkdir -p "$6/bin"; cp {python} "$6/bin"'
    program(folder / "bin" / "uv", steps)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")
    planned = installation(OLD)
    assert str(planned).endswith("/old: old==1.0 with Python 3.4, about 2 MB (1 MB to download)")
    assert planned.make() == release_python(OLD)
    venv, packages = (folder / "log").read_text().splitlines()
    assert venv.startswith("venv --quiet --seed --python 3.4 ")
    assert packages.startswith("-I -m pip install ")
    assert packages.endswith(" --only-binary :all: old==1.0")
    with pytest.raises(UsageError, match="exists already; remove it first with: ir-tools runtimes --remove old"):
        installation(OLD)


def test_installation_that_fails_leaves_nothing(folder: Path) -> None:
    python = program(folder / "python", "echo 'ERROR: no network' >&2; echo later; exit 1")
    target = folder / "IR_TOOLS_RUNTIMES" / "old"
    with pytest.raises(
        RuntimeFailure, match=r"^Old 1.0 cannot be installed: ERROR: no network; it needs old"
    ) as caught:
        Installation(OLD, target, str(python)).make()
    assert caught.value.kind == "missing"
    assert list(target.parent.iterdir()) == []
    (folder / "file").touch()
    with pytest.raises(RuntimeFailure, match=r"cannot be installed: .*file: File exists"):
        Installation(OLD, folder / "file" / "old", str(python)).make()


def test_an_environment_that_another_process_made_meanwhile_stays(folder: Path) -> None:
    target = folder / "IR_TOOLS_RUNTIMES" / "old"
    both = f'mkdir -p "$4/bin" {target}/bin; cp "$0" "$4/bin"; cp "$0" {target}/bin'
    python = program(folder / "python", f'test "$3" != venv || {{ {both}; }}')
    assert Installation(OLD, target, str(python)).make() == target / "bin" / "python"
    assert list(target.parent.iterdir()) == [target]


def test_this_python_has_a_release_by_its_whole_number(monkeypatch: pytest.MonkeyPatch) -> None:
    release = find_release("openvino-2025.1")
    for version, python in (("2025.1.0", Path(sys.executable)), ("2025.10.0", None)):
        monkeypatch.setattr(environments, "openvino_version", lambda version=version: version)
        assert found_python(release) == python


def test_installation_without_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "PATIENCE", 0.06)
    python = program(folder / "python", "exec sleep 9")
    with pytest.raises(RuntimeFailure, match=r"python took more than 0.001 minutes and was stopped"):
        Installation(OLD, folder / "IR_TOOLS_RUNTIMES" / "old", str(python)).make()
    assert list((folder / "IR_TOOLS_RUNTIMES").iterdir()) == []


def test_a_file_with_the_name_of_a_release(folder: Path) -> None:
    file = folder / "IR_TOOLS_RUNTIMES" / "old"
    file.parent.mkdir()
    file.touch()
    assert environment(OLD) is None
    with pytest.raises(UsageError, match="exists already; remove it first with: ir-tools runtimes --remove old"):
        installation(OLD)
    assert remove(OLD) == file
    assert not file.exists()


def test_environments_and_links_to_them_are_removed(folder: Path) -> None:
    made(folder, OLD)
    (folder / "IR_TOOLS_RUNTIMES" / "own").symlink_to(remove(OLD).with_name("elsewhere"))
    elsewhere = made(folder, replace(OLD, name="elsewhere"))
    assert environment(OLD) is None
    assert environment(OWN) is not None
    remove(OWN)
    assert environment(OWN) is None
    assert elsewhere.exists()
    with pytest.raises(UsageError, match="there is no such environment"):
        remove(OWN)


def test_releases_have_names_of_their_own() -> None:
    assert len({release.name for release in RELEASES}) == len(RELEASES)
    with pytest.raises(UsageError, match=r"did you mean 'inference-engine-2020\.1'"):
        find_release("inference-engine-2021")


def test_page_lists_every_release() -> None:
    page = (Path(__file__).parents[2] / "docs" / "runtimes.md").read_text()
    rows = []
    for release in RELEASES:
        first, last = release.reads
        pythons = sorted(release.pythons, key=lambda python: int(python.removeprefix("3.")))
        cells = (
            f"`{release.name}`",
            f"IR v{first}" if first == last else f"IR v{first} to v{last}",
            ", ".join(f"`{package}`" for package in release.packages),
            f"{pythons[0]} to {pythons[-1]}",
        )
        rows.append(f"| {' | '.join(cells)} |")
    assert "\n".join(rows) in page


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(
            "#!/nonexistent\n", r"OpenVINO 2022.3 cannot start: .*python does not start: No such", id="no-python"
        ),
        pytest.param(
            "#!/bin/sh\nexit 3\n", r"OpenVINO 2022.3 crashed \(exit code 3\) while starting .*python", id="ends"
        ),
        pytest.param(
            "#!/bin/sh\nsleep 600\n",
            r"OpenVINO 2022.3 took more than 1 s while starting .*python and was stopped; name another Python",
            id="sleeps",
        ),
    ],
)
def test_broken_python_is_named(folder: Path, text: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_process, "STARTUP", 1.0)
    python = program(folder / "python", "")
    python.write_text(text)
    client = release_client(find_release("openvino-2022.3"), python)
    with pytest.raises(RuntimeFailure, match=words) as raised:
        client.describe(b"<net/>")
    assert raised.value.kind == "missing"


def test_what_a_stopped_python_started_is_stopped_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_process, "STARTUP", 1.0)
    python = program(folder / "python", f"sleep 600 & echo $! > {folder}/started; wait")
    with pytest.raises(RuntimeFailure, match="took more than 1 s"):
        release_client(find_release("openvino-2022.3"), python).describe(b"<net/>")
    status = Path(f"/proc/{(folder / 'started').read_text().strip()}/stat")
    deadline = time.monotonic() + 5.0
    while status.exists() and " Z " not in status.read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not status.exists() or " Z " in status.read_text()


def test_an_environment_that_does_not_work_is_to_be_made_again(folder: Path) -> None:
    again = r"; recreate it with: ir-tools runtimes --remove old && ir-tools runtimes --add old$"
    release = replace(OLD, opset=1)
    without_numpy = f'case "$*" in *_foreign.py*) exec {sys.executable} -S "$@";; esac'
    for text, words in (("exit 3", " crashed"), (without_numpy, " cannot be loaded .*'numpy'")):
        python = program(folder / "IR_TOOLS_RUNTIMES" / "old" / "bin" / "python", text)
        with pytest.raises(RuntimeFailure, match=words + ".*" + again):
            release_client(release).describe(b"<net/>")
        with pytest.raises(RuntimeFailure, match=words + ".*" + again):
            LegacyClient(python).describe(b"<net/>", b"")
    python.unlink()
    python.symlink_to(folder / "gone")
    with pytest.raises(RuntimeFailure, match=r"^Old 1.0 is not installed: the Python of .*/old does not exist" + again):
        release_client(release)
    remove(OLD)
    python.parents[1].symlink_to(folder / "gone")
    with pytest.raises(RuntimeFailure, match=r"^Old 1.0 is not installed: the Python of .*/old does not exist" + again):
        release_client(release)


def test_a_disk_that_is_too_small_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = program(folder / "python", "echo 'ERROR: it failed.'; exit 1")
    for size, words in ((2, r"ERROR: it failed; it needs old"), (10**9, r"ERROR: it failed; .*RUNTIMES has \d+ MB")):
        planned = Installation(replace(OLD, size=size), folder / "IR_TOOLS_RUNTIMES" / "old", str(python))
        with pytest.raises(RuntimeFailure, match=words):
            planned.make()
    assert list((folder / "IR_TOOLS_RUNTIMES").iterdir()) == []


@pytest.mark.parametrize(
    ("printed", "network"),
    [
        ("WARNING: Retrying after connection broken by X: /simple/\nERROR: No matching distribution found", True),
        ("error: Failed to install seed packages\n  cause: Failed to fetch: https://pypi.org/simple/pip/", True),
        ("ERROR: No matching distribution found", False),
    ],
)
def test_a_network_that_is_down_is_said(folder: Path, printed: str, network: bool) -> None:
    """Both tools end with an error that does not mention it."""
    python = program(folder / "python", f"echo '{printed}' >&2; exit 1")
    planned = Installation(OLD, folder / "IR_TOOLS_RUNTIMES" / "old", str(python))
    with pytest.raises(RuntimeFailure, match=r"cannot be installed: error: |cannot be installed: ERROR: ") as raised:
        planned.make()
    assert ("PyPI cannot be reached, check the network and the proxy" in str(raised.value)) is network


def test_what_is_being_removed_does_not_count(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(folder, OLD)
    seen = []

    def killed(path: Path, **_: object) -> None:
        seen.append((environment(OLD), path.parent))

    monkeypatch.setattr("shutil.rmtree", killed)
    assert remove(OLD) == folder / "IR_TOOLS_RUNTIMES" / "old"
    assert seen[0] == (None, folder / "IR_TOOLS_RUNTIMES")


def test_names_that_are_no_text_reach_a_release_by_a_link(tmp_path: Path) -> None:
    model = tmp_path / "n\udcff.xml"
    model.write_bytes(b"<net/>")
    model.with_suffix(".bin").write_bytes(b"1234")
    files = Files()
    header = files.of(model, None)
    assert header["model"].isascii()
    assert Path(header["model"]).read_bytes() == b"<net/>"
    assert Path(header["weights"]).read_bytes() == b"1234"


def test_a_forked_process_does_not_end_the_child_of_the_other(tmp_path: Path) -> None:
    child = Child((str(program(tmp_path / "python", "exec sleep 30")),), 0)
    owner, child.owner = child.owner, 0
    child.stop()
    child.owner = owner
    assert child.alive
    child.stop()
    assert not child.alive


def test_libraries_of_another_openvino_do_not_reach_a_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`setupvars.sh` of a release puts its libraries before those of every other."""
    other, plain = tmp_path / "[other]", tmp_path / "plain"
    for folder in (other, plain):
        folder.mkdir()
    (other / "libopenvino.so.2232").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{other}:{plain}:{tmp_path / 'missing'}")
    child = Child((str(program(tmp_path / "python", f"echo $LD_LIBRARY_PATH > {tmp_path}/seen")),), 0)
    assert child.death() == (0, "")
    child.stop()
    assert (tmp_path / "seen").read_text().strip() == f"{plain}:{tmp_path / 'missing'}"


@pytest.mark.parametrize("count", [LINES - 1, LINES, LINES + 1])
def test_runtimes_that_are_here_are_shown(count: int) -> None:
    """In a console those alone, and not more than a few; in a notebook before the others."""
    here = [Runtime(f"here-{number}", "Here", (10, 11), Path("python")) for number in range(count)]
    shown = repr(Runtimes([Runtime("away", "Away", (10, 10), None), *here])).splitlines()
    assert shown[0] == f"{count} of {count + 1} runtimes are installed"
    assert shown[1 : LINES + 1] == [*map(str, here[:LINES])]
    assert shown[LINES + 1 :] == (["and 1 more"] if count > LINES else [])
    html = Runtimes([Runtime("away", "Away", (10, 10), None), here[0]])._repr_html_()
    assert html.index("here-0") < html.index("away")
