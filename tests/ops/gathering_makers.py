"""Layers that pick and put elements by index: random settings of them for shapes, and calls for values."""

import numpy as np

from ir_tools.ops import gathering, scattering
from ir_tools.types import Dim
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


def similar(rng: Rng, dims: list[Dim], share: float = 0.15) -> list[Dim]:
    """The same dimensions with some of them less known, or others."""
    return [(Dim() if rng.random() < 0.8 else random_dim(rng)) if rng.random() < share else dim for dim in dims]


def kind_of(slot: Slot) -> str:
    return slot[0] if isinstance(slot, tuple) else "i64"


def gathers(rng: Rng) -> Setting:
    op = (gathering.GATHER_1, gathering.GATHER_7, gathering.GATHER_8)[rng.integers(3)]
    slot, dims = valued(rng)
    axis = some_axis(rng, len(dims))
    raw = {}
    if not isinstance(slot, tuple) and rng.random() < 0.8:
        sizes = rng.integers(0, 3, rng.integers(0, 3)).tolist()
        flat = rng.integers(-2, 3, int(np.prod(sizes)))
        indices: Slot = flat.reshape(sizes)
        if rng.random() < 0.3:
            indices = values(rng, flat.tolist())
        return Setting(op, [slot, indices, np.array(0)])
    shape = list(random_dims(rng, 0, 3))
    if op.version > 1 and rng.random() < 0.5:
        batches = int(rng.integers(0, 3))
        shape[:batches] = similar(rng, list(dims[:batches]))
        raw["batch_dims"] = str(batches - (len(shape) if rng.random() < 0.3 else 0))
        axis = int(rng.integers(min(batches, max(len(dims) - 1, 0)), max(len(dims), 1)))
    scalar = rng.random() < 0.5
    return Setting(op, [slot, parameter(rng, shape, "i32"), values(rng, [axis], scalar=scalar)], raw)


def gathered_elements(rng: Rng) -> Setting:
    dims = list(random_dims(rng, 1))
    axis = some_axis(rng, len(dims))
    shape = similar(rng, dims)
    if -len(dims) <= axis < len(dims):
        shape[axis] = random_dim(rng)
    return Setting(gathering.GATHER_ELEMENTS, [parameter(rng, dims), parameter(rng, shape, "i32")], {"axis": str(axis)})


def gathers_nd(rng: Rng) -> Setting:
    op = gathering.GATHER_ND_5 if rng.random() < 0.5 else gathering.GATHER_ND_8
    dims = list(random_dims(rng, 1))
    batches = int(rng.integers(0, len(dims)))
    shape = [*similar(rng, dims[:batches]), *random_dims(rng, 0, 2)]
    if rng.random() < 0.9:
        shape.append(Dim.of(int(rng.integers(0 if rng.random() < 0.1 else 1, len(dims) - batches + 1))))
    slots = [parameter(rng, dims), parameter(rng, shape, "i64")]
    return Setting(op, slots, {"batch_dims": str(batches)} if rng.random() < 0.8 or batches else {})


def trees(rng: Rng) -> Setting:
    dims = list(random_dims(rng, 3, 3) if rng.random() < 0.9 else random_dims(rng))
    lengths = similar(rng, dims[1:2]) if rng.random() < 0.9 else list(random_dims(rng, 0, 2))
    shapes = [dims, similar(rng, dims), lengths, []]
    return Setting(gathering.GATHER_TREE, [parameter(rng, shape, "i32") for shape in shapes])


def one_hots(rng: Rng) -> Setting:
    op = gathering.ONE_HOT_1 if rng.random() < 0.5 else gathering.ONE_HOT_16
    slot, dims = valued(rng)
    if isinstance(slot, tuple):
        slot = ("i32", slot[1])
    axis = some_axis(rng, len(dims) + 1)
    depth = values(rng, [int(rng.integers(-1 if rng.random() < 0.1 else 0, 5))], scalar=True)
    raw = {"axis": str(axis)}
    if op.version == 16 and rng.random() < 0.7:
        raw["negative_indices_mode"] = str(rng.choice(["ignore_negative", "normalize"]))
    return Setting(op, [slot, depth, np.array(7), np.array(-3)], raw)


def updates(rng: Rng) -> Setting:
    slot, dims = valued(rng, 1)
    axis = some_axis(rng, len(dims))
    if not isinstance(slot, tuple):
        count = int(rng.integers(1, 3))
        indices = np.array(rng.permutation(dims[0].lo)[:count])
        return Setting(
            scattering.SCATTER_UPDATE, [slot, indices, values(rng, [5, 6][: len(indices)], kind="i64"), np.array(0)]
        )
    shape = list(random_dims(rng, 0, 2))
    place = axis % len(dims)
    row = similar(rng, [*dims[:place], *shape, *dims[place + 1 :]])
    if rng.random() < 0.1:
        row = list(random_dims(rng))
    slots = [
        slot,
        parameter(rng, shape, "i32"),
        parameter(rng, row),
        values(rng, [axis], scalar=bool(rng.random() < 0.5)),
    ]
    return Setting(scattering.SCATTER_UPDATE, slots)


def element_updates(rng: Rng) -> Setting:
    op = scattering.SCATTER_ELEMENTS_3 if rng.random() < 0.5 else scattering.SCATTER_ELEMENTS_12
    slot, dims = valued(rng, 1)
    axis = some_axis(rng, len(dims))
    raw = {"reduction": str(rng.choice(["none", "sum", "mean"]))} if op.version == 12 and rng.random() < 0.5 else {}
    if not isinstance(slot, tuple):
        indices = np.array(rng.permutation(dims[0].lo)[: int(rng.integers(1, 3))])
        return Setting(op, [slot, indices, values(rng, [5, 6][: len(indices)], kind="i64"), np.array(0)], raw)
    shape = [random_dim(rng) for _ in range(len(dims) + int(rng.random() < 0.05))]
    slots = [slot, parameter(rng, shape, "i32"), parameter(rng, similar(rng, shape)), values(rng, [axis], scalar=True)]
    return Setting(op, slots, raw)


def updates_nd(rng: Rng) -> Setting:
    op = scattering.SCATTER_ND_4 if rng.random() < 0.5 else scattering.SCATTER_ND_15
    slot, dims = valued(rng, 1)
    raw = {"reduction": str(rng.choice(["none", "sum", "sub", "prod", "min", "max"]))} if op.version == 15 else {}
    if not isinstance(slot, tuple):
        indices = np.array(rng.permutation(dims[0].lo)[: int(rng.integers(1, 3))])[:, None]
        return Setting(op, [slot, indices, values(rng, [5, 6][: len(indices)], kind="i64")], raw)
    length = int(rng.integers(1, len(dims) + 1 + int(rng.random() < 0.05)))
    shape = list(random_dims(rng, 0, 2))
    row = similar(rng, [*shape, *dims[length:]])
    last = Dim.of(length) if rng.random() < 0.9 else random_dim(rng)
    return Setting(op, [slot, parameter(rng, [*shape, last], "i32"), parameter(rng, row)], raw)


SETTINGS: tuple[SettingMaker, ...] = (
    gathers,
    gathered_elements,
    gathers_nd,
    trees,
    one_hots,
    updates,
    element_updates,
    updates_nd,
)


# --- values -----------------------------------------------------------------------------------------------------


def gather_calls(rng: Rng) -> Fed:
    op = (gathering.GATHER_1, gathering.GATHER_7, gathering.GATHER_8)[rng.integers(3)]
    shape = [max(size, 1) for size in sizes(rng, 1)]
    axis = int(rng.integers(len(shape)))
    batches = int(rng.integers(0, axis + 1)) if op.version > 1 else 0
    if np.prod(shape[:axis]) == 1:
        batches = 0
    inner = rng.integers(1, 4, rng.integers(0, 3)).tolist()
    places = [*shape[:batches], *inner]
    constants = (2,) if batches else (2, *some(rng, 1))
    counts_back = op.version == 8 or (1 in constants and np.prod(places) == 1)
    least = -shape[axis] if counts_back else 0
    indices = rng.integers(least, shape[axis], places)
    place = axis - (len(shape) if rng.random() < 0.3 else 0)
    arrays = [tensor(rng, some_kind(rng), shape), integers(rng, indices), integers(rng, place)]
    raw = {"batch_dims": str(batches - (indices.ndim if batches and inner and rng.random() < 0.3 else 0))}
    return Fed(op, raw if op.version > 1 else {}, arrays, constants=constants)


def gather_elements_calls(rng: Rng) -> Fed:
    shape = [max(size, 1) for size in sizes(rng, 1)]
    axis = int(rng.integers(-len(shape), len(shape)))
    other = list(shape)
    other[axis] = int(rng.integers(1, 5))
    indices = rng.integers(-shape[axis] if rng.random() < 0.5 else 0, shape[axis], other)
    arrays = [tensor(rng, some_kind(rng), shape), integers(rng, indices)]
    return Fed(gathering.GATHER_ELEMENTS, {"axis": str(axis)}, arrays, constants=some(rng, 1))


def gather_nd_calls(rng: Rng) -> Fed:
    op = gathering.GATHER_ND_5 if rng.random() < 0.5 else gathering.GATHER_ND_8
    shape = [max(size, 1) for size in sizes(rng, 1)]
    batches = int(rng.integers(0, len(shape)))
    length = int(rng.integers(1, len(shape) - batches + 1))
    inner = rng.integers(1, 4, rng.integers(0, 3)).tolist()
    least = [-size if rng.random() < 0.5 else 0 for size in shape[batches : batches + length]]
    indices = rng.integers(least, shape[batches : batches + length], [*shape[:batches], *inner, length])
    arrays = [tensor(rng, some_kind(rng), shape), integers(rng, indices)]
    return Fed(op, {"batch_dims": str(batches)}, arrays, constants=some(rng, 1))


def tree_calls(rng: Rng) -> Fed:
    steps, batch, beams = rng.integers(1, 6, 3).tolist()
    kind = np.int32 if rng.random() < 0.6 else np.float32
    ids = rng.integers(0, 6, (steps, batch, beams))
    parents = rng.integers(0, beams, ids.shape)
    lengths = rng.integers(1, steps + 1, batch)
    arrays = [np.asarray(array).astype(kind) for array in (ids, parents, lengths, rng.integers(0, 6))]
    return Fed(gathering.GATHER_TREE, {}, arrays, constants=(3,))


def one_hot_calls(rng: Rng) -> Fed:
    op = gathering.ONE_HOT_1 if rng.random() < 0.5 else gathering.ONE_HOT_16
    shape = rng.integers(1, 4, rng.integers(0, 4)).tolist()
    depth = int(rng.integers(1, 5))
    indices = rng.integers(-depth - 1, depth + 2, shape)
    kind = some_kind(rng, ("f32", "i32", "u8", "boolean", "f16", "bf16", "i64"))
    arrays = [integers(rng, indices), integers(rng, depth), tensor(rng, kind, ()), tensor(rng, kind, ())]
    raw = {"axis": str(int(rng.integers(-len(shape) - 1, len(shape) + 1)))}
    if op.version == 16:
        raw["negative_indices_mode"] = str(rng.choice(["ignore_negative", "normalize"]))
    return Fed(op, raw, arrays, constants=(1, 2, 3))


def update_calls(rng: Rng) -> Fed:
    shape = [max(size, 1) for size in sizes(rng, 1)]
    axis = int(rng.integers(len(shape)))
    indices = rng.permutation(shape[axis])[: rng.integers(1, shape[axis] + 1)]
    if rng.random() < 0.3:
        indices = indices[None]
    kind = some_kind(rng)
    block = tensor(rng, kind, [*shape[:axis], *indices.shape, *shape[axis + 1 :]])
    place = integers(rng, axis - (len(shape) if rng.random() < 0.3 else 0))
    arrays = [tensor(rng, kind, shape), integers(rng, indices), block, place]
    return Fed(scattering.SCATTER_UPDATE, {}, arrays, constants=(3, *some(rng, 1)))


def element_update_calls(rng: Rng) -> Fed:
    op = scattering.SCATTER_ELEMENTS_3 if rng.random() < 0.3 else scattering.SCATTER_ELEMENTS_12
    shape = [max(size, 1) for size in sizes(rng, 1)]
    axis = int(rng.integers(len(shape)))
    raw, kind = {}, some_kind(rng)
    if op.version == 12:
        reduction = str(rng.choice(["none", "sum", "prod", "min", "max", "mean"]))
        raw = {"reduction": reduction, "use_init_val": str(rng.choice(["true", "false"]))}
        if reduction != "none":
            kind = some_kind(rng, ("f32", "i32", "f16", "bf16"))
    once = raw.get("reduction", "none") == "none"
    other = [int(rng.integers(1, size + 1)) for size in shape]
    indices = rng.random([shape[axis] if i == axis else size for i, size in enumerate(other)]).argsort(axis)
    indices = indices.take(range(other[axis]), axis) if once else rng.integers(0, shape[axis], other)
    indices = indices - (shape[axis] if rng.random() < 0.3 else 0)
    place = integers(rng, axis - (len(shape) if rng.random() < 0.3 else 0))
    arrays = [tensor(rng, kind, shape), integers(rng, indices), tensor(rng, kind, indices.shape), place]
    return Fed(op, raw, arrays, constants=(3, *some(rng, 1)))


def update_nd_calls(rng: Rng) -> Fed:
    op = scattering.SCATTER_ND_4 if rng.random() < 0.3 else scattering.SCATTER_ND_15
    shape = [max(size, 1) for size in sizes(rng, 1)]
    length = int(rng.integers(1, len(shape) + 1))
    raw, kind = {}, some_kind(rng)
    if op.version == 15:
        raw = {"reduction": str(rng.choice(["none", "sum", "sub", "prod", "min", "max"]))}
        if raw["reduction"] != "none":
            kind = some_kind(rng, ("f32", "i32", "f16", "bf16"))
    count = int(np.prod(shape[:length]))
    flat = rng.permutation(count)[: rng.integers(1, count + 1)]
    if raw.get("reduction", "none") != "none" and rng.random() < 0.5:
        flat = rng.integers(0, count, 4)
    indices = np.stack(np.unravel_index(flat, shape[:length]), -1)
    if rng.random() < 0.3:
        indices = indices - np.array(shape[:length])
    arrays = [tensor(rng, kind, shape), integers(rng, indices), tensor(rng, kind, [len(flat), *shape[length:]])]
    return Fed(op, raw, arrays, constants=some(rng, 1))


CALLS: tuple[Maker, ...] = (
    gather_calls,
    gather_elements_calls,
    gather_nd_calls,
    tree_calls,
    one_hot_calls,
    update_calls,
    element_update_calls,
    update_nd_calls,
)
