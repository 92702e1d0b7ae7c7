"""An output written over an input that nobody reads any more: only where nothing else sees that memory."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset13 as ops
import pytest

from ir_tools.execute import Execution, run
from ir_tools.format.read import read

Built = Callable[[ov.Node], list[ov.Node]]
FLAT = np.array([-1])
HALF = np.float32(0.5)


def halved(node: ov.Node) -> ov.Node:
    return ops.multiply(node, HALF)


def a_view_is_read_later(node: ov.Node) -> list[ov.Node]:
    view = ops.reshape(node, FLAT, False)
    return [halved(node), halved(view)]


def the_viewed_is_read_later(node: ov.Node) -> list[ov.Node]:
    return [ops.add(ops.reshape(halved(ops.reshape(node, FLAT, False)), np.array([4, 6]), False), node)]


def halves_share_memory(node: ov.Node) -> list[ov.Node]:
    return [halved(part) for part in ops.split(node, 0, 2).outputs()]


CASES: dict[str, Built] = {
    "input": lambda node: [ops.relu(halved(node))],
    "result": lambda node: [node, ops.relu(node)],
    "twice": lambda node: [ops.add(node, node)],
    "view": a_view_is_read_later,
    "viewed": the_viewed_is_read_later,
    "split": halves_share_memory,
}


@pytest.mark.parametrize("inner", [False, True], ids=["of-an-input", "of-a-layer"])
@pytest.mark.parametrize("name", CASES)
def test_reuse_changes_no_value(name: str, inner: bool, tmp_path: Path) -> None:
    data = ops.parameter([4, 6], np.float32)
    ends = CASES[name](ops.negative(data) if inner else data)
    ov.save_model(ov.Model([ops.result(end) for end in ends], [data], name), tmp_path / "m.xml", compress_to_fp16=False)
    model = read(tmp_path / "m.xml")
    given = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    kept = given.copy()
    fed = {model.inputs[0].name: given}
    walk = Execution(model)
    every = list(walk.steps(fed))  # what is held is never written over
    found = run(model, fed)
    assert every
    assert found.keys() == walk.results.keys()
    for output, expected in walk.results.items():
        np.testing.assert_array_equal(found[output], expected)
    np.testing.assert_array_equal(given, kept)
    wanted = ov.compile_model(tmp_path / "m.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(given)
    for array, expected in zip(found.values(), wanted.values(), strict=True):
        np.testing.assert_allclose(array, expected, rtol=1e-6)
