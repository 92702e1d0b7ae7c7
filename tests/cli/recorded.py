"""What commands answer on small models: exit codes, JSON documents and files, with every option at least once.

`python -m tests.cli.recorded` runs them again and writes `recorded.json`, whose changes are to be read.
"""

import contextlib
import functools
import io
import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import ir_tools
from ir_tools.builder import Builder
from ir_tools.cli import main as ir_tools_main
from tests.ops.recorded import digits_of

FILE = Path(__file__).with_name("recorded.json")
CALLS: Mapping[str, tuple[str, Sequence[str]]] = {
    "inspect": ("inspect MODEL", ["--bin other.bin", "--layers", "--layer pool"]),
    "inspect state.xml": ("inspect state.xml", []),
    "inspect in words": ("inspect state.xml", ["--layers", "--layer total --layer x"]),
    "validate": (
        "validate wrong.xml MODEL",
        [
            "--format gitlab",
            "--format sarif --output-file found.sarif",
            "--quiet",
            "--statistics",
            "--select IR2",
            "--select IR2 --extend-select IR4",
            "--ignore IR2",
            "--extend-exclude 'wr*' --force-exclude",
            "--exclude 'wr*' --force-exclude",
            "--fail-on never",
            "--config settings.toml",
            "--write-baseline found.json",
            "--baseline known.json",
        ],
    ),
    "validate with warnings": ("validate MODEL --bin known.json", ["--fail-on warning"]),
    "explain": ("explain IR206", []),
    "shapes": (
        "shapes wrong.xml",
        ["--set data=1,2,12,12", "--all", "--set 1..4,2,?,? --all", "-o new.xml", "--bin other.bin -o new.xml"],
    ),
    "shapes in words": ("shapes wrong.xml", ["--all", "--set data=1,2,12,12", "--set data=1,2,12,12 --all"]),
    "migrate": (
        "migrate MODEL --dry-run",
        ["--to opset16", "--for openvino-2026.4", "--pass avg-pool-to-adaptive", "--to opset16 --bin none.bin"],
    ),
    "migrate in words": ("migrate MODEL --to opset8 --dry-run", ["--all"]),
    "migrate -o": ("migrate MODEL --to opset8 -o other.xml", ["--no-clobber", "--int8"]),
    "run": (
        "run MODEL",
        [
            "--bin other.bin",
            "--input ones",
            "--input data=values.npy -o out.npz",
            "--set data=1,2,12,12",
            "--seed 3",
            "--engine runtime",
            "--f64",
            "--engine runtime --f64",
            "--steps 2",
        ],
    ),
    "run on an image": (
        "run photo.xml --input picture.ppm",
        ["--layout NCHW", "--mean 100", "--scale 2,4,8", "--color bgr", "--mean data=1,2,3 --color data=bgr"],
    ),
    "run with states": ("run state.xml --steps 12 -o out.npz", ["--state sum=sum.npy"]),
    "compat": (
        "compat MODEL state.xml",
        ["--release openvino-2022.3", "--release openvino-2026.4 --release openvino-2022.3", "--migrated"],
    ),
    "compat in words": ("compat MODEL", ["--badge", "--badge --migrated", "--badge --check"]),
}
"""A command line, and what is added to it."""
IN_WORDS = ("--quiet", "--statistics", "--format", "in words")
"""Parts of calls that are for people or for other programs: these do without `--json`."""
ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(("--runtime", "--runtime-python", "--install", "--verify", "--check"), "needs a runtime"),
    **{f"{name} --layers": "needs a runtime" for name in ("migrate", "compare")},
    **{
        f"migrate --{name}": "for --verify"
        for name in ("input", "seed", "layout", "mean", "scale", "color", "tolerance")
    },
    "validate --set": "for --runtime",
    "migrate --set": "for layers that the runtime is asked about",
    **dict.fromkeys(("--add", "--remove"), "changes the environments of releases"),
    "--extension": "needs a library",
    "compat --bin": "changes nothing, unless there is no other .bin",
    "--stdin-filename": "needs standard input",
    **dict.fromkeys(("--jobs", "--skip-others", "--isolated", "--force-exclude"), "of a folder, or of settings in one"),
    "--no-clobber": "of every command that writes",
    **dict.fromkeys(("--json", "--debug"), "of every command"),
}
"""Options that are tested elsewhere, and why."""
LEFT_OUT = {"ir_tools", "device", "runtime", "version", "sides"}
"""Parts of documents that other machines and releases give otherwise."""


def make_files(folder: Path) -> None:
    """Write small models, and values for them."""
    rng = np.random.default_rng(0)
    for name in ("m", "other"):
        b = Builder(opset=16)
        scaled = b.call("Multiply", b.parameter("data", "1,2,8,8"), rng.random((1, 2, 1, 1), np.float32), name="scale")
        pads = {"pads_begin": (0, 0), "pads_end": (0, 0)}
        pooled = b.call(
            "AvgPool", scaled, name="pool", kernel=(2, 2), strides=(2, 2), dilations=(2, 2), exclude_pad=True, **pads
        )
        b.result(b.call("Exp", pooled, name="exp"), "out")
        ir_tools.write(b.model, folder / f"{name}.xml")
    with (folder / "other.bin").open("ab") as weights:
        weights.write(bytes(4))
    text = (folder / "m.xml").read_text()
    wrong = text.replace('exclude-pad="true"', 'exclude-pad="maybe" odd="1"').replace("<dim>3</dim>", "<dim>5</dim>", 1)
    (folder / "wrong.xml").write_text(wrong)
    (folder / "wrong.bin").write_bytes((folder / "m.bin").read_bytes())
    b = Builder()
    b.result(b.call("ReLU", b.parameter("data", "1,4,4,3", "f32"), name="relu"))
    ir_tools.write(b.model, folder / "photo.xml")
    b = Builder()
    x, start = b.parameter("x", "1,2"), b.constant(np.full((1, 2), 3, np.float32))
    variable = {"variable_id": "sum", "variable_type": "f32", "variable_shape": "1,2"}
    total = b.call("Add", b.call("ReadValue", start, name="read", **variable), x, name="total")
    b.result(b.call("Assign", total, variable_id="sum"), "y")
    ir_tools.write(b.model, folder / "state.xml")
    (folder / "picture.ppm").write_bytes(b"P6 4 4 255\n" + bytes(range(7, 55)))
    np.save(folder / "values.npy", np.arange(128, dtype=np.float32).reshape(1, 2, 8, 8) / 64)
    np.save(folder / "sum.npy", np.array([[5, 7]], np.float32))
    (folder / "settings.toml").write_text('ignore = ["IR2"]\n')


@functools.cache
def _files() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory()
    make_files(Path(folder.name))
    _call(Path(folder.name), "validate wrong.xml --write-baseline known.json")
    return folder


def answers(name: str) -> dict[str, Any]:
    """Return what a command gives without and with what is added, in a folder of its own."""
    base, added = CALLS[name]
    return {words: _answer(words, f"{name} {words}") for words in (base, *(f"{base} {more}" for more in added))}


def _answer(words: str, called: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "work")
        shutil.copytree(_files().name, folder)
        before = {path.name for path in folder.iterdir()}
        code, out = _call(folder, words, *([] if any(part in called for part in IN_WORDS) else ["--json"]))
        written = {path.name: _content(path) for path in sorted(folder.iterdir()) if path.name not in before}
    return {
        "code": code,
        "written": written,
        "out": _short(json.loads(out)) if out[:1] in {"{", "["} else out.splitlines(),
    }


def _content(path: Path) -> str:
    """Return digits of what a model holds; of other files nothing, as times stand in some."""
    return digits_of(path.read_bytes()) if path.suffix in {".xml", ".bin"} else ""


def _call(folder: Path, words: str, *more: str) -> tuple[object, str]:
    """Return the exit code and the standard output of a command line in a folder."""
    here, out = Path.cwd(), io.StringIO()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            ir_tools_main([*shlex.split(words.replace("MODEL", "m.xml")), *more])
    except SystemExit as ended:
        return ended.code, out.getvalue()
    finally:
        os.chdir(here)


def _short(value: Any) -> Any:
    """Return a document without versions and places, and floats with five digits."""
    if isinstance(value, dict):
        return {name: _short(each) for name, each in value.items() if name not in LEFT_OUT}
    if isinstance(value, list):
        return [*map(_short, value)]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def same(found: Any, wanted: Any) -> bool:
    """Return whether two documents are equal but for the last digits of floats."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        return [*found] == [*wanted] and all(same(found[name], wanted[name]) for name in found)
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(found, float) and isinstance(wanted, float):
        return abs(found - wanted) <= 1e-3 * abs(wanted) + 1e-6
    return type(found) is type(wanted) and bool(found == wanted)


def load() -> dict[str, dict[str, Any]]:
    """Return what is recorded: by command, by command line."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text())
    return found


def main() -> None:
    """Record what the commands answer."""
    FILE.write_text(json.dumps({name: answers(name) for name in CALLS}, indent=1) + "\n")


if __name__ == "__main__":
    main()
