"""Whole networks in the reference against OpenVINO on one thread; what a network takes of memory.

CONTRIBUTING.md says how to run it: nothing is asserted about time, the ratios are printed (the bars: 4 times
OpenVINO's CPU plugin on one thread, a twentieth of `onnx.reference`; 1.5 times the largest set of live tensors and
the weights).
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import openvino as ov
import pytest

import ir_tools
from ir_tools.inputs import complete_inputs
from tests.benchmarks.timing import seconds
from tests.importers.onnx.models import LIGHT, onnx, with_random_weights
from tests.test_memory import largest_live_set, peak

reference = pytest.importorskip("onnx.reference", reason="onnx is not installed")
pytestmark = pytest.mark.sweep

NAMES = ("resnet50", "inception_v2", "squeezenet")
ROUNDS = 5

MEASURE = """
import sys, time, resource
import numpy as np, openvino as ov
import ir_tools
from ir_tools.execute import run
from ir_tools.inputs import complete_inputs
model = ir_tools.read(sys.argv[1])
fed = complete_inputs(model, seed=0)
settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
compiled = ov.Core().compile_model(sys.argv[1], "CPU", settings)
ours, theirs = [], []
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    expected = compiled(fed)
    middle = time.perf_counter()
    found = run(model, fed)
    ours.append(time.perf_counter() - middle)
    theirs.append(middle - start)
(found,) = found.values()
assert np.allclose(found, expected[0], atol=1e-4 * np.abs(expected[0]).max())
print(min(ours), min(theirs))
"""
"""Prints seconds of the reference and of OpenVINO, the best of some rounds, taken in turn in one process."""


@pytest.fixture(params=NAMES)
def network(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    source, target = tmp_path / "model.onnx", tmp_path / "model.xml"
    source.write_bytes(with_random_weights(LIGHT / f"light_{request.param}.onnx", 0).SerializeToString())
    ov.save_model(ov.convert_model(source), target, compress_to_fp16=False)
    return target


def printed(code: str, *words: object) -> list[float]:
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **threads},
    )
    return [float(word) for word in done.stdout.split()]


def test_against_openvino(network: Path, request: pytest.FixtureRequest) -> None:
    ours, theirs = printed(MEASURE, network, ROUNDS)
    print(f"\n{request.node.name}: {1000 * ours:.0f} ms against {1000 * theirs:.0f} ms: {ours / theirs:.2f}")


def test_against_onnx_reference(network: Path, request: pytest.FixtureRequest) -> None:
    ours, _ = printed(MEASURE, network, ROUNDS)
    model = onnx.load(network.with_suffix(".onnx"))
    judge = reference.ReferenceEvaluator(model)
    weights = {entry.name for entry in model.graph.initializer}
    [image] = (entry.name for entry in model.graph.input if entry.name not in weights)
    feed = {image: np.zeros((1, 3, 224, 224), np.float32)}
    theirs = seconds(lambda: judge.run(None, feed))
    print(f"\n{request.node.name}: {ours:.2f} s against {theirs:.1f} s of onnx.reference: 1/{theirs / ours:.0f}")


def test_memory(network: Path, request: pytest.FixtureRequest) -> None:
    model = ir_tools.read(network)
    fed = complete_inputs(model)
    most, live = peak(model, fed) / 2**20, largest_live_set(model, fed) / 2**20
    print(
        f"\n{request.node.name}: {most:.1f} MiB at the peak, {live:.1f} MiB of live tensors: {most / live:.2f};"
        f" {model.weights.size / 2**20:.0f} MiB of mapped weights"
    )
