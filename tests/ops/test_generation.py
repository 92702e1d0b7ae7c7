"""Layers that make numbers or look for them, against the runtime: shapes, values before running, values."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from ir_tools.ops import generation, searching
from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import Dim
from tests.ops.layer_support import (
    Setting,
    compare_shapes,
    parameter,
    random_dim,
    random_dims,
    some_axis,
    valued,
    values,
)
from tests.ops.single import Slot

Rng = np.random.Generator


@pytest.fixture(scope="module")
def client() -> Iterator[RuntimeClient]:
    with RuntimeClient() as running:
        yield running


def ranges(rng: Rng) -> Setting:
    op = generation.RANGE_1 if rng.random() < 0.4 else generation.RANGE_4
    raw = {"output_type": str(rng.choice(["i64", "i32", "f32", "f16"]))} if op.version == 4 else {}
    if rng.random() < 0.4:
        numbers = rng.uniform(-4, 9, 3).astype(np.float32)
        return Setting(op, [np.array(number) for number in numbers], raw)
    row = [int(rng.integers(-3, 4)), int(rng.integers(-5, 12)), int(rng.choice([1, 1, 2, 3, -1, -2, 0]))]
    return Setting(op, [values(rng, [number], scalar=True, kind="i64") for number in row], raw)


def eyes(rng: Rng) -> Setting:
    raw = {"output_type": str(rng.choice(["f32", "i64", "i32"]))}
    slots = [
        values(rng, [int(rng.integers(-1 if rng.random() < 0.05 else 0, 4))], scalar=bool(rng.random() < 0.5))
        for _ in range(2)
    ]
    slots.append(values(rng, [int(rng.integers(-4, 5))], scalar=bool(rng.random() < 0.5)))
    if rng.random() < 0.5:
        slots.append(values(rng, rng.integers(0, 3, rng.integers(1, 3)).tolist()))
    return Setting(generation.EYE, slots, raw)


def non_zeros(rng: Rng) -> Setting:
    slot, _ = valued(rng)
    return Setting(searching.NON_ZERO, [slot], {"output_type": "i32"} if rng.random() < 0.5 else {})


def uniques(rng: Rng) -> Setting:
    slot, dims = valued(rng)
    if not isinstance(slot, tuple):
        slot = rng.integers(0, 3, rng.integers(1, 4, int(rng.integers(0, 3))))
        dims = tuple(map(Dim.of, slot.shape))
    slots: list[Slot] = [slot]
    if rng.random() < 0.5:
        axis = some_axis(rng, len(dims))
        slots.append(np.array(axis if rng.random() < 0.5 else [axis]))
    raw = {"sorted": "false", "index_element_type": "i32"} if rng.random() < 0.5 else {"count_element_type": "i32"}
    return Setting(searching.UNIQUE, slots, raw, 4)


def searches(rng: Rng) -> Setting:
    dims = list(random_dims(rng))
    other = [dim if rng.random() < 0.85 else random_dim(rng) for dim in dims]
    if other:
        other[-1] = random_dim(rng)
    if rng.random() < 0.3:
        dims = dims[-1:]
    return Setting(searching.SEARCH_SORTED, [parameter(rng, dims), parameter(rng, other)], {"output_type": "i32"})


def buckets(rng: Rng) -> Setting:
    lists = [random_dim(rng)] if rng.random() < 0.9 else list(random_dims(rng))
    return Setting(
        searching.BUCKETIZE, [parameter(rng, random_dims(rng)), parameter(rng, lists)], {"output_type": "i64"}
    )


def sparse_rows(rng: Rng) -> Setting:
    count = int(rng.integers(0, 4))
    rows = int(rng.integers(1, 5))
    pairs = np.stack([rng.integers(0, rows + int(rng.random() < 0.1), count), rng.integers(0, 3, count)], 1)
    shape = "0,2" if rng.random() < 0.1 else f"{count},2" if rng.random() < 0.5 else "?,2"
    indices: Slot = pairs if rng.random() < 0.6 else ("i64", shape)
    dense = values(rng, [rows, 3], kind="i64")
    length = count if rng.random() < 0.9 else count + 1
    return Setting(searching.SPARSE_FILL, [parameter(rng, [Dim.of(length)]), dense, indices, ("f32", "")], {}, 3)


MAKERS: tuple[Callable[[Rng], Setting], ...] = (ranges, eyes, non_zeros, uniques, searches, buckets, sparse_rows)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: str(make.__name__))
def test_shapes_and_values_before_running(make: Callable[[Rng], Setting], client: RuntimeClient) -> None:
    rng = np.random.default_rng(7)
    taken = [compare_shapes(client, make(rng)) for _ in range(60)]
    assert sum(taken) > 15
