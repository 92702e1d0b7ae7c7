"""Random legacy layers that only move elements: reshape, transpose, join, cut, repeat, pad."""

import numpy as np

from ir_tools.ops.fields import listed
from tests.legacy.net import Array, LegacyCase, Maker, Net, Rng, chance, dims, kind_of, optional, pick, single


def _numbers(net: Net, *shape: int) -> Array:
    """Return random floats, seldom integers."""
    return net.rng.integers(-9, 10, shape).astype(np.int32) if chance(net.rng, 0.15) else net.values(*shape)


def _regrouped(rng: Rng, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Draw another shape of as many elements."""
    left, sizes = int(np.prod(shape)), []
    for _ in range(int(rng.integers(0, 4))):
        size = pick(rng, *(number for number in range(1, left + 1) if left % number == 0))
        sizes.append(size)
        left //= size
    return (*sizes, left)


def reshape(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 1, 4)
    out = _regrouped(rng, shape)
    source = net.input(_numbers(net, *shape))
    inputs = [source]
    data: dict[str, object] | None = {"dim": listed(pick(rng, out, (*out[:-1], -1)))}
    if version >= 6 and chance(rng, 0.4):
        inputs.append(net.const(np.array(out, np.int32)))
        data = pick(rng, None, {"dim": ""})
    if data is not None and chance(rng, 0.3):
        data |= {"axis": 0, "num_axes": -1}
    net.layer(kind_of(rng, "Reshape"), inputs, [out], data, precision=source.precision)
    return net.case()


def flatten(rng: Rng, version: int) -> LegacyCase:
    shape = dims(rng, 2, 4)
    axis = int(rng.integers(0, len(shape)))
    out = (*shape[:axis], int(np.prod(shape[axis:])))
    data: dict[str, object] = {"axis": axis, "end_axis": -1}
    return single(rng, version, kind_of(rng, "Flatten"), shape, optional(rng, data, end_axis=-1), out)


def permute(rng: Rng, version: int) -> LegacyCase:
    shape = dims(rng, 2, 5)
    order = rng.permutation(len(shape)).tolist()
    if order == [2, 1, 0]:
        order = [0, 2, 1]
    out = [shape[axis] for axis in order]
    return single(rng, version, kind_of(rng, "Permute"), shape, {"order": listed(order)}, out)


def squeeze(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = [int(size) for size in rng.integers(1, 5, int(rng.integers(2, 5)))]
    axes = sorted(rng.choice(len(shape), int(rng.integers(1, len(shape))), replace=False).tolist())
    for axis in axes:
        shape[axis] = 1
    out = [size for axis, size in enumerate(shape) if axis not in axes]
    net.layer("Squeeze", [net.input(net.values(*shape)), net.const(np.array(axes, np.int32))], [out])
    return net.case()


def unsqueeze(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 1, 3)
    count = int(rng.integers(1, 3))
    axes = sorted(rng.choice(len(shape) + count, count, replace=False).tolist())
    out = list(shape)
    for axis in axes:
        out.insert(axis, 1)
    net.layer("Unsqueeze", [net.input(net.values(*shape)), net.const(np.array(axes, np.int32))], [out])
    return net.case()


def concat(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = list(dims(rng, 2, 5))
    axis = int(rng.integers(0, len(shape)))
    lengths = [int(size) for size in rng.integers(1, 5, int(rng.integers(1, 5)))]
    kind = _numbers(net, 1).dtype
    inputs = [net.input(net.values(*shape[:axis], length, *shape[axis + 1 :]).astype(kind)) for length in lengths]
    out = [*shape[:axis], sum(lengths), *shape[axis + 1 :]]
    data = optional(rng, {"axis": axis}, axis=1)
    net.layer(kind_of(rng, "Concat"), inputs, [out], data, precision=inputs[0].precision)
    return net.case()


def _split(kind: str) -> Maker:
    def maker(rng: Rng, version: int) -> LegacyCase:
        net = Net(rng, version)
        shape = list(dims(rng, 2, 4))
        axis = int(rng.integers(0, len(shape)))
        lengths = [int(size) for size in rng.integers(1, 5, int(rng.integers(2, 5)))]
        if chance(rng, 0.4):
            lengths = [lengths[0]] * len(lengths)
        shape[axis] = sum(lengths)
        outs = [[*shape[:axis], length, *shape[axis + 1 :]] for length in lengths]
        data = optional(rng, {"axis": axis}, axis=1)
        if len(set(lengths)) == 1 and chance(rng, 0.5):
            data["num_split"] = len(lengths)
        net.layer(kind_of(rng, kind), [net.input(net.values(*shape))], outs, data)
        return net.case()

    return maker


def crop(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 4, 4, 8)
    axes = sorted(rng.choice(4, int(rng.integers(1, 5)), replace=False).tolist())
    out, begin, end = list(shape), [], []
    for axis in axes:
        out[axis] = int(rng.integers(1, shape[axis] + 1))
        begin.append(int(rng.integers(0, shape[axis] - out[axis] + 1)))
        end.append(shape[axis] - out[axis] - begin[-1])
    inputs = [net.input(net.values(*shape))]
    kept = listed([out[axis] for axis in axes])
    data = {"axis": listed(axes)}
    style = pick(rng, "dim", "crop_begin", "like")
    if style == "dim":
        data |= {"offset": listed(begin), "dim": kept}
    elif style == "crop_begin":
        data |= {"crop_begin": listed(begin), "crop_end": listed(end)}
    else:
        data |= {"offset": listed(begin)}
        inputs.append(net.input(net.values(*out)))
    net.layer(kind_of(rng, "Crop"), inputs, [out], data)
    return net.case()


def tile(rng: Rng, version: int) -> LegacyCase:
    shape = dims(rng, 1, 4)
    axis, tiles = int(rng.integers(0, len(shape))), int(rng.integers(1, 4))
    out = list(shape)
    out[axis] *= tiles
    return single(rng, version, kind_of(rng, "Tile"), shape, {"axis": axis, "tiles": tiles}, out)


def pad(rng: Rng, version: int) -> LegacyCase:
    shape = tuple(int(size) for size in rng.integers(3, 7, int(rng.integers(1, 5))))
    begin, end = rng.integers(0, 3, len(shape)), rng.integers(0, 3, len(shape))
    data: dict[str, object] = {
        "pads_begin": listed(begin.tolist()),
        "pads_end": listed(end.tolist()),
        "pad_mode": pick(rng, "constant", "edge", "reflect", "symmetric"),
        "pad_value": pick(rng, "0", "0.0", "-1.5"),
    }
    out = [int(size) for size in shape + begin + end]
    return single(rng, version, "Pad", shape, optional(rng, data, pad_value="0"), out)


def depth_to_space(rng: Rng, version: int) -> LegacyCase:
    batch, channels, height, width = dims(rng, 4, 4, 4)
    block = int(rng.integers(1, 4))
    data = optional(rng, {"block_size": block}, block_size=1)
    shape = (batch, channels * block * block, height, width)
    return single(rng, version, "DepthToSpace", shape, data, (batch, channels, height * block, width * block))


def space_to_depth(rng: Rng, version: int) -> LegacyCase:
    batch, channels, height, width = dims(rng, 4, 4, 4)
    block = int(rng.integers(1, 4))
    data = optional(rng, {"block_size": block}, block_size=1)
    out = (batch, channels * block * block, height, width)
    return single(rng, version, "SpaceToDepth", (batch, channels, height * block, width * block), data, out)


def shuffle_channels(rng: Rng, version: int) -> LegacyCase:
    shape = list(dims(rng, 2, 4))
    axis, group = int(rng.integers(-len(shape), len(shape))), int(rng.integers(1, 4))
    shape[axis] *= group
    data = optional(rng, {"axis": axis, "group": group}, axis=1, group=1)
    return single(rng, version, kind_of(rng, "ShuffleChannels", 0), shape, data)


def strided_slice(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = tuple(int(size) for size in rng.integers(1, 7, int(rng.integers(1, 5))))
    begin, end, step, out, slices = [], [], [], [], []
    begin_mask, end_mask, shrink_mask = [], [], []
    for size in shape:
        first = int(rng.integers(0, size))
        last = int(rng.integers(first + 1, size + 1))
        stride = pick(rng, 1, 1, 2)
        use_begin, use_end, shrink = int(chance(rng, 0.8)), int(chance(rng, 0.8)), int(chance(rng, 0.15))
        if shrink:
            use_begin, use_end, stride, last = 1, 1, 1, first + 1
        begin.append(first - (size if chance(rng, 0.2) and not shrink else 0))
        end.append(last)
        step.append(stride)
        begin_mask.append(use_begin)
        end_mask.append(use_end)
        shrink_mask.append(shrink)
        slices.append(slice(first if use_begin else None, last if use_end else None, stride))
    taken = np.empty(shape)[tuple(slices)].shape
    out = [size for size, gone in zip(taken, shrink_mask, strict=True) if not gone] or [1]
    data: dict[str, object] = {"begin_mask": listed(begin_mask), "end_mask": listed(end_mask)}
    if any(shrink_mask) or chance(rng, 0.5):
        data["shrink_axis_mask"] = listed(shrink_mask)
    if chance(rng, 0.3):
        data |= {"new_axis_mask": "0", "ellipsis_mask": "0"}
    inputs = [net.input(net.values(*shape)), net.const(np.array(begin, np.int32)), net.const(np.array(end, np.int32))]
    if any(stride != 1 for stride in step) or chance(rng, 0.5):
        inputs.append(net.const(np.array(step, np.int32)))
    net.layer(kind_of(rng, "StridedSlice", 0), inputs, [out], data)
    return net.case()


def broadcast(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    out = dims(rng, 1, 4)
    shape = tuple(1 if chance(rng, 0.4) else size for size in out)[int(rng.integers(0, len(out))) :]
    net.layer("Broadcast", [net.input(net.values(*shape)), net.const(np.array(out, np.int32))], [out])
    return net.case()


def reverse_sequence(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 2, 4)
    batch_axis, seq_axis = rng.permutation(len(shape))[:2].tolist()
    lengths = rng.integers(1, shape[seq_axis] + 1, shape[batch_axis]).astype(np.int32)
    data = optional(rng, {"seq_axis": seq_axis, "batch_axis": batch_axis}, seq_axis=1, batch_axis=0)
    source = net.input(net.values(*shape))
    fed = net.input(lengths) if chance(rng, 0.5) else net.const(lengths)
    net.layer("ReverseSequence", [source, fed], [shape], data)
    return net.case()


def gather(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 1, 4)
    axis = int(rng.integers(-len(shape), len(shape)))
    places = rng.integers(0, shape[axis], dims(rng, 1, 2, 4)).astype(pick(rng, np.int32, np.int32, np.float32))
    at = axis % len(shape)
    out = (*shape[:at], *places.shape, *shape[at + 1 :])
    source = net.input(_numbers(net, *shape))
    fed = net.input(places) if chance(rng, 0.5) else net.const(places)
    net.layer("Gather", [source, fed], [out], {"axis": axis}, precision=source.precision)
    return net.case()


MAKERS: dict[str, Maker] = {
    "Reshape": reshape,
    "Flatten": flatten,
    "Permute": permute,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
    "Concat": concat,
    "Split": _split("Split"),
    "Slice": _split("Slice"),
    "Crop": crop,
    "Tile": tile,
    "Pad": pad,
    "DepthToSpace": depth_to_space,
    "SpaceToDepth": space_to_depth,
    "ShuffleChannels": shuffle_channels,
    "StridedSlice": strided_slice,
    "Broadcast": broadcast,
    "ReverseSequence": reverse_sequence,
    "Gather": gather,
}
