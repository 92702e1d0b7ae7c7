"""Standard streams and models of any kind: full, closed, in another encoding, pipes; and signals that end a command."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset13 as op
import pytest

from ir_tools.cli.plain_text import visible
from tests.cli.conftest import Cli, pooling_xml

EVIL = (
    "x&#10;::error file=a.py::forged&#13;&#9;##vso[task.complete]\u2028\u0085\u202e \u00e9 \u5c42 \U0001f600 ##[error]y"
)
FIRST = "::error file=a.py::first"
COMMANDS = [
    ["inspect", "m.xml"],
    ["validate", "m.xml"],
    ["validate", "m.xml", "--format", "sarif"],
    ["shapes", "m.xml", "--all"],
    ["migrate", "m.xml", "--dry-run"],
    ["run", "m.xml"],
    ["run", "m.xml", "--input", "::error::\n=ones"],
    ["run", "m.xml", "--set", "::error::\n=1,2"],
    ["compare", "m.xml"],
    ["explain", "::error::\n"],
    ["inspect", "::error::\n\x1b[31m.xml"],
]


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which `ir-tools` is this program."""
    program = f'ir-tools() {{ "{sys.executable}" -m ir_tools "$@"; }}\n{command}'
    return subprocess.run(
        ["bash", "-c", program],
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, **environment},
        timeout=60,
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.xml").write_text(pooling_xml())
    return tmp_path


# --- names of strangers -----------------------------------------------------------------------------------------


def evil_models() -> dict[str, str]:
    plain = pooling_xml(name=EVIL).replace('names="pooled"', f'names="{FIRST}{EVIL}"')
    plain = plain.replace('name="data"', f'name="{FIRST}"').replace('names="data"', f'names="{FIRST}"')
    plain = plain.replace('name="small"', f'name="{EVIL}"')
    return {
        "valid": plain,
        "bad attribute": plain.replace('kernel="2,2"', 'kernel="2,2,2"'),
        "bad edge": plain.replace('to-layer="2"', 'to-layer="7"'),
        "bad shape": plain.replace("<dim>4</dim>", "<dim>5</dim>"),
        "unknown operation": plain.replace('type="AvgPool"', f'type="{EVIL}"'),
    }


def assert_harmless(text: str) -> None:
    for line in re.split("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", text):
        assert not re.match(r"\s*::", line), line
        assert not re.search(r"##\w*\[", line), line
        assert not re.search("[\x00-\x1f\x7f\u202e]", line), line


@pytest.mark.parametrize("kind", evil_models())
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_names_cannot_forge_commands(cli: Cli, folder: Path, words: list[str], kind: str) -> None:
    (folder / "m.xml").write_text(evil_models()[kind])
    for extra in ([], ["--json"]):
        outcome = cli(*words, *extra)
        assert outcome.code in {0, 1, 2, 3}
        assert "internal error" not in outcome.err
        assert_harmless(outcome.err)
        assert_harmless(outcome.out)
        if extra:
            assert json.loads(outcome.out)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("conv1/relu::0", "conv1/relu::0"),
        ("::std::vector", "·:std::vector"),
        ("::", "::"),
        ("a\n\tb\x1b", "a· b·"),
        (" ::set-output name=x::y", " ·:set-output name=x::y"),
        ("a ##[add-mask]b ##vso[x] ##teamcity[y] ## c", "a #·[add-mask]b #·vso[x] #·teamcity[y] ## c"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


ENCODINGS = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "C locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_other_encodings(folder: Path, encoding: str) -> None:
    (folder / "m.xml").write_text(evil_models()["bad shape"])
    done = shell("ir-tools inspect m.xml --json > m.json; ir-tools validate m.xml", **ENCODINGS[encoding])
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert r"\u5c42" in done.stdout or "\u5c42" in done.stdout
    document = json.loads((folder / "m.json").read_bytes())
    assert "\u5c42" in document["poolings"][0]["path"]


def test_a_path_that_is_not_unicode(folder: Path) -> None:
    os.rename(b"m.xml", b"\xff.xml")
    done = shell("ir-tools inspect $'\\xff.xml' --json")
    assert json.loads(done.stdout)["file"] == "\udcff.xml"


# --- full and closed streams ------------------------------------------------------------------------------------

FULL = {
    "inspect m.xml > /dev/full": "standard output: No space left on device",
    "validate m.xml --json > /dev/full": "standard output: No space left on device",
    "inspect m.xml >&-": "standard output: Bad file descriptor",
    "explain --json >&-": "standard output: Bad file descriptor",
}


@pytest.mark.parametrize("command", FULL)
def test_a_result_that_cannot_be_written_is_an_error(folder: Path, command: str) -> None:
    done = shell(f"ir-tools {command}")
    assert (done.returncode, done.stderr) == (2, f"ir-tools: {FULL[command]}\n")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("ir-tools -h > /dev/full", 2),
        ("ir-tools inspect missing.xml 2> /dev/full", 2),
        ("ir-tools inspect missing.xml --json > /dev/full", 2),
        ("ir-tools inspect missing.xml <&- >&- 2>&-", 2),
        ("ir-tools run m.xml <&- 2>&-", 0),
        ("ir-tools inspect m.xml 2>&1 | head -0; exit ${PIPESTATUS[0]}", 141),
    ],
)
def test_streams_that_are_full_or_closed(folder: Path, command: str, code: int) -> None:
    done = shell(command)
    assert done.returncode == code
    assert done.stderr.count("\n") <= 1
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


# --- pipes and devices as models --------------------------------------------------------------------------------


@pytest.fixture
def weighted(folder: Path) -> Path:
    """`w.xml` and `w.bin`, and the `.xml` alone in another folder."""
    data = op.parameter([1, 4], np.float32, name="data")
    ov.serialize(ov.Model([op.add(data, np.arange(4, dtype=np.float32))], [data]), folder / "w.xml")
    (folder / "alone").mkdir()
    (folder / "alone" / "w.xml").write_bytes((folder / "w.xml").read_bytes())
    return folder


COMPLETE = [
    "inspect {}",
    "shapes {}",
    "run {}",
    "run {} --engine runtime",
    "compare {}",
    "migrate {} -o out.xml",
    "compare w.xml {}",
]


@pytest.mark.parametrize("command", COMPLETE)
def test_weights_may_be_elsewhere(cli: Cli, weighted: Path, command: str) -> None:
    option = "--other-bin" if command.startswith("compare w.xml") else "--bin"
    outcome = cli(*command.format("alone/w.xml").split(), option, "w.bin")
    assert (outcome.code, outcome.err) == (0, "")
    if "-o" in command:
        assert (weighted / "out.bin").read_bytes() == (weighted / "w.bin").read_bytes()
    if "compare" in command:
        again = next(line for line in outcome.out.splitlines() if line.startswith("again: "))
        assert f"{option} w.bin" in again
        assert cli(*again.split()[2:]).code == 0


def test_weights_that_nothing_would_read_are_refused(cli: Cli, weighted: Path) -> None:
    (weighted / "m.onnx").write_bytes(b"")
    for command in ("inspect", "run", "compare", "migrate --dry-run"):
        outcome = cli(*command.split(), "m.onnx", "--bin", "w.bin")
        assert (outcome.code, "--bin is for IR" in outcome.err) == (2, True), command
    assert "--other-bin is for OTHER" in cli("compare", "w.xml", "--other-bin", "w.bin").err


@pytest.mark.parametrize(
    "command",
    [
        "run --engine runtime --bin w.bin <(cat w.xml)",
        "migrate -o out.xml --bin w.bin /dev/stdin < <(cat w.xml)",
        "inspect --bin w.bin - < w.xml",
        "cat w.xml | ir-tools compare --bin w.bin - w.xml",
    ],
)
def test_a_model_comes_through_a_pipe(weighted: Path, command: str) -> None:
    done = shell(command if command.startswith("cat") else f"ir-tools {command}")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_size_of_what_came_through_a_pipe_is_known(weighted: Path) -> None:
    sizes = json.loads(shell("cat w.xml | ir-tools inspect --bin w.bin - --json").stdout)["bytes"]
    assert sizes == {"xml": (weighted / "w.xml").stat().st_size, "bin": (weighted / "w.bin").stat().st_size}


NO_MODELS = {
    "named.xml": "named.xml: error IR001: is a named pipe",
    "/dev/zero": "/dev/zero: error IR001: is a device without an end",
    "/dev/null": "/dev/null:1: error IR009: the file is empty",
    "w.xml --bin named.xml": "named.xml is a named pipe",
    "w.xml --bin /dev/zero": "/dev/zero is a device without an end; name a file",
    "piped.xml": "piped.bin: error IR010: cannot be opened: it is not a regular file",
    "circle.xml": "circle.xml is a link to circle.xml, which does not exist",
    "lost.xml": "lost.xml is a link to nowhere.xml, which does not exist",
    f"{'x' * 300}.xml": "File name too long",
}


@pytest.fixture
def impatient() -> Iterator[None]:
    """Fail instead of hanging."""
    signal.alarm(30)
    yield
    signal.alarm(0)


@pytest.mark.parametrize("model", NO_MODELS)
@pytest.mark.usefixtures("impatient")
def test_what_cannot_be_a_model_is_one_line(cli: Cli, weighted: Path, model: str) -> None:
    for name in ("named.xml", "piped.bin"):
        os.mkfifo(weighted / name)
    (weighted / "piped.xml").write_bytes((weighted / "w.xml").read_bytes())
    (weighted / "circle.xml").symlink_to("circle.xml")
    (weighted / "lost.xml").symlink_to("nowhere.xml")
    for command in ("run", "inspect"):
        outcome = cli(command, *model.split())
        assert (outcome.code, outcome.out) == (2, ""), command
        assert NO_MODELS[model] in outcome.err
        assert outcome.err.count("\n") == 1, outcome.err


@pytest.mark.parametrize("options", [[], ["--skip-others"]])
@pytest.mark.usefixtures("impatient")
def test_a_named_pipe_cannot_be_checked(cli: Cli, weighted: Path, options: list[str]) -> None:
    os.mkfifo(weighted / "named.xml")
    outcome = cli("validate", "w.xml", "named.xml", *options)
    assert outcome.code == 2
    assert "named.xml: error IR001: is a named pipe" in outcome.out


FILES_OF_VALUES = {
    "run w.xml --input data=named.npy": "named.npy is a named pipe",
    "run w.xml --input data=named.png": "named.png is a named pipe",
    "run w.xml --state x=named.npy": "named.npy is a named pipe",
    "run w.xml --state x=cut.npz": "cut.npz is not a .npy or .npz of numbers: it is damaged",
    "run w.xml --state cut.npz": "cut.npz is not a .npy or .npz of numbers: it is damaged",
    "validate w.xml --baseline named.json": "named.json is a named pipe",
    "validate w.xml --write-baseline named.json": "named.json is a named pipe",
    "validate w.xml --config named.toml": "named.toml is a named pipe",
    "validate w.xml --config /dev/zero": "/dev/zero is a device without an end; name a file",
    "validate w.xml --baseline /dev/urandom": "/dev/urandom is a device without an end; name a file",
    "run w.xml --state x=/dev/full": "/dev/full is a device without an end; name a file",
    "run w.xml --input data=pointer.npy": "pointer.npy: the file is a Git LFS pointer; the file itself was not",
}


@pytest.mark.parametrize("command", FILES_OF_VALUES)
@pytest.mark.usefixtures("impatient")
def test_other_files_that_cannot_be_read_are_one_line(cli: Cli, weighted: Path, command: str) -> None:
    for ending in ("npy", "png", "json", "toml"):
        os.mkfifo(weighted / f"named.{ending}")
    (weighted / "cut.npz").write_bytes(b"PK\3\4")
    (weighted / "pointer.npy").write_text(
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 9\n"
    )
    outcome = cli(*command.split())
    assert outcome.is_one_line
    assert FILES_OF_VALUES[command] in outcome.err


# --- signals ----------------------------------------------------------------------------------------------------


def children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        for word in (task / "children").read_text().split():
            yield int(word)
            yield from children(int(word))


def test_a_signal_leaves_neither_folders_nor_processes(folder: Path) -> None:
    temporary = folder / "tmp"
    temporary.mkdir()
    onnx = pytest.importorskip("onnx")
    model = Path(onnx.__file__).parent / "backend/test/data/light/light_vgg19.onnx"
    words = [sys.executable, "-m", "ir_tools", "compare", str(model)]
    process = subprocess.Popen(
        words, env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while not (any(temporary.iterdir()) and (found := list(children(process.pid)))):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.terminate()
    assert process.communicate(timeout=30) == (b"", b"")
    assert process.returncode == 128 + signal.SIGTERM
    assert list(temporary.iterdir()) == []
    while any(Path(f"/proc/{pid}").exists() for pid in found):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_file_that_is_lost_while_it_is_read_is_one_line(folder: Path) -> None:
    program = """
import os
import numpy as np
from ir_tools.cli.process import lost_files_reported
from ir_tools.weights import Weights
with open("w.bin", "wb") as file:
    file.truncate(1 << 24)
view = Weights.open("w.bin").view(0, 1 << 24)
os.truncate("w.bin", 0)
with lost_files_reported():
    np.zeros(1 << 24, np.uint8) + view
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, "ir-tools: a file was cut off by another program while it was read\n")


def test_signals_that_are_ignored_stay_so(folder: Path) -> None:
    program = """
import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from ir_tools.cli.process import ended_by_signals
with ended_by_signals():
    os.kill(os.getpid(), signal.SIGHUP)
    print("alive", flush=True)
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except SystemExit:
        print("ended", flush=True)
        os.kill(os.getpid(), signal.SIGTERM)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (-signal.SIGTERM, "alive\nended\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_tidies_up_and_frees_nothing_else(folder: Path, number: int) -> None:
    program = f"""
import os, signal, weakref
from ir_tools.cli.process import SIGNALS, ended_by_signals
signal.signal({number}, SIGNALS[{number}])
class Large:
    def __del__(self):
        print("freed", flush=True)
class Folder:
    def __enter__(self):
        return weakref.finalize(self, print, "finalized", flush=True)
    def __exit__(self, *error):
        print("tidied", flush=True)
def work():
    large = Large()
    large.itself = large
    with Folder():
        os.kill(os.getpid(), {number})
with ended_by_signals():
    work()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "tidied\nfinalized\n", "")


def test_an_interrupt_while_the_command_loads(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-m", "ir_tools"],
        env=environment,
        capture_output=True,
        check=False,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, b"")
