"""Without OpenVINO installed: what reads and computes here works, the rest says in one line what to install."""

import sys
from pathlib import Path

import pytest

import ir_tools
from tests.cli.conftest import Cli, cli, model

__all__ = ["cli", "model"]

INSTALL = 'this needs OpenVINO, which is not installed: pip install "ir_tools[runtime]"'


@pytest.fixture(autouse=True)
def _no_openvino(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if it were not installed: it is not found, and importing it fails."""
    monkeypatch.setitem(sys.modules, "openvino", None)


@pytest.mark.parametrize(
    "words",
    [["validate"], ["inspect"], ["shapes"], ["run"], ["migrate", "--dry-run"]],
    ids=lambda words: words[0],
)
def test_a_command_that_needs_no_runtime_works(cli: Cli, model: Path, words: list[str]) -> None:
    outcome = cli(*words, model)
    assert (outcome.code, outcome.err) == (0, "")


@pytest.mark.parametrize(
    "words",
    [["validate", "--runtime"], ["run", "--engine", "runtime"], ["compare"], ["migrate", "--dry-run", "--verify"]],
    ids=" ".join,
)
def test_a_command_that_needs_the_runtime_says_what_to_install(cli: Cli, model: Path, words: list[str]) -> None:
    outcome = cli(*words, model)
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"ir-tools: {INSTALL}\n")


@pytest.mark.parametrize("command", ["inspect", "migrate", "compare"])
def test_onnx_needs_the_runtime(cli: Cli, tmp_path: Path, command: str) -> None:
    onnx = pytest.importorskip("onnx")
    path = tmp_path / "model.onnx"
    onnx.save(
        onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["" : 13]> g (float[1] x) => (float[1] y) {y = Relu(x)}'
        ),
        path,
    )
    outcome = cli(command, path, *(["--dry-run"] if command == "migrate" else []))
    assert (outcome.code, outcome.err) == (2, f"ir-tools: {INSTALL}\n")


def test_functions_that_need_the_runtime_say_what_to_install(model: Path) -> None:
    read = ir_tools.read(model)
    for call in (
        lambda: ir_tools.to_openvino(read),
        lambda: ir_tools.compare(read),
        lambda: ir_tools.validate(read, runtime=True),
        lambda: ir_tools.onnx.average_pool_extension(),
    ):
        with pytest.raises(ir_tools.RuntimeFailure) as caught:
            call()
        assert (str(caught.value), caught.value.kind) == (INSTALL, "missing")
