"""Blocks of tensors of any kind."""

import numpy as np

from ir_tools.graph import Source
from tests.releases.networks.network import BLOCKS, IMAGE, KINDS, Network, block

UNARY = ("ReLU", "Swish", "HSwish", "Mish", "Gelu", "HSigmoid", "Sigmoid", "Tanh", "SoftPlus", "Abs", "Exp", "SoftSign")


@block("rows", "image", "volume")
def activation(net: Network, x: Source) -> Source:
    """Compute each element, by one layer or several."""
    kind = net.one(*UNARY, "Clamp", "Elu", "PReLU", "gate", "erf", "tanh", "Selu", "HardSigmoid", "none")
    if kind == "none":
        return x
    if kind == "gate":
        return net.call("Multiply", x, net.call("Sigmoid", x))
    if kind == "erf":
        shifted = net.call("Add", net.call("Erf", net.call("Divide", x, net.floats([2**0.5]))), net.floats([1]))
        return net.call("Multiply", net.call("Multiply", x, shifted), net.floats([0.5]))
    if kind == "tanh":
        cube = net.call("Multiply", net.call("Power", x, net.floats([3])), net.floats([0.044715]))
        bent = net.call("Tanh", net.call("Multiply", net.call("Add", x, cube), net.floats([0.7978846])))
        return net.call("Multiply", net.call("Multiply", x, net.floats([0.5])), net.call("Add", bent, net.floats([1])))
    more: dict[str, list[object]] = {"PReLU": [[0.1]], "Selu": [[1.67], [1.05]], "HardSigmoid": [0.2, 0.5]}
    settings = {"Clamp": {"min": 0.0, "max": 6.0}, "Elu": {"alpha": 1.0}}.get(kind, {})
    return net.call(kind, x, *(net.floats(one) for one in more.get(kind, [])), **settings)


@block("rows", "image", "volume")
def residual(net: Network, x: Source) -> Source:
    """Join a tensor with what another block of the same kind makes of it, if the sizes fit, or with itself."""
    other = net.one(*BLOCKS[KINDS[len(net.sizes(x))]])(net, x)
    if net.sizes(other) != net.sizes(x):
        other = activation(net, x)
    return net.call(net.one("Add", "Add", "Multiply", "Maximum", "Subtract"), *net.one((x, other), (other, x)))


@block("rows", "image", "volume")
def softmax(net: Network, x: Source) -> Source:
    rank = len(net.sizes(x))
    return net.call(net.one("SoftMax", "LogSoftmax"), x, axis=net.one(*range(1, rank), -1))


@block("rows", "image")
def normalized(net: Network, x: Source) -> Source:
    """Normalize along some axes, by one layer or several."""
    axes = net.one((1,), (-1,), (len(net.sizes(x)) - 1,))
    kind = net.one("NormalizeL2", "l2", "range", "MVN")
    if kind == "NormalizeL2":
        return net.call(kind, x, net.long(axes), eps=1e-6, eps_mode=net.one("add", "max"))
    if kind == "MVN":
        mode = net.one("inside_sqrt", "outside_sqrt")
        return net.call(kind, x, net.long(axes), eps=1e-5, normalize_variance=True, eps_mode=mode)
    if kind == "l2":
        norm = net.call("ReduceL2", x, net.whole(*axes), keep_dims=True)
        return net.call("Divide", x, net.call(net.one("Maximum", "Add"), norm, net.floats([1e-3])))
    least, most = (net.call(type, x, net.whole(*axes), keep_dims=True) for type in ("ReduceMin", "ReduceMax"))
    width = net.call("Add", net.call("Subtract", most, least), net.floats([0.01]))
    return net.call("Divide", net.call("Subtract", x, least), width)


@block("rows", "image")
def cut(net: Network, x: Source) -> Source:
    """Take a part of a tensor, forwards or backwards, by constants or by half of a size."""
    rank = len(net.sizes(x))
    axis = rank - net.one(1, 2) if rank == IMAGE else 1
    if any(array.shape[axis] == 1 for array in net.fed.values() if array.ndim > axis):
        return x
    kind = net.one("constant", "computed", "backwards", "strided")
    if kind == "computed":
        size = net.call("Divide", net.size_of(x, axis), net.long([2]))
        return net.call("Slice", x, net.long([0]), size, net.long([1]), net.long([axis]))
    if kind == "strided":
        kept = [int(place != axis) for place in range(rank)]
        steps = [1 if whole else 2 for whole in kept]
        limits = [net.long([0] * rank), net.long([99] * rank), net.long(steps)]
        masks = dict.fromkeys(("new_axis_mask", "shrink_axis_mask", "ellipsis_mask"), [0] * rank)
        return net.call("StridedSlice", x, *limits, begin_mask=kept, end_mask=kept, **masks)
    start, end, step = (-1, -9999, -1) if kind == "backwards" else (1, net.one(999, -1), 1)
    return net.call("Slice", x, *(net.long([one]) for one in (start, end, step, axis)))


@block("rows", "image", "volume")
def chosen(net: Network, x: Source) -> Source:
    """Choose elements by a comparison."""
    other = net.one(net.floats(0.0), net.call("ReduceMean", x, net.whole(-1), keep_dims=True))
    return net.call("Select", net.call(net.one("Greater", "LessEqual"), x, other), x, net.floats(0.1))


@block("rows", "image")
def shifted(net: Network, x: Source) -> Source:
    axis = len(net.sizes(x)) - 1
    if net.chance(0.5):
        return net.call("Roll", x, net.whole(net.one(1, -1)), net.whole(axis))
    ends = [0] * axis + [1]
    padded = net.call("Pad", x, net.long(ends), net.long(ends), net.floats(0.5), pad_mode=net.one("constant", "edge"))
    return net.call("Slice", padded, net.long([0]), net.long([-2]), net.long([1]), net.long([axis]))


@block("rows", "image", "volume")
def spread(net: Network, x: Source) -> Source:
    """Combine a tensor with its maximum, repeated to its sizes."""
    most = net.call("ReduceMax", x, net.whole(1), keep_dims=True)
    sizes = net.call("ShapeOf", x, output_type=net.one("i64", "i32"))
    return net.call("Add", x, net.call("Broadcast", most, sizes, mode=net.one("numpy", "bidirectional")))


@block("rows", "image", "volume")
def quantized(net: Network, x: Source) -> Source:
    """Round to steps that no value is a tie of."""
    limits = [net.floats(np.full([1] * len(net.sizes(x)), one)) for one in (-2.87, 3.13, -2.87, 3.13)]
    return net.call("FakeQuantize", x, *limits, levels=7)
