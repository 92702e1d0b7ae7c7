"""Values that the ONNX project published: its node tests, and the examples printed on the operator's pages."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.importers.onnx.models import Row, compiled, differs, model_of, onnx, translated
from tests.importers.onnx.oracle import Values, average_pool


class Printed(NamedTuple):
    """An example: the input holds 1, 2, 3, ... in `shape`."""

    attributes: dict[str, Any]
    shape: tuple[int, ...]
    wanted: Any


PADDED_PRECOMPUTED = [
    [7, 7.5, 8, 8.5, 9],
    [9.5, 10, 10.5, 11, 11.5],
    [12, 12.5, 13, 13.5, 14],
    [14.5, 15, 15.5, 16, 16.5],
    [17, 17.5, 18, 18.5, 19],
]
COUNTED_PRECOMPUTED = [
    [2.52, 3.6, 4.8, 4.08, 3.24],
    [4.56, 6.4, 8.4, 7.04, 5.52],
    [7.2, 10, 13, 10.8, 8.4],
    [6.96, 9.6, 12.4, 10.24, 7.92],
    [6.12, 8.4, 10.8, 8.88, 6.84],
]
PADDED = [
    [1, 1.5, 2, 3, 3.5, 4],
    [3, 3.5, 4, 5, 5.5, 6],
    [5, 5.5, 6, 7, 7.5, 8],
    [9, 9.5, 10, 11, 11.5, 12],
    [11, 11.5, 12, 13, 13.5, 14],
    [13, 13.5, 14, 15, 15.5, 16],
]
COUNTED = [
    [1.7777778, 3, 3.6666667, 4.3333335, 3.1111112],
    [4.3333335, 7, 8, 9, 6.3333335],
    [7.6666665, 12, 13, 14, 9.666667],
    [11, 17, 18, 19, 13],
    [8.444445, 13, 13.666667, 14.333333, 9.777778],
]

PRINTED = {
    "1d_default": Printed({"kernel_shape": [2]}, (1, 1, 8), [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5]),
    "2d_ceil": Printed(
        {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}, (1, 1, 4, 4), [[6, 7.5], [12, 13.5]]
    ),
    "2d_ceil_last_window_starts_on_pad": Printed(
        {"kernel_shape": [3, 3], "strides": [3, 3], "pads": [1] * 4, "ceil_mode": 1, "count_include_pad": 1},
        (1, 1, 2, 2),
        [[1.1111112]],
    ),
    "2d_default": Printed(
        {"kernel_shape": [2, 2]}, (1, 1, 4, 4), [[3.5, 4.5, 5.5], [7.5, 8.5, 9.5], [11.5, 12.5, 13.5]]
    ),
    "2d_pads": Printed({"kernel_shape": [3, 3], "pads": [2] * 4}, (1, 1, 4, 4), PADDED),
    "2d_pads_count_include_pad": Printed(
        {"kernel_shape": [3, 3], "pads": [1] * 4, "count_include_pad": 1}, (1, 1, 5, 5), COUNTED
    ),
    "2d_precomputed_pads": Printed({"kernel_shape": [5, 5], "pads": [2] * 4}, (1, 1, 5, 5), PADDED_PRECOMPUTED),
    "2d_precomputed_pads_count_include_pad": Printed(
        {"kernel_shape": [5, 5], "pads": [2] * 4, "count_include_pad": 1}, (1, 1, 5, 5), COUNTED_PRECOMPUTED
    ),
    "2d_precomputed_same_upper": Printed(
        {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"},
        (1, 1, 5, 5),
        [[4, 5.5, 7], [11.5, 13, 14.5], [19, 20.5, 22]],
    ),
    "2d_precomputed_strides": Printed({"kernel_shape": [2, 2], "strides": [2, 2]}, (1, 1, 5, 5), [[4, 6], [14, 16]]),
    "2d_strides": Printed({"kernel_shape": [3, 3], "strides": [2, 2]}, (1, 1, 5, 5), [[7, 9], [17, 19]]),
    "3d_default": Printed(
        {"kernel_shape": [2, 2, 2]}, (1, 1, 3, 3, 3), [[[7.5, 8.5], [10.5, 11.5]], [[16.5, 17.5], [19.5, 20.5]]]
    ),
}


def counting(shape: tuple[int, ...]) -> Values:
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("opset", [11, 19, 22])
@pytest.mark.parametrize("name", PRINTED)
def test_printed_values_on_the_runtime(name: str, opset: int) -> None:
    case = PRINTED[name]
    model, _ = translated(model_of([Row(case.attributes, case.shape)], opset))
    got = compiled(model)({"x0": counting(case.shape)})["y0"]
    assert not differs(np.array(case.wanted)[None, None], got, 1e-6)


@pytest.mark.parametrize("name", PRINTED)
def test_printed_values_by_the_oracle(name: str) -> None:
    case = PRINTED[name]
    assert not differs(np.array(case.wanted)[None, None], average_pool(case.attributes, counting(case.shape)), 1e-6)


def node_tests() -> list[Any]:
    """Every average pooling of `onnx.backend.test`, with its model and expected outputs: 2 s of import."""
    from onnx.backend.test.case import node
    from onnx.backend.test.case.node import averagepool

    assert averagepool
    return [case for case in node._NodeTestCases if "averagepool_" in case.name and "global" not in case.name]


def test_node_tests() -> None:
    cases, wrong = node_tests(), []
    assert len(cases) >= 20
    for case in cases:
        assert onnx.checker.check_model(case.model) is None, case.name
        model, reported = translated(case.model)
        assert len(reported) == 1, case.name
        infer = compiled(model)
        if any(differs(outputs[0], infer({"x": inputs[0]})["y"], case.rtol) for inputs, outputs in case.data_sets):
            wrong.append(case.name)
    assert wrong == []
