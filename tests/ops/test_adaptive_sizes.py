"""AdaptiveAvgPool whose output sizes are constant, given at run time, or computed from shapes, in older opsets."""

from collections.abc import Callable
from typing import Any

import numpy as np
import openvino as ov
import pytest
from openvino import opset8 as op

import ir_tools

Sizes = Callable[[Any], tuple[Any, list[Any]]]

SIZES: dict[str, Sizes] = {
    "constant": lambda x: (op.constant(np.array([3, 5], np.int32)), []),
    "given": lambda x: given_sizes(),
    "computed": lambda x: (half_of(x), []),
}
SHAPES = {"static": [2, 3, 7, 9], "dynamic": [-1, 3, -1, 9]}


def given_sizes() -> tuple[Any, list[Any]]:
    sizes = op.parameter([2], ov.Type.i64, name="sizes")
    return sizes, [sizes]


def half_of(x: Any) -> Any:
    spatial = op.gather(op.shape_of(x), op.constant(np.array([2, 3])), op.constant(np.int64(0)))
    return op.divide(spatial, op.constant(np.int64(2)))


@pytest.mark.parametrize("target", ["opset1", "opset5", "opset7"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sizes", SIZES)
def test_moved_below_opset8_it_gives_the_same_values(sizes: str, shape: str, target: str) -> None:
    x = op.parameter(ov.PartialShape(SHAPES[shape]), ov.Type.f32, name="x")
    counts, more = SIZES[sizes](x)
    model = ov.Model([op.adaptive_avg_pool(x, counts)], [x, *more], "adaptive")
    migrated = ir_tools.migrate(ir_tools.read(model), to=target)
    assert not migrated.refused
    assert all(layer.type != "AdaptiveAvgPool" for layer in migrated.model.graph.layers())
    settings = {"INFERENCE_PRECISION_HINT": "f32"}
    before = ov.compile_model(model, "CPU", settings)
    after = ov.compile_model(ir_tools.to_openvino(migrated.model), "CPU", settings)
    data = np.random.default_rng(0).standard_normal([2, 3, 7, 9]).astype(np.float32)
    fed = [data, *([np.array([4, 2], np.int64)] if more else [])]
    np.testing.assert_allclose(after(fed)[0], before(fed)[0], rtol=1e-5, atol=1e-6)
