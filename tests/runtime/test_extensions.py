"""Operations of another library, wherever the runtime is asked; libraries that are missing, broken, or crash."""

import importlib.util
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import ir_tools
from ir_tools.errors import IrToolsError, RuntimeFailure, UsageError
from ir_tools.runtime.client import RuntimeClient
from tests.cli.conftest import Cli, cli, pooling_xml
from tests.conftest import ROOT

__all__ = ["cli"]

I32, U8, STRING = (f'precision="{name}"><dim>-1</dim></port>' for name in ("I32", "U8", "STRING"))
LAYERS: Sequence[tuple[str, str, Sequence[str], Sequence[str]]] = (
    ("Parameter", 'shape="?" element_type="string"', (), (STRING,)),
    ("StringTensorUnpack", 'mode="begins_ends"', (STRING,), (I32, I32, U8)),
    ("CaseFold", 'encoding="utf-8"', (I32, I32, U8), (I32, I32, U8)),
    ("StringTensorPack", 'mode="begins_ends"', (I32, I32, U8), (STRING,)),
    ("Result", "", (STRING,), ()),
)


def library() -> Path:
    """The one of openvino-tokenizers; the package is not imported, because it changes `openvino.Core`."""
    found = importlib.util.find_spec("openvino_tokenizers")
    assert found is not None
    assert found.origin is not None
    (path,) = Path(found.origin).parent.glob("lib/libopenvino_tokenizers.so")
    return path


def folding_xml() -> str:
    """Texts in lower case: `text` -> unpack -> fold -> pack -> `folded`."""
    layers, edges = "", ""
    for number, (kind, data, reads, makes) in enumerate(LAYERS):
        version = "opset1" if kind in {"Parameter", "Result"} else "extension"
        name = {"Parameter": "text", "StringTensorPack": "folded"}.get(kind, kind)
        inputs = "".join(f'<port id="{at}" {port}' for at, port in enumerate(reads))
        outputs = "".join(f'<port id="{at}" {port}' for at, port in enumerate(makes, len(reads)))
        layers += f'<layer id="{number}" name="{name}" type="{kind}" version="{version}"><data {data}/>'
        layers += f"<input>{inputs}</input><output>{outputs}</output></layer>"
        for at in range(len(reads)):
            start = len(LAYERS[number - 1][2]) + at
            edges += f'<edge from-layer="{number - 1}" from-port="{start}" to-layer="{number}" to-port="{at}"/>'
    return f'<net name="folding" version="11"><layers>{layers}</layers><edges>{edges}</edges></net>'


@pytest.fixture
def folding(tmp_path: Path) -> Path:
    path = tmp_path / "folding.xml"
    path.write_text(folding_xml())
    return path


@pytest.mark.parametrize("command", ["inspect", "migrate --dry-run", "run --engine reference"])
def test_an_unknown_operation_is_no_error_beside_a_library(cli: Cli, command: str) -> None:
    model = ROOT / "tests/rules/unknown_extension/bad.xml"
    assert "error IR216" in cli(*command.split(), model).err
    assert "error" not in cli(*command.split(), model, "--extension", library()).err


@pytest.mark.parametrize("engine", ["reference", "runtime"])
def test_values_in_python(folding: Path, engine: str) -> None:
    texts = np.array(["Hello WORLD", "ÄÖ"], dtype=object)
    session = ir_tools.Session(folding, engine="runtime" if engine == "runtime" else "reference", extensions=library())
    with session, pytest.warns(RuntimeWarning, match="no kernel") if engine == "reference" else session:
        assert session.run({"text": texts})["folded"].tolist() == ["hello world", "äö"]


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "--engine", "runtime"],
        ["compare"],
        ["compare", "--mode", "cumulative"],
        ["migrate", "--dry-run", "--verify"],
        ["shapes"],
        ["validate", "--runtime", "--select", "RUN"],
    ],
    ids=" ".join,
)
def test_every_command_that_asks_the_runtime(cli: Cli, folding: Path, words: list[str]) -> None:
    command, *rest = words
    without = cli(command, folding, *rest)
    assert without.code != 0 or "unsupported opset: extension" in without.out
    found = cli(command, folding, *rest, "--extension", library())
    assert (found.code, found.err) == (0, "")
    assert "unsupported opset" not in found.out
    if command == "compare":
        assert f"--extension {library()}" in found.out


def test_every_function_that_asks_the_runtime(folding: Path) -> None:
    report = ir_tools.propagate_shapes(folding, {"text": "3"}, extensions=[library()])
    assert set(report.origins.values()) == {"rule", "runtime"}
    assert ir_tools.compare(folding, extensions=library()).ok
    assert ir_tools.compare(folding, shapes={"text": "2"}, extensions=library()).ok
    assert not [
        found
        for found in ir_tools.validate(folding, runtime=True, extensions=library())
        if found.code.startswith("RUN")
    ]
    assert [len(node.outputs()) for node in ir_tools.to_openvino(folding, extensions=library()).get_ordered_ops()]


def compiled(folder: Path, source: str) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler to make a library with")
    (folder / "library.c").write_text(source)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "library.so", folder / "library.c"], check=True)
    return folder / "library.so"


def missing(folder: Path) -> Path:
    return folder / "nowhere.so"


def text(folder: Path) -> Path:
    path = folder / "text.so"
    path.write_text("no library")
    return path


def without_entry(folder: Path) -> Path:
    return compiled(folder, "int nothing;")


def crashing(folder: Path) -> Path:
    return compiled(folder, "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { abort(); }")


BROKEN = (
    (missing, UsageError, "nowhere.so: there is no such file"),
    (lambda folder: folder, UsageError, "is a folder; expected a library"),
    (text, UsageError, "text.so cannot be loaded: file too short"),
    (without_entry, UsageError, "cannot be loaded: undefined symbol: create_extensions"),
    (crashing, RuntimeFailure, r"the runtime crashed \(SIGABRT\) while loading the extension .*library.so"),
)


@pytest.mark.parametrize(("make", "error", "message"), BROKEN)
def test_broken_libraries(
    make: Callable[[Path], Path], error: type[IrToolsError], message: str, tmp_path: Path, cli: Cli
) -> None:
    library, model = make(tmp_path), tmp_path / "model.xml"
    model.write_text(pooling_xml())
    with pytest.raises(error, match=message):
        RuntimeClient(extensions=[library])
    for words in (["run"], ["validate"], ["migrate", "--dry-run", "--verify"], ["inspect"], ["shapes"], ["compat"]):
        outcome = cli(words[0], model, *words[1:], "--extension", library)
        assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1), outcome
        assert outcome.err.startswith("ir-tools: ")


def test_an_onnx_is_converted_with_the_libraries(tmp_path: Path, cli: Cli) -> None:
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    path = tmp_path / "model.onnx"
    onnx.save(
        helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", ends[:1], ends[1:])), path
    )
    assert cli("compat", path, "--extension", library()).code == 0
    assert ir_tools.compat(path, extensions=library())[-1].runs
    with pytest.raises(UsageError, match="there is no such file"):
        ir_tools.compat(path, extensions=missing(tmp_path))
