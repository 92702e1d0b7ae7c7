"""Find cycles of layers, and the edges that close them."""

from collections.abc import Iterator, Mapping

import networkx as nx

__all__ = ["circles"]

Ends = tuple[int, int]


def circles(wiring: Mapping[Ends, Ends], order: Mapping[int, int]) -> Iterator[tuple[Ends, list[int]]]:
    """Yield each input whose edge closes a cycle, with the layer ids of the cycle.

    Every cycle has an edge from a layer to itself or to an earlier layer of the file. Such an edge closes a cycle if
    both its ends are in one strongly connected component. The first edge of a component comes with the shortest cycle
    through it; the others come with an empty list.

    Args:
        wiring: `(layer id, input port id)` -> `(layer id, output port id)` of its source.
        order: the position of each layer in the file, by id.
    """
    upwards = [end for end, (producer, _) in wiring.items() if order[producer] >= order[end[0]]]
    if not upwards:
        return
    graph = nx.DiGraph((producer, consumer) for (consumer, _), (producer, _) in wiring.items())
    groups = {layer: at for at, group in enumerate(nx.strongly_connected_components(graph)) for layer in group}
    reported: set[int] = set()
    for end in upwards:
        consumer, producer = end[0], wiring[end][0]
        group = groups[consumer]
        if group == groups[producer]:
            yield end, [] if group in reported else nx.shortest_path(graph, consumer, producer)
            reported.add(group)
