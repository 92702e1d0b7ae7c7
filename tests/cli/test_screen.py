"""Tables on terminals of any width: names stay, numbers are whole or left out; pipes have everything on one line."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from ir_tools.cli.screen import Column, working
from ir_tools.cli.tables import layout
from tests import stateful
from tests.cli.conftest import Cli, pooling_xml
from tests.runtime.releases import client_of

WIDTHS = (20, 40, 80, 200)
NAMES = (
    "特征提取网络/卷积层/输出",
    "🚀 rocket/😀/layer",
    "cafe\u0301/n\u0303a\u0308me",
    "שכבה/מודל/פלט",
    "model/" + "block_12/" * 20 + "conv",
    "a\nb\x1b[31mred\tc",
)

# --- the layout -------------------------------------------------------------------------------------------------

words = st.text(st.sampled_from("ab 12./層😀éש"), max_size=30)
numbers = st.floats(allow_nan=False).map(lambda value: f"{value:.6g}")


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Column], list[list[str]]]:
    """Columns of every kind, at least one of them with names."""
    kinds = draw(st.lists(st.sampled_from(["name", "number", "spare", "word", "keep"]), min_size=1, max_size=7))
    kinds.insert(draw(st.integers(0, len(kinds))), "name")
    options = {"name": {"fold": True}, "number": {"right": True}, "word": {}}
    columns = [Column(kind, **options.get(kind, {kind: True})) for kind in kinds]
    cells = st.tuples(*(words if kind == "name" else numbers for kind in kinds)).map(list)
    return columns, draw(st.lists(cells, max_size=4))


@given(tables(), st.integers(20, 200))
def test_no_table_is_wider_than_the_terminal_and_none_loses_a_name(
    table: tuple[list[Column], list[list[str]]], width: int
) -> None:
    columns, rows = table
    found = layout(columns, rows, width)
    names = {at for at, column in enumerate(columns) if column.fold}
    assert names <= found.widths.keys()
    for row in rows:
        lines = [*found.lines(row)]
        assert max(map(cell_len, lines)) <= width or 4 * len(names) > width
        if len(found.widths) == 1:
            (at,) = found.widths
            assert "".join(lines).replace(" ", "") == row[at].replace(" ", "")
        for at in found.widths.keys() - names:
            assert any(row[at] in line for line in lines)


@given(tables(), st.integers(20, 200))
def test_a_wider_terminal_shows_no_less(table: tuple[list[Column], list[list[str]]], width: int) -> None:
    columns, rows = table
    narrow, wide = (layout(columns, rows, size).widths for size in (width, width + 1))
    assert narrow.keys() <= wide.keys()
    left_out = {"spare": columns.index, "number": columns.index, "word": columns.index}
    gone = {column.heading for at, column in enumerate(columns) if at not in narrow}
    kept = {columns[at].heading for at in narrow}
    order = [*left_out, "keep"]
    for place, heading in enumerate(order):
        assert heading not in gone or not kept & set(order[:place])


def test_everything_fits_into_a_pipe() -> None:
    rows = [["x" * 5000, "1" * 300]]
    assert [*layout([Column("name", fold=True), Column("n", right=True)], rows, None).lines(rows[0])] == [
        f"{rows[0][0]}  {rows[0][1]}"
    ]


# --- every command ----------------------------------------------------------------------------------------------


def escaped(text: str) -> str:
    pairs = {"&": "&amp;", "<": "&lt;", "\n": "&#10;", "\t": "&#9;", "\x1b": ""}
    return "".join(pairs.get(letter, letter) for letter in text)


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """A pooling under each of the names, some of which no one should have, and a stateful model."""
    monkeypatch.chdir(tmp_path)
    paths = [Path(f"{letter}.xml") for letter in "abcdef"]
    for path, name in zip(paths, NAMES, strict=True):
        path.write_text(pooling_xml(name=escaped(name)))
    ov.serialize(stateful.decoder(), tmp_path / "decoder.xml")
    np.save(tmp_path / "ids.npy", np.array([[1, 2]]))
    np.save(tmp_path / "beams.npy", np.array([0], np.int32))
    return paths


COMMANDS: dict[str, Callable[[Path], list[object]]] = {
    "inspect": lambda path: ["inspect", path],
    "shapes": lambda path: ["shapes", path, "--all"],
    "validate": lambda path: ["validate", path],
    "migrate": lambda path: ["migrate", path, "--dry-run"],
    "run": lambda path: ["run", path],
    "compare": lambda path: ["compare", path],
    "explain": lambda _: ["explain"],
    "states": lambda path: ["inspect", path.with_name("decoder.xml")],
    "steps": lambda path: [
        "run", path.with_name("decoder.xml"), "--steps", 3, "--input", f"input_ids={path.with_name('ids.npy')}",
        "--input", f"beam_idx={path.with_name('beams.npy')}",
    ],
}  # fmt: skip
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?(?![\w.])")


@pytest.mark.parametrize("command", COMMANDS)
def test_tables_of_every_command(cli: Cli, models: list[Path], command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a width changes fits into it, and holds no number that the pipe does not have."""
    for path in models if command in {"inspect", "run"} else models[:1]:
        words = COMMANDS[command](path)
        piped = cli(*words)
        assert "\x1b" not in piped.out
        whole = {*NUMBER.findall(piped.out)}
        for width in WIDTHS:
            with monkeypatch.context() as terminal:
                terminal.setenv("COLUMNS", str(width))
                terminal.setattr(sys.stdout, "isatty", lambda: True)
                shown = re.sub(r"\x1b\[[\d;]*m", "", cli(*words).out)
            changed = [line for line in shown.splitlines() if line not in piped.out]
            assert [line for line in changed if cell_len(line) > width] == []
            if command not in {"explain", "validate"} and path is models[0]:
                assert {*NUMBER.findall("\n".join(changed))} <= whole


# --- real terminals and pipes -----------------------------------------------------------------------------------


def on_terminal(path: Path, width: int, **environment: str) -> str:
    """The output of `inspect` on a pseudo-terminal."""
    return terminal_text(["inspect", str(path)], width, "stdout", **environment)


def terminal_text(words: Sequence[str], width: int, stream: str, **environment: str) -> str:
    """What a command writes to a stream that is a pseudo-terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    command = [sys.executable, "-m", "ir_tools", *words]
    env = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "LINES", "NO_COLOR", "TERM"}}
    env |= {"TERM": "xterm-256color", **environment}
    out, err = (theirs if name == stream else subprocess.DEVNULL for name in ("stdout", "stderr"))
    with subprocess.Popen(command, stdout=out, stderr=err, env=env) as child:
        os.close(theirs)
        parts = []
        while True:
            try:
                parts.append(os.read(ours, 65536))
            except OSError:
                break
            if not parts[-1]:
                break
        assert child.wait(60) == 0
    os.close(ours)
    return b"".join(parts).decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
    ids=["xterm", "NO_COLOR", "dumb"],
)
def test_a_terminal(tmp_path: Path, environment: dict[str, str], coloured: bool) -> None:
    path = tmp_path / "model.xml"
    path.write_text(pooling_xml(name="block/" * 20))
    shown = on_terminal(path, 30, **environment)
    assert ("\x1b[1m" in shown) is coloured or "NO_COLOR" in environment
    assert bool(re.search(r"\x1b\[[\d;]*3\dm", shown)) is False
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert "\x1b" not in plain
    assert max(cell_len(line) for line in plain.splitlines() if not line.startswith("all: ")) <= 30


def test_a_comparison_of_releases_shows_progress_on_a_terminal_and_nothing_in_a_pipe(tmp_path: Path) -> None:
    for version in ("2022.3", "2024.6"):
        client_of(version)
    path = tmp_path / "model.xml"
    path.write_text(pooling_xml())
    words = ["compare", str(path), "--runtime", "openvino-2022.3", "--against", "openvino-2024.6"]
    assert re.search(r"comparing .*100%", terminal_text(words, 80, "stderr"))
    done = subprocess.run([sys.executable, "-m", "ir_tools", *words], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_a_wide_terminal_shows_a_long_name_on_one_line(tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    path.write_text(pooling_xml(name="block/" * 20))
    assert "block/" * 20 in on_terminal(path, 300)


@pytest.mark.parametrize(
    "environment", [{}, {"FORCE_COLOR": "1"}, {"COLUMNS": "20"}, {"FORCE_COLOR": "1", "COLUMNS": "20"}]
)
def test_nothing_wraps_in_a_pipe(tmp_path: Path, environment: dict[str, str]) -> None:
    path = tmp_path / "model.xml"
    path.write_text(pooling_xml(name="block/" * 60))
    command = [sys.executable, "-m", "ir_tools", "inspect", str(path)]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    assert ("\x1b[" in done.stdout) is ("FORCE_COLOR" in environment)
    assert any("block/" * 60 in line and "1,2,4,4" in line for line in done.stdout.splitlines())


def test_a_pipe_gets_no_progress_bar(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with working("checking", 2) as advance:
        advance()
    assert capfd.readouterr().err == ""
