"""Layers that feed each other in a circle, and the edges without which they would not."""

from collections import deque
from collections.abc import Iterator

from ir_tools.source import Wiring

__all__ = ["circles"]

MAX_CIRCLES = 20
"""How many are told of one graph; edges that may close more are taken out without a word."""

Ends = tuple[int, int]
Readers = dict[int, list[int]]


def circles(wiring: Wiring, order: dict[int, int]) -> Iterator[tuple[Ends, list[int]]]:
    """The inputs whose edges close circles, each with the layers of its shortest circle (none: it only may close one).

    Every circle has an edge that leads up the file (or from a layer to itself); those edges are looked at.

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
    if not _has_circle(wiring, readers, order):
        return
    found = 0
    for end in upwards:
        maker = wiring[end][0]
        circle = _way(readers, end[0], maker) if found < MAX_CIRCLES else []
        if circle is None:
            continue
        readers[maker].remove(end[0])
        found += 1
        yield end, circle


def _has_circle(wiring: Wiring, readers: Readers, order: dict[int, int]) -> bool:
    """Whether taking away layers that nothing feeds any more leaves some."""
    waiting = dict.fromkeys(order, 0)
    for reader, _ in wiring:
        waiting[reader] += 1
    free = [layer for layer, count in waiting.items() if not count]
    for layer in free:
        for reader in readers.get(layer, ()):
            waiting[reader] -= 1
            if not waiting[reader]:
                free.append(reader)
    return len(free) < len(waiting)


def _way(readers: Readers, first: int, last: int) -> list[int] | None:
    """The shortest way down the edges from one layer to another."""
    makers, queue = {first: first}, deque([first])
    while queue and last not in makers:
        layer = queue.popleft()
        for reader in readers.get(layer, ()):
            if reader not in makers:
                makers[reader] = layer
                queue.append(reader)
    if last not in makers:
        return None
    way = [last]
    while way[-1] != first:
        way.append(makers[way[-1]])
    return way[::-1]
