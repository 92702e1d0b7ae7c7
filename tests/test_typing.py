"""The types that scripts see. The strict type check of the suite reads this file; nothing in it runs but the last test.

A comment that ignores an error which is not there fails the check, so that wrong calls are known to be found.
"""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import ir_tools


def right() -> None:
    model = ir_tools.read(Path("model.xml"))
    assert_type(model, ir_tools.Model)
    assert_type(model.graph, ir_tools.Graph)
    assert_type(model.graph.layer(1), ir_tools.Layer)
    assert_type(model.graph.layer(1).raw, dict[str, str])
    found = ir_tools.validate(b"<net/>", select="IR1")
    assert_type(found, ir_tools.Findings)
    assert_type(found[0], ir_tools.Diagnostic)
    assert_type(found[0].severity, ir_tools.Severity)
    assert_type(ir_tools.propagate_shapes(model, {"data": [1, -1]}, in_place=True), ir_tools.ShapeReport)
    migration = ir_tools.migrate("model.xml", to="opset8")
    assert_type(migration, ir_tools.Migration)
    assert_type(migration.steps, tuple[ir_tools.MigrationStep, ...])
    outputs = ir_tools.run(migration.model, {"data": np.zeros(3, np.float32)})
    assert_type(outputs, dict[str, npt.NDArray[Any]])
    comparison = ir_tools.compare(model, "other.xml", layers={"ReLU"}, against="CPU:bf16")
    assert_type(comparison, ir_tools.Comparison)
    assert_type(comparison.layers, tuple[ir_tools.LayerComparison, ...])
    assert_type(ir_tools.onnx.read("model.onnx"), ir_tools.Model)
    assert_type(ir_tools.compare_onnx("model.onnx"), ir_tools.OnnxComparison)
    with ir_tools.Session(model) as session:
        assert_type(session, ir_tools.Session)


def wrong(model: ir_tools.Model) -> None:
    """Each call has an error of types: if mypy saw none, it would report the comment as unused."""
    ir_tools.migrate(model, to=8)  # type: ignore[arg-type]  # the wrong type is the point
    ir_tools.write("model.xml", "out.xml")  # type: ignore[arg-type]  # the wrong type is the point
    ir_tools.run(model, [np.ones(3)])  # type: ignore[arg-type]  # the wrong type is the point
    ir_tools.validate(model, select=3)  # type: ignore[arg-type]  # the wrong type is the point
    ir_tools.compare(model, mode="bogus")  # type: ignore[arg-type]  # the wrong type is the point
    ir_tools.raed("model.xml")  # type: ignore[attr-defined]  # the wrong name is the point


def test_type_checkers_read_the_types_of_the_package() -> None:
    assert Path(ir_tools.__path__[0], "py.typed").is_file()
