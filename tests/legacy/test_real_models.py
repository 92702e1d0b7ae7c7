"""Real files of IR v2 to v7: the file on Inference Engine 2020.1 against what it is migrated to, every layer."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import ir_tools
from ir_tools.comparison import one_line
from ir_tools.comparison.releases import compare_releases
from ir_tools.inputs import plan_inputs
from ir_tools.rules.storage import UNREAD_WEIGHTS
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.legacy import LegacyClient
from tests.conftest import corpus_cases, corpus_files, has_weights
from tests.legacy.net import PRECISIONS

LEVELS = 0.1
"""How far a quantized network with random weights may be off: an element at the border of two levels may be on either,
and what follows adds up."""
LEGACY = re.compile(rb"<net [^>]*version=[\"'][2-7][\"']")
TYPES = {name: np.dtype(kind) for kind, name in PRECISIONS.items()}


FILES = corpus_files(start=LEGACY)


@pytest.fixture(scope="module")
def old(legacy_python: Path) -> Iterator[LegacyClient]:
    with LegacyClient(legacy_python) as client:
        yield client


@pytest.fixture(scope="module")
def new() -> Iterator[RuntimeClient]:
    with RuntimeClient() as client:
        yield client


@pytest.mark.parametrize("path", corpus_cases(fits=has_weights, files=FILES))
def test_constants_read_all_bytes_of_the_migrated_weights(path: Path, tmp_path: Path) -> None:
    ir_tools.write(ir_tools.migrate(ir_tools.read(path)).model, tmp_path / "new.xml")
    assert not ir_tools.validate(tmp_path / "new.xml", select=[UNREAD_WEIGHTS.code])


@pytest.mark.sweep
@pytest.mark.parametrize("path", corpus_cases(files=FILES))
def test_migrated_file_equals_the_old_one(path: Path, old: LegacyClient, new: RuntimeClient, tmp_path: Path) -> None:
    weights, made_up = path.with_suffix(".bin"), not path.with_suffix(".bin").exists()
    if made_up:
        weights = tmp_path / "random.bin"
        weights.write_bytes(random_weights(path))
    model = ir_tools.read(path, weights)
    migration = ir_tools.migrate(model)
    assert not migration.refused
    plan = plan_inputs(migration.model)
    levels = made_up and any(layer.type == "FakeQuantize" for layer in model.graph.layers())
    tolerance = LEVELS if levels else None
    found = compare_releases(model, migration.model, plan, not made_up, legacy=old, client=new, tolerance=tolerance)
    assert found.ok, one_line(found)
    assert {entry.reason for entry in found.skipped} <= {"Inference Engine 2020.1 stores it as bits"}


def random_weights(path: Path) -> bytes:
    """Return a `.bin` for a file that came without: floats around 0, smaller in larger blobs; integers 0 and 1.

    Ranges of quantization are from below -0.5 to above 0.5.
    """
    generator = np.random.default_rng(0)
    content = bytearray()
    net = ElementTree.parse(path).getroot()
    ends = _ends_of_ranges(net)
    for layer in net.iter("layer"):
        for blob in (*layer.findall("blobs/*"), *layer.findall("weights"), *layer.findall("biases")):
            port = layer.find("output/port")
            kind = blob.get("precision") or layer.get("precision") or (port is not None and port.get("precision"))
            dtype, start, size = TYPES[str(kind)], int(blob.get("offset", 0)), int(blob.get("size", 0))
            count = size // dtype.itemsize
            scale = 1.0 / np.sqrt(max(count, 1)) ** 0.5
            numbers = generator.normal(0, scale, count) if dtype.kind == "f" else generator.integers(0, 2, count)
            if layer.get("id") in ends:
                numbers = ends[layer.get("id")] * (0.5 + np.abs(numbers))
            content.extend(bytes(max(0, start + size - len(content))))
            content[start : start + size] = numbers.astype(dtype).tobytes()
    return bytes(content)


def _ends_of_ranges(net: ElementTree.Element) -> dict[str | None, int]:
    """Return -1 for each constant that is the lower end of a range of quantization, and 1 for each upper end."""
    kinds = {layer.get("id"): layer.get("type") for layer in net.findall("layers/layer")}
    ports = {layer.get("id"): [port.get("id") for port in layer.findall("input/port")] for layer in net.iter("layer")}
    found = {}
    for edge in net.findall("edges/edge"):
        reader = edge.get("to-layer")
        if kinds[reader] in {"FakeQuantize", "Quantize"} and kinds[edge.get("from-layer")] == "Const":
            place = ports[reader].index(edge.get("to-port"))
            if place > 0:
                found[edge.get("from-layer")] = 1 if place in {2, 4} else -1
    return found
