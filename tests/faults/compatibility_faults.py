"""Files of other versions of the format, and what no release reads."""

from __future__ import annotations

import random

from tests.faults.define import Case, Fault, Guilt, NotHere, fault
from tests.faults.markup import Node

__all__ = ["FAULTS"]

GROUP = "compatibility"
FAULTS: list[Fault] = []


def _stamped(version: int) -> None:
    """A whole modern model that calls itself an old one."""

    def change(case: Case, rng: random.Random) -> Guilt:
        case.root.set("version", str(version))
        return Guilt(at=[case.root])

    FAULTS.append(Fault(f"stamped-v{version}", GROUP, "error", change))


def _legacy(version: int) -> None:
    """A small model as it was written then: precisions on layers, weights in `<blobs>`, no opsets."""

    def change(case: Case, rng: random.Random) -> Guilt:
        if case.base.name not in ("classifier", "pooling", "convolutions"):
            raise NotHere
        dims = [Node("dim", [], [text]) for text in ("1", "3", "8", "8")]
        small = [Node("dim", [], [text]) for text in ("1", "3", "4", "4")]

        def port(number: int, found: list[Node]) -> Node:
            return Node("port", [("id", str(number))], list(found))

        pool = Node("layer", [("id", "1"), ("name", "pool"), ("precision", "FP32"), ("type", "Pooling")])
        sizes = [("kernel", "2,2"), ("strides", "2,2"), ("pads_begin", "0,0"), ("pads_end", "0,0")]
        if version == 2:
            sizes = [
                (f"{name}-{axis}", value)
                for name, value in (("kernel", "2"), ("stride", "2"), ("pad", "0"))
                for axis in "xy"
            ]
        data = [("exclude-pad", "true"), ("pool-method", "avg"), ("rounding-type", "floor"), *sizes]
        pool.children = [
            Node("pooling_data" if version == 2 else "data", data),
            Node("input", [], [port(0, dims)]),
            Node("output", [], [port(1, small)]),
        ]
        source = Node(
            "layer",
            [("id", "0"), ("name", "data"), ("precision", "FP32"), ("type", "Input")],
            [Node("output", [], [port(0, dims)])],
        )
        edge = Node("edge", [("from-layer", "0"), ("from-port", "0"), ("to-layer", "1"), ("to-port", "0")])
        case.root = Node("net", [("batch", "1"), ("name", "old"), ("version", str(version))])
        case.root.children = [Node("layers", [], [source, pool]), Node("edges", [], [edge])]
        case.weights = b""
        return Guilt(at=[case.root])

    FAULTS.append(Fault(f"legacy-v{version}", GROUP, "error", change))


for _version in range(2, 8):
    _stamped(_version)
    _legacy(_version)


@fault(FAULTS, GROUP, "error")
def modern_layers_with_legacy_types(case: Case, rng: random.Random) -> Guilt:
    """A type of IR v7 in an IR v11."""
    places = [place for place in case.places() if place.type in ("AvgPool", "MaxPool", "Add", "Multiply", "MatMul")]
    if not places:
        raise NotHere
    place = rng.choice(places)
    names = {
        "AvgPool": "Pooling",
        "MaxPool": "Pooling",
        "Add": "Eltwise",
        "Multiply": "Eltwise",
        "MatMul": "FullyConnected",
    }
    place.node.set("type", names[place.type])
    return Guilt([place.spot], at=[place.node])
