"""What commands write: nothing that they read is lost, and every file is replaced as a whole or not at all."""

import os
import resource
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from itertools import count, product
from pathlib import Path
from typing import IO
from unittest.mock import patch

import click
import numpy as np
import onnx
import onnx.numpy_helper
import openvino as ov
import openvino.opset13 as op
import pytest

import ir_tools
from ir_tools.cli import COMMANDS
from ir_tools.cli.paths import Writing
from ir_tools.comparison import dumping
from ir_tools.files import write_file
from tests.cli.conftest import Cli, Outcome

WRITERS = {
    "shapes -o": ["shapes", "m.xml", "-o", "OUT.xml"],
    "migrate -o": ["migrate", "m.xml", "-o", "OUT.xml"],
    "migrate --pass -o": ["migrate", "m.xml", "--pass", "avg-pool-to-adaptive", "-o", "OUT.xml"],
    "run -o": ["run", "m.xml", "--input", "data=data.npy", "-o", "OUT.npz"],
    "compare --report": ["compare", "m.xml", "--input", "data=data.npy", "--report", "OUT.html"],
    "compare --dump": ["compare", "m.xml", "--input", "data=data.npy", "--dump", "OUT"],
    "compare --save": ["compare", "m.xml", "--input", "data=data.npy", "--save", "OUT.irrun"],
    "validate --output-file": ["validate", "m.xml", "--output-file", "OUT"],
    "validate --write-baseline": ["validate", "m.xml", "--write-baseline", "OUT.json"],
    "compare --bisect": ["compare", "m.xml", "--tolerance", "0", "--bisect", "OUT.xml"],
}
"""Every way to write a file; a new one gets a row here. OUT is the name to write to."""
MAY_REPLACE_MODEL = {"shapes", "migrate"}

Folder = dict[str, bytes]


def content(folder: Path) -> Folder:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose exponentials differ in the last bits, with weights, a pooling, and an input."""
    folder = tmp_path_factory.mktemp("original")
    data = op.parameter([1, 2, 8, 8], np.float32, name="data")
    scaled = op.multiply(data, np.random.default_rng(0).random((1, 2, 8, 8)).astype(np.float32))
    pooled = op.avg_pool(op.exp(scaled), [2, 2], [0, 0], [0, 0], [2, 2], False, "floor", "explicit")
    ov.serialize(ov.Model([pooled], [data]), folder / "m.xml")
    np.save(folder / "data.npy", np.random.default_rng(1).random((1, 2, 8, 8)).astype(np.float32))
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy, as the current folder."""
    here = tmp_path / "work"
    shutil.copytree(original, here)
    monkeypatch.chdir(here)
    return here


def call(cli: Cli, words: list[str], name: str) -> Outcome:
    return cli(*(word.replace("OUT", name, 1) if word.startswith("OUT") else word for word in words))


def ending(words: list[str]) -> str:
    return next(word for word in words if word.startswith("OUT"))[3:]


def assert_refused(outcome: Outcome, *words: str) -> None:
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("ir-tools: ")
    assert outcome.err.count("\n") == 1, outcome.err
    for word in words:
        assert word in outcome.err, outcome.err


def parameters() -> Iterator[tuple[str, click.Parameter]]:
    for name, module in COMMANDS.items():
        for parameter in getattr(import_module(module), name).params:
            yield name, parameter


def test_the_table_has_every_way_to_write() -> None:
    options = {f"{name} {parameter.opts[0]}" for name, parameter in parameters() if isinstance(parameter.type, Writing)}
    assert options == {name.replace("--pass ", "") for name in WRITERS}


def test_every_path_says_whether_it_is_read_or_written() -> None:
    for name, parameter in parameters():
        assert not isinstance(parameter.type, click.Path | click.File), f"{name} {parameter.name}"


# --- what is read is not written --------------------------------------------------------------------------------

ALIASES: dict[str, Callable[[Path, Path], object]] = {
    "symbolic link": lambda alias, file: alias.symlink_to(file),
    "hard link": lambda alias, file: alias.hardlink_to(file),
}


READ = [
    (writer, read)
    for writer, words in WRITERS.items()
    for read in ("m.xml", "m.bin", *(["data.npy"] if words[0] in {"run", "compare", *MAY_REPLACE_MODEL} else []))
    if writer != "compare --dump"
]


@pytest.mark.parametrize(("writer", "read"), READ)
@pytest.mark.parametrize("alias", ALIASES)
def test_no_file_that_is_read_is_written(cli: Cli, folder: Path, writer: str, alias: str, read: str) -> None:
    words = WRITERS[writer]
    if read == "data.npy" and read not in str(words):
        words = [*words, "--input", "data=data.npy"] if words[0] == "compare" else words
    name = f"alias{ending(words)}"
    ALIASES[alias](folder / name, folder / read)
    before = content(folder)
    outcome = call(cli, words, "alias")
    if words[0] in MAY_REPLACE_MODEL and read != "m.bin":
        assert outcome.code == 0
        assert ir_tools.run(folder / name, {"data": np.load("data.npy")})
        assert content(folder)["m.bin"][: len(before["m.bin"])] == before["m.bin"]
    else:
        assert_refused(outcome, name, read)
        assert content(folder) == before


@pytest.mark.parametrize("writer", [name for name in WRITERS if WRITERS[name][0] not in MAY_REPLACE_MODEL])
def test_the_names_of_the_model_are_refused(cli: Cli, folder: Path, writer: str) -> None:
    before = content(folder)
    inputs = [] if "validate" in writer else ["data.npy"]
    for name in ("m.xml", "m.bin", "../work/m.xml", str(folder / "m.bin"), *inputs):
        words = [name if word.startswith("OUT") else word for word in WRITERS[writer]]
        assert_refused(cli(*words), Path(name).name)
        assert content(folder) == before


@pytest.mark.parametrize("words", [["shapes", "--set", "data=2,2,8,8"], ["migrate", "--pass", "avg-pool-to-adaptive"]])
@pytest.mark.parametrize("spelling", ["m.xml", "../work/m.xml", "link.xml"])
def test_the_model_may_be_named_as_output(cli: Cli, folder: Path, words: list[str], spelling: str) -> None:
    Path("link.xml").symlink_to("m.xml")
    before = content(folder)
    assert cli(words[0], "m.xml", *words[1:], "-o", spelling).code == 0
    after = content(folder)
    assert after["m.xml"] != before["m.xml"]
    assert after["m.bin"].startswith(before["m.bin"])
    for name in ("m.xml", spelling):
        ov.Core().compile_model(name, "CPU")


def test_a_disk_that_fills_up_between_two_files_is_told_of_the_second_alone(cli: Cli, folder: Path) -> None:
    """The first is written by then."""
    words = ["compare", "m.xml", "--input", "data=data.npy", "--save", "run.irrun", "--report", "out.html"]
    assert cli(*words).code == 0
    size = {name: Path(name).stat().st_size for name in ("run.irrun", "out.html")}
    assert size["run.irrun"] < size["out.html"]
    for name in size:
        Path(name).unlink()
    with full_disk(size["run.irrun"]):
        outcome = cli(*words)
    assert_refused(outcome, "out.html cannot be written", "it is as it was")
    assert Path("run.irrun").is_file()
    assert "nothing was changed" not in outcome.err


def test_tensors_that_are_read_are_not_dumped_onto(cli: Cli, folder: Path) -> None:
    assert cli("compare", "m.xml", "--dump", "d").code == 0
    dumped = next(Path("d").glob("00000_Multiply*.expected.npy"))
    before = content(folder)
    outcome = cli("compare", "m.xml", "--input", f"data={dumped}", "--dump", "../work/d")
    assert_refused(outcome, dumped.name, "is read by this command")
    assert content(folder) == before


def test_parts_do_not_replace_the_inputs_that_they_came_from(cli: Cli, folder: Path) -> None:
    shutil.copy("data.npy", "part.0.npy")
    before = content(folder)
    words = "compare", "m.xml", "--tolerance", "0", "--input", "data=part.0.npy", "--bisect", "part.xml"
    assert_refused(cli(*words), "part.0.npy", "is read by this command")
    assert content(folder)["part.0.npy"] == before["part.0.npy"]


def test_an_onnx_model_is_converted_twice(cli: Cli, folder: Path) -> None:
    onnx.save(external_model(), "n.onnx")
    for _ in range(2):
        assert cli("migrate", "n.onnx", "-o", "n.xml").code == 0
    assert works(Path("n.xml"), {"m.bin": b""})


def test_tensors_of_an_onnx_model_are_not_replaced(cli: Cli, folder: Path) -> None:
    location = "n.bin"
    onnx.save(external_model(), "n.onnx", save_as_external_data=True, location=location, size_threshold=0)
    shutil.copy("m.xml", "n.xml")
    before = content(folder)
    assert_refused(cli("migrate", "n.onnx", "-o", "n.xml"), "n.bin is read by this command")
    assert content(folder) == before
    assert cli("migrate", "n.onnx", "-o", "other.xml").code == 0
    assert {name: data for name, data in content(folder).items() if "other" not in name} == before


def external_model() -> onnx.ModelProto:
    weights = onnx.numpy_helper.from_array(np.arange(512, dtype=np.float32).reshape(1, 2, 16, 16), "w")
    value = onnx.helper.make_tensor_value_info
    ends = [value(name, onnx.TensorProto.FLOAT, [1, 2, 16, 16]) for name in ("x", "y")]
    nodes = [onnx.helper.make_node("Add", ["x", "w"], ["y"])]
    graph = onnx.helper.make_graph(nodes, "external", ends[:1], ends[1:], [weights])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)


def test_settings_that_are_read_are_not_replaced(cli: Cli, folder: Path) -> None:
    Path("sub").mkdir()
    shutil.copy("m.xml", "sub")
    Path("sub/ir-tools.toml").write_text('extend = "../base.toml"\n')
    Path("base.toml").write_text('ignore = ["IR5"]\n')
    before = content(folder)
    for name in ("base.toml", "sub/ir-tools.toml"):
        assert_refused(cli("validate", "sub", "--output-file", name), "is read by this command")
        assert content(folder) == before


def test_one_file_for_two_outputs_is_refused(cli: Cli, folder: Path) -> None:
    before = content(folder)
    words = "compare", "m.xml", "--tolerance", "0", "--bisect", "a.xml"
    Path("b.html").symlink_to("a.xml")
    assert_refused(cli(*words, "--report", "b.html"), "written twice")
    Path("b.html").unlink()
    assert_refused(cli("compare", "m.xml", "--report", "b.html", "--dump", "B.HTML"), "written twice")
    assert content(folder) == before


def test_weights_of_something_else_are_not_replaced(cli: Cli, folder: Path) -> None:
    Path("other.bin").write_bytes(b"precious")
    before = content(folder)
    for name in ("shapes", "migrate"):
        assert_refused(cli(name, "m.xml", "-o", "other.xml"), "other.bin", "belongs to another model")
        assert content(folder) == before


@pytest.mark.parametrize("name", sorted(MAY_REPLACE_MODEL))
@pytest.mark.parametrize("cut", [False, True])
def test_a_model_without_its_weights_is_not_written(cli: Cli, folder: Path, name: str, cut: bool) -> None:
    """What is appended to a `.bin` that is cut off would be taken for what it lacks."""
    if cut:
        os.truncate("m.bin", 100)
    else:
        Path("m.bin").unlink()
    before = content(folder)
    why = (
        "m.bin is truncated or belongs to another model"
        if cut
        else "m.bin is missing, but constants need 512 bytes of it"
    )
    for target in ("out.xml", "m.xml"):
        outcome = cli(name, "m.xml", "-o", target)
        assert (outcome.code, outcome.out) == (2, "")
        assert f"error {'IR012' if cut else 'IR011'}: " in outcome.err
        assert outcome.err.endswith(f"{why}; nothing was written\n")
        assert content(folder) == before


# --- links ------------------------------------------------------------------------------------------------------


def works(path: Path, before: Folder) -> bool:
    """Whether both the runtime and ir_tools read the pair, with the weights that it had before."""
    ov.Core().compile_model(path, "CPU")
    return ir_tools.read(path).weights.view(0, len(before["m.bin"])).tobytes() == before["m.bin"]


@pytest.mark.parametrize("writer", ["shapes -o", "migrate --pass -o"])
@pytest.mark.parametrize(
    "links",
    [
        {"link.xml": "pair.xml"},
        {"link.xml": "pair.xml", "link.bin": "pair.bin"},
        {"link.xml": "pair.xml", "link.bin": "elsewhere.bin"},
        {"link.xml": "pair.xml", "link.bin": None},
        {"link.xml": "fresh.xml"},
        {"link.xml": "blob"},
        {"link.xml": "blob", "link.bin": "blob2"},
        {"link.xml": None, "link.bin": "elsewhere.bin"},
        {"link.xml": "second.xml", "second.xml": "pair.xml"},
    ],
    ids=str,
)
def test_a_link_that_is_written_works(cli: Cli, folder: Path, writer: str, links: dict[str, str | None]) -> None:
    (folder / "far").mkdir()
    for name in ("pair", "link"):
        shutil.copy("m.xml", f"far/{name}.xml")
        shutil.copy("m.bin", f"far/{name}.bin")
    for name in ("elsewhere.bin", "blob", "blob2"):
        Path("far", name).write_bytes(b"precious")
    for name, target in links.items():
        if target is None:
            shutil.copy("m" + Path(name).suffix, name)
        else:
            Path(name).symlink_to(target if target == "second.xml" else Path("far", target))
    before = content(folder)
    assert call(cli, WRITERS[writer], "link").code == 0
    assert works(folder / "link.xml", before)
    assert works(folder / "far" / "pair.xml", before), "the pair that the link led to works, old or new"
    after = content(folder)
    assert all(after[f"far/{name}"] == b"precious" for name in ("elsewhere.bin", "blob", "blob2"))
    assert {name: after[name] for name in ("m.xml", "m.bin")} == {name: before[name] for name in ("m.xml", "m.bin")}


def test_a_link_in_a_circle_is_refused(cli: Cli, folder: Path) -> None:
    Path("a.xml").symlink_to("b.xml")
    Path("b.xml").symlink_to("a.xml")
    assert_refused(cli("shapes", "m.xml", "-o", "a.xml"), "a.xml", "symbolic links")


# --- all or nothing ---------------------------------------------------------------------------------------------


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Let no file grow beyond `size` bytes, as a quota does; Python writes no compiled modules, which it would cut."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        with patch.object(sys, "dont_write_bytecode", True), patch.dict(os.environ, PYTHONDONTWRITEBYTECODE="1"):
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("there", [False, True], ids=["new", "replaced"])
def test_a_full_disk_leaves_what_was_there(cli: Cli, folder: Path, writer: str, there: bool) -> None:
    words = WRITERS[writer]
    if there:
        assert call(cli, words, "out").code == int("bisect" in writer)
        shutil.copy("data.npy", "out.bin")
    before = content(folder)
    with full_disk(200 if words[0] == "compare" else 10):
        outcome = call(cli, words, "out")
    pair = words[-1].endswith(".xml")
    assert_refused(outcome, "out", "File too large", "nothing was changed" if pair else "it is as it was")
    assert content(folder) == before
    assert Path("out").is_dir() == (there and "--dump" in words)


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
@pytest.mark.parametrize("written", [1, 5, 6])
def test_a_disk_that_fills_up_leaves_no_part_of_a_dump(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch, there: bool, written: int
) -> None:
    """Of three layers with two files each, and a table of them, so many are written before the disk is full once."""
    if there:
        Path("deep/out").mkdir(parents=True)
        Path("deep/out/other.npy").touch()
    before, names = content(folder), sorted(map(str, folder.rglob("*")))
    numbers = count()

    def limited(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
        with full_disk(10) if next(numbers) == written else nullcontext():
            write_file(path, fill)

    monkeypatch.setattr(dumping, "write_file", limited)
    outcome = cli("compare", "m.xml", "--dump", "deep/out")
    assert_refused(outcome, "deep/out", "File too large", "it is as it was")
    assert content(folder) == before
    assert sorted(map(str, folder.rglob("*"))) == names


def test_an_input_that_cannot_be_written_leaves_no_part_of_a_bisection(cli: Cli, folder: Path) -> None:
    """The pair could be written, and the input of the part beside it cannot."""
    Path("out.0.npy").mkdir()
    before = content(folder)
    assert_refused(cli("compare", "m.xml", "--tolerance", "0", "--bisect", "out.xml"), "out.0.npy", "is a folder")
    assert content(folder) == before


@pytest.mark.parametrize("writer", [name for name in WRITERS if ending(WRITERS[name])])
def test_other_endings_are_refused(cli: Cli, folder: Path, writer: str) -> None:
    before = content(folder)
    for name in {"out.json", "out", "out.npy", "-"} - {f"out{ending(WRITERS[writer])}"}:
        words = [name if word.startswith("OUT") else word for word in WRITERS[writer]]
        assert_refused(cli(*words), name, ending(WRITERS[writer]))
        assert content(folder) == before


@pytest.mark.parametrize("writer", WRITERS)
def test_no_clobber_keeps_what_is_there(cli: Cli, folder: Path, writer: str) -> None:
    words = [*WRITERS[writer], "--no-clobber"]
    code = call(cli, words, "out").code
    before = content(folder)
    outcome = call(cli, words, "out")
    if "dump" in writer:
        assert_refused(outcome, "00000_", "exists already")
    else:
        assert_refused(outcome, f"out{ending(words)}", "exists already")
    assert content(folder) == before
    assert code == int("bisect" in writer)


PLACES = "no/such/OUT", "m.xml/OUT", "f" * 300, "folder"


@pytest.mark.parametrize(
    ("writer", "place"), [row for row in product(WRITERS, PLACES) if row != ("compare --dump", "no/such/OUT")]
)
def test_places_where_nothing_can_be_written_are_found_first(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch, writer: str, place: str
) -> None:
    Path(f"folder{ending(WRITERS[writer])}").mkdir(exist_ok=True)
    if "dump" in writer and place == "folder":
        Path("folder").rmdir()
        Path("folder").write_bytes(b"a file")

    def load(*_: object) -> None:
        raise AssertionError("the model was read first")

    monkeypatch.setattr(ir_tools, "read", load, raising=False)
    before = content(folder)
    assert_refused(call(cli, WRITERS[writer], place), place.removesuffix("/OUT"))
    assert content(folder) == before


def test_a_report_goes_into_a_pipe(cli: Cli, folder: Path) -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    import fcntl

    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 20)
    assert cli("compare", "m.xml", "--report", f"/dev/fd/{writer}").code == 0
    assert os.read(reader, 1 << 20).startswith(b"<!DOCTYPE html>")
    os.close(reader)
    os.close(writer)
    assert cli("run", "m.xml", "-o", "/dev/null").code == 0
    os.mkfifo("nobody.html")
    assert_refused(cli("compare", "m.xml", "--report", "nobody.html"), "nobody.html")
    assert_refused(cli("compare", "m.xml", "--report", "/dev/full"), "/dev/full", "No space left")
