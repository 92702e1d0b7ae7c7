"""Convolution in f32 against the CPU plugin on one thread, in one run.

CONTRIBUTING.md says how to run it: nothing is asserted about time, the ratios are printed (whole networks: at most 4
times the plugin). Times are those of the processor.
"""

from collections.abc import Callable, Iterator
from statistics import geometric_mean
from time import process_time
from typing import Any

import numpy as np
import pytest

from ir_tools.ops import convolution
from tests.ops.single import CONFIG, CORE, single

pytestmark = pytest.mark.sweep

CASES = {
    # data channels, size, filters, kernel, stride, groups
    "resnet": [
        (3, 224, 64, 7, 2, 1),
        (64, 56, 64, 3, 1, 1),
        (128, 28, 128, 3, 1, 1),
        (256, 14, 256, 3, 1, 1),
        (512, 7, 512, 3, 1, 1),
        (128, 56, 128, 3, 2, 1),
        (64, 56, 256, 1, 1, 1),
        (256, 56, 64, 1, 1, 1),
        (1024, 14, 256, 1, 1, 1),
        (512, 7, 2048, 1, 1, 1),
        (256, 56, 512, 1, 2, 1),
    ],
    "inception": [(192, 35, 64, 5, 1, 1), (32, 149, 32, 3, 1, 1), (64, 73, 80, 1, 1, 1), (192, 28, 96, 3, 1, 1)],
    "mobilenet": [
        (32, 112, 32, 3, 1, 32),
        (64, 112, 64, 3, 2, 64),
        (128, 56, 128, 3, 1, 128),
        (512, 14, 512, 3, 1, 512),
        (1024, 7, 1024, 3, 1, 1024),
    ],
    "resnext": [(128, 56, 128, 3, 1, 32), (1024, 14, 1024, 3, 1, 32)],
}
RUNS = 15
RATIOS: dict[str, list[float]] = {name: [] for name in CASES}


@pytest.fixture(scope="module", autouse=True)
def summary() -> Iterator[None]:
    yield
    for name, ratios in RATIOS.items():
        if ratios:
            mean = geometric_mean(ratios)
            print(f"\nconvolutions of {name} take {mean:.2g} times as long as the plugin's ({len(ratios)} shapes)")


def seconds(work: Callable[[], Any]) -> float:
    """The least time of one call."""
    times = []
    for _ in range(RUNS):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


@pytest.mark.parametrize(("name", "case"), [(name, case) for name, cases in CASES.items() for case in cases], ids=str)
def test_convolution(name: str, case: tuple[int, ...]) -> None:
    channels, size, out, extent, stride, groups = case
    rng = np.random.default_rng(0)
    data = rng.normal(size=(1, channels, size, size)).astype(np.float32)
    filters = rng.normal(size=(groups, out // groups, channels // groups, extent, extent)).astype(np.float32)
    op = next(op for op in convolution.OPS if op.type == ("GroupConvolution" if groups > 1 else "Convolution"))
    weights = filters if groups > 1 else filters[0]
    pad = f"{extent // 2},{extent // 2}"
    raw = {"strides": f"{stride},{stride}", "pads_begin": pad, "pads_end": pad, "dilations": "1,1"}
    model = single(op.type, 1, raw, [("f32", f"1,{channels},{size},{size}"), weights])
    request = CORE.compile_model(model, "CPU", CONFIG).create_infer_request()
    request.get_input_tensor(0).data[:] = data
    theirs = seconds(request.infer)
    attrs, kernel = op.read(raw, []), op.kernel
    assert attrs is not None
    assert kernel is not None
    ours = seconds(lambda: kernel(attrs, [data, weights]))
    wanted = request.get_output_tensor(0).data
    np.testing.assert_allclose(kernel(attrs, [data, weights])[0], wanted, atol=1e-4 * np.abs(wanted).max())
    RATIOS[name].append(ours / theirs)
    print(f"\n{case}: {ours * 1e3:.2f} ms, the plugin {theirs * 1e3:.2f} ms, {ours / theirs:.2f} times")
