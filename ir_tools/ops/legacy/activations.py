"""Activations of IR v2 to v7: functions of one element, Power, and SoftMax.

Source: measured on Inference Engine 2020.1.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ir_tools.graph import Source
from ir_tools.ops.definition import Fact, Op
from ir_tools.ops.fields import Attrs, Field, Float, Int, OneOf
from ir_tools.ops.legacy.definition import LegacyFlag, LegacyLayer, LegacyStep, legacy_type, sizes_of, unary

__all__ = ["OPS"]

LARGEST = float(np.finfo(np.float32).max)


def relu(layer: LegacyLayer, data: Source) -> Source:
    """Return the input, negative elements times `negative_slope`."""
    slope = layer.attrs.negative_slope
    return layer.call("ReLU", data) if slope == 0 else layer.call("PRelu", data, [slope])


def prelu(layer: LegacyLayer, data: Source) -> Source:
    """Return the input, negative elements times the slope of their channel; `channel_shared` allows one for all."""
    shared = layer.attrs.channel_shared and layer.blob_size("weights") == 1
    count = 1 if shared else layer.sizes(data)[1]
    return layer.call("PRelu", data, layer.blob("weights", [count]))


def clamp(layer: LegacyLayer, data: Source) -> Source:
    """Return the input within `min` and `max`."""
    return layer.call("Clamp", data, min=layer.attrs.min, max=layer.attrs.max)


def relu6(layer: LegacyLayer, data: Source) -> Source:
    """Return the input within 0 and `n`."""
    return layer.call("Clamp", data, min=0.0, max=layer.attrs.n)


def elu(layer: LegacyLayer, data: Source) -> Source:
    """Return the input, `alpha` times exp(x) - 1 in place of negative elements."""
    return layer.call("Elu", data, alpha=layer.attrs.alpha)


def is_zero(layer: LegacyLayer, data: Source) -> Source:
    """Return 1 for elements that are 0, otherwise 0."""
    return layer.call("Convert", layer.call("Equal", data, 0.0), destination_type="f32")


def reciprocal(layer: LegacyLayer, data: Source) -> Source:
    """Return 1 / x."""
    return layer.call("Divide", 1.0, data)


def softsign(layer: LegacyLayer, data: Source) -> Source:
    """Return x / (1 + abs(x))."""
    return layer.call("Divide", data, layer.call("Add", layer.call("Abs", data), 1.0))


def hard_sigmoid(layer: LegacyLayer, data: Source) -> Source:
    """Return `alpha` x + `beta`, within 0 and 1."""
    return layer.call("HardSigmoid", data, layer.attrs.alpha, layer.attrs.beta)


def selu(layer: LegacyLayer, data: Source) -> Source:
    """Return `gamma` times the input, `alpha` times exp(x) - 1 in place of negative elements."""
    return layer.call("Selu", data, layer.attrs.alpha, layer.attrs.gamma)


def power(layer: LegacyLayer, data: Source) -> Source:
    """Return (x `scale` + `shift`) to the power of `power`, without steps that change nothing."""
    attrs = layer.attrs
    steps = (("Multiply", attrs.scale, 1.0), ("Add", attrs.shift, 0.0), ("Power", attrs.power, 1.0))
    for kind, number, _ in [step for step in steps if step[1] != step[2]] or steps[:1]:
        data = layer.call(kind, data, number)
    return data


def softmax(layer: LegacyLayer, data: Source) -> Source:
    """Return shares that sum up to 1 along an axis."""
    return layer.call("SoftMax", data, axis=layer.attrs.axis)


def log_softmax(layer: LegacyLayer, data: Source) -> Source:
    """Return the logarithms of shares that sum up to 1 along an axis."""
    return layer.call("LogSoftmax", data, axis=layer.attrs.axis)


KINDS: Mapping[str, tuple[LegacyStep, Mapping[str, Field]]] = {
    "relu": (relu, {"negative_slope": Float(default=0.0)}),
    "prelu": (prelu, {"channel_shared": LegacyFlag(default=False)}),
    "clamp": (clamp, {"min": Float(), "max": Float()}),
    "relu6": (relu6, {"n": Float(default=6.0)}),
    "elu": (elu, {"alpha": Float(default=1.0)}),
    "sigmoid": (unary("Sigmoid"), {}),
    "logistic": (unary("Sigmoid"), {}),
    "tanh": (unary("Tanh"), {}),
    "exp": (unary("Exp"), {}),
    "not": (is_zero, {}),
}
"""The functions that `Activation` names in its attribute `type`, with their attributes; also types of their own."""
FUNCTIONS: Mapping[str, tuple[LegacyStep, Mapping[str, Field]]] = {
    **{name: (unary(name), {}) for name in ("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh")},
    **{name: (unary(name), {}) for name in ("Erf", "Floor", "Log", "Sign", "Sin", "Sinh", "Tan")},
    "Ceil": (unary("Ceiling"), {}),
    "Neg": (unary("Negative"), {}),
    "Softplus": (unary("SoftPlus"), {}),
    "Reciprocal": (reciprocal, {}),
    "Softsign": (softsign, {}),
    "HardSigmoid": (hard_sigmoid, {"alpha": Float(default=0.2), "beta": Float(default=0.5)}),
    "Selu": (selu, {"alpha": Float(default=1.67326), "gamma": Float(default=1.0507)}),
    "Power": (power, {"power": Float(), "scale": Float(), "shift": Float()}),
    "SoftMax": (softmax, {"axis": Int(default=1)}),
    "LogSoftmax": (log_softmax, {"axis": Int(default=-1)}),
}
NAMES = {"relu": "ReLU", "prelu": "PReLU", "relu6": "ReLU6", "elu": "ELU", "tanh": "TanH"}
"""How files write types whose name is not that in `KINDS` with a capital."""


def activation(layer: LegacyLayer) -> tuple[Source, ...]:
    """Return the function that the attribute `type` names."""
    return (KINDS[layer.attrs.type][0](layer, layer.inputs[0]),)


def _slopes(attrs: Attrs, inputs: Sequence[Fact], outputs: Sequence[Fact]) -> Mapping[str, Collection[int]]:
    if attrs.get("type", "prelu") != "prelu":
        return {}
    channels = sizes_of(inputs, rank=2)[1]
    return {"weights": {1, channels} if attrs.channel_shared else {channels}}


def _function(type: str, function: LegacyStep, attrs: Mapping[str, Field]) -> Op:
    blobs = _slopes if function is prelu else None
    return legacy_type(type, lambda layer: (function(layer, layer.inputs[0]),), attrs=attrs, blobs=blobs)


ACTIVATION_ATTRS: Mapping[str, Field] = {
    "type": OneOf(words=tuple(KINDS)),
    **{name: spec for _, attrs in KINDS.values() for name, spec in attrs.items()},
    "min": Float(default=-LARGEST),
    "max": Float(default=LARGEST),
}
"""A layer has those of its function."""
OPS = (
    legacy_type("Activation", activation, attrs=ACTIVATION_ATTRS, blobs=_slopes),
    *(_function(NAMES.get(name, name.capitalize()), *kind) for name, kind in KINDS.items()),
    *(_function(name, *kind) for name, kind in FUNCTIONS.items()),
)
