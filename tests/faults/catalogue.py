"""Every kind of fault, and the files that come of it."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.faults import (
    body_faults,
    compatibility_faults,
    constant_faults,
    edge_faults,
    layer_faults,
    operation_faults,
    pooling_faults,
    rt_info_faults,
    shape_faults,
    spellings,
    structure_faults,
    subtle_faults,
    valid_contents,
    valid_variants,
    xml_faults,
)
from tests.faults.base_models import bases
from tests.faults.define import Base, Fault, Mutant

__all__ = ["FAULTS", "mutants"]

FAULTS: tuple[Fault, ...] = (
    *xml_faults.FAULTS,
    *structure_faults.FAULTS,
    *layer_faults.FAULTS,
    *edge_faults.FAULTS,
    *constant_faults.FAULTS,
    *operation_faults.FAULTS,
    *shape_faults.FAULTS,
    *body_faults.FAULTS,
    *rt_info_faults.FAULTS,
    *pooling_faults.FAULTS,
    *spellings.FAULTS,
    *subtle_faults.FAULTS,
    *compatibility_faults.FAULTS,
    *valid_variants.FAULTS,
    *valid_contents.FAULTS,
)


def mutants(seed: int, per_kind: int, faults: tuple[Fault, ...] = FAULTS) -> Iterator[Mutant]:
    """`per_kind` files of each kind, on as many different bases as have a place for it."""
    everything = list(bases().values())
    for fault in faults:
        rng = random.Random(f"{seed}/{fault.kind}")
        yield from _of_kind(fault, rng, everything, per_kind)


def _of_kind(fault: Fault, rng: random.Random, everything: list[Base], count: int) -> Iterator[Mutant]:
    made, order = 0, rng.sample(everything, len(everything))
    for base in order * 3:
        if made == count:
            return
        mutant = fault.apply(base, rng)
        if mutant:
            made += 1
            yield mutant
