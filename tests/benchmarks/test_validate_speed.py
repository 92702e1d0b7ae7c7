"""Validation against parsing: 20,000 layers, and a small file with all of a process.

CONTRIBUTING.md says how to run it: nothing is asserted about time, the ratios are printed (the bars: three times
lxml's parse and a networkx graph; 0.4 s for a file of 300 layers, without openvino).
"""

import subprocess
import sys
import time
from pathlib import Path

import networkx as nx
import pytest
from lxml import etree

import ir_tools
from tests.benchmarks.large_models import write_large

pytestmark = pytest.mark.sweep

ROUNDS = 5


def parsed(path: Path) -> None:
    root = etree.parse(path).getroot()
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for layer in root.iterfind("layers/layer"):
        graph.add_node(str(layer.get("id")), type=layer.get("type"))
    for edge in root.iterfind("edges/edge"):
        graph.add_edge(str(edge.get("from-layer")), str(edge.get("to-layer")), key=edge.get("to-port"))


def test_20000_layers_against_a_parse(tmp_path: Path) -> None:
    path = write_large(tmp_path / "large.xml", 20_000)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        parsed(path)
        middle = time.perf_counter()
        assert ir_tools.validate(path) == []
        ours.append(time.perf_counter() - middle)
        theirs.append(middle - start)
    print(f"\n20,000 layers: {min(ours):.2f} s against {min(theirs):.2f} s: {min(ours) / min(theirs):.2f}")


def test_300_layers_with_the_whole_process(tmp_path: Path) -> None:
    path = write_large(tmp_path / "small.xml", 300)
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "ir_tools", "validate", path], check=True, capture_output=True)
        taken.append(time.perf_counter() - start)
    print(f"\nvalidate of 300 layers: {min(taken):.3f} s")
