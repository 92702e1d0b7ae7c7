"""Layers that make tensors larger or smaller, against the runtime: shapes, values before running, values."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from ir_tools.ops import padding
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import Dim
from tests.ops.layer_support import Setting, compare_shapes, parameter, random_dims, valued, values
from tests.ops.single import Slot

Rng = np.random.Generator


@pytest.fixture(scope="module")
def client() -> Iterator[RuntimeClient]:
    with RuntimeClient() as running:
        yield running


def pads(rng: Rng) -> Setting:
    op = padding.PAD_1 if rng.random() < 0.5 else padding.PAD_12
    slot, dims = valued(rng)
    mode = str(rng.choice(["constant", "edge", "reflect", "symmetric"]))
    length = len(dims) + int(rng.random() < 0.05)
    slots = [slot, *(values(rng, rng.integers(-1 if rng.random() < 0.5 else 0, 4, length).tolist()) for _ in range(2))]
    if mode == "constant" and rng.random() < 0.5:
        slots.append(np.array(3, np.float32 if isinstance(slot, tuple) and slot[0] == "f32" else np.int64))
    return Setting(op, slots, {"pad_mode": mode})


def tiles(rng: Rng) -> Setting:
    slot, _ = valued(rng)
    return Setting(
        padding.TILE, [slot, values(rng, rng.integers(-1 if rng.random() < 0.1 else 0, 4, rng.integers(0, 5)).tolist())]
    )


def broadcasts(rng: Rng) -> Setting:
    op = padding.BROADCAST_1 if rng.random() < 0.3 else padding.BROADCAST_3
    modes = ["numpy", "explicit", "bidirectional", "pdpd"] if op.version == 3 else ["numpy", "explicit"]
    mode = str(rng.choice(modes))
    slot, dims = valued(rng)
    sizes = [(rng.integers(0, 6) if dim.lo == 1 or not dim.static or rng.random() < 0.05 else dim.lo) for dim in dims]
    front = rng.integers(0, 5, rng.integers(0, 2)).tolist()
    target = [*front, *map(int, sizes)]
    slots: list[Slot] = [slot, values(rng, target)]
    if rng.random() < 0.1 and target:
        slots[1] = np.array([-1, *target[1:]])
    if mode == "explicit" and not (op.version == 1 and rng.random() < 0.2):
        start = len(front) if rng.random() < 0.9 else 0
        slots.append(values(rng, list(range(start, start + len(dims) + int(rng.random() < 0.05)))))
    return Setting(op, slots, {"mode": mode})


def batches(rng: Rng) -> Setting:
    op = padding.SPACE_TO_BATCH if rng.random() < 0.5 else padding.BATCH_TO_SPACE
    dims = list(random_dims(rng, 1, 4))
    block = [1, *rng.integers(1, 4, len(dims) - 1).tolist()]
    if rng.random() < 0.7:
        dims = [Dim.of(6 if axis else 12) if dim.lo < 2 or rng.random() < 0.5 else dim for axis, dim in enumerate(dims)]
    begin, end = ([0, *rng.integers(0, 3, len(dims) - 1).tolist()] for _ in range(2))
    if rng.random() < 0.6:
        begin, end = begin, [(-start) % size for start, size in zip(begin, block, strict=True)]
    slots = [values(rng, row, kind="i64") if rng.random() < 0.4 else np.array(row) for row in (block, begin, end)]
    return Setting(op, [parameter(rng, dims), *slots])


MAKERS: tuple[Callable[[Rng], Setting], ...] = (pads, tiles, broadcasts, batches)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: str(make.__name__))
def test_shapes_and_values_before_running(make: Callable[[Rng], Setting], client: RuntimeClient) -> None:
    rng = np.random.default_rng(7)
    taken = [compare_shapes(client, make(rng)) for _ in range(60)]
    assert sum(taken) > 15
