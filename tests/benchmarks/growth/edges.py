"""Edges: many at one port or layer, wrong ones, circles, long ways."""

import random
from collections.abc import Callable, Mapping

from ir_tools.builder import Builder
from tests.benchmarks.growth.markup import between_edges
from tests.benchmarks.growth.pieces import Sample, built, chain, sample
from tests.ir_text import edge, layer, net, parameter, port, relu, result

__all__ = ["EDGES"]

SMALL = (1, 8)


@built()
def fan_out(builder: Builder, count: int) -> None:
    """One port that as many layers read."""
    data = builder.parameter("data", SMALL)
    for _ in range(count):
        builder.call("ReLU", data)


@built()
def one_broadcast(builder: Builder, count: int) -> None:
    """Additions that read one Broadcast, each with a Result."""
    data = builder.parameter("data", SMALL)
    repeated = builder.call("Broadcast", builder.parameter("number", (1, 1)), builder.constant(SMALL))
    for _ in range(count):
        builder.result(builder.call("Add", data, repeated))


def fan_in(gives: tuple[int, ...] = SMALL) -> Callable[[int], Sample]:
    """One layer that reads as many others, which say that they give something."""

    def make(count: int) -> Sample:
        joined = (count, 8)
        ports = [port(at, SMALL) for at in range(count)]
        concat = layer(1, "Concat", data='axis="0"', inputs=ports, outputs=[port(count, joined)])
        inner = (layer(at + 3, "ReLU", inputs=[port(0, SMALL)], outputs=[port(1, gives)]) for at in range(count))
        wires = (text for at in range(count) for text in (edge(0, 0, at + 3, 0), edge(at + 3, 1, 1, at)))
        return Sample(net([parameter(0, SMALL), *inner, concat, result(2, joined)], [*wires, edge(1, count, 2, 0)]))

    return make


def to_one_port(count: int) -> Sample:
    """One input that as many layers feed."""
    return sample(
        layers=(parameter(at + 3, SMALL) for at in range(count)), edges=(edge(at + 3, 0, 2, 0) for at in range(count))
    )


def from_ports(count: int) -> Sample:
    """Edges from ports of one layer that it does not have, to others that are fed."""
    inner = (relu(at + 3, dims=SMALL) for at in range(count))
    return sample(layers=inner, edges=(edge(0, at + 1, at + 3, 0) for at in range(count)))


def without_ports(count: int) -> Sample:
    """Edges to layers without `<input>`, from layers without `<output>`."""
    inner = (layer(at + 3, "ReLU") for at in range(count))
    return sample(layers=inner, edges=(edge(at + 3, 1, at + 4, 0) for at in range(count - 1)))


def backwards(count: int) -> Sample:
    """A chain of layers that the file has in the opposite order."""
    inner = (relu(at, dims=SMALL) for at in range(count, 0, -1))
    wires = [edge(0, 0, 1, 0), *(edge(at, 1, at + 1, 0) for at in range(count, 0, -1))]
    return Sample(net([result(count + 1, SMALL), *inner, parameter(0, SMALL)], wires))


def shuffled(count: int) -> Sample:
    """A chain of layers that the file has in no order."""
    order = [*range(1, count + 1)]
    random.Random(0).shuffle(order)
    inner = (relu(at, dims=SMALL) for at in order)
    wires = [edge(0, 0, 1, 0), *(edge(at, 1, at + 1, 0) for at in order)]
    return Sample(net([result(count + 1, SMALL), *inner, parameter(0, SMALL)], wires))


def long_chain(count: int) -> Sample:
    return chain((relu(at) for at in range(1, count + 1)), (), count)


@built()
def ladder(builder: Builder, count: int) -> None:
    """Additions of a tensor to itself: the number of ways doubles with each."""
    end = builder.parameter("data", SMALL)
    for _ in range(count):
        end = builder.call("Add", end, end)
    builder.result(end)


def circle(count: int) -> Sample:
    """One circle of as many layers."""
    inner = (relu(at + 3, dims=SMALL) for at in range(count))
    return sample(layers=inner, edges=(edge(at + 3, 1, (at + 1) % count + 3, 0) for at in range(count)))


def circles(count: int) -> Sample:
    """Pairs of layers that feed each other."""
    inner = (relu(at + 3, dims=SMALL) for at in range(2 * count))
    return sample(layers=inner, edges=(edge(at + 3, 1, (at ^ 1) + 3, 0) for at in range(2 * count)))


def loops(count: int) -> Sample:
    """Layers that feed themselves."""
    inner = (relu(at + 3, dims=SMALL) for at in range(count))
    return sample(layers=inner, edges=(edge(at + 3, 1, at + 3, 0) for at in range(count)))


def nested_circles(count: int) -> Sample:
    """A chain of additions whose second inputs come from the far end: circles inside each other."""
    inner = (
        layer(at + 3, "Add", inputs=[port(0, SMALL), port(1, SMALL)], outputs=[port(2, SMALL)]) for at in range(count)
    )
    wires = [edge(at + 3, 2, at + 4, 0) for at in range(count - 1)]
    return sample(layers=inner, edges=[*wires, *(edge(count + 2 - at, 2, at + 3, 1) for at in range(count))])


EDGES: Mapping[str, Callable[[int], Sample]] = {
    "layers that read one port": fan_out,
    "layers that read one Broadcast": one_broadcast,
    "layers that one layer reads": fan_in(),
    "wrong layers that one layer reads": fan_in((1, 9)),
    "layers that feed one port": to_one_port,
    "one edge repeated": between_edges(lambda at: edge(0, 0, 1, 0)),
    "edges from one missing layer": between_edges(lambda at: edge(99, at, 1, 0)),
    "edges from missing layers": between_edges(lambda at: edge(at + 99, 0, 1, 0)),
    "edges to missing layers": between_edges(lambda at: edge(0, 0, at + 99, 0)),
    "edges between missing layers": between_edges(lambda at: edge(at + 99, 0, at + 100, 0)),
    "edges to missing ports": between_edges(lambda at: edge(0, 0, 1, at + 1)),
    "edges from missing ports": from_ports,
    "edges without numbers": between_edges(lambda at: edge(f"x{at}", "y", at, "")),
    "edges without attributes": between_edges(lambda at: "\t\t<edge />\n"),
    "edges of layers without ports": without_ports,
    "a chain": long_chain,
    "a chain in the opposite order": backwards,
    "a chain in no order": shuffled,
    "ways that double": ladder,
    "one circle": circle,
    "pairs that feed each other": circles,
    "layers that feed themselves": loops,
    "circles inside each other": nested_circles,
}
