"""Layers that only reshape or reorder, against the runtime: shapes, values before running, values."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from ir_tools.ops import layout
from ir_tools.runtime.client import RuntimeClient
from tests.ops.layer_support import Setting, compare_shapes, parameter, random_dims, some_axis, valued, values
from tests.ops.single import Slot

Rng = np.random.Generator


@pytest.fixture(scope="module")
def client() -> Iterator[RuntimeClient]:
    with RuntimeClient() as running:
        yield running


def ranked(rng: Rng) -> tuple[Slot, int]:
    slot, dims = valued(rng)
    return slot, len(dims)


def reshapes(rng: Rng) -> Setting:
    op = layout.RESHAPE
    slot, rank = ranked(rng)
    pattern = rng.choice([0, 0, -1, 1, 2, 3, 4, 6], int(rng.integers(0, rank + 2))).tolist()
    if rng.random() < 0.7 and -1 in pattern:
        first = pattern.index(-1)
        pattern = [1 if size == -1 and index != first else size for index, size in enumerate(pattern)]
    return Setting(op, [slot, values(rng, pattern)], {"special_zero": str(rng.choice(["true", "false"]))})


def squeezes(rng: Rng) -> Setting:
    op = layout.SQUEEZE_1 if rng.random() < 0.5 else layout.SQUEEZE_15
    slot, rank = ranked(rng)
    slots = [slot]
    if rng.random() < 0.8:
        scalar = rng.random() < 0.3
        slots.append(
            values(rng, [some_axis(rng, rank) for _ in range(1 if scalar else rng.integers(0, 3))], scalar=scalar)
        )
    raw = {"allow_axis_skip": str(rng.choice(["true", "false"]))} if op.version == 15 else {}
    return Setting(op, slots, raw)


def unsqueezes(rng: Rng) -> Setting:
    slot, rank = ranked(rng)
    count = int(rng.integers(0, 4))
    return Setting(layout.UNSQUEEZE, [slot, values(rng, [some_axis(rng, rank + count) for _ in range(count)])])


def transposes(rng: Rng) -> Setting:
    slot, rank = ranked(rng)
    order = [] if rng.random() < 0.1 else rng.permutation(rank).tolist()
    if rng.random() < 0.1:
        order = rng.integers(-1, rank + 1, rank + int(rng.integers(0, 2))).tolist()
    return Setting(layout.TRANSPOSE, [slot, values(rng, order)])


def shuffles(rng: Rng) -> Setting:
    slot, rank = ranked(rng)
    raw = {"axis": str(some_axis(rng, rank)), "group": str(rng.integers(0, 4))}
    op = layout.SHUFFLE_CHANNELS_1 if rng.random() < 0.5 else layout.SHUFFLE_CHANNELS_3
    return Setting(op, [slot], {key: text for key, text in raw.items() if rng.random() < 0.9})


def blocks(rng: Rng) -> Setting:
    op = layout.DEPTH_TO_SPACE if rng.random() < 0.5 else layout.SPACE_TO_DEPTH
    block = int(rng.integers(1, 4))
    dims = list(random_dims(rng, 2, 5))
    dims = [type(dim)(dim.lo * block, dim.hi and dim.hi * block) if rng.random() < 0.8 else dim for dim in dims]
    if op is layout.DEPTH_TO_SPACE and rng.random() < 0.8:
        dims[1] = type(dims[1]).of(block ** (len(dims) - 2) * 3)
    raw = {"mode": str(rng.choice(["blocks_first", "depth_first"])), "block_size": str(block)}
    return Setting(op, [parameter(rng, dims)], raw)


def reverses(rng: Rng) -> Setting:
    slot, rank = ranked(rng)
    if rng.random() < 0.5:
        mask = rng.random(rank + int(rng.random() < 0.1)) < 0.5
        return Setting(layout.REVERSE, [slot, mask], {"mode": "mask"})
    chosen = rng.permutation(rank)[: rng.integers(0, rank + 1)].tolist()
    return Setting(
        layout.REVERSE, [slot, values(rng, [rank if rng.random() < 0.05 else x for x in chosen])], {"mode": "index"}
    )


def reversed_sequences(rng: Rng) -> Setting:
    dims = random_dims(rng)
    raw = {"batch_axis": str(some_axis(rng, len(dims))), "seq_axis": str(some_axis(rng, len(dims)))}
    lengths = parameter(rng, random_dims(rng, 1, 1) if rng.random() < 0.5 else dims[:1] or random_dims(rng), "i32")
    return Setting(
        layout.REVERSE_SEQUENCE, [parameter(rng, dims), lengths], {k: v for k, v in raw.items() if rng.random() < 0.7}
    )


def rolls(rng: Rng) -> Setting:
    slot, rank = ranked(rng)
    count = int(rng.integers(1, 3))
    axes = values(rng, [some_axis(rng, rank) for _ in range(count)])
    scalar = rng.random() < 0.3
    shift = values(rng, rng.integers(-5, 6, 1 if scalar else count + int(rng.random() < 0.1)).tolist(), scalar=scalar)
    return Setting(layout.ROLL, [slot, shift, axes])


MAKERS: tuple[Callable[[Rng], Setting], ...] = (
    reshapes,
    squeezes,
    unsqueezes,
    transposes,
    shuffles,
    blocks,
    reverses,
    reversed_sequences,
    rolls,
)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: str(make.__name__))
def test_shapes_and_values_before_running(make: Callable[[Rng], Setting], client: RuntimeClient) -> None:
    rng = np.random.default_rng(7)
    taken = [compare_shapes(client, make(rng)) for _ in range(60)]
    assert sum(taken) > 15
