"""What is asked about a layer does not grow with the number of the others."""

from collections.abc import Callable, Collection, Mapping

import pytest

import ir_tools
from ir_tools.compatibility import compatibility
from ir_tools.graph import Graph, Port
from ir_tools.known_differences import product_patterns
from ir_tools.known_differences.releases import ROWS, _row
from ir_tools.releases.table import Release, find_release
from tests.benchmarks.growth.table import maker


def model_of(kind: str, count: int, version: int = 11) -> ir_tools.Model:
    """A model of so many things of a kind."""
    sample = maker(kind)(count)
    return ir_tools.read(sample.xml.replace(b'version="11"', f'version="{version}"'.encode()), sample.weights)


@pytest.mark.parametrize(
    "kind",
    [
        "layers that one layer reads",
        "layers that read one Broadcast",
        "outputs of one Split that one Concat reads",
        "parts that are joined",
        "constants that are joined",
        "convolutions that are joined",
        "tensors joined with one",
        "factors of 8 bits in a chain",
        "a chain",
    ],
)
def test_edges_are_looked_at_a_few_times(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0

    def counting(method: Callable[..., Collection[object]]) -> Callable[..., Collection[object]]:
        def counted(*args: object) -> Collection[object]:
            nonlocal looked
            found = method(*args)
            looked += len(found)
            return found

        return counted

    models = [model_of(kind, count) for count in (150, 300)]
    monkeypatch.setattr(Graph, "sources", counting(Graph.sources))
    monkeypatch.setattr(Graph, "consumers", counting(Graph.consumers))
    compatibility(models[0])
    few = looked
    compatibility(models[1])
    assert looked - few < 2.2 * few


def test_no_scales_are_looked_for_where_nothing_is_quantized(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()

    def zero(model: ir_tools.Model, graph: Graph, layer: ir_tools.Layer, number: int) -> None:
        asked.append(layer.name)

    model = model_of("weights behind a chain", 50)
    monkeypatch.setattr(product_patterns, "uniform_of", zero)
    compatibility(model)
    assert not asked


def test_what_decides_a_chain_of_remainders_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model, looked, producers = model_of("a chain of remainders", 300), 0, Graph.producers

    def counted(graph: Graph, layer_id: int) -> Mapping[int, Collection[tuple[int, int]]]:
        nonlocal looked
        looked += 1
        return producers(graph, layer_id)

    monkeypatch.setattr(Graph, "producers", counted)
    compatibility(model)
    assert looked < 20 * 300


@pytest.mark.parametrize(
    ("version", "to"), [(10, "ir11"), (10, "openvino-2024.6"), (11, "ir10"), (11, "openvino-2021.4")]
)
@pytest.mark.parametrize("kind", ["outputs of one Split", "outputs of one Split with gaps between ids"])
def test_ports_are_looked_at_a_few_times(kind: str, version: int, to: str, monkeypatch: pytest.MonkeyPatch) -> None:
    models = [model_of(kind, count, version) for count in (150, 300)]
    looked, stored = 0, Port.__dict__["id"]

    def read(port: Port) -> int:
        nonlocal looked
        looked += 1
        found: int = stored.__get__(port)
        return found

    monkeypatch.setattr(Port, "id", property(read, stored.__set__))
    ir_tools.migrate(models[0], to)
    few = looked
    ir_tools.migrate(models[1], to)
    assert looked - few < 2.2 * few


def test_releases_of_a_span_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()

    def found(name: str) -> Release:
        asked.append(name)
        return find_release(name)

    monkeypatch.setattr(_row, "find_release", found)
    _row._releases_in.cache_clear()
    assert all([row.releases == row.releases for row in ROWS])
    assert len(asked) == 2 * len({row.span for row in ROWS})
