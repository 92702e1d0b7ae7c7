"""What is right of a layer is right if less is known of its inputs: no check finds fault, and shapes hold the same."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np
import pytest

from ir_tools.errors import ShapeError
from ir_tools.infer import SURPRISES
from ir_tools.ops import FAMILIES, Fact, Op
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import Dim, Shape, format_shape
from tests.ops import table_makers
from tests.ops.layer_support import Setting, fact_of, found_rows, same_rows, wanted_rows
from tests.ops.samples import sample_of
from tests.ops.single import Slot

Rng = np.random.Generator


def settings() -> Iterator[tuple[str, Setting]]:
    """The samples of all operations."""
    for op in (op for family in FAMILIES for op in family.OPS):
        sample = sample_of(op)
        if sample is not None:
            yield str(op), Setting(op, sample.slots, sample.raw, sum(not one.many for one in op.outputs))


def less(rng: Rng, slot: Slot) -> Slot:
    """Less of what is known of an input."""
    fact, share = fact_of(slot), rng.random()
    if fact.shape is None or rng.random() < 0.1:
        return fact.dtype.name, "..."
    if fact.value is not None and rng.random() < 0.7:
        return slot
    return fact.dtype.name, ",".join(str(wider(rng, dim) if rng.random() < share else dim) for dim in fact.shape)


def wider(rng: Rng, dim: Dim) -> Dim:
    low = max(dim.lo - int(rng.integers(0, 4)), 0)
    high = None if dim.hi is None or rng.random() < 0.4 else dim.hi + int(rng.integers(0, 4))
    return Dim(low, high) if rng.random() < 0.7 else Dim()


def holds(wide: Shape, narrow: Shape) -> bool:
    """Whether one shape allows all that the other allows."""
    if wide is None or narrow is None:
        return wide is None
    return len(wide) == len(narrow) and all(
        one.lo <= other.lo and (one.hi is None or (other.hi is not None and other.hi <= one.hi))
        for one, other in zip(wide, narrow, strict=True)
    )


def faults(setting: Setting) -> list[str]:
    found = setting.op.check(setting.attrs(), [fact_of(slot) for slot in setting.slots])
    return [fault.text for fault in found if not fault.kind.mild]


def outputs(setting: Setting) -> Sequence[Fact] | None:
    return setting.op.outputs_of(setting.attrs(), [fact_of(slot) for slot in setting.slots])


def is_right(setting: Setting) -> bool:
    with suppress(ShapeError, *SURPRISES):
        return setting.attrs() is not None and not faults(setting) and outputs(setting) is not None
    return False


def problem(known: Setting, setting: Setting) -> str | None:
    """What is wrong with a layer of which less is known."""
    try:
        wanted, found = outputs(known), outputs(setting)
    except ShapeError as why:
        return str(why)
    if wanted is None or found is None or len(found) != len(wanted):
        return None
    if all(holds(one.shape, other.shape) for one, other in zip(found, wanted, strict=True)):
        return "; ".join(faults(setting))
    return f"{[format_shape(one.shape) for one in found]} instead of {[format_shape(one.shape) for one in wanted]}"


SETTINGS = [*settings()]
TIMES, OF_TABLE, TIMES_OF_TABLE = 12, 50, 2
"""How often less is made of each setting; settings near the sample of each operation; how often of each of those."""


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in SETTINGS))
def test_less_is_known(name: str, client: RuntimeClient) -> None:
    """Unless the runtime, which is asked where something is wrong, refuses the layer or gives that shape as well."""
    compare(client, [setting for other, setting in SETTINGS if other == name], TIMES)


@pytest.mark.parametrize("op", table_makers.OPS, ids=str)
def test_less_is_known_near_samples(op: Op, client: RuntimeClient) -> None:
    compare(client, [*table_makers.settings(op, OF_TABLE, seed=6)], TIMES_OF_TABLE)


def compare(client: RuntimeClient, settings: Sequence[Setting], times: int) -> None:
    rng = np.random.default_rng(5)
    for known in filter(is_right, settings):
        for _ in range(times):
            setting = Setting(known.op, [less(rng, slot) for slot in known.slots], known.raw, known.outputs)
            found = problem(known, setting)
            if found and wanted_rows(client, known) != "rejected":
                assert not faults(setting) or wanted_rows(client, setting) == "rejected", f"{setting}: {found}"
                assert same_rows(found_rows(setting), wanted_rows(client, setting)), f"{setting}: {found}"
