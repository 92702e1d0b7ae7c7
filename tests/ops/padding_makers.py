"""Layers that make tensors larger or smaller: random settings of them for shapes, and calls for values."""

import numpy as np

from ir_tools.ops import padding
from ir_tools.types import Dim, from_dtype
from tests.ops.layer_support import (
    Setting,
    SettingMaker,
    integers,
    parameter,
    random_dims,
    sizes,
    some,
    some_kind,
    tensor,
    valued,
    values,
)
from tests.ops.single import Fed, Maker, Slot

Rng = np.random.Generator


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
    if mode != "pdpd":
        return Setting(op, slots, {"mode": mode})
    axis = rng.choice([len(front), -1]) if rng.random() < 0.8 else rng.integers(-2, 3)
    return Setting(op, slots, {"mode": mode, "mode.mode.axis": str(axis)})


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


SETTINGS: tuple[SettingMaker, ...] = (pads, tiles, broadcasts, batches)


# --- values -----------------------------------------------------------------------------------------------------


def pad_calls(rng: Rng) -> Fed:
    op = padding.PAD_1 if rng.random() < 0.4 else padding.PAD_12
    shape = [max(size, 2) for size in sizes(rng, 1)]
    mode = str(rng.choice(["constant", "edge", "reflect", "symmetric"]))
    least = -1 if op.version == 12 else 0
    most = {"reflect": [size - 1 for size in shape], "symmetric": shape}.get(mode, [3] * len(shape))
    begin, end = ([int(rng.integers(least, top + 1)) for top in most] for _ in range(2))
    data = tensor(rng, some_kind(rng), shape)
    arrays = [data, integers(rng, begin), integers(rng, end)]
    if mode == "constant" and data.dtype != np.float64 and rng.random() < 0.7:
        arrays.append(tensor(rng, from_dtype(data.dtype).name, ()))
    return Fed(op, {"pad_mode": mode}, arrays, constants=some(rng, 1, 2, *range(3, len(arrays))))


def tile_calls(rng: Rng) -> Fed:
    data = tensor(rng, some_kind(rng), sizes(rng))
    repeats = np.ones(rng.integers(1, 5), int)
    repeats[rng.integers(0, len(repeats), 2)] = rng.integers(1, 4, 2)
    return Fed(padding.TILE, {}, [data, integers(rng, repeats)], constants=some(rng, 1))


def broadcast_calls(rng: Rng) -> Fed:
    op = padding.BROADCAST_1 if rng.random() < 0.3 else padding.BROADCAST_3
    mode = str(rng.choice(["numpy", "explicit", "bidirectional"] if op.version == 3 else ["numpy", "explicit"]))
    target = rng.integers(1, 4, rng.integers(1, 5)).tolist()
    start = int(rng.integers(0, len(target) + 1))
    shape = [1 if rng.random() < 0.4 else size for size in target[start:]]
    arrays = []
    if mode == "explicit":
        axes = sorted(rng.permutation(len(target))[: rng.integers(1, len(target) + 1)].tolist())
        shape = [1 if rng.random() < 0.3 else target[axis] for axis in axes]
        arrays.append(integers(rng, axes))
    if mode == "bidirectional":
        target = [1 if rng.random() < 0.4 else size for size in target]
        target = target[int(rng.integers(0, len(target))) :]
    data = tensor(rng, some_kind(rng), shape)
    return Fed(op, {"mode": mode}, [data, integers(rng, target), *arrays], constants=some(rng, 1, 2)[: 1 + len(arrays)])


def batch_calls(rng: Rng) -> Fed:
    shape = rng.integers(3, 6, rng.integers(2, 5)).tolist()
    block = [1, *rng.integers(1, 4, len(shape) - 1).tolist()]
    if rng.random() < 0.5:
        begin = [0, *rng.integers(0, 3, len(shape) - 1).tolist()]
        rest = zip(shape, begin, block, strict=True)
        end = [0, *[-(size + start) % part for size, start, part in list(rest)[1:]]]
        op = padding.SPACE_TO_BATCH
    else:
        shape[0] *= int(np.prod(block))
        begin, end = ([0, *(int(rng.integers(0, 2)) for _ in shape[1:])] for _ in range(2))
        pairs = list(zip(shape, block, begin, end, strict=True))
        end = [last if first + last < size * part else 0 for size, part, first, last in pairs]
        op = padding.BATCH_TO_SPACE
    kind = np.int64 if rng.random() < 0.5 else np.int32
    lists = [np.array(row, kind) for row in (block, begin, end)]
    return Fed(op, {}, [tensor(rng, some_kind(rng), shape), *lists], constants=some(rng, 1, 2, 3))


CALLS: tuple[Maker, ...] = (pad_calls, tile_calls, broadcast_calls, batch_calls)
