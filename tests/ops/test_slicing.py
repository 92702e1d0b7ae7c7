"""Layers that join and cut tensors, against the runtime: shapes, values before running, values."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from ir_tools.ops import slicing
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


def concats(rng: Rng) -> Setting:
    count = int(rng.integers(1, 4))
    if rng.random() < 0.5:
        slots = [values(rng, rng.integers(0, 6, rng.integers(1, 3)).tolist(), kind="i64") for _ in range(count)]
        return Setting(slicing.CONCAT, slots, {"axis": str(rng.choice([0, -1]))})
    dims = random_dims(rng)
    axis = some_axis(rng, len(dims))
    shapes = []
    for _ in range(count):
        row = [dim if rng.random() < 0.7 else Dim() if rng.random() < 0.8 else random_dim(rng) for dim in dims]
        if -len(dims) <= axis < len(dims):
            row[axis] = random_dim(rng)
        shapes.append(row)
    return Setting(slicing.CONCAT, [parameter(rng, row) for row in shapes], {"axis": str(axis)})


def splits(rng: Rng) -> Setting:
    slot, dims = valued(rng)
    axis = some_axis(rng, len(dims))
    count = int(rng.integers(1, 4))
    return Setting(slicing.SPLIT, [slot, values(rng, [axis], scalar=True)], {"num_splits": str(count)}, count)


def variadic_splits(rng: Rng) -> Setting:
    slot, dims = valued(rng)
    axis = some_axis(rng, len(dims))
    lengths = rng.integers(0, 3, rng.integers(1, 4)).tolist()
    size = dims[axis].lo if -len(dims) <= axis < len(dims) else 4
    if rng.random() < 0.8:
        lengths[-1] = max(size - sum(lengths[:-1]), 0)
    if rng.random() < 0.5:
        lengths[0] = -1
    slots = [slot, values(rng, [axis], scalar=bool(rng.random() < 0.5)), values(rng, lengths)]
    if isinstance(slots[2], tuple):
        # Of unknown length it leaves the runtime without outputs.
        slots[2] = ("i64", str(len(lengths)))
    return Setting(slicing.VARIADIC_SPLIT, slots, {}, len(lengths))


def bound(rng: Rng) -> int:
    return int(rng.choice([-(2**63), -100, -4, -3, -2, -1, 0, 0, 1, 2, 3, 4, 100, 2**31 - 1, 2**63 - 1]))


def bounds(rng: Rng, count: int) -> Slot:
    row = [bound(rng) for _ in range(count)]
    large = any(abs(value) > 1000 for value in row)
    return np.array(row, np.int64) if large else values(rng, row)


def steps(rng: Rng, count: int) -> Slot:
    return values(
        rng,
        rng.choice([1, 1, 1, 2, 3, -1, -1, -2, 0], count, p=[0.2] * 3 + [0.1, 0.05, 0.1, 0.05, 0.08, 0.02]).tolist(),
    )


def slices(rng: Rng) -> Setting:
    slot, dims = valued(rng, 1)
    count = int(rng.integers(1, len(dims) + 1))
    slots = [slot, bounds(rng, count), bounds(rng, count), steps(rng, count)]
    if rng.random() < 0.6:
        axes = rng.permutation(len(dims))[:count] - (len(dims) if rng.random() < 0.3 else 0)
        slots.append(values(rng, axes.tolist()))
    return Setting(slicing.SLICE, slots)


def scattered_slices(rng: Rng) -> Setting:
    setting = slices(rng)
    setting.op = slicing.SLICE_SCATTER
    dims = random_dims(rng, 1, 4)
    kind = "f32" if isinstance(setting.slots[0], tuple) else "i64"
    setting.slots = [
        setting.slots[0],
        parameter(rng, [Dim() if rng.random() < 0.6 else dim for dim in dims], kind),
        *setting.slots[1:],
    ]
    return setting


def strided_slices(rng: Rng) -> Setting:
    slot, dims = valued(rng, 1)
    count = int(rng.integers(1, len(dims) + 2))
    slots = [slot, bounds(rng, count), bounds(rng, count)]
    if rng.random() < 0.8:
        slots.append(steps(rng, count))
    raw = {}
    for name, share in zip(slicing.MASKS, (0.3, 0.3, 0.2, 0.2, 0.1), strict=True):
        if name in {"begin_mask", "end_mask"} or rng.random() < 0.4:
            raw[name] = ",".join(map(str, (rng.random(count) < share).astype(int)))
    if "new_axis_mask" in raw:
        raw.pop("ellipsis_mask", None)
    return Setting(slicing.STRIDED_SLICE, slots, raw)


MAKERS: tuple[Callable[[Rng], Setting], ...] = (
    concats,
    splits,
    variadic_splits,
    slices,
    scattered_slices,
    strided_slices,
)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: str(make.__name__))
def test_shapes_and_values_before_running(make: Callable[[Rng], Setting], client: RuntimeClient) -> None:
    rng = np.random.default_rng(7)
    taken = [compare_shapes(client, make(rng)) for _ in range(60)]
    assert sum(taken) > 15
