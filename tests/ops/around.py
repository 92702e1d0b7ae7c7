"""Layers that are valid, inputs near those of one, and whether the runtime runs a layer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ir_tools.ops import Array, Op
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import element_type, from_dtype, parse_shape
from tests.ops.single import ONE_THREAD, Between, Slot, single_text
from tests.outcomes import works


@dataclass(frozen=True)
class Case:
    """A valid layer: its attributes as the file writes them, and its producer."""

    op: Op
    raw: Mapping[str, str]
    slots: Sequence[Slot]

    def __str__(self) -> str:
        """The operation."""
        return str(self.op)


def ops_by_name(*families: Sequence[Op]) -> dict[str, Op]:
    """Operations by name and version."""
    return {str(op): op for family in families for op in family}


def limited() -> RuntimeClient:
    """A runtime with limits, as some settings make it take all memory, or never end."""
    return RuntimeClient(timeout=60, memory=6 << 30)


# --- shapes -----------------------------------------------------------------------------------------------------


def around(rng: np.random.Generator, slots: Sequence[Slot]) -> list[Slot]:
    """Inputs near these: intervals around sizes, sizes off by one, other ranks, constants that are not known."""
    return [_around(rng, slot) for slot in slots]


def _around(rng: np.random.Generator, slot: Slot) -> Slot:
    if isinstance(slot, tuple):
        return slot[0], _shape_around(rng, slot[1])
    if isinstance(slot, Between):
        return slot
    case, kind = rng.random(), from_dtype(slot.dtype).name
    if case < 0.55:
        return slot
    if case < 0.8 or slot.ndim != 1 or kind not in {"i32", "i64"}:
        return kind, _shape_around(rng, ",".join(map(str, slot.shape)))
    bounds = tuple((value, value) if rng.random() < 0.5 else _interval(rng, value) for value in map(int, slot))
    return Between(kind, bounds)


def _shape_around(rng: np.random.Generator, text: str) -> str:
    if rng.random() < 0.07:
        return "..."
    sizes = [int(word) for word in text.split(",")] if text else []
    if rng.random() < 0.04:
        sizes = sizes[1:] if rng.random() < 0.5 else [*sizes, 1]
    share = rng.random()
    return ",".join(_dim_around(rng, size) if rng.random() < share else str(size) for size in sizes)


def _dim_around(rng: np.random.Generator, size: int) -> str:
    case = rng.integers(8)
    if case < 3:
        return str(size)
    if case == 3:
        return "?"
    if case == 4:
        return str(max(size + int(rng.integers(-1, 2)), 0))
    low, high = _interval(rng, size)
    return f"{low}.." if high is None else f"{low}..{high}"


def _interval(rng: np.random.Generator, size: int) -> tuple[int, int | None]:
    low = max(min(size, 0), size - int(rng.integers(0, 3)))
    return low, None if rng.random() < 0.3 else size + int(rng.integers(0, 4))


# --- what runs --------------------------------------------------------------------------------------------------


def runs(client: RuntimeClient, case: Case) -> bool:
    """Whether the runtime reads, compiles and runs the layer, on small positive numbers."""
    text, blob = single_text(case.op.type, case.op.version, case.raw, case.slots, len(case.op.outputs))
    fed = {f"in{index}": _numbers(slot) for index, slot in enumerate(case.slots) if isinstance(slot, tuple)}
    return works(client.infer, text, blob, fed, config=ONE_THREAD)


def _numbers(slot: tuple[str, str]) -> Array:
    dtype = element_type(slot[0]).dtype
    sizes = [dim.size for dim in parse_shape(slot[1]) or ()]
    values: Array = np.random.default_rng(0).uniform(0.2, 0.9, sizes).astype(dtype)
    return values
