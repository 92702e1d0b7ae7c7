"""In which order the layers of a graph run, what each of them reads, and which tensors nobody reads after it."""

from collections.abc import Iterator
from dataclasses import dataclass

from ir_tools.graph import Graph, Layer

__all__ = ["Task", "schedule"]


@dataclass(frozen=True, slots=True)
class Task:
    """One layer, with all that its surroundings decide.

    Attributes:
        layer: the layer.
        type: its operation type.
        ports: the ids of the input ports that something feeds, in order.
        reads: what feeds them: layer and port, as all tensors are told here.
        dropped: what nobody reads after this layer.
        makes: the outputs in order; None for one that nobody reads.
        lean: whether nobody reads any output but the first.
    """

    layer: Layer
    type: str
    ports: tuple[int, ...]
    reads: tuple[tuple[int, int], ...]
    dropped: tuple[tuple[int, int], ...]
    makes: tuple[tuple[int, int] | None, ...]
    lean: bool


def schedule(graph: Graph) -> Iterator[Task]:
    """The layers of a graph, producers before consumers.

    Raises:
        GraphError: the layers feed each other in a circle.
    """
    last: dict[tuple[int, int], int] = {}
    for layer in graph.ordered():
        for maker, keys in graph.feeders(layer.id).items():
            for start, _ in keys:
                last[maker, start] = layer.id
    for layer in graph.ordered():
        sources = graph.sources(layer.id)
        ports = tuple([port.id for port in layer.inputs if port.id in sources])
        reads = tuple([sources[port] for port in ports])
        dropped = tuple({source for source in sources.values() if last[source] == layer.id})
        makes = tuple([(layer.id, port.id) if (layer.id, port.id) in last else None for port in layer.outputs])
        yield Task(layer, layer.type, ports, reads, dropped, makes, not any(makes[1:]))
