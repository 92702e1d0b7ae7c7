"""Layers that feed each other in a circle, and the edges without which they would not."""

from collections import deque
from collections.abc import Iterator

from ir_tools.source import Wiring

__all__ = ["circles"]

Ends = tuple[int, int]
Readers = dict[int, list[int]]


def circles(wiring: Wiring, order: dict[int, int]) -> Iterator[tuple[Ends, list[int]]]:
    """The inputs whose edges close circles, each with its circle of layers (none where an earlier one stands for it).

    Every circle has an edge that leads up the file, or from a layer to itself. Those edges are taken, as far as both
    ends belong together; the first of each such group is told with the shortest circle through it.

    Args:
        wiring: what feeds each input.
        order: the place of each layer in the file.
    """
    upwards = [end for end, (maker, _) in wiring.items() if order[maker] >= order[end[0]]]
    if not upwards:
        return
    readers: Readers = {}
    for (reader, _), (maker, _) in wiring.items():
        readers.setdefault(maker, []).append(reader)
    groups = _groups(readers, order)
    told: set[int] = set()
    for end in upwards:
        reader, maker = end[0], wiring[end][0]
        group = groups[reader]
        if group == groups[maker]:
            yield end, [] if group in told else _way(readers, reader, maker, groups)
            told.add(group)


def _groups(readers: Readers, order: dict[int, int]) -> dict[int, int]:
    """A number for each layer; layers have the same one where each depends on the other (Tarjan's algorithm)."""
    groups: dict[int, int] = {}
    low: dict[int, int] = {}
    pending: list[int] = []
    for first in order:
        if first in low:
            continue
        low[first] = len(low)
        pending.append(first)
        trail = [(first, low[first], iter(readers.get(first, ())))]
        while trail:
            layer, number, rest = trail[-1]
            reader = next(rest, None)
            if reader is None:
                trail.pop()
                if trail:
                    above = trail[-1][0]
                    low[above] = min(low[above], low[layer])
                if low[layer] == number:
                    while layer not in groups:
                        groups[pending.pop()] = number
            elif reader not in low:
                low[reader] = len(low)
                pending.append(reader)
                trail.append((reader, low[reader], iter(readers.get(reader, ()))))
            elif reader not in groups:
                low[layer] = min(low[layer], low[reader])
    return groups


def _way(readers: Readers, first: int, last: int, groups: dict[int, int]) -> list[int]:
    """The shortest way down the edges between two layers of one group."""
    makers, queue = {first: first}, deque([first])
    while last not in makers:
        layer = queue.popleft()
        for reader in readers.get(layer, ()):
            if reader not in makers and groups[reader] == groups[first]:
                makers[reader] = layer
                queue.append(reader)
    way = [last]
    while way[-1] != first:
        way.append(makers[way[-1]])
    return way[::-1]
