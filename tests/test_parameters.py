"""Wrong arguments: whatever a public function is given, it says in one line what it expects."""

import contextlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_tools
from tests.cli.conftest import pooling_xml
from tests.test_help import CALLED

SURE: dict[str, object] = {
    "source": "model.xml",
    "model": "model.xml",
    "path": "model.xml",
    "inputs": {},
    "attributes": {},
    "window_shape": [2, 2],
    "data_shape": "1,2,8,8",
    "pooling": ir_tools.ngraph.avg_pool([2, 2]),
}
"""An argument that fits each parameter without a default."""

STRANGE: list[object] = [12, 3.5, None, True, "no such thing", b"text", object(), [1], ["x"], [[]], {1: 2}, {"x": 3.5}]
STRANGE += [
    {"data": object()},
    {"data": "x"},
    {"data": [[1], [1, 2]]},
    {"data": None},
    np.ones(3),
    Path("none"),
    -1,
    1e400,
]
STRANGE += [ir_tools, ("CPU",), ("CPU", 3), "", float("nan")]


PARAMETERS = [(name, key) for name, function in CALLED.items() for key in inspect.signature(function).parameters]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a model, and no runtime of any release, which would only take time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IR_TOOLS_RUNTIMES", str(tmp_path))
    monkeypatch.setitem(sys.modules, "openvino", None)
    Path("model.xml").write_text(pooling_xml())


def call(name: str, parameter: str, value: object) -> None:
    """Call a function with one argument that may be wrong; all others are right."""
    function: Any = CALLED[name]
    parameters = inspect.signature(function).parameters.items()
    needed = [key for key, known in parameters if known.default is inspect.Parameter.empty]
    arguments = {key: SURE[key] for key in needed}
    if name == "write":
        arguments["model"] = ir_tools.read("model.xml")
    function(**{**arguments, parameter: value})


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_what_is_of_no_kind_is_refused_by_name(name: str, parameter: str) -> None:
    with pytest.raises(ir_tools.UsageError, match=rf"^{name.split('.')[-1]}: {parameter} is <object.*; expected "):
        call(name, parameter, object())


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS)
def test_nothing_but_errors_of_ir_tools(name: str, parameter: str) -> None:
    for value in STRANGE:
        with contextlib.suppress(ir_tools.IrToolsError):
            call(name, parameter, value)


WRONG: Any = ir_tools
"""Without its types, which the checker would hold against these calls."""


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: WRONG.read(12), "source is 12 (int); expected a model, the path of an .xml or .onnx"),
        (lambda: WRONG.read(None), "source is None (NoneType)"),
        (
            lambda: WRONG.migrate("model.xml", to=8),
            "to is 8 (int); expected an opset, an IR version or a release, as in 'opset8'",
        ),
        (lambda: WRONG.write("model.xml", "a.xml"), "model is 'model.xml' (str); expected a model, as from"),
        (lambda: WRONG.run("model.xml", [np.ones(3)]), "expected arrays or generators by name of the input"),
        (lambda: WRONG.run({"data": np.ones(3)}, "model.xml"), "model is {'data': array"),
        (lambda: WRONG.compare(1, 2), "model is 1 (int)"),
        (lambda: WRONG.propagate_shapes("model.xml", in_place=True), "pass ir_tools.read"),
        (lambda: WRONG.read("model.onnx", b""), "this source has its own"),
        (lambda: WRONG.validate("model.onnx"), "model.onnx is an ONNX file"),
        (lambda: WRONG.validate("model.xml", shapes={"data": "1"}), "shapes needs runtime=True"),
        (lambda: WRONG.validate("model.xml", select=[""]), "there is no rule ''"),
    ],
)
def test_messages(call: Callable[[], object], text: str) -> None:
    with pytest.raises(ir_tools.UsageError) as caught:
        call()
    assert text in str(caught.value)


def test_weights_that_are_named_exist() -> None:
    with pytest.raises(ir_tools.ReadError, match=r"none\.bin: error IR001: there is no such file"):
        ir_tools.read("model.xml", "none.bin")
    (found,) = ir_tools.validate("model.xml", "none.bin")
    assert (found.code, found.file) == ("IR001", "none.bin")
