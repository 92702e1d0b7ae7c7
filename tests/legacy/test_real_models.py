"""Real files of IR v2 to v7: the file on Inference Engine 2020.1 against what it is migrated to, every layer."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import ir_tools
from ir_tools.comparison import one_line
from ir_tools.comparison.releases import compare_releases
from ir_tools.inputs import plan_inputs
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.legacy import LegacyClient
from tests.conftest import corpus_folder
from tests.legacy.net import PRECISIONS

TYPES = {name: np.dtype(kind) for kind, name in PRECISIONS.items()}


def legacy_files() -> list[object]:
    """Every file of IR v2 to v7 in the corpus, or one case that skips."""
    folder = corpus_folder()
    files = sorted(folder.rglob("*.xml")) if folder else []
    found = [path for path in files if ir_tools.read(path).version < 10]
    skip = pytest.mark.skip(reason="no corpus: set IR_TOOLS_CORPUS to its folder")
    return [pytest.param(path, id=path.stem) for path in found] or [pytest.param(Path(), marks=skip, id="corpus")]


@pytest.fixture(scope="module")
def old(legacy_python: Path) -> Iterator[LegacyClient]:
    with LegacyClient(legacy_python) as client:
        yield client


@pytest.fixture(scope="module")
def new() -> Iterator[RuntimeClient]:
    with RuntimeClient() as client:
        yield client


@pytest.mark.sweep
@pytest.mark.parametrize("path", legacy_files())
def test_migrated_file_equals_the_old_one(path: Path, old: LegacyClient, new: RuntimeClient, tmp_path: Path) -> None:
    weights = path.with_suffix(".bin")
    if not weights.exists():
        weights = tmp_path / "random.bin"
        weights.write_bytes(random_weights(path))
    model = ir_tools.read(path, weights)
    migration = ir_tools.migrate(model)
    if any("there is no layer type" in step.reason for step in migration.refused):
        pytest.skip("not migrated yet")
    assert not migration.refused
    found = compare_releases(model, migration.model, plan_inputs(migration.model), legacy=old, client=new)
    assert found.ok, one_line(found)
    assert {entry.reason for entry in found.skipped} <= {"the other model has no such tensor"}


def random_weights(path: Path) -> bytes:
    """Return a `.bin` for a file that came without: floats around 0, smaller in larger blobs; integers 0 and 1."""
    generator = np.random.default_rng(0)
    content = bytearray()
    for layer in ElementTree.parse(path).iter("layer"):
        for blob in (*layer.findall("blobs/*"), *layer.findall("weights"), *layer.findall("biases")):
            port = layer.find("output/port")
            kind = blob.get("precision") or layer.get("precision") or (port is not None and port.get("precision"))
            dtype, start, size = TYPES[str(kind)], int(blob.get("offset", 0)), int(blob.get("size", 0))
            count = size // dtype.itemsize
            scale = 1.0 / np.sqrt(max(count, 1)) ** 0.5
            numbers = generator.normal(0, scale, count) if dtype.kind == "f" else generator.integers(0, 2, count)
            content.extend(bytes(max(0, start + size - len(content))))
            content[start : start + size] = numbers.astype(dtype).tobytes()
    return bytes(content)
