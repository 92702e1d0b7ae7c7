"""Positions of layers in the text against expat, which gives the byte of every element: 20,000 layers.

CONTRIBUTING.md says how to run it: nothing is asserted about time, the ratios are printed. `Document` searches the text
for the tags of one name, because writing a model asks for those of its layers alone.
"""

import time
from collections.abc import Callable
from pathlib import Path
from xml.parsers import expat

import pytest

from ir_tools.source import Document, Element
from tests.benchmarks.large_models import write_large

pytestmark = pytest.mark.sweep

ROUNDS = 5


def by_expat(document: Document) -> dict[Element, int]:
    """Return the byte at which each element starts."""
    starts: list[int] = []
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = lambda name, attributes: starts.append(parser.CurrentByteIndex)
    parser.Parse(document.text, True)
    return dict(zip(document.root.iter(), starts, strict=True))


def of_layers(document: Document) -> dict[Element, int]:
    return {layer: document.start(layer) for layer in document.root.iter("layer")}


def of_all(document: Document) -> dict[Element, int]:
    return {element: document.start(element) for element in document.root.iter()}


def seconds(work: Callable[[Document], dict[Element, int]], data: bytes) -> float:
    """Return the least time of several rounds, each on a document of which nothing is known."""
    taken = []
    for _ in range(ROUNDS):
        document = Document(data)
        start = time.perf_counter()
        found = work(document)
        taken.append(time.perf_counter() - start)
        assert all(document.text[at : at + 1] == b"<" for at in found.values())
    return min(taken)


def test_positions_against_expat(tmp_path: Path) -> None:
    data = write_large(tmp_path / "large.xml", 20_000).read_bytes()
    document = Document(data)
    assert of_all(document) == by_expat(document)
    theirs = seconds(by_expat, data)
    for name, work in {"layers": of_layers, "all elements": of_all}.items():
        ours = seconds(work, data)
        print(f"\npositions of {name}: {ours:.3f} s against {theirs:.3f} s by expat: {ours / theirs:.2f}")
