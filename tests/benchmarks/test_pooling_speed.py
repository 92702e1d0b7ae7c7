"""Average pooling in f32 against the CPU plugin on one thread and against `onnx.reference`, in one run.

CONTRIBUTING.md says how to run it: nothing is asserted about time, the ratios are printed (the bar: at most 2.0 times
the plugin as a geometric mean, at least 500 times faster than the reference).
"""

from collections.abc import Callable, Iterator
from statistics import geometric_mean, median
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from tests.ops.pooling_support import Setting, op_named, request_for

pytestmark = pytest.mark.sweep

CASES = [
    # input, kernel, stride, pad: the usual networks
    ((1, 64, 112, 112), 3, 2, 1),
    ((1, 192, 35, 35), 3, 1, 1),
    ((8, 2048, 7, 7), 7, 1, 0),
    ((1, 16, 16, 56, 56), 3, 2, 1),
    ((1, 64, 224, 224), 2, 2, 0),
    ((1, 256, 14, 14), 3, 1, 1),
    ((1, 1024, 28, 28), 2, 2, 0),
    ((1, 2048, 14, 14), 14, 1, 0),
    ((1, 512, 56, 56), 8, 8, 0),
    ((1, 480, 28, 28), 3, 2, 1),
    ((1, 64, 147, 147), 3, 2, 0),
    ((1, 768, 17, 17), 3, 1, 1),
]
RUNS = 40
RATIOS: dict[str, list[float]] = {"plugin": [], "onnx.reference": []}


@pytest.fixture(scope="module", autouse=True)
def summary() -> Iterator[None]:
    yield
    for name, ratios in RATIOS.items():
        if ratios:
            mean = geometric_mean(ratios)
            print(f"\naverage pooling takes {mean:.2g} times as long as {name} (geometric mean of {len(ratios)})")


def name_of(case: tuple[tuple[int, ...], int, int, int]) -> str:
    shape, kernel, stride, pad = case
    return f"{'x'.join(map(str, shape))}-k{kernel}-s{stride}-p{pad}"


def seconds(work: Callable[[], Any], runs: int = RUNS) -> float:
    """The median time of one call."""
    times = []
    for _ in range(runs):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return median(times)


def layer(case: tuple[tuple[int, ...], int, int, int]) -> tuple[Setting, np.ndarray[Any, Any]]:
    shape, *numbers = case
    axes = len(shape) - 2
    kernel, stride, pad = (",".join([str(number)] * axes) for number in numbers)
    data = {"kernel": kernel, "strides": stride, "pads_begin": pad, "pads_end": pad, "exclude-pad": "true"}
    setting = Setting(op_named("AvgPool-1"), data, "f32", ",".join(map(str, shape)))
    return setting, np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_average_pooling(case: tuple[tuple[int, ...], int, int, int], benchmark: Any) -> None:
    setting, data = layer(case)
    attrs, kernel = setting.attrs(), setting.op.kernel
    assert kernel is not None
    request = request_for([setting], [[data]])
    theirs = seconds(request.infer)
    (found,) = benchmark.pedantic(kernel, (attrs, [data]), rounds=RUNS, warmup_rounds=3)
    np.testing.assert_allclose(found, request.get_output_tensor().data, atol=1e-5)
    ratio = benchmark.stats.stats.median / theirs
    RATIOS["plugin"].append(ratio)
    benchmark.extra_info.update(plugin_ms=1000 * theirs, ratio=ratio)
    print(
        f"{name_of(case):28} {1000 * benchmark.stats.stats.median:.3f} ms, plugin {1000 * theirs:.3f} ms: {ratio:.2f}"
    )


@pytest.mark.parametrize("case", CASES[:3], ids=name_of)
def test_onnx_reference(case: tuple[tuple[int, ...], int, int, int]) -> None:
    helper = pytest.importorskip("onnx.helper")
    from onnx.reference import ReferenceEvaluator

    setting, data = layer(case)
    _, kernel, stride, pad = case
    axes = data.ndim - 2
    node = helper.make_node(
        "AveragePool", ["x"], ["y"], kernel_shape=[kernel] * axes, strides=[stride] * axes, pads=[pad] * 2 * axes
    )
    tensors = [helper.make_tensor_value_info(name, 1, None) for name in "xy"]
    model = helper.make_model(
        helper.make_graph([node], "g", tensors[:1], tensors[1:]), opset_imports=[helper.make_opsetid("", 19)]
    )
    evaluator = ReferenceEvaluator(model)
    theirs = seconds(lambda: evaluator.run(None, {"x": data}), runs=1)
    work, attrs = setting.op.kernel, setting.attrs()
    assert work is not None
    ours = seconds(lambda: work(attrs, [data]))
    RATIOS["onnx.reference"].append(ours / theirs)
    print(f"{name_of(case):28} {1000 * ours:.3f} ms, onnx.reference {theirs:.2f} s: {theirs / ours:.0f} times as fast")
