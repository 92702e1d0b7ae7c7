"""Layers that make numbers or look for them: random settings of them for shapes, and calls for values."""

import numpy as np

from ir_tools.ops import generation, searching
from ir_tools.types import Dim, element_type
from tests.ops.layer_support import (
    Setting,
    SettingMaker,
    integers,
    parameter,
    random_dim,
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
        slot = rng.integers(0, 3, rng.integers(1, 4, int(rng.integers(1, 3))))
        dims = tuple(map(Dim.of, slot.shape))
    slots: list[Slot] = [slot]
    if rng.random() < 0.5:
        axis = some_axis(rng, len(dims))
        if isinstance(slot, np.ndarray):
            # Of a constant the runtime does not look whether it has the axis.
            axis = int(rng.integers(-len(dims), len(dims)))
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


SETTINGS: tuple[SettingMaker, ...] = (ranges, eyes, non_zeros, uniques, searches, buckets, sparse_rows)


# --- values -----------------------------------------------------------------------------------------------------


def range_calls(rng: Rng) -> Fed:
    op = generation.RANGE_1 if rng.random() < 0.4 else generation.RANGE_4
    step = int(rng.choice([1, 2, 3, -1, -2]))
    start = int(rng.integers(-5, 6))
    row = [start, start + step * int(rng.integers(1, 9)) + int(rng.integers(0, 2)) * (1 if step > 0 else -1), step]
    kind = some_kind(rng, ("f32", "i32", "i64"))
    arrays = [np.array(value, element_type(kind).dtype) for value in row]
    if kind == "f32":
        # Halves: the plugin counts in f32, the runtime before running in f64.
        arrays = [np.array(value + 0.5 * rng.integers(2), np.float32) for value in row[:2]] + [arrays[2]]
    kinds = ("f32", "i32", "i64") if kind != "f32" else ("f32",)
    raw = {"output_type": some_kind(rng, kinds)} if op.version == 4 else {}
    return Fed(op, raw, arrays, constants=(0, 1, 2) if rng.random() < 0.3 else ())


def eye_calls(rng: Rng) -> Fed:
    rows, columns = rng.integers(1, 6, 2).tolist()
    arrays = [integers(rng, value) for value in (rows, columns, rng.integers(-6, 7))]
    if rng.random() < 0.5:
        arrays.append(integers(rng, rng.integers(1, 3, rng.integers(1, 3))))
    raw = {"output_type": some_kind(rng, ("f32", "i32", "i64", "u8", "i8"))}
    return Fed(generation.EYE, raw, arrays, constants=some(rng, *range(len(arrays))))


def non_zero_calls(rng: Rng) -> Fed:
    data = tensor(rng, some_kind(rng), sizes(rng, 1))
    data = np.where(rng.random(data.shape) < 0.5, data, np.zeros((), data.dtype))
    return Fed(searching.NON_ZERO, {"output_type": str(rng.choice(["i32", "i64"]))}, [data])


def unique_calls(rng: Rng) -> Fed:
    kind = some_kind(rng, ("f32", "i32", "i64", "u8", "i8"))
    shape = [max(size, 1) for size in sizes(rng, 1, 3)]
    dtype = element_type(kind).dtype
    arrays = [rng.integers(0, 3, shape).astype(dtype)]
    raw = {"sorted": str(rng.choice(["true", "false"])), "index_element_type": str(rng.choice(["i32", "i64"]))}
    return Fed(searching.UNIQUE, raw, arrays, outputs=4)


def search_calls(rng: Rng) -> Fed:
    shape = rng.integers(1, 6, rng.integers(1, 4)).tolist()
    kind = some_kind(rng, ("f32", "i32", "i64", "u8", "i8", "f16", "bf16"))
    rows = np.sort(tensor(rng, kind, shape), -1)
    other = (
        [*shape[:-1], int(rng.integers(1, 6))] if len(shape) > 1 else rng.integers(1, 4, rng.integers(1, 3)).tolist()
    )
    found = tensor(rng, kind, other)
    chosen = np.resize(rows, other).astype(rows.dtype)
    found = np.where(rng.random(other) < 0.5, found, chosen)
    raw = {"right_mode": str(rng.choice(["true", "false"])), "output_type": str(rng.choice(["i32", "i64"]))}
    return Fed(searching.SEARCH_SORTED, raw, [rows, found])


def bucket_calls(rng: Rng) -> Fed:
    kind = some_kind(rng, ("f32", "i32", "i64", "u8", "i8"))
    limits = np.unique(tensor(rng, kind, [int(rng.integers(1, 7))]))
    data = tensor(rng, kind, sizes(rng, 1))
    data = np.where(rng.random(data.shape) < 0.5, data, np.resize(limits, data.shape)).astype(data.dtype)
    raw = {"output_type": str(rng.choice(["i32", "i64"])), "with_right_bound": str(rng.choice(["true", "false"]))}
    return Fed(searching.BUCKETIZE, raw, [data, limits], constants=some(rng, 1))


def sparse_row_calls(rng: Rng) -> Fed:
    rows, columns = rng.integers(1, 6, 2).tolist()
    count = int(rng.integers(1, 6))
    pairs = np.stack([np.sort(rng.integers(0, rows, count)), rng.integers(0, columns, count)], 1)
    kind = some_kind(rng, ("f32", "i32", "i64", "u8", "f16"))
    index = np.int64 if rng.random() < 0.5 else np.int32
    arrays = [tensor(rng, kind, [count]), np.array([rows, columns], index), pairs.astype(index), tensor(rng, kind, ())]
    return Fed(searching.SPARSE_FILL, {}, arrays, constants=some(rng, 1), outputs=3)


CALLS: tuple[Maker, ...] = (
    range_calls,
    eye_calls,
    non_zero_calls,
    unique_calls,
    search_calls,
    bucket_calls,
    sparse_row_calls,
)
