"""The order in which the layers of a graph run, what each reads, and which tensors are freed after it."""

from collections.abc import Iterator
from dataclasses import dataclass

from ir_tools.graph import Graph, Layer

__all__ = ["PlannedLayer", "execution_order"]


@dataclass(frozen=True, slots=True)
class PlannedLayer:
    """One layer, with what the layers around it decide.

    Attributes:
        layer: the layer.
        ports: the ids of the input ports that something feeds, in order.
        reads: what feeds them, as layer and port.
        freed: the tensors that no layer reads after this one.
        outputs: in order; None for one that no layer reads.
        first_only: whether no layer reads any output but the first.
    """

    layer: Layer
    ports: tuple[int, ...]
    reads: tuple[tuple[int, int], ...]
    freed: tuple[tuple[int, int], ...]
    outputs: tuple[tuple[int, int] | None, ...]
    first_only: bool


def execution_order(graph: Graph) -> Iterator[PlannedLayer]:
    """Yield the layers of a graph, producers before consumers.

    Raises:
        GraphError: the layers feed each other in a circle.
    """
    last: dict[tuple[int, int], int] = {}
    for layer in graph.ordered():
        for producer, keys in graph.producers(layer.id).items():
            for start, _ in keys:
                last[producer, start] = layer.id
    for layer in graph.ordered():
        sources = graph.sources(layer.id)
        ports = tuple([port.id for port in layer.inputs if port.id in sources])
        reads = tuple([sources[port] for port in ports])
        freed = tuple({source for source in sources.values() if last[source] == layer.id})
        outputs = tuple([(layer.id, port.id) if (layer.id, port.id) in last else None for port in layer.outputs])
        yield PlannedLayer(layer, ports, reads, freed, outputs, not any(outputs[1:]))
