"""Rewrite normalisations to the versions or operations of other opsets."""

from collections.abc import Sequence

import numpy as np

from ir_tools.ops._layers import DATA, ROUNDED, Layers, by_formula, composed
from ir_tools.ops._versions import VersionStep
from ir_tools.ops.definition import Fact, Lowering, Ref, Refused, Rewrite, Step
from ir_tools.ops.fields import Attrs

__all__ = [
    "batch_norm_by_channels",
    "by_length",
    "global_response",
    "group_normalization",
    "migrate_batch_norm",
    "migrate_mvn_1",
    "migrate_mvn_6",
    "of_floats",
]


def migrate_batch_norm(version: int) -> VersionStep:
    """Return the step of a version of BatchNormInference: version 5 has the data first, version 1 as input 2."""
    order = (1, 2, 0, 3, 4) if version == 5 else (2, 0, 1, 3, 4)

    def change(layers: Layers, attrs: Attrs, other: int) -> Rewrite:
        inputs = (Ref(None, number) for number in order)
        layers.call("BatchNormInference", *inputs, version=other, epsilon=attrs.epsilon)
        return layers.rewrite("inputs in the other order", "the versions differ only in the order of the inputs")

    return VersionStep("BatchNormInference", version, change)


def batch_norm_by_channels(data: int) -> Step:
    """Return the formula of BatchNormInference. `data`: which input the data is."""
    gamma, beta, mean, variance = (number for number in range(5) if number != data)

    @by_formula("(x - mean) / sqrt(variance + epsilon) * gamma + beta", wide=True)
    def step(layers: Layers, attrs: Attrs) -> Ref:
        x = layers.working(data)
        sizes = np.array([1, -1, *[1] * (layers.rank(x) - 2)], np.int64)

        def of_channels(number: int) -> Ref:
            return layers.reshape(layers.working(number), sizes)

        spread = layers.call("Add", of_channels(variance), attrs.epsilon)
        centred = layers.call("Subtract", x, of_channels(mean))
        normal = layers.call("Divide", centred, layers.call("Sqrt", spread))
        return layers.call("Add", layers.call("Multiply", normal, of_channels(gamma)), of_channels(beta))

    return step


@by_formula("x / sqrt(sum of x^2 over the channels + bias)", wide=True)
def global_response(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite GRN-1."""
    if not layers.inputs[0].dtype.is_float:
        return ROUNDED
    data = layers.working(0)
    squares = layers.call("ReduceSum", layers.call("Multiply", data, data), np.array([1], np.int64), keep_dims=True)
    total = layers.call("Add", squares, attrs.bias)
    return layers.call("Divide", data, layers.call("Sqrt", total))


@by_formula("x / sqrt(sum of x^2 along the axes + eps), or of the larger of both", wide=True)
def by_length(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite NormalizeL2-1."""
    if not layers.inputs[0].dtype.is_float:
        return ROUNDED
    data = layers.working(0)
    squares = layers.call("ReduceSum", layers.call("Multiply", data, data), Ref(None, 1), keep_dims=True)
    combined = "Add" if attrs.eps_mode == "add" else "Maximum"
    total = layers.call(combined, squares, attrs.eps)
    return layers.call("Divide", data, layers.call("Sqrt", total))


def migrate_mvn_1(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | None:
    """Rewrite MVN-1 with its axes as an input, from opset6 on, if the rank is known; every opset reads it as it is."""
    shape = inputs[0].shape
    across = 1 in attrs.reduction_axes if attrs.reduction_axes else attrs.across_channels
    eps, variance = attrs.eps, attrs.normalize_variance
    first = 1 if across else 2
    if target < 6 or shape is None or len(shape) <= first:
        return None
    layers = Layers(inputs, target)
    axes = np.arange(first, len(shape), dtype=np.int64)
    layers.call("MVN", DATA, axes, eps=eps, eps_mode="inside_sqrt", normalize_variance=variance)
    return layers.rewrite("axes as an input", f"MVN-1 normalizes over axes {first} to {len(shape) - 1}")


def _mvn_1(layers: Layers, data: Ref, *, across: bool, variance: bool, eps: float) -> Ref:
    """Add MVN-1 with its flags as numbers, as OpenVINO 2021.2 reads them."""
    flags = {"across_channels": str(int(across)), "normalize_variance": str(int(variance))}
    return layers.call("MVN", data, version=min(layers.target, 2), eps=eps, **flags)


def _mvn_before_6(attrs: Attrs, inputs: Sequence[Fact], target: int) -> Rewrite | Refused | None:
    """Rewrite MVN-6 before opset6: MVN-1 if it has the same axes, else its formula."""
    shape, axes = inputs[0].shape, inputs[1].integers()
    if shape is None or not axes or attrs.eps_mode == "outside_sqrt":
        return _normalized(attrs, inputs, target)
    places, rank = sorted({axis % len(shape) for axis in axes}), len(shape)
    across = places == [*range(1, rank)] and rank > 1
    if not across and places != [*range(2, rank)]:
        return _normalized(attrs, inputs, target)
    layers = Layers(inputs, target)
    _mvn_1(layers, DATA, across=across, variance=attrs.normalize_variance, eps=attrs.eps)
    return layers.rewrite("axes as an attribute", f"MVN-1 normalizes over axes {places[0]} to {rank - 1}")


migrate_mvn_6 = Lowering(6, _mvn_before_6)


@composed(
    6, "(x - mean) / sqrt(mean of (x - mean)^2 + eps), with eps inside or outside the root as eps_mode says", wide=True
)
def _normalized(layers: Layers, attrs: Attrs) -> Ref | Refused:
    if not layers.fact(DATA).dtype.is_float:
        return ROUNDED
    data, axes, eps, outside = layers.working(0), Ref(None, 1), attrs.eps, attrs.eps_mode == "outside_sqrt"
    centred = layers.call("Subtract", data, layers.call("ReduceMean", data, axes, keep_dims=True))
    if not attrs.normalize_variance:
        return centred
    squares = layers.call("Multiply", centred, centred)
    spread: Ref = layers.call("ReduceMean", squares, axes, keep_dims=True)
    if outside:
        return layers.call("Divide", centred, layers.call("Add", layers.call("Sqrt", spread), eps))
    return layers.call("Divide", centred, layers.call("Sqrt", layers.call("Add", spread, eps)))


@composed(12, "every group of channels normalized by MVN, times scale, plus bias")
def group_normalization(layers: Layers, attrs: Attrs) -> Ref:
    """Rewrite GroupNormalization-12."""
    rank = layers.rank(DATA)
    groups = layers.reshape(DATA, np.array([0, attrs.num_groups, -1], np.int64))
    if layers.target >= 6:
        axes = np.array([2], np.int64)
        mixed = layers.call("MVN", groups, axes, normalize_variance=True, eps=attrs.epsilon, eps_mode="inside_sqrt")
    else:
        mixed = _mvn_1(layers, groups, across=False, variance=True, eps=attrs.epsilon)
    found = layers.call("Reshape", mixed, layers.sizes(DATA), special_zero=False)
    for type, number in (("Multiply", 1), ("Add", 2)):
        values = layers.to_type(Ref(None, number), layers.fact(DATA).dtype)
        if rank > 2:
            values = layers.call("Unsqueeze", values, np.arange(1, rank - 1, dtype=np.int64))
        found = layers.call(type, found, values)
    return found


@by_formula("the maximum of equal values is the value")
def of_floats(layers: Layers, attrs: Attrs) -> Ref | Refused:
    """Rewrite MVN-6 of data that a release would leave in bytes."""
    if layers.target < 6:
        return Refused(f"opset{layers.target} has no MVN-6")
    data = layers.call("Maximum", Ref(None), Ref(None))
    settings = {name: attrs[name] for name in ("normalize_variance", "eps", "eps_mode")}
    return layers.call("MVN", data, Ref(None, 1), **settings)
