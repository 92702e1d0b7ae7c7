"""What a fault is, what a mutant is, and a model on the way from one to the other."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

from tests.faults.markup import OPENVINO, Node, Style, render

__all__ = [
    "Base",
    "Case",
    "CaseLayer",
    "Change",
    "Expect",
    "Fault",
    "Guilt",
    "Mutant",
    "NotHere",
    "Spot",
    "always",
    "connect",
    "convert_input",
    "fault",
    "is_type",
    "pick",
    "valid",
]

Expect = Literal["error", "warning", "valid"]


T = TypeVar("T")


class NotHere(Exception):
    """The base has no place for this fault."""


class Spot(NamedTuple):
    """A layer as the file calls it: the way to its graph (`Loop_3/body/`, empty for the main graph), id and name."""

    prefix: str
    id: str
    name: str


class CaseLayer(NamedTuple):
    """A layer of a case."""

    node: Node
    graph: Node
    prefix: str

    @property
    def spot(self) -> Spot:
        return Spot(self.prefix, self.node.get("id"), self.node.get("name"))

    @property
    def type(self) -> str:
        return self.node.get("type")

    @property
    def data(self) -> Node | None:
        return self.node.find("data")

    def need_data(self) -> Node:
        return self.node.need("data")

    def ports_within(self) -> list[Node]:
        """The `<input>` and `<output>` that there are."""
        return [found for side in ("input", "output") if (found := self.node.find(side))]

    def ports(self, side: str) -> list[Node]:
        found = self.node.find(side)
        return found.all("port") if found else []

    def port(self, side: str, number: str) -> Node:
        return next(port for port in self.ports(side) if port.get("id") == number)

    def take_input(self, port: Node) -> None:
        """Take an input and its edges away."""
        into, edges = self.node.need("input"), self.graph.need("edges")
        into.children = [child for child in into.children if child is not port]
        end = (self.node.get("id"), port.get("id"))
        edges.children = [edge for edge in edges.all("edge") if (edge.get("to-layer"), edge.get("to-port")) != end]


@dataclass(frozen=True)
class Base:
    """A valid model."""

    name: str
    root: Node
    weights: bytes
    style: Style = OPENVINO


class Case:
    """A base that a fault may change as it likes."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self.root = base.root.copy()
        self.weights: bytes | None = base.weights
        self.style = base.style

    def places(self, type_: str | None = None) -> list[CaseLayer]:
        """Every layer, bodies included."""
        return [place for place in walk(self.root, "") if type_ is None or place.type.lower() == type_.lower()]

    def ports(self) -> Iterator[tuple[CaseLayer, Node]]:
        """Every port, with its layer."""
        return ((place, port) for place in self.places() for side in ("input", "output") for port in place.ports(side))

    def main(self) -> list[CaseLayer]:
        return [place for place in self.places() if not place.prefix]

    def consts(self) -> list[CaseLayer]:
        """Constants whose bytes are in the .bin and which are not empty."""
        found = self.places("Const")
        return [place for place in found if place.data is not None and int(place.data.get("size", "0")) > 0]

    def edges(self) -> list[tuple[Node, CaseLayer, CaseLayer]]:
        """Every edge with both layers."""
        by_id = {(id(place.graph), place.node.get("id")): place for place in self.places()}
        graphs = {id(place.graph): place.graph for place in self.places()}
        return [
            (edge, by_id[key, edge.get("from-layer")], by_id[key, edge.get("to-layer")])
            for key, graph in graphs.items()
            for edge in graph.need("edges").all("edge")
        ]

    def reaches(self, place: CaseLayer) -> set[str]:
        """The ids of the layers of the same graph that depend on it."""
        edges = place.graph.need("edges").all("edge")
        found, todo = set[str](), [place.node.get("id")]
        while todo:
            at = todo.pop()
            for edge in edges:
                if edge.get("from-layer") == at and edge.get("to-layer") not in found:
                    found.add(edge.get("to-layer"))
                    todo.append(edge.get("to-layer"))
        return found

    def used(self, place: CaseLayer) -> bool:
        """Whether a Result or Assign depends on the layer."""
        reached = self.reaches(place) | {place.node.get("id")}
        return any(
            other.type in ("Result", "Assign", "ReadValue") and other.node.get("id") in reached
            for other in self.places()
            if other.graph is place.graph
        )

    def source(self, place: CaseLayer, port: Node) -> tuple[CaseLayer, Node] | None:
        """What feeds an input port."""
        for edge, start, end in self.edges():
            if end.node is place.node and edge.get("to-port") == port.get("id"):
                found = [out for out in start.ports("output") if out.get("id") == edge.get("from-port")]
                return (start, found[0]) if found else None
        return None


def connect(graph: Node, start: object, out: object, end: object, into: object) -> Node:
    """An edge that is added to a graph."""
    names = ("from-layer", "from-port", "to-layer", "to-port")
    wire = Node("edge", [(name, str(value)) for name, value in zip(names, (start, out, end, into), strict=True)])
    graph.need("edges").children.append(wire)
    return wire


def convert_input(edge: Node, start: CaseLayer, end: CaseLayer, to: str, precision: str) -> None:
    """Put a Convert into an edge; the input that reads it records the new type if it records one."""
    out = start.port("output", edge.get("from-port"))
    port = end.port("input", edge.get("to-port"))
    if out.get("precision") in (precision, "STRING"):
        raise NotHere
    into, made = out.copy(), out.copy()
    for one, number in ((into, "0"), (made, "1")):
        one.set("id", number)
        one.drop("names")
    made.set("precision", precision)
    node = Node("layer", [("id", "8800"), ("name", "changed"), ("type", "Convert"), ("version", "opset1")])
    node.children = [Node("data", [("destination_type", to)]), Node("input", [], [into]), Node("output", [], [made])]
    end.graph.need("layers").children.append(node)
    connect(end.graph, start.node.get("id"), out.get("id"), 8800, 0)
    edge.set("from-layer", "8800")
    edge.set("from-port", "1")
    if port.has("precision"):
        port.set("precision", precision)


def walk(graph: Node, prefix: str) -> Iterator[CaseLayer]:
    layers = graph.find("layers")
    for layer in layers.all("layer") if layers else ():
        yield CaseLayer(layer, graph, prefix)
        for body in layer.children:
            if isinstance(body, Node) and body.tag in ("body", "then_body", "else_body"):
                yield from walk(body, f"{prefix}{layer.get('name')}/{body.tag}/")


@dataclass
class Guilt:
    """Who is offending. `at`: elements whose first lines are exact; `within`: elements any line of which will do.

    `lines`: exact lines that are known otherwise.
    """

    layers: list[Spot] = field(default_factory=list)
    at: list[Node] = field(default_factory=list)
    within: list[Node] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Mutant:
    """A file with what is true of it.

    Attributes:
        layers: those that may be named as offending; empty where no layer is.
        lines: exact lines; empty where no line is offending.
    """

    kind: str
    group: str
    expect: Expect
    base: str
    xml: bytes
    weights: bytes | None
    layers: tuple[Spot, ...]
    lines: frozenset[int]


@dataclass(frozen=True)
class Fault:
    """A kind of fault. `change` edits the case in place, and says who is offending.

    `finish` edits the text afterwards and may name further lines. `family`: what it has in common with the same fault
    in other operations.
    """

    kind: str
    group: str
    expect: Expect
    change: Callable[[Case, random.Random], Guilt] | None = None
    finish: Callable[[str, random.Random], tuple[bytes, list[int]]] | None = None
    family: str = ""

    def apply(self, base: Base, rng: random.Random) -> Mutant | None:
        case = Case(base)
        try:
            guilt = self.change(case, rng) if self.change else Guilt()
        except NotHere:
            return None
        text = render(case.root, case.style)
        lines = {*guilt.lines, *(node.line for node in guilt.at)}
        for node in guilt.within:
            lines.update(range(node.line, node.last_line + 1))
        data = text.encode()
        if self.finish:
            try:
                data, more = self.finish(text, rng)
            except NotHere:
                return None
            lines.update(more)
        return Mutant(
            kind=self.kind,
            group=self.group,
            expect=self.expect,
            base=base.name,
            xml=data,
            weights=case.weights,
            layers=tuple(guilt.layers),
            lines=frozenset(lines),
        )


def is_type(*types: str) -> Callable[[CaseLayer], bool]:
    """A test for layers of these types."""
    return lambda place: place.type in types


def always(text: str) -> Callable[[str], str]:
    """The same text whatever was there."""
    return lambda old: text


def pick(rng: random.Random, found: Sequence[T]) -> T:
    """One of them; NotHere where there is none."""
    if not found:
        raise NotHere
    return rng.choice(found)


Change = Callable[[Case, random.Random], Guilt]


def fault(table: list[Fault], group: str, expect: Expect) -> Callable[[Change], Change]:
    """Puts a function into a table under its own name."""

    def register(change: Change) -> Change:
        table.append(Fault(change.__name__.replace("_", "-"), group, expect, change))
        return change

    return register


def valid(table: list[Fault]) -> Callable[[Callable[[Case, random.Random], object]], None]:
    """Puts a function into a table, under its own name, that changes nothing of what a file means."""

    def register(change: Callable[[Case, random.Random], object]) -> None:
        def changed(case: Case, rng: random.Random) -> Guilt:
            change(case, rng)
            return Guilt()

        table.append(Fault("valid-" + change.__name__.replace("_", "-"), "valid", "valid", changed))

    return register
