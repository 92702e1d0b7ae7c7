"""Normalisation of IR v2 to v7: Norm, BatchNormalization, ScaleShift, Normalize, MVN, GRN.

Source: measured on Inference Engine 2020.1.
"""

from collections.abc import Collection, Mapping, Sequence

from ir_tools.graph import Source
from ir_tools.ops.definition import Fact, Refused
from ir_tools.ops.fields import Attrs, Float, Int, Text
from ir_tools.ops.legacy.definition import LegacyFlag, LegacyLayer, legacy_type, sizes_of

__all__ = ["OPS"]


def norm(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return LRN across channels, or over height and width; the two spellings of the size are added up."""
    attrs = layer.attrs
    size = attrs.local_size + attrs.local_size_with_hyphen
    axes = [1] if attrs.region.lower() == "across" else [2, 3]
    numbers = {"alpha": attrs.alpha, "beta": attrs.beta, "bias": float(attrs.k), "size": size}
    return (layer.call("LRN", layer.inputs[0], axes, **numbers),)


def batch_normalization(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return (x - biases) / sqrt(weights + epsilon): the weights are variances, the biases means."""
    data = layer.inputs[0]
    channels = layer.sizes(data)[1]
    mean, variance = (layer.blob(name, [channels]) for name in ("biases", "weights"))
    ones, zeros = [1.0] * channels, [0.0] * channels
    return (layer.call("BatchNormInference", data, ones, zeros, mean, variance, epsilon=layer.attrs.epsilon),)


def scale_shift(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return x weights + biases; each has a number for every channel, or one for all."""
    tensor = layer.inputs[0]
    rank, channels = len(layer.sizes(tensor)), layer.sizes(tensor)[1]
    for name, kind in (("weights", "Multiply"), ("biases", "Add")):
        count = layer.blob_size(name)
        if count:
            shape = [1, channels if count > 1 else 1, *[1] * (rank - 2)]
            tensor = layer.call(kind, tensor, layer.blob(name, shape))
    return (tensor,)


def normalize(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return x / sqrt(sum of x^2 + eps) times the weights; the sum is over channels, or over all of an image."""
    attrs, data = layer.attrs, layer.inputs[0]
    rank, channels = len(layer.sizes(data)), layer.sizes(data)[1]
    axes = [*range(1, rank)] if attrs.across_spatial else [1]
    found = layer.call("NormalizeL2", data, axes, eps=attrs.eps, eps_mode="add")
    shape = [1, 1 if attrs.channel_shared else channels, *[1] * (rank - 2)]
    return (layer.call("Multiply", found, layer.blob("weights", shape)),)


def mvn(layer: LegacyLayer) -> tuple[Source, ...] | Refused:
    """Return x - mean, divided by the standard deviation if `normalize_variance` is 1."""
    attrs, data = layer.attrs, layer.inputs[0]
    rank = len(layer.sizes(data))
    if rank < 4:
        return Refused(f"Inference Engine 2020.1 reads memory outside the input if it has {rank} dimensions")
    axes = [*range(1 if attrs.across_channels else 2, rank)]
    numbers = {"normalize_variance": attrs.normalize_variance, "eps": attrs.eps, "eps_mode": "inside_sqrt"}
    return (layer.call("MVN", data, axes, **numbers),)


def grn(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return x / sqrt(sum of x^2 over channels + bias)."""
    return (layer.call("GRN", layer.inputs[0], bias=layer.attrs.bias),)


def _statistics(attrs: Attrs, inputs: Sequence[Fact], outputs: Sequence[Fact]) -> Mapping[str, Collection[int]]:
    channels = sizes_of(inputs, rank=2)[1]
    return {"weights": {channels}, "biases": {channels}}


def _scales(attrs: Attrs, inputs: Sequence[Fact], outputs: Sequence[Fact]) -> Mapping[str, Collection[int]]:
    channels = sizes_of(inputs, rank=2)[1]
    return {"weights": {1, channels}, "biases": {0, 1, channels}}


def _factors(attrs: Attrs, inputs: Sequence[Fact], outputs: Sequence[Fact]) -> Mapping[str, Collection[int]]:
    return {"weights": {1 if attrs.channel_shared else sizes_of(inputs, rank=2)[1]}}


OPS = (
    legacy_type(
        "Norm",
        norm,
        attrs={
            "alpha": Float(),
            "beta": Float(),
            "k": Int(default=1),
            "local_size": Int(default=0, minimum=0),
            "local_size_with_hyphen": Int(xml="local-size", default=0, minimum=0),
            "region": Text(),
        },
    ),
    legacy_type("BatchNormalization", batch_normalization, attrs={"epsilon": Float()}, blobs=_statistics),
    legacy_type("ScaleShift", scale_shift, attrs={"broadcast": Int(default=2)}, blobs=_scales),
    legacy_type(
        "Normalize",
        normalize,
        attrs={
            "across_spatial": LegacyFlag(default=False),
            "channel_shared": LegacyFlag(default=False),
            "eps": Float(),
        },
        blobs=_factors,
    ),
    legacy_type(
        "MVN",
        mvn,
        attrs={
            "across_channels": LegacyFlag(default=False),
            "normalize_variance": LegacyFlag(default=True),
            "eps": Float(),
        },
    ),
    legacy_type("GRN", grn, attrs={"bias": Float(default=0.0)}),
)
