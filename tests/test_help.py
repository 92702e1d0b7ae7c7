"""The documentation of what is public: arguments, returns, errors, and examples that run."""

import ast
import builtins
import doctest
import inspect
import re
from pathlib import Path

import numpy as np
import onnx
import pytest

import ir_tools
from tests.cli.conftest import pooling_xml
from tests.test_public import PUBLIC

CALLED = {name: found for name, found in PUBLIC.items() if inspect.isfunction(found)}
ONNX = """<ir_version: 8, opset_import: ["" : 13]>
small (float[1, 2, 8, 8] data) => (float[1, 2, 4, 4] pooled)
{ [pool] pooled = AveragePool <kernel_shape = [2, 2], strides = [2, 2]> (data) }"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that examples name: one pooling layer each."""
    folder = tmp_path_factory.mktemp("help")
    model = pooling_xml()
    texts = {
        "model": model,
        "broken": model.replace('exclude-pad="true"', 'exclude_pad="false"'),
        "custom": model.replace('type="AvgPool" version="opset1"', 'type="Custom" version="extension"'),
        "unreadable": model.replace('strides="2,2"', 'strides="2"'),
    }
    for name, text in texts.items():
        (folder / f"{name}.xml").write_text(text)
    onnx.save(onnx.parser.parse_model(ONNX), folder / "model.onnx")
    return folder


def section_of(text: str, title: str) -> str:
    """The lines of a section of a docstring; empty without one."""
    match = re.search(rf"^{title}:\n((?:    .*\n?|\n)+)", text, re.MULTILINE)
    return match[1] if match else ""


def section(found: object, title: str) -> str:
    return section_of(inspect.getdoc(found) or "", title)


def named(text: str) -> list[str]:
    """The names that a section explains."""
    return [name for line in re.findall(r"^    (\w[\w, ]*):", text, re.MULTILINE) for name in line.split(", ")]


@pytest.mark.parametrize("name", CALLED)
def test_every_function_says_arguments_returns_and_errors(name: str) -> None:
    function = CALLED[name]
    assert named(section(function, "Args")) == list(inspect.signature(function).parameters)
    assert bool(section(function, "Returns")) != (inspect.signature(function).return_annotation in {None, "None"})
    raised = named(section(function, "Raises"))
    assert raised
    for error in raised:
        assert issubclass(getattr(ir_tools, error), ir_tools.IrToolsError)


def test_every_error_that_a_docstring_names_can_be_imported() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(Path(ir_tools.__path__[0]).rglob("*.py"))}
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)) if "Raises:" in text else ():
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                for error in named(section_of(ast.get_docstring(node) or "", "Raises")):
                    assert hasattr(builtins, error) or error in ir_tools.__all__, f"{path}: {error}"


@pytest.mark.parametrize("name", PUBLIC)
def test_every_example_runs(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    names = {"ir_tools": ir_tools, "np": np}
    example = doctest.DocTestParser().get_doctest(section(PUBLIC[name], "Example"), names, name, None, 0)
    assert example.examples, "there is no example"
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(example, out=said.append)
    assert not said, "".join(said)
