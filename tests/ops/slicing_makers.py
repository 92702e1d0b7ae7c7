"""Layers that join and cut tensors: random settings of them for shapes, and calls for values."""

import numpy as np

from ir_tools.ops import slicing, strided_slicing
from ir_tools.types import Dim, from_dtype
from tests.ops.layer_support import (
    Setting,
    SettingMaker,
    found_arrays,
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
    for name, share in zip(strided_slicing.MASKS, (0.3, 0.3, 0.2, 0.2, 0.1), strict=True):
        if name in {"begin_mask", "end_mask"} or rng.random() < 0.4:
            raw[name] = ",".join(map(str, (rng.random(count) < share).astype(int)))
    if "new_axis_mask" in raw:
        raw.pop("ellipsis_mask", None)
    return Setting(strided_slicing.STRIDED_SLICE, slots, raw)


SETTINGS: tuple[SettingMaker, ...] = (
    concats,
    splits,
    variadic_splits,
    slices,
    scattered_slices,
    strided_slices,
)


# --- values -----------------------------------------------------------------------------------------------------


def concat_calls(rng: Rng) -> Fed:
    shape = sizes(rng, 1)
    axis = int(rng.integers(-len(shape), len(shape)))
    kind = some_kind(rng)
    arrays = []
    for _ in range(rng.integers(1, 5)):
        row = list(shape)
        row[axis] = int(rng.integers(0 if rng.random() < 0.1 else 1, 4))
        arrays.append(tensor(rng, kind, row))
    return Fed(slicing.CONCAT, {"axis": str(axis)}, arrays)


def split_calls(rng: Rng) -> Fed:
    shape = sizes(rng, 1)
    axis, count = int(rng.integers(-len(shape), len(shape))), int(rng.integers(1, 4))
    shape[axis] *= count
    data = tensor(rng, some_kind(rng), shape)
    return Fed(slicing.SPLIT, {"num_splits": str(count)}, [data, integers(rng, axis)], constants=(1,), outputs=count)


def variadic_split_calls(rng: Rng) -> Fed:
    shape = sizes(rng, 1)
    axis = int(rng.integers(-len(shape), len(shape)))
    lengths = rng.integers(0 if rng.random() < 0.2 else 1, 4, rng.integers(1, 5))
    shape[axis] = int(lengths.sum())
    if rng.random() < 0.4:
        lengths[rng.integers(len(lengths))] = -1
    place = axis if rng.random() < 0.5 else [axis]
    arrays = [tensor(rng, some_kind(rng), shape), integers(rng, place), integers(rng, lengths)]
    return Fed(slicing.VARIADIC_SPLIT, {}, arrays, constants=(1, 2), outputs=len(lengths))


def slice_bounds(rng: Rng, size: int) -> tuple[int, int, int]:
    step = int(rng.choice([1, 1, 1, 2, 3, -1, -1, -2]))
    first, last = (int(rng.integers(-size - 2, size + 3)) for _ in range(2))
    if rng.random() < 0.2:
        last = (2**31 - 1) if step > 0 else -(2**31)
    return first, last, step


def slice_calls(rng: Rng) -> Fed:
    shape = sizes(rng, 1)
    axes = rng.permutation(len(shape))[: rng.integers(1, len(shape) + 1)]
    with_axes = rng.random() < 0.7
    if not with_axes:
        axes = np.arange(len(axes))
    rows = np.array([slice_bounds(rng, shape[axis]) for axis in axes]).T
    arrays = [tensor(rng, some_kind(rng), shape), *(integers(rng, row) for row in rows)]
    if with_axes:
        arrays.append(integers(rng, axes - (len(shape) if rng.random() < 0.3 else 0)))
    return Fed(slicing.SLICE, {}, arrays, constants=some(rng, *range(1, len(arrays))))


def slice_scatter_calls(rng: Rng) -> Fed:
    call = slice_calls(rng)
    (part,) = found_arrays(call)
    kind = from_dtype(call.arrays[0].dtype).name
    arrays = [call.arrays[0], tensor(rng, kind, part.shape), *call.arrays[1:]]
    return Fed(slicing.SLICE_SCATTER, {}, arrays, constants=tuple(range(2, len(arrays))))


def strided_slice_calls(rng: Rng) -> Fed:
    shape = [max(size, 1) for size in sizes(rng, 1)]
    count = int(rng.integers(1, len(shape) + 1))
    new = (rng.random(count) < 0.15).astype(int)
    dots = np.zeros(count, int)
    if rng.random() < 0.2:
        dots[rng.integers(count)] = 1
        new &= 1 - dots
    drop = ((rng.random(count) < 0.2) & (not new.any()) & (dots == 0)).astype(int)
    place, rows = 0, []
    for axis in range(count):
        if dots[axis]:
            place = len(shape) - int(np.sum((new == 0)[axis + 1 :]))
        if new[axis] or dots[axis]:
            rows.append((0, 1, 1))
            continue
        size = shape[place]
        place += 1
        rows.append(slice_bounds(rng, size))
        if drop[axis]:
            first = int(rng.integers(-size, size))
            rows[-1] = first, first + 1, 1
    masks = {
        "begin_mask": (rng.random(count) < 0.25) & (drop == 0),
        "end_mask": (rng.random(count) < 0.25) & (drop == 0),
        "new_axis_mask": new,
        "shrink_axis_mask": drop,
        "ellipsis_mask": dots,
    }
    raw = {name: ",".join(str(int(value)) for value in mask) for name, mask in masks.items()}
    arrays = [tensor(rng, some_kind(rng), shape), *(integers(rng, row) for row in np.array(rows).T)]
    if all(row[2] == 1 for row in rows) and rng.random() < 0.5:
        arrays = arrays[:3]
    constants = tuple(range(1, len(arrays)))
    plain = not (new.any() or dots.any() or drop.any())
    return Fed(strided_slicing.STRIDED_SLICE, raw, arrays, constants=some(rng, *constants) if plain else constants)


CALLS: tuple[Maker, ...] = (
    concat_calls,
    split_calls,
    variadic_split_calls,
    slice_calls,
    slice_scatter_calls,
    strided_slice_calls,
)
