"""Layers that feed each other in a circle, and the edges without which they would not."""

from collections.abc import Iterator, Mapping

import networkx as nx

__all__ = ["circles"]

Ends = tuple[int, int]


def circles(wiring: Mapping[Ends, Ends], order: Mapping[int, int]) -> Iterator[tuple[Ends, list[int]]]:
    """Yield the inputs whose edges close circles, each with its circle of layers; none if it is of an earlier group.

    Every circle has an edge that leads up the file, or from a layer to itself. Those edges are taken if their ends
    belong to one group, in which each layer depends on each; the first of a group has the shortest circle through it.

    Args:
        wiring: layer and output port that feed each layer and input port.
        order: the place of each layer in the file.
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
