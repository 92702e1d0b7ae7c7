"""Circles are opened: networkx tells whether any is left, and whether there was one."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_tools.format import content, nets
from ir_tools.format.read import tolerant
from ir_tools.graph.circles import circles
from ir_tools.rules.structure import CIRCULAR_LAYERS
from ir_tools.source import Document, Element, Wiring
from ir_tools.weights import Weights
from tests.benchmarks.growth.edges import EDGES

WIRINGS = st.dictionaries(
    st.tuples(st.integers(0, 7), st.integers(0, 2)), st.tuples(st.integers(0, 7), st.integers(0, 1)), max_size=14
)
ORDERS = st.permutations(range(8))


def graph(wiring: Wiring) -> "nx.DiGraph[int]":
    return nx.DiGraph([(maker, reader) for (reader, _), (maker, _) in wiring.items()])


@given(WIRINGS, ORDERS)
def test_without_the_closing_edges_there_is_no_circle(wiring: Wiring, order: list[int]) -> None:
    found = list(circles(wiring, {layer: place for place, layer in enumerate(order)}))
    assert bool(found) == (not nx.is_directed_acyclic_graph(graph(wiring)))
    for (reader, _), circle in found:
        assert not circle or circle[0] == reader
        assert len(circle) < 2 or nx.is_path(graph(wiring), circle)
    left = {end: start for end, start in wiring.items() if end not in {end for end, _ in found}}
    assert nx.is_directed_acyclic_graph(graph(left))


def test_an_edge_that_closes_a_circle_is_told_with_the_shortest() -> None:
    wiring = {(1, 0): (0, 0), (2, 0): (1, 0), (3, 0): (2, 0), (3, 1): (1, 0), (1, 1): (3, 0)}
    assert list(circles(wiring, {0: 0, 1: 1, 2: 2, 3: 3})) == [((1, 1), [1, 3])]


def test_many_circles_are_opened_in_linear_time() -> None:
    count = 20_000
    wiring = {(layer, 0): ((layer + 1) % count, 0) for layer in range(count)}
    found = list(circles(wiring, {layer: layer for layer in range(count)}))
    assert len(found) == count - 1
    assert [len(circle) for _, circle in found if circle] == [count]


def test_the_edges_are_looked_through_once_for_all_circles(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def ends_of(edge: Element) -> object:
        asked.append(edge)
        return content.ends_of(edge)

    monkeypatch.setattr(nets, "ends_of", ends_of)
    count = 50
    sample = EDGES["layers that feed themselves"](count)
    document = Document(sample.xml)
    reading = tolerant(document, Weights.from_bytes(b""), None, thorough=True)
    assert sum(problem.rule is CIRCULAR_LAYERS for problem in reading.problems) == count
    assert len(asked) <= 2 * (count + 2)
