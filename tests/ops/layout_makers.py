"""Layers that only reshape or reorder: random settings of them for shapes, and calls for values."""

import numpy as np

from ir_tools.ops import layout, ordering
from tests.ops.layer_support import (
    Setting,
    SettingMaker,
    integers,
    parameter,
    random_dims,
    sizes,
    some,
    some_axis,
    some_kind,
    tensor,
    valued,
    values,
)
from tests.ops.single import Fed, Maker, Slot

Rng = np.random.Generator


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
    return Setting(layout.SHUFFLE_CHANNELS, [slot], {key: text for key, text in raw.items() if rng.random() < 0.9})


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
        return Setting(ordering.REVERSE, [slot, mask], {"mode": "mask"})
    chosen = rng.permutation(rank)[: rng.integers(0, rank + 1)].tolist()
    return Setting(
        ordering.REVERSE, [slot, values(rng, [rank if rng.random() < 0.05 else x for x in chosen])], {"mode": "index"}
    )


def reversed_sequences(rng: Rng) -> Setting:
    dims = random_dims(rng)
    raw = {"batch_axis": str(some_axis(rng, len(dims))), "seq_axis": str(some_axis(rng, len(dims)))}
    lengths = parameter(rng, random_dims(rng, 1, 1) if rng.random() < 0.5 else dims[:1] or random_dims(rng), "i32")
    return Setting(
        ordering.REVERSE_SEQUENCE, [parameter(rng, dims), lengths], {k: v for k, v in raw.items() if rng.random() < 0.7}
    )


def rolls(rng: Rng) -> Setting:
    slot, rank = ranked(rng)
    count = int(rng.integers(1, 3))
    axes = values(rng, [some_axis(rng, rank) for _ in range(count)])
    scalar = rng.random() < 0.3
    shift = values(rng, rng.integers(-5, 6, 1 if scalar else count + int(rng.random() < 0.1)).tolist(), scalar=scalar)
    return Setting(ordering.ROLL, [slot, shift, axes])


SETTINGS: tuple[SettingMaker, ...] = (
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


# --- values -----------------------------------------------------------------------------------------------------


def reshape_calls(rng: Rng) -> Fed:
    shape = sizes(rng)
    pattern = rng.permutation(shape).tolist() if rng.random() < 0.5 else [int(np.prod(shape))]
    for _ in range(rng.integers(0, 3)):
        pattern.insert(int(rng.integers(0, len(pattern) + 1)), 1)
    special = bool(rng.random() < 0.5) and 0 not in shape
    for index, size in enumerate(pattern):
        if special and index < len(shape) and size == shape[index] and rng.random() < 0.5:
            pattern[index] = 0
    if pattern and 0 not in shape and rng.random() < 0.5:
        pattern[rng.integers(len(pattern))] = -1
    raw = {"special_zero": str(special).lower()}
    return Fed(
        layout.RESHAPE, raw, [tensor(rng, some_kind(rng), shape), integers(rng, pattern)], constants=some(rng, 1)
    )


def squeeze_calls(rng: Rng) -> Fed:
    shape = [1 if rng.random() < 0.5 else size for size in sizes(rng)]
    data = tensor(rng, some_kind(rng), shape)
    op = layout.SQUEEZE_1 if rng.random() < 0.5 else layout.SQUEEZE_15
    if rng.random() < 0.2 or 1 not in shape:
        return Fed(op, {}, [data])
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    axes = rng.permutation(ones)[: rng.integers(1, len(ones) + 1)] - (len(shape) if rng.random() < 0.3 else 0)
    return Fed(op, {}, [data, integers(rng, axes)], constants=(1,))


def unsqueeze_calls(rng: Rng) -> Fed:
    shape = sizes(rng, 0, 3)
    count = int(rng.integers(1, 3))
    axes = rng.permutation(len(shape) + count)[:count] - (len(shape) + count if rng.random() < 0.3 else 0)
    return Fed(layout.UNSQUEEZE, {}, [tensor(rng, some_kind(rng), shape), integers(rng, axes)], constants=(1,))


def transpose_calls(rng: Rng) -> Fed:
    shape = [max(size, 1) for size in sizes(rng, 1, 5)]
    order = rng.permutation(len(shape)).tolist() if rng.random() < 0.85 else []
    constants = some(rng, 1) if len(order) else (1,)
    return Fed(layout.TRANSPOSE, {}, [tensor(rng, some_kind(rng), shape), integers(rng, order)], constants=constants)


def shuffle_calls(rng: Rng) -> Fed:
    shape = sizes(rng, 1, 4)
    axis, group = int(rng.integers(-len(shape), len(shape))), int(rng.integers(1, 4))
    shape[axis] *= group
    raw = {"axis": str(axis), "group": str(group)}
    return Fed(layout.SHUFFLE_CHANNELS, raw, [tensor(rng, some_kind(rng), shape)])


def block_calls(rng: Rng) -> Fed:
    shape, block = rng.integers(1, 4, int(rng.integers(3, 6))).tolist(), int(rng.integers(1, 4))
    raw = {"mode": str(rng.choice(["blocks_first", "depth_first"])), "block_size": str(block)}
    if rng.random() < 0.5:
        shape[1] *= block ** (len(shape) - 2)
        return Fed(layout.DEPTH_TO_SPACE, raw, [tensor(rng, some_kind(rng), shape)])
    shape[2:] = [size * block for size in shape[2:]]
    return Fed(layout.SPACE_TO_DEPTH, raw, [tensor(rng, some_kind(rng), shape)])


def reverse_calls(rng: Rng) -> Fed:
    shape = sizes(rng, 1)
    data = tensor(rng, some_kind(rng), shape)
    if rng.random() < 0.5:
        return Fed(ordering.REVERSE, {"mode": "mask"}, [data, rng.random(len(shape)) < 0.5], constants=(1,))
    axes = rng.permutation(len(shape))[: rng.integers(0, len(shape) + 1)]
    return Fed(ordering.REVERSE, {"mode": "index"}, [data, integers(rng, axes)], constants=(1,))


def reverse_sequence_calls(rng: Rng) -> Fed:
    shape = sizes(rng, 2)
    batch, sequence = rng.permutation(len(shape))[:2].tolist()
    lengths = rng.integers(1, max(shape[sequence], 1) + 1, shape[batch])
    raw = {"batch_axis": str(batch), "seq_axis": str(sequence - (len(shape) if rng.random() < 0.3 else 0))}
    data = tensor(rng, some_kind(rng), shape)
    return Fed(ordering.REVERSE_SEQUENCE, raw, [data, integers(rng, lengths)], constants=some(rng, 1))


def roll_calls(rng: Rng) -> Fed:
    shape = sizes(rng, 1)
    axes = rng.integers(-len(shape), len(shape), rng.integers(1, 4))
    shift = rng.integers(-7, 8, len(axes))
    if len(axes) == 1 and rng.random() < 0.3:
        shift = shift.reshape(())
    data = tensor(rng, some_kind(rng), shape)
    return Fed(ordering.ROLL, {}, [data, integers(rng, shift), integers(rng, axes)], constants=some(rng, 1, 2))


CALLS: tuple[Maker, ...] = (
    reshape_calls,
    squeeze_calls,
    unsqueeze_calls,
    transpose_calls,
    shuffle_calls,
    block_calls,
    reverse_calls,
    reverse_sequence_calls,
    roll_calls,
)
