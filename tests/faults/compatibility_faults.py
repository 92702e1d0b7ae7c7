"""Files of other versions of the format, and what no release reads."""

from __future__ import annotations

import random

from tests.faults.define import Case, Fault, Guilt, NotHere, fault

__all__ = ["FAULTS"]

GROUP = "compatibility"
FAULTS: list[Fault] = []


def _stamped(version: int) -> None:
    """A whole modern model that calls itself an old one."""

    def change(case: Case, rng: random.Random) -> Guilt:
        case.root.set("version", str(version))
        return Guilt(at=[case.root])

    FAULTS.append(Fault(f"stamped-v{version}", GROUP, "error", change))


for _version in range(2, 8):
    _stamped(_version)


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
