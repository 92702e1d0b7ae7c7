import random
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import product

import networkx as nx
import pytest

from ir_tools.collection import gc_paused
from ir_tools.errors import GraphError
from ir_tools.graph import Graph, Layer, LayerContent, Model, Port, Source, port_place
from ir_tools.graph.layer import _PLACES, MAX_PLACES
from ir_tools.weights import Weights
from tests.format.support import small


def layer(layer_id: int, name: str, inputs: int = 1, outputs: int = 1, **tag: str) -> Layer:
    content = LayerContent(
        inputs=[Port(i, "FP32", (1,)) for i in range(inputs)],
        outputs=[Port(inputs + i, "FP32", (1,), (f"t_{name}_{i}",)) for i in range(outputs)],
        rt_info=[{"name": "fused_names", "value": name}],
    )
    return Layer(layer_id, {"name": name, "type": "ReLU", "version": "opset1", **tag}, content)


@pytest.fixture
def chain() -> Graph:
    """a -> b -> c, and b -> d."""
    graph = Graph()
    graph.add(layer(0, "a", inputs=0))
    graph.add(layer(1, "b"), {0: Source(0, 0)})
    graph.add(layer(2, "c"), {0: Source(1, 1)})
    graph.add(layer(3, "d"), {0: Source(1, 1)})
    return graph


def edges(graph: "nx.MultiDiGraph[int]") -> set[tuple[int, int, tuple[int, int]]]:
    return set(graph.edges(keys=True))


BEFORE = {(0, 1, (0, 0)), (1, 2, (1, 0)), (1, 3, (1, 0))}


def test_networkx_works_on_it(chain: Graph) -> None:
    assert list(nx.topological_sort(chain)) == [0, 1, 2, 3]
    assert edges(chain.reverse()) == {(1, 0, (0, 0)), (2, 1, (1, 0)), (3, 1, (1, 0))}
    part = chain.subgraph([0, 1])
    assert isinstance(part, Graph)
    assert edges(part) == {(0, 1, (0, 0))}
    assert [each.name for each in part.layers()] == ["a", "b"]
    assert part.sources(1) == {0: Source(0, 0)}
    twin = chain.copy()
    assert edges(twin) == BEFORE
    assert twin.layer(1) is chain.layer(1)
    assert nx.descendants(chain, 1) == {2, 3}
    assert nx.is_directed_acyclic_graph(chain)
    assert nx.shortest_path(chain, 0, 3) == [0, 1, 3]
    assert nx.number_weakly_connected_components(nx.subgraph_view(chain, filter_node=lambda node: node < 2)) == 1


def test_algorithms_that_copy_nodes_leave_the_source_shared() -> None:
    graph = small().graph
    seen = graph.to_undirected()
    assert nx.is_connected(seen)
    twin = seen.nodes[1]["layer"]
    assert twin is not graph.layer(1)
    assert twin.source is graph.layer(1).source
    assert twin.content == graph.layer(1).content


def test_clone_shares_nothing_that_can_change(chain: Graph) -> None:
    chain.layer(1).bodies["body"] = Graph()
    twin = chain.clone()
    assert edges(twin) == BEFORE
    twin.layer(1).outputs[0].dims = (7,)
    twin.layer(1).rt_info[0]["value"] = "x"
    twin.layer(1).tag["name"] = "x"
    twin.layer(1).bodies["body"].add_node(1)
    twin.remove(3)
    assert edges(chain) == BEFORE
    assert chain.layer(1).outputs[0].dims == (1,)
    assert chain.layer(1).rt_info[0]["value"] == "b"
    assert chain.layer(1).name == "b"
    assert not chain.layer(1).bodies["body"]


def test_ids_and_names_are_new(chain: Graph) -> None:
    assert chain.new_id() == 4
    assert chain.new_id() == 4
    assert chain.new_name("e") == "e"
    assert chain.new_name("a") == "a/2"
    assert chain.new_name("a") == "a/2"
    chain.add(layer(4, "a/2"))
    assert (chain.new_id(), chain.new_name("a")) == (5, "a/3")
    chain.add_node(5, layer=layer(5, "z"))
    assert chain.new_id() == 6
    chain.rename(0, "first")
    assert chain.new_name("first") == "first/2"
    assert Graph().new_id() == 0


EDITS: tuple[Callable[[Graph, random.Random], object], ...] = (
    lambda graph, draw: graph.add(layer(graph.new_id(), graph.new_name("new"), 2, 2)),
    lambda graph, draw: graph.connect(port_of(graph, draw), draw.choice([*graph]), draw.randrange(2)),
    lambda graph, draw: graph.add_edge(*port_of(graph, draw)[:1], draw.choice([*graph]), key=(2, 0)),
    lambda graph, draw: graph.disconnect(draw.choice([*graph]), draw.randrange(2)),
    lambda graph, draw: graph.redirect(port_of(graph, draw), port_of(graph, draw)),
    lambda graph, draw: graph.remove_edge(*draw.choice([*graph.edges(keys=True)])),
    lambda graph, draw: graph.remove_edge(*draw.choice([*graph.edges()])),
    lambda graph, draw: graph.remove_edges_from([draw.choice([*graph.edges(keys=True)])]),
    lambda graph, draw: graph.remove_node(draw.choice([*graph])),
    lambda graph, draw: graph.remove_nodes_from([draw.choice([*graph])]),
    lambda graph, draw: graph.replace(draw.choice([*graph]), layer(99, "other", 2, 2)),
    lambda graph, draw: graph.clear_edges(),
    lambda graph, draw: graph.clear(),
)
"""All that changes a graph, those of networkx included."""


def port_of(graph: Graph, draw: random.Random) -> Source:
    return Source(draw.choice([*graph]), draw.choice((2, 3)))


@pytest.mark.parametrize("seed", range(10))
def test_who_reads_what_is_what_the_edges_say_after_every_edit(seed: int) -> None:
    draw, graph = random.Random(seed), Graph()
    for _ in range(120):
        with suppress(GraphError, IndexError):
            draw.choices(EDITS, [20, 40, 4, 4, 4, 4, 4, 4, 2, 2, 4, 1, 1])[0](graph, draw)
        outputs = [*product(range(graph.new_id()), range(4))]
        found = [(*output, *reader) for output in outputs for reader in graph.consumers(*output)]
        fed = [(*source, reader, port) for reader in graph for port, source in graph.sources(reader).items()]
        single = [graph.source(reader, port) for *_, reader, port in fed]
        read = [graph.reads(*output) for output in outputs]
        assert sum(read) == len(found)
        assert sorted(found) == sorted((one, start, two, end) for one, two, (start, end) in edges(graph))
        assert {*fed} <= {*found}
        assert None not in single


@pytest.mark.parametrize("readers", [3, 30])
def test_the_edges_of_few_and_of_many_readers_are_in_the_order_of_the_file(readers: int) -> None:
    order = random.Random(readers).sample(
        [(reader, port) for reader in range(1, readers + 1) for port in (0, 1)], readers
    )
    graph = Graph.of([layer(number, "x", 2, 2) for number in range(readers + 1)], [(0, 3, *end) for end in order])
    met = [reader for reader, _ in order]
    assert graph.consumers(0, 3) == sorted(order, key=lambda end: met.index(end[0]))
    assert graph.consumers(0, 2) == []
    assert (graph.reads(0, 3), graph.reads(0, 2)) == (readers, 0)
    assert {graph.source(*end) for end in order} == {Source(0, 3)}
    assert graph.consumers(readers + 1, 0) == []


def test_bulk_edits_grow_linearly() -> None:
    def seconds(count: int) -> float:
        graph, start = Graph(), time.process_time()
        last = graph.add(layer(0, "in", inputs=0))
        for _ in range(count):
            new = layer(graph.new_id(), graph.new_name("pool"))
            last = graph.add(new, {0: Source(last.id, last.outputs[0].id)})
        for node in list(graph.nodes)[1:-1]:
            graph.redirect(Source(node, 1), *graph.sources(node).values())
            graph.remove(node)
        return time.process_time() - start

    seconds(100)
    with gc_paused():
        assert seconds(8000) < 40 * seconds(1000), "eight times the layers; forty would be beyond any noise"


def test_connect_takes_the_place_of_what_was_there(chain: Graph) -> None:
    chain.connect(Source(0, 0), 2, 0)
    assert edges(chain) == {(0, 1, (0, 0)), (0, 2, (0, 0)), (1, 3, (1, 0))}


@pytest.mark.parametrize(
    ("source", "reader", "port", "words"),
    [
        (Source(9, 0), 1, 0, "there is no layer 9"),
        (Source(0, 0), 9, 0, "there is no layer 9"),
        (Source(0, 5), 1, 0, "'a' has no output port 5"),
        (Source(0, 0), 1, 5, "'b' has no input port 5"),
    ],
)
def test_connect_refuses_what_is_not_there(chain: Graph, source: Source, reader: int, port: int, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        chain.connect(source, reader, port)
    assert edges(chain) == BEFORE


def test_add_refuses_a_taken_id_and_leaves_nothing_behind(chain: Graph) -> None:
    with pytest.raises(GraphError, match="there is already a layer 1"):
        chain.add(layer(1, "again"))
    with pytest.raises(GraphError, match="no layer 9"):
        chain.add(layer(7, "new"), {0: Source(9, 0)})
    assert 7 not in chain
    assert edges(chain) == BEFORE


def test_redirect_takes_names_along(chain: Graph) -> None:
    chain.redirect(Source(1, 1), Source(0, 0))
    assert edges(chain) == {(0, 1, (0, 0)), (0, 2, (0, 0)), (0, 3, (0, 0))}
    assert chain.layer(0).outputs[0].names == ("t_a_0", "t_b_0")
    assert chain.layer(1).outputs[0].names == ()


def test_redirect_to_a_reader_leaves_it_connected(chain: Graph) -> None:
    chain.redirect(Source(1, 1), Source(2, 1), names=False)
    assert edges(chain) == {(0, 1, (0, 0)), (1, 2, (1, 0)), (2, 3, (1, 0))}
    assert chain.layer(1).outputs[0].names == ("t_b_0",)


def test_redirect_to_itself_changes_nothing(chain: Graph) -> None:
    chain.redirect(Source(1, 1), Source(1, 1))
    assert edges(chain) == BEFORE
    assert chain.layer(1).outputs[0].names == ("t_b_0",)


def test_replace_takes_over_everything(chain: Graph) -> None:
    new = layer(77, "other", inputs=2)
    chain.replace(1, new)
    assert edges(chain) == {(0, 1, (0, 0)), (1, 2, (2, 0)), (1, 3, (2, 0))}
    assert (new.id, new.name, new.outputs[0].names) == (1, "b", ("t_b_0", "t_other_0"))
    assert [entry["value"] for entry in new.rt_info] == ["b", "other"]
    assert list(chain.nodes) == [0, 1, 2, 3]


def test_what_a_layer_takes_over_is_its_own(chain: Graph) -> None:
    old = chain.layer(1)
    new = chain.replace(1, Layer(9, {"type": "Abs", "version": "opset1"}, layer(9, "new").content))
    for entry in new.rt_info:
        entry["value"] = "changed"
    assert old.rt_info == [{"name": "fused_names", "value": "b"}]


def test_replace_takes_over_rt_info_once(chain: Graph) -> None:
    new = layer(77, "other")
    new.rt_info.append({"name": "fused_names", "value": "b"})
    chain.replace(1, new)
    assert [entry["value"] for entry in new.rt_info] == ["other", "b"]


def test_ports_are_found_whatever_their_order() -> None:
    ports = [Port(number) for number in (4, 9, 5)]
    assert [port_place(ports, number) for number in (4, 5, 9, 6)] == [0, 2, 1, None]


def test_the_place_of_a_port_of_many_is_that_of_the_list_as_it_is() -> None:
    ids = [(7 * at) % 101 for at in range(100)]
    ports = [Port(number) for number in ids]
    assert [port_place(ports, number) for number in (*ids, 94, 101)] == [*range(100), None, None]
    ports[3].id, ports[4].id = ports[4].id, 94
    del ports[:2]
    assert [port_place(ports, port.id) for port in ports] == [*range(98)]
    assert [port_place(ports, number) for number in (*ids[:2], ids[3])] == [None, None, None]
    ports.insert(0, Port(ids[3]))
    assert (port_place(ports, ids[3]), port_place(ports, 94)) == (0, 3)
    assert port_place(ports, ports.pop().id) is None


def test_of_many_ports_with_one_id_the_first_is_found() -> None:
    ports = [Port(number) for number in (*range(70, 0, -1), *range(70, 0, -1))]
    assert [port_place(ports, number) for number in range(70, 0, -1)] == [*range(70)]


def test_the_places_of_few_long_lists_are_kept() -> None:
    lists = [[Port(number) for number in range(100, 0, -1)] for _ in range(2 * MAX_PLACES)]
    assert {port_place(ports, 1) for ports in lists} == {99}
    assert len(_PLACES) <= MAX_PLACES


def test_a_producer_of_which_one_output_is_known_is_not_left_out() -> None:
    graph = Graph()
    graph.add(layer(0, "a", inputs=0, outputs=2))
    graph.add(layer(1, "b", inputs=2), {0: Source(0, 0), 1: Source(0, 1)})
    assert [each.id for each in graph.leading_to(1, {(0, 0)})] == [0, 1]
    assert [each.id for each in graph.leading_to(1, {(0, 0), (0, 1)})] == [1]


def test_a_view_sees_edits_of_its_graph() -> None:
    graph = Graph()
    graph.add(layer(0, "a", inputs=0))
    for number in range(1, 12):
        graph.add(layer(number, f"r{number}"), {0: Source(0, 0)})
    view = graph.subgraph([*graph])
    assert view.reads(0, 0) == 11
    graph.remove(11)
    assert view.reads(0, 0) == 10
    assert [reader for reader, _ in view.consumers(0, 0)] == [*range(1, 11)]


def test_replace_with_other_inputs(chain: Graph) -> None:
    extra = chain.add(layer(4, "extra", inputs=0))
    chain.replace(2, layer(77, "other", inputs=2), {0: Source(extra.id, 0), 1: Source(0, 0)})
    assert chain.sources(2) == {0: Source(4, 0), 1: Source(0, 0)}


def test_replace_refuses_before_it_changes_anything(chain: Graph) -> None:
    with pytest.raises(GraphError, match="has no such output"):
        chain.replace(1, layer(77, "other", outputs=0))
    with pytest.raises(GraphError, match="'b' has 1 input, but its replacement has 0"):
        chain.replace(1, layer(77, "other", inputs=0))
    with pytest.raises(GraphError, match="no input port 3"):
        chain.replace(1, layer(77, "other"), {3: Source(0, 0)})
    with pytest.raises(GraphError, match="no output port 9"):
        chain.replace(1, layer(77, "other"), {0: Source(0, 9)})
    assert edges(chain) == BEFORE
    assert chain.layer(1).name == "b"


def test_remove_refuses_while_somebody_reads(chain: Graph) -> None:
    with pytest.raises(GraphError, match="'c' reads port 1 of 'b'"):
        chain.remove(1)
    chain.remove(2)
    chain.remove(3)
    chain.remove(1)
    assert list(chain) == [0]


def test_layers_behind_another_are_computed_of_it(chain: Graph) -> None:
    assert [chain.behind(number) for number in chain] == [{1, 2, 3}, {2, 3}, set(), set()]
    with pytest.raises(GraphError, match="there is no layer 9"):
        chain.behind(9)


def test_cycles_are_told(chain: Graph) -> None:
    chain.layer(0).inputs.append(Port(5))
    chain.connect(Source(2, 1), 0, 5)
    with pytest.raises(GraphError, match="form a cycle"):
        list(chain.ordered())


def test_names_of_ports_and_paths(chain: Graph) -> None:
    chain.layer(3).tag["name"] = "c"
    chain.layer(1).bodies["body"] = Graph()
    chain.layer(1).bodies["body"].add(layer(0, "inner"))
    model = Model(chain, name="m", version=11, weights=Weights.from_bytes(b""), origin=None, path=None)
    assert [place.path for place in model.walk()] == ["a", "b", "b/body/inner", "c#2", "c#3"]
    assert ("b/body/inner", 1) in model.ports
    assert model.line_of(chain, 1) is None
    with pytest.raises(KeyError, match="'b' has no port 9"):
        chain.layer(1).port(9)
