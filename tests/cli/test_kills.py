"""Commands that are killed while they write, and two that write the same files: no file is lost or half-written."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import openvino as ov
import openvino.opset13 as op
import pytest

WRITERS = {
    "shapes": "shapes m.xml --set data=2,2,64,64 -o out.xml",
    "shapes in place": "shapes out.xml -o out.xml",
    "migrate": "migrate m.xml -o out.xml",
    "migrate in place": "migrate out.xml --pass avg-pool-to-adaptive -o out.xml",
    "run": "run m.xml -o out.npz",
    "report": "compare m.xml --report out.html",
    "dump": "compare m.xml --dump out",
    "bisect": "compare m.xml --tolerance 0 --bisect out.xml",
}
KILLS = 25
"""Of each of the commands above: 200."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with 4 MB of weights and a pooling, and a copy of it to replace."""
    folder = tmp_path_factory.mktemp("original")
    data = op.parameter([1, 2, 64, 64], np.float32, name="data")
    kernel = np.random.default_rng(0).random((512, 2, 32, 32)).astype(np.float32)
    features = op.convolution(op.exp(data), kernel, [8, 8], [0, 0], [0, 0], [1, 1])
    pooled = op.avg_pool(features, [2, 2], [0, 0], [0, 0], [2, 2], False, "floor", "explicit")
    ov.serialize(ov.Model([pooled], [data]), folder / "m.xml")
    for ending in ("xml", "bin"):
        shutil.copy(folder / f"m.{ending}", folder / f"out.{ending}")
    return folder


def command(name: str) -> list[str]:
    return [sys.executable, "-m", "ir_tools", *WRITERS[name].split()]


def assert_whole(folder: Path) -> None:
    """Every file is complete: models run, arrays load, pages end."""
    for path in folder.rglob("*"):
        kind = path.suffix
        if kind in {".npy", ".npz"}:
            loaded = np.load(path)
            assert isinstance(loaded, np.ndarray) or all(loaded[name].size for name in loaded.files)
        elif kind == ".html":
            assert path.read_text().rstrip().endswith("</html>")
        elif kind == ".json":
            assert all((path.parent / row["expected"]).exists() for row in json.loads(path.read_text()))
        elif kind == ".xml":
            compiled = ov.Core().compile_model(path, "CPU", {"INFERENCE_NUM_THREADS": 1})
            assert np.isfinite(compiled(np.zeros(compiled.inputs[0].shape, np.float32))[0]).all()
        else:
            assert kind == ".bin" or path.is_dir(), f"{path} is left over"
            assert kind != ".bin" or path.with_suffix(".xml").exists()


def kill(name: str, folder: Path, delay: float) -> None:
    process = subprocess.Popen(command(name), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize("name", ["migrate in place", "run"])
def test_one_that_is_killed_late(original: Path, tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(original, tmp_path / "work")
    start = time.monotonic()
    subprocess.run(command(name), cwd=folder, check=True, capture_output=True)
    before = sorted(path.name for path in folder.iterdir())
    kill(name, folder, 0.9 * (time.monotonic() - start))
    assert_whole(folder)
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.sweep
@pytest.mark.parametrize("name", WRITERS)
def test_killed_at_random_moments(original: Path, tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(original, tmp_path / "work")
    untouched = {file: (folder / file).read_bytes() for file in ("m.xml", "m.bin")}
    start = time.monotonic()
    subprocess.run(command(name), cwd=folder, check=False, capture_output=True)
    duration = time.monotonic() - start
    before = sorted(path.name for path in folder.iterdir())
    moments = random.Random(name)
    for _ in range(KILLS):
        kill(name, folder, moments.uniform(0.3, 1.1) * duration)
        assert_whole(folder)
        assert sorted(path.name for path in folder.iterdir()) == before
    assert {file: (folder / file).read_bytes() for file in untouched} == untouched


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "migrate in place" else pytest.mark.sweep) for name in WRITERS]
)
def test_two_at_once(original: Path, tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(original, tmp_path / "work")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    processes = [
        subprocess.Popen(command(name), cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode in {0, int(name == "bisect")} or b"changed by another program" in errors, errors
    assert_whole(folder)


def test_helpers_end_with_a_command_that_is_killed(original: Path, tmp_path: Path) -> None:
    for number in range(200):
        shutil.copy(original / "m.xml", tmp_path / f"{number}.xml")
    process = subprocess.Popen(
        [sys.executable, "-m", "ir_tools", "validate", "--jobs", "2", "."], cwd=tmp_path, stdout=subprocess.PIPE
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and len(children.read_text().split()) < 2:
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=120)
