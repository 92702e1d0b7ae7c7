"""Reading, moving one pooling layer or 5,000, and writing, against `openvino` and against copying; start-up; growth.

CONTRIBUTING.md says how to run it: nothing is asserted about time, the ratios are printed (the bars: 1.0 of
`Core.read_model` + `save_model` at 20,000 layers and on real models; 1.2 of copying 1 GiB of weights, with at most
200 MiB of memory more than the XML alone takes; 0.15 s for `--version`; growth linear in the number of layers).
"""

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import openvino
import pytest

import ir_tools
from tests.benchmarks.large_models import write_large, write_with_sizes
from tests.benchmarks.timing import seconds
from tests.conftest import corpus_cases, has_weights

pytestmark = pytest.mark.sweep

ROUNDS = 7
GIBIBYTE = 1 << 30
MEBIBYTE = 1 << 20
MIN_BYTES = 100_000
"""Bytes of the `.xml` of a real model that is measured."""

MOVE = """
import sys, pathlib, time, ir_tools
for source, target in (sys.argv[1:3], sys.argv[3:]):
    start = time.perf_counter()
    ir_tools.write(ir_tools.migrate(source, to="opset8").model, target)
status = pathlib.Path("/proc/self/status").read_text()
peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
print(time.perf_counter() - start, int(peak) * 1024)
"""
"""Prints the seconds for the second model and the peak of resident bytes of a process; the first loads the modules."""


def move(source: Path, target: Path, steps: int = 1, to: str = "opset8") -> None:
    migrated = ir_tools.migrate(source, to=to)
    assert len(migrated.steps) == steps
    ir_tools.write(migrated.model, target)


@pytest.mark.parametrize("names", [False, True], ids=["", "names"])
@pytest.mark.parametrize(
    ("poolings", "kind"), [(1, "opset14"), (5_000, "opset14"), (5_000, "ceil_torch"), (5_000, "opset1")]
)
def test_20000_layers_against_openvino(tmp_path: Path, benchmark: Any, poolings: int, kind: str, names: bool) -> None:
    """Layers of one text are read, planned and written once; without that, this takes 1.5 of OpenVINO's time."""
    source = write_large(tmp_path / "large.xml", 20_000, poolings=poolings, kind=kind, names=names)
    against_openvino(source, benchmark, poolings, f"{poolings} {kind}{', names' if names else ''}")


def test_20000_layers_that_compute_sizes_against_openvino(tmp_path: Path, benchmark: Any) -> None:
    """Steps that do not look at the sizes do not wait for them."""
    against_openvino(write_with_sizes(tmp_path / "large.xml", 20_000), benchmark, 4_000, "4000 Gather of sizes")


@pytest.mark.parametrize("to", ["opset8", "opset13", "openvino-2022.3", "openvino-2024.6"])
@pytest.mark.parametrize("path", corpus_cases(fits=lambda path: path.stat().st_size >= MIN_BYTES and has_weights(path)))
def test_real_models_against_openvino(path: Path, to: str, tmp_path: Path, benchmark: Any) -> None:
    source = Path(shutil.copy(path, tmp_path / "real.xml"))
    shutil.copy(path.with_suffix(".bin"), tmp_path / "real.bin")
    found = ir_tools.migrate(source, to=to)
    if found.refused:
        pytest.skip("the target does not hold it")
    against_openvino(source, benchmark, len(found.steps), f"{path.stem} for {to}", to)


def against_openvino(source: Path, benchmark: Any, steps: int, what: str, to: str = "opset8") -> None:
    """Measure migrating and writing a model against reading and saving it with openvino, and print the ratio."""
    ours, theirs = source.with_name("ours.xml"), source.with_name("theirs.xml")
    core = openvino.Core()

    def read_and_save() -> None:
        openvino.save_model(core.read_model(source), theirs, compress_to_fp16=False)

    theirs_taken: list[float] = []

    def measure_openvino() -> None:
        """Before each of our rounds one of theirs, so that both meet the same machine."""
        theirs_taken.append(seconds(read_and_save))

    read_and_save()
    benchmark.pedantic(move, (source, ours, steps, to), setup=measure_openvino, rounds=ROUNDS, warmup_rounds=1)
    best, reference = benchmark.stats.stats.min, min(theirs_taken)
    benchmark.extra_info.update(openvino_s=reference, ratio=best / reference)
    print(f"\n{source.stat().st_size / 1e6:.1f} MB, {what} to migrate: {best:.3f} s,", end=" ")
    print(f"openvino {reference:.3f} s, ratio {best / reference:.2f} (best of {ROUNDS} each)")
    assert core.read_model(ours).get_ops()


def in_child(light: Path, source: Path, target: Path) -> tuple[float, int]:
    command: list[str | Path] = [sys.executable, "-c", MOVE, light, target.with_name("first.xml"), source, target]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    elapsed, peak = done.stdout.split()
    return float(elapsed), int(peak)


def copy_flushed(source: Path, target: Path) -> None:
    """A copy that is on the disk when it is done, as what ir_tools writes is."""
    shutil.copyfile(source, target)
    with target.open("rb") as file:
        os.fsync(file.fileno())


def test_1_gib_of_weights_against_copying(tmp_path: Path) -> None:
    source = write_large(tmp_path / "heavy.xml", 2000, weights=GIBIBYTE)
    light = write_large(tmp_path / "light.xml", 2000)
    weights, copy = source.with_suffix(".bin"), tmp_path / "copy.bin"
    copies, flushed, moves, peak = [], [], [], 0
    for _ in range(5):
        copies.append(seconds(partial(shutil.copyfile, weights, copy)))
        copy.unlink()
        flushed.append(seconds(partial(copy_flushed, weights, copy)))
        copy.unlink()
        elapsed, peak = in_child(light, source, tmp_path / "moved.xml")
        moves.append(elapsed)
        (tmp_path / "moved.bin").unlink()
    _, base = in_child(light, light, tmp_path / "moved.xml")
    print(f"\n1 GiB of weights: {min(moves):.2f} s, best of 5;", end=" ")
    print(f"{min(moves) / min(flushed):.2f} of copying to disk, {min(moves) / min(copies):.2f} of copying to memory")
    print(f"peak memory {peak / MEBIBYTE:.0f} MiB, {(peak - base) / MEBIBYTE:.0f} MiB more than without the weights")


def test_version(benchmark: Any) -> None:
    command = [sys.executable, "-m", "ir_tools", "--version"]
    benchmark.pedantic(subprocess.run, (command,), {"check": True, "capture_output": True}, rounds=15, warmup_rounds=2)
    print(f"\nir-tools --version: {benchmark.stats.stats.median:.3f} s")


def test_growth(tmp_path: Path) -> None:
    print()
    for layers in (2_000, 20_000, 200_000):
        source, target = write_large(tmp_path / f"{layers}.xml", layers), tmp_path / "moved.xml"
        elapsed = min(seconds(partial(move, source, target)) for _ in range(3))
        print(f"{layers:7} layers: {elapsed:.3f} s, {1e6 * elapsed / layers:.1f} us a layer")
