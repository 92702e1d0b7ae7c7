"""rt_info of layers and of the model, tensor names."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.faults.define import Case, Expect, Fault, Guilt, fault, pick
from tests.faults.markup import Node

__all__ = ["FAULTS"]

GROUP = "rt_info"
FAULTS: list[Fault] = []
Rows = Callable[[], list[Node]]


def _row(name: str | None = "fused_names", version: str | None = "0", **more: str) -> Node:
    attrs = [(key, value) for key, value in (("name", name), ("version", version)) if value is not None]
    return Node("attribute", [*attrs, *more.items()])


def _of_layer(kind: str, rows: Rows, expect: Expect) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        place = pick(rng, case.places())
        info = Node("rt_info", [], list(rows()))
        place.node.children.insert(0, info)
        return Guilt([place.spot], at=[info, *info.all("attribute")])

    FAULTS.append(Fault(f"rt-info-{kind}", GROUP, expect, change))


_of_layer("attribute-twice", lambda: [_row(value="a"), _row(value="b")], "error")
_of_layer("attribute-without-name", lambda: [_row(None, value="a")], "warning")
_of_layer("attribute-without-version", lambda: [_row(version=None, value="a")], "warning")
_of_layer("attribute-with-empty-name", lambda: [_row("", value="a")], "warning")


@fault(FAULTS, GROUP, "warning")
def rt_info_twice_in_a_layer(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, case.places())
    made = [Node("rt_info", [], [_row(value=text)]) for text in "ab"]
    place.node.children[:0] = made
    return Guilt([place.spot], at=made)


@fault(FAULTS, GROUP, "warning")
def rt_info_twice_in_the_model(case: Case, rng: random.Random) -> Guilt:
    made = [Node("rt_info", [], [Node("framework", [("value", text)])]) for text in "ab"]
    case.root.drop_all("rt_info")
    case.root.children += made
    return Guilt(at=made)


@fault(FAULTS, GROUP, "warning")
def rt_info_entry_twice_in_the_model(case: Case, rng: random.Random) -> Guilt:
    made = [Node("framework", [("value", text)]) for text in "ab"]
    info = Node("rt_info", [], list(made))
    case.root.drop_all("rt_info")
    case.root.children.append(info)
    return Guilt(at=made)


@fault(FAULTS, GROUP, "warning")
def tensor_name_twice(case: Case, rng: random.Random) -> Guilt:
    """The same tensor name at two output ports: the runtime finds one of them."""
    ports = [(place, port) for place in case.main() if place.type != "Parameter" for port in place.ports("output")]
    if len(ports) < 2:
        ports = [(place, port) for place in case.main() for port in place.ports("output")]
    (one, first), (two, second) = rng.sample(ports, 2) if len(ports) > 1 else (ports * 2)[:2]
    if first is second:
        pick(rng, [])
    first.set("names", "same")
    second.set("names", "same")
    return Guilt([one.spot, two.spot], at=[first, second])


@fault(FAULTS, GROUP, "warning")
def tensor_name_of_two_inputs(case: Case, rng: random.Random) -> Guilt:
    places = [place for place in case.main() if place.type == "Parameter"]
    if len(places) < 2:
        pick(rng, [])
    one, two = rng.sample(places, 2)
    for place in (one, two):
        place.ports("output")[0].set("names", "same")
    return Guilt([one.spot, two.spot], at=[one.ports("output")[0], two.ports("output")[0]])
